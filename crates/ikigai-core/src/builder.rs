//! Builders for requests, messages and blocks.

use crate::media_type::by_name;
use crate::wire::Ids;
use crate::{
    Arguments, Audio, Block, CacheHint, Content, Dialect, Document, Image, Json, JsonSchemaFormat, Message,
    OutputFormat, Request, Role, Source, Text, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice, ToolResult,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

impl Request {
    /// Creates an empty request to a model.
    pub fn new(model: impl Into<String>) -> Self {
        Request { model: model.into(), ..Request::default() }
    }

    /// Appends to the system prompt.
    #[must_use]
    pub fn system(mut self, content: impl Into<Content>) -> Self {
        self.system.extend(content.into().0);
        self
    }

    /// Adds a user message.
    #[must_use]
    pub fn user(self, content: impl Into<Content>) -> Self {
        self.message(Message::user(content))
    }

    /// Adds an assistant message.
    #[must_use]
    pub fn assistant(self, content: impl Into<Content>) -> Self {
        self.message(Message::assistant(content))
    }

    /// Adds the result of a tool call, to the last message if that is a tool message.
    #[must_use]
    pub fn tool_result(mut self, call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        let result = Block::tool_result(call_id, content);
        match self.messages.last_mut() {
            Some(last) if last.role == Role::Tool => last.content.push(result),
            _ => self.messages.push(Message::new(Role::Tool, result)),
        }
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn message(mut self, message: Message) -> Self {
        self.messages.push(message);
        self
    }

    /// Adds messages.
    #[must_use]
    pub fn messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.messages.extend(messages);
        self
    }

    /// Sets how hard the model thinks: a [`Level`](crate::Level), or a full [`Thinking`].
    #[must_use]
    pub fn thinking(mut self, thinking: impl Into<Thinking>) -> Self {
        self.thinking = Some(thinking.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets whether the model must use a tool.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Limits the visible answer, in tokens.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: i64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the randomness, 0 to 2.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a stop sequence: a string at which the answer ends.
    #[must_use]
    pub fn stop(mut self, text: impl Into<String>) -> Self {
        self.stop.push(text.into());
        self
    }

    /// Requests JSON that matches a schema.
    #[must_use]
    pub fn json_schema(mut self, name: impl Into<String>, schema: impl Into<Json>) -> Self {
        self.output_format = Some(OutputFormat::JsonSchema(JsonSchemaFormat::new(name, schema)));
        self
    }
}

impl Message {
    /// Creates a user message.
    pub fn user(content: impl Into<Content>) -> Self {
        Message::new(Role::User, content)
    }

    /// Creates an assistant message.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// Creates a system message: instructions in the middle of a conversation.
    pub fn system(content: impl Into<Content>) -> Self {
        Message::new(Role::System, content)
    }

    /// Creates a tool message with the result of one call.
    pub fn tool_result(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Message::new(Role::Tool, Block::tool_result(call_id, content))
    }
}

impl Block {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text(Text::new(text))
    }

    /// Creates a thinking block. Only a provider's own thinking, with its signature, goes back to it.
    pub fn thinking(text: impl Into<String>) -> Self {
        Block::Thinking(ThinkingBlock::new(text))
    }

    /// Creates a picture that the provider fetches from a URL.
    pub fn image_url(url: impl Into<String>) -> Self {
        Block::image(Source::Url { url: url.into(), media_type: None })
    }

    /// Creates a picture from its bytes and its media type.
    pub fn image_bytes(bytes: &[u8], media_type: impl Into<String>) -> Self {
        Block::image(Source::bytes(bytes, media_type))
    }

    /// Creates a picture.
    pub fn image(source: Source) -> Self {
        Block::Image(Image::new(source))
    }

    /// Creates a document with its file name or title.
    pub fn document(source: Source, name: impl Into<String>) -> Self {
        Block::Document(Document { name: Some(name.into()), ..Document::new(source) })
    }

    /// Creates a sound.
    pub fn audio(source: Source) -> Self {
        Block::Audio(Audio::new(source))
    }

    /// Creates a block from a file's bytes: a picture, a sound, a text, or a document. The media type is detected from
    /// the bytes, or else from the name.
    ///
    /// ```
    /// use ikigai_core::{Block, BlockKind};
    ///
    /// assert_eq!(Block::file(b"\x89PNG\r\n\x1a\n", "chart.png").kind(), BlockKind::Image);
    /// assert_eq!(Block::file(b"%PDF-1.7", "report").kind(), BlockKind::Document);
    /// ```
    pub fn file(bytes: &[u8], name: &str) -> Self {
        let media_type = media_type(bytes, name);
        match media_type.split('/').next() {
            Some("image") => Block::image(Source::bytes(bytes, media_type)),
            Some("audio") => Block::audio(Source::bytes(bytes, media_type)),
            _ => match std::str::from_utf8(bytes) {
                Ok(text) if media_type != "application/pdf" => {
                    Block::document(Source::Text { media_type, text: text.to_owned() }, name)
                }
                _ => Block::document(Source::bytes(bytes, media_type), name),
            },
        }
    }

    /// Creates a tool call.
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Arguments>) -> Self {
        Block::ToolCall(ToolCall::new(id, name, arguments))
    }

    /// Creates the result of a tool call.
    pub fn tool_result(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Block::ToolResult(ToolResult::new(call_id, content))
    }

    /// Creates the result of a failed tool call.
    pub fn tool_error(call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Block::ToolResult(ToolResult { is_error: true, ..ToolResult::new(call_id, content) })
    }

    /// Adds metadata to the block. `cache_control` asks the provider to cache the conversation up to this block; a key
    /// that is a dialect's name holds fields for that dialect only, like `provider_data`. Other keys are not sent.
    ///
    /// ```
    /// use ikigai_core::{Block, CacheHint};
    /// use serde_json::json;
    ///
    /// let block = Block::text("Hello").with_metadata(json!({"cache_control": {"type": "ephemeral", "ttl": "1h"}}));
    /// assert_eq!(block.cache(), Some(&CacheHint::ttl("1h")));
    /// ```
    #[must_use]
    pub fn with_metadata(mut self, metadata: Value) -> Self {
        let Value::Object(metadata) = metadata else { return self };
        for (key, value) in metadata {
            if key == "cache_control" {
                let ttl = value.get("ttl").and_then(Value::as_str).map(str::to_owned);
                // `null` removes the hint.
                self.set_cache((!value.is_null()).then_some(CacheHint { ttl }));
            } else if let (Ok(dialect), Value::Object(fields)) = (key.parse::<Dialect>(), value)
                && let Some(data) = self.provider_data_mut()
            {
                data.extend_as_written(dialect, fields.into());
            }
        }
        self
    }

    /// Asks the provider to cache the conversation up to this block. Has no effect on thinking, provider-run tools and
    /// a dialect's own blocks.
    #[must_use]
    pub fn cached(mut self) -> Self {
        self.set_cache(Some(CacheHint::default()));
        self
    }

    fn set_cache(&mut self, hint: Option<CacheHint>) {
        match self {
            Block::Text(block) => block.cache = hint,
            Block::Image(block) => block.cache = hint,
            Block::Document(block) => block.cache = hint,
            Block::Audio(block) => block.cache = hint,
            Block::ToolCall(block) => block.cache = hint,
            Block::ToolResult(block) => block.cache = hint,
            Block::Thinking(_) | Block::ProviderCall(_) | Block::ProviderResult(_) | Block::Other(_) => {}
        }
    }
}

impl Ids {
    /// Creates a tool call with a new id.
    ///
    /// ```
    /// use ikigai_core::wire::Ids;
    /// use serde_json::Map;
    ///
    /// let mut ids = Ids::seeded(7);
    /// let (first, second) = (ids.tool_call("now", Map::new()), ids.tool_call("now", Map::new()));
    /// assert_ne!(first.as_tool_call().unwrap().id, second.as_tool_call().unwrap().id);
    /// ```
    pub fn tool_call(&mut self, name: impl Into<String>, arguments: impl Into<Arguments>) -> Block {
        Block::tool_call(format!("call_{}", self.next_id()), name, arguments)
    }
}

impl Source {
    /// Puts bytes into the message itself.
    pub fn bytes(bytes: &[u8], media_type: impl Into<String>) -> Self {
        Source::Base64 { media_type: media_type.into(), data: STANDARD.encode(bytes) }
    }

    /// Returns its media type, if known.
    pub fn media_type(&self) -> Option<&str> {
        match self {
            Source::Base64 { media_type, .. } | Source::Text { media_type, .. } => Some(media_type),
            Source::Url { media_type, .. } | Source::File { media_type, .. } => media_type.as_deref(),
        }
    }
}

/// Returns the media type of a file by its bytes, or else by its name; the fallback is text or plain bytes.
fn media_type(bytes: &[u8], name: &str) -> String {
    if let Some(kind) = infer::get(bytes) {
        return kind.mime_type().to_owned();
    }
    match by_name(name) {
        Some(guess) => guess.to_owned(),
        None if std::str::from_utf8(bytes).is_ok() => "text/plain".to_owned(),
        None => "application/octet-stream".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::{Part, ProviderData};

    #[test]
    fn metadata_of_texts_and_pictures() {
        let metadata = json!({
            "cache_control": {"type": "ephemeral"},
            "anthropic": {"citations": []},
            "mine": {"page": 3},
            "gemini": "no object",
        });
        let blocks = [
            Block::text("Hello"),
            Block::image_url("https://example.com/a.png"),
            Block::image_bytes(b"\x89PNG", "image/png"),
        ];
        for block in blocks {
            let mut data = ProviderData::default();
            data.set_part(Dialect::Anthropic, Part::Extra, "citations", json!([]));
            let mut expected = block.clone().cached();
            *expected.provider_data_mut().unwrap() = data;
            assert_eq!(block.clone().with_metadata(metadata.clone()), expected);
            assert_eq!(block.clone().with_metadata(json!({"cache_control": null})), block);
            assert_eq!(block.clone().with_metadata(json!(["no object"])), block);
        }
    }
}
