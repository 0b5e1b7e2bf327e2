//! Pictures and sounds on their way to a provider and back.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::catalog::{Cost, Facts};
use crate::dialect::failure::excerpt;
use crate::dialect::media::plain_base64;
use crate::wire::Ids;
use crate::{Block, Dialect, Error, ErrorKind, FinishReason, Limits, Loss, LossCode, Part, Response, Source, Usage};

/// How much of a text is quoted in an error.
const EXCERPT: usize = 200;

/// A picture or a sound to send.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MediaFile {
    /// What is in it.
    pub bytes: Vec<u8>,
    /// Such as `image/png` or `audio/wav`.
    pub media_type: String,
}

impl MediaFile {
    /// A picture or a sound to send.
    pub fn new(bytes: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        MediaFile { bytes: bytes.into(), media_type: media_type.into() }
    }

    /// Checks that there is something in it, and that its type is one of these and can stand in a header.
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

    /// A file name whose ending tells the type: some providers read nothing else.
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

    /// As a part of a content in Gemini's form.
    pub(super) fn inline(&self) -> Value {
        json!({"inlineData": {"mimeType": self.media_type, "data": STANDARD.encode(&self.bytes)}})
    }
}

impl fmt::Debug for MediaFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MediaFile({}, {} bytes)", self.media_type, self.bytes.len())
    }
}

/// Tokens that were counted, and whether one price is for all of those that were read, and one for all that were written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) usage: Option<Usage>,
    pub(super) is_plain: bool,
}

impl Counted {
    /// What they cost. The catalogue has one price for what a model reads and one for what it writes, which are those of
    /// text and of what the model is made for; what was counted besides has a price that nobody here knows.
    pub(super) fn cost(&self, facts: &Facts) -> Option<Cost> {
        facts.cost(self.usage.as_ref().filter(|_| self.is_plain)?)
    }

    /// The counts of OpenAI's endpoints; `written` is the kind of token that the model is made to write.
    pub(super) fn openai(dialect: Dialect, usage: Option<&Value>, written: &str) -> Self {
        let count = |object: &Value, name: &str| object.get(name).and_then(Value::as_u64);
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return Counted::default() };
        let (Some(read), Some(wrote)) = (count(usage, "input_tokens"), count(usage, "output_tokens")) else {
            return Counted::default();
        };
        let mut counted = Usage { input_tokens: read, output_tokens: wrote, ..Usage::default() };
        // Transcriptions say `token`, pictures `tokens`.
        let details = ["input_tokens_details", "input_token_details", "output_tokens_details"];
        for (name, details) in details.iter().filter_map(|name| Some((*name, usage.get(*name)?))) {
            if let Ok(details) = crate::Json::of(details) {
                counted.provider_data.set_part(dialect, Part::Answer, name, details);
            }
        }
        let texts = usage.get("input_tokens_details").and_then(|details| count(details, "text_tokens"));
        let made = usage.get("output_tokens_details").and_then(|details| count(details, written));
        // Those that do not tell the kinds of their answers apart write one kind.
        Counted { is_plain: texts == Some(read) && made.is_none_or(|made| made == wrote), usage: Some(counted) }
    }

    /// The counts of `generateContent`; `written` is the modality that the model is made to write.
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

/// What `generateContent` gave to a request for pictures or for sound.
#[derive(Debug)]
pub(super) struct Generated {
    /// The media, each with its type.
    pub(super) media: Vec<(String, Vec<u8>)>,
    /// What the model said beside them.
    pub(super) text: String,
    pub(super) counted: Counted,
    pub(super) warnings: Vec<Loss>,
}

/// Reads what `generateContent` gave; `what` is what the media are called, `modality` what the API calls them.
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

/// An answer of `generateContent` that was not refused.
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

/// The error of an answer that has not got what was asked for: the provider's word for it, and what the model said.
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

/// The bytes in base64 of an answer.
pub(super) fn bytes_of(data: &str, what: &str) -> Result<Vec<u8>, Error> {
    let bytes = STANDARD.decode(plain_base64(data).as_bytes());
    bytes.map_err(|fault| super::unexpected(format!("the base64 of the {what} is broken: {fault}")))
}

/// A wish that this API has no place for.
pub(super) fn not_carried(name: &str, why: &str) -> Loss {
    Loss::new(LossCode::NotInDialect, name, name, why)
}
