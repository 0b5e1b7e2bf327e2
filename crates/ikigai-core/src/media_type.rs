//! Media types by the names of files.

use std::cmp::Ordering;
use std::path::Path;

/// `data/media_types.txt`: one line per extension, sorted.
static TYPES: &str = include_str!("../data/media_types.txt");

/// Returns the media type for a file's extension; case does not matter.
pub(crate) fn by_name(path: &str) -> Option<&'static str> {
    let extension = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    let (mut from, mut to) = (0, TYPES.len());
    while from < to {
        let start = TYPES.get(..from + (to - from) / 2)?.rfind('\n').map_or(0, |end| end + 1);
        let rest = TYPES.get(start..)?;
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        let (known, kind) = line.split_once(' ')?;
        match known.cmp(extension.as_str()) {
            Ordering::Equal => return Some(kind.trim_end()),
            Ordering::Less => from = start + line.len() + 1,
            Ordering::Greater => to = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_finds_its_type() {
        for line in TYPES.lines() {
            let (extension, kind) = line.split_once(' ').unwrap();
            assert_eq!(by_name(&format!("a file.{extension}")), Some(kind), "{line}");
        }
        assert!(TYPES.lines().is_sorted_by(|one, other| one.split(' ').next() < other.split(' ').next()));
    }

    #[test]
    fn the_last_extension_counts_in_any_case() {
        assert_eq!(by_name("https://example.com/a.b/Photo.JPEG"), Some("image/jpeg"));
        assert_eq!(by_name("notes.md.pdf"), Some("application/pdf"));
        for unknown in ["", ".", "pdf", ".pdf", "a.", "a.unknown", "a.pdf/b", "a.\u{e9}", "a.zzzzzz", "a.0"] {
            assert_eq!(by_name(unknown), None, "{unknown}");
        }
    }
}
