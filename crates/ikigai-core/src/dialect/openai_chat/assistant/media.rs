//! Pictures and speech that the model made, beside its text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::dialect::openai_chat::marks::{
    self, DIALECT, Shape, Side, keep, keep_extra, put_back, take_list, take_object, take_text,
};
use crate::dialect::openai_chat::part;
use crate::{Audio, Block, ProviderData, Source};

/// The picture stood in `images`.
const IMAGES: &str = "images";
/// The speech stood in `audio`; this is its id there.
const AUDIO: &str = "audio";

/// Pictures that the model made, which one relay gives beside the text.
pub(super) fn images(fields: &mut Map<String, Value>, side: Side, blocks: &mut Vec<Block>) {
    let readable = fields.get("images").and_then(Value::as_array).is_some_and(|images| {
        !images.is_empty() && images.iter().all(|image| image.get("type").is_some_and(|kind| kind == "image_url"))
    });
    if !readable {
        return;
    }
    blocks.extend(made(take_list(fields, "images").unwrap_or_default(), side));
}

fn made(images: Vec<Value>, side: Side) -> impl Iterator<Item = Block> {
    images.into_iter().map(move |image| {
        let mut block = part::decode(image, side);
        if let Some(data) = block.provider_data_mut() {
            data.set(DIALECT, IMAGES, true);
        }
        block
    })
}

/// Pictures of an answer that arrives in pieces; each comes whole.
pub(in crate::dialect::openai_chat) fn made_images(images: Vec<Value>) -> impl Iterator<Item = Block> {
    made(images, Side::Response)
}

/// Speech that the model made. The transcript stays beside it: it is no text of the answer.
pub(super) fn audio(fields: &mut Map<String, Value>, side: Side) -> Option<Block> {
    let spoken = fields.get("audio")?.get("data")?.as_str()?;
    if spoken.is_empty() {
        return None;
    }
    let mut inner = take_object(fields, "audio")?;
    let data = take_text(&mut inner, "data")?;
    let media_type = part::sniffed(&data).unwrap_or("audio/pcm").to_owned();
    Some(audio_block(Source::Base64 { media_type, data }, inner, side))
}

/// A block of speech; `id` names it in the next request, so it is state, and the rest is not.
pub(in crate::dialect::openai_chat) fn audio_block(source: Source, mut inner: Map<String, Value>, side: Side) -> Block {
    let mut provider_data = ProviderData::default();
    let mut kept = Map::new();
    let id = inner.shift_remove("id");
    keep_extra(&mut kept, inner);
    keep(&mut provider_data, side, kept);
    provider_data.set(DIALECT, AUDIO, id.unwrap_or_default());
    Block::Audio(Audio { source, cache: None, provider_data })
}

/// Did this picture or speech stand beside `content`, in a field of its own?
pub(in crate::dialect::openai_chat) fn has_own_field(block: &Block) -> bool {
    block
        .provider_data()
        .is_some_and(|data| data.value(DIALECT, IMAGES).is_some() || data.value(DIALECT, AUDIO).is_some())
}

/// Pictures and speech that the model made, in the fields of their own.
pub(super) fn put_media(fields: &mut Map<String, Value>, content: &[Block], shape: Option<Shape>, side: Side) {
    let mut images = Vec::new();
    for block in content {
        // In an answer, what another dialect's model made goes there too.
        if !has_own_field(block) && (side == Side::Request || shape == Some(Shape::Parts)) {
            continue;
        }
        match block {
            Block::Image(_) => images.extend(part::encode(block, side)),
            Block::Audio(audio) => put_audio(fields, audio, side),
            Block::Text(_)
            | Block::Document(_)
            | Block::ToolCall(_)
            | Block::ToolResult(_)
            | Block::Thinking(_)
            | Block::Other(_) => {}
        }
    }
    if !images.is_empty() {
        fields.insert("images".to_owned(), Value::Array(images));
    }
}

fn put_audio(fields: &mut Map<String, Value>, audio: &Audio, side: Side) {
    let id = audio.provider_data.value(DIALECT, AUDIO);
    let mut inner = Map::new();
    if let Some(id) = id.filter(|id| !id.is_null()) {
        inner.insert("id".to_owned(), id.clone());
    }
    match (&audio.source, side) {
        // A request names what was said before; it does not say it again.
        (_, Side::Request) => {}
        (Source::Base64 { data, .. }, Side::Response) => {
            inner.insert("data".to_owned(), data.as_str().into());
        }
        (Source::Url { .. } | Source::File { .. } | Source::Text { .. }, Side::Response) => return,
    }
    put_back(&mut inner, marks::extra(&audio.provider_data, side));
    if !inner.is_empty() {
        fields.insert("audio".to_owned(), Value::Object(inner));
    }
}

/// The state that names an earlier piece of speech, to go on with it.
pub(in crate::dialect::openai_chat) fn audio_id(audio: &Audio) -> Option<&Value> {
    audio.provider_data.value(DIALECT, AUDIO).filter(|id| id.is_string())
}

/// The bytes of speech that arrived in pieces, each encoded by itself.
pub(in crate::dialect::openai_chat) fn joined_audio(pieces: &[u8]) -> String {
    STANDARD.encode(pieces)
}
