//! Which kind of failure it is: by the provider's words, then by its sentences, then by the status.

use crate::ErrorKind;

/// Everything that may tell the kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clues<'a> {
    pub(super) code: Option<&'a str>,
    pub(super) error_type: Option<&'a str>,
    pub(super) message: &'a str,
    pub(super) status: Option<u16>,
    /// A moderation gave its reasons.
    pub(super) moderated: bool,
}

/// The kind, and whether the words left no doubt about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) kind: ErrorKind,
    pub(super) retryable: Option<bool>,
    /// Decided by words or sentences; else by the status alone.
    pub(super) certain: bool,
}

pub(super) fn classify(clues: &Clues<'_>) -> Verdict {
    // Some write a sentence where others have a code.
    let message = format!("{} {}", clues.message, clues.code.unwrap_or_default()).to_lowercase();
    let hopeless = message.contains("request too large")
        && (clues.status == Some(429) || clues.code == Some("rate_limit_exceeded") || message.contains("per min"));
    if hopeless {
        // It asks for more than a whole minute's allowance: waiting does not help.
        return Verdict { kind: ErrorKind::RateLimit, retryable: Some(false), certain: true };
    }
    let certain = |kind| Verdict { kind, retryable: None, certain: true };
    // Azure and its copies have several words for it: `content_filter_error`, `prompt_content_filtered`.
    if [clues.code, clues.error_type].into_iter().flatten().any(|word| word.contains("content_filter")) {
        return certain(ErrorKind::ContentFiltered);
    }
    if let Some(kind) =
        [clues.code, clues.error_type].into_iter().flatten().find_map(|word| by_word(word, clues.status))
    {
        return certain(kind);
    }
    if clues.moderated {
        return certain(ErrorKind::ContentFiltered);
    }
    if let Some(kind) = by_sentence(&message, clues) {
        return certain(kind);
    }
    let kind = match clues.status {
        Some(status) => by_status(status),
        None => {
            [clues.code, clues.error_type].into_iter().flatten().find_map(by_weak_word).unwrap_or(ErrorKind::Server)
        }
    };
    Verdict { kind, retryable: None, certain: false }
}

/// Words that mean one thing whatever the status says.
fn by_word(word: &str, status: Option<u16>) -> Option<ErrorKind> {
    Some(match word {
        "context_length_exceeded" | "exceed_context_size_error" | "model_context_window_exceeded" => {
            ErrorKind::ContextTooLong
        }
        "content_policy_violation"
        | "invalid_prompt"
        | "cyber_policy"
        | "bio_policy"
        | "misalignment_policy_violation"
        | "image_content_policy_violation"
        | "moderation_blocked"
        | "ResponsibleAIPolicyViolation" => ErrorKind::ContentFiltered,
        "insufficient_quota"
        | "credit_balance_exhausted"
        | "organization_spend_limit_exceeded"
        | "project_spend_limit_exceeded"
        | "organization_usage_limit_exceeded"
        | "billing_hard_limit_reached"
        | "billing_not_active"
        | "billing_error"
        | "insufficient_balance"
        | "insufficient_credits"
        | "payment_required"
        | "quota_exceeded"
        | "exceeded_current_quota_error"
        | "ServiceQuotaExceededException" => ErrorKind::Quota,
        // Once a word of 503, now one of 429.
        "slow_down" if status == Some(503) => ErrorKind::Overloaded,
        "slow_down"
        | "rate_limit_exceeded"
        | "rate_limit_error"
        | "rate_limited"
        | "rate_limit_reached_error"
        | "too_many_requests"
        | "ThrottlingException" => ErrorKind::RateLimit,
        "model_not_found"
        | "model_decommissioned"
        | "previous_response_not_found"
        | "not_found"
        | "not_found_error"
        | "resource_not_found_error"
        | "DeploymentNotFound"
        | "ResourceNotFoundException"
        | "NotFoundError"
        | "NOT_FOUND"
        | "image_file_not_found" => ErrorKind::NotFound,
        "invalid_api_key"
        | "invalid_organization"
        | "mismatched_organization"
        | "authentication_error"
        | "invalid_authentication_error"
        | "incorrect_api_key_error"
        | "ip_not_authorized"
        | "unauthorized"
        | "UNAUTHENTICATED"
        | "AuthenticationError"
        | "UnrecognizedClientException"
        | "ExpiredTokenException" => ErrorKind::Auth,
        "unsupported_country_region_territory"
        | "permission_error"
        | "permission_denied"
        | "permission_denied_error"
        | "forbidden"
        | "missing_scope"
        | "data_residency_mismatch"
        | "PERMISSION_DENIED"
        | "PermissionDeniedError"
        | "AccessDeniedException" => ErrorKind::Permission,
        "server_is_overloaded"
        | "engine_overloaded"
        | "engine_overloaded_error"
        | "service_unavailable_error"
        | "overloaded_error"
        | "capacity_exceeded"
        | "insufficient_system_resource"
        | "UNAVAILABLE"
        | "ModelNotReadyException"
        | "ServiceUnavailableException" => ErrorKind::Overloaded,
        "timeout"
        | "timeout_error"
        | "request_timeout"
        | "vector_store_timeout"
        | "DEADLINE_EXCEEDED"
        | "ModelTimeoutException" => ErrorKind::Timeout,
        "unsupported_parameter"
        | "unsupported_value"
        | "invalid_value"
        | "invalid_type"
        | "missing_required_parameter"
        | "invalid_parameter_combination"
        | "invalid_function_parameters"
        | "invalid_encrypted_content"
        | "string_above_max_length"
        | "tool_use_failed"
        | "json_validate_failed"
        | "ValidationException" => ErrorKind::InvalidRequest,
        _ => return None,
    })
}

/// Words so general that they count only where there is no status.
fn by_weak_word(word: &str) -> Option<ErrorKind> {
    match word {
        "invalid_request_error"
        | "invalid_request"
        | "invalid-argument"
        | "BadRequestError"
        | "INVALID_ARGUMENT"
        | "FAILED_PRECONDITION" => Some(ErrorKind::InvalidRequest),
        _ => None,
    }
}

/// Sentences, for servers that have no words. All in lower case.
fn by_sentence(message: &str, clues: &Clues<'_>) -> Option<ErrorKind> {
    const FILTERED: &[&str] = &[
        "content violates usage guidelines",
        "content management policy",
        "flagged by moderation",
        "requires moderation",
    ];
    const QUOTA: &[&str] = &[
        "exceeded your current quota",
        "insufficient balance",
        "insufficient credits",
        "requires more credits",
        "credit balance is too low",
        "billing hard limit",
        "spend limit",
        "used all available credits",
    ];
    const CONTEXT: &[&str] = &[
        "maximum context length",
        "context_length_exceeded",
        "context window",
        "prompt is too long",
        "input is too long",
        "exceed context limit",
        "exceeds the maximum number of tokens allowed",
        "exceeds the available context size",
        "is longer than the model's context length",
        "reduce the length of the messages",
        "too many tokens",
        "max_new_tokens must be",
    ];
    const KEY: &[&str] = &[
        "incorrect api key",
        "invalid api key",
        "api key not valid",
        "api key is invalid",
        "api key expired",
        "authentication fails",
    ];
    // Refusals that come as 404, though the model is there.
    const UNFIT: &[&str] = &["not supported", "no endpoints found that support", "not a chat model"];
    const UNKNOWN_MODEL: &[&str] =
        &["model not found", "is not a valid model id", "does not exist or you do not have access"];
    const BUSY: &[&str] = &["currently unavailable", "overloaded", "at capacity", "no capacity"];

    let says = |sentences: &[&str]| sentences.iter().any(|sentence| message.contains(sentence));
    let status = clues.status;
    let client_side = status.is_none_or(|status| (400..500).contains(&status));
    if client_side && says(FILTERED) {
        return Some(ErrorKind::ContentFiltered);
    }
    if client_side && says(QUOTA) {
        return Some(ErrorKind::Quota);
    }
    // "Too many tokens" with 429 speaks of a minute, not of the window.
    if status != Some(429) && says(CONTEXT) {
        return Some(ErrorKind::ContextTooLong);
    }
    if matches!(status, None | Some(400 | 401 | 403)) && says(KEY) {
        return Some(ErrorKind::Auth);
    }
    if matches!(status, Some(404)) && says(UNFIT) {
        return Some(ErrorKind::InvalidRequest);
    }
    if matches!(status, None | Some(400)) && says(UNKNOWN_MODEL) {
        return Some(ErrorKind::NotFound);
    }
    if status.is_none_or(|status| status >= 500) && says(BUSY) {
        return Some(ErrorKind::Overloaded);
    }
    None
}

fn by_status(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Auth,
        402 => ErrorKind::Quota,
        403 => ErrorKind::Permission,
        404 | 410 => ErrorKind::NotFound,
        408 | 504 | 524 => ErrorKind::Timeout,
        // A lock that somebody else holds: it goes away.
        409 => ErrorKind::Server,
        429 => ErrorKind::RateLimit,
        // 498 is a lack of capacity for requests that pay less.
        498 | 503 | 529 => ErrorKind::Overloaded,
        499 => ErrorKind::Cancelled,
        400..=499 => ErrorKind::InvalidRequest,
        _ => ErrorKind::Server,
    }
}
