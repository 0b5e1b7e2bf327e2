//! Converts messages to rows and back, without a database.

use ikigai_core::Message;
use ikigai_core::catalog::Money;
use serde_json::{Map, Value};

use crate::attachments::{self, Attachment, Part};
use crate::error::{Error, Result};
use crate::text::{first_line, place_of, searchable, words};
use crate::{Entry, Place, State, Stored, Time};
use crate::{answer_pieces, json};

/// A message as it is stored in the database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packed {
    pub(crate) role: &'static str,
    pub(crate) state: &'static str,
    /// The canonical message without its large attachments.
    pub(crate) body: String,
    pub(crate) provider: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) level: Option<&'static str>,
    pub(crate) usage: Option<String>,
    pub(crate) counts: Option<Counts>,
    /// In pico-dollars, as text: no database has numbers that large.
    pub(crate) cost: Option<String>,
    pub(crate) finish_reason: Option<&'static str>,
    pub(crate) metadata: String,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) place: Place,
    pub(crate) words: Vec<String>,
    /// A title for the conversation, in case it has none.
    pub(crate) title: Option<String>,
}

/// The tokens, as columns for statistics; `usage` is authoritative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) input: i64,
    pub(crate) output: i64,
    pub(crate) thinking: i64,
    pub(crate) cache_read: i64,
    pub(crate) cache_write: i64,
}

/// Converts a message to a row.
pub(crate) fn pack(entry: Entry) -> Result<Packed> {
    let Entry { mut message, state, usage, cost, finish_reason, metadata } = entry;
    let text = searchable(&message);
    let title = (message.role == ikigai_core::Role::User).then(|| first_line(&message)).flatten();
    let attachments = attachments::take_out(&mut message);
    let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    Ok(Packed {
        role: message.role.as_str(),
        state: state.as_str(),
        body: json::write("the message", &message)?,
        provider: message.provider.as_deref().map(clean),
        model: message.model.as_deref().map(clean),
        level: message.thinking.map(ikigai_core::Level::as_str),
        counts: usage.as_ref().map(|usage| Counts {
            input: count(usage.input_tokens),
            output: count(usage.output_tokens),
            thinking: count(usage.thinking_tokens),
            cache_read: count(usage.cache_read_tokens),
            cache_write: count(usage.cache_write_tokens),
        }),
        usage: usage.map(|usage| json::write("the usage", &usage)).transpose()?,
        cost: cost.map(|cost| cost.pico().to_string()),
        finish_reason: finish_reason.map(ikigai_core::FinishReason::as_str),
        metadata: json::write("the metadata", &metadata)?,
        attachments,
        place: place_of(message.role),
        words: words(&text).map(|word| word.word).collect(),
        title,
    })
}

/// A copy for a text column. PostgreSQL's text cannot hold this character; the message itself keeps it.
pub(crate) fn clean(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

/// A row from the database, with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Raw {
    pub(crate) n: i64,
    pub(crate) id: String,
    pub(crate) conversation: String,
    pub(crate) position: i64,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    pub(crate) state: String,
    pub(crate) body: String,
    pub(crate) usage: Option<String>,
    pub(crate) cost: Option<String>,
    pub(crate) finish_reason: Option<String>,
    pub(crate) metadata: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) pieces: Vec<String>,
}

/// Converts a row to a message.
pub(crate) fn unpack(raw: Raw) -> Result<Stored> {
    let id = raw.id.clone();
    read(raw).map_err(|fault| Error::corrupt(format!("message {id} cannot be read: {fault}")))
}

fn read(raw: Raw) -> std::result::Result<Stored, String> {
    let mut message: Message = json::read(&raw.body)?;
    attachments::put_back(&mut message, raw.parts)?;
    let entry = Entry {
        message,
        state: State::from_word(&raw.state).ok_or_else(|| format!("its state is `{}`", raw.state))?,
        usage: raw.usage.as_deref().map(json::read).transpose()?,
        cost: raw.cost.as_deref().map(money).transpose()?,
        finish_reason: raw.finish_reason.map(|word| serde_json::from_value(word.into())).transpose().map_err(said)?,
        metadata: metadata(&raw.metadata)?,
    };
    Ok(Stored {
        id: raw.id.parse().map_err(said)?,
        conversation: raw.conversation.parse().map_err(said)?,
        position: u64::try_from(raw.position).map_err(said)?,
        created: time(raw.created)?,
        updated: time(raw.updated)?,
        entry: if raw.pieces.is_empty() { entry } else { answer_pieces::assemble(entry, &raw.pieces)? },
    })
}

/// The text of a message that was found, to show a part of it.
pub(crate) fn found_text(body: &str, parts: Vec<Part>) -> std::result::Result<String, String> {
    let mut message: Message = json::read(body)?;
    attachments::put_back(&mut message, parts)?;
    Ok(searchable(&message))
}

pub(crate) fn money(pico: &str) -> std::result::Result<Money, String> {
    pico.parse().map(Money::from_pico).map_err(|_| format!("`{}` is not an amount of money", clip(pico)))
}

pub(crate) fn metadata(text: &str) -> std::result::Result<Map<String, Value>, String> {
    json::read(text)
}

pub(crate) fn time(micros: i64) -> std::result::Result<Time, String> {
    Time::from_unix_micros(micros).ok_or_else(|| format!("{micros} is not a time"))
}

pub(crate) fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn clip(text: &str) -> String {
    text.chars().take(60).collect()
}
