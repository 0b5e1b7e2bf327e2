//! The folder of recorded exchanges, for all tests of the workspace that read them.

use std::path::{Path, PathBuf};

/// Returns the folder of recordings; `None` if `IKIGAI_RECORDINGS=none` says that there are none, as `./test` does in a
/// plain clone. Otherwise a missing folder is a failure, so that nothing passes because it was not run.
pub(crate) fn recordings() -> Option<PathBuf> {
    let named = std::env::var_os("IKIGAI_RECORDINGS");
    if named.as_deref().is_some_and(|named| named == "none") {
        return None;
    }
    let folder =
        named.map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings"), PathBuf::from);
    let hint = "set IKIGAI_RECORDINGS to their folder, or to `none`";
    assert!(folder.is_dir(), "there are no recordings at {}: {hint}", folder.display());
    Some(folder)
}
