//! Requests: wire to canonical and back.

mod decode;
mod encode;
mod messages;
mod tools;

pub(crate) use decode::decode_request;
pub(crate) use encode::encode_request;

/// The error of a field that is not what it must be.
pub(super) fn refusal(place: &str, wanted: &str) -> crate::Error {
    let mut error = crate::Error::invalid_request(format!("{place} must be {wanted}"));
    error.param = Some(place.to_owned());
    error
}

#[cfg(test)]
mod decode_tests;
#[cfg(test)]
mod encode_tests;
#[cfg(test)]
mod parameters_tests;
