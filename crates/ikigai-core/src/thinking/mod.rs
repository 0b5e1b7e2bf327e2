//! Thinking: how hard a model should think, in terms that apply to every provider.

mod fit;
mod limit;
mod plan;
mod table;

use serde::{Deserialize, Serialize};

use crate::catalog::{ThinkingDetail, ThinkingKind, ThinkingRule};
use crate::{Block, Dialect, Loss, Part, Response};

pub use fit::{ShowThinking, ThinkingPlan, ThinkingSetting};
pub(crate) use plan::nearest_level;
pub use table::{LevelValue, thinking_budget, thinking_levels, thinking_table};

/// How hard a model should think.
///
/// Four levels work for every model; `minimal`, `xhigh` and `max` work only for providers that have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level {
    /// Off, or as little as the model can.
    None,
    /// Less than low, if the model has it.
    Minimal,
    /// About a third of the model's range of budgets.
    Low,
    /// About two thirds.
    #[serde(alias = "medium")]
    Med,
    /// All of it.
    High,
    /// More than high, if the model has it.
    Xhigh,
    /// The most, if the model has it.
    Max,
}

/// The thinking settings of a request.
///
/// ```
/// use ikigai_core::{Level, Thinking};
///
/// assert_eq!(
///     serde_json::to_string(&Thinking::from(Level::Med)).unwrap(),
///     r#"{"level":"med","include_summary":true}"#,
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Thinking {
    /// The level; absent: the model's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// An explicit budget in tokens, which overrides the level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<i64>,
    /// Whether the answer should show the thinking, or the provider's summary of it.
    #[serde(default = "shown")]
    pub include_summary: bool,
}

impl Default for Thinking {
    /// Returns the model's own level, with the thinking shown.
    fn default() -> Self {
        Thinking { level: None, budget: None, include_summary: shown() }
    }
}

impl From<Level> for Thinking {
    fn from(level: Level) -> Self {
        Thinking { level: Some(level), ..Thinking::default() }
    }
}

impl Thinking {
    /// Creates settings with an explicit budget in tokens.
    pub fn budget(tokens: i64) -> Self {
        Thinking { budget: Some(tokens), ..Thinking::default() }
    }

    /// Adapts the settings to a long conversation: above 150,000 tokens of context, the budget is at most 10,000,
    /// whether it is explicit or comes from the level. Models without budgets keep their level.
    ///
    /// ```
    /// use ikigai_core::{Level, Thinking};
    /// use ikigai_core::catalog::rules_for;
    ///
    /// let sonnet = &rules_for("claude-sonnet-4-5").thinking;
    /// assert_eq!(Thinking::from(Level::High).for_context(150_001, sonnet).budget, Some(10_000));
    /// assert_eq!(Thinking::from(Level::High).for_context(150_000, sonnet).budget, None);
    /// ```
    #[must_use]
    pub fn for_context(self, tokens: u64, rule: &ThinkingRule) -> Self {
        match self.reduced_for_context(tokens, rule) {
            Some((reduced, _)) => reduced,
            None => self,
        }
    }

    /// Returns the settings that replace these for a long prompt, and the loss that reports it. `None` if they need no
    /// change: see [`for_context`](Thinking::for_context).
    pub fn reduced_for_context(&self, tokens: u64, rule: &ThinkingRule) -> Option<(Thinking, Loss)> {
        const LONG: u64 = 150_000;
        const MOST: i64 = 10_000;
        if tokens <= LONG || !rule.takes_budgets() {
            return None;
        }
        let too_much = match (self.budget, self.level) {
            // The model's own choice is bounded only by its maximum.
            (Some(budget), _) => budget > MOST || (budget < 0 && rule.max > MOST),
            (None, Some(level)) if rule.kind == ThinkingKind::Budget && level > Level::None => {
                thinking_budget(rule, level).is_some_and(|budget| budget > MOST)
            }
            (None, _) => false,
        };
        let why = "the conversation has more than 150,000 tokens, so the thinking budget is reduced to 10,000";
        let reduced = Thinking { budget: Some(MOST), ..self.clone() };
        too_much.then(|| (reduced, Loss::new(crate::LossCode::OutOfRange, "thinking", "thinking.budget", why)))
    }

    /// Returns whether these settings turn thinking off.
    pub fn is_off(&self) -> bool {
        match self.budget {
            Some(tokens) => tokens == 0,
            None => self.level == Some(Level::None),
        }
    }

    /// Leaves the thinking out of the answer.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.include_summary = false;
        self
    }
}

impl Response {
    /// Marks Anthropic's thinking blocks as complete or summarised, according to the rule for the model:
    /// `provider_data.anthropic.shape.thinking_type` is `full` or `summarized`.
    ///
    /// The API does not say so itself, and the mark is never sent.
    pub fn note_thinking_type(&mut self, rule: &ThinkingRule) {
        for block in &mut self.content {
            if let Block::Thinking(thinking) = block
                && !thinking.text.is_empty()
                && thinking.provider_data.is_of(Dialect::Anthropic)
            {
                let word = match rule.shown {
                    ThinkingDetail::Whole => "full",
                    ThinkingDetail::Summary => "summarized",
                };
                thinking.provider_data.set_part(Dialect::Anthropic, Part::Shape, "thinking_type", word);
            }
        }
    }
}

fn shown() -> bool {
    true
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Level; 7] =
        [Level::None, Level::Minimal, Level::Low, Level::Med, Level::High, Level::Xhigh, Level::Max];

    /// Returns the level as a string: `none`, `minimal`, `low`, `med`, `high`, `xhigh`, `max`.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::Minimal => "minimal",
            Level::Low => "low",
            Level::Med => "med",
            Level::High => "high",
            Level::Xhigh => "xhigh",
            Level::Max => "max",
        }
    }

    /// Returns the value for effort parameters on the wire: the same as [`as_str`](Level::as_str), except for `medium`.
    pub fn effort(self) -> &'static str {
        match self {
            Level::Med => "medium",
            other => other.as_str(),
        }
    }

    /// Returns the effort in capitals, as Gemini writes its thinking levels.
    pub fn capitals(self) -> &'static str {
        match self {
            Level::None => "NONE",
            Level::Minimal => "MINIMAL",
            Level::Low => "LOW",
            Level::Med => "MEDIUM",
            Level::High => "HIGH",
            Level::Xhigh => "XHIGH",
            Level::Max => "MAX",
        }
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a word that is not a thinking level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown thinking level `{0}`; use none, low, med or high (some models also take minimal, xhigh or max)")]
pub struct UnknownLevel(pub String);

impl std::str::FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        match word {
            "medium" => Ok(Level::Med),
            _ => {
                Level::ALL.into_iter().find(|level| level.as_str() == word).ok_or_else(|| UnknownLevel(word.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::ThinkingBlock;
    use crate::catalog::rules_for;

    #[test]
    fn thinking_says_whether_it_is_whole() {
        let noted = |model: &str| {
            let mut own = ThinkingBlock { text: "Hm.".to_owned(), ..ThinkingBlock::default() };
            own.provider_data.set_part(Dialect::Anthropic, Part::State, "signature", "EqoB");
            let redacted = ThinkingBlock { text: String::new(), ..own.clone() };
            let foreign = ThinkingBlock { text: "Hm.".to_owned(), ..ThinkingBlock::default() };
            let content = [own, redacted, foreign].map(Block::Thinking).into();
            let mut response = Response { content, ..Response::default() };
            response.note_thinking_type(&rules_for(model).thinking);
            let types = response.content.iter().filter_map(Block::provider_data);
            types
                .map(|data| {
                    data.part_str(Dialect::Anthropic, Part::Shape, "thinking_type").map(|word| word.into_owned())
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(noted("claude-3-7-sonnet"), [Some("full".to_owned()), None, None]);
        assert_eq!(noted("claude-sonnet-4-5"), [Some("summarized".to_owned()), None, None]);
    }

    #[test]
    fn a_long_context_tames_the_budget() {
        let beside = |model: &str, thinking: Thinking, tokens| {
            let tamed = thinking.for_context(tokens, &rules_for(model).thinking);
            (tamed.level, tamed.budget)
        };
        let med = || Thinking::from(Level::Med);
        assert_eq!(beside("claude-sonnet-4-5", med(), 150_000), (Some(Level::Med), None));
        assert_eq!(beside("claude-sonnet-4-5", med(), 150_001), (Some(Level::Med), Some(10_000)));
        assert_eq!(beside("claude-sonnet-4-5", Level::Minimal.into(), 200_000), (Some(Level::Minimal), None));
        assert_eq!(beside("claude-sonnet-4-5", Level::None.into(), 200_000), (Some(Level::None), None));
        assert_eq!(beside("claude-sonnet-4-5", Thinking::budget(50_000), 200_000), (None, Some(10_000)));
        assert_eq!(beside("claude-sonnet-4-5", Thinking::budget(4_000), 200_000), (None, Some(4_000)));
        assert_eq!(beside("gemini-2.5-flash", Level::Low.into(), 200_000), (Some(Level::Low), None), "8,192 is less");
        assert_eq!(beside("gemini-2.5-pro", Thinking::budget(-1), 200_000), (None, Some(10_000)));
        assert_eq!(beside("claude-opus-4-6", Thinking::budget(50_000), 200_000), (None, Some(10_000)));
        assert_eq!(beside("claude-opus-4-6", med(), 200_000), (Some(Level::Med), None), "levels are efforts there");
        assert_eq!(beside("o3", med(), 200_000), (Some(Level::Med), None));
    }
}
