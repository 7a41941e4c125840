//! What a server is set to. A setting is one field here: its flag, its place in the file, its variable and its line of
//! `--print-config` all follow from that.
//!
//! None of them is a secret: a secret lies in a file that only the server's user reads, and a setting names the file. So
//! nothing that is printed, logged or seen in a list of processes gives one away. Nor is any named like what a container's
//! host puts into the environment of a service called keel, such as `KEEL_PORT`.

use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use keel_server::http::Proxies;
use keel_server::{LOGIN_LIFE, SAVE_EVERY, SNAPSHOT_BYTES};

/// Every setting, its flag and its default.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Settings {
    /// Where to listen, as IP:PORT; port 0 lets the system choose one
    #[arg(long, default_value = "127.0.0.1:7777", value_name = "ADDRESS")]
    pub(crate) bind: SocketAddr,
    /// Take whoever asks, under any name and without accounts: for this machine alone
    #[arg(long, default_value = "false", default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_default_value = true, hide_possible_values = true)]
    pub(crate) unsecured: bool,
    /// Where pilots log in over HTTP, as IP:PORT; beyond this machine with a certificate or a trusted proxy alone
    #[arg(long, default_value = "127.0.0.1:7778", value_name = "ADDRESS")]
    pub(crate) login: SocketAddr,
    /// The certificate by which logins are encrypted, and those that it is signed by, as PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) login_certificate: Option<PathBuf>,
    /// The private key of that certificate, as PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) login_key: Option<PathBuf>,
    /// The proxies before the logins, whose X-Forwarded-For is believed: addresses and networks with commas between them
    #[arg(long, default_value = "", value_name = "LIST")]
    pub(crate) trusted_proxies: Proxies,
    /// Seconds that a login is good for, until it connects
    #[arg(long, default_value_t = LOGIN_LIFE.as_secs(), value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=300))]
    pub(crate) login_seconds: u64,
    /// Under which address pilots reach this server, as IP:PORT, if not where it listens
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) public: Option<SocketAddr>,
    /// The server's name, for lists of servers
    #[arg(long, default_value = "Keel", value_name = "NAME", value_parser = server_name)]
    pub(crate) name: String,
    /// The directory that keeps what has to outlive the server; made if it is not there
    #[arg(long, default_value = "keel-data", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Keep nothing: the world ends with the server
    #[arg(long, default_value = "false", default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_default_value = true, hide_possible_values = true)]
    pub(crate) ephemeral: bool,
    /// Steps from one save of what has changed to the next, at 20 a second
    #[arg(long, default_value_t = SAVE_EVERY, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..=72_000))]
    pub(crate) save_steps: u64,
    /// Copies of the save that are kept beside it
    #[arg(long, default_value = "3", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) save_copies: u32,
    /// Minutes from one copy to the next
    #[arg(long, default_value = "10", value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=10_080))]
    pub(crate) save_copy_minutes: u64,
    /// Seconds by which the save may be behind before nobody new is let in
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) save_behind_seconds: u64,
    /// The balance file; SIGHUP has it read anew
    #[arg(long, default_value = "balance.ron", value_name = "FILE")]
    pub(crate) balance: PathBuf,
    /// Go by the balance file whenever it changes; what cannot be used changes nothing and is told in the log
    #[arg(long, default_value = "true", default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) watch_balance: bool,
    /// The layer where new pilots come into the world, 1 to 6
    #[arg(long, default_value = "1")]
    pub(crate) layer: u8,
    /// The number that every chance follows from
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// Pilots connected at once, 992 at most
    #[arg(long, default_value = "256", value_name = "COUNT")]
    pub(crate) max_clients: u16,
    /// Threads that a step may use
    #[arg(long, default_value = "1", value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: u16,
    /// Bytes of snapshots that a client is sent in a step at most; the least is one packet, 1150
    #[arg(long, default_value_t = SNAPSHOT_BYTES, value_name = "BYTES")]
    pub(crate) snapshot_bytes: usize,
    /// Let any pilot force a storm, an incursion or a wormhole: for checks, not for play
    #[arg(long, default_value = "false", default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "BOOL", hide_default_value = true, hide_possible_values = true)]
    pub(crate) operator_ops: bool,
    /// Have storms take the start for another time, such as 2026-01-31T12:10:00Z: for checks, not for play
    #[arg(long, value_name = "TIME")]
    pub(crate) storm_clock: Option<StormClock>,
    /// Where numbers and health are asked for by HTTP, as IP:PORT, or off: /metrics, /healthz, /readyz and /status
    #[arg(long, default_value = "127.0.0.1:7779", value_name = "ADDRESS")]
    pub(crate) metrics: Metrics,
    /// Where keel admin gets in: socket, for admin.sock in the data directory, off, or an IP:PORT of this machine for those who
    /// have the token
    #[arg(long, default_value = "socket", value_name = "WHERE")]
    pub(crate) admin: Admin,
    /// The file that has the token for --admin IP:PORT; others must not be able to read it
    #[arg(long, value_name = "FILE")]
    pub(crate) admin_token_file: Option<PathBuf>,
    /// How the log is written: for people, or one JSON object a line
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub(crate) log_format: LogFormat,
}

/// What storms take the start for, in seconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StormClock(pub(crate) u64);

impl FromStr for StormClock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = text.parse::<jiff::Timestamp>().map_err(|error| error.to_string())?;
        Ok(Self(u64::try_from(time.as_second()).map_err(|_| "it lies before 1970".to_owned())?))
    }
}

/// Where numbers are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metrics {
    Off,
    At(SocketAddr),
}

impl FromStr for Metrics {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            _ => text.parse().map(Self::At).map_err(|error: AddrParseError| format!("{error}, or off")),
        }
    }
}

/// Where the console is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admin {
    Off,
    Socket,
    At(SocketAddr),
}

impl FromStr for Admin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "socket" => Ok(Self::Socket),
            _ => match text.parse::<SocketAddr>() {
                // What crosses a network has to be encrypted, and this is not.
                Ok(address) if !address.ip().is_loopback() => Err("it is no address of this machine alone".to_owned()),
                Ok(address) => Ok(Self::At(address)),
                Err(error) => Err(format!("{error}, socket or off")),
            },
        }
    }
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// The longest name of a server, in bytes: it goes into one small datagram.
const MAX_SERVER_NAME: usize = 64;

/// A name that any list can show: one line, no control characters, not too long.
fn server_name(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > MAX_SERVER_NAME {
        Err(format!("a server's name has 1 to {MAX_SERVER_NAME} bytes"))
    } else if text.chars().any(char::is_control) {
        Err("a server's name has no control characters".to_owned())
    } else {
        Ok(text.to_owned())
    }
}
