use ikigai_core::{Block, ErrorKind, Source, Tool, user};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::testing::{Reply, Scripted};
use crate::{ListedModel, TokenCount};

fn json_reply(body: serde_json::Value) -> Reply {
    Reply::new(200, body.to_string())
}

#[tokio::test]
async fn texts_become_vectors_in_their_order() {
    let scripted = Scripted::new([json_reply(json!({
        "data": [{"index": 1, "embedding": [0.5, -1]}, {"index": 0, "embedding": "AACAPwAAAEA="}],
        "usage": {"prompt_tokens": 8, "total_tokens": 8}
    }))]);
    let model = scripted.client().model("openai:text-embedding-3-small").unwrap().dimensions(2);
    let embeddings = model.embed(["one", "two"]).await.unwrap();
    assert_eq!(embeddings.vectors, [[1.0, 2.0], [0.5, -1.0]]);
    assert_eq!(embeddings.usage.unwrap().input_tokens, 8);
    assert_eq!(scripted.requests()[0].uri().to_string(), "https://api.openai.com/v1/embeddings");
    assert_eq!(scripted.body(0), json!({"model": "text-embedding-3-small", "input": ["one", "two"], "dimensions": 2}));
}

#[tokio::test]
async fn many_texts_go_in_several_requests() {
    let page = |count: usize, first: usize| {
        let vectors: Vec<_> = (first..first + count).map(|number| json!({"values": [number]})).collect();
        json_reply(json!({"embeddings": vectors}))
    };
    let scripted = Scripted::new([page(100, 0), page(100, 100), page(50, 200)]);
    let model = scripted.client().model("google:gemini-embedding-001").unwrap();
    let embeddings = model.embed((0..250).map(|number| number.to_string())).await.unwrap();
    let numbers: Vec<f32> = embeddings.vectors.iter().map(|vector| vector[0]).collect();
    assert_eq!(numbers, (0_u16..250).map(f32::from).collect::<Vec<_>>());
    assert_eq!(scripted.body(0)["requests"][99]["content"]["parts"][0]["text"], "99");
    assert_eq!(
        scripted.requests()[0].uri().to_string(),
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents"
    );
}

#[tokio::test]
async fn what_has_no_vector_is_told() {
    let scripted = Scripted::new([json_reply(json!({"data": []}))]);
    let client = scripted.client();
    let error = client.model("anthropic:claude-haiku-4-5").unwrap().embed(["x"]).await.unwrap_err();
    assert_eq!(error.to_string(), "Anthropic does not offer embeddings; use a provider that does, such as openai");
    let model = client.model("openai:text-embedding-3-small").unwrap();
    let error = model.embed(["x", ""]).await.unwrap_err();
    assert_eq!(error.to_string(), "texts[1]: an empty text has no vector");
    let error = model.embed(["x"]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(model.embed(Vec::<String>::new()).await.unwrap().vectors.len(), 0);
    assert_eq!(scripted.requests().len(), 1);
}

#[tokio::test]
async fn tools_of_the_provider_are_not_counted_and_the_count_says_so() {
    let scripted = Scripted::new([json_reply(json!({"input_tokens": 42}))]);
    let model = scripted.client().model("anthropic:claude-haiku-4-5").unwrap().web_search();
    let count = model.tool(Tool::new("f", "Does it.")).count_tokens("Hello").await.unwrap();
    assert_eq!(count.to_string(), "about 42 tokens");
    let names: Vec<_> = scripted.body(0)["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["f"]);
}

#[tokio::test]
async fn providers_count_where_they_can() {
    for (name, answer, address) in [
        (
            "anthropic:claude-haiku-4-5/low",
            json!({"input_tokens": 42}),
            "https://api.anthropic.com/v1/messages/count_tokens",
        ),
        ("openai:gpt-5.4", json!({"input_tokens": 42}), "https://api.openai.com/v1/responses/input_tokens"),
        (
            "google:gemini-2.5-flash",
            json!({"totalTokens": 42}),
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:countTokens",
        ),
    ] {
        let scripted = Scripted::new([json_reply(answer)]);
        let model = scripted.client().model(name).unwrap().max_output_tokens(100).tool(Tool::new("f", "Does it."));
        let count = model.count_tokens("Hello").await.unwrap();
        assert_eq!(
            (count, count.to_string().as_str()),
            (TokenCount { tokens: 42, exact: true }, "42 tokens"),
            "{name}"
        );
        assert_eq!(scripted.requests()[0].uri().to_string(), address);
        let body = scripted.body(0);
        assert!(body.get("max_tokens").is_none() && body.get("stream").is_none(), "{body}");
    }
}

#[tokio::test]
async fn elsewhere_an_estimate_says_that_it_is_one() {
    let scripted = Scripted::new([Reply::new(404, "{}")]);
    let client = scripted.client();
    let count = client.model("deepseek:deepseek-chat").unwrap().count_tokens("word ".repeat(1000)).await.unwrap();
    assert_eq!((count.tokens, count.exact), (1254, false));
    assert_eq!(count.to_string(), "about 1254 tokens");
    let count = client.model("anthropic:claude-haiku-4-5").unwrap().count_tokens("Hi").await.unwrap();
    assert!(!count.exact, "an API without the endpoint");
    let picture = user([Block::text("Look"), Block::image(Source::bytes(&[0; 100_000], "image/png"))]);
    let count = client.model("deepseek:deepseek-chat").unwrap().count_tokens(picture).await.unwrap();
    assert_eq!(count.tokens, 1505);
    assert_eq!(scripted.requests().len(), 1);
}

#[tokio::test]
async fn models_are_listed_page_by_page_in_every_shape() {
    let listed = |id: &str, name: Option<&str>, context: Option<u64>, max_output: Option<u64>| {
        (id.to_owned(), name.map(str::to_owned), context, max_output)
    };
    let scripted = Scripted::new([
        json_reply(json!({"data": [{"id": "a", "display_name": "A"}], "has_more": true, "last_id": "a"})),
        json_reply(
            json!({"data": [{"id": "b", "max_input_tokens": 200_000, "max_tokens": 64_000}], "has_more": false}),
        ),
        json_reply(
            json!({"models": [{"name": "models/g", "displayName": "G", "inputTokenLimit": 9}], "nextPageToken": "x/y"}),
        ),
        json_reply(json!({"models": []})),
        json_reply(json!({"object": "list", "data": [{"id": "o"}]})),
        json_reply(json!({"oops": 1})),
    ]);
    let client = scripted.client();
    let fields = |models: Vec<ListedModel>| -> Vec<_> {
        models.into_iter().map(|model| (model.id, model.name, model.context, model.max_output)).collect()
    };
    let claude = fields(client.models("anthropic").await.unwrap());
    assert_eq!(claude, [listed("a", Some("A"), None, None), listed("b", None, Some(200_000), Some(64_000))]);
    assert_eq!(fields(client.models("gemini").await.unwrap()), [listed("g", Some("G"), Some(9), None)]);
    assert_eq!(fields(client.models("deepseek").await.unwrap()), [listed("o", None, None, None)]);
    assert_eq!(client.models("openai").await.unwrap_err().kind(), ErrorKind::Protocol);
    assert_eq!(client.models("opnai").await.unwrap_err().kind(), ErrorKind::NotFound);
    let asked: Vec<String> =
        scripted.requests().iter().map(|request| request.uri().path_and_query().unwrap().to_string()).collect();
    assert_eq!(
        asked,
        [
            "/v1/models?limit=1000",
            "/v1/models?limit=1000&after_id=a",
            "/v1beta/models?pageSize=1000",
            "/v1beta/models?pageSize=1000&pageToken=x%2Fy",
            "/v1/models",
            "/v1/models",
        ]
    );
}

#[tokio::test]
async fn vectors_have_a_span_and_metrics_of_their_own() {
    let fields = crate::testing::fields_of(async {
        let body = json!({"data": [{"index": 0, "embedding": [0.5, 0.25]}], "usage": {"prompt_tokens": 3}});
        let scripted = Scripted::new([json_reply(body)]);
        scripted.client().model("openai:text-embedding-3-small").unwrap().embed(["a"]).await.unwrap();
    })
    .await;
    let value = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    for (name, expected) in [
        ("otel.name", "embeddings text-embedding-3-small"),
        ("gen_ai.operation.name", "embeddings"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.usage.input_tokens", "3"),
        ("gen_ai.embeddings.dimension.count", "2"),
        ("histogram.gen_ai.client.token.usage", "3"),
    ] {
        assert_eq!(value(name), Some(expected), "{name}");
    }
    assert!(value("histogram.gen_ai.client.operation.duration").is_some());
}
