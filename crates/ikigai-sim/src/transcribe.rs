//! Transcripts: the words of speech that was made here, and the size of other sounds.

use ikigai_core::wire::WireError;
use serde_json::{Value, json};

use crate::audio;
use crate::deliver::Answer;
use crate::service::Call;
use crate::wishes::{Kind, Wishes, missing, refuse};

const FIELDS: &[(&str, Kind)] = &[
    ("file", Kind::File),
    ("model", Kind::Text),
    ("language", Kind::Text),
    ("languages", Kind::Any),
    ("keywords", Kind::Any),
    ("prompt", Kind::Text),
    ("response_format", Kind::Text),
    ("temperature", Kind::Number),
    ("stream", Kind::Flag),
    ("include", Kind::Any),
    ("chunking_strategy", Kind::Any),
    ("timestamp_granularities", Kind::Any),
    ("known_speaker_names", Kind::Any),
    ("known_speaker_references", Kind::Any),
];
/// The accepted files, by the extensions of their names.
const FORMATS: &[&str] = &["flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm"];
/// The largest file, in bytes.
const LARGEST: usize = 25 << 20;

/// Transcribes a file.
pub(crate) fn answer(call: &Call) -> Answer {
    attempt(call).unwrap_or_else(Into::into)
}

/// What a sound says.
pub(crate) fn words(sound: &[u8]) -> String {
    audio::words(sound).unwrap_or_else(|| format!("A sound of {} bytes.", sound.len()))
}

fn attempt(call: &Call) -> Result<Answer, WireError> {
    let wishes = Wishes::of_form(call, FIELDS)?;
    let is_made_for = |model: &str| model.contains("whisper") || model.contains("transcribe");
    let model = wishes.model(is_made_for, "v1/audio/transcriptions")?;
    let [file] = wishes.files.as_slice() else { return Err(missing("file")) };
    let ending =
        file.file_name.as_deref().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_lowercase());
    if file.content.is_empty() || !ending.is_some_and(|ending| FORMATS.contains(&ending.as_str())) {
        let formats: Vec<String> = FORMATS.iter().map(|format| format!("'{format}'")).collect();
        let message = format!("Invalid file format. Supported formats: [{}]", formats.join(", "));
        return Err(refuse(message, Some("file"), None));
    }
    if file.content.len() > LARGEST {
        let message = format!("Maximum content size limit ({LARGEST}) exceeded ({} bytes read)", file.content.len());
        let mut error = refuse(message, None, None);
        error.status = 413;
        return Err(error);
    }
    if let Some(language) = wishes.text("language")
        && !((2..=3).contains(&language.len()) && language.bytes().all(|byte| byte.is_ascii_lowercase()))
    {
        let message =
            format!("Invalid language '{language}'. Language parameter must be specified in ISO-639-1 format.");
        return Err(refuse(message, Some("language"), Some("invalid_language_format")));
    }
    wishes.in_range("temperature", 0.0, 1.0)?;
    let counts_seconds = model.contains("whisper");
    if !counts_seconds {
        wishes.not_streamed()?;
    }
    let format = wishes.one_of("response_format", &["json", "text", "srt", "verbose_json", "vtt", "diarized_json"])?;
    let (text, seconds) = (words(file.content), audio::seconds(file.content));
    let usage = if counts_seconds {
        json!({"type": "duration", "seconds": seconds.ceil()})
    } else {
        let (heard, written) = ((seconds * 10.0).ceil() as u64, text.chars().count().div_ceil(4) as u64);
        json!({
            "type": "tokens", "input_tokens": heard, "output_tokens": written, "total_tokens": heard + written,
            "input_token_details": {"text_tokens": 0, "audio_tokens": heard}
        })
    };
    match (format.unwrap_or("json"), counts_seconds) {
        ("json", _) => Ok(Answer::json(&json!({"text": text, "usage": usage}))),
        ("verbose_json", true) => {
            let language = wishes.text("language").unwrap_or("english");
            Ok(Answer::json(&json!({
                "task": "transcribe", "language": language, "duration": seconds, "text": text,
                "segments": Value::Array(Vec::new()), "usage": usage
            })))
        }
        ("text", true) => {
            let text = format!("{text}\n").into_bytes();
            Ok(Answer { content_type: "text/plain; charset=utf-8".into(), ..Answer::bytes(text) })
        }
        ("srt" | "vtt", true) => {
            let message = "the simulator writes no subtitles: use json, text or verbose_json";
            Err(refuse(message, Some("response_format"), Some("unsupported_value")))
        }
        (other, _) => {
            let message =
                format!("response_format '{other}' is not compatible with model '{model}'. Use 'json' instead.");
            Err(refuse(message, Some("response_format"), Some("unsupported_value")))
        }
    }
}
