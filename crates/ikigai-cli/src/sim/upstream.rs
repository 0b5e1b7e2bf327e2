//! The connection to the provider that `ikigai sim --record` records.

use std::io;

use bytes::Bytes;
use ikigai::transport::{Http, Transport as _, TransportError, unpack};
use ikigai_sim::{Forwarding, NextPiece, Upstream};

/// A provider reached over HTTP.
#[derive(Debug)]
pub(super) struct Provider(Http);

impl Provider {
    /// Uses proxies from the environment, as for every provider.
    pub(super) fn new() -> Result<Self, TransportError> {
        Http::new().map(Provider)
    }
}

impl Upstream for Provider {
    fn send(&self, request: http::Request<Bytes>) -> Forwarding<'_> {
        Box::pin(async move {
            let response = self.0.send(request).await.map_err(io::Error::other)?;
            let (mut head, body) = response.into_parts();
            let ratio = ikigai::Limits::default().ratio;
            let mut body = unpack(body, &mut head.headers, ratio).map_err(io::Error::other)?;
            let next: NextPiece =
                Box::new(move |cx| body.poll_next(cx).map(|piece| piece.map(|piece| piece.map_err(io::Error::other))));
            Ok(http::Response::from_parts(head, next))
        })
    }
}
