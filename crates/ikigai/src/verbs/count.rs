//! Counting the tokens of a prompt.

use std::fmt;

use http::Method;
use ikigai_core::{ErrorKind, Prompt, Tool};

use super::estimate_tokens;
use crate::codec::Codec;
use crate::error::Error;
use crate::model::Model;
use crate::upstream::{Wanted, header_map, route};

/// The number of tokens in a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCount {
    /// The number of tokens.
    pub tokens: u64,
    /// Whether the provider counted all of them. If not, the number is an estimate from the prompt's size, which may be
    /// off by a third or more, or the provider's count without its own tools, which some providers do not count.
    pub exact: bool,
}

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = if self.exact { "" } else { "about " };
        write!(f, "{about}{} tokens", self.tokens)
    }
}

impl Model {
    /// Counts the tokens of a prompt, including the system prompt and the tools. The provider counts them if it can;
    /// otherwise they are estimated, and marked as such.
    ///
    /// # Errors
    /// Returns an error if the prompt is invalid, or if a provider that counts tokens cannot be reached.
    pub async fn count_tokens(&self, prompt: impl Into<Prompt>) -> Result<TokenCount, Error> {
        let mut request = self.request(prompt.into())?;
        let estimated = TokenCount { tokens: estimate_tokens(&request), exact: false };
        let tools = request.tools.len();
        // Anthropic refuses to count a request that contains built-in tools.
        request.tools.retain(|tool| !matches!(tool, Tool::BuiltIn(_)));
        let exact = request.tools.len() == tools;
        let route = route(&self.client, &self.plan.name, &self.plan.settings)?;
        let codec = Codec::new(&route, self.client.limits());
        let encoded = codec.encode_request(&request, &route)?;
        let dialect = codec.dialect();
        let Some(count) = dialect.count_request(&encoded) else { return Ok(estimated) };
        let upstream = self.upstream()?;
        let (headers, body) = (header_map(&count.headers)?, count.body.into());
        let request = upstream.request(Method::POST, &count.path, &headers, body, Wanted::Whole)?;
        match upstream.whole(&request, |body, _| dialect.decode_count(body, &self.client.limits())).await {
            Ok(tokens) => Ok(tokens.map_or(estimated, |tokens| TokenCount { tokens, exact })),
            // Some compatible servers lack this endpoint.
            Err(error) if error.kind() == ErrorKind::NotFound || matches!(error.status(), Some(404 | 405 | 501)) => {
                Ok(estimated)
            }
            Err(error) => Err(error),
        }
    }
}
