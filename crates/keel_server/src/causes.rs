//! Errors for people to read.

use std::error::Error;

/// What an error says, and what stands behind it.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |&error| error.source());
    causes.fold(error.to_string(), |said, cause| format!("{said}: {cause}"))
}
