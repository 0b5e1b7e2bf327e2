//! Ids for calls that have none on the wire, generated from a seed that the caller supplies.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A generator of ids: 22 characters of base64url, the form of a random 128-bit number.
///
/// It is deterministic: the same seed gives the same ids. A client seeds it from the system's randomness, a test with a
/// constant.
#[derive(Debug, Clone)]
pub struct Ids {
    state: u64,
}

impl Ids {
    /// Creates a generator from a seed.
    pub fn seeded(seed: u64) -> Self {
        Ids { state: seed }
    }

    /// Returns the next id.
    pub fn next_id(&mut self) -> String {
        let mut bytes = [0_u8; 16];
        let (high, low) = bytes.split_at_mut(8);
        high.copy_from_slice(&self.next_number().to_be_bytes());
        low.copy_from_slice(&self.next_number().to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Returns an independent generator, for something that needs its own.
    pub(crate) fn branch(&mut self) -> Self {
        Ids::seeded(self.next_number())
    }

    /// SplitMix64: a full-period generator whose every output differs from the one before.
    fn next_number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Default for Ids {
    fn default() -> Self {
        Ids::seeded(0)
    }
}
