//! A key that is never printed.

use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};

/// A provider's key. It is never printed, and is wiped from memory when dropped.
///
/// ```
/// use ikigai::config::Key;
///
/// let key = Key::from("sk-ant-api03-very-secret-7Qxz");
/// assert_eq!(format!("{key:?}"), "Key(…7Qxz)");
/// assert_eq!(key.hint(), "…7Qxz");
/// ```
#[derive(Clone)]
pub struct Key(SecretString);

impl Key {
    /// Returns the key itself. Handle it with care.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns `…` and the last four characters, so that people can tell keys apart; for a short key, only `…`.
    pub fn hint(&self) -> String {
        let key = self.expose();
        let last = key.char_indices().rev().nth(3).and_then(|(at, _)| key.get(at..));
        match last {
            Some(last) if key.chars().count() >= 16 => format!("…{last}"),
            _ => "…".to_owned(),
        }
    }

    /// Whether the key is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }
}

impl From<&str> for Key {
    /// Trims whitespace around the key, which is easily copied along with it.
    fn from(key: &str) -> Self {
        Key(SecretString::from(key.trim()))
    }
}

impl From<String> for Key {
    fn from(key: String) -> Self {
        // Moved where possible, so that no second copy is left unwiped.
        if key.trim().len() == key.len() { Key(SecretString::from(key)) } else { Key::from(key.as_str()) }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.hint())
    }
}
