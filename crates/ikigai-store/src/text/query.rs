//! Converts what a person types into a search to what each engine understands.

use super::words::{Word, words};
use crate::error::{Error, Result};

const MOST_WORDS: usize = 64;

/// A search: all of these, and none of those.
///
/// Words must all occur; `"several words"` must occur together; `begin*` finds words that begin with it; `-word` must
/// not occur. Anything else is text: no search is a syntax error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query {
    all: Vec<Term>,
    none: Vec<Term>,
}

/// Words that occur together.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    words: Vec<String>,
    /// Whether the last word may go on.
    open: bool,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Result<Query> {
        let mut query = Query::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (unwanted, begin) = match rest.strip_prefix('-') {
                Some(begin) => (true, begin),
                None => (false, rest),
            };
            let (term, after) = match begin.strip_prefix('"') {
                // A quote that is never closed extends to the end.
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => begin.split_once(char::is_whitespace).unwrap_or((begin, "")),
            };
            let (open, after) = match after.strip_prefix('*') {
                Some(after) => (true, after),
                None => (term.ends_with('*'), after),
            };
            let words: Vec<String> = words(term).map(|word| word.word).collect();
            if !words.is_empty() {
                let side = if unwanted { &mut query.none } else { &mut query.all };
                side.push(Term { words, open });
            }
            rest = after.trim_start();
        }
        let count: usize = query.all.iter().chain(&query.none).map(|term| term.words.len()).sum();
        if count > MOST_WORDS {
            return Err(Error::invalid(format!("the search has {count} words; at most {MOST_WORDS} can be searched")));
        }
        Ok(query)
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The query in the language of SQLite's FTS5. Words are only letters and digits, so quoting them is safe.
    #[cfg(feature = "sqlite")]
    pub(crate) fn to_fts5(&self) -> String {
        let term = |term: &Term| format!("\"{}\"{}", term.words.join(" "), if term.open { "*" } else { "" });
        let all: Vec<String> = self.all.iter().map(term).collect();
        let none: Vec<String> = self.none.iter().map(term).collect();
        match none.as_slice() {
            [] => all.join(" AND "),
            none => format!("({}) NOT ({})", all.join(" AND "), none.join(" OR ")),
        }
    }

    /// The query as a `tsquery` for PostgreSQL.
    #[cfg(feature = "postgres")]
    pub(crate) fn to_tsquery(&self) -> String {
        let term = |term: &Term| {
            let words: Vec<String> = term.words.iter().map(|word| format!("'{word}'")).collect();
            format!("({}{})", words.join(" <-> "), if term.open { ":*" } else { "" })
        };
        let all = self.all.iter().map(term);
        let none = self.none.iter().map(|unwanted| format!("!{}", term(unwanted)));
        all.chain(none).collect::<Vec<String>>().join(" & ")
    }

    /// Where the wanted words are in a text.
    pub(super) fn matches(&self, words: &[Word]) -> Vec<std::ops::Range<usize>> {
        let mut found: Vec<std::ops::Range<usize>> = Vec::new();
        for at in 0..words.len() {
            let rest = words.get(at..).unwrap_or_default();
            let longest = self.all.iter().filter(|term| term.begins(rest)).map(|term| term.words.len()).max();
            if let Some(range) = longest.and_then(|length| Some(rest.first()?.start..rest.get(length - 1)?.end)) {
                match found.last_mut() {
                    Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                    _ => found.push(range),
                }
            }
        }
        found
    }
}

impl Term {
    /// Whether the words begin with this term.
    fn begins(&self, words: &[Word]) -> bool {
        let last = self.words.len() - 1;
        words.len() > last
            && self.words.iter().zip(words).enumerate().all(|(at, (wanted, word))| {
                word.word == *wanted || (self.open && at == last && word.word.starts_with(wanted.as_str()))
            })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;
    use crate::ErrorKind;

    #[cfg(all(feature = "sqlite", feature = "postgres"))]
    #[test]
    fn queries_in_both_languages() {
        let table = [
            ("", "", ""),
            ("  \t", "", ""),
            ("Hello", r#""hello""#, "('hello')"),
            ("Été à", r#""ete" AND "a""#, "('ete') & ('a')"),
            ("\"two words\"", r#""two words""#, "('two' <-> 'words')"),
            ("gpt-5.4", r#""gpt 5 4""#, "('gpt' <-> '5' <-> '4')"),
            ("sea* \"a b\"*", r#""sea"* AND "a b"*"#, "('sea':*) & ('a' <-> 'b':*)"),
            ("cat -dog -\"a b\"", r#"("cat") NOT ("dog" OR "a b")"#, "('cat') & !('dog') & !('a' <-> 'b')"),
            ("\"open", r#""open""#, "('open')"),
            ("' OR 1=1; -- \\ \" )", r#""or" AND "1 1""#, "('or') & ('1' <-> '1')"),
            ("日本", r#""日 本""#, "('日' <-> '本')"),
            ("* - \"\" -- !", "", ""),
        ];
        for (text, fts5, tsquery) in table {
            let query = Query::parse(text).unwrap();
            assert_eq!((query.to_fts5(), query.to_tsquery()), (fts5.to_owned(), tsquery.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_search_has_a_longest_form() {
        let error = Query::parse(&"a ".repeat(65)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.to_string(), "the search has 65 words; at most 64 can be searched");
        assert!(Query::parse("-only -these").unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_a_search(text in "\\PC{0,60}|[ab\"*-]{0,20}") {
            prop_assert!(Query::parse(&text).is_ok());
        }
    }
}
