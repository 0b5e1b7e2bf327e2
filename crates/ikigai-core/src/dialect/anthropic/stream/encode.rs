//! Events to frames.
//!
//! A client appends each block as it starts and then finds it by its index, so on this wire one block ends before the
//! next begins. The driver passes the events on in that order.

use crate::dialect::losses::{note_answer, note_block, note_usage};
use crate::dialect::seal::may_be_state_alone;
use crate::dialect::{Ids, Reply, WriteFrames};
use crate::json::tagged::{Object, Tagged};
use crate::json::wire::Raw;
use crate::sse::write_frame;
use crate::{
    Arguments, Block, BlockKind, Error, ErrorKind, Fields, FinishReason, Json, Loss, Part, ProviderData, Text, Usage,
};

use super::super::response::{BlockWriter, Neighbour, ending};
use super::super::wire::{Answer, Item, Written};
use super::super::{DIALECT, content, error, usage};
use super::pieces::{PieceKind, write_piece};

/// The writer of a stream.
#[derive(Debug)]
pub(crate) struct Encoder {
    ids: Ids,
    writer: BlockWriter,
    /// The id, while the start is held back for the usage that follows immediately.
    starting: Option<String>,
    /// The block that has begun and not ended.
    current: Option<Current>,
    /// A text with another dialect's state, which may turn out to be nothing else.
    unsaid: Option<(usize, Text)>,
    /// How many blocks have been started on the wire: the index of the next one.
    started: usize,
    /// How many of them are calls.
    calls: usize,
    usage: Option<Usage>,
    /// This dialect's own fields from the start of the answer.
    own: Fields,
}

/// The block being written.
#[derive(Debug)]
struct Current {
    /// Its index in the answer.
    index: usize,
    /// Its index on the wire.
    number: usize,
    kind: BlockKind,
    /// Its id, if it is a call.
    call: Option<String>,
    /// The kind of its pieces; `None` if it is complete from the start.
    pieces: Option<PieceKind>,
    is_empty: bool,
    /// The data that dialects left on it at its start.
    data: ProviderData,
}

impl WriteFrames for Encoder {
    fn start(&mut self, id: Option<&str>, model: Option<&str>, data: &ProviderData, out: &mut Vec<u8>) {
        self.writer.answerer.model = model.map(str::to_owned);
        note_answer(data, DIALECT, &mut self.writer.losses);
        self.own = data.part(DIALECT, Part::Answer).clone();
        self.starting = Some(id.map_or_else(|| format!("msg_{}", self.ids.next_id()), str::to_owned));
        // This dialect's own streams have the usage right after the start; others only at their end.
        if self.own.is_empty() {
            self.write_start(out);
        }
    }

    /// Starts a block as it is in a whole answer, but without its text or arguments, which follow in pieces.
    fn open(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        self.write_start(out);
        self.say(out);
        self.end_block(out);
        match block {
            Block::Text(text) if !text.provider_data.is_empty() && may_be_state_alone(text, DIALECT) => {
                self.unsaid = Some((index, text.clone()));
            }
            _ => self.begin(index, block, out),
        }
    }

    fn piece(&mut self, index: usize, piece: &str, out: &mut Vec<u8>) {
        if piece.is_empty() {
            return;
        }
        self.say(out);
        let Some(current) = self.at(index) else { return };
        current.is_empty = false;
        if let Some(kind) = current.pieces {
            write_piece(out, kind, current.number, piece);
        }
    }

    fn close(&mut self, index: usize, arguments: Option<&Arguments>, end: &ProviderData, out: &mut Vec<u8>) {
        self.end_unsaid(index, end, out);
        let Some(current) = self.at(index) else { return };
        current.data.merge(end.clone());
        let (kind, call, pieces) = (current.kind, current.call.clone(), current.pieces);
        // They came all at once, with the end.
        if let Some(arguments) = arguments.filter(|arguments| current.is_empty && arguments.text() != "{}") {
            self.piece(index, arguments.text(), out);
        }
        note_block(end, DIALECT, index, &mut self.writer.losses);
        self.end_block(out);
        // State known at the start goes before the block, the rest after it.
        if let Some(PieceKind::Text | PieceKind::Arguments) = pieces
            && let Some(carrier) = self.writer.carrier(end, kind, Neighbour::Previous, call.as_deref())
        {
            self.write_carrier(&carrier, out);
        }
    }

    fn usage(&mut self, usage: &Usage, out: &mut Vec<u8>) {
        self.usage = Some(usage.clone());
        self.write_start(out);
    }

    fn done(&mut self, reason: FinishReason, data: &ProviderData, out: &mut Vec<u8>) {
        self.write_start(out);
        self.say(out);
        self.end_block(out);
        note_answer(data, DIALECT, &mut self.writer.losses);
        note_usage(self.usage.as_ref(), DIALECT, &mut self.writer.losses);
        if reason == FinishReason::Error {
            return self.fail(&Error::new(ErrorKind::Server, "the answer broke off"), out);
        }
        let mut own = std::mem::take(&mut self.own);
        own.retain(|name, _| name.starts_with("stop_"));
        own.merge(data.part(DIALECT, Part::Answer).clone());
        // The API has this one next to the delta, the others inside it.
        let beside = own.remove("context_management");
        let delta = Raw::of(&ending(reason, &own, self.calls));
        let usage = usage::encode(self.usage.as_ref());
        let beside = beside.as_ref().map(|value| ("context_management", Raw::from(value)));
        write_fields(out, "message_delta", [("delta", delta), ("usage", usage)].into_iter().chain(beside));
        write_fields(out, "message_stop", []);
    }

    fn fail(&mut self, failure: &Error, out: &mut Vec<u8>) {
        self.write_start(out);
        self.say(out);
        write_frame(out, Some("error"), &error::failure(failure));
    }

    /// Passes the event on with its block's index on this wire.
    fn other(&mut self, index: Option<usize>, data: &Json, out: &mut Vec<u8>) {
        let Ok(mut fields) = data.to::<Fields>() else { return };
        let Some(kind) = fields.str("type").map(|kind| kind.into_owned()) else { return };
        // We write the end ourselves, once.
        if kind == "message_stop" || kind.contains(['\n', '\r']) {
            return;
        }
        self.write_start(out);
        self.say(out);
        if let Some(index) = index {
            let Some(number) = self.at(index).map(|current| current.number) else { return };
            fields.set("index", Json::of(&number).unwrap_or_default());
        }
        write_frame(out, Some(&kind), &fields);
    }

    fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.writer.losses)
    }
}

impl Encoder {
    /// Creates a writer for one answer.
    pub(crate) fn new(reply: Reply) -> Self {
        Encoder {
            writer: BlockWriter::new(&reply, None),
            ids: reply.ids,
            starting: None,
            current: None,
            unsaid: None,
            started: 0,
            calls: 0,
            usage: None,
            own: Fields::default(),
        }
    }

    fn begin(&mut self, index: usize, block: &Block, out: &mut Vec<u8>) {
        let (kind, data) = (block.kind(), block.provider_data().cloned().unwrap_or_default());
        self.calls += usize::from(kind == BlockKind::ToolCall);
        for mut item in self.writer.write(index, block) {
            // The block that carries its state comes before it.
            self.end_block(out);
            let (pieces, first) = match &mut item {
                Item::Sent(Tagged::Known(written)) => take_pieces(written),
                Item::Sent(Tagged::Whole(raw)) => take_input(raw),
                Item::Read(_) => (None, String::new()),
            };
            let call = match &item {
                Item::Sent(Tagged::Known(written)) if kind == BlockKind::ToolCall => {
                    written.id.as_ref().map(|id| id.as_str().to_owned())
                }
                Item::Sent(_) | Item::Read(_) => None,
            };
            let number = self.started;
            self.started += 1;
            write_numbered(out, "content_block_start", number, Some(("content_block", Raw::of(&item))));
            self.current = Some(Current { index, number, kind, call, pieces, is_empty: true, data: data.clone() });
            self.piece(index, &first, out);
        }
    }

    /// Writes the start, with the usage known so far.
    fn write_start(&mut self, out: &mut Vec<u8>) {
        let Some(id) = self.starting.take() else { return };
        let null = || Some(Raw::of(&()));
        let message = Answer {
            id: Some(id.into()),
            kind: Some("message".into()),
            role: Some("assistant".into()),
            model: Some(self.writer.answerer.model.as_deref().unwrap_or_default().into()),
            content: Some(Vec::new()),
            stop_reason: null(),
            stop_sequence: null(),
            usage: Some(usage::encode(self.usage.as_ref())),
            rest: self.own.as_rest().into_iter().filter(|(name, _)| !name.starts_with("stop_")).collect(),
            ..Answer::default()
        };
        write_fields(out, "message_start", [("message", Raw::of(&message))]);
    }

    /// Begins the text that has not been begun yet.
    fn say(&mut self, out: &mut Vec<u8>) {
        if let Some((index, text)) = self.unsaid.take() {
            self.begin(index, &Block::Text(text), out);
        }
    }

    /// Ends a text that has not been begun, if it is nothing but state.
    fn end_unsaid(&mut self, index: usize, end: &ProviderData, out: &mut Vec<u8>) {
        let Some((_, text)) = self.unsaid.take_if(|(unsaid, _)| *unsaid == index) else { return };
        let mut whole = text.clone();
        whole.provider_data.merge(end.clone());
        let carrier = self.writer.alone(&whole);
        let Some(carrier) = carrier else {
            return self.begin(index, &Block::Text(text), out);
        };
        note_block(&whole.provider_data, DIALECT, index, &mut self.writer.losses);
        self.write_carrier(&carrier, out);
    }

    /// Writes a block that only carries another dialect's state.
    fn write_carrier(&mut self, carrier: &Item<'_>, out: &mut Vec<u8>) {
        write_numbered(out, "content_block_start", self.started, Some(("content_block", Raw::of(carrier))));
        write_numbered(out, "content_block_stop", self.started, None);
        self.started += 1;
    }

    fn at(&mut self, index: usize) -> Option<&mut Current> {
        self.current.as_mut().filter(|current| current.index == index)
    }

    /// Ends the open block.
    fn end_block(&mut self, out: &mut Vec<u8>) {
        let Some(current) = self.current.take() else { return };
        let delta = |out: &mut Vec<u8>, kind: &str, name: &'static str, value: Raw<'_>| {
            let delta = fields(kind, [(name, value)]);
            write_numbered(out, "content_block_delta", current.number, Some(("delta", Raw::of(&delta))));
        };
        match current.pieces {
            Some(PieceKind::Thinking) => {
                if let Some(signature) = self.writer.signature(&current.data) {
                    delta(out, "signature_delta", "signature", Raw::of(&signature));
                }
            }
            Some(PieceKind::Text) => {
                let citations = content::extra(&current.data).get("citations");
                let citations: Vec<Json> = citations.and_then(|citations| citations.to().ok()).unwrap_or_default();
                for citation in &citations {
                    delta(out, "citations_delta", "citation", Raw::from(citation));
                }
            }
            Some(PieceKind::Arguments) | None => {}
        }
        write_numbered(out, "content_block_stop", current.number, None);
    }
}

/// Takes the field that is sent in pieces out of a block, and returns what it already contains.
fn take_pieces(written: &mut Written<'_>) -> (Option<PieceKind>, String) {
    let first = |text: Option<crate::json::wire::Text<'_>>| text.map(|text| text.into_string()).unwrap_or_default();
    match written.kind.as_ref().map(|kind| kind.as_str()) {
        Some("text") => {
            // They are sent as separate deltas.
            let citations = written.rest.iter_mut().find(|(name, raw)| name == "citations" && raw.get() != "null");
            if let Some((_, citations)) = citations {
                *citations = Raw::of(&[(); 0]).0;
            }
            (Some(PieceKind::Text), first(written.text.replace("".into())))
        }
        Some("thinking") => {
            written.signature = Some("".into());
            (Some(PieceKind::Thinking), first(written.thinking.replace("".into())))
        }
        Some("tool_use") => {
            let input = written.input.replace(Raw::of(&Object::default()));
            let input = input.filter(|input| input.text() != "{}").map(|input| input.text().to_owned());
            (Some(PieceKind::Arguments), input.unwrap_or_default())
        }
        _ => (None, String::new()),
    }
}

/// Takes the input out of a call of the API's own tools: some clients read it only from its pieces.
fn take_input(raw: &mut Raw<'_>) -> (Option<PieceKind>, String) {
    let Ok(mut call) = serde_json::from_str::<Fields>(raw.text()) else { return (None, String::new()) };
    let is_call = matches!(call.str("type").as_deref(), Some("server_tool_use" | "mcp_tool_use"));
    let input = call.get("input").filter(|input| is_call && input.is_object()).map(Json::to_string);
    let Some(input) = input.filter(|input| input != "{}") else { return (None, String::new()) };
    call.set("input", Json::of(&serde_json::Map::new()).unwrap_or_default());
    *raw = Raw::of(&call);
    (Some(PieceKind::Arguments), input)
}

/// Makes an object of this type.
fn fields<'a>(kind: &str, more: impl IntoIterator<Item = (&'static str, Raw<'a>)>) -> Object<'a> {
    let mut object = Object::default();
    object.push("type", Raw::of(kind));
    more.into_iter().for_each(|(name, value)| object.push(name, value));
    object
}

/// Writes a frame of this type.
fn write_fields<'a>(out: &mut Vec<u8>, kind: &str, more: impl IntoIterator<Item = (&'static str, Raw<'a>)>) {
    // The official client skips frames without a name.
    write_frame(out, Some(kind), &fields(kind, more));
}

/// Writes a frame that belongs to a block.
fn write_numbered(out: &mut Vec<u8>, kind: &str, number: usize, more: Option<(&'static str, Raw<'_>)>) {
    write_fields(out, kind, [("index", Raw::of(&number))].into_iter().chain(more));
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
