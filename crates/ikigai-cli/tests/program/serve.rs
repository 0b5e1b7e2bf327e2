//! `ikigai serve`: the gateway as started by a person or a script.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;

use crate::support::{Home, ikigai, printed, said};

const KEY: &str = "the-key-of-a-client-in-tests";

/// A running gateway. Its standard error goes to a file.
struct Running {
    child: Child,
    address: String,
    log: std::path::PathBuf,
    _stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let log = home.path("log");
        let mut child = Command::new(env!("CARGO_BIN_EXE_ikigai"))
            .env_clear()
            .env("IKIGAI_HOME", home.path(""))
            .env("CLIENT_KEY", KEY)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix('\n'));
        assert!(address.is_some(), "{line}{}", text(&log));
        let address = address.unwrap().to_owned();
        Running { child, address, log, _stdout: stdout }
    }

    /// Asks this model a question, and returns the status and the answer.
    fn ask(&self, model: &str, key: &str) -> (u16, String) {
        let body = format!(r#"{{"model": "{model}", "messages": [{{"role": "user", "content": "What is 6*7?"}}]}}"#);
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.get(9..12).unwrap().parse().unwrap(), answer)
    }

    fn wait(&self, what: &str, until: impl Fn() -> bool) {
        let began = Instant::now();
        while !until() {
            assert!(began.elapsed() < Duration::from_secs(20), "{what}: {}", text(&self.log));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Stops it like a supervisor, and returns its log.
    fn stop(self) -> String {
        self.stop_with("-TERM")
    }

    fn stop_with(mut self, name: &str) -> String {
        self.signal(name);
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        text(&self.log)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn the_first_start_makes_a_key_and_shows_it_once() {
    let home = Home::new();
    let first = Running::start(&home, &[]);
    first.wait("no key is shown", || text(&first.log).contains("Other models go by"));
    let shown = text(&first.log);
    let key = shown.lines().find_map(|line| line.strip_prefix("Client key: ")).unwrap().to_owned();
    assert!(key.starts_with("ik-") && key.len() > 40, "{key}");
    let (status, answer) = first.ask("sim", &key);
    assert!(status == 200 && answer.contains("6*7 = 42"), "{answer}");
    assert_eq!(first.ask("sim", "another-key-that-is-not-known").0, 401);
    let said = first.stop();
    assert!(said.contains("\"asked\":\"sim\"") && said.contains("\"outcome\":\"complete\""), "{said}");
    // Only its fingerprint is stored, in a file that only its owner can access.
    let kept = home.path("gateway_keys.toml");
    assert!(!text(&kept).contains(&key));
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&kept).unwrap().permissions()) & 0o777,
        0o600
    );
    let second = Running::start(&home, &["--log", "off"]);
    second.wait("no hint is shown", || text(&second.log).contains("Other models go by"));
    assert_eq!(second.ask("sim", &key).0, 200);
    let said = second.stop();
    assert!(!said.contains(&key) && said.contains("ikigai serve --new-key"), "{said}");
}

#[test]
fn the_configuration_is_read_again_and_a_bad_one_changes_nothing() {
    let entry = |name: &str| {
        format!("auth.keys = [\"env:CLIENT_KEY\"]\n[models.{name}]\ntargets = [\"sim:claude-sonnet-4-5\"]\n")
    };
    let home = Home::new().file("gateway.toml", &entry("one"));
    let file = home.path("gateway.toml");
    let gateway = Running::start(&home, &["--config", file.to_str().unwrap()]);
    assert_eq!((gateway.ask("one", KEY).0, gateway.ask("two", KEY).0), (200, 404));
    std::fs::write(&file, "listne = 1").unwrap();
    gateway.wait("nothing is said", || text(&gateway.log).contains("did you mean `listen`"));
    assert_eq!((gateway.ask("one", KEY).0, gateway.ask("two", KEY).0), (200, 404));
    std::fs::write(&file, entry("two")).unwrap();
    gateway.wait("it is not read", || gateway.ask("two", KEY).0 == 200);
    assert_eq!(gateway.ask("one", KEY).0, 404);
    // On request, too.
    let before = text(&gateway.log).matches("configuration reloaded").count();
    gateway.signal("-HUP");
    gateway.wait("SIGHUP does nothing", || text(&gateway.log).matches("configuration reloaded").count() > before);
    // Ctrl-C ends it like a supervisor does.
    let log = gateway.stop_with("-INT");
    assert!(!log.contains(KEY), "{log}");
}

#[cfg(unix)]
#[test]
fn a_configuration_that_is_a_pipe_is_refused_and_the_next_one_is_read() {
    let entry = |name: &str| {
        format!("auth.keys = [\"env:CLIENT_KEY\"]\n[models.{name}]\ntargets = [\"sim:claude-sonnet-4-5\"]\n")
    };
    let home = Home::new().file("gateway.toml", &entry("one"));
    let (file, target, pipe) = (home.path("gateway.toml"), home.path("next.toml"), home.path("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Behind a link, too.
    std::os::unix::fs::symlink(&pipe, &target).unwrap();
    let refused = |file: &Path| format!("cannot read {}: it is not a regular file", file.display());
    for arguments in [&["--check"][..], &["--listen", "127.0.0.1:0"]] {
        let mut command = ikigai(&["serve", "--config", target.to_str().unwrap()]);
        let said = said(command.args(arguments));
        let expected = (Some(1), "", format!("error: {}\n", refused(&target)));
        assert_eq!((said.code, said.stdout.as_str(), said.stderr), expected, "{arguments:?}");
    }
    let gateway = Running::start(&home, &["--config", file.to_str().unwrap()]);
    std::fs::rename(&target, &file).unwrap();
    gateway.wait("nothing is said", || text(&gateway.log).contains(&refused(&file)));
    assert_eq!((gateway.ask("one", KEY).0, gateway.ask("two", KEY).0), (200, 404));
    std::fs::write(&target, entry("two")).unwrap();
    std::fs::rename(&target, &file).unwrap();
    gateway.wait("it is not read", || gateway.ask("two", KEY).0 == 200);
    gateway.stop();
}

#[cfg(unix)]
#[test]
fn a_reading_that_does_not_end_does_not_keep_the_next_from_starting() {
    let entry = |name: &str, key: &str| {
        format!("auth.keys = [\"env:CLIENT_KEY\"{key}]\n[models.{name}]\ntargets = [\"sim:claude-sonnet-4-5\"]\n")
    };
    let home = Home::new().file("gateway.toml", &entry("one", ""));
    let (file, pipe) = (home.path("gateway.toml"), home.path("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let gateway = Running::start(&home, &["--config", file.to_str().unwrap()]);
    std::fs::write(&file, entry("never", &format!(", \"file:{}\"", pipe.display()))).unwrap();
    // The other end of a pipe can only be opened once somebody reads, who then waits for an end.
    let endless = std::cell::OnceCell::new();
    gateway.wait("nobody reads", || {
        let mut options = std::fs::File::options();
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
        let opened = std::os::unix::fs::OpenOptionsExt::custom_flags(options.write(true), flags).open(&pipe);
        opened.is_ok_and(|opened| endless.set(opened).is_ok())
    });
    std::fs::write(&file, entry("two", "")).unwrap();
    gateway.wait("it is not read", || gateway.ask("two", KEY).0 == 200);
    let log = gateway.stop();
    assert!(log.contains("the last reading of the configuration has not ended"), "{log}");
    drop(endless);
}

#[test]
fn a_configuration_is_checked_without_a_start() {
    let home = Home::new()
        .file("good.toml", "auth.mode = \"open\"\n[models.a]\ntargets = [\"anthropic:claude-sonnet-4-5\"]\n")
        .file("bad.toml", "auth.mode = \"open\"\n[models.a]\ntargets = [\"claude-sonnet-4-5/hihg\"]\n");
    let good = home.path("good.toml");
    assert_eq!(
        printed(&["serve", "--config", good.to_str().unwrap(), "--check"]),
        "The configuration is valid. Models: 1, providers: 0.\n"
    );
    let bad = home.path("bad.toml");
    let bad = said(&mut ikigai(&["serve", "--config", bad.to_str().unwrap(), "--check"]));
    assert_eq!((bad.code, bad.stdout.as_str()), (Some(1), ""));
    assert!(bad.stderr.contains("bad.toml:3:12: models.a.targets[0]: unknown thinking level `hihg`"), "{}", bad.stderr);
    assert!(printed(&["serve", "--example"]).contains("[auth]"));
}

#[test]
fn an_address_that_is_taken_is_named_with_the_way_out() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = Home::new();
    let mut command = ikigai(&["serve", "--listen", &address]);
    let said = said(command.env("IKIGAI_HOME", home.path("")));
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains(&format!("cannot listen on {address}")), "{}", said.stderr);
    assert!(said.stderr.contains("--listen 127.0.0.1:0"), "{}", said.stderr);
}
