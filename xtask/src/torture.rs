//! `cargo xtask torture`: what the suite tests for seconds, for as long as one likes, and optimised.

use std::process::Command;

use anyhow::{Context, bail};

#[derive(clap::Subcommand)]
pub(crate) enum Torture {
    /// Bad tokens and three hundred logins, again and again, while fifty pilots play
    Logins {
        /// How often the crowd logs in
        #[arg(long, default_value_t = 20)]
        rounds: u32,
    },
    /// Kill a server under fifty fighting bots, and start it again, as often
    Kills {
        /// How often
        #[arg(long, default_value_t = 200)]
        rounds: u32,
    },
}

pub(crate) fn run(torture: &Torture) -> anyhow::Result<()> {
    match torture {
        Torture::Kills { rounds } => test("keel", "kills", &[("KEEL_TORTURE_ROUNDS", rounds.to_string())]),
        Torture::Logins { rounds } => test("keel_server", "flood", &[("KEEL_TORTURE_ROUNDS", rounds.to_string())]),
    }
}

/// Runs a test of the suite with what makes it longer.
fn test(package: &str, name: &str, longer: &[(&str, String)]) -> anyhow::Result<()> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--release", "--locked", "--package", package, "--test", name, "--", "--nocapture"]);
    let status = cargo.envs(longer.iter().map(|(key, value)| (key, value))).status().context("cannot run cargo")?;
    if !status.success() {
        bail!("{name} did not hold");
    }
    Ok(())
}
