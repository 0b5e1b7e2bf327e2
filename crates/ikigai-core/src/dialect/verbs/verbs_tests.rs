use super::*;
use crate::wire::WireRequest;
use crate::{Dialect, ErrorKind};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

const LIMITS: Limits = Limits::client();

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
    assert_eq!(Dialect::Gemini.decode_count(br#"{"totalTokens":7}"#, &LIMITS), Ok(Some(7)));
    assert_eq!(Dialect::Anthropic.decode_count(br#"{}"#, &LIMITS), Ok(None));
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
    let (models, next) = Dialect::Gemini.decode_models(page, &LIMITS).unwrap();
    let model = ListedModel { name: Some("G".into()), context: Some(9), ..ListedModel::new("g") };
    assert_eq!((models, next.as_deref()), (vec![model], Some("t")));
    let page = br#"{"data":[{"id":"c"}],"has_more":true,"last_id":"c"}"#;
    assert_eq!(Dialect::Anthropic.decode_models(page, &LIMITS).unwrap().1.as_deref(), Some("c"));
    assert_eq!(
        Dialect::OpenaiChat.decode_models(b"{}", &LIMITS).unwrap_err().message,
        "the answer is not a list of models"
    );
}

#[test]
fn a_count_is_read_and_written_for_clients() {
    let wrapped = br#"{"generateContentRequest": {"model": "models/g", "contents": [{"parts": [{"text": "Hi"}]}]}}"#;
    let bare = br#"{"contents": [{"parts": [{"text": "Hi"}]}]}"#;
    let path = Some("/v1beta/models/g:countTokens");
    for body in [&wrapped[..], bare] {
        let incoming = crate::wire::Incoming { path, body };
        let request = Dialect::Gemini.decode_count_request(incoming, &crate::Limits::server()).unwrap();
        assert_eq!((request.model.as_str(), request.messages[0].text().as_str()), ("g", "Hi"));
    }
    for dialect in Dialect::ALL {
        assert_eq!(dialect.decode_count(&dialect.encode_count(7), &LIMITS), Ok(Some(7)), "{dialect}");
    }
}

#[test]
fn vectors_are_asked_for_and_written_in_each_dialect() {
    let request = |dialect: Dialect, body: Value| dialect.decode_embed_request(body.to_string().as_bytes());
    let texts = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!(
        request(
            Dialect::OpenaiChat,
            json!({"model": "e", "input": ["a", "b"], "encoding_format": "base64", "user": "u"})
        ),
        Ok(EmbedRequest {
            model: Some("e".into()),
            texts: texts.clone(),
            dimensions: None,
            form: VectorForm::Base64,
            others: vec!["user".into()],
        })
    );
    let one =
        |text: &str| json!({"model": "models/e", "content": {"parts": [{"text": text}]}, "outputDimensionality": 3});
    let wanted = EmbedRequest {
        model: None,
        texts: texts.clone(),
        dimensions: Some(3),
        form: VectorForm::Numbers,
        others: Vec::new(),
    };
    assert_eq!(request(Dialect::Gemini, json!({"requests": [one("a"), one("b")]})), Ok(wanted.clone()));
    let single = EmbedRequest { texts: vec!["a".into()], form: VectorForm::Single, ..wanted };
    assert_eq!(request(Dialect::Gemini, one("a")), Ok(single));
    for (dialect, body, message) in [
        (Dialect::OpenaiChat, json!({"model": "e", "input": [1, 2]}), "`input` must be a string or a list of strings"),
        (Dialect::OpenaiChat, json!({"model": "e", "input": []}), "`input` must be a string or a list of strings"),
        (Dialect::OpenaiChat, json!({"input": "a", "dimensions": 0}), "`dimensions` must be a whole number above 0"),
        (Dialect::Gemini, json!({"content": {"parts": [{"inlineData": {}}]}}), "`content` must be made of text parts"),
        (Dialect::Anthropic, json!({}), "anthropic has no embeddings"),
    ] {
        assert_eq!(request(dialect, body).unwrap_err().message, message);
    }
    let vectors = Vectors { vectors: vec![vec![1.0, 0.5], vec![2.0, 0.25]], input_tokens: Some(4) };
    for (dialect, form) in [
        (Dialect::OpenaiChat, VectorForm::Numbers),
        (Dialect::OpenaiChat, VectorForm::Base64),
        (Dialect::Gemini, VectorForm::Numbers),
    ] {
        let written = dialect.encode_embeddings(&vectors, "e", form);
        assert_eq!(dialect.decode_embeddings(&written, 2).unwrap().vectors, vectors.vectors, "{dialect} {form:?}");
    }
    let single = Dialect::Gemini.encode_embeddings(&vectors, "e", VectorForm::Single);
    assert_eq!(serde_json::from_slice::<Value>(&single).unwrap(), json!({"embedding": {"values": [1.0, 0.5]}}));
}

#[test]
fn models_are_listed_for_clients_as_they_are_read() {
    let model = ListedModel {
        name: Some("G".into()),
        context: Some(9),
        max_output: Some(3),
        owner: Some("google".into()),
        released: Some("2025-01-02".into()),
        ..ListedModel::new("g")
    };
    let known = |dialect: Dialect| match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => {
            ListedModel { owner: model.owner.clone(), ..ListedModel::new("g") }
        }
        Dialect::Gemini => ListedModel { owner: None, released: None, ..model.clone() },
        Dialect::Anthropic | Dialect::BedrockConverse => ListedModel { owner: None, ..model.clone() },
    };
    for dialect in Dialect::ALL {
        let list = dialect.encode_models(std::slice::from_ref(&model));
        assert_eq!(dialect.decode_models(&list, &LIMITS), Ok((vec![known(dialect)], None)), "{dialect}");
        let one: Value = serde_json::from_slice(&dialect.encode_model(&model)).unwrap();
        let list: Value = serde_json::from_slice(&list).unwrap();
        assert_eq!(list.get("data").or(list.get("models")).unwrap()[0], one);
    }
}

proptest! {
    /// Parts of the answers, in any order and with anything between them.
    #[test]
    fn any_answer_with_pictures_or_sound_is_survived(
        pieces in prop::collection::vec(prop_oneof![
            any::<Vec<u8>>(),
            prop::sample::select(vec![
                r#"{"data":[{"b64_json":"#, r#"{"error":"#, r#"{"predictions":[{"bytesBase64Encoded":"#, r#"{"text":"#,
                r#"{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"#, r#"null"#,
                r#"{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;rate=","data":"#,
                "\"YWJj\"", "\"", "1e999", "-1", "}]}", "]", "}", "}}]}}]}", ",\"usage\":{\"input_tokens\":", "\u{feff}",
            ]).prop_map(|piece| piece.as_bytes().to_vec()),
        ], 0..8),
        media_type in prop::option::of("(audio/|text/)?[a-z0-9;= ]{0,12}"),
    ) {
        let body = pieces.concat();
        for dialect in Dialect::PROVIDERS {
            for model in ["gpt-image-2", "imagen-4"] {
                let _ = dialect.decode_images(&body, crate::catalog::rules_for(model), &LIMITS);
            }
            let _ = dialect.decode_speech(&body, media_type.as_deref(), &"x".into(), &LIMITS);
            let _ = dialect.decode_transcript(&body, &LIMITS);
        }
    }

    #[test]
    fn any_size_is_a_ratio_or_an_error(size in "[0-9x:]{0,12}|\\PC{0,8}") {
        let request = ImageRequest::new("a fox").size(size);
        for model in ["gemini-2.5-flash-image", "imagen-4"] {
            let _ = Dialect::Gemini.image_request(model, &request, crate::catalog::rules_for(model));
        }
    }
}

#[test]
fn a_request_has_only_so_many_values() {
    use crate::wire::Incoming;

    let mut limits = Limits::server();
    limits.values = 1000;
    let zeros = |count: usize| vec!["0"; count].join(",");
    for dialect in Dialect::ALL {
        let body =
            format!(r#"{{"model":"m","max_tokens":1,"messages":[],"input":[],"contents":[],"x":[{}]}}"#, zeros(900));
        dialect.decode_request(Incoming::new(body.as_bytes()), &limits).unwrap();
        let body =
            format!(r#"{{"model":"m","max_tokens":1,"messages":[],"input":[],"contents":[],"x":[{}]}}"#, zeros(1100));
        let error = dialect.decode_request(Incoming::new(body.as_bytes()), &limits).unwrap_err();
        assert!(error.message.starts_with("the request has more than 1000 values at byte "), "{dialect}: {error}");
        assert_eq!(
            (error.kind, error.code.as_deref()),
            (ErrorKind::InvalidRequest, Some("limit_reached")),
            "{dialect}"
        );
    }
    for dialect in [Dialect::OpenaiChat, Dialect::Gemini] {
        let body =
            format!(r#"{{"model":"m","input":"a","content":{{"parts":[{{"text":"a"}}]}},"x":[{}]}}"#, zeros(1_000_001));
        let error = dialect.decode_embed_request(body.as_bytes()).err().unwrap();
        assert!(error.message.starts_with("the request has more than 1000000 values at byte "), "{dialect}: {error}");
    }
}
