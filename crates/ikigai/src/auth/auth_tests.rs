use ikigai_core::provider::Providers;
use pretty_assertions::assert_eq;

use super::*;
use crate::testing::Scripted;

fn found(key: &str) -> Found {
    Found { key: key.into(), from: KeySource::Argument }
}

fn headers(id: &str, found: &Found) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    let client = Scripted::new([]).client();
    let signing = authorize(&client, Providers::shared().find(id).unwrap(), Some(found), &mut headers)?;
    assert!(matches!(signing, Some(Signing::Done)), "{signing:?}");
    Ok(headers)
}

#[test]
fn each_style_has_its_header_and_none_shows_the_key() {
    for (id, name, value) in [
        ("openai", "authorization", "Bearer sk-secret"),
        ("anthropic", "x-api-key", "sk-secret"),
        ("google", "x-goog-api-key", "sk-secret"),
        ("azure", "api-key", "sk-secret"),
        ("bedrock", "authorization", "Bearer sk-secret"),
        ("vertex", "authorization", "Bearer sk-secret"),
    ] {
        let headers = headers(id, &found("sk-secret")).unwrap();
        assert_eq!((headers.len(), headers[name].to_str().unwrap()), (1, value), "{id}");
        assert!(!format!("{headers:?}").contains("secret"), "{headers:?}");
    }
    assert!(headers("sim", &found("sk-secret")).unwrap().is_empty());
}

#[test]
fn azure_takes_a_token_as_such() {
    let headers = headers("azure", &found("eyJhbGciOi.eyJzdWIi.c2ln")).unwrap();
    assert_eq!(headers["authorization"], "Bearer eyJhbGciOi.eyJzdWIi.c2ln");
    assert!(!headers.contains_key("api-key"));
}

#[test]
fn a_key_that_no_header_can_carry_is_an_error_without_the_key() {
    let error = headers("openai", &found("sk-sec\nret")).unwrap_err();
    assert_eq!(error.to_string(), "the key for OpenAI has characters that are not allowed in a header");
}

#[test]
fn a_path_or_an_id_is_not_sent_as_a_token() {
    for (id, variable) in [("vertex", NOT_TOKENS[0]), ("bedrock", NOT_TOKENS[1])] {
        let found = Found { key: "/secret/file".into(), from: KeySource::Variable(variable.to_owned()) };
        let mut headers = HeaderMap::new();
        let client = Scripted::new([]).client();
        let signing = authorize(&client, Providers::shared().find(id).unwrap(), Some(&found), &mut headers);
        assert!(!matches!(signing, Ok(Some(Signing::Done))), "{signing:?}");
        assert!(headers.is_empty(), "{headers:?}");
    }
}
