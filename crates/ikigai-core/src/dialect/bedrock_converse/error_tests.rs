//! Failures of every kind.

use pretty_assertions::assert_eq;

use crate::{Dialect, ErrorKind, Part};

const CONVERSE: Dialect = Dialect::BedrockConverse;

#[test]
fn the_type_decides_then_the_words_then_the_status() {
    let address = ":http://internal.amazon.com/coral/com.amazon.bedrock/";
    for (status, kind, message, expected) in [
        (429, "ThrottlingException", "Too many requests", ErrorKind::RateLimit),
        (400, "ValidationException", "The text field is blank", ErrorKind::InvalidRequest),
        (400, "ValidationException", "Input is too long for requested model.", ErrorKind::ContextTooLong),
        (403, "AccessDeniedException", "You don't have access", ErrorKind::Permission),
        (403, "ExpiredTokenException", "expired", ErrorKind::Auth),
        (404, "ResourceNotFoundException", "no such model", ErrorKind::NotFound),
        (408, "ModelTimeoutException", "slow", ErrorKind::Timeout),
        (503, "ServiceUnavailableException", "Try again", ErrorKind::Overloaded),
        (400, "ServiceQuotaExceededException", "too much", ErrorKind::Quota),
        (500, "InternalServerException", "oh", ErrorKind::Server),
        (403, "SomethingNewException", "no", ErrorKind::Permission),
    ] {
        let headers = [("X-Amzn-ErrorType".to_owned(), format!("{kind}{address}"))];
        let body = serde_json::json!({"message": message}).to_string();
        let error = CONVERSE.decode_error(Some(status), &headers, &body);
        assert_eq!((error.kind, error.message.as_str()), (expected, message));
        assert_eq!((error.error_type.as_deref(), error.status), (Some(kind), Some(status)));
        assert!(error.provider_data.part(CONVERSE, Part::Answer).get("error").is_some());
    }
}

#[test]
fn any_body_is_a_failure() {
    let headers = [("x-amzn-requestid".to_owned(), "r-1".to_owned()), ("Retry-After".to_owned(), "3".to_owned())];
    let error = CONVERSE.decode_error(Some(429), &headers, "<html>slow down</html>");
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::RateLimit, "<html>slow down</html>"));
    assert_eq!((error.request_id.as_deref(), error.retry_after_ms), (Some("r-1"), Some(3000)));
    let error = CONVERSE.decode_error(Some(500), &[], "");
    assert_eq!(error.message, "the provider answered with status 500 and no message");
    let typed = r#"{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"No."}"#;
    let error = CONVERSE.decode_error(Some(400), &[], typed);
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Permission, "No."));
    let long = CONVERSE.decode_error(None, &[], &"é".repeat(5000));
    assert!(long.message.len() <= 2048);
}
