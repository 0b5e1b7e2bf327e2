use std::os::unix::fs::symlink;

use pretty_assertions::assert_eq;

use super::*;

/// A working folder `work` with a file, next to a folder that must not be seen.
struct House {
    _folder: tempfile::TempDir,
    top: PathBuf,
    scope: Scope,
}

fn house() -> House {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(top.join("work/src")).unwrap();
    std::fs::create_dir_all(top.join("private/deep")).unwrap();
    std::fs::write(top.join("work/src/a.txt"), "a").unwrap();
    std::fs::write(top.join("private/secret.txt"), "s").unwrap();
    let scope = Scope::new(&top.join("work")).unwrap();
    House { _folder: folder, top, scope }
}

impl House {
    fn found(&self, path: &str) -> Option<String> {
        let found = self.scope.resolve(path).ok()?;
        Some(found.strip_prefix(&self.top).unwrap().display().to_string())
    }
}

#[test]
fn what_is_inside_is_found_however_it_is_spelt() {
    let house = house();
    let absolute = house.top.join("work/src/a.txt");
    for path in ["src/a.txt", "./src//a.txt", "src/../src/a.txt", "new/../src/a.txt", absolute.to_str().unwrap()] {
        assert_eq!(house.found(path).as_deref(), Some("work/src/a.txt"), "{path}");
    }
    assert_eq!(house.found(".").as_deref(), Some("work"));
    assert_eq!(house.found("new/deep/b.txt").as_deref(), Some("work/new/deep/b.txt"));
    assert_eq!(house.found("ünï 日本.txt").as_deref(), Some("work/ünï 日本.txt"));
}

#[test]
fn what_is_outside_is_refused_with_the_reason() {
    let house = house();
    let work = house.top.join("work");
    let absolute = house.top.join("private/secret.txt");
    // A sibling whose name begins the same is outside, too.
    std::fs::create_dir(house.top.join("work2")).unwrap();
    for path in
        ["..", "../private/secret.txt", "src/../../private", "new/../../private", "../work2/x", "/etc/passwd", "/"]
    {
        let error = house.scope.resolve(path).unwrap_err();
        assert!(error.starts_with(&format!("`{path}` is outside the working folder {}", work.display())), "{error}");
    }
    assert!(house.scope.resolve(absolute.to_str().unwrap()).is_err());
    assert!(house.scope.resolve("~/x").unwrap_err().contains("outside"));
    assert_eq!(house.scope.resolve(" "), Err("the path is empty".to_owned()));
    assert!(house.scope.resolve("a\0b").is_err());
}

#[test]
fn links_are_followed_before_it_is_decided() {
    let house = house();
    let work = house.top.join("work");
    symlink(house.top.join("private/secret.txt"), work.join("file-link")).unwrap();
    symlink("../private", work.join("folder-link")).unwrap();
    symlink("src/a.txt", work.join("inside-link")).unwrap();
    symlink("../private/not-there", work.join("broken-link")).unwrap();
    symlink("loop-b", work.join("loop-a")).unwrap();
    symlink("loop-a", work.join("loop-b")).unwrap();
    for path in [
        "file-link",
        "folder-link",
        "folder-link/secret.txt",
        "folder-link/new.txt",
        "folder-link/deep/../secret.txt",
        // `..` after a link to the outside is outside as well.
        "folder-link/../private/secret.txt",
        "broken-link",
        "broken-link/x",
        "loop-a",
    ] {
        assert_eq!(house.found(path), None, "{path}");
    }
    assert!(house.scope.resolve("file-link").unwrap_err().contains("(a link leads there)"));
    assert_eq!(house.found("inside-link").as_deref(), Some("work/src/a.txt"));
    // Going out by a link and back in by its parent is inside.
    assert_eq!(house.found("folder-link/../work/src/a.txt").as_deref(), Some("work/src/a.txt"));
}

#[test]
fn more_can_be_allowed() {
    let House { _folder, top, scope } = house();
    let scope = scope.allow(&top.join("private/deep")).allow(&top.join("later"));
    for (path, allowed) in
        [("private/deep/x", true), ("private/secret.txt", false), ("later/x", true), ("private/deeper", false)]
    {
        assert_eq!(scope.resolve(top.join(path).to_str().unwrap()).is_ok(), allowed, "{path}");
    }
    assert!(scope.resolve("../private/deep").is_ok());
    assert!(Scope::new(&top.join("nowhere")).is_err());
    assert!(Scope::new(&top.join("private/secret.txt")).is_err());
}

#[test]
fn a_link_that_is_put_in_the_way_later_is_noticed() {
    let house = house();
    let work = house.top.join("work");
    let path = house.scope.resolve("src/a.txt").unwrap();
    assert!(house.scope.open(&path).is_ok());
    // The file becomes a link.
    std::fs::remove_file(&path).unwrap();
    symlink(house.top.join("private/secret.txt"), &path).unwrap();
    assert!(house.scope.open(&path).is_err());
    assert!(house.scope.still(&path).is_err());
    // The folder becomes a link.
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir(work.join("src")).unwrap();
    std::fs::write(house.top.join("private/a.txt"), "other").unwrap();
    symlink(house.top.join("private"), work.join("src")).unwrap();
    assert!(house.scope.open(&path).is_err());
}

#[test]
fn what_is_no_plain_file_is_not_opened() {
    let house = house();
    let pipe = house.top.join("work/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(house.scope.open(&pipe).unwrap_err(), "pipe is not a regular file");
    assert_eq!(house.scope.open(&house.top.join("work/src")).unwrap_err(), "src is a folder; list_dir lists it");
}

#[test]
fn secrets_are_refused_unless_the_user_names_them() {
    let house = house();
    for (path, text) in [("work/.env", "KEY=s"), ("work/.ssh/id", "s"), ("work/b.env", "s")] {
        let path = house.top.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    symlink(house.top.join("work/.env"), house.top.join("work/link")).unwrap();
    let error = house.scope.resolve(".env").unwrap_err();
    assert_eq!(
        error,
        "`.env` usually holds keys or passwords, and the tools leave it alone; the user can allow it with --allow-path .env"
    );
    assert!(house.scope.resolve("link").is_err() && house.scope.resolve(".ssh/id").is_err());
    assert!(house.scope.open(&house.top.join("work/.env")).is_err(), "on a walk, too");
    assert_eq!(house.found("b.env").as_deref(), Some("work/b.env"));
    // Allowing the whole folder does not name the file; its own name does.
    let scope = Scope::new(&house.top.join("work")).unwrap().allow(&house.top);
    assert!(scope.resolve(".env").is_err());
    let scope = Scope::new(&house.top.join("work")).unwrap().allow(Path::new(".env"));
    assert!(scope.resolve(".env").is_ok() && scope.resolve(".ssh/id").is_err());
}
