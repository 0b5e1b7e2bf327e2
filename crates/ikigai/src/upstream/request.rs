//! Requests: the caller's parts, with ours added.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use ikigai_core::provider::Provider;

use super::Upstream;
use super::address::address;
use super::exchange::{Wanted, end_to_end, take_off};
use crate::client::Client;
use crate::error::{Error, Reason};
use crate::redact::{may_be_secret, names_a_secret};
use crate::settings::Settings;

/// By this, a provider recognises a request that is sent again. It names a key, but not a secret one.
const IDEMPOTENCY: &str = "idempotency-key";

/// Whether a caller's header is not for the provider: about its own connection, or credentials for this service or for
/// a proxy before it.
fn is_callers_own(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(name, "host" | "content-length" | "accept-encoding" | "expect" | "x-amz-date" | "x-amz-content-sha256")
        || (names_a_secret(name) && name != IDEMPOTENCY)
}

/// A list of requested features of the Anthropic dialect, separated by commas.
const LIST: &str = "anthropic-beta";

impl Upstream {
    /// Builds a request to a path of the API, still unsigned.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
        wanted: Wanted,
    ) -> Result<http::Request<Bytes>, Error> {
        let mut headers = passed_on(headers);
        if !body.is_empty() {
            headers.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        }
        // Configured headers replace the caller's and the dialect's, except for this list, which is extended.
        for (name, value) in &self.resolved.headers {
            let longer = headers.get(name).filter(|_| name == LIST).and_then(|before| join(before, value));
            headers.insert(name, longer.unwrap_or_else(|| value.clone()));
        }
        headers.entry(header::ACCEPT).or_insert_with(|| self.resolved.codec.accept(wanted));
        let encoding = match wanted {
            Wanted::Whole => "gzip",
            // Streams that are compressed on the way arrive in lumps.
            Wanted::Stream => "identity",
        };
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(encoding));
        let mut request = http::Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = address(&self.resolved.base_url, self.dialect(), path)?;
        *request.headers_mut() = headers;
        Ok(request)
    }
}

/// Returns the headers of every request: the provider's, the client's and the model's. The key is added later.
pub(super) fn own_headers(provider: &Provider, client: &Client, settings: &Settings) -> Result<HeaderMap, Reason> {
    let mut headers = HeaderMap::new();
    for (name, value) in provider.headers.iter() {
        insert(&mut headers, name, value, names_a_secret)?;
    }
    for (name, value) in client.headers().iter().chain(&settings.headers) {
        insert(&mut headers, name, value, may_be_secret)?;
    }
    Ok(headers)
}

/// Converts a dialect's headers.
pub(crate) fn header_map(pairs: &[(String, String)]) -> Result<HeaderMap, Reason> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        insert(&mut headers, name, value, names_a_secret)?;
    }
    Ok(headers)
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    end_to_end(&mut headers);
    take_off(&mut headers, is_callers_own);
    headers
}

fn join(one: &HeaderValue, other: &HeaderValue) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("{},{}", one.to_str().ok()?, other.to_str().ok()?)).ok()
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str, is_secret: fn(&str) -> bool) -> Result<(), Reason> {
    let broken = || Reason::from(ikigai_core::Error::invalid_request(format!("`{name}` cannot be sent as a header")));
    let key = HeaderName::try_from(name).map_err(|_| broken())?;
    let mut value = HeaderValue::try_from(value).map_err(|_| broken())?;
    value.set_sensitive(is_secret(name));
    headers.insert(key, value);
    Ok(())
}
