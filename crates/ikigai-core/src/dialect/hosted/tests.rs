//! Cases that no recording contains.

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::catalog::{Rules, rules_for};
use crate::dialect::{Incoming, Reply, StreamEncoder, Target, testing};
use crate::provider::Quirks;
use crate::validate::EventChecker;
use crate::wire::Ids;
use crate::{
    Block, BuiltIn, Citation, CodeExecution, Collector, Dialect, Event, FinishReason, FoundSource, Limits, LossCode,
    Marks, Message, ProviderData, Request, Response, Role, SearchContextSize, Severity, Span, Text, Tool, WebSearch,
};

fn cited(text: &str, spans: &[(usize, usize)]) -> Response {
    let citations = spans.iter().enumerate().map(|(number, (start, end))| Citation {
        span: Some(Span::new(*start, *end)),
        ..Citation::url(format!("https://{number}.org"))
    });
    let text = Text { text: text.to_owned(), citations: citations.collect(), ..Text::default() };
    Response { content: vec![Block::Text(text)], finish_reason: FinishReason::Stop, ..Response::default() }
}

fn reply() -> Reply {
    Reply { provider: Some("elsewhere".to_owned()), ..Reply::default() }
}

fn written(response: &Response, to: Dialect) -> Value {
    serde_json::from_slice(&to.encode_response(response, &reply()).body).unwrap()
}

fn read(dialect: Dialect, body: &Value) -> Response {
    dialect.decode_response(body.to_string().as_bytes(), &mut Ids::seeded(1), &Limits::default()).unwrap()
}

fn passages(response: &Response) -> Vec<(String, String)> {
    let cited = response.citations();
    cited.map(|(passage, citation)| (passage.to_owned(), citation.source.as_url().unwrap().to_owned())).collect()
}

/// Spans before, after and on characters of one to four bytes; overlapping, nested, equal.
const TEXT: &str = "aé€😀 b. né";
const SPANS: &[(usize, usize)] = &[(0, 3), (1, 6), (3, 10), (0, 17), (6, 10), (6, 10), (14, 17)];

#[test]
fn spans_are_the_same_characters_in_every_unit() {
    let response = cited(TEXT, SPANS);
    for to in [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Gemini] {
        let mut found = passages(&read(to, &written(&response, to)));
        let mut wanted = passages(&response);
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{to}");
    }
}

#[test]
fn blocks_are_cut_where_citations_stand_on_whole_texts() {
    let body = written(&cited("One two three.", &[(0, 7), (4, 13)]), Dialect::Anthropic);
    let pieces: Vec<(&str, usize)> = body["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| (block["text"].as_str().unwrap(), block["citations"].as_array().map_or(0, Vec::len)))
        .collect();
    assert_eq!(pieces, [("One ", 1), ("two", 2), (" three", 1), (".", 0)]);
}

#[test]
fn ranges_outside_a_text_are_cut_or_given_up() {
    let part = |ranges: &[(i64, i64)]| {
        let annotations: Vec<Value> = ranges
            .iter()
            .map(|(start, end)| {
                json!({"type": "url_citation", "url": "u", "title": "", "start_index": start, "end_index": end})
            })
            .collect();
        json!({"status": "completed", "output": [{"type": "message", "id": "m", "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "text": "né", "annotations": annotations}]}]})
    };
    let body = part(&[(0, 1), (1, 99), (2, 2), (5, 6), (2, 1), (-1, 2)]);
    let response = read(Dialect::OpenaiResponses, &body);
    let spans: Vec<Option<Span>> = response.citations().map(|(_, citation)| citation.span).collect();
    let span = |start, end| Some(Span::new(start, end));
    assert_eq!(spans, [span(0, 1), span(1, 3), span(3, 3), None, None, None]);
    // The wire's own client gets what the provider sent.
    assert_eq!(written(&response, Dialect::OpenaiResponses)["output"], body["output"]);
}

#[test]
fn a_range_of_gemini_that_crosses_blocks_is_a_citation_of_each() {
    let body = json!({"candidates": [{"content": {"role": "model", "parts": [
            {"text": "né "}, {"executableCode": {"language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}, {"text": "oui"}]}, "finishReason": "STOP",
        "groundingMetadata": {
            "groundingChunks": [{"web": {"uri": "u", "title": "t"}}, {"web": {"uri": "v", "title": "loose"}}],
            "groundingSupports": [
                {"segment": {"startIndex": 1, "endIndex": 6, "text": "é ou"}, "groundingChunkIndices": [0, 7]},
                {"segment": {"startIndex": 2, "endIndex": 900}, "groundingChunkIndices": [0]}]}}]});
    let response = read(Dialect::Gemini, &body);
    let said: Vec<&str> = response.citations().map(|(passage, _)| passage).collect();
    // A range that begins inside a character begins with it.
    assert_eq!(said, ["é ", "é ", "ou", "oui"]);
    assert_eq!(response.sources, [FoundSource { title: Some("loose".into()), ..FoundSource::url("v") }]);
    assert_eq!(written(&response, Dialect::Gemini)["candidates"], body["candidates"]);
}

fn stream(events: &[Event], to: Dialect) -> String {
    EventChecker::check(events).unwrap();
    let mut encoder = StreamEncoder::new(to, reply());
    let mut out = Vec::new();
    events.iter().for_each(|event| encoder.push(event, &mut out));
    String::from_utf8(out).unwrap()
}

fn begin() -> Event {
    Event::Start { id: Some("r".into()), model: Some("m".into()), provider_data: ProviderData::default() }
}

fn delta(text: &str) -> Event {
    Event::TextDelta { index: 0, text: text.into() }
}

fn cite(start: usize, end: usize) -> Event {
    let citation = Citation { span: Some(Span::new(start, end)), marks: Marks::Link, ..Citation::url("https://a.org") };
    Event::Citation { index: 0, citation: Box::new(citation) }
}

fn block_done() -> Event {
    Event::BlockDone { index: 0, provider_data: ProviderData::default() }
}

fn done() -> Event {
    Event::Done { finish_reason: FinishReason::Stop, provider_data: ProviderData::default() }
}

fn collected(to: Dialect, sse: &str) -> Response {
    testing::collect(testing::events_of(to, sse))
}

#[test]
fn a_citation_right_behind_its_passage_ends_the_block_of_anthropic() {
    let start = Event::BlockStart { index: 0, block: Block::text("") };
    let events = [begin(), start, delta("One "), delta("(a)"), cite(4, 7), delta(" two."), block_done(), done()];
    let response = collected(Dialect::Anthropic, &stream(&events, Dialect::Anthropic));
    let texts: Vec<(&str, usize)> = response
        .content
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some((text.text.as_str(), text.citations.len())),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [("One (a)", 1), (" two.", 0)]);
}

#[test]
fn citations_that_come_last_reach_clients_of_every_dialect() {
    let start = Event::BlockStart { index: 0, block: Block::text("") };
    let events = [begin(), start, delta("Aé"), delta(" (a)"), block_done(), cite(0, 3), cite(4, 7), done()];
    for to in Dialect::ALL {
        let mut encoder = StreamEncoder::new(to, reply());
        events.iter().for_each(|event| encoder.push(event, &mut Vec::new()));
        let widened = encoder.losses().iter().any(|loss| loss.why.contains("cover all of it"));
        assert_eq!(widened, to == Dialect::Anthropic, "{to}");
    }
    let events = [begin(), events[1].clone(), delta("Aé"), delta(" (a)"), block_done(), cite(4, 7), done()];
    for to in Dialect::ALL {
        let response = collected(to, &stream(&events, to));
        let wanted = if to == Dialect::Anthropic { "Aé (a)" } else { "(a)" };
        assert_eq!(passages(&response), [(wanted.to_owned(), "https://a.org".to_owned())], "{to}");
    }
}

#[test]
fn citations_behind_an_empty_text_with_state_reach_clients_of_every_dialect() {
    // As Gemini's streams end: the signature is in a separate part, and the grounding comes with it.
    let start = Event::BlockStart { index: 0, block: Block::text("") };
    let mut state = ProviderData::default();
    state.set_part(Dialect::Gemini, crate::Part::State, "thought_signature", "sig");
    let signed = crate::Text { provider_data: state, ..crate::Text::default() };
    let signed = Event::BlockStart { index: 1, block: Block::Text(signed) };
    let signed_done = Event::BlockDone { index: 1, provider_data: ProviderData::default() };
    let events = [begin(), start, delta("Aé"), delta(" (a)"), block_done(), signed, signed_done, cite(4, 7), done()];
    for to in Dialect::ALL {
        let response = collected(to, &stream(&events, to));
        let wanted = if to == Dialect::Anthropic { "Aé (a)" } else { "(a)" };
        assert_eq!(passages(&response), [(wanted.to_owned(), "https://a.org".to_owned())], "{to}");
        assert_eq!(response.text(), "Aé (a)", "{to}");
    }
}

#[test]
fn citations_before_the_text_of_the_second_block_reach_clients_of_every_dialect() {
    let start = |index| Event::BlockStart { index, block: Block::text("") };
    let end = |index| Event::BlockDone { index, provider_data: ProviderData::default() };
    let text = |index, text: &str| Event::TextDelta { index, text: text.into() };
    let citation = Event::Citation { index: 1, citation: Box::new(crate::Citation::url("https://a.org")) };
    let events = [begin(), start(0), text(0, "A "), end(0), start(1), citation, text(1, "b"), end(1), done()];
    for to in Dialect::ALL {
        let response = collected(to, &stream(&events, to));
        let wanted = [("b".to_owned(), "https://a.org".to_owned())];
        assert_eq!((response.text(), passages(&response)), ("A b".to_owned(), wanted.to_vec()), "{to}");
    }
}

#[test]
fn a_chat_client_gets_all_annotations_in_one_delta() {
    let start = Event::BlockStart { index: 0, block: Block::text("") };
    let events = [begin(), start, delta("(a)"), cite(0, 3), delta("(a)"), cite(3, 6), block_done(), done()];
    let sse = stream(&events, Dialect::OpenaiChat);
    assert_eq!(sse.matches("\"annotations\"").count(), 1);
    assert_eq!(passages(&collected(Dialect::OpenaiChat, &sse)).len(), 2);
}

#[test]
fn a_pause_is_continued_in_the_same_answer() {
    let call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let answer = |content: Value, reason: &str| {
        read(
            Dialect::Anthropic,
            &json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x",
            "content": content, "stop_reason": reason, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1, "server_tool_use": {"web_search_requests": 1}}}),
        )
    };
    let mut paused = answer(json!([call]), "pause_turn");
    assert!(paused.is_paused());
    let again = Request::new("claude-x").user("q").message(paused.clone().into_message("anthropic"));
    assert_eq!(again.problems().iter().filter(|problem| !problem.is_soft()).count(), 0);
    paused.append(answer(json!([result, {"type": "text", "text": "Nothing."}]), "end_turn"));
    assert_eq!((paused.is_paused(), paused.text().as_str(), paused.content.len()), (false, "Nothing.", 3));
    let calls = paused.usage.as_ref().unwrap().provider_calls.values().sum::<u64>();
    assert_eq!(calls, 2);
}

#[test]
fn a_result_wants_its_call_in_the_same_message_or_before() {
    let result = Block::ProviderResult(crate::ProviderResult { call_id: "s".into(), ..Default::default() });
    let call = Block::ProviderCall(crate::ProviderCall { id: "s".into(), ..Default::default() });
    let hard = |messages: Vec<Message>| {
        let request = Request { messages, ..Request::new("m") };
        request.problems().iter().filter(|problem| !problem.is_soft()).count()
    };
    let says = |blocks: Vec<Block>| Message::new(Role::Assistant, blocks);
    let user = || Message::user("q");
    assert_eq!(hard(vec![user(), says(vec![call.clone()]), says(vec![result.clone()]), user()]), 0);
    assert_eq!(hard(vec![user(), says(vec![result.clone(), call]), user()]), 1);
    assert_eq!(hard(vec![user(), says(vec![result]), user()]), 1);
}

#[test]
fn errors_of_tools_keep_their_codes() {
    let known = [
        "invalid_tool_input",
        "unavailable",
        "max_uses_exceeded",
        "too_many_requests",
        "query_too_long",
        "request_too_large",
    ];
    for code in known.into_iter().chain(["one_of_tomorrow"]) {
        let error = json!({"type": "web_search_tool_result_error", "error_code": code});
        let body = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": error}],
            "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
        let response = read(Dialect::Anthropic, &body);
        let Block::ProviderResult(result) = &response.content[1] else { panic!("a result") };
        assert_eq!(result.error.as_ref().unwrap().code, code);
        assert_eq!(written(&response, Dialect::Anthropic), body);
        let item = &written(&response, Dialect::OpenaiResponses)["output"][0];
        assert_eq!((&item["type"], &item["status"]), (&json!("web_search_call"), &json!("failed")));
    }
}

#[test]
fn what_we_made_up_for_a_client_reaches_no_provider_of_its_dialect() {
    let item = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "q", "sources": [{"type": "url", "url": "https://a.org"}]}});
    let response = read(Dialect::OpenaiResponses, &json!({"status": "completed", "model": "gpt-x", "output": [item]}));
    let content = written(&response, Dialect::Anthropic)["content"].clone();
    let asked = json!({"model": "claude-x", "max_tokens": 9, "messages": [
        {"role": "user", "content": "q"}, {"role": "assistant", "content": content}, {"role": "user", "content": "so?"}]});
    let body = asked.to_string();
    let incoming = Incoming { path: None, body: body.as_bytes() };
    let (mut request, _) = Dialect::Anthropic.decode_request(incoming, &Limits::default()).unwrap();
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let sent = |request: &Request, dialect: Dialect, provider: &str| -> Value {
        let target = Target { provider, quirks: &quirks, rules: &rules, facts: None };
        serde_json::from_slice(&dialect.encode_request(request, &target, &Limits::default()).unwrap().body).unwrap()
    };
    let to_anthropic = sent(&request, Dialect::Anthropic, "anthropic").to_string();
    assert!(!to_anthropic.contains("tool_use") && !to_anthropic.contains("ikg1"), "{to_anthropic}");
    // Its issuer gets it back unchanged.
    request.model = "gpt-x".into();
    let back = sent(&request, Dialect::OpenaiResponses, "elsewhere");
    assert!(back["input"].as_array().unwrap().contains(&item), "{back}");
}

fn ask(tool: Tool, model: &str, dialect: Dialect, functions: bool) -> (Value, Vec<String>) {
    let mut request = Request::new(model).user("q").tool(tool);
    if functions {
        request = request.tool(Tool::new("f", "F."));
    }
    let quirks = Quirks::default();
    let target = Target { provider: "p", quirks: &quirks, rules: rules_for(model), facts: None };
    let wire = dialect.encode_request(&request, &target, &Limits::default()).unwrap();
    let lost = wire.losses.iter().filter(|loss| loss.severity == Severity::Loss);
    let lost = lost.map(|loss| format!("{:?} {}", loss.code, loss.why)).collect();
    (serde_json::from_slice(&wire.body).unwrap(), lost)
}

#[test]
fn a_search_is_asked_for_in_the_words_of_each_dialect() {
    let search = || {
        Tool::from(BuiltIn::WebSearch(WebSearch {
            max_uses: Some(3),
            allowed_domains: vec!["a.org".into()],
            context_size: Some(SearchContextSize::Low),
            ..WebSearch::default()
        }))
    };
    let (anthropic, lost) = ask(search(), "claude-x", Dialect::Anthropic, false);
    let wanted =
        json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "allowed_domains": ["a.org"]}]);
    assert_eq!((&anthropic["tools"], lost.len()), (&wanted, 1));
    let (responses, lost) = ask(search(), "gpt-x", Dialect::OpenaiResponses, false);
    let wanted =
        json!([{"type": "web_search", "filters": {"allowed_domains": ["a.org"]}, "search_context_size": "low"}]);
    assert_eq!((&responses["tools"], &responses["max_tool_calls"], lost.len()), (&wanted, &json!(3), 0));
    let (gemini, lost) = ask(search(), "gemini-2.5-pro", Dialect::Gemini, false);
    assert_eq!((&gemini["tools"], lost.len()), (&json!([{"googleSearch": {}}]), 3));
    let (chat, lost) = ask(search(), "gpt-x", Dialect::OpenaiChat, false);
    assert_eq!(
        (&chat["tools"], lost),
        (&Value::Null, vec!["NotInDialect this API has no such tool; left out".to_owned()])
    );
}

#[test]
fn tools_of_gemini_stand_beside_functions_only_where_the_model_takes_both() {
    let (body, lost) = ask(Tool::web_search(), "gemini-2.5-pro", Dialect::Gemini, true);
    assert_eq!((body["tools"].as_array().unwrap().len(), lost.len()), (1, 1));
    assert!(lost[0].starts_with("Conflict"), "{lost:?}");
    let (body, lost) = ask(Tool::web_search(), "gemini-3-pro-preview", Dialect::Gemini, true);
    assert_eq!((body["tools"].as_array().unwrap().len(), lost), (2, vec![]));
    assert_eq!(body["toolConfig"]["includeServerSideToolInvocations"], json!(true));
}

#[test]
fn every_tool_is_sent_or_lost_in_every_dialect() {
    let container = BuiltIn::CodeExecution(CodeExecution { container: Some("c".into()), ..CodeExecution::default() });
    let tools =
        [Tool::web_search(), Tool::web_fetch(), Tool::code_execution(), container.into(), Tool::file_search(["s"])];
    for dialect in Dialect::PROVIDERS {
        for tool in &tools {
            for functions in [false, true] {
                let (body, lost) = ask(tool.clone(), "some-model", dialect, functions);
                let entries = body["tools"].as_array().map_or(0, Vec::len);
                let is_sent = entries == if functions { 2 } else { 1 };
                let in_converse = dialect == Dialect::BedrockConverse;
                assert!(is_sent || !lost.is_empty() || in_converse && !lost.is_empty(), "{dialect} {tool:?} {body}");
            }
        }
    }
}

#[test]
fn tools_that_were_read_are_written_as_they_came_and_are_the_same_elsewhere() {
    let entry =
        json!({"type": "web_search_20260209", "name": "web_search", "max_uses": 2, "allowed_callers": ["direct"]});
    let asked =
        json!({"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}], "tools": [entry]});
    let body = asked.to_string();
    let incoming = Incoming { path: None, body: body.as_bytes() };
    let (request, _) = Dialect::Anthropic.decode_request(incoming, &Limits::default()).unwrap();
    let Tool::BuiltIn(BuiltIn::WebSearch(search)) = &request.tools[0] else { panic!("a search") };
    assert_eq!(search.max_uses, Some(2));
    let (quirks, rules) = (Quirks::default(), Rules::default());
    let target = Target { provider: "anthropic", quirks: &quirks, rules: &rules, facts: None };
    let wire = Dialect::Anthropic.encode_request(&request, &target, &Limits::default()).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&wire.body).unwrap(), asked);
    let wire = Dialect::OpenaiResponses.encode_request(&request, &target, &Limits::default()).unwrap();
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    assert_eq!((&body["tools"], &body["max_tool_calls"]), (&json!([{"type": "web_search"}]), &json!(2)));
    assert!(
        wire.losses.iter().any(|loss| loss.code == LossCode::ForeignContent && loss.why.contains("allowed_callers"))
    );
}

#[test]
fn sources_without_a_passage_are_listed_once() {
    let mut response = cited("One.", &[(0, 3)]);
    response.sources = vec![FoundSource::url("https://0.org"), FoundSource::url("https://b.org")];
    let urls: Vec<Option<String>> = response.sources().into_iter().map(|source| source.url).collect();
    assert_eq!(urls, [Some("https://0.org".to_owned()), Some("https://b.org".to_owned())]);
    for to in Dialect::ALL {
        let there = read(to, &written(&response, to));
        assert!(there.sources().iter().any(|source| source.url.as_deref() == Some("https://b.org")), "{to}");
    }
}

#[test]
fn a_citation_of_a_block_that_never_was_breaks_nothing() {
    let mut collector = Collector::default();
    collector.extend([begin(), cite(0, 1), done()]);
    assert_eq!(collector.finish().finish_reason, FinishReason::Error);
    let start = Event::BlockStart { index: 0, block: Block::thinking("") };
    for to in Dialect::ALL {
        let mut encoder = StreamEncoder::new(to, reply());
        let mut out = Vec::new();
        [begin(), start.clone(), cite(0, 1), block_done(), done()]
            .iter()
            .for_each(|event| encoder.push(event, &mut out));
        assert!(!out.is_empty());
    }
}

#[test]
fn the_answer_is_asked_to_tell_what_the_tools_gave() {
    let code = BuiltIn::CodeExecution(crate::CodeExecution::default());
    let files = BuiltIn::FileSearch(crate::FileSearch { stores: vec!["vs_1".into()], ..Default::default() });
    for (tool, told) in [(code, "code_interpreter_call.outputs"), (files, "file_search_call.results")] {
        let (body, _) = ask(Tool::BuiltIn(tool), "gpt-5.4", Dialect::OpenaiResponses, false);
        assert_eq!(body["include"], json!(["reasoning.encrypted_content", told]));
    }
    // What a client of this API requests itself, it gets as requested.
    let code = json!({"type": "code_interpreter", "container": {"type": "auto"}});
    let own = json!({"model": "gpt-5.4", "input": "q", "tools": [code]}).to_string();
    let incoming = Incoming { path: None, body: own.as_bytes() };
    let (request, _) = Dialect::OpenaiResponses.decode_request(incoming, &Limits::default()).unwrap();
    let rules = rules_for("gpt-5.4");
    let quirks = Quirks::default();
    let target = Target { provider: "openai", quirks: &quirks, rules, facts: None };
    let body = Dialect::OpenaiResponses.encode_request(&request, &target, &Limits::default()).unwrap().body;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["include"], Value::Null);
}

#[test]
fn a_strict_client_finds_the_fields_that_it_wants_in_a_page_and_in_the_counts() {
    let page = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "open_page", "url": "https://a.org"}});
    let body = json!({"status": "completed", "model": "gpt-x", "output": [page],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        "tool_usage": {"web_search": {"num_requests": 1}}});
    let written = written(&read(Dialect::OpenaiResponses, &body), Dialect::Anthropic);
    let result = written["content"].as_array().unwrap().iter().find(|block| block["type"] == "web_fetch_tool_result");
    assert_eq!(result.unwrap()["content"]["content"]["citations"], json!({"enabled": false}));
    let counts = json!({"web_search_requests": 1, "web_fetch_requests": 0});
    assert_eq!(written["usage"]["server_tool_use"], counts);
}

#[test]
fn a_search_that_is_made_up_for_sources_has_the_cited_ones_too() {
    // Some clients take the sources of an answer from search results, if there are any.
    let chunk = |name: &str| json!({"web": {"uri": format!("https://{name}.org"), "title": name}});
    let body = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]}, "finishReason": "STOP",
        "index": 0, "groundingMetadata": {"groundingChunks": [chunk("a"), chunk("b")], "groundingSupports": [
            {"segment": {"endIndex": 3, "text": "Yes"}, "groundingChunkIndices": [1]}]}}],
        "modelVersion": "m", "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}});
    let response = read(Dialect::Gemini, &body);
    let urls = |value: &Value, list: &str, url: &str| -> Vec<String> {
        let found = value.pointer(list).and_then(Value::as_array).cloned().unwrap_or_default();
        found.iter().map(|page| page[url].as_str().unwrap().to_owned()).collect()
    };
    let both = ["https://b.org", "https://a.org"];
    let whole = written(&response, Dialect::Anthropic);
    assert_eq!(whole["content"][0]["input"], json!({"query": ""}));
    assert_eq!(urls(&whole, "/content/1/content", "url"), both);
    let whole = written(&response, Dialect::OpenaiResponses);
    assert_eq!(urls(&whole, "/output/0/action/sources", "url"), both);
    for to in [Dialect::Anthropic, Dialect::OpenaiResponses] {
        let events = crate::events(&Response { provider_data: ProviderData::default(), ..response.clone() });
        let found = collected(to, &stream(&events, to));
        let found = found.content.iter().find_map(|block| match block {
            Block::ProviderResult(result) => Some(result.sources.iter().filter_map(|page| page.url.clone()).collect()),
            _ => None,
        });
        assert_eq!(found, Some(both.map(str::to_owned).to_vec()), "{to}");
    }
}

#[test]
fn what_is_carried_in_other_words_is_no_loss() {
    let call = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let anthropic = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-x",
        "content": [call, result, {"type": "text", "text": "Nothing."}], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1, "server_tool_use": {"web_search_requests": 1}}});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "q"}});
    let responses = json!({"status": "completed", "model": "gpt-x", "output": [search],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        "tool_usage": {"web_search": {"num_requests": 1}, "image_gen": {"input_tokens": 0}}});
    let cited = json!({"type": "url_citation",
        "url_citation": {"url": "https://a.org", "title": "A", "start_index": 0, "end_index": 3}});
    let chat = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0,
        "finish_reason": "stop", "message": {"role": "assistant", "content": "(a)", "annotations": [cited]}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}});
    for (from, body, to) in [
        (Dialect::Anthropic, anthropic, Dialect::OpenaiResponses),
        (Dialect::OpenaiResponses, responses, Dialect::Anthropic),
        (Dialect::OpenaiChat, chat, Dialect::Anthropic),
    ] {
        let wire = to.encode_response(&read(from, &body), &Reply::default());
        let lost: Vec<_> = wire.losses.iter().filter(|loss| loss.severity == Severity::Loss).collect();
        assert_eq!(lost, Vec::<&crate::Loss>::new(), "{from} to {to}");
    }
}
