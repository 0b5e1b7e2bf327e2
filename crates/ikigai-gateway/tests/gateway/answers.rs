//! Every client dialect, every provider dialect, whole and streamed.

use ikigai::{Collector, Dialect, Event, FinishReason};
use ikigai_core::Limits;
use ikigai_core::wire::{Ids, StreamDecoder};
use pretty_assertions::assert_eq;

use crate::support::{Answer, House, question, to};

/// Reads an answer as a client of the dialect does.
pub(crate) fn read(dialect: Dialect, answer: &Answer, streams: bool) -> Result<ikigai::Response, ikigai_core::Error> {
    if answer.status != 200 {
        let headers: Vec<(String, String)> = answer
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
            .collect();
        return Err(dialect.decode_error(Some(answer.status), &headers, &answer.text()));
    }
    if !streams {
        return dialect.decode_response(&answer.body, &mut Ids::default(), &Limits::client());
    }
    let mut decoder = StreamDecoder::new(dialect, Ids::default(), &Limits::client());
    let mut events = Vec::new();
    decoder.feed(&answer.body, &mut events);
    decoder.end(&mut events);
    if let Some(Event::Error { error }) = events.iter().find(|event| matches!(event, Event::Error { .. })) {
        return Err((**error).clone());
    }
    let mut collector = Collector::default();
    collector.extend(events);
    Ok(collector.finish())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pair_of_dialects_answers_whole_and_streamed() {
    let house = House::new("").await;
    for client in Dialect::ALL {
        for provider in Dialect::ALL {
            for streams in [false, true] {
                let case = format!("{client} to {provider}, streams: {streams}");
                let (path, body) = question(client, &to(provider), "What is 17 * 3?", streams);
                let answer = house.post(&path, &body).await;
                let response = read(client, &answer, streams).unwrap_or_else(|error| panic!("{case}: {error}"));
                assert!(response.text().contains("51"), "{case}: {}", response.text());
                assert_eq!(response.finish_reason, FinishReason::Stop, "{case}");
                assert!(response.usage.is_some_and(|usage| usage.output_tokens > 0), "{case}");
                assert!(!answer.broken, "{case}");
                let received = house.sim.requests().pop().unwrap();
                assert!(received.path.starts_with(path_of(provider)), "{case}: {}", received.path);
            }
        }
    }
}

fn path_of(dialect: Dialect) -> &'static str {
    match dialect.as_str() {
        "anthropic" => "/v1/messages",
        "openai-chat" => "/v1/chat/completions",
        "openai-responses" => "/v1/responses",
        _ => "/v1beta/models/",
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_says_who_gave_it_and_what_was_lost() {
    let house = House::new("").await;
    let (path, mut body) = question(Dialect::ALL[1], "to-anthropic", "Hello", false);
    body["seed"] = 7.into();
    body["logit_bias"] = serde_json::json!({"50256": -100});
    let answer = house.post(&path, &body).await;
    assert_eq!((answer.status, answer.header("x-ikigai-model")), (200, "sim:claude-sonnet-4-5"));
    let losses = answer.header("x-ikigai-losses");
    assert!(losses.contains("seed") && losses.contains("logit_bias"), "{losses}");
    assert!(answer.header("x-request-id").starts_with("req_"), "{:?}", answer.headers);
    // In strict mode, this is an error, and nothing is sent.
    let before = house.sim.requests().len();
    let bearer = format!("Bearer {}", crate::support::KEY);
    let strict = [("authorization", bearer.as_str()), ("x-ikigai-strict", "true")];
    let answer = house.send("POST", &path, &strict, body.to_string()).await;
    assert_eq!(answer.status, 400);
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("seed"), "{}", answer.text());
    assert_eq!(house.sim.requests().len(), before);
}
