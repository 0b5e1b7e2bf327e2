//! The keyboard during a turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, KeyCode, KeyEventKind, KeyModifiers};
use tokio::sync::mpsc;

use super::quiet;
use crate::exit::Failure;
use crate::screen::{Region, Size};

/// The meaning of a key during a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// Ctrl-C or Escape.
    Stop,
    /// Ctrl-T.
    Thinking,
    /// Ctrl-Z.
    Suspend,
    /// A letter or a pasted text.
    Text(String),
    /// Backspace.
    Back,
    /// Ctrl-U.
    Clear,
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// One row or page up or down.
    Up,
    Down,
    PageUp,
    PageDown,
    /// The terminal has a new size.
    Resized(Size),
}

/// Typed text, as lines.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Typing {
    /// Complete lines, without empty ones.
    pub(crate) lines: Vec<String>,
    /// The unfinished line.
    pub(crate) typed: String,
}

impl Typing {
    /// Returns the text that these keys type.
    pub(crate) fn of(keys: Vec<Key>) -> Self {
        Typing::default().with(keys)
    }

    /// Returns the text after these further keys.
    pub(crate) fn with(mut self, keys: Vec<Key>) -> Self {
        for key in keys {
            match key {
                Key::Text(text) => self.typed.push_str(&text),
                Key::Enter => self.lines.push(std::mem::take(&mut self.typed)),
                Key::Back => drop(self.typed.pop()),
                Key::Clear => self.typed.clear(),
                Key::Thinking
                | Key::Stop
                | Key::Suspend
                | Key::Resized(_)
                | Key::Tab
                | Key::Up
                | Key::Down
                | Key::PageUp
                | Key::PageDown => {}
            }
        }
        self.lines.retain(|line| !line.trim().is_empty());
        self
    }
}

/// How long the reader waits for a key before it checks whether it is still needed. The end of a turn waits this long.
const LOOK: Duration = Duration::from_millis(20);

/// The keyboard, read key by key. Restored to its former state when dropped.
///
/// A separate thread reads it, and has ended once this is dropped: nothing else is reading when the line editor asks the
/// terminal for its cursor position.
pub(crate) struct Keys {
    /// `None` once it is closed.
    reader: Option<Reader>,
}

struct Reader {
    events: mpsc::UnboundedReceiver<Event>,
    over: Arc<AtomicBool>,
    is_raw: bool,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    /// Starts reading the keyboard; on a print-only terminal, whole lines.
    pub(crate) fn open(region: Region) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::new(format!("cannot read keys: {error}"));
        let is_raw = region == Region::Live;
        if is_raw {
            crossterm::terminal::enable_raw_mode().map_err(failed)?;
        }
        let (sender, events) = mpsc::unbounded_channel();
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                let read = match crossterm::event::poll(LOOK) {
                    Ok(false) => continue,
                    Ok(true) => crossterm::event::read(),
                    Err(error) => Err(error),
                };
                // The keyboard is gone, or nobody is listening.
                if !read.is_ok_and(|event| sender.send(event).is_ok()) {
                    break;
                }
            }
        });
        if is_raw {
            // Terminals that do not support this ignore it.
            let _ = crossterm::execute!(std::io::stdout(), EnableBracketedPaste);
        }
        Ok(Keys { reader: Some(Reader { events, over, is_raw, thread: Some(thread) }) })
    }

    /// Returns the next key that has a meaning.
    pub(crate) async fn next(&mut self) -> Key {
        let Some(reader) = &mut self.reader else { return std::future::pending().await };
        loop {
            match reader.events.recv().await {
                Some(event) => {
                    if let Some(key) = meaning(event) {
                        return key;
                    }
                }
                // The keyboard is gone, and with it the user.
                None => return Key::Stop,
            }
        }
    }

    /// Stops reading the keyboard, and returns the keys that have not been handled yet.
    pub(crate) fn close(mut self) -> Vec<Key> {
        let Some(mut reader) = self.reader.take() else { return Vec::new() };
        reader.end();
        let late = std::iter::from_fn(|| reader.events.try_recv().ok());
        late.filter_map(meaning).collect()
    }

    /// Releases the terminal while the program is suspended.
    pub(crate) fn suspend(&mut self) {
        let _ = crossterm::terminal::disable_raw_mode();
        quiet::suspend();
        let _ = crossterm::terminal::enable_raw_mode();
    }
}

/// Discards unread input: the beginning of a line that a terminal with its own line editing still holds.
pub(crate) fn forget_typed() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(mut reader) = self.reader.take() {
            reader.end();
        }
    }
}

impl Reader {
    /// Waits for the thread to end, and restores the terminal.
    fn end(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if self.is_raw {
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
                KeyCode::Tab => Some(Key::Tab),
                KeyCode::Up => Some(Key::Up),
                KeyCode::Down => Some(Key::Down),
                KeyCode::PageUp => Some(Key::PageUp),
                KeyCode::PageDown => Some(Key::PageDown),
                _ => None,
            }
        }
        Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}
