//! Sealed state as the providers issue it: signatures and encrypted reasoning that only we can make, and recognise.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Makes and checks seals. Two simulators with the same seed accept each other's.
#[derive(Debug, Clone)]
pub(crate) struct Seals {
    key: [u8; 8],
}

/// What a seal is for. A seal for one thing is not valid for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The signature of a thinking block: over the model and the text.
    Thinking,
    /// Encrypted reasoning of the Responses API: over the model.
    Reasoning,
    /// A thought signature: over the function's name or the id of a call, or empty for a text.
    Thought,
    /// What a search found: over URL and title.
    Found,
    /// A cited place in it: over the URL and the words.
    Cited,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Purpose::Thinking => "thinking",
            Purpose::Reasoning => "reasoning",
            Purpose::Thought => "thought",
            Purpose::Found => "found",
            Purpose::Cited => "cited",
        }
    }
}

impl Seals {
    pub(crate) fn new(seed: u64) -> Self {
        Seals { key: seed.to_be_bytes() }
    }

    /// Seals `content`; `payload` is inside, readable.
    pub(crate) fn seal(&self, purpose: Purpose, content: &[&str], payload: &str) -> String {
        let mac = self.mac(purpose, content, payload);
        let mut bytes = mac.get(..16).unwrap_or(&mac).to_vec();
        bytes.extend_from_slice(payload.as_bytes());
        STANDARD.encode(bytes)
    }

    /// The payload of a seal over `content`, in either base64 alphabet; `None` if the seal is not ours or not for this.
    pub(crate) fn open(&self, purpose: Purpose, content: &[&str], seal: &str) -> Option<String> {
        let plain: String = seal
            .trim_end_matches('=')
            .chars()
            .map(|c| match c {
                '+' => '-',
                '/' => '_',
                other => other,
            })
            .collect();
        let bytes = URL_SAFE_NO_PAD.decode(plain).ok()?;
        let (mac, payload) = bytes.split_at_checked(16)?;
        let payload = std::str::from_utf8(payload).ok()?;
        let expected = self.mac(purpose, content, payload);
        (expected.get(..16)? == mac).then(|| payload.to_owned())
    }

    fn mac(&self, purpose: Purpose, content: &[&str], payload: &str) -> Vec<u8> {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else { return Vec::new() };
        for part in [purpose.word()].iter().chain(content).chain([&payload]) {
            // The length keeps ("ab", "c") and ("a", "bc") apart.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_opens_for_what_it_was_made_for_and_nothing_else() {
        let seals = Seals::new(1);
        let seal = seals.seal(Purpose::Thinking, &["claude", "hm"], "payload");
        assert_eq!(seals.open(Purpose::Thinking, &["claude", "hm"], &seal).as_deref(), Some("payload"));
        let url_safe = seal.replace('+', "-").replace('/', "_");
        assert_eq!(seals.open(Purpose::Thinking, &["claude", "hm"], &url_safe).as_deref(), Some("payload"));
        for (purpose, content, seal) in [
            (Purpose::Thinking, ["claude", "hm!"], seal.as_str()),
            (Purpose::Thinking, ["claudeh", "m"], seal.as_str()),
            (Purpose::Reasoning, ["claude", "hm"], seal.as_str()),
            (Purpose::Thinking, ["claude", "hm"], "AAAA"),
            (Purpose::Thinking, ["claude", "hm"], "not base64 at all"),
        ] {
            assert_eq!(seals.open(purpose, &content, seal), None);
        }
        assert_eq!(Seals::new(2).open(Purpose::Thinking, &["claude", "hm"], &seal), None);
    }
}
