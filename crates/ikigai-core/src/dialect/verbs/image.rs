//! Pictures from descriptions.

use std::fmt;

use serde_json::{Map, Value, json};

use super::media::{Counted, MediaFile, bytes_of, generated, not_carried};
use super::multipart::Form;
use super::{named, segment};
use crate::catalog::{Cost, Drawing, Facts, Rules};
use crate::media_type::by_name;
use crate::wire::WireRequest;
use crate::{Dialect, Error, ErrorKind, Limits, Loss, LossCode, Usage};

/// The name for the media in errors and warnings.
const WHAT: &str = "picture";
/// The ratios that Gemini's models support, and those of Google's Imagen.
const RATIOS: [&str; 10] = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];
const IMAGEN_RATIOS: [&str; 5] = ["1:1", "3:4", "4:3", "9:16", "16:9"];
/// How far a ratio may be from the requested size: a fifth, as the difference of logarithms.
const FARTHEST: f64 = 0.2;

/// A request for pictures.
///
/// ```
/// use ikigai_core::wire::ImageRequest;
///
/// let request = ImageRequest::new("a fox in the snow").count(2).size("1024x1024");
/// assert_eq!(request.count, Some(2));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ImageRequest {
    /// The description.
    pub prompt: String,
    /// How many pictures. Absent: one.
    pub count: Option<u32>,
    /// The size, in pixels (`1024x1024`) or as a ratio (`16:9`). Absent: the provider's choice.
    pub size: Option<String>,
    /// The quality, in the provider's terms: `low`, `high`. Absent: the provider's choice.
    pub quality: Option<String>,
    /// The pictures to start from.
    pub images: Vec<MediaFile>,
}

impl ImageRequest {
    /// Requests one picture of this description.
    pub fn new(prompt: impl Into<String>) -> Self {
        ImageRequest { prompt: prompt.into(), count: None, size: None, quality: None, images: Vec::new() }
    }

    /// Sets the number of pictures: up to ten for OpenAI's models, up to four for Google's Imagen, only one for
    /// Gemini's.
    #[must_use]
    pub fn count(mut self, count: u32) -> Self {
        self.count = Some(count);
        self
    }

    /// Sets the size: `1024x1024`, or `16:9`.
    ///
    /// OpenAI and compatible providers get it unchanged. Google's models accept ratios: a supported ratio is sent as
    /// is, and a size in pixels becomes the nearest ratio, with a warning. A size that is not near any of them is an
    /// error.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.size = Some(size.into());
        self
    }

    /// Sets the quality, in the provider's terms: `low`, `high`. Google's models have no such setting.
    #[must_use]
    pub fn quality(mut self, quality: impl Into<String>) -> Self {
        self.quality = Some(quality.into());
        self
    }

    /// Starts from a picture, which the prompt says how to change. Call it again to add more.
    #[must_use]
    pub fn from_image(mut self, bytes: impl Into<Vec<u8>>, media_type: impl Into<String>) -> Self {
        self.images.push(MediaFile::new(bytes, media_type));
        self
    }

    fn check(&self, at_most: u32) -> Result<(), Error> {
        if self.prompt.trim().is_empty() {
            return Err(named("prompt", "is empty"));
        }
        if !self.count.is_none_or(|count| (1..=at_most).contains(&count)) {
            return Err(match at_most {
                1 => named("count", "must be 1 for this model; ask once for each picture"),
                _ => named(
                    "count",
                    &format!("must be between 1 and {at_most} for this model; ask several times for more"),
                ),
            });
        }
        let mut places = (0..).map(|place| format!("images[{place}]"));
        self.images.iter().try_for_each(|image| image.check(&places.next().unwrap_or_default(), &["image/"]))
    }
}

impl From<&str> for ImageRequest {
    fn from(prompt: &str) -> Self {
        ImageRequest::new(prompt)
    }
}

impl From<&String> for ImageRequest {
    fn from(prompt: &String) -> Self {
        ImageRequest::new(prompt)
    }
}

impl From<String> for ImageRequest {
    fn from(prompt: String) -> Self {
        ImageRequest::new(prompt)
    }
}

/// A generated picture: its bytes, or the URL where it can be fetched.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Picture {
    /// Its media type, such as `image/png`; absent if there is only a URL that does not reveal it.
    pub media_type: Option<String>,
    /// The prompt as rewritten by the provider, if the provider returns it.
    pub revised_prompt: Option<String>,
    content: PictureContent,
}

#[derive(Clone, PartialEq, Eq)]
enum PictureContent {
    Bytes(Vec<u8>),
    Url(String),
}

impl Picture {
    fn of_bytes(bytes: Vec<u8>, media_type: Option<&str>) -> Self {
        let media_type = media_type.or_else(|| infer::get(&bytes).map(|kind| kind.mime_type())).map(str::to_owned);
        Picture { media_type, revised_prompt: None, content: PictureContent::Bytes(bytes) }
    }

    fn of_url(url: &str) -> Self {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        let media_type = by_name(path).filter(|kind| kind.starts_with("image/"));
        let media_type = media_type.map(str::to_owned);
        Picture { media_type, revised_prompt: None, content: PictureContent::Url(url.to_owned()) }
    }

    /// Returns the bytes, or `None` if the provider returned a URL.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            PictureContent::Bytes(bytes) => Some(bytes),
            PictureContent::Url(_) => None,
        }
    }

    /// Returns the bytes without copying them, or `None` if the provider returned a URL.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match self.content {
            PictureContent::Bytes(bytes) => Some(bytes),
            PictureContent::Url(_) => None,
        }
    }

    /// Returns the URL if the provider sent one, not bytes. It is not checked, and usually works for about an hour.
    pub fn url(&self) -> Option<&str> {
        match &self.content {
            PictureContent::Bytes(_) => None,
            PictureContent::Url(url) => Some(url),
        }
    }
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let media_type = self.media_type.as_deref().unwrap_or("unknown type");
        match &self.content {
            PictureContent::Bytes(bytes) => write!(f, "Picture({media_type}, {} bytes)", bytes.len()),
            // A URL may contain a signature that grants access.
            PictureContent::Url(_) => write!(f, "Picture({media_type}, at an address)"),
        }
    }
}

/// Generated pictures.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Pictures {
    /// The pictures, in the provider's order. If the provider withholds some, there are fewer than requested.
    pub pictures: Vec<Picture>,
    /// Any text from the model; usually empty.
    pub text: String,
    /// Warnings about pictures that the provider withheld or could not finish, with the reason.
    pub warnings: Vec<Loss>,
    counted: Counted,
}

impl Pictures {
    /// Returns the tokens used, or `None` if the provider did not say.
    pub fn usage(&self) -> Option<&Usage> {
        self.counted.usage.as_ref()
    }

    /// Returns the cost. `None` if the model's prices are unknown, or if the usage includes anything but text in the
    /// prompt and pictures in the answer: the catalogue has no prices for anything else.
    pub fn cost(&self, facts: &Facts) -> Option<Cost> {
        self.counted.cost(facts)
    }
}

impl Dialect {
    /// Creates the request for pictures. Returns `None` if the API cannot draw. [`WireRequest::losses`] lists what
    /// could not be carried.
    ///
    /// # Errors
    /// Returns an error if the prompt is empty, a file to start from is not a picture, or the model cannot draw that
    /// many, cannot start from pictures, or has no shape near the size.
    pub fn image_request(
        self,
        model: &str,
        request: &ImageRequest,
        rules: &Rules,
    ) -> Result<Option<WireRequest>, Error> {
        match (self, rules.drawing) {
            (Dialect::OpenaiChat | Dialect::OpenaiResponses, drawing) => {
                openai_request(model, request, drawing).map(Some)
            }
            (Dialect::Gemini, Drawing::Predict) => imagen_request(model, request).map(Some),
            (Dialect::Gemini, Drawing::Usual | Drawing::AskBase64) => gemini_request(model, request).map(Some),
            (Dialect::Anthropic | Dialect::BedrockConverse, _) => Ok(None),
        }
    }

    /// Reads the pictures from the answer to an [`image_request`](Dialect::image_request).
    ///
    /// # Errors
    /// Returns an error if the answer cannot be read or contains no picture; [`ErrorKind::ContentFiltered`] if the
    /// provider withheld all of them.
    pub fn decode_images(self, body: &[u8], rules: &Rules, limits: &Limits) -> Result<Pictures, Error> {
        match (self, rules.drawing) {
            (Dialect::Gemini, Drawing::Usual | Drawing::AskBase64) => {
                let found = generated(body, WHAT, "IMAGE", limits)?;
                let pictures = found.media.into_iter().map(|(kind, bytes)| Picture::of_bytes(bytes, Some(&kind)));
                let pictures = pictures.collect();
                Ok(Pictures { pictures, text: found.text, warnings: found.warnings, counted: found.counted })
            }
            (Dialect::Gemini, Drawing::Predict) => imagen_answer(&super::read(body, limits)?),
            (Dialect::Anthropic | Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::BedrockConverse, _) => {
                openai_answer(self, body, limits)
            }
        }
    }
}

fn openai_request(model: &str, request: &ImageRequest, drawing: Drawing) -> Result<WireRequest, Error> {
    request.check(10)?;
    let count = request.count.map(|count| count.to_string());
    let fields = [
        ("model", Some(model)),
        ("prompt", Some(request.prompt.as_str())),
        ("n", count.as_deref()),
        ("size", request.size.as_deref()),
        ("quality", request.quality.as_deref()),
        ("response_format", (drawing == Drawing::AskBase64).then_some("b64_json")),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    if request.images.is_empty() {
        let mut body: Map<String, Value> = fields.map(|(name, value)| (name.to_owned(), value.into())).collect();
        if let (Some(count), Some(written)) = (request.count, body.get_mut("n")) {
            *written = count.into();
        }
        let body = super::written(&Value::Object(body));
        return Ok(WireRequest { path: "/images/generations".to_owned(), body, ..WireRequest::default() });
    }
    let mut form = Form::default();
    fields.for_each(|(name, value)| form.text(name, value));
    // A single picture uses the name that every copy of the API supports.
    let name = if request.images.len() == 1 { "image" } else { "image[]" };
    for (place, image) in request.images.iter().enumerate() {
        form.file(name, &image.file_name(&format!("image-{place}")), &image.media_type, &image.bytes);
    }
    Ok(form.post("/images/edits"))
}

fn openai_answer(dialect: Dialect, body: &[u8], limits: &Limits) -> Result<Pictures, Error> {
    if let Some(failure) = super::failure(dialect, body, limits) {
        return Err(failure);
    }
    let answer = super::read(body, limits)?;
    let format = answer.get("output_format").and_then(Value::as_str).map(|format| format!("image/{format}"));
    let mut pictures = Vec::new();
    for one in answer.get("data").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| one.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let picture = match (text("b64_json"), text("url")) {
            (Some(data), _) => Picture::of_bytes(bytes_of(data, WHAT)?, format.as_deref()),
            (None, Some(url)) => Picture::of_url(url),
            (None, None) => continue,
        };
        pictures.push(Picture { revised_prompt: text("revised_prompt").map(str::to_owned), ..picture });
    }
    if pictures.is_empty() {
        return Err(super::unexpected("the answer holds no picture"));
    }
    let counted = Counted::openai(dialect, answer.get("usage"), "image_tokens");
    Ok(Pictures { pictures, counted, ..Pictures::default() })
}

fn gemini_request(model: &str, request: &ImageRequest) -> Result<WireRequest, Error> {
    request.check(1)?;
    let mut losses = Vec::new();
    let mut parts: Vec<Value> = request.images.iter().map(MediaFile::inline).collect();
    parts.push(json!({"text": request.prompt}));
    let mut config = json!({"responseModalities": ["TEXT", "IMAGE"]});
    if let (Some(ratio), Some(config)) = (ratio(request, &RATIOS, &mut losses)?, config.as_object_mut()) {
        config.insert("imageConfig".to_owned(), json!({"aspectRatio": ratio}));
    }
    losses.extend(quality_lost(request));
    let body = json!({"contents": [{"role": "user", "parts": parts}], "generationConfig": config});
    let path = format!("/models/{}:generateContent", segment(model));
    Ok(WireRequest { path, body: super::written(&body), losses, ..WireRequest::default() })
}

fn imagen_request(model: &str, request: &ImageRequest) -> Result<WireRequest, Error> {
    request.check(4)?;
    if !request.images.is_empty() {
        return Err(named("images", "cannot be sent to this model, which draws from words alone; use one of Gemini's"));
    }
    let mut losses = Vec::new();
    let mut parameters = json!({"sampleCount": request.count.unwrap_or(1)});
    if let (Some(ratio), Some(fields)) = (ratio(request, &IMAGEN_RATIOS, &mut losses)?, parameters.as_object_mut()) {
        fields.insert("aspectRatio".to_owned(), ratio.into());
    }
    losses.extend(quality_lost(request));
    let body = json!({"instances": [{"prompt": request.prompt}], "parameters": parameters});
    let path = format!("/models/{}:predict", segment(model));
    Ok(WireRequest { path, body: super::written(&body), losses, ..WireRequest::default() })
}

fn imagen_answer(answer: &Value) -> Result<Pictures, Error> {
    let mut found = Pictures::default();
    for (place, one) in answer.get("predictions").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let text = |name: &str| one.get(name).and_then(Value::as_str);
        if let Some(data) = text("bytesBase64Encoded") {
            let picture = Picture::of_bytes(bytes_of(data, WHAT)?, text("mimeType"));
            found.pictures.push(Picture { revised_prompt: text("prompt").map(str::to_owned), ..picture });
        } else if let Some(reason) = text("raiFilteredReason") {
            found.warnings.push(Loss::new(LossCode::Other, WHAT, format!("pictures[{place}]"), reason));
        }
    }
    if !found.pictures.is_empty() {
        return Ok(found);
    }
    Err(match found.warnings.first() {
        Some(Loss { why, .. }) => Error::new(ErrorKind::ContentFiltered, why),
        None => super::unexpected("the answer holds no picture"),
    })
}

/// Returns the ratio to send for the size.
fn ratio<'a>(request: &ImageRequest, ratios: &[&'a str], losses: &mut Vec<Loss>) -> Result<Option<&'a str>, Error> {
    let Some(size) = request.size.as_deref() else { return Ok(None) };
    if let Some(ratio) = ratios.iter().find(|ratio| **ratio == size) {
        return Ok(Some(ratio));
    }
    let refused =
        || named("size", &format!("is `{size}`, but this model draws in {}; use one of these", ratios.join(", ")));
    let distance = |one: f64, other: f64| (one.ln() - other.ln()).abs();
    let wanted = quotient(size, 'x').ok_or_else(refused)?;
    let offered = ratios.iter().filter_map(|ratio| Some((*ratio, distance(quotient(ratio, ':')?, wanted))));
    let nearest = offered.min_by(|(_, one), (_, other)| one.total_cmp(other));
    let (nearest, _) = nearest.filter(|(_, distance)| *distance <= FARTHEST).ok_or_else(refused)?;
    let why = format!("this model accepts no pixels: the ratio {nearest} is asked for in place of {size}");
    losses.push(Loss::new(LossCode::Changed, "size", "size", why));
    Ok(Some(nearest))
}

/// Returns the width divided by the height.
fn quotient(size: &str, between: char) -> Option<f64> {
    let (width, height) = size.split_once(between)?;
    let (width, height): (u32, u32) = (width.parse().ok()?, height.parse().ok()?);
    (width > 0 && height > 0).then(|| f64::from(width) / f64::from(height))
}

fn quality_lost(request: &ImageRequest) -> Option<Loss> {
    request.quality.as_ref().map(|_| not_carried("quality", "this model has no such choice"))
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
