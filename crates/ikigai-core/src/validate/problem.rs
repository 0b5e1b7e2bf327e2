//! Problems of a request or an answer.

use crate::{BlockKind, Error, FinishReason, Role};

/// Everything that is wrong with a request or an answer, including soft problems.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invalid {
    /// The problems, in the order of the request's parts; at least one is hard.
    pub problems: Vec<Problem>,
}

impl Invalid {
    /// Returns the problems that make it invalid.
    pub fn hard(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| !problem.is_soft())
    }
}

/// The number of problems that a message names; the list itself has them all.
const NAMED: usize = 8;

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.hard().count();
        for (place, problem) in self.hard().take(NAMED).enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        if count > NAMED {
            write!(f, "\nand {} more", count - NAMED)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        let param = invalid.hard().next().map(|problem| problem.place().to_owned());
        Error { param, ..Error::invalid_request(invalid.to_string()) }
    }
}

/// One problem of a request or an answer. Its message names the place and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are the place and the parts of the message above them")]
pub enum Problem {
    /// No model.
    #[error("model: no model is named; set one, such as `claude-sonnet-4-5`")]
    NoModel,
    /// No message.
    #[error("messages: there is no message; add a user message")]
    NoMessages,
    /// Soft: the conversation does not begin with the user.
    #[error("{at}: the conversation begins with the role {role}; some providers require a user message first")]
    FirstNotUser { at: String, role: Role },
    /// Soft: the system prompt is among the messages.
    #[error("messages[0]: a system message comes first; put it into `system`, where every provider accepts it")]
    SystemFirst,
    /// More than one system message in a conversation.
    #[error("{at}: this is a second system message; join them into one")]
    SecondSystemMessage { at: String },
    /// Soft: the conversation ends with the assistant, for the model to continue.
    #[error(
        "{at}: the conversation ends with the assistant; only some models continue from there, so end with a user message or a tool result"
    )]
    EndsWithAssistant { at: String },
    /// A message without content; soft for the assistant, whose message is then left out.
    #[error("{at}: the {role} message is empty; give it content or leave it out")]
    EmptyMessage { at: String, role: Role },
    /// Soft: an empty text.
    #[error("{at}: the text is empty; some providers refuse that, so leave the block out")]
    EmptyText { at: String },
    /// A block in a place where its kind is not allowed.
    #[error("{at}: blocks of type {kind} are not allowed in {inside}; {way_out}")]
    Misplaced { at: String, kind: BlockKind, inside: &'static str, way_out: &'static str },

    /// A call without an id.
    #[error("{at}: the tool call has no id; give it one that its result can refer to")]
    CallWithoutId { at: String },
    /// A call without a name.
    #[error("{at}: the tool call names no tool; set `name`")]
    CallWithoutName { at: String },
    /// Two calls with the same id; soft if they are in different turns.
    #[error("{at}: the tool call id `{id}` was used at {first} already; every call needs its own")]
    DuplicateCallId { at: String, id: String, first: String, same_turn: bool },
    /// A call without a result.
    #[error(
        "{at}: the tool call `{id}` ({name}) has no result; add a tool_result for it to the next message, or leave the call out"
    )]
    CallWithoutResult { at: String, id: String, name: String },
    /// Soft: a call whose arguments are not a JSON object.
    #[error(
        "{at}: the arguments of the call of {name} are not a JSON object, as in a call that was cut off; it must not be run"
    )]
    BrokenCall { at: String, name: String },
    /// A tool message that does not say which call it answers.
    #[error(
        "{at}: the tool message does not say which call it answers; use a tool_result block with its `tool_call_id`"
    )]
    ResultWithoutCallId { at: String },
    /// A result for a missing call.
    #[error(
        "{at}: the result answers the tool call `{id}`, which is not in the message before; put results right after their calls"
    )]
    ResultWithoutCall { at: String, id: String },
    /// Two results for one call.
    #[error("{at}: the tool call `{id}` already has a result; keep only one")]
    DuplicateResult { at: String, id: String },

    /// A result of a provider-run tool whose call is not before it.
    #[error(
        "{at}: the result answers the provider's call `{id}`, which is not in any message before it; keep calls and results together"
    )]
    ProviderResultWithoutCall { at: String, id: String },
    /// Soft: a citation whose passage does not exist.
    #[error("{at}: a citation's span lies outside the text or splits a character; correct the span")]
    SpanOutside { at: String },

    /// A tool name that providers refuse.
    #[error("{at}: `{name}` is not a valid tool name; use 1 to 128 letters, digits, `_` and `-`")]
    BadToolName { at: String, name: String },
    /// Soft: a tool name that some providers refuse.
    #[error(
        "{at}: not every provider accepts the tool name `{name}`; it is sent in another spelling there unless it has at most 64 letters, digits, `_` and `-` and does not begin with a digit or `-`"
    )]
    UnportableToolName { at: String, name: String },
    /// Two tools with the same name.
    #[error("{at}: the tool `{name}` is at {first} already; every tool needs its own name")]
    DuplicateTool { at: String, name: String, first: String },
    /// An invalid schema.
    #[error("{at}: this is not a JSON Schema that providers accept: {why}")]
    BadSchema { at: String, why: String },
    /// Soft: a schema without a type.
    #[error("{at}: the schema does not say that it describes an object; add \"type\": \"object\"")]
    SchemaWithoutType { at: String },
    /// A required tool call without any tools.
    #[error("tool_choice: a tool is required, but there are no tools; add tools or drop the choice")]
    ToolChoiceWithoutTools,
    /// A tool choice that names a missing tool.
    #[error("tool_choice: there is no tool `{name}`; the tools are {known}")]
    UnknownTool { name: String, known: String },
    /// An output format name that providers refuse.
    #[error("output_format.json_schema.name: `{name}` is not a valid name; use 1 to 64 letters, digits, `_` and `-`")]
    BadFormatName { name: String },

    /// An invalid output limit.
    #[error(
        "max_output_tokens: {value} is not a valid limit; give at least 1, or leave it out (or -1) for the provider's default"
    )]
    OutputLimit { value: i64 },
    /// An invalid thinking budget.
    #[error(
        "thinking.budget: {value} is not a valid budget; give a number of tokens up to 2147483647, 0 for off, or -1 for the model's own choice"
    )]
    ThinkingBudget { value: i64 },
    /// Soft: a level and a budget that contradict each other.
    #[error("thinking: the level is none but the budget is {budget}; the budget wins, so drop one of them")]
    LevelAgainstBudget { budget: i64 },
    /// A number out of its range.
    #[error("{at}: {value} is out of range; give a number from {range}")]
    OutOfRange { at: &'static str, value: String, range: &'static str },
    /// An empty stop sequence.
    #[error("{at}: the stop sequence is empty and would end every answer; leave it out")]
    EmptyStop { at: String },

    /// An invalid media type.
    #[error("{at}: `{media_type}` is not a media type; write it like `image/png`")]
    BadMediaType { at: String, media_type: String },
    /// A media type that does not fit its block.
    #[error("{at}: {media_type} does not belong in a block of type {kind}; {way_out}")]
    WrongMediaType { at: String, media_type: String, kind: BlockKind, way_out: &'static str },
    /// Empty data.
    #[error("{at}: the data is empty; give the bytes as base64")]
    NoData { at: String },
    /// A complete data URL instead of only its data.
    #[error("{at}: the data begins with `data:`; give only what follows the comma, and the type as `media_type`")]
    DataUrl { at: String },
    /// Data that is not base64.
    #[error("{at}: the data is not standard base64: {why}")]
    NotBase64 { at: String, why: String },
    /// A URL that providers cannot fetch.
    #[error("{at}: `{url}` is not an address that a provider can fetch; give an https URL, or the bytes as base64")]
    BadUrl { at: String, url: String },
    /// A file without an id.
    #[error("{at}: the file has no id; give the id that the provider returned for it")]
    NoFileId { at: String },

    /// An answer without content; soft if its finish reason explains it.
    #[error(
        "content: the answer is empty although it ended with {finish}; an answer has at least one block unless it failed"
    )]
    EmptyAnswer { finish: FinishReason, explained: bool },
    /// An answer that is waiting for tool results, but calls no tool.
    #[error("finish_reason: the answer ended with tool_use but calls no tool; it should be stop")]
    ToolUseWithoutCall,
    /// Soft: an answer that calls tools, but is not waiting for their results.
    #[error("finish_reason: the answer calls tools but ended with {finish}; it should be tool_use")]
    CallsWithoutToolUse { finish: FinishReason },
    /// An answer with an error, whose finish reason is not `error`.
    #[error("finish_reason: the answer ended with {finish} but carries an error; it should be error")]
    ErrorWithoutFinish { finish: FinishReason },
    /// Soft: the provider's total differs from the sum of its counts.
    #[error("usage: the counts add up to {sum}, but the provider's total is {total}")]
    TotalDiffers { sum: u64, total: u64 },
}

impl Problem {
    /// Returns whether it is only worth a warning.
    pub fn is_soft(&self) -> bool {
        match self {
            Problem::FirstNotUser { .. }
            | Problem::SystemFirst
            | Problem::EndsWithAssistant { .. }
            | Problem::EmptyText { .. }
            | Problem::BrokenCall { .. }
            | Problem::SpanOutside { .. }
            | Problem::UnportableToolName { .. }
            | Problem::SchemaWithoutType { .. }
            | Problem::LevelAgainstBudget { .. }
            | Problem::CallsWithoutToolUse { .. }
            | Problem::TotalDiffers { .. } => true,
            Problem::EmptyMessage { role, .. } => *role == Role::Assistant,
            Problem::DuplicateCallId { same_turn, .. } => !same_turn,
            Problem::EmptyAnswer { explained, .. } => *explained,
            Problem::NoModel
            | Problem::NoMessages
            | Problem::SecondSystemMessage { .. }
            | Problem::Misplaced { .. }
            | Problem::CallWithoutId { .. }
            | Problem::CallWithoutName { .. }
            | Problem::CallWithoutResult { .. }
            | Problem::ResultWithoutCallId { .. }
            | Problem::ResultWithoutCall { .. }
            | Problem::DuplicateResult { .. }
            | Problem::ProviderResultWithoutCall { .. }
            | Problem::BadToolName { .. }
            | Problem::DuplicateTool { .. }
            | Problem::BadSchema { .. }
            | Problem::ToolChoiceWithoutTools
            | Problem::UnknownTool { .. }
            | Problem::BadFormatName { .. }
            | Problem::OutputLimit { .. }
            | Problem::ThinkingBudget { .. }
            | Problem::OutOfRange { .. }
            | Problem::EmptyStop { .. }
            | Problem::BadMediaType { .. }
            | Problem::WrongMediaType { .. }
            | Problem::NoData { .. }
            | Problem::DataUrl { .. }
            | Problem::NotBase64 { .. }
            | Problem::BadUrl { .. }
            | Problem::NoFileId { .. }
            | Problem::ToolUseWithoutCall
            | Problem::ErrorWithoutFinish { .. } => false,
        }
    }

    /// Returns its place in the request or the answer: `messages[3].content[0]`.
    pub fn place(&self) -> &str {
        match self {
            Problem::NoModel => "model",
            Problem::NoMessages => "messages",
            Problem::SystemFirst => "messages[0]",
            Problem::ToolChoiceWithoutTools | Problem::UnknownTool { .. } => "tool_choice",
            Problem::BadFormatName { .. } => "output_format.json_schema.name",
            Problem::OutputLimit { .. } => "max_output_tokens",
            Problem::ThinkingBudget { .. } => "thinking.budget",
            Problem::LevelAgainstBudget { .. } => "thinking",
            Problem::OutOfRange { at, .. } => at,
            Problem::EmptyAnswer { .. } => "content",
            Problem::ToolUseWithoutCall | Problem::CallsWithoutToolUse { .. } | Problem::ErrorWithoutFinish { .. } => {
                "finish_reason"
            }
            Problem::TotalDiffers { .. } => "usage",
            Problem::SecondSystemMessage { at }
            | Problem::FirstNotUser { at, .. }
            | Problem::EndsWithAssistant { at }
            | Problem::EmptyMessage { at, .. }
            | Problem::EmptyText { at }
            | Problem::Misplaced { at, .. }
            | Problem::CallWithoutId { at }
            | Problem::CallWithoutName { at }
            | Problem::DuplicateCallId { at, .. }
            | Problem::CallWithoutResult { at, .. }
            | Problem::BrokenCall { at, .. }
            | Problem::ResultWithoutCallId { at }
            | Problem::ResultWithoutCall { at, .. }
            | Problem::DuplicateResult { at, .. }
            | Problem::ProviderResultWithoutCall { at, .. }
            | Problem::SpanOutside { at }
            | Problem::BadToolName { at, .. }
            | Problem::UnportableToolName { at, .. }
            | Problem::DuplicateTool { at, .. }
            | Problem::BadSchema { at, .. }
            | Problem::SchemaWithoutType { at }
            | Problem::EmptyStop { at }
            | Problem::BadMediaType { at, .. }
            | Problem::WrongMediaType { at, .. }
            | Problem::NoData { at }
            | Problem::DataUrl { at }
            | Problem::NotBase64 { at, .. }
            | Problem::BadUrl { at, .. }
            | Problem::NoFileId { at } => at,
        }
    }
}
