// How a model's name finds its slot. The build script computes the table with this very file.

/// The FNV-1a hash of a name, in which case does not matter.
pub(crate) fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193))
}
