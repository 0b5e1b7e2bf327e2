//! Adds the git commit to `ikigai --version` if the program is built from a checkout. Needs neither git nor a network.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = match commit() {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=IKIGAI_VERSION={version}");
}

/// Returns the commit of our own checkout; `None` in a packaged source tree, in another repository or without git.
fn commit() -> Option<String> {
    if git(&["rev-parse", "--show-prefix"])? != "crates/ikigai-cli/" {
        return None;
    }
    // The reflog changes with every commit, HEAD whenever the branch is switched.
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=10", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
