//! Pictures and audio sent to a provider or received from it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::catalog::{Cost, Facts};
use crate::dialect::failure::excerpt;
use crate::dialect::media::plain_base64;
use crate::wire::Ids;
use crate::{Block, Dialect, Error, ErrorKind, FinishReason, Limits, Loss, LossCode, Part, Response, Source, Usage};

/// How much of a text an error quotes.
const EXCERPT: usize = 200;

/// A picture or audio to send.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaFile {
    /// The content.
    pub bytes: Vec<u8>,
    /// The media type, such as `image/png` or `audio/wav`.
    pub media_type: String,
}

impl MediaFile {
    /// Creates a picture or audio to send.
    pub fn new(bytes: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        MediaFile { bytes: bytes.into(), media_type: media_type.into() }
    }

    /// Checks that it is not empty, and that its type starts with one of these and can be used in a header.
    pub(super) fn check(&self, field: &str, kinds: &[&str]) -> Result<(), Error> {
        if self.bytes.is_empty() {
            return Err(super::named(field, "is empty"));
        }
        let kind = kinds.iter().any(|kind| self.media_type.starts_with(kind));
        if !kind || !self.media_type.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            let what = format!("has the media type `{}`; use one of {}", self.media_type, kinds.join(", "));
            return Err(super::named(field, &what));
        }
        Ok(())
    }

    /// Returns a file name whose extension gives the type: some providers look at nothing else.
    pub(super) fn file_name(&self, stem: &str) -> String {
        let (kind, rest) = self.media_type.split_once('/').unwrap_or(("", ""));
        let subtype = rest.split(';').next().unwrap_or_default().trim();
        let ending = match subtype.strip_prefix("x-").unwrap_or(subtype) {
            "jpeg" => "jpg",
            "mpeg" if kind == "audio" => "mp3",
            "mp4" if kind == "audio" => "m4a",
            "wave" | "vnd.wave" => "wav",
            "opus" => "ogg",
            known if !known.is_empty() && known.bytes().all(|byte| byte.is_ascii_alphanumeric()) => known,
            _ => "bin",
        };
        format!("{stem}.{ending}")
    }

    /// Writes it as a content part in Gemini's form.
    pub(super) fn inline(&self) -> Value {
        json!({"inlineData": {"mimeType": self.media_type, "data": STANDARD.encode(&self.bytes)}})
    }
}

impl fmt::Debug for MediaFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MediaFile({}, {} bytes)", self.media_type, self.bytes.len())
    }
}

/// Token counts, and whether all tokens read have one price, and all tokens written have one price.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) usage: Option<Usage>,
    pub(super) is_plain: bool,
}

impl Counted {
    /// Returns the cost. The catalogue has one price for what a model reads and one for what it writes: those of text
    /// and of the model's own medium. The price of anything else is unknown.
    pub(super) fn cost(&self, facts: &Facts) -> Option<Cost> {
        facts.cost(self.usage.as_ref().filter(|_| self.is_plain)?)
    }

    /// Reads the counts of OpenAI's endpoints; `written` is the kind of token that the model is made to write.
    pub(super) fn openai(dialect: Dialect, usage: Option<&Value>, written: &str) -> Self {
        let count = |object: &Value, name: &str| object.get(name).and_then(Value::as_u64);
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return Counted::default() };
        let (Some(read), Some(wrote)) = (count(usage, "input_tokens"), count(usage, "output_tokens")) else {
            return Counted::default();
        };
        let mut counted = Usage { input_tokens: read, output_tokens: wrote, ..Usage::default() };
        // Transcriptions spell it `token`, pictures `tokens`.
        let details = ["input_tokens_details", "input_token_details", "output_tokens_details"];
        for (name, details) in details.iter().filter_map(|name| Some((*name, usage.get(*name)?))) {
            if let Ok(details) = crate::Json::of(details) {
                counted.provider_data.set_part(dialect, Part::Answer, name, details);
            }
        }
        let texts = usage.get("input_tokens_details").and_then(|details| count(details, "text_tokens"));
        let made = usage.get("output_tokens_details").and_then(|details| count(details, written));
        // Models that do not break down their output tokens write only one kind.
        Counted { is_plain: texts == Some(read) && made.is_none_or(|made| made == wrote), usage: Some(counted) }
    }

    /// Reads the counts of `generateContent`; `written` is the modality that the model is made to write.
    fn gemini(usage: Option<Usage>, written: &str) -> Self {
        let Some(usage) = usage else { return Counted::default() };
        let sum = |name: &str, modality: &str| -> Option<u64> {
            let details = usage.provider_data.part(Dialect::Gemini, Part::Answer).get(name)?.value().as_array()?;
            let of_kind = details.iter().filter(|one| one.get("modality").is_some_and(|word| word == modality));
            Some(of_kind.filter_map(|one| one.get("tokenCount")?.as_u64()).fold(0, u64::saturating_add))
        };
        let is_plain = sum("promptTokensDetails", "TEXT") == Some(usage.prompt_tokens())
            && sum("candidatesTokensDetails", written) == Some(usage.completion_tokens());
        Counted { usage: Some(usage), is_plain }
    }
}

/// The answer of `generateContent` to a request for pictures or audio.
#[derive(Debug)]
pub(super) struct Generated {
    /// The media, each with its type.
    pub(super) media: Vec<(String, Vec<u8>)>,
    /// Any text from the model.
    pub(super) text: String,
    pub(super) counted: Counted,
    pub(super) warnings: Vec<Loss>,
}

/// Reads such an answer; `what` names the media in messages, `modality` is the API's name for it.
pub(super) fn generated(body: &[u8], what: &str, modality: &str, limits: &Limits) -> Result<Generated, Error> {
    let response = content(body, what, limits)?;
    let mut media = Vec::new();
    for block in &response.content {
        let source = match (block, modality) {
            (Block::Image(image), "IMAGE") => &image.source,
            (Block::Audio(audio), "AUDIO") => &audio.source,
            _ => continue,
        };
        if let Source::Base64 { media_type, data } = source {
            media.push((media_type.clone(), bytes_of(data, what)?));
        }
    }
    if media.iter().all(|(_, bytes)| bytes.is_empty()) {
        return Err(nothing(&response, what));
    }
    let text = response.text();
    let warnings = cut(&response, what).into_iter().collect();
    Ok(Generated { media, text, counted: Counted::gemini(response.usage, modality), warnings })
}

/// Reads an answer of `generateContent` that was not refused.
pub(super) fn content(body: &[u8], what: &str, limits: &Limits) -> Result<Response, Error> {
    let response = Dialect::Gemini.decode_response(body, &mut Ids::seeded(0), limits)?;
    match response.finish_reason {
        FinishReason::ContentFilter => Err(nothing(&response, what)),
        _ => Ok(response),
    }
}

/// The warning that the end is missing.
pub(super) fn cut(response: &Response, what: &str) -> Option<Loss> {
    let why = "the limit of the model was reached, and the end is missing";
    (response.finish_reason == FinishReason::Length).then(|| Loss::new(LossCode::Other, what, what, why))
}

/// The error for an answer without the requested media: the provider's reason, and what the model said.
fn nothing(response: &Response, what: &str) -> Error {
    let answer = response.provider_data.part(Dialect::Gemini, Part::Answer);
    let blocked = answer
        .get("promptFeedback")
        .and_then(|feedback| Some(feedback.value().get("blockReason")?.as_str()?.to_owned()));
    let reason = blocked.or_else(|| answer.str("finish_reason").map(|word| word.into_owned()));
    let mut message = format!("the answer holds no {what}");
    if let Some(reason) = &reason {
        message.push_str(&format!(" ({reason})"));
    }
    let said = response.text();
    if !said.trim().is_empty() {
        message.push_str(&format!("; the model said: {}", excerpt(said.trim(), EXCERPT)));
    }
    let mut error = super::unexpected(message);
    if response.finish_reason == FinishReason::ContentFilter {
        error.kind = ErrorKind::ContentFiltered;
    }
    error.code = reason;
    error
}

/// Decodes base64 from an answer.
pub(super) fn bytes_of(data: &str, what: &str) -> Result<Vec<u8>, Error> {
    let bytes = STANDARD.decode(plain_base64(data).as_bytes());
    bytes.map_err(|fault| super::unexpected(format!("the base64 of the {what} is broken: {fault}")))
}

/// The loss for an option that this API has no field for.
pub(super) fn not_carried(name: &str, why: &str) -> Loss {
    Loss::new(LossCode::NotInDialect, name, name, why)
}
