use std::sync::Mutex;
use std::time::Instant;

use pretty_assertions::assert_eq;

use super::*;

async fn run(command: &str) -> Output {
    Shell::new(Path::new("/")).run(command).await.unwrap()
}

fn output(text: &str, ended: Ended) -> Output {
    Output { text: text.to_owned(), ended }
}

/// Whether this process still exists. One that has ended but was not waited for counts as gone.
fn lives(id: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

async fn until_gone(id: &str) {
    let began = Instant::now();
    while lives(id) {
        assert!(began.elapsed() < Duration::from_secs(20), "process {id} goes on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn both_outputs_and_the_exit_code_come_back() {
    assert_eq!(
        run("echo out; sleep 0.4; echo err >&2; sleep 0.4; echo ü; exit 3").await,
        output("out\nerr\nü\n", Ended::Code(3))
    );
    assert_eq!(run("pwd").await, output("/\n", Ended::Code(0)));
    assert_eq!(run("kill -TERM $$").await, output("", Ended::Signal(15)));
    assert_eq!(run("printf 'caf\\351 \\033[31mred\\033[0m'").await.text, "caf\u{fffd} red");
    assert!(Shell::new(Path::new("/nowhere")).run("true").await.is_err());
}

#[tokio::test]
async fn what_the_model_is_told() {
    assert_eq!(run("echo a; exit 3").await.for_model(), "a\n[exit code 3]");
    assert_eq!(run("true").await.for_model(), "[no output]");
    assert_eq!(run("false").await.for_model(), "[exit code 1]");
    assert_eq!(run("echo a; echo").await.for_model(), "a");
}

#[tokio::test]
async fn there_is_no_input_and_no_key() {
    let began = Instant::now();
    assert_eq!(run("cat; echo end").await, output("end\n", Ended::Code(0)));
    assert!(began.elapsed() < Duration::from_secs(20));
    // What the user types sees all variables.
    let typed = Shell::new(Path::new("/")).with_all_variables();
    let takes_away = typed.command("true").as_std().get_envs().any(|(_, value)| value.is_none());
    assert!(!takes_away);
    // A model's commands see only the usual ones.
    let registry = ikigai::Registry::default();
    let keys: Vec<&str> =
        registry.providers.iter().flat_map(|provider| provider.key_env.iter().map(AsRef::as_ref)).collect();
    assert!(keys.len() > 30);
    let others = ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "IKIGAI_DATABASE", "SSH_AUTH_SOCK", "PGPASSWORD"];
    for name in keys.into_iter().chain(others) {
        assert!(!is_usual(name, "x"), "{name}");
    }
    assert!(is_usual("PATH", "/bin") && is_usual("LC_ALL", "C") && is_usual("https_proxy", "http://proxy:80"));
    assert!(!is_usual("https_proxy", "http://me:secret@proxy:80"));
    let seen = run("env | cut -d= -f1").await.text;
    assert!(
        seen.lines().all(|name| is_usual(name, "")
            || SET.iter().any(|(set, _)| *set == name)
            || ["_", "SHLVL", "OLDPWD"].contains(&name)),
        "{seen}"
    );
}

#[tokio::test]
async fn of_huge_output_the_beginning_and_the_end_are_kept() {
    let began = Instant::now();
    let output = run("echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last").await;
    assert!(output.text.chars().count() < LIMIT + 200, "{}", output.text.len());
    assert!(output.text.starts_with("first\nxxx") && output.text.ends_with("xxx\nlast\n"));
    assert!(output.text.contains("bytes left out here"));
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let shell = Shell::new(folder.path()).timeout(Duration::from_millis(2500));
    let command = "echo begun; (trap '' TERM; sleep 300 & echo $! > id; wait) & sleep 300";
    let began = Instant::now();
    let ended = Ended::TimedOut(Duration::from_millis(2500));
    assert_eq!(shell.run(command).await.unwrap(), output("begun\n", ended));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(ended.to_string(), "stopped after 2.5 s, with everything that it had started");
    until_gone(&std::fs::read_to_string(folder.path().join("id")).unwrap()).await;
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let id = folder.path().join("id");
    let shell = Shell::new(folder.path());
    let running = tokio::spawn(async move { shell.run("sleep 300 & echo $! > id; wait").await });
    let began = Instant::now();
    let grandchild = loop {
        match std::fs::read_to_string(&id) {
            Ok(text) if text.ends_with('\n') => break text,
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
        assert!(began.elapsed() < Duration::from_secs(10));
    };
    assert!(lives(&grandchild));
    running.abort();
    until_gone(&grandchild).await;
}

#[tokio::test]
async fn what_goes_on_in_the_background_neither_holds_the_call_nor_stays() {
    let folder = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let output = Shell::new(folder.path()).run("sleep 300 & echo $! | tee id; echo done").await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(20));
    let id = std::fs::read_to_string(folder.path().join("id")).unwrap();
    assert_eq!((output.text, output.ended), (format!("{id}done\n"), Ended::Code(0)));
    until_gone(&id).await;
}

#[tokio::test]
async fn the_output_can_be_watched_line_by_line() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let watch = seen.clone();
    let shell = Shell::new(Path::new("/")).watched(move |text| watch.lock().unwrap().push(text.to_owned()));
    shell.run("echo one; sleep 0.2; printf tw; sleep 0.2; echo o; printf end").await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["one\n", "two\n", "end"]);
}
