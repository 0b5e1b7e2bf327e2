use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const HOLES: Holes<'_> = Holes { texts: &["text"], value: "usage" };

fn frame(text: &str, count: u64, tail: &str) -> String {
    format!(
        r#"{{"id":"a1","parts":[{{"text":{},"usage":{{"x":1}}}}],"usage":{{"n":{count},"kind":"T"}},"at":{count}{tail}}}"#,
        Value::from(text)
    )
}

fn read<'a>(learned: &str, frame: &'a str) -> Option<Option<&'a str>> {
    let mut alike = Alike::default();
    alike.learn(learned, HOLES);
    alike.read(frame.as_bytes()).map(|value| value.map(|value| std::str::from_utf8(value).unwrap()))
}

#[test]
fn only_texts_and_numbers_may_differ() {
    let learned = frame("Hello", 7, "");
    assert_eq!(read(&learned, &frame("\" \\ \u{1f600}\n", 1234, "")), Some(Some(r#"{"n":1234,"kind":"T"}"#)));
    for other in [
        frame("Hello", 7, ",\"more\":1"),
        learned.replace("a1", "b1"),
        learned.replace("\"T\"", "\"U\""),
        learned.replace("\"text\":\"Hello\"", "\"text\":null"),
        learned.replace(":7}", ":}"),
        learned.replace("at\":7", "at\":-7"),
        format!("{learned} "),
        learned[..learned.len() - 1].to_owned(),
        String::new(),
    ] {
        assert_eq!(read(&learned, &other), None, "{other}");
    }
    assert_eq!(Alike::default().read(b""), None);
}

#[test]
fn frames_without_the_value_have_none_and_large_ones_are_not_remembered() {
    assert_eq!(read(r#"{"text":"a","usage":null}"#, r#"{"text":"bc","usage":null}"#), Some(None));
    let many = format!("[{}]", vec!["1"; MOST_HOLES + 1].join(","));
    assert_eq!(read(&many, &many), None);
    let long = format!("\"{}\"", "x".repeat(LONGEST));
    assert_eq!(read(&long, &long), None);
    for broken in ["{\"text\":\"", "]", "{\"usage\":{\"a\":[}}"] {
        assert_eq!(read(broken, broken), None, "{broken}");
    }
}

/// Blanks out what may differ.
fn bare(mut frame: Value) -> Value {
    fn walk(value: &mut Value, key: &str) {
        match value {
            Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| walk(value, &key.clone())),
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, key)),
            Value::String(_) if key == "text" => *value = json!("text"),
            Value::Number(_) => *value = json!(0),
            _ => {}
        }
    }
    walk(&mut frame, "");
    frame
}

proptest! {
    #[test]
    fn what_is_alike_differs_in_nothing_else(
        text in any::<String>(), count in any::<u64>(), at in any::<usize>(), junk in "[\"{}:,0-9a-z\\\\]{0,3}", cut in 0..3_usize,
    ) {
        let (learned, other) = (frame("Hello", 7, ""), frame(&text, count, ""));
        let value = read(&learned, &other).flatten().unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(value).unwrap(), json!({"n": count, "kind": "T"}));
        // Whatever else is taken for alike is the same but for its texts and numbers, if it is JSON at all.
        let at = other.floor_char_boundary(at % other.len());
        let end = other.ceil_char_boundary((at + cut).min(other.len()));
        let spoiled = format!("{}{junk}{}", &other[..at], &other[end..]);
        if read(&learned, &spoiled).is_some() && let Ok(spoiled) = serde_json::from_str(&spoiled) {
            prop_assert_eq!(bare(spoiled), bare(serde_json::from_str(&learned).unwrap()));
        }
    }
}
