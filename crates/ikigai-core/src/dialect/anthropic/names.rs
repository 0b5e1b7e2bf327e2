//! Ids and names that this API takes: letters, digits, `_` and `-`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Is this an id as the API takes it?
pub(super) fn is_safe(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(is_safe_byte)
}

fn is_safe_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Do two ids name one model? A provider may answer with a dated id, and Amazon and Google dress theirs up.
pub(super) fn same_model(one: &str, other: &str) -> bool {
    bare_model(one) == bare_model(other)
}

/// `claude-opus-4` for `us.anthropic.claude-opus-4-20250514-v1:0`, `claude-opus-4@20250514` and `claude-opus-4-0`.
fn bare_model(id: &str) -> &str {
    let id = id.rsplit('/').next().unwrap_or(id);
    let id = match id.rsplit_once('.') {
        Some((vendor, id)) if vendor.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'.' || byte == b'-') => {
            id
        }
        _ => id,
    };
    let id = id.split([':', '@']).next().unwrap_or(id);
    let id = match id.rsplit_once("-v") {
        Some((id, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => id,
        _ => id,
    };
    let id = match id.rsplit_once('-') {
        Some((id, "latest")) => id,
        Some((id, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => id,
        _ => id,
    };
    id.strip_suffix("-0").unwrap_or(id)
}

/// Ids or names of others, each turned into one that the API takes: always the same way, and never two into one.
#[derive(Debug)]
pub(super) struct Safe {
    longest: usize,
    /// Everything that is on the wire or will be.
    taken: HashSet<String>,
    /// What each word became that could not stay.
    renamed: HashMap<String, String>,
    /// The forms that were given out, which no other word may have.
    given: HashSet<String>,
}

impl Safe {
    /// With words that are known to go on the wire as they are.
    pub(super) fn new<'a>(longest: usize, words: impl Iterator<Item = &'a str>) -> Self {
        let taken = words.filter(|word| is_safe(word) && word.len() <= longest).map(str::to_owned).collect();
        Safe { longest, taken, renamed: HashMap::new(), given: HashSet::new() }
    }

    /// The word as it goes on the wire.
    pub(super) fn word<'w>(&mut self, word: &'w str) -> Cow<'w, str> {
        if let Some(known) = self.renamed.get(word) {
            return Cow::Owned(known.clone());
        }
        if is_safe(word) && word.len() <= self.longest && !self.given.contains(word) {
            if !self.taken.contains(word) {
                self.taken.insert(word.to_owned());
            }
            return Cow::Borrowed(word);
        }
        Cow::Owned(self.rename(word))
    }

    /// Was this word given another form before?
    pub(super) fn knows(&self, word: &str) -> bool {
        self.renamed.contains_key(word)
    }

    /// Gives a word a new form from here on, as when the same id stands for a second call.
    pub(super) fn rename(&mut self, word: &str) -> String {
        let plain: String = word
            .chars()
            .map(|c| if c.is_ascii() && is_safe_byte(c as u8) { c } else { '_' })
            .take(self.longest)
            .collect();
        let base = if plain.is_empty() { "_".to_owned() } else { plain };
        let mut safe = base.clone();
        let mut count = 1_usize;
        while !self.taken.insert(safe.clone()) {
            count += 1;
            let tail = format!("_{count}");
            let room = self.longest.saturating_sub(tail.len());
            safe = base.chars().take(room).collect::<String>() + &tail;
        }
        self.renamed.insert(word.to_owned(), safe.clone());
        self.given.insert(safe.clone());
        safe
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_become_safe_ones_that_never_collide() {
        let mut safe = Safe::new(8, ["a_b"].into_iter());
        let words = ["a_b", "a.b", "a:b", "a.b", "", "söme", "much_too_long", "much_too_l"];
        let got: Vec<String> = words.iter().map(|word| safe.word(word).into_owned()).collect();
        assert_eq!(got, ["a_b", "a_b_2", "a_b_3", "a_b_2", "_", "s_me", "much_too", "much_t_2"]);
    }

    #[test]
    fn one_model_goes_by_many_ids() {
        let same = [
            "claude-opus-4",
            "claude-opus-4-0",
            "claude-opus-4-20250514",
            "claude-opus-4@20250514",
            "us.anthropic.claude-opus-4-20250514-v1:0",
            "anthropic/claude-opus-4",
        ];
        for id in same {
            assert!(same_model(id, "claude-opus-4-20250514"), "{id}");
        }
        for other in ["claude-opus-4-1", "claude-opus-4-5-20251101", "claude-sonnet-4-0", "gpt-4.1"] {
            assert!(!same_model(other, "claude-opus-4"), "{other}");
        }
    }

    #[test]
    fn a_safe_word_that_comes_late_does_not_meet_a_renamed_one() {
        let mut safe = Safe::new(64, std::iter::empty());
        assert_eq!((safe.word("a.b").into_owned(), safe.word("a_b").into_owned()), ("a_b".into(), "a_b_2".into()));
    }

    #[test]
    fn an_id_that_comes_again_gets_a_new_form() {
        let mut safe = Safe::new(64, ["call_0"].into_iter());
        assert_eq!(safe.word("call_0"), "call_0");
        assert_eq!(safe.rename("call_0"), "call_0_2");
        assert_eq!(safe.word("call_0"), "call_0_2");
    }
}
