use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn decode(status: u16, body: &str) -> Error {
    decode_error(Dialect::OpenaiChat, Some(status), &[], body)
}

fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn json_of(wire: &WireError) -> Value {
    serde_json::from_slice(&wire.body).unwrap()
}

/// Shapes and codes of the whole family, one per line: status, body, the resulting kind.
#[test]
fn every_shape_gets_its_kind() {
    use ErrorKind::*;
    let cases: &[(u16, Value, ErrorKind)] = &[
        // OpenAI: the code decides, then the type.
        (
            400,
            json!({"error": {"message": "m", "type": "invalid_request_error", "param": null, "code": "context_length_exceeded"}}),
            ContextTooLong,
        ),
        (
            400,
            json!({"error": {"message": "m", "type": "invalid_request_error", "param": "messages", "code": "string_above_max_length"}}),
            InvalidRequest,
        ),
        (400, json!({"error": {"message": "m", "type": "invalid_request_error", "code": "model_not_found"}}), NotFound),
        (
            404,
            json!({"error": {"message": "The model `x` does not exist or you do not have access to it.", "type": "invalid_request_error", "code": "model_not_found"}}),
            NotFound,
        ),
        (
            404,
            json!({"error": {"message": "tools is not supported in this model.", "type": "invalid_request_error", "param": null, "code": null}}),
            InvalidRequest,
        ),
        (
            404,
            json!({"error": {"message": "This is not a chat model and thus not supported in the v1/chat/completions endpoint.", "type": "invalid_request_error", "param": "model", "code": null}}),
            InvalidRequest,
        ),
        (
            403,
            json!({"error": {"message": "You are not allowed to sample from this model", "type": "invalid_request_error", "param": null, "code": null}}),
            Permission,
        ),
        (401, json!({"error": {"message": "m", "type": "invalid_request_error", "code": "invalid_api_key"}}), Auth),
        (403, json!({"error": {"message": "m", "code": "unsupported_country_region_territory"}}), Permission),
        (429, json!({"error": {"message": "m", "type": "tokens", "code": "rate_limit_exceeded"}}), RateLimit),
        (429, json!({"error": {"message": "m", "type": "insufficient_quota", "code": "insufficient_quota"}}), Quota),
        (429, json!({"error": {"message": "m", "type": "insufficient_quota", "code": null}}), Quota),
        (
            429,
            json!({"error": {"message": "m", "type": "insufficient_quota", "code": "project_spend_limit_exceeded"}}),
            Quota,
        ),
        (429, json!({"error": {"message": "m", "type": "rate_limit_error", "code": "slow_down"}}), RateLimit),
        (503, json!({"error": {"message": "m", "code": "slow_down"}}), Overloaded),
        (
            503,
            json!({"error": {"message": "m", "type": "service_unavailable_error", "code": "server_is_overloaded"}}),
            Overloaded,
        ),
        (500, json!({"error": {"message": "m", "type": "server_error", "code": null}}), Server),
        (504, json!({"error": {"message": "m", "type": "server_error", "code": null}}), Timeout),
        (
            400,
            json!({"error": {"message": "m", "type": "invalid_request_error", "code": "invalid_prompt"}}),
            ContentFiltered,
        ),
        // Azure.
        (
            400,
            json!({"error": {"message": "The response was filtered", "type": null, "param": "prompt", "code": "content_filter", "status": 400, "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}}}}),
            ContentFiltered,
        ),
        (401, json!({"statusCode": 401, "message": "Access denied due to invalid subscription key."}), Auth),
        (401, json!({"error": {"code": "401", "message": "Access denied."}}), Auth),
        (
            404,
            json!({"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}}),
            NotFound,
        ),
        // DeepSeek, Moonshot.
        (
            402,
            json!({"error": {"message": "Insufficient Balance", "type": "unknown_error", "param": null, "code": "invalid_request_error"}}),
            Quota,
        ),
        (
            401,
            json!({"error": {"message": "Authentication Fails", "type": "authentication_error", "param": null, "code": "invalid_request_error"}}),
            Auth,
        ),
        (429, json!({"error": {"message": "m", "type": "exceeded_current_quota_error"}}), Quota),
        // Groq.
        (
            413,
            json!({"error": {"message": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000", "type": "tokens", "code": "rate_limit_exceeded"}}),
            RateLimit,
        ),
        (
            400,
            json!({"error": {"message": "Failed to call a function.", "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": "{"}}),
            InvalidRequest,
        ),
        (
            400,
            json!({"error": {"message": "The model `x` has been decommissioned", "type": "invalid_request_error", "code": "model_decommissioned"}}),
            NotFound,
        ),
        (498, json!({"error": {"message": "m"}}), Overloaded),
        // Mistral.
        (
            422,
            json!({"detail": [{"loc": ["body", "messages", 0], "msg": "Field required", "type": "missing"}]}),
            InvalidRequest,
        ),
        (401, json!({"detail": "Invalid API Key"}), Auth),
        (
            400,
            json!({"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "bad"}]}, "type": "invalid_request_message_order", "param": null, "code": "3230"}),
            InvalidRequest,
        ),
        (
            429,
            json!({"object": "error", "message": "Service tier capacity exceeded for this model.", "type": "service_tier_capacity_exceeded", "param": null, "code": "3505"}),
            RateLimit,
        ),
        // xAI.
        (
            404,
            json!({"code": "Some requested entity was not found", "error": "The model grok-x was deprecated."}),
            NotFound,
        ),
        (400, json!({"code": "invalid-argument", "error": "Model not found: grok-x"}), NotFound),
        (
            400,
            json!({"code": "Client specified an invalid argument", "error": "Incorrect API key provided: xx***xx."}),
            Auth,
        ),
        (
            503,
            json!({"code": "The service is currently unavailable", "error": "Service temporarily unavailable."}),
            Overloaded,
        ),
        // OpenRouter.
        (
            429,
            json!({"error": {"code": 429, "message": "Provider returned error", "metadata": {"provider_name": "P", "raw": "m is temporarily rate-limited upstream."}}, "user_id": "u"}),
            RateLimit,
        ),
        (
            402,
            json!({"error": {"code": 402, "message": "This request requires more credits, or fewer max_tokens."}}),
            Quota,
        ),
        (
            403,
            json!({"error": {"code": 403, "message": "Input was flagged", "metadata": {"reasons": ["violence"], "provider_name": "P"}}}),
            ContentFiltered,
        ),
        (
            403,
            json!({"error": {"code": 403, "message": "Provider returned error", "metadata": {"provider_name": "P", "raw": "{\"code\":\"The caller does not have permission\",\"error\":\"Content violates usage guidelines.\"}"}}}),
            ContentFiltered,
        ),
        (
            400,
            json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": "{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"}}}),
            ContextTooLong,
        ),
        (400, json!({"error": {"code": 400, "message": "openai/x is not a valid model ID"}}), NotFound),
        (
            404,
            json!({"error": {"code": 404, "message": "No endpoints found that support the provided 'tool_choice' value."}}),
            InvalidRequest,
        ),
        (404, json!({"error": {"code": 404, "message": "No endpoints found for qwen/x."}}), NotFound),
        // Ollama, vLLM, llama.cpp, Bedrock's gateway and others.
        (404, json!({"error": "model 'x' not found"}), NotFound),
        (
            400,
            json!({"object": "error", "message": "This model's maximum context length is 4096 tokens.", "type": "BadRequestError", "param": null, "code": 400}),
            ContextTooLong,
        ),
        (
            400,
            json!({"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}),
            ContextTooLong,
        ),
        (
            500,
            json!({"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}}),
            Server,
        ),
        (
            400,
            json!({"code": 400, "message": "Validation: Temperature must be between 0 and 2, got 100", "type": "Bad Request"}),
            InvalidRequest,
        ),
        (400, json!([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}]), Auth),
        (403, json!({"success": false, "errors": [{"code": 10000, "message": "Authentication error"}]}), Permission),
    ];
    for (status, body, kind) in cases {
        let error = decode(*status, &body.to_string());
        assert_eq!(error.kind, *kind, "{status} {body}");
        assert_eq!(error.status, Some(*status));
        if *kind == Quota {
            assert!(!error.is_retryable(), "{body}");
        }
    }
}

#[test]
fn the_status_decides_where_there_are_no_words() {
    use ErrorKind::*;
    let kinds: Vec<ErrorKind> =
        [400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 422, 429, 498, 499, 500, 501, 502, 503, 504, 524, 529, 302]
            .iter()
            .map(|status| decode(*status, "").kind)
            .collect();
    assert_eq!(
        kinds,
        [
            InvalidRequest,
            Auth,
            Quota,
            Permission,
            NotFound,
            InvalidRequest,
            Timeout,
            Server,
            NotFound,
            RequestTooLarge,
            InvalidRequest,
            RateLimit,
            Overloaded,
            Cancelled,
            Server,
            Server,
            Server,
            Overloaded,
            Timeout,
            Timeout,
            Overloaded,
            Server,
        ]
    );
}

#[test]
fn a_whole_error_keeps_the_providers_words() {
    let body = json!({"error": {
        "message": "Unsupported value: 'x'", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"
    }});
    let error = decode_error(Dialect::OpenaiChat, Some(400), &headers(&[("X-Request-Id", "req_1")]), &body.to_string());
    let mut expected = Error::new(ErrorKind::InvalidRequest, "Unsupported value: 'x'");
    expected.status = Some(400);
    expected.code = Some("unsupported_value".into());
    expected.error_type = Some("invalid_request_error".into());
    expected.param = Some("temperature".into());
    expected.request_id = Some("req_1".into());
    expected.provider_data.set_part(Dialect::OpenaiChat, Part::Answer, "error", body["error"].clone());
    assert_eq!(error, expected);
}

#[test]
fn messages_come_from_where_they_stand() {
    let text = |status, body: Value| decode(status, &body.to_string()).message;
    assert_eq!(text(503, json!({"error": {"error": {"message": "inner", "type": "t"}}})), "inner");
    assert_eq!(
        text(
            422,
            json!({"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}, {"loc": ["body", "n"], "msg": "bad"}]})
        ),
        "body.messages.0: Field required; body.n: bad"
    );
    assert_eq!(
        text(
            429,
            json!({"error": {"code": 429, "message": "Provider returned error", "metadata": {"raw": "slow down, please"}}})
        ),
        "slow down, please"
    );
    assert_eq!(
        text(
            400,
            json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": "{\"error\":{\"message\":\"too small\"}}"}}})
        ),
        "too small"
    );
    assert_eq!(text(500, json!({"error": {}})), r#"{"error":{}}"#);
    assert_eq!(decode(502, "").message, "the provider answered with status 502 and gave no reason");
    assert_eq!(decode(502, "<html><head><TITLE> 502 Bad Gateway </TITLE></head></html>").message, "502 Bad Gateway");
    assert_eq!(decode(500, "upstream connect error").message, "upstream connect error");
    assert_eq!(decode(500, "{\"error\":{\"mess").message, "{\"error\":{\"mess");
    assert_eq!(decode(400, "event: error\ndata: {\"error\":{\"message\":\"in a frame\"}}\n\n").message, "in a frame");
    let long = "ä".repeat(10_000);
    assert_eq!(decode(500, &long).message.len(), LIMIT / 2);
    assert_eq!(decode(500, &json!({"error": {"message": long}}).to_string()).message.len(), LIMIT);
}

#[test]
fn how_long_to_wait() {
    let wait = |pairs: &[(&str, &str)], message: &str| {
        let body = json!({"error": {"message": message, "code": "rate_limit_exceeded"}}).to_string();
        decode_error(Dialect::OpenaiChat, Some(429), &headers(pairs), &body).retry_after_ms
    };
    assert_eq!(wait(&[("retry-after-ms", "1500"), ("retry-after", "9")], ""), Some(1500));
    assert_eq!(wait(&[("Retry-After", "2")], ""), Some(2000));
    assert_eq!(wait(&[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")], ""), None);
    // The longer of the exhausted ones; the other one does not matter.
    let both = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "20ms"),
        ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-reset-tokens", "1m26.4s"),
    ];
    assert_eq!(wait(&both, ""), Some(86_400));
    let one = [
        ("x-ratelimit-remaining-requests", "0"),
        ("x-ratelimit-reset-requests", "6m0s"),
        ("x-ratelimit-remaining-tokens", "100"),
        ("x-ratelimit-reset-tokens", "1h"),
    ];
    assert_eq!(wait(&one, ""), Some(360_000));
    assert_eq!(wait(&[], "Rate limit reached. Please try again in 7m26.4s. Visit us."), Some(446_400));
    assert_eq!(wait(&[], "Please try again in 5 minutes."), None);
    assert_eq!(wait(&[], "no hint"), None);
    // Waiting does not restore credit, whatever the headers say about requests.
    let body = json!({"error": {"message": "m", "code": "insufficient_quota"}}).to_string();
    let quota = decode_error(Dialect::OpenaiChat, Some(429), &headers(&both), &body);
    assert_eq!((quota.retry_after_ms, quota.is_retryable()), (None, false));
}

#[test]
fn the_server_may_say_whether_to_try_again() {
    let retryable = |pairs: &[(&str, &str)], status| {
        decode_error(Dialect::OpenaiChat, Some(status), &headers(pairs), "").is_retryable()
    };
    assert!(!retryable(&[("x-should-retry", "false")], 500));
    assert!(retryable(&[("x-should-retry", "true")], 400));
    let body = json!({"error": {"message": "Request too large for gpt-x on tokens per min (TPM): Limit 1, Requested 2.", "type": "tokens", "code": "rate_limit_exceeded"}});
    let hopeless = decode(429, &body.to_string());
    assert_eq!((hopeless.kind, hopeless.is_retryable()), (ErrorKind::RateLimit, false));
}

#[test]
fn amazon_names_the_type_in_a_header() {
    let pairs = headers(&[("x-amzn-ErrorType", "ThrottlingException:http://internal"), ("x-amzn-RequestId", "r1")]);
    let error = decode_error(Dialect::OpenaiChat, Some(400), &pairs, r#"{"message":"Too many requests"}"#);
    assert_eq!(
        (error.kind, error.error_type.as_deref(), error.request_id.as_deref()),
        (ErrorKind::RateLimit, Some("ThrottlingException"), Some("r1"))
    );
}

#[test]
fn a_failure_hidden_in_a_success_is_found_and_an_answer_is_not() {
    let kind = |body: Value| find(Dialect::OpenaiChat, &body).map(|error| error.kind);
    assert_eq!(kind(json!({"error": {"code": 502, "message": "down"}})), Some(ErrorKind::Server));
    assert_eq!(
        kind(json!({"code": "The service is currently unavailable", "error": "x"})),
        Some(ErrorKind::Overloaded)
    );
    assert_eq!(kind(json!({"error": "The service is currently unavailable"})), Some(ErrorKind::Overloaded));
    assert_eq!(
        kind(json!({"error": {"message": "m", "type": "invalid_request_error"}})),
        Some(ErrorKind::InvalidRequest)
    );
    assert_eq!(
        kind(json!({"id": "x", "choices": null, "error": {"code": 429, "message": "m"}})),
        Some(ErrorKind::RateLimit)
    );
    assert_eq!(kind(json!({"object": "error", "message": "m", "code": 400})), Some(ErrorKind::InvalidRequest));
    assert_eq!(kind(json!([{"error": {"code": 400, "message": "m"}}])), Some(ErrorKind::InvalidRequest));
    assert_eq!(kind(json!({"message": "Rate limited"})), Some(ErrorKind::RateLimit));
    // MiniMax has its own codes.
    let base =
        |code: u64| kind(json!({"id": "x", "choices": null, "base_resp": {"status_code": code, "status_msg": "m"}}));
    assert_eq!(base(1002), Some(ErrorKind::RateLimit));
    assert_eq!(base(1004), Some(ErrorKind::Auth));
    assert_eq!(base(1008), Some(ErrorKind::Quota));
    assert_eq!(base(1027), Some(ErrorKind::ContentFiltered));
    assert_eq!(base(2013), Some(ErrorKind::InvalidRequest));
    assert_eq!(base(1000), Some(ErrorKind::Server));
    for answer in [
        json!({"id": "x", "choices": [], "error": null}),
        json!({"id": "x", "choices": null, "base_resp": {"status_code": 0, "status_msg": ""}}),
        json!([1]),
        json!([]),
        json!({"output": [], "error": null, "message": "hi"}),
        json!({"choices": [], "error": {}}),
        json!("text"),
        json!({}),
    ] {
        assert_eq!(find(Dialect::OpenaiChat, &answer), None, "{answer}");
    }
}

#[test]
fn every_kind_is_written_as_the_api_would() {
    use ErrorKind::*;
    let written = |kind| {
        let wire = encode_error(&Error::new(kind, "m"));
        let error = &json_of(&wire)["error"];
        (wire.status, error["type"].as_str().unwrap().to_owned(), error["code"].as_str().map(str::to_owned))
    };
    let table = [
        (Auth, 401, "invalid_request_error", Some("invalid_api_key")),
        (Permission, 403, "invalid_request_error", None),
        (InvalidRequest, 400, "invalid_request_error", None),
        (NotFound, 404, "invalid_request_error", Some("model_not_found")),
        (RateLimit, 429, "rate_limit_error", Some("rate_limit_exceeded")),
        (Quota, 429, "insufficient_quota", Some("insufficient_quota")),
        (ContextTooLong, 400, "invalid_request_error", Some("context_length_exceeded")),
        (ContentFiltered, 400, "invalid_request_error", Some("content_filter")),
        (Overloaded, 503, "service_unavailable_error", Some("server_is_overloaded")),
        (Server, 500, "server_error", None),
        (Timeout, 504, "server_error", Some("timeout")),
        (Network, 502, "server_error", Some("upstream_error")),
        (Protocol, 502, "server_error", Some("upstream_error")),
        (Cancelled, 499, "server_error", Some("cancelled")),
    ];
    for (kind, status, error_type, code) in table {
        assert_eq!(written(kind), (status, error_type.to_owned(), code.map(str::to_owned)), "{kind}");
        if kind != Cancelled && kind != Network && kind != Protocol {
            // What we write is read as the same kind.
            let wire = encode_error(&Error::new(kind, "m"));
            assert_eq!(decode(wire.status, &json_of(&wire).to_string()).kind, kind);
        }
    }
}

#[test]
fn headers_and_the_familys_own_words_are_passed_on() {
    let mut error = Error::new(ErrorKind::RateLimit, "slow down");
    error.retry_after_ms = Some(1500);
    error.request_id = Some("req_1".into());
    error.retryable = Some(false);
    error.error_type = Some("tokens".into());
    error.code = Some("rate_limit_exceeded".into());
    error.provider_data.set_part(Dialect::OpenaiChat, Part::Answer, "error", json!({"message": "slow down"}));
    let wire = encode_error(&error);
    let sent =
        [("x-request-id", "req_1"), ("retry-after", "2"), ("retry-after-ms", "1500"), ("x-should-retry", "false")];
    assert_eq!((wire.status, &wire.headers), (429, &headers(&sent)));
    assert_eq!(
        json_of(&wire),
        json!({"error": {"message": "slow down", "type": "tokens", "param": null, "code": "rate_limit_exceeded"}})
    );
    let mut foreign = Error::new(ErrorKind::Overloaded, "Overloaded");
    foreign.error_type = Some("overloaded_error".into());
    foreign.code = Some("529".into());
    assert_eq!(
        json_of(&encode_error(&foreign)),
        json!({"error": {"message": "Overloaded", "type": "service_unavailable_error", "param": null, "code": "server_is_overloaded"}})
    );
}

#[test]
fn every_word_about_a_content_filter_is_one() {
    for (field, word) in
        [("code", "content_filter"), ("code", "content_filter_error"), ("type", "prompt_content_filtered")]
    {
        let body = json!({"error": {"message": "blocked", field: word}}).to_string();
        for status in [400, 500] {
            let error = decode_error(Dialect::OpenaiChat, Some(status), &[], &body);
            assert_eq!(
                (error.kind, error.is_retryable()),
                (ErrorKind::ContentFiltered, false),
                "{field} {word} {status}"
            );
        }
    }
}
