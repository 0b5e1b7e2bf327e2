//! The tools that a prompt calls for, and what is said when they have answered.

use ikigai_core::{Block, Function, Message, Request, Tool, ToolChoice, ToolResult};
use serde_json::{Map, Value};

use super::{Turn, asked, choice, sample};

/// The most characters of a result that are repeated.
const TOLD: usize = 4_000;

/// The tools to call now, with their arguments; none if it is time for text.
///
/// A prompt that asks for an offered tool gets a call of it; one that asks for two gets both at once. "then" makes
/// steps: each round of results leads to the next step's tools, and the last one to an answer.
pub(super) fn wanted(request: &Request, turn: &Turn<'_>) -> Vec<(String, Map<String, Value>)> {
    let functions: Vec<&Function> = request.tools.iter().filter_map(Tool::as_function).collect();
    let steps = asked::steps(&turn.prompt, &functions);
    let (text, asked) = match steps.get(turn.rounds) {
        Some(step) => (step.text, step.tools.clone()),
        None => (turn.prompt.as_str(), Vec::new()),
    };
    let chosen: Vec<&Function> = match choice(request) {
        ToolChoice::None => Vec::new(),
        ToolChoice::Auto => asked,
        // Forced on every turn, a model would never finish: results are answered with text.
        ToolChoice::Required | ToolChoice::Specific(_) if turn.rounds > 0 => asked,
        ToolChoice::Required if asked.is_empty() => functions.first().copied().into_iter().collect(),
        ToolChoice::Required => asked,
        ToolChoice::Specific(name) => functions.into_iter().filter(|function| function.name == name).collect(),
        // A choice that this code does not know leaves the model free.
        _ => asked,
    };
    let at_most = if request.parallel_tool_calls == Some(false) { 1 } else { usize::MAX };
    let about = if chosen.len() == 1 { about_the_only } else { about_one_of_several };
    let arguments = |function: &Function| arguments(function, &about(function, text));
    chosen.into_iter().take(at_most).map(|function| (function.name.clone(), arguments(function))).collect()
}

/// What is said about the only tool of a step: what follows its name, then what comes before it.
fn about_the_only(function: &Function, text: &str) -> String {
    match text.split_once(function.name.as_str()) {
        Some((before, behind)) => format!("{behind}\n{before}"),
        None => text.to_owned(),
    }
}

/// What is said about one of several tools: what follows its name. What comes before it is about the others.
fn about_one_of_several(function: &Function, text: &str) -> String {
    text.split_once(function.name.as_str()).map_or(text, |(_, behind)| behind).to_owned()
}

fn arguments(function: &Function, about: &str) -> Map<String, Value> {
    match sample::from_prompt(function.parameters.value(), about) {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    }
}

/// What the tools answered, in words.
pub(super) fn told(request: &Request, results: &Message) -> String {
    let told: Vec<String> = results
        .content
        .iter()
        .filter_map(Block::as_tool_result)
        .map(|result| {
            let name = called_name(&request.messages, &result.tool_call_id).unwrap_or("the tool");
            let verb = if result.is_error { "failed" } else { "answered" };
            format!("{name} {verb}: {}", content(result))
        })
        .collect();
    told.join("; ")
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
    if pieces.is_empty() {
        return "nothing".to_owned();
    }
    let all = pieces.join(", ");
    match all.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", all.get(..end).unwrap_or_default()),
        None => all,
    }
}
