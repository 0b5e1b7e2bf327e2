use ikigai_core::{Document, Role, ToolResult};
use pretty_assertions::assert_eq;

use super::*;

fn image(data: String) -> Block {
    let source = Source::Base64 { media_type: "image/png".into(), data };
    Block::image(source)
}

fn document(source: Source) -> Block {
    Block::Document(Document::new(source))
}

fn parts(taken: &[Attachment]) -> Vec<Part> {
    let part = |one: &Attachment| Part { place: one.place, form: one.form, bytes: one.bytes.clone() };
    taken.iter().map(part).collect()
}

#[test]
fn large_sources_go_out_and_come_back_byte_for_byte() {
    let picture = STANDARD.encode(vec![7; 6000]);
    // Decodes to the same bytes, but is not their usual encoding.
    let odd = format!("{}=\n", STANDARD.encode(vec![7; 5000]).trim_end_matches('='));
    let url = Source::Url { url: "https://example.com/a.pdf".into(), media_type: None };
    let text = Source::Text { media_type: "text/plain".into(), text: "é".repeat(3000) };
    let sound = Source::Base64 { media_type: "audio/wav".into(), data: picture.clone() };
    let result = ToolResult::new("c1", [Block::text("x"), image(odd.clone())]);
    let message = Message::new(
        Role::User,
        [
            Block::text("y".repeat(9000)),
            image("AAAA".into()),
            image(picture.clone()),
            Block::ToolResult(result),
            document(url),
            document(text),
            Block::audio(sound),
        ],
    );
    let mut without = message.clone();
    let taken = take_out(&mut without);
    let seen: Vec<(i64, Form, usize)> = taken.iter().map(|one| (one.place, one.form, one.bytes.len())).collect();
    assert_eq!(
        seen,
        [(1, Form::Base64, 6000), (2, Form::Text, odd.len()), (4, Form::Text, 6000), (5, Form::Base64, 6000)]
    );
    assert_eq!(taken[0].hash, taken[3].hash);
    assert_eq!(hash(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert!(serde_json::to_string(&without).unwrap().len() < 11_000);
    assert_eq!(put_back(&mut without, parts(&taken)), Ok(()));
    assert_eq!(without, message);
}

#[test]
fn attachments_that_do_not_fit_are_an_error() {
    let mut message = Message::new(Role::User, [image(String::new())]);
    let part = |place, form| Part { place, form, bytes: vec![0xFF] };
    let table = [
        (vec![part(0, Form::Text)], "attachment 0 is not text"),
        (vec![part(1, Form::Base64)], "there is an attachment 1, but no place for it"),
        (vec![part(0, Form::Base64), part(0, Form::Base64)], "there is an attachment 0, but no place for it"),
    ];
    for (parts, fault) in table {
        assert_eq!(put_back(&mut message, parts), Err(fault.to_owned()));
    }
    let url = Source::Url { url: "https://example.com/a.pdf".into(), media_type: None };
    let mut message = Message::new(Role::User, [document(url)]);
    let fault = "there is an attachment for source 0, which takes none";
    assert_eq!(put_back(&mut message, vec![part(0, Form::Base64)]), Err(fault.to_owned()));
}
