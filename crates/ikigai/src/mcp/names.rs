//! Tool names that every provider accepts.

use std::collections::HashSet;

/// The longest name that every provider accepts.
const LONGEST: usize = 64;

/// Turns a tool's name, with an optional server name before it, into one that every provider accepts: at most 64
/// letters, digits, `_` and `-`, beginning with a letter or `_`. A name that is cut ends in a mark computed from all of
/// it, so that different names stay different.
pub(super) fn safe(server: Option<&str>, tool: &str) -> String {
    let whole = match server {
        Some(server) => format!("{server}__{tool}"),
        None => tool.to_owned(),
    };
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let mut name: String = whole.chars().map(allowed).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    if name.len() > LONGEST { marked(&name, &whole) } else { name }
}

/// Appends a mark computed from `whole`.
fn marked(name: &str, whole: &str) -> String {
    let mark = format!("_{:08x}", fnv(whole));
    let kept: String = name.chars().take(LONGEST - mark.len()).collect();
    kept + &mark
}

/// Makes the names of several tools, given as (server, tool), unique. Of those that would be equal, all but the first get
/// a mark.
pub(super) fn unique(names: Vec<(Option<String>, String)>) -> Vec<String> {
    let mut given: Vec<String> = Vec::with_capacity(names.len());
    let mut taken: HashSet<String> = HashSet::with_capacity(names.len());
    for (place, (server, tool)) in names.into_iter().enumerate() {
        let mut name = safe(server.as_deref(), &tool);
        let mut whole = format!("{}\n{tool}", server.unwrap_or_default());
        while !taken.insert(name.clone()) {
            name = marked(&name, &whole);
            whole.push_str(&place.to_string());
        }
        given.push(name);
    }
    given
}

/// FNV-1a: the same on every machine and in every version, so that names still match prompt caches.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn every_name_is_one_that_providers_accept() {
        assert_eq!(safe(None, "read_file"), "read_file");
        assert_eq!(safe(Some("files"), "read"), "files__read");
        assert_eq!(safe(Some("my files"), "a.b/c"), "my_files__a_b_c");
        assert_eq!(safe(None, "7up"), "_7up");
        assert_eq!(safe(None, ""), "_");
        assert_eq!(safe(None, "größe"), "gr__e");
        let long = safe(Some("server"), &"x".repeat(100));
        assert_eq!(long.len(), LONGEST);
        assert_ne!(long, safe(Some("server"), &"x".repeat(101)), "two stay two");
        assert_eq!(long, safe(Some("server"), &"x".repeat(100)), "and each stays the same");
    }

    #[test]
    fn what_would_be_the_same_is_kept_apart() {
        let names = ["a.b", "a/b", "a_b", "c"].map(|tool| (None, tool.to_owned()));
        let given = unique(names.to_vec());
        assert_eq!((given[0].as_str(), given[3].as_str()), ("a_b", "c"));
        assert!(given[1].starts_with("a_b_") && given[2].starts_with("a_b_") && given[1] != given[2], "{given:?}");
    }
}
