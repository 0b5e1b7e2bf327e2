//! Binary data in text, as several wires have it.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::json::loose::{Loose, Odd};
use crate::json::wire::Text;

/// Splits a `data:` URL into its media type, which may have parameters after it, and its base64.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// Converts to standard base64 without line breaks, from either alphabet.
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

/// The text that represents a source: its address, or its bytes after a head, usually as a `data:` URL. Head and bytes
/// are joined only when they are written: otherwise a large image would be held twice.
#[derive(Debug, Clone)]
pub(super) enum Address<'a> {
    Text(Text<'a>),
    Bytes { head: Cow<'a, str>, base64: Cow<'a, str> },
}

impl<'a> Address<'a> {
    /// Creates an address for bytes of a media type.
    pub(super) fn data(media_type: &str, base64: impl Into<Cow<'a, str>>) -> Self {
        Address::Bytes { head: data_head(media_type).into(), base64: base64.into() }
    }

    pub(super) fn into_text(self) -> Cow<'a, str> {
        match self {
            Address::Text(text) => text.0,
            Address::Bytes { head, base64 } => head + base64,
        }
    }
}

impl<'a> From<&'a str> for Address<'a> {
    fn from(text: &'a str) -> Self {
        Address::Text(text.into())
    }
}

impl Serialize for Address<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Address::Text(text) => text.serialize(serializer),
            Address::Bytes { head, base64 } => serializer.collect_str(&format_args!("{head}{base64}")),
        }
    }
}

impl<'a> Loose<'a> for Option<Address<'a>> {
    fn string(&mut self, text: Cow<'a, str>) -> Odd<'a> {
        *self = Some(Address::Text(Text(text)));
        None
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// The part of a `data:` URL before the bytes.
pub(super) fn data_head(media_type: &str) -> String {
    format!("data:{media_type};base64,")
}
