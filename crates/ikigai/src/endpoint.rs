//! Where a request goes: addresses are put together here and nowhere else.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use ikigai_core::{Dialect, Provider};

use crate::auth::authorise;
use crate::client::Client;
use crate::config::{Found, Key, KeySource, Lookup};
use crate::error::{Error, Reason};
use crate::settings::Settings;

/// A provider's API as one call reaches it: where it is, and who is asking.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    base: String,
    headers: HeaderMap,
    key: Option<Key>,
}

impl Endpoint {
    /// Finds key and address, from the first place that has them.
    pub(crate) fn find(
        client: &Client,
        provider: &Provider,
        dialect: Dialect,
        settings: &Settings,
    ) -> Result<Self, Error> {
        let environment = client.environment();
        let lookup = Lookup::new(environment);
        let found = match settings.key.as_ref().or_else(|| client.key_in_memory(&provider.id)) {
            Some(key) => {
                let from = if settings.key.is_some() { KeySource::Argument } else { KeySource::Memory };
                Some(Found { key: key.clone(), from })
            }
            None => lookup.key(provider)?,
        };
        let found = found.filter(|found| !found.key.is_empty());
        if found.is_none() && provider.needs_key() {
            return Err(lookup.missing(provider).into());
        }
        let base = match settings.base_url.as_deref().or_else(|| client.base_url_in_memory(&provider.id)) {
            Some(given) => {
                // As if it stood in the provider's own variable: written with or without the version.
                let variables = provider.base_url_variables();
                provider.base_url_for(dialect, |name| {
                    let own = variables.iter().any(|variable| variable == name);
                    if own { Some(given.to_owned()) } else { environment.variable(name) }
                })?
            }
            None => lookup.base_url(provider, dialect, found.as_ref().map(|found| &found.from))?,
        };
        let mut headers = HeaderMap::new();
        for (name, value) in provider.headers.iter() {
            insert(&mut headers, name, value)?;
        }
        for (name, value) in client.headers().iter().chain(&settings.headers) {
            insert(&mut headers, name, value)?;
        }
        if let Some(found) = &found {
            authorise(provider, found, &mut headers)?;
        }
        Ok(Endpoint { base, headers, key: found.map(|found| found.key) })
    }

    /// A request to a path of the API, with JSON in it when there is a body.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(String, String)],
        body: Option<Bytes>,
    ) -> Result<http::Request<Bytes>, Reason> {
        let address = format!("{}{path}", self.base);
        let uri: Uri = address
            .parse()
            .map_err(|_| Reason::from(ikigai_core::Error::invalid_request(format!("`{}` is no address", self.base))))?;
        let mut request = http::Request::new(body.unwrap_or_default());
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        if !request.body().is_empty() {
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(http::header::CONTENT_TYPE, json);
        }
        for (name, value) in headers {
            insert(request.headers_mut(), name, value)?;
        }
        // The caller's own go over the dialect's, but for a list of wishes, which is made longer.
        for (name, value) in &self.headers {
            let value = match request.headers().get(name) {
                Some(before) if name == LIST => join(before, value).unwrap_or_else(|| value.clone()),
                _ => value.clone(),
            };
            request.headers_mut().insert(name, value);
        }
        Ok(request)
    }

    /// The key that is used; errors must not show it.
    pub(crate) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// The host and the port, for traces.
    pub(crate) fn host(&self) -> Option<(String, u16)> {
        let uri: Uri = self.base.parse().ok()?;
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
        Some((uri.host()?.to_owned(), port))
    }
}

/// A name as a part of a path: what would end the part or mean something else is escaped.
pub(crate) fn segment(name: &str) -> String {
    let mut segment = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'@' | b':') {
            segment.push(char::from(byte));
        } else {
            segment.push_str(&format!("%{byte:02X}"));
        }
    }
    segment
}

/// Features of the Anthropic dialect that are asked for, with commas between them.
const LIST: &str = "anthropic-beta";

fn join(one: &HeaderValue, other: &HeaderValue) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("{},{}", one.to_str().ok()?, other.to_str().ok()?)).ok()
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), Reason> {
    let broken = || Reason::from(ikigai_core::Error::invalid_request(format!("`{name}` cannot be sent as a header")));
    let name = HeaderName::try_from(name).map_err(|_| broken())?;
    headers.insert(name, HeaderValue::try_from(value).map_err(|_| broken())?);
    Ok(())
}
