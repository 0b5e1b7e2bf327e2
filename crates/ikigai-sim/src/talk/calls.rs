//! Which tools a prompt calls for, and what is said when they have answered.

use ikigai_core::{Block, Function, Message, Request, Role, Tool, ToolChoice, ToolResult};
use serde_json::{Map, Value};

use super::{choice, prompt, sample};

/// The tools to call now, with their arguments; none when it is time for text.
///
/// A prompt that names an offered tool gets a call of it, one that names two gets both at once. "then" makes steps:
/// each round of results leads to the next step's tools.
pub(super) fn wanted(request: &Request) -> Vec<(String, Map<String, Value>)> {
    let functions: Vec<&Function> = request.tools.iter().filter_map(Tool::as_function).collect();
    let said = prompt(request);
    let round = rounds(request);
    let steps: Vec<&str> = said.split(" then ").collect();
    let step = steps.get(round).copied().unwrap_or_default();
    let named = named_in(&functions, step);
    let chosen: Vec<&Function> = match choice(request) {
        ToolChoice::None => Vec::new(),
        ToolChoice::Auto => named,
        // Forced on every turn, a model would never come to an end: results are answered with text.
        ToolChoice::Required | ToolChoice::Specific(_) if round > 0 => named,
        ToolChoice::Required if named.is_empty() => functions.first().copied().into_iter().collect(),
        ToolChoice::Required => named,
        ToolChoice::Specific(name) => functions.into_iter().filter(|function| function.name == name).collect(),
    };
    let at_most = if request.parallel_tool_calls == Some(false) { 1 } else { usize::MAX };
    chosen.into_iter().take(at_most).map(|function| (function.name.clone(), arguments(function, step))).collect()
}

fn arguments(function: &Function, step: &str) -> Map<String, Value> {
    // What is said before the tool's name is about other tools.
    let about = step.find(&function.name).and_then(|start| step.get(start..)).unwrap_or(step);
    let about = about.strip_prefix(function.name.as_str()).unwrap_or(about);
    match sample::from_prompt(function.parameters.value(), about) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// The functions whose names stand in the text as words, in the order of the text.
fn named_in<'a>(functions: &[&'a Function], text: &str) -> Vec<&'a Function> {
    let mut found: Vec<(usize, &Function)> =
        functions.iter().filter_map(|function| Some((word_in(text, &function.name)?, *function))).collect();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, function)| function).collect()
}

fn word_in(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word)
        .find(|(start, _)| {
            let before = text.get(..*start).and_then(|before| before.chars().next_back());
            let behind = text.get(start + word.len()..).and_then(|behind| behind.chars().next());
            !before.is_some_and(is_part) && !behind.is_some_and(is_part)
        })
        .map(|(start, _)| start)
}

/// How many rounds of results have come since the user last spoke.
fn rounds(request: &Request) -> usize {
    request
        .messages
        .iter()
        .rev()
        .take_while(|message| message.role != Role::User)
        .filter(|message| message.role == Role::Tool)
        .count()
}

/// What the tools answered, in words; none when the conversation does not end with results.
pub(super) fn results(request: &Request) -> Option<String> {
    let last = request.messages.last().filter(|message| message.role == Role::Tool)?;
    let told: Vec<String> = last
        .content
        .iter()
        .filter_map(Block::as_tool_result)
        .map(|result| {
            let name = called_name(&request.messages, &result.tool_call_id).unwrap_or("the tool");
            let verb = if result.is_error { "failed" } else { "answered" };
            format!("{name} {verb}: {}", content(result))
        })
        .collect();
    Some(told.join("; "))
}

fn called_name<'a>(messages: &'a [Message], id: &str) -> Option<&'a str> {
    let mut calls = messages.iter().rev().flat_map(|message| &message.content).filter_map(Block::as_tool_call);
    calls.find(|call| call.id == id).map(|call| call.name.as_str())
}

fn content(result: &ToolResult) -> String {
    let pieces: Vec<String> = result
        .content
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.text.clone(),
            Block::Image(_) => "an image".to_owned(),
            Block::Document(_) => "a document".to_owned(),
            Block::Audio(_) => "a sound".to_owned(),
            _ => "something else".to_owned(),
        })
        .collect();
    if pieces.is_empty() { "nothing".to_owned() } else { pieces.join(", ") }
}
