//! Ids of tool calls that this API's clients take: letters, digits, `_` and `-`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Whether this is an id as the API takes it.
pub(super) fn is_safe(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(is_safe_byte)
}

fn is_safe_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Ids of others, each turned into one that the API takes: always the same way, and never two into one.
#[derive(Debug)]
pub(super) struct Safe {
    longest: usize,
    /// Everything that is on the wire or will be.
    taken: HashSet<String>,
    /// What each word became that could not stay.
    renamed: HashMap<String, String>,
    /// The forms that were given out, which no other word may have.
    given: HashSet<String>,
    /// How many words of each plain form were renamed.
    counts: HashMap<String, usize>,
}

impl Safe {
    /// With words that are known to go on the wire as they are.
    pub(super) fn new<'a>(longest: usize, words: impl Iterator<Item = &'a str>) -> Self {
        let taken = words.filter(|word| is_safe(word) && word.len() <= longest).map(str::to_owned).collect();
        Safe { longest, taken, renamed: HashMap::new(), given: HashSet::new(), counts: HashMap::new() }
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

    fn rename(&mut self, word: &str) -> String {
        let plain: String = word
            .chars()
            .map(|c| if c.is_ascii() && is_safe_byte(c as u8) { c } else { '_' })
            .take(self.longest)
            .collect();
        let base = if plain.is_empty() { "_".to_owned() } else { plain };
        let mut safe = base.clone();
        // Not from the beginning each time, which would take ever longer.
        let count = self.counts.entry(base.clone()).or_insert(1);
        while !self.taken.insert(safe.clone()) {
            *count += 1;
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
    fn a_safe_word_that_comes_late_does_not_meet_a_renamed_one() {
        let mut safe = Safe::new(64, std::iter::empty());
        assert_eq!((safe.word("a.b").into_owned(), safe.word("a_b").into_owned()), ("a_b".into(), "a_b_2".into()));
    }
}
