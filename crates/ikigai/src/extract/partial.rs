//! Incomplete JSON.

use serde_json::Value;

/// Returns the value of a JSON text that may be cut off anywhere: as much of it as is certain.
///
/// Strings are included as far as they go. A number, keyword or key at the very end is left out, as it may continue.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut scan = Scan::default();
    for (at, byte) in text.bytes().enumerate() {
        scan.take(at, byte);
    }
    let mut whole = match scan.text {
        // An unfinished string, without an unfinished escape.
        Some(Place::Value) => {
            let mut open = text.get(..scan.end_of_text(text.len()))?.to_owned();
            open.push('"');
            open
        }
        Some(Place::Key) | None => text.get(..scan.safe)?.to_owned(),
    };
    whole.extend(scan.open.iter().rev().map(|closer| char::from(*closer)));
    if whole.trim().is_empty() { None } else { serde_json::from_str(&whole).ok() }
}

/// What a string is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Key,
    Value,
}

#[derive(Default)]
struct Scan {
    /// The closing brackets of the open objects and lists, innermost last.
    open: Vec<u8>,
    /// Up to here everything is complete, except for open brackets.
    safe: usize,
    /// The string that is being read, if any.
    text: Option<Place>,
    /// In an object, the next string is a key.
    key_next: bool,
    /// A number or a keyword is being read.
    scalar: bool,
    /// Where an unfinished escape begins.
    escape: Option<usize>,
    /// Where the first of two escapes that form a surrogate pair begins.
    half: Option<usize>,
}

impl Scan {
    fn take(&mut self, at: usize, byte: u8) {
        if let Some(place) = self.text {
            return self.in_text(place, at, byte);
        }
        match byte {
            b'"' => {
                let in_object = self.open.last() == Some(&b'}');
                self.text = Some(if in_object && self.key_next { Place::Key } else { Place::Value });
            }
            b'{' | b'[' => {
                self.open.push(if byte == b'{' { b'}' } else { b']' });
                self.key_next = byte == b'{';
                self.safe = at + 1;
            }
            b'}' | b']' => {
                self.open.pop();
                self.scalar = false;
                self.key_next = false;
                self.safe = at + 1;
            }
            b',' => {
                self.end_scalar(at);
                self.key_next = self.open.last() == Some(&b'}');
            }
            b':' => self.key_next = false,
            b' ' | b'\t' | b'\r' | b'\n' => self.end_scalar(at),
            _ => self.scalar = true,
        }
    }

    /// A number or a keyword is certain only when something follows it.
    fn end_scalar(&mut self, at: usize) {
        if std::mem::take(&mut self.scalar) {
            self.safe = at;
        }
    }

    fn in_text(&mut self, place: Place, at: usize, byte: u8) {
        match self.escape {
            Some(begin) => {
                let length = at - begin;
                let is_long = length > 1 || byte == b'u';
                if !is_long {
                    (self.escape, self.half) = (None, None);
                } else if length == 5 {
                    self.escape = None;
                }
                // \uD800 to \uDBFF are the first half of a surrogate pair.
                let high = matches!(byte, b'8' | b'9' | b'a' | b'A' | b'b' | b'B');
                if length == 2 && self.half.is_none() && matches!(byte, b'd' | b'D') {
                    self.half = Some(begin);
                } else if (length == 3 && self.half == Some(begin) && !high)
                    || (length == 5 && self.half.is_some_and(|half| half < begin))
                {
                    self.half = None;
                }
            }
            None => match byte {
                b'\\' => self.escape = Some(at),
                b'"' => {
                    self.text = None;
                    self.half = None;
                    if place == Place::Value {
                        self.safe = at + 1;
                    }
                }
                _ => self.half = None,
            },
        }
    }

    /// Returns where a cut-off string ends, without an unfinished escape.
    fn end_of_text(&self, length: usize) -> usize {
        [self.half, self.escape].into_iter().flatten().min().unwrap_or(length)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_certain_is_shown() {
        for (text, value) in [
            ("", None),
            (" ", None),
            ("{", Some(json!({}))),
            (r#"{"na"#, Some(json!({}))),
            (r#"{"name""#, Some(json!({}))),
            (r#"{"name":"#, Some(json!({}))),
            (r#"{"name": "Os"#, Some(json!({"name": "Os"}))),
            (r#"{"name": "Oslo", "a"#, Some(json!({"name": "Oslo"}))),
            (r#"{"n": 12"#, Some(json!({}))),
            (r#"{"n": 12,"#, Some(json!({"n": 12}))),
            (r#"{"n": 12}"#, Some(json!({"n": 12}))),
            (r#"{"n": tru"#, Some(json!({}))),
            (r#"{"l": [1, 2, {"x": "y"#, Some(json!({"l": [1, 2, {"x": "y"}]}))),
            (r#"{"l": [1, 2"#, Some(json!({"l": [1]}))),
            (r#"{"s": "a\"#, Some(json!({"s": "a"}))),
            (r#"{"s": "a\n"#, Some(json!({"s": "a\n"}))),
            (r#"{"s": "a\u00e"#, Some(json!({"s": "a"}))),
            (r#"{"s": "a\u00e9"#, Some(json!({"s": "aé"}))),
            (r#"{"s": "a\ud83d"#, Some(json!({"s": "a"}))),
            (r#"{"s": "a\ud83d\ude0"#, Some(json!({"s": "a"}))),
            (r#"{"s": "a\ud83d\ude00"#, Some(json!({"s": "a😀"}))),
            (r#"{"s": "a\\"#, Some(json!({"s": "a\\"}))),
            (r#"{"a": {}, "b": []"#, Some(json!({"a": {}, "b": []}))),
            (r#"["a", "b"#, Some(json!(["a", "b"]))),
            (r#""tex"#, Some(json!("tex"))),
            ("no json", None),
        ] {
            assert_eq!(parse(text), value, "{text}");
        }
    }

    #[test]
    fn every_beginning_of_a_document_is_something_and_the_whole_is_the_whole() {
        let whole =
            json!({"s": "é\"\\\u{1f600}\n", "n": [-1.5e3, 0, true, null], "o": {"k}": {"d": [[], {}]}}, "z": "]"});
        for text in [whole.to_string(), serde_json::to_string_pretty(&whole).unwrap()] {
            for end in (1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert!(parse(&text[..end]).is_some_and(|value| value.is_object()), "{}", &text[..end]);
            }
            assert_eq!(parse(&text), Some(whole.clone()));
        }
    }

    #[test]
    fn nothing_makes_it_panic_or_dig_too_deep() {
        for text in ["}", "]}{", "{]", r#"{"a": "b" "c"#, "[[}", "\\\"", &"[".repeat(100_000), "{\"\\u"] {
            let _ = parse(text);
        }
    }
}
