use std::path::Path;

use ikigai_core::Dialect;
use ikigai_core::provider::{Provider, Providers};
use pretty_assertions::assert_eq;

use super::*;

const SECRET: &str = "sk-ant-api03-very-secret-key-0000";

fn provider(id: &str) -> &'static Provider {
    Providers::shared().find(id).unwrap()
}

/// Writes a file that only its owner can read.
fn write(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    mode(&file, 0o600);
}

#[cfg(unix)]
fn mode(file: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn mode(_: &Path, _: u32) {}

fn found(environment: &Environment, id: &str) -> Option<(String, KeySource)> {
    let found = Lookup::new(environment.clone()).key(provider(id)).unwrap()?;
    Some((found.key.expose().to_owned(), found.from))
}

#[test]
fn the_environment_goes_before_files_and_files_before_dotenv() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, ".env", "ANTHROPIC_API_KEY=from-dotenv\nOPENAI_API_KEY=\"from-dotenv\"\nGROQ_API_KEY=from-dotenv\n");
    write(path, "credentials.json", r#"{"openai": "from-json", "groq": {"api_key": "from-json"}}"#);
    write(path, "credentials.toml", "openai = \" from-toml\\n\"\n[gemini]\napi_key = \"by-alias\"\n");
    let environment = Environment::of([("ANTHROPIC_API_KEY", "from-variable"), ("MISTRAL_API_KEY", " ")])
        .with_settings(path)
        .with_dotenv(path.join(".env"));
    let variable = KeySource::Variable("ANTHROPIC_API_KEY".to_owned());
    assert_eq!(found(&environment, "anthropic"), Some(("from-variable".to_owned(), variable)));
    let toml = KeySource::File(path.join("credentials.toml"));
    assert_eq!(found(&environment, "openai"), Some(("from-toml".to_owned(), toml.clone())));
    assert_eq!(found(&environment, "google"), Some(("by-alias".to_owned(), toml)));
    assert_eq!(found(&environment, "groq").unwrap().1, KeySource::File(path.join("credentials.json")));
    assert_eq!(found(&environment, "mistral"), None, "an empty variable is none");

    let environment = Environment::of([("X", "y")]).with_dotenv(path.join(".env"));
    let dotenv = KeySource::DotEnv { file: path.join(".env"), variable: "ANTHROPIC_API_KEY".to_owned() };
    assert_eq!(found(&environment, "anthropic"), Some(("from-dotenv".to_owned(), dotenv)));
}

#[test]
fn a_broken_file_of_keys_is_an_error_with_its_place_and_without_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let error = |name: &str, text: &str| {
        write(path, name, text);
        let error = Credentials::load(path).unwrap_err();
        std::fs::remove_file(path.join(name)).unwrap();
        assert_eq!(error.file, path.join(name));
        let told = format!("{error} {error:?}");
        assert!(!told.contains("secret"), "{told}");
        (error.line, error.message)
    };
    let (line, message) = error("credentials.toml", &format!("groq = \"x\"\nanthropic = \"{SECRET}\n"));
    assert_eq!(line, Some(2), "{message}");
    let (line, message) = error("credentials.toml", &format!("anthropic = {SECRET}\n"));
    assert_eq!(line, Some(1), "{message}");
    assert_eq!(
        error("credentials.toml", "openai = 7\n"),
        (Some(1), "`openai` must be a key in quotes, or a table with an `api_key`".to_owned())
    );
    assert_eq!(
        error("credentials.toml", "# keys\n\n[openai]\napi_kee = \"secret\"\n"),
        (Some(3), "`openai` must be a key in quotes, or a table with an `api_key`".to_owned())
    );
    assert_eq!(
        error("credentials.json", "{\n \"groq\": \"x\",\n \"openai\": \" \"\n}"),
        (Some(3), "the key of `openai` is empty".to_owned())
    );
    let (line, message) = error("credentials.json", &format!("{{\n\"openai\": \"{SECRET}\",\n"));
    assert_eq!((line, message.is_empty()), (Some(3), false), "{message}");
    let (line, message) = error("credentials.json", &format!("\"{SECRET}\""));
    assert_eq!((line, message.as_str()), (Some(1), "the file must be an object with a key for each provider"));
}

#[cfg(unix)]
#[test]
fn a_file_that_others_may_read_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "credentials.toml", "openai = \"x\"\n");
    let file = folder.path().join("credentials.toml");
    mode(&file, 0o640);
    let error = Credentials::load(folder.path()).unwrap_err().to_string();
    let path = file.display();
    assert_eq!(error, format!("{path}: others may read this file (mode 640); run: chmod 600 {path}"));
    mode(&file, 0o400);
    assert!(Credentials::load(folder.path()).is_ok());
    // A file where a folder should be, and a folder that does not exist.
    assert!(Credentials::load(&folder.path().join("nowhere")).unwrap().providers().next().is_none());
    assert!(Credentials::load(&file).unwrap().providers().next().is_none());
}

#[test]
fn a_missing_key_names_the_variable_the_file_and_the_page() {
    let environment = Environment::of([("X", "y")]).with_settings("/home/me/.config/ikigai");
    let missing = Lookup::new(environment.clone()).missing(provider("anthropic"));
    assert_eq!(
        missing.to_string(),
        "there is no key for Anthropic: set ANTHROPIC_API_KEY, or write `anthropic = \"…\"` into \
         /home/me/.config/ikigai/credentials.toml; get one at https://console.anthropic.com/settings/keys"
    );
    let environment = Environment::of([("X", "y")]);
    let told = Lookup::new(environment.clone()).missing(provider("google")).to_string();
    assert!(told.starts_with("there is no key for Google: set GEMINI_API_KEY or GOOGLE_API_KEY"), "{told}");
}

#[test]
fn variables_move_the_base_url_but_a_strangers_dotenv_does_not() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ".env", "OPENAI_BASE_URL=http://evil.example\nOPENAI_API_KEY=theirs\n");
    let dotenv = folder.path().join(".env");
    let environment = Environment::of([("ANTHROPIC_BASE_URL", "http://localhost:1/v1")]).with_dotenv(&dotenv);
    let lookup = Lookup::new(environment.clone());
    let variable = KeySource::Variable("X".to_owned());
    assert_eq!(
        lookup.base_url(provider("anthropic"), Dialect::Anthropic, Some(&variable)).unwrap(),
        "http://localhost:1"
    );
    let openai = |key: Option<&KeySource>| lookup.base_url(provider("openai"), Dialect::OpenaiChat, key).unwrap();
    assert_eq!(openai(Some(&variable)), "https://api.openai.com/v1");
    assert_eq!(openai(Some(&KeySource::Memory)), "https://api.openai.com/v1");
    let own = KeySource::DotEnv { file: dotenv.clone(), variable: "OPENAI_API_KEY".to_owned() };
    assert_eq!(openai(Some(&own)), "https://api.openai.com/v1", "not where anybody can listen in");
    assert_eq!(openai(None), "https://api.openai.com/v1");
    for (value, host) in [
        ("https://theirs.example", "https://theirs.example/v1"),
        ("http://localhost:1234/v1", "http://localhost:1234/v1"),
        ("http://localhost.evil.example", "https://api.openai.com/v1"),
        ("http://127.0.0.1@evil.example", "https://api.openai.com/v1"),
    ] {
        write(folder.path(), ".env", &format!("OPENAI_BASE_URL={value}\nOPENAI_API_KEY=theirs\n"));
        let lookup = Lookup::new(Environment::of([("X", "y")]).with_dotenv(&dotenv));
        let shown = lookup.base_url(provider("openai"), Dialect::OpenaiChat, Some(&own)).unwrap();
        assert_eq!(shown, host, "{value}");
    }
}

#[test]
fn a_dotenv_never_redirects_what_is_signed_with_the_users_own_credentials() {
    let folder = tempfile::tempdir().unwrap();
    let text = "VERTEX_BASE_URL=https://evil.example\nBEDROCK_BASE_URL=https://evil.example\n\
                GOOGLE_APPLICATION_CREDENTIALS=/tmp/theirs.json\nAWS_ACCESS_KEY_ID=theirs\nGOOGLE_CLOUD_LOCATION=evil.example/\n";
    write(folder.path(), ".env", text);
    let dotenv = folder.path().join(".env");
    let mine = [("GOOGLE_CLOUD_PROJECT", "p"), ("AWS_REGION", "eu-west-1")];
    let lookup = Lookup::new(Environment::of(mine).with_dotenv(&dotenv));
    for id in ["vertex", "bedrock"] {
        let provider = provider(id);
        assert_eq!(lookup.key(provider).unwrap().map(|found| found.from), None, "{id}");
        let own = KeySource::DotEnv { file: dotenv.clone(), variable: "AWS_ACCESS_KEY_ID".to_owned() };
        for key in [None, Some(&own)] {
            let url = lookup.base_url(provider, provider.dialect, key).unwrap();
            assert!(!url.contains("evil"), "{id}: {url}");
        }
    }
}

#[test]
fn nothing_shows_a_key() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "credentials.toml", &format!("anthropic = \"{SECRET}\"\n"));
    let environment = Environment::of([("OPENAI_API_KEY", SECRET)]).with_settings(folder.path());
    let key = Key::from(SECRET);
    let found = Lookup::new(environment.clone()).key(provider("anthropic")).unwrap().unwrap();
    let credentials = Credentials::load(folder.path()).unwrap();
    let shown = format!("{key:?} {key:#?} {environment:?} {found:?} {} {credentials:?}", found.from);
    assert!(!shown.contains("very-secret"), "{shown}");
    assert_eq!((key.hint().as_str(), Key::from("short").hint().as_str()), ("…0000", "…"));
}

#[test]
fn a_key_is_looked_up_once_unless_it_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::of([("X", "y")]).with_settings(folder.path());
    let lookup = Lookup::new(environment.clone());
    let key = |lookup: &Lookup, id: &str| lookup.key(provider(id)).unwrap().map(|found| found.key.expose().to_owned());
    assert_eq!(key(&lookup, "openai"), None);
    write(folder.path(), "credentials.toml", "openai = \"first\"\nollama = \"first\"\n");
    assert_eq!((key(&lookup, "openai"), key(&lookup, "ollama")), (Some("first".into()), Some("first".into())));
    write(folder.path(), "credentials.toml", "openai = \"second\"\n");
    assert_eq!((key(&lookup, "openai"), key(&lookup, "ollama")), (Some("first".into()), Some("first".into())));
    let anew = Lookup::new(environment);
    assert_eq!((key(&anew, "openai"), key(&anew, "ollama")), (Some("second".into()), None));
    // For a provider that works without a key, the lookup happens only once, too.
    write(folder.path(), "credentials.toml", "ollama = \"third\"\n");
    assert_eq!(key(&anew, "ollama"), None);
}
