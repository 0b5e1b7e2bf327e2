use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const HOLES: Holes<'_> = Holes { texts: &["text"], values: &["usage"] };

fn frame(text: &str, count: u64, tail: &str) -> String {
    format!(
        r#"{{"id":"a1","parts":[{{"text":{},"usage":{{"x":1}}}}],"usage":{{"n":{count},"kind":"T"}},"at":{count}{tail}}}"#,
        Value::from(text)
    )
}

fn read<'a>(learned: &str, frame: &'a str) -> Option<Option<&'a str>> {
    let (mut alike, mut value) = (Alike::default(), None);
    alike.learn(learned, HOLES);
    alike.read(frame.as_bytes(), |(), place| value = frame.get(place))?;
    Some(value)
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
        learned.replace(":7}", ":07}"),
        learned.replace("at\":7", "at\":-7"),
        format!("{learned} "),
        learned[..learned.len() - 1].to_owned(),
        String::new(),
    ] {
        assert_eq!(read(&learned, &other), None, "{other}");
    }
    assert_eq!(Alike::<()>::default().read(b"", |(), _| {}), None);
}

#[test]
fn an_index_may_not_differ() {
    let learned = r#"{"index":1,"text":"a","at":1}"#;
    assert_eq!(read(learned, r#"{"index":1,"text":"b","at":2}"#), Some(None));
    assert_eq!(read(learned, r#"{"index":2,"text":"b","at":2}"#), None);
}

#[test]
fn texts_in_the_value_are_handed_over_with_it() {
    let learned = r#"{"usage":{"n":1,"text":"a","m":[{"text":"b"},2]},"text":"c"}"#;
    for other in
        [learned, r#"{"usage":{"n":1,"text":"xyz","m":[{"text":""},2]},"text":"c"}"#, &learned.replace('2', "34")]
    {
        let value = other.strip_prefix(r#"{"usage":"#).unwrap().strip_suffix(r#","text":"c"}"#);
        assert_eq!(read(learned, other), Some(value));
    }
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

#[test]
fn only_the_parts_that_were_named_may_differ_and_those_with_a_slot_are_handed_over() {
    let learned = r#"{"id":"a","n":1,"said":"Hello","more":{"a":[1,"2"],"b":3},"at":4}"#;
    let part = |text: &str, kind, slot| {
        let start = learned.find(text).unwrap();
        Part { text: &learned[start..start + text.len()], kind, slot }
    };
    let parts = [
        part("Hello", PartKind::Text, Some("said")),
        part("a", PartKind::Plain, None),
        part("1", PartKind::Number, Some("n")),
        part(r#"{"a":[1,"2"],"b":3}"#, PartKind::Numbers, Some("more")),
    ];
    let read = |frame: &str| {
        let (mut alike, mut found) = (Alike::default(), Vec::new());
        alike.learn_parts(learned, parts);
        alike.read(frame.as_bytes(), |slot, place| found.push((slot, frame[place].to_owned())))?;
        Some(found)
    };
    let (n, said) = (("n", "20".to_owned()), ("said", r#"a\"é"#.to_owned()));
    let more = ("more", r#"{"a":[0,"2"],"b":44}"#.to_owned());
    assert_eq!(
        read(r#"{"id":"x y","n":20,"said":"a\"é","more":{"a":[0,"2"],"b":44},"at":4}"#),
        Some(vec![n, said, more])
    );
    // Equal numbers are not reported; texts and values are.
    let found = |slot, text: &str| (slot, text.to_owned());
    assert_eq!(read(learned), Some(vec![found("said", "Hello"), found("more", r#"{"a":[1,"2"],"b":3}"#)]));
    for (from, to) in [
        (r#""id":"a""#, r#""id":"\u0061""#),
        (r#""id":"a""#, "\"id\":\"\u{1}\""),
        (r#""n":1"#, r#""n":01"#),
        (r#""n":1"#, r#""n":-1"#),
        (r#""n":1"#, r#""n":1.5"#),
        (r#"[1,"2"]"#, r#"[1,"3"]"#),
        (r#""at":4"#, r#""at":5"#),
    ] {
        assert_eq!(read(&learned.replace(from, to)), None, "{to}");
    }
    // A text that is not in this frame, and a number that is not whole.
    let elsewhere = String::from("Hello");
    for (text, kind) in [(elsewhere.as_str(), PartKind::Text), (&learned[..1], PartKind::Number)] {
        let mut alike = Alike::default();
        alike.learn_parts(learned, [Part { text, kind, slot: Some(()) }]);
        assert_eq!(alike.read(learned.as_bytes(), |(), _| {}), None);
    }
}

#[test]
fn any_value_may_stand_for_another_that_is_no_less_deep() {
    let learned = r#"{"a":{"b":[1]},"said":"Hello"}"#;
    let read = |value: &str| {
        let (mut alike, mut found) = (Alike::default(), None);
        alike.learn_parts(learned, [Part { text: &learned[5..14], kind: PartKind::Value, slot: Some(()) }]);
        let frame = learned.replace(r#"{"b":[1]}"#, value);
        alike.read(frame.as_bytes(), |(), place| found = Some(frame[place].to_owned()))?;
        found
    };
    for value in [r#"{"b":[1]}"#, "null", "[]", r#"{"c":"]}\\\"","d":[2,3]}"#, "-1.5"] {
        assert_eq!(read(value).as_deref(), Some(value));
    }
    for value in ["[[[]]]", "", "[}", r#""\ud83d""#, "nul"] {
        assert_eq!(read(value), None, "{value}");
    }
}

#[test]
fn words_that_are_not_json_or_not_whole_are_left_to_the_parser() {
    for (inner, text) in [
        ("é", Some("é")),
        ("", Some("")),
        (r#"\n\"\ud83d\ude00"#, Some("\n\"😀")),
        ("\u{fffd}\\\\", Some("\u{fffd}\\")),
    ] {
        assert_eq!(words(inner).as_deref(), text, "{inner}");
    }
    for inner in ["\n", r"\x", r"\ud83d", r"\ude00", "\u{1}"] {
        assert_eq!(words(inner), None, "{inner}");
    }
}

/// Replaces the parts that may differ.
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
        // Any other frame that is recognised differs only in its texts and numbers, if it is JSON at all.
        let at = other.floor_char_boundary(at % other.len());
        let end = other.ceil_char_boundary((at + cut).min(other.len()));
        let spoiled = format!("{}{junk}{}", &other[..at], &other[end..]);
        if read(&learned, &spoiled).is_some() && let Ok(spoiled) = serde_json::from_str(&spoiled) {
            prop_assert_eq!(bare(spoiled), bare(serde_json::from_str(&learned).unwrap()));
        }
    }
}
