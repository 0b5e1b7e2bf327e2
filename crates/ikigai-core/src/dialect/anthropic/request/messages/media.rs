//! Pictures and documents in the forms that this API accepts.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::super::content::write_bytes;
use super::super::super::wire::Written;
use crate::Source;
use crate::dialect::media::{data_url, plain_base64};

/// A source converted to an accepted form, `None` if it already has one; or the reason why it is refused.
type Fitting<'a> = Result<Option<Written<'a>>, String>;

/// Converts a picture for the API.
pub(super) fn fit_image(source: &Source) -> Fitting<'_> {
    match (inline(source), source) {
        (Some((media_type, data)), _) => match media_type {
            "image/jpg" => Ok(Some(write_bytes("base64", "image/jpeg", plain_base64(data)))),
            "image/jpeg" | "image/png" | "image/gif" | "image/webp" => Ok(as_bytes(source, media_type, data)),
            other => Err(format!("this API accepts JPEG, PNG, GIF and WebP pictures, not {other}")),
        },
        (None, Source::Text { media_type, .. }) => {
            Err(format!("this API accepts no text of type {media_type} as a picture"))
        }
        (None, Source::Base64 { .. } | Source::Url { .. } | Source::File { .. }) => Ok(None),
    }
}

/// Converts a document for the API.
pub(super) fn fit_document(source: &Source) -> Fitting<'_> {
    let text = |text: Cow<'_, str>| Ok(Some(write_bytes("text", "text/plain", Cow::Owned(text.into_owned()))));
    match (inline(source), source) {
        (Some(("application/pdf", data)), _) => Ok(as_bytes(source, "application/pdf", data)),
        (Some((media_type, data)), _) => {
            let bytes = STANDARD.decode(plain_base64(data).as_bytes()).ok();
            match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(read) => text(read.into()),
                None => Err(format!("this API accepts documents as PDF or text, not {media_type}")),
            }
        }
        (None, Source::Text { media_type, text: said }) if media_type != "text/plain" => text(said.into()),
        (None, _) => Ok(None),
    }
}

/// Returns the note about the media type of an accepted source, if any.
pub(super) fn note_type(source: &Source) -> Option<&'static str> {
    match source {
        _ if inline(source).is_some() => None,
        Source::Text { media_type, .. } => {
            (media_type != "text/plain").then_some("this API accepts texts as text/plain")
        }
        _ => source.media_type().map(|_| "this API finds out the media type itself"),
    }
}

/// Returns the media type and the base64 of a source with inline bytes.
fn inline(source: &Source) -> Option<(&str, &str)> {
    match source {
        Source::Base64 { media_type, data } => Some((media_type, data)),
        Source::Url { url, .. } => {
            let (media_type, data) = data_url(url)?;
            Some((media_type.split(';').next().unwrap_or(media_type), data))
        }
        Source::File { .. } | Source::Text { .. } => None,
    }
}

fn as_bytes<'a>(source: &Source, media_type: &'a str, data: &'a str) -> Option<Written<'a>> {
    match (source, plain_base64(data)) {
        (Source::Base64 { .. }, Cow::Borrowed(_)) => None,
        (_, plain) => Some(write_bytes("base64", media_type, plain)),
    }
}
