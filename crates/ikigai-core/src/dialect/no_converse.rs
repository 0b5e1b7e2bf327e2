//! Amazon Bedrock's Converse in a build without the feature `converse`: known by name, but refused.

#[path = "bedrock_converse/abilities.rs"]
mod abilities;

use std::borrow::Cow;

use crate::dialect::failure::{by_status, plain_message};
use crate::dialect::{Fault, ReadFrames, Seen};
use crate::fit::Fitted;
use crate::wire::{Ids, Target, WireError, WireRequest};
use crate::{Error, Event, Limits, Request, Response};

pub(crate) use abilities::ABILITIES;

/// The longest message kept from a failure.
const LIMIT: usize = 2048;

fn refused() -> Error {
    Error::invalid_request(
        "this build has no bedrock-converse: turn on the feature `bedrock` of ikigai-ai, or `converse` of ikigai-ai-core",
    )
}

pub(crate) fn from_former<'a>(request: &'a Request, _: &Target<'_>) -> Cow<'a, Request> {
    Cow::Borrowed(request)
}

pub(crate) fn encode_request(_: &Fitted<'_>, _: &Limits) -> Result<WireRequest, Error> {
    Err(refused())
}

pub(crate) fn decode_response(_: &[u8], _: &mut Ids) -> Result<Response, Error> {
    Err(refused())
}

pub(crate) fn decode_error(status: Option<u16>, _: &[(String, String)], body: &str) -> Error {
    let mut error = Error::new(by_status(status), plain_message(status, body, LIMIT));
    error.status = status;
    error
}

pub(crate) fn encode_error(_: &Error) -> WireError {
    WireError { status: 501, headers: Vec::new(), body: refused().message.into_bytes() }
}

/// A decoder that refuses every stream.
#[derive(Debug)]
pub(crate) struct Decoder;

impl Decoder {
    pub(crate) fn new(_: Ids, _: &Limits) -> Self {
        Decoder
    }
}

impl ReadFrames for Decoder {
    fn frame(&mut self, _: Option<&str>, _: &str, _: &mut Vec<Event>) -> Result<Seen, Fault> {
        Err(Fault::Failed(Box::new(refused())))
    }

    fn end(&mut self, _: &mut Vec<Event>) -> Result<(), Fault> {
        Err(Fault::CutOff)
    }

    fn held(&self) -> usize {
        0
    }
}
