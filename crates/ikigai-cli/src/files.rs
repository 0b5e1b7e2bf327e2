//! Files that are written completely or not at all.

use std::io::Write as _;
use std::path::Path;

/// Who may read a written file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The same as before; for a new file, the system's default.
    Kept,
    /// Its owner alone: 600.
    Private,
}

/// Writes a file, new or not, so that a reader sees either all of the old bytes or all of the new ones.
///
/// The bytes go into a new file next to it, which then replaces it. So the folder must be writable, another hard link
/// to the old file keeps the old bytes, and the file's owner becomes the current user. The path must not be a link,
/// because the link would be replaced.
pub(crate) fn replace(file: &Path, bytes: &[u8], mode: Mode) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ikigai-");
    #[cfg(unix)]
    if mode == Mode::Kept {
        // The system subtracts its umask.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let mut fresh = builder.tempfile_in(folder)?;
    fresh.write_all(bytes)?;
    if let (Mode::Kept, Ok(before)) = (mode, std::fs::metadata(file)) {
        fresh.as_file().set_permissions(before.permissions())?;
    }
    fresh.as_file().sync_all()?;
    fresh.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn modes_are_kept_or_private_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let mode = || std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        replace(&file, b"1", Mode::Private).unwrap();
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        replace(&file, b"2", Mode::Kept).unwrap();
        assert_eq!(mode(), 0o755);
        replace(&file, b"3", Mode::Private).unwrap();
        assert_eq!((mode(), std::fs::read(&file).unwrap().as_slice()), (0o600, b"3".as_slice()));
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a"]);
    }

    #[test]
    fn a_folder_in_its_place_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::create_dir(&file).unwrap();
        assert!(replace(&file, b"1", Mode::Kept).is_err());
        assert!(file.is_dir());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
