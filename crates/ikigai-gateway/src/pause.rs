//! Turns that a provider pauses while it runs its own tools.
//!
//! A client of the provider's dialect sees the pause and continues the turn itself. Other dialects have no pauses: for
//! their clients, the gateway sends the turn back, as the provider wants it, until the answer is complete.

use std::pin::Pin;

use ikigai::{Exchange, Request, Response, Tool, Upstream, Wanted};
use ikigai_core::pause::MOST_CONTINUATIONS;
use ikigai_core::wire::{ToolNames, WireRequest};
use ikigai_core::{Dialect, Error, Limits, Loss};

use crate::generate::{Failure, apart};
use crate::plan::Way;
use crate::reply;

/// Whether losses are errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    Strict,
    Lenient,
}

/// How to send a request to a model, possibly more than once.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    pub(crate) upstream: Upstream,
    pub(crate) strictness: Strictness,
    pub(crate) wanted: Wanted,
    /// How many bytes the client sent.
    pub(crate) length: usize,
}

/// An answer, or the rest of one, that has begun.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) exchange: Exchange,
    pub(crate) names: ToolNames,
    pub(crate) losses: Vec<Loss>,
}

/// The rest of an answer, while it is being requested.
pub(crate) type Resuming = Pin<Box<dyn Future<Output = Result<Resumed, Failure>> + Send>>;

impl Asking {
    /// Sends a request in the model's dialect.
    pub(crate) async fn send(&self, request: Request) -> Result<Resumed, Failure> {
        let wire = self.encode(request).await?;
        self.deliver(wire).await
    }

    /// Sends an encoded request.
    pub(crate) async fn deliver(&self, wire: WireRequest) -> Result<Resumed, Failure> {
        let WireRequest { path, headers, body, names, losses, .. } = wire;
        let exchange = self.upstream.send(&path, &reply::header_map(&headers), body.into(), self.wanted).await?;
        Ok(Resumed { exchange, names, losses })
    }

    /// Encodes a request in the model's dialect.
    pub(crate) async fn encode(&self, request: Request) -> Result<WireRequest, Error> {
        let (upstream, strictness) = (self.upstream.clone(), self.strictness);
        let work = move || {
            let wire = upstream.dialect().encode_request(&request, &upstream.target(), &Limits::server())?;
            if strictness == Strictness::Strict { wire.strictly(upstream.dialect()) } else { Ok(wire) }
        };
        apart(self.length, work).await
    }
}

/// What is needed to continue a paused turn.
#[derive(Debug, Clone)]
pub(crate) struct Pauses {
    asking: Asking,
    request: Request,
    /// How many more times it may be continued.
    left: u32,
}

impl Pauses {
    /// For a request with provider-run tools from a client of another dialect, which has no pauses; otherwise `None`.
    pub(crate) fn of(request: &Request, client: Dialect, way: &Way, asking: &Asking) -> Option<Self> {
        let has_tools = request.tools.iter().any(|tool| !matches!(tool, Tool::Function(_)));
        (has_tools && client != way.upstream.dialect()).then(|| Pauses {
            asking: asking.clone(),
            request: request.clone(),
            left: MOST_CONTINUATIONS,
        })
    }

    /// Whether the turn has been continued as often as allowed.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left == 0
    }

    /// Asks for the rest of an answer. Returns `None` if that was done too often.
    pub(crate) fn go_on(&mut self, so_far: Response) -> Option<Resuming> {
        self.left = self.left.checked_sub(1)?;
        let mut request = self.request.clone();
        request.messages.push(so_far.into_message(self.asking.upstream.provider().id.to_string()));
        let asking = self.asking.clone();
        Some(Box::pin(async move { asking.send(request).await }))
    }
}
