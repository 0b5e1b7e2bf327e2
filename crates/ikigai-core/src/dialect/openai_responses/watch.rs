//! Watches an answer that passes through.

use serde_json::{Value, json};

use super::hosted::is_run_by_client;
use super::response::{self, Asks};
use super::{DIALECT, error, usage};
use crate::dialect::openai_error;
use crate::dialect::watch::{self, Frame, LARGE_ERROR, Rest};
use crate::json::wire::Raw;
use crate::server::picks::{Flow, Picks, Shape, Take};
use crate::server::{Delivery, Seen, skip};
use crate::{FinishReason, Json, Part, ProviderData, Usage};

/// How most frames of a stream begin.
const TEXT: &[u8] = br#"{"type":"response.output_text.delta""#;
/// How other pieces begin, and how their type ends.
const BEGINNING: &[u8] = br#"{"type":""#;
const DELTA: &[u8] = b".delta";

/// The watcher of one answer.
#[derive(Debug)]
pub(crate) struct Watcher {
    delivery: Delivery,
    seen: Seen,
    is_over: bool,
    asks: Asks,
    frame: Parts,
}

/// The content of the current frame.
#[derive(Debug, Default)]
struct Parts {
    kind: Option<String>,
    error: Option<Box<str>>,
    /// The response object, in a frame or as the whole body.
    body: Body,
    item_kind: Option<String>,
    /// Where an item says it is run.
    item_place: Option<String>,
    refuses: bool,
    /// Whether the output has a call of each kind.
    calls: bool,
    custom_calls: bool,
}

#[derive(Debug, Default)]
struct Body {
    id: Option<String>,
    model: Option<String>,
    status: Option<String>,
    incomplete: Option<Value>,
    error: Option<Value>,
    usage: Option<Usage>,
    searches: Option<u64>,
    is_response: bool,
    has_output: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Frame,
    Response,
    /// An item of the output, or the item of a frame.
    Item,
    Environment,
    Part,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Slot {
    Kind,
    FrameError,
    Object,
    Id,
    Model,
    Status,
    Incomplete,
    Error,
    Usage,
    ToolUsage,
    ItemKind,
    ItemPlace,
    PartKind,
}

/// The kind of a frame, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// A piece of text, which starts the answer if nothing has yet.
    Text,
    /// A piece of something else, or a repetition of what came in pieces.
    Piece,
    Begin,
    ItemAdded,
    ItemDone,
    End,
    Error,
    /// Keepalives.
    Nothing,
    /// An event without a type.
    Untyped,
    Unknown,
}

impl About {
    fn of(kind: &str) -> Self {
        match kind {
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary_text.delta" => About::Text,
            "response.output_text.done"
            | "response.refusal.done"
            | "response.reasoning_text.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done"
            | "response.content_part.added"
            | "response.content_part.done"
            | "response.function_call_arguments.done" => About::Piece,
            "response.created" | "response.queued" | "response.in_progress" => About::Begin,
            "response.output_item.added" => About::ItemAdded,
            "response.output_item.done" => About::ItemDone,
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => About::End,
            "error" | "response.error" => About::Error,
            "keepalive" | "ping" => About::Nothing,
            "" => About::Untyped,
            _ if kind.starts_with("response.") && kind.ends_with(".delta") => About::Piece,
            _ => About::Unknown,
        }
    }
}

impl Picks for Watcher {
    type Place = Place;
    type Slot = Slot;

    fn root(&self) -> Place {
        match self.delivery {
            Delivery::Whole => Place::Response,
            Delivery::Stream => Place::Frame,
        }
    }

    fn open(&mut self, place: Place, shape: Shape) {
        match (place, shape) {
            (Place::Frame, Shape::Object) => self.frame = Parts::default(),
            (Place::Item, Shape::List) => self.frame.body.has_output = true,
            (Place::Item, Shape::Object) => (self.frame.item_kind, self.frame.item_place) = (None, None),
            _ => {}
        }
    }

    fn close(&mut self, place: Place) {
        if place == Place::Item {
            match self.frame.item_kind.as_deref() {
                Some("function_call") => self.frame.calls = true,
                Some(kind) => self.frame.custom_calls |= is_run_by_client(kind, self.frame.item_place.as_deref()),
                None => {}
            }
        }
    }

    fn field(&self, place: Place, key: &str) -> Take<Place, Slot> {
        match (place, key) {
            (Place::Frame, "type") => Take::Keep(Slot::Kind),
            (Place::Frame, "error") => Take::Keep(Slot::FrameError),
            (Place::Frame, "response") => Take::Enter(Place::Response),
            (Place::Frame, "item") => Take::Enter(Place::Item),
            (Place::Frame | Place::Response, "object") => Take::Keep(Slot::Object),
            (Place::Frame | Place::Response, "id") => Take::Keep(Slot::Id),
            (Place::Frame | Place::Response, "model") => Take::Keep(Slot::Model),
            (Place::Frame | Place::Response, "status") => Take::Keep(Slot::Status),
            (Place::Frame | Place::Response, "incomplete_details") => Take::Keep(Slot::Incomplete),
            (Place::Response, "error") => Take::Keep(Slot::Error),
            (Place::Frame | Place::Response, "usage") => Take::Keep(Slot::Usage),
            (Place::Frame | Place::Response, "tool_usage") => Take::Keep(Slot::ToolUsage),
            (Place::Frame | Place::Response, "output") => Take::Enter(Place::Item),
            (Place::Item, "type") => Take::Keep(Slot::ItemKind),
            (Place::Item, "execution") | (Place::Environment, "type") => Take::Keep(Slot::ItemPlace),
            (Place::Item, "environment") => Take::Enter(Place::Environment),
            (Place::Item, "content") => Take::Enter(Place::Part),
            (Place::Part, "type") => Take::Keep(Slot::PartKind),
            _ => Take::Skip,
        }
    }

    fn value(&mut self, slot: Slot, json: &str) -> Flow {
        let text = || skip::text(json.as_bytes()).map(std::borrow::Cow::into_owned);
        let value = || serde_json::from_str::<Value>(json).ok().filter(|value| !value.is_null());
        let body = &mut self.frame.body;
        match slot {
            Slot::Kind => {
                let kind = skip::text(json.as_bytes()).unwrap_or_default();
                let about = About::of(&kind);
                if matches!(about, About::Text | About::Piece) {
                    self.piece(about);
                    return Flow::Enough;
                }
                self.frame.kind = text();
            }
            Slot::FrameError if json != "null" => self.frame.error = Some(json.into()),
            Slot::FrameError => {}
            Slot::Object => body.is_response = json == r#""response""#,
            Slot::Id => body.id = text(),
            Slot::Model => body.model = text().filter(|model| !model.is_empty()),
            Slot::Status => body.status = text(),
            Slot::Incomplete => body.incomplete = value(),
            Slot::Error => body.error = value(),
            Slot::Usage => body.usage = Json::parse(json).ok().as_ref().and_then(usage::decode),
            Slot::ToolUsage => body.searches = value().and_then(|used| usage::searches(&used)),
            Slot::ItemKind => self.frame.item_kind = text(),
            Slot::ItemPlace => self.frame.item_place = text(),
            Slot::PartKind => self.frame.refuses |= json == r#""refusal""#,
        }
        Flow::GoOn
    }

    fn large(&mut self, slot: Slot) {
        match slot {
            Slot::FrameError => self.frame.error = Some(LARGE_ERROR.into()),
            Slot::Error => self.frame.body.error = serde_json::from_str(LARGE_ERROR).ok(),
            _ => {}
        }
    }
}

impl watch::Watcher for Watcher {
    fn new(delivery: Delivery) -> Self {
        Watcher { delivery, seen: Seen::default(), is_over: false, asks: Asks::default(), frame: Parts::default() }
    }

    fn seen(&self) -> &Seen {
        &self.seen
    }

    fn glance(&mut self, frame: &[u8]) -> bool {
        if frame.starts_with(TEXT) {
            self.piece(About::Text);
            return true;
        }
        let kind = frame.strip_prefix(BEGINNING).and_then(|rest| {
            let end = memchr::memchr2(b'"', b'\\', rest)?;
            (rest.get(end) == Some(&b'"')).then(|| rest.get(..end))?
        });
        let Some(kind) = kind.filter(|kind| kind.ends_with(DELTA)) else { return false };
        let about = std::str::from_utf8(kind).map_or(About::Unknown, About::of);
        let is_piece = matches!(about, About::Text | About::Piece);
        if is_piece {
            self.piece(about);
        }
        is_piece
    }

    fn frame(&mut self, frame: Frame<'_>) {
        let mut parts = std::mem::take(&mut self.frame);
        if self.delivery == Delivery::Whole {
            return self.whole(parts, frame);
        }
        if !self.seen.started && parts.kind.is_none() && frame.name.is_none() && parts.body.is_response {
            // The answer in one piece, although a stream was requested.
            parts.body.error = parts.error.take().and_then(|error| serde_json::from_str(&error).ok());
            return self.whole(parts, frame);
        }
        let about = About::of(parts.kind.as_deref().or(frame.name).unwrap_or_default());
        match about {
            About::Text | About::Piece => self.piece(about),
            About::Begin => self.begin(&parts.body),
            About::ItemAdded => {
                self.seen.started = true;
                self.asks.tools |= parts.calls;
                self.seen.has_output |= parts.calls;
            }
            About::ItemDone => {
                self.seen.started = true;
                self.seen.has_output = true;
                self.see(&parts);
            }
            About::End => {
                self.begin(&parts.body);
                self.see(&parts);
                self.end_of_answer(parts.body);
            }
            About::Error => self.fail(&parts, frame),
            About::Nothing => {}
            About::Untyped | About::Unknown if parts.error.is_some() => self.fail(&parts, frame),
            About::Untyped => {
                let said = frame.json.filter(|_| !self.seen.started).and_then(error::of_body);
                said.into_iter().for_each(|error| self.fail_with(error));
            }
            About::Unknown => self.seen.started = true,
        }
    }

    fn done(&mut self) {
        // Some compatible servers end like Chat Completions; it means nothing here.
    }

    fn is_list(&mut self) {
        self.is_over = true;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(self, _: Rest) -> Seen {
        self.seen
    }
}

impl Watcher {
    fn piece(&mut self, about: About) {
        self.seen.started |= about == About::Text;
        self.seen.has_output = true;
    }

    fn begin(&mut self, body: &Body) {
        if !self.seen.started {
            self.seen.started = true;
            (self.seen.id, self.seen.model) = (body.id.clone(), body.model.clone());
        }
    }

    fn see(&mut self, parts: &Parts) {
        self.asks.tools |= parts.calls || parts.custom_calls;
        self.asks.refuses |= parts.refuses;
    }

    fn end_of_answer(&mut self, body: Body) {
        self.is_over = true;
        self.seen.usage = body.usage.map(|mut usage| {
            usage::note_calls(&mut usage, body.searches);
            usage
        });
        let error = body.error.as_ref().map(Raw::of);
        if let Some(error) = error::of_response(error.as_ref(), body.status.as_deref().unwrap_or_default()) {
            return self.fail_with(error);
        }
        let mut words = ProviderData::default();
        if let Some(status) = body.status {
            words.set_part(DIALECT, Part::Shape, "status", status);
        }
        if let Some(details) = body.incomplete {
            words.set_part(DIALECT, Part::Answer, "incomplete_details", details);
        }
        self.seen.ended = true;
        self.seen.finish_reason = Some(response::finish(&words, self.asks));
    }

    fn whole(&mut self, parts: Parts, frame: Frame<'_>) {
        if !parts.body.has_output && !parts.body.is_response {
            self.is_over = true;
            let body = frame.json.and_then(|json| serde_json::from_str(json).ok());
            let body = body.unwrap_or_else(|| json!({"error": parts.body.error}));
            if let Some(error) = openai_error::find(DIALECT, &body) {
                self.fail_with(error);
            }
            return;
        }
        self.begin(&parts.body);
        self.see(&parts);
        self.seen.has_output = parts.body.has_output;
        self.end_of_answer(parts.body);
    }

    fn fail(&mut self, parts: &Parts, frame: Frame<'_>) {
        let error = match frame.json {
            Some(json) => error::of_event(json),
            None => error::of_event(&format!(r#"{{"error":{}}}"#, parts.error.as_deref().unwrap_or("null"))),
        };
        self.fail_with(error);
    }

    fn fail_with(&mut self, error: crate::Error) {
        self.is_over = true;
        self.seen.error = Some(error);
        self.seen.finish_reason = Some(FinishReason::Error);
    }
}
