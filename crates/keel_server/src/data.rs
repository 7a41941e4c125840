//! The directory of what has to outlive a server: its world, its accounts, its keys.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Makes a data directory that only its owner can look into, if it is not there. One that is there is left as it is.
///
/// # Errors
/// When the system refuses it.
pub fn make_data_directory(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}
