//! Where the recorded exchanges are. Every test of the workspace that reads them asks here.

use std::path::{Path, PathBuf};

/// The folder of recordings; `None` where `IKIGAI_RECORDINGS=none` says that there are none, as `./test` does in a plain
/// clone. A folder that is missing otherwise is a failure, so that nothing passes because it was not run.
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
