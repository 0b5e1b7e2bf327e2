//! Requests: wire to canonical and back.

pub(crate) mod built_in;
mod decode;
mod encode;
mod messages;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

/// The error of a field that is not what it must be.
pub(super) fn refusal(place: &str, wanted: &str) -> crate::Error {
    crate::Error::invalid_param(place, format!("{place} must be {wanted}"))
}

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod parameters_tests;
