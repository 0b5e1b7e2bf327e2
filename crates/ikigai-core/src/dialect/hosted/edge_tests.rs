//! Edge cases of searches, results and citations: odd output of providers, and what a client may send back.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::super::testing::{collect, events_of};
use crate::catalog::rules_for;
use crate::dialect::{Incoming, Reply, Target};
use crate::provider::Quirks;
use crate::wire::Ids;
use crate::{
    Block, BuiltIn, Citation, CodeExecution, Dialect, FinishReason, JsonSchemaFormat, Limits, Message, OutputFormat,
    Part, Request, Response, Severity, Source, Span, Text, Tool, UserLocation, WebSearch,
};

fn reply() -> Reply {
    Reply { provider: Some("anthropic".to_owned()), ..Reply::default() }
}

fn read(dialect: Dialect, body: &Value) -> Response {
    dialect.decode_response(body.to_string().as_bytes(), &mut Ids::seeded(1), &Limits::default()).unwrap()
}

/// Makes an Anthropic answer with this content.
fn anthropic(content: Value, reason: &str) -> Value {
    json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": content,
        "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn call(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "q"}})
}

fn result(id: &str, content: Value) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": content})
}

fn error(code: &str) -> Value {
    json!({"type": "web_search_tool_result_error", "error_code": code})
}

/// Reads a request as an Anthropic client sends it.
fn asked(messages: Value) -> Request {
    let body = json!({"model": "claude-x", "max_tokens": 9, "messages": messages}).to_string();
    let incoming = Incoming { path: None, body: body.as_bytes() };
    Dialect::Anthropic.decode_request(incoming, &Limits::default()).unwrap().0
}

/// Returns what a provider gets, and the losses on the way, without mere notes.
fn sent(request: &Request, dialect: Dialect, provider: &str) -> (Value, Vec<String>) {
    sent_with(request, dialect, provider, &Quirks::default())
}

fn sent_with(request: &Request, dialect: Dialect, provider: &str, quirks: &Quirks) -> (Value, Vec<String>) {
    let target = Target { provider, quirks, rules: rules_for(&request.model), facts: None };
    let wire = dialect.encode_request(request, &target, &Limits::default()).unwrap();
    let lost = wire.losses.iter().filter(|loss| loss.severity == Severity::Loss);
    let lost = lost.map(|loss| format!("{:?} {} {}", loss.code, loss.what, loss.place)).collect();
    (serde_json::from_slice(&wire.body).unwrap(), lost)
}

/// Returns the error of every result, or how many sources it found.
fn results(response: &Response) -> Vec<Result<usize, String>> {
    let result = |block: &Block| match block {
        Block::ProviderResult(result) => Some(match &result.error {
            Some(error) => Err(error.code.clone()),
            None => Ok(result.sources.len()),
        }),
        _ => None,
    };
    response.content.iter().filter_map(result).collect()
}

#[test]
fn searches_that_find_nothing_or_fail_reach_clients_of_every_dialect() {
    let found = json!([{"type": "web_search_result", "url": "https://a.org", "title": "A", "encrypted_content": "x"}]);
    let text = json!({"type": "text", "text": "So."});
    let cases = [
        (json!([call("s1"), result("s1", json!([])), text]), vec![Ok(0)]),
        (json!([call("s1"), result("s1", error("unavailable")), text]), vec![Err("unavailable".to_owned())]),
        (json!([call("s1"), result("s1", error("of_tomorrow")), text]), vec![Err("of_tomorrow".to_owned())]),
        (
            json!([call("s1"), result("s1", found), call("s2"), result("s2", error("max_uses_exceeded")), text]),
            vec![Ok(1), Err("max_uses_exceeded".to_owned())],
        ),
    ];
    for (content, wanted) in cases {
        let body = anthropic(content, "end_turn");
        let answer = read(Dialect::Anthropic, &body);
        assert_eq!(results(&answer), wanted);
        for to in Dialect::ALL {
            let wire = to.encode_response(&answer, &reply());
            let whole = read(to, &serde_json::from_slice(&wire.body).unwrap());
            assert_eq!((whole.text(), whole.finish_reason), ("So.".to_owned(), FinishReason::Stop), "{to}");
            let mut encoder = crate::wire::StreamEncoder::new(to, reply());
            let mut sse = Vec::new();
            crate::events(&answer).iter().for_each(|event| encoder.push(event, &mut sse));
            let streamed = collect(events_of(to, &String::from_utf8(sse).unwrap()));
            assert_eq!(streamed.text(), "So.", "{to}");
            assert_eq!(results(&streamed), results(&whole), "{to}");
            // A code that has no place is reported.
            let codes = wanted.iter().filter_map(|result| result.as_ref().err());
            for code in codes {
                let is_said = String::from_utf8_lossy(&wire.body).contains(code.as_str());
                let is_told = wire.losses.iter().any(|loss| loss.place.starts_with("content["));
                assert!(is_said || is_told, "{to}: {code}");
            }
        }
    }
}

#[test]
fn a_search_that_fails_in_the_middle_of_a_stream_is_the_same_as_in_one_piece() {
    let content = json!([{"type": "text", "text": "Let me see."}, call("s1"), result("s1", error("too_many_requests")),
        {"type": "text", "text": "No luck."}]);
    let whole = read(Dialect::Anthropic, &anthropic(content.clone(), "end_turn"));
    let mut sse = String::new();
    let mut say =
        |event: Value| sse.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    say(json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "claude-x", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1}}}));
    for (index, block) in content.as_array().unwrap().iter().enumerate() {
        let delta = match block["type"].as_str().unwrap() {
            "text" => Some((json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))),
            "server_tool_use" => Some((
                json!({"type": "server_tool_use", "id": block["id"], "name": block["name"], "input": {}}),
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
            )),
            _ => None,
        };
        let (start, delta) = delta.map_or((block.clone(), None), |(start, delta)| (start, Some(delta)));
        say(json!({"type": "content_block_start", "index": index, "content_block": start}));
        if let Some(delta) = delta {
            say(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        say(json!({"type": "content_block_stop", "index": index}));
    }
    say(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
        "usage": {"output_tokens": 1}}));
    say(json!({"type": "message_stop"}));
    let streamed = collect(events_of(Dialect::Anthropic, &sse));
    assert_eq!(streamed.content, whole.content);
    assert_eq!(results(&streamed), [Err("too_many_requests".to_owned())]);
}

#[test]
fn a_call_that_the_token_limit_cut_off_keeps_what_came_of_it() {
    let sse = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",",
        "\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s1\",\"name\":\"web_search\",\"input\":{}}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"query\\\": \\\"no\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    );
    let answer = collect(events_of(Dialect::Anthropic, sse));
    assert_eq!(answer.finish_reason, FinishReason::Length);
    let Some(Block::ProviderCall(call)) = answer.content.first() else { panic!("a call: {answer:?}") };
    assert!(call.arguments.text().contains("no"), "{call:?}");
    for to in Dialect::ALL {
        let wire = to.encode_response(&answer, &reply());
        let said = String::from_utf8_lossy(&wire.body).contains("no");
        assert!(said || wire.losses.iter().any(|loss| loss.place.starts_with("content[0]")), "{to}");
    }
}

#[test]
fn a_citation_of_a_part_that_never_comes_is_kept_as_a_source() {
    let annotation =
        json!({"type": "url_citation", "url": "https://a.org", "title": "A", "start_index": 0, "end_index": 1});
    let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
        {"type": "output_text", "text": "So.", "annotations": []}]});
    let events = [
        json!({"type": "response.created", "response": {"id": "r", "model": "gpt-x", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_1",
            "role": "assistant", "status": "in_progress", "content": []}}),
        json!({"type": "response.content_part.added", "output_index": 0, "content_index": 0, "item_id": "msg_1",
            "part": {"type": "output_text", "text": "", "annotations": []}}),
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "msg_1", "delta": "So."}),
        json!({"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 7, "item_id": "msg_1",
            "annotation_index": 0, "annotation": annotation}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "r", "model": "gpt-x", "status": "completed", "output": [item]}}),
    ];
    let sse: String = events
        .iter()
        .enumerate()
        .map(|(number, event)| {
            let mut event = event.clone();
            event["sequence_number"] = json!(number);
            format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
        })
        .collect();
    let answer = collect(events_of(Dialect::OpenaiResponses, &sse));
    assert_eq!((answer.text().as_str(), &answer.finish_reason), ("So.", &FinishReason::Stop));
    let urls: Vec<Option<String>> = answer.sources().into_iter().map(|source| source.url).collect();
    assert_eq!(urls, [Some("https://a.org".to_owned())]);
}

#[test]
fn a_stream_without_the_grounding_that_it_promised_is_whole_all_the_same() {
    let sse = concat!(
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"So.\"}]},\"groundingMetadata\":{}}]}\n\n",
        "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[]},\"finishReason\":\"STOP\"}]}\n\n",
    );
    let answer = collect(events_of(Dialect::Gemini, sse));
    assert_eq!((answer.text().as_str(), &answer.finish_reason), ("So.", &FinishReason::Stop));
    assert_eq!((answer.citations().count(), answer.sources().len()), (0, 0));
}

#[test]
fn points_and_spans_across_joined_blocks_are_the_same_in_every_unit() {
    let cited = |text: &str, spans: &[(usize, usize)]| {
        let citations = spans.iter().map(|(start, end)| Citation {
            span: Some(Span::new(*start, *end)),
            ..Citation::url(format!("https://{start}-{end}.org"))
        });
        Block::Text(Text { text: text.to_owned(), citations: citations.collect(), ..Text::default() })
    };
    let content = vec![cited("é😀", &[(0, 0), (2, 6)]), cited("漢z", &[(0, 3), (4, 4)])];
    let response = Response { content, finish_reason: FinishReason::Stop, ..Response::default() };
    let passages = |response: &Response| -> Vec<(String, String)> {
        let cited = response.citations();
        cited.map(|(text, citation)| (text.to_owned(), citation.source.as_url().unwrap().to_owned())).collect()
    };
    for to in [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini] {
        let there = read(to, &serde_json::from_slice(&to.encode_response(&response, &reply()).body).unwrap());
        let places = there.sources().into_iter().filter_map(|source| source.url).count();
        assert_eq!(places, 4, "{to}");
        // For OpenAI, a point at the very start means that the source is not linked.
        let mut found = passages(&there);
        found.retain(|(_, url)| url != "https://0-0.org");
        let mut wanted = passages(&response);
        wanted.retain(|(_, url)| url != "https://0-0.org");
        assert_eq!(found, wanted, "{to}");
    }
}

#[test]
fn a_call_that_waits_beside_a_function_goes_back_in_place_and_so_does_its_late_result() {
    let messages = json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [call("s1"), {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"}]},
        {"role": "assistant", "content": [result("s1", json!([])), {"type": "tool_use", "id": "toolu_2", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "2"}]},
    ]);
    let request = asked(messages.clone());
    assert_eq!(request.problems().iter().filter(|problem| !problem.is_soft()).count(), 0);
    let (body, lost) = sent(&request, Dialect::Anthropic, "anthropic");
    assert_eq!((&body["messages"], lost), (&messages, vec![]));
    // Another provider gets neither half, and both losses are reported.
    let (body, lost) = sent(&request, Dialect::OpenaiChat, "openai");
    assert!(!body.to_string().contains("s1"), "{body}");
    assert_eq!(lost.len(), 2, "{lost:?}");
}

#[test]
fn an_id_that_two_calls_have_is_a_problem() {
    let request = asked(json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": [call("s1"), result("s1", json!([])), call("s1"), result("s1", json!([]))]},
        {"role": "user", "content": "so?"},
    ]));
    let problems = request.problems();
    assert!(problems.iter().any(|problem| problem.to_string().contains("s1")), "{problems:?}");
}

#[test]
fn state_that_comes_back_changed_is_dropped_with_a_loss() {
    let item = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "q", "sources": [{"type": "url", "url": "https://a.org"}]}});
    let answer = read(Dialect::OpenaiResponses, &json!({"status": "completed", "model": "gpt-x", "output": [item]}));
    let reply = Reply { provider: Some("openai".to_owned()), ..Reply::default() };
    let content: Value = serde_json::from_slice(&Dialect::Anthropic.encode_response(&answer, &reply).body).unwrap();
    let content = content["content"].clone();
    let seal = find_seal(&content).expect("a seal");
    let shorter = seal.get(..seal.len() - 8).unwrap().to_owned();
    let mut altered = seal.clone();
    let middle = altered.len() / 2;
    altered.replace_range(middle..middle + 4, "AAAA");
    for (forged, comes_back) in [(seal.clone(), true), (shorter, false), (altered, false)] {
        let content: Value = serde_json::from_str(&content.to_string().replace(&seal, &forged)).unwrap();
        let mut request = asked(json!([{"role": "user", "content": "q"}, {"role": "assistant", "content": content},
            {"role": "user", "content": "so?"}]));
        request.model = "gpt-x".into();
        let (body, lost) = sent(&request, Dialect::OpenaiResponses, "openai");
        let is_back = body["input"].as_array().unwrap().contains(&item);
        assert_eq!(is_back, comes_back, "{body}");
        assert!(comes_back || !lost.is_empty(), "{body}");
        assert!(!body.to_string().contains("ikg1"), "{body}");
    }
}

fn find_seal(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.starts_with("ikg1.").then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(find_seal),
        Value::Object(fields) => fields.values().find_map(find_seal),
        _ => None,
    }
}

#[test]
fn every_tool_is_sent_or_lost_whatever_else_is_asked_for() {
    let schema = OutputFormat::JsonSchema(JsonSchemaFormat::new(
        "s",
        json!({"type": "object", "properties": {},
        "additionalProperties": false}),
    ));
    let tools = [Tool::web_search(), Tool::web_fetch(), Tool::code_execution(), Tool::file_search(["s"])];
    for dialect in Dialect::PROVIDERS {
        for model in ["gemini-2.5-pro", "gemini-3-pro-preview", "gpt-5.4", "claude-sonnet-4-5"] {
            for tool in &tools {
                let Tool::BuiltIn(built_in) = tool else { panic!("a tool of a provider's") };
                for (functions, formatted, thinks) in (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
                    let mut request = Request::new(model).user("q").tool(tool.clone());
                    if functions {
                        request = request.tool(Tool::new("f", "F."));
                    }
                    if formatted {
                        request.output_format = Some(schema.clone());
                    }
                    if thinks {
                        request = request.thinking(crate::Level::High);
                    }
                    let (body, lost) = sent(&request, dialect, "p");
                    let entries = body["tools"].as_array().map_or(0, Vec::len);
                    let kept = format!("{dialect} {model} {tool:?} {body}");
                    let name = built_in.tool();
                    let is_sent = entries == 1 + usize::from(functions);
                    let is_told = lost.iter().any(|loss| loss.contains(name.as_str()));
                    assert!(is_sent != is_told || is_sent && dialect == Dialect::OpenaiResponses, "{kept} {lost:?}");
                }
            }
        }
    }
}

#[test]
fn a_search_model_of_chat_is_asked_in_a_field_of_the_request() {
    let place = UserLocation { city: Some("Oslo".into()), ..UserLocation::default() };
    let search = WebSearch { user_location: Some(place), max_uses: Some(2), ..WebSearch::default() };
    let request = Request::new("gpt-5-search-api").user("q").tool(BuiltIn::WebSearch(search).into());
    let (body, lost) = sent(&request, Dialect::OpenaiChat, "openai");
    let options = json!({"user_location": {"type": "approximate", "approximate": {"city": "Oslo"}}});
    assert_eq!((&body["web_search_options"], &body["tools"]), (&options, &Value::Null));
    assert_eq!(lost, ["NotInDialect web_search tools[0]"]);
    // And read again from there.
    let body = json!({"model": "gpt-5-search-api", "messages": [{"role": "user", "content": "q"}],
        "web_search_options": {"search_context_size": "low", "user_location": options["user_location"]}});
    let text = body.to_string();
    let incoming = Incoming { path: None, body: text.as_bytes() };
    let (mut request, _) = Dialect::OpenaiChat.decode_request(incoming, &Limits::default()).unwrap();
    assert_eq!(sent(&request, Dialect::OpenaiChat, "openai"), (body, vec![]));
    request.model = "gpt-5.4".into();
    let (body, lost) = sent(&request, Dialect::OpenaiResponses, "openai");
    let wanted = json!([{"type": "web_search", "search_context_size": "low",
        "user_location": {"type": "approximate", "city": "Oslo"}}]);
    assert_eq!((&body["tools"], lost), (&wanted, vec![]));
}

#[test]
fn xai_has_the_options_of_its_tools_beside_their_type() {
    let mut quirks = Quirks::default();
    quirks.responses.flat_tools = true;
    let search = WebSearch {
        allowed_domains: vec!["a.org".into()],
        blocked_domains: vec!["b.org".into()],
        max_uses: Some(1),
        ..WebSearch::default()
    };
    let code = CodeExecution { container: Some("c".into()), ..CodeExecution::default() };
    let request = Request::new("grok-4")
        .user("q")
        .tool(BuiltIn::WebSearch(search).into())
        .tool(BuiltIn::CodeExecution(code).into());
    let (body, lost) = sent_with(&request, Dialect::OpenaiResponses, "xai", &quirks);
    let wanted = json!([{"type": "web_search", "allowed_domains": ["a.org"], "excluded_domains": ["b.org"]},
        {"type": "code_interpreter"}]);
    assert_eq!(body["tools"], wanted);
    assert_eq!(lost, ["NotInDialect web_search tools[0]", "NotInDialect code_execution tools[1]"]);
}

#[test]
fn vertex_can_leave_domains_out_of_a_search() {
    let mut quirks = Quirks::default();
    quirks.gemini.exclude_domains = true;
    let search = WebSearch { blocked_domains: vec!["b.org".into()], ..WebSearch::default() };
    let request = Request::new("gemini-2.5-pro").user("q").tool(BuiltIn::WebSearch(search).into());
    let (body, lost) = sent_with(&request, Dialect::Gemini, "vertex", &quirks);
    assert_eq!((&body["tools"], lost), (&json!([{"googleSearch": {"excludeDomains": ["b.org"]}}]), vec![]));
    let (_, lost) = sent(&request, Dialect::Gemini, "google");
    assert_eq!(lost, ["NotInDialect web_search tools[0]"]);
}

#[test]
fn files_for_code_are_handed_over_where_each_provider_takes_them() {
    let code = CodeExecution { files: vec!["file_1".into()], ..CodeExecution::default() };
    let mut request = Request::new("claude-x").user("q").tool(BuiltIn::CodeExecution(code).into());
    request.provider_data.set_part(Dialect::Anthropic, Part::Extra, "betas", json!(["mine"]));
    let target =
        Target { provider: "anthropic", quirks: &Quirks::default(), rules: rules_for(&request.model), facts: None };
    let wire = Dialect::Anthropic.encode_request(&request, &target, &Limits::default()).unwrap();
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    let upload = json!({"type": "container_upload", "file_id": "file_1"});
    assert_eq!(body["messages"][0]["content"], json!([{"type": "text", "text": "q"}, upload]));
    let header = wire.headers.iter().find(|(name, _)| name == "anthropic-beta").map(|(_, value)| value.as_str());
    assert_eq!(header, Some("mine,files-api-2025-04-14"));
    let (body, lost) = sent(&request, Dialect::OpenaiResponses, "openai");
    let container = json!({"type": "auto", "file_ids": ["file_1"]});
    assert_eq!(body["tools"], json!([{"type": "code_interpreter", "container": container}]));
    assert_eq!(lost.iter().filter(|loss| loss.contains("code_execution")).count(), 0);
}

#[test]
fn documents_are_not_cited_in_an_answer_that_follows_a_schema() {
    let source = Source::Text { media_type: "text/plain".into(), text: "One.".into() };
    let mut document = Block::document(source, "One");
    let data = document.provider_data_mut().unwrap();
    data.set_part(Dialect::Anthropic, Part::Extra, "citations", json!({"enabled": true}));
    let message = Message::user(vec![document, Block::text("q")]);
    let mut request = Request::new("claude-sonnet-4-5").message(message);
    let (body, lost) = sent(&request, Dialect::Anthropic, "anthropic");
    assert_eq!((&body["messages"][0]["content"][0]["citations"], lost), (&json!({"enabled": true}), vec![]));
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    request.output_format = Some(OutputFormat::JsonSchema(JsonSchemaFormat::new("s", schema)));
    let (body, lost) = sent(&request, Dialect::Anthropic, "anthropic");
    assert_eq!(body["messages"][0]["content"][0].get("citations"), None);
    assert_eq!(lost, ["Conflict citations messages[0].content[0]"]);
}

/// A failed tool of an MCP server is written in the form of the official types, and read in it.
#[test]
fn a_tool_of_an_mcp_server_that_failed() {
    let content = json!([
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "look", "server_name": "s", "input": {"q": "x"}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": true,
            "content": [{"type": "text", "text": "no such thing"}]},
    ]);
    let wire =
        Dialect::OpenaiResponses.encode_response(&read(Dialect::Anthropic, &anthropic(content, "end_turn")), &reply());
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    let item = &body["output"][0];
    assert_eq!(item["error"]["type"], "mcp_tool_execution_error");
    assert!(item["error"]["content"][0]["text"].is_string(), "{item}");
    assert_eq!(item["output"], "no such thing");

    let body = json!({"id": "r", "object": "response", "status": "completed", "model": "m", "output": [
        {"type": "mcp_call", "id": "mcp_1", "name": "look", "server_label": "s", "arguments": "{}", "output": null,
            "error": {"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no such thing"}]}}]});
    let told = read(Dialect::OpenaiResponses, &body);
    let failure = told.content.iter().find_map(|block| match block {
        Block::ProviderResult(result) => result.error.clone(),
        _ => None,
    });
    assert_eq!(failure.unwrap().message.as_deref(), Some("no such thing"));
}

/// Perplexity's list of URLs may be longer than that of its results.
#[test]
fn addresses_beyond_the_results_are_sources_too() {
    let body = json!({"id": "c", "model": "sonar", "citations": ["https://a.org", "https://b.org"],
        "search_results": [{"title": "A", "url": "https://a.org"}],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}]});
    let sources = read(Dialect::OpenaiChat, &body).sources;
    let urls: Vec<_> = sources.iter().filter_map(|source| source.url.as_deref()).collect();
    assert_eq!(urls, ["https://a.org", "https://b.org"]);
}
