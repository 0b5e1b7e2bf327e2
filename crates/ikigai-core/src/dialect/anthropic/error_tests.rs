use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn body(error_type: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": error_type, "message": message}, "request_id": "req_1"}).to_string()
}

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn every_type_has_its_kind() {
    let cases = [
        (400, "invalid_request_error", "tools.0: no", ErrorKind::InvalidRequest),
        (400, "invalid_request_error", "prompt is too long: 201000 tokens > 200000 maximum", ErrorKind::ContextTooLong),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 1 + 2 > 2",
            ErrorKind::ContextTooLong,
        ),
        (
            400,
            "invalid_request_error",
            "You have reached your specified API usage limits. You will regain access on …",
            ErrorKind::Quota,
        ),
        (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", ErrorKind::Quota),
        (400, "invalid_request_error", "Output blocked by content filtering policy", ErrorKind::ContentFiltered),
        (401, "authentication_error", "invalid x-api-key", ErrorKind::Auth),
        (402, "billing_error", "pay", ErrorKind::Quota),
        (403, "permission_error", "no", ErrorKind::Permission),
        (404, "not_found_error", "model: claude-x", ErrorKind::NotFound),
        (409, "conflict_error", "again", ErrorKind::Server),
        (413, "request_too_large", "too large", ErrorKind::RequestTooLarge),
        (429, "rate_limit_error", "slow down", ErrorKind::RateLimit),
        (500, "api_error", "broken", ErrorKind::Server),
        (504, "timeout_error", "late", ErrorKind::Timeout),
        (529, "overloaded_error", "Overloaded", ErrorKind::Overloaded),
        (418, "a_new_error", "teapot", ErrorKind::InvalidRequest),
        (599, "a_new_error", "what", ErrorKind::Server),
    ];
    for (status, error_type, message, kind) in cases {
        let wire = body(error_type, message);
        let error = decode_error(Some(status), &[], &wire);
        let mut expected = Error::new(kind, message);
        expected.status = Some(status);
        expected.error_type = Some(error_type.to_owned());
        expected.request_id = Some("req_1".to_owned());
        expected.provider_data.set_part(
            DIALECT,
            Part::Answer,
            "error",
            json!({"type": error_type, "message": message}),
        );
        assert_eq!(error, expected);
        // And back, including the status.
        let again = encode_error(&error);
        assert_eq!((again.status, String::from_utf8(again.body).unwrap()), (status, wire));
    }
}

#[test]
fn a_spend_limit_is_no_rate_limit() {
    let wire = json!({"type": "error", "error": {
        "type": "rate_limit_error", "message": "limit", "details": {"error_code": "enforced_spend_limit_reached"}}});
    let error = decode_error(Some(429), &[], &wire.to_string());
    assert_eq!((error.kind, error.code.as_deref()), (ErrorKind::Quota, Some("enforced_spend_limit_reached")));
    assert!(!error.is_retryable());
}

#[test]
fn headers_tell_the_wait_the_request_and_whether_to_try_again() {
    let wire = body("rate_limit_error", "slow down");
    let given = headers(&[("Retry-After", "7"), ("x-should-retry", "false"), ("request-id", "req_h")]);
    let error = decode_error(Some(429), &given, &wire);
    assert_eq!(
        (error.retry_after_ms, error.retryable, error.request_id.as_deref()),
        (Some(7000), Some(false), Some("req_1"))
    );
    let given = headers(&[("retry-after-ms", "150.5"), ("retry-after", "9"), ("x-amzn-requestid", "a")]);
    let error = decode_error(Some(429), &given, "");
    assert_eq!((error.retry_after_ms, error.request_id.as_deref()), (Some(151), Some("a")));
    for odd in ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "NaN", "inf", ""] {
        assert_eq!(decode_error(Some(429), &headers(&[("retry-after", odd)]), "").retry_after_ms, None, "{odd}");
    }
}

#[test]
fn bodies_that_are_no_error_objects_keep_their_words() {
    let cases = [
        (Some(502), "<html>Bad Gateway</html>", ErrorKind::Server, "<html>Bad Gateway</html>"),
        (Some(503), "upstream connect error", ErrorKind::Overloaded, "upstream connect error"),
        (Some(500), "", ErrorKind::Server, "the provider answered with status 500 and no message"),
        (None, "", ErrorKind::Server, "the provider failed without a message"),
        (Some(400), r#"{"type":"error","error":{"ty"#, ErrorKind::InvalidRequest, r#"{"type":"error","error":{"ty"#),
        (Some(401), r#"{"error":"no key"}"#, ErrorKind::Auth, "no key"),
        (Some(400), r#"{"message":"prompt is too long"}"#, ErrorKind::ContextTooLong, "prompt is too long"),
        (Some(400), "[1]", ErrorKind::InvalidRequest, "[1]"),
        (Some(400), "{}", ErrorKind::InvalidRequest, "{}"),
    ];
    for (status, wire, kind, message) in cases {
        let error = decode_error(status, &[], wire);
        assert_eq!((error.kind, error.message.as_str(), error.status), (kind, message, status), "{wire}");
    }
    let long = "é".repeat(3000);
    assert_eq!(decode_error(Some(500), &[], &long).message, "é".repeat(1024));
}

#[test]
fn amazon_names_the_type_in_a_header() {
    let given = headers(&[("x-amzn-ErrorType", "ThrottlingException:http://internal.amazon.com/")]);
    let error = decode_error(Some(429), &given, r#"{"message":"Too many requests"}"#);
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::RateLimit, "Too many requests"));
}

#[test]
fn every_kind_has_its_status_and_type_for_clients() {
    let cases = [
        (ErrorKind::Auth, 401, "authentication_error"),
        (ErrorKind::Permission, 403, "permission_error"),
        (ErrorKind::InvalidRequest, 400, "invalid_request_error"),
        (ErrorKind::NotFound, 404, "not_found_error"),
        (ErrorKind::RateLimit, 429, "rate_limit_error"),
        (ErrorKind::Quota, 402, "billing_error"),
        (ErrorKind::ContextTooLong, 400, "invalid_request_error"),
        (ErrorKind::ContentFiltered, 400, "invalid_request_error"),
        (ErrorKind::Overloaded, 529, "overloaded_error"),
        (ErrorKind::Server, 500, "api_error"),
        (ErrorKind::Timeout, 504, "timeout_error"),
        (ErrorKind::Network, 500, "api_error"),
        (ErrorKind::Protocol, 500, "api_error"),
        (ErrorKind::Cancelled, 499, "api_error"),
    ];
    for (kind, status, error_type) in cases {
        let mut error = Error::new(kind, "prompt is too long: words");
        // Another API's codes and status mean nothing to this one's clients.
        error.status = Some(418);
        error.error_type = Some("RESOURCE_EXHAUSTED".to_owned());
        let wire = encode_error(&error);
        let expected = json!({"type": "error", "error": {"type": error_type, "message": "prompt is too long: words"}});
        assert_eq!(
            (wire.status, serde_json::from_slice::<serde_json::Value>(&wire.body).unwrap()),
            (status, expected),
            "{kind}"
        );
    }
}

#[test]
fn clients_learn_the_wait_and_know_a_long_prompt_by_its_words() {
    let mut error = Error::new(ErrorKind::ContextTooLong, "maximum context length is 10");
    error.retry_after_ms = Some(1500);
    error.request_id = Some("r".to_owned());
    error.retryable = Some(false);
    let wire = encode_error(&error);
    assert_eq!(wire.headers, headers(&[("request-id", "r"), ("retry-after", "2"), ("x-should-retry", "false")]));
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&wire.body).unwrap(),
        json!({"type": "error", "request_id": "r", "error": {
            "type": "invalid_request_error", "message": "prompt is too long: maximum context length is 10"}})
    );
}
