//! How a request shows who sends it: every style of key in one place.

use http::{HeaderMap, HeaderName, HeaderValue};
use ikigai_core::{Auth, Provider};

use crate::config::Key;
use crate::error::Reason;

/// Puts the key into the headers, as the provider wants it. It never goes into the address: addresses are logged.
pub(crate) fn authorise(provider: &Provider, key: &Key, headers: &mut HeaderMap) -> Result<(), Reason> {
    let (name, value) = match provider.auth {
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

#[cfg(test)]
mod tests {
    use ikigai_core::Providers;
    use pretty_assertions::assert_eq;

    use super::*;

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
            authorise(Providers::shared().find(id).unwrap(), &Key::from("sk-secret"), &mut headers).unwrap();
            assert_eq!((headers.len(), headers[name].to_str().unwrap()), (1, value), "{id}");
            assert!(!format!("{headers:?}").contains("secret"), "{headers:?}");
        }
        let mut headers = HeaderMap::new();
        authorise(Providers::shared().find("sim").unwrap(), &Key::from("sk-secret"), &mut headers).unwrap();
        assert!(headers.is_empty());
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_an_error_without_the_key() {
        let openai = Providers::shared().find("openai").unwrap();
        let error = authorise(openai, &Key::from("sk-sec\nret"), &mut HeaderMap::new()).unwrap_err();
        assert_eq!(error.to_string(), "the key for OpenAI has characters that no header can carry");
    }
}
