//! Chores of the project: `cargo xtask`.

mod soak;

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
}

fn main() -> anyhow::Result<()> {
    match Args::parse().chore {
        Chore::Soak(args) => soak::run(&args),
    }
}
