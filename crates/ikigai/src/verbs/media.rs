//! What drawing, speaking and listening have in common: one request that is paid for, and its answer.

use http::Method;
use ikigai_core::wire::WireRequest;
use ikigai_core::{Loss, Usage};
use tracing::Instrument as _;

use crate::error::Error;
use crate::model::Model;
use crate::upstream::{Head, Upstream, Wanted, header_map};

/// How one of these verbs reads its answer.
pub(super) struct Reading<T, R> {
    /// What comes, in the words of traces: `image`, `speech`, `text`.
    pub(super) output: &'static str,
    pub(super) read: R,
    /// The tokens that it took.
    pub(super) usage: fn(&T) -> Option<&Usage>,
}

impl Model {
    /// Sends a request, and gives what its answer holds, with what could not be carried.
    pub(super) async fn carry<T, R>(
        &self,
        upstream: &Upstream,
        wire: WireRequest,
        reading: Reading<T, R>,
    ) -> Result<(T, Vec<Loss>), Error>
    where
        R: Fn(&[u8], &Head) -> Result<T, ikigai_core::Error>,
    {
        let wire = if self.plan.settings.strict { wire.strictly(upstream.dialect())? } else { wire };
        let headers = header_map(&wire.headers)?;
        let request = upstream.request(Method::POST, &wire.path, &headers, wire.body.into(), Wanted::Whole)?;
        let Reading { output, read, usage } = reading;
        let span = crate::trace::media(upstream, output);
        let clock = self.client.clock();
        let began = clock.now();
        let outcome = upstream.whole(&request, read).instrument(span.clone()).await;
        let took = clock.now().saturating_sub(began);
        crate::trace::made(&span, upstream.model(), outcome.as_ref().map(usage), took);
        Ok((outcome?, wire.losses))
    }
}
