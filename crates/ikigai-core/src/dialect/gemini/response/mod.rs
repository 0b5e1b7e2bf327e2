//! Whole answers.
//!
//! `candidates[0]` is the answer. Anything without a canonical field is kept in [`Part::Answer`]: the fields of the
//! answer and of its candidate side by side, `candidate` (the names of the candidate's fields), `finish_reason` (the
//! provider's own) and `candidates` (the other ones). How the answer was spelled is in the shape: `content` (the
//! content object if it was unusual) and `empty` (text parts without text or signature, which are not blocks).

mod decode;
mod encode;

use std::borrow::Cow;
use std::collections::HashSet;

use super::DIALECT;
use super::wire::Candidate;
use crate::json::wire::{Raw, Rest};
use crate::{Fields, Json, Part, ProviderData};

pub(crate) use decode::decode_response;
pub(super) use decode::{FINISH, finish, is_blocked, keep_names, usage_name};
pub(crate) use encode::encode_response;
pub(super) use encode::{Parts, failure, finish_word};

/// In the answer: the names of the candidate's fields.
const CANDIDATE: &str = "candidate";
/// The prefix of a candidate's field if the answer has one of the same name.
const PREFIX: &str = "candidate.";
/// In the answer: the other candidates.
const CANDIDATES: &str = "candidates";

/// Keeps the candidate's fields next to those of the answer.
pub(crate) fn keep_candidate(data: &mut ProviderData, fields: Fields) {
    let mut all = data.take_part(DIALECT, Part::Answer);
    let taken: HashSet<String> = all.names().map(str::to_owned).collect();
    let mut names = Vec::with_capacity(fields.len());
    for (name, value) in fields {
        let name = if taken.contains(&name) { format!("{PREFIX}{name}") } else { name };
        names.push(name.clone());
        all.push(name, value);
    }
    if !names.is_empty() {
        all.push(CANDIDATE, Json::of(&names).unwrap_or_default());
    }
    data.extend_part(DIALECT, Part::Answer, all);
}

/// Returns the fields of the answer and those of its candidate.
pub(super) fn kept_fields(data: &ProviderData) -> (Rest<'_>, Candidate<'_>) {
    let names = data.part(DIALECT, Part::Answer).get(CANDIDATE).and_then(|names| names.to::<Vec<Cow<'_, str>>>().ok());
    let names: HashSet<Cow<'_, str>> = names.unwrap_or_default().into_iter().collect();
    let (mut rest, mut candidate) = (Rest::default(), Candidate::default());
    for (name, raw) in data.part(DIALECT, Part::Answer).as_rest() {
        match name.as_ref() {
            FINISH | CANDIDATE | CANDIDATES => {}
            own if !names.contains(own) => rest.push((name, raw)),
            "index" => candidate.index = Some(Raw(raw)),
            own => candidate.rest.push((own.strip_prefix(PREFIX).unwrap_or(own).to_owned().into(), raw)),
        }
    }
    (rest, candidate)
}

#[cfg(test)]
mod response_tests;
