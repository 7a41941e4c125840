//! Where a server keeps things, for the commands that work on them.

use std::path::PathBuf;

use crate::serve;

#[derive(clap::Args)]
pub(crate) struct Data {
    /// The data directory of the server [default: what keel serve would take]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Data {
    /// The directory that was asked for, or else the one that a server would take by the environment and its settings file.
    pub(crate) fn directory(&self) -> anyhow::Result<PathBuf> {
        self.data.clone().map_or_else(serve::data_directory, Ok)
    }
}
