//! Requests that are judged by their model: its window, and whether it ever existed.

use ikigai_core::{Dialect, ErrorKind};
use ikigai_sim::Sim;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{ask, send};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_beyond_the_window_is_refused_in_each_providers_words() {
    let sim = Sim::start().await.unwrap();
    let long = "word ".repeat(1_000_000);
    for (dialect, words) in [
        (Dialect::Anthropic, "prompt is too long: 1250007 tokens > 200000 maximum"),
        (
            Dialect::OpenaiChat,
            "This model's maximum context length is 1047576 tokens. However, your messages resulted in 1250007 tokens. \
             Please reduce the length of the messages.",
        ),
        (
            Dialect::OpenaiResponses,
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        (Dialect::Gemini, "The input token count (1250007) exceeds the maximum number of tokens allowed (1048576)."),
    ] {
        let (path, body) = ask(dialect, &long, false);
        let got = send(&sim, &path, "", &body);
        let error = dialect.decode_error(Some(got.status()), &[], &String::from_utf8_lossy(&got.body));
        assert_eq!(
            (got.status(), error.kind, error.message.as_str()),
            (400, ErrorKind::ContextTooLong, words),
            "{dialect}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_never_was_is_not_found_whatever_is_asked_of_it() {
    let sim = Sim::start().await.unwrap();
    let message = json!([{"role": "user", "content": "Hi"}]);
    let contents = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
    let content = json!({"parts": [{"text": "Hi"}]});
    for (dialect, path, body) in [
        (Dialect::Anthropic, "/v1/messages", json!({"model": "foo", "max_tokens": 5, "messages": message})),
        (Dialect::Anthropic, "/v1/messages/count_tokens", json!({"model": "foo", "messages": message})),
        (Dialect::OpenaiChat, "/v1/chat/completions", json!({"model": "foo", "messages": message})),
        (Dialect::OpenaiChat, "/v1/embeddings", json!({"model": "foo", "input": "Hi"})),
        (Dialect::OpenaiResponses, "/v1/responses", json!({"model": "foo", "input": "Hi"})),
        (Dialect::OpenaiResponses, "/v1/responses/input_tokens", json!({"model": "foo", "input": "Hi"})),
        (Dialect::Gemini, "/v1beta/models/foo:generateContent", json!({"contents": contents})),
        (Dialect::Gemini, "/v1beta/models/foo:countTokens", json!({"contents": contents})),
        (Dialect::Gemini, "/v1beta/models/foo:embedContent", json!({"content": content})),
    ] {
        let got = send(&sim, path, "", &body);
        let error = dialect.decode_error(Some(got.status()), &[], &String::from_utf8_lossy(&got.body));
        assert_eq!((got.status(), error.kind), (404, ErrorKind::NotFound), "{path}: {got:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_event_of_anthropic_tells_the_tokens_of_the_prompt() {
    let sim = Sim::start().await.unwrap();
    let (path, body) = ask(Dialect::Anthropic, "count to 200", true);
    let got = send(&sim, &path, "", &body);
    let text = String::from_utf8(got.body).unwrap();
    let event = |kind: &str| -> Value {
        let line = text.lines().find(|line| line.starts_with(&format!("data: {{\"type\":\"{kind}\""))).unwrap();
        serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap()
    };
    let start = event("message_start")["message"]["usage"].clone();
    let end = event("message_delta")["usage"].clone();
    assert_eq!((&start["input_tokens"], &start["output_tokens"]), (&json!(10), &json!(1)));
    assert_eq!((&end["input_tokens"], &end["output_tokens"]), (&json!(10), &json!(223)));
    assert_eq!(event("message_delta")["delta"]["stop_reason"], "end_turn");
}
