//! What must not leak, and what must not be trusted.

use std::io::{Read as _, Write as _};

use pretty_assertions::{assert_eq, assert_ne};

use crate::support::{Home, Said, Simulator};

const KEY: &str = "sk-test-0123456789";

/// Returns a home whose provider is a simulator with this script.
fn scripted(script: &str) -> (Simulator, Home) {
    let home = Home::new().file("script.toml", script);
    let simulator = Simulator::with(&["--script", home.path("script.toml").to_str().unwrap()]);
    let url = simulator.url();
    (simulator, home.variable("ANTHROPIC_API_KEY", KEY).variable("ANTHROPIC_BASE_URL", url))
}

fn ask(home: &Home, more: &[&str]) -> Said {
    let mut arguments = vec!["ask", "-m", "claude-haiku-4-5"];
    arguments.extend(more);
    home.piped(&arguments, "")
}

#[test]
fn secrets_are_out_of_the_reach_of_tools() {
    let (_simulator, home) = scripted("");
    home.piped(&["keys", "set", "openai"], "sk-hidden-secret\n");
    let home = home.variable("AWS_SECRET_ACCESS_KEY", "aws-hidden-secret").variable("MISTRAL_KEY", "hidden-secret");
    std::fs::create_dir_all(home.path("work/.aws")).unwrap();
    std::fs::write(home.path("work/.aws/credentials"), "hidden-secret").unwrap();
    std::fs::write(home.path("work/.env"), "KEY=hidden-secret").unwrap();
    let tries = [
        "use read_file path=\".aws/credentials\"",
        "use read_file path=\".env\"",
        "use read_file path=\"../credentials.toml\"",
        "use grep pattern=\"secret\"",
        "use shell command=\"env\"",
    ];
    for question in tries {
        let said = ask(&home, &["--tools", "--allow", "all", question]);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(!said.stdout.contains("hidden-secret"), "{question}: {}", said.stdout);
    }
    // In the home itself.
    let mut command =
        home.command(&["ask", "-m", "claude-haiku-4-5", "--tools", "use read_file path=\"credentials.toml\""]);
    let output = command.current_dir(home.path("")).write_stdin("").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stdout.contains("belongs to ikigai itself") && !stdout.contains("hidden-secret"), "{stdout}");
}

/// Everything in an error that a terminal would obey.
const OBEYED: &str = "\u{1b}]0;title\u{7}\u{1b}]52;c;aGk=\u{7}\u{1b}[2J";

#[test]
fn no_escape_sequence_of_a_provider_reaches_the_terminal() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 8192]);
            let text = serde_json::json!({"type": "error", "error": {"type": "x", "message": format!("no {OBEYED}")}})
                .to_string();
            let head = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\n";
            let _ = write!(stream, "{head}content-length: {}\r\n\r\n{text}", text.len());
        }
    });
    let home = Home::new().variable("ANTHROPIC_API_KEY", KEY).variable("ANTHROPIC_BASE_URL", url);
    for arguments in [&["ask", "-m", "claude-haiku-4-5", "hi"][..], &["keys", "check"], &["doctor"]] {
        let said = home.piped(&[&["--color=always"], arguments].concat(), "");
        let all = said.stdout + &said.stderr;
        assert!(all.contains("␛]0;title␇"), "{arguments:?}: {all}");
        assert!(!all.contains("\u{1b}]") && !all.contains("\u{1b}[2J"), "{arguments:?}: {all}");
    }
}

#[test]
fn what_is_shown_holds_no_password_and_no_key() {
    let home = Home::new()
        .file(
            "config.toml",
            "database = \"postgres://me:hidden@host/name?password=hidden\"\n[mcp.a]\nurl = \"https://me:hidden@host/mcp?key=hidden\"\n\
             headers = { X-Team = \"hidden\" }\n[mcp.b]\ncommand = [\"run\", \"--token\", \"hidden\"]\nenv = { A = \"hidden\" }\n",
        )
        .file(
            "providers.toml",
            "[mine]\nname = \"Mine\"\ndialect = \"openai-chat\"\nbase_url = \"https://me:hidden@host/v1\"\nkey_env = [\"MINE\"]\n\
             headers = { X-Team = \"hidden\" }\n",
        )
        .variable("ANTHROPIC_BASE_URL", "https://me:hidden@host/?key=hidden")
        .variable("HTTPS_PROXY", "http://me:hidden@127.0.0.1:9");
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["config", "path"],
        &["ask", "--no-save", "--dry-run", "-m", "claude-haiku-4-5", "hi"],
        &["ask", "--no-save", "--dry-run", "-m", "mine:x", "hi"],
        &["ask", "--no-save", "-m", "mine:x", "hi"],
        &["doctor"],
    ] {
        let said = home.piped(arguments, "");
        assert!(!format!("{said:?}").contains("hidden"), "{arguments:?}: {said:?}");
        assert!(!said.stdout.is_empty() || !said.stderr.is_empty());
    }
}

/// Starts a server that answers every request with status 200 and the request's head, which is not JSON.
fn echoing() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = Vec::new();
            let mut bytes = [0; 4096];
            while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut bytes) {
                    Ok(count) if count > 0 => head.extend(bytes.iter().take(count)),
                    _ => break,
                }
            }
            let said = String::from_utf8_lossy(&head).replace("\r\n", " | ");
            let length = said.len();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{said}"
            );
        }
    });
    url
}

#[test]
fn a_server_that_repeats_the_key_does_not_make_it_seen() {
    let url = echoing();
    for (model, key, base) in [
        ("anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        ("openai:gpt-5.4", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("google:gemini-2.5-flash", "GEMINI_API_KEY", "GEMINI_BASE_URL"),
    ] {
        let home = Home::new().variable(key, KEY).variable(base, &url).variable("NO_PROXY", "127.0.0.1");
        for arguments in [
            &["ask", "--no-save", "--no-stream", "-m", model, "hi"][..],
            &["ask", "--no-save", "--no-stream", "--json", "-m", model, "hi"],
            &["ask", "--no-save", "-m", model, "hi"],
            &["keys", "check"],
            &["keys", "check", "--json"],
            &["doctor"],
            &["doctor", "--json"],
        ] {
            let said = home.piped(arguments, "");
            let shown = format!("{said:?}");
            assert!(!shown.contains(KEY), "{model} {arguments:?}: {shown}");
            // The head is quoted, so there was something to hide.
            assert!(shown.contains("[key]") || shown.contains("user-agent"), "{model} {arguments:?}: {shown}");
            assert_ne!(said.code, Some(0), "{model} {arguments:?}: {shown}");
        }
    }
}

#[test]
#[cfg(unix)]
fn settings_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.said(&["config", "set", "database", "postgres://me:secret@host/name"]);
    let mode = std::fs::metadata(home.path("config.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_folder_from_a_stranger_redirects_nothing() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = format!("http://{}", listener.local_addr().unwrap());
    listener.set_nonblocking(true).unwrap();
    let home = Home::new().variable("ANTHROPIC_API_KEY", KEY).variable("HTTPS_PROXY", "http://127.0.0.1:9");
    let home = home.variable("AWS_ACCESS_KEY_ID", "AKIAXXXXXXXXXXXXXXXX").variable("AWS_SECRET_ACCESS_KEY", "secret");
    std::fs::create_dir_all(home.path("work")).unwrap();
    let text = format!(
        "ANTHROPIC_BASE_URL={theirs}\nBEDROCK_BASE_URL={theirs}\nOLLAMA_HOST={theirs}\nOLLAMA_BASE_URL={theirs}\n\
         GROQ_BASE_URL={theirs}\nGROQ_API_KEY=theirs-0123456789\n"
    );
    std::fs::write(home.path("work/.env"), text).unwrap();
    let models = ["claude-haiku-4-5", "bedrock:anthropic.claude-haiku-4-5-20251001-v1:0", "ollama:llama3.2"];
    let asked = |model: &str| home.piped(&["ask", "--no-save", "--timeout", "5", "-m", model, "hi"], "");
    for model in models {
        assert_ne!(asked(model).code, Some(0), "{model}");
    }
    // Not even the folder's own key is used before the folder is trusted.
    let said = asked("groq:llama-3.3-70b-versatile");
    assert_eq!(said.code, Some(3));
    assert!(said.stderr.contains("run `ikigai trust` to use it"), "{}", said.stderr);
    home.said(&["trust"]);
    for model in models {
        assert_ne!(asked(model).code, Some(0), "{model}");
    }
    let connected = listener.accept();
    assert!(connected.is_err(), "somebody came: {connected:?}");
    // Nor once it is no longer trusted.
    home.said(&["trust", "--remove"]);
    assert_eq!(asked("groq:llama-3.3-70b-versatile").code, Some(3));
}
