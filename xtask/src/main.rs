//! Chores of the project: `cargo xtask`.

mod soak;
mod torture;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the project")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Leave the whole world to itself for hours of its time, and check it every minute
    Soak(soak::Args),
    /// Do for long what the tests do for seconds
    #[command(subcommand)]
    Torture(torture::Torture),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().chore {
        Chore::Soak(args) => soak::run(&args),
        Chore::Torture(torture) => torture::run(&torture),
    }
}
