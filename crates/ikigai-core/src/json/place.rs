//! Finds where in a JSON text a fault is: `messages[3].content`.
//!
//! The parser reports a line and a column. The path is found by walking over the text once more, which is only done for
//! a fault. (Tracking the path while reading would mean compiling every wire struct twice.)

use std::fmt::Write as _;

use super::scan::end_of_string;

/// A step down into the document.
enum Step {
    /// Into an object, to the value of a key; `None` between two values.
    Key(Option<String>),
    /// Into a list, to an element.
    Element(usize),
}

/// Returns the path to the value that a parser was reading at a line and a column, both from 1; empty for the document.
pub(super) fn path_at(bytes: &[u8], line: usize, column: usize) -> String {
    let before: usize =
        bytes.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let end = before.saturating_add(column).min(bytes.len());
    let mut steps: Vec<Step> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).filter(|_| at < end) {
        match byte {
            b'"' => {
                let behind = end_of_string(bytes, at + 1);
                // A fault of the key itself, such as a duplicate, is a fault of the object.
                if let Some(Step::Key(key @ None)) = steps.last_mut().filter(|_| behind < end) {
                    let text = bytes.get(at + 1..behind.saturating_sub(1)).unwrap_or_default();
                    *key = Some(String::from_utf8_lossy(text).into_owned());
                }
                at = behind;
                continue;
            }
            // The parser stops before a bracket that it did not expect: the value is the list or the object itself.
            b'{' if at + 1 < end => steps.push(Step::Key(None)),
            b'[' if at + 1 < end => steps.push(Step::Element(0)),
            b'}' | b']' => drop(steps.pop()),
            b',' => match steps.last_mut() {
                Some(Step::Key(key)) => *key = None,
                Some(Step::Element(number)) => *number += 1,
                None => {}
            },
            _ => {}
        }
        at += 1;
    }
    let mut path = String::new();
    for step in &steps {
        // Writing to a String cannot fail.
        let _ = match step {
            Step::Key(Some(key)) if path.is_empty() => write!(path, "{key}"),
            Step::Key(Some(key)) => write!(path, ".{key}"),
            Step::Key(None) => Ok(()),
            Step::Element(number) => write!(path, "[{number}]"),
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the faults of reading it are looked at")]
    struct Document {
        #[serde(default)]
        list: Vec<Item>,
        #[serde(default)]
        map: std::collections::BTreeMap<String, Vec<u8>>,
        #[serde(default)]
        number: u8,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the faults of reading it are looked at")]
    struct Item {
        name: String,
        #[serde(default)]
        parts: Vec<Item>,
    }

    /// Returns the path according to the crate that tracks it while reading.
    fn tracked(text: &str) -> String {
        let mut document = serde_json::Deserializer::from_str(text);
        let fault = serde_path_to_error::deserialize::<_, Document>(&mut document).unwrap_err();
        let path = fault.path().to_string();
        if path == "." { String::new() } else { path }
    }

    #[test]
    fn the_path_is_the_one_that_a_tracking_reader_finds() {
        for text in [
            r#"{"number": "x"}"#,
            r#"{"number": 300}"#,
            r#"{"number": -1, "list": []}"#,
            r#"{"number": {"a": [1, 2]}}"#,
            r#"{"number": [1]}"#,
            r#"{"list": 7}"#,
            r#"{"list": {"a": 1}}"#,
            r#"{"list": [{"name": "a"}, {"name": 5}]}"#,
            r#"{"list": [{"name": "a, \"}] b", "parts": [{"name": "b"}, 7]}]}"#,
            "{\n \"list\": [\n  {\"name\": \"a\"},\n  {\"name\": \"b\", \"parts\": [{\"name\": null}]}\n ]\n}",
            r#"{"list": [{"name": "a", "parts": [{"nam": "b"}]}]}"#,
            r#"{"list": [{}]}"#,
            r#"{"list": [{"name": "a", "name": "b"}]}"#,
            r#"{"list": [null]}"#,
            r#"{"map": {"a": [1, 2], "b": [3, true]}}"#,
            r#"{"map": {"a": [1, 2], "b": "c"}}"#,
            r#"{"list": ["a:", {"name": "x"}]}"#,
            r#"7"#,
        ] {
            let fault = serde_json::from_str::<Document>(text).unwrap_err();
            assert_eq!(path_at(text.as_bytes(), fault.line(), fault.column()), tracked(text), "{text}: {fault}");
        }
    }

    #[test]
    fn no_text_and_no_place_make_it_panic() {
        let text = r#"{"a": [1, {"b\"": "c\\"}], "é": "#;
        for length in 0..=text.len() {
            for column in [0, 1, length, usize::MAX] {
                for line in [0, 1, 2, usize::MAX] {
                    path_at(&text.as_bytes()[..length], line, column);
                }
            }
        }
        assert_eq!(path_at(text.as_bytes(), 1, text.len()), "é");
    }
}
