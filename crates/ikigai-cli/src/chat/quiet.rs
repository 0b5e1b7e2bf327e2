//! The terminal between two prompts.
//!
//! The line editor reads keys as they are pressed, and so does a turn. In between, a terminal would show typed text at
//! once, and turn Enter into a line feed, which the line editor takes for Ctrl-J. So it is kept quiet: typed text waits,
//! unseen and unchanged, for the next prompt. Ctrl-C still interrupts.

/// The terminal's original settings.
#[cfg(unix)]
static BEFORE: std::sync::OnceLock<rustix::termios::Termios> = std::sync::OnceLock::new();

/// Suspends the program until the user resumes it. Meanwhile the terminal has its original settings.
pub(crate) fn suspend() {
    #[cfg(unix)]
    {
        use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
        let stdin = std::io::stdin();
        let now = tcgetattr(&stdin);
        if let Some(before) = BEFORE.get() {
            let _ = tcsetattr(&stdin, OptionalActions::Now, before);
        }
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
        if let Ok(now) = now {
            let _ = tcsetattr(&stdin, OptionalActions::Now, &now);
        }
    }
}

/// Keeps the terminal quiet until it is dropped.
#[derive(Debug)]
pub(crate) struct Quiet {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl Quiet {
    pub(crate) fn begin() -> Self {
        use rustix::termios::{InputModes, LocalModes, OptionalActions, tcgetattr, tcsetattr};

        let stdin = std::io::stdin();
        // Without a terminal, there is nothing to keep quiet.
        let Ok(before) = tcgetattr(&stdin) else { return Quiet { before: None } };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        quiet.input_modes.remove(InputModes::ICRNL);
        let _ = tcsetattr(&stdin, OptionalActions::Now, &quiet);
        let _ = BEFORE.set(before.clone());
        Quiet { before: Some(before) }
    }
}

#[cfg(unix)]
impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, before);
        }
    }
}

#[cfg(not(unix))]
impl Quiet {
    pub(crate) fn begin() -> Self {
        Quiet {}
    }
}
