//! `keel balance`: a balance file without a server.

use std::path::PathBuf;

use clap::Subcommand;
use keel_balance::Balance;
use keel_sim::check_fits;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Check a balance file and list everything that is wrong with it
    Check {
        /// The file
        #[arg(default_value = "balance.ron")]
        path: PathBuf,
    },
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    let Command::Check { path } = command;
    let balance = Balance::load(path)?;
    check_fits(&balance)?;
    println!("{} is sound. Its hash is {:016x}.", path.display(), balance.hash());
    Ok(())
}
