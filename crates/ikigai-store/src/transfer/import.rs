//! Reads conversations from JSON Lines.

use std::io::{BufRead, Read as _};

use serde::de::DeserializeOwned;

use super::lines::{ConversationLine, Header, Kind, MessageLine, VERSION};
use crate::conversation::Conversation;
use crate::error::{ErrorKind, Result};
use crate::{Error, Record, Restored, Store, json};

/// The longest line, in bytes. A line is in memory as a whole; no database would accept a longer one.
const LONGEST: u64 = 512 * 1024 * 1024;

/// What was imported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    /// The number of conversations that were imported.
    pub conversations: u64,
    /// The number of messages that were imported with them.
    pub messages: u64,
    /// The number of conversations that already existed and were left unchanged.
    pub already: u64,
}

/// Reads what [`export`](crate::export) wrote. A conversation that already exists is left unchanged, so that a second
/// import changes nothing.
///
/// Each conversation is imported whole or not at all. If a line cannot be read, everything before it is imported.
///
/// # Errors
/// Returns an error if a line cannot be read, which it names, or the database fails.
pub async fn import(store: &dyn Store, from: &mut (dyn BufRead + Send)) -> Result<Imported> {
    let mut imported = Imported::default();
    let mut number = 0;
    let mut begun = false;
    while let Some(text) = next(from, &mut number)? {
        let kind: Kind = read(&text, number)?;
        match (kind.kind.as_str(), begun) {
            ("ikigai", false) => {
                let header: Header = read(&text, number)?;
                if header.version > VERSION {
                    let version = header.version;
                    let said = format!("the export has version {version}, and this program reads up to {VERSION}");
                    return Err(wrong(number, format!("{said}; update ikigai")));
                }
                begun = true;
            }
            ("conversation", true) => {
                let line: ConversationLine = read(&text, number)?;
                // The text is not needed while the messages are read.
                drop(text);
                let at = number;
                let record = record(line, from, &mut number)?;
                let messages = record.messages.len() as u64;
                match store.restore(record).await {
                    Ok(Restored::New) => {
                        imported.conversations += 1;
                        imported.messages += messages;
                    }
                    Ok(Restored::Already) => imported.already += 1,
                    Err(error) if error.kind() == ErrorKind::Invalid => return Err(wrong(at, error.message())),
                    Err(error) => return Err(error),
                }
            }
            (_, false) => {
                return Err(wrong(number, "this is not an export of conversations: the first line must be its header"));
            }
            (other, true) => {
                let other: String = other.chars().take(40).collect();
                return Err(wrong(number, format!("a line of type `{other}` has no meaning here")));
            }
        }
    }
    if begun { Ok(imported) } else { Err(wrong(1, "the file is empty; an export begins with a header")) }
}

/// Reads the messages that follow a conversation's line.
fn record(line: ConversationLine, from: &mut (dyn BufRead + Send), number: &mut u64) -> Result<Record> {
    let count = line.messages;
    let conversation: Conversation = line.into_conversation();
    let mut messages = Vec::new();
    for position in 1..=count {
        let short = |number: u64| {
            wrong(number, format!("conversation {} has {count} messages, but the file ends here", conversation.id))
        };
        let text = next(from, number)?.ok_or_else(|| short(*number))?;
        let kind: Kind = read(&text, *number)?;
        if kind.kind != "message" {
            let said = format!("conversation {} has {count} messages, but this line is not one", conversation.id);
            return Err(wrong(*number, said));
        }
        let line: MessageLine = read(&text, *number)?;
        messages.push(line.into_stored(conversation.id, position));
    }
    Ok(Record { conversation, messages })
}

/// The next line that is not blank.
fn next(from: &mut (dyn BufRead + Send), number: &mut u64) -> Result<Option<String>> {
    loop {
        let mut bytes = Vec::new();
        let count = from.take(LONGEST + 1).read_until(b'\n', &mut bytes);
        *number += 1;
        match count {
            Err(error) => {
                let said = format!("the import cannot be read after line {}: {error}", *number - 1);
                return Err(Error::new(ErrorKind::Access, said).caused_by(error));
            }
            Ok(0) => return Ok(None),
            Ok(count) if count as u64 > LONGEST => {
                return Err(wrong(*number, format!("the line is longer than {LONGEST} bytes")));
            }
            Ok(_) => {}
        }
        let text = String::from_utf8(bytes).map_err(|_| wrong(*number, "the line is not UTF-8"))?;
        let line = if *number == 1 { text.strip_prefix('\u{FEFF}').unwrap_or(&text) } else { &text };
        let line = line.trim();
        if !line.is_empty() {
            return Ok(Some(if line.len() == text.len() { text } else { line.to_owned() }));
        }
    }
}

fn read<T: DeserializeOwned>(text: &str, number: u64) -> Result<T> {
    json::read(text).map_err(|fault| wrong(number, fault))
}

fn wrong(number: u64, said: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Import, format!("line {number} of the import: {said}"))
}
