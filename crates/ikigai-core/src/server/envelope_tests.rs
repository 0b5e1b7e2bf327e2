use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn error(body: &str) -> String {
    Envelope::read(body.as_bytes()).unwrap_err().to_string()
}

fn edited(body: &str, edits: &[(&str, Edit<'_>)]) -> String {
    String::from_utf8(Envelope::read(body.as_bytes()).unwrap().with(edits)).unwrap()
}

#[test]
fn values_are_found_by_their_keys() {
    let body = br#" {"model":"a\"\\","stream" : true,"n":[{"model":"x","q":"]}\""}], "max_tokens":64,"mod\u0065":null,
        "t":1.50e+1,"e":"","o":{}} "#;
    let envelope = Envelope::read(body).unwrap();
    assert_eq!(envelope.model().as_deref(), Some("a\"\\"));
    assert_eq!(envelope.stream(), Some(true));
    assert_eq!(envelope.number("max_tokens"), Some(64));
    assert_eq!(envelope.get("n"), Some(&br#"[{"model":"x","q":"]}\""}]"#[..]));
    assert_eq!(envelope.get("mode"), Some(&b"null"[..]));
    assert_eq!(envelope.get("t"), Some(&b"1.50e+1"[..]));
    assert_eq!(envelope.text("e").as_deref(), Some(""));
    assert_eq!((envelope.text("t"), envelope.flag("mode"), envelope.number("t")), (None, None, None));
    assert_eq!(envelope.get("x"), None);
    let keys: Vec<&str> = envelope.keys().collect();
    assert_eq!(keys, ["model", "stream", "n", "max_tokens", "mode", "t", "e", "o"]);
}

#[test]
fn errors_name_the_place() {
    for (body, expected) in [
        ("", "expected a JSON object at byte 0 of the body"),
        ("  [1]", "expected a JSON object at byte 2 of the body"),
        ("{", "the body ends too early, at byte 1, inside what begins at byte 0"),
        (" {\"a\"", "the body ends too early, at byte 5, inside what begins at byte 1"),
        ("{\"a\": \"bc", "the body ends too early, at byte 9, inside what begins at byte 6"),
        ("{\"a\": [1, {}", "the body ends too early, at byte 12, inside what begins at byte 6"),
        ("{\"a", "the body ends too early, at byte 3, inside what begins at byte 1"),
        ("{\"a\":1", "the body ends too early, at byte 6, inside what begins at byte 0"),
        ("{\"a\":1,}", "expected a key in quotation marks at byte 7 of the body"),
        ("{a:1}", "expected a key in quotation marks at byte 1 of the body"),
        ("{\"a\" 1}", "expected `:` at byte 5 of the body"),
        ("{\"a\":}", "expected a JSON value at byte 5 of the body"),
        ("{\"a\":nul}", "expected a JSON value at byte 5 of the body"),
        ("{\"a\":01}", "expected a JSON value at byte 5 of the body"),
        ("{\"a\":1.}", "expected a JSON value at byte 5 of the body"),
        ("{\"a\":-}", "expected a JSON value at byte 5 of the body"),
        ("{\"a\":1e}", "expected a JSON value at byte 5 of the body"),
        ("{\"a\":[1}}", "expected the bracket that is open at byte 7 of the body"),
        ("{\"a\":1 2}", "expected `,` or `}` at byte 7 of the body"),
        ("{\"a\\x\":1}", "expected a valid key at byte 1 of the body"),
        ("{\"a\nb\":1}", "expected a valid key at byte 1 of the body"),
        ("{} {}", "expected nothing more at byte 3 of the body"),
        ("{\"a\":1}x", "expected nothing more at byte 7 of the body"),
        ("{\"model\":\"a\", \"m\\u006fdel\":\"b\"}", "`model` appears twice in the body, at byte 1 and at byte 14"),
        ("{\"stream\":true,\"stream\":true}", "`stream` appears twice in the body, at byte 1 and at byte 15"),
    ] {
        assert_eq!(error(body), expected, "{body}");
    }
    let not_utf8 = Envelope::read(b"{\"a\":\"\xff\"}").unwrap_err();
    assert_eq!(not_utf8, EnvelopeError::NotUtf8 { at: 6 });
    let far_behind = [b"{\"a\":\"".as_slice(), &[b'a'; 5000], "é".as_bytes(), b"\xff\"}"].concat();
    assert_eq!(Envelope::read(&far_behind).unwrap_err(), EnvelopeError::NotUtf8 { at: 5008 });
}

#[test]
fn depth_and_number_of_keys_are_limited() {
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(Envelope::read(nested(127).as_bytes()).is_ok());
    assert_eq!(error(&nested(128)), "the body is nested deeper than 127 levels at byte 132");
    assert!(Envelope::read(nested(1_000_000).as_bytes()).is_err());
    let keys = |count: usize| {
        let fields: Vec<String> = (0..count).map(|at| format!("\"k{at}\":1")).collect();
        format!("{{{}}}", fields.join(","))
    };
    assert!(Envelope::read(keys(1024).as_bytes()).is_ok());
    assert_eq!(error(&keys(1025)), "the body has more than 1024 top-level keys");
}

#[test]
fn keys_that_some_take_for_one_are_reported() {
    let body = br#"{"top_p":1,"Model":"x","model":"y","topP":2,"n":1,"\u006e":2,"MODEL":"z"}"#;
    let envelope = Envelope::read(body).unwrap();
    let clashes: Vec<String> =
        envelope.clashes().iter().map(|clash| format!("{} {} {}", clash.earlier, clash.key, clash.at)).collect();
    assert_eq!(clashes, ["Model model 23", "top_p topP 35", "n n 50", "Model MODEL 61"]);
    // The last one is the value; both are edited.
    assert_eq!(envelope.get("n"), Some(&b"2"[..]));
    let edited = envelope.with(&[("n", Edit::Json("[3]"))]);
    assert_eq!(edited, br#"{"top_p":1,"Model":"x","model":"y","topP":2,"n":[3],"\u006e":[3],"MODEL":"z"}"#);
}

#[test]
fn edits_touch_nothing_else() {
    let body = "{ \"model\" : \"a\" ,\n \"x\":1.0, \"stream\":false }\n";
    assert_eq!(edited(body, &[]), body);
    assert_eq!(edited(body, &[("y", Edit::Remove)]), body);
    assert_eq!(
        edited(body, &[("model", Edit::Text("b\"ü\n")), ("stream_options", Edit::Json("{\"include_usage\":true}"))]),
        "{ \"model\" : \"b\\\"ü\\n\" ,\n \"x\":1.0, \"stream\":false,\"stream_options\":{\"include_usage\":true} }\n"
    );
    assert_eq!(edited(body, &[("model", Edit::Remove)]), "{ \"x\":1.0, \"stream\":false }\n");
    assert_eq!(edited(body, &[("x", Edit::Remove)]), "{ \"model\" : \"a\", \"stream\":false }\n");
    assert_eq!(edited(body, &[("stream", Edit::Remove)]), "{ \"model\" : \"a\" ,\n \"x\":1.0 }\n");
    let none = [("model", Edit::Remove), ("stream", Edit::Remove), ("x", Edit::Remove)];
    assert_eq!(edited(body, &none), "{ }\n");
    assert_eq!(edited("{\n}", &[("a", Edit::Flag(true)), ("b", Edit::Text(""))]), "{\"a\":true,\"b\":\"\"\n}");
    let twice = [("x", Edit::Flag(true)), ("z", Edit::Flag(true)), ("x", Edit::Remove), ("z", Edit::Json("3"))];
    assert_eq!(edited(body, &twice), "{ \"model\" : \"a\", \"stream\":false,\"z\":3 }\n");
}

/// Keys that occur in requests, including escaped and unusual ones.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&["model", "stream", "stream_options", "messages", "a\"b", "\\", "é\u{1f600}", ""][..])
            .prop_map(str::to_owned),
        any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[\\\\\"{}\\[\\],:]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            object_of(inner).prop_map(Value::Object),
        ]
    })
}

fn object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((key(), inner), 0..6).prop_map(|fields| fields.into_iter().collect())
}

/// Returns an object in one of three spellings: compact, spread out, and with everything in its strings escaped.
fn spelled(object: &Map<String, Value>, spelling: u8) -> String {
    let tight = serde_json::to_string(object).unwrap();
    match spelling {
        0 => tight,
        1 => format!("\r\n\t{} ", serde_json::to_string_pretty(object).unwrap()),
        _ => tight
            .chars()
            .map(|c| {
                if c.is_ascii() {
                    c.to_string()
                } else {
                    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
                }
            })
            .collect(),
    }
}

#[derive(Debug, Clone)]
enum Change {
    Text(String),
    Flag(bool),
    Json(Value),
    Remove,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<String>().prop_map(Change::Text),
        any::<bool>().prop_map(Change::Flag),
        value().prop_map(Change::Json),
        Just(Change::Remove),
    ]
}

proptest! {
    #[test]
    fn any_object_is_read_and_comes_back_untouched(object in object_of(value()), spelling in 0..3_u8) {
        let body = spelled(&object, spelling);
        let envelope = Envelope::read(body.as_bytes()).unwrap();
        prop_assert_eq!(envelope.with(&[]), body.as_bytes());
        let read: Vec<(String, Value)> = envelope
            .keys()
            .map(|key| (key.to_owned(), serde_json::from_slice(envelope.get(key).unwrap()).unwrap()))
            .collect();
        let expected: Map<String, Value> = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(read, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn an_edit_is_the_edit_of_the_parsed_object(
        object in object_of(value()), spelling in 0..3_u8, changes in prop::collection::vec((key(), change()), 0..4),
    ) {
        let body = spelled(&object, spelling);
        let mut expected: Map<String, Value> = serde_json::from_str(&body).unwrap();
        let texts: Vec<String> = changes
            .iter()
            .map(|(_, change)| if let Change::Json(value) = change { value.to_string() } else { String::new() })
            .collect();
        let mut edits = Vec::new();
        for ((key, change), json) in changes.iter().zip(&texts) {
            // Skip keys that are edited more than once.
            if changes.iter().filter(|(other, _)| other == key).count() > 1 {
                continue;
            }
            edits.push((key.as_str(), match change {
                Change::Text(text) => Edit::Text(text),
                Change::Flag(flag) => Edit::Flag(*flag),
                Change::Json(_) => Edit::Json(json),
                Change::Remove => Edit::Remove,
            }));
            let value = match change {
                Change::Text(text) => json!(text),
                Change::Flag(flag) => json!(flag),
                Change::Json(_) => serde_json::from_str(json).unwrap(),
                Change::Remove => {
                    expected.shift_remove(key);
                    continue;
                }
            };
            expected.insert(key.clone(), value);
        }
        let edited = Envelope::read(body.as_bytes()).unwrap().with(&edits);
        let edited: Map<String, Value> = serde_json::from_slice(&edited).unwrap();
        // Compared as text, so that the order counts.
        prop_assert_eq!(Value::Object(edited).to_string(), Value::Object(expected).to_string());
    }

    #[test]
    fn what_a_parser_accepts_is_accepted(object in object_of(value()), at in any::<usize>(), junk in prop::collection::vec(any::<u8>(), 0..3), cut in 0..3_usize) {
        let mut body = serde_json::to_vec(&object).unwrap();
        let at = at % (body.len() + 1);
        let end = (at + cut).min(body.len());
        body.splice(at..end, junk);
        let read = Envelope::read(&body);
        if let Ok(parsed) = serde_json::from_slice::<Map<String, Value>>(&body) {
            match read {
                Ok(envelope) => {
                    prop_assert!(parsed.keys().all(|key| envelope.get(key).is_some()));
                    prop_assert_eq!(envelope.with(&[]), body);
                }
                Err(error) => prop_assert!(matches!(error, EnvelopeError::Duplicate { .. }), "{error}"),
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(body in prop::collection::vec(prop_oneof![
        prop::sample::select(&b"{}[]\",:\\ \n0-e."[..]), any::<u8>()], 0..60)) {
        if let Ok(envelope) = Envelope::read(&body) {
            prop_assert_eq!(envelope.with(&[]), body.clone());
            let _ = (envelope.model(), envelope.clashes(), envelope.with(&[("model", Edit::Text("x"))]));
        }
    }
}
