//! Secret strings, and the only place that removes them from what is shown.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue};
use ikigai_core::secrets::Finder;
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
pub(crate) struct Secrets(Arc<Hidden>);

#[derive(Default)]
struct Hidden {
    texts: Vec<SecretString>,
    /// Made when it is first needed.
    finder: OnceLock<Finder>,
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Self) -> bool {
        let (one, two) = (&self.0.texts, &other.0.texts);
        one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.expose_secret() == two.expose_secret())
    }
}

impl Secrets {
    pub(crate) fn new(texts: impl IntoIterator<Item = SecretString>) -> Self {
        let texts = texts.into_iter().filter(|text| text.expose_secret().len() >= SHORTEST).collect();
        Secrets(Arc::new(Hidden { texts, finder: OnceLock::new() }))
    }

    /// Collects all credentials in a request: sensitive headers, and a password and keys in the URL.
    pub(crate) fn of(request: &http::Request<Bytes>) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for value in request.headers().values().filter(|value| value.is_sensitive()) {
            let value = String::from_utf8_lossy(value.as_bytes());
            let (scheme, secret) = value.split_once(' ').filter(|(first, _)| is_scheme(first)).unwrap_or(("", &value));
            // Amazon's: `Credential=…, SignedHeaders=…, Signature=…`. The names of the headers are not secret.
            for part in secret.split(", ").filter(|part| !part.starts_with("SignedHeaders=")) {
                texts.extend(part.strip_prefix("Signature=").map(str::to_owned));
                texts.push(part.to_owned());
            }
            if scheme.eq_ignore_ascii_case("basic") {
                // A user name and a password, of which the password is the secret.
                let plain = STANDARD.decode(secret).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                let password = plain.as_deref().and_then(|plain| plain.split_once(':')).map(|(_, password)| password);
                texts.extend(password.map(str::to_owned));
            }
        }
        let uri = request.uri();
        let user = uri.authority().and_then(|authority| authority.as_str().rsplit_once('@')).map(|(user, _)| user);
        texts.extend(user.and_then(|user| user.split_once(':')).map(|(_, password)| plain(password)));
        let parameters = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        texts.extend(parameters.filter(|(name, _)| names_a_secret(name)).map(|(_, value)| plain(value)));
        Secrets::new(texts.into_iter().map(SecretString::from))
    }

    /// Removes the secrets from a text, however they are spelled, and also parts of long ones.
    pub(crate) fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.without(text.as_bytes()) {
            Some(redacted) => Cow::Owned(String::from_utf8_lossy(&redacted).into_owned()),
            None => Cow::Borrowed(text),
        }
    }

    fn finder(&self) -> &Finder {
        let Hidden { texts, finder } = self.0.as_ref();
        finder.get_or_init(|| Finder::new(texts.iter().map(|text| text.expose_secret())))
    }

    /// Removes the secrets from bytes. Bytes that contain none are returned unchanged.
    pub(crate) fn redact_bytes(&self, bytes: Bytes) -> Bytes {
        self.without(&bytes).map_or(bytes, Bytes::from)
    }

    /// Removes the secrets from bytes; `None` if they contain none.
    pub(crate) fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.0.texts.is_empty() || bytes.len() < SHORTEST {
            return None;
        }
        let found = self.finder().find(bytes);
        if found.is_empty() {
            return None;
        }
        // Part of a secret may be part of a character.
        let is_inside = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        let (mut redacted, mut kept) = (Vec::with_capacity(bytes.len()), 0);
        for place in found {
            let start = (kept..=place.start).rev().find(|at| !is_inside(*at)).unwrap_or(place.start);
            redacted.extend_from_slice(bytes.get(kept..start).unwrap_or_default());
            redacted.extend_from_slice(PLACEHOLDER.as_bytes());
            kept = (place.end..).find(|at| !is_inside(*at)).unwrap_or(place.end);
        }
        redacted.extend_from_slice(bytes.get(kept..).unwrap_or_default());
        Some(redacted)
    }

    /// Returns how long a secret can be in any spelling. This much is left off where a text is cut.
    pub(crate) fn longest(&self) -> usize {
        // Up to six bytes per byte: `\u002d`.
        self.0.texts.iter().map(|secret| secret.expose_secret().len() * 6).max().unwrap_or(0)
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
        if self.0.texts.is_empty() { error } else { error.redacted(self) }
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

/// Removes the keys of a request from what a server tells others of its answer: errors in streams, above all.
///
/// Errors of this library are redacted already. A program that reads the bytes of an [`Exchange`](crate::Exchange)
/// itself may find a key in them, because a provider can repeat what it was sent.
#[derive(Debug, Clone, Default)]
pub struct Redactor(pub(crate) Secrets);

impl Redactor {
    /// Removes the keys from an error, from its message and from everything attached to it.
    #[must_use]
    pub fn error(&self, mut error: ikigai_core::Error) -> ikigai_core::Error {
        self.0.redact_provider_error(&mut error);
        error
    }

    /// Removes the keys from bytes. Bytes that contain none are returned unchanged.
    #[must_use]
    pub fn bytes(&self, bytes: Bytes) -> Bytes {
        self.0.redact_bytes(bytes)
    }

    /// Returns what removes the keys from bytes that arrive in pieces.
    pub fn pieces(&self) -> Redacting {
        Redacting { secrets: self.0.clone(), held: BytesMut::new() }
    }
}

/// Removes the keys of a request from bytes that arrive in pieces, wherever they are cut.
///
/// A piece that may end in the middle of a key is held back from there: at most a few times the key's length.
#[derive(Debug)]
pub struct Redacting {
    secrets: Secrets,
    held: BytesMut,
}

impl Redacting {
    /// Takes the next piece, and returns what no later one can change.
    pub fn push(&mut self, piece: Bytes) -> Bytes {
        if self.secrets.0.texts.is_empty() {
            return piece;
        }
        let mut ready = piece;
        if !self.held.is_empty() {
            self.held.extend_from_slice(&ready);
            ready = self.held.split().freeze();
        }
        let unfinished = ready.split_off(ready.len().saturating_sub(self.secrets.finder().unfinished(&ready)));
        self.held.extend_from_slice(&unfinished);
        self.secrets.redact_bytes(ready)
    }

    /// Returns what was held back, after the last piece.
    pub fn finish(&mut self) -> Bytes {
        self.secrets.redact_bytes(self.held.split().freeze())
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

/// Whether the first word of a header is not part of its secret.
fn is_scheme(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    matches!(word.as_str(), "apikey" | "basic" | "bearer" | "digest" | "key" | "token") || word.starts_with("aws4")
}

/// Unescapes a part of a URL.
pub(crate) fn plain(value: &str) -> String {
    let mut parts = value.split('%');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(part.get(2..).unwrap_or_default());
            }
            None => {
                plain.push('%');
                plain.push_str(part);
            }
        }
    }
    plain
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.texts.len())
    }
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
