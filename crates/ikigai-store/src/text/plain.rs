//! The text of a message as people see it: to search it, and to name a conversation after it.

use ikigai_core::{Block, Message, Role, Source};

use crate::Place;

/// How much text is searched: a file that a tool read is not worth an index of its own, and PostgreSQL has a limit.
const MOST_TEXT: usize = 256 * 1024;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 80;

/// Where a message's words count.
pub(crate) fn place_of(role: Role) -> Place {
    match role {
        Role::User => Place::Prompt,
        Role::Assistant => Place::Answer,
        _ => Place::Tool,
    }
}

/// The text of a message that is searched: its text, the names and the text of its documents, what tools returned.
/// Thinking and the arguments of calls are not.
pub(crate) fn searchable(message: &Message) -> String {
    let mut text = String::new();
    gather(&message.content, &mut text);
    let mut end = text.len().min(MOST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

fn gather(blocks: &[Block], text: &mut String) {
    for block in blocks {
        match block {
            Block::Text(block) => line(text, &block.text),
            Block::Document(document) => {
                line(text, document.name.as_deref().unwrap_or_default());
                if let Source::Text { text: inside, .. } = &document.source {
                    line(text, inside);
                }
            }
            Block::ToolResult(result) => gather(&result.content, text),
            // New kinds are searched once they are named here.
            _ => {}
        }
        if text.len() > MOST_TEXT {
            break;
        }
    }
}

fn line(text: &mut String, more: &str) {
    if !more.is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(more);
    }
}

/// A title for a conversation that begins with this message.
pub(crate) fn first_line(message: &Message) -> Option<String> {
    let text = searchable(message);
    let line = text.lines().map(one_line).find(|line| !line.is_empty())?;
    match line.char_indices().nth(LONGEST_TITLE) {
        None => Some(line),
        Some((end, _)) => {
            let cut = line.get(..end).unwrap_or_default();
            // At a space, unless that leaves next to nothing.
            let end = cut.rfind(' ').filter(|blank| *blank > end / 2).unwrap_or(end);
            Some(format!("{}…", line.get(..end).unwrap_or_default()))
        }
    }
}

/// A text on one line: no control characters, no spaces at the ends, single spaces between.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use ikigai_core::ToolResult;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_a_person_reads_is_searched() {
        let source = Source::Text { media_type: "text/plain".into(), text: "inside".into() };
        let result = ToolResult::new("c1", "4 °C");
        let message = Message::new(
            Role::User,
            [
                Block::text("Hello"),
                Block::thinking("hidden"),
                Block::document(source, "report.txt"),
                Block::tool_call("1", "hidden", ikigai_core::Arguments::default()),
                Block::ToolResult(result),
            ],
        );
        assert_eq!(searchable(&message), "Hello\nreport.txt\ninside\n4 °C");
        let long = Message::new(Role::User, "é".repeat(MOST_TEXT));
        assert_eq!(searchable(&long), "é".repeat(MOST_TEXT / 2));
    }

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        let title = |text: &str| first_line(&Message::new(Role::User, text));
        assert_eq!(title("\n \t\n  Why is\tthe \0sky blue? \nAnd more"), Some("Why is the sky blue?".into()));
        assert_eq!(title(" \n"), None);
        assert_eq!(title(&"word ".repeat(40)), Some(format!("{}…", "word ".repeat(16).trim_end())));
        assert_eq!(title(&"é".repeat(200)), Some(format!("{}…", "é".repeat(80))));
    }
}
