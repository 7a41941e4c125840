//! How another file takes the place of the save: one that a server wrote anew, one that an operator brought, a kept copy.
//!
//! The new one is whole and on disk before the old one is touched. So whatever interrupts it, and wherever, there is a save,
//! or none and a whole new one under the name that it was made by, with which [`go_on`] goes on.

use std::path::{Path, PathBuf};

use bevy_log::tracing::field::display;
use bevy_log::warn;

use super::check::{Fault, look};
use super::files::{Files, copy_file, exists, install, remove, sync, sync_directory};
use super::keep::shift;
use super::{SaveError, Settings};

/// Puts a whole file in the place of the save, which is put aside with its log; where that is now, if there was any.
pub(super) fn replace(files: &Files, new: &Path, label: &str) -> Result<Option<PathBuf>, SaveError> {
    sync(new)?;
    sync_directory(files.directory())?;
    let aside = if files.has_save() { Some(files.put_aside(label)?) } else { None };
    install(new, &files.save())?;
    Ok(aside)
}

/// The same for a world that an operator wants to have instead. It is the newest copy as well: should it break, what came
/// before must not take its place.
pub(super) fn take_over(files: &Files, new: &Path) -> Result<Option<PathBuf>, SaveError> {
    if files.is_taken() {
        let copy = files.unfinished_copy();
        copy_file(new, &copy)?;
        shift(files, Settings::default().copies)?;
        install(&copy, &files.kept(1))?;
    }
    replace(files, new, "replaced")
}

/// Clears away what was not finished, except a whole file that was about to become the save when there is none: that it
/// becomes now.
pub(super) fn go_on(files: &Files) -> Result<(), SaveError> {
    let new = files.unfinished();
    if !exists(&files.save()) {
        match look(&new).map(|_| ()) {
            Ok(()) => {
                replace(files, &new, "replaced")?;
                let save = files.save();
                warn!(save = %save.display(), "something ended while it was putting a new save in its place: that is done now");
            }
            Err(Fault::Missing | Fault::Broken(_)) => {}
            // It may be all that there is.
            Err(fault) => return Err(fault.of(&new)),
        }
    }
    remove(&new)?;
    remove(&files.unfinished_copy())
}

/// Puts the newest whole copy in the place of a broken save.
pub(super) fn fall_back(files: &Files, reason: &str) -> Result<(), SaveError> {
    let save = files.save();
    let mut unfit = Vec::new();
    let whole = files.kept_numbers().into_iter().map(|number| files.kept(number)).find_map(|path| match look(&path) {
        Ok((_, contents)) => Some((path, contents)),
        Err(fault) => {
            unfit.push((path, fault.to_string()));
            None
        }
    });
    let Some((copy, contents)) = whole else {
        return Err(SaveError::Broken { path: save, reason: reason.to_owned(), kept: unfit });
    };
    let new = files.unfinished();
    copy_file(&copy, &new)?;
    let broken = replace(files, &new, "broken")?;
    let step = contents.meta.map(|meta| meta.step);
    let put_aside = broken.as_deref().map(Path::display).map(display);
    warn!(
        save = %save.display(), reason, copy = %copy.display(), step, put_aside,
        "THE SAVE IS BROKEN: the newest whole copy took its place, and what was played since that was kept is lost"
    );
    Ok(())
}
