//! Files dropped onto the terminal, which types their paths, quoted or escaped in its own way.

use std::path::{Path, PathBuf};

/// Turns a text that consists only of paths into mentions of the files: `@notes.txt @"/tmp/my file.png"`.
pub(super) fn mentions(text: &str, folder: &Path) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.contains('\n') {
        return None;
    }
    let files = match file(text) {
        Some(whole) => vec![whole],
        None => shlex::split(text)?.iter().map(|word| file(word)).collect::<Option<Vec<_>>>()?,
    };
    let mentions = files.iter().map(|file| mention(file, folder)).collect::<Option<Vec<_>>>()?;
    (!mentions.is_empty()).then(|| mentions.join(" "))
}

/// Returns a file by its absolute path or its URL. A word that happens to name a file in the folder is just a word.
fn file(text: &str) -> Option<PathBuf> {
    let path = match text.strip_prefix("file://") {
        Some(address) => {
            let path = address.strip_prefix("localhost").unwrap_or(address);
            PathBuf::from(decoded(path)?)
        }
        None => match text.strip_prefix("~/") {
            Some(rest) => etcetera::home_dir().ok()?.join(rest),
            None => PathBuf::from(text),
        },
    };
    (path.is_absolute() && path.is_file()).then_some(path)
}

/// Decodes `%20` and the like.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push(high * 16 + low);
    }
    String::from_utf8(bytes).ok()
}

/// Returns a file as a message mentions it. `None` if its name cannot be written that way.
fn mention(file: &Path, folder: &Path) -> Option<String> {
    let path = file.strip_prefix(folder).unwrap_or(file).to_str()?;
    if path.contains(['"', '@']) || path.contains(char::is_control) {
        return None;
    }
    Some(if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_dropped_file_is_mentioned_however_its_path_is_written() {
        let home = tempfile::tempdir().unwrap();
        let (root, work) = (home.path().display().to_string(), home.path().join("work"));
        std::fs::create_dir(&work).unwrap();
        for name in ["a.png", "my file.txt", "work/in.rs", "it's.md"] {
            std::fs::write(home.path().join(name), "x").unwrap();
        }
        let told = |text: String| mentions(&text, &work);
        let a = Some(format!("@{root}/a.png"));
        let mine = Some(format!("@\"{root}/my file.txt\""));
        assert_eq!(told(format!("{root}/a.png ")), a);
        assert_eq!(told(format!("'{root}/a.png'")), a);
        assert_eq!(told(format!("{root}/my\\ file.txt")), mine);
        assert_eq!(told(format!("\"{root}/my file.txt\"")), mine);
        assert_eq!(told(format!("{root}/my file.txt")), mine);
        assert_eq!(told(format!("file://{root}/my%20file.txt")), mine);
        assert_eq!(told(format!("file://localhost{root}/my%20file.txt\n")), mine);
        assert_eq!(told(format!("{root}/work/in.rs")), Some("@in.rs".to_owned()));
        assert_eq!(told(format!("{root}/it\\'s.md '{root}/a.png'")), Some(format!("@{root}/it's.md @{root}/a.png")));
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("a.png"), "x").unwrap();
        let root = home.path().display().to_string();
        for text in [
            "".to_owned(),
            "a.png".to_owned(),
            root.clone(),
            format!("{root}/none.png"),
            format!("look at {root}/a.png"),
            format!("{root}/a.png\n{root}/a.png"),
            format!("file://{root}/a%2"),
            "it's".to_owned(),
        ] {
            assert_eq!(mentions(&text, home.path()), None, "{text}");
        }
    }
}
