//! What the headers say about retrying.

use crate::dialect::failure::{duration_ms, header, retry_after, wait_in};
use crate::{Error, ErrorKind};

/// Returns how long to wait, in milliseconds. A date is ignored: there is no clock here to compare it with.
pub(super) fn after_ms(headers: &[(String, String)], error: &Error) -> Option<u64> {
    let limited = matches!(error.kind, ErrorKind::RateLimit | ErrorKind::Overloaded);
    retry_after(headers)
        .or_else(|| limited.then(|| wait_in(&error.message)).flatten())
        .or_else(|| (error.kind == ErrorKind::RateLimit).then(|| resets(headers)).flatten())
}

/// Returns the longest reset among the exhausted allowances: the request needs all of them.
fn resets(headers: &[(String, String)]) -> Option<u64> {
    headers
        .iter()
        .filter(|(_, left)| left.trim() == "0")
        .filter_map(|(name, _)| {
            let name = name.to_ascii_lowercase();
            let kind = name.strip_prefix("x-ratelimit-remaining-")?;
            duration_ms(header(headers, &format!("x-ratelimit-reset-{kind}"))?)
        })
        .max()
}
