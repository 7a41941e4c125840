//! `keel serve`: the dedicated server.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use bevy_app::{App, Plugin};
use bevy_log::{BoxedFmtLayer, LogPlugin, tracing_subscriber};
use keel_balance::Balance;
use keel_server::{Config, SNAPSHOT_BYTES, Server};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// What an operator should know besides the flags.
pub(crate) const NOTE: &str =
    "RUST_LOG sets how much the log says, such as debug. Nothing is saved yet: a restart begins the world anew.";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen, as IP:PORT; port 0 lets the system choose one
    #[arg(long, default_value = "127.0.0.1:7777", value_name = "ADDRESS")]
    bind: SocketAddr,
    /// Listen beyond this machine although traffic is not encrypted and names are not proven
    #[arg(long)]
    unsecured: bool,
    /// The balance file; it is read once, at the start
    #[arg(long, default_value = "balance.ron", value_name = "FILE")]
    balance: PathBuf,
    /// The layer where new pilots come into the world, 1 to 6
    #[arg(long, default_value_t = 1)]
    layer: u8,
    /// The number that every chance follows from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Pilots connected at once
    #[arg(long, default_value_t = 256, value_name = "COUNT")]
    max_clients: u16,
    /// Threads that a step may use
    #[arg(long, default_value_t = 1, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Bytes of snapshots that a client is sent in a step at most; the least is one packet, 1150
    #[arg(long, default_value_t = SNAPSHOT_BYTES, value_name = "BYTES")]
    snapshot_bytes: usize,
    /// Let any pilot force a storm, an incursion or a wormhole: for checks, not for play
    #[arg(long)]
    operator_ops: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    // First of all, and whatever was inherited: a stop that comes during the start is a stop.
    let stop = stop_by_signals()?;
    let log = LogPlugin { filter: FILTER.to_owned(), fmt_layer: to_stderr, ..LogPlugin::default() };
    log.build(&mut App::new());

    let balance = Arc::new(Balance::load(&args.balance)?);
    let hash = balance.hash();
    let server = Server::start(&Config {
        bind: args.bind,
        unsecured: args.unsecured,
        balance,
        layer: args.layer,
        seed: args.seed,
        max_clients: args.max_clients,
        threads: args.threads.into(),
        snapshot_bytes: args.snapshot_bytes,
        operator_ops: args.operator_ops,
    })?;
    let (address, layer) = (server.address(), args.layer);
    say(&format!("Keel listens on {address}: new pilots on Layer {layer}, balance {hash:016x}. Ctrl-C stops it."));
    let report = server.run(&stop);
    say(&format!("Stopped after {} steps.", report.steps));
    Ok(())
}

/// A flag that is set when the process is told to stop.
pub(crate) fn stop_by_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The second of a kind does not wait for the loop.
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop)).context("cannot handle signals")?;
        flag::register(signal, Arc::clone(&stop)).context("cannot handle signals")?;
    }
    Ok(stop)
}

/// The transport's crates log what any stranger sends, line by line; what matters of it the server says itself.
const FILTER: &str = "info,renet=off,renetcode=off";

/// The log goes to the standard error, with colours only where a person looks at it.
fn to_stderr(_: &mut App) -> Option<BoxedFmtLayer> {
    let colours = std::io::stderr().is_terminal();
    Some(Box::new(tracing_subscriber::fmt::layer().with_ansi(colours).with_writer(std::io::stderr)))
}

/// Says something on the standard output. That nobody reads it any more is no reason to stop a server.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
