//! The `keel` binary: the dedicated server, and what goes with it on a terminal.

mod account;
mod admin;
mod balance;
mod bots;
mod data;
mod fly;
mod manual;
mod map;
mod save;
mod serve;
mod sight;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod stacks;
mod status;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// A headless, server-authoritative space-combat server. Without a command it serves.
#[derive(Parser)]
#[command(name = "keel", version, args_conflicts_with_subcommands = true, after_help = serve::NOTE)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::Args,
}

#[derive(Subcommand)]
enum Command {
    /// Run the dedicated server (the default)
    #[command(after_help = serve::NOTE)]
    Serve(serve::Args),
    /// Look at a server that runs, and have it do something
    Admin(admin::Args),
    /// Ask a server how it is; that needs no login
    Status(status::Args),
    /// Fly a ship from this terminal, or by a script
    Fly(fly::Args),
    /// Draw a map, or print it
    Map(map::Args),
    /// Load a server with bots that fly, fire and use powers, and report what it costs
    Bots(bots::Args),
    /// Make, ban and list accounts
    Account(account::Args),
    /// Look at the save, copy it, export it, or bring it forward
    Save(save::Args),
    /// Look at a balance file
    #[command(subcommand)]
    Balance(balance::Command),
    /// Write the manual pages
    #[command(hide = true)]
    Man(manual::ManArgs),
    /// Print a shell's completions
    Completions(manual::CompletionsArgs),
    /// Print what every thread of a process is at
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[command(hide = true)]
    Stacks(stacks::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.exit_code() == 0 => error.exit(),
        Err(error) => return fail(&usage(&error), USAGE),
    };
    let result = match cli.command {
        None => serve::run(&cli.serve),
        Some(Command::Serve(args)) => serve::run(&args),
        Some(Command::Fly(args)) => fly::run(&args),
        Some(Command::Map(args)) => map::run(&args),
        Some(Command::Bots(args)) => bots::run(&args),
        Some(Command::Account(args)) => account::run(&args),
        Some(Command::Save(args)) => save::run(&args),
        Some(Command::Balance(command)) => balance::run(&command),
        Some(Command::Admin(args)) => admin::run(&args),
        Some(Command::Status(args)) => status::run(&args),
        Some(Command::Man(args)) => manual::man(&args, Cli::command()),
        Some(Command::Completions(args)) => manual::completions(&args, Cli::command()),
        #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
        Some(Command::Stacks(args)) => stacks::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("{error:#}"), code(&error)),
    }
}

/// The exit code of a command line that makes no sense.
const USAGE: u8 = 2;

/// The exit code that tells a script what went wrong: 3 a save of a later version, 4 a broken one, 5 one in use, else 1.
fn code(error: &anyhow::Error) -> u8 {
    save::exit_code(error).unwrap_or(1)
}

fn fail(reason: &str, code: u8) -> ExitCode {
    eprintln!("keel: {reason}");
    code.into()
}

/// What is wrong with a command line, in its one line of clap's several.
fn usage(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    format!("{} (see keel --help)", line.trim_start_matches("error: "))
}
