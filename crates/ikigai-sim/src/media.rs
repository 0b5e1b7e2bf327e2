//! Pictures and speech that are requested with Gemini's `responseModalities`.

use ikigai_core::{Block, Dialect, FinishReason, Json, Part, Request, Response, Source};
use serde_json::{Value, json};

use crate::talk::{self, Talk, Turn};
use crate::{audio, png};

/// What a request wants instead of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// A picture of at most this width and height, and a few words about it if requested.
    Picture {
        size: (u32, u32),
        with_words: bool,
    },
    Speech,
}

impl Wish {
    /// What a request wants. The request has already been checked.
    pub(crate) fn of(dialect: Dialect, body: &Value) -> Option<Self> {
        if dialect != Dialect::Gemini {
            return None;
        }
        let member =
            |object: &Value, camel: &str, snake: &str| object.get(camel).or_else(|| object.get(snake)).cloned();
        let config = member(body, "generationConfig", "generation_config")?;
        let modalities = member(&config, "responseModalities", "response_modalities")?;
        let has = |word: &str| {
            let mut words = modalities.as_array().into_iter().flatten().filter_map(Value::as_str);
            words.any(|own| own.eq_ignore_ascii_case(word))
        };
        if has("AUDIO") {
            return Some(Wish::Speech);
        }
        let image = member(&config, "imageConfig", "image_config").unwrap_or_default();
        let ratio = member(&image, "aspectRatio", "aspect_ratio");
        let parts = ratio.as_ref().and_then(|ratio| ratio.as_str()?.split_once(':'));
        let parts = parts.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
        let size =
            parts.map_or((64, 64), |(width, height): (u32, u32)| (width.saturating_mul(64), height.saturating_mul(64)));
        has("IMAGE").then(|| Wish::Picture { size, with_words: has("TEXT") })
    }

    /// The answer.
    pub(crate) fn response(self, request: &Request, talk: &Talk<'_>) -> Response {
        let prompt = Turn::of(request).prompt;
        let (content, modality) = match self {
            Wish::Speech => {
                // Google's models are told how to speak before the words.
                let media_type = format!("audio/L16;codec=pcm;rate={}", audio::RATE);
                let words: String = spoken(&prompt).chars().take(4096).collect();
                (vec![Block::audio(Source::bytes(&audio::samples(&words), media_type))], "AUDIO")
            }
            Wish::Picture { size, with_words } => {
                let said = with_words.then(|| Block::text("Here is your picture."));
                let picture = Block::image(Source::bytes(&png::draw(prompt.as_bytes(), size), "image/png"));
                (said.into_iter().chain([picture]).collect(), "IMAGE")
            }
        };
        let mut response = talk::finish(content, FinishReason::Stop, request, talk);
        tell_modalities(&mut response, request, modality);
        response
    }
}

/// The words after the instructions how to speak: `Say cheerfully: Have a wonderful day!`
fn spoken(prompt: &str) -> &str {
    match prompt.split_once(": ") {
        Some((how, words)) if !how.contains(['.', '!', '?', '\n']) && !words.trim().is_empty() => words.trim(),
        _ => prompt.trim(),
    }
}

/// Adds the tokens that each kind of content took, as Google reports them.
fn tell_modalities(response: &mut Response, request: &Request, modality: &str) {
    let made: u64 = response.content.iter().filter(|block| block.as_text().is_none()).map(talk::block_tokens).sum();
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let seen: u64 = blocks.filter(|block| matches!(block, Block::Image(_))).map(talk::block_tokens).sum();
    let Some(usage) = &mut response.usage else { return };
    let texts = usage.prompt_tokens().saturating_sub(seen);
    let mut read = vec![json!({"modality": "TEXT", "tokenCount": texts})];
    if seen > 0 {
        read.push(json!({"modality": "IMAGE", "tokenCount": seen}));
    }
    let written = [json!({"modality": modality, "tokenCount": made})];
    for (name, details) in [("promptTokensDetails", Json::of(&read)), ("candidatesTokensDetails", Json::of(&written))] {
        if let Ok(details) = details {
            usage.provider_data.set_part(Dialect::Gemini, Part::Answer, name, details);
        }
    }
}
