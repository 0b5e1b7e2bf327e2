use std::path::PathBuf;

use ikigai::tools::{IntoOutput as _, Output as Given};
use ikigai::{Block, BlockKind};
use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::screen::Content;

/// A working folder.
pub(super) struct House {
    folder: tempfile::TempDir,
    pub(super) scope: Arc<Scope>,
}

pub(super) fn house(files: &[(&str, &[u8])]) -> House {
    let folder = tempfile::tempdir().unwrap();
    let scope = Arc::new(Scope::new(folder.path()).unwrap());
    let house = House { folder, scope };
    for (name, bytes) in files {
        let path = house.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    house
}

fn read<A: DeserializeOwned>(arguments: Value) -> A {
    serde_json::from_value(arguments).unwrap()
}

impl House {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn given(&self, name: &str, arguments: Value) -> Given {
        let (scope, stop) = (&self.scope, &Stop::default());
        match name {
            "read_file" => read::read_file(scope, &read(arguments), stop).into_output(),
            "list_dir" => read::list_dir(scope, &read(arguments)).into_output(),
            "glob" => find::glob(scope, &read(arguments), stop).into_output(),
            "grep" => find::grep(scope, &read(arguments), stop).into_output(),
            "write_file" => change::write_file(scope, &read(arguments), stop).into_output(),
            "edit_file" => change::edit_file(scope, &read(arguments), stop).into_output(),
            other => panic!("{other}"),
        }
    }

    /// Returns a tool's output, or its error.
    fn call(&self, name: &str, arguments: Value) -> Result<String, String> {
        let given = self.given(name, arguments);
        let [Block::Text(text)] = given.content.as_slice() else { panic!("{given:?}") };
        if given.is_error { Err(text.text.clone()) } else { Ok(text.text.clone()) }
    }
}

fn ok(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn err(text: &str) -> Result<String, String> {
    Err(text.to_owned())
}

#[test]
fn files_are_read_in_pieces() {
    let house = house(&[("a.txt", "one\r\ntwo\nünï\n\nfive".as_bytes()), ("empty", b"")]);
    let read = |arguments: Value| house.call("read_file", arguments);
    assert_eq!(read(json!({"path": "a.txt"})), ok("one\r\ntwo\nünï\n\nfive"));
    assert_eq!(
        read(json!({"path": "a.txt", "offset": 2, "limit": 2})),
        ok("two\nünï\n\n[lines 2 to 3; the file continues: read on with offset 4]")
    );
    assert_eq!(read(json!({"path": "a.txt", "offset": 5, "limit": 9})), ok("five"));
    assert_eq!(read(json!({"path": "a.txt", "offset": 0, "limit": 0})).unwrap().lines().next(), Some("one"));
    assert_eq!(read(json!({"path": "a.txt", "offset": 6})), err("a.txt has 5 lines; offset 6 is past its end"));
    assert_eq!(read(json!({"path": "empty"})), ok("[the file is empty]"));
    assert_eq!(read(json!({"path": "nowhere"})), err("nowhere: there is no such file or folder"));
    assert_eq!(read(json!({"path": "."})), err(". is a folder; list_dir lists it"));
    assert!(read(json!({"path": "../x"})).unwrap_err().contains("outside the working folder"));
}

#[test]
fn long_files_and_long_lines_are_bounded_and_the_pieces_are_the_whole() {
    let long: String = (0..5000).map(|number| format!("line {number} of many\n")).collect();
    let house = house(&[("long", long.as_bytes()), ("wide", "ü".repeat(100_000).as_bytes())]);
    let mut all = String::new();
    let mut offset = 1;
    loop {
        let text = house.call("read_file", json!({"path": "long", "offset": offset, "limit": 10_000})).unwrap();
        assert!(text.chars().count() < LIMIT + 200);
        match text.rsplit_once("\n[lines ") {
            Some((piece, note)) => {
                all.push_str(piece);
                offset = note.rsplit(' ').next().unwrap().trim_end_matches(']').parse().unwrap();
            }
            None => {
                all.push_str(&text);
                break;
            }
        }
    }
    assert_eq!(all, long);
    let text = house.call("read_file", json!({"path": "long"})).unwrap();
    assert!(text.ends_with("; the file continues: read on with offset 1729]"), "{}", &text[text.len() - 100..]);
    let wide = house.call("read_file", json!({"path": "wide"})).unwrap();
    assert!(wide.ends_with("üü [196000 more bytes in this line]\n") && wide.len() < 5000);
}

#[test]
fn text_that_is_not_utf8_is_read_and_what_is_no_text_is_not() {
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let house = house(&[("latin", b"caf\xe9\n"), ("data", b"ab\0cd"), ("p.png", picture), ("x.jpg", b"no picture")]);
    assert_eq!(house.call("read_file", json!({"path": "latin"})), ok("caf\u{fffd}\n"));
    assert_eq!(
        house.call("read_file", json!({"path": "data"})),
        err("data is not a text file: 5 bytes of something else")
    );
    assert_eq!(house.call("read_file", json!({"path": "x.jpg"})), ok("no picture"));
    let given = house.given("read_file", json!({"path": "p.png"}));
    assert!(!given.is_error);
    assert_eq!(given.content.iter().map(Block::kind).collect::<Vec<_>>(), [BlockKind::Text, BlockKind::Image]);
    assert_eq!(given.content[0], Block::text("p.png, png, 16 bytes:"));
    std::fs::write(house.path("p.png"), [picture.as_slice(), &vec![0; 6 << 20]].concat()).unwrap();
    assert!(house.call("read_file", json!({"path": "p.png"})).unwrap_err().contains("is a picture of"));
}

#[test]
#[cfg(unix)]
fn folders_are_listed() {
    let house = house(&[("b/x", b""), (".hidden", b"12"), ("a 日本.txt", b"1234")]);
    std::os::unix::fs::symlink("/etc/passwd", house.path("link")).unwrap();
    assert_snapshot!(house.call("list_dir", json!({})).unwrap(), @r"
    .hidden  2
    a 日本.txt  4
    b/
    link -> /etc/passwd
    ");
    assert_eq!(house.call("list_dir", json!({"path": "b"})), ok("x  0\n"));
    std::fs::remove_file(house.path("b/x")).unwrap();
    assert_eq!(house.call("list_dir", json!({"path": "b"})), ok("[the folder is empty]"));
    assert_eq!(house.call("list_dir", json!({"path": ".hidden"})), err(".hidden is a file; read_file reads it"));
    assert_eq!(house.call("list_dir", json!({"path": "c"})), err("c: there is no such file or folder"));
    assert!(house.call("list_dir", json!({"path": "/"})).unwrap_err().contains("outside"));
    for number in 0..1100 {
        std::fs::write(house.path(&format!("b/{number:04}")), "").unwrap();
    }
    let many = house.call("list_dir", json!({"path": "b"})).unwrap();
    assert!(many.ends_with("0999  0\n[100 more; find the ones you want with glob]\n"), "{many}");
}

#[test]
fn files_are_found_by_name() {
    let house = house(&[
        (".gitignore", b"target/\n*.log\n"),
        ("src/main.rs", b""),
        ("src/deep/lib.rs", b""),
        ("build.rs", b""),
        ("target/x.rs", b""),
        ("a.log", b""),
        (".github/ci.yml", b""),
        (".git/x.rs", b""),
    ]);
    let glob = |arguments: Value| house.call("glob", arguments);
    assert_eq!(glob(json!({"pattern": "*.rs"})), ok("build.rs\nsrc/deep/lib.rs\nsrc/main.rs\n"));
    assert_eq!(glob(json!({"pattern": "src/*.rs"})), ok("src/main.rs\n"));
    assert_eq!(glob(json!({"pattern": "**/{lib,main}.rs"})), ok("src/deep/lib.rs\nsrc/main.rs\n"));
    assert_eq!(glob(json!({"pattern": "*.rs", "path": "src/deep"})), ok("src/deep/lib.rs\n"));
    assert_eq!(glob(json!({"pattern": "*.yml"})), ok(".github/ci.yml\n"));
    assert_eq!(glob(json!({"pattern": "*.log"})), ok("[no matching files]"));
    assert!(glob(json!({"pattern": "../*"})).unwrap_err().contains("leads out of the folder"));
    assert!(glob(json!({"pattern": "/etc/*"})).unwrap_err().contains("leads out of the folder"));
    assert!(glob(json!({"pattern": "*", "path": ".."})).unwrap_err().contains("outside"));
    assert_eq!(glob(json!({"pattern": "*", "path": "nowhere"})), err("nowhere is not a folder"));
    assert_eq!(
        glob(json!({"pattern": "{a"})),
        err("the pattern cannot be used: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)")
    );
}

#[test]
#[cfg(unix)]
fn lines_are_found_and_links_are_not_followed() {
    let house = house(&[
        (".gitignore", b"target/\n"),
        ("src/main.rs", "fn main() {\n    let ü = 1;\r\n}\n".as_bytes()),
        ("src/lib.rs", b"pub fn lib() {}\n"),
        ("notes.md", b"Fn of it\ncaf\xe9 fn\n"),
        ("target/x.rs", b"fn x() {}\n"),
        ("data.bin", b"fn \0"),
    ]);
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.rs"), "fn secret() {}\n").unwrap();
    std::os::unix::fs::symlink(outside.path(), house.path("src/link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.rs"), house.path("src/link.rs")).unwrap();
    let grep = |arguments: Value| house.call("grep", arguments);
    assert_eq!(
        grep(json!({"pattern": r"\bfn\b"})),
        ok("notes.md:2:caf\u{fffd} fn\nsrc/lib.rs:1:pub fn lib() {}\nsrc/main.rs:1:fn main() {\n")
    );
    assert_eq!(grep(json!({"pattern": "^fn", "ignore_case": true, "glob": "*.md"})), ok("notes.md:1:Fn of it\n"));
    assert_eq!(grep(json!({"pattern": "ü.*;$", "path": "src/main.rs"})), ok("src/main.rs:2:    let ü = 1;\n"));
    assert_eq!(
        grep(json!({"pattern": "fn", "path": "src", "max_matches": 1})),
        ok("src/lib.rs:1:pub fn lib() {}\n[more than these 1; narrow the pattern or the path]\n")
    );
    assert_eq!(grep(json!({"pattern": "nothing like it"})), ok("[no matching lines]"));
    assert!(grep(json!({"pattern": "("})).unwrap_err().starts_with("the pattern cannot be used: regex parse error"));
    assert!(grep(json!({"pattern": "x", "path": "src/link"})).unwrap_err().contains("outside"));
    assert_eq!(grep(json!({"pattern": "x", "path": "no"})), err("no: there is no such file or folder"));
}

#[test]
fn what_is_found_is_bounded() {
    let line = format!("needle {}\n", "x".repeat(1000));
    let house = house(&[("long", line.repeat(1000).as_bytes())]);
    let text = house.call("grep", json!({"pattern": "needle", "max_matches": 100_000})).unwrap();
    assert!(text.chars().count() <= LIMIT + 100, "{}", text.len());
    assert!(text.lines().next().unwrap().ends_with("x…"));
    assert!(text.ends_with("; narrow the pattern or the path]\n"), "{text}");
}

#[test]
fn files_are_written_with_their_folders() {
    let house = house(&[("old.txt", b"before")]);
    let write = |path: &str, content: &str| house.call("write_file", json!({"path": path, "content": content}));
    assert_eq!(write("new/deep/a.txt", "ünï\n"), ok("wrote the new file new/deep/a.txt: 1 line, 6 bytes"));
    assert_eq!(house.bytes("new/deep/a.txt"), "ünï\n".as_bytes());
    assert_eq!(write("old.txt", ""), ok("wrote old.txt: 0 lines, 0 bytes"));
    assert_eq!(house.bytes("old.txt"), b"");
    assert_eq!(write("new", "x"), err("new is a folder"));
    assert!(write("old.txt/x", "x").is_err());
    assert!(write("../x.txt", "x").unwrap_err().contains("outside"));
}

#[test]
#[cfg(unix)]
fn modes_and_links_are_kept_and_what_may_only_be_read_stays() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let house = house(&[("run.sh", b"echo a\n"), ("locked", b"a")]);
    let mode = |name: &str| std::fs::metadata(house.path(name)).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(house.path("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", house.path("link")).unwrap();
    house.call("write_file", json!({"path": "link", "content": "echo b\n"})).unwrap();
    house.call("edit_file", json!({"path": "link", "old_text": "b", "new_text": "c"})).unwrap();
    assert_eq!((house.bytes("run.sh"), mode("run.sh")), (b"echo c\n".to_vec(), 0o750));
    assert!(house.path("link").is_symlink());
    std::fs::set_permissions(house.path("locked"), std::fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(house.call("write_file", json!({"path": "locked", "content": ""})), err("locked may only be read"));
    let edit = json!({"path": "locked", "old_text": "a", "new_text": "b"});
    assert_eq!(house.call("edit_file", edit), err("locked may only be read"));
    house.call("write_file", json!({"path": "new", "content": ""})).unwrap();
    assert_ne!(mode("new") & 0o400, 0);
}

#[test]
#[cfg(unix)]
fn nothing_outside_is_read_or_changed_by_any_tool_in_any_way() {
    use std::os::unix::fs::symlink;
    let house = house(&[("a.txt", b"a")]);
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "needle").unwrap();
    symlink(&secret, house.path("file-link")).unwrap();
    symlink(outside.path(), house.path("folder-link")).unwrap();
    let up = format!("../{}/secret.txt", outside.path().file_name().unwrap().to_str().unwrap());
    let ways = [secret.to_str().unwrap(), &up, "file-link", "folder-link/secret.txt", "folder-link/new.txt"];
    for path in ways {
        for name in NAMES.iter().filter(|name| **name != "shell") {
            let arguments = json!({
                "path": path, "pattern": "needle", "content": "x", "old_text": "needle", "new_text": "x",
            });
            let error = house.call(name, arguments.clone()).unwrap_err();
            assert!(error.contains("is outside the working folder"), "{name} {path}: {error}");
            let told = describe(&house.scope, name, arguments.as_object().unwrap());
            assert_eq!((told.fails, told.promise), (Some(error), None), "{name} {path}");
        }
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "needle");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn text_is_replaced_where_it_stands() {
    let house = house(&[("a.rs", b"let a = 1;\nlet b = 1;\nlet \xff = 2;\n"), ("dos.txt", b"one\r\ntwo\r\nthree\r\n")]);
    let edit = |path: &str, old: &str, new: &str, all: Option<bool>| {
        let arguments = json!({"path": path, "old_text": old, "new_text": new, "replace_all": all});
        house.call("edit_file", arguments)
    };
    assert_eq!(edit("a.rs", "let b = 1;", "let b = 3;", None), ok("changed one place in a.rs"));
    // Bytes that are not UTF-8 stay unchanged.
    assert_eq!(house.bytes("a.rs"), b"let a = 1;\nlet b = 3;\nlet \xff = 2;\n");
    assert_eq!(
        edit("a.rs", "let ", "const ", None),
        err("a.rs: old_text occurs 3 times (lines 1, 2, 3); include more of the surrounding text, or set replace_all")
    );
    assert_eq!(edit("a.rs", "let ", "const ", Some(true)), ok("changed 3 places in a.rs"));
    assert_eq!(house.bytes("a.rs"), b"const a = 1;\nconst b = 3;\nconst \xff = 2;\n");
    // The file's line breaks are kept, however the model writes them.
    assert_eq!(edit("dos.txt", "one\ntwo\n", "1\n2\n2b\n", None), ok("changed one place in dos.txt"));
    assert_eq!(house.bytes("dos.txt"), b"1\r\n2\r\n2b\r\nthree\r\n");
    assert_eq!(edit("dos.txt", "\r\nthree\r\n", "", None), ok("changed one place in dos.txt"));
    assert_eq!(house.bytes("dos.txt"), b"1\r\n2\r\n2b");
}

#[test]
fn an_edit_that_cannot_be_made_says_what_to_mend() {
    let house = house(&[("a.rs", b"fn main() {\n    let total = count + 1;\n}\n"), ("empty", b"")]);
    let edit = |path: &str, old: &str, new: &str| {
        house.call("edit_file", json!({"path": path, "old_text": old, "new_text": new})).unwrap_err()
    };
    assert_eq!(
        edit("a.rs", "let totals = count + 1;", "x"),
        "a.rs: old_text was not found. The nearest to its first line is line 2: `let total = count + 1;`"
    );
    assert_eq!(
        edit("a.rs", "\tlet total = count + 1;\n", "x"),
        "a.rs: old_text was not found exactly. Line 2 matches its first line but for whitespace, or is followed by something \
         else: `let total = count + 1;`; read the file again"
    );
    assert_eq!(
        edit("a.rs", "what is this", "x"),
        "a.rs: old_text was not found, nor anything like its first line; read the file again"
    );
    assert_eq!(edit("a.rs", "\n\n\n", "x"), "a.rs: old_text was not found; it is only whitespace");
    assert_eq!(edit("a.rs", "", "x"), "a.rs: old_text is empty; write_file writes whole files");
    assert_eq!(edit("a.rs", "fn", "fn"), "a.rs: old_text and new_text are the same");
    assert!(edit("empty", "a", "b").starts_with("empty: old_text was not found"));
    assert_eq!(edit("nowhere", "a", "b"), "nowhere: there is no such file or folder");
    assert!(edit("/etc/passwd", "root", "me").contains("outside"));
}

#[test]
fn edits_side_by_side_are_all_there_in_the_end() {
    let text: String = (0..20).map(|number| format!("<{number}>\n")).collect();
    let house = house(&[("a.txt", text.as_bytes())]);
    std::thread::scope(|threads| {
        for number in 0..20 {
            let house = &house;
            threads.spawn(move || {
                let arguments =
                    json!({"path": "a.txt", "old_text": format!("<{number}>"), "new_text": format!("[{number}]")});
                house.call("edit_file", arguments).unwrap();
            });
        }
    });
    assert_eq!(String::from_utf8(house.bytes("a.txt")).unwrap(), text.replace('<', "[").replace('>', "]"));
}

#[test]
fn kinds_and_names_are_those_of_the_tools() {
    let tools = all(&house(&[]).scope);
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool.definition().name()).collect();
    assert_eq!(names, NAMES);
    assert!(tools.iter().all(Callable::is_runnable));
    let kinds = NAMES.map(kind);
    use Kind::{Changes, Reads, Runs};
    assert_eq!(kinds, [Reads, Reads, Reads, Reads, Changes, Changes, Runs]);
    assert_eq!(kind("mcp_files_delete"), Runs);
}

#[test]
fn calls_are_described_before_they_are_made() {
    let house = house(&[("a.rs", b"let a = 1;\n")]);
    let told = |name: &str, arguments: Value| describe(&house.scope, name, arguments.as_object().unwrap());
    let line = |name: &str, arguments: Value| told(name, arguments).line;
    assert_eq!(line("read_file", json!({"path": "a.rs"})), "read_file a.rs");
    assert_eq!(line("read_file", json!({"path": "a.rs", "offset": 5, "limit": 10})), "read_file a.rs (lines 5 to 14)");
    assert_eq!(line("read_file", json!({"path": "a.rs", "offset": 5})), "read_file a.rs (from line 5)");
    assert_eq!(line("list_dir", json!({})), "list_dir .");
    assert_eq!(line("glob", json!({"pattern": "*.rs", "path": "src"})), "glob *.rs in src");
    assert_eq!(line("grep", json!({"pattern": "fn", "glob": "*.rs"})), "grep \"fn\" (*.rs)");
    assert_eq!(line("mcp_find", json!({"q": "a\u{1b}[2J"})), r#"mcp_find {"q":"a\u001b[2J"}"#);
    assert_eq!(line("read_file", json!({"wrong": 1})), r#"read_file {"wrong":1}"#);
    assert_eq!(line("mcp_now", json!({})), "mcp_now");
    let text = |text: &str| Content::Text(text.to_owned());
    let long = format!("git status{}; touch HIDDEN", " ".repeat(300));
    assert_eq!(told("shell", json!({"command": long})).content, text(&long));
    assert_eq!(told("shell", json!({"command": "x", "timeout_seconds": 5})).content, text("x\n(for at most 5 s)"));
    assert_eq!(told("mcp_find", json!({"q": "a"})).content, text("{\n  \"q\": \"a\"\n}"));
    let diff = |path: &str, old: &str, new: &str| Content::Diff {
        path: path.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    let edit = told("edit_file", json!({"path": "./a.rs", "old_text": "1", "new_text": "2"}));
    assert_eq!(edit.line, "edit_file ./a.rs");
    assert_eq!(edit.content, diff("a.rs", "let a = 1;\n", "let a = 2;\n"));
    let write = told("write_file", json!({"path": "new.rs", "content": "x\ny"}));
    assert_eq!(write.line, "write_file new.rs (new, 2 lines)");
    assert_eq!(write.content, diff("new.rs", "", "x\ny"));
    assert_eq!(told("write_file", json!({"path": "a.rs", "content": "x"})).content, diff("a.rs", "let a = 1;\n", "x"));
    let fails = |name: &str, arguments: Value| told(name, arguments).fails.unwrap_or_default();
    assert!(fails("edit_file", json!({"path": "a.rs", "old_text": "7", "new_text": "2"})).contains("was not found"));
    assert!(fails("shell", json!({"cmd": "ls"})).contains("missing field `command`"));
    for name in ["read_file", "write_file", "edit_file", "list_dir"] {
        let arguments = json!({"path": "../x", "content": "", "old_text": "a", "new_text": "b"});
        assert!(fails(name, arguments).contains("outside"), "{name}");
    }
    assert_eq!(house.bytes("a.rs"), b"let a = 1;\n");
}

#[test]
fn what_is_too_large_to_be_shown_cannot_be_replaced() {
    let house = house(&[("large", &vec![b'x'; (16 << 20) + 1])]);
    let arguments = json!({"path": "large", "content": "small"});
    let told = describe(&house.scope, "write_file", arguments.as_object().unwrap());
    assert_eq!(told.fails.as_deref(), Some("large is larger than 16777216 bytes"));
    assert_eq!(house.call("write_file", arguments), err("large is larger than 16777216 bytes"));
}

#[test]
fn a_change_is_made_to_what_was_shown_or_not_at_all() {
    let house = house(&[("a.txt", b"one\n"), ("b.txt", b"one\n")]);
    let changes = [
        ("edit_file", json!({"path": "a.txt", "old_text": "one", "new_text": "two"})),
        ("write_file", json!({"path": "b.txt", "content": "two"})),
        ("write_file", json!({"path": "c.txt", "content": "two"})),
    ];
    for (name, arguments) in &changes {
        let told = describe(&house.scope, name, arguments.as_object().unwrap());
        house.scope.promise(told.promise.unwrap());
    }
    for name in ["a.txt", "b.txt", "c.txt"] {
        std::fs::write(house.path(name), "one, and more\n").unwrap();
    }
    for (name, arguments) in &changes {
        let error = house.call(name, arguments.clone()).unwrap_err();
        assert!(error.contains("changed after the user was asked"), "{name}: {error}");
    }
    assert_eq!(["a.txt", "b.txt", "c.txt"].map(|name| house.bytes(name)), [b"one, and more\n"; 3]);
    assert!(!house.scope.is_changing());
    // A change that is as it was shown is made.
    for (name, arguments) in &changes {
        let told = describe(&house.scope, name, arguments.as_object().unwrap());
        house.scope.promise(told.promise.unwrap());
        house.call(name, arguments.clone()).unwrap();
    }
}

#[tokio::test]
async fn models_of_every_dialect_use_the_tools() {
    let house = house(&[("a.txt", b"the text of a")]);
    let sim = ikigai_sim::Sim::start().await.unwrap();
    let variables = [
        ("ANTHROPIC_API_KEY", "key".to_owned()),
        ("ANTHROPIC_BASE_URL", sim.url()),
        ("OPENAI_API_KEY", "key".to_owned()),
        ("OPENAI_BASE_URL", format!("{}/v1", sim.url())),
        ("GEMINI_API_KEY", "key".to_owned()),
        ("GEMINI_BASE_URL", sim.url()),
    ];
    let client = ikigai::Client::builder()
        .transport(ikigai::transport::Http::builder().no_proxy().build().unwrap())
        .environment(ikigai::config::Environment::of(variables))
        .build()
        .unwrap();
    let chat = ikigai::Dialect::OpenaiChat;
    let models = [
        client.model("claude-haiku-4-5").unwrap(),
        client.model("gpt-5.4").unwrap(),
        client.model("gpt-4.1").unwrap().dialect(chat),
        client.model("gemini-2.5-flash").unwrap(),
    ];
    for model in models {
        let model = model.tools(all(&house.scope));
        let answer = model.ask("Call read_file with path=\"a.txt\"").await.unwrap().to_string();
        assert!(answer.contains("the text of a"), "{}: {answer}", model.name());
        let answer = model.ask("Call shell with command=\"echo $((6*7))\"").await.unwrap().to_string();
        assert!(answer.contains("42"), "{}: {answer}", model.name());
        let answer = model.ask("Call read_file with path=\"/etc/passwd\"").await.unwrap().to_string();
        assert!(answer.contains("outside the working folder"), "{}: {answer}", model.name());
    }
}

#[test]
fn work_that_nobody_waits_for_stops() {
    let house = house(&[("a.txt", b"needle\n")]);
    let stop = Stop::default();
    stop.0.store(true, Ordering::Relaxed);
    let stopped = Err("stopped".to_owned());
    assert_eq!(find::grep(&house.scope, &read(json!({"pattern": "needle"})), &stop), stopped);
    assert_eq!(find::glob(&house.scope, &read(json!({"pattern": "*"})), &stop), stopped);
    assert_eq!(read::read_file(&house.scope, &read(json!({"path": "a.txt"})), &stop).unwrap_err(), "stopped");
    let write = json!({"path": "a.txt", "content": "new"});
    assert_eq!(change::write_file(&house.scope, &read(write), &stop), stopped);
    let edit = json!({"path": "a.txt", "old_text": "needle", "new_text": "x"});
    assert_eq!(change::edit_file(&house.scope, &read(edit), &stop), stopped);
    assert_eq!(house.bytes("a.txt"), b"needle\n");
}
