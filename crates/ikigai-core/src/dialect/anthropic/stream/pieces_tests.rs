use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Whether the JSON parser reads the same.
fn parsed_as(frame: &str, piece: &Piece<'_>) -> bool {
    let Ok(frame) = serde_json::from_str::<Value>(frame) else { return false };
    let delta = &frame["delta"];
    let Some(kind) = delta["type"].as_str().and_then(PieceKind::of) else { return false };
    let Some(text) = delta[kind.names().1].as_str() else { return false };
    frame["index"].as_u64() == Some(piece.index) && (kind, text) == (piece.kind, piece.text.as_ref())
}

#[test]
fn the_apis_own_form_is_read_and_no_other() {
    let text = |frame: &str| read_piece(frame).map(|piece| piece.text.into_owned());
    let start = r#"{"type":"content_block_delta","index":12,"delta":{"type":"text_delta","text":"#;
    assert_eq!(text(&format!(r#"{start}"a\n\"\\"}}      }}  "#)).as_deref(), Some("a\n\"\\"));
    for odd in ["\"a\",\"x\":1}}", "\"a\"}", "\"a}}", "null}}", "\"\\x\"}}", "\"\\u12\"}}", "\"a\u{1}\"}}", "\"a\"}}x"]
    {
        assert_eq!(text(&format!("{start}{odd}")), None, "{odd}");
    }
    assert_eq!(text(r#"{"type":"content_block_delta","index":01,"delta":{"type":"text_delta","text":"a"}}"#), None);
}

#[test]
fn what_is_written_is_read_at_a_glance() {
    for kind in [PieceKind::Text, PieceKind::Thinking, PieceKind::Arguments] {
        let mut out = Vec::new();
        write_piece(&mut out, kind, 12, "a\n\"é");
        let frame = std::str::from_utf8(&out).unwrap().strip_prefix("event: content_block_delta\ndata: ").unwrap();
        let piece = read_piece(frame.strip_suffix("\n\n").unwrap());
        assert_eq!(piece, Some(Piece { kind, index: 12, text: "a\n\"é".into() }));
    }
}

proptest! {
    #[test]
    fn what_is_read_at_a_glance_is_what_the_parser_reads(
        text in any::<String>(), index in 0..u64::MAX, kind in 0..3_usize, junk in ".{0,3}", at in 0..200_usize,
    ) {
        let (kind, field) =
            [("text_delta", "text"), ("thinking_delta", "thinking"), ("input_json_delta", "partial_json")][kind];
        let mut delta = json!({"type": kind});
        delta[field] = text.clone().into();
        let frame = json!({"type": "content_block_delta", "index": index, "delta": delta}).to_string();
        let piece = read_piece(&frame).unwrap();
        prop_assert_eq!(&piece.text, &text);
        prop_assert!(parsed_as(&frame, &piece));
        // With something in the wrong place the fast path may give up, but never reads anything else.
        let at = frame.char_indices().map(|(at, _)| at).take_while(|place| *place <= at).last().unwrap_or(0);
        let broken = format!("{}{junk}{}", &frame[..at], &frame[at..]);
        if let Some(piece) = read_piece(&broken) {
            prop_assert!(parsed_as(&broken, &piece));
        }
    }
}
