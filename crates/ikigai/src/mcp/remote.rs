//! Servers at an address.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::ExposeSecret as _;

use super::bounded::Bounded;
use super::connection::LONGEST;
use super::fault::Fault;
use super::server::Remote;
use crate::transport::Http;

/// A way to a server at an address. Nothing is sent yet.
pub(super) fn transport(remote: &Remote) -> Result<StreamableHttpClientTransport<Bounded>, Fault> {
    let parsed: Result<http::Uri, _> = remote.url.parse();
    let is_address = parsed.is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some());
    if !is_address {
        return Err(Fault::invalid("has no address that begins with https:// or http://"));
    }
    let mut headers = HashMap::new();
    for (name, value) in &remote.headers {
        let Ok(name) = HeaderName::try_from(name.as_str()) else {
            return Err(Fault::invalid(format!(
                "cannot be asked with the header `{name}`: that is not a valid header name"
            )));
        };
        let Ok(mut value) = HeaderValue::try_from(value.expose_secret()) else {
            return Err(Fault::invalid(format!(
                "cannot be asked with the header `{name}`: its value has signs that no header may have"
            )));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let http = remote.http.clone().unwrap_or_else(Http::builder).build_within_host();
    let client = http.map_err(|error| Fault::invalid(error.to_string()))?;
    // A stream that broke is taken up again a few times; without a limit, a call to a server that is gone would never end.
    let mut again = ExponentialBackoff::default();
    again.max_times = Some(3);
    again.base_duration = Duration::from_millis(500);
    let mut config = StreamableHttpClientTransportConfig::with_uri(remote.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(LONGEST);
    config.retry_config = Arc::new(again);
    if let Some(bearer) = &remote.bearer {
        config = config.auth_header(bearer.expose());
    }
    Ok(StreamableHttpClientTransport::with_client(Bounded(client), config))
}
