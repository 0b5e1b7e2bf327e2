//! Vertex: a service account's tokens.

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ikigai_core::{Dialect, ErrorKind};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::{client, whole};
use crate::testing::{Answer, Server, frames, says};

/// Returns a service account's file, and the public key that its signatures are checked with.
fn account(folder: &std::path::Path) -> (String, Vec<u8>) {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der.as_ref()));
    let file = folder.join("account.json");
    let json = json!({
        "type": "service_account", "project_id": "p", "private_key_id": "k1", "private_key": pem,
        "client_email": "robot@p.iam.gserviceaccount.com", "client_id": "1",
        "token_uri": "https://oauth2.googleapis.com/token", "universe_domain": "googleapis.com"
    });
    std::fs::write(&file, json.to_string()).unwrap();
    (file.to_str().unwrap().to_owned(), pair.public_key().as_ref().to_vec())
}

/// Checks that the token is the account's own, meant for this purpose and still valid.
fn is_good(token: &str, public: &[u8]) -> Result<(), String> {
    let (signed, signature) = token.rsplit_once('.').ok_or("no signature")?;
    let (head, claims) = signed.split_once('.').ok_or("no claims")?;
    let read = |part: &str| -> Value {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap_or_default()).unwrap_or_default()
    };
    let (head, claims) = (read(head), read(claims));
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|error| error.to_string())?;
    UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
        .verify(signed.as_bytes(), &signature)
        .map_err(|_| "the signature is not the account's".to_owned())?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let lives = claims["exp"].as_u64().is_some_and(|end| end > now && end < now + 4000);
    let fits = head["alg"] == "RS256"
        && head["kid"] == "k1"
        && claims["iss"] == "robot@p.iam.gserviceaccount.com"
        && claims["scope"] == "https://www.googleapis.com/auth/cloud-platform";
    if lives && fits { Ok(()) } else { Err(format!("{head} {claims}")) }
}

#[tokio::test]
async fn gemini_and_claude_answer_to_a_service_account() {
    let folder = tempfile::tempdir().unwrap();
    let (file, public) = account(folder.path());
    let server = Server::start(move |request| {
        let token = request.headers().get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        if let Err(why) = is_good(token.strip_prefix("Bearer ").unwrap_or_default(), &public) {
            let body = json!({"error": {"code": 401, "status": "UNAUTHENTICATED", "message": why}});
            return Answer::new(401, body.to_string());
        }
        let body: Value = serde_json::from_slice(request.body()).unwrap();
        match request.uri().path() {
            "/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-flash:generateContent" => {
                Answer::ok(whole(Dialect::Gemini))
            }
            "/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
                if body["anthropic_version"] == "vertex-2023-10-16" && body.get("model").is_none() =>
            {
                Answer::ok(frames(Dialect::Anthropic, &says("Hello.")).concat())
            }
            other => Answer::new(404, json!({"error": {"code": 404, "message": other}}).to_string()),
        }
    })
    .await;
    let base = format!("{}/v1/projects/p/locations/global/publishers", server.url());
    let client = client(&[
        ("GOOGLE_APPLICATION_CREDENTIALS", &file),
        ("GOOGLE_CLOUD_PROJECT", "p"),
        ("VERTEX_BASE_URL", &format!("{base}/google")),
        ("VERTEX_ANTHROPIC_BASE_URL", &format!("{base}/anthropic")),
    ]);
    assert_eq!(client.ask("vertex:gemini-2.5-flash", "Hi").await.unwrap().text(), "Hello.");
    let claude = client.model("vertex-anthropic:claude-sonnet-4-5").unwrap();
    let answer = claude.stream("Hi").await.unwrap().finish().await.unwrap();
    assert_eq!(answer.text(), "Hello.");
}

/// What a machine in Google's cloud finds: a server that provides tokens. The variables apply to a whole process, so the
/// request is made by a separate program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_googles_machines_the_machine_has_the_token() {
    let server = Server::start(|request| {
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        match request.uri().path() {
            "/computeMetadata/v1/instance/service-accounts/default/token" if header("metadata-flavor").is_some() => {
                Answer::ok(
                    json!({"access_token": "ya29.machine", "expires_in": 3600, "token_type": "Bearer"}).to_string(),
                )
                .header("content-type", "application/json")
            }
            "/v1/models/gemini-2.5-flash:generateContent" if header("authorization") == Some("Bearer ya29.machine") => {
                Answer::ok(whole(Dialect::Gemini))
            }
            _ => Answer::new(401, "{}"),
        }
    })
    .await;
    let mut program = std::env::current_exe().unwrap();
    program.pop();
    program.pop();
    let program = program.join("examples").join(format!("ask{}", std::env::consts::EXE_SUFFIX));
    assert!(program.exists(), "{} is not built; run the tests of the whole package", program.display());
    let mut command = std::process::Command::new(program);
    command.args(["vertex:gemini-2.5-flash", "Hi"]).env_clear().env("IKIGAI_HOME", "/nowhere").env("HOME", "/nowhere");
    command.env("GOOGLE_CLOUD_PROJECT", "p").env("VERTEX_BASE_URL", format!("{}/v1", server.url()));
    command.env("GCE_METADATA_HOST", format!("127.0.0.1:{}", server.port()));
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), errors.as_str()), ("Hello.\n", ""));
}

#[tokio::test]
async fn a_token_that_is_given_is_used_and_a_bad_file_is_named() {
    let server = Server::start(|request| match request.headers().get("authorization") {
        Some(value) if value == "Bearer ya29.token" => Answer::ok(whole(Dialect::Gemini)),
        _ => Answer::new(401, "{}"),
    })
    .await;
    let client = client(&[
        ("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/account.json"),
        ("GOOGLE_CLOUD_PROJECT", "p"),
        ("VERTEX_BASE_URL", &format!("{}/v1", server.url())),
    ]);
    let model = client.model("vertex:gemini-2.5-flash").unwrap();
    assert_eq!(model.clone().key("ya29.token").ask("Hi").await.unwrap().text(), "Hello.");
    let error = model.ask("Hi").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Auth);
    assert!(error.to_string().contains("/nowhere/account.json"), "{error}");
}

#[tokio::test]
async fn a_token_that_was_fetched_is_in_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = account(folder.path());
    let server = Server::start(|request| {
        let token = request.headers()["authorization"].to_str().unwrap();
        Answer::new(403, json!({"error": {"code": 403, "message": format!("not for {token}")}}).to_string())
    })
    .await;
    let client = client(&[
        ("GOOGLE_APPLICATION_CREDENTIALS", &file),
        ("GOOGLE_CLOUD_PROJECT", "p"),
        ("VERTEX_BASE_URL", &format!("{}/v1", server.url())),
    ]);
    let error = client.ask("vertex:gemini-2.5-flash", "Hi").await.unwrap_err();
    assert_eq!(error.excerpt(), Some("not for Bearer [key]"));
    let body = String::from_utf8(error.response().unwrap().body.to_vec()).unwrap();
    assert!(!format!("{error:#?} {body}").contains("eyJ"), "{error:#?} {body}");
}
