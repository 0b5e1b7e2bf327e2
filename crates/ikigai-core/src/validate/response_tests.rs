use pretty_assertions::assert_eq;
use serde_json::{Map, json};

use super::Problem;
use crate::{Block, Dialect, Error, FinishReason, Part, ProviderData, Response, Usage};

fn told(response: &Response) -> String {
    let problems = response.problems();
    assert_eq!(response.validate().is_err(), problems.iter().any(|problem| !problem.is_soft()));
    let line = |problem: &Problem| if problem.is_soft() { format!("({problem})") } else { problem.to_string() };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn answer(finish_reason: FinishReason, content: Vec<Block>) -> Response {
    Response { finish_reason, content, ..Response::default() }
}

fn call(id: &str) -> Block {
    Block::tool_call(id, "f", Map::new())
}

#[test]
fn good_answers() {
    assert_eq!(told(&answer(FinishReason::Stop, vec![Block::thinking(""), Block::text("Hi")])), "");
    assert_eq!(told(&answer(FinishReason::ToolUse, vec![call("a"), call("b")])), "");
    assert_eq!(told(&answer(FinishReason::Error, vec![])), "");
    let failed = Response { error: Some(Box::new(Error::protocol("cut off"))), ..answer(FinishReason::Error, vec![]) };
    assert_eq!(told(&failed), "");
}

#[test]
fn an_answer_has_content_unless_it_failed() {
    insta::assert_snapshot!(told(&answer(FinishReason::Stop, vec![])), @"content: the answer is empty although it ended with stop; an answer has at least one block unless it failed");
    insta::assert_snapshot!(told(&answer(FinishReason::Length, vec![])), @"(content: the answer is empty although it ended with length; an answer has at least one block unless it failed)");
    insta::assert_snapshot!(told(&answer(FinishReason::ContentFilter, vec![])), @"(content: the answer is empty although it ended with content_filter; an answer has at least one block unless it failed)");
}

#[test]
fn the_end_fits_the_content() {
    insta::assert_snapshot!(told(&answer(FinishReason::ToolUse, vec![Block::text("Hi")])), @"finish_reason: the answer ended with tool_use but calls no tool; it should be stop");
    insta::assert_snapshot!(told(&answer(FinishReason::Stop, vec![call("a")])), @"(finish_reason: the answer calls tools but ended with stop; it should be tool_use)");
    assert_eq!(told(&answer(FinishReason::Length, vec![call("a")])), "");
    let torn =
        Response { error: Some(Box::new(Error::protocol("x"))), ..answer(FinishReason::Stop, vec![Block::text("Hi")]) };
    insta::assert_snapshot!(told(&torn), @"finish_reason: the answer ended with stop but carries an error; it should be error");
}

#[test]
fn a_finish_reason_is_one_of_six() {
    let unknown = serde_json::from_value::<Response>(json!({"content": [], "finish_reason": "end_turn"})).unwrap_err();
    insta::assert_snapshot!(unknown, @"unknown variant `end_turn`, expected one of `stop`, `length`, `tool_use`, `content_filter`, `error`, `unknown`");
}

#[test]
fn blocks_of_an_answer() {
    insta::assert_snapshot!(told(&answer(FinishReason::ToolUse, vec![call("a"), call("a"), Block::tool_result("a", "x")])), @r"
    content[1]: the tool call id `a` was used at content[0] already; every call needs its own
    content[2]: blocks of type tool_result are not allowed in an answer; put it into a tool message
    ");
}

#[test]
fn a_total_of_the_providers_own() {
    let counted = |total: u64| {
        let mut provider_data = ProviderData::default();
        provider_data.set_part(Dialect::Gemini, Part::Answer, "totalTokenCount", serde_json::json!(total));
        let usage =
            Usage { input_tokens: 50, output_tokens: 100, thinking_tokens: 20, provider_data, ..Usage::default() };
        told(&Response { usage: Some(usage), ..answer(FinishReason::Stop, vec![Block::text("Hi")]) })
    };
    assert_eq!(counted(170), "");
    insta::assert_snapshot!(counted(190), @"(usage: the counts add up to 170, but the provider's total is 190)");
}
