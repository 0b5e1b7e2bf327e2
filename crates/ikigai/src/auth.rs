//! How a request shows who sends it: every style of key in one place.

use http::{HeaderMap, HeaderName, HeaderValue};
use ikigai_core::{Auth, Provider};

use crate::config::{Found, KeySource};
use crate::error::Reason;

/// Puts the key into the headers, as the provider wants it. It never goes into the address: addresses are logged.
pub(crate) fn authorise(provider: &Provider, found: &Found, headers: &mut HeaderMap) -> Result<(), Reason> {
    let key = &found.key;
    let (name, value) = match provider.auth {
        // What stands in these variables is not a token, but a way to one.
        Auth::GoogleOauth | Auth::AwsSigv4
            if is_variable(&found.from, &["GOOGLE_APPLICATION_CREDENTIALS", "AWS_ACCESS_KEY_ID"]) =>
        {
            return Err(Reason::Unsupported(format!(
                "{} wants requests signed, which this build cannot do; give it a token as the key",
                provider.name
            )));
        }
        // A token that was given goes before signing and before fetching one.
        Auth::Bearer | Auth::GoogleOauth | Auth::AwsSigv4 => {
            (http::header::AUTHORIZATION, format!("Bearer {}", key.expose()))
        }
        Auth::XApiKey => (HeaderName::from_static("x-api-key"), key.expose().to_owned()),
        Auth::XGoogApiKey => (HeaderName::from_static("x-goog-api-key"), key.expose().to_owned()),
        Auth::ApiKey => (HeaderName::from_static("api-key"), key.expose().to_owned()),
        Auth::None => return Ok(()),
    };
    let mut value = HeaderValue::try_from(value).map_err(|_| {
        let told = format!("the key for {} has characters that no header can carry", provider.name);
        Reason::from(ikigai_core::Error::new(ikigai_core::ErrorKind::Auth, told))
    })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

fn is_variable(from: &KeySource, names: &[&str]) -> bool {
    match from {
        KeySource::Variable(name) | KeySource::DotEnv { variable: name, .. } => names.contains(&name.as_str()),
        KeySource::Argument | KeySource::Memory | KeySource::File(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use ikigai_core::Providers;
    use pretty_assertions::assert_eq;

    use super::*;

    fn found(key: &str) -> Found {
        Found { key: key.into(), from: KeySource::Argument }
    }

    #[test]
    fn a_path_or_an_id_is_not_sent_as_a_token() {
        for (id, variable) in [("vertex", "GOOGLE_APPLICATION_CREDENTIALS"), ("bedrock", "AWS_ACCESS_KEY_ID")] {
            let found = Found { key: "/secret/file".into(), from: KeySource::Variable(variable.to_owned()) };
            let mut headers = HeaderMap::new();
            let error = authorise(Providers::shared().find(id).unwrap(), &found, &mut headers).unwrap_err();
            assert!(matches!(error, Reason::Unsupported(_)) && headers.is_empty(), "{error}");
        }
    }

    #[test]
    fn each_style_has_its_header_and_none_shows_the_key() {
        for (id, name, value) in [
            ("openai", "authorization", "Bearer sk-secret"),
            ("anthropic", "x-api-key", "sk-secret"),
            ("google", "x-goog-api-key", "sk-secret"),
            ("azure", "api-key", "sk-secret"),
            ("bedrock", "authorization", "Bearer sk-secret"),
        ] {
            let mut headers = HeaderMap::new();
            authorise(Providers::shared().find(id).unwrap(), &found("sk-secret"), &mut headers).unwrap();
            assert_eq!((headers.len(), headers[name].to_str().unwrap()), (1, value), "{id}");
            assert!(!format!("{headers:?}").contains("secret"), "{headers:?}");
        }
        let mut headers = HeaderMap::new();
        authorise(Providers::shared().find("sim").unwrap(), &found("sk-secret"), &mut headers).unwrap();
        assert!(headers.is_empty());
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_an_error_without_the_key() {
        let openai = Providers::shared().find("openai").unwrap();
        let error = authorise(openai, &found("sk-sec\nret"), &mut HeaderMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "the key for OpenAI has characters that no header can carry");
    }
}
