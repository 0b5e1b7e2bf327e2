//! A connection to one model of one provider: the client's lower half.

mod address;
mod exchange;
mod moment;
mod rate_limits;
mod request;
mod retry;
mod send;

use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Method};
use ikigai_core::catalog::{Facts, Rules};
use ikigai_core::provider::{Provider, Route};
use ikigai_core::wire::Target;
use ikigai_core::{Dialect, ModelName};

use crate::auth::{Signing, authorize};
use crate::client::Client;
use crate::codec::Codec;
use crate::config::{Found, KeySource, is_private};
use crate::error::Error;
use crate::model::Model;
use crate::redact::Secrets;
use crate::settings::Settings;
use crate::time::Clock;
use crate::transport::Timeouts;

pub(crate) use address::{segment, shown_url};
pub(crate) use exchange::Head;
pub use exchange::{Exchange, Wanted};
pub use rate_limits::{RateLimit, RateLimits};
pub(crate) use request::header_map;
pub use retry::Retry;

/// A connection to one model of one provider: it sends bytes in the provider's dialect, and returns bytes.
///
/// Everything that [`Model`] does goes through here; servers and proxies can use it directly. The provider, key and URL
/// are looked up once. Requests get the key, are retried according to [`Retry`], and are subject to the client's
/// [`Timeouts`] and [`Limits`](crate::Limits). Cheap to clone; clones share everything.
///
/// ```no_run
/// use bytes::Bytes;
/// use http::HeaderMap;
/// use ikigai::{Client, Dialect, Wanted};
///
/// # async fn f() -> Result<(), ikigai::Error> {
/// let upstream = Client::new()?.upstream_in("openai:gpt-5.4", Dialect::OpenaiChat)?;
/// let body = Bytes::from(r#"{"model": "gpt-5.4", "stream": true, "messages": [{"role": "user", "content": "Hi"}]}"#);
/// match upstream.send("/v1/chat/completions", &HeaderMap::new(), body, Wanted::Stream).await {
///     Ok(mut exchange) => {
///         println!("{} {:?} {:?}", exchange.status, exchange.request_id, exchange.limits);
///         while let Some(bytes) = exchange.body.next().await {
///             println!("{} bytes", bytes?.len());
///         }
///     }
///     // The provider's own words, for a client that speaks the same dialect.
///     Err(error) => match error.response() {
///         Some(failed) => println!("{} {:?}", failed.status, failed.body),
///         None => return Err(error),
///     },
/// }
/// # Ok(())
/// # }
/// ```
///
/// Dropping the future or the [`Exchange`] cancels the request. Errors, the provider's headers and `Debug` output never
/// contain a key, even if the provider repeats it. [`Hook::before_request`](crate::Hook::before_request) is not called,
/// because there is no request in the canonical form.
#[derive(Clone)]
pub struct Upstream {
    client: Client,
    resolved: Arc<Resolved>,
}

/// Everything that is looked up once.
struct Resolved {
    name: ModelName,
    provider: Provider,
    facts: Option<Facts>,
    rules: Rules,
    codec: Codec,
    base_url: String,
    /// Sent with every request: the provider's, the client's and the model's headers, and the key.
    headers: HeaderMap,
    signing: Signing,
    timeouts: Timeouts,
    retry: Retry,
    /// The credentials of the last request. Those of the next one are usually the same.
    secrets: Mutex<Secrets>,
}

impl Client {
    /// Returns a connection to a model, `[provider:]model[/level]`, in the dialect that suits it best.
    ///
    /// # Errors
    /// Returns an error if no model has this name, or if the provider's key or URL is missing.
    pub fn upstream(&self, name: &str) -> Result<Upstream, Error> {
        self.model(name)?.upstream()
    }

    /// Returns a connection to a model in a given dialect, which the caller already speaks.
    ///
    /// # Errors
    /// Same as [`upstream`](Client::upstream); also if the provider does not speak the dialect.
    pub fn upstream_in(&self, name: &str, dialect: Dialect) -> Result<Upstream, Error> {
        self.model(name)?.dialect(dialect).upstream()
    }
}

impl Model {
    /// Returns a connection to this model, with its own key, base URL, dialect, headers, timeouts and retries.
    ///
    /// # Errors
    /// Returns an error if the provider's key or URL is missing, or if the provider does not speak the dialect.
    pub fn upstream(&self) -> Result<Upstream, Error> {
        Upstream::find(&self.client, &self.plan.name, &self.plan.settings)
    }
}

impl Upstream {
    /// Looks up the provider, the key and the URL, each in the first place that has it.
    pub(crate) fn find(client: &Client, name: &ModelName, settings: &Settings) -> Result<Self, Error> {
        let route = route(client, name, settings)?;
        let provider = route.provider;
        let found = match settings.key.as_ref().or_else(|| client.key_in_memory(&provider.id)) {
            Some(key) => {
                let from = if settings.key.is_some() { KeySource::Argument } else { KeySource::Memory };
                Some(Found { key: key.clone(), from })
            }
            None => client.lookup().key(provider)?,
        };
        let found = found.filter(|found| !found.key.is_empty());
        let mut headers = request::own_headers(provider, client, settings)?;
        let signing = match authorize(client, provider, found.as_ref(), &mut headers)? {
            Some(signing) => signing,
            None if provider.needs_key() => return Err(client.lookup().missing(provider).into()),
            None => Signing::Done,
        };
        let base_url = base_url(client, &route, found.as_ref(), settings)?;
        if !is_private(&base_url)
            && headers.values().any(http::HeaderValue::is_sensitive)
            && let Some((host, _)) = address::host(&base_url)
            && client.first_in_the_clear(&host)
        {
            crate::trace::in_the_clear(&provider.id, &host);
        }
        let resolved = Resolved {
            name: name.clone(),
            provider: provider.clone(),
            facts: route.facts.cloned(),
            rules: route.rules.clone(),
            codec: Codec::new(&route, client.limits()),
            base_url,
            headers,
            signing,
            timeouts: settings.timeouts,
            retry: settings.retry.clone(),
            secrets: Mutex::default(),
        };
        Ok(Upstream { client: client.clone(), resolved: Arc::new(resolved) })
    }

    /// Sends bytes to a path of the API and returns the answer as soon as its first bytes arrive.
    ///
    /// The path is the one that clients of the dialect use, with or without the version, and with its query:
    /// `/v1/chat/completions`. You can pass all of a client's headers: those about its connection or its credentials
    /// (`host`, `authorization`, `x-api-key`, `cookie`, any name with `token`, `secret` …) are not forwarded, and neither
    /// is a key in the query.
    ///
    /// # Errors
    /// Returns an error if there is no successful answer after all attempts. [`Error::response`] contains what the
    /// provider sent; [`Error::canonical`] can be encoded for a client of another dialect.
    pub async fn send(&self, path: &str, headers: &HeaderMap, body: Bytes, wanted: Wanted) -> Result<Exchange, Error> {
        self.pass(Method::POST, path, headers, body, wanted).await
    }

    /// Reads a path of the API, such as the list of models. Otherwise like [`send`](Upstream::send).
    ///
    /// # Errors
    /// Same as [`send`](Upstream::send).
    pub async fn get(&self, path: &str, headers: &HeaderMap) -> Result<Exchange, Error> {
        self.pass(Method::GET, path, headers, Bytes::new(), Wanted::Whole).await
    }

    async fn pass(
        &self,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
        wanted: Wanted,
    ) -> Result<Exchange, Error> {
        let request = self.request(method, path, headers, body, wanted)?;
        let mut attempts = Vec::new();
        let begin = |mut exchange: Exchange| async {
            exchange.body.begin().await?;
            Ok(exchange)
        };
        match self.attempt(&request, wanted, &mut attempts, begin).await {
            Ok(exchange) => Ok(Exchange { attempts, ..exchange }),
            Err(error) => Err(error.after_attempts(attempts)),
        }
    }

    /// Returns the dialect that the bytes are in.
    pub fn dialect(&self) -> Dialect {
        self.resolved.codec.dialect()
    }

    /// Returns the provider.
    pub fn provider(&self) -> &Provider {
        &self.resolved.provider
    }

    /// Returns the model. Its `id` is the provider's name for it.
    pub fn model(&self) -> &ModelName {
        &self.resolved.name
    }

    /// Returns facts about the model, if known: limits and prices.
    pub fn facts(&self) -> Option<&Facts> {
        self.resolved.facts.as_ref()
    }

    /// Returns what the codecs need to encode a request for this model.
    pub fn target(&self) -> Target<'_> {
        let Resolved { provider, facts, rules, .. } = self.resolved.as_ref();
        let mut target = Target::new(&provider.id, &provider.quirks, rules);
        target.facts = facts.as_ref();
        target
    }

    pub(crate) fn route(&self) -> Route<'_> {
        let Resolved { provider, facts, rules, name, .. } = self.resolved.as_ref();
        let mut route = Route::new(provider, self.dialect(), &name.id);
        (route.facts, route.rules) = (facts.as_ref(), rules);
        route
    }

    pub(crate) fn codec(&self) -> &Codec {
        &self.resolved.codec
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.resolved.timeouts
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(self.client.clock())
    }

    /// Suggests another dialect, in case a server at the caller's own URL does not know a path.
    fn other_dialect(&self) -> Option<String> {
        let Resolved { provider, base_url, .. } = self.resolved.as_ref();
        let (host, _) =
            address::host(base_url).filter(|own| Some(own) != address::host(&provider.base_url).as_ref())?;
        let spoken = self.dialect();
        let others: Vec<&str> = provider.dialects().filter(|other| *other != spoken).map(Dialect::as_str).collect();
        (!others.is_empty())
            .then(|| format!("if {host} does not speak {spoken}, choose another dialect: {}", others.join(", ")))
    }

    /// Returns the host and the port, for traces.
    pub(crate) fn host(&self) -> Option<(String, u16)> {
        address::host(&self.resolved.base_url)
    }
}

/// Finds the provider, the dialect and the rules for a model, without key and URL.
pub(crate) fn route<'a>(client: &'a Client, name: &ModelName, settings: &Settings) -> Result<Route<'a>, Error> {
    Ok(match settings.dialect {
        Some(dialect) => client.registry().route_in(name, dialect)?,
        None => client.registry().route(name)?,
    })
}

/// Returns the provider's base URL.
fn base_url(client: &Client, route: &Route<'_>, found: Option<&Found>, settings: &Settings) -> Result<String, Error> {
    let (provider, dialect) = (route.provider, route.dialect);
    let base_url = match settings.base_url.as_deref().or_else(|| client.base_url_in_memory(&provider.id)) {
        Some(given) => {
            // Handled like the provider's own variable: the version may be included or not.
            let variables = provider.base_url_variables();
            provider.base_url_for(dialect, |name| {
                let own = variables.iter().any(|variable| variable == name);
                if own { Some(given.to_owned()) } else { client.environment().variable(name) }
            })?
        }
        None => client.lookup().base_url(provider, dialect, found.map(|found| &found.from))?,
    };
    // Azure's deployments are part of the URL.
    if base_url.contains("{model}") && address::is_dots(&route.model) {
        let told = format!("the model `{}` leads out of the API", route.model);
        return Err(ikigai_core::Error::invalid_request(told).into());
    }
    Ok(base_url.replace("{model}", &segment(&route.model)))
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shows only the host of the URL: the rest may contain a password or a key.
        f.debug_struct("Upstream")
            .field("model", &self.resolved.name.to_string())
            .field("dialect", &self.dialect())
            .field("host", &self.host().map(|(host, port)| format!("{host}:{port}")))
            .field("timeouts", &self.resolved.timeouts)
            .field("retry", &self.resolved.retry)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod redaction_tests;
#[cfg(test)]
mod upstream_tests;
