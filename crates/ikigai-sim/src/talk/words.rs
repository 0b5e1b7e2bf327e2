//! Plain answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::{Block, Request, Role, Source};

use super::{Turn, arithmetic};

/// The answer to a prompt; what was attached is acknowledged first.
pub(super) fn reply(request: &Request, turn: &Turn<'_>) -> String {
    if let Some(words) = transcript(turn) {
        return words;
    }
    let attached = attachments(turn);
    let said = said(request, &turn.prompt);
    match (attached.is_empty(), said.is_empty()) {
        (true, _) => said,
        (false, true) => attached,
        (false, false) => format!("{attached} {said}"),
    }
}

/// What is said in the sounds to transcribe.
fn transcript(turn: &Turn<'_>) -> Option<String> {
    if !turn.prompt.to_lowercase().starts_with("transcribe") {
        return None;
    }
    let heard: Vec<String> = turn.message?.content.iter().filter_map(sound).collect();
    (!heard.is_empty()).then(|| heard.join("\n"))
}

fn sound(block: &Block) -> Option<String> {
    let Block::Audio(audio) = block else { return None };
    let Source::Base64 { data, .. } = &audio.source else { return None };
    Some(crate::transcribe::words(&STANDARD.decode(data).ok()?))
}

fn said(request: &Request, prompt: &str) -> String {
    let prompt = prompt.trim();
    if prompt.is_empty() {
        return String::new();
    }
    let lower = prompt.to_lowercase();
    if let Some(words) = after_any(prompt, &lower, &["say ", "repeat ", "echo "]) {
        return unquoted(words).to_owned();
    }
    if let Some(to) = after(prompt, &lower, "count to ").and_then(first_number) {
        let numbers: Vec<String> = (1..=to.clamp(1, 1000)).map(|number| number.to_string()).collect();
        return numbers.join(", ");
    }
    if let Some((sum, value)) = arithmetic::solve(prompt) {
        return format!("{sum} = {}", arithmetic::show(value));
    }
    if let Some(known) = remembered(request, &lower) {
        return known;
    }
    if lower.starts_with("summarise") || lower.starts_with("summarize") {
        return summary(prompt);
    }
    let count = prompt.split_whitespace().count();
    let system = request.system.iter().filter_map(Block::as_text).next().unwrap_or_default();
    let mut answer = format!("You said: {} ({count} {}).", quoted(prompt), if count == 1 { "word" } else { "words" });
    if !system.is_empty() {
        answer.push_str(&format!(" My instructions begin: {}.", quoted(system)));
    }
    answer
}

/// "What is my X?" is answered from an earlier "My X is Y."
fn remembered(request: &Request, question: &str) -> Option<String> {
    let thing = question.split("what is my ").nth(1).or_else(|| question.split("what's my ").nth(1))?;
    let thing = thing.split(['?', '.', '!', '\n']).next()?.trim();
    let statement = format!("my {thing} is ");
    request.messages.iter().rev().filter(|message| message.role == Role::User).find_map(|message| {
        let text = message.text();
        let value = after(&text, &text.to_lowercase(), &statement)?;
        let value = value.split(['.', '!', '?', '\n', ',']).next()?.trim();
        (!value.is_empty()).then(|| format!("Your {thing} is {value}."))
    })
}

fn summary(prompt: &str) -> String {
    let body = prompt.split_once([':', '\n']).map_or(prompt, |(_, body)| body).trim();
    let sentences = body.split_terminator(['.', '!', '?']).filter(|sentence| !sentence.trim().is_empty()).count();
    let first = body.split_inclusive(['.', '!', '?']).next().unwrap_or(body).trim();
    format!("In {} words and {sentences} sentences, beginning: {}", body.split_whitespace().count(), beginning(first))
}

/// What follows a word, in the text's own case.
fn after<'a>(text: &'a str, lower: &str, word: &str) -> Option<&'a str> {
    // Lower-casing can change a text's length; then the words are not looked for.
    if text.len() != lower.len() {
        return None;
    }
    let start = lower.find(word)?;
    text.get(start + word.len()..)
}

fn after_any<'a>(text: &'a str, lower: &str, words: &[&str]) -> Option<&'a str> {
    words.iter().find_map(|word| if lower.starts_with(word) { after(text, lower, word) } else { None })
}

fn first_number(text: &str) -> Option<i64> {
    text.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\'', '“', '”', '`'])
}

/// The beginning of a text in quotes.
fn quoted(text: &str) -> String {
    format!("“{}”", beginning(text).trim())
}

fn beginning(text: &str) -> String {
    let mut short: String = text.chars().take(200).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// What was attached to the prompt, by type and size.
fn attachments(turn: &Turn<'_>) -> String {
    let Some(last) = turn.message else { return String::new() };
    let seen: Vec<String> = last
        .content
        .iter()
        .filter_map(|block| match block {
            Block::Image(image) => Some(format!("an image ({})", describe(&image.source))),
            Block::Document(document) => {
                let name = document.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
                Some(format!("a document{name} ({})", describe(&document.source)))
            }
            Block::Audio(audio) => Some(format!("a sound ({})", describe(&audio.source))),
            _ => None,
        })
        .collect();
    if seen.is_empty() { String::new() } else { format!("I see {}.", seen.join(" and ")) }
}

fn describe(source: &Source) -> String {
    match source {
        Source::Base64 { media_type, data } => {
            let padding = data.bytes().rev().take_while(|&byte| byte == b'=').count();
            format!("{media_type}, {} bytes", (data.len() / 4 * 3).saturating_sub(padding))
        }
        Source::Text { media_type, text } => format!("{media_type}, {} bytes", text.len()),
        Source::Url { url, .. } => format!("at {url}"),
        Source::File { id, .. } => format!("file {id}"),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(prompts: &[&str]) -> String {
        let request = prompts.iter().fold(Request::new("m"), |request, prompt| request.user(*prompt));
        reply(&request, &Turn::of(&request))
    }

    #[test]
    fn prompts_get_their_answers() {
        for (prompts, answer) in [
            (&["Hello there"][..], "You said: “Hello there” (2 words)."),
            (&["Say \"hi\""], "hi"),
            (&["count to 3"], "1, 2, 3"),
            (&["What is 6 × 7?"], "6 × 7 = 42"),
            (&["My favourite number is 7.", "What is my favourite number?"], "Your favourite number is 7."),
            (&["Summarise: One. Two is longer."], "In 4 words and 2 sentences, beginning: One."),
            (&[""], ""),
        ] {
            assert_eq!(ask(prompts), answer);
        }
    }

    #[test]
    fn attachments_are_acknowledged() {
        let request = Request::new("m").user([Block::text("Look"), Block::file(b"\x89PNG\r\n\x1a\n", "a.png")]);
        assert_eq!(
            reply(&request, &Turn::of(&request)),
            "I see an image (image/png, 8 bytes). You said: “Look” (1 word)."
        );
    }
}
