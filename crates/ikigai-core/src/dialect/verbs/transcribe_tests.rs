use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::ErrorKind;

const LIMITS: Limits = Limits::client();

fn asked(dialect: Dialect, request: &TranscribeRequest) -> Result<WireRequest, Error> {
    dialect.transcribe_request("m", request).map(Option::unwrap)
}

#[test]
fn openai_gets_a_form_with_the_sound() {
    let request = TranscribeRequest::new(*b"RIFF", "audio/x-wav").language("en").prompt("Ikigai");
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let wire = asked(dialect, &request).unwrap();
        let expected = "--ikigai-boundary-0000000000000000\r\n\
            content-disposition: form-data; name=\"model\"\r\n\r\n\
            m\r\n\
            --ikigai-boundary-0000000000000000\r\n\
            content-disposition: form-data; name=\"response_format\"\r\n\r\n\
            json\r\n\
            --ikigai-boundary-0000000000000000\r\n\
            content-disposition: form-data; name=\"language\"\r\n\r\n\
            en\r\n\
            --ikigai-boundary-0000000000000000\r\n\
            content-disposition: form-data; name=\"prompt\"\r\n\r\n\
            Ikigai\r\n\
            --ikigai-boundary-0000000000000000\r\n\
            content-disposition: form-data; name=\"file\"; filename=\"audio.wav\"\r\n\
            content-type: audio/x-wav\r\n\r\n\
            RIFF\r\n\
            --ikigai-boundary-0000000000000000--\r\n";
        assert_eq!(
            (wire.path.as_str(), String::from_utf8(wire.body).unwrap().as_str()),
            ("/audio/transcriptions", expected)
        );
        let form = "multipart/form-data; boundary=ikigai-boundary-0000000000000000";
        assert_eq!(wire.headers, [("content-type".to_owned(), form.to_owned())]);
    }
}

#[test]
fn file_names_tell_the_type() {
    for (media_type, expected) in [
        ("audio/mpeg", "audio.mp3"),
        ("audio/mp4", "audio.m4a"),
        ("video/mp4", "audio.mp4"),
        ("audio/wave", "audio.wav"),
        ("audio/ogg; codecs=opus", "audio.ogg"),
        ("audio/webm;codecs=opus", "audio.webm"),
        ("audio/x-flac", "audio.flac"),
        ("audio/vnd.odd+x", "audio.bin"),
        ("audio/", "audio.bin"),
    ] {
        assert_eq!(MediaFile::new(*b"x", media_type).file_name("audio"), expected);
    }
}

#[test]
fn gemini_is_told_to_write_down_every_word() {
    let request: TranscribeRequest = (*b"abc", "audio/wav").into();
    let wire = asked(Dialect::Gemini, &request).unwrap();
    let order = "Transcribe this audio word for word. Write nothing but the words that are said: no introduction, no \
                 timestamps, no names of speakers.";
    let body = |order: &str| {
        let sound = json!({"inlineData": {"mimeType": "audio/wav", "data": "YWJj"}});
        json!({"contents": [{"role": "user", "parts": [sound, {"text": order}]}]})
    };
    assert_eq!(
        (wire.path.as_str(), serde_json::from_slice::<Value>(&wire.body).unwrap()),
        ("/models/m:generateContent", body(order))
    );
    let wire = asked(Dialect::Gemini, &request.language("en").prompt("Ikigai")).unwrap();
    let order = format!("{order} The language is en. This may help with names and with what went before: Ikigai");
    assert_eq!(serde_json::from_slice::<Value>(&wire.body).unwrap(), body(&order));
}

#[test]
fn what_is_not_a_sound_is_not_sent() {
    for (request, message) in [
        (TranscribeRequest::new(*b"", "audio/wav"), "`audio` is empty"),
        (TranscribeRequest::new(*b"x", "wav"), "`audio` has the media type `wav`; use one of audio/, video/"),
    ] {
        for dialect in Dialect::PROVIDERS {
            let error = dialect.transcribe_request("m", &request).unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (ErrorKind::InvalidRequest, message));
            assert_eq!(error.param.as_deref(), Some("audio"));
        }
    }
    for dialect in [Dialect::Anthropic, Dialect::BedrockConverse] {
        assert_eq!(dialect.transcribe_request("m", &TranscribeRequest::new(*b"x", "audio/wav")), Ok(None));
    }
}

#[test]
fn openais_words_are_read_with_tokens_or_seconds() {
    let read = |answer: Value| Dialect::OpenaiChat.decode_transcript(answer.to_string().as_bytes(), &LIMITS);
    let found = read(json!({"text": " Good morning. ", "usage": {"type": "duration", "seconds": 2.5}})).unwrap();
    let expected = Transcribed { text: "Good morning.".into(), seconds: Some(2.5), ..Transcribed::default() };
    assert_eq!(found, expected);
    let found = read(json!({"text": "Hi", "usage": {
        "type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19,
        "input_token_details": {"text_tokens": 0, "audio_tokens": 14}
    }}))
    .unwrap();
    let usage = found.usage.unwrap();
    assert_eq!((found.text.as_str(), found.seconds, usage.input_tokens, usage.output_tokens), ("Hi", None, 14, 5));
    // Silence, and a copy of the API that sends nothing else.
    assert_eq!(read(json!({"text": ""})), Ok(Transcribed::default()));
    assert_eq!(read(json!({"text": "", "duration": 3})).unwrap().seconds, Some(3.0));
}

#[test]
fn googles_words_are_read() {
    let read = |candidate: Value| {
        let answer = json!({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 2, "totalTokenCount": 42}});
        Dialect::Gemini.decode_transcript(answer.to_string().as_bytes(), &LIMITS)
    };
    let said = |words: &str, finish: &str| json!({"content": {"parts": [{"text": words}]}, "finishReason": finish});
    let found = read(said("Good morning.\n", "STOP")).unwrap();
    let usage = found.usage.unwrap();
    assert_eq!((found.text.as_str(), usage.input_tokens, usage.output_tokens), ("Good morning.", 40, 2));
    let found = read(said("Good", "MAX_TOKENS")).unwrap();
    let warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["transcript at transcript: the limit of the model was reached, and the end is missing"]);
    let error = read(said("", "SAFETY")).unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::ContentFiltered, "the answer holds no transcript (SAFETY)")
    );
}

#[test]
fn what_is_not_a_transcript_says_so() {
    let answer = br#"{"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}"#;
    let error = Dialect::OpenaiChat.decode_transcript(answer, &LIMITS).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::RateLimit, "Slow down."));
    for body in ["{}", "{\"text\": 1}", "[]", "null"] {
        let error = Dialect::OpenaiChat.decode_transcript(body.as_bytes(), &LIMITS).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Protocol, "the answer holds no transcript"));
    }
    for dialect in [Dialect::OpenaiChat, Dialect::Gemini] {
        for body in ["<html></html>", "", "WEBVTT\n\n00:00"] {
            let error = dialect.decode_transcript(body.as_bytes(), &LIMITS).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Protocol);
            assert!(error.message.starts_with("the answer cannot be read: "), "{}", error.message);
        }
    }
}
