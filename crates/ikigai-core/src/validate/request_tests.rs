use pretty_assertions::assert_eq;
use serde_json::{Map, json};

use super::Problem;
use crate::{
    Block, Dialect, Error, ErrorKind, Level, Message, Other, Part, ProviderData, Request, Role, Source, Text, Thinking,
    Tool, ToolCall, ToolChoice,
};

fn hello() -> Request {
    Request::new("m").user("Hello")
}

/// Returns each problem on a line; soft ones are in brackets.
fn told(request: &Request) -> String {
    let problems = request.problems();
    let hard = problems.iter().any(|problem| !problem.is_soft());
    assert_eq!(request.validate().is_err(), hard);
    for problem in &problems {
        assert!(problem.to_string().starts_with(&format!("{}:", problem.place())), "{problem}");
    }
    let line = |problem: &Problem| if problem.is_soft() { format!("({problem})") } else { problem.to_string() };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn call(id: &str) -> Block {
    Block::tool_call(id, "read_file", Map::new())
}

fn weather() -> Tool {
    Tool::new("weather", "Tells the weather.")
        .parameters(json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}))
}

#[test]
fn a_good_request_has_no_problems() {
    let request = hello()
        .system("Be brief")
        .assistant([Block::thinking("Hm."), Block::text("I look."), call("a"), call("b")])
        .tool_result("a", "one")
        .tool_result("b", [Block::text("two"), Block::image(Source::bytes(b"\x89PNG\r\n\x1a\n", "image/png"))])
        .user([
            Block::image_url("https://example.com/a.png"),
            Block::document(Source::bytes(b"%PDF-1.7", "application/pdf"), "a.pdf"),
            Block::document(Source::Text { media_type: "text/plain; charset=utf-8".into(), text: "hi".into() }, "a"),
            Block::audio(Source::bytes(b"RIFF", "audio/wav")),
            Block::image(Source::Url { url: "gs://bucket/a.png".into(), media_type: Some("image/png".into()) }),
            Block::image(Source::File { id: "file_1".into(), media_type: None }),
        ])
        .thinking(Level::Med)
        .tool(weather())
        .tool_choice(ToolChoice::Specific("weather".into()))
        .max_output_tokens(-1)
        .temperature(2.0)
        .stop("\n");
    assert_eq!(told(&request), "");
}

#[test]
fn all_problems_are_told_at_once() {
    let invalid = Request::new(" ").temperature(3.0).max_output_tokens(-2).validate().unwrap_err();
    insta::assert_snapshot!(invalid, @r"
    model: no model is named; set one, such as `claude-sonnet-4-5`
    messages: there is no message; add a user message
    max_output_tokens: -2 is not a valid limit; give at least 1, or leave it out (or -1) for the provider's default
    temperature: 3 is out of range; give a number from 0 to 2
    ");
    let error = Error::from(invalid);
    assert_eq!((error.kind, error.param.as_deref()), (ErrorKind::InvalidRequest, Some("model")));
}

#[test]
fn a_long_list_is_cut_in_the_message_but_not_in_the_list() {
    let request = (0..20).fold(hello(), |request, _| request.stop(""));
    let invalid = request.validate().unwrap_err();
    assert_eq!(invalid.problems.len(), 20);
    assert_eq!(invalid.to_string().lines().count(), 9);
    assert!(invalid.to_string().ends_with("\nand 12 more"));
}

#[test]
fn who_speaks_first_and_last() {
    insta::assert_snapshot!(told(&Request::new("m").assistant("Hi").user("Hello")), @"(messages[0]: the conversation begins with the role assistant; some providers require a user message first)");
    insta::assert_snapshot!(told(&Request::new("m").message(Message::system("Be brief")).user("Hello")), @"(messages[0]: a system message comes first; put it into `system`, where every provider accepts it)");
    insta::assert_snapshot!(told(&hello().assistant("Well,")), @"(messages[1]: the conversation ends with the assistant; only some models continue from there, so end with a user message or a tool result)");
}

#[test]
fn empty_things() {
    let empty = |role| Message::new(role, Vec::new());
    insta::assert_snapshot!(told(&Request::new("m").message(empty(Role::User)).message(empty(Role::Assistant)).user(" \n")), @r"
    messages[0]: the user message is empty; give it content or leave it out
    (messages[1]: the assistant message is empty; give it content or leave it out)
    (messages[2].content[0]: the text is empty; some providers refuse that, so leave the block out)
    ");
    insta::assert_snapshot!(told(&hello().system("")), @"(system[0]: the text is empty; some providers refuse that, so leave the block out)");
    let mut state = ProviderData::default();
    state.set_part(Dialect::Gemini, Part::State, "thought_signature", "abc");
    let signed = Block::Text(Text { provider_data: state, ..Text::default() });
    assert_eq!(
        told(&hello().assistant([Block::text("Hi"), signed]).user("Go on")),
        "",
        "an empty text may carry state"
    );
}

#[test]
fn blocks_where_they_have_no_business() {
    insta::assert_snapshot!(told(&hello().system(Block::image_url("https://x.org/a.png"))), @"system[0]: blocks of type image are not allowed in the system prompt; put it into a user message");
    insta::assert_snapshot!(told(&Request::new("m").user([Block::thinking("Hm."), call("a")])), @r"
    messages[0].content[0]: blocks of type thinking are not allowed in a user message; only the assistant's messages have it
    messages[0].content[1]: blocks of type tool_call are not allowed in a user message; only the assistant's messages have it
    ");
    insta::assert_snapshot!(told(&hello().assistant(Block::tool_result("a", "x")).user("?")), @"messages[1].content[0]: blocks of type tool_result are not allowed in an assistant message; put it into a tool message");
    let image_from_tool = Message::new(Role::Tool, [Block::tool_result("a", "x"), Block::image_url("https://x.org/a")]);
    insta::assert_snapshot!(told(&hello().assistant(call("a")).message(image_from_tool)), @"messages[2].content[1]: blocks of type image are not allowed in a tool message; put it into the content of a tool_result block");
    insta::assert_snapshot!(told(&hello().assistant(call("a")).tool_result("a", [call("b")])), @"messages[2].content[0].content[0]: blocks of type tool_call are not allowed in a tool result; use text");
    insta::assert_snapshot!(told(&hello().message(Message::system(Block::audio(Source::bytes(b"RIFF", "audio/wav")))).user("?")), @"messages[1].content[0]: blocks of type audio are not allowed in a system message; put it into a user message");
    let own = Block::Other(Other { dialect: Dialect::Anthropic, data: json!({"type": "container_upload"}).into() });
    assert_eq!(told(&hello().system(own.clone()).user(own)), "", "a dialect's own block may be anywhere");
}

#[test]
fn a_tool_message_says_which_call_it_answers() {
    let plain = Message::new(Role::Tool, "127.0.0.1");
    insta::assert_snapshot!(told(&hello().assistant("Hm").message(plain)), @"messages[2].content[0]: the tool message does not say which call it answers; use a tool_result block with its `tool_call_id`");
    insta::assert_snapshot!(told(&hello().assistant(call("a")).tool_result("a", "x").tool_result(" ", "x")), @"messages[2].content[1]: the tool message does not say which call it answers; use a tool_result block with its `tool_call_id`");
}

#[test]
fn calls_need_ids_and_names() {
    let nameless = Block::tool_call("a", "", Map::new());
    insta::assert_snapshot!(told(&hello().assistant([call(""), nameless]).tool_result("a", "x")), @r"
    messages[1].content[0]: the tool call has no id; give it one that its result can refer to
    messages[1].content[1]: the tool call names no tool; set `name`
    ");
}

#[test]
fn a_call_needs_its_result_in_the_next_message() {
    insta::assert_snapshot!(told(&hello().assistant(call("a"))), @"messages[1].content[0]: the tool call `a` (read_file) has no result; add a tool_result for it to the next message, or leave the call out");
    insta::assert_snapshot!(told(&hello().assistant([call("a"), call("b")]).tool_result("b", "x").user("?")), @"messages[1].content[0]: the tool call `a` (read_file) has no result; add a tool_result for it to the next message, or leave the call out");
    insta::assert_snapshot!(told(&hello().assistant(call("a")).user("wait").tool_result("a", "x")), @r"
    messages[1].content[0]: the tool call `a` (read_file) has no result; add a tool_result for it to the next message, or leave the call out
    messages[3].content[0]: the result answers the tool call `a`, which is not in the message before; put results right after their calls
    ");
    insta::assert_snapshot!(told(&hello().assistant(call("a")).message(Message::system("Quick")).tool_result("a", "x")), @r"
    messages[1].content[0]: the tool call `a` (read_file) has no result; add a tool_result for it to the next message, or leave the call out
    messages[3].content[0]: the result answers the tool call `a`, which is not in the message before; put results right after their calls
    ");
}

#[test]
fn results_may_come_in_a_user_message_or_one_by_one() {
    assert_eq!(told(&hello().assistant(call("a")).user([Block::tool_result("a", "x"), Block::text("?")])), "");
    let one_by_one = hello()
        .assistant([call("a"), call("b")])
        .message(Message::tool_result("a", "x"))
        .message(Message::tool_result("b", "y"));
    assert_eq!(told(&one_by_one), "");
    let split = hello().assistant(call("a")).assistant(call("b")).tool_result("a", "x").tool_result("b", "y");
    assert_eq!(told(&split), "", "assistant messages in a row are one turn");
}

#[test]
fn a_result_needs_its_call_and_only_one() {
    insta::assert_snapshot!(told(&hello().tool_result("z", "x")), @"messages[1].content[0]: the result answers the tool call `z`, which is not in the message before; put results right after their calls");
    insta::assert_snapshot!(told(&hello().assistant(call("a")).tool_result("a", "x").tool_result("a", "y")), @"messages[2].content[1]: the tool call `a` already has a result; keep only one");
}

#[test]
fn call_ids_are_used_once() {
    insta::assert_snapshot!(told(&hello().assistant([call("a"), call("a")]).tool_result("a", "x")), @"messages[1].content[1]: the tool call id `a` was used at messages[1].content[0] already; every call needs its own");
    let later = hello().assistant(call("a")).tool_result("a", "x").assistant(call("a")).tool_result("a", "y");
    insta::assert_snapshot!(told(&later), @"(messages[3].content[0]: the tool call id `a` was used at messages[1].content[0] already; every call needs its own)");
}

#[test]
fn a_call_that_was_cut_off() {
    let mut cut = ToolCall { id: "a".into(), name: "read_file".into(), ..ToolCall::default() };
    cut.arguments = crate::Arguments::from_text(r#"{"path": "/et"#);
    let request =
        hello().assistant(Block::ToolCall(cut)).message(Message::new(Role::Tool, Block::tool_error("a", "cut off")));
    insta::assert_snapshot!(told(&request), @"(messages[1].content[0]: the arguments of the call of read_file are not a JSON object, as in a call that was cut off; it must not be run)");
}

#[test]
fn names_of_tools() {
    let named = |name: &str| Tool::new(name, "…");
    insta::assert_snapshot!(told(&hello().tool(named("")).tool(named("read file")).tool(named("fs.read")).tool(named("2nd")).tool(named("a")).tool(named("a"))), @r#"
    tools[0].name: `` is not a valid tool name; use 1 to 128 letters, digits, `_` and `-`
    tools[1].name: `read file` is not a valid tool name; use 1 to 128 letters, digits, `_` and `-`
    (tools[2].name: not every provider accepts the tool name `fs.read`; it is sent in another spelling there unless it has at most 64 letters, digits, `_` and `-` and does not begin with a digit or `-`)
    (tools[3].name: not every provider accepts the tool name `2nd`; it is sent in another spelling there unless it has at most 64 letters, digits, `_` and `-` and does not begin with a digit or `-`)
    tools[5]: the tool `a` is at tools[4] already; every tool needs its own name
    "#);
}

#[test]
fn schemas_of_tools() {
    let with = |schema| told(&hello().tool(Tool::new("t", "…").parameters(schema)));
    insta::assert_snapshot!(with(json!("object")), @"tools[0].parameters: this is not a JSON Schema that providers accept: it must be an object, but is a string");
    insta::assert_snapshot!(with(json!({"type": "array", "items": {}})), @r#"tools[0].parameters: this is not a JSON Schema that providers accept: its root must describe an object; set "type": "object""#);
    insta::assert_snapshot!(with(json!({"properties": {}})), @r#"(tools[0].parameters: the schema does not say that it describes an object; add "type": "object")"#);
    insta::assert_snapshot!(with(json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}})), @"tools[0].parameters: this is not a JSON Schema that providers accept: $ref: there is nothing at #/$defs/b");
}

#[cfg(feature = "validate")]
#[test]
fn schemas_are_held_to_the_metaschema() {
    let with = |schema| told(&hello().tool(Tool::new("t", "…").parameters(schema)));
    insta::assert_snapshot!(with(json!({"type": "object", "properties": {"city": {"type": "text"}}})), @r#"tools[0].parameters: this is not a JSON Schema that providers accept: properties.city.type: "text" is not a type; the types are string, number, integer, boolean, object, array, null"#);
    insta::assert_snapshot!(with(json!({"type": "object", "properties": {"city": {"type": "string", "minLength": -1}}})), @"tools[0].parameters: this is not a JSON Schema that providers accept: properties.city.minLength: -1 is less than the minimum of 0");
}

#[test]
fn the_choice_of_a_tool() {
    insta::assert_snapshot!(told(&hello().tool_choice(ToolChoice::Required)), @"tool_choice: a tool is required, but there are no tools; add tools or drop the choice");
    insta::assert_snapshot!(told(&hello().tool(weather()).tool(Tool::new("time", "…")).tool_choice(ToolChoice::Specific("whether".into()))), @"tool_choice: there is no tool `whether`; the tools are weather, time");
    let hosted = Tool::other(Other {
        dialect: Dialect::Anthropic,
        data: json!({"type": "web_search_20250305", "name": "web_search"}).into(),
    });
    assert_eq!(told(&hello().tool(hosted).tool_choice(ToolChoice::Specific("web_search".into()))), "");
    assert_eq!(told(&hello().tool_choice(ToolChoice::Auto)), "");
    assert_eq!(told(&hello().tool_choice(ToolChoice::None)), "");
}

#[test]
fn limits_and_budgets() {
    insta::assert_snapshot!(told(&hello().max_output_tokens(0)), @"max_output_tokens: 0 is not a valid limit; give at least 1, or leave it out (or -1) for the provider's default");
    insta::assert_snapshot!(told(&hello().max_output_tokens(-2)), @"max_output_tokens: -2 is not a valid limit; give at least 1, or leave it out (or -1) for the provider's default");
    insta::assert_snapshot!(told(&hello().thinking(Thinking::budget(-2))), @"thinking.budget: -2 is not a valid budget; give a number of tokens up to 2147483647, 0 for off, or -1 for the model's own choice");
    insta::assert_snapshot!(told(&hello().thinking(Thinking::budget(1 << 40))), @"thinking.budget: 1099511627776 is not a valid budget; give a number of tokens up to 2147483647, 0 for off, or -1 for the model's own choice");
    let torn = Thinking { level: Some(Level::None), budget: Some(2048), include_summary: true };
    insta::assert_snapshot!(told(&hello().thinking(torn)), @"(thinking: the level is none but the budget is 2048; the budget wins, so drop one of them)");
    for budget in [-1, 0, 1024] {
        assert_eq!(told(&hello().thinking(Thinking::budget(budget))), "");
    }
}

#[test]
fn sampling_ranges() {
    let request = Request {
        temperature: Some(f64::NAN),
        top_p: Some(1.5),
        top_k: Some(-1),
        frequency_penalty: Some(-2.5),
        presence_penalty: Some(f64::INFINITY),
        stop: vec!["END".into(), String::new()],
        ..hello()
    };
    insta::assert_snapshot!(told(&request), @r"
    temperature: NaN is out of range; give a number from 0 to 2
    top_p: 1.5 is out of range; give a number from 0 to 1
    frequency_penalty: -2.5 is out of range; give a number from -2 to 2
    presence_penalty: inf is out of range; give a number from -2 to 2
    top_k: -1 is out of range; give a number from 0 up
    stop[1]: the stop sequence is empty and would end every answer; leave it out
    ");
}

#[test]
fn output_formats() {
    insta::assert_snapshot!(told(&hello().json_schema("my answer", json!([]))), @r"
    output_format.json_schema.name: `my answer` is not a valid name; use 1 to 64 letters, digits, `_` and `-`
    output_format.json_schema.schema: this is not a JSON Schema that providers accept: it must be an object, but is a list
    ");
}

#[test]
fn media_and_their_types() {
    let image = |media_type: &str, data: &str| {
        told(&Request::new("m").user(Block::image(Source::Base64 { media_type: media_type.into(), data: data.into() })))
    };
    insta::assert_snapshot!(image("png", "AAAA"), @"messages[0].content[0]: `png` is not a media type; write it like `image/png`");
    insta::assert_snapshot!(image("", "AAAA"), @"messages[0].content[0]: `` is not a media type; write it like `image/png`");
    insta::assert_snapshot!(image("application/pdf", "AAAA"), @"messages[0].content[0]: application/pdf does not belong in a block of type image; use a document block");
    insta::assert_snapshot!(image("image/png", ""), @"messages[0].content[0]: the data is empty; give the bytes as base64");
    insta::assert_snapshot!(image("image/png", "data:image/png;base64,AAAA"), @"messages[0].content[0]: the data begins with `data:`; give only what follows the comma, and the type as `media_type`");
    insta::assert_snapshot!(image("image/png", "AAAA\nAAAA"), @"messages[0].content[0]: the data is not standard base64: there is a line break or blank at 4; take them out");
    insta::assert_snapshot!(image("image/png", "AA-_"), @"messages[0].content[0]: the data is not standard base64: at 2 it is in the URL-safe alphabet; use `+` and `/`");
    insta::assert_snapshot!(image("image/png", "AAAAA"), @"messages[0].content[0]: the data is not standard base64: its length is no multiple of four; it is cut off or lacks its padding");
    insta::assert_snapshot!(image("image/png", "A=AA"), @"messages[0].content[0]: the data is not standard base64: its padding at 1 is not at the end");
    insta::assert_snapshot!(image("image/png", "AAé="), @"messages[0].content[0]: the data is not standard base64: the character at 2 does not belong there");
    assert_eq!(image("image/png", "AAA="), "");
    assert_eq!(image("IMAGE/PNG", "AA=="), "");

    let document = |source| told(&Request::new("m").user(Block::document(source, "a")));
    insta::assert_snapshot!(document(Source::bytes(b"x", "image/png")), @"messages[0].content[0]: image/png does not belong in a block of type document; use an image block");
    insta::assert_snapshot!(document(Source::bytes(b"x", "audio/wav")), @"messages[0].content[0]: audio/wav does not belong in a block of type document; use an audio block");
    insta::assert_snapshot!(document(Source::Text { media_type: "text/plain".into(), text: " ".into() }), @"(messages[0].content[0]: the text is empty; some providers refuse that, so leave the block out)");
    insta::assert_snapshot!(document(Source::File { id: String::new(), media_type: None }), @"messages[0].content[0]: the file has no id; give the id that the provider returned for it");
    let audio =
        told(&Request::new("m").user(Block::audio(Source::Text { media_type: "text/plain".into(), text: "x".into() })));
    insta::assert_snapshot!(audio, @"messages[0].content[0]: text/plain does not belong in a block of type audio; use a document block");

    let url = |url: &str| told(&Request::new("m").user(Block::image_url(url)));
    insta::assert_snapshot!(url("/home/me/a.png"), @"messages[0].content[0]: `/home/me/a.png` is not an address that a provider can fetch; give an https URL, or the bytes as base64");
    insta::assert_snapshot!(url("file:///home/me/a.png"), @"messages[0].content[0]: `file:///home/me/a.png` is not an address that a provider can fetch; give an https URL, or the bytes as base64");
    insta::assert_snapshot!(url("data:image/png;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), @"messages[0].content[0]: `data:image/png;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA` is not an address that a provider can fetch; give an https URL, or the bytes as base64");
}

#[test]
fn media_inside_results_are_checked_too() {
    let result = Block::image(Source::Base64 { media_type: "image/png".into(), data: "?".into() });
    insta::assert_snapshot!(told(&hello().assistant(call("a")).tool_result("a", [result])), @"messages[2].content[0].content[0]: the data is not standard base64: the character at 0 does not belong there");
}
