//! A model's thinking: one line, or all of it.

use std::time::Duration;

use super::look::{DIM, Look};
use super::text::{Span, fill, paint, shorten};
use super::{markdown, notice};

/// What is known about a model's thinking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thought<'a> {
    /// Its text or a summary; empty if the provider shows neither.
    pub(crate) text: &'a str,
    pub(crate) elapsed: Option<Duration>,
    pub(crate) tokens: Option<u64>,
    /// Whether the number of tokens is estimated from the text: most providers count at the end of the answer.
    pub(crate) estimated: bool,
}

/// Draws one line: `▸ Thought for 4 s · 1,234 tokens`. Empty if there is neither text nor a count.
pub(crate) fn collapsed(thought: &Thought<'_>, look: Look) -> String {
    if thought.is_empty() {
        return String::new();
    }
    thought.title(look.sign("▸", ">"), look)
}

/// Draws the line with the text below it, if there is any.
pub(crate) fn expanded(thought: &Thought<'_>, look: Look) -> String {
    if thought.is_empty() || thought.text.trim().is_empty() {
        return collapsed(thought, look);
    }
    let mut shown = thought.title(look.sign("▾", "v"), look);
    for line in thought.text.trim().lines() {
        // Summaries have headings in bold type; other markup is so rare that lines can be handled one by one.
        for mut row in fill(&markdown::inline(line, DIM), look.width - 2) {
            row.insert(0, Span::plain("  "));
            shown.push_str(&paint(&row, look));
            shown.push('\n');
        }
    }
    shown
}

impl Thought<'_> {
    fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.tokens.is_none_or(|tokens| tokens == 0)
    }

    fn title(&self, sign: &str, look: Look) -> String {
        let mut title = format!("{sign} Thought");
        if let Some(elapsed) = self.elapsed {
            title.push_str(&format!(" for {}", notice::took(elapsed)));
        }
        if let Some(tokens) = self.tokens.filter(|tokens| *tokens > 0) {
            let about = if self.estimated { "~" } else { "" };
            title.push_str(&format!(" {} {about}{}", look.sign("·", "-"), notice::tokens(tokens)));
        }
        format!("{}\n", look.paint(DIM, &shorten(&title, look.width, look)))
    }
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;
