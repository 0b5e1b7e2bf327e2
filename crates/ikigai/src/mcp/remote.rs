//! Servers reached by URL.

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
use crate::transport::{Http, HttpBuilder, Proxy, Version};

/// Returns a transport to a server at a URL. Nothing is sent yet.
pub(super) fn transport(remote: &Remote) -> Result<StreamableHttpClientTransport<Bounded>, Fault> {
    let parsed: Result<http::Uri, _> = remote.url.parse();
    let is_address = parsed.is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some());
    if !is_address {
        return Err(Fault::invalid("needs an address that begins with https:// or http://"));
    }
    let mut headers = HashMap::new();
    for (name, value) in &remote.headers {
        let Ok(name) = HeaderName::try_from(name.as_str()) else {
            return Err(Fault::invalid(format!(
                "cannot be used with the header `{name}`: that is not a valid header name"
            )));
        };
        let Ok(mut value) = HeaderValue::try_from(value.expose_secret()) else {
            return Err(Fault::invalid(format!(
                "cannot be used with the header `{name}`: its value contains characters that are not allowed in a header"
            )));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let client = client(remote.http.clone().unwrap_or_else(Http::builder))?;
    // A broken stream is resumed a few times; without a limit, a call to a server that is gone would never end.
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
    Ok(StreamableHttpClientTransport::with_client(Bounded::new(client), config))
}

/// Returns a client for the protocol's SDK. It follows redirects within the same host: servers redirect from `/mcp` to
/// `/mcp/`.
fn client(http: HttpBuilder) -> Result<reqwest::Client, Fault> {
    let broken = |what: &str, error: reqwest::Error| Fault::invalid(format!("{what}: {}", error.without_url()));
    let mut certificates = Vec::new();
    for pem in &http.certificates {
        let bundle = reqwest::Certificate::from_pem_bundle(pem)
            .map_err(|error| broken("cannot be reached: a certificate is invalid", error))?;
        certificates.extend(bundle);
    }
    let within_host = reqwest::redirect::Policy::custom(|attempt| {
        let origin = |url: &reqwest::Url| url.origin();
        let stays = attempt.previous().iter().all(|before| origin(before) == origin(attempt.url()));
        if stays && attempt.previous().len() < 5 { attempt.follow() } else { attempt.stop() }
    });
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("ikigai/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(http.connect)
        .redirect(within_host)
        .referer(false)
        .retry(reqwest::retry::never())
        .tls_certs_merge(certificates);
    builder = match http.version {
        Version::Negotiated => builder,
        Version::Http1 => builder.http1_only(),
        Version::Http2 => builder.http2_prior_knowledge(),
    };
    builder = match &http.proxy {
        Proxy::Environment => builder,
        Proxy::Never => builder.no_proxy(),
        Proxy::At(url) => {
            let proxy = reqwest::Proxy::all(url);
            builder.proxy(proxy.map_err(|error| broken("cannot be reached: the proxy's URL is invalid", error))?)
        }
    };
    builder.build().map_err(|error| broken("cannot be reached: HTTP cannot be set up", error))
}
