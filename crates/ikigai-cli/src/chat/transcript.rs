//! Shows a saved conversation again.

use ikigai::{Block, Role};
use ikigai_store::{State, Stored};

use super::Talk;
use crate::exit::Failure;
use crate::record;
use crate::screen::{self, Look, notice, thinking};

/// How many messages of a conversation are shown when it is opened.
const LAST: usize = 10;

impl Talk {
    /// Shows the end of the conversation.
    pub(crate) fn show_transcript(&self) -> Result<(), Failure> {
        let thread = &self.session.thread;
        let title = self.session.conversation.as_ref().and_then(|conversation| conversation.title.clone());
        let title = title.unwrap_or_else(|| "untitled".to_owned());
        self.print(&notice::info(
            &format!("{title} · {}", notice::several(thread.len() as u64, "message")),
            self.look,
        ))?;
        let skipped = thread.len().saturating_sub(LAST);
        if skipped > 0 {
            let words = format!("… {}; /history lists them", notice::several(skipped as u64, "earlier message"));
            self.print(&notice::info(&words, self.look))?;
        }
        let shown: String = show_all(thread, self.look).skip(skipped).collect();
        self.print(&shown)
    }

    /// Shows the last thinking in full.
    pub(crate) fn show_last_thinking(&self) -> Result<(), Failure> {
        let last = self.session.thread.iter().rev().find_map(thought);
        let Some((text, tokens)) = last else {
            return self.print(&notice::info("There is no thinking to show.", self.look));
        };
        let thought = thinking::Thought { text: &text, elapsed: None, tokens, estimated: false };
        self.print(&thinking::expanded(&thought, self.look))
    }
}

/// Returns the visible thinking of a message, and the tokens it used.
fn thought(stored: &Stored) -> Option<(String, Option<u64>)> {
    let texts = stored.entry.message.content.iter().filter_map(|block| match block {
        Block::Thinking(thinking) => Some(thinking.text.as_str()),
        _ => None,
    });
    let text: String = texts.collect::<Vec<_>>().join("\n\n");
    let tokens = stored.entry.usage.as_ref().map(|usage| usage.thinking_tokens).filter(|tokens| *tokens > 0);
    (!text.trim().is_empty()).then_some((text, tokens))
}

/// Returns all messages as they looked when they were new; for unanswered questions also the reason.
pub(crate) fn show_all(thread: &[Stored], look: Look) -> impl Iterator<Item = String> {
    thread.iter().enumerate().map(move |(place, stored)| {
        let why = record::failure(stored, thread.get(place + 1)).map(not_answered);
        show(stored, look) + &why.map(|why| notice::warning(&why, look)).unwrap_or_default()
    })
}

/// Describes a failed question.
pub(crate) fn not_answered(why: &str) -> String {
    format!("Not answered: {}", why.lines().next().unwrap_or_default())
}

/// Returns a message as it looked when it was new.
fn show(stored: &Stored, look: Look) -> String {
    let message = &stored.entry.message;
    let mut shown = String::new();
    match message.role {
        Role::User => {
            let text = message.text();
            for (place, line) in screen::wrap(&text, look).iter().enumerate() {
                shown.push_str(if place == 0 { "› " } else { "  " });
                shown.push_str(line);
                shown.push('\n');
            }
            let files = message.content.iter().filter(|block| block.as_text().is_none()).count();
            if files > 0 {
                shown.push_str(&notice::info(&format!("{files} attached"), look));
            }
        }
        Role::Assistant => {
            if let Some((text, tokens)) = thought(stored) {
                let thought = thinking::Thought { text: &text, elapsed: None, tokens, estimated: false };
                shown.push_str(&thinking::collapsed(&thought, look));
            }
            shown.push_str(&screen::sources::answer(&message.content, &message.sources, look));
            for call in message.content.iter().filter_map(Block::as_tool_call) {
                shown.push_str(&notice::info(&format!("● {}", call.name), look));
            }
            if stored.entry.state != State::Complete {
                shown.push_str(&notice::warning("This answer was cut off.", look));
            }
            shown.push('\n');
        }
        Role::Tool => {
            for block in &message.content {
                if let Block::ToolResult(result) = block {
                    let text: String = result.content.iter().filter_map(Block::as_text).collect();
                    shown.push_str(&notice::folded(text.trim_end(), notice::Lines(2), look));
                }
            }
        }
        // Instructions, and newer kinds of messages.
        _ => shown.push_str(&notice::info(&message.text(), look)),
    }
    shown
}
