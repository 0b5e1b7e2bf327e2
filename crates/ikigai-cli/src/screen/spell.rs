//! Makes every character visible in text that the user is asked to approve.

use std::fmt::Write as _;
use std::sync::LazyLock;

use anstyle::Style;
use regex::Regex;

use super::look::YELLOW;
use super::text::Span;

/// Up to this many blanks in a row can be recognised; more could push something out of sight.
const BLANKS: usize = 24;
/// Up to this many empty lines in a row are shown one by one.
const EMPTY_LINES: usize = 3;

/// Everything that is invisible or looks like something else: control characters, direction marks, joiners, variation
/// selectors, tags, unusual blanks, unassigned and private characters, blanks at the end of a line, and many in a row.
/// The expression is a constant, and a test compiles it.
static UNSEEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = format!(
        r"(?P<blanks> {{{},}}| +$)|(?P<tab>\t)|[\p{{C}}\p{{Zl}}\p{{Zp}}\p{{Default_Ignorable_Code_Point}}\x{{2800}}]|[\p{{Zs}}--\x20]|\p{{M}}{{3,}}",
        BLANKS + 1
    );
    Regex::new(&pattern).ok()
});

/// Spells out everything invisible in one line, in a separate style: `<U+202E>`, `<300 spaces>`.
pub(super) fn spelt(line: &str, style: Style) -> Vec<Span> {
    let Some(unseen) = &*UNSEEN else { return vec![Span::plain(&line.escape_unicode().to_string())] };
    let mut spans = Vec::new();
    let mut end = 0;
    for found in unseen.captures_iter(line) {
        let Some(whole) = found.get(0) else { continue };
        spans.push(Span::new(line.get(end..whole.start()).unwrap_or_default(), style));
        let mark = match (found.name("blanks"), found.name("tab")) {
            (Some(blanks), _) => match blanks.len() {
                1 => "<space>".to_owned(),
                many => format!("<{many} spaces>"),
            },
            (None, Some(_)) => "<tab>".to_owned(),
            (None, None) => whole.as_str().chars().fold(String::new(), |mut text, character| {
                let _ = write!(text, "<U+{:04X}>", u32::from(character));
                text
            }),
        };
        spans.push(Span::new(&mark, YELLOW));
        end = whole.end();
    }
    spans.push(Span::new(line.get(end..).unwrap_or_default(), style));
    spans.retain(|span| !span.text().is_empty());
    spans
}

/// Spells out the lines of a text; many empty ones in a row are counted.
pub(super) fn spelt_lines(text: &str, style: Style) -> Vec<Vec<Span>> {
    let mut lines: Vec<Vec<Span>> = Vec::new();
    let mut empty = 0;
    for line in text.split('\n').map(Some).chain([None]) {
        if line == Some("") {
            empty += 1;
            continue;
        }
        if empty > EMPTY_LINES {
            lines.push(vec![Span::new(&format!("<{empty} empty lines>"), YELLOW)]);
        } else {
            lines.extend(std::iter::repeat_n(Vec::new(), empty));
        }
        empty = 0;
        lines.extend(line.map(|line| spelt(line, style)));
    }
    lines
}

/// Puts a text on one line of at most this many characters, spelled out: `ls⏎rm x`.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let text = text.trim();
    let short: String = text.chars().take(most).collect();
    let mut line: String = spelt(&short.replace('\n', "⏎"), Style::new()).iter().map(Span::text).collect();
    if short.len() < text.len() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let lines = spelt_lines(text, Style::new());
        lines.iter().map(|line| line.iter().map(Span::text).collect()).collect()
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        for text in ["git status", "    indented", "Größe 日本 שלום naïve e\u{301}", "a  b", "<U+202E>"] {
            assert_eq!(shown(text), [text]);
        }
    }

    #[test]
    fn everything_that_cannot_be_seen_is_spelt_out() {
        let padded = format!("git status{}; touch HIDDEN", " ".repeat(300));
        assert_eq!(shown(&padded), ["git status<300 spaces>; touch HIDDEN"]);
        assert_eq!(shown("rm x \u{1b}[2K\u{202e}ls"), ["rm x <U+001B>[2K<U+202E>ls"]);
        assert_eq!(shown("a\u{e0072}\u{e006d}b"), ["a<U+E0072><U+E006D>b"], "tags");
        assert_eq!(shown("a\u{200b}b\u{ad}c\u{fe0f}d\u{3164}e"), ["a<U+200B>b<U+00AD>c<U+FE0F>d<U+3164>e"]);
        assert_eq!(shown("a\u{a0}b\u{3000}c\u{2800}d"), ["a<U+00A0>b<U+3000>c<U+2800>d"], "blanks of other kinds");
        assert_eq!(shown("a\u{e000}\u{85}b\u{2028}c"), ["a<U+E000><U+0085>b<U+2028>c"]);
        assert_eq!(shown("x \r"), ["x <U+000D>"]);
        assert_eq!(shown("end  \n\tmake"), ["end<2 spaces>", "<tab>make"]);
        assert_eq!(shown("e\u{301}\u{302}\u{303}"), ["e<U+0301><U+0302><U+0303>"], "marks that pile up");
    }

    #[test]
    fn many_empty_lines_are_counted() {
        assert_eq!(shown("a\n\n\nb"), ["a", "", "", "b"]);
        assert_eq!(shown(&format!("a{}b", "\n".repeat(501))), ["a", "<500 empty lines>", "b"]);
        assert_eq!(shown("a\n"), ["a", ""]);
    }

    #[test]
    fn one_line_holds_the_beginning() {
        assert_eq!(one_line(" rm x\u{1b}[2K\n\u{202e}ls ", 50), "rm x<U+001B>[2K⏎<U+202E>ls");
        assert_eq!(one_line("日本語テキスト", 3), "日本語…");
    }
}
