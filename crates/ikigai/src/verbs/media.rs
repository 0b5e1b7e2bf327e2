//! What drawing, speech and transcription have in common: one request that has to be paid for, and its answer.

use http::Method;
use ikigai_core::wire::WireRequest;
use ikigai_core::{Loss, Usage};
use tracing::Instrument as _;

use crate::error::Error;
use crate::model::Model;
use crate::upstream::{Head, Upstream, Wanted, header_map};

/// How one of these verbs reads its answer.
pub(super) struct Reading<T, R> {
    /// The kind of output, as named in traces: `image`, `speech`, `text`.
    pub(super) output: &'static str,
    pub(super) read: R,
    /// The tokens that were used.
    pub(super) usage: fn(&T) -> Option<&Usage>,
}

impl Model {
    /// Sends a request and returns the content of its answer, along with the losses.
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
