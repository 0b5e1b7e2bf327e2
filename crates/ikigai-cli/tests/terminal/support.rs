//! A terminal that a test types into and reads.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No screen takes this long to appear.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a screen must stay unchanged to count as finished.
const CALM: Duration = Duration::from_millis(300);

/// A reply of every simulator that takes long enough to be stopped.
const SLOWLY: &str = r#"
[[reply]]
when = { text = "slowly" }
times = 0
text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
fault = "slow_drip,ms=300"
"#;

/// A simulator, a home, and terminals that use them.
pub(crate) struct House {
    folder: tempfile::TempDir,
    simulator: Child,
    url: String,
}

impl House {
    /// Creates an empty home and a simulator with a script, which also answers "slowly".
    pub(crate) fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::write(folder.path().join("script.toml"), format!("{script}\n{SLOWLY}")).unwrap();
        let mut simulator = Command::new(env!("CARGO_BIN_EXE_ikigai"))
            .args(["sim", "--port", "0", "--script"])
            .arg(folder.path().join("script.toml"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(simulator.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        House { folder, simulator, url: url.trim().to_owned() }
    }

    /// Returns the path of a file in the working folder.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// Returns the path of a file in the home, where the settings are.
    pub(crate) fn home(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Opens the program in a terminal of this size.
    pub(crate) fn open(&self, columns: u16, rows: u16, arguments: &str) -> Terminal {
        self.open_with(columns, rows, "", arguments)
    }

    /// Like `open`, with further variables, `NAME=value`.
    pub(crate) fn open_with(&self, columns: u16, rows: u16, variables: &str, arguments: &str) -> Terminal {
        let program = env!("CARGO_BIN_EXE_ikigai");
        self.run(columns, rows, &format!("{variables} {program} {arguments}; echo \"ended with $?\"; sleep 600"))
    }

    /// Like `open`, in a home without any keys.
    pub(crate) fn open_without_key(&self, columns: u16, rows: u16, arguments: &str) -> Terminal {
        let unset = "env -u ANTHROPIC_API_KEY -u OPENAI_API_KEY -u GEMINI_API_KEY";
        self.open_with(columns, rows, unset, arguments)
    }

    /// Opens a shell with the program in its path.
    pub(crate) fn shell(&self, columns: u16, rows: u16) -> Terminal {
        self.run(columns, rows, "bash --norc --noprofile -i")
    }

    fn run(&self, columns: u16, rows: u16, command: &str) -> Terminal {
        let socket = self.folder.path().join(format!("tmux-{}", uuid()));
        let home = self.folder.path().display();
        let url = &self.url;
        let programs = std::path::Path::new(env!("CARGO_BIN_EXE_ikigai")).parent().unwrap().display();
        // Run through env, so that nothing in it comes from the person who runs the tests.
        let line = format!(
            "cd {home}/work && env -i HOME={home} IKIGAI_HOME={home} PATH=\"{programs}:$PATH\" TERM=screen-256color LANG=C.UTF-8 \
             ANTHROPIC_API_KEY=sk-test-key-0001 ANTHROPIC_BASE_URL={url} OPENAI_API_KEY=sk-test-key-0002 \
             OPENAI_BASE_URL={url}/v1 GEMINI_API_KEY=sk-test-key-0003 GOOGLE_GEMINI_BASE_URL={url} \
             {command}"
        );
        let terminal = Terminal { socket };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let arguments = ["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, &line];
        let started = terminal.tmux(&arguments);
        assert!(started.is_ok(), "tmux is needed for this test (apt-get install tmux): {started:?}");
        terminal
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let _ = self.simulator.kill();
        let _ = self.simulator.wait();
    }
}

/// A terminal with the program in it.
pub(crate) struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Types a line at the prompt and sends it.
    pub(crate) fn line(&self, text: &str) {
        self.prompt();
        self.text(text);
        self.key("Enter");
    }

    /// Waits for a prompt on an empty line.
    pub(crate) fn empty_prompt(&self) {
        let began = Instant::now();
        while self.screen().lines().last() != Some("›") {
            assert!(began.elapsed() < PATIENCE, "the line is not cleared:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits for the prompt.
    fn prompt(&self) {
        let began = Instant::now();
        while !self.screen().lines().last().is_some_and(|line| line.starts_with('›')) {
            assert!(began.elapsed() < PATIENCE, "there is no prompt:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Types letters.
    pub(crate) fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]).unwrap();
    }

    /// Pastes a text, like a terminal that supports bracketed paste.
    pub(crate) fn paste(&self, text: &str) {
        self.prompt();
        self.tmux(&["set-buffer", "--", text]).unwrap();
        self.tmux(&["paste-buffer", "-p"]).unwrap();
    }

    /// From now on, writes everything that the program sends to the terminal to a file.
    pub(crate) fn record(&self, file: &std::path::Path) {
        self.tmux(&["pipe-pane", "-o", &format!("cat > {}", file.display())]).unwrap();
    }

    /// Clears the screen except for the prompt.
    pub(crate) fn clear(&self) {
        self.press("C-l");
        let began = Instant::now();
        while self.screen().lines().count() > 2 {
            assert!(began.elapsed() < PATIENCE, "the screen is not cleared:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Presses a key at the prompt.
    pub(crate) fn press(&self, name: &str) {
        self.prompt();
        self.key(name);
    }

    /// Runs a command in the shell, where the program was suspended.
    pub(crate) fn in_shell(&self, command: &str) {
        self.text(command);
        self.key("Enter");
    }

    /// Presses a key, by tmux's name for it.
    pub(crate) fn key(&self, name: &str) {
        self.tmux(&["send-keys", name]).unwrap();
    }

    /// Answers a question about a call, and confirms the answer.
    pub(crate) fn answer(&self, letter: &str) {
        self.wait("[n] no");
        self.text(letter);
        self.wait("Press Enter");
        self.key("Enter");
    }

    /// Waits until a text is on the screen.
    pub(crate) fn wait(&self, text: &str) {
        let began = Instant::now();
        while !self.screen().contains(text) {
            assert!(began.elapsed() < PATIENCE, "`{text}` does not come:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits for a text, then for the prompt, then for the screen to stop changing.
    pub(crate) fn settled(&self, text: &str) -> String {
        self.wait(text);
        self.prompt();
        let began = Instant::now();
        let mut screen = self.screen();
        let mut since = Instant::now();
        while since.elapsed() < CALM {
            assert!(began.elapsed() < PATIENCE, "the screen does not come to rest:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
            let now = self.screen();
            if now != screen {
                (screen, since) = (now, Instant::now());
            }
        }
        screen
    }

    /// Returns the content of the screen, without trailing blanks.
    pub(crate) fn screen(&self) -> String {
        let screen = self.tmux(&["capture-pane", "-p"]).unwrap();
        let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Returns the screen with its styles, as escape sequences.
    pub(crate) fn styled(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"]).unwrap()
    }

    /// Kills the program, like a power failure.
    pub(crate) fn kill(&self) {
        let shell = self.tmux(&["list-panes", "-F", "#{pane_pid}"]).unwrap();
        let killed = Command::new("pkill").args(["-KILL", "-P", shell.trim()]).status().unwrap();
        assert!(killed.success(), "nothing was killed below {shell}");
        self.wait("ended with 137");
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("tmux").arg("-S").arg(&self.socket).args(arguments).output();
        let output = output.map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]);
    }
}

/// Returns a name that no other terminal of this test has.
fn uuid() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
