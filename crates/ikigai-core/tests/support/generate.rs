//! Generates whole requests, responses and event sequences for proptest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::{
    Audio, Block, CacheHint, CacheOptions, Dialect, Document, Error, ErrorKind, Event, FinishReason, Function, Image,
    JsonSchemaFormat, Level, Loss, LossCode, Message, Other, OutputFormat, Part, ProviderData, Request, Response, Role,
    Source, Text, Thinking, ThinkingBlock, Tool, ToolCall, ToolChoice, ToolResult, Usage,
};
use proptest::prelude::*;
use serde_json::Value;

use super::choices::{Choices, made};

/// How much of the format a generated value uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reach {
    /// All of it: leftovers of every dialect on everything, dialects' own blocks, calls that were cut off.
    Everything,
    /// What a careful caller writes by hand: nothing of any dialect, and no blank texts.
    Plain,
}

/// Generates whole requests: a plausible conversation, and parameters.
pub(crate) fn request(reach: Reach) -> impl Strategy<Value = Request> {
    made(400, move |choices| Make { choices, reach }.request())
}

/// Generates whole answers.
pub(crate) fn response(reach: Reach) -> impl Strategy<Value = Response> {
    made(200, move |choices| Make { choices, reach }.response())
}

/// Generates an answer and a stream that produces it: deltas split anywhere, blocks interleaved, counts in between.
pub(crate) fn streamed(reach: Reach) -> impl Strategy<Value = (Response, Vec<Event>)> {
    made(300, move |choices| {
        let mut make = Make { choices, reach };
        let mut response = make.response();
        // No stream carries them.
        response.warnings.clear();
        let events = make.stream(&response);
        (response, events)
    })
}

struct Make<'a, 'c> {
    choices: &'a mut Choices<'c>,
    reach: Reach,
}

impl Make<'_, '_> {
    fn request(&mut self) -> Request {
        let mut request =
            Request::new(*self.choices.pick(&["model", "claude-sonnet-4-5", "gpt-5.1", "gemini-2.5-pro"]));
        request.system = self.list(0, 2, Make::text);
        self.conversation(&mut request);
        request.thinking = self.maybe(3, |make| {
            let mut thinking = Thinking::default();
            thinking.level = make.maybe(2, |make| *make.choices.pick(&Level::ALL));
            thinking.budget = make.maybe(3, |make| make.choices.below(70_000) as i64);
            thinking.include_summary = !make.choices.seldom(2);
            thinking
        });
        let choices = &mut *self.choices;
        request.parallel_tool_calls = choices.maybe(4, |choices| choices.seldom(2));
        request.max_output_tokens = choices.maybe(2, |choices| 1 + choices.below(64_000) as i64);
        request.temperature = choices.maybe(4, |choices| choices.share(2.0));
        request.top_p = choices.maybe(4, |choices| choices.share(1.0));
        request.top_k = choices.maybe(4, |choices| choices.below(500) as i64);
        request.stop = choices.list(0, 1, Choices::words);
        request.seed = choices.maybe(4, Choices::whole);
        request.frequency_penalty = choices.maybe(4, |choices| choices.share(4.0) - 2.0);
        request.presence_penalty = choices.maybe(4, |choices| choices.share(4.0) - 2.0);
        request.stream = choices.maybe(3, |choices| choices.seldom(2));
        request.metadata = choices.maybe(4, |choices| choices.object(1)).unwrap_or_default();
        request.output_format = self.maybe(3, Make::output_format);
        request.cache = self.maybe(4, |make| {
            let mut cache = CacheOptions::default();
            cache.key = make.maybe(2, |make| make.choices.name());
            cache.automatic = make.maybe(2, Make::cache_hint);
            cache
        });
        request.provider_data = self.provider_data();
        request
    }

    /// Adds alternating turns; every call is answered in the next message, and its tool is offered.
    fn conversation(&mut self, request: &mut Request) {
        for _ in 0..=self.choices.below(3) {
            let mut content = self.list(1, 2, Make::said_by_user);
            if self.reach == Reach::Plain && content.iter().all(|block| block.as_text().is_none()) {
                content.push(self.text());
            }
            request.messages.push(self.message(Role::User, content));
            let mut answer = self.list(0, 1, Make::thinking);
            answer.extend(self.list(0, 1, Make::text));
            let mut results = Vec::new();
            for _ in 0..self.choices.below(3) {
                let call = self.tool_call(&format!("call_{}_{}", request.messages.len(), results.len()));
                if !request.tools.iter().any(|tool| tool.name() == Some(&call.name)) {
                    request.tools.push(self.function(call.name.clone()));
                }
                results.push(self.tool_result(call.id.clone()));
                answer.push(Block::ToolCall(call));
            }
            if self.reach == Reach::Everything && self.choices.seldom(6) {
                answer.push(self.other());
            }
            if answer.is_empty() {
                break;
            }
            request.messages.push(self.message(Role::Assistant, answer));
            if !results.is_empty() {
                request.messages.push(self.message(Role::Tool, results));
            }
        }
        if request.messages.last().is_some_and(|message| message.role == Role::Assistant) {
            request.messages.push(Message::user("And now?"));
        }
        if self.reach == Reach::Everything {
            if self.choices.seldom(6) {
                request.messages.push(Message::system(self.choices.text()));
            }
            if self.choices.seldom(6) {
                let Block::Other(other) = self.other() else { return };
                request.tools.push(Tool::other(other));
            }
        }
        if !request.tools.is_empty() {
            let name = request.tools.iter().find_map(Tool::name).unwrap_or("f").to_owned();
            request.tool_choice = self.maybe(3, |make| match make.choices.below(4) {
                0 => ToolChoice::Auto,
                1 => ToolChoice::None,
                2 => ToolChoice::Required,
                _ => ToolChoice::Specific(name),
            });
        }
    }

    fn message(&mut self, role: Role, content: Vec<Block>) -> Message {
        let mut message = Message::new(role, content);
        if self.reach == Reach::Everything {
            message.provider =
                self.maybe(3, |make| (*make.choices.pick(&["anthropic", "openai", "google"])).to_owned());
            message.model = self.maybe(3, |make| make.choices.name());
            message.thinking = self.maybe(4, |make| *make.choices.pick(&Level::ALL));
            message.provider_data = self.provider_data();
        }
        message
    }

    fn response(&mut self) -> Response {
        let mut response = Response::default();
        response.id = self.maybe(2, |make| make.choices.name());
        response.model = if self.choices.seldom(6) { String::new() } else { "model-1".to_owned() };
        response.content = self.list(0, 1, Make::thinking);
        response.content.extend(self.list(0, 2, Make::text));
        for at in 0..self.choices.below(3) {
            let mut call = self.tool_call(&format!("call_{at}"));
            call.cache = None;
            response.content.push(Block::ToolCall(call));
        }
        if self.reach == Reach::Everything {
            response.content.extend(self.list(0, 1, Make::other));
            response.content.extend(self.list(0, 1, Make::image));
        }
        for block in &mut response.content {
            // Nobody requests caching in an answer.
            if let Block::Text(text) = block {
                text.cache = None;
            }
        }
        let calls = response.tool_calls().next().is_some();
        response.finish_reason = match self.choices.below(6) {
            _ if calls && self.reach == Reach::Plain => FinishReason::ToolUse,
            0 => FinishReason::Stop,
            1 => FinishReason::Length,
            2 => FinishReason::ContentFilter,
            3 if self.reach == Reach::Everything => FinishReason::ToolUse,
            4 if self.reach == Reach::Everything => FinishReason::Unknown,
            5 if self.reach == Reach::Everything => FinishReason::Error,
            _ => FinishReason::Stop,
        };
        if response.finish_reason == FinishReason::Error {
            response.error = self.maybe(2, |make| Box::new(make.error()));
        }
        response.usage = self.maybe(2, Make::usage);
        response.provider_data = self.provider_data();
        if self.reach == Reach::Everything {
            response.warnings = self.list(0, 2, |make| match make.choices.below(2) {
                0 => Loss::new(LossCode::NotInDialect, "top_k", "top_k", make.choices.text()),
                _ => Loss::info(LossCode::Renamed, "tool_call", "messages[0].content[1]", make.choices.text()),
            });
        }
        response
    }

    fn usage(&mut self) -> Usage {
        let provider_data = self.provider_data();
        let choices = &mut *self.choices;
        let mut usage = Usage::new(choices.count(), choices.count());
        usage.thinking_tokens = choices.count();
        usage.cache_read_tokens = choices.count();
        usage.cache_write_tokens = choices.count();
        usage.provider_data = provider_data;
        usage
    }

    fn error(&mut self) -> Error {
        const KINDS: [ErrorKind; 14] = [
            ErrorKind::Auth,
            ErrorKind::Permission,
            ErrorKind::InvalidRequest,
            ErrorKind::NotFound,
            ErrorKind::RateLimit,
            ErrorKind::Quota,
            ErrorKind::ContextTooLong,
            ErrorKind::ContentFiltered,
            ErrorKind::Overloaded,
            ErrorKind::Server,
            ErrorKind::Timeout,
            ErrorKind::Network,
            ErrorKind::Protocol,
            ErrorKind::Cancelled,
        ];
        let mut error = Error::new(*self.choices.pick(&KINDS), self.choices.text());
        error.status = self.maybe(2, |make| 400 + make.choices.below(200) as u16);
        error.code = self.maybe(2, |make| make.choices.text());
        error.error_type = self.maybe(2, |make| make.choices.text());
        error.param = self.maybe(3, |make| make.choices.text());
        error.provider = self.maybe(3, |make| make.choices.name());
        error.request_id = self.maybe(3, |make| make.choices.name());
        error.retry_after_ms = self.maybe(3, |make| make.choices.count());
        error.retryable = self.maybe(3, |make| make.choices.seldom(2));
        error.provider_data = self.provider_data();
        error.partial = self.maybe(8, |_| Box::new(Response::default()));
        error
    }

    fn said_by_user(&mut self) -> Block {
        match self.choices.below(6) {
            0..=2 => self.text(),
            3 => self.image(),
            4 => self.document(),
            _ => self.audio(),
        }
    }

    fn text(&mut self) -> Block {
        let text = if self.reach == Reach::Plain { self.choices.words() } else { self.choices.text() };
        let mut text = Text::new(text);
        (text.cache, text.provider_data) = (self.maybe(6, Make::cache_hint), self.provider_data());
        Block::Text(text)
    }

    fn thinking(&mut self) -> Block {
        let mut thinking = ThinkingBlock::new(self.choices.text());
        thinking.provider_data = self.provider_data();
        Block::Thinking(thinking)
    }

    fn image(&mut self) -> Block {
        let mut image = Image::new(self.source("image/png"));
        (image.cache, image.provider_data) = (self.maybe(6, Make::cache_hint), self.provider_data());
        Block::Image(image)
    }

    fn document(&mut self) -> Block {
        let source = match self.choices.below(3) {
            0 => Source::Text { media_type: "text/plain".to_owned(), text: self.choices.words() },
            _ => self.source("application/pdf"),
        };
        let mut document = Document::new(source);
        document.name = self.maybe(2, |make| make.choices.name());
        (document.cache, document.provider_data) = (self.maybe(6, Make::cache_hint), self.provider_data());
        Block::Document(document)
    }

    fn audio(&mut self) -> Block {
        let mut audio = Audio::new(self.source("audio/wav"));
        (audio.cache, audio.provider_data) = (self.maybe(6, Make::cache_hint), self.provider_data());
        Block::Audio(audio)
    }

    fn source(&mut self, media_type: &str) -> Source {
        let media_type = media_type.to_owned();
        match self.choices.below(3) {
            0 => Source::Base64 { media_type, data: STANDARD.encode(self.choices.words()) },
            1 => Source::Url {
                url: "https://example.org/a%20b?c=d&e".to_owned(),
                media_type: self.maybe(2, |_| media_type),
            },
            _ => Source::File { id: "file-abc123".to_owned(), media_type: self.maybe(2, |_| media_type) },
        }
    }

    fn tool_call(&mut self, id: &str) -> ToolCall {
        let mut call = ToolCall::new(id, self.choices.name(), self.choices.object(3));
        (call.cache, call.provider_data) = (self.maybe(8, Make::cache_hint), self.provider_data());
        match self.choices.below(6) {
            // Written by a model that likes white space.
            4 => {
                let spaced = serde_json::to_string_pretty(&call.arguments).unwrap();
                call.arguments = ikigai_core::Arguments::from_text(spaced);
            }
            5 if self.reach == Reach::Everything => {
                call.arguments = ikigai_core::Arguments::from_text("{\"path\": \"/etc/ho".to_owned())
            }
            _ => {}
        }
        call
    }

    fn tool_result(&mut self, tool_call_id: String) -> Block {
        let mut content = self.list(1, 1, Make::text);
        content.extend(self.maybe(6, Make::image));
        let mut result = ToolResult::new(tool_call_id, content);
        result.is_error = self.choices.seldom(4);
        (result.cache, result.provider_data) = (self.maybe(8, Make::cache_hint), self.provider_data());
        Block::ToolResult(result)
    }

    fn other(&mut self) -> Block {
        let mut data = self.choices.object(2);
        // Every dialect but Gemini names the kind of a block.
        data.insert("type".to_owned(), Value::from("some_block"));
        Block::Other(Other::new(*self.choices.pick(&Dialect::ALL), Value::Object(data)))
    }

    fn function(&mut self, name: String) -> Tool {
        let mut function = Function::new(name, "");
        function.description = self.maybe(2, |make| make.choices.words());
        function.parameters = self.choices.schema(2).into();
        function.strict = !self.choices.seldom(3);
        (function.cache, function.provider_data) = (self.maybe(8, Make::cache_hint), self.provider_data());
        Tool::Function(function)
    }

    fn output_format(&mut self) -> OutputFormat {
        match self.choices.below(3) {
            0 => OutputFormat::Text,
            1 => OutputFormat::Json,
            _ => {
                let name = self.maybe(2, |make| make.choices.name());
                let description = self.maybe(3, |make| make.choices.words());
                let mut format = JsonSchemaFormat::new("", self.choices.schema(2));
                (format.name, format.description) = (name, description);
                format.strict = self.maybe(2, |make| make.choices.seldom(2));
                format.provider_data = self.provider_data();
                OutputFormat::JsonSchema(format)
            }
        }
    }

    fn cache_hint(&mut self) -> CacheHint {
        let mut hint = CacheHint::default();
        hint.ttl = self.maybe(2, |make| (*make.choices.pick(&["5m", "1h"])).to_owned());
        hint
    }

    fn provider_data(&mut self) -> ProviderData {
        let mut data = ProviderData::default();
        if self.reach == Reach::Everything && self.choices.seldom(6) {
            for _ in 0..=self.choices.below(2) {
                let dialect = *self.choices.pick(&Dialect::ALL);
                let (part, name) = *self.choices.pick(&[
                    (Part::State, "signature"),
                    (Part::State, "id"),
                    (Part::Extra, "signature"),
                    (Part::Extra, "extra"),
                    (Part::Answer, "logprobs"),
                    (Part::Shape, ""),
                ]);
                data.set_part(dialect, part, name, self.choices.json(2));
            }
        }
        data
    }

    fn maybe<T>(&mut self, rare: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.choices.seldom(rare).then(|| make(self))
    }

    fn list<T>(&mut self, least: usize, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.choices.below(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }
}

impl Make<'_, '_> {
    /// Returns the events of an answer, in one of the many orders that the grammar allows.
    fn stream(&mut self, response: &Response) -> Vec<Event> {
        let mut early = response.provider_data.clone();
        // An error event carries no leftovers, so before one they come at the start.
        let late = match self.choices.below(2) {
            1 if response.error.is_none() => std::mem::take(&mut early),
            _ => ProviderData::default(),
        };
        let mut events = vec![Event::Start {
            id: response.id.clone(),
            model: (!response.model.is_empty()).then(|| response.model.clone()),
            provider_data: early,
        }];
        // The remaining events of each open block, in reverse order.
        let mut open: Vec<Vec<Event>> = Vec::new();
        let mut waiting = response.content.iter().enumerate();
        loop {
            let at = self.choices.below(open.len() + 1);
            match open.get_mut(at) {
                Some(rest) => {
                    events.extend(rest.pop());
                    open.retain(|rest| !rest.is_empty());
                }
                None => match waiting.next() {
                    Some((index, block)) => {
                        let mut rest = self.block_events(index, block);
                        rest.reverse();
                        events.extend(rest.pop());
                        open.push(rest);
                        open.retain(|rest| !rest.is_empty());
                    }
                    None if open.is_empty() => break,
                    None => events.extend(open.drain(..).flat_map(|rest| rest.into_iter().rev())),
                },
            }
            if self.choices.seldom(8) {
                events.push(Event::Other {
                    index: None,
                    dialect: Dialect::Anthropic,
                    data: Value::from("ping").into(),
                });
            }
            if response.usage.is_some() && self.choices.seldom(8) {
                events.push(Event::Usage { usage: self.usage() });
            }
        }
        events.extend(response.usage.clone().map(|usage| Event::Usage { usage }));
        events.push(match &response.error {
            Some(error) => Event::Error { error: error.clone() },
            None => Event::Done { finish_reason: response.finish_reason, provider_data: late },
        });
        events
    }

    fn block_events(&mut self, index: usize, block: &Block) -> Vec<Event> {
        let mut opening = block.clone();
        let mut late = ProviderData::default();
        if self.choices.seldom(2)
            && let Some(data) = opening.provider_data_mut()
        {
            late = std::mem::take(data);
        }
        let mut events = Vec::new();
        match &mut opening {
            Block::Text(text) => {
                let pieces = self.pieces(&std::mem::take(&mut text.text));
                events.extend(pieces.into_iter().map(|text| Event::TextDelta { index, text }));
            }
            Block::Thinking(thinking) => {
                let pieces = self.pieces(&std::mem::take(&mut thinking.text));
                events.extend(pieces.into_iter().map(|text| Event::ThinkingDelta { index, text }));
            }
            Block::ToolCall(call) => {
                let pieces = self.pieces(call.arguments.text());
                events.push(Event::ToolCallStart {
                    index,
                    id: call.id.clone(),
                    name: call.name.clone(),
                    provider_data: std::mem::take(&mut call.provider_data),
                });
                events.extend(pieces.into_iter().map(|arguments| Event::ToolCallDelta { index, arguments }));
                events.push(Event::ToolCallDone {
                    index,
                    arguments: std::mem::take(&mut call.arguments),
                    provider_data: late,
                });
                return events;
            }
            _ => {}
        }
        events.insert(0, Event::BlockStart { index, block: opening });
        events.push(Event::BlockDone { index, provider_data: late });
        events
    }

    /// Splits a text at some character boundaries; rarely with an empty piece.
    fn pieces(&mut self, text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() && pieces.len() < 4 {
            // The simplest stream has a whole block in one piece.
            let mut cut = rest.len() - self.choices.below(rest.len() + 1);
            while !rest.is_char_boundary(cut) {
                cut += 1;
            }
            let (piece, behind) = rest.split_at(cut);
            pieces.push(piece.to_owned());
            rest = behind;
        }
        if !rest.is_empty() {
            pieces.push(rest.to_owned());
        }
        pieces
    }
}
