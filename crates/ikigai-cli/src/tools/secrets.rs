//! What the tools do not touch even in the folder: keys, passwords, and this program's own files. And what they may write
//! only with a warning: files that are run automatically later.

use std::path::{Path, PathBuf};

use crate::places::Places;

/// Folders that hold keys and passwords, by the last parts of their paths.
const FOLDERS: [&str; 15] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".mozilla",
    ".thunderbird",
    "share/keyrings",
    "library/keychains",
    ".config/gcloud",
    ".config/gh",
    ".config/1password",
    ".config/bitwarden",
];
/// Files that hold keys and passwords.
const FILES: [&str; 27] = [
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".dockercfg",
    ".boto",
    ".s3cfg",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "application_default_credentials.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "secrets.json",
];
/// Endings of the names of such files.
const ENDINGS: [&str; 9] = [".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", "_history", ".agekey"];
/// Endings of a `.env.*` that shows what belongs in one but contains no secrets.
const EXAMPLES: [&str; 5] = [".example", ".sample", ".template", ".dist", ".defaults"];

/// This program's own files: its settings and keys, its conversations, its approvals.
#[derive(Debug, Clone, Default)]
pub(super) struct Own {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Own {
    /// Finds the user's. A folder that contains the working folder is not closed as a whole.
    pub(super) fn find(root: &Path) -> Self {
        let Some(places) = Places::find() else { return Own::default() };
        let real = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
        let mut folders: Vec<PathBuf> =
            [&places.config, &places.data, &places.state].map(|path| real(path.clone())).into();
        let files = folders.clone();
        folders.retain(|folder| !root.starts_with(folder));
        Own { folders, files }
    }

    fn holds(&self, path: &Path) -> bool {
        const NAMES: [&str; 6] =
            ["config.toml", "credentials", "providers.toml", "models.toml", "approvals", "ikigai.db"];
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = NAMES.iter().any(|own| name.starts_with(own));
        let beside = |folder: &PathBuf| path.parent() == Some(folder.as_path());
        self.folders.iter().any(|folder| path.starts_with(folder)) || named && self.files.iter().any(beside)
    }
}

/// Returns why this path holds secrets, in words, if it does.
pub(super) fn secret(path: &Path, own: &Own) -> Option<&'static str> {
    if own.holds(path) {
        return Some("belongs to ikigai itself");
    }
    if path.starts_with("/proc") || path.starts_with("/sys") {
        return Some("belongs to the system");
    }
    let names = names(path);
    if FOLDERS.iter().any(|folder| has(&names, folder)) {
        return Some("is in a folder of keys");
    }
    let name = names.last()?.as_str();
    let is_example = EXAMPLES.iter().any(|ending| name.ends_with(ending));
    let is_variables = name.starts_with(".env.") && !is_example;
    let is_key = FILES.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending)) && !is_example;
    (is_variables || is_key).then_some("usually holds keys or passwords")
}

/// Returns the names in a path, in lower case, because some file systems ignore case.
fn names(path: &Path) -> Vec<String> {
    path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect()
}

/// Whether this folder is in the path.
fn has(names: &[String], folder: &str) -> bool {
    let wanted: Vec<&str> = folder.split('/').collect();
    names.windows(wanted.len()).any(|part| part == wanted)
}

/// Returns what a file will do automatically later, if anything: an "always" does not cover it.
pub(super) fn runs_later(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let names = names(path);
    let within = |folder: &str| has(&names, folder);
    let shells = [
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".kshrc",
        ".cshrc",
        ".tcshrc",
        "config.fish",
        ".inputrc",
        ".xinitrc",
        ".xprofile",
        "crontab",
    ];
    let models = ["agents.md", "claude.md", "gemini.md", ".cursorrules", ".ikigai.toml", ".mcp.json"];
    Some(match name.as_str() {
        _ if within(".git") || within(".hg") || within(".husky") => "Git runs this automatically.",
        ".gitattributes" | ".gitmodules" | ".gitconfig" | ".lfsconfig" => "Git follows this automatically.",
        name if shells.contains(&name) => "Your shell or your session runs this automatically.",
        _ if within(".vscode") || within(".idea") || within(".zed") || within(".devcontainer") => {
            "Your editor may run this automatically."
        }
        ".vimrc" | ".exrc" | ".nvimrc" | ".emacs" | ".dir-locals.el" | ".editorconfig" => {
            "Your editor follows this automatically."
        }
        _ if within(".github/workflows")
            || within(".circleci")
            || name == ".gitlab-ci.yml"
            || name == "jenkinsfile" =>
        {
            "Your build server runs this automatically, with its own keys."
        }
        _ if within(".config/autostart") || within("systemd") || within("launchagents") => {
            "Your system runs this automatically."
        }
        _ if within(".cargo") || name == "build.rs" || name == "conftest.py" || name == "sitecustomize.py" => {
            "Builds or tests run this by themselves."
        }
        name if models.contains(&name) => "Models follow this in every conversation in this folder.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn keys_passwords_and_our_own_files_are_out_of_reach() {
        let own = Own { folders: vec!["/home/me/.config/ikigai".into()], files: vec!["/house".into()] };
        let closed = |path: &str| secret(Path::new(path), &own).is_some();
        for path in [
            "/home/me/.ssh/id_ed25519",
            "/home/me/.ssh",
            "/home/me/.aws/credentials",
            "/home/me/.AWS/config",
            "/w/.env",
            "/w/.env.local",
            "/w/a/.env.production",
            "/w/.netrc",
            "/w/server.key",
            "/home/me/.bash_history",
            "/home/me/.config/gcloud/x",
            "/home/me/.config/ikigai/anything",
            "/house/credentials.toml",
            "/house/ikigai.db-wal",
            "/house/approvals.toml",
            "/proc/1/environ",
            "/proc/self/environ",
            "/w/.git-credentials",
        ] {
            assert!(closed(path), "{path}");
        }
        for path in
            ["/w/src/main.rs", "/w/.env.example", "/w/environment.rs", "/w/keys.md", "/house/notes.txt", "/w/a.pem"]
        {
            assert!(!closed(path), "{path}");
        }
    }

    #[test]
    fn files_that_run_by_themselves_are_told() {
        let told = |path: &str| runs_later(Path::new(path)).is_some();
        let warned = [
            "/w/.git/hooks/pre-commit",
            "/w/.git/config",
            "/home/me/.bashrc",
            "/home/me/.zshrc",
            "/w/.vscode/tasks.json",
            "/w/.github/workflows/ci.yml",
            "/w/AGENTS.md",
            "/w/build.rs",
            "/home/me/.config/fish/config.fish",
        ];
        assert_eq!(warned.map(told), [true; 9]);
        assert_eq!(["/w/src/main.rs", "/w/README.md", "/w/git/hooks.md"].map(told), [false; 3]);
    }
}
