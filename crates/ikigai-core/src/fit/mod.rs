//! What a model and its provider accept, decided once, before any dialect.
//!
//! `fit` takes a request as the caller made it and gives the same request as its target accepts it, still in canonical
//! terms, with a loss for everything that was left out or changed. A dialect then only spells what it is given: it does
//! not look at [`Rules`](crate::Rules), and of the provider's quirks it reads only those about spelling.

use std::borrow::Cow;

use crate::dialect::Target;
use crate::thinking::Setting;
use crate::{Block, Function, Json, Loss, Message, Other, Request, Role, ToolChoice};

/// Whether a request is written as it came, or in our own spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// It was decoded from this dialect and still names the model it was written for: nothing is fitted, and its shape
    /// is followed wherever it still says the same as the request.
    AsItCame,
    /// It is written in the dialect's usual form.
    Ours,
}

/// A request as its target accepts it.
#[derive(Debug)]
pub(crate) struct Fitted<'a> {
    /// The request as the caller made it: for what is not in the other fields (metadata, stream, provider data). What is
    /// in them wins.
    pub(crate) request: &'a Request,
    pub(crate) target: &'a Target<'a>,
    pub(crate) spelling: Spelling,
    /// The system prompt; with what has to be said in it because there is no field for it.
    pub(crate) system: Vec<FittedBlock<'a>>,
    pub(crate) messages: Vec<FittedMessage<'a>>,
    pub(crate) tools: Vec<FittedTool<'a>>,
    /// With the tool's name as it is sent.
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) parallel_tool_calls: Option<bool>,
    /// With room for the thinking where the wire counts both together.
    pub(crate) max_output_tokens: Option<i64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<i64>,
    pub(crate) frequency_penalty: Option<f64>,
    pub(crate) presence_penalty: Option<f64>,
    pub(crate) stop: Cow<'a, [String]>,
    pub(crate) seed: Option<i64>,
    pub(crate) output_format: Option<FittedFormat<'a>>,
    pub(crate) thinking: FittedThinking,
    /// The key of the prompt cache, short enough for the wire.
    pub(crate) cache_key: Option<Cow<'a, str>>,
    /// Everything that was left out or changed.
    pub(crate) losses: Vec<Loss>,
}

/// A message as its target accepts it.
#[derive(Debug)]
pub(crate) struct FittedMessage<'a> {
    pub(crate) message: &'a Message,
    /// Its place in the request, for losses.
    pub(crate) index: usize,
    /// The role to send it in.
    pub(crate) role: Role,
    pub(crate) content: Vec<FittedBlock<'a>>,
}

/// A block as its target accepts it.
#[derive(Debug)]
pub(crate) struct FittedBlock<'a> {
    pub(crate) block: Cow<'a, Block>,
    /// Its place in its message, for losses.
    pub(crate) index: usize,
    pub(crate) state: StateUse,
}

/// Whether the target may read the sealed state on a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateUse {
    /// The target issued it (or nobody else is known to have): it goes back.
    Own,
    /// It stays behind; where it mattered, the loss is noted.
    Foreign,
}

/// A tool as its target accepts it.
#[derive(Debug)]
pub(crate) enum FittedTool<'a> {
    Function {
        function: &'a Function,
        /// Its place in the request, for losses.
        index: usize,
        /// Its name as it is sent.
        name: Cow<'a, str>,
        /// The schema as it is sent: closed where it is strict.
        parameters: Cow<'a, Json>,
        /// Absent where nothing is to be said about it.
        strict: Option<bool>,
    },
    /// A tool of the target's own dialect.
    Own(&'a Other),
}

/// The form of the answer, as its target accepts it.
#[derive(Debug)]
pub(crate) enum FittedFormat<'a> {
    Text,
    Json,
    Schema { name: Option<Cow<'a, str>>, description: Option<&'a str>, schema: Cow<'a, Json>, strict: Option<bool> },
}

/// What is said about thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FittedThinking {
    /// What to send.
    pub(crate) setting: Setting,
    /// Whether the model will think.
    pub(crate) thinks: bool,
    /// Whether the thinking, or its summary, is wanted in the answer.
    pub(crate) shown: bool,
}
