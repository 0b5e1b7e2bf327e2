// Finds the slot for a model's name. The build script computes the table with this very file.

/// Returns the FNV-1a hash of a name, ignoring case.
pub(crate) fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193))
}
