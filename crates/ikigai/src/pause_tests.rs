//! Answers that pause in the middle of the provider's own tools, and how they continue.

use std::task::Poll;

use ikigai_core::{Block, Collector, Dialect, ErrorKind, Event, FinishReason, ProviderTool};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::testing::{Piece, Reply, Scripted, TestClock};
use crate::transport::Failure;
use crate::{Answer, Error, Model, Tool};

const CLAUDE: &str = "anthropic:claude-haiku-4-5";

fn call(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "Oslo"}})
}

fn result(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [
        {"type": "web_search_result", "url": "https://ssb.no", "title": "SSB", "encrypted_content": "E", "page_age": null}
    ]})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn cited(text: &str) -> Value {
    let citation = json!({"type": "web_search_result_location", "url": "https://ssb.no", "title": "SSB",
        "encrypted_index": "I", "cited_text": "Oslo: 717 710"});
    json!({"type": "text", "text": text, "citations": [citation]})
}

/// Returns an answer in Anthropic's format that ends for this reason.
fn body(content: Value, stop_reason: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 100, "output_tokens": 10, "server_tool_use": {"web_search_requests": 1}}})
}

/// Returns the two halves of an answer.
fn halves() -> [Value; 2] {
    [
        body(json!([text("Let me look. "), call("srv_1")]), "pause_turn"),
        body(json!([result("srv_1"), cited("Oslo has 717 710 people.")]), "end_turn"),
    ]
}

/// Returns the same answer as a stream.
fn events(body: &Value) -> String {
    let mut head = body.clone();
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": head})];
    for (index, block) in body["content"].as_array().unwrap().iter().enumerate() {
        let mut opening = block.clone();
        let mut deltas = Vec::new();
        if block["type"] == "text" {
            opening["text"] = json!("");
            if let Some(citations) = block["citations"].as_array() {
                opening["citations"] = json!([]);
                deltas.extend(citations.iter().map(|one| json!({"type": "citations_delta", "citation": one})));
            }
            deltas.push(json!({"type": "text_delta", "text": block["text"]}));
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": opening}));
        events.extend(
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": body["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": body["usage"]}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())).collect()
}

fn whole(body: &Value) -> Reply {
    Reply::new(200, body.to_string())
}

fn stream(body: &Value) -> Reply {
    Reply::new(200, events(body))
}

fn overloaded() -> Reply {
    Reply::new(529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#)
}

fn model(scripted: &Scripted) -> Model {
    scripted.client().model(CLAUDE).unwrap().web_search()
}

async fn streamed(model: &Model) -> Result<(Answer, Vec<Event>), Error> {
    let mut stream = model.stream("How many people live in Oslo?").await?;
    let mut events = Vec::new();
    while let Some(event) = stream.next_event().await? {
        events.push(event);
    }
    Ok((stream.finish().await?, events))
}

/// Returns everything of an answer that a caller sees.
fn seen(answer: &Answer) -> Value {
    json!({
        "response": answer.response(),
        "usage": answer.usage(),
        "cost": answer.cost().map(|cost| cost.total().to_string()),
        "sources": answer.sources(),
        "messages": answer.messages(),
        "steps": answer.steps().count(),
    })
}

#[tokio::test]
async fn a_paused_answer_is_gone_on_with_and_is_one_answer() {
    let halves = halves();
    let scripted = Scripted::new(halves.iter().map(whole));
    let answer = model(&scripted).ask("How many people live in Oslo?").await.unwrap();

    assert_eq!(answer.text(), "Let me look. Oslo has 717 710 people.");
    let kinds: Vec<_> = answer.content().iter().map(Block::kind).map(|kind| kind.to_string()).collect();
    assert_eq!(kinds, ["text", "provider_call", "provider_result", "text"]);
    assert_eq!((answer.finish_reason(), answer.warnings().count(), answer.steps().count()), (FinishReason::Stop, 0, 1));
    let usage = answer.usage().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (200, 20));
    assert_eq!(usage.provider_calls[&ProviderTool::WebSearch], 2);
    let cost = answer.cost().unwrap();
    assert_eq!((cost.total().to_string().as_str(), cost.unpriced_calls), ("$0.000300", 2));
    let citations: Vec<_> = answer.citations().map(|(passage, one)| (passage, one.source.as_url())).collect();
    assert_eq!(citations, [("Oslo has 717 710 people.", Some("https://ssb.no"))]);
    assert_eq!(answer.sources().len(), 1);
    assert_eq!(answer.messages().len(), 1);

    let bodies = [scripted.body(0), scripted.body(1)];
    assert_eq!(bodies[0]["tools"], bodies[1]["tools"]);
    assert_eq!(bodies[1]["messages"].as_array().unwrap().len(), 2);
    assert_eq!(bodies[1]["messages"][1], json!({"role": "assistant", "content": halves[0]["content"]}));
    assert_eq!((scripted.requests().len(), scripted.open()), (2, 0));
}

#[tokio::test]
async fn a_stream_does_not_show_its_pauses() {
    let [first, last] = halves();
    let middle = body(json!([result("srv_1"), text("Hm. "), call("srv_2")]), "pause_turn");
    let last: Value = serde_json::from_str(&last.to_string().replace("srv_1", "srv_2")).unwrap();
    let parts = [first, middle, last];
    let scripted = Scripted::new(parts.iter().map(stream).chain(parts.iter().map(whole)));
    let model = model(&scripted);
    let (answer, events) = streamed(&model).await.unwrap();
    let waited = model.ask("How many people live in Oslo?").await.unwrap();
    assert_eq!(seen(&answer), seen(&waited));
    assert_eq!(scripted.body(2)["messages"], scripted.body(5)["messages"], "the same is sent for the last part");

    let starts = events.iter().filter(|event| matches!(event, Event::Start { .. })).count();
    let ends = events.iter().filter(|event| event.is_terminal()).count();
    assert_eq!((starts, ends), (1, 1));
    let mut collector = Collector::default();
    collector.extend(events);
    assert_eq!(&collector.finish(), answer.response());
}

#[tokio::test]
async fn the_eleventh_pause_ends_the_answer_as_a_limit_does_with_a_warning() {
    let part = |n: usize| match n {
        0 => body(json!([text("Let me look. "), call("srv_0")]), "pause_turn"),
        n => body(json!([result(&format!("srv_{}", n - 1)), call(&format!("srv_{n}"))]), "pause_turn"),
    };
    let expected =
        "answer at finish_reason: the provider paused its turn more than 10 times; the rest of the answer is left out";
    let [waited, streams] = [whole, stream].map(|reply| Scripted::new((0..11).map(|n| reply(&part(n)))));
    let answers = [
        model(&waited).ask("How many people live in Oslo?").await.unwrap(),
        streamed(&model(&streams)).await.unwrap().0,
    ];
    for (answer, scripted) in answers.iter().zip([waited, streams]) {
        assert_eq!(scripted.requests().len(), 11);
        assert_eq!((answer.finish_reason(), answer.response().is_paused()), (FinishReason::Length, true));
        assert_eq!(answer.warnings().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
        assert_eq!(answer.usage().unwrap().provider_calls[&ProviderTool::WebSearch], 11);
        assert_eq!(answer.content().len(), 22);
        // The last call has no result, so no conversation can continue from it.
        assert_eq!(answer.messages()[0].content, answer.content()[..21]);
    }
}

#[tokio::test]
async fn a_continuation_that_fails_keeps_what_there_was() {
    let [first, _] = halves();
    let begun = |reply: fn(&Value) -> Reply| {
        let scripted = Scripted::new([reply(&first), overloaded(), overloaded(), overloaded()]);
        let model = model(&scripted).fallback("openai:gpt-5.4").unwrap();
        (scripted, model)
    };
    let (whole, stream) = (begun(whole), begun(stream));
    let errors =
        [whole.1.ask("How many?").await.map(|_| ()).unwrap_err(), streamed(&stream.1).await.map(|_| ()).unwrap_err()];
    for (error, scripted) in errors.iter().zip([whole.0, stream.0]) {
        assert_eq!((error.kind(), error.attempts().len()), (ErrorKind::Overloaded, 3));
        let partial = error.partial().unwrap();
        assert_eq!((partial.text().as_str(), partial.finish_reason), ("Let me look. ", FinishReason::Error));
        assert_eq!(partial.usage.as_ref().unwrap().input_tokens, 100);
        assert_eq!(scripted.requests().len(), 4, "no other model is asked to finish half an answer");
    }
}

#[tokio::test]
async fn a_continuation_that_breaks_off_keeps_both_halves() {
    let [first, last] = halves();
    let events = events(&last);
    let cut = events.find("event: message_delta").unwrap();
    let cut = [Piece::Bytes(events[..cut].to_owned().into()), Piece::Fail(Failure::Broken)];
    let scripted = Scripted::new([stream(&first), Reply::pieces(cut)]);
    let mut chat = model(&scripted).chat();
    let mut answer = chat.stream("How many?").await.unwrap();
    let error = loop {
        match answer.next_event().await {
            Ok(event) => assert!(event.is_some(), "it broke off"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Network);
    assert_eq!(error.partial().unwrap().text(), "Let me look. Oslo has 717 710 people.");
    assert!(answer.next_event().await.unwrap().is_none());
    drop(answer);
    let kinds: Vec<_> = chat.history()[1].content.iter().map(Block::kind).map(|kind| kind.to_string()).collect();
    assert_eq!(kinds, ["text", "provider_call", "provider_result", "text"]);
}

#[tokio::test]
async fn a_stream_that_is_dropped_in_a_pause_leaves_what_had_been_said() {
    let [first, _] = halves();
    let scripted = Scripted::new([stream(&first), Reply::pieces([Piece::Stall])]);
    let client = scripted.client_with(TestClock::stopped());
    let mut chat = client.model(CLAUDE).unwrap().web_search().chat();
    let mut answer = chat.stream("How many?").await.unwrap();
    assert_eq!(answer.text().await.unwrap().as_deref(), Some("Let me look. "));
    while let Poll::Ready(event) = futures_util::poll!(std::pin::pin!(answer.next_event())) {
        assert!(event.unwrap().is_some());
    }
    assert_eq!(scripted.requests().len(), 2, "it waits for the second answer");
    assert_eq!(answer.so_far().unwrap().text(), "Let me look. ");
    drop(answer);
    assert_eq!(chat.history()[1].content, [Block::text("Let me look. ")], "the call without a result is left out");
}

#[tokio::test]
async fn tools_of_ours_are_run_after_a_pause() {
    let calls =
        body(json!([result("srv_1"), {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}}]), "tool_use");
    let last = body(json!([text("It is noon.")]), "end_turn");
    let parts = [halves()[0].clone(), calls, last];
    let scripted = Scripted::new(parts.iter().map(stream));
    let now = crate::Callable::new(Tool::new("now", "Tells the time."), |_| async { "12:00" });
    let (answer, _) = streamed(&model(&scripted).tool(now)).await.unwrap();
    assert_eq!((answer.text().as_str(), answer.steps().count()), ("It is noon.", 2));
    assert_eq!(answer.sources().len(), 1, "those of the first step");
    let roles: Vec<_> =
        scripted.body(2)["messages"].as_array().unwrap().iter().map(|one| one["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(answer.messages().len(), 3);
}

#[tokio::test]
async fn a_tool_that_the_provider_lacks_is_a_warning_or_in_strict_mode_an_error() {
    let reply = || Reply::whole(Dialect::OpenaiChat, &crate::testing::says("I cannot search."));
    let scripted = Scripted::new([reply()]);
    let model = scripted.client().model("deepseek:deepseek-chat").unwrap().web_search().file_search(["vs_1"]);
    let answer = model.ask("How many?").await.unwrap();
    let warnings: Vec<String> = answer.warnings().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "web_search at tools[0]: this API has no such tool; left out",
            "file_search at tools[1]: this API has no such tool; left out",
        ]
    );
    assert_eq!(scripted.body(0).get("tools"), None);
    let error = model.strict().ask("How many?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.to_string().contains("web_search"), "{error}");
    assert_eq!(scripted.requests().len(), 1, "nothing is sent");
}

#[tokio::test]
async fn each_verb_asks_for_its_tool() {
    let scripted = Scripted::new([Reply::whole(Dialect::OpenaiResponses, &crate::testing::says("Done."))]);
    let model = scripted.client().model("openai:gpt-5.4").unwrap();
    let answer = model.web_search().code_execution().file_search(["vs_1"]).ask("How many?").await.unwrap();
    assert_eq!(answer.warnings().count(), 0);
    let body = scripted.body(0);
    let kinds: Vec<_> = body["tools"].as_array().unwrap().iter().map(|tool| tool["type"].clone()).collect();
    assert_eq!(kinds, ["web_search", "code_interpreter", "file_search"]);
}
