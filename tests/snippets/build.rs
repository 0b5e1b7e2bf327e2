//! Collects the snippets in the library's comments into one page.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const SOURCE: &str = "../../crates/ikigai/src";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=../../docs/library.md");
    let mut page = String::new();
    collect(Path::new(SOURCE), &mut page)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("comments.md"), page)?;
    Ok(())
}

fn collect(folder: &Path, page: &mut String) -> Result<(), Box<dyn Error>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, page)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            snippets(&path, &fs::read_to_string(&path)?, page)?;
        }
    }
    Ok(())
}

/// Adds every block between fences, under its file and line.
fn snippets(path: &Path, text: &str, page: &mut String) -> std::fmt::Result {
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        let comment = comment.strip_prefix(' ').unwrap_or(comment);
        let fence = comment.starts_with("```");
        if fence && !inside {
            writeln!(page, "\n{}:{}\n", path.display(), number + 1)?;
        }
        if fence || inside {
            writeln!(page, "{comment}")?;
        }
        inside ^= fence;
    }
    Ok(())
}
