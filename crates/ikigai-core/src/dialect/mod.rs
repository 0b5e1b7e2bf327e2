//! The wire formats, each in its own folder with the same files.
//!
//! A dialect is a pure translation between the wire and the canonical format, for requests, responses, streams and
//! errors. It knows no provider names: differences between providers of one dialect are in a [`Quirks`] row,
//! differences between models in a [`Rules`](crate::catalog::Rules) row, and both come with the [`Target`].

mod allowed;
mod anthropic;
#[cfg(feature = "converse")]
mod bedrock_converse;
#[cfg(not(feature = "converse"))]
#[path = "no_converse.rs"]
mod bedrock_converse;
mod dispatch;
mod driver;
mod failure;
mod gemini;
pub(crate) mod hosted;
mod ids;
mod lanes;
mod losses;
mod media;
mod openai_chat;
mod openai_error;
mod openai_responses;
mod seal;
mod surrogates;
#[cfg(test)]
mod testing;
pub(crate) mod verbs;
pub(crate) mod watch;
mod weight;

use serde::{Deserialize, Serialize};

use crate::catalog::{Facts, Rules};
use crate::fit::Fitted;
use crate::json::wire::write_within;
use crate::provider::Quirks;
use crate::wire::ToolNames;
use crate::{Arguments, Block, Error, Event, FinishReason, Json, Loss, ProviderData, Usage};

pub(crate) use driver::Progress;
pub use driver::StreamDecoder;
#[cfg(feature = "server")]
pub use driver::StreamEncoder;
pub use failure::duration_ms;
pub use ids::Ids;
#[cfg(feature = "server")]
pub use verbs::{EmbedRequest, VectorForm};
pub use verbs::{
    ImageRequest, ListedModel, MediaFile, Picture, Pictures, SpeechRequest, Spoken, TranscribeRequest, Transcribed,
    Vectors,
};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and the family that copies it.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Google Gemini `generateContent`.
    Gemini,
    /// Amazon Bedrock's Converse. Only providers speak it: see [`Dialect::serves_clients`].
    BedrockConverse,
}

impl Dialect {
    /// The dialects that both clients and providers speak, so that everything can be decoded and encoded.
    pub const ALL: [Dialect; 4] = [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini];

    /// The dialects that providers speak: [`ALL`](Dialect::ALL), plus those whose requests can only be encoded and
    /// whose answers can only be decoded.
    pub const PROVIDERS: [Dialect; 5] =
        [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini, Dialect::BedrockConverse];

    /// Returns whether clients speak it too, so that its requests can be decoded and its answers encoded.
    ///
    /// ```
    /// use ikigai_core::Dialect;
    ///
    /// assert!(Dialect::ALL.into_iter().all(Dialect::serves_clients));
    /// assert!(!Dialect::BedrockConverse.serves_clients());
    /// ```
    pub fn serves_clients(self) -> bool {
        match self {
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini => true,
            Dialect::BedrockConverse => false,
        }
    }

    /// Returns its name everywhere: `anthropic`, `openai-chat`, `openai-responses`, `gemini`, `bedrock-converse`.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::Anthropic => "anthropic",
            Dialect::OpenaiChat => "openai-chat",
            Dialect::OpenaiResponses => "openai-responses",
            Dialect::Gemini => "gemini",
            Dialect::BedrockConverse => "bedrock-converse",
        }
    }

    /// Returns how providers frame its streams.
    pub fn framing(self) -> Framing {
        match self {
            Dialect::BedrockConverse => Framing::Amazon,
            Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini => Framing::Events,
        }
    }

    /// Returns the name its maker uses to distinguish it from an older API: "Responses API".
    pub fn second_name(self) -> Option<&'static str> {
        (self == Dialect::OpenaiResponses).then_some("Responses API")
    }
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a string that does not name a dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect `{0}`; use {names}", names = Dialect::PROVIDERS.map(Dialect::as_str).join(", "))]
pub struct UnknownDialect(pub String);

impl std::str::FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let mut all = Dialect::PROVIDERS.into_iter();
        all.find(|dialect| dialect.as_str() == name).ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

/// How the pieces of a stream are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// Amazon's binary frames (`application/vnd.amazon.eventstream`). A client splits them, and passes each to the
    /// decoder as an event whose data is an object with the frame's type as its only key.
    Amazon,
}

impl Framing {
    /// Returns the media type of such a stream.
    pub fn media_type(self) -> &'static str {
        match self {
            Framing::Events => "text/event-stream",
            Framing::Amazon => "application/vnd.amazon.eventstream",
        }
    }
}

/// The target of a request: everything an encoder needs to know about the provider and the model.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Target<'a> {
    /// The provider's id. Codecs compare it with the issuer of sealed state, never with a hard-coded name.
    pub provider: &'a str,
    /// How this provider's API differs from the dialect's own.
    pub quirks: &'a Quirks,
    /// The rules of what the model accepts.
    pub rules: &'a Rules,
    /// The model's limits and prices, if known.
    pub facts: Option<&'a Facts>,
}

impl<'a> Target<'a> {
    /// Creates a target for a model about which only the rules are known.
    pub fn new(provider: &'a str, quirks: &'a Quirks, rules: &'a Rules) -> Self {
        Target { provider, quirks, rules, facts: None }
    }
}

/// A request as sent over the wire.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WireRequest {
    /// The path below the provider's base URL, with its query: `/v1/messages`.
    pub path: String,
    /// Headers that belong to the dialect. The caller adds the header with the key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body, as bytes: JSON, or a form if it includes files, in which case the headers have a `content-type`. Only
    /// JSON can be serialised.
    #[serde(with = "body")]
    pub body: Vec<u8>,
    /// The parts of the request that could not be carried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Loss>,
    /// The tools' own names, for the calls in the answer: [`ToolNames::restore`].
    #[serde(default, skip_serializing_if = "ToolNames::is_empty")]
    pub names: ToolNames,
}

impl WireRequest {
    /// Creates a request with this body and without headers.
    fn new(path: String, body: &impl Serialize, fitted: &Fitted<'_>, losses: Vec<Loss>) -> Self {
        WireRequest { path, body: write_within(body, fitted.bytes()), losses, ..WireRequest::default() }
    }
}

/// An answer as sent to a client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WireResponse {
    /// The JSON body, as bytes.
    #[serde(with = "body")]
    pub body: Vec<u8>,
    /// The parts of the answer that could not be carried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Loss>,
}

/// Serialises a body of JSON bytes as embedded JSON.
mod body {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;

    pub(super) fn serialize<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_slice(body).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Ok(Box::<RawValue>::deserialize(deserializer)?.get().as_bytes().to_vec())
    }
}

/// A request as received from a client.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Incoming<'a> {
    /// The path with its query, if known. For Gemini, it contains the model and the method.
    pub path: Option<&'a str>,
    /// The JSON body.
    pub body: &'a [u8],
}

impl<'a> Incoming<'a> {
    /// Creates a request whose path is unknown.
    pub fn new(body: &'a [u8]) -> Self {
        Incoming { path: None, body }
    }

    /// Sets the path, with its query.
    #[must_use]
    pub fn at(self, path: &'a str) -> Self {
        Incoming { path: Some(path), ..self }
    }
}

/// The information, besides the answer itself, that a server needs to write an answer in a dialect.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Reply {
    /// The generator of ids that the answer lacks.
    pub ids: Ids,
    /// When the answer was created, in seconds since 1970.
    pub created: u64,
    /// The model to name if the answer names none.
    pub model: Option<String>,
    /// Chat: whether the client asked for usage in the stream.
    pub stream_usage: bool,
    /// Chat: whether the client sent its tools as `functions`, the older form, and expects a `function_call`.
    pub older_calls: bool,
    /// Gemini: whether the client asked for a JSON array instead of an event stream.
    pub json_array: bool,
    /// The provider that issued the sealed state in the answer; it is sealed again for clients of another dialect.
    pub provider: Option<String>,
}

/// A failure as sent over the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WireError {
    /// The HTTP status.
    pub status: u16,
    /// Headers that belong to the dialect: `retry-after`, the request id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The JSON body, as bytes.
    #[serde(with = "body")]
    pub body: Vec<u8>,
}

impl WireError {
    /// Creates a failure without headers.
    pub fn new(status: u16, body: Vec<u8>) -> Self {
        WireError { status, headers: Vec::new(), body }
    }
}

/// A dialect's reader of streams. It sees frames, never bytes, and only those before the end. The driver decides what
/// happens to frames that are unknown, broken or cut off.
pub(crate) trait ReadFrames: std::fmt::Debug + Send + Sync {
    /// Reads a frame of the usual form that contains only a piece of text, without parsing it. Returns `None`, and
    /// changes nothing, for any other frame.
    fn glance(&mut self, _data: &str, _out: &mut Vec<Event>) -> Option<()> {
        None
    }

    /// Reads one frame: the SSE event name, if any, and its data. Writes the resulting events.
    fn frame(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) -> Result<Seen, Fault>;

    /// Handles an end of the bytes without an end marker. Writes the end of the answer if it is complete anyway.
    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Fault>;

    /// Writes what has arrived but is held back, because the stream is about to fail.
    fn flush(&mut self, _out: &mut Vec<Event>) {}

    /// Returns roughly how many bytes the reader holds beyond what is counted with its events (which includes the
    /// arguments of calls). Not cheap.
    fn held(&self) -> usize;
}

/// How a reader classifies a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Known; its events have been written.
    Known,
    /// Not a frame, but a complete answer or the body of a failure.
    Whole,
    /// Unknown: the driver passes it on whole, for the block with this index if it belongs to one.
    Unknown(Option<usize>),
}

/// Why a stream cannot continue.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The frame is not JSON, or not what its type requires; with the reason.
    Broken(String),
    /// The provider reported a failure, or a limit was reached.
    Failed(Box<Error>),
    /// The answer ended before it was complete.
    CutOff,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Failed(Box::new(error))
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Fault::Broken(error.to_string())
    }
}

/// A dialect's writer of streams. The driver begins with the start, whether or not there was one, and passes nothing on
/// after the end; only a failure may come first.
pub(crate) trait WriteFrames: std::fmt::Debug + Send + Sync {
    /// Starts the answer. `model` is the one to name.
    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>);

    /// Begins a block. A call has no arguments yet.
    fn open(&mut self, index: usize, block: &Block, out: &mut Vec<u8>);

    /// Writes a piece of a block's text, thinking or arguments.
    fn piece(&mut self, index: usize, piece: &str, out: &mut Vec<u8>);

    /// Ends a block, with the data that came last. A call has its arguments only now.
    fn close(&mut self, index: usize, arguments: Option<&Arguments>, data: &ProviderData, out: &mut Vec<u8>);

    /// Takes note of the counts so far.
    fn usage(&mut self, usage: &Usage, out: &mut Vec<u8>);

    /// Ends the answer.
    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>);

    /// Ends the answer with a failure.
    fn fail(&mut self, failure: &Error, out: &mut Vec<u8>);

    /// Passes on an event that only this dialect has.
    fn other(&mut self, index: Option<usize>, data: &Json, out: &mut Vec<u8>);

    /// Takes the losses since the last call.
    fn take_losses(&mut self) -> Vec<Loss>;
}
