use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::catalog::{Prices, rules_for};

const LIMITS: Limits = Limits::client();

fn asked(dialect: Dialect, model: &str, request: &ImageRequest) -> Result<WireRequest, Error> {
    dialect.image_request(model, request, rules_for(model)).map(Option::unwrap)
}

fn json_of(wire: &WireRequest) -> (&str, Value, Vec<String>) {
    let losses = wire.losses.iter().map(ToString::to_string).collect();
    (&wire.path, serde_json::from_slice(&wire.body).unwrap(), losses)
}

fn read(dialect: Dialect, model: &str, answer: &Value) -> Result<Pictures, Error> {
    dialect.decode_images(answer.to_string().as_bytes(), rules_for(model), &LIMITS)
}

#[test]
fn openai_is_asked_for_pictures() {
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let wire = asked(dialect, "gpt-image-2", &"a fox".into()).unwrap();
        assert_eq!(
            json_of(&wire),
            ("/images/generations", json!({"model": "gpt-image-2", "prompt": "a fox"}), Vec::new())
        );
    }
    let request = ImageRequest::new("a fox").count(2).size("1024x1024").quality("low");
    let wire = asked(Dialect::OpenaiChat, "dall-e-2", &request).unwrap();
    assert_eq!(
        String::from_utf8(wire.body).unwrap(),
        r#"{"model":"dall-e-2","prompt":"a fox","n":2,"size":"1024x1024","quality":"low","response_format":"b64_json"}"#
    );
}

#[test]
fn a_picture_to_begin_with_makes_a_form() {
    let request = ImageRequest::new("at \"night\"").count(2).from_image(*b"\x89PNG", "image/png");
    let wire = asked(Dialect::OpenaiChat, "gpt-image-2", &request).unwrap();
    let expected = "--ikigai-boundary-0000000000000000\r\n\
        content-disposition: form-data; name=\"model\"\r\n\r\n\
        gpt-image-2\r\n\
        --ikigai-boundary-0000000000000000\r\n\
        content-disposition: form-data; name=\"prompt\"\r\n\r\n\
        at \"night\"\r\n\
        --ikigai-boundary-0000000000000000\r\n\
        content-disposition: form-data; name=\"n\"\r\n\r\n\
        2\r\n\
        --ikigai-boundary-0000000000000000\r\n\
        content-disposition: form-data; name=\"image\"; filename=\"image-0.png\"\r\n\
        content-type: image/png\r\n\r\n\
        \u{fffd}PNG\r\n\
        --ikigai-boundary-0000000000000000--\r\n";
    assert_eq!((wire.path.as_str(), String::from_utf8_lossy(&wire.body).as_ref()), ("/images/edits", expected));
    let two = request.from_image(*b"jpeg", "image/jpeg");
    let wire = asked(Dialect::OpenaiChat, "gpt-image-2", &two).unwrap();
    let text = String::from_utf8_lossy(&wire.body);
    assert!(text.contains("name=\"image[]\"; filename=\"image-0.png\""), "{text}");
    assert!(text.contains("name=\"image[]\"; filename=\"image-1.jpg\""), "{text}");
}

#[test]
fn gemini_is_asked_for_content_and_imagen_for_predictions() {
    let request = ImageRequest::new("a fox").size("3:2").from_image(*b"abc", "image/png");
    let wire = asked(Dialect::Gemini, "gemini-2.5-flash-image", &request).unwrap();
    let body = json!({
        "contents": [{"role": "user", "parts": [
            {"inlineData": {"mimeType": "image/png", "data": "YWJj"}}, {"text": "a fox"}
        ]}],
        "generationConfig": {"responseModalities": ["TEXT", "IMAGE"], "imageConfig": {"aspectRatio": "3:2"}}
    });
    assert_eq!(json_of(&wire), ("/models/gemini-2.5-flash-image:generateContent", body, Vec::new()));
    let request = ImageRequest::new("a fox").count(4).size("1920x1080").quality("high");
    let wire = asked(Dialect::Gemini, "imagen-4.0-generate-001", &request).unwrap();
    let body = json!({"instances": [{"prompt": "a fox"}], "parameters": {"sampleCount": 4, "aspectRatio": "16:9"}});
    let losses = vec![
        "size at size: this model accepts no pixels: the ratio 16:9 is asked for in place of 1920x1080".to_owned(),
        "quality at quality: this model has no such choice".to_owned(),
    ];
    assert_eq!(json_of(&wire), ("/models/imagen-4.0-generate-001:predict", body, losses));
}

#[test]
fn a_size_becomes_the_nearest_ratio_or_an_error() {
    let ratio = |size: &str| super::ratio(&ImageRequest::new("x").size(size), &RATIOS, &mut Vec::new());
    for (size, expected) in [
        ("1024x1024", "1:1"),
        ("1536x1024", "3:2"),
        ("1024x1792", "9:16"),
        ("1792x1024", "16:9"),
        ("2560x1080", "21:9"),
        ("21:9", "21:9"),
    ] {
        assert_eq!(ratio(size), Ok(Some(expected)), "{size}");
    }
    for size in ["auto", "", "x", "0x10", "10x0", "-1x5", "4000x100", "100x4000", "99999999999x1", "7:1", "1x1x1"] {
        let error = ratio(size).unwrap_err();
        let expected = format!(
            "`size` is `{size}`, but this model draws in 1:1, 2:3, 3:2, 3:4, 4:3, 4:5, 5:4, 9:16, 16:9, 21:9; \
             use one of these"
        );
        assert_eq!((error.message, error.param.as_deref()), (expected, Some("size")));
    }
    assert_eq!(super::ratio(&"x".into(), &RATIOS, &mut Vec::new()), Ok(None));
}

#[test]
fn what_cannot_be_drawn_is_an_error_with_the_way_out() {
    let fox = || ImageRequest::new("a fox");
    let (gemini, imagen, gpt) = ("gemini-2.5-flash-image", "imagen-4.0-generate-001", "gpt-image-2");
    for (dialect, model, request, field, message) in [
        (Dialect::OpenaiChat, gpt, " ".into(), "prompt", "`prompt` is empty"),
        (
            Dialect::OpenaiChat,
            gpt,
            fox().count(0),
            "count",
            "`count` must be between 1 and 10 for this model; ask several times for more",
        ),
        (
            Dialect::OpenaiChat,
            gpt,
            fox().count(11),
            "count",
            "`count` must be between 1 and 10 for this model; ask several times for more",
        ),
        (
            Dialect::Gemini,
            imagen,
            fox().count(5),
            "count",
            "`count` must be between 1 and 4 for this model; ask several times for more",
        ),
        (
            Dialect::Gemini,
            gemini,
            fox().count(2),
            "count",
            "`count` must be 1 for this model; ask once for each picture",
        ),
        (
            Dialect::OpenaiChat,
            gpt,
            fox().from_image(*b"x", "image/png").from_image(*b"", "image/png"),
            "images[1]",
            "`images[1]` is empty",
        ),
        (
            Dialect::OpenaiChat,
            gpt,
            fox().from_image(*b"x", "audio/wav"),
            "images[0]",
            "`images[0]` has the media type `audio/wav`; use one of image/",
        ),
        (
            Dialect::OpenaiChat,
            gpt,
            fox().from_image(*b"x", "image/png\r\nx: y"),
            "images[0]",
            "`images[0]` has the media type `image/png\r\nx: y`; use one of image/",
        ),
        (
            Dialect::Gemini,
            imagen,
            fox().from_image(*b"x", "image/png"),
            "images",
            "`images` cannot be sent to this model, which draws from words alone; use one of Gemini's",
        ),
    ] {
        let error = asked(dialect, model, &request).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::InvalidRequest, message));
        assert_eq!(error.param.as_deref(), Some(field));
    }
    for dialect in [Dialect::Anthropic, Dialect::BedrockConverse] {
        assert_eq!(dialect.image_request("m", &fox(), &Rules::default()), Ok(None));
    }
}

#[test]
fn openais_pictures_are_read() {
    let answer = json!({
        "created": 1, "output_format": "webp", "data": [{"b64_json": "YWJj", "revised_prompt": "a red fox"}],
        "usage": {
            "input_tokens": 9, "output_tokens": 1056, "total_tokens": 1065,
            "input_tokens_details": {"text_tokens": 9, "image_tokens": 0}
        }
    });
    let drawn = read(Dialect::OpenaiResponses, "gpt-image-2", &answer).unwrap();
    let picture = Picture {
        media_type: Some("image/webp".into()),
        revised_prompt: Some("a red fox".into()),
        content: PictureContent::Bytes(b"abc".to_vec()),
    };
    assert_eq!((drawn.pictures.as_slice(), drawn.text.as_str()), (&[picture][..], ""));
    let usage = drawn.usage().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (9, 1056));
    let facts = Facts::new("openai", "gpt-image-2").prices(Prices::per_million(5.0, 30.0));
    assert_eq!(drawn.cost(&facts).unwrap().total().to_string(), "$0.031725");
    assert_eq!(drawn.cost(&Facts::new("openai", "other")), None);
    // PNG, recognised by its first bytes; and one that stays where it is.
    let answer =
        json!({"data": [{"b64_json": "iVBORw0KGgo="}, {"url": "https://h/a.jpg?sig=1"}, {"url": "https://h/a"}, {}]});
    let drawn = read(Dialect::OpenaiChat, "gpt-image-2", &answer).unwrap();
    let shown: Vec<_> =
        drawn.pictures.iter().map(|one| (one.media_type.as_deref(), one.bytes().map(<[u8]>::len), one.url())).collect();
    assert_eq!(
        shown,
        [
            (Some("image/png"), Some(8), None),
            (Some("image/jpeg"), None, Some("https://h/a.jpg?sig=1")),
            (None, None, Some("https://h/a")),
        ]
    );
    assert_eq!(format!("{:?}", drawn.pictures[1]), "Picture(image/jpeg, at an address)");
    assert_eq!((drawn.usage(), drawn.cost(&facts)), (None, None));
}

#[test]
fn a_cost_is_told_only_if_all_that_was_counted_has_a_price() {
    let facts = Facts::new("openai", "gpt-image-2").prices(Prices::per_million(5.0, 30.0));
    let cost = |usage: Value| {
        let answer = json!({"data": [{"b64_json": "YWJj"}], "usage": usage});
        read(Dialect::OpenaiChat, "gpt-image-2", &answer).unwrap().cost(&facts).map(|cost| cost.total().to_string())
    };
    let counts = |texts: u64, written: Value| {
        json!({
            "input_tokens": 100, "output_tokens": 1000, "input_tokens_details": {"text_tokens": texts},
            "output_tokens_details": written
        })
    };
    assert_eq!(cost(counts(100, json!({"image_tokens": 1000, "text_tokens": 0}))).as_deref(), Some("$0.030500"));
    assert_eq!(cost(counts(100, Value::Null)).as_deref(), Some("$0.030500"));
    // Pictures in the prompt, and text in the answer.
    assert_eq!(cost(counts(40, Value::Null)), None);
    assert_eq!(cost(counts(100, json!({"image_tokens": 900, "text_tokens": 100}))), None);
    assert_eq!(cost(json!({"input_tokens": 100, "output_tokens": 1000})), None);
    assert_eq!(cost(json!({"input_tokens": "many"})), None);
    let cost = |written: u64, thoughts: u64| {
        let answer = json!({
            "candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": "YWJj"}}]}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": 10, "candidatesTokenCount": written, "thoughtsTokenCount": thoughts,
                "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 10}],
                "candidatesTokensDetails": [{"modality": "IMAGE", "tokenCount": 1290}]
            }
        });
        let drawn = read(Dialect::Gemini, "gemini-2.5-flash-image", &answer).unwrap();
        drawn.cost(&facts).map(|cost| cost.total().to_string())
    };
    assert_eq!(cost(1290, 0).as_deref(), Some("$0.038750"));
    assert_eq!(cost(1304, 0), None);
    assert_eq!(cost(1290, 100), None);
}

#[test]
fn googles_pictures_are_read() {
    let answer = json!({
        "candidates": [{
            "content": {"role": "model", "parts": [
                {"text": "Here is a fox."}, {"inlineData": {"mimeType": "image/png", "data": "YWJj"}},
                {"inlineData": {"mimeType": "image/png", "data": "eHl6"}, "thought": true}
            ]},
            "finishReason": "STOP"
        }],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1304, "totalTokenCount": 1314}
    });
    let drawn = read(Dialect::Gemini, "gemini-2.5-flash-image", &answer).unwrap();
    let picture = Picture::of_bytes(b"abc".to_vec(), Some("image/png"));
    assert_eq!((drawn.pictures.as_slice(), drawn.text.as_str()), (&[picture.clone()][..], "Here is a fox."));
    assert_eq!(drawn.usage().unwrap().output_tokens, 1304);
    let answer = json!({"predictions": [
        {"mimeType": "image/png", "bytesBase64Encoded": "YWJj", "prompt": "a red fox"},
        {"raiFilteredReason": "a face"}
    ]});
    let drawn = read(Dialect::Gemini, "imagen-4.0-generate-001", &answer).unwrap();
    let warnings: Vec<String> = drawn.warnings.iter().map(ToString::to_string).collect();
    let picture = Picture { revised_prompt: Some("a red fox".into()), ..picture };
    assert_eq!((drawn.pictures, warnings), (vec![picture], vec!["picture at pictures[1]: a face".to_owned()]));
}

#[test]
fn an_answer_without_pictures_says_why() {
    let gemini = "gemini-2.5-flash-image";
    for (dialect, model, answer, kind, message) in [
        (Dialect::OpenaiChat, "gpt-image-2", json!({"data": []}), ErrorKind::Protocol, "the answer holds no picture"),
        (Dialect::OpenaiChat, "gpt-image-2", json!({"data": null}), ErrorKind::Protocol, "the answer holds no picture"),
        (Dialect::OpenaiChat, "gpt-image-2", json!([]), ErrorKind::Protocol, "the answer holds no picture"),
        (
            Dialect::OpenaiChat,
            "gpt-image-2",
            json!({"data": [{"b64_json": "?"}]}),
            ErrorKind::Protocol,
            "the base64 of the picture is broken: Invalid symbol 63, offset 0.",
        ),
        (
            Dialect::OpenaiChat,
            "gpt-image-2",
            json!({"error": {"message": "Slow down.", "type": "requests", "code": "rate_limit_exceeded"}}),
            ErrorKind::RateLimit,
            "Slow down.",
        ),
        (Dialect::Gemini, "imagen-4", json!({}), ErrorKind::Protocol, "the answer holds no picture"),
        (
            Dialect::Gemini,
            "imagen-4",
            json!({"predictions": [{"raiFilteredReason": "a face"}]}),
            ErrorKind::ContentFiltered,
            "a face",
        ),
        (
            Dialect::Gemini,
            gemini,
            json!({"candidates": [{"content": {"parts": [{"text": "I cannot draw that."}]}, "finishReason": "STOP"}]}),
            ErrorKind::Protocol,
            "the answer holds no picture (STOP); the model said: I cannot draw that.",
        ),
        (
            Dialect::Gemini,
            gemini,
            json!({"candidates": [{"finishReason": "IMAGE_SAFETY"}]}),
            ErrorKind::ContentFiltered,
            "the answer holds no picture (IMAGE_SAFETY)",
        ),
        (
            Dialect::Gemini,
            gemini,
            json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
            ErrorKind::ContentFiltered,
            "the answer holds no picture (PROHIBITED_CONTENT)",
        ),
    ] {
        let error = read(dialect, model, &answer).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{answer}");
    }
    for (dialect, model) in
        [(Dialect::OpenaiChat, "gpt-image-2"), (Dialect::Gemini, "imagen-4"), (Dialect::Gemini, gemini)]
    {
        for body in ["<html>hello</html>", "", "{\"data\": [{\"b64_json\": \"YWJ"] {
            let error = dialect.decode_images(body.as_bytes(), rules_for(model), &LIMITS).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Protocol, "{dialect} {model} {body}");
            assert!(error.message.starts_with("the answer cannot be read: "), "{}", error.message);
        }
        let small = Limits { body: 10, ..LIMITS };
        let error = dialect.decode_images(b"{\"data\": []}", rules_for(model), &small).unwrap_err();
        assert_eq!(error.message, "the answer has 12 bytes; the limit is 10");
    }
}
