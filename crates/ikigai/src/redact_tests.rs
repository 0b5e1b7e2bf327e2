use pretty_assertions::assert_eq;

use super::*;
use crate::transport::Failure;

const KEY: &str = "sk-very/secret+key";

fn secrets() -> Secrets {
    Secrets::new([SecretString::from(KEY), SecretString::from("short")])
}

#[test]
fn a_secret_is_taken_out_in_every_usual_spelling() {
    let secrets = secrets();
    for (text, expected) in [
        ("Incorrect API key: sk-very/secret+key.", "Incorrect API key: [key]."),
        (r#"{"key":"sk-very\/secret+key"}"#, r#"{"key":"[key]"}"#),
        ("http://h/?key=sk-very%2Fsecret%2Bkey&x=1", "http://h/?key=[key]&x=1"),
        ("short texts are no secrets", "short texts are no secrets"),
    ] {
        assert_eq!(secrets.redact(text), expected);
    }
    assert_eq!(Secrets::default().redact(KEY), KEY);
    assert_eq!(format!("{secrets:?}"), "1 secrets");
}

#[test]
fn a_header_without_a_scheme_is_a_secret_as_a_whole() {
    let mut request = http::Request::get("http://host/");
    for (name, value) in [("x-session", "first-part second-part"), ("x-other", "Token third-part-of-all")] {
        let mut value = HeaderValue::from_static(value);
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    let secrets = Secrets::of(&request.body(Bytes::new()).unwrap());
    assert_eq!(
        secrets.redact("no first-part second-part, no third-part-of-all, a Token"),
        "no [key], no [key], a Token"
    );
}

#[test]
fn a_part_of_a_character_is_not_left_over() {
    let secrets = Secrets::new([SecretString::from("schlüssel-für-alle-türen-und-mehr")]);
    assert_eq!(secrets.redact("é: üssel-für-alle-türen-und-mehrü"), "é: [key]ü");
}

#[test]
fn bytes_without_a_secret_stay_as_they_are() {
    let (broken, with_key) = (Bytes::from_static(b"\xff\xfe"), Bytes::from(format!("a {KEY} b")));
    assert_eq!(secrets().redact_bytes(broken.clone()), broken);
    assert_eq!(secrets().redact_bytes(with_key), "a [key] b");
}

#[test]
fn a_key_in_two_pieces_is_removed_and_nothing_else_is_held_back() {
    let mut pieces = crate::Redactor(secrets()).pieces();
    let text = format!("a {KEY} é");
    let (one, two) = text.as_bytes().split_at(9);
    let mut passed: Vec<Bytes> =
        [one, two, b"plain.", b"\xff."].into_iter().map(|piece| pieces.push(Bytes::copy_from_slice(piece))).collect();
    passed.push(pieces.finish());
    let expected: [&[u8]; 5] = [b"a ", "[key] é".as_bytes(), b"plain.", b"\xff.", b""];
    assert_eq!(passed, expected);
}

#[test]
fn a_request_tells_its_secrets() {
    let mut request = http::Request::get("http://me:password-1@host/v1?api_key=key-in-address&limit=12345678");
    for (name, value, sensitive) in [
        ("authorization", "Bearer token-of-a-cloud", true),
        ("x-signed", "AWS4 Credential=AKID/2026, Signature=0123456789", true),
        ("x-team", "blue-and-green", false),
    ] {
        let mut value = HeaderValue::from_static(value);
        value.set_sensitive(sensitive);
        request = request.header(name, value);
    }
    let secrets = Secrets::of(&request.body(Bytes::new()).unwrap());
    let text = "token-of-a-cloud password-1 key-in-address Signature=0123456789 blue-and-green 12345678";
    assert_eq!(secrets.redact(text), "[key] [key] [key] [key] blue-and-green 12345678");
}

#[test]
fn nothing_that_hangs_on_an_error_shows_a_secret() {
    let told = || format!("no {KEY}");
    let mut provider = ikigai_core::Error::protocol(told());
    provider.code = Some(told());
    provider.error_type = Some(told());
    provider.param = Some(told());
    provider.request_id = Some(told());
    provider.provider_data = serde_json::from_value(serde_json::json!({"openai": {"echo": [KEY]}})).unwrap();
    let mut broken = ikigai_core::Response::default();
    broken.error = Some(Box::new(provider.clone()));
    provider.partial = Some(Box::new(broken.clone()));
    let transport = TransportError::new(Failure::Broken, told()).because(std::io::Error::other(told()));
    for error in [Error::new(provider).with_partial(broken), Error::new(transport)] {
        assert!(format!("{:?}", error.reason()).contains(KEY), "the secret is there before");
        let error = secrets().redact_error(error);
        let source =
            std::error::Error::source(&error).map(|source| format!("{source} {source:?} {:?}", source.source()));
        let shown = format!("{error} {error:?} {error:#?} {:?} {source:?} {:?}", error.reason(), error.partial());
        assert!(!shown.contains(KEY) && shown.contains("no [key]"), "{shown}");
    }
}
