//! Estimates how much memory the values read from a stream take, so that its [`Limits`](crate::Limits) can be kept.

use std::collections::BTreeMap;
use std::mem::size_of;

use serde_json::{Map, Value};

use crate::span::Ruler;
use crate::{
    Arguments, Block, Citation, CitedSource, Fields, FoundSource, Json, ProviderData, ProviderFailure, Source, Usage,
};

/// An allocator's overhead per allocation.
const PIECE: usize = 16;

/// Returns roughly how many bytes a value points to, beyond its own size.
pub(crate) trait Weigh {
    fn weight(&self) -> usize;
}

/// Returns roughly how many bytes a value takes, including its own size.
pub(crate) fn whole<T: Weigh>(value: &T) -> usize {
    size_of::<T>() + value.weight()
}

impl Weigh for String {
    fn weight(&self) -> usize {
        if self.is_empty() { 0 } else { PIECE + self.len() }
    }
}

impl Weigh for Json {
    fn weight(&self) -> usize {
        PIECE + self.text().len()
    }
}

impl Weigh for Arguments {
    fn weight(&self) -> usize {
        PIECE + self.text().len()
    }
}

impl Weigh for Ruler {
    fn weight(&self) -> usize {
        Ruler::weight(self)
    }
}

impl<T: Weigh> Weigh for Option<T> {
    fn weight(&self) -> usize {
        self.as_ref().map_or(0, T::weight)
    }
}

impl<T: Weigh> Weigh for Vec<T> {
    fn weight(&self) -> usize {
        self.iter().map(whole).sum()
    }
}

impl<T: Weigh> Weigh for BTreeMap<u64, T> {
    fn weight(&self) -> usize {
        // The nodes of such a map are half full at worst.
        self.values().map(|value| size_of::<T>() + whole(value) + PIECE).sum()
    }
}

impl Weigh for Fields {
    fn weight(&self) -> usize {
        self.iter().map(|(name, value)| size_of::<(String, Json)>() + PIECE + name.len() + value.weight()).sum()
    }
}

impl Weigh for ProviderData {
    fn weight(&self) -> usize {
        self.all_parts().map(whole).sum()
    }
}

impl Weigh for Value {
    fn weight(&self) -> usize {
        match self {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.weight(),
            Value::Array(list) => list.weight(),
            Value::Object(object) => object_weight(object),
        }
    }
}

/// Returns roughly how many bytes the members of an object take.
pub(crate) fn object_weight(object: &Map<String, Value>) -> usize {
    // Each name is stored with its hash and its position.
    object.iter().map(|(name, value)| 64 + name.weight() + whole(value)).sum()
}

impl Weigh for Source {
    fn weight(&self) -> usize {
        match self {
            Source::Base64 { media_type, data } => media_type.weight() + data.weight(),
            Source::Text { media_type, text } => media_type.weight() + text.weight(),
            Source::Url { url: text, media_type } | Source::File { id: text, media_type } => {
                text.weight() + media_type.weight()
            }
        }
    }
}

impl Weigh for CitedSource {
    fn weight(&self) -> usize {
        match self {
            CitedSource::Url { url, title } => url.weight() + title.weight(),
            CitedSource::Document { title, file_id, .. } => title.weight() + file_id.weight(),
            CitedSource::File { file_id, filename, store, container_id } => {
                [file_id, filename, store, container_id].into_iter().map(Weigh::weight).sum()
            }
            CitedSource::Other => 0,
        }
    }
}

impl Weigh for Citation {
    fn weight(&self) -> usize {
        self.source.weight() + self.cited_text.weight() + self.provider_data.weight()
    }
}

impl Weigh for FoundSource {
    fn weight(&self) -> usize {
        let texts = [&self.url, &self.file_id, &self.title, &self.snippet, &self.date];
        texts.into_iter().map(Weigh::weight).sum::<usize>() + self.provider_data.weight()
    }
}

impl Weigh for ProviderFailure {
    fn weight(&self) -> usize {
        self.code.weight() + self.message.weight()
    }
}

impl Weigh for Usage {
    fn weight(&self) -> usize {
        self.provider_data.weight()
    }
}

impl Weigh for Block {
    fn weight(&self) -> usize {
        let own = match self {
            Block::Text(text) => text.text.weight() + text.citations.weight(),
            Block::Thinking(thinking) => thinking.text.weight(),
            Block::ToolCall(call) => call.id.weight() + call.name.weight() + call.arguments.weight(),
            Block::ToolResult(result) => result.tool_call_id.weight() + result.content.weight(),
            Block::Image(image) => image.source.weight(),
            Block::Document(document) => document.source.weight() + document.name.weight(),
            Block::Audio(audio) => audio.source.weight(),
            Block::ProviderCall(call) => {
                let texts = call.id.weight() + call.name.weight() + call.arguments.weight();
                texts + [&call.status, &call.caller, &call.server].into_iter().map(Weigh::weight).sum::<usize>()
            }
            Block::ProviderResult(result) => {
                result.call_id.weight() + result.content.weight() + result.sources.weight() + result.error.weight()
            }
            Block::Other(other) => other.data.weight(),
        };
        own + self.provider_data().map_or(0, Weigh::weight)
    }
}
