use super::*;
use crate::Dialect;
use crate::wire::WireRequest;
use pretty_assertions::assert_eq;
use serde_json::json;

fn body(request: &WireRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

fn encoded(path: &str, body: &Value) -> WireRequest {
    WireRequest { path: path.into(), body: serde_json::to_vec(body).unwrap(), ..WireRequest::default() }
}

#[test]
fn a_count_is_asked_for_with_what_the_api_accepts() {
    let wire = encoded("/v1/messages", &json!({"model": "m", "messages": [], "max_tokens": 5, "stream": true}));
    let count = Dialect::Anthropic.count_request(&wire).unwrap();
    assert_eq!(
        (count.path.as_str(), body(&count)),
        ("/v1/messages/count_tokens", json!({"model": "m", "messages": []}))
    );
    let wire = encoded("/models/g:generateContent", &json!({"contents": []}));
    let count = Dialect::Gemini.count_request(&wire).unwrap();
    let inner = json!({"generateContentRequest": {"contents": [], "model": "models/g"}});
    assert_eq!((count.path.as_str(), body(&count)), ("/models/g:countTokens", inner));
    assert_eq!(Dialect::OpenaiChat.count_request(&wire), None);
    assert_eq!(Dialect::Gemini.decode_count(br#"{"totalTokens":7}"#), Ok(Some(7)));
    assert_eq!(Dialect::Anthropic.decode_count(br#"{}"#), Ok(None));
}

#[test]
fn vectors_come_back_in_the_order_of_the_texts() {
    let texts = ["a".to_owned(), "b".to_owned()];
    let request = Dialect::OpenaiChat.embed_request("e", &texts, Some(3)).unwrap();
    assert_eq!(
        (request.path.as_str(), body(&request)),
        ("/embeddings", json!({"model": "e", "input": ["a", "b"], "dimensions": 3}))
    );
    let answer =
        br#"{"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":"AACAPw=="}],"usage":{"prompt_tokens":4}}"#;
    let vectors = Dialect::OpenaiChat.decode_embeddings(answer, 2).unwrap();
    assert_eq!((vectors.vectors, vectors.input_tokens), (vec![vec![1.0], vec![2.0]], Some(4)));
    let missing = Dialect::Gemini.decode_embeddings(br#"{"embeddings":[{"values":[1]}]}"#, 2).unwrap_err();
    assert_eq!(missing.message, "expected 2 embeddings, got 1");
    assert_eq!(Dialect::Anthropic.embed_request("m", &texts, None), None);
}

#[test]
fn lists_of_models_are_read_page_by_page() {
    assert_eq!(Dialect::Gemini.models_request(Some("a b")).path, "/models?pageSize=1000&pageToken=a%20b");
    let page = br#"{"models":[{"name":"models/g","displayName":"G","inputTokenLimit":9}],"nextPageToken":"t"}"#;
    let (models, next) = Dialect::Gemini.decode_models(page).unwrap();
    let model = ListedModel { id: "g".into(), name: Some("G".into()), context: Some(9), max_output: None };
    assert_eq!((models, next.as_deref()), (vec![model], Some("t")));
    let page = br#"{"data":[{"id":"c"}],"has_more":true,"last_id":"c"}"#;
    assert_eq!(Dialect::Anthropic.decode_models(page).unwrap().1.as_deref(), Some("c"));
    assert_eq!(Dialect::OpenaiChat.decode_models(b"{}").unwrap_err().message, "the answer is not a list of models");
}
