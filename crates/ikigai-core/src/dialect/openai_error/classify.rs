//! Classifies failures: by the provider's codes, then by its messages, then by the status.

use crate::ErrorKind;

/// Everything that may indicate the kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clues<'a> {
    pub(super) code: Option<&'a str>,
    pub(super) error_type: Option<&'a str>,
    pub(super) message: &'a str,
    pub(super) status: Option<u16>,
    /// Whether a moderation gave reasons.
    pub(super) moderated: bool,
}

/// The kind, and whether the wording left no doubt about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) kind: ErrorKind,
    pub(super) retryable: Option<bool>,
    /// Whether a code or message decided; otherwise the status alone did.
    pub(super) certain: bool,
}

pub(super) fn classify(clues: &Clues<'_>) -> Verdict {
    // Some put a sentence where others have a code.
    let message = format!("{} {}", clues.message, clues.code.unwrap_or_default()).to_lowercase();
    let hopeless = message.contains("request too large")
        && (clues.status == Some(429) || clues.code == Some("rate_limit_exceeded") || message.contains("per min"));
    if hopeless {
        // It asks for more than a whole minute's allowance, so waiting does not help.
        return Verdict { kind: ErrorKind::RateLimit, retryable: Some(false), certain: true };
    }
    let certain = |kind| Verdict { kind, retryable: None, certain: true };
    let words = || [clues.code, clues.error_type].into_iter().flatten();
    if let Some(kind) = words().find_map(|word| by_word(word, clues.status)) {
        return certain(kind);
    }
    if clues.moderated {
        return certain(ErrorKind::ContentFiltered);
    }
    if let Some(kind) = by_sentence(&message, clues.status) {
        return certain(kind);
    }
    let kind = match clues.status {
        Some(status) => by_status(status),
        None => words().find_map(by_weak_word).unwrap_or(ErrorKind::Server),
    };
    Verdict { kind, retryable: None, certain: false }
}

/// Substrings that give a code one meaning whatever the status is; the first match counts. In lower case, because
/// servers write `NOT_FOUND`, `not_found_error` or `NotFoundException` for the same thing.
const WORDS: &[(&str, ErrorKind)] = &[
    ("content_filter", ErrorKind::ContentFiltered),
    ("policy", ErrorKind::ContentFiltered),
    ("invalid_prompt", ErrorKind::ContentFiltered),
    ("moderation_blocked", ErrorKind::ContentFiltered),
    ("context_", ErrorKind::ContextTooLong),
    ("quota", ErrorKind::Quota),
    ("billing", ErrorKind::Quota),
    ("balance", ErrorKind::Quota),
    ("credit", ErrorKind::Quota),
    ("spend_limit", ErrorKind::Quota),
    ("usage_limit", ErrorKind::Quota),
    ("payment", ErrorKind::Quota),
    ("rate_limit", ErrorKind::RateLimit),
    ("slow_down", ErrorKind::RateLimit),
    ("too_many_requests", ErrorKind::RateLimit),
    ("throttling", ErrorKind::RateLimit),
    ("not_found", ErrorKind::NotFound),
    ("notfound", ErrorKind::NotFound),
    ("decommissioned", ErrorKind::NotFound),
    ("api_key", ErrorKind::Auth),
    ("authenticat", ErrorKind::Auth),
    ("authorized", ErrorKind::Auth),
    ("organization", ErrorKind::Auth),
    ("expiredtoken", ErrorKind::Auth),
    ("unrecognizedclient", ErrorKind::Auth),
    ("permission", ErrorKind::Permission),
    ("forbidden", ErrorKind::Permission),
    ("accessdenied", ErrorKind::Permission),
    ("unsupported_country", ErrorKind::Permission),
    ("data_residency", ErrorKind::Permission),
    ("missing_scope", ErrorKind::Permission),
    ("overloaded", ErrorKind::Overloaded),
    ("unavailable", ErrorKind::Overloaded),
    ("system_resource", ErrorKind::Overloaded),
    ("notready", ErrorKind::Overloaded),
    ("timeout", ErrorKind::Timeout),
    ("deadline", ErrorKind::Timeout),
    ("unsupported_", ErrorKind::InvalidRequest),
    ("invalid_value", ErrorKind::InvalidRequest),
    ("invalid_type", ErrorKind::InvalidRequest),
    ("parameter", ErrorKind::InvalidRequest),
    ("invalid_encrypted_content", ErrorKind::InvalidRequest),
    ("string_above_max_length", ErrorKind::InvalidRequest),
    ("tool_use_failed", ErrorKind::InvalidRequest),
    ("json_validate_failed", ErrorKind::InvalidRequest),
    ("validationexception", ErrorKind::InvalidRequest),
];

fn by_word(word: &str, status: Option<u16>) -> Option<ErrorKind> {
    // Some put a sentence in place of a code.
    if word.contains(' ') {
        return None;
    }
    let word = word.to_ascii_lowercase();
    // It used to come with 503, now with 429.
    if word == "slow_down" && status == Some(503) {
        return Some(ErrorKind::Overloaded);
    }
    WORDS.iter().find(|(part, _)| word.contains(part)).map(|(_, kind)| *kind)
}

/// Codes so general that they count only without a status; among them those that blame the picture.
fn by_weak_word(word: &str) -> Option<ErrorKind> {
    let word = word.to_ascii_lowercase();
    let general =
        ["invalid_request", "invalid-argument", "badrequest", "invalid_argument", "failed_precondition", "image"];
    general.iter().any(|part| word.contains(part)).then_some(ErrorKind::InvalidRequest)
}

/// Phrases, for servers without codes: the first that is valid with the status counts. All in lower case.
const SENTENCES: &[(&str, ErrorKind)] = &[
    ("content violates usage guidelines", ErrorKind::ContentFiltered),
    ("content management policy", ErrorKind::ContentFiltered),
    ("flagged by moderation", ErrorKind::ContentFiltered),
    ("requires moderation", ErrorKind::ContentFiltered),
    ("exceeded your current quota", ErrorKind::Quota),
    ("insufficient balance", ErrorKind::Quota),
    ("insufficient credits", ErrorKind::Quota),
    ("requires more credits", ErrorKind::Quota),
    ("credit balance is too low", ErrorKind::Quota),
    ("spend limit", ErrorKind::Quota),
    ("billing hard limit", ErrorKind::Quota),
    ("used all available credits", ErrorKind::Quota),
    ("maximum context length", ErrorKind::ContextTooLong),
    ("context_length_exceeded", ErrorKind::ContextTooLong),
    ("context window", ErrorKind::ContextTooLong),
    ("prompt is too long", ErrorKind::ContextTooLong),
    ("input is too long", ErrorKind::ContextTooLong),
    ("exceed context limit", ErrorKind::ContextTooLong),
    ("exceeds the maximum number of tokens allowed", ErrorKind::ContextTooLong),
    ("exceeds the available context size", ErrorKind::ContextTooLong),
    ("is longer than the model's context length", ErrorKind::ContextTooLong),
    ("reduce the length of the messages", ErrorKind::ContextTooLong),
    ("too many tokens", ErrorKind::ContextTooLong),
    ("max_new_tokens must be", ErrorKind::ContextTooLong),
    ("incorrect api key", ErrorKind::Auth),
    ("invalid api key", ErrorKind::Auth),
    ("api key not valid", ErrorKind::Auth),
    ("api key is invalid", ErrorKind::Auth),
    ("api key expired", ErrorKind::Auth),
    ("authentication fails", ErrorKind::Auth),
    ("not supported", ErrorKind::InvalidRequest),
    ("no endpoints found that support", ErrorKind::InvalidRequest),
    ("not a chat model", ErrorKind::InvalidRequest),
    ("model not found", ErrorKind::NotFound),
    ("is not a valid model id", ErrorKind::NotFound),
    ("does not exist or you do not have access", ErrorKind::NotFound),
    ("currently unavailable", ErrorKind::Overloaded),
    ("overloaded", ErrorKind::Overloaded),
    ("rate limit", ErrorKind::RateLimit),
    ("too many requests", ErrorKind::RateLimit),
    ("at capacity", ErrorKind::Overloaded),
    ("no capacity", ErrorKind::Overloaded),
];

fn by_sentence(message: &str, status: Option<u16>) -> Option<ErrorKind> {
    let counts = |kind: ErrorKind| match kind {
        ErrorKind::ContentFiltered | ErrorKind::Quota => status.is_none_or(|status| (400..500).contains(&status)),
        // "Too many tokens" with 429 is about a minute's allowance, not about the window.
        ErrorKind::ContextTooLong => status != Some(429),
        ErrorKind::Auth => matches!(status, None | Some(400 | 401 | 403)),
        // Refusals that come as 404 although the model exists.
        ErrorKind::InvalidRequest => status == Some(404),
        ErrorKind::NotFound => matches!(status, None | Some(400)),
        _ => status.is_none_or(|status| status >= 500),
    };
    SENTENCES.iter().find(|(sentence, kind)| counts(*kind) && message.contains(sentence)).map(|(_, kind)| *kind)
}

fn by_status(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Auth,
        402 => ErrorKind::Quota,
        403 => ErrorKind::Permission,
        404 | 410 => ErrorKind::NotFound,
        408 | 504 | 524 => ErrorKind::Timeout,
        413 => ErrorKind::RequestTooLarge,
        // A lock held by another request: it goes away.
        409 => ErrorKind::Server,
        429 => ErrorKind::RateLimit,
        // 498 means no capacity for low-priority requests.
        498 | 503 | 529 => ErrorKind::Overloaded,
        499 => ErrorKind::Cancelled,
        400..=499 => ErrorKind::InvalidRequest,
        _ => ErrorKind::Server,
    }
}
