use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

type Owned = (Option<String>, String);

fn owned(frame: Frame<'_>) -> Owned {
    (frame.name.map(str::to_owned), frame.data.to_owned())
}

fn frames(pieces: &[&[u8]]) -> Vec<Owned> {
    let mut sse = Sse::default();
    let mut seen = Vec::new();
    for piece in pieces {
        sse.feed(piece, |frame| seen.push(owned(frame))).unwrap();
    }
    sse.end(|frame| seen.push(owned(frame))).unwrap();
    seen
}

fn data(of: &[&str]) -> Vec<Owned> {
    of.iter().map(|data| (None, (*data).to_owned())).collect()
}

#[test]
fn every_line_end_is_a_line_end() {
    for text in ["data: 1\n\ndata: 2\n\n", "data: 1\r\n\r\ndata: 2\r\n\r\n", "data: 1\r\rdata: 2\r\r"] {
        assert_eq!(frames(&[text.as_bytes()]), data(&["1", "2"]), "{text:?}");
    }
}

#[test]
fn several_data_lines_are_one_event() {
    assert_eq!(frames(&[b"data: a\ndata\ndata:b\ndata:  c\n\n"]), data(&["a\nb\n c"]));
}

#[test]
fn the_name_belongs_to_its_event_alone() {
    assert_eq!(
        frames(&[b"event: ping\ndata: 1\n\ndata: 2\n\nevent: lost\n\ndata: 3\n\n"]),
        vec![(Some("ping".into()), "1".into()), (None, "2".into()), (None, "3".into())]
    );
}

#[test]
fn a_name_may_follow_its_data() {
    assert_eq!(frames(&[b"data: 1\nevent: late\n\n"]), vec![(Some("late".into()), "1".into())]);
}

#[test]
fn comments_ids_and_retries_are_passed_over() {
    assert_eq!(frames(&[b": OPENROUTER PROCESSING\n\nid: 7\nretry: 10\ndata: 1\n: more\n\n"]), data(&["1"]));
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert_eq!(frames(&["\u{feff}data: 1\n\n".as_bytes()]), data(&["1"]));
}

#[test]
fn the_last_event_needs_no_blank_line() {
    assert_eq!(frames(&[b"data: 1\n\ndata: 2"]), data(&["1", "2"]));
    assert_eq!(frames(&[b"data: 1\n\ndata: 2\n"]), data(&["1", "2"]));
}

#[test]
fn a_json_body_comes_out_object_by_object() {
    assert_eq!(frames(&[br#"{"error": {"message": "a } \" b"}}"#]), data(&[r#"{"error": {"message": "a } \" b"}}"#]));
    assert_eq!(frames(&[b"[{\"a\":1}\n,\r\n{\"b\":\n2}\n]"]), data(&["{\"a\":1}", "{\"b\":\n2}"]));
    assert_eq!(frames(&[b"{\"a\":1}\n{\"b\":2}\n"]), data(&["{\"a\":1}", "{\"b\":2}"]));
}

#[test]
fn a_raw_object_between_events_is_an_event() {
    assert_eq!(
        frames(&[b"data: 1\n\n{\n  \"error\": {\n\n    \"code\": 503\n  }\n}\n\ndata: 2\n\n"]),
        data(&["1", "{\n  \"error\": {\n\n    \"code\": 503\n  }\n}", "2"])
    );
}

#[test]
fn a_page_of_html_is_remembered() {
    let mut sse = Sse::default();
    sse.feed(b"<html>\n<h1>502 Bad Gateway</h1>\n", |frame| panic!("{frame:?}")).unwrap();
    sse.end(|frame| panic!("{frame:?}")).unwrap();
    assert_eq!(sse.stray(), "<html> <h1>502 Bad Gateway</h1> ");
}

#[test]
fn a_giant_event_is_refused_wherever_it_grows() {
    for text in [
        "data: 123456789\n\n",
        "data: 12345\ndata: 6789\n\n",
        "data: 123456789",
        "{\"a\": \"123456789",
        "{\n\"a\":\n\"567\"\n}\n",
    ] {
        let mut sse = Sse::with_limit(8);
        let outcome = sse.feed(text.as_bytes(), |_| {});
        assert!(matches!(outcome, Err(SseError::TooLarge { limit: 8, .. })), "{text:?} gave {outcome:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let mut sse = Sse::default();
    assert_eq!(sse.feed(b"data: 1\n\ndata: \xff\xfe\n\n", |_| {}), Err(SseError::NotUtf8 { at: 9 }));
}

/// Returns the frames, and how it ended.
fn outcome(pieces: &[&[u8]], limit: usize) -> (Vec<Owned>, Result<(), SseError>) {
    let mut sse = Sse::with_limit(limit);
    let mut seen = Vec::new();
    let fed = pieces.iter().try_for_each(|piece| sse.feed(piece, |frame| seen.push(owned(frame))));
    let ended = fed.and_then(|()| sse.end(|frame| seen.push(owned(frame))));
    (seen, ended)
}

#[test]
fn the_place_of_what_is_no_text_is_the_same_for_any_cut() {
    let stream = b": c\ndata: \xff\n\ndata: 2\n\n";
    for cut in 0..=stream.len() {
        let mut sse = Sse::default();
        let (one, two) = stream.split_at(cut);
        let outcome = sse.feed(one, |_| {}).and_then(|()| sse.feed(two, |_| {}));
        assert_eq!(outcome, Err(SseError::NotUtf8 { at: 4 }), "cut at {cut}");
    }
}

fn any_stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "data: {\"a\":\"ü😀\"}",
        "data: {}\n\n",
        "event: x\ndata: 1\r\n\r\n",
        "data:",
        "data",
        "event: x",
        ": c",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "\r\n\r\n",
        "{\"k\":\"}\"}",
        "[",
        "]",
        ",",
        "{",
        "}",
        "\u{feff}",
        "id: 1",
        "junk",
        " ",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn cuts_do_not_matter(stream in any_stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        places.extend([0, stream.len()]);
        places.sort_unstable();
        let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
        prop_assert_eq!(frames(&pieces), frames(&[&stream]));
        // Bytes that are refused are refused at the same place, with the same events before it.
        prop_assert_eq!(outcome(&pieces, 12), outcome(&[&stream], 12));
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(outcome(&single, 12), outcome(&[&stream], 12));
    }

    #[test]
    fn any_bytes_are_survived(stream in prop::collection::vec(any::<u8>(), 0..300)) {
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(outcome(&single, 64), outcome(&[&stream], 64));
    }
}

#[test]
fn a_failure_in_a_field_of_its_own_is_an_event() {
    // Of llama.cpp's server.
    assert_eq!(
        frames(&[b"data: 1\n\nerror: {\"code\":400,\"message\":\"too long\"}\n\n"]),
        [(None, "1".to_owned()), (Some("error".to_owned()), r#"{"code":400,"message":"too long"}"#.to_owned())]
    );
    assert_eq!(frames(&[b"data: 1\n\nerror: none\n\n"]), data(&["1"]));
}
