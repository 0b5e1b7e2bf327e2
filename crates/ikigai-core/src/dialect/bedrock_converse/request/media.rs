//! Pictures and documents in the forms that this API accepts.

use std::borrow::Cow;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Source;
use crate::dialect::media::{data_url, plain_base64};
use crate::json::wire::Text;

use super::super::wire::{self, Location, Media};

/// The longest name of a document.
const LONGEST_NAME: usize = 200;

/// Converts a picture, or returns why that is impossible.
pub(super) fn image(source: &Source) -> Result<Media<'_>, String> {
    let (format, source) = match source {
        Source::Base64 { media_type, data } => (image_format(media_type)?, bytes(plain_base64(data))),
        Source::Url { url, .. } => match data_url(url) {
            Some((media_type, data)) => (image_format(media_type)?, bytes(plain_base64(data))),
            None => {
                let (end, place) = stored(url)?;
                (Cow::Owned(if end == "jpg" { "jpeg".to_owned() } else { end }), place)
            }
        },
        Source::File { .. } => return Err("this API accepts pictures as bytes, not as files of a provider".to_owned()),
        Source::Text { media_type, .. } => {
            return Err(format!("this API accepts no text of type {media_type} as a picture"));
        }
    };
    Ok(Media { name: None, format: Some(Text(format)), source: Some(source), rest: Vec::new() })
}

/// Converts a document, without a name, or returns why that is impossible.
pub(super) fn document(source: &Source) -> Result<Media<'_>, String> {
    let (format, source) = match source {
        Source::Base64 { media_type, data } => (document_format(media_type)?.into(), bytes(plain_base64(data))),
        Source::Text { media_type, text } => {
            (document_format(media_type)?.into(), bytes(Cow::Owned(STANDARD.encode(text))))
        }
        Source::Url { url, .. } => match data_url(url) {
            Some((media_type, data)) => (document_format(media_type)?.into(), bytes(plain_base64(data))),
            None => {
                let (end, place) = stored(url)?;
                (Cow::Owned(end), place)
            }
        },
        Source::File { .. } => return Err("this API accepts documents as bytes, not as files of a provider".to_owned()),
    };
    Ok(Media { name: None, format: Some(Text(format)), source: Some(source), rest: Vec::new() })
}

fn image_format(media_type: &str) -> Result<Cow<'static, str>, String> {
    Ok(Cow::Borrowed(match bare(media_type) {
        "image/jpeg" | "image/jpg" => "jpeg",
        "image/png" => "png",
        "image/gif" => "gif",
        "image/webp" => "webp",
        other => return Err(format!("this API accepts JPEG, PNG, GIF and WebP pictures, not {other}")),
    }))
}

/// Returns this API's name for a document's media type.
fn document_format(media_type: &str) -> Result<&'static str, String> {
    Ok(match bare(media_type) {
        "application/pdf" => "pdf",
        "text/csv" => "csv",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "text/html" => "html",
        "text/markdown" => "md",
        "text/plain" => "txt",
        other => return Err(format!("this API accepts no documents of type {other}")),
    })
}

/// Returns a media type without its parameters.
fn bare(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

fn bytes(data: Cow<'_, str>) -> wire::Source<'_> {
    wire::Source { bytes: Some(Text(data)), ..wire::Source::default() }
}

/// Returns the extension and the location of a file in Amazon's storage.
fn stored(url: &str) -> Result<(String, wire::Source<'_>), String> {
    if !url.starts_with("s3://") {
        let why = "this API fetches nothing from the web; attach the file itself, or give an s3:// address";
        return Err(why.to_owned());
    }
    let file = url.rsplit('/').next().unwrap_or_default();
    let Some((_, end)) = file.rsplit_once('.') else {
        return Err("the address must end with the kind of the file, such as .png".to_owned());
    };
    let place = Location { uri: Some(url.into()), rest: Vec::new() };
    Ok((end.to_ascii_lowercase(), wire::Source { stored: Some(place), ..wire::Source::default() }))
}

/// The names of a request's documents: unique, and made of only a few kinds of characters.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// In lower case, each with the last number given to a document of that name.
    given: HashMap<String, usize>,
}

impl Names {
    pub(super) fn name(&mut self, title: Option<&str>) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '(' | ')' | '[' | ']');
        let title: String = title.unwrap_or_default().chars().map(|c| if plain(c) { c } else { ' ' }).collect();
        // Consecutive blanks are not allowed.
        let words: Vec<&str> = title.split_whitespace().collect();
        let mut name: String = words.join(" ").chars().take(LONGEST_NAME).collect();
        if name.is_empty() {
            name = format!("Document {}", self.given.len() + 1);
        }
        let key = name.to_lowercase();
        let mut whole = name.clone();
        let mut count = self.given.get(&key).copied().unwrap_or(1);
        while self.given.contains_key(&whole.to_lowercase()) {
            count += 1;
            whole = format!("{name} ({count})");
        }
        self.given.insert(key, count);
        self.given.entry(whole.to_lowercase()).or_insert(1);
        whole
    }
}
