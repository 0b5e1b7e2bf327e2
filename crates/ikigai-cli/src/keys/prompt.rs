//! A prompt that does not show what is typed.

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal;

use crate::exit::Failure;
use crate::output::Out;

/// Restores the terminal when dropped.
struct Raw;

impl Raw {
    fn new() -> std::io::Result<Self> {
        terminal::enable_raw_mode().map(|()| Raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode();
    }
}

/// Asks for a secret without showing it. Ctrl-C ends the program, with the terminal restored.
pub(super) fn secret(question: &str, out: &mut Out) -> Result<String, Failure> {
    out.note(question);
    let read = typed();
    // The line break was not shown either.
    out.note("\n");
    read
}

fn typed() -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("cannot read from the terminal: {error}")).hint("Pipe the key in: … | ikigai keys set …")
    };
    let _raw = Raw::new().map_err(failed)?;
    let mut text = String::new();
    loop {
        match event::read().map_err(failed)? {
            Event::Paste(pasted) => text.push_str(&pasted),
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                match key.code {
                    KeyCode::Char('c') if control => return Err(Failure::interrupted()),
                    KeyCode::Char('d') if control && text.is_empty() => return Ok(text),
                    KeyCode::Char('u') if control => text.clear(),
                    KeyCode::Char('j' | 'm') if control => return Ok(text),
                    KeyCode::Enter => return Ok(text),
                    KeyCode::Backspace => {
                        text.pop();
                    }
                    KeyCode::Char(character) if !control => text.push(character),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}
