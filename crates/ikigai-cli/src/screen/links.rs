//! Links that a terminal opens (OSC 8): which URLs are allowed, and which terminals support them.

use std::sync::Arc;

/// Ends a link. The start of a link is the same with the URL in it.
pub(super) const END: &str = "\x1b]8;;\x1b\\";
/// Longer URLs do not become links, because some terminals refuse them.
const LONGEST: usize = 2048;
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];
/// Programs that support links, by their names in `TERM_PROGRAM`.
const PROGRAMS: [&str; 8] = ["iTerm.app", "WezTerm", "vscode", "ghostty", "rio", "Hyper", "Tabby", "zed"];
const TERMS: [&str; 5] = ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"];
/// Variables set only by terminals that support links.
const SIGNS: [&str; 4] = ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM"];
/// The first version of VTE without bugs in links, and the first version of tmux that forwards them.
const VTE: u32 = 5000;
const TMUX: (u32, u32) = (3, 4);

/// Whether the terminal supports links. `FORCE_HYPERLINK` overrides detection; `0` means no.
pub(crate) fn are_known(variable: impl Fn(&str) -> Option<String>) -> bool {
    if let Some(forced) = variable("FORCE_HYPERLINK").filter(|forced| !forced.is_empty()) {
        return forced != "0";
    }
    let is = |name: &str, known: &[&str]| variable(name).is_some_and(|value| known.contains(&value.as_str()));
    let is_tmux = || {
        let version = variable("TERM_PROGRAM_VERSION")?;
        let (major, minor) = version.split_once('.')?;
        let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) >= TMUX)
    };
    match variable("TERM").as_deref() {
        Some("dumb" | "linux") => false,
        // Inside tmux, the variables of the terminal that started it say nothing.
        _ if is("TERM_PROGRAM", &["tmux"]) => is_tmux().unwrap_or(false),
        _ => {
            is("TERM_PROGRAM", &PROGRAMS)
                || is("TERM", &TERMS)
                || SIGNS.iter().any(|name| variable(name).is_some_and(|value| !value.is_empty()))
                || variable("VTE_VERSION")
                    .and_then(|version| version.parse::<u32>().ok())
                    .is_some_and(|version| version >= VTE)
        }
    }
}

/// Returns a URL that is allowed as a link, without anything in it that a terminal could misread.
pub(super) fn target(address: &str) -> Option<Arc<str>> {
    let starts = |scheme: &&&str| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let scheme = SCHEMES.iter().find(starts)?;
    if address.len() == scheme.len()
        || address.len() > LONGEST
        || address.contains(|c: char| c.is_control() || c == ' ')
    {
        return None;
    }
    let mut plain = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'!'..=b'~' => plain.push(char::from(byte)),
            other => plain.push_str(&format!("%{other:02X}")),
        }
    }
    Some(plain.into())
}

/// Returns a web page's URL, like [`target`].
pub(super) fn web(address: &str) -> Option<Arc<str>> {
    target(address).filter(|address| address.contains("://"))
}

/// Splits a text into pieces, each with its URL if it is one.
pub(super) fn pieces(text: &str) -> Vec<(&str, Option<Arc<str>>)> {
    let mut pieces = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("http")).map(|at| from + at) {
        let begins = text.get(..at).is_none_or(|before| !before.ends_with(char::is_alphanumeric));
        let address = address(text.get(at..).unwrap_or_default());
        from = at + 4;
        if let Some(link) = target(address).filter(|_| begins) {
            if at > start {
                pieces.push((text.get(start..at).unwrap_or_default(), None));
            }
            pieces.push((address, Some(link)));
            start = at + address.len();
            from = start;
        }
    }
    if start < text.len() {
        pieces.push((text.get(start..).unwrap_or_default(), None));
    }
    pieces
}

/// Returns the URL at the start of a text, without trailing punctuation or a closing bracket opened before it.
fn address(text: &str) -> &str {
    let end = text.find(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '`'));
    let mut address = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
    loop {
        let shorter = address.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_']);
        let shorter = match shorter.strip_suffix(')') {
            Some(inner) if shorter.matches('(').count() < shorter.matches(')').count() => inner,
            _ => shorter,
        };
        if shorter.len() == address.len() {
            return address;
        }
        address = shorter;
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn only_web_and_mail_addresses_are_links_and_nothing_hides_in_them() {
        let of = |address: &str| target(address).map(|target| target.to_string());
        assert_eq!(of("https://a.b/c?d=e#f"), Some("https://a.b/c?d=e#f".to_owned()));
        assert_eq!(of("HTTP://a.b"), Some("HTTP://a.b".to_owned()));
        assert_eq!(of("mailto:me@a.b"), Some("mailto:me@a.b".to_owned()));
        assert_eq!(of("https://a.b/ü"), Some("https://a.b/%C3%BC".to_owned()));
        for address in
            ["file:///etc/passwd", "javascript:x", "https://", "a.b", "", "https://a.b/ c", "https://a\x1b\\b"]
        {
            assert_eq!(of(address), None, "{address}");
        }
        assert_eq!(of(&format!("https://{}", "a".repeat(3000))), None);
    }

    #[test]
    fn addresses_are_found_in_running_text() {
        let found = |text: &'static str| {
            pieces(text).into_iter().map(|(piece, link)| (piece, link.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(found("see https://a.b/c, or"), [("see ", false), ("https://a.b/c", true), (", or", false)]);
        assert_eq!(found("(http://a.b/c_(d))."), [("(", false), ("http://a.b/c_(d)", true), (").", false)]);
        assert_eq!(found("https://a.b"), [("https://a.b", true)]);
        assert_eq!(found("http is not xhttps://a.b"), [("http is not xhttps://a.b", false)]);
        assert_eq!(found(""), []);
    }

    #[test]
    fn terminals_that_know_links_are_told_from_others() {
        let known = |variables: &[(&str, &str)]| {
            are_known(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(!known(&[]));
        assert!(!known(&[("TERM", "xterm-256color")]));
        assert!(known(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7200")]));
        assert!(!known(&[("VTE_VERSION", "4601")]));
        assert!(known(&[("TERM", "xterm-kitty")]));
        assert!(known(&[("TERM_PROGRAM", "iTerm.app")]));
        assert!(!known(&[("TERM", "dumb"), ("TERM_PROGRAM", "iTerm.app")]));
        assert!(known(&[("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.4a")]));
        assert!(!known(&[("TERM_PROGRAM", "tmux"), ("TERM_PROGRAM_VERSION", "3.3a"), ("VTE_VERSION", "7200")]));
        assert!(known(&[("FORCE_HYPERLINK", "1")]));
        assert!(!known(&[("FORCE_HYPERLINK", "0"), ("TERM", "xterm-kitty")]));
    }
}
