use ikigai_core::{ErrorKind, Limits};
use pretty_assertions::assert_eq;
use serde_json::json;

use crate::testing::{Piece, Reply, Scripted, TestClock};
use crate::transport::{Failure, Timeouts};
use crate::{Client, Error, ImageRequest, SpeechRequest, TranscribeRequest};

/// A picture of one byte.
const DRAWN: &str = r#"{"data":[{"b64_json":"YQ=="}]}"#;

fn answer(media_type: &str, body: impl Into<bytes::Bytes>) -> Reply {
    let headers = vec![("content-type", media_type.to_owned())];
    Reply::Head { status: 200, headers, pieces: vec![Piece::Bytes(body.into())] }
}

async fn draw(client: &Client) -> Result<usize, Error> {
    Ok(client.model("openai:gpt-image-2")?.draw("a fox").await?.images.len())
}

async fn speak(client: &Client) -> Result<usize, Error> {
    Ok(client.model("openai:gpt-4o-mini-tts")?.speak("Hi").await?.audio.len())
}

async fn transcribe(client: &Client) -> Result<usize, Error> {
    Ok(client.model("openai:gpt-transcribe")?.transcribe((*b"RIFF", "audio/wav")).await?.text.len())
}

/// Runs each of the three verbs against the same replies.
async fn each(
    replies: impl Fn() -> Vec<Reply>,
    builder: impl Fn(&Scripted) -> Client,
) -> Vec<(Result<usize, Error>, usize)> {
    let mut outcomes = Vec::new();
    for verb in 0..3 {
        let scripted = Scripted::new(replies());
        let client = builder(&scripted);
        let outcome = match verb {
            0 => draw(&client).await,
            1 => speak(&client).await,
            _ => transcribe(&client).await,
        };
        outcomes.push((outcome, scripted.requests().len()));
    }
    outcomes
}

#[tokio::test]
async fn a_picture_is_drawn_and_its_price_is_told() {
    let body = json!({
        "output_format": "png", "data": [{"b64_json": "YWJj"}],
        "usage": {"input_tokens": 10, "output_tokens": 1000, "input_tokens_details": {"text_tokens": 10, "image_tokens": 0}}
    });
    let scripted = Scripted::new([Reply::new(200, body.to_string())]);
    let model = scripted.client().model("openai:gpt-image-2").unwrap();
    let drawn = model.draw(ImageRequest::new("a fox").count(1).size("1024x1024")).await.unwrap();
    let picture = &drawn.images[0];
    assert_eq!((picture.bytes(), picture.media_type.as_deref()), (Some(&b"abc"[..]), Some("image/png")));
    assert_eq!((drawn.model.to_string().as_str(), drawn.usage.unwrap().output_tokens), ("openai:gpt-image-2", 1000));
    assert_eq!(drawn.cost.unwrap().total().to_string(), "$0.030050");
    assert_eq!(scripted.requests()[0].uri().to_string(), "https://api.openai.com/v1/images/generations");
    assert_eq!(scripted.body(0), json!({"model": "gpt-image-2", "prompt": "a fox", "n": 1, "size": "1024x1024"}));
}

#[tokio::test]
async fn a_picture_to_begin_with_goes_as_a_form() {
    let scripted = Scripted::new([Reply::new(200, DRAWN)]);
    let model = scripted.client().model("openai:gpt-image-2").unwrap();
    model.draw(ImageRequest::new("at night").from_image(*b"png", "image/png")).await.unwrap();
    let request = &scripted.requests()[0];
    assert_eq!(request.uri().path(), "/v1/images/edits");
    assert_eq!(request.headers()["content-type"], "multipart/form-data; boundary=ikigai-boundary-0000000000000000");
}

#[tokio::test]
async fn speech_is_what_the_header_says() {
    let scripted = Scripted::new([answer("audio/wav", "RIFF")]);
    let model = scripted.client().model("openai:gpt-4o-mini-tts").unwrap();
    let speech = model.speak(SpeechRequest::new("Hi").voice("coral").format("wav")).await.unwrap();
    assert_eq!((&speech.audio[..], speech.media_type.as_str(), &speech.usage), (&b"RIFF"[..], "audio/wav", &None));
    assert!(format!("{speech:?}").starts_with("Speech { audio: 4 bytes, media_type: \"audio/wav\""), "{speech:?}");
    let request = &scripted.requests()[0];
    assert_eq!(request.headers()["accept"], "application/octet-stream");
    assert_eq!(
        scripted.body(0),
        json!({"model": "gpt-4o-mini-tts", "input": "Hi", "voice": "coral", "response_format": "wav"})
    );
}

#[tokio::test]
async fn speech_is_written_down() {
    let scripted = Scripted::new([Reply::new(200, r#"{"text":"Hi.","usage":{"type":"duration","seconds":1}}"#)]);
    let model = scripted.client().model("openai:whisper-1").unwrap();
    let request = TranscribeRequest::new(*b"RIFF", "audio/wav").language("en");
    let transcript = model.transcribe(request).await.unwrap();
    assert_eq!((transcript.text.as_str(), transcript.seconds, transcript.usage), ("Hi.", Some(1.0), None));
    let body = String::from_utf8(scripted.requests()[0].body().to_vec()).unwrap();
    assert!(body.contains("name=\"language\"\r\n\r\nen\r\n"), "{body}");
}

#[tokio::test]
async fn a_wish_that_cannot_be_carried_is_a_warning_or_strictly_an_error() {
    let wav = json!({"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "audio/wav", "data": "YQ=="}}]}, "finishReason": "STOP"}]});
    let png = json!({"candidates": [{"content": {"parts": [{"inlineData": {"mimeType": "image/png", "data": "YQ=="}}]}, "finishReason": "STOP"}]});
    let scripted = Scripted::new([Reply::new(200, wav.to_string()), Reply::new(200, png.to_string())]);
    let client = scripted.client();
    let tts = client.model("google:gemini-2.5-flash-preview-tts").unwrap();
    let fast = SpeechRequest::new("Hi").speed(2.0);
    let warning = "speed at speed: this model has no such choice; say it in `instructions`";
    assert_eq!(tts.speak(fast.clone()).await.unwrap().warnings[0].to_string(), warning);
    let error = tts.strict().speak(fast).await.unwrap_err();
    let told = format!("strict: gemini cannot carry everything: {warning}");
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidRequest, told));
    let painter = client.model("google:gemini-2.5-flash-image").unwrap();
    let drawn = painter.draw(ImageRequest::new("a fox").size("1024x1024")).await.unwrap();
    assert_eq!(drawn.warnings.len(), 1);
    assert_eq!(scripted.body(1)["generationConfig"]["imageConfig"], json!({"aspectRatio": "1:1"}));
    assert!(painter.strict().draw(ImageRequest::new("a fox").size("1024x1024")).await.is_err());
    assert_eq!(scripted.requests().len(), 2, "nothing was sent that was refused here");
}

#[tokio::test]
async fn providers_that_cannot_name_one_that_can() {
    let scripted = Scripted::new([]);
    let model = scripted.client().model("anthropic:claude-haiku-4-5").unwrap();
    let errors = [
        model.draw("x").await.unwrap_err(),
        model.speak("x").await.unwrap_err(),
        model.transcribe((*b"x", "audio/wav")).await.unwrap_err(),
    ];
    assert_eq!(
        errors.map(|error| error.to_string()),
        [
            "Anthropic does not offer pictures; use a provider that does, such as openai",
            "Anthropic does not offer speech; use a provider that does, such as openai",
            "Anthropic does not offer transcription; use a provider that does, such as openai",
        ]
    );
}

#[tokio::test]
async fn nothing_is_paid_for_twice() {
    // An answer had begun, the connection broke after sending, or a gateway gave up: the work may have been done.
    let html = || vec![answer("text/html", "<html>Sign in</html>"), Reply::new(200, "again")];
    let broken = || vec![Reply::Fail(Failure::Broken), Reply::new(200, "again")];
    let gave_up = || vec![Reply::new(504, "{}"), Reply::new(200, "again")];
    let cut = || {
        let pieces = [Piece::Bytes("{".into()), Piece::Fail(Failure::Broken)];
        vec![Reply::pieces(pieces), Reply::new(200, "again")]
    };
    let client = |scripted: &Scripted| scripted.client();
    let cases =
        [each(html, client).await, each(broken, client).await, each(gave_up, client).await, each(cut, client).await];
    for (place, (outcome, sent)) in cases.into_iter().flatten().enumerate() {
        assert!(outcome.is_err(), "{place}");
        assert_eq!(sent, 1, "{place}: {outcome:?}");
    }
    // Refused work cannot have been done.
    let refused = || vec![Reply::new(429, "{}"), Reply::new(400, "{}")];
    for (outcome, sent) in each(refused, client).await {
        assert_eq!((outcome.unwrap_err().kind(), sent), (ErrorKind::InvalidRequest, 2));
    }
}

#[tokio::test]
async fn limits_and_deadlines_hold_for_all_three() {
    let long = || vec![answer("audio/mpeg", vec![b'x'; 5000])];
    let small = |scripted: &Scripted| {
        let mut limits = Limits::client();
        limits.body = 1000;
        scripted.builder(TestClock::skipping()).limits(limits).build().unwrap()
    };
    for (outcome, _) in each(long, small).await {
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("1000"), "{error}");
    }
    let silent = || vec![Reply::pieces([Piece::Bytes("{".into()), Piece::Stall])];
    let hasty = |scripted: &Scripted| {
        let timeouts = Timeouts::default().idle(std::time::Duration::from_secs(1));
        scripted.builder(TestClock::skipping()).timeouts(timeouts).build().unwrap()
    };
    for (outcome, _) in each(silent, hasty).await {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Timeout);
    }
}

#[tokio::test]
async fn a_key_that_comes_back_is_not_shown() {
    let echo = || vec![answer("text/html", "<p>key sk-secret-of-OPENAI_API_KEY is wrong</p>")];
    for (outcome, _) in each(echo, |scripted| scripted.client()).await {
        let error = outcome.unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("sk-secret") && shown.contains("[key]"), "{shown}");
    }
}

#[tokio::test]
async fn each_has_a_span_and_metrics() {
    let usage = json!({"input_tokens": 3, "output_tokens": 7});
    let body = json!({"data": [{"b64_json": "YQ=="}], "text": "a", "usage": usage}).to_string();
    for (verb, output) in ["image", "speech", "text"].into_iter().enumerate() {
        let body = body.clone();
        let fields = crate::testing::fields_of(async move {
            let scripted = Scripted::new([answer(if verb == 1 { "audio/wav" } else { "application/json" }, body)]);
            let client = scripted.client();
            match verb {
                0 => draw(&client).await.unwrap(),
                1 => speak(&client).await.unwrap(),
                _ => transcribe(&client).await.unwrap(),
            };
        })
        .await;
        let values = |name: &str| -> Vec<&str> {
            fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.as_str()).collect()
        };
        assert_eq!(values("gen_ai.output.type"), [output]);
        assert!(values("gen_ai.operation.name").iter().all(|name| *name == "generate_content"));
        assert_eq!(values("histogram.gen_ai.client.operation.duration").len(), 1);
        let tokens: &[&str] = if verb == 1 { &[] } else { &["3", "7"] };
        assert_eq!(values("histogram.gen_ai.client.token.usage"), tokens, "{output}");
    }
}
