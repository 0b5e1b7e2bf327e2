use pretty_assertions::assert_eq;

use super::*;

#[test]
fn events_nested_and_flat_say_the_same() {
    let nested = json!({"type": "error", "sequence_number": 3, "error":
        {"type": "insufficient_quota", "code": "insufficient_quota", "message": "m", "param": "p"}});
    let flat =
        json!({"type": "error", "sequence_number": 3, "code": "insufficient_quota", "message": "m", "param": "p"});
    for (event, error_type) in [(nested, Some("insufficient_quota")), (flat, None)] {
        let error = of_event(&event.to_string());
        assert_eq!(
            (error.kind, error.message.as_str(), error.code.as_deref(), error.param.as_deref()),
            (ErrorKind::Quota, "m", Some("insufficient_quota"), Some("p"))
        );
        assert_eq!(error.error_type.as_deref(), error_type);
    }
    let silent = of_event(r#"{"type": "error"}"#);
    assert_eq!((silent.kind, silent.message.is_empty()), (ErrorKind::Server, false));
}

#[test]
fn http_failures_are_read_and_written_as_in_the_other_dialect_of_the_family() {
    let body = json!({"error": {"message": "The requested model 'x' does not exist.", "type": "invalid_request_error",
        "param": "model", "code": "model_not_found"}});
    let error = decode_error(Some(404), &[("x-request-id".into(), "req_1".into())], &body.to_string());
    assert_eq!(
        (error.kind, error.status, error.request_id.as_deref()),
        (ErrorKind::NotFound, Some(404), Some("req_1"))
    );
    let wire = encode_error(&error);
    assert_eq!((wire.status, serde_json::from_slice(&wire.body).unwrap()), (404, body));
    let page = decode_error(Some(502), &[], "<html><title>Bad gateway</title></html>");
    assert_eq!((page.kind, page.message.as_str()), (ErrorKind::Server, "Bad gateway"));
}
