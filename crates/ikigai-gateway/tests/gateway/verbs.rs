//! Counting tokens, embeddings, lists of models.

use ikigai::Dialect;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{House, KEY};

const ANTHROPIC: &[(&str, &str)] = &[("x-api-key", KEY), ("anthropic-version", "2023-06-01")];
const GOOGLE: &[(&str, &str)] = &[("x-goog-api-key", KEY)];

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_counted_in_every_pair() {
    let house = House::new("").await;
    for provider in Dialect::ALL {
        let to = format!("to-{provider}");
        for (path, body, field) in [
            (
                "/v1/messages/count_tokens?beta=true".to_owned(),
                json!({"model": to, "messages": [{"role": "user", "content": "Hello there"}]}),
                "input_tokens",
            ),
            ("/v1/responses/input_tokens".to_owned(), json!({"model": to, "input": "Hello there"}), "input_tokens"),
            (
                format!("/v1beta/models/{to}:countTokens"),
                json!({"contents": [{"role": "user", "parts": [{"text": "Hello there"}]}]}),
                "totalTokens",
            ),
        ] {
            let answer = house.post(&path, &body).await;
            assert_eq!(answer.status, 200, "{path} to {provider}: {}", answer.text());
            assert!(answer.json()[field].as_u64().is_some_and(|count| count > 0), "{path}: {}", answer.text());
            // Chat Completions cannot count.
            let estimated = answer.header("x-ikigai-estimated") == "true";
            assert_eq!(estimated, provider.as_str() == "openai-chat", "{path} to {provider}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_come_from_both_apis_for_clients_of_both() {
    let models = "[models.openai-vectors]\ntargets = [{ model = \"sim:text-embedding-3-small\", dialect = \"openai-chat\" }]\n\
                  [models.google-vectors]\ntargets = [{ model = \"sim:gemini-embedding-001\", dialect = \"gemini\" }]\n";
    let house = House::with(models).await;
    for model in ["openai-vectors", "google-vectors"] {
        let answer = house.post("/v1/embeddings", &json!({"model": model, "input": ["a", "b"], "dimensions": 8})).await;
        let vectors: Vec<usize> = answer.json()["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["embedding"].as_array().unwrap().len())
            .collect();
        assert_eq!(vectors, [8, 8], "{model}: {}", answer.text());
        let path = format!("/v1beta/models/{model}:embedContent");
        let body = json!({"content": {"parts": [{"text": "a"}]}, "outputDimensionality": 8});
        let answer = house.post(&path, &body).await;
        assert_eq!(
            answer.json()["embedding"]["values"].as_array().map(Vec::len),
            Some(8),
            "{model}: {}",
            answer.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn models_are_listed_in_the_shape_of_the_client() {
    let house = House::with("[models.smart]\ntargets = [\"sim:claude-sonnet-4-5\"]").await;
    let bearer = format!("Bearer {KEY}");
    let openai: &[(&str, &str)] = &[("authorization", &bearer)];
    for (path, headers, list, id, first) in [
        ("/v1/models", openai, "data", "id", "smart"),
        ("/v1/models", ANTHROPIC, "data", "id", "smart"),
        ("/v1beta/models", GOOGLE, "models", "name", "models/smart"),
        ("/v1/models", GOOGLE, "models", "name", "models/smart"),
    ] {
        let answer = house.send("GET", path, headers, "").await;
        assert_eq!(answer.json()[list][0][id], first, "{path}: {}", answer.text());
        let one = house.send("GET", &format!("{path}/smart"), headers, "").await;
        assert_eq!(one.json()[id], first, "{path}: {}", one.text());
        assert_eq!(house.send("GET", &format!("{path}/smrat"), headers, "").await.status, 404);
    }
    let anthropic = house.send("GET", "/v1/models/smart", ANTHROPIC, "").await.json();
    assert_eq!(
        (anthropic["type"].clone(), anthropic["max_tokens"].clone()),
        (Value::from("model"), Value::from(64_000))
    );
}
