//! Splits text into words.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Longer words are cut. Keys, hashes and encoded data are not words that anyone types.
const LONGEST: usize = 64;

/// A word as it is searched, and its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Lower case, without accents.
    pub(crate) word: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The words of a text, in order: runs of letters and digits, or single characters in scripts without spaces between
/// words.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = characters.next()?;
            if !belongs_to_a_word(first) {
                continue;
            }
            let mut end = start + first.len_utf8();
            if !stands_alone(first) {
                while let Some((at, next)) =
                    characters.next_if(|(_, next)| belongs_to_a_word(*next) && !stands_alone(*next))
                {
                    end = at + next.len_utf8();
                }
            }
            let word = folded(text.get(start..end)?);
            if !word.is_empty() {
                return Some(Word { word, start, end });
            }
        }
    })
}

fn belongs_to_a_word(character: char) -> bool {
    character.is_alphanumeric() || (!character.is_ascii() && is_combining_mark(character))
}

/// Scripts without spaces between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.
fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// The form that is searched: `Été` is `ete`, `ＡＢＣ` is `abc`.
fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.chars().take(LONGEST).map(|character| character.to_ascii_lowercase()).collect();
    }
    let accent = |character: &char| matches!(character, '\u{0300}'..='\u{036F}');
    word.nfkd()
        .filter(|character| !accent(character))
        .flat_map(char::to_lowercase)
        // Lower case adds an accent to the Turkish İ.
        .filter(|character| !accent(character) && belongs_to_a_word(*character))
        .nfc()
        .take(LONGEST)
        .collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> Vec<String> {
        words(text).map(|word| word.word).collect()
    }

    #[test]
    fn words_are_folded() {
        assert_eq!(all("Été à l'île: ÀB-c_d, İstanbul"), ["ete", "a", "l", "ile", "ab", "c", "d", "istanbul"]);
        assert_eq!(all("gpt-5.4 ＡＢＣ ﬁn Straße"), ["gpt", "5", "4", "abc", "fin", "straße"]);
        assert_eq!(all("日本語とEnglish 한국어"), ["日", "本", "語", "と", "english", "한국어"]);
        assert_eq!(all("हिन्दी"), ["हिन्दी"]);
        assert_eq!(all(" \0\u{301} … 🙂"), Vec::<String>::new());
        assert_eq!(all(&"x".repeat(100)), ["x".repeat(64)]);
    }

    proptest! {
        #[test]
        fn places_lie_in_the_text_and_folding_twice_changes_nothing(text in "\\PC{0,40}") {
            let mut last = 0;
            for word in words(&text) {
                prop_assert!(word.start >= last && word.end > word.start);
                prop_assert!(text.get(word.start..word.end).is_some());
                last = word.end;
                prop_assert_eq!(folded(&word.word), word.word);
            }
        }
    }
}
