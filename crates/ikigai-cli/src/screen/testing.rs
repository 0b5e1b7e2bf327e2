//! Helpers for the tests in this folder.

use super::Look;

/// Returns a look without colours.
pub(super) fn plain(width: usize) -> Look {
    Look { width, colour: false, styles: false, unicode: true, links: false, motion: true }
}

/// Returns a look with colours.
pub(super) fn coloured(width: usize) -> Look {
    Look { colour: true, ..plain(width) }
}

/// Writes out the styles, so that a snapshot is readable: `‹bold›text‹›`.
pub(super) fn readable(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once("\x1b[") {
        let (codes, after) = sequence.split_once('m').expect("only styles are written");
        shown.push_str(before);
        shown.push('‹');
        shown.push_str(name(codes));
        shown.push('›');
        rest = after;
    }
    shown.push_str(rest);
    // If one style follows another directly, the end of the first says nothing, and two at once are one.
    shown.replace("‹›‹", "‹").replace("›‹", " ")
}

fn name(codes: &str) -> &str {
    match codes {
        "0" => "",
        "1" => "bold",
        "2" => "dim",
        "3" => "italic",
        "4" => "underline",
        "9" => "strike",
        "31" => "red",
        "32" => "green",
        "33" => "yellow",
        "34" => "blue",
        "35" => "magenta",
        "36" => "cyan",
        "90" => "grey",
        other => other,
    }
}
