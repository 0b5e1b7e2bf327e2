//! Requests, previewed before they are sent.

use ikigai_core::{Dialect, Loss, ModelName, Prompt, Request};
use serde_json::Value;

use crate::client::Client;
use crate::config::Key;
use crate::error::{Error, Reason};
use crate::model::Model;
use crate::redact::{PLACEHOLDER, Secrets};
use crate::settings::Settings;
use crate::turn::Turn;

/// A request as it would be sent. It contains no key.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preview {
    /// The model that would be asked.
    pub model: ModelName,
    /// The dialect that would be used.
    pub dialect: Dialect,
    /// The request in the canonical form.
    pub request: Request,
    /// The HTTP method.
    pub method: String,
    /// The URL.
    pub url: String,
    /// The headers, with `[key]` in place of the key.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
    /// What the dialect cannot carry, or carries differently.
    pub losses: Vec<Loss>,
}

impl Preview {
    pub(crate) fn new(
        client: &Client,
        name: ModelName,
        request: Request,
        mut settings: Settings,
    ) -> Result<Self, Error> {
        let prepared = match client.prepare(&name, &request, &settings) {
            // Nothing is sent, so any key will do.
            Err(error) if matches!(error.reason(), Reason::MissingKey(_)) => {
                settings.key = Some(Key::from(PLACEHOLDER));
                client.prepare(&name, &request, &settings)?
            }
            outcome => outcome?,
        };
        let wire = &prepared.request;
        let hidden = |value: &http::HeaderValue| {
            let shown = String::from_utf8_lossy(value.as_bytes()).into_owned();
            match shown.split_once(' ') {
                _ if !value.is_sensitive() => shown,
                Some((scheme, _)) => format!("{scheme} {PLACEHOLDER}"),
                None => PLACEHOLDER.to_owned(),
            }
        };
        let headers = wire.headers().iter().map(|(name, value)| (name.to_string(), hidden(value))).collect();
        let body = serde_json::from_slice(wire.body())
            .map_err(|error| ikigai_core::Error::protocol(format!("the request is not JSON: {error}")))?;
        Ok(Preview {
            method: wire.method().to_string(),
            url: Secrets::of(wire).redact(&wire.uri().to_string()).into_owned(),
            headers,
            body,
            model: name,
            dialect: prepared.upstream.dialect(),
            losses: prepared.losses,
            request,
        })
    }
}

impl Model {
    /// Returns the first request that [`stream`](Model::stream) would send, without sending it. This needs no key.
    ///
    /// ```
    /// # fn f() -> Result<(), ikigai::Error> {
    /// let preview = ikigai::model("anthropic:claude-sonnet-4-5/low")?.preview("Why is the sky blue?")?;
    /// println!("{} {}\n{:#}", preview.method, preview.url, preview.body);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the request is invalid, or if it cannot be expressed in the model's dialect.
    pub fn preview(&self, prompt: impl Into<Prompt>) -> Result<Preview, Error> {
        Turn::begin(self, prompt.into())?.preview()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use crate::Client;
    use crate::config::Environment;

    fn preview(variables: &[(&str, &str)]) -> super::Preview {
        let environment = Environment::of(variables.iter().copied());
        let client = Client::builder().environment(environment).build().unwrap();
        client.model("openai:gpt-4o-mini").unwrap().preview("Hi").unwrap()
    }

    #[test]
    fn a_request_is_shown_without_its_key() {
        let shown = preview(&[("OPENAI_API_KEY", "sk-very-secret-key-0001")]);
        assert_eq!((shown.method.as_str(), shown.url.as_str()), ("POST", "https://api.openai.com/v1/responses"));
        assert!(shown.headers.contains(&("authorization".to_owned(), "Bearer [key]".to_owned())), "{shown:?}");
        assert_eq!(shown.body["model"], json!("gpt-4o-mini"));
        assert!(!format!("{shown:?}").contains("very-secret"));
    }

    #[test]
    fn without_a_key_it_is_the_same() {
        assert_eq!(preview(&[]), preview(&[("OPENAI_API_KEY", "sk-very-secret-key-0001")]));
    }
}
