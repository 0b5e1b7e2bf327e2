use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::ErrorKind;
use crate::catalog::Prices;

const LIMITS: Limits = Limits::client();

fn asked(dialect: Dialect, request: &SpeechRequest) -> Result<WireRequest, Error> {
    dialect.speech_request("m", request).map(Option::unwrap)
}

fn openai(body: &[u8], media_type: Option<&str>, request: &SpeechRequest) -> Result<Spoken, Error> {
    Dialect::OpenaiChat.decode_speech(body, media_type, request, &LIMITS)
}

fn part(media_type: &str, bytes: &[u8]) -> Value {
    json!({"inlineData": {"mimeType": media_type, "data": STANDARD.encode(bytes)}})
}

fn gemini(parts: &Value, finish: &str, request: &SpeechRequest) -> Result<Spoken, Error> {
    let answer = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}],
        "usageMetadata": {
            "promptTokenCount": 4, "candidatesTokenCount": 20, "totalTokenCount": 24,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 4}],
            "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 20}]
        }
    });
    Dialect::Gemini.decode_speech(answer.to_string().as_bytes(), Some("application/json"), request, &LIMITS)
}

#[test]
fn openai_is_asked_to_speak() {
    let accept = vec![("accept".to_owned(), "application/octet-stream".to_owned())];
    for dialect in [Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let wire = asked(dialect, &"Good morning".into()).unwrap();
        let body = r#"{"model":"m","input":"Good morning","voice":"alloy"}"#;
        assert_eq!((wire.path.as_str(), String::from_utf8(wire.body).unwrap().as_str()), ("/audio/speech", body));
        assert_eq!(wire.headers, accept);
    }
    let request = SpeechRequest::new("Hi").voice("coral").format("wav").speed(1.5).instructions("Whisper.");
    let wire = asked(Dialect::OpenaiChat, &request).unwrap();
    let body =
        r#"{"model":"m","input":"Hi","voice":"coral","response_format":"wav","speed":1.5,"instructions":"Whisper."}"#;
    assert_eq!((String::from_utf8(wire.body).unwrap().as_str(), wire.losses), (body, Vec::new()));
}

#[test]
fn gemini_is_asked_to_speak() {
    let wire = asked(Dialect::Gemini, &"Good morning".into()).unwrap();
    let body = concat!(
        r#"{"contents":[{"role":"user","parts":[{"text":"Good morning"}]}],"#,
        r#""generationConfig":{"responseModalities":["AUDIO"],"#,
        r#""speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Kore"}}}}}"#
    );
    assert_eq!(String::from_utf8(wire.body).unwrap(), body);
    let request = SpeechRequest::new("Hi").voice("Puck").format("pcm").speed(2.0).instructions("Say cheerfully.");
    let wire = asked(Dialect::Gemini, &request).unwrap();
    let body = json!({
        "contents": [{"role": "user", "parts": [{"text": "Say cheerfully: Hi"}]}],
        "generationConfig": {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Puck"}}}
        }
    });
    assert_eq!(
        (wire.path.as_str(), serde_json::from_slice::<Value>(&wire.body).unwrap()),
        ("/models/m:generateContent", body)
    );
    let losses: Vec<String> = wire.losses.iter().map(ToString::to_string).collect();
    assert_eq!(losses, ["speed at speed: this model has no such choice; say it in `instructions`"]);
}

#[test]
fn what_cannot_be_said_is_an_error_with_the_way_out() {
    for (dialect, request, field, message) in [
        (Dialect::OpenaiChat, " \n".into(), "text", "`text` is empty"),
        (Dialect::Gemini, "".into(), "text", "`text` is empty"),
        (
            Dialect::OpenaiChat,
            SpeechRequest::new("x").speed(f64::NAN),
            "speed",
            "`speed` must be a number above 0; 1 is usual",
        ),
        (
            Dialect::OpenaiChat,
            SpeechRequest::new("x").speed(0.0),
            "speed",
            "`speed` must be a number above 0; 1 is usual",
        ),
        (
            Dialect::Gemini,
            SpeechRequest::new("x").format("mp3"),
            "format",
            "`format` is `mp3`, but this model gives wav and pcm; use one of these",
        ),
    ] {
        let error = asked(dialect, &request).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::InvalidRequest, message));
        assert_eq!(error.param.as_deref(), Some(field));
    }
    for dialect in [Dialect::Anthropic, Dialect::BedrockConverse] {
        assert_eq!(dialect.speech_request("m", &"x".into()), Ok(None));
    }
}

#[test]
fn openais_bytes_are_the_sound_and_its_header_the_type() {
    let plain = SpeechRequest::new("x");
    let opus = SpeechRequest::new("x").format("opus");
    for (media_type, request, expected) in [
        (Some("audio/mpeg"), &plain, "audio/mpeg"),
        (Some("audio/pcm; rate=24000"), &plain, "audio/pcm; rate=24000"),
        (Some("Audio/WAV"), &plain, "Audio/WAV"),
        (Some("application/octet-stream"), &opus, "audio/opus"),
        (Some("application/octet-stream"), &plain, "audio/mpeg"),
        (None, &plain, "audio/mpeg"),
    ] {
        let spoken = openai(b"sound", media_type, request).unwrap();
        let expected = Spoken { audio: b"sound".to_vec(), media_type: expected.to_owned(), ..Spoken::default() };
        assert_eq!(spoken, expected);
    }
    assert_eq!(openai(b"OggS sound", None, &plain).unwrap().media_type, "audio/ogg");
    let shown = format!("{:?}", openai(b"sound", None, &plain).unwrap());
    assert_eq!(shown, r#"Spoken { audio: "5 bytes", media_type: "audio/mpeg", warnings: [], usage: None }"#);
}

#[test]
fn what_is_not_a_sound_is_an_error_that_quotes_it() {
    let plain = SpeechRequest::new("x");
    for (body, media_type, kind, message) in [
        (&b""[..], Some("audio/mpeg"), ErrorKind::Protocol, "the answer holds no audio"),
        (b"", None, ErrorKind::Protocol, "the answer holds no audio"),
        (
            b"<html><body>Sign in</body></html>",
            Some("text/html; charset=utf-8"),
            ErrorKind::Protocol,
            "the answer is not audio but text/html; charset=utf-8; it begins: <html><body>Sign in</body></html>",
        ),
        (
            b"<!DOCTYPE html><html></html>",
            None,
            ErrorKind::Protocol,
            "the answer is not audio but text/html; it begins: <!DOCTYPE html><html></html>",
        ),
        (
            br#"{"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}"#,
            Some("application/json"),
            ErrorKind::RateLimit,
            "Slow down.",
        ),
        (
            br#"{"text": "Hi"}"#,
            Some("application/json"),
            ErrorKind::Protocol,
            r#"the answer is not audio but application/json; it begins: {"text": "Hi"}"#,
        ),
        (
            br#" {"error": {"message": "Slow down.", "code": "rate_limit_exceeded"}}"#,
            Some("application/octet-stream"),
            ErrorKind::RateLimit,
            "Slow down.",
        ),
    ] {
        let error = openai(body, media_type, &plain).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
    }
    let small = Limits { body: 4, ..LIMITS };
    let error = Dialect::OpenaiChat.decode_speech(b"sound", Some("audio/wav"), &plain, &small).unwrap_err();
    assert_eq!(error.message, "the answer has 5 bytes; the limit is 4");
}

#[test]
fn googles_samples_get_the_head_of_a_wav_file() {
    let pcm = "audio/L16;codec=pcm;rate=24000";
    let parts = json!([part(pcm, &[1, 2, 3, 4]), part(pcm, &[5, 6])]);
    let spoken = gemini(&parts, "STOP", &"x".into()).unwrap();
    let mut expected = b"RIFF".to_vec();
    expected.extend(42_u32.to_le_bytes());
    expected.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    expected.extend(24_000_u32.to_le_bytes());
    expected.extend(48_000_u32.to_le_bytes());
    expected.extend(b"\x02\0\x10\0data\x06\0\0\0\x01\x02\x03\x04\x05\x06");
    assert_eq!((spoken.media_type.as_str(), &spoken.audio), ("audio/wav", &expected));
    let usage = spoken.usage().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (4, 20));
    let facts = Facts::new("google", "tts").prices(Prices::per_million(0.5, 10.0));
    assert_eq!(spoken.cost(&facts).unwrap().total().to_string(), "$0.000202");
    let raw = gemini(&json!([part(pcm, &[1, 2])]), "STOP", &SpeechRequest::new("x").format("pcm")).unwrap();
    assert_eq!((raw.media_type.as_str(), raw.audio.as_slice()), (pcm, &[1, 2][..]));
    let other = gemini(&json!([part("audio/mpeg", b"mp3")]), "MAX_TOKENS", &"x".into()).unwrap();
    assert_eq!((other.media_type.as_str(), other.audio.as_slice()), ("audio/mpeg", &b"mp3"[..]));
    let warnings: Vec<String> = other.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["audio at audio: the limit of the model was reached, and the end is missing"]);
    assert_eq!(samples("audio/pcm; rate=0; channels=2; rate=x"), Some((24_000, 2)));
    assert_eq!(samples("audio/L16;rate=4294967295;channels=65535"), Some((u32::MAX, u16::MAX)));
    assert_eq!(wav(&[], u32::MAX, u16::MAX).len(), 44);
}

#[test]
fn googles_silence_says_why() {
    for (parts, finish, kind, message) in [
        (json!([]), "OTHER", ErrorKind::Protocol, "the answer holds no audio (OTHER)"),
        (
            json!([{"text": "No."}]),
            "STOP",
            ErrorKind::Protocol,
            "the answer holds no audio (STOP); the model said: No.",
        ),
        (json!([part("audio/L16", b"")]), "STOP", ErrorKind::Protocol, "the answer holds no audio (STOP)"),
        (json!([]), "SAFETY", ErrorKind::ContentFiltered, "the answer holds no audio (SAFETY)"),
        (
            json!([{"inlineData": {"mimeType": "audio/L16", "data": "?"}}]),
            "STOP",
            ErrorKind::Protocol,
            "the base64 of the audio is broken: Invalid symbol 63, offset 0.",
        ),
    ] {
        let error = gemini(&parts, finish, &"x".into()).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
    }
}
