//! Fingerprints as text.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of some bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Encodes bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes 32 bytes from hexadecimal. `None` if the text is anything else.
pub(crate) fn from_hex(text: &str) -> Option<[u8; 32]> {
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_comes_back_from_its_text() {
        let text = sha256(b"key");
        assert_eq!(from_hex(&text).map(|bytes| hex(&bytes)), Some(text.clone()));
        for wrong in ["", "abc", "zz", &text[2..], "é"] {
            assert_eq!(from_hex(wrong), None, "{wrong}");
        }
    }
}
