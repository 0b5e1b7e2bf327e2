//! Text read aloud.

use std::fmt;

use serde_json::{Value, json};

use super::media::{Counted, generated, not_carried};
use super::{named, segment};
use crate::catalog::{Cost, Facts};
use crate::wire::WireRequest;
use crate::{Dialect, Error, Limits, Loss, Usage};

/// The name for the media in errors and warnings.
const WHAT: &str = "audio";
/// How much is quoted of a body that is not audio.
const EXCERPT: usize = 200;
/// The default voices: OpenAI's API requires one, and so do Google's newer models.
const OPENAI_VOICE: &str = "alloy";
const GEMINI_VOICE: &str = "Kore";

/// A request to read a text aloud.
///
/// ```
/// use ikigai_core::wire::SpeechRequest;
///
/// let request = SpeechRequest::new("Good morning").voice("coral").format("wav");
/// assert_eq!(request.voice.as_deref(), Some("coral"));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SpeechRequest {
    /// The text to speak.
    pub text: String,
    /// The voice, by the provider's name for it. Absent: `alloy` at OpenAI, `Kore` at Google.
    pub voice: Option<String>,
    /// The format: `mp3`, `wav`, `opus`, `aac`, `flac`, `pcm`. Absent: `mp3` at OpenAI, `wav` at Google.
    pub format: Option<String>,
    /// The speed; 1 is normal.
    pub speed: Option<f64>,
    /// How it should sound: "calm, a little amused".
    pub instructions: Option<String>,
}

impl SpeechRequest {
    /// Requests speech for this text.
    pub fn new(text: impl Into<String>) -> Self {
        SpeechRequest { text: text.into(), voice: None, format: None, speed: None, instructions: None }
    }

    /// Sets the voice, by the provider's name for it: `coral` at OpenAI, `Kore` at Google.
    #[must_use]
    pub fn voice(mut self, voice: impl Into<String>) -> Self {
        self.voice = Some(voice.into());
        self
    }

    /// Sets the format: `mp3`, `wav`, `opus`, `aac`, `flac`, `pcm`. Google's models support only `wav` and `pcm`; any
    /// other format is an error there.
    #[must_use]
    pub fn format(mut self, format: impl Into<String>) -> Self {
        self.format = Some(format.into());
        self
    }

    /// Sets the speed; 1 is normal. Google's models have no such setting, which becomes a warning.
    #[must_use]
    pub fn speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed);
        self
    }

    /// Sets how it should sound: "calm, a little amused". Google's models get the instructions before the text.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    fn check(&self) -> Result<(), Error> {
        if self.text.trim().is_empty() {
            return Err(named("text", "is empty"));
        }
        if !self.speed.is_none_or(|speed| speed.is_finite() && speed > 0.0) {
            return Err(named("speed", "must be a number above 0; 1 is usual"));
        }
        Ok(())
    }
}

impl From<&str> for SpeechRequest {
    fn from(text: &str) -> Self {
        SpeechRequest::new(text)
    }
}

impl From<&String> for SpeechRequest {
    fn from(text: &String) -> Self {
        SpeechRequest::new(text)
    }
}

impl From<String> for SpeechRequest {
    fn from(text: String) -> Self {
        SpeechRequest::new(text)
    }
}

/// Spoken text.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Spoken {
    /// The audio, as a file.
    pub audio: Vec<u8>,
    /// Its media type, such as `audio/mpeg`.
    pub media_type: String,
    /// What the provider left out, and why.
    pub warnings: Vec<Loss>,
    counted: Counted,
}

impl Spoken {
    /// Returns the tokens used, or `None` if the provider did not say.
    pub fn usage(&self) -> Option<&Usage> {
        self.counted.usage.as_ref()
    }

    /// Returns the cost. `None` if the model's prices are unknown, or if the usage includes anything but text in the
    /// prompt and audio in the answer: the catalogue has no prices for anything else.
    pub fn cost(&self, facts: &Facts) -> Option<Cost> {
        self.counted.cost(facts)
    }
}

impl fmt::Debug for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spoken { audio, media_type, warnings, counted } = self;
        let length = format_args!("{} bytes", audio.len()).to_string();
        let mut shown = f.debug_struct("Spoken");
        shown.field("audio", &length).field("media_type", media_type).field("warnings", warnings);
        shown.field("usage", &counted.usage).finish()
    }
}

impl Dialect {
    /// Creates the request that reads a text aloud. Returns `None` if the API cannot. [`WireRequest::losses`] lists
    /// what could not be carried.
    ///
    /// # Errors
    /// Returns an error if the text is empty, the speed is invalid, or the API does not support the format.
    pub fn speech_request(self, model: &str, request: &SpeechRequest) -> Result<Option<WireRequest>, Error> {
        request.check()?;
        match self {
            Dialect::OpenaiChat | Dialect::OpenaiResponses => Ok(Some(openai_request(model, request))),
            Dialect::Gemini => gemini_request(model, request).map(Some),
            Dialect::Anthropic | Dialect::BedrockConverse => Ok(None),
        }
    }

    /// Reads the audio from the answer to a [`speech_request`](Dialect::speech_request). `media_type` is the answer's
    /// `content-type`. Raw samples, as Google sends them, get a WAV header, unless `pcm` was requested.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be read or contains no audio.
    pub fn decode_speech(
        self,
        body: &[u8],
        media_type: Option<&str>,
        request: &SpeechRequest,
        limits: &Limits,
    ) -> Result<Spoken, Error> {
        match self {
            Dialect::Gemini => gemini_answer(body, request, limits),
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse => {
                openai_answer(self, body, media_type, request, limits)
            }
        }
    }
}

fn openai_request(model: &str, request: &SpeechRequest) -> WireRequest {
    let mut body =
        json!({"model": model, "input": request.text, "voice": request.voice.as_deref().unwrap_or(OPENAI_VOICE)});
    let wishes = [
        ("response_format", request.format.as_deref().map(Value::from)),
        ("speed", request.speed.map(Value::from)),
        ("instructions", request.instructions.as_deref().map(Value::from)),
    ];
    if let Some(fields) = body.as_object_mut() {
        fields.extend(wishes.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    // The header that OpenAI's own client sends.
    let headers = vec![("accept".to_owned(), "application/octet-stream".to_owned())];
    WireRequest { path: "/audio/speech".to_owned(), headers, body: super::written(&body), ..WireRequest::default() }
}

fn openai_answer(
    dialect: Dialect,
    body: &[u8],
    media_type: Option<&str>,
    request: &SpeechRequest,
    limits: &Limits,
) -> Result<Spoken, Error> {
    limits.check_size(body, crate::ErrorKind::Protocol, "answer")?;
    let declared = media_type.map(str::trim).filter(|declared| !declared.is_empty());
    let guessed = infer::get(body).map(|kind| kind.mime_type());
    let is_audio = |kind: &str| kind.starts_with("audio/") || kind.starts_with("video/") || kind == "application/ogg";
    let media_type = match declared {
        Some(declared) if is_audio(&declared.to_ascii_lowercase()) => declared,
        // Bytes of undeclared type.
        None | Some("application/octet-stream" | "binary/octet-stream")
            if guessed.is_none_or(is_audio) && !begins_json(body) =>
        {
            request.format.as_deref().and_then(type_of).or(guessed).unwrap_or("audio/mpeg")
        }
        other => {
            if let Some(failure) = super::failure(dialect, body, limits) {
                return Err(failure);
            }
            let kind = other.or(guessed).unwrap_or("something else");
            let text = String::from_utf8_lossy(body.get(..EXCERPT).unwrap_or(body));
            let beginning = text.trim();
            return Err(super::unexpected(format!("the answer is not audio but {kind}; it begins: {beginning}")));
        }
    };
    if body.is_empty() {
        return Err(super::unexpected("the answer holds no audio"));
    }
    Ok(Spoken { audio: body.to_vec(), media_type: media_type.to_owned(), ..Spoken::default() })
}

/// Audio never begins like a JSON object.
fn begins_json(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'{')
}

/// The media type of a format.
fn type_of(format: &str) -> Option<&'static str> {
    Some(match format {
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "opus" => "audio/opus",
        "aac" => "audio/aac",
        "flac" => "audio/flac",
        "pcm" => "audio/pcm",
        _ => return None,
    })
}

fn gemini_request(model: &str, request: &SpeechRequest) -> Result<WireRequest, Error> {
    if let Some(format) = request.format.as_deref().filter(|format| !matches!(*format, "wav" | "pcm")) {
        return Err(named("format", &format!("is `{format}`, but this model gives wav and pcm; use one of these")));
    }
    let text = match &request.instructions {
        // Google's own style: "Say cheerfully: Have a wonderful day!"
        Some(instructions) => format!("{}: {}", instructions.trim_end_matches(['.', ':', ' ', '\n']), request.text),
        None => request.text.clone(),
    };
    let voice = json!({"prebuiltVoiceConfig": {"voiceName": request.voice.as_deref().unwrap_or(GEMINI_VOICE)}});
    let config = json!({"responseModalities": ["AUDIO"], "speechConfig": {"voiceConfig": voice}});
    let speed = request.speed.map(|_| not_carried("speed", "this model has no such choice; say it in `instructions`"));
    let body = json!({"contents": [{"role": "user", "parts": [{"text": text}]}], "generationConfig": config});
    let path = format!("/models/{}:generateContent", segment(model));
    let losses = speed.into_iter().collect();
    Ok(WireRequest { path, body: super::written(&body), losses, ..WireRequest::default() })
}

fn gemini_answer(body: &[u8], request: &SpeechRequest, limits: &Limits) -> Result<Spoken, Error> {
    let found = generated(body, WHAT, "AUDIO", limits)?;
    let media_type = found.media.first().map(|(kind, _)| kind.clone()).unwrap_or_default();
    // A long text may come in several pieces of the same kind.
    let same = found.media.iter().filter(|(kind, _)| *kind == media_type);
    let audio = same.map(|(_, bytes)| bytes.as_slice()).collect::<Vec<_>>().concat();
    let spoken = Spoken { audio, media_type, warnings: found.warnings, counted: found.counted };
    match samples(&spoken.media_type).filter(|_| request.format.as_deref() != Some("pcm")) {
        Some((rate, channels)) => {
            Ok(Spoken { audio: wav(&spoken.audio, rate, channels), media_type: "audio/wav".to_owned(), ..spoken })
        }
        None => Ok(spoken),
    }
}

/// Returns the sample rate and the number of channels, if the type means raw 16-bit samples. They are little-endian
/// whatever the type's own standard says: Google's examples read them that way.
fn samples(media_type: &str) -> Option<(u32, u16)> {
    let mut parameters = media_type.split(';').map(str::trim);
    let kind = parameters.next()?.to_ascii_lowercase();
    if !matches!(kind.as_str(), "audio/l16" | "audio/pcm") {
        return None;
    }
    let (mut rate, mut channels) = (24_000, 1);
    for (name, value) in parameters.filter_map(|parameter| parameter.split_once('=')) {
        match name.trim() {
            "rate" => rate = value.trim().parse().ok().filter(|rate| *rate > 0).unwrap_or(rate),
            "channels" => channels = value.trim().parse().ok().filter(|count| *count > 0).unwrap_or(channels),
            _ => {}
        }
    }
    Some((rate, channels))
}

/// Puts a WAV header before 16-bit samples.
fn wav(samples: &[u8], rate: u32, channels: u16) -> Vec<u8> {
    // The header cannot say more; players then read to the end of the file.
    let length = u32::try_from(samples.len()).unwrap_or(u32::MAX - 36);
    let frame = channels.saturating_mul(2);
    let mut file = Vec::with_capacity(samples.len() + 44);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&length.saturating_add(36).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16_u32.to_le_bytes());
    file.extend_from_slice(&1_u16.to_le_bytes());
    file.extend_from_slice(&channels.to_le_bytes());
    file.extend_from_slice(&rate.to_le_bytes());
    file.extend_from_slice(&rate.saturating_mul(u32::from(frame)).to_le_bytes());
    file.extend_from_slice(&frame.to_le_bytes());
    file.extend_from_slice(&16_u16.to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(samples);
    file
}

#[cfg(test)]
#[path = "speech_tests.rs"]
mod tests;
