//! Pictures and documents in the forms that this API takes.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Source;

/// A source that the API takes, and what is to be said about it; or why there is none.
type Fitting<'a> = Result<(Cow<'a, Source>, Option<&'static str>), String>;

/// A picture that the API takes.
pub(super) fn fit_image(source: &Source) -> Fitting<'_> {
    match source {
        Source::Base64 { media_type, data } => {
            let taken = match media_type.as_str() {
                "image/jpg" => "image/jpeg",
                "image/jpeg" | "image/png" | "image/gif" | "image/webp" => media_type,
                other => return Err(format!("this API takes JPEG, PNG, GIF and WebP pictures, not {other}")),
            };
            Ok((base64(source, taken, data), None))
        }
        Source::Url { url, .. } => match data_url(url) {
            Some(inline) => owned(fit_image(&inline)),
            None => Ok((Cow::Borrowed(source), note_type(source))),
        },
        Source::File { .. } => Ok((Cow::Borrowed(source), note_type(source))),
        Source::Text { media_type, .. } => Err(format!("this API takes no text of type {media_type} as a picture")),
    }
}

/// A document that the API takes.
pub(super) fn fit_document(source: &Source) -> Fitting<'_> {
    let text = |text: String| Cow::Owned(Source::Text { media_type: "text/plain".to_owned(), text });
    match source {
        Source::Base64 { media_type, data } if media_type == "application/pdf" => {
            Ok((base64(source, media_type, data), None))
        }
        Source::Base64 { media_type, data } => {
            let bytes = STANDARD.decode(plain_base64(data).as_bytes()).ok();
            match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                Some(read) => Ok((text(read), None)),
                None => Err(format!("this API takes documents as PDF or text, not {media_type}")),
            }
        }
        Source::Text { media_type, .. } if media_type == "text/plain" => Ok((Cow::Borrowed(source), None)),
        Source::Text { text: said, .. } => Ok((text(said.clone()), Some("this API takes texts as text/plain"))),
        Source::Url { url, .. } => match data_url(url) {
            Some(inline) => owned(fit_document(&inline)),
            None => Ok((Cow::Borrowed(source), note_type(source))),
        },
        Source::File { .. } => Ok((Cow::Borrowed(source), note_type(source))),
    }
}

fn owned<'a>(fitting: Fitting<'_>) -> Fitting<'a> {
    fitting.map(|(source, note)| (Cow::Owned(source.into_owned()), note))
}

fn note_type(source: &Source) -> Option<&'static str> {
    source.media_type().map(|_| "this API finds out the media type itself")
}

fn base64<'a>(source: &'a Source, media_type: &str, data: &str) -> Cow<'a, Source> {
    match plain_base64(data) {
        Cow::Borrowed(_) if source.media_type() == Some(media_type) => Cow::Borrowed(source),
        plain => Cow::Owned(Source::Base64 { media_type: media_type.to_owned(), data: plain.into_owned() }),
    }
}

/// The bytes inside a `data:` URL.
fn data_url(url: &str) -> Option<Source> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let media_type = head.strip_suffix(";base64")?;
    let media_type = media_type.split(';').next().unwrap_or(media_type);
    Some(Source::Base64 { media_type: media_type.to_owned(), data: data.to_owned() })
}

/// Standard base64 without line breaks, whichever alphabet it came in.
fn plain_base64(data: &str) -> Cow<'_, str> {
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
