//! Where a server keeps things, for the commands that work on them.

use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Data {
    /// The data directory of the server [env: KEEL_DATA] [default: keel-data]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Data {
    /// The directory that was asked for, or else the environment's, or the one that a server takes by itself.
    pub(crate) fn directory(&self) -> PathBuf {
        let asked = self.data.clone().or_else(|| std::env::var_os("KEEL_DATA").map(PathBuf::from));
        asked.unwrap_or_else(|| PathBuf::from("keel-data"))
    }
}
