//! `ikigai keys`.

use insta::assert_snapshot;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Home, Said, Simulator};

const KEY: &str = "sk-ant-api03-very-secret-key-7Qxz";

fn said(code: i32, stdout: &str, stderr: &str) -> Said {
    Said { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}

#[test]
fn a_key_is_stored_listed_and_removed() {
    let home = Home::new();
    assert_eq!(
        home.piped(&["keys", "set", "anthropic"], &format!("{KEY}\n")),
        said(
            0,
            "Stored the key for Anthropic (…7Qxz) in HOME/credentials.toml\n",
            "To try it: ikigai keys check anthropic\n"
        )
    );
    // An alias refers to the same provider.
    assert_eq!(home.piped(&["keys", "set", "gemini"], "short").code, Some(0));
    assert_eq!(home.text("credentials.toml"), format!("anthropic = \"{KEY}\"\ngoogle = \"short\"\n"));
    assert_eq!(
        home.said(&["keys", "list"]),
        said(
            0,
            "PROVIDER   KEY    FROM\nanthropic  …7Qxz  HOME/credentials.toml\ngoogle     …      HOME/credentials.toml\n",
            ""
        )
    );
    assert_eq!(
        home.said(&["keys", "remove", "anthropic"]),
        said(0, "Removed the key for Anthropic from HOME/credentials.toml\n", "")
    );
    assert_eq!(home.text("credentials.toml"), "google = \"short\"\n");
    assert_eq!(
        home.said(&["keys", "remove", "anthropic"]),
        said(1, "", "error: there is no key for Anthropic in HOME/credentials.toml\n")
    );
}

#[test]
#[cfg(unix)]
fn the_file_is_for_its_owner_alone_and_keeps_everything_else() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new().file("credentials.toml", "# work\n[openai]\napi_key = \"old\" # mine\n");
    let file = home.path("credentials.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(home.piped(&["keys", "set", "openai"], KEY).code, Some(0));
    assert_eq!(home.text("credentials.toml"), format!("# work\n[openai]\napi_key = \"{KEY}\" # mine\n"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Nothing else is left in the folder.
    let names: Vec<_> = std::fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn every_place_that_a_key_is_from_is_told_and_no_key_is_shown() {
    let home = Home::new().variable("OPENAI_API_KEY", KEY).variable("MISTRAL_API_KEY", " ");
    assert_eq!(home.piped(&["keys", "set", "anthropic"], KEY).code, Some(0));
    std::fs::write(home.path("work/.env"), format!("GROQ_API_KEY={KEY}\n")).unwrap();
    assert!(!home.said(&["keys", "list"]).stdout.contains("groq"), "the folder is not trusted yet");
    assert_eq!(home.said(&["trust"]).stdout, "HOME/work is trusted.\n");
    let Said { code, stdout, stderr } = home.said(&["keys", "list"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_snapshot!(stdout, @r"
    PROVIDER   KEY    FROM
    anthropic  …7Qxz  HOME/credentials.toml
    groq       …7Qxz  GROQ_API_KEY in .env
    openai     …7Qxz  OPENAI_API_KEY
    ");
    let json: Value = serde_json::from_str(&home.said(&["keys", "list", "--json"]).stdout).unwrap();
    assert_eq!(json[2], json!({"provider": "openai", "key": "…7Qxz", "from": "OPENAI_API_KEY"}));
    let all = home.said(&["keys", "list", "--all"]).stdout;
    assert!(all.contains("(set MISTRAL_API_KEY)") && !all.contains("very-secret"), "{all}");
    // Sources that take precedence over the file are reported when a key is stored or removed.
    let set = home.piped(&["keys", "set", "openai"], "sk-other-key-0123456789");
    assert_eq!(set.stderr, "warning: OPENAI_API_KEY takes precedence: it holds another key, …7Qxz\n");
    let removed = home.said(&["keys", "remove", "openai"]);
    assert_eq!(
        (removed.code, removed.stderr.as_str()),
        (Some(0), "warning: there is another key in OPENAI_API_KEY: …7Qxz\n")
    );
    let removed = home.said(&["keys", "remove", "openai"]);
    assert!(removed.stderr.ends_with("  There is one in OPENAI_API_KEY; remove it there.\n"), "{}", removed.stderr);
}

#[test]
fn the_file_of_amazons_key_pairs_counts_as_a_key() {
    let home = Home::new();
    std::fs::create_dir(home.path(".aws")).unwrap();
    let pair = "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = very-secret-0123456789\n";
    std::fs::write(home.path(".aws/credentials"), pair).unwrap();
    let folder = home.path("").display().to_string();
    let home = home.variable("HOME", folder.trim_end_matches('/'));
    let Said { code, stdout, stderr } = home.said(&["keys", "list"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_snapshot!(stdout, @r"
    PROVIDER          KEY    FROM
    bedrock           …MPLE  HOME/.aws/credentials
    bedrock-converse  …MPLE  HOME/.aws/credentials
    ");
    let doctor = home.said(&["doctor", "--offline"]);
    let keys: Vec<&str> = doctor.stdout.lines().filter(|line| line.contains("bedrock")).collect();
    let expected =
        ["bedrock", "bedrock-converse"].map(|name| format!("  ok      {name}: …MPLE from HOME/.aws/credentials"));
    assert_eq!(keys, expected, "{doctor:?}");
    assert!(!format!("{doctor:?}{stdout}").contains("very-secret"), "{doctor:?}");
}

#[test]
fn what_is_no_key_and_who_is_no_provider_is_refused() {
    let home = Home::new();
    for input in ["", "  \n", "two words", "two\nlines", "ü"] {
        let Said { code, stderr, .. } = home.piped(&["keys", "set", "openai"], input);
        assert_eq!(code, Some(1), "{input}");
        assert!(stderr.starts_with("error: this is not a valid key: "), "{stderr}");
        assert!(!home.path("credentials.toml").exists());
    }
    let Said { code, stderr, .. } = home.piped(&["keys", "set", "antropic"], KEY);
    assert_eq!(code, Some(2));
    assert_eq!(
        stderr,
        "error: unknown provider `antropic`\n  Did you mean `anthropic`?\n\nFor more information, try --help.\n"
    );
    // A key on the command line is rejected by the parser before it is used for anything.
    assert_eq!(home.said(&["keys", "set", "openai", KEY]).code, Some(2));
    let none = home.said(&["keys", "list"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert!(none.stderr.starts_with("There are no keys yet."), "{}", none.stderr);
}

#[test]
fn a_broken_file_of_keys_stays_as_it_is_and_shows_no_key() {
    let text = format!("openai = \"{KEY}\n");
    let home = Home::new().file("credentials.toml", &text);
    for arguments in
        [&["keys", "set", "groq"][..], &["keys", "remove", "openai"], &["keys", "list"], &["keys", "check"]]
    {
        let Said { code, stdout, stderr } = home.piped(arguments, KEY);
        assert_ne!(code, Some(0), "{arguments:?}");
        assert!(stderr.contains("HOME/credentials.toml"), "{stderr}");
        assert!(!format!("{stdout}{stderr}").contains("very-secret"), "{stdout}{stderr}");
        assert_eq!(home.text("credentials.toml"), text);
    }
}

#[test]
fn keys_are_tried_with_one_cheap_request() {
    let sim = Simulator::start(KEY);
    let home = Home::new()
        .variable("ANTHROPIC_BASE_URL", sim.url())
        .variable("OPENAI_BASE_URL", format!("{}/v1", sim.url()))
        .variable("GEMINI_BASE_URL", "http://127.0.0.1:9")
        .variable("ANTHROPIC_API_KEY", KEY);
    let Said { code, stdout, stderr } = home.said(&["keys", "check"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("ok      anthropic  …7Qxz  ") && stdout.ends_with(" models\n"), "{stdout}");
    assert_eq!(home.said(&["keys", "test", "anthropic"]).stdout, stdout);

    let missing = home.said(&["keys", "check", "openai"]);
    assert_eq!(missing.code, Some(3));
    assert!(missing.stderr.starts_with("error: there is no key for OpenAI: set OPENAI_API_KEY"), "{}", missing.stderr);

    let home = home.variable("OPENAI_API_KEY", "sk-wrong-key-0123456789");
    let refused = home.said(&["keys", "check", "openai"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""));
    assert!(refused.stderr.contains("Incorrect API key provided"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("wrong-key"), "{}", refused.stderr);
    assert!(refused.stderr.contains("ikigai keys set openai"), "{}", refused.stderr);

    let both = home.said(&["keys", "check"]);
    assert_eq!((both.code, both.stderr.as_str()), (Some(3), "error: 1 of 2 keys do not work\n"));
    assert!(both.stdout.contains("failed  openai     …6789  Incorrect API key"), "{}", both.stdout);

    let json: Value = serde_json::from_str(&home.said(&["keys", "check", "--json"]).stdout).unwrap();
    assert_eq!(
        (&json[0]["ok"], &json[1]["ok"], &json[1]["error"]["kind"]),
        (&json!(true), &json!(false), &json!("auth"))
    );

    // Nothing listens there, so this says nothing about the key.
    let home = home.variable("GEMINI_API_KEY", KEY);
    let unreachable = home.said(&["keys", "check", "google"]);
    assert_eq!(unreachable.code, Some(1));
    assert!(unreachable.stderr.contains("Run `ikigai doctor` to see what is reachable."), "{}", unreachable.stderr);
}

#[test]
fn without_any_key_there_is_nothing_to_check() {
    assert_eq!(
        Home::new().said(&["keys", "check"]),
        said(3, "", "error: there is no key to check\n  Store one with: ikigai keys set PROVIDER\n")
    );
}
