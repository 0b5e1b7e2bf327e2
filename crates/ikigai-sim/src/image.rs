//! Pictures, drawn in the forms of OpenAI and of Google's Imagen.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::wire::WireError;
use ikigai_core::{Dialect, ErrorKind};
use serde_json::{Map, Value, json};

use crate::deliver::Answer;
use crate::generate::CREATED;
use crate::png;
use crate::service::{Call, refuse as refuse_in};
use crate::wishes::{Kind, Wishes, missing, refuse, unknown};

/// The fields of both of OpenAI's endpoints.
const FIELDS: &[(&str, Kind)] = &[
    ("prompt", Kind::Text),
    ("model", Kind::Text),
    ("n", Kind::Whole),
    ("size", Kind::Text),
    ("quality", Kind::Text),
    ("background", Kind::Text),
    ("complexity", Kind::Text),
    ("frame_count", Kind::Whole),
    ("frame_duration_ms", Kind::Whole),
    ("output_format", Kind::Text),
    ("output_compression", Kind::Whole),
    ("partial_images", Kind::Whole),
    ("response_format", Kind::Text),
    ("safety_identifier", Kind::Text),
    ("stream", Kind::Flag),
    ("user", Kind::Text),
];
/// The fields of only one of them.
const DRAWING: &[(&str, Kind)] = &[("moderation", Kind::Text), ("style", Kind::Text), ("svg", Kind::Any)];
const EDITING: &[(&str, Kind)] =
    &[("image", Kind::File), ("mask", Kind::File), ("markup", Kind::File), ("input_fidelity", Kind::Text)];

/// The longest prompt, in characters.
const LONGEST_PROMPT: usize = 32_000;
/// The most pictures to start from.
const MOST_FILES: usize = 16;
/// The tokens that a picture takes: to draw, and to look at.
const DRAWN: u64 = 1056;
const SEEN: u64 = 323;
/// Imagen's aspect ratios.
const RATIOS: [(&str, (u32, u32)); 5] =
    [("1:1", (64, 64)), ("3:4", (48, 64)), ("4:3", (64, 48)), ("9:16", (36, 64)), ("16:9", (64, 36))];

/// Draws from a prompt.
pub(crate) fn draw(call: &Call) -> Answer {
    let known = [FIELDS, DRAWING].concat();
    answered(Wishes::of_json(call, &known).and_then(|wishes| openai(&wishes, "v1/images/generations")))
}

/// Draws from pictures.
pub(crate) fn edit(call: &Call) -> Answer {
    let known = [FIELDS, EDITING].concat();
    answered(Wishes::of_form(call, &known).and_then(|wishes| {
        files(&wishes)?;
        openai(&wishes, "v1/images/edits")
    }))
}

fn answered(outcome: Result<Value, WireError>) -> Answer {
    outcome.map_or_else(Into::into, |body| Answer::json(&body))
}

fn draws(model: &str) -> bool {
    model.contains("image") || model.starts_with("dall-e-")
}

fn openai(wishes: &Wishes<'_>, path: &str) -> Result<Value, WireError> {
    let model = wishes.model(draws, path)?;
    let prompt = wishes.needed("prompt", LONGEST_PROMPT)?;
    let gives_addresses = model.starts_with("dall-e-");
    if !gives_addresses && model.contains("gpt-image") && wishes.value("response_format").is_some() {
        return Err(unknown("response_format"));
    }
    wishes.not_streamed()?;
    let most = if model == "dall-e-3" { 1.0 } else { 10.0 };
    let count = wishes.in_range("n", 1.0, most)?.unwrap_or(1.0) as u64;
    wishes.one_of("quality", &["low", "medium", "high", "xhigh", "max", "standard", "hd", "auto"])?;
    wishes.one_of("background", &["transparent", "opaque", "auto"])?;
    wishes.one_of("output_format", &["png", "jpeg", "webp", "gif", "svg"])?;
    wishes.in_range("output_compression", 0.0, 100.0)?;
    let as_bytes = wishes.one_of("response_format", &["url", "b64_json"])? == Some("b64_json") || !gives_addresses;
    let size = size(wishes, model)?;
    let seen: Vec<&[u8]> = wishes.files.iter().map(|file| file.content).collect();
    let data: Vec<Value> = (0..count)
        .map(|place| {
            let of = [prompt.as_bytes(), &place.to_le_bytes(), &seen.concat()].concat();
            match as_bytes {
                true => json!({"b64_json": STANDARD.encode(png::draw(&of, size))}),
                false => json!({"url": format!("https://images.invalid/{place}.png")}),
            }
        })
        .collect();
    let mut body = json!({"created": CREATED, "data": data});
    if let (false, Some(fields)) = (gives_addresses, body.as_object_mut()) {
        let (texts, pictures) = (prompt.chars().count().div_ceil(4) as u64, SEEN * seen.len() as u64);
        let (read, written) = (texts + pictures, DRAWN * count);
        let usage = json!({
            "input_tokens": read, "output_tokens": written, "total_tokens": read + written,
            "input_tokens_details": {"text_tokens": texts, "image_tokens": pictures},
            "output_tokens_details": {"text_tokens": 0, "image_tokens": written}
        });
        let (width, height) = size;
        fields.extend([
            ("background".to_owned(), json!("opaque")),
            ("output_format".to_owned(), json!("png")),
            ("quality".to_owned(), json!("low")),
            ("size".to_owned(), json!(format!("{width}x{height}"))),
            ("usage".to_owned(), usage),
        ]);
    }
    Ok(body)
}

/// The size in pixels. Newer models accept any multiples of 16; the first ones have a list.
fn size(wishes: &Wishes<'_>, model: &str) -> Result<(u32, u32), WireError> {
    let Some(asked) = wishes.text("size").filter(|size| *size != "auto") else { return Ok((1024, 1024)) };
    if model.starts_with("gpt-image-1") {
        wishes.one_of("size", &["1024x1024", "1024x1536", "1536x1024", "auto"])?;
    }
    let pixels = asked.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let fits = |(width, height): &(u32, u32)| {
        let (shorter, longer) = (*width.min(height), *width.max(height));
        shorter > 0 && longer <= 3840 && longer <= shorter.saturating_mul(3) && (width | height) % 16 == 0
    };
    pixels.filter(fits).ok_or_else(|| {
        let message = format!(
            "Invalid size '{asked}'. Width and height must both be divisible by 16, and the aspect ratio must be between 1:3 and 3:1."
        );
        refuse(message, Some("size"), Some("invalid_value"))
    })
}

/// Checks the pictures to start from.
fn files(wishes: &Wishes<'_>) -> Result<(), WireError> {
    let images = || wishes.files.iter().filter(|file| file.name == "image");
    if images().count() == 0 {
        return Err(missing("image"));
    }
    if images().count() > MOST_FILES {
        let message = format!("Invalid 'image': array too long. Expected an array with maximum length {MOST_FILES}.");
        return Err(refuse(message, Some("image"), Some("array_above_max_length")));
    }
    for file in &wishes.files {
        let kind = file.media_type.as_deref().unwrap_or("application/octet-stream");
        if !["image/jpeg", "image/png", "image/webp"].contains(&kind) {
            let message = format!(
                "Invalid file '{}': unsupported mimetype ('{kind}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.",
                file.name
            );
            return Err(refuse(message, Some(&file.name), Some("unsupported_file_mimetype")));
        }
        if file.content.is_empty() {
            let message = format!("Invalid file '{}': the file is empty.", file.name);
            return Err(refuse(message, Some(&file.name), Some("invalid_value")));
        }
    }
    Ok(())
}

/// Draws in the form of Google's Imagen.
pub(crate) fn predict(call: &Call, model: &str) -> Answer {
    answered(imagen(call, model))
}

fn imagen(call: &Call, model: &str) -> Result<Value, WireError> {
    let invalid = |message: String| refuse_in(Dialect::Gemini, ErrorKind::InvalidRequest, message);
    if !model.starts_with("imagen-") {
        let message = format!(
            "models/{model} is not found for API version v1beta, or is not supported for predict. Call ListModels to see the list of available models and their supported methods."
        );
        return Err(refuse_in(Dialect::Gemini, ErrorKind::NotFound, message));
    }
    let body: Value = serde_json::from_slice(&call.body)
        .map_err(|error| invalid(format!("Invalid JSON payload received. {error}")))?;
    known(&body, "", &["instances", "parameters", "labels"])?;
    let instances = body.get("instances").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let [instance] = instances else {
        return Err(invalid(format!("Expected exactly one instance, but got {}.", instances.len())));
    };
    known(instance, " at 'instances[0]'", &["prompt", "image", "referenceImages"])?;
    let prompt = instance.get("prompt").and_then(Value::as_str).filter(|prompt| !prompt.trim().is_empty());
    let prompt = prompt.ok_or_else(|| invalid("Text prompt cannot be empty.".to_owned()))?;
    let none = Value::Object(Map::new());
    let parameters = body.get("parameters").unwrap_or(&none);
    let fields = [
        "sampleCount",
        "aspectRatio",
        "sampleImageSize",
        "imageSize",
        "personGeneration",
        "safetySetting",
        "includeRaiReason",
        "includeSafetyAttributes",
        "language",
        "outputOptions",
        "negativePrompt",
        "guidanceScale",
        "seed",
        "addWatermark",
        "enhancePrompt",
        "storageUri",
    ];
    known(parameters, " at 'parameters'", &fields)?;
    let count = match parameters.get("sampleCount") {
        None | Some(Value::Null) => 4,
        Some(count) => count
            .as_u64()
            .filter(|count| (1..=4).contains(count))
            .ok_or_else(|| invalid(format!("sampleCount must be between 1 and 4, but got {count}.")))?,
    };
    let ratio = parameters.get("aspectRatio").filter(|ratio| !ratio.is_null());
    let size = match ratio {
        None => (64, 64),
        Some(asked) => {
            let found = RATIOS.iter().find(|(name, _)| asked == name).map(|(_, size)| *size);
            found.ok_or_else(|| {
                invalid(format!("aspectRatio {asked} is not supported; use 1:1, 3:4, 4:3, 9:16 or 16:9."))
            })?
        }
    };
    let predictions: Vec<Value> = (0..count)
        .map(|place| {
            let bytes = png::draw(&[prompt.as_bytes(), &place.to_le_bytes()].concat(), size);
            json!({"mimeType": "image/png", "bytesBase64Encoded": STANDARD.encode(bytes)})
        })
        .collect();
    Ok(json!({"predictions": predictions}))
}

/// Refuses a field that Google does not have.
fn known(object: &Value, place: &str, fields: &[&str]) -> Result<(), WireError> {
    let mut names = object.as_object().into_iter().flat_map(Map::keys);
    match names.find(|name| !fields.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let message = format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.");
            Err(refuse_in(Dialect::Gemini, ErrorKind::InvalidRequest, message))
        }
    }
}
