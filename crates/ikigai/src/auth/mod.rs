//! How requests are authenticated: every style of key in one place.
//!
//! A plain key is a header. Google's tokens are fetched, and Amazon's requests signed, right before each attempt, because
//! both contain a time.

#[cfg(feature = "bedrock")]
mod aws;
#[cfg(feature = "vertex")]
mod google;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use ikigai_core::ErrorKind;
use ikigai_core::provider::{Auth, Provider};

use crate::client::Client;
use crate::config::{Found, Key, KeySource};
use crate::error::{Error, Reason};

#[cfg(feature = "bedrock")]
pub(crate) use aws::Signer;
#[cfg(feature = "vertex")]
pub(crate) use google::Accounts;

/// Variables that hold a way to get a token (a file, the id of a key pair) and not a token itself.
pub(crate) const NOT_TOKENS: [&str; 2] = ["GOOGLE_APPLICATION_CREDENTIALS", "AWS_ACCESS_KEY_ID"];

/// What has to be done to a request before each attempt.
#[derive(Debug, Clone)]
pub(crate) enum Signing {
    /// Nothing: the key, if any, is in the headers.
    Done,
    /// The request is signed.
    #[cfg(feature = "bedrock")]
    Aws(aws::Signer),
    /// The request gets a token.
    #[cfg(feature = "vertex")]
    Google(google::Account),
}

/// Authenticates a request: by a header, which is added to `headers`, or by something that is done before each attempt.
/// Returns `None` if the provider needs a key and there is none.
///
/// A key never goes into the URL, because URLs are logged.
pub(crate) fn authorize(
    client: &Client,
    provider: &Provider,
    found: Option<&Found>,
    headers: &mut HeaderMap,
) -> Result<Option<Signing>, Error> {
    let token = found.filter(|found| !leads_to_token(&found.from));
    match (provider.auth, token) {
        (Auth::None, _) => Ok(Some(Signing::Done)),
        (Auth::Bearer, Some(token)) => header(provider, headers, http::header::AUTHORIZATION, "Bearer ", &token.key),
        (Auth::XApiKey, Some(token)) => header(provider, headers, HeaderName::from_static("x-api-key"), "", &token.key),
        (Auth::XGoogApiKey, Some(token)) => {
            header(provider, headers, HeaderName::from_static("x-goog-api-key"), "", &token.key)
        }
        // Azure accepts tokens of its directory as well.
        (Auth::ApiKey, Some(token)) if is_jwt(&token.key) => {
            header(provider, headers, http::header::AUTHORIZATION, "Bearer ", &token.key)
        }
        (Auth::ApiKey, Some(token)) => header(provider, headers, HeaderName::from_static("api-key"), "", &token.key),
        // A given token takes precedence over signing and over fetching one.
        (Auth::GoogleOauth | Auth::AwsSigv4, Some(token)) => {
            header(provider, headers, http::header::AUTHORIZATION, "Bearer ", &token.key)
        }
        (Auth::GoogleOauth, None) => google_account(client, provider, found),
        (Auth::AwsSigv4, None) => aws_signer(client, provider, found),
        (Auth::Bearer | Auth::XApiKey | Auth::XGoogApiKey | Auth::ApiKey, None) => Ok(None),
        (unknown, _) => {
            let told = format!("this version does not support the authentication of {} ({unknown:?})", provider.name);
            Err(Reason::Unsupported(told).into())
        }
    }
}

impl Signing {
    /// Prepares the request for this attempt.
    pub(crate) async fn sign(
        &self,
        client: &Client,
        request: http::Request<Bytes>,
    ) -> Result<http::Request<Bytes>, Error> {
        let _ = client;
        match self {
            Signing::Done => Ok(request),
            #[cfg(feature = "bedrock")]
            Signing::Aws(signer) => signer.sign(request, client.clock().today()),
            #[cfg(feature = "vertex")]
            Signing::Google(account) => account.sign(request).await,
        }
    }
}

#[cfg(feature = "vertex")]
fn google_account(client: &Client, _: &Provider, found: Option<&Found>) -> Result<Option<Signing>, Error> {
    Ok(client.google().account(client.environment(), found)?.map(Signing::Google))
}

#[cfg(not(feature = "vertex"))]
fn google_account(_: &Client, provider: &Provider, found: Option<&Found>) -> Result<Option<Signing>, Error> {
    without(provider, found, "vertex")
}

#[cfg(feature = "bedrock")]
fn aws_signer(client: &Client, _: &Provider, _: Option<&Found>) -> Result<Option<Signing>, Error> {
    Ok(client.aws()?.map(Signing::Aws))
}

#[cfg(not(feature = "bedrock"))]
fn aws_signer(_: &Client, provider: &Provider, found: Option<&Found>) -> Result<Option<Signing>, Error> {
    without(provider, found, "bedrock")
}

#[cfg(not(all(feature = "bedrock", feature = "vertex")))]
fn without(provider: &Provider, found: Option<&Found>, feature: &str) -> Result<Option<Signing>, Error> {
    match found {
        None => Ok(None),
        Some(_) => Err(Reason::Unsupported(format!(
            "{} needs more than a key, which this build does not support (feature `{feature}`); use a token as the key",
            provider.name
        ))
        .into()),
    }
}

fn header(
    provider: &Provider,
    headers: &mut HeaderMap,
    name: HeaderName,
    before: &str,
    key: &Key,
) -> Result<Option<Signing>, Error> {
    let mut value = HeaderValue::try_from(format!("{before}{}", key.expose())).map_err(|_| {
        let told = format!("the key for {} has characters that are not allowed in a header", provider.name);
        Reason::from(ikigai_core::Error::new(ErrorKind::Auth, told))
    })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(Some(Signing::Done))
}

/// Whether the value only leads to a token and is not one itself.
fn leads_to_token(from: &KeySource) -> bool {
    match from {
        KeySource::Variable(name) | KeySource::DotEnv { variable: name, .. } => NOT_TOKENS.contains(&name.as_str()),
        KeySource::Argument | KeySource::Memory | KeySource::File(_) => false,
    }
}

/// Whether the key is a JWT: three parts separated by dots, the first a JSON object in base64.
fn is_jwt(key: &Key) -> bool {
    key.expose().starts_with("eyJ") && key.expose().matches('.').count() == 2
}

#[cfg(test)]
mod auth_tests;
