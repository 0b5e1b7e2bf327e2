//! Pictures, speech and transcripts, over a real socket.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai_core::catalog::rules_for;
use ikigai_core::wire::{ImageRequest, SpeechRequest, TranscribeRequest, WireRequest};
use ikigai_core::{Dialect, Limits};
use ikigai_sim::Sim;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Got, send, send_with, split};

const LIMITS: Limits = Limits::client();

/// Sends the bytes that a dialect wrote.
fn post(sim: &Sim, wire: &WireRequest) -> Got {
    let path = match wire.path.strip_prefix("/models/") {
        Some(_) => format!("/v1beta{}", wire.path),
        None => format!("/v1{}", wire.path),
    };
    let mut stream = TcpStream::connect(sim.url().strip_prefix("http://").unwrap()).unwrap();
    let headers: String = wire.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: sim\r\nconnection: close\r\nauthorization: Bearer key\r\n{headers}content-length: {}\r\n\r\n",
        wire.body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&wire.body).unwrap();
    let mut raw = Vec::new();
    stream.read_to_end(&mut raw).unwrap();
    split(&raw, None)
}

/// A form whose parts are spelled out: `name=value`, or `name@file name@media type=value`.
fn form(path: &str, parts: &[&str]) -> WireRequest {
    let mut body = String::new();
    for part in parts {
        let (name, value) = part.split_once('=').unwrap();
        let mut names = name.split('@');
        body.push_str(&format!("--b\r\ncontent-disposition: form-data; name=\"{}\"", names.next().unwrap()));
        if let Some(file) = names.next() {
            body.push_str(&format!("; filename=\"{file}\"\r\ncontent-type: {}", names.next().unwrap()));
        }
        body.push_str(&format!("\r\n\r\n{value}\r\n"));
    }
    body.push_str("--b--\r\n");
    let headers = vec![("content-type".to_owned(), "multipart/form-data; boundary=b".to_owned())];
    let mut wire = WireRequest::default();
    (wire.path, wire.headers, wire.body) = (path.to_owned(), headers, body.into_bytes());
    wire
}

fn message(got: &Got) -> String {
    got.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_drawn_in_every_form() {
    let sim = Sim::start().await.unwrap();
    for (dialect, model, request, pictures) in [
        (Dialect::OpenaiChat, "gpt-image-2", ImageRequest::new("a fox").count(2).size("1536x1024"), 2),
        (Dialect::OpenaiChat, "dall-e-2", ImageRequest::new("a fox"), 1),
        (Dialect::OpenaiChat, "gpt-image-2", ImageRequest::new("at night").from_image(*b"\x89PNG", "image/png"), 1),
        (Dialect::OpenaiChat, "black-forest-labs/flux", ImageRequest::new("a fox"), 1),
        (Dialect::Gemini, "gemini-2.5-flash-image", ImageRequest::new("a fox").size("3:2"), 1),
        (Dialect::Gemini, "imagen-4.0-generate-001", ImageRequest::new("a fox").count(3), 3),
    ] {
        let rules = rules_for(model);
        let wire = dialect.image_request(model, &request, rules).unwrap().unwrap();
        let got = post(&sim, &wire);
        assert_eq!(got.status(), 200, "{model}: {got:?}");
        let drawn = dialect.decode_images(&got.body, rules, &LIMITS).unwrap();
        let kinds: Vec<_> = drawn.pictures.iter().map(|picture| picture.media_type.as_deref()).collect();
        assert_eq!(kinds, vec![Some("image/png"); pictures], "{model}");
        assert!(drawn.pictures.iter().all(|picture| picture.bytes().unwrap().starts_with(b"\x89PNG\r\n\x1a\n")));
        assert_eq!(post(&sim, &wire).body, got.body, "the same words give the same picture");
    }
    let got = send(&sim, "/v1/images/generations", "", &json!({"model": "dall-e-3", "prompt": "a fox"}));
    assert_eq!(got.json()["data"], json!([{"url": "https://images.invalid/0.png"}]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_spoken_here_is_written_down_here() {
    let sim = Sim::start().await.unwrap();
    let said = "Good morning, Åse!";
    for (dialect, speaker, listener, format) in [
        (Dialect::OpenaiChat, "gpt-4o-mini-tts", "whisper-1", "mp3"),
        (Dialect::OpenaiChat, "tts-1", "gpt-4o-transcribe", "wav"),
        (Dialect::OpenaiChat, "openai/tts", "whisper-large-v3", "wav"),
        (Dialect::Gemini, "gemini-2.5-flash-preview-tts", "gemini-2.5-flash", "wav"),
    ] {
        let request = SpeechRequest::new(said).format(format);
        let got = post(&sim, &dialect.speech_request(speaker, &request).unwrap().unwrap());
        assert_eq!(got.status(), 200, "{speaker}: {got:?}");
        let spoken = dialect.decode_speech(&got.body, got.header("content-type"), &request, &LIMITS).unwrap();
        let request = TranscribeRequest::new(spoken.audio, spoken.media_type.as_str());
        let got = post(&sim, &dialect.transcribe_request(listener, &request).unwrap().unwrap());
        assert_eq!(got.status(), 200, "{listener}: {got:?}");
        let found = dialect.decode_transcript(&got.body, &LIMITS).unwrap();
        assert_eq!(found.text, said, "{speaker} to {listener}");
        assert!(found.usage.is_some() || found.seconds.is_some(), "{found:?}");
    }
    // Other sounds are described by their size.
    let got = post(&sim, &form("/audio/transcriptions", &["model=whisper-1", "file@a.wav@audio/wav=RIFF"]));
    assert_eq!(got.json(), json!({"text": "A sound of 4 bytes.", "usage": {"type": "duration", "seconds": 1.0}}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_brings_pictures_and_speech_too() {
    let sim = Sim::start().await.unwrap();
    for (model, modality) in [("gemini-2.5-flash-image", "IMAGE"), ("gemini-2.5-flash-preview-tts", "AUDIO")] {
        let body = json!({
            "contents": [{"parts": [{"text": "a fox"}]}], "generationConfig": {"responseModalities": [modality]}
        });
        let got = send(&sim, &format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"), "", &body);
        let kinds: Vec<&str> =
            got.response(Dialect::Gemini).content.iter().map(|block| block.kind().as_str()).collect();
        assert_eq!(kinds, [if modality == "IMAGE" { "image" } else { "audio" }]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_the_apis_refuse_are_refused() {
    let sim = Sim::start().await.unwrap();
    let image = |patch: Value| {
        let mut body = json!({"model": "gpt-image-2", "prompt": "a fox"});
        body.as_object_mut().unwrap().extend(patch.as_object().unwrap().clone());
        ("/v1/images/generations", body)
    };
    let speech = |patch: Value| {
        let mut body = json!({"model": "gpt-4o-mini-tts", "input": "Hi", "voice": "alloy"});
        body.as_object_mut().unwrap().extend(patch.as_object().unwrap().clone());
        ("/v1/audio/speech", body)
    };
    let imagen = |body: Value| ("/v1beta/models/imagen-4.0-generate-001:predict", body);
    for ((path, body), status, told) in [
        (image(json!({"model": "foo"})), 404, "The model `foo` does not exist or you do not have access to it."),
        (image(json!({"model": null})), 400, "you must provide a model parameter"),
        (
            image(json!({"model": "gpt-4.1"})),
            400,
            "The model `gpt-4.1` is not supported in the v1/images/generations endpoint.",
        ),
        (image(json!({"prompt": null})), 400, "Missing required parameter: 'prompt'."),
        (image(json!({"prompt": ""})), 400, "Invalid 'prompt': empty string."),
        (image(json!({"prompt": "x".repeat(32_001)})), 400, "Invalid 'prompt': string too long."),
        (image(json!({"n": "2"})), 400, "Invalid type for 'n': expected an integer, but got a string instead."),
        (
            image(json!({"n": 11})),
            400,
            "Invalid 'n': integer above maximum value. Expected a value <= 10, but got 11 instead.",
        ),
        (
            image(json!({"n": 0})),
            400,
            "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead.",
        ),
        (image(json!({"foo": 1})), 400, "Unknown parameter: 'foo'."),
        (image(json!({"response_format": "b64_json"})), 400, "Unknown parameter: 'response_format'."),
        (image(json!({"size": "10x10"})), 400, "Invalid size '10x10'."),
        (image(json!({"size": "99999999999x16"})), 400, "Invalid size '99999999999x16'."),
        (
            image(json!({"model": "gpt-image-1", "size": "512x512"})),
            400,
            "Invalid value: '512x512'. Supported values are: '1024x1024',",
        ),
        (image(json!({"quality": "best"})), 400, "Invalid value: 'best'. Supported values are: 'low', "),
        (image(json!({"stream": true})), 400, "the simulator does not stream"),
        (speech(json!({"input": null})), 400, "Missing required parameter: 'input'."),
        (speech(json!({"input": "x".repeat(4097)})), 400, "Invalid 'input': string too long."),
        (speech(json!({"voice": null})), 400, "Missing required parameter: 'voice'."),
        (speech(json!({"voice": "Kore"})), 400, "Invalid value: 'Kore'. Supported values are: 'alloy', "),
        (speech(json!({"voice": 1})), 400, "Invalid type for 'voice'"),
        (speech(json!({"speed": 5.0})), 400, "Invalid 'speed': decimal above maximum value."),
        (speech(json!({"response_format": "midi"})), 400, "Invalid value: 'midi'."),
        (speech(json!({"response_format": "flac"})), 400, "the simulator speaks mp3, wav and pcm, not flac"),
        (speech(json!({"model": "gpt-image-2"})), 400, "The model `gpt-image-2` is not supported"),
        (
            imagen(json!({"prompt": "x"})),
            400,
            "Invalid JSON payload received. Unknown name \"prompt\": Cannot find field.",
        ),
        (imagen(json!({"instances": []})), 400, "Expected exactly one instance, but got 0."),
        (imagen(json!({"instances": [{"prompt": " "}]})), 400, "Text prompt cannot be empty."),
        (
            imagen(json!({"instances": [{"prompt": "x"}], "parameters": {"n": 1}})),
            400,
            "Invalid JSON payload received. Unknown name \"n\" at 'parameters'",
        ),
        (
            imagen(json!({"instances": [{"prompt": "x"}], "parameters": {"sampleCount": 5}})),
            400,
            "sampleCount must be between 1 and 4, but got 5.",
        ),
        (
            imagen(json!({"instances": [{"prompt": "x"}], "parameters": {"aspectRatio": "3:2"}})),
            400,
            "aspectRatio \"3:2\" is not supported",
        ),
        (
            ("/v1beta/models/gemini-2.5-pro:predict", json!({})),
            404,
            "models/gemini-2.5-pro is not found for API version v1beta, or is not supported for predict.",
        ),
        (("/v1beta/models/imagen-nobody:predict", json!({})), 404, "models/imagen-nobody is not found"),
        (
            ("/v1/chat/completions", json!({"model": "gpt-image-2", "messages": [{"role": "user", "content": "x"}]})),
            404,
            "This is not a chat model",
        ),
    ] {
        let got = send(&sim, path, "", &body);
        assert_eq!(got.status(), status, "{path} {body}: {got:?}");
        assert!(message(&got).starts_with(told), "{path} {body}: {}", message(&got));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_that_the_apis_refuse_are_refused() {
    let sim = Sim::start().await.unwrap();
    let (edits, transcriptions) = ("/images/edits", "/audio/transcriptions");
    let (model, prompt, png) = ("model=gpt-image-2", "prompt=x", "image@a.png@image/png=PNG");
    let (whisper, wav) = ("model=whisper-1", "file@a.wav@audio/wav=RIFF");
    for (path, parts, told) in [
        (edits, &[model, prompt][..], "Missing required parameter: 'image'."),
        (edits, &[model, png], "Missing required parameter: 'prompt'."),
        (edits, &[model, prompt, "image=PNG"], "Invalid type for 'image': expected a file, but got a string instead."),
        (edits, &[model, prompt, "image@a.png@image/png="], "Invalid file 'image': the file is empty."),
        (edits, &[model, prompt, png, "n=two"], "Invalid type for 'n': expected an integer"),
        (edits, &[model, prompt, png, "n=[1]"], "Invalid type for 'n': expected an integer, but got a string instead."),
        (edits, &[model, prompt, png, "moderation=low"], "Unknown parameter: 'moderation'."),
        (edits, &[model, prompt, png, "other@a.png@image/png=PNG"], "Unknown parameter: 'other'."),
        (
            edits,
            &[model, prompt, "image@a.wav@audio/wav=RIFF"],
            "Invalid file 'image': unsupported mimetype ('audio/wav').",
        ),
        (transcriptions, &[whisper], "Missing required parameter: 'file'."),
        (transcriptions, &[wav], "you must provide a model parameter"),
        (transcriptions, &[whisper, "file@a.txt@audio/wav=RIFF"], "Invalid file format. Supported formats: ['flac', "),
        (transcriptions, &[whisper, wav, "language=english"], "Invalid language 'english'."),
        (transcriptions, &[whisper, wav, "temperature=2"], "Invalid 'temperature': integer above maximum value."),
        (transcriptions, &[whisper, wav, "response_format=xml"], "Invalid value: 'xml'."),
        (transcriptions, &[whisper, wav, "response_format=vtt"], "the simulator writes no subtitles"),
        (
            transcriptions,
            &["model=gpt-4o-transcribe", wav, "response_format=verbose_json"],
            "response_format 'verbose_json' is not compatible with model 'gpt-4o-transcribe'.",
        ),
        (transcriptions, &["model=gpt-image-2", wav], "The model `gpt-image-2` is not supported"),
    ] {
        let got = post(&sim, &form(path, parts));
        assert_eq!(got.status(), 400, "{path} {parts:?}: {got:?}");
        assert!(message(&got).starts_with(told), "{path} {parts:?}: {}", message(&got));
    }
    let many: Vec<&str> = [model, prompt].into_iter().chain([png; 17]).collect();
    assert!(message(&post(&sim, &form(edits, &many))).starts_with("Invalid 'image': array too long."));
    let got = send(&sim, "/v1/images/edits", "content-type: application/json\r\n", &json!({}));
    assert_eq!(message(&got), "We could not parse the form of your request: expected multipart/form-data.");
    let large = "x".repeat((25 << 20) + 1);
    let got = post(&sim, &form(transcriptions, &[whisper, &format!("file@a.wav@audio/wav={large}")]));
    assert_eq!(
        (got.status(), message(&got).starts_with("Maximum content size limit (26214400) exceeded")),
        (413, true)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_asked_for_before_anything_else() {
    let sim = Sim::start().await.unwrap();
    for path in ["/v1/images/generations", "/v1/images/edits", "/v1/audio/speech", "/v1/audio/transcriptions"] {
        assert_eq!(send_with(&sim, path, "", &json!({})).status(), 401, "{path}");
    }
    let path = "/v1beta/models/imagen-4.0-generate-001:predict";
    assert_eq!(send_with(&sim, path, "", &json!({})).status(), 403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_google_gives_says_its_kind_and_its_tokens() {
    let sim = Sim::start().await.unwrap();
    let body = json!({
        "contents": [{"parts": [{"text": "Say cheerfully: Have a wonderful day!"}]}],
        "generationConfig": {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}
        }
    });
    let got = send(&sim, "/v1beta/models/gemini-2.5-flash-preview-tts:generateContent", "", &body).json();
    let part = &got["candidates"][0]["content"]["parts"][0]["inlineData"];
    assert_eq!(part["mimeType"], "audio/L16;codec=pcm;rate=24000");
    assert!(STANDARD.decode(part["data"].as_str().unwrap()).unwrap().len() > 10_000);
    let usage = &got["usageMetadata"];
    assert_eq!(
        (&usage["promptTokensDetails"][0]["modality"], &usage["candidatesTokensDetails"][0]["modality"]),
        (&json!("TEXT"), &json!("AUDIO"))
    );
    assert_eq!(usage["promptTokensDetails"][0]["tokenCount"], usage["promptTokenCount"]);
    assert_eq!(usage["candidatesTokensDetails"][0]["tokenCount"], usage["candidatesTokenCount"]);
}
