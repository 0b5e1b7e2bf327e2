use pretty_assertions::assert_eq;

use super::*;

fn body(code: u16, status: &str, message: &str, details: Value) -> String {
    json!({"error": {"code": code, "message": message, "status": status, "details": details}}).to_string()
}

fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

fn info(reason: &str) -> Value {
    json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}])
}

fn quota(violation: Value) -> Value {
    json!([{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}])
}

#[test]
fn the_word_decides_and_where_it_is_ambiguous_the_details() {
    use ErrorKind::*;
    for (code, word, message, details, kind) in [
        (400, "INVALID_ARGUMENT", "Invalid JSON payload received.", json!([]), InvalidRequest),
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", info("API_KEY_INVALID"), Auth),
        (400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", json!([]), Auth),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            json!([]),
            ContextTooLong,
        ),
        (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", json!([]), Permission),
        (400, "OUT_OF_RANGE", "out of range", json!([]), InvalidRequest),
        (401, "UNAUTHENTICATED", "no credentials", json!([]), Auth),
        (402, "RESOURCE_EXHAUSTED", "Your prepaid balance is empty.", json!([]), Quota),
        (403, "PERMISSION_DENIED", "not for you", info("SERVICE_DISABLED"), Permission),
        (403, "PERMISSION_DENIED", "blocked", info("API_KEY_SERVICE_BLOCKED"), Auth),
        (403, "PERMISSION_DENIED", "Your API key was reported as leaked.", json!([]), Auth),
        (404, "NOT_FOUND", "models/x is not found for API version v1beta", json!([]), NotFound),
        (409, "ABORTED", "aborted", json!([]), Server),
        (409, "ALREADY_EXISTS", "exists", json!([]), InvalidRequest),
        (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.", json!([]), RateLimit),
        (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, limit: 0", json!([]), Quota),
        (
            429,
            "RESOURCE_EXHAUSTED",
            "exceeded",
            quota(json!({"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"})),
            Quota,
        ),
        (
            429,
            "RESOURCE_EXHAUSTED",
            "exceeded",
            quota(json!({"quotaId": "GenerateRequestsPerMinute", "quotaValue": "0"})),
            Quota,
        ),
        (
            429,
            "RESOURCE_EXHAUSTED",
            "exceeded",
            quota(json!({"quotaId": "GenerateRequestsPerMinute", "quotaValue": "10"})),
            RateLimit,
        ),
        (429, "RESOURCE_EXHAUSTED", "Please retry in 10h17m5.7s.", json!([]), Quota),
        (499, "CANCELLED", "cancelled", json!([]), Cancelled),
        (500, "INTERNAL", "An internal error has occurred.", json!([]), Server),
        (500, "UNKNOWN", "unknown", json!([]), Server),
        (501, "UNIMPLEMENTED", "not here", json!([]), InvalidRequest),
        (503, "UNAVAILABLE", "The model is overloaded. Please try again later.", json!([]), Overloaded),
        (504, "DEADLINE_EXCEEDED", "too slow", json!([]), Timeout),
    ] {
        let error = decode_error(Some(code), &[], &body(code, word, message, details));
        assert_eq!((error.kind, error.error_type.as_deref(), error.message.as_str()), (kind, Some(word), message));
    }
}

#[test]
fn without_a_word_the_status_decides() {
    use ErrorKind::*;
    for (status, kind) in [
        (400, InvalidRequest),
        (401, Auth),
        (402, Quota),
        (403, Permission),
        (404, NotFound),
        (408, Timeout),
        (409, Server),
        (413, RequestTooLarge),
        (422, InvalidRequest),
        (429, RateLimit),
        (499, Cancelled),
        (500, Server),
        (501, InvalidRequest),
        (502, Server),
        (503, Overloaded),
        (504, Timeout),
        (529, Server),
    ] {
        assert_eq!(decode_error(Some(status), &[], "<html>Bad luck</html>").kind, kind, "{status}");
    }
}

#[test]
fn everything_that_the_provider_says_is_kept() {
    let text = body(
        429,
        "RESOURCE_EXHAUSTED",
        "Please retry in 20.223932614s.",
        json!([
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"},
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "contents[0]", "description": "x"}]},
        ]),
    );
    let error = decode_error(Some(429), &[("X-Goog-Request-Id".to_owned(), "r1".to_owned())], &text);
    let raw: Value = serde_json::from_str(&text).unwrap();
    let expected = json!({
        "kind": "rate_limit", "message": "Please retry in 20.223932614s.", "status": 429, "code": "429",
        "type": "RESOURCE_EXHAUSTED", "param": "contents[0]", "request_id": "r1", "retry_after_ms": 34400,
        "provider_data": {"gemini": {"response": {"error": raw["error"]}}},
    });
    assert_eq!(serde_json::to_value(&error).unwrap(), expected);
    // A client of this dialect gets exactly the same.
    let wire = encode_error(&error);
    assert_eq!((wire.status, json_of(&wire.body)), (429, raw));
    assert_eq!(wire.headers, [("retry-after".to_owned(), "35".to_owned())]);
}

#[test]
fn any_body_gives_an_error() {
    for (text, message) in [
        ("", "the provider answered with status 502 and an empty body"),
        ("  \n", "the provider answered with status 502 and an empty body"),
        ("<html>502</html>", "<html>502</html>"),
        (r#"{"error":"plain"}"#, "plain"),
        (r#"[{"error":{"code":503,"message":"in a list","status":"UNAVAILABLE"}}]"#, "in a list"),
        (r#"{"error":{"code":400}}"#, "the provider gave no message"),
        (r#"{"error":{"mess"#, r#"{"error":{"mess"#),
        ("null", "null"),
        (r#"{"error":null}"#, r#"{"error":null}"#),
    ] {
        assert_eq!(decode_error(Some(502), &[], text).message, message);
    }
    assert_eq!(decode_error(None, &[], "").message, "the provider answered with an empty body");
    // Long bodies are cut between characters, long details are dropped.
    assert_eq!(decode_error(Some(500), &[], &"é".repeat(3000)).message.len(), 2048);
    let long = body(500, "INTERNAL", "m", json!([{"detail": "x".repeat(5000)}]));
    let kept = decode_error(Some(500), &[], &long).provider_data;
    assert_eq!(
        kept.part(DIALECT, Part::Answer).get("error"),
        Some(&crate::Json::from(json!({"code": 500, "message": "m", "status": "INTERNAL"})))
    );
}

#[test]
fn string_codes_of_the_newer_api_are_read() {
    for (code, kind) in [
        ("invalid_request", ErrorKind::InvalidRequest),
        ("quota_exceeded", ErrorKind::RateLimit),
        ("payment_required", ErrorKind::Quota),
        ("not_found", ErrorKind::NotFound),
    ] {
        let error = decode_error(None, &[], &json!({"error": {"code": code, "message": "m"}}).to_string());
        assert_eq!((error.kind, error.code.as_deref()), (kind, Some(code)));
    }
}

#[test]
fn waiting_times_are_read_from_everywhere() {
    for (text, millis) in [
        ("34.4s", Some(34_400)),
        ("60s", Some(60_000)),
        ("500ms", Some(500)),
        ("1m26.4s", Some(86_400)),
        ("10h17m5.7s", Some(37_025_700)),
        ("6ms", Some(6)),
        ("", None),
        ("soon", None),
        (".s", None),
    ] {
        assert_eq!(duration_ms(text), millis, "{text}");
    }
    assert_eq!(wait_in("Quota. Please retry in 20.223932614s."), Some(20_224));
    assert_eq!(wait_in("nothing of that kind"), None);
    let headers = [("Retry-After".to_owned(), "7".to_owned())];
    assert_eq!(decode_error(Some(429), &headers, "").retry_after_ms, Some(7000));
    let headers = [("retry-after-ms".to_owned(), "1500".to_owned()), ("retry-after".to_owned(), "7".to_owned())];
    assert_eq!(decode_error(Some(429), &headers, "").retry_after_ms, Some(1500));
}

#[test]
fn every_kind_has_a_status_and_a_word() {
    use ErrorKind::*;
    for (kind, status, word) in [
        (Auth, 401, "UNAUTHENTICATED"),
        (Permission, 403, "PERMISSION_DENIED"),
        (InvalidRequest, 400, "INVALID_ARGUMENT"),
        (NotFound, 404, "NOT_FOUND"),
        (RateLimit, 429, "RESOURCE_EXHAUSTED"),
        (Quota, 402, "RESOURCE_EXHAUSTED"),
        (ContextTooLong, 400, "INVALID_ARGUMENT"),
        (ContentFiltered, 400, "INVALID_ARGUMENT"),
        (Overloaded, 503, "UNAVAILABLE"),
        (Server, 500, "INTERNAL"),
        (Timeout, 504, "DEADLINE_EXCEEDED"),
        (Network, 500, "INTERNAL"),
        (Protocol, 500, "INTERNAL"),
        (Cancelled, 499, "CANCELLED"),
    ] {
        let wire = encode_error(&Error::new(kind, "m"));
        assert_eq!(
            (wire.status, &json_of(&wire.body)["error"]["code"], &json_of(&wire.body)["error"]["status"]),
            (status, &json!(status), &json!(word))
        );
        // What we write is read as the same kind, if the dialect has a status for it.
        let back = decode_error(Some(wire.status), &[], std::str::from_utf8(&wire.body).unwrap()).kind;
        let expected = match kind {
            ContentFiltered => InvalidRequest,
            Network | Protocol => Server,
            kind => kind,
        };
        assert_eq!(back, expected);
    }
}

#[test]
fn a_foreign_error_is_written_with_its_waiting_time() {
    let mut error = Error::new(ErrorKind::RateLimit, "slow down");
    error.retry_after_ms = Some(1500);
    error.status = Some(529);
    let wire = encode_error(&error);
    assert_eq!(
        (wire.status, wire.headers, json_of(&wire.body)),
        (
            429,
            vec![("retry-after".to_owned(), "2".to_owned())],
            json!({"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED", "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}]}}),
        )
    );
    let long = Error::new(ErrorKind::ContextTooLong, "prompt is too long");
    assert_eq!(
        json_of(&encode_error(&long).body)["error"]["message"],
        "The input token count exceeds the maximum number of tokens allowed. prompt is too long",
    );
}
