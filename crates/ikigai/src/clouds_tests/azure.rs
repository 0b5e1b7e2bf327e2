//! Azure: a key or a token, deployments and the new API.

use bytes::Bytes;
use ikigai_core::{Dialect, ErrorKind};
use pretty_assertions::assert_eq;

use super::{client, whole};
use crate::testing::{Answer, Server};

/// Answers like Azure: requires a key or a token and, on the older API, the version.
fn azure(request: &http::Request<Bytes>) -> Answer {
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let known = header("api-key") == Some("key-1") || header("authorization") == Some("Bearer eyJh.eyJz.c2ln");
    if !known {
        return Answer::new(
            401,
            r#"{"error":{"code":"401","message":"Access denied due to invalid subscription key"}}"#,
        );
    }
    let uri = request.uri();
    match (uri.path(), uri.query()) {
        ("/openai/v1/chat/completions", None) => Answer::ok(whole(Dialect::OpenaiChat)),
        ("/openai/deployments/my%20model/chat/completions", Some("api-version=2024-10-21")) => {
            Answer::ok(whole(Dialect::OpenaiChat)).header("apim-request-id", "a-1")
        }
        _ => Answer::new(404, r#"{"error":{"code":"DeploymentNotFound","message":"no such deployment"}}"#),
    }
}

#[tokio::test]
async fn deployments_and_the_new_api_with_a_key_or_a_token() {
    let server = Server::start(azure).await;
    let new = format!("{}/openai/v1", server.url());
    for key in ["key-1", "eyJh.eyJz.c2ln"] {
        let client = client(&[
            ("AZURE_API_KEY", key),
            ("AZURE_BASE_URL", &new),
            ("AZURE_OPENAI_ENDPOINT", &format!("{}/", server.url())),
        ]);
        assert_eq!(client.ask("azure:my-deployment", "Hi").await.unwrap().text(), "Hello.");
        let name = ikigai_core::ModelName::new("azure-deployments", "my model");
        let answer = client.model_named(name).ask("Hi").await.unwrap();
        assert_eq!((answer.text().as_str(), answer.request_id()), ("Hello.", Some("a-1")));
        let error = client.ask("azure-deployments:other", "Hi").await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (ErrorKind::NotFound, Some(404)));
    }
    let client = client(&[("AZURE_API_KEY", "wrong"), ("AZURE_BASE_URL", &new)]);
    assert_eq!(client.ask("azure:my-deployment", "Hi").await.unwrap_err().kind(), ErrorKind::Auth);
}
