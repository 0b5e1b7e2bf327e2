//! What the terminal supports.

use std::io::IsTerminal as _;

use anstream::{AutoStream, ColorChoice};

use super::{Finding, Health};

pub(super) fn look() -> Vec<Finding> {
    let is_terminal = std::io::stdout().is_terminal();
    let size = match terminal_size::terminal_size_of(std::io::stdout()) {
        Some((width, height)) => format!("{} columns, {} lines", width.0, height.0),
        None if is_terminal => "a terminal of unknown size".to_owned(),
        None => "the output is not a terminal".to_owned(),
    };
    let name = variable("TERM").map(|term| format!(", TERM={term}")).unwrap_or_default();
    let has_colors = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    let rule = rule(ColorChoice::global(), variable, is_terminal);
    let colors = format!("colours {}: {rule}", if has_colors { "on" } else { "off" });
    vec![
        Finding::new("terminal", Health::Good, format!("{size}{name}")),
        Finding::new("terminal", Health::Good, colors),
        encoding(cfg!(unix), variable),
    ]
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the rule that decides about colours: the first one that applies.
fn rule(asked: ColorChoice, variable: impl Fn(&str) -> Option<String>, is_terminal: bool) -> String {
    match asked {
        ColorChoice::Auto => {}
        ColorChoice::Never => return "--color never".to_owned(),
        ColorChoice::Always | ColorChoice::AlwaysAnsi => return "--color always".to_owned(),
    }
    let said = |name: &str| variable(name).map(|value| format!("{name}={value}"));
    said("NO_COLOR")
        .or_else(|| said("CLICOLOR_FORCE").filter(|said| said != "CLICOLOR_FORCE=0"))
        .or_else(|| said("CLICOLOR").filter(|said| said == "CLICOLOR=0"))
        .or_else(|| (!is_terminal).then(|| "the output is not a terminal".to_owned()))
        .or_else(|| said("TERM").filter(|said| said == "TERM=dumb"))
        .unwrap_or_else(|| "the output is a terminal".to_owned())
}

/// Checks whether the terminal is configured for more than ASCII.
fn encoding(is_unix: bool, variable: impl Fn(&str) -> Option<String>) -> Finding {
    // The first variable that is set counts.
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| Some((*name, variable(name)?)));
    match set {
        _ if !is_unix => Finding::new("terminal", Health::Good, "UTF-8"),
        Some((name, value)) if is_utf8(&value) => {
            Finding::new("terminal", Health::Good, format!("UTF-8: {name}={value}"))
        }
        Some((name, value)) => Finding::new("terminal", Health::Warning, format!("no UTF-8: {name}={value}"))
            .hint("Accented letters and symbols may look wrong; set LANG=C.UTF-8 or your language's."),
        None => Finding::new("terminal", Health::Warning, "no UTF-8: neither LC_ALL, LC_CTYPE nor LANG is set")
            .hint("Accented letters and symbols may look wrong; set LANG=C.UTF-8 or your language's."),
    }
}

fn is_utf8(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    value.contains("utf-8") || value.contains("utf8")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn of(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_rule_that_won_is_named() {
        let auto = |variables: &[(&str, &str)], is_terminal| rule(ColorChoice::Auto, of(variables), is_terminal);
        assert_eq!(rule(ColorChoice::Never, of(&[("CLICOLOR_FORCE", "1")]), true), "--color never");
        assert_eq!(auto(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], true), "NO_COLOR=1");
        assert_eq!(auto(&[("CLICOLOR_FORCE", "1")], false), "CLICOLOR_FORCE=1");
        assert_eq!(auto(&[("CLICOLOR_FORCE", "0")], false), "the output is not a terminal");
        assert_eq!(auto(&[("TERM", "dumb")], true), "TERM=dumb");
        assert_eq!(auto(&[("TERM", "xterm")], true), "the output is a terminal");
    }

    #[test]
    fn the_first_variable_that_is_set_decides_on_the_encoding() {
        let what = |variables: &[(&str, &str)]| encoding(true, of(variables)).what;
        assert_eq!(what(&[("LANG", "de_DE.UTF-8")]), "UTF-8: LANG=de_DE.UTF-8");
        assert_eq!(what(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")]), "no UTF-8: LC_ALL=C");
        assert_eq!(what(&[]), "no UTF-8: neither LC_ALL, LC_CTYPE nor LANG is set");
    }
}
