//! Prompts that are too long for their model.

use http::HeaderMap;
use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, Error, ErrorKind, Request};

use super::{Refusal, anthropic, gemini, openai};
use crate::{models, talk};

/// Requests with this beta may use a window of a million tokens.
const LONG_CONTEXT: &str = "context-1m";
const MILLION: u64 = 1_000_000;

/// Refuses a prompt that is longer than the model's window, if that is known.
pub(crate) fn fits_window(dialect: Dialect, headers: &HeaderMap, request: &Request) -> Result<(), WireError> {
    let Some(mut window) = models::window(dialect, &request.model) else { return Ok(()) };
    let betas = headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    if dialect == Dialect::Anthropic && betas.into_iter().any(|beta| beta.contains(LONG_CONTEXT)) {
        window = window.max(MILLION);
    }
    let tokens = talk::prompt_tokens(request);
    if tokens <= window {
        return Ok(());
    }
    Err(refusal(dialect, tokens, window))
}

fn refusal(dialect: Dialect, tokens: u64, window: u64) -> WireError {
    let openais = |message: String, param: &str| {
        let invalid = Refusal::invalid("invalid_request_error", message);
        openai::write(Refusal { code: Some("context_length_exceeded"), param: Some(param.to_owned()), ..invalid })
    };
    match dialect {
        Dialect::OpenaiChat => openais(
            format!(
                "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens. Please reduce the length of the messages."
            ),
            "messages",
        ),
        Dialect::OpenaiResponses => openais(
            "Your input exceeds the context window of this model. Please adjust your input and try again.".to_owned(),
            "input",
        ),
        Dialect::Gemini => gemini::write(Refusal::invalid(
            "INVALID_ARGUMENT",
            format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."),
        )),
        Dialect::Anthropic => {
            let message = format!("prompt is too long: {tokens} tokens > {window} maximum");
            anthropic::write(Refusal::invalid("invalid_request_error", message))
        }
        _ => {
            let message = format!("the prompt has {tokens} tokens, the window {window}");
            dialect.encode_error(&Error::new(ErrorKind::ContextTooLong, message))
        }
    }
}
