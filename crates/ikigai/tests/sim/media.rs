//! Pictures, speech and transcripts from the simulator, for every provider that offers them.

use ikigai::{ErrorKind, ImageRequest, SpeechRequest, TranscribeRequest};
use ikigai_sim::Sim;
use pretty_assertions::assert_eq;

use crate::support;

#[tokio::test]
async fn pictures_are_drawn_by_every_provider_that_can() {
    let sim = Sim::start().await.unwrap();
    let client = support::builder(&sim).build().unwrap();
    for (name, count) in [
        ("openai:gpt-image-2", 2),
        ("openai:dall-e-2", 2),
        ("deepseek:somebody/flux", 2),
        ("google:gemini-2.5-flash-image", 1),
        ("google:imagen-4.0-generate-001", 2),
    ] {
        let model = client.model(name).unwrap().strict();
        let drawn = model.draw(ImageRequest::new("a fox in the snow").count(count)).await.unwrap();
        assert_eq!((drawn.images.len(), drawn.model.to_string().as_str()), (count as usize, name));
        for image in &drawn.images {
            assert_eq!(image.media_type.as_deref(), Some("image/png"), "{name}");
            assert!(image.bytes().unwrap().starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        }
    }
}

#[tokio::test]
async fn a_picture_can_be_changed() {
    let sim = Sim::start().await.unwrap();
    let client = support::builder(&sim).build().unwrap();
    for name in ["openai:gpt-image-2", "google:gemini-2.5-flash-image"] {
        let model = client.model(name).unwrap();
        let first = model.draw("a fox").await.unwrap();
        let (bytes, kind) = (first.images[0].bytes().unwrap(), first.images[0].media_type.clone().unwrap());
        let second = model.draw(ImageRequest::new("at night").from_image(bytes, &kind).from_image(bytes, kind)).await;
        let second = second.unwrap();
        assert!(second.images[0].bytes().is_some_and(|changed| changed != bytes), "{name}");
        assert_eq!(second.cost, None, "{name}: nobody knows the price of pictures in a prompt");
        assert!(second.usage.unwrap().input_tokens > first.usage.unwrap().input_tokens, "{name}");
    }
}

#[tokio::test]
async fn what_is_spoken_is_written_down_again() {
    let sim = Sim::start().await.unwrap();
    let client = support::builder(&sim).build().unwrap();
    for (speaker, listener, format, media_type) in [
        ("openai:gpt-4o-mini-tts", "openai:whisper-1", "mp3", "audio/mpeg"),
        ("openai:gpt-4o-mini-tts", "openai:gpt-transcribe", "wav", "audio/wav"),
        ("google:gemini-2.5-flash-preview-tts", "google:gemini-2.5-flash", "wav", "audio/wav"),
        ("google:gemini-2.5-flash-preview-tts", "openai:whisper-1", "wav", "audio/wav"),
        ("openai:gpt-4o-mini-tts", "google:gemini-2.5-flash", "mp3", "audio/mpeg"),
    ] {
        let speaker = client.model(speaker).unwrap();
        let speech = speaker.speak(SpeechRequest::new("Good morning, everybody.").format(format)).await.unwrap();
        assert_eq!(speech.media_type, media_type);
        let listener = client.model(listener).unwrap();
        let request = TranscribeRequest::new(speech.audio, speech.media_type).language("en");
        assert_eq!(listener.transcribe(request).await.unwrap().text, "Good morning, everybody.");
    }
}

#[tokio::test]
async fn refusals_keep_the_providers_words() {
    let sim = Sim::start().await.unwrap();
    let client = support::builder(&sim).build().unwrap();
    let error = client.model("openai:gpt-image-2").unwrap().draw(ImageRequest::new("x").size("1x1")).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, Some(400)));
    assert!(error.to_string().contains("divisible by 16"), "{error}");
    let speech = SpeechRequest::new("x").voice("nobody");
    for name in ["openai:gpt-4o-mini-tts", "google:gemini-2.5-flash-preview-tts"] {
        let error = client.model(name).unwrap().speak(speech.clone()).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, Some(400)), "{name}");
        assert!(error.to_string().contains("nobody"), "{error}");
    }
    let error = client.model("google:gemini-2.5-pro").unwrap().draw("a fox").await.unwrap_err();
    assert!(error.to_string().contains("response modalities (TEXT, IMAGE) is not supported"), "{error}");
}

#[tokio::test]
async fn a_fault_in_the_middle_is_an_error_and_nothing_is_sent_again() {
    for fault in ["cut_mid_event", "wrong_content_type", "cut_before_headers"] {
        let sim = Sim::start().await.unwrap();
        let client = support::builder(&sim).build().unwrap();
        let model = client.model("openai:gpt-4o-mini-tts").unwrap().header("x-sim-fault", fault);
        assert!(model.speak("Good morning").await.is_err(), "{fault}");
        assert_eq!(sim.requests().len(), 1, "{fault}");
    }
}
