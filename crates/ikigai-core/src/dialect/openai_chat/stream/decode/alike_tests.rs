use pretty_assertions::assert_eq;
use proptest::prelude::*;

use crate::wire::{Ids, StreamDecoder};
use crate::{Dialect, Event, Limits};

const START: &str = r#"{"id":"c1","created":7,"choices":[{"index":0,"delta":{"content":"#;
const PLAIN: &str = r#"},"logprobs":null,"finish_reason":null}],"usage":null}"#;
const PADDED: &str = r#"},"finish_reason":null}],"obfuscation":"pQ7"}"#;

fn events(chunks: &[&str]) -> Vec<Event> {
    let mut decoder = StreamDecoder::new(Dialect::OpenaiChat, Ids::default(), &Limits::default());
    let mut out = Vec::new();
    for chunk in chunks {
        decoder.feed(format!("data: {chunk}\n\n").as_bytes(), &mut out);
    }
    out
}

/// Checks that a chunk is read the same whether or not it is like the one before.
fn check(before: &str, chunk: &str) {
    let first = before.replacen('{', "{ ", 1);
    let unlike = events(&[&first, &first, chunk]);
    assert_eq!(events(&[before, before, chunk]), unlike, "{before} {chunk}");
}

#[test]
fn only_what_is_known_around_the_text_is_passed_over() {
    for end in [PLAIN, PADDED] {
        let before = format!(r#"{START}"Hello"{end}"#);
        for text in [
            r#"" there""#,
            r#""""#,
            r#""\"\\\n""#,
            r#""é\u00e9😀\ud83d\ude00""#,
            r#""\ud83d""#,
            r#""\x""#,
            "\"\u{1}\"",
            "null",
            "7",
            r#"""""#,
        ] {
            check(&before, &format!("{START}{text}{end}"));
        }
        for other in [
            format!(r#"{START}"a"{}"#, r#"},"finish_reason":"stop"}],"usage":null}"#),
            format!(r#"{START}"a"{}"#, r#"},"finish_reason":null}],"obfuscation":"a","usage":{"prompt_tokens":1}}"#),
            format!(r#"{START}"a"{}"#, r#"},"finish_reason":null}],"obfuscation":"a\"b"}"#),
            format!(r#"{START}"a"{}"#, r#"},"finish_reason":null}],"obfuscation":"a","b":"c"}"#),
            format!(r#"{START}"a","tool_calls":[{{"index":0,"id":"t","function":{{"name":"f"}}}}]{end}"#),
            format!(r#"{START}"a","content":"b"{end}"#),
            format!(r#"{START}"a"{end}}}"#),
        ] {
            check(&before, &other);
        }
    }
    // A repeated field is an error, whether or not the chunk is like the one before.
    let before = format!(r#"{START}"Hello"{PLAIN}"#);
    let twice = format!(r#"{START}"a","content":"b"{PLAIN}"#);
    assert!(matches!(events(&[&before, &before, &twice]).last(), Some(Event::Error { .. })));
}

proptest! {
    #[test]
    fn what_is_passed_over_changes_nothing(
        text in any::<String>(), padded in any::<bool>(), junk in ".{0,3}", at in 0..200_usize,
    ) {
        let end = if padded { PADDED } else { PLAIN };
        let chunk = format!("{START}{}{end}", serde_json::Value::from(text));
        let before = format!(r#"{START}"Hello"{end}"#);
        check(&before, &chunk);
        let at = chunk.char_indices().map(|(at, _)| at).take_while(|place| *place <= at).last().unwrap_or(0);
        check(&before, &format!("{}{junk}{}", &chunk[..at], &chunk[at..]));
    }
}
