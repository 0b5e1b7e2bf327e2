//! One frame, read in place.
//!
//! A frame is an answer like any other. Most hold one part of one candidate, and there are very many of them: handing the
//! objects inside one another up by value would cost more than reading them.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::super::usage::{Count, UsageMetadata};
use super::super::wire::{Candidate, Content, OneOrMany, Part};
use crate::json::wire::{Raw, Rest, Text};

/// What a frame says.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    /// The first part, and the others, of the candidate that counts.
    pub(super) part: Option<Part<'a>>,
    pub(super) more: Vec<Part<'a>>,
    pub(super) finish: Option<Text<'a>>,
    pub(super) index: Option<u64>,
    /// What else the candidate says.
    pub(super) candidate: Rest<'a>,
    /// The other candidates.
    pub(super) others: Vec<Candidate<'a>>,
    pub(super) usage: Option<UsageMetadata<'a>>,
    pub(super) model: Option<Text<'a>>,
    pub(super) id: Option<Text<'a>>,
    pub(super) error: Option<Raw<'a>>,
    /// What else the frame says.
    pub(super) rest: Rest<'a>,
}

impl<'a> Frame<'a> {
    /// Reads a frame into this one, which is empty.
    pub(super) fn read(&mut self, data: &'a str) -> Result<(), serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(data);
        At { frame: self, level: Level::Frame }.deserialize(&mut deserializer)?;
        deserializer.end()
    }

    /// Puts the candidate that was just read aside, if it is not the one that counts.
    fn set_aside(&mut self) -> bool {
        if self.index.unwrap_or_default() == 0 {
            return false;
        }
        let parts = self.part.take().into_iter().chain(self.more.drain(..)).collect();
        self.others.push(Candidate {
            content: Some(Content { parts: Some(OneOrMany::Many(parts)), ..Content::default() }),
            finish: self.finish.take(),
            index: self.index.take().map(|index| Raw::of(&index)),
            rest: std::mem::take(&mut self.candidate),
        });
        true
    }
}

/// A place in a frame.
struct At<'f, 'a> {
    frame: &'f mut Frame<'a>,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    Frame,
    Candidates,
    Candidate,
    Content,
    Parts,
}

impl<'de> DeserializeSeed<'de> for At<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> At<'_, 'de> {
    /// The value of a field.
    fn field<A: MapAccess<'de>>(&mut self, name: Text<'de>, map: &mut A) -> Result<(), A::Error> {
        let frame = &mut *self.frame;
        match (self.level, name.as_str()) {
            (Level::Frame, "candidates") => map.next_value_seed(At { frame, level: Level::Candidates })?,
            (Level::Frame, "usageMetadata") => frame.usage = map.next_value()?,
            (Level::Frame, "modelVersion") => frame.model = map.next_value()?,
            (Level::Frame, "responseId") => frame.id = map.next_value()?,
            (Level::Frame, "error") => frame.error = map.next_value()?,
            (Level::Frame, _) => frame.rest.push((name.0, map.next_value::<Raw<'de>>()?.0)),
            (Level::Candidate, "content") => map.next_value_seed(At { frame, level: Level::Content })?,
            (Level::Candidate, "finishReason") => frame.finish = map.next_value()?,
            (Level::Candidate, "index") => frame.index = map.next_value::<Count>()?.number(),
            (Level::Content, "parts") => map.next_value_seed(At { frame, level: Level::Parts })?,
            // It is always the model's.
            (Level::Content, "role") => drop(map.next_value::<serde::de::IgnoredAny>()?),
            (Level::Candidates | Level::Candidate | Level::Content | Level::Parts, _) => {
                frame.candidate.push((name.0, map.next_value::<Raw<'de>>()?.0));
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for At<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.level {
            Level::Frame | Level::Candidate | Level::Content => "an object",
            Level::Candidates | Level::Parts => "a list or an object",
        })
    }

    /// `null` is as good as absent.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        match self.level {
            Level::Parts if self.frame.part.is_none() => {
                return self.frame.part.insert(Part::default()).fill(&mut map);
            }
            Level::Parts => {
                let mut part = Part::default();
                part.fill(&mut map)?;
                self.frame.more.push(part);
                return Ok(());
            }
            Level::Candidates => self.level = Level::Candidate,
            Level::Frame | Level::Candidate | Level::Content => {}
        }
        while let Some(name) = map.next_key()? {
            self.field(name, &mut map)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let frame = self.frame;
        match self.level {
            Level::Parts => while seq.next_element_seed(At { frame, level: Level::Parts })?.is_some() {},
            Level::Candidates => {
                while seq.next_element_seed(At { frame, level: Level::Candidate })?.is_some() {
                    if !frame.set_aside() {
                        break;
                    }
                }
                while let Some(other) = seq.next_element()? {
                    frame.others.push(other);
                }
            }
            level @ (Level::Frame | Level::Candidate | Level::Content) => {
                let expected = At { frame, level };
                return Err(serde::de::Error::invalid_type(serde::de::Unexpected::Seq, &expected));
            }
        }
        Ok(())
    }
}
