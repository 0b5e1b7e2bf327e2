//! Adapts a request to what its model and provider accept: once, before any dialect.
//!
//! [`fit`] takes a request as the caller made it and returns the same request as its target accepts it, still in
//! canonical terms, with a loss for everything that was left out or changed. A dialect then only writes what it is
//! given: it does not look at [`Rules`], and it reads only those quirks of the provider that concern spelling.
//!
//! What a wire format can express is data too: [`Abilities`], one for each dialect. Nothing here compares the names of
//! dialects or providers, except to determine who issued some state.

mod abilities;
mod as_it_came;
pub(crate) mod built_in;
mod cache;
pub(crate) mod cited;
mod converse;
mod foreign;
mod format;
mod history;
mod ids;
mod issuer;
mod names;
mod place;
mod sampling;
mod schema;
mod size;
mod thinking;
mod tool_turn;
mod tools;

use std::borrow::Cow;

use crate::catalog::{Rules, ThinkingKind};
use crate::dialect::Target;
use crate::provider::Quirks;
use crate::thinking::{ShowThinking, ThinkingSetting};
use crate::{
    Block, CacheHint, Dialect, Error, ErrorKind, Fields, Function, Json, JsonSchemaFormat, Limits, Loss, LossCode,
    Message, Other, Part, Request, Role, ToolChoice,
};

pub(crate) use abilities::*;
pub(crate) use cache::Marks;
pub use names::ToolNames;
pub(crate) use place::Place;
pub(crate) use schema::Subset;

use ids::{CallIds, IdForm};
use names::Respelled;
use thinking::Obstacles;
use tool_turn::is_unsigned_tool_turn;

/// Whether a request is written as received, or in our own spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// It was decoded from this dialect and still names the model it was written for: nothing is fitted, and its shape
    /// is followed wherever it still means the same as the request.
    AsItCame,
    /// It is written in the dialect's usual form.
    Ours,
}

/// A request as its target accepts it.
#[derive(Debug)]
pub(crate) struct Fitted<'a> {
    /// The request as the caller made it, for everything that is not in the other fields (metadata, stream, provider
    /// data). The other fields take precedence.
    pub(crate) request: &'a Request,
    pub(crate) target: &'a Target<'a>,
    pub(crate) spelling: Spelling,
    /// The system prompt, including anything added to it because there is no field for it.
    pub(crate) system: Vec<FittedBlock<'a>>,
    pub(crate) messages: Vec<FittedMessage<'a>>,
    pub(crate) tools: Vec<FittedTool<'a>>,
    /// The choice, with the tool's name as it is sent; `None` if nothing is sent.
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) parallel_tool_calls: Option<bool>,
    /// Includes room for the thinking if the wire counts both together.
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
    /// The request to cache the whole prompt.
    pub(crate) automatic_cache: Option<CacheHint>,
    /// The cache marks on single parts. Those on the blocks and tools themselves are not all sent.
    pub(crate) marks: Marks,
    /// Fields that another dialect left and that this one also has.
    pub(crate) shared: Fields,
    /// What the model accepts in some places.
    pub(crate) takes: Takes,
    /// The tools' original names, by the names that are sent.
    pub(crate) names: ToolNames,
    /// Everything that was left out or changed.
    pub(crate) losses: Vec<Loss>,
}

/// A message as its target accepts it.
#[derive(Debug)]
pub(crate) struct FittedMessage<'a> {
    /// The message as the caller made it, for what is not in the other fields: its provider data. A message that was
    /// added here has none.
    pub(crate) message: &'a Message,
    /// Its place in the request, for losses.
    pub(crate) index: usize,
    /// The role in which it is sent.
    pub(crate) role: Role,
    /// Whether the target may read the state on the message itself.
    pub(crate) state: StateUse,
    pub(crate) content: Vec<FittedBlock<'a>>,
}

/// A block as its target accepts it. Calls and results have the names and ids that are sent.
///
/// Blocks inside a result are as the caller made them: losses for `other` blocks of other dialects among them are
/// already recorded, and the dialect leaves them out without another one.
#[derive(Debug)]
pub(crate) struct FittedBlock<'a> {
    pub(crate) block: Cow<'a, Block>,
    /// Its place in the request, for losses and marks.
    pub(crate) place: Place,
    pub(crate) state: StateUse,
}

/// Whether the target may read the sealed state on a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateUse {
    /// The target issued it (or no other issuer is known): it goes back.
    Own,
    /// It is left out; if it mattered, there is a loss.
    Foreign,
}

/// A tool as its target accepts it.
#[derive(Debug)]
pub(crate) enum FittedTool<'a> {
    Function {
        function: &'a Function,
        /// Its place in the request, for losses and marks.
        index: usize,
        /// The name that is sent.
        name: Cow<'a, str>,
        /// The schema that is sent: closed if it is strict.
        parameters: Cow<'a, Json>,
        /// `None` if nothing is sent.
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
    Schema {
        /// The format as the caller made it, for its provider data.
        format: &'a JsonSchemaFormat,
        name: Option<Cow<'a, str>>,
        description: Option<&'a str>,
        schema: Cow<'a, Json>,
        strict: Option<bool>,
    },
}

/// What the request says about thinking.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FittedThinking {
    /// What to send.
    pub(crate) setting: ThinkingSetting,
    /// Whether the model will think.
    pub(crate) thinks: bool,
    /// Whether the thinking, or its summary, should be shown.
    pub(crate) shown: ShowThinking,
    /// The kind of parameter that the model uses.
    pub(crate) kind: ThinkingKind,
    /// The output limit that goes with the setting.
    pub(crate) limit: Option<i64>,
    /// For a request that is sent as received: the losses of the setting. They only count if the shape no longer means
    /// the same as the request, so that the setting and its limit are written instead of the shape.
    pub(crate) losses: Vec<Loss>,
    /// For a request that is sent as received: the setting must be written whatever the shape says.
    pub(crate) must: bool,
}

/// What a model accepts in some places, for the dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takes {
    /// Ids of function calls.
    pub(crate) call_ids: bool,
    /// Pictures and documents inside tool results.
    pub(crate) media_in_results: bool,
    /// A call of the current turn is refused without its thought signature.
    pub(crate) signatures: bool,
    /// Schemas are sent in OpenAPI's subset, not as JSON Schema.
    pub(crate) openapi_schemas: bool,
    /// The model may think, so its sealed reasoning can be requested.
    pub(crate) thinking: bool,
    /// The provider can store answers and continue from them.
    pub(crate) storage: bool,
}

/// Fits a request to its target.
///
/// # Errors
/// Returns an error if the request names no model, a limit is reached, or the model accepts no form of the request.
pub(crate) fn fit<'a>(
    request: &'a Request,
    target: &'a Target<'a>,
    dialect: Dialect,
    limits: &'a Limits,
) -> Result<Fitted<'a>, Error> {
    if request.model.trim().is_empty() {
        return Err(Error::invalid_param("model", "the request names no model; set `model`"));
    }
    let blocks =
        request.messages.iter().map(|message| message.content.len()).fold(request.system.len(), usize::saturating_add);
    limits.check_blocks(blocks, ErrorKind::InvalidRequest)?;
    let fitting = Fitting::new(request, target, dialect, limits);
    match fitting.spelling {
        Spelling::AsItCame => fitting.unfitted(),
        Spelling::Ours => fitting.ours(),
    }
}

/// A request that is being fitted.
struct Fitting<'a> {
    request: &'a Request,
    target: &'a Target<'a>,
    dialect: Dialect,
    abilities: &'static Abilities,
    rules: Cow<'a, Rules>,
    quirks: &'a Quirks,
    limits: &'a Limits,
    spelling: Spelling,
    names: Respelled<'a>,
    ids: CallIds<'a>,
    losses: Vec<Loss>,
}

impl<'a> Fitting<'a> {
    fn new(request: &'a Request, target: &'a Target<'a>, dialect: Dialect, limits: &'a Limits) -> Self {
        let abilities = dialect.abilities();
        let written_for = request.provider_data.part_str(dialect, Part::Shape, "model");
        let spelling = if written_for.as_deref() == Some(&request.model) { Spelling::AsItCame } else { Spelling::Ours };
        let rules = match target.facts {
            Some(facts) => target.rules.with_facts(facts),
            None => Cow::Borrowed(target.rules),
        };
        let rules = match abilities.thinking.asked_by {
            AskedBy::ConverseFields => Cow::Owned(converse::rules(&rules)),
            AskedBy::BudgetOrAdaptive | AskedBy::BudgetOrLevel | AskedBy::Effort | AskedBy::Quirk => rules,
        };
        let call_ids = match abilities.thinking.asked_by {
            AskedBy::ConverseFields => converse::call_ids(abilities.call_ids, &rules),
            AskedBy::BudgetOrAdaptive | AskedBy::BudgetOrLevel | AskedBy::Effort | AskedBy::Quirk => abilities.call_ids,
        };
        let form = if target.quirks.chat.tool_ids_of_nine { IdForm::Nine } else { IdForm::Rule(call_ids) };
        let names = match spelling {
            Spelling::AsItCame => Respelled::default(),
            Spelling::Ours => Respelled::new(request, dialect, &abilities.tool_names),
        };
        let (ids, quirks) = (CallIds::new(request, form), target.quirks);
        Fitting { request, target, dialect, abilities, rules, quirks, limits, spelling, names, ids, losses: Vec::new() }
    }

    fn ours(mut self) -> Result<Fitted<'a>, Error> {
        let request = self.request;
        let format = self.format()?;
        let has_schema = matches!(format.format, Some(FittedFormat::Schema { .. }));
        let mut conversation = self.conversation(format.note);
        let prefill = self.ending(&mut conversation.messages, has_schema);
        let mut tools = self.tools()?;
        let mut tool_choice = self.choice(&mut tools);
        let unsigned_tool_turn = is_unsigned_tool_turn(&conversation.messages);
        let mut thinking = self.thinking(&tools, &mut tool_choice, Obstacles { unsigned_tool_turn, prefill })?;
        let parallel_tool_calls = self.parallel(&tools, tool_choice.as_ref());
        let mut sampled = self.sampling(thinking.thinks);
        if self.goes_by_converse_fields() {
            self.beside_highest_effort(&mut thinking, &mut sampled);
            tool_choice =
                tool_choice.filter(|choice| *choice != ToolChoice::Auto || converse::takes_choice(&self.rules));
        }
        self.storage();
        let stop = self.stop();
        let seed = self.seed();
        let cache_key = self.cache_key();
        let marks = self.marks();
        let automatic_cache = self.automatic_cache(&marks);
        let shared = self.shared_fields();
        Ok(Fitted {
            request,
            target: self.target,
            spelling: Spelling::Ours,
            system: conversation.system,
            messages: conversation.messages,
            tools,
            tool_choice,
            parallel_tool_calls,
            max_output_tokens: thinking.limit,
            temperature: sampled.temperature,
            top_p: sampled.top_p,
            top_k: sampled.top_k,
            frequency_penalty: sampled.frequency_penalty,
            presence_penalty: sampled.presence_penalty,
            stop,
            seed,
            output_format: format.format,
            thinking,
            cache_key,
            automatic_cache,
            marks,
            shared,
            takes: self.takes(),
            names: self.names.names(),
            losses: self.losses,
        })
    }

    /// Reports fields that rely on a store that the provider does not have.
    fn storage(&mut self) {
        let extra = self.request.provider_data.part(self.dialect, Part::Extra);
        for name in self.abilities.stored.iter().filter(|_| self.quirks.responses.no_store) {
            if extra.get(name).is_some_and(|value| !value.is_null() && value.as_bool() != Some(false)) {
                let why = "this provider stores nothing; left out";
                self.losses.push(Loss::new(LossCode::RefusedByProvider, *name, *name, why));
            }
        }
    }

    fn takes(&self) -> Takes {
        let as_it_came = self.spelling == Spelling::AsItCame;
        Takes {
            call_ids: as_it_came || (self.rules.call_ids && !self.quirks.gemini.no_call_ids),
            media_in_results: as_it_came || self.rules.media_in_results,
            signatures: !as_it_came && self.rules.signatures_required,
            openapi_schemas: !self.rules.json_schema_parameters || self.quirks.gemini.openapi_schemas,
            thinking: self.target.facts.and_then(|facts| facts.thinking) != Some(false),
            storage: !self.quirks.responses.no_store,
        }
    }
}

#[cfg(test)]
mod tests;
