//! `keel fly`: a pilot on a terminal, or by a script.

mod deed;
mod keys;
mod news;
mod pilot;
mod report;
mod screen;
mod script;

use std::io::IsTerminal;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use keel_client::{Client, Hello, Login, Trust};

use crate::account;
use pilot::Pilot;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The server, if it takes whoever asks
    #[arg(default_value = "127.0.0.1:7777", value_name = "SERVER")]
    server: String,
    /// Log in there, by the password of the account: asked for at a terminal, else the first line of the standard input
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    login: Option<String>,
    /// Read the password from this file
    #[arg(long, value_name = "FILE", requires = "login")]
    password_file: Option<PathBuf>,
    /// Believe only those whom the certificates in this PEM file have signed, rather than whom this machine believes
    #[arg(long, value_name = "FILE", requires = "login")]
    login_trust: Option<PathBuf>,
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
    let client = match &args.login {
        Some(address) => Client::connect_as(login(args, address)?)?,
        None => {
            let mut hello = Hello::new(&args.name);
            hello.version = args.protocol.unwrap_or(hello.version);
            Client::connect(resolve(&args.server)?, hello)?
        }
    };
    let mut pilot = Pilot::new(client);
    pilot.join()?;
    match script {
        Some(script) => script::fly(&mut pilot, &script),
        None => keys::fly(&mut pilot),
    }
}

fn login(args: &Args, address: &str) -> anyhow::Result<Login> {
    let trust = match &args.login_trust {
        None => Trust::Machine,
        Some(path) => {
            Trust::Pem(std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?)
        }
    };
    let is_script_in = args.script.as_deref() == Some(Path::new("-"));
    if is_script_in && args.password_file.is_none() && !std::io::stdin().is_terminal() {
        bail!("the script comes by the standard input, so the password cannot: give it with --password-file");
    }
    let password = account::password_from(args.password_file.as_deref(), &args.name)?;
    Ok(Login::ask(address, &args.name, &password, &trust)?)
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
