//! Bytes in a text, as several wires have them.

use std::borrow::Cow;

/// The media type and the base64 inside a `data:` URL. The type may have parameters behind it.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// Standard base64 without line breaks, whichever alphabet it came in.
pub(super) fn plain_base64(data: &str) -> Cow<'_, str> {
    let is_odd = |byte: u8| matches!(byte, b'-' | b'_') || byte.is_ascii_whitespace();
    if !data.bytes().any(is_odd) {
        return Cow::Borrowed(data);
    }
    let plain = data.chars().filter(|c| !c.is_ascii_whitespace()).map(|c| match c {
        '-' => '+',
        '_' => '/',
        other => other,
    });
    Cow::Owned(plain.collect())
}
