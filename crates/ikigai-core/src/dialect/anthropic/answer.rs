//! Blocks of an answer on their way to a client, whole or as a stream.
//!
//! The client sends back what it gets. State of other dialects therefore rides in the two slots that this dialect has
//! for such things: the signature of a thinking block, and a `redacted_thinking` block of its own beside a block that
//! has no slot, such as a tool call with a thought signature. Everything else that this API has no place for is a loss.

use std::borrow::Cow;

use crate::dialect::Reply;
use crate::dialect::losses::note_foreign;
use crate::dialect::seal::Sealed;
use crate::json::tagged::Tagged;
use crate::json::wire::Raw;
use crate::{Block, BlockKind, Dialect, Fields, Json, Loss, LossCode, Other, Part, ProviderData, ThinkingBlock};

use super::names::Safe;
use super::wire::{self, BlockFields};
use super::{DIALECT, content};

/// The longest id of a tool call that is handed to a client.
const LONGEST_ID: usize = 256;
/// What says to which block the state in a sealed `redacted_thinking` block belongs.
const BELONGS_TO: &str = "belongs_to";

/// To which block the state in a sealed `redacted_thinking` block belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// The one that follows.
    Next,
    /// The one before.
    Previous,
    /// It is a block of another dialect, whole. Version 0.1.0 wrote such records.
    Nobody,
}

impl Neighbour {
    fn as_str(self) -> &'static str {
        match self {
            Neighbour::Next => "next",
            Neighbour::Previous => "previous",
            Neighbour::Nobody => "nobody",
        }
    }

    /// Takes the mark out of unsealed state; `None` if the state is a thinking block's own.
    pub(super) fn take(data: &mut ProviderData) -> Option<Self> {
        let mark = data.remove_part(DIALECT, Part::Shape, BELONGS_TO)?;
        let all = [Neighbour::Next, Neighbour::Previous, Neighbour::Nobody];
        all.into_iter().find(|neighbour| mark.as_str().as_deref() == Some(neighbour.as_str()))
    }
}

/// The block that a sealed record of version 0.1.0 is, whole.
pub(super) fn unseal_whole(mut data: ProviderData) -> Option<Block> {
    let mut found = Dialect::ALL.into_iter().map(|dialect| (dialect, data.remove_part(dialect, Part::Shape, "block")));
    found.find_map(|(dialect, whole)| Some(Block::Other(Other { dialect, data: whole? })))
}

/// Writes the blocks of one answer.
#[derive(Debug)]
pub(super) struct BlockWriter {
    /// Who issued the state in the answer.
    provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) ids: Safe,
    pub(super) losses: Vec<Loss>,
}

impl BlockWriter {
    /// `ids`: the calls that are known to come, whose ids stay as they are where this API takes them.
    pub(super) fn new<'a>(reply: &Reply, model: Option<String>, ids: impl Iterator<Item = &'a str>) -> Self {
        let (provider, ids) = (reply.provider.clone(), Safe::new(LONGEST_ID, ids));
        BlockWriter { provider, model, ids, losses: Vec::new() }
    }

    fn seal(&self, data: &ProviderData, kind: BlockKind) -> Option<Sealed> {
        Sealed::of(data, kind, DIALECT, self.provider.as_deref(), self.model.as_deref())
    }

    /// The signature of a thinking block: its own, or a seal around the state that others left. Empty if there is
    /// neither, which is how this API begins its blocks.
    pub(super) fn signature<'a>(&self, data: &'a ProviderData) -> Cow<'a, str> {
        match data.part_str(DIALECT, Part::State, "signature") {
            Some(own) => own,
            None => self.seal(data, BlockKind::Thinking).map(|sealed| sealed.to_text()).unwrap_or_default().into(),
        }
    }

    /// The block that carries another block's foreign state, if there is any.
    pub(super) fn carrier(
        &self,
        data: &ProviderData,
        kind: BlockKind,
        neighbour: Neighbour,
    ) -> Option<BlockFields<'static>> {
        let mut sealed = self.seal(data, kind)?;
        sealed.data.set_part(DIALECT, Part::Shape, BELONGS_TO, neighbour.as_str());
        Some(BlockFields {
            kind: Some("redacted_thinking".into()),
            data: Some(sealed.to_text().into()),
            ..BlockFields::default()
        })
    }

    /// Notes what other dialects left on a block besides state.
    pub(super) fn note_foreign(&mut self, data: &ProviderData, index: usize) {
        note_foreign(data, DIALECT, &[Part::Extra, Part::Answer], &format!("content[{index}]."), &mut self.losses);
    }

    /// Notes that a block has no form on this wire.
    fn lose(&mut self, code: LossCode, kind: BlockKind, index: usize, why: &str) {
        self.losses.push(Loss::new(code, kind.as_str(), format!("content[{index}]"), why));
    }

    /// The wire blocks of one block: the block itself, behind the one that carries its foreign state. There are none
    /// where this API has no such block, which is a loss.
    pub(super) fn write<'a>(&mut self, index: usize, block: &'a Block) -> Vec<wire::Block<'a>> {
        let (kind, data) = (block.kind(), block.provider_data());
        if let Some(data) = data {
            self.note_foreign(data, index);
        }
        let fields = match block {
            Block::Text(text) => content::write_text(&text.text, None, &text.provider_data),
            Block::Thinking(thinking) => return vec![Tagged::Known(self.thinking(thinking))],
            Block::ToolCall(call) => {
                let input = content::arguments(call).unwrap_or_else(|| {
                    self.lose(LossCode::NotInDialect, kind, index, "its arguments are cut off; sent without arguments");
                    content::no_arguments()
                });
                let was_absent = call.provider_data.part(DIALECT, Part::Shape).flag("no_input");
                let input = Some(input).filter(|input| !was_absent || input.text() != "{}");
                content::write_call(call, self.ids.word(&call.id), input, None, &call.provider_data)
            }
            Block::Other(other) => return self.other(index, other).into_iter().collect(),
            Block::Image(_) | Block::Document(_) | Block::Audio(_) => {
                self.lose(LossCode::Media, kind, index, "answers of this API are text; left out");
                return Vec::new();
            }
            Block::ToolResult(_) => {
                self.lose(LossCode::NotInDialect, kind, index, "answers of this API hold no tool results; left out");
                return Vec::new();
            }
        };
        let carrier = data.and_then(|data| self.carrier(data, kind, Neighbour::Next));
        carrier.into_iter().chain([fields]).map(Tagged::Known).collect()
    }

    fn thinking<'a>(&self, thinking: &'a ThinkingBlock) -> BlockFields<'a> {
        let data = &thinking.provider_data;
        if let Some(redacted) = data.part_str(DIALECT, Part::State, "redacted_data") {
            return content::write_redacted(redacted, data);
        }
        let signature = self.signature(data);
        // What this dialect itself left without a signature stays so.
        let shape = data.part(DIALECT, Part::Shape);
        let without = shape.flag("unsigned") && shape.get("signature").is_none() && signature.is_empty();
        content::write_thinking(thinking, (!without).then_some(signature))
    }

    /// A block of one dialect: this one's own as it is, none of another's.
    fn other<'a>(&mut self, index: usize, other: &'a Other) -> Option<wire::Block<'a>> {
        if other.dialect == DIALECT && other.data.is_object() {
            return Some(Tagged::Whole(Raw::from(&other.data)));
        }
        let why = match other.dialect == DIALECT {
            true => "it is not an object; left out".to_owned(),
            false => format!("only {} knows {}; left out", other.dialect, kind_of(&other.data)),
        };
        self.lose(LossCode::ForeignContent, BlockKind::Other, index, &why);
        None
    }
}

/// What a dialect's own block or event is called: its type, or else the names of its fields.
pub(super) fn kind_of(data: &Json) -> String {
    let fields: Fields = data.to().unwrap_or_default();
    match fields.str("type") {
        Some(kind) => kind.into_owned(),
        None => fields.names().collect::<Vec<_>>().join(", "),
    }
}
