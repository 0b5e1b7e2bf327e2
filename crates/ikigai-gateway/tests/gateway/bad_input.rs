//! Invalid requests: each client gets the error it expects, and nothing is sent.

use ikigai::{Dialect, ErrorKind};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::answers::read;
use crate::support::{House, KEY, model_of, question, to};

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_clients_shape_and_nothing_is_sent() {
    let house = House::new("limits.body = 4096").await;
    let bearer = format!("Bearer {KEY}");
    for dialect in Dialect::ALL {
        let other = Dialect::ALL.into_iter().rev().find(|other| *other != dialect).unwrap();
        for target in [dialect, other] {
            let (path, good) = question(dialect, &to(target), "Hello", false);
            let mut wrong_type = good.clone();
            for field in ["messages", "input", "contents"] {
                if wrong_type.get(field).is_some() {
                    wrong_type[field] = json!(7);
                }
            }
            let mut cases = vec![
                ("not JSON", "{\"model\": ".to_owned(), 400),
                ("not an object", "[]".to_owned(), 400),
                ("empty", String::new(), 400),
                ("wrong type", wrong_type.to_string(), 400),
                ("too large", json!({"model": to(target), "x": "y".repeat(5000)}).to_string(), 413),
            ];
            if good.get("model").is_some() {
                cases.push(("no model", "{}".to_owned(), 400));
                cases.push(("model is a number", json!({"model": 7}).to_string(), 400));
                cases.push(("stream is a word", json!({"model": to(target), "stream": "yes"}).to_string(), 400));
            }
            for (case, body, status) in cases {
                let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
                let answer = house.send("POST", &path, &headers, body).await;
                assert_eq!(answer.status, status, "{dialect}, {case}: {}", answer.text());
                let error = read(dialect, &answer, false).unwrap_err();
                let kind = if status == 413 { ErrorKind::RequestTooLarge } else { ErrorKind::InvalidRequest };
                assert_eq!(error.kind, kind, "{dialect}, {case}: {}", answer.text());
                assert!(!error.message.is_empty(), "{dialect}, {case}");
            }
        }
    }
    assert_eq!(house.sim.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_nobody_comes_in() {
    let house = House::new("").await;
    for dialect in Dialect::ALL {
        let (path, body) = question(dialect, &to(dialect), "Hello", false);
        for headers in
            [&[][..], &[("authorization", "Bearer wrong")], &[("x-api-key", "wrong")], &[("x-goog-api-key", "x")]]
        {
            let answer = house.send("POST", &path, headers, body.to_string()).await;
            assert_eq!(answer.status, 401, "{dialect}: {}", answer.text());
            assert_eq!(read(dialect, &answer, false).unwrap_err().kind, ErrorKind::Auth, "{dialect}");
        }
        let path = format!("{path}{}key={KEY}", if path.contains('?') { '&' } else { '?' });
        assert_eq!(house.send("POST", &path, &[], body.to_string()).await.status, 200, "{dialect}");
        let received = format!("{:?}", house.sim.requests());
        assert!(!received.contains(KEY), "{received}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_methods_paths_and_types_are_named() {
    let house = House::new("").await;
    let bearer = format!("Bearer {KEY}");
    let key = ("authorization", bearer.as_str());
    for (method, path, headers, status, words) in [
        ("GET", "/v1/chat/completions", &[key][..], 405, "needs POST"),
        ("POST", "/v1/models", &[key], 405, "needs GET"),
        ("POST", "/v1/nothing", &[key], 404, "/v1/chat/completions"),
        ("GET", "/v1/responses/resp_1", &[key], 404, "stored"),
        ("POST", "/v1/images/generations", &[key], 404, "does not pass on image generation"),
        ("POST", "/v1/audio/transcriptions", &[key], 404, "ask the provider directly"),
        ("POST", "/v1/messages", &[key, ("content-type", "text/plain")], 415, "application/json"),
        ("POST", "/v1/chat/completions", &[key, ("content-encoding", "gzip")], 415, "compressed (gzip)"),
    ] {
        let body = if method == "POST" { "{}" } else { "" };
        let answer = house.send(method, path, headers, body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        assert!(answer.text().contains(words), "{method} {path}: {}", answer.text());
        // OpenAI's own code; an unknown path is not an unknown model.
        let code = (status == 404).then_some("unknown_url");
        assert_eq!(answer.json()["error"]["code"].as_str(), code, "{method} {path}: {}", answer.text());
    }
}

/// What the gateway does not serve is refused in the words of the API that it belongs to.
#[tokio::test(flavor = "multi_thread")]
async fn unknown_paths_have_the_clients_shape() {
    let house = House::new("").await;
    let bearer = format!("Bearer {KEY}");
    for (method, path, field, word) in [
        ("GET", "/v1beta/files", "status", "NOT_FOUND"),
        ("POST", "/v1beta/cachedContents", "status", "NOT_FOUND"),
        ("POST", "/upload/v1beta/files", "status", "NOT_FOUND"),
        ("POST", "/v1beta/models/to-gemini:batchGenerateContent", "status", "NOT_FOUND"),
        ("POST", "/v1/messages/batches", "type", "not_found_error"),
        ("POST", "/anthropic/v1/files", "type", "not_found_error"),
        ("POST", "/v1/batches", "code", "unknown_url"),
        ("POST", "/v1/completions", "code", "unknown_url"),
    ] {
        let body = if method == "POST" { "{}" } else { "" };
        let answer = house.send(method, path, &[("authorization", &bearer)], body).await;
        assert_eq!((answer.status, answer.json()["error"][field].as_str()), (404, Some(word)), "{}", answer.text());
        assert!(answer.text().contains(&format!("no {method} {path}")), "{}", answer.text());
    }
}

/// Azure's clients put the model into the path, and Vertex AI's put a project before it.
#[tokio::test(flavor = "multi_thread")]
async fn the_paths_of_clouds_lead_to_the_same_answers() {
    let house = House::new("").await;
    for target in Dialect::ALL {
        let [_, chat, responses, gemini] = Dialect::ALL;
        let (_, mut body) = question(chat, "another-name", "Hello", false);
        let path = format!("/openai/deployments/{}/chat/completions?api-version=2024-10-21", to(target));
        for _ in 0..2 {
            let answer = house.post(&path, &body).await;
            assert_eq!(read(chat, &answer, false).unwrap().model, model_of(target), "{}", answer.text());
            body.as_object_mut().unwrap().remove("model");
        }
        let (_, body) = question(responses, &to(target), "Hello", false);
        let answer = house.post("/openai/responses?api-version=2025-04-01-preview", &body).await;
        assert_eq!(read(responses, &answer, false).unwrap().model, model_of(target), "{}", answer.text());
        let (_, body) = question(gemini, "", "Hello", false);
        let place = "v1beta1/projects/p/locations/global/publishers/google";
        let answer = house.post(&format!("/{place}/models/{}:generateContent", to(target)), &body).await;
        assert_eq!(read(gemini, &answer, false).unwrap().model, model_of(target), "{}", answer.text());
    }
    let body = "not JSON";
    let answer = house.send("POST", "/openai/deployments/m/chat/completions", &[("api-key", KEY)], body).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    let sent = house.sim.requests();
    assert!(sent.iter().all(|request| !request.path.contains("api-version=2024")), "{sent:?}");
}

/// A client that sends `functions` waits for a `function_call`.
#[tokio::test(flavor = "multi_thread")]
async fn the_older_form_of_tools_is_answered_in_the_older_form() {
    let house = House::new("").await;
    let call = json!({"name": "get_weather", "arguments": "{\"city\":\"Oslo\"}"});
    let functions = json!([{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]);
    for target in Dialect::ALL {
        let asked = json!({"role": "user", "content": "Call get_weather with city=\"Oslo\"."});
        let body = |messages: Value| json!({"model": to(target), "messages": messages, "functions": functions});
        let answer = house.post("/v1/chat/completions", &body(json!([asked]))).await.json();
        let choice = &answer["choices"][0];
        assert_eq!(
            (&choice["message"]["function_call"], &choice["finish_reason"]),
            (&call, &json!("function_call")),
            "{answer}"
        );
        let said = json!({"role": "assistant", "content": null, "function_call": call});
        let result = json!({"role": "function", "name": "get_weather", "content": "rain"});
        let answer = house.post("/v1/chat/completions", &body(json!([asked, said, result]))).await.json();
        assert_eq!(answer["choices"][0]["message"]["content"], "get_weather answered: rain", "{answer}");
    }
}

/// Base URLs with and without the version, HEAD, and a byte order mark, as some clients and users' settings have them.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_only_spelled_oddly_is_understood() {
    let house = House::new("").await;
    let bearer = format!("Bearer {KEY}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let odd = |dialect: Dialect, path: &str| match dialect {
        Dialect::Gemini => vec![path.replace("/v1beta/", "/v1beta/v1beta/"), path.replace("/v1beta/", "/")],
        _ => vec![path.replace("/v1/", "/v1/v1/"), path.replace("/v1/", "/"), path.replace("/v1/", "//v1//")],
    };
    for dialect in Dialect::ALL {
        for target in Dialect::ALL {
            let (path, body) = question(dialect, &to(target), "Hello", false);
            for path in odd(dialect, &path) {
                let answer = house.send("POST", &path, &headers, body.to_string()).await;
                assert_eq!(answer.status, 200, "{path}: {}", answer.text());
            }
            let answer = house.send("POST", &path, &headers, format!("\u{feff}{body}")).await;
            assert_eq!(answer.status, 200, "{dialect} to {target}: {}", answer.text());
        }
    }
    for (path, status) in [("/healthz", 200), ("/readyz", 200), ("/v1/models", 200), ("/v1/messages", 405), ("/", 404)]
    {
        let answer = house.send("HEAD", path, &headers[..1], "").await;
        assert_eq!((answer.status, answer.text()), (status, String::new()), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_provider_has_stored_cannot_be_used_elsewhere() {
    let house = House::new("").await;
    let body = json!({"model": "to-anthropic", "input": "And then?", "previous_response_id": "resp_1"});
    let answer = house.post("/v1/responses", &body).await;
    assert_eq!((answer.status, answer.json()["error"]["param"].as_str()), (400, Some("previous_response_id")));
    let body = json!({"model": "to-gemini", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}], "thread": {"type": "create"}});
    let answer = house.post("/v1/messages", &body).await;
    assert_eq!(answer.json()["error"]["details"]["error_code"], "thread_unsupported_request");
    assert_eq!(house.sim.requests().len(), 0);
}
