//! JSON as the store writes and reads it.
//!
//! serde_json stops at 128 levels. A tool call may be that deep on its own, and is a few levels deeper in its message:
//! it could be written and never read again. Here the limit is the same in both directions.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// Deeper than any message ever read from a provider, and shallow enough for any thread's stack.
const DEEPEST: usize = 192;

/// Writes a value as JSON text. `what` names it in an error.
pub(crate) fn write<T: Serialize + ?Sized>(what: &str, value: &T) -> Result<String> {
    let text = serde_json::to_string(value).map_err(|error| Error::invalid(format!("{what} is not JSON: {error}")))?;
    match depth(&text) {
        deep if deep > DEEPEST => {
            Err(Error::invalid(format!("{what} is nested {deep} levels deep; at most {DEEPEST} can be kept")))
        }
        _ => Ok(text),
    }
}

/// Reads what [`write`] wrote. The error says what is wrong, not where the text came from.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    if depth(text) > DEEPEST {
        return Err(format!("nested more than {DEEPEST} levels deep"));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    // The depth was checked above.
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

/// The number of open brackets at the deepest point.
fn depth(text: &str) -> usize {
    let (mut now, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;
    use crate::ErrorKind;

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }))
    }

    #[test]
    fn what_can_be_written_can_be_read() {
        for levels in [0, 1, 127, 128, 129, DEEPEST] {
            let text = write("it", &nested(levels)).unwrap();
            assert_eq!(read(&text), Ok(nested(levels)), "{levels}");
        }
        let error = write("the message", &nested(DEEPEST + 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert_eq!(error.to_string(), "the message is nested 193 levels deep; at most 192 can be kept");
        let text = format!("\"{}\"", "[".repeat(1000));
        assert_eq!(read::<String>(&text), Ok("[".repeat(1000)));
        let deep = "[".repeat(1_000_000);
        assert_eq!(read::<Value>(&deep), Err("nested more than 192 levels deep".to_owned()));
    }

    #[test]
    fn brackets_in_texts_do_not_count() {
        assert_eq!(depth(r#"{"a\"[[[":["]]\\"]}"#), 2);
    }

    #[test]
    fn what_follows_the_value_is_an_error() {
        assert!(read::<Value>("{} {}").is_err());
    }
}
