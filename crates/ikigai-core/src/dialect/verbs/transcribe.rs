//! Speech to text.

use serde_json::{Value, json};

use super::media::{Counted, MediaFile, content, cut};
use super::multipart::Form;
use super::segment;
use crate::wire::WireRequest;
use crate::{Dialect, Error, Limits, Loss, Usage};

/// The name for the result in errors and warnings.
const WHAT: &str = "transcript";
/// The instruction for models that can do other things with audio.
const ORDER: &str = "Transcribe this audio word for word. Write nothing but the words that are said: no introduction, \
                     no timestamps, no names of speakers.";

/// A request to transcribe speech.
///
/// ```
/// use ikigai_core::wire::TranscribeRequest;
///
/// # let recording = Vec::new();
/// let request = TranscribeRequest::new(recording, "audio/wav").language("en");
/// assert_eq!(request.audio.media_type, "audio/wav");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscribeRequest {
    /// The audio.
    pub audio: MediaFile,
    /// The spoken language, such as `en`.
    pub language: Option<String>,
    /// Names and terms that occur in it, or what was said before.
    pub prompt: Option<String>,
}

impl TranscribeRequest {
    /// Requests a transcript of this audio, whose media type is, for example, `audio/wav`.
    pub fn new(audio: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        TranscribeRequest { audio: MediaFile::new(audio, media_type), language: None, prompt: None }
    }

    /// Sets the spoken language, such as `en`.
    #[must_use]
    pub fn language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    /// Sets names and terms that occur in it, or what was said before.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }
}

impl<B: Into<Vec<u8>>, M: Into<String>> From<(B, M)> for TranscribeRequest {
    fn from((audio, media_type): (B, M)) -> Self {
        TranscribeRequest::new(audio, media_type)
    }
}

/// A transcript of speech.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Transcribed {
    /// The text; empty if no speech was heard.
    pub text: String,
    /// The length of the audio, if the provider says: some charge by the second instead of by tokens.
    pub seconds: Option<f64>,
    /// The tokens used; absent if the provider did not say.
    pub usage: Option<Usage>,
    /// What the provider left out, and why.
    pub warnings: Vec<Loss>,
}

impl Dialect {
    /// Creates the request that transcribes speech. Returns `None` if the API cannot.
    ///
    /// # Errors
    /// Returns an error if there is no audio, or if its media type is neither audio nor video.
    pub fn transcribe_request(self, model: &str, request: &TranscribeRequest) -> Result<Option<WireRequest>, Error> {
        request.audio.check("audio", &["audio/", "video/"])?;
        match self {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => Ok(Some(openai_request(model, request))),
            Dialect::Gemini => Ok(Some(gemini_request(model, request))),
            Dialect::Anthropic | Dialect::BedrockConverse => Ok(None),
        }
    }

    /// Reads the text from the answer to a [`transcribe_request`](Dialect::transcribe_request).
    ///
    /// # Errors
    /// Returns an error if the answer cannot be read or contains no text.
    pub fn decode_transcript(self, body: &[u8], limits: &Limits) -> Result<Transcribed, Error> {
        match self {
            Dialect::Gemini => {
                let response = content(body, WHAT, limits)?;
                let text = response.text().trim().to_owned();
                let warnings = cut(&response, WHAT).into_iter().collect();
                Ok(Transcribed { text, usage: response.usage, warnings, seconds: None })
            }
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse => {
                openai_answer(self, body, limits)
            }
        }
    }
}

fn openai_request(model: &str, request: &TranscribeRequest) -> WireRequest {
    let mut form = Form::default();
    form.text("model", model);
    form.text("response_format", "json");
    for (name, value) in [("language", &request.language), ("prompt", &request.prompt)] {
        if let Some(value) = value {
            form.text(name, value);
        }
    }
    let audio = &request.audio;
    form.file("file", &audio.file_name("audio"), &audio.media_type, &audio.bytes);
    form.post("/audio/transcriptions")
}

fn openai_answer(dialect: Dialect, body: &[u8], limits: &Limits) -> Result<Transcribed, Error> {
    if let Some(failure) = super::failure(dialect, body, limits) {
        return Err(failure);
    }
    let answer = super::read(body, limits)?;
    let Some(text) = answer.get("text").and_then(Value::as_str) else {
        return Err(super::unexpected("the answer holds no transcript"));
    };
    let usage = answer.get("usage");
    let seconds = usage.and_then(|usage| usage.get("seconds")).or_else(|| answer.get("duration"));
    Ok(Transcribed {
        text: text.trim().to_owned(),
        seconds: seconds.and_then(Value::as_f64),
        usage: Counted::openai(dialect, usage, "text_tokens").usage,
        warnings: Vec::new(),
    })
}

fn gemini_request(model: &str, request: &TranscribeRequest) -> WireRequest {
    let mut order = ORDER.to_owned();
    if let Some(language) = &request.language {
        order.push_str(&format!(" The language is {language}."));
    }
    if let Some(prompt) = &request.prompt {
        order.push_str(&format!(" This may help with names and with what went before: {prompt}"));
    }
    let parts = [request.audio.inline(), json!({"text": order})];
    let body = json!({"contents": [{"role": "user", "parts": parts}]});
    let path = format!("/models/{}:generateContent", segment(model));
    WireRequest { path, body: super::written(&body), ..WireRequest::default() }
}

#[cfg(test)]
#[path = "transcribe_tests.rs"]
mod tests;
