//! Requests: from the wire to canonical and back.

pub(crate) mod built_in;
mod decode;
mod encode;
mod messages;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

/// Returns the error for a field of the wrong type.
pub(super) fn refusal(place: &str, wanted: &str) -> crate::Error {
    crate::Error::invalid_param(place, format!("{place} must be {wanted}"))
}

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod parameters_tests;
