use pretty_assertions::assert_eq;
use serde_json::{Map, json};

use super::*;

fn told(context: &Prompt) -> String {
    context.problems().iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_context_is_collected_iterated_and_extended() {
    let mut context: Prompt = [user("Hello"), assistant("Hi")].into_iter().collect();
    context.extend([user("How are you?")]);
    assert_eq!(context.len(), 3);
    assert_eq!(
        context.iter().map(|message| message.role).collect::<Vec<_>>(),
        [Role::User, Role::Assistant, Role::User]
    );
    assert_eq!((&context).into_iter().count(), 3);
    assert_eq!(context.clone().into_iter().collect::<Prompt>(), context);
    assert_eq!(Prompt::from(context.messages().to_vec()), context);
    assert!(Prompt::default().is_empty());
}

#[test]
fn a_context_is_a_value() {
    let one = Prompt::from("Hello");
    let two = one.clone().with(assistant("Hi"));
    assert_eq!((one.len(), two.len()), (1, 2));
    assert_eq!(Prompt::from("Hello".to_owned()), Prompt::from([user("Hello")]));
}

#[test]
fn content_is_always_a_list_of_parts() {
    assert_eq!(user("Hello").content, [Block::text("Hello")]);
    assert_eq!(user([Block::text("a"), Block::image_url("https://x.org/a")]).content.len(), 2);
    assert_eq!(tool_result("a", "x").content, [Block::tool_result("a", "x")]);
    assert_eq!(tool_result("a", json!("x")), tool_result("a", "x"));
    assert_eq!(tool_result("a", json!([1, null])), tool_result("a", "[1,null]"));
}

#[test]
fn blank_assistant_text_yields_no_part() {
    assert_eq!(assistant(" \n").content, []);
    let call = Block::tool_call("a", "f", Map::new());
    assert_eq!(assistant([Block::text(""), call.clone(), Block::thinking("")]).content, [call, Block::thinking("")]);
}

#[test]
fn a_system_prompt_is_added_only_where_there_is_none() {
    let context = Prompt::from("Hello").or_system("Be brief").or_system("Be kind");
    assert_eq!(context, Prompt::new([system("Be brief"), user("Hello")]));
}

#[test]
fn the_system_prompt_goes_where_requests_have_it() {
    let request =
        Request::new("m").prompt(Prompt::new([system("Be brief"), user("Hello")])).tool_choice(crate::ToolChoice::Auto);
    assert_eq!(request, Request::new("m").system("Be brief").user("Hello").tool_choice(crate::ToolChoice::Auto));
    let twice = Request::new("m").prompt(Prompt::new([system("a"), user("b"), system("c")]));
    assert_eq!(twice.messages, [user("b"), system("c")], "nothing is lost");
}

#[test]
fn a_good_context_has_no_problems() {
    let call = Block::tool_call("a", "f", Map::new());
    let context = Prompt::new([system("Be brief"), user("Hello"), assistant(call), tool_result("a", "x")]);
    assert_eq!(told(&context), "");
    assert_eq!(context.validate(), Ok(()));
}

#[test]
fn what_a_context_must_not_be() {
    insta::assert_snapshot!(told(&Prompt::default()), @"messages: there is no message; add a user message");
    insta::assert_snapshot!(told(&Prompt::new([system("Be brief")])), @"messages: there is no message; add a user message");
    insta::assert_snapshot!(told(&Prompt::new([system("a"), user("b"), system("c")])), @"messages[2]: this is a second system message; join them into one");
    insta::assert_snapshot!(told(&Prompt::new([system("a"), assistant("b"), user("c")])), @"messages[1]: the conversation begins with the role assistant; some providers require a user message first");
    let plain_tool = Message::new(Role::Tool, "x");
    insta::assert_snapshot!(told(&Prompt::new([user("a"), plain_tool])), @"messages[1].content[0]: the tool message does not say which call it answers; use a tool_result block with its `tool_call_id`");
    insta::assert_snapshot!(told(&Prompt::new([user("a"), assistant(Block::tool_call("c", "f", Map::new())), user("b")])), @"messages[1].content[0]: the tool call `c` (f) has no result; add a tool_result for it to the next message, or leave the call out");
}

#[test]
fn a_context_is_its_list_in_json() {
    let context = Prompt::from("Hello");
    let json = json!([{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]);
    assert_eq!(serde_json::to_value(&context).unwrap(), json);
    assert_eq!(serde_json::from_value::<Prompt>(json).unwrap(), context);
}
