//! From the wire to canonical.

use serde_json::Value;

use crate::dialect::openai_error;
use crate::dialect::openai_responses::wire::{self, Document, Items, Many, word};
use crate::dialect::openai_responses::{DIALECT, error, hosted, items, usage};
use crate::json::loose::Loose as _;
use crate::json::wire::{Text, keep, read, read_answer, read_str};
use crate::wire::Ids;
use crate::{Block, Error, Fields, FinishReason, Part, ProviderData, Response, Usage};

/// Fields that repeat the request, or say when and how the server worked: nothing of the answer.
const ECHOES: [&str; 28] = [
    "background",
    "completed_at",
    "conversation",
    "created_at",
    "frequency_penalty",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "moderation",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// The contents of a response object.
#[derive(Debug, Default)]
pub(crate) struct Parsed<'a> {
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) output: Items<'a>,
    pub(crate) usage: Option<Usage>,
    /// The provider's status and details, and everything without a canonical field.
    pub(crate) data: ProviderData,
    /// The error that broke the answer, if any.
    pub(crate) error: Option<Box<Error>>,
}

/// Reads the contents of a response object.
pub(crate) fn parse(mut body: wire::Response<'_>) -> Parsed<'_> {
    let status = body.status.take();
    let mut parsed = Parsed {
        error: error::of_response(body.error.as_ref(), word(&status)).map(Box::new),
        id: body.id.take().map(Text::into_string),
        model: body.model.take_if(|model| !model.as_str().is_empty()).map(Text::into_string),
        ..Parsed::default()
    };
    if let Some(mut usage) = body.usage.as_ref().and_then(|usage| usage::decode(&usage.to_json())) {
        let ran = wire::find(&body.rest, "tool_usage").and_then(|raw| read_str::<Value>(raw.get()).ok());
        usage::note_calls(&mut usage, ran.as_ref().and_then(usage::searches));
        parsed.usage = Some(usage);
        body.usage = None;
    }
    let details = body.incomplete_details.take();
    if let Many::List(items) = &mut body.output {
        parsed.output = std::mem::take(items);
        body.output = Many::Absent;
    }
    // A convenience field of client libraries, which repeats the text.
    let repeated = body.output_text.take_if(|text| text.as_str() == output_text(&parsed.output));
    let (shape, answer): (Vec<_>, Vec<_>) = keep(std::mem::take(&mut body.rest))
        .into_iter()
        .partition(|(name, value)| value.is_null() || ECHOES.contains(&name.as_str()));
    let mut echoes = body.leftovers();
    echoes.merge(shape.into_iter().collect());
    // Always set, so that an answer of this dialect is recognised as such.
    let data = &mut parsed.data;
    data.set_part(DIALECT, Part::Shape, "response", echoes);
    if let Some(status) = status {
        data.set_part(DIALECT, Part::Shape, "status", status.as_str());
    }
    if let Some(details) = details {
        let details = details.to_json();
        // A reason with a canonical equivalent is not lost if only that is passed on.
        let place = if limit_of(&details) == FinishReason::Unknown { Part::Answer } else { Part::Shape };
        data.set_part(DIALECT, place, "incomplete_details", details);
    }
    if repeated.is_some() {
        data.set_part(DIALECT, Part::Shape, "output_text", true);
    }
    data.extend_part(DIALECT, Part::Answer, answer.into_iter().collect::<Fields>());
    parsed
}

fn output_text(output: &Items<'_>) -> String {
    let content = output.iter().flat_map(|item| items::decode(item.clone(), Part::Answer)).collect();
    Response { content, ..Response::default() }.text()
}

/// Decodes a whole answer.
///
/// # Errors
/// Returns the failure in the body, even with status 200; what had been answered before it is its `partial`.
pub(crate) fn decode_response(body: &[u8], ids: &mut Ids) -> Result<Response, Error> {
    let Document(wire): Document<wire::Response<'_>> = read_answer(body)?;
    if !matches!(wire.output, Many::List(_)) && word(&wire.object) != "response" {
        let failure = read::<Value>(body).ok().and_then(|body| openai_error::find(DIALECT, &body));
        return Err(failure
            .unwrap_or_else(|| Error::protocol("the answer has no `output`: it is not one of the Responses API")));
    }
    let mut parsed = parse(wire);
    let failure = parsed.error.take();
    let response = whole(parsed, ids);
    match failure {
        Some(mut error) => {
            error.partial = Some(Box::new(Response { finish_reason: FinishReason::Error, ..response }));
            Err(*error)
        }
        None => Ok(response),
    }
}

fn whole(parsed: Parsed<'_>, ids: &mut Ids) -> Response {
    let mut content: Vec<Block> = Vec::with_capacity(parsed.output.len());
    for item in parsed.output {
        content.extend(items::decode(item, Part::Answer));
    }
    for block in &mut content {
        if let Block::ToolCall(call) = block
            && call.id.is_empty()
        {
            call.id = format!("call_{}", ids.next_id());
        }
    }
    Response {
        id: parsed.id,
        model: parsed.model.unwrap_or_default(),
        finish_reason: finish(&parsed.data, Asks::of(&content)),
        content,
        warnings: parsed.usage.as_ref().and_then(usage::warning).into_iter().collect(),
        usage: parsed.usage,
        provider_data: parsed.data,
        ..Response::default()
    }
}

/// What the content of an answer implies about its finish reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Asks {
    /// Whether there is a call that the client has to run.
    pub(crate) tools: bool,
    /// Whether the model refused.
    pub(crate) refuses: bool,
}

impl Asks {
    pub(crate) fn of(content: &[Block]) -> Self {
        let mut asks = Asks::default();
        content.iter().for_each(|block| asks.see(block));
        asks
    }

    pub(crate) fn see(&mut self, block: &Block) {
        match block {
            Block::ToolCall(_) => self.tools = true,
            Block::Text(text) => self.refuses |= text.is_refusal(),
            Block::Other(other) => {
                self.tools |= other.dialect == DIALECT && hosted::is_the_clients(other.data.value());
            }
            Block::Image(_)
            | Block::Document(_)
            | Block::Audio(_)
            | Block::ToolResult(_)
            | Block::ProviderCall(_)
            | Block::ProviderResult(_)
            | Block::Thinking(_) => {}
        }
    }
}

/// Determines why the answer ended. `completed` says nothing about tools or refusals: the content does.
pub(crate) fn finish(data: &ProviderData, asks: Asks) -> FinishReason {
    let details = [Part::Shape, Part::Answer].map(|part| data.part(DIALECT, part).get("incomplete_details"));
    match data.part_str(DIALECT, Part::Shape, "status").as_deref() {
        Some("completed") if asks.tools => FinishReason::ToolUse,
        Some("completed") if asks.refuses => FinishReason::ContentFilter,
        Some("completed") => FinishReason::Stop,
        Some("incomplete") => details.into_iter().flatten().next().map_or(FinishReason::Unknown, limit_of),
        Some("failed" | "cancelled") => FinishReason::Error,
        _ => FinishReason::Unknown,
    }
}

/// Returns what ended an incomplete answer.
fn limit_of(details: &crate::Json) -> FinishReason {
    match details.value().get("reason").and_then(Value::as_str) {
        Some("max_output_tokens" | "max_messages") => FinishReason::Length,
        Some("content_filter") => FinishReason::ContentFilter,
        _ => FinishReason::Unknown,
    }
}
