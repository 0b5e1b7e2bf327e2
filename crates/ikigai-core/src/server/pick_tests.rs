use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Enters `in`, keeps `keep`, has enough at `"stop"`, and records everything that is reported.
#[derive(Debug, Default)]
struct Log(Vec<String>);

impl Picks for Log {
    type Place = u8;
    type Slot = u8;

    fn root(&self) -> u8 {
        0
    }

    fn open(&mut self, place: u8, shape: Shape) {
        self.0.push(format!("open {place} {shape:?}"));
    }

    fn scalar(&mut self, place: u8) -> Option<u8> {
        self.0.push(format!("open {place} Scalar"));
        None
    }

    fn close(&mut self, shape: Shape) {
        if shape == Shape::Object {
            self.0.push("close".to_owned());
        }
    }

    fn field(&self, place: u8, key: &str) -> Take<u8, u8> {
        match key {
            "in" => Take::Enter(place + 1),
            "keep" => Take::Keep(place),
            _ => Take::Skip,
        }
    }

    fn value(&mut self, slot: u8, json: &str) -> Flow {
        self.0.push(format!("keep {slot} {json}"));
        if json == "\"stop\"" { Flow::Enough } else { Flow::GoOn }
    }

    fn large(&mut self, slot: u8) {
        self.0.push(format!("large {slot}"));
    }
}

/// Returns what is reported about a document that arrives in pieces, and whether its end was reached.
fn told<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, bool) {
    let (mut picker, mut log) = (Picker::new(), Log::default());
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            let taken = match picker.feed(rest, &mut log) {
                Fed::All => rest.len(),
                Fed::Closed(taken) => {
                    log.0.push("closed".to_owned());
                    taken
                }
                Fed::Enough(taken) => {
                    log.0.push("enough".to_owned());
                    taken
                }
                Fed::Broken => {
                    log.0.push("broken".to_owned());
                    return (log.0, false);
                }
            };
            rest = &rest[taken..];
        }
    }
    (log.0, !picker.is_open())
}

fn lines(document: &str) -> Vec<String> {
    told([document.as_bytes()]).0
}

#[test]
fn values_are_picked_by_their_path() {
    let document = r#" [{"a":{"keep":1},"keep":"x\"]","in":[1,"s",{"k\u0065ep":[{"}":"{"}]},[{"keep":2}],{}],"in":null}
        , {"keep" : -1.5e3 }]"#;
    let expected = [
        "open 0 Object",
        r#"keep 0 "x\"]""#,
        "open 1 List",
        "open 1 Object",
        r#"keep 1 [{"}":"{"}]"#,
        "close",
        "open 1 Object",
        "close",
        "open 1 Scalar",
        "close",
        "closed",
        "open 0 Object",
        "keep 0 -1.5e3",
        "close",
        "closed",
    ];
    assert_eq!(lines(document), expected);
}

#[test]
fn what_follows_enough_is_stepped_over() {
    let document = r#"{"in":{"keep":"stop","in":{"keep":1}},"keep":"}"} {"keep":2}"#;
    let expected = [
        "open 0 Object",
        "open 1 Object",
        "keep 1 \"stop\"",
        "enough",
        "closed",
        "open 0 Object",
        "keep 0 2",
        "close",
        "closed",
    ];
    assert_eq!(lines(document), expected);
}

#[test]
fn what_is_not_json_is_broken_and_what_is_too_large_is_not_held() {
    for document in ["x", "{x", "{\"a\" 1}", "{\"a\":x}", "{]", "{} x"] {
        assert_eq!(lines(document).last().map(String::as_str), Some("broken"), "{document}");
    }
    let large = "x".repeat(LARGEST);
    let document = format!(r#"{{"keep":"{large}","{large}":1,"keep":1}}"#);
    let expected = ["open 0 Object", "large 0", "keep 0 1", "close", "closed"];
    assert_eq!(lines(&document), expected);
    assert_eq!(told(document.as_bytes().chunks(100)).0, expected);
    // Deeper than the picker enters, and deep enough to exhaust any stack.
    let deep = format!("{}{}", "{\"in\":".repeat(100_000), "1");
    let (lines, is_over) = told([deep.as_bytes()]);
    assert_eq!((lines.len(), is_over), (DEEPEST + 1, false));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[\\\\\"{}\\[\\],:a\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        let key = prop::sample::select(&["in", "keep", "x", "a\"b\\"][..]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The parts of documents, including those that matter to the reader.
const TOKENS: &[&str] = &["{", "}", "[", "]", "\"", "\\", ",", ":", " ", "1", "\"in\":", "\"keep\":", "\"stop\""];

/// Produces the same with a parser.
fn parsed(value: &Value, place: u8, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            out.push(format!("open {place} Object"));
            for (key, value) in fields {
                match key.as_str() {
                    "in" => parsed(value, place + 1, out),
                    "keep" => out.push(format!("keep {place} {value}")),
                    _ => {}
                }
            }
            out.push("close".to_owned());
        }
        Value::Array(items) => {
            out.push(format!("open {place} List"));
            items.iter().filter(|item| item.is_object()).for_each(|item| parsed(item, place, out));
        }
        _ => out.push(format!("open {place} Scalar")),
    }
}

proptest! {
    #[test]
    fn what_is_picked_is_what_a_parser_finds(inner in value(), size in 1..40_usize) {
        let document = json!({"in": inner, "x": 1});
        let text = document.to_string();
        let mut expected = Vec::new();
        parsed(&document, 0, &mut expected);
        expected.push("closed".to_owned());
        prop_assert_eq!(lines(&text), expected.clone());
        prop_assert_eq!(told(text.as_bytes().chunks(size)).0, expected);
    }

    #[test]
    fn cuts_do_not_matter_for_any_bytes(bytes in prop::collection::vec(prop_oneof![
        8 => prop::sample::select(TOKENS).prop_map(|token| token.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ], 0..30).prop_map(|parts| parts.concat()), size in 1..9_usize) {
        let document = [b"{\"in\":", bytes.as_slice()].concat();
        prop_assert_eq!(told(document.chunks(size)), told([document.as_slice()]));
    }
}
