use std::collections::BTreeMap;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;
use crate::json::text_or_raw::TextOrRaw;

const UNBOUNDED: usize = usize::MAX;

/// What serde_json reads, if it can.
fn expected<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    serde_json::from_str(text).ok()
}

fn found<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    read(text, UNBOUNDED).ok()
}

/// Reads a text as each kind of thing that wire structs consist of, and compares.
fn compare(text: &str) {
    assert_eq!(found::<Value>(text), expected::<Value>(text), "as a value: {text}");
    let raw = |raw: Option<&RawValue>| raw.map(|raw| raw.get().to_owned());
    assert_eq!(raw(found(text)), raw(expected(text)), "as raw text: {text}");
    assert_eq!(found::<String>(text), expected::<String>(text), "as a string: {text}");
    let either = |read: Option<TextOrRaw<'_>>| format!("{read:?}");
    assert_eq!(either(found(text)), either(expected(text)), "as a text or anything else: {text}");
    assert_eq!(found::<Option<u64>>(text), expected::<Option<u64>>(text), "as a number or null: {text}");
    assert_eq!(found::<f64>(text).map(f64::to_bits), expected::<f64>(text).map(f64::to_bits), "as a float: {text}");
    let fields = |fields: Option<BTreeMap<String, &RawValue>>| {
        fields.map(|fields| fields.into_iter().map(|(name, raw)| (name, raw.get().to_owned())).collect::<Vec<_>>())
    };
    assert_eq!(fields(found(text)), fields(expected(text)), "as an object: {text}");
    assert_eq!(found::<Vec<Value>>(text), expected::<Vec<Value>>(text), "as a list: {text}");
}

#[test]
fn reads_what_serde_json_reads_and_refuses_what_it_refuses() {
    let texts = [
        "",
        " ",
        "null",
        " null ",
        "nul",
        "nulll",
        "true",
        "false",
        "tru",
        "True",
        "0",
        "-0",
        "-",
        "00",
        "01",
        "1.",
        ".1",
        "1.5",
        "1e5",
        "1E+5",
        "1e-5",
        "1e",
        "1e+",
        "1e400",
        "-1e400",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "1.0",
        "0.1e1",
        "+1",
        "0x1",
        "1 2",
        "\"\"",
        "\"a\"",
        "\"a",
        "\"a\\\"b\"",
        "\"\\u00e9\\n\\t\\/\\b\\f\\r\\\\\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "\"\\ud83d\\ude00\"",
        "\"\u{7f}é😀\"",
        "\"a\nb\"",
        "\"a\u{0}b\"",
        "\"\u{1f}\"",
        "\"12345678\"",
        "\"1234567\\\"\"",
        "[]",
        "[ ]",
        "[,]",
        "[1,]",
        "[1,2]",
        "[1 2]",
        "[1",
        "[[[]]]",
        "[}",
        "{}",
        "{ }",
        "{\"a\":1}",
        "{\"a\" : 1 , \"b\" : [ ] }",
        "{\"a\":1,}",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1 \"b\":2}",
        "{a:1}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":{\"b\":[{\"c\":null}]}}",
        "{\"a\":[}",
        "{\"a\":]}",
        "{\"\\u0061\":1}",
        "\u{feff}1",
        "[\"a\",\"b\\n\",1.50,true,null,{}]",
        "\t\r\n[1]\n",
        "{\"a\\\"\":\"b\\\\\"}",
        "{\"\":\"\"}",
        "{\"a\":\"\\ud83d\"}",
    ];
    for text in texts {
        compare(text);
    }
    // Half a pair is not text; as raw text it passes.
    for half in ["\"\\ud83d\"", "\"\\ude00\\ud83d\"", "\"\\ud83d\\u0041\""] {
        assert!(found::<String>(half).is_none());
        assert_eq!(found::<&RawValue>(half).map(RawValue::get), Some(half));
    }
}

/// A derived struct with features that wire structs do not have.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Thing {
    name: Option<String>,
    count: u8,
    list: Vec<Thing>,
    kind: Option<Kind>,
    counts: BTreeMap<u32, bool>,
    large: Option<i128>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Kind {
    Plain,
    New(u8),
    Pair(u8, u8),
    Fields { a: u8 },
}

#[test]
fn what_a_caller_asks_for_is_read_as_serde_json_reads_it() {
    for text in [
        r#"{"kind": "Plain", "counts": {"7": true, "8": false}}"#,
        r#"{"kind": {"New": 3}, "list": [{"kind": {"Pair": [1, 2]}}, {"kind": {"Fields": {"a": 1}}}]}"#,
        r#"{"kind": null, "large": 170141183460469231731687303715884105727}"#,
        r#"{"large": -18446744073709551616}"#,
        r#"["n", 1, [], null, {}, null]"#,
    ] {
        assert_eq!(read::<Thing>(text, UNBOUNDED).unwrap(), serde_json::from_str(text).unwrap(), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_told_as_serde_json_tells_it() {
    for text in [
        "",
        "7",
        "\"x\"",
        "[",
        "{\"name\": 5}",
        "{\"name\": true}",
        "{\"name\": [1]}",
        "{\"name\": {\"a\": 1}}",
        "{\"name\": 1.5, \"count\": 1}",
        "{\"count\": 300}",
        "{\"count\": -1}",
        "{\"count\": \"1\"}",
        "{\"count\": null}",
        "{\"count\": 1e400}",
        "{\"count\": 1, \"count\": 2}",
        "{\"list\": 7}",
        "{\"list\": [{\"name\": \"a\"}, 7]}",
        "{\n \"list\": [\n  {\"name\": \"a\"},\n  {\"name\": false}\n ]\n}",
        "{\"list\": [{\"count\": \"x\"}, {\"count\": \"y\"}], ]",
        "{\"kind\": \"Other\"}",
        "{\"kind\": {\"New\": \"x\"}}",
        "{\"kind\": [1]}",
        "{\"name\": \"a\\ud83d\"}",
        "{\"name\": \"a\"} x",
        "{\"name\": \"a\",}",
        "{\"name\": nul}",
    ] {
        let told = read::<Thing>(text, UNBOUNDED).unwrap_err().explain(text).to_string();
        assert_eq!(told, serde_json::from_str::<Thing>(text).unwrap_err().to_string(), "{text}");
    }
}

#[test]
fn depth_is_bounded_in_structs_and_in_raw_text() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(read::<&RawValue>(&nested(5), 5).is_ok());
    assert!(read::<&RawValue>(&nested(6), 5).is_err());
    assert!(read::<Vec<&RawValue>>(&nested(5), 5).is_ok());
    assert!(read::<Vec<&RawValue>>(&nested(6), 5).is_err());
    assert!(read::<Value>(&nested(127), UNBOUNDED).is_ok());
    assert!(read::<Value>(&nested(1_000_000), UNBOUNDED).is_err());
    assert!(read::<&RawValue>(&nested(1_000_000), UNBOUNDED).is_ok());
    // Levels next to each other do not add up.
    assert!(read::<&RawValue>("[[],[[]],{\"a\":[]}]", 3).is_ok());
}

#[test]
fn known_json_becomes_a_raw_value_as_it_is() {
    for text in ["{}", "\"a\"", "[1, 2.50]"] {
        assert_eq!(known(text.to_owned()).get(), text);
    }
}

/// JSON, and text that is almost JSON.
fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        any::<f64>().prop_map(|number| serde_json::to_string(&number).unwrap()),
        any::<i64>().prop_map(|number| number.to_string()),
        "[-+]?[0-9]{1,25}(\\.[0-9]{0,4})?([eE][-+]?[0-9]{0,3})?",
        "\"[ -~]{0,20}\"",
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let blank = prop_oneof![4 => Just(""), 1 => Just(" "), 1 => Just("\n\t")];
        let list = (prop::collection::vec(inner.clone(), 0..6), blank.clone())
            .prop_map(|(items, blank)| format!("[{blank}{}{blank}]", items.join(&format!("{blank},{blank}"))));
        let object = (prop::collection::vec((any::<String>(), inner), 0..6), blank).prop_map(|(fields, blank)| {
            let fields: Vec<String> = fields
                .into_iter()
                .map(|(name, value)| format!("{}{blank}:{blank}{value}", serde_json::to_string(&name).unwrap()))
                .collect();
            format!("{{{blank}{}}}", fields.join(&format!("{blank},")))
        });
        prop_oneof![list, object]
    })
}

proptest! {
    #[test]
    fn any_json_reads_as_serde_json_reads_it(text in texts()) {
        compare(&text);
    }

    #[test]
    fn a_byte_more_or_less_changes_nothing_about_that(text in texts(), at in any::<prop::sample::Index>(), other in "[ -~]?") {
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        if !places.is_empty() {
            let place = places[at.index(places.len())];
            let length = text[place..].chars().next().map_or(0, char::len_utf8);
            compare(&format!("{}{other}{}", &text[..place], &text[place + length..]));
        }
    }
}
