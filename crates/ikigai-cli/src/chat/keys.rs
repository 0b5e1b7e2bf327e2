//! The keyboard while a turn runs.

use std::time::Duration;

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyCode, KeyEventKind, KeyModifiers,
};
use futures_util::StreamExt as _;

use crate::exit::Failure;
use crate::screen::Size;

/// What a key means while a turn runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// Ctrl-C or Escape.
    Stop,
    /// Ctrl-T.
    Thinking,
    /// Ctrl-Z.
    Suspend,
    /// A letter, or a text that was pasted.
    Text(String),
    /// Backspace.
    Back,
    /// Ctrl-U.
    Clear,
    /// Enter.
    Enter,
    /// The terminal has another size.
    Resized(Size),
}

/// The keyboard, read key by key. Dropped, it is as it was.
pub(crate) struct Keys {
    /// None where there is no keyboard.
    events: Option<EventStream>,
}

impl Keys {
    /// Takes the keyboard, where there is one.
    pub(crate) fn open(is_terminal: bool) -> Result<Self, Failure> {
        if !is_terminal {
            return Ok(Keys { events: None });
        }
        let failed = |error: std::io::Error| Failure::new(format!("cannot read keys: {error}"));
        crossterm::terminal::enable_raw_mode().map_err(failed)?;
        let keys = Keys { events: Some(EventStream::new()) };
        // A terminal that does not know this ignores it.
        let _ = crossterm::execute!(std::io::stdout(), EnableBracketedPaste);
        Ok(keys)
    }

    /// The next key that means something. Never ready where there is no keyboard.
    pub(crate) async fn next(&mut self) -> Key {
        let Some(events) = &mut self.events else { return std::future::pending().await };
        loop {
            match events.next().await {
                Some(Ok(event)) => {
                    if let Some(key) = meaning(event) {
                        return key;
                    }
                }
                // The keyboard is gone, and with it the person.
                Some(Err(_)) | None => return Key::Stop,
            }
        }
    }

    /// Lets go of the terminal while the program sleeps, and takes it again afterwards.
    #[cfg(unix)]
    pub(crate) fn suspend(&mut self) {
        if self.events.is_none() {
            return;
        }
        let _ = crossterm::terminal::disable_raw_mode();
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
        let _ = crossterm::terminal::enable_raw_mode();
    }

    /// There is no such thing here.
    #[cfg(not(unix))]
    pub(crate) fn suspend(&mut self) {}
}

impl Drop for Keys {
    fn drop(&mut self) {
        if self.events.take().is_some() {
            // Its end wakes whoever waits for keys next, and that one would take it for a failure.
            let _ = crossterm::event::poll(Duration::ZERO);
            let _ = crossterm::execute!(std::io::stdout(), DisableBracketedPaste);
            let _ = crossterm::terminal::disable_raw_mode();
        }
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

fn meaning(event: Event) -> Option<Key> {
    match event {
        Event::Paste(text) => Some(Key::Text(text)),
        Event::Resize(columns, rows) => {
            Some(Key::Resized(Size { columns: usize::from(columns), rows: usize::from(rows) }))
        }
        Event::Key(key) if key.kind != KeyEventKind::Release => {
            let control = key.modifiers.contains(KeyModifiers::CONTROL);
            match key.code {
                KeyCode::Char('c') if control => Some(Key::Stop),
                KeyCode::Char('t') if control => Some(Key::Thinking),
                KeyCode::Char('z') if control => Some(Key::Suspend),
                KeyCode::Char('u') if control => Some(Key::Clear),
                KeyCode::Char('j') if control => Some(Key::Enter),
                KeyCode::Char(letter) if !control => Some(Key::Text(letter.to_string())),
                KeyCode::Esc => Some(Key::Stop),
                KeyCode::Enter => Some(Key::Enter),
                KeyCode::Backspace => Some(Key::Back),
                _ => None,
            }
        }
        Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}
