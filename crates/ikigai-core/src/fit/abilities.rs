//! What each dialect can express, as data: one `ABILITIES` per dialect, in `dialect/<name>/abilities.rs`.
//!
//! A model's own limits are in [`Rules`](crate::catalog::Rules), and a provider's in
//! [`Quirks`](crate::provider::Quirks); these are the limits of the wire format.

use super::schema::Subset;
use crate::{Dialect, Json, Part, ProviderData};

/// What a dialect can express.
#[derive(Debug)]
pub(crate) struct Abilities {
    /// The accepted names of tools.
    pub(crate) tool_names: NameRule,
    /// The accepted ids of calls.
    pub(crate) call_ids: IdRule,
    /// Fields of the request that rely on what the provider has stored.
    pub(crate) stored: &'static [&'static str],
    /// Fields that can be omitted in another dialect without consequences.
    pub(crate) neutral: &'static [Neutral],
    /// Fields of another dialect that mean the same here.
    pub(crate) shared: &'static [Shared],
    /// The maximum temperature.
    pub(crate) greatest_temperature: f64,
    /// The minimum `top_p` that is accepted during thinking by a model that otherwise accepts no sampling then.
    pub(crate) least_top_p_beside_thinking: f64,
    pub(crate) top_k: TopK,
    /// There are penalties.
    pub(crate) penalties: Support,
    /// The accepted seeds.
    pub(crate) seed: Seeds,
    /// The accepted stop sequences.
    pub(crate) stop: Stops,
    /// Whether a request must have an output limit.
    pub(crate) output_limit: OutputLimit,
    /// The minimum output limit.
    pub(crate) least_output: i64,
    /// Several calls at once can be forbidden.
    pub(crate) parallel_tool_calls: Support,
    /// A tool choice also applies to the dialect's own tools, not only to functions.
    pub(crate) choice_of_own_tools: Support,
    /// Whether tools can be strict.
    pub(crate) strict_tools: StrictTools,
    /// JSON without a schema.
    pub(crate) json_mode: JsonMode,
    /// JSON that follows a schema.
    pub(crate) schema_format: SchemaFormat,
    /// How a request asks for thinking.
    pub(crate) thinking: ThinkingWire,
    /// How a model's thinking is sent back to it.
    pub(crate) thinking_back: ThinkingBack,
    /// State can be on a message, not only on its blocks.
    pub(crate) message_state: Support,
    /// Where system messages are allowed in a conversation.
    pub(crate) system_messages: SystemMessages,
    /// Who must speak first.
    pub(crate) beginning: Beginning,
    /// What is accepted of an answer that the caller has begun.
    pub(crate) prefill: Prefill,
    /// The longest cache key, in characters; `None` if there are no keys.
    pub(crate) longest_cache_key: Option<usize>,
    /// How long the whole prompt may be cached; `None` if that cannot be requested.
    pub(crate) automatic_cache: Option<AutomaticCache>,
    /// Cache marks on single parts.
    pub(crate) cache_marks: CacheMarks,
}

/// A field whose omission changes nothing: a default, or something that clients get anyway.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neutral {
    pub(crate) name: &'static str,
    /// The JSON value for which it changes nothing; `None` for any value.
    pub(crate) value: Option<&'static str>,
    /// Where that applies; `None` for everywhere.
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
    /// Its name there.
    pub(crate) name: &'static str,
    /// Its name here. An existing field of that name takes precedence.
    pub(crate) here: &'static str,
    pub(crate) within: Within,
    /// The strings that are accepted here; empty for any value.
    pub(crate) values: &'static [&'static str],
}

/// Where a field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    Request,
    Picture,
    Result,
    Elsewhere,
}

impl Shared {
    /// Returns the other dialect's value, if `own` accepts it.
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

/// Whether something can be expressed at all.
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

/// The accepted names: ASCII letters, digits, `_`, `-` and some more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameRule {
    pub(crate) longest: usize,
    /// Additional characters, which cannot be the first.
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

/// The accepted ids of calls.
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

/// Whether an id may be used for two calls of one conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    Taken,
    Refused,
}

/// Whether there is a `top_k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TopK {
    Taken,
    /// Only some providers support it.
    Quirk,
    Missing,
}

/// The accepted seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seeds {
    None,
    Bits32,
    Bits64,
}

/// The accepted stop sequences.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stops {
    /// The maximum number; 0 if there are no stop sequences.
    pub(crate) most: usize,
    /// Whether a blank one is accepted.
    pub(crate) blank: Support,
}

/// Whether a request must have an output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputLimit {
    Optional,
    Required,
    /// Optional; a thinking budget is taken out of it.
    AboveBudget,
}

/// Whether tools can be strict.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StrictTools {
    /// Not for single tools.
    Missing,
    /// If the schema is in a subset.
    Flag {
        subset: Subset,
        /// The default for a tool.
        unsaid: Unsaid,
    },
}

/// Whether a tool is strict by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsaid {
    Lenient,
    /// Strict if the server finds that possible.
    Strict,
}

/// JSON without a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonMode {
    Taken,
    /// If the prompt contains the word JSON.
    NeedsTheWord,
    Missing,
}

/// JSON that follows a schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaFormat {
    /// The schema has a name and a description.
    pub(crate) labels: Support,
    /// The subset in which schemas must be.
    pub(crate) subset: Subset,
    pub(crate) strict: FormatStrict,
    /// Accepted together with the beginning of an answer.
    pub(crate) beside_prefill: Support,
    /// Accepted together with documents whose citations are switched on.
    pub(crate) beside_citations: Support,
}

/// Whether the model must follow the schema of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatStrict {
    /// If the request says so; then the schema must be in the subset.
    Said,
    /// Always, for any schema.
    Always,
    /// Always, so every schema must be in the subset.
    AlwaysOfSubset,
}

/// How a request asks for thinking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThinkingWire {
    pub(crate) asked_by: AskedBy,
    /// A forced tool together with a budget.
    pub(crate) forced_tool_beside_budget: Support,
    /// A budget in a tool turn that did not begin with signed thinking.
    pub(crate) budget_in_unsigned_turn: Support,
    /// Models may have fewer levels here, and no tools together with an effort (Chat Completions).
    pub(crate) restricted: Restricted,
}

/// The parameter that asks for thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedBy {
    /// A budget, or a keyword for models that decide how much they think, along with an effort (Anthropic).
    BudgetOrAdaptive,
    /// A budget or a level (Gemini).
    BudgetOrLevel,
    /// An effort.
    Effort,
    /// Determined by the provider's quirk.
    Quirk,
    /// Determined by the model's [`ConverseFields`](crate::catalog::ConverseFields), which then also determine what
    /// else the model accepts.
    ConverseFields,
}

/// Whether restrictions of a model that apply only in Chat Completions apply here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restricted {
    No,
    AsInChat,
}

/// How a model's thinking is sent back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingBack {
    /// With its original seal.
    Sealed,
    /// As text, if the provider wants it.
    Text,
}

/// Where system messages are allowed in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemMessages {
    Anywhere,
    /// After a user message or a tool result.
    AfterUser,
    Nowhere,
}

/// Who must speak first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    Anyone,
    User,
}

/// What is accepted of an answer that the caller has begun.
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
    /// The lifetime must be one of these, or absent.
    pub(crate) ttls: &'static [&'static str],
    pub(crate) taken: AutomaticTaken,
}

/// When the whole prompt can be cached on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AutomaticTaken {
    /// Always; it is one of the marks.
    AsMark,
    /// Prompts are cached anyway. The lifetime can be set for models that accept marks.
    Ttl,
}

/// Cache marks on single parts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CacheMarks {
    Never,
    Always(MarkRule),
    /// For models that accept them.
    Model(MarkRule),
    /// For providers that support them, otherwise for models that accept them.
    ProviderOrModel {
        provider: MarkRule,
        model: MarkRule,
    },
}

/// Where cache marks are allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkRule {
    pub(crate) most: usize,
    pub(crate) tools: Support,
    /// On assistant messages, calls and results.
    pub(crate) turns: Support,
    pub(crate) inside_results: Support,
    pub(crate) ttl: MarkTtl,
}

/// How long a marked part may be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkTtl {
    Unsaid,
    Any,
    /// `5m` or `1h`, the longer ones first.
    LongFirst,
}
