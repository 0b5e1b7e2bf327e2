//! Chunks that are like the one before, but for their text.
//!
//! A chunk repeats all that stands around its few words: ids, names, times, fields that are `null`. Once a chunk was
//! read and was found to bring text and nothing else, another one with the same bytes around its text brings nothing
//! else either, and need not be read again. Whatever differs is left to the JSON parser.

use std::borrow::Cow;
use std::ops::Range;

use crate::dialect::openai_chat::wire::{Answer, Content};
use crate::json::loose::{Item, Loose as _};
use crate::json::wire::Text;

/// What OpenAI pads its chunks with, so that their length tells nothing: the last field, different in each.
const PADDING: &str = r#""obfuscation":""#;
const END: &str = "\"}";

/// The bytes around the text of the last chunk that brought nothing else.
#[derive(Debug, Default)]
pub(super) struct Alike {
    before: String,
    /// Up to the padding, where there is some.
    behind: String,
    padded: bool,
}

impl Alike {
    /// The text of a chunk, when all around it is known.
    pub(super) fn read<'a>(&self, data: &'a str) -> Option<Cow<'a, str>> {
        if self.before.is_empty() {
            return None;
        }
        let rest = data.strip_prefix(self.before.as_str())?;
        let end = end_of_string(rest)?;
        let (inner, rest) = rest.split_at_checked(end)?;
        let rest = rest.strip_prefix(self.behind.as_str())?;
        let known = if self.padded { rest.strip_suffix(END).is_some_and(is_plain) } else { rest.is_empty() };
        if !known {
            return None;
        }
        if is_plain(inner) {
            return Some(Cow::Borrowed(inner));
        }
        // With its quotation marks, the text is JSON by itself.
        let start = self.before.len().checked_sub(1)?;
        let literal = data.get(start..=self.before.len() + end)?;
        serde_json::from_str(literal).ok().map(Cow::Owned)
    }

    /// Remembers what stands around the text.
    pub(super) fn learn(&mut self, data: &str, text: Range<usize>) {
        let (Some(before), Some(behind)) = (data.get(..text.start), data.get(text.end..)) else { return };
        let padding = behind.rfind(PADDING).map(|at| at + PADDING.len());
        let padding =
            padding.filter(|at| behind.get(*at..).and_then(|rest| rest.strip_suffix(END)).is_some_and(is_plain));
        self.padded = padding.is_some();
        before.clone_into(&mut self.before);
        behind.get(..padding.unwrap_or(behind.len())).unwrap_or(behind).clone_into(&mut self.behind);
    }
}

/// Where the text of a chunk stands in its bytes; `None` if the chunk brings anything else, or has an escape in the text.
pub(super) fn only_text(data: &str, chunk: &Answer<'_>) -> Option<Range<usize>> {
    let [Item::Fits(choice)] = chunk.choices.0.as_deref()? else { return None };
    let delta = choice.delta.as_deref()?;
    let Content::Text(Text(Cow::Borrowed(text))) = &delta.content else { return None };
    let brings_more = chunk.usage.is_some()
        || choice.index.is_some_and(|index| index != 0)
        || choice.finish_reason.is_some()
        || choice.logprobs.is_some()
        || super::has_usage(choice)
        || !delta.reasoning_content.is_absent()
        || !delta.reasoning.is_absent()
        || !delta.refusal.is_absent()
        || delta.audio.is_some()
        || delta.function_call.is_some()
        || delta.extra_content.is_some()
        || !(delta.details.is_empty() && delta.tool_calls.is_empty() && delta.images.is_empty())
        || delta.rest.iter().any(|(name, value)| value.get() != "null" && !super::is_said_elsewhere(name));
    // The text is a piece of the data: its address says which.
    let start = text.as_ptr().addr().checked_sub(data.as_ptr().addr())?;
    let place = start..start.checked_add(text.len())?;
    (!brings_more && data.get(place.clone()) == Some(*text)).then_some(place)
}

/// Whether JSON writes this text as it is.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

/// Where the string ends that has begun: at a quotation mark that is not escaped.
fn end_of_string(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.as_bytes().get(at..)?)?;
        match text.as_bytes().get(at)? {
            b'"' => return Some(at),
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use crate::wire::{Ids, StreamDecoder};
    use crate::{Dialect, Event, Limits};

    const START: &str = r#"{"id":"c1","created":7,"choices":[{"index":0,"delta":{"content":"#;
    const PLAIN: &str = r#"},"logprobs":null,"finish_reason":null}],"usage":null}"#;
    const PADDED: &str = r#"},"finish_reason":null}],"obfuscation":"pQ7"}"#;

    fn events(chunks: &[&str]) -> Vec<Event> {
        let mut decoder = StreamDecoder::new(Dialect::OpenaiChat, Ids::default(), &Limits::default());
        let mut out = Vec::new();
        for chunk in chunks {
            decoder.feed(format!("data: {chunk}\n\n").as_bytes(), &mut out);
        }
        out
    }

    /// A chunk is read the same, whether or not it is like the one before.
    fn check(before: &str, chunk: &str) {
        let first = before.replacen('{', "{ ", 1);
        let unlike = events(&[&first, &first, chunk]);
        assert_eq!(events(&[before, before, chunk]), unlike, "{before} {chunk}");
    }

    #[test]
    fn only_what_is_known_around_the_text_is_passed_over() {
        for end in [PLAIN, PADDED] {
            let before = format!(r#"{START}"Hello"{end}"#);
            for text in [
                r#"" there""#,
                r#""""#,
                r#""\"\\\n""#,
                r#""é\u00e9😀\ud83d\ude00""#,
                r#""\ud83d""#,
                r#""\x""#,
                "\"\u{1}\"",
                "null",
                "7",
                r#"""""#,
            ] {
                check(&before, &format!("{START}{text}{end}"));
            }
            for other in [
                format!(r#"{START}"a"{}"#, r#"},"finish_reason":"stop"}],"usage":null}"#),
                format!(
                    r#"{START}"a"{}"#,
                    r#"},"finish_reason":null}],"obfuscation":"a","usage":{"prompt_tokens":1}}"#
                ),
                format!(r#"{START}"a"{}"#, r#"},"finish_reason":null}],"obfuscation":"a\"b"}"#),
                format!(r#"{START}"a"{}"#, r#"},"finish_reason":null}],"obfuscation":"a","b":"c"}"#),
                format!(r#"{START}"a","tool_calls":[{{"index":0,"id":"t","function":{{"name":"f"}}}}]{end}"#),
                format!(r#"{START}"a","content":"b"{end}"#),
                format!(r#"{START}"a"{end}}}"#),
            ] {
                check(&before, &other);
            }
        }
        // A field that comes twice is an error, whether or not the chunk is like the one before.
        let before = format!(r#"{START}"Hello"{PLAIN}"#);
        let twice = format!(r#"{START}"a","content":"b"{PLAIN}"#);
        assert!(matches!(events(&[&before, &before, &twice]).last(), Some(Event::Error { .. })));
    }

    proptest! {
        #[test]
        fn what_is_passed_over_changes_nothing(
            text in any::<String>(), padded in any::<bool>(), junk in ".{0,3}", at in 0..200_usize,
        ) {
            let end = if padded { PADDED } else { PLAIN };
            let chunk = format!("{START}{}{end}", serde_json::Value::from(text));
            let before = format!(r#"{START}"Hello"{end}"#);
            check(&before, &chunk);
            let at = chunk.char_indices().map(|(at, _)| at).take_while(|place| *place <= at).last().unwrap_or(0);
            check(&before, &format!("{}{junk}{}", &chunk[..at], &chunk[at..]));
        }
    }
}
