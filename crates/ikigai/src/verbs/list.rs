//! A provider's own list of its models.

use bytes::Bytes;
use http::Method;
use ikigai_core::ModelName;
use ikigai_core::provider::ProviderSetupError;
use ikigai_core::wire::ListedModel;

use crate::client::Client;
use crate::error::{Error, Reason};
use crate::settings::Settings;
use crate::upstream::{Upstream, Wanted, header_map};

/// More pages than any provider has: a list that does not end is broken.
const PAGES: usize = 100;
/// More models than any provider has.
const MODELS: usize = 20_000;

impl Client {
    /// Lists the models that a provider reports. The provider is named by its id or alias. The built-in catalogue knows
    /// more about each model: [`Client::registry`].
    ///
    /// # Errors
    /// Returns an error if there is no such provider, no key for it, or no answer.
    pub async fn models(&self, provider: &str) -> Result<Vec<ListedModel>, Error> {
        let row = self.registry().providers.find(provider).ok_or_else(|| {
            let nearest = self.registry().providers.nearest(provider).map(str::to_owned);
            Reason::from(ProviderSetupError::Unknown { name: provider.to_owned(), nearest })
        })?;
        // A placeholder instead of a model selects the dialect that the provider speaks by default.
        let dialect = self.registry().dialect_for(row, "models");
        let settings = Settings { dialect: Some(dialect), ..Settings::new(self.timeouts(), self.retry().clone()) };
        // Used in errors, which name the provider.
        let name = ModelName::new(row.id.to_string(), "models");
        let upstream = Upstream::find(self, &name, &settings)?;
        let mut models = Vec::new();
        let mut after = None;
        for _ in 0..PAGES {
            let page = dialect.models_request(after.as_deref());
            let headers = header_map(&page.headers)?;
            let request = upstream.request(Method::GET, &page.path, &headers, Bytes::new(), Wanted::Whole)?;
            let (found, next) = upstream.whole(&request, |body, _| dialect.decode_models(body, &self.limits())).await?;
            models.extend(found);
            match next {
                Some(next) if models.len() <= MODELS && after.as_ref() != Some(&next) => after = Some(next),
                Some(_) => break,
                None => return Ok(models),
            }
        }
        let mut endless = ikigai_core::Error::protocol("the list of models has no end");
        endless.retryable = Some(false);
        Err(Error::new(endless).at(&name))
    }
}
