//! Rules that the compiler does not check: which crate may depend on which, what the core must not use, that every
//! dialect has the same files, that public types can grow, and that no file gets too long.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests may")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ikigai_core::Dialect;
use pretty_assertions::assert_eq;

/// The crates of this workspace that each crate may use. Dependencies point one way.
const ALLOWED: [(&str, &[&str]); 7] = [
    ("ikigai-core", &[]),
    ("ikigai", &["ikigai-core"]),
    ("ikigai-listen", &[]),
    ("ikigai-sim", &["ikigai-core", "ikigai-listen"]),
    ("ikigai-store", &["ikigai-core"]),
    ("ikigai-gateway", &["ikigai-core", "ikigai", "ikigai-store", "ikigai-listen"]),
    ("ikigai-cli", &["ikigai-core", "ikigai", "ikigai-store", "ikigai-sim", "ikigai-gateway"]),
];

/// Crates that wait, use the network or do other I/O. The core must not have them, not even through another crate.
const ASYNC_OR_IO: [&str; 20] = [
    "async-std",
    "async-trait",
    "axum",
    "curl",
    "futures",
    "futures-util",
    "hyper",
    "mio",
    "native-tls",
    "polling",
    "reqwest",
    "rusqlite",
    "rustls",
    "smol",
    "socket2",
    "tokio",
    "tokio-postgres",
    "tracing-subscriber",
    "ureq",
    "walkdir",
];

/// Browser crates. The lock file lists what every platform would need, and in browsers they bring async with them.
const BROWSER: [&str; 3] = ["js-sys", "wasm-bindgen", "web-sys"];

/// What the core's code must not name: the outside world, the clock, randomness.
const OUTSIDE: [&str; 10] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::io::stdin",
    "std::io::stdout",
    "SystemTime",
    "Instant::now",
    "async fn",
];

/// The parts that every dialect has, each a file or a folder.
const ROOMS: [&str; 9] =
    ["abilities", "wire", "content", "usage", "thinking", "error", "request", "response", "stream"];

/// What a dialect that also serves clients has in addition.
const SERVER_ROOMS: [&str; 9] = [
    "watch",
    "request/decode",
    "request/encode",
    "request/messages",
    "request/tools",
    "response/decode",
    "response/encode",
    "stream/decode",
    "stream/encode",
];

/// The maximum number of lines in a file of the core, and in any other. Tests may be longer.
const LONGEST_OF_CORE: usize = 400;
const LONGEST_FILE: usize = 500;
const LONGEST_TEST: usize = 700;

/// The loss codes for settings that a model or provider does not accept. Only `fit` and `thinking` decide about those.
const DECISIONS: [&str; 4] = ["RefusedByModel", "RefusedByProvider", "Discouraged", "OutOfRange"];

/// The public types that other crates may match or build in full, because nothing will ever be added to them.
const CLOSED: [&str; 4] = ["Delivery", "ShowThinking", "Span", "VectorForm"];

#[test]
fn crates_depend_only_as_the_design_says() {
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ALLOWED.iter().map(|(name, uses)| (*name, uses.iter().copied().collect())).collect();
    let mut wrong = Vec::new();
    for folder in folders(&root().join("crates")) {
        let manifest = manifest(&folder.join("Cargo.toml"));
        // The folder's name, which other crates also use.
        let name = folder.file_name().unwrap().to_str().unwrap();
        let Some(allowed) = allowed.get(name) else {
            wrong.push(format!("{name} is new: say in this test which of our crates it may use"));
            continue;
        };
        let ours = dependencies(&manifest).into_iter().filter(|used| used.starts_with("ikigai"));
        wrong.extend(
            ours.filter(|used| !allowed.contains(used.as_str())).map(|used| format!("{name} may not use {used}")),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_core_has_no_async_and_no_io_in_its_tree() {
    let lock = manifest(&root().join("Cargo.lock"));
    let uses: BTreeMap<&str, Vec<&str>> = lock["package"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let listed = package.get("dependencies").and_then(toml::Value::as_array).into_iter().flatten();
            // "name", or "name version" if there are several.
            let names = listed.filter_map(|name| name.as_str()?.split(' ').next());
            (package["name"].as_str().unwrap(), names.collect())
        })
        .collect();
    let core = manifest(&root().join("crates/ikigai-core/Cargo.toml"));
    // The lock file also lists what tests need, so the walk begins at the manifest.
    let mut open: Vec<(String, String)> =
        dependencies(&core).into_iter().map(|name| (name.clone(), format!("ikigai-core -> {name}"))).collect();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    while let Some((name, way)) = open.pop() {
        if BROWSER.contains(&name.as_str()) || !seen.insert(name.clone()) {
            continue;
        }
        if ASYNC_OR_IO.contains(&name.as_str()) {
            wrong.push(way.clone());
        }
        for used in uses.get(name.as_str()).into_iter().flatten() {
            open.push(((*used).to_owned(), format!("{way} -> {used}")));
        }
    }
    assert!(seen.len() > 10, "the walk through Cargo.lock found next to nothing: {seen:?}");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_core_does_not_touch_the_outside_world() {
    let mut wrong = Vec::new();
    for file in sources(&root().join("crates/ikigai-core/src")) {
        let code = code_without_tests(&file);
        wrong.extend(
            OUTSIDE.iter().filter(|word| code.contains(**word)).map(|word| format!("{}: {word}", shown(&file))),
        );
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_dialect_imports_no_other_dialect() {
    let dialects = dialects();
    let names: Vec<String> = dialects.iter().map(|folder| name(folder)).collect();
    let mut wrong = Vec::new();
    for folder in &dialects {
        let own = name(folder);
        for file in sources(folder) {
            let code = code(&file);
            let others = names.iter().filter(|other| **other != own && names_module(&code, other));
            wrong.extend(others.map(|other| format!("{} uses {other}", shown(&file))));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_dialect_has_the_same_rooms() {
    let mut wrong = Vec::new();
    for dialect in Dialect::PROVIDERS {
        let folder = folder_of(dialect);
        let server = SERVER_ROOMS.iter().filter(|_| dialect.serves_clients());
        for room in ROOMS.iter().chain(server) {
            if !folder.join(format!("{room}.rs")).is_file() && !folder.join(room).join("mod.rs").is_file() {
                wrong.push(format!("{} has neither {room}.rs nor {room}/mod.rs", shown(&folder)));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_a_model_takes_is_decided_in_one_place() {
    let mut wrong = Vec::new();
    for file in sources(&root().join("crates/ikigai-core/src/dialect")) {
        let code = code_without_tests(&file);
        let found = DECISIONS.iter().filter(|word| code.contains(&format!("LossCode::{word}")));
        wrong.extend(found.map(|word| format!("{}: {word} is for fit to say", shown(&file))));
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn only_the_core_and_the_simulator_name_a_dialect() {
    let mut wrong = Vec::new();
    for name in ["ikigai", "ikigai-cli", "ikigai-gateway", "ikigai-store"] {
        for file in sources(&root().join("crates").join(name).join("src")) {
            let code = code_without_tests(&file);
            let named = Dialect::PROVIDERS.iter().filter(|dialect| code.contains(&format!("Dialect::{dialect:?}")));
            wrong.extend(named.map(|dialect| format!("{} names {dialect}", shown(&file))));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn no_file_is_too_long() {
    let long: Vec<String> = sources(&root().join("crates"))
        .iter()
        .map(|file| (file, std::fs::read_to_string(file).unwrap().lines().count(), longest(file)))
        .filter(|(_, lines, most)| lines > most)
        .map(|(file, lines, most)| format!("{}: {lines} lines; split it, the limit is {most}", shown(file)))
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn what_may_grow_is_not_closed() {
    let mut closed = BTreeSet::new();
    for name in ["ikigai-core", "ikigai"] {
        for file in sources(&root().join("crates").join(name).join("src")) {
            closed.extend(closed_types(&code_without_tests(&file)));
        }
    }
    assert_eq!(closed, BTreeSet::from(CLOSED.map(str::to_owned)));
    let code = "#[derive(Clone)]\npub enum A {\n    B,\n}\n\npub struct C {\n    pub d: u8,\n}\n\npub struct E {\n    f: u8,\n}\n";
    assert_eq!(closed_types(code), ["A", "C"]);
    assert_eq!(closed_types(&format!("#[non_exhaustive]\n{code}")), ["C"]);
}

#[test]
fn imports_are_seen_in_every_spelling() {
    for code in [
        "use crate::dialect::gemini::request;",
        "use super::super::gemini;",
        "use crate::dialect::{anthropic, gemini};",
        "let x = super::gemini::decode(y);",
    ] {
        assert!(names_module(code, "gemini"), "{code}");
    }
    for code in ["let gemini = 1;", "Dialect::Gemini", "use crate::dialect::gemini_like::x;", "my_gemini::x()"] {
        assert!(!names_module(code, "gemini"), "{code}");
    }
    assert_eq!(strip("a // gemini::x\nb \"gemini::\\\" x\" c /* gemini:: */ d '\"' e"), "a \nb  c  d  e");
    assert_eq!(strip("fn f<'a>(x: &'a str) { r#\"gemini::\"# }"), "fn f<'a>(x: &'a str) {  }");
}

fn longest(file: &Path) -> usize {
    let place = shown(file);
    match () {
        () if is_test(file) => LONGEST_TEST,
        () if place.starts_with("crates/ikigai-core/src/") => LONGEST_OF_CORE,
        () => LONGEST_FILE,
    }
}

/// Returns the public enums and the structs with public fields that other crates can match or build in full.
fn closed_types(code: &str) -> Vec<String> {
    let mut closed = Vec::new();
    // What stands between two items belongs to the second one.
    for item in code.split("\n}\n").flat_map(|items| items.split("\n\n")) {
        let Some((attributes, body)) = ["pub enum ", "pub struct "].iter().find_map(|kind| {
            let start = if item.starts_with(kind) { 0 } else { item.find(&format!("\n{kind}"))? + 1 };
            Some((&item[..start], &item[start..]))
        }) else {
            continue;
        };
        let is_open = body.starts_with("pub enum ") || body.contains("\n    pub ");
        let name: String = body.split(' ').nth(2).unwrap().chars().take_while(|c| c.is_alphanumeric()).collect();
        if is_open && !attributes.contains("non_exhaustive") {
            closed.push(name);
        }
    }
    closed
}

/// Whether the code names this module: after or before `::`, or in a `use`.
fn names_module(code: &str, module: &str) -> bool {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices(module).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + module.len()..]);
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let statement = before.rsplit([';', '}']).next().unwrap_or_default();
        let in_use = statement.trim_start().starts_with("use ") || statement.contains("\nuse ");
        whole && (before.ends_with("::") || after.starts_with("::") || in_use)
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Returns the folders of the dialects. What several dialects share is next to them.
fn dialects() -> Vec<PathBuf> {
    Dialect::PROVIDERS.into_iter().map(folder_of).collect()
}

fn folder_of(dialect: Dialect) -> PathBuf {
    root().join("crates/ikigai-core/src/dialect").join(dialect.as_str().replace('-', "_"))
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Returns all `.rs` files below a folder.
fn sources(below: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![below.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn manifest(path: &Path) -> toml::Table {
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

/// Returns what a crate needs to be built, without what only its tests need.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = targets.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    std::iter::once(manifest)
        .chain(tables)
        .flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)))
        .flatten()
        .filter_map(toml::Value::as_table)
        .flat_map(|table| table.keys().cloned())
        .collect()
}

fn code(file: &Path) -> String {
    strip(&std::fs::read_to_string(file).unwrap())
}

/// Returns the code that ends up in a program, because tests may read files.
fn code_without_tests(file: &Path) -> String {
    if is_test(file) {
        return String::new();
    }
    let code = code(file);
    code.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}

/// Whether only tests use this file.
fn is_test(file: &Path) -> bool {
    let place = shown(file);
    let in_folder = ["/tests/", "_tests/", "/testing/", "/benches/"].iter().any(|folder| place.contains(folder));
    in_folder || ["tests.rs", "testing.rs"].iter().any(|end| place.ends_with(end))
}

/// Removes comments, strings and character literals from Rust code.
fn strip(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(end) = raw_text(rest) {
            end
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' && is_character(rest) {
            quoted(rest, '\'')
        } else {
            kept.push(first);
            first.len_utf8()
        };
        rest = &rest[skipped..];
    }
    kept
}

/// Returns the length of a raw string that begins here.
fn raw_text(code: &str) -> Option<usize> {
    let hashes = code.strip_prefix('r')?.chars().take_while(|character| *character == '#').count();
    let body = code[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(code.len() - body.len() + body.find(&end).map_or(body.len(), |at| at + end.len()))
}

/// Returns the length of a quoted literal that begins here.
fn quoted(code: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, character) in code.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == mark => return at + mark.len_utf8(),
            _ => {}
        }
    }
    code.len()
}

/// Whether this is a character literal and not a lifetime.
fn is_character(code: &str) -> bool {
    let mut characters = code.chars().skip(1);
    match characters.next() {
        Some('\\') => true,
        Some(_) => characters.next() == Some('\''),
        None => false,
    }
}
