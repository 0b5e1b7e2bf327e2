//! What the user last asked, and what has happened since.
//!
//! Agent programs put much into user messages that nobody said: reminders, the state of the machine, lists of tools.
//! They mark it with tags, `<system-reminder>`, `<environment_context>`, and it is ignored here.

use std::borrow::Cow;
use std::collections::HashMap;

use ikigai_core::{Block, Message, Request, Role};

/// The turn to answer.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    /// The message in which the user last said something.
    pub(crate) message: Option<&'a Message>,
    /// What was said in it.
    pub(crate) prompt: String,
    /// The messages since then.
    pub(crate) since: &'a [Message],
    /// The number of rounds of tool results since then.
    pub(crate) rounds: usize,
    /// The latest results, if the model has not answered them yet.
    pub(crate) results: Option<&'a Message>,
}

impl<'a> Turn<'a> {
    pub(crate) fn of(request: &'a Request) -> Self {
        let place = request.messages.iter().rposition(|message| message.role == Role::User && speaks(message));
        let message = place.and_then(|place| request.messages.get(place));
        let since = request.messages.get(place.map_or(0, |place| place + 1)..).unwrap_or_default();
        let is_tool = |message: &&Message| message.role == Role::Tool;
        let latest = since.iter().rev().find(|message| message.role != Role::User);
        Turn {
            message,
            prompt: message.map(said).unwrap_or_default(),
            since,
            rounds: since.iter().filter(is_tool).count(),
            results: latest.filter(is_tool),
        }
    }
}

/// Whether a message contains something that the user, and not a program, says or shows.
fn speaks(message: &Message) -> bool {
    message.content.iter().any(|block| match block {
        Block::Text(text) => !outside_tags(&text.text).trim().is_empty(),
        Block::ToolResult(_) => false,
        _ => true,
    })
}

/// The last text of a message that is outside such tags.
pub(super) fn said(message: &Message) -> String {
    let texts = message.content.iter().rev().filter_map(Block::as_text);
    texts.map(outside_tags).find(|text| !text.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

/// A text without what programs put into it. A tag that is not closed is ordinary text.
fn outside_tags(text: &str) -> Cow<'_, str> {
    if !text.contains("</") {
        return Cow::Borrowed(text);
    }
    // Where each tag ends, so that none is searched for twice.
    let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
    for (start, _) in text.match_indices("</") {
        let inner = text.get(start + 2..).unwrap_or_default();
        if let Some(end) = inner.find('>').filter(|end| *end <= LONGEST_TAG) {
            ends.entry(inner.get(..end).unwrap_or_default()).or_default().push(start);
        }
    }
    let (mut outside, mut from) = (String::new(), 0);
    for (start, _) in
        text.match_indices('<').filter(|(start, _)| !text.get(start + 1..).unwrap_or_default().starts_with('/'))
    {
        if start < from {
            continue;
        }
        let Some(name) = tag(text.get(start + 1..).unwrap_or_default()) else { continue };
        let closing = ends.get(name).and_then(|ends| ends.get(ends.partition_point(|end| *end < start)));
        if let Some(end) = closing {
            outside.push_str(text.get(from..start).unwrap_or_default());
            from = end + "</>".len() + name.len();
        }
    }
    outside.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(outside)
}

/// The longest tag name that is looked for.
const LONGEST_TAG: usize = 64;
/// Tags of programs whose names are ordinary words.
const PLAIN: [&str; 8] = ["context", "environment", "env", "instructions", "reminder", "skills", "system", "tools"];

/// The name of a tag with which a program marks its own words: of several words, in capitals, or one of a few.
/// Other tags are HTML, or whatever the user wants to talk about.
fn tag(text: &str) -> Option<&str> {
    let end = text.find(['>', ' ', '\n']).filter(|end| *end <= LONGEST_TAG)?;
    let name = text.get(..end)?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let of_words = name.contains(['_', '-']) || (name.len() > 3 && name.chars().all(|c| c.is_ascii_uppercase()));
    (is_name && (of_words || PLAIN.contains(&name))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_put_into_a_text_is_not_said() {
        for (text, said) in [
            ("Hello", "Hello"),
            ("<system-reminder>\nUse Bash.\n</system-reminder>\nHello", "Hello"),
            ("<environment_context><cwd>/x</cwd></environment_context>", ""),
            ("Hi <a_b x=\"1\">no</a_b> there", "Hi  there"),
            ("# Rules\n<INSTRUCTIONS>call f</INSTRUCTIONS> Now!", "# Rules\n Now!"),
            ("Translate <p>Hello</p> and <b-c>", "Translate <p>Hello</p> and <b-c>"),
            ("<system-reminder>never closed", "<system-reminder>never closed"),
            ("</system-reminder> <", "</system-reminder> <"),
        ] {
            assert_eq!(outside_tags(text).trim(), said);
        }
    }

    #[test]
    fn many_tags_are_read_in_one_go() {
        let text = "<a_b>".repeat(50_000) + &"</c_d>".repeat(50_000);
        assert_eq!(outside_tags(&text), text);
    }

    #[test]
    fn the_last_words_of_a_message_count_and_reminders_are_no_message() {
        let prompt = [
            Block::text("<system-reminder>Be brief.</system-reminder>"),
            Block::text("Call f."),
            Block::text("<system-reminder>x</system-reminder>"),
        ];
        let call = Block::tool_call("1", "f", serde_json::Map::new());
        let request = Request::new("m").user(prompt).message(Message::new(Role::Assistant, vec![call]));
        let request =
            request.message(ikigai_core::tool_result("1", "done")).user("<system-reminder>Go on.</system-reminder>");
        let turn = Turn::of(&request);
        assert_eq!((turn.prompt.as_str(), turn.rounds, turn.results.is_some()), ("Call f.", 1, true));
    }
}
