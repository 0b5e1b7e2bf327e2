//! Google's tokens: from a service account, from what `gcloud` stores, or from the machine.

use std::fmt;
use std::sync::Mutex;

use bytes::Bytes;
use google_cloud_auth::credentials::service_account::AccessSpecifier;
use google_cloud_auth::credentials::{self, AccessTokenCredentials};
use http::HeaderValue;
use ikigai_core::ErrorKind;
use serde_json::Value;

use crate::config::{Environment, Found};
use crate::error::Error;

/// The scope of a token.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The accounts that a client has used, each with its token: tokens are fetched once and used until they expire.
#[derive(Default)]
pub(crate) struct Accounts(Mutex<Vec<(Option<String>, Account)>>);

/// An account that provides tokens.
#[derive(Clone)]
pub(crate) struct Account(AccessTokenCredentials);

impl Accounts {
    /// Returns the account in a file or, without a file, the one this process runs as. `None` if there is neither.
    pub(crate) fn account(&self, environment: &Environment, found: Option<&Found>) -> Result<Option<Account>, Error> {
        let file = found.map(|found| found.key.expose().to_owned());
        if file.is_none() && !environment.is_process() {
            return Ok(None);
        }
        let mut known = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, account)) = known.iter().find(|(of, _)| *of == file) {
            return Ok(Some(account.clone()));
        }
        let account = match &file {
            Some(file) => from_file(file)?,
            None => {
                let built = credentials::Builder::default().with_scopes([SCOPE]).build_access_token_credentials();
                Account(built.map_err(|error| failed(&error.to_string()))?)
            }
        };
        known.push((file, account.clone()));
        Ok(Some(account))
    }
}

fn from_file(file: &str) -> Result<Account, Error> {
    let text = std::fs::read_to_string(file).map_err(|error| failed(&format!("{file}: {error}")))?;
    // Without the parser's excerpt: the file contains a private key.
    let json: Value = serde_json::from_str(&text)
        .map_err(|error| failed(&format!("{file}:{}:{}: this is not JSON", error.line(), error.column())))?;
    let kind = json.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let built = match kind.as_str() {
        "service_account" => credentials::service_account::Builder::new(json)
            .with_access_specifier(AccessSpecifier::from_scopes([SCOPE]))
            .build_access_token_credentials(),
        "authorized_user" => {
            credentials::user_account::Builder::new(json).with_scopes([SCOPE]).build_access_token_credentials()
        }
        "external_account" => {
            credentials::external_account::Builder::new(json).with_scopes([SCOPE]).build_access_token_credentials()
        }
        "impersonated_service_account" => {
            credentials::impersonated::Builder::new(json).with_scopes([SCOPE]).build_access_token_credentials()
        }
        other => return Err(failed(&format!("{file}: unknown kind of account `{other}`"))),
    };
    built.map(Account).map_err(|error| failed(&format!("{file}: {error}")))
}

impl Account {
    /// Adds a token to the request.
    pub(crate) async fn sign(&self, mut request: http::Request<Bytes>) -> Result<http::Request<Bytes>, Error> {
        let token = self.0.access_token().await.map_err(|error| failed(&error.to_string()))?;
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.token))
            .map_err(|_| failed("the token has characters that are not allowed in a header"))?;
        value.set_sensitive(true);
        request.headers_mut().insert(http::header::AUTHORIZATION, value);
        Ok(request)
    }
}

fn failed(why: &str) -> Error {
    ikigai_core::Error::new(ErrorKind::Auth, format!("cannot get a token from Google: {why}")).into()
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account")
    }
}
