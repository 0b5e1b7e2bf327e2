//! What a dialect can express, as data: one `ABILITIES` for each, in `dialect/<name>/abilities.rs`.
//!
//! A model's own limits are in [`Rules`](crate::catalog::Rules), a provider's in [`Quirks`](crate::provider::Quirks); these are the wire
//! format's.

use super::schema::Subset;
use crate::{Dialect, Json, Part, ProviderData};

/// What a dialect can express.
#[derive(Debug)]
pub(crate) struct Abilities {
    /// Which names of tools are taken.
    pub(crate) tool_names: NameRule,
    /// Which ids of calls are taken.
    pub(crate) call_ids: IdRule,
    /// Fields of the request that rely on what the provider has stored.
    pub(crate) stored: &'static [&'static str],
    /// Fields that nobody misses in another dialect.
    pub(crate) neutral: &'static [Neutral],
    /// Fields of another dialect that mean the same here.
    pub(crate) shared: &'static [Shared],
    /// The greatest temperature.
    pub(crate) greatest_temperature: f64,
    /// The least `top_p` that is taken while a model thinks that takes no sampling then.
    pub(crate) least_top_p_beside_thinking: f64,
    /// There is a `top_k`. Where there is none, a provider may still understand it.
    pub(crate) top_k: Support,
    /// There are penalties.
    pub(crate) penalties: Support,
    /// The seeds that are taken.
    pub(crate) seed: Seeds,
    /// The stop texts that are taken.
    pub(crate) stop: Stops,
    /// Whether a request must have an output limit.
    pub(crate) output_limit: OutputLimit,
    /// The least output limit.
    pub(crate) least_output: i64,
    /// Several calls at once can be forbidden.
    pub(crate) parallel_tool_calls: Support,
    /// A tool choice holds for the dialect's own tools too, not for functions alone.
    pub(crate) choice_of_own_tools: Support,
    /// Tools that the model is held to.
    pub(crate) strict_tools: StrictTools,
    /// JSON without a schema.
    pub(crate) json_mode: JsonMode,
    /// JSON by a schema.
    pub(crate) schema_format: SchemaFormat,
    /// How thinking is asked for.
    pub(crate) thinking: ThinkingWire,
    /// How a model's thinking goes back to it.
    pub(crate) thinking_back: ThinkingBack,
    /// State can stand on a message, not only on its blocks.
    pub(crate) message_state: Support,
    /// Where system messages can stand in a conversation.
    pub(crate) system_messages: SystemMessages,
    /// Who must speak first.
    pub(crate) beginning: Beginning,
    /// What is taken of an answer that the caller has begun.
    pub(crate) prefill: Prefill,
    /// The longest cache key, in characters; `None`: there are no keys.
    pub(crate) longest_cache_key: Option<usize>,
    /// How long the whole prompt may be cached; `None`: that cannot be asked for.
    pub(crate) automatic_cache: Option<AutomaticCache>,
    /// Marks for the cache on single parts.
    pub(crate) cache_marks: CacheMarks,
}

/// A field that changes nothing where it is left out: a default, or something that clients get all the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neutral {
    pub(crate) name: &'static str,
    /// The JSON with which it changes nothing; `None`: any.
    pub(crate) value: Option<&'static str>,
    /// Where that holds; `None`: everywhere.
    pub(crate) within: Option<Within>,
}

impl Neutral {
    pub(crate) const fn always(name: &'static str) -> Self {
        Neutral { name, value: None, within: None }
    }

    pub(crate) const fn when(name: &'static str, value: &'static str) -> Self {
        Neutral { name, value: Some(value), within: None }
    }

    pub(crate) const fn within(name: &'static str, within: Within) -> Self {
        Neutral { name, value: None, within: Some(within) }
    }

    pub(super) fn fits(&self, name: &str, value: &Json, within: Within) -> bool {
        let is_it =
            |json: &str| serde_json::from_str::<serde_json::Value>(json).is_ok_and(|json| json == *value.value());
        self.name == name && self.within.is_none_or(|own| own == within) && self.value.is_none_or(is_it)
    }
}

/// A field of another dialect that means the same here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared {
    pub(crate) of: Dialect,
    /// What it is called there.
    pub(crate) name: &'static str,
    /// Where it goes here. What stands there already stays.
    pub(crate) here: &'static str,
    pub(crate) within: Within,
    /// The texts that are taken here; empty: whatever it says.
    pub(crate) values: &'static [&'static str],
}

/// Where a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Request,
    Picture,
    Result,
    Elsewhere,
}

impl Shared {
    /// What the other dialect says there, if `own` takes that.
    pub(crate) fn value<'d>(&self, own: Dialect, data: &'d ProviderData) -> Option<&'d Json> {
        if data.part(own, Part::Extra).get(self.here).is_some() {
            return None;
        }
        let value = data.part(self.of, Part::Extra).get(self.name)?;
        let is_taken =
            self.values.is_empty() || value.as_str().is_some_and(|text| self.values.contains(&text.as_ref()));
        is_taken.then_some(value)
    }
}

/// Whether something can be said at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    Taken,
    Missing,
}

impl Support {
    pub(crate) fn is_taken(self) -> bool {
        self == Support::Taken
    }
}

/// Which names are taken: ASCII letters, digits, `_`, `-` and some more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameRule {
    pub(crate) longest: usize,
    /// Further characters, which cannot be the first.
    pub(crate) also: &'static str,
    pub(crate) first: FirstCharacter,
}

/// What a name may begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstCharacter {
    /// A letter, a digit, `_` or `-`.
    Any,
    /// A letter or `_`.
    Letter,
}

/// Which ids of calls are taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdRule {
    pub(crate) longest: usize,
    pub(crate) characters: IdCharacters,
    pub(crate) repeats: Repeats,
}

/// The characters of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdCharacters {
    Any,
    /// Visible ASCII.
    Visible,
    /// ASCII letters, digits, `_` and `-`.
    Word,
}

/// Whether an id may stand for two calls of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    Taken,
    Refused,
}

/// The seeds that are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seeds {
    None,
    Bits32,
    Bits64,
}

/// The stop texts that are taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stops {
    /// How many; 0: there are no stop texts.
    pub(crate) most: usize,
    /// Whether one of nothing but blanks is taken.
    pub(crate) blank: Support,
}

/// Whether a request must have an output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputLimit {
    Optional,
    Required,
    /// Optional; a thinking budget is spent out of it.
    AboveBudget,
}

/// Tools that the model is held to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StrictTools {
    /// Not tool by tool.
    Missing,
    /// If the schema is of a subset.
    Flag {
        subset: Subset,
        /// What a tool is that says nothing.
        unsaid: Unsaid,
    },
}

/// What a tool is that does not say whether it is strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsaid {
    Lenient,
    /// Strict if the server finds that it can be.
    Strict,
}

/// JSON without a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonMode {
    Taken,
    /// If the prompt has the word JSON in it.
    NeedsTheWord,
    Missing,
}

/// JSON by a schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaFormat {
    /// The schema has a name and a description.
    pub(crate) labels: Support,
    /// The subset that schemas must be of.
    pub(crate) subset: Subset,
    pub(crate) strict: FormatStrict,
    /// Beside the beginning of an answer.
    pub(crate) beside_prefill: Support,
    /// It is taken beside documents whose citations are switched on.
    pub(crate) beside_citations: Support,
}

/// Whether the model is held to the schema of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatStrict {
    /// As the request says; then the schema must be of the subset.
    Said,
    /// Always, to any schema.
    Always,
    /// Always, so that every schema must be of the subset.
    AlwaysOfSubset,
}

/// How thinking is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThinkingWire {
    pub(crate) asked_by: AskedBy,
    /// A forced tool beside a budget.
    pub(crate) forced_tool_beside_budget: Support,
    /// A budget in a tool turn that did not begin with signed thinking.
    pub(crate) budget_in_unsigned_turn: Support,
    /// Models may have fewer levels here, and no tools beside an effort (Chat Completions).
    pub(crate) restricted: Restricted,
}

/// By which words thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedBy {
    /// A budget, or a word for models that choose how much they think, with an effort beside it (Anthropic).
    BudgetOrAdaptive,
    /// A budget or a level (Gemini).
    BudgetOrLevel,
    /// An effort.
    Effort,
    /// As the provider's quirk says.
    Quirk,
    /// As the model's [`ConverseFields`](crate::catalog::ConverseFields) say. What else a model takes is then read from
    /// them, too.
    ConverseFields,
}

/// Whether what a model takes in Chat Completions alone holds here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restricted {
    No,
    AsInChat,
}

/// How a model's thinking goes back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingBack {
    /// With the seal that it came with.
    Sealed,
    /// As text, where the provider wants it.
    Text,
}

/// Where system messages can stand in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemMessages {
    Anywhere,
    /// After something that the user said or a tool answered.
    AfterUser,
    Nowhere,
}

/// Who must speak first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    Anyone,
    User,
}

/// What is taken of an answer that the caller has begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prefill {
    /// Blanks at its end.
    pub(crate) trailing_blanks: Support,
    /// While a budget is set.
    pub(crate) beside_budget: Support,
}

/// How long the whole prompt may be cached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AutomaticCache {
    /// It must be one of these, or unsaid.
    pub(crate) ttls: &'static [&'static str],
    pub(crate) taken: AutomaticTaken,
}

/// When the whole prompt can be cached on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AutomaticTaken {
    /// Always; it is one of the marks.
    AsMark,
    /// Prompts are cached anyway. For how long can be said to models that take marks.
    Ttl,
}

/// Marks for the cache on single parts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheMarks {
    Never,
    Always(MarkRule),
    /// For models that take them.
    Model(MarkRule),
    /// For providers that understand them, else for models that take them.
    ProviderOrModel {
        provider: MarkRule,
        model: MarkRule,
    },
}

/// Where marks for the cache can stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkRule {
    pub(crate) most: usize,
    pub(crate) tools: Support,
    /// On what the model said, on calls and on results.
    pub(crate) turns: Support,
    pub(crate) inside_results: Support,
    pub(crate) ttl: MarkTtl,
}

/// How long a marked part may be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkTtl {
    Unsaid,
    Any,
    /// `5m` or `1h`, and the longer ones first.
    LongFirst,
}
