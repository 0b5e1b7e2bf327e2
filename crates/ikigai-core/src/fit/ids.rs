//! Ids of tool calls that the target accepts.
//!
//! An id from elsewhere may be too long or have the wrong form. It is then replaced by one derived from it, the same in
//! the call and in its result, and different from every other id of the request.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::abilities::{IdCharacters, IdRule, Repeats};
use crate::{Block, Request};

/// The form of an id.
#[derive(Debug, Clone, Copy)]
pub(super) enum IdForm {
    /// Exactly nine letters and digits.
    Nine,
    Rule(IdRule),
}

/// The ids of one request as they are sent, requested in the order of the conversation.
#[derive(Debug)]
pub(super) struct CallIds<'a> {
    form: IdForm,
    request: &'a Request,
    /// All ids that are or will be on the wire; filled when the first one is replaced.
    taken: HashSet<Cow<'a, str>>,
    /// The current replacement of each id that could not be kept.
    replaced: HashMap<&'a str, String>,
    /// Ids that are already used for a call.
    called: HashSet<&'a str>,
    changes: usize,
}

impl<'a> CallIds<'a> {
    pub(super) fn new(request: &'a Request, form: IdForm) -> Self {
        CallIds { form, request, taken: HashSet::new(), replaced: HashMap::new(), called: HashSet::new(), changes: 0 }
    }

    /// Returns how many ids were replaced.
    pub(super) fn changes(&self) -> usize {
        self.changes
    }

    /// Returns the new id of a call, or `None` if it stays unchanged.
    pub(super) fn of_call(&mut self, id: &'a str) -> Option<String> {
        match self.form.repeats() {
            Repeats::Refused if !self.called.insert(id) => Some(self.replace(id)),
            Repeats::Refused | Repeats::Taken => self.of_result(id),
        }
    }

    /// Returns the new id for a result's call, or `None` if it stays unchanged.
    pub(super) fn of_result(&mut self, id: &'a str) -> Option<String> {
        match self.replaced.get(id) {
            Some(new) => Some(new.clone()),
            None if self.form.takes(id) => None,
            None => Some(self.replace(id)),
        }
    }

    fn replace(&mut self, id: &'a str) -> String {
        self.changes += 1;
        if self.taken.is_empty() {
            let ids = self.request.messages.iter().flat_map(|message| &message.content).filter_map(Block::call_id);
            self.taken.extend(ids.map(Cow::Borrowed));
        }
        // Two ids with the same number are practically impossible; if it happens, the next number is taken. A second
        // call with the same id continues from the number of the first.
        let mut number = fnv(id).wrapping_add(u64::from(self.replaced.contains_key(id)));
        let mut new = self.form.made_of(number);
        while !self.taken.insert(Cow::Owned(new.clone())) {
            number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(self.changes as u64);
            new = self.form.made_of(number);
        }
        self.replaced.insert(id, new.clone());
        new
    }
}

impl IdForm {
    fn takes(self, id: &str) -> bool {
        match self {
            IdForm::Nine => id.len() == 9 && id.bytes().all(|c| c.is_ascii_alphanumeric()),
            IdForm::Rule(rule) => {
                let fits = match rule.characters {
                    IdCharacters::Any => id.chars().count() <= rule.longest,
                    IdCharacters::Visible => id.bytes().all(|c| c.is_ascii_graphic()),
                    IdCharacters::Word => id.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-'),
                };
                fits && !id.is_empty() && (rule.characters == IdCharacters::Any || id.len() <= rule.longest)
            }
        }
    }

    fn repeats(self) -> Repeats {
        match self {
            IdForm::Nine => Repeats::Taken,
            IdForm::Rule(rule) => rule.repeats,
        }
    }

    fn made_of(self, number: u64) -> String {
        let letters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut rest = number;
        let mut letter = || {
            let letter = usize::try_from(rest % 62).ok().and_then(|at| letters.get(at)).copied().unwrap_or(b'0');
            rest /= 62;
            char::from(letter)
        };
        match self {
            IdForm::Nine => (0..9).map(|_| letter()).collect(),
            IdForm::Rule(_) => "call_".chars().chain((0..11).map(|_| letter())).collect(),
        }
    }
}

/// FNV-1a: the same text always gives the same number, everywhere.
pub(super) fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod tests;
