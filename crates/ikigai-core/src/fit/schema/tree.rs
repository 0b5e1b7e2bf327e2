//! A schema as a tree whose leaves are the text in which they were written.
//!
//! Closing a schema must not change its numbers, its order or its duplicate names, so they are not parsed at all: a
//! leaf is a slice of the schema's text.

use std::borrow::Cow;

use crate::json::end_of_string;
use crate::json::text::unescape;
use crate::{Error, Json, Limits};

/// No provider accepts a deeper strict schema, and a walk of this depth does not exhaust the stack.
const DEEPEST: usize = 128;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree<'a> {
    Object(Vec<Entry<'a>>),
    Array(Vec<Tree<'a>>),
    /// Anything else, as written.
    Leaf(&'a str),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'a> {
    /// The name as written, with its quotes.
    raw: &'a str,
    pub(crate) name: Cow<'a, str>,
    pub(crate) value: Tree<'a>,
}

/// Why a schema was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is too deep to be rewritten, but can be sent unchanged.
    Deep,
    /// A limit was reached.
    Limit(Error),
}

impl<'a> Tree<'a> {
    /// Reads the text of a JSON value, within limits.
    pub(crate) fn parse(json: &'a Json, limits: &'a Limits) -> Result<Tree<'a>, Unread> {
        let mut reader = Reader { text: json.text(), at: 0, left: limits.schema_nodes, limits };
        reader.value(0)
    }

    pub(crate) fn as_object(&self) -> Option<&[Entry<'a>]> {
        match self {
            Tree::Object(entries) => Some(entries),
            Tree::Array(_) | Tree::Leaf(_) => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Tree<'a>]> {
        match self {
            Tree::Array(items) => Some(items),
            Tree::Object(_) | Tree::Leaf(_) => None,
        }
    }

    /// Returns the text of a JSON string.
    pub(crate) fn as_str(&self) -> Option<Cow<'a, str>> {
        match self {
            Tree::Leaf(text) => unescape(text),
            Tree::Object(_) | Tree::Array(_) => None,
        }
    }

    /// Returns the value of a name; the last one if the name appears twice. Linear: for a few known names only.
    pub(crate) fn get(&self, name: &str) -> Option<&Tree<'a>> {
        self.as_object()?.iter().rev().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    pub(crate) fn is_false(&self) -> bool {
        *self == Tree::Leaf("false")
    }

    /// Returns whether this is the given word, or a list that contains it.
    pub(crate) fn says(&self, word: &str) -> bool {
        let is_word = |tree: &Tree<'_>| tree.as_str().is_some_and(|text| text == word);
        is_word(self) || self.as_array().is_some_and(|items| items.iter().any(is_word))
    }

    /// Returns whether the schema's `type` is or includes this word.
    pub(crate) fn has_type(&self, word: &str) -> bool {
        self.get("type").is_some_and(|kind| kind.says(word))
    }

    /// Adds a member, unless there already is one of that name.
    pub(crate) fn add(&mut self, raw: &'static str, value: Tree<'a>) {
        let name = raw.trim_matches('"');
        if self.get(name).is_none()
            && let Tree::Object(entries) = self
        {
            entries.push(Entry { raw, name: Cow::Borrowed(name), value });
        }
    }

    /// Inserts a member before all others.
    pub(crate) fn lead(&mut self, raw: &'static str, value: Tree<'a>) {
        if let Tree::Object(entries) = self {
            entries.insert(0, Entry { raw, name: Cow::Borrowed(raw.trim_matches('"')), value });
        }
    }

    /// Writes the tree as JSON.
    pub(crate) fn to_json(&self) -> Json {
        let mut text = String::new();
        self.write(&mut text);
        Json::parse(text).unwrap_or_default()
    }

    fn write(&self, text: &mut String) {
        match self {
            Tree::Leaf(leaf) => text.push_str(leaf),
            Tree::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    item.write(text);
                }
                text.push(']');
            }
            Tree::Object(entries) => {
                text.push('{');
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    text.push_str(entry.raw);
                    text.push(':');
                    entry.value.write(text);
                }
                text.push('}');
            }
        }
    }
}

/// Reads text that is known to be valid JSON.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The number of nodes left.
    left: usize,
    limits: &'a Limits,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Tree<'a>, Unread> {
        if depth > DEEPEST {
            return Err(Unread::Deep);
        }
        let Some(left) = self.left.checked_sub(1) else { return Err(self.too_many()) };
        self.left = left;
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                let mut entries = Vec::new();
                while let Some(b'"') = self.next_part() {
                    let raw = self.string();
                    // The colon.
                    self.next_part();
                    let value = self.value(depth + 1)?;
                    let name = unescape(raw).unwrap_or(Cow::Borrowed(raw));
                    entries.push(Entry { raw, name, value });
                }
                self.at += 1;
                Ok(Tree::Object(entries))
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                while self.next_part().is_some_and(|byte| byte != b']') {
                    items.push(self.value(depth + 1)?);
                }
                self.at += 1;
                Ok(Tree::Array(items))
            }
            Some(b'"') => Ok(Tree::Leaf(self.string())),
            Some(_) | None => {
                let start = self.at;
                let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
                let rest = self.text.as_bytes().get(start..).unwrap_or_default();
                self.at += rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len());
                Ok(Tree::Leaf(self.text.get(start..self.at).unwrap_or_default()))
            }
        }
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.as_bytes().get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the first byte of the next part, skipping a comma or a colon.
    fn next_part(&mut self) -> Option<u8> {
        if let Some(b',' | b':') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Reads a string, including its quotes.
    fn string(&mut self) -> &'a str {
        let start = self.at;
        self.at = end_of_string(self.text.as_bytes(), start + 1);
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn too_many(&self) -> Unread {
        Unread::Limit(self.limits.too_many_schema_nodes())
    }
}
