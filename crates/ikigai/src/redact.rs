//! Texts that nobody may see, and the one place that takes them out of what is shown.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use ikigai_core::{ProviderData, Response};
use secrecy::{ExposeSecret as _, SecretString};

use crate::error::{Error, Reason};
use crate::transport::TransportError;

/// What is shown in place of a secret.
pub(crate) const PLACEHOLDER: &str = "[key]";

/// Shorter texts are not hidden: they are hardly secrets, and would take half of every message with them.
const SHORTEST: usize = 8;

/// Words in the name of a header or a parameter that make its value a secret.
const NAMES: [&str; 8] = ["auth", "cookie", "credential", "key", "password", "secret", "signature", "token"];

/// Texts that nobody may see: keys, tokens, signatures.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<[SecretString]>);

impl Secrets {
    pub(crate) fn new(texts: impl IntoIterator<Item = SecretString>) -> Self {
        Secrets(texts.into_iter().filter(|text| text.expose_secret().len() >= SHORTEST).collect())
    }

    /// Everything in a request that lets its sender in: sensitive headers, a password and keys in the address.
    pub(crate) fn of(request: &http::Request<Bytes>) -> Self {
        let mut texts: Vec<&str> = Vec::new();
        for value in request.headers().values().filter(|value| value.is_sensitive()) {
            let Ok(value) = value.to_str() else { continue };
            let secret = value.split_once(' ').map_or(value, |(_, secret)| secret);
            texts.push(secret);
            // Amazon's: `Credential=…, SignedHeaders=…, Signature=…`.
            texts.extend(secret.split(", ").filter(|part| part.len() < secret.len()));
        }
        let uri = request.uri();
        let user = uri.authority().and_then(|authority| authority.as_str().rsplit_once('@')).map(|(user, _)| user);
        texts.extend(user.and_then(|user| user.split_once(':')).map(|(_, password)| password));
        let parameters = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        texts.extend(parameters.filter(|(name, _)| names_a_secret(name)).map(|(_, value)| value));
        Secrets::new(texts.into_iter().map(SecretString::from))
    }

    /// A text without the secrets, in any of their usual spellings.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.0.iter() {
            for spelling in spellings(secret.expose_secret()) {
                if text.contains(spelling.as_ref()) {
                    text = Cow::Owned(text.replace(spelling.as_ref(), PLACEHOLDER));
                }
            }
        }
        text
    }

    /// Bytes without the secrets. Bytes that hold none are returned unchanged.
    pub(crate) fn redact_bytes(&self, bytes: Bytes) -> Bytes {
        let text = String::from_utf8_lossy(&bytes);
        match self.redact(&text) {
            Cow::Owned(redacted) => redacted.into(),
            Cow::Borrowed(_) => bytes,
        }
    }

    /// How long a secret can be in any spelling. So much is left off where a text is cut.
    pub(crate) fn longest(&self) -> usize {
        self.0.iter().map(|secret| secret.expose_secret().len() * 3).max().unwrap_or(0)
    }

    pub(crate) fn redact_headers(&self, headers: &mut HeaderMap) {
        for value in headers.values_mut() {
            let text = String::from_utf8_lossy(value.as_bytes());
            if let Cow::Owned(redacted) = self.redact(&text) {
                *value = HeaderValue::try_from(redacted).unwrap_or(HeaderValue::from_static(PLACEHOLDER));
            }
        }
    }

    /// A failure that shows no secret, neither in its message nor in anything that hangs on it.
    pub(crate) fn redact_error(&self, error: Error) -> Error {
        if self.0.is_empty() { error } else { error.redacted(self) }
    }

    pub(crate) fn redact_reason(&self, reason: &mut Reason) {
        match reason {
            Reason::Provider(error) => self.redact_provider_error(error),
            Reason::Transport(error) => self.redact_transport_error(error),
            Reason::Server(fault) => fault.why = self.redact(&fault.why).into_owned(),
            Reason::Unsupported(what) => *what = self.redact(what).into_owned(),
            // Ours alone: they are made before anything is sent.
            Reason::Invalid(_)
            | Reason::Model(_)
            | Reason::NoSuchProvider(_)
            | Reason::MissingKey(_)
            | Reason::Credentials(_)
            | Reason::File(_)
            | Reason::Attachment { .. }
            | Reason::Mismatch(_)
            | Reason::StepLimit(_) => {}
        }
    }

    pub(crate) fn redact_provider_error(&self, error: &mut ikigai_core::Error) {
        let mut next = Some(error);
        while let Some(error) = next {
            self.replace(&mut error.message);
            let fields = [&mut error.code, &mut error.error_type, &mut error.param, &mut error.request_id];
            fields.into_iter().flatten().for_each(|text| self.replace(text));
            self.redact_data(&mut error.provider_data);
            next = error.partial.as_mut().and_then(|partial| {
                self.redact_data(&mut partial.provider_data);
                partial.error.as_deref_mut()
            });
        }
    }

    /// An answer that broke off: what the model wrote stays as it is.
    pub(crate) fn redact_response(&self, response: &mut Response) {
        self.redact_data(&mut response.provider_data);
        if let Some(error) = &mut response.error {
            self.redact_provider_error(error);
        }
    }

    fn redact_data(&self, data: &mut ProviderData) {
        if data.is_empty() {
            return;
        }
        let text = serde_json::to_string(data).unwrap_or_default();
        if let Cow::Owned(redacted) = self.redact(&text) {
            *data = serde_json::from_str(&redacted).unwrap_or_default();
        }
    }

    pub(crate) fn redact_transport_error(&self, error: &mut TransportError) {
        error.redact(|text| self.redact(text).into_owned());
    }

    fn replace(&self, text: &mut String) {
        if let Cow::Owned(redacted) = self.redact(text) {
            *text = redacted;
        }
    }
}

/// Does the name of a header or a parameter say that its value is a secret?
pub(crate) fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|word| name.contains(word))
}

/// The spellings of a secret: plain, in JSON that escapes slashes, in an address.
fn spellings(secret: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let escaped = secret.contains(['/', '"', '\\']).then(|| {
        let mut escaped = String::with_capacity(secret.len() + 8);
        for letter in secret.chars() {
            if matches!(letter, '/' | '"' | '\\') {
                escaped.push('\\');
            }
            escaped.push(letter);
        }
        Cow::Owned(escaped)
    });
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encoded =
        secret.bytes().any(|byte| !plain(byte)).then(|| Cow::Owned(crate::upstream::percent_encoded(secret, plain)));
    [Some(Cow::Borrowed(secret)), escaped, encoded].into_iter().flatten()
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
