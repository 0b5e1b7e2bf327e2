//! Invalid requests: each client gets the error it expects, and nothing is sent.

use ikigai::{Dialect, ErrorKind};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::answers::read;
use crate::support::{House, KEY, question, to};

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
