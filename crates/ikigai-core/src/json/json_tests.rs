use super::scan::Excess;
use super::wire::{Raw, Text, read};
use super::*;
use proptest::prelude::*;
use serde_json::json;

wire! {
    struct Sample<'a> {
        role "role": Text<'a>,
        many "many" | "several": Vec<Text<'a>>,
        number "number": Raw<'a>,
    }

    struct Remembering<'a> [names] {
        one "oneThing" | "one_thing": Text<'a>,
        two "twoThings" | "two_things": Text<'a>,
    }
}

#[test]
fn a_wire_struct_with_names_writes_those_that_it_read() {
    for text in [
        r#"{"one_thing":"a","twoThings":"b"}"#,
        r#"{"oneThing":"a","two_things":"b"}"#,
        r#"{"oneThing":"a","two_things":null}"#,
    ] {
        let sample: Remembering<'_> = read(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&sample).unwrap(), text);
    }
    let twice = r#"{"oneThing":"a","one_thing":"b"}"#;
    assert!(read::<Remembering<'_>>(twice.as_bytes()).is_err());
}

#[test]
fn a_wire_struct_writes_back_what_it_read() {
    let text = r#"{"role":"user","many":["a\n","b"],"number":1.10,"x":{"b":1e400,"a":[]},"none":null,"x":2}"#;
    let sample: Sample<'_> = read(text.as_bytes()).unwrap();
    assert_eq!(sample.role.as_ref().unwrap().as_str(), "user");
    assert_eq!(sample.rest.len(), 3);
    assert_eq!(serde_json::to_string(&sample).unwrap(), text);
}

#[test]
fn a_known_field_that_is_null_is_absent_and_comes_back() {
    let sample: Sample<'_> = read(br#"{"role":null}"#).unwrap();
    assert!(sample.role.is_none());
    assert_eq!(serde_json::to_string(&sample).unwrap(), r#"{"role":null}"#);
    let filled = Sample { role: Some("user".into()), ..sample };
    assert_eq!(serde_json::to_string(&filled).unwrap(), r#"{"role":"user"}"#);
}

#[test]
fn another_name_is_read_and_a_field_that_stands_twice_is_an_error() {
    let sample: Sample<'_> = read(br#"{"several":["a"]}"#).unwrap();
    assert_eq!(serde_json::to_string(&sample).unwrap(), r#"{"many":["a"]}"#);
    let twice = read::<Sample<'_>>(br#"{"role":"a","role":"b"}"#).unwrap_err();
    assert_eq!(twice, "duplicate field `role` at line 1 column 18");
    let wrong = read::<Sample<'_>>(br#"{"many":["a", 5]}"#).unwrap_err();
    assert_eq!(wrong, "many[1]: invalid type: integer `5`, expected a string at line 1 column 15");
}

#[test]
fn json_keeps_its_text_also_through_serde() {
    let text = r#"{"big": 123456789012345678901234567890, "n": 1.10, "a": 1, "a": 2}"#;
    let json: Json = serde_json::from_str(text).unwrap();
    assert_eq!((json.text(), serde_json::to_string(&json).unwrap().as_str()), (text, text));
    let list: Vec<Json> = serde_json::from_str(&format!("[{text}]")).unwrap();
    assert_eq!(list[0].text(), text);
    // Read from a value, or from serde's own buffer, it keeps its meaning.
    assert_eq!(serde_json::from_value::<Json>(json!({"a": [1]})).unwrap().text(), r#"{"a":[1]}"#);
    #[derive(Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        One { data: Json },
    }
    let Tagged::One { data } = serde_json::from_str(r#"{"type":"One","data":{"b":1,"a":[null,"x"]}}"#).unwrap();
    assert_eq!(data.text(), r#"{"b":1,"a":[null,"x"]}"#);
}

#[test]
fn one_value_stands_on_one_line() {
    let json = Json::parse("{\r\n  \"a\": [\n    1,\n    \"x\\n  y\"\n  ]\n}").unwrap();
    assert_eq!(json.text(), r#"{"a":[1,"x\n  y"]}"#);
}

#[test]
fn a_number_beyond_all_numbers_is_carried() {
    let json = Json::parse("[1e400]").unwrap();
    assert_eq!((json.text(), json.value()), ("[1e400]", &Value::Null));
    assert_ne!(json, Json::parse("[1e401]").unwrap());
    let arguments = Arguments::from_text(r#"{"n":1e400}"#);
    assert!(arguments.is_complete() && arguments.object().is_empty());
}

#[test]
fn arguments_keep_the_text_of_the_model() {
    for (text, complete) in
        [("{}", true), ("", true), (" null ", true), (r#"{"a": 1}"#, true), ("{\"a", false), ("[]", false)]
    {
        let arguments = Arguments::from_text(text);
        assert_eq!(arguments.is_complete(), complete, "{text}");
        let written = serde_json::to_string(&arguments).unwrap();
        assert_eq!(serde_json::from_str::<Arguments>(&written).unwrap().text(), text, "{written}");
    }
    let plain = Arguments::from_text(r#"{"b":1,"a":"x"}"#);
    assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"arguments":{"b":1,"a":"x"}}"#);
}

#[test]
fn depth_is_counted_outside_of_strings() {
    const MANY: usize = usize::MAX;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(check_shape(deep.as_bytes(), 200, MANY), Ok(200));
    assert_eq!(check_shape(deep.as_bytes(), 199, MANY), Err(Excess::Depth(199)));
    let wide = format!("[{}0]", "[],".repeat(500));
    assert_eq!(check_shape(wide.as_bytes(), 2, MANY), Ok(1001));
    let quoted = format!(r#"["{}\"{}"]"#, "[".repeat(500), "[".repeat(500));
    assert_eq!(check_shape(quoted.as_bytes(), 1, MANY), Ok(1));
}

#[test]
fn values_are_counted_outside_of_strings() {
    let text = r#"{"a":[1,2,"x,y"],"b":{"c":","}}"#;
    assert_eq!(check_shape(text.as_bytes(), 9, 6), Ok(6));
    assert_eq!(check_shape(text.as_bytes(), 9, 5), Err(Excess::Values(21)));
}

proptest! {
    #[test]
    fn no_bytes_break_the_scan(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = check_shape(&bytes, 3, 5);
    }
}

#[test]
fn the_order_of_fields_is_kept_and_means_nothing() {
    let read = |text: &str| serde_json::from_str::<Fields>(text).unwrap();
    let fields = read(r#"{"b":1,"a":[2]}"#);
    assert_eq!(serde_json::to_string(&fields).unwrap(), r#"{"b":1,"a":[2]}"#);
    assert_eq!(fields, read(r#"{"a":[2],"b":1}"#));
    // If a name appears twice, the last value counts.
    assert_eq!(read(r#"{"a":1,"b":0,"a":2}"#), read(r#"{"b":0,"a":1,"a":2}"#));
    for other in [r#"{"a":[2]}"#, r#"{"a":[2],"b":2}"#, r#"{"a":[2],"c":1}"#, r#"{"a":[2],"b":1,"b":1}"#] {
        assert_ne!(fields, read(other), "{other}");
    }
    assert_ne!(read(r#"{"a":1,"a":2}"#), read(r#"{"a":2,"a":1}"#));
    let data = |text: &str| serde_json::from_str::<crate::ProviderData>(text).unwrap();
    assert_eq!(data(r#"{"gemini":{"x":1},"anthropic":{"y":2}}"#), data(r#"{"anthropic":{"y":2},"gemini":{"x":1}}"#));
    assert_ne!(data(r#"{"gemini":{"x":1},"anthropic":{"y":2}}"#), data(r#"{"anthropic":{"y":2}}"#));
}

/// An error about a block or an event names it.
#[test]
fn a_block_that_cannot_be_read_says_why() {
    let block = |text: &str| serde_json::from_str::<crate::Block>(text).unwrap_err().to_string();
    let event = |text: &str| serde_json::from_str::<crate::Event>(text).unwrap_err().to_string();
    for (found, expected) in [
        (block("[]"), "invalid type: sequence, expected a content block"),
        (block(r#"{"text":"a"}"#), "missing field `type`"),
        (block(r#"{"type":"shout","text":"a"}"#), "unknown variant `shout`, expected one of `text`"),
        (block(r#"{"type":"text"}"#), "missing field `text`"),
        (block(r#"{"text":1,"type":"text"}"#), "invalid type: integer `1`, expected a string"),
        (block(r#"{"type":"text","text":"a","type":"text"}"#), "duplicate field `type`"),
        (
            block(r#"{"type":"tool_call","id":"c","name":"f","arguments":[]}"#),
            "arguments of a call have to be an object",
        ),
        (event(r#"{"index":0}"#), "missing field `type`"),
        (event(r#"{"type":"text_delta","index":0}"#), "missing field `text`"),
        (event(r#"{"type":"tool_call_delta","index":0,"arguments":{}}"#), "invalid type: map, expected a string"),
        (event(r#"{"type":"shout"}"#), "unknown variant `shout`, expected one of `start`"),
    ] {
        assert!(found.contains(expected), "{found}");
    }
}
