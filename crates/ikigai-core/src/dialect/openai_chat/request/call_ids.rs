//! Tool call ids that the target takes.
//!
//! An id from elsewhere may be too long or of the wrong form. It is then replaced by one that follows from it, the same
//! in the call and in its result, and unlike every other id of the request.

use std::collections::{HashMap, HashSet};

use crate::{Block, Request};

/// OpenAI's own limit on some endpoints.
const LONGEST: usize = 40;

/// The ids of one request as they go out.
#[derive(Debug, Default)]
pub(super) struct CallIds {
    replaced: HashMap<String, String>,
}

/// What the target takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Exactly nine letters and digits.
    Nine,
    /// Anything plain that is not too long.
    Plain,
}

impl CallIds {
    pub(super) fn new(request: &Request, form: Form) -> Self {
        let ids: Vec<&str> = request
            .messages
            .iter()
            .flat_map(|message| &message.content)
            .filter_map(|block| match block {
                Block::ToolCall(call) => Some(call.id.as_str()),
                Block::ToolResult(result) => Some(result.tool_call_id.as_str()),
                _ => None,
            })
            .collect();
        let mut taken: HashSet<String> = ids.iter().filter(|id| form.takes(id)).map(|id| (*id).to_owned()).collect();
        let mut replaced: HashMap<String, String> = HashMap::new();
        for id in ids {
            if form.takes(id) || replaced.contains_key(id) {
                continue;
            }
            // Two ids with the same number are as good as impossible; were they there, the next number is taken.
            let mut seed = number_of(id);
            let mut new = form.made_of(seed);
            while !taken.insert(new.clone()) {
                seed = seed.wrapping_add(1);
                new = form.made_of(seed);
            }
            replaced.insert(id.to_owned(), new);
        }
        CallIds { replaced }
    }

    /// How many ids were replaced?
    pub(super) fn len(&self) -> usize {
        self.replaced.len()
    }

    /// The id as it goes out.
    pub(super) fn get<'a>(&'a self, id: &'a str) -> &'a str {
        self.replaced.get(id).map_or(id, String::as_str)
    }
}

impl Form {
    fn takes(self, id: &str) -> bool {
        match self {
            Form::Nine => id.len() == 9 && id.bytes().all(|c| c.is_ascii_alphanumeric()),
            Form::Plain => !id.is_empty() && id.len() <= LONGEST && id.bytes().all(|c| c.is_ascii_graphic()),
        }
    }

    fn made_of(self, number: u64) -> String {
        let letters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut rest = number;
        let word: String = (0..9)
            .map(|_| {
                let letter = letters.get(usize::try_from(rest % 62).unwrap_or(0)).copied().unwrap_or(b'0');
                rest /= 62;
                char::from(letter)
            })
            .collect();
        match self {
            Form::Nine => word,
            Form::Plain => format!("call_{word}"),
        }
    }
}

/// FNV-1a: the same id gives the same number everywhere and always.
fn number_of(id: &str) -> u64 {
    id.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}
