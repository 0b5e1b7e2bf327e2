//! The gist of an answer, for comparisons: its text, its thinking, its calls, how it ended and what it used.

use ikigai_core::{Block, Dialect, FinishReason, Part, Response};
use serde_json::{Value, json};

/// The gist of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    pub(crate) text: String,
    pub(crate) refusal: String,
    pub(crate) thinking: String,
    /// Names and arguments; the text of arguments that are not JSON.
    pub(crate) calls: Vec<(String, Value)>,
    pub(crate) finish: FinishReason,
    /// The whole prompt, visible answer, thinking, cache reads, cache writes.
    pub(crate) usage: Option<[u64; 5]>,
}

/// Returns the gist of an answer. `refusal` marks are looked for in every dialect's data.
pub(crate) fn summary(response: &Response) -> Summary {
    let refused = |block: &Block| {
        block
            .provider_data()
            .is_some_and(|data| Dialect::ALL.iter().any(|dialect| data.part(*dialect, Part::Shape).flag("refusal")))
    };
    let texts = |wanted: bool| -> String {
        response.content.iter().filter(|block| refused(block) == wanted).filter_map(Block::as_text).collect()
    };
    Summary {
        text: texts(false),
        refusal: texts(true),
        thinking: response.thinking(),
        calls: response.content.iter().filter_map(call).collect(),
        finish: response.finish_reason,
        usage: response.usage.as_ref().map(|usage| {
            [
                usage.prompt_tokens(),
                usage.output_tokens,
                usage.thinking_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
            ]
        }),
    }
}

fn call(block: &Block) -> Option<(String, Value)> {
    match block {
        Block::ToolCall(call) => {
            let arguments = match call.arguments.text() {
                text if text.trim().is_empty() => json!({}),
                text => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
            };
            Some((call.name.clone(), arguments))
        }
        // A custom tool takes free text; the format has no field for such a call.
        Block::Other(other) if other.data.value()["type"] == "custom_tool_call" => {
            Some((other.data.value()["name"].as_str()?.to_owned(), other.data.value()["input"].clone()))
        }
        _ => None,
    }
}
