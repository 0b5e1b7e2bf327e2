//! Secret strings, and the only place that removes them from what is shown.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use ikigai_core::{ProviderData, Response};
use secrecy::{ExposeSecret as _, SecretString};

use crate::error::{Error, Reason};
use crate::transport::TransportError;

/// What is shown in place of a secret.
pub(crate) const PLACEHOLDER: &str = "[key]";

/// Shorter strings are not hidden: they are hardly secrets, and hiding them would garble every message.
const SHORTEST: usize = 8;

/// Parts of a header's or parameter's name that make its value a secret.
const NAMES: [&str; 8] = ["auth", "cookie", "credential", "key", "password", "secret", "signature", "token"];

/// Strings that nobody may see: keys, tokens, signatures.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<[SecretString]>);

impl Secrets {
    pub(crate) fn new(texts: impl IntoIterator<Item = SecretString>) -> Self {
        Secrets(texts.into_iter().filter(|text| text.expose_secret().len() >= SHORTEST).collect())
    }

    /// Collects all credentials in a request: sensitive headers, and a password and keys in the URL.
    pub(crate) fn of(request: &http::Request<Bytes>) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for value in request.headers().values().filter(|value| value.is_sensitive()) {
            let value = String::from_utf8_lossy(value.as_bytes());
            let (scheme, secret) = value.split_once(' ').unwrap_or(("", &value));
            texts.push(secret.to_owned());
            if scheme.eq_ignore_ascii_case("basic") {
                // A user name and a password, of which the password is the secret.
                let plain = STANDARD.decode(secret).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                let password = plain.as_deref().and_then(|plain| plain.split_once(':')).map(|(_, password)| password);
                texts.extend(password.map(str::to_owned));
            }
            // Amazon's: `Credential=…, SignedHeaders=…, Signature=…`.
            texts.extend(secret.split(", ").filter(|part| part.len() < secret.len()).map(str::to_owned));
            texts.extend(secret.split(", ").filter_map(|part| part.strip_prefix("Signature=")).map(str::to_owned));
        }
        let uri = request.uri();
        let user = uri.authority().and_then(|authority| authority.as_str().rsplit_once('@')).map(|(user, _)| user);
        texts.extend(user.and_then(|user| user.split_once(':')).map(|(_, password)| plain(password)));
        let parameters = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        texts.extend(parameters.filter(|(name, _)| names_a_secret(name)).map(|(_, value)| plain(value)));
        Secrets::new(texts.into_iter().map(SecretString::from))
    }

    /// Removes the secrets from a text, in any of their usual spellings, and also the cut-off beginning of a long one.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.0.iter() {
            let secret = secret.expose_secret();
            // Most texts are too short to contain an encoded secret, headers above all.
            if text.len() > secret.len() {
                for encoded in [STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)] {
                    if text.contains(&encoded) {
                        text = Cow::Owned(text.replace(&encoded, PLACEHOLDER));
                    }
                }
            }
            if let Some(redacted) = without(&text, secret) {
                text = Cow::Owned(redacted);
            }
        }
        text
    }

    /// Removes the secrets from bytes. Bytes that contain none are returned unchanged.
    pub(crate) fn redact_bytes(&self, bytes: Bytes) -> Bytes {
        self.without(&bytes).map_or(bytes, Bytes::from)
    }

    /// Removes the secrets from bytes; `None` if they contain none.
    pub(crate) fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(bytes);
        match self.redact(&text) {
            Cow::Owned(redacted) => Some(redacted.into_bytes()),
            Cow::Borrowed(_) => None,
        }
    }

    /// Returns how long a secret can be in any spelling. This much is left off where a text is cut.
    pub(crate) fn longest(&self) -> usize {
        // Up to six bytes per byte: `\u002d`.
        self.0.iter().map(|secret| secret.expose_secret().len() * 6).max().unwrap_or(0)
    }

    pub(crate) fn redact_headers(&self, headers: &mut HeaderMap) {
        for value in headers.values_mut() {
            let text = String::from_utf8_lossy(value.as_bytes());
            if let Cow::Owned(redacted) = self.redact(&text) {
                *value = HeaderValue::try_from(redacted).unwrap_or(HeaderValue::from_static(PLACEHOLDER));
            }
        }
    }

    /// Removes all secrets from an error, from its message and from everything attached to it.
    pub(crate) fn redact_error(&self, error: Error) -> Error {
        if self.0.is_empty() { error } else { error.redacted(self) }
    }

    pub(crate) fn redact_reason(&self, reason: &mut Reason) {
        match reason {
            Reason::Provider(error) => self.redact_provider_error(error),
            Reason::Transport(error) => self.redact_transport_error(error),
            Reason::Server(fault) => fault.why = self.redact(&fault.why).into_owned(),
            Reason::Unsupported(what) => *what = self.redact(what).into_owned(),
            // Created by us, before anything is sent.
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

    /// Redacts an interrupted answer; what the model wrote stays unchanged.
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

/// Headers set by a caller whose values may appear in errors.
const HARMLESS: [&str; 12] = [
    "accept",
    "accept-language",
    "anthropic-beta",
    "anthropic-version",
    "content-type",
    "http-referer",
    "openai-beta",
    "origin",
    "referer",
    "user-agent",
    "x-sim-fault",
    "x-title",
];

/// Whether the value of a header set by a caller may be a secret: only the caller knows what its name means.
pub(crate) fn may_be_secret(name: &str) -> bool {
    !HARMLESS.iter().any(|harmless| name.eq_ignore_ascii_case(harmless))
}

/// Whether the name of a header or parameter says that its value is a secret.
pub(crate) fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.iter().any(|word| name.contains(word))
}

/// Removes a secret from a text, however its characters are spelled; `None` if the text does not contain it.
fn without(text: &str, secret: &str) -> Option<String> {
    let spelled_out = text.contains(['%', '\\']);
    if !spelled_out && !text.contains(secret.get(..shortest_part(secret)).unwrap_or(secret)) {
        return None;
    }
    let (mut redacted, mut kept, mut at) = (String::new(), 0, 0);
    while at < text.len() {
        match match_at(text, at, secret) {
            Some(end) => {
                redacted.push_str(text.get(kept..at).unwrap_or_default());
                redacted.push_str(PLACEHOLDER);
                (kept, at) = (end, end);
            }
            None => at += text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8),
        }
    }
    (kept > 0).then(|| {
        redacted.push_str(text.get(kept..).unwrap_or_default());
        redacted
    })
}

/// Returns the end of a secret that begins at this place in a text: all of it, or enough of a cut-off one.
fn match_at(text: &str, from: usize, secret: &str) -> Option<usize> {
    let (mut at, mut matched) = (from, 0);
    for wanted in secret.chars() {
        let Some((found, length)) = text.get(at..).and_then(spelled) else { break };
        if found != wanted {
            break;
        }
        at += length;
        matched += wanted.len_utf8();
    }
    (matched >= shortest_part(secret)).then_some(at)
}

/// Returns how much of a secret is hidden even if the rest is missing: excerpts can be cut anywhere.
fn shortest_part(secret: &str) -> usize {
    let end = if secret.len() < 24 { secret.len() } else { 12 };
    (end..=secret.len()).find(|end| secret.is_char_boundary(*end)).unwrap_or(secret.len())
}

/// Returns a text's first character and its length in bytes: plain, `%2d`, or escaped as in JSON (`\/`, `\u002d`).
fn spelled(text: &str) -> Option<(char, usize)> {
    let hex = |from: usize, to: usize| u8::from_str_radix(text.get(from..to)?, 16).ok();
    let bytes = text.as_bytes();
    let escaped = match (bytes.first()?, bytes.get(1)) {
        (b'%', _) => hex(1, 3).map(|byte| (byte, 3)),
        (b'\\', Some(b'u')) if text.get(2..4) == Some("00") => hex(4, 6).map(|byte| (byte, 6)),
        (b'\\', Some(byte @ (b'/' | b'"' | b'\\'))) => Some((*byte, 2)),
        _ => None,
    };
    match escaped {
        Some((byte, length)) if byte.is_ascii() => Some((char::from(byte), length)),
        _ => text.chars().next().map(|letter| (letter, letter.len_utf8())),
    }
}

/// Unescapes a part of a URL.
pub(crate) fn plain(value: &str) -> String {
    let mut rest = value;
    let mut plain = String::with_capacity(value.len());
    while let Some((letter, length)) = spelled(rest) {
        plain.push(letter);
        rest = rest.get(length..).unwrap_or_default();
    }
    plain
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
