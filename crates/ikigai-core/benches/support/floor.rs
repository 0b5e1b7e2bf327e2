//! The floor: the minimum that any program must do with the same bytes, which is to read their JSON.
//!
//! Each frame is read once into a struct that borrows from it and has only the fields that a text delta needs. Finding
//! the frames costs nothing here: they are split beforehand.

use std::borrow::Cow;

use ikigai_core::Dialect;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Returns the data of each frame of a stream.
pub(crate) fn frames(bytes: &[u8]) -> Vec<&str> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
}

/// Reads the JSON of every frame of a stream.
pub(crate) fn read_stream(dialect: Dialect, frames: &[&str]) -> usize {
    let read = match dialect {
        Dialect::Anthropic => |frame| serde_json::from_str::<Anthropic<'_>>(frame).map_or(0, |frame| frame.weight()),
        Dialect::OpenaiChat => |frame| serde_json::from_str::<Chat<'_>>(frame).map_or(0, |frame| frame.weight()),
        Dialect::OpenaiResponses => {
            |frame| serde_json::from_str::<Responses<'_>>(frame).map_or(0, |frame| frame.weight())
        }
        Dialect::Gemini => |frame: &str| serde_json::from_str::<Gemini<'_>>(frame).map_or(0, |frame| frame.weight()),
        _ => |frame: &str| frame.len(),
    };
    frames.iter().map(|frame| read(frame)).sum()
}

/// Reads the JSON of a request: every value is skipped, and the messages are counted.
pub(crate) fn read_request(bytes: &[u8]) -> usize {
    serde_json::from_slice::<Asked<'_>>(bytes)
        .map_or(0, |asked| [asked.messages, asked.input, asked.contents].iter().flatten().map(Vec::len).sum::<usize>())
}

/// The text of a delta, borrowed if nothing in it is escaped. A separate type, because serde copies a `Cow` inside an
/// `Option`.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn length(text: Option<Text<'_>>) -> usize {
    text.map_or(0, |text| text.0.len())
}

#[derive(Deserialize)]
struct Anthropic<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    delta: Option<AnthropicDelta<'a>>,
}

#[derive(Deserialize)]
struct AnthropicDelta<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

impl Anthropic<'_> {
    fn weight(self) -> usize {
        self.kind.len() + self.delta.map_or(0, |delta| length(delta.text))
    }
}

#[derive(Deserialize)]
struct Chat<'a> {
    #[serde(borrow)]
    choices: Vec<ChatChoice<'a>>,
}

#[derive(Deserialize)]
struct ChatChoice<'a> {
    #[serde(borrow)]
    delta: ChatDelta<'a>,
}

#[derive(Deserialize)]
struct ChatDelta<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
}

impl Chat<'_> {
    fn weight(self) -> usize {
        self.choices.into_iter().map(|choice| length(choice.delta.content)).sum()
    }
}

#[derive(Deserialize)]
struct Responses<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    delta: Option<Text<'a>>,
}

impl Responses<'_> {
    fn weight(self) -> usize {
        self.kind.len() + length(self.delta)
    }
}

#[derive(Deserialize)]
struct Gemini<'a> {
    #[serde(borrow)]
    candidates: Vec<GeminiCandidate<'a>>,
}

#[derive(Deserialize)]
struct GeminiCandidate<'a> {
    #[serde(borrow)]
    content: GeminiContent<'a>,
}

#[derive(Deserialize)]
struct GeminiContent<'a> {
    #[serde(borrow)]
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Deserialize)]
struct GeminiPart<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

impl Gemini<'_> {
    fn weight(self) -> usize {
        self.candidates.into_iter().flat_map(|candidate| candidate.content.parts).map(|part| length(part.text)).sum()
    }
}

#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    input: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    contents: Option<Vec<&'a RawValue>>,
}
