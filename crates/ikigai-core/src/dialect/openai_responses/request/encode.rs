//! placeholder
use crate::dialect::{Target, WireRequest};
use crate::{Error, Request};
pub(crate) fn encode_request(_request: &Request, _target: &Target<'_>) -> Result<WireRequest, Error> {
    Err(Error::protocol(""))
}
