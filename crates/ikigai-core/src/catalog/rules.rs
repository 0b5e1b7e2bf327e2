//! Rules for families of models, as data.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Facts;
use crate::Level;

/// The rules of a family of models: what it accepts.
///
/// The default is for an unknown model: everything is sent as requested, and nothing is sent about thinking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Rules {
    /// The family's name, if [`bound_state`](Rules::bound_state) needs it.
    pub family: Cow<'static, str>,
    /// How it thinks, and how to ask for it.
    pub thinking: ThinkingRule,
    /// Whether temperature, top_p and top_k are accepted.
    pub sampling: Sampling,
    /// Frequency and presence penalties are accepted, under the same condition as the other sampling parameters.
    pub penalties: bool,
    /// Stop sequences are accepted.
    pub stop: bool,
    /// Whether a tool choice that forces a tool is accepted.
    pub forced_tools: ForcedTools,
    /// `parallel_tool_calls` is accepted.
    pub parallel_tool_calls: bool,
    /// A conversation may end with an assistant message, which the model continues.
    pub prefill: bool,
    /// A system prompt is accepted.
    pub system_prompt: bool,
    /// System messages in the middle of a conversation are accepted.
    pub system_messages: bool,
    /// Tools can be strict.
    pub strict_tools: bool,
    /// Answers can follow a schema.
    pub structured_output: bool,
    /// Answers can follow a schema even if there are function tools.
    pub tools_with_structured_output: bool,
    /// Provider-run tools are accepted together with functions and with an output format (Gemini).
    pub mixed_tools: bool,
    /// It searches the web in Chat Completions, unprompted and according to `web_search_options` (OpenAI).
    pub search_in_chat: bool,
    /// Whether Chat Completions accepts function tools together with a reasoning effort.
    pub tools_in_chat: ToolsInChat,
    /// Its main API is Responses.
    pub responses_api: bool,
    /// Which models can read sealed thinking again.
    pub bound_state: StateScope,
    /// Cache breakpoints on single parts are accepted (OpenAI).
    pub cache_breakpoints: bool,
    /// Pictures and documents inside tool results are accepted (Gemini).
    pub media_in_results: bool,
    /// Function calls have ids (Gemini).
    pub call_ids: bool,
    /// A function call of the current turn without its thought signature is refused (Gemini).
    pub signatures_required: bool,
    /// Plain JSON Schema is accepted for parameters (Gemini).
    pub json_schema_parameters: bool,
    /// What Amazon's Converse accepts for it in addition to the parameters of every model.
    pub converse: ConverseFields,
    /// How to request pictures from it, if it generates them.
    pub drawing: Drawing,
    /// The longest answer, used if the catalogue does not have the model.
    pub max_output: Option<u32>,
}

/// How to request pictures from a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Drawing {
    /// Like most models of its API.
    #[default]
    Usual,
    /// With the method `predict`, whose fields differ from those of the API's other models (Google's Imagen).
    Predict,
    /// It returns URLs unless base64 is requested, while others refuse that parameter (OpenAI's DALL·E).
    AskBase64,
}

/// What Amazon's Converse accepts for a model in addition to the parameters of every model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConverseFields {
    /// No known fields.
    #[default]
    Nothing,
    /// The fields of Anthropic's own API: `thinking`, `top_k` and so on; cache points are accepted everywhere.
    Anthropic,
    /// `reasoningConfig` with an effort, and `topK`; cache points are accepted everywhere except among the tools.
    Nova,
    /// `reasoning_effort`, like OpenAI.
    ReasoningEffort,
    /// `reasoning_config: "high"` to think; nothing is sent otherwise (Qwen).
    ReasoningConfig,
}

/// How a family thinks, and how to ask for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ThinkingRule {
    /// The kind of parameter.
    pub kind: ThinkingKind,
    /// The smallest budget in the formula for levels.
    pub min: i64,
    /// The largest budget in the formula for levels; zero if the model has no budgets. Both are -1 if nothing is known.
    pub max: i64,
    /// A budget above `max` is refused. Otherwise only the longest answer limits an explicit budget.
    pub max_is_hard: bool,
    /// The budget -1 leaves the choice to the model.
    pub dynamic: bool,
    /// The levels that the API accepts besides `none`, lowest first.
    pub levels: Cow<'static, [Level]>,
    /// The levels that Chat Completions accepts, if it accepts fewer.
    pub chat_levels: Option<Cow<'static, [Level]>>,
    /// Levels that the model lacks, each with the one that its provider uses instead.
    #[serde(with = "means")]
    pub means: Cow<'static, [(Level, Level)]>,
    /// What happens if nothing is sent: `none` if the model does not think then; absent if the model decides.
    pub default: Option<Level>,
    /// How to turn thinking off.
    pub off: ThinkingOff,
    /// The level that replaces `none` if thinking cannot be turned off; absent: the lowest level.
    pub none_as: Option<Level>,
    /// A budget in tokens is accepted as well, although the model uses levels.
    pub takes_budget: bool,
    /// The table of levels for people shows budgets, although the API accepts words.
    pub table_of_budgets: bool,
    /// When thinking is shown.
    pub display: ThinkingDisplay,
    /// How much of it is shown then.
    pub shown: ThinkingDetail,
}

/// The parameter that asks for thinking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingKind {
    /// The model does not think.
    #[default]
    None,
    /// A budget in tokens: Anthropic up to 4.5, Gemini 2.5.
    Budget,
    /// Adaptive thinking controlled by an effort: Anthropic 4.6 and later.
    Adaptive,
    /// An effort: OpenAI and compatible APIs.
    Effort,
    /// A level in capitals: Gemini 3 and later.
    Level,
    /// On or off, with nothing in between.
    Toggle,
    /// Always on, with no setting.
    Always,
}

/// How to turn thinking off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingOff {
    /// By sending nothing.
    #[default]
    Silence,
    /// With the dialect's value for it: `disabled`, `none`, a budget of 0.
    Word,
    /// With Anthropic's `between_tools`.
    BetweenTools,
    /// It cannot be turned off.
    Impossible,
}

/// When thinking is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingDisplay {
    /// Whenever the model thinks; it cannot be hidden.
    #[default]
    Always,
    /// Unless the request says otherwise.
    UnlessHidden,
    /// Only when the request asks for it.
    OnRequest,
    /// Never.
    Never,
}

/// How much of the thinking is shown, when it is shown. Hidden thinking is only counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThinkingDetail {
    /// All of it.
    #[default]
    Whole,
    /// A summary by the provider.
    Summary,
}

/// Which sampling parameters are accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sampling {
    /// All.
    #[default]
    Free,
    /// All, but only while the model does not think.
    NotWhileThinking,
    /// Temperature or top_p, not both; and only while the model does not think.
    OneOf,
    /// All, but the provider advises against values other than the defaults.
    Discouraged,
    /// All, but they have no effect.
    Ignored,
    /// None.
    Refused,
}

/// Whether Chat Completions accepts function tools together with a reasoning effort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolsInChat {
    /// Accepted.
    #[default]
    Taken,
    /// Refused with any effort other than `none`.
    NotWithEffort,
    /// Also refused if the model thinks by default and no effort is sent: `none` must be sent.
    NotWhileThinking,
}

/// Which models of the same provider can read sealed thinking again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StateScope {
    /// Every model of that provider.
    #[default]
    Provider,
    /// Models of the same [`family`](Rules::family).
    Family,
    /// Only the model that made it.
    Model,
}

/// Whether a tool choice that forces a tool is accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ForcedTools {
    /// Accepted.
    #[default]
    Taken,
    /// Accepted while the model does not think.
    NotWhileThinking,
    /// Refused.
    Refused,
}

impl Default for Rules {
    fn default() -> Self {
        Rules::NONE
    }
}

impl Rules {
    /// The default, for tables that are built at compile time.
    pub(super) const NONE: Rules = Rules {
        family: Cow::Borrowed(""),
        thinking: ThinkingRule::NONE,
        sampling: Sampling::Free,
        penalties: true,
        stop: true,
        forced_tools: ForcedTools::Taken,
        parallel_tool_calls: true,
        prefill: true,
        system_prompt: true,
        system_messages: true,
        strict_tools: true,
        structured_output: true,
        tools_with_structured_output: true,
        mixed_tools: true,
        search_in_chat: false,
        tools_in_chat: ToolsInChat::Taken,
        responses_api: false,
        bound_state: StateScope::Provider,
        cache_breakpoints: false,
        media_in_results: false,
        call_ids: false,
        signatures_required: false,
        json_schema_parameters: true,
        converse: ConverseFields::Nothing,
        drawing: Drawing::Usual,
        max_output: None,
    };

    /// Returns these rules. For a model without a known family, adds what the catalogue says about its thinking.
    ///
    /// Efforts are sent if the catalogue lists them. If all it says is that the model thinks, nothing is sent.
    pub fn with_facts(&self, facts: &Facts) -> Cow<'_, Rules> {
        if facts.thinking != Some(true) || *self != Rules::default() {
            return Cow::Borrowed(self);
        }
        let mut levels: Vec<Level> = facts.efforts.iter().copied().filter(|level| *level != Level::None).collect();
        levels.sort_unstable();
        let off = if facts.efforts.contains(&Level::None) { ThinkingOff::Word } else { ThinkingOff::Impossible };
        let kind = if levels.is_empty() { ThinkingKind::Always } else { ThinkingKind::Effort };
        let thinking = ThinkingRule { kind, levels: levels.into(), off, ..ThinkingRule::default() };
        Cow::Owned(Rules { thinking, ..self.clone() })
    }
}

impl Default for ThinkingRule {
    fn default() -> Self {
        ThinkingRule::NONE
    }
}

impl ThinkingRule {
    /// The default, for tables that are built at compile time.
    const NONE: ThinkingRule = ThinkingRule {
        kind: ThinkingKind::None,
        min: 0,
        max: 0,
        max_is_hard: false,
        dynamic: false,
        levels: Cow::Borrowed(&[]),
        chat_levels: None,
        means: Cow::Borrowed(&[]),
        default: None,
        off: ThinkingOff::Silence,
        none_as: None,
        takes_budget: false,
        table_of_budgets: false,
        display: ThinkingDisplay::Always,
        shown: ThinkingDetail::Whole,
    };

    /// Returns the level that the provider uses instead of one that the model lacks, if it specifies one.
    pub fn meaning(&self, level: Level) -> Option<Level> {
        self.means.iter().find(|(from, _)| *from == level).map(|(_, to)| *to)
    }

    /// Returns whether the model thinks if a request does not mention thinking.
    pub fn thinks_by_default(&self) -> bool {
        self.kind != ThinkingKind::None && self.default != Some(Level::None)
    }

    /// Returns whether the model accepts a budget in tokens.
    pub fn takes_budgets(&self) -> bool {
        self.kind == ThinkingKind::Budget || self.takes_budget
    }

    /// Returns the rule for Chat Completions.
    pub fn in_chat(&self) -> Cow<'_, ThinkingRule> {
        match &self.chat_levels {
            None => Cow::Borrowed(self),
            Some(levels) => Cow::Owned(ThinkingRule { levels: levels.clone(), ..self.clone() }),
        }
    }
}

/// Pairs of levels, written as a table.
mod means {
    use std::borrow::Cow;
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Level;

    pub(super) fn serialize<S: Serializer>(means: &[(Level, Level)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(means.iter().map(|(from, to)| (from, to)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'static, [(Level, Level)]>, D::Error> {
        Ok(BTreeMap::deserialize(from)?.into_iter().collect())
    }
}
