//! `keel fly`: a pilot on a terminal, or by a script.

mod deed;
mod keys;
mod news;
mod pilot;
mod report;
mod screen;
mod script;

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use keel_client::{Client, Hello};

use pilot::Pilot;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The server
    #[arg(default_value = "127.0.0.1:7777", value_name = "SERVER")]
    server: String,
    /// What the pilot is called: 1 to 20 letters, digits, - and _
    #[arg(long, default_value = "pilot")]
    name: String,
    /// Fly by a script of timed orders and print the log (`-` reads it from the standard input)
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Greet as a client of this protocol version
    #[arg(long, value_name = "VERSION", hide = true)]
    protocol: Option<u16>,
}

/// Between two looks at the connection.
const POLL: Duration = Duration::from_millis(10);

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    // A script with a mistake is refused before it flies.
    let script = args.script.as_deref().map(script::read).transpose()?;
    let server = resolve(&args.server)?;
    let mut hello = Hello::new(&args.name);
    hello.version = args.protocol.unwrap_or(hello.version);
    let mut pilot = Pilot::new(Client::connect(server, hello)?);
    pilot.join()?;
    match script {
        Some(script) => script::fly(&mut pilot, &script),
        None => keys::fly(&mut pilot),
    }
}

/// The address that a server's name stands for.
pub(crate) fn resolve(server: &str) -> anyhow::Result<SocketAddr> {
    let addresses: Vec<SocketAddr> = server
        .to_socket_addrs()
        .with_context(|| format!("{server} is no server's address, such as 127.0.0.1:7777"))?
        .collect();
    // A name may have both kinds; a server listens on the older one unless told otherwise.
    let Some(address) = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()) else {
        bail!("{server} has no address")
    };
    Ok(*address)
}
