//! Makes text from elsewhere safe for a terminal.

use std::borrow::Cow;

/// Removes everything that a terminal would obey: control characters become symbols (`␛`), and characters that change
/// the reading direction are spelled out, so that text cannot pose as other text. Line breaks and tabs stay.
///
/// Joiners and plain direction marks stay too, because scripts and emoji need them.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match picture(character) {
            Some(picture) => safe.push(picture),
            None if is_turn(character) => safe.push_str(&format!("<U+{:04X}>", u32::from(character))),
            None if character == SOFT_HYPHEN => {}
            None => safe.push(character),
        }
    }
    Cow::Owned(safe)
}

/// Like [`clean`], for text that also contains our own styles: sequences that set a style stay, all others become
/// visible. This is the last gate before a terminal; foreign text is [`clean`]ed before it is styled.
pub(crate) fn clean_styled(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return clean(text);
    }
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        safe.push_str(&clean(before));
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        let (numbers, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        let conceals = numbers.split(';').any(|number| number == "8");
        match tail.strip_prefix('m').filter(|_| !conceals) {
            Some(tail) => {
                safe.push_str(&format!("\x1b[{numbers}m"));
                rest = tail;
            }
            None => {
                safe.push_str("␛[");
                rest = after;
            }
        }
    }
    safe.push_str(&clean(rest));
    Cow::Owned(safe)
}

/// Shown by some terminals and not by others, so that it has no reliable width.
const SOFT_HYPHEN: char = '\u{ad}';

fn is_harmful(character: char) -> bool {
    picture(character).is_some() || is_turn(character) || character == SOFT_HYPHEN
}

/// Returns the symbol for a control character.
fn picture(character: char) -> Option<char> {
    match character {
        '\n' | '\t' => None,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)),
        '\x7f' => Some('␡'),
        // The second set, which some terminals obey in UTF-8, too.
        '\u{80}'..='\u{9f}' => Some('\u{fffd}'),
        // Terminals do not treat line and paragraph separators as line breaks.
        '\u{2028}' | '\u{2029}' => Some(' '),
        _ => None,
    }
}

/// Whether the character embeds, overrides or isolates the reading direction.
fn is_turn(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        let text = "Größe 日本 👩‍🚀 שלום\n\tdone";
        assert!(matches!(clean(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(clean("\x1b[31mred\x1b]0;title\x07\r\u{8}\0"), "␛[31mred␛]0;title␇␍␈␀");
        assert_eq!(clean("\u{9b}31m \u{90}x\u{9c} \x7f\u{85}"), "\u{fffd}31m \u{fffd}x\u{fffd} ␡\u{fffd}");
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{2069}"), "a<U+202E>b<U+2066>c<U+2069>");
        assert_eq!(clean("a\u{2028}b co\u{ad}op"), "a b coop");
    }

    #[test]
    fn only_styles_pass_the_last_gate() {
        let styled = "\x1b[1;31merror:\x1b[0m words\n";
        assert_eq!(clean_styled(styled), styled);
        assert_eq!(
            clean_styled("\x1b[1mx\x1b[0m\x1b]0;t\x07\x1b[2J\x1b[8mhidden\x1b[31\x1bc\x1b"),
            "\x1b[1mx\x1b[0m␛]0;t␇␛[2J␛[8mhidden␛[31␛c␛"
        );
    }
}
