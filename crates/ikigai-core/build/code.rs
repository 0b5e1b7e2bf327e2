//! Writes values of the data files as Rust code.

use toml::{Table, Value};

use super::Result;

pub(crate) fn text(value: &str) -> String {
    format!("Cow::Borrowed({value:?})")
}

/// Converts a word to the name of an enum variant: `max_tokens` becomes `MaxTokens`.
fn pascal(word: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    word.split(['-', '_']).map(capital).collect()
}

pub(crate) fn str_of(value: Option<&Value>) -> Result<&str> {
    match value {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("`{other}` is not a text").into()),
    }
}

pub(crate) fn list(value: Option<&Value>) -> Result<Vec<String>> {
    match value {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(items)) => items.iter().map(|item| str_of(Some(item)).map(str::to_owned)).collect(),
        Some(other) => Err(format!("`{other}` is not a list of strings").into()),
    }
}

pub(crate) fn table(value: Value, name: &str) -> Result<Table> {
    match value {
        Value::Table(table) => Ok(table),
        other => Err(format!("{name}: `{other}` is not a table").into()),
    }
}

pub(crate) fn number(value: &Value) -> Result<u32> {
    Ok(u32::try_from(value.as_integer().ok_or_else(|| format!("`{value}` is not a whole number"))?)?)
}

pub(crate) fn flag(value: Option<&Value>) -> Result<bool> {
    match value {
        None => Ok(false),
        Some(value) => Ok(value.as_bool().ok_or_else(|| format!("`{value}` is neither true nor false"))?),
    }
}

/// The words for each enum whose variants appear in the files. A word that is missing here is an error with its file
/// and row; one that is not a variant does not compile.
const WORDS: [(&str, &[&str]); 22] = [
    ("Auth", &["bearer", "x-api-key", "x-goog-api-key", "api-key", "google-oauth", "aws-sigv4", "none"]),
    ("StateScope", &["provider", "family", "model"]),
    ("ConverseFields", &["nothing", "anthropic", "nova", "reasoning_effort", "reasoning_config"]),
    ("Dialect", &["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock-converse"]),
    ("Drawing", &["usual", "predict", "ask_base64"]),
    ("ThinkingDisplay", &["always", "unless_hidden", "on_request", "never"]),
    ("ForcedTools", &["taken", "not_while_thinking", "refused"]),
    ("Level", &["none", "minimal", "low", "med", "high", "xhigh", "max"]),
    ("MaxTokensField", &["max_completion_tokens", "max_tokens"]),
    ("Modality", &["text", "image", "pdf", "audio", "video", "embedding"]),
    ("ThinkingOff", &["silence", "word", "between_tools", "impossible"]),
    ("ReasoningField", &["nothing", "reasoning_content", "reasoning", "content_part"]),
    (
        "ReasoningRequest",
        &[
            "effort",
            "effort_and_format",
            "reasoning_object",
            "thinking_type",
            "thinking_type_and_effort",
            "chat_template",
            "nothing",
        ],
    ),
    ("ReplayReasoning", &["never", "always", "tool_loop"]),
    ("RequiredChoice", &["required", "any", "refused"]),
    ("Sampling", &["free", "not_while_thinking", "one_of", "discouraged", "ignored", "refused"]),
    ("SeedField", &["seed", "random_seed", "nothing"]),
    ("ThinkingDetail", &["whole", "summary"]),
    ("Status", &["active", "preview", "deprecated", "retired"]),
    ("SystemRole", &["system", "developer"]),
    ("ThinkingKind", &["none", "budget", "adaptive", "effort", "level", "toggle", "always"]),
    ("ToolsInChat", &["taken", "not_with_effort", "not_while_thinking"]),
];

/// Converts a word to the variant of an enum.
pub(crate) fn word(kind: &str, value: &Value) -> Result<String> {
    let word = str_of(Some(value))?;
    let known = WORDS.iter().find(|(name, _)| *name == kind).map(|(_, words)| *words).unwrap_or_default();
    if known.contains(&word) {
        return Ok(format!("{kind}::{}", pascal(word)));
    }
    Err(format!("unknown word `{word}`; use {}", known.join(", ")).into())
}
