//! `keel admin`: the console of a server that runs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Subcommand;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use keel_map::MapKey;
use keel_server::{Overview, Player, Reply, Request, Token};
use serde_json::Value;

use crate::account::span;
use crate::serve::{self, ADMIN_SOCKET};

/// How long a server may take to answer.
const WAIT: Duration = Duration::from_secs(10);

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    way: Way,
    /// Print the answer as one JSON object
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// How to get there.
#[derive(clap::Args)]
struct Way {
    /// The server's data directory, in which its socket is [default: what keel serve would take]
    #[arg(long, value_name = "DIR", conflicts_with = "address")]
    data: Option<PathBuf>,
    /// The server's --admin address, instead
    #[arg(long, value_name = "ADDRESS", requires = "token_file")]
    address: Option<String>,
    /// The file that has the token for it
    #[arg(long, value_name = "FILE", requires = "address")]
    token_file: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// How the server is
    Status,
    /// Who plays
    Players,
    /// Put a pilot out
    Kick {
        /// The pilot
        name: String,
        /// What the pilot is told
        #[arg(trailing_var_arg = true)]
        why: Vec<String>,
    },
    /// Let an account log in no more, and put its pilot out
    Ban {
        /// The account
        name: String,
        /// For how long, such as 30m, 12h or 7d; for good if it is not said
        #[arg(long = "for", value_name = "TIME", value_parser = span)]
        span: Option<Duration>,
        /// Why, for the pilot to read
        #[arg(trailing_var_arg = true)]
        why: Vec<String>,
    },
    /// Let an account log in again
    Unban {
        /// The account
        name: String,
    },
    /// Get the world on disk now, and say when it is there
    Save,
    /// Have the server read something again
    #[command(subcommand)]
    Reload(Reload),
    /// Tell all pilots something
    Announce {
        /// What
        #[arg(required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Have something come to a map
    #[command(subcommand)]
    Force(Force),
    /// Put a squad of a map's NPCs into a sector
    Spawn {
        /// The map: layer-1 to layer-6, rift-1 to rift-6
        map: MapKey,
        /// The sector's column
        #[arg(allow_negative_numbers = true)]
        col: i32,
        /// The sector's row
        #[arg(allow_negative_numbers = true)]
        row: i32,
    },
    /// Let nobody new in any more; who is in stays
    Drain {
        /// Let in again who comes
        #[arg(long)]
        off: bool,
    },
    /// Stop the server after some minutes, of which pilots are told as they pass
    Stop {
        /// Minutes until then; 0 for at once
        #[arg(required_unless_present = "cancel", value_parser = clap::value_parser!(u32).range(..=10_080))]
        minutes: Option<u32>,
        /// What pilots are told besides
        #[arg(trailing_var_arg = true)]
        why: Vec<String>,
        /// Do not stop after all
        #[arg(long, exclusive = true)]
        cancel: bool,
    },
    /// Have the server's loop hang, to see what becomes of it
    #[command(hide = true)]
    Hang,
}

#[derive(Subcommand)]
enum Reload {
    /// The balance file: go by it from the next step on, or say what is wrong with it
    Balance,
}

#[derive(Subcommand)]
enum Force {
    /// A storm lands, at once
    Storm {
        /// The map: layer-1 to layer-6, rift-1 to rift-6
        map: MapKey,
    },
    /// An incursion comes, at once
    Incursion {
        /// The map: layer-1 to layer-6, rift-1 to rift-6
        map: MapKey,
    },
}

impl Command {
    fn request(&self) -> Request {
        let text = |words: &[String]| words.join(" ");
        match self {
            Self::Status => Request::Status,
            Self::Players => Request::Players,
            Self::Kick { name, why } => Request::Kick { name: name.clone(), why: text(why) },
            Self::Ban { name, span, why } => {
                Request::Ban { name: name.clone(), seconds: span.map(|span| span.as_secs()), why: text(why) }
            }
            Self::Unban { name } => Request::Unban { name: name.clone() },
            Self::Save => Request::Save,
            Self::Reload(Reload::Balance) => Request::ReloadBalance,
            Self::Announce { text: words } => Request::Announce { text: text(words) },
            Self::Force(Force::Storm { map }) => Request::Storm { map: map.to_string() },
            Self::Force(Force::Incursion { map }) => Request::Incursion { map: map.to_string() },
            Self::Spawn { map, col, row } => Request::Spawn { map: map.to_string(), col: *col, row: *row },
            Self::Drain { off } => Request::Drain { on: !off },
            Self::Stop { cancel: true, .. } => Request::CancelStop,
            Self::Stop { minutes, why, .. } => {
                Request::Stop { seconds: minutes.unwrap_or_default() * 60, why: text(why) }
            }
            Self::Hang => Request::Hang,
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let request = args.command.request();
    request.check().map_err(anyhow::Error::msg)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (status, body) = runtime.block_on(async {
        match tokio::time::timeout(WAIT, exchange(&args.way, &request)).await {
            Ok(answer) => answer,
            Err(_) => bail!("the server does not answer"),
        }
    })?;
    if status != 200 {
        let error = serde_json::from_slice::<Value>(&body).ok();
        let reason = error.as_ref().and_then(|error| error["error"].as_str());
        bail!("{}", reason.map_or_else(|| format!("the server answers {status}"), clean_lines));
    }
    if args.json {
        serve::say(&String::from_utf8(body).context("the server's answer is no text")?);
        return Ok(());
    }
    let reply = serde_json::from_slice(&body).context("the server's answer makes no sense")?;
    match reply {
        Reply::Done(done) => serve::say(&clean(&done)),
        Reply::Status(overview) => serve::say(&told(&overview)),
        Reply::Players(players) if players.is_empty() => serve::say("Nobody plays."),
        Reply::Players(players) => players.iter().for_each(|player| serve::say(&row(player))),
    }
    Ok(())
}

/// Sends a request to the console; the status and the body that come back.
async fn exchange(way: &Way, request: &Request) -> anyhow::Result<(u16, Vec<u8>)> {
    let body = serde_json::to_vec(request)?;
    let Some((address, file)) = way.address.as_ref().zip(way.token_file.as_ref()) else {
        let data = match &way.data {
            Some(data) => data.clone(),
            None => serve::data_directory()?,
        };
        let path = data.join(ADMIN_SOCKET);
        let stream = tokio::net::UnixStream::connect(&path).await;
        let stream = stream.with_context(|| format!("no server listens at {}", path.display()))?;
        return post(stream, body, None).await;
    };
    let Some(token) = Token::read(file)? else { bail!("there is no token in {}", file.display()) };
    let stream = tokio::net::TcpStream::connect(address).await;
    let stream = stream.with_context(|| format!("no server listens at {address}"))?;
    post(stream, body, Some(token.bearer())).await
}

async fn post<S>(stream: S, body: Vec<u8>, bearer: Option<Vec<u8>>) -> anyhow::Result<(u16, Vec<u8>)>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(hyper_util::rt::TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut post = hyper::Request::post("/command").header(HOST, "keel").header(CONTENT_TYPE, "application/json");
    if let Some(bearer) = bearer {
        post = post.header(AUTHORIZATION, bearer);
    }
    let answer = sender.send_request(post.body(axum::body::Body::from(body))?).await?;
    let status = answer.status().as_u16();
    let body = axum::body::to_bytes(axum::body::Body::new(answer.into_body()), 4 * 1024 * 1024).await?;
    Ok((status, body.to_vec()))
}

/// A text of some lines for a terminal, such as all that is wrong with a file.
fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// A text for a terminal, whatever it holds.
fn clean(text: &str) -> String {
    text.chars()
        .flat_map(|letter| if letter.is_control() { letter.escape_default().collect() } else { vec![letter] })
        .collect()
}

fn told(overview: &Overview) -> String {
    let public = &overview.public;
    let rows = [
        ("name", clean(&public.name)),
        ("version", format!("{}, protocol {}", clean(&public.version), public.protocol)),
        ("players", format!("{} of {}, {} connections", public.players, public.max_players, overview.connections)),
        ("pace", format!("{} %, {:.1} s behind in all", public.pace, overview.slipped_s)),
        ("steps", format!("{}, p50 {} µs, p99 {} µs", overview.steps, overview.step_p50_us, overview.step_p99_us)),
        ("up", format!("{} s", overview.uptime_s)),
        ("balance", clean(&overview.balance)),
        ("logins", overview.closed.as_deref().map_or_else(|| "open".to_owned(), clean)),
        ("stop", overview.stops_in_s.map_or("none ahead".to_owned(), |left| format!("in {left} s"))),
    ];
    rows.map(|(what, is)| format!("{what:8} {is}")).join("\n")
}

fn row(player: &Player) -> String {
    format!(
        "{:20} pilot {:5}  {:>6} s  {:6.1} ms  {:5.1} % lost  {}  {}",
        clean(&player.name),
        player.pilot,
        player.connected_s,
        player.rtt_ms,
        player.lost * 100.0,
        player.address.as_deref().map_or_else(|| "-".to_owned(), clean),
        clean(&player.maps.join(" ")),
    )
}
