//! How output looks: its width, colours and symbols.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::output;

/// Less important text.
pub(super) const DIM: Style = output::DIM;
/// Headings of documents, tables and records.
pub(super) const HEADING: Style = output::HEADING;
/// Code in running text.
pub(super) const CODE: Style = output::NAME;
/// Failures, and removed lines.
pub(super) const RED: Style = AnsiColor::Red.on_default();
/// Success, and added lines.
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
/// Warnings.
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();

/// The minimum width: on narrower terminals, text is still laid out for this width.
const NARROWEST: usize = 20;

/// How everything on the screen looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    /// The maximum width of a line, in columns.
    pub(crate) width: usize,
    /// Whether styles and colours are written.
    pub(crate) colour: bool,
    /// Whether styles are written where colours are not: bold type and underlines.
    pub(crate) styles: bool,
    /// Whether the terminal shows more than ASCII. Only our own symbols depend on it, not the text.
    pub(crate) unicode: bool,
    /// Whether the terminal opens links.
    pub(crate) links: bool,
    /// Whether anything may move.
    pub(crate) motion: bool,
}

impl Look {
    /// Returns the look for standard output.
    pub(crate) fn of_stdout(width: usize) -> Self {
        let colour = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
        let look = Look::new(width, colour, |name| std::env::var(name).ok());
        Look { styles: !colour && output::is_without_colours(&std::io::stdout()), ..look }
    }

    /// Returns the look for a terminal of `width` columns. The rest comes from the environment: `LC_ALL`, `LC_CTYPE` or
    /// `LANG` say whether it shows UTF-8, and `TERM=dumb` that nothing should move.
    pub(crate) fn new(width: usize, colour: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(&variable).find(|value| !value.is_empty());
        let unicode = match locale {
            Some(locale) => {
                let locale = locale.to_ascii_lowercase();
                locale.contains("utf-8") || locale.contains("utf8")
            }
            // If nothing is set, that means plain C, except on macOS and Windows, where terminals show UTF-8.
            None => cfg!(any(target_os = "macos", windows)),
        };
        Look { width: width.max(NARROWEST), colour, styles: false, unicode, links: false, motion: !dumb }
    }

    /// Returns the same look, with links if the terminal supports them.
    pub(crate) fn with_links(self, variable: impl Fn(&str) -> Option<String>) -> Self {
        Look { links: super::links::are_known(variable), ..self }
    }

    /// Returns the same look at another width.
    pub(crate) fn with_width(self, width: usize) -> Self {
        Look { width: width.max(NARROWEST), ..self }
    }

    /// Returns the first symbol, or the second if only ASCII is supported.
    pub(super) fn sign(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// Returns `text` in a style, if styles are wanted.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        let style = match (self.colour, self.styles) {
            (true, _) => style,
            (false, true) => Style::new().effects(style.get_effects()),
            (false, false) => Style::new(),
        };
        if style == Style::new() || text.is_empty() { text.to_owned() } else { format!("{style}{text}{style:#}") }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn look(variables: &[(&str, &str)]) -> Look {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Look::new(80, true, find)
    }

    #[test]
    fn the_environment_decides_on_signs_and_motion() {
        assert_eq!(
            look(&[("LANG", "en_GB.UTF-8")]),
            Look { width: 80, colour: true, styles: false, unicode: true, links: false, motion: true }
        );
        assert!(look(&[("LC_ALL", "C.utf8"), ("LANG", "C")]).unicode);
        assert!(!look(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]).unicode);
        assert!(look(&[("LC_ALL", ""), ("LANG", "en_GB.UTF-8")]).unicode);
        assert!(!look(&[("TERM", "dumb"), ("LANG", "en_GB.UTF-8")]).motion);
        assert_eq!(look(&[]).with_width(3).width, 20);
    }

    #[test]
    fn without_colours_bold_type_and_underlines_stay() {
        let look = Look { colour: false, styles: true, ..look(&[]) };
        assert_eq!(look.paint(HEADING.underline(), "a"), "\x1b[1m\x1b[4ma\x1b[0m");
        assert_eq!(look.paint(RED.bold(), "a"), "\x1b[1ma\x1b[0m");
        assert_eq!(look.paint(RED, "a"), "a");
    }
}
