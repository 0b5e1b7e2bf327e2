use pretty_assertions::assert_eq;

use super::*;
use crate::transport::{Failure, TransportError};

fn provider_error() -> ikigai_core::Error {
    let mut error = ikigai_core::Error::new(ErrorKind::RateLimit, "Slow down, please.");
    error.status = Some(429);
    error.code = Some("rate_limit_exceeded".to_owned());
    error.request_id = Some("req_1".to_owned());
    error.retry_after_ms = Some(1500);
    error
}

fn name(text: &str) -> ModelName {
    ModelName::parse(text).unwrap()
}

#[test]
fn everything_that_a_program_asks_is_there() {
    let error = Error::new(provider_error()).at(&name("openai:gpt-5.4"));
    assert_eq!(error.kind(), ErrorKind::RateLimit);
    assert_eq!(
        (error.status(), error.code(), error.provider()),
        (Some(429), Some("rate_limit_exceeded"), Some("openai"))
    );
    assert_eq!((error.request_id(), error.retry_after()), (Some("req_1"), Some(Duration::from_millis(1500))));
    assert_eq!((error.is_retryable(), error.excerpt()), (true, Some("Slow down, please.")));
    assert!(error.partial().is_none() && error.messages().is_empty() && error.attempts().is_empty());
    assert_eq!(error.to_string(), "openai: Slow down, please. (status 429, code rate_limit_exceeded, request req_1)");
    assert!(std::error::Error::source(&error).is_none(), "its words are told already");
    let cause = std::io::Error::other("refused");
    let broken = Error::new(TransportError::new(Failure::Connect, "cannot connect").because(cause));
    assert_eq!(std::error::Error::source(&broken).unwrap().to_string(), "refused");
}

#[test]
fn what_was_tried_is_told() {
    let (one, two) = (name("anthropic:claude-haiku-4-5"), name("openai:gpt-5.4"));
    let overloaded = Error::new(ikigai_core::Error::new(ErrorKind::Overloaded, "busy"));
    let broken = Error::new(TransportError::new(Failure::Broken, "the connection broke"));
    let attempts = vec![overloaded.attempt(&one), overloaded.attempt(&one), broken.attempt(&two)];
    let error = broken.at(&two).after_attempts(attempts);
    assert_eq!(
        error.to_string(),
        "openai: the connection broke; tried anthropic:claude-haiku-4-5 (overloaded, 2 times), openai:gpt-5.4 (network)"
    );
}

#[test]
fn every_reason_has_a_kind() {
    let registry = ikigai_core::provider::Registry::shared();
    for (reason, kind) in [
        (Reason::from(registry.parse("no-such-model").unwrap_err()), ErrorKind::NotFound),
        (Reason::from(registry.parse("claude-sonnet-4-5/hihg").unwrap_err()), ErrorKind::InvalidRequest),
        (Reason::from(TransportError::new(Failure::Timeout, "")), ErrorKind::Timeout),
        (Reason::from(TransportError::new(Failure::TooLarge, "")), ErrorKind::Protocol),
        (Reason::from(ikigai_core::Request::default().validate().unwrap_err()), ErrorKind::InvalidRequest),
        (Reason::StepLimit(3), ErrorKind::StepLimit),
        (Reason::Mismatch(Mismatch { faults: vec![], text: String::new() }), ErrorKind::Protocol),
        (Reason::Unsupported(String::new()), ErrorKind::InvalidRequest),
    ] {
        assert_eq!(Error::new(reason.clone()).kind(), kind, "{reason:?}");
    }
}

#[test]
fn an_excerpt_is_bounded_and_cut_at_a_character() {
    let error = Error::new(ikigai_core::Error::protocol("é".repeat(5000)));
    assert_eq!(error.excerpt().unwrap().len(), EXCERPT);
    assert_eq!(beginning("aé", 2), "a");
    assert_eq!(beginning("", 5), "");
}

#[test]
fn an_error_is_small_and_can_be_sent() {
    fn is_send<T: Send + Sync + 'static>() {}
    is_send::<Error>();
    assert_eq!(size_of::<Error>(), size_of::<usize>());
}
