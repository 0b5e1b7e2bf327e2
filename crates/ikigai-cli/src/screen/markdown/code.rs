//! Syntax highlighting.
//!
//! The grammars and the theme are loaded once, at the first block in a known language, and never if colours are off.
//! The theme uses the terminal's own sixteen colours, so that it suits light and dark ones.

use std::sync::OnceLock;

use anstyle::{Ansi256Color, AnsiColor, Color, RgbColor, Style};
use syntect::highlighting::{FontStyle, HighlightIterator, HighlightState, Highlighter, Theme};
use syntect::parsing::{ParseState, ScopeStack, SyntaxSet};
use two_face::theme::EmbeddedThemeName;

use crate::screen::look::Look;
use crate::screen::text::Span;

/// Longer lines stay plain: the grammars' patterns take too long on them.
const LONGEST_LINE: usize = 2_000;
/// After this much code in one block, the rest stays plain.
const MOST_CODE: usize = 512 * 1024;

/// Colours the lines of one block, in order.
#[derive(Debug, Clone)]
pub(super) struct Colours {
    parser: ParseState,
    state: HighlightState,
    left: usize,
}

fn grammars() -> &'static SyntaxSet {
    static GRAMMARS: OnceLock<SyntaxSet> = OnceLock::new();
    GRAMMARS.get_or_init(two_face::syntax::extra_newlines)
}

fn theme() -> &'static Highlighter<'static> {
    static THEME: OnceLock<Theme> = OnceLock::new();
    static HIGHLIGHTER: OnceLock<Highlighter<'static>> = OnceLock::new();
    HIGHLIGHTER.get_or_init(|| {
        Highlighter::new(THEME.get_or_init(|| two_face::theme::extra().get(EmbeddedThemeName::Ansi).clone()))
    })
}

impl Colours {
    /// Returns a highlighter for a block with this info string; `None` if the language is unknown or colours are off.
    pub(super) fn new(info: &str, look: Look) -> Option<Self> {
        let language = language(info);
        if !look.colour || language.is_empty() {
            return None;
        }
        let grammar = grammars().find_syntax_by_token(language)?;
        let state = HighlightState::new(theme(), ScopeStack::new());
        Some(Colours { parser: ParseState::new(grammar), state, left: MOST_CODE })
    }

    /// Highlights a line.
    pub(super) fn line(&mut self, line: &str) -> Vec<Span> {
        let plain = || vec![Span::plain(line)];
        let Some(left) = self.left.checked_sub(line.len()) else { return plain() };
        if line.len() > LONGEST_LINE {
            return plain();
        }
        self.left = left;
        let ended = format!("{line}\n");
        let Ok(changes) = self.parser.parse_line(&ended, grammars()) else { return plain() };
        let parts = HighlightIterator::new(&mut self.state, &changes, &ended, theme());
        parts.map(|(found, text)| Span::new(text.trim_end_matches('\n'), style(found))).collect()
    }
}

/// Extracts the language from the words after a fence: `rust`, `rust,ignore`, `{.python}`, `language-js title="x"`.
pub(super) fn language(info: &str) -> &str {
    let word = info.split([' ', ',', '{', '}', ':']).find(|word| !word.is_empty()).unwrap_or_default();
    let word = word.strip_prefix('.').unwrap_or(word);
    word.strip_prefix("language-").unwrap_or(word)
}

fn style(found: syntect::highlighting::Style) -> Style {
    let colour = found.foreground;
    // The theme for terminals gives a colour's alpha a special meaning: 0 is a number in the palette, 1 the default.
    let colour = match (colour.a, colour.r) {
        (0, number) => Some(match PALETTE.get(usize::from(number)) {
            Some(named) => Color::from(*named),
            None => Color::from(Ansi256Color(number)),
        }),
        (1, _) => None,
        _ => Some(RgbColor(colour.r, colour.g, colour.b).into()),
    };
    let mut style = Style::new().fg_color(colour);
    for (font, add) in [
        (FontStyle::BOLD, Style::bold as fn(Style) -> Style),
        (FontStyle::ITALIC, Style::italic),
        (FontStyle::UNDERLINE, Style::underline),
    ] {
        if found.font_style.contains(font) {
            style = add(style);
        }
    }
    style
}

/// Returns the authors and licences of the grammars and the theme, in Markdown. The licences require this.
pub(crate) fn acknowledgements() -> String {
    two_face::acknowledgement::listing().to_md()
}

/// The terminal's colours, by number.
const PALETTE: [AnsiColor; 16] = [
    AnsiColor::Black,
    AnsiColor::Red,
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::Blue,
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::White,
    AnsiColor::BrightBlack,
    AnsiColor::BrightRed,
    AnsiColor::BrightGreen,
    AnsiColor::BrightYellow,
    AnsiColor::BrightBlue,
    AnsiColor::BrightMagenta,
    AnsiColor::BrightCyan,
    AnsiColor::BrightWhite,
];

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn the_language_is_found_in_what_people_write() {
        let all =
            ["rust", "rust,ignore", "{.python .numbers}", "language-js title=\"x\"", "c++", "", "  "].map(language);
        assert_eq!(all, ["rust", "rust", "python", "js", "c++", "", ""]);
    }

    #[test]
    fn the_authors_are_named() {
        assert!(acknowledgements().contains("Permission is hereby granted"));
    }

    #[test]
    fn unknown_languages_and_no_colour_need_nothing() {
        let look = Look { width: 80, colour: true, styles: false, unicode: true, links: false, motion: true };
        assert!(Colours::new("no-such-language", look).is_none());
        assert!(Colours::new("rust", Look { colour: false, ..look }).is_none());
        assert!(Colours::new("rust", look).is_some());
    }
}
