//! `keel status`: what a server says of itself to anyone.

use std::time::Duration;

use anyhow::anyhow;
use keel_client::ask_status;

use crate::{fly, serve};

/// How long an answer may take.
const WAIT: Duration = Duration::from_secs(3);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The server
    #[arg(default_value = "127.0.0.1:7777", value_name = "SERVER")]
    server: String,
    /// Print it as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let server = fly::resolve(&args.server)?;
    let status = ask_status(server, WAIT).map_err(|_| anyhow!("no Keel server answers at {server}"))?;
    serve::say(&if args.json {
        serde_json::to_string(&status)?
    } else {
        // A server can call itself what it likes.
        let (name, version) = (status.name.escape_debug(), status.version.escape_debug());
        format!(
            "{name}: Keel {version}, protocol {}, {} of {} pilots, pace {} %.",
            status.protocol, status.players, status.max_players, status.pace
        )
    });
    Ok(())
}
