use pretty_assertions::assert_eq;

use super::*;
use crate::{Message, ToolCall};

const WORD: NameRule = NameRule { longest: 64, also: "", first: FirstCharacter::Any };
const LETTER_FIRST: NameRule = NameRule { longest: 64, also: ".:", first: FirstCharacter::Letter };

fn offering(names: &[&str]) -> Request {
    let mut request = Request::new("m");
    request.tools = names.iter().map(|name| Tool::new(*name, "")).collect();
    request
}

fn sent(names: &[&str], rule: &NameRule) -> Vec<String> {
    let request = offering(names);
    let respelled = Respelled::new(&request, Dialect::Gemini, rule);
    names.iter().map(|name| respelled.sent.get(name).cloned().unwrap_or_else(|| (*name).to_owned())).collect()
}

#[test]
fn names_are_respelled_by_the_rule_and_never_meet() {
    let names = ["a_b", "a.b", "a:b", "fs/read", "1tool", "-x", "", "s\u{f6}me"];
    assert_eq!(sent(&names, &WORD), ["a_b", "a_b_2", "a_b_3", "fs_read", "1tool", "-x", "_", "s_me"]);
    assert_eq!(sent(&names, &LETTER_FIRST), ["a_b", "a.b", "a:b", "fs_read", "_1tool", "_-x", "_", "s_me"]);
    let long = "x".repeat(128);
    let other = format!("{}y", "x".repeat(127));
    let short = [long.as_str(), other.as_str()].map(|name| sent(&[name], &WORD).remove(0));
    assert_eq!(short, ["x".repeat(64), "x".repeat(64)]);
    assert_eq!(sent(&[&long, &other], &WORD), ["x".repeat(64), format!("{}_2", "x".repeat(62))]);
}

#[test]
fn every_name_comes_back_from_answers_and_streams() {
    let request = offering(&["fs.read", "fs:read", "plain"]);
    let names = Respelled::new(&request, Dialect::Gemini, &WORD).names();
    let call = |name: &str| Block::ToolCall(ToolCall { name: name.to_owned(), ..ToolCall::default() });
    let mut response =
        Response { content: ["fs_read", "fs_read_2", "plain", "unknown"].map(call).into(), ..Response::default() };
    names.restore(&mut response);
    let own: Vec<&str> = response.tool_calls().map(|call| call.name.as_str()).collect();
    assert_eq!(own, ["fs.read", "fs:read", "plain", "unknown"]);

    let start = |name: &str| Event::ToolCallStart {
        index: 0,
        id: "c".into(),
        name: name.to_owned(),
        provider_data: crate::ProviderData::default(),
    };
    let mut event = start("fs_read_2");
    names.restore_event(&mut event);
    assert_eq!(event, start("fs:read"));
}

#[test]
fn the_history_and_the_choice_are_respelled_alike_and_own_tools_keep_their_names() {
    let mut request = offering(&["web.search"]);
    let own = serde_json::json!({"type": "web_search_20250305", "name": "web_search"});
    request.tools.push(Tool::other(crate::Other { dialect: Dialect::Anthropic, data: own.into() }));
    request.tool_choice = Some(ToolChoice::Specific("web.search".into()));
    let call = ToolCall { name: "old.tool".into(), ..ToolCall::default() };
    request.messages = vec![Message::assistant(Block::ToolCall(call))];
    let respelled = Respelled::new(&request, Dialect::Anthropic, &WORD);
    assert_eq!(respelled.get("web.search"), "web_search_2");
    assert_eq!(respelled.get("old.tool"), "old_tool");
    assert_eq!(
        serde_json::to_string(&respelled.names()).unwrap(),
        r#"{"old_tool":"old.tool","web_search_2":"web.search"}"#
    );
}

#[test]
fn thousands_of_names_that_look_alike_take_no_time_to_speak_of() {
    let names: Vec<String> = (0..20_000_u32).map(|n| char::from_u32(0x4E00 + n).map(String::from).unwrap()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sent = sent(&names, &WORD);
    assert_eq!((sent[0].as_str(), sent[1].as_str(), sent[19_999].as_str()), ("_", "__2", "__20000"));
    assert!(sent.iter().all(|name| WORD.takes(name)));
}
