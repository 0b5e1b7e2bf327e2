//! Which providers can be reached, and what is in the way.

use std::sync::{Arc, Mutex, PoisonError};

use http::header::DATE;
use ikigai::transport::{Http, Sending, Transport};
use ikigai::{Client, ErrorKind, Registry};
use jiff::Timestamp;

use super::{Finding, Health};
use crate::exit::Failure;
use crate::keys::{self, Tried};
use crate::redact;
use crate::trust;

/// A larger error of the clock makes signed requests fail, and shows wrong times. In seconds.
const SKEW: i64 = 60;

/// How far our clock is from the servers', according to the dates of their answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(Arc<Mutex<Vec<i64>>>);

/// An HTTP transport that checks the date of each answer.
#[derive(Debug)]
struct Dated {
    http: Http,
    clock: Clock,
}

impl Transport for Dated {
    fn send(&self, request: http::Request<bytes::Bytes>) -> Sending<'_> {
        Box::pin(async move {
            let response = self.http.send(request).await?;
            let date = response.headers().get(DATE).and_then(|date| date.to_str().ok());
            if let Some(date) = date.and_then(parse) {
                let off = Timestamp::now().as_second() - date.as_second();
                self.clock.0.lock().unwrap_or_else(PoisonError::into_inner).push(off);
            }
            Ok(response)
        })
    }
}

fn parse(date: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(date.trim()).ok()
}

/// Returns a client that also checks the clock.
pub(super) fn client(registry: Registry) -> Result<(Client, Clock), Failure> {
    let clock = Clock::default();
    let http = Http::new().map_err(|error| Failure::new(format!("TLS cannot be set up: {error}")))?;
    let transport = Dated { http, clock: clock.clone() };
    Ok((keys::checking_client(registry, trust::client()?.transport(transport))?, clock))
}

/// Asks every provider that has a key.
pub(super) fn reach(client: &Client, clock: &Clock) -> Result<Vec<Finding>, Failure> {
    let (found, _) = keys::found(client);
    if found.is_empty() {
        return Ok(vec![Finding::new("network", Health::Info, "no provider can be checked without a key")]);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let chosen = found.into_iter().map(|(provider, found)| (provider, Some(found))).collect();
    let tried = runtime.block_on(keys::check_all(client, chosen));
    let mut findings: Vec<Finding> = tried.iter().map(told).collect();
    findings.extend(skew(&clock.0.lock().unwrap_or_else(PoisonError::into_inner)));
    Ok(findings)
}

fn told(tried: &Tried) -> Finding {
    let who = &tried.provider;
    match &tried.outcome {
        Ok(models) => Finding::new("network", Health::Good, format!("{who}: answers, {models} models")),
        Err(error) => {
            let (state, word) = match error.kind() {
                // It is reachable, and did not reject the key.
                ErrorKind::RateLimit | ErrorKind::Overloaded | ErrorKind::Quota => (Health::Warning, "is busy"),
                ErrorKind::NotFound | ErrorKind::Permission => (Health::Warning, "answers, but lists no models"),
                ErrorKind::Auth => (Health::Broken, "rejected the key"),
                ErrorKind::Network | ErrorKind::Timeout => (Health::Broken, "cannot be reached"),
                _ => (Health::Broken, "does not work"),
            };
            let words = error.to_string();
            let words = words.strip_prefix(&format!("{who}: ")).unwrap_or(&words);
            let finding = Finding::new("network", state, format!("{who} {word}: {words}"));
            match Failure::from(error).hint {
                // This is already the doctor.
                Some(hint) if !hint.contains("ikigai doctor") => finding.hint(hint),
                _ => finding,
            }
        }
    }
}

/// Reports what the servers' dates say about our clock.
fn skew(off: &[i64]) -> Option<Finding> {
    // The smallest difference: a server's clock or a slow answer may be what is off.
    let off = *off.iter().min_by_key(|seconds| seconds.abs())?;
    Some(match off.abs() <= SKEW {
        true => Finding::new("network", Health::Good, "the clock matches the servers'"),
        false => {
            let word = if off > 0 { "ahead of" } else { "behind" };
            Finding::new("network", Health::Warning, format!("the clock is {} s {word} the servers'", off.abs()))
                .hint("Set the clock: signed requests and certificates depend on it.")
        }
    })
}

/// Reports variables that affect how requests are sent.
pub(super) fn variables() -> Vec<Finding> {
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let mut findings = Vec::new();
    for name in
        ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"]
    {
        if let Some(proxy) = value(name) {
            findings.push(Finding::new("network", Health::Info, format!("{name}={}", redact::address(&proxy))));
        }
    }
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        if let Some(path) = value(name) {
            let is_there = std::path::Path::new(&path).exists();
            findings.push(match is_there {
                true => Finding::new("network", Health::Info, format!("{name}={path}")),
                false => Finding::new("network", Health::Broken, format!("{name}={path} does not exist"))
                    .hint(format!("Unset {name}, or fix the path.")),
            });
        }
    }
    for provider in ikigai_core::provider::Providers::shared().iter() {
        for name in provider.base_url_variables() {
            if let Some(url) = value(&name) {
                let what = format!("{name}={}: requests to {} go there", redact::address(&url), provider.name);
                findings.push(Finding::new("network", Health::Info, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_nearest_clock_counts() {
        let what = |off: &[i64]| skew(off).map(|finding| (finding.state, finding.what));
        assert_eq!(what(&[]), None);
        assert_eq!(what(&[5000, -3]), Some((Health::Good, "the clock matches the servers'".to_owned())));
        assert_eq!(what(&[-90, 4000]), Some((Health::Warning, "the clock is 90 s behind the servers'".to_owned())));
        assert_eq!(what(&[61]), Some((Health::Warning, "the clock is 61 s ahead of the servers'".to_owned())));
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT").map(Timestamp::as_second), Some(784_111_777));
        assert_eq!(parse("yesterday"), None);
    }
}
