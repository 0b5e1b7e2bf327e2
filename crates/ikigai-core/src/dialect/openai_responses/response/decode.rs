//! Wire to canonical.

use serde_json::Value;

use crate::dialect::openai_error;
use crate::dialect::openai_responses::fields::{take_list, take_text, text};
use crate::dialect::openai_responses::{ME, Object, error, items, usage};
use crate::{Block, Error, FinishReason, Ids, Loss, Other, ProviderData, Response, Usage};

/// A response object taken apart.
#[derive(Debug, Default)]
pub(in super::super) struct Parsed {
    pub(in super::super) id: Option<String>,
    pub(in super::super) model: Option<String>,
    pub(in super::super) output: Vec<Value>,
    pub(in super::super) usage: Option<Usage>,
    /// The provider's words for the end, and everything without a canonical field.
    pub(in super::super) data: ProviderData,
    /// What broke the answer, if anything did.
    pub(in super::super) error: Option<Box<Error>>,
}

/// Takes a response object apart.
pub(in super::super) fn parse(mut body: Object) -> Parsed {
    let error = error::of_response(&body).map(Box::new);
    let mut parsed = Parsed {
        id: take_text(&mut body, "id"),
        model: text(&body, "model").filter(|model| !model.is_empty()).map(str::to_owned),
        output: take_list(&mut body, "output").unwrap_or_default(),
        error,
        ..Parsed::default()
    };
    if parsed.model.is_some() {
        body.shift_remove("model");
    }
    if let Some(usage) = body.get("usage").and_then(usage::decode) {
        parsed.usage = Some(usage);
        body.shift_remove("usage");
    }
    if let Some(status) = take_text(&mut body, "status") {
        parsed.data.set(ME, "status", status);
    }
    if body.get("incomplete_details").is_some_and(|details| !details.is_null())
        && let Some(details) = body.shift_remove("incomplete_details")
    {
        parsed.data.set(ME, "incomplete_details", details);
    }
    // A helper field of client libraries, which repeats the text.
    if text(&body, "output_text").is_some_and(|text| text == output_text(&parsed.output)) {
        body.shift_remove("output_text");
        parsed.data.set(ME, "output_text", true);
    }
    parsed.data.set(ME, "response", Value::Object(body));
    parsed
}

fn output_text(output: &[Value]) -> String {
    let items = output.iter().filter_map(Value::as_object).cloned();
    let content = items.flat_map(|item| items::decode(item, false)).collect();
    Response { content, ..Response::default() }.text()
}

/// Reads a whole answer.
///
/// # Errors
/// The failure that the body reports, also with a status of 200; what had been answered until then is its `partial`.
pub(crate) fn decode_response(body: Value, ids: &mut Ids) -> Result<Response, Error> {
    let Value::Object(fields) = body else {
        return Err(Error::protocol("the answer is no JSON object"));
    };
    let known = fields.get("output").is_some_and(Value::is_array)
        || fields.get("object").is_some_and(|kind| kind == "response");
    if !known {
        let body = Value::Object(fields);
        return Err(openai_error::find(ME, &body)
            .unwrap_or_else(|| Error::protocol("the answer has no `output`: it is no answer of the Responses API")));
    }
    let mut parsed = parse(fields);
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

fn whole(parsed: Parsed, ids: &mut Ids) -> Response {
    let mut content: Vec<Block> = Vec::with_capacity(parsed.output.len());
    for item in parsed.output {
        let Value::Object(item) = item else {
            content.push(Block::Other(Other { dialect: ME, data: item.into() }));
            continue;
        };
        let after_text = matches!(content.last(), Some(Block::Text(_)));
        content.extend(items::decode(item, after_text));
    }
    for block in &mut content {
        if let Block::ToolCall(call) = block
            && call.id.is_empty()
        {
            call.id = format!("call_{}", ids.next_id());
        }
    }
    let mut response = Response {
        id: parsed.id,
        model: parsed.model.unwrap_or_default(),
        finish_reason: finish(&parsed.data, Asks::of(&content)),
        content,
        usage: parsed.usage,
        provider_data: parsed.data,
        ..Response::default()
    };
    if let Some(total) = response.usage.as_ref().and_then(usage::odd_total) {
        response.warnings.push(Loss::uncoded_info(
            "usage",
            "usage.total_tokens",
            format!("the provider counts {total} tokens in all, which is not the sum of its counts"),
        ));
    }
    response
}

/// What the content of an answer says about its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct Asks {
    /// There is a call that the client has to run.
    pub(in super::super) tools: bool,
    /// The model refused.
    pub(in super::super) refuses: bool,
}

impl Asks {
    pub(in super::super) fn of(content: &[Block]) -> Self {
        let mut asks = Asks::default();
        content.iter().for_each(|block| asks.see(block));
        asks
    }

    pub(in super::super) fn see(&mut self, block: &Block) {
        match block {
            Block::ToolCall(_) => self.tools = true,
            Block::Text(text) => self.refuses |= text.is_refusal(),
            Block::Other(other) => {
                let kind = other.data.value().get("type").and_then(Value::as_str);
                self.tools |= other.dialect == ME && matches!(kind, Some("custom_tool_call" | "function_call"));
            }
            Block::Image(_) | Block::Document(_) | Block::Audio(_) | Block::ToolResult(_) | Block::Thinking(_) => {}
        }
    }
}

/// Why the answer ended. `completed` says nothing about tools or refusals: the content does.
pub(in super::super) fn finish(data: &ProviderData, asks: Asks) -> FinishReason {
    let reason = data.value(ME, "incomplete_details").and_then(|details| details.get("reason")).and_then(Value::as_str);
    match data.str(ME, "status") {
        Some("completed") if asks.tools => FinishReason::ToolUse,
        Some("completed") if asks.refuses => FinishReason::ContentFilter,
        Some("completed") => FinishReason::Stop,
        Some("incomplete") => match reason {
            Some("max_output_tokens" | "max_messages") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            _ => FinishReason::Unknown,
        },
        Some("failed" | "cancelled") => FinishReason::Error,
        _ => FinishReason::Unknown,
    }
}
