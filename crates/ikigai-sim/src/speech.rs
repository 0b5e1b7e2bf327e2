//! Speech: a tone that contains its words.

use ikigai_core::wire::WireError;
use serde_json::Value;

use crate::audio;
use crate::deliver::Answer;
use crate::service::Call;
use crate::wishes::{Kind, Wishes, missing, refuse};

const FIELDS: &[(&str, Kind)] = &[
    ("input", Kind::Text),
    ("model", Kind::Text),
    ("voice", Kind::Any),
    ("instructions", Kind::Text),
    ("response_format", Kind::Text),
    ("speed", Kind::Number),
    ("stream_format", Kind::Text),
];
const VOICES: &[&str] =
    &["alloy", "ash", "ballad", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "verse", "marin", "cedar"];
/// The most characters that are spoken at once.
const LONGEST: usize = 4096;

/// Reads a text aloud.
pub(crate) fn answer(call: &Call) -> Answer {
    attempt(call).unwrap_or_else(Into::into)
}

fn attempt(call: &Call) -> Result<Answer, WireError> {
    let wishes = Wishes::of_json(call, FIELDS)?;
    let model = wishes.model(|model| model.contains("tts"), "v1/audio/speech")?;
    let words = wishes.needed("input", LONGEST)?;
    match wishes.value("voice") {
        None => return Err(missing("voice")),
        Some(Value::String(_)) if crate::models::is_openais(model) => drop(wishes.one_of("voice", VOICES)?),
        Some(Value::String(_)) => {}
        // A custom voice.
        Some(Value::Object(voice)) if voice.get("id").is_some_and(Value::is_string) => {}
        Some(_) => {
            let message = "Invalid type for 'voice': expected a string or an object with an id.";
            return Err(refuse(message, Some("voice"), Some("invalid_type")));
        }
    }
    wishes.in_range("speed", 0.25, 4.0)?;
    if wishes.one_of("stream_format", &["sse", "audio"])? == Some("sse") {
        let message = "the simulator does not stream pictures and sounds";
        return Err(refuse(message, Some("stream_format"), Some("unsupported_value")));
    }
    let format = wishes.one_of("response_format", &["mp3", "opus", "aac", "flac", "wav", "pcm"])?;
    let (media_type, bytes) = match format.unwrap_or("mp3") {
        "mp3" => ("audio/mpeg", audio::mp3(words)),
        "wav" => ("audio/wav", audio::wav(words)),
        "pcm" => ("audio/pcm", audio::samples(words)),
        other => {
            let message = format!("the simulator speaks mp3, wav and pcm, not {other}");
            return Err(refuse(message, Some("response_format"), Some("unsupported_value")));
        }
    };
    Ok(Answer { content_type: media_type.into(), ..Answer::bytes(bytes) })
}
