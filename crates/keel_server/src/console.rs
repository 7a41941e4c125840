//! What an operator may ask of a server that runs, and how the loop gets to hear of it.
//!
//! Whoever asks hands a request over and waits; the loop takes a few between two steps, does them, and answers when they are done.
//! Nobody but the loop touches the world.

mod countdown;
mod desk;
mod office;
mod routes;

pub use office::Office;
pub use routes::{Token, TokenError, admin_routes, telemetry_routes};

pub(crate) use countdown::Countdown;
pub(crate) use desk::{Desk, hang};

use std::fmt;
use std::sync::mpsc::{SyncSender, TrySendError};

use keel_map::{Hex, MapKey};
use keel_sim::Force;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

/// Requests that may wait at once.
const MOST_WAITING: usize = 32;

/// The longest text that pilots are told, in bytes.
const MOST_TEXT: usize = 500;

/// The longest that a stop may lie ahead, in seconds: a week.
const MOST_SECONDS: u32 = 7 * 24 * 3600;

/// What an operator may ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// How the server is.
    Status,
    /// Who plays.
    Players,
    /// Puts a pilot out.
    Kick {
        /// The pilot's name, whatever its case.
        name: String,
        /// What the pilot is told.
        why: String,
    },
    /// Lets an account log in no more, and puts its pilot out.
    Ban {
        /// The account's name, whatever its case.
        name: String,
        /// For how many seconds; `None` for good.
        seconds: Option<u64>,
        /// Why, for the pilot to read; may be empty.
        why: String,
    },
    /// Lets an account log in again.
    Unban {
        /// The account's name, whatever its case.
        name: String,
    },
    /// Gets the world on disk as it stands after the next step, and answers when it is there.
    Save,
    /// Reads the balance file, changed or not, and goes by it.
    ReloadBalance,
    /// Tells all pilots something.
    Announce {
        /// What.
        text: String,
    },
    /// A storm lands on a map.
    Storm {
        /// The map, such as `layer-3` or `rift-1`.
        map: String,
    },
    /// An incursion comes to a map.
    Incursion {
        /// The map.
        map: String,
    },
    /// A squad of the map's NPCs comes into a sector.
    Spawn {
        /// The map.
        map: String,
        /// The sector's column.
        col: i32,
        /// The sector's row.
        row: i32,
    },
    /// Lets nobody new in any more, or again. Who is in stays.
    Drain {
        /// Whether nobody new is let in.
        on: bool,
    },
    /// Stops the server after a while, of which pilots are told as it passes.
    Stop {
        /// After so many seconds.
        seconds: u32,
        /// What pilots are told besides; may be empty.
        why: String,
    },
    /// There is no stop after all.
    CancelStop,
    /// The loop goes on no more: to see what becomes of it. Only where any pilot may give an operator's orders.
    Hang,
}

impl Request {
    /// What the world is to have happen, for those that are about the world.
    ///
    /// # Errors
    /// With what is wrong with the request.
    fn force(&self) -> Result<Option<Force>, String> {
        let key = |map: &str| map.parse::<MapKey>().map_err(|error| error.to_string());
        Ok(Some(match self {
            Self::Storm { map } => Force::Storm(key(map)?),
            Self::Incursion { map } => Force::Incursion(key(map)?),
            Self::Spawn { map, col, row } => Force::Squad(key(map)?, Hex::new(*col, *row)),
            _ => return Ok(None),
        }))
    }

    /// Whether the request can be done at all.
    ///
    /// # Errors
    /// With what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let text = |text: &str, may_be_empty: bool| {
            if text.len() > MOST_TEXT || (text.trim().is_empty() && !may_be_empty) {
                Err(format!("A text has {} to {MOST_TEXT} bytes.", u8::from(!may_be_empty)))
            } else if text.chars().any(char::is_control) {
                Err("A text has no control characters.".to_owned())
            } else {
                Ok(())
            }
        };
        match self {
            Self::Kick { why, .. } | Self::Ban { why, .. } | Self::Stop { why, .. } => text(why, true)?,
            Self::Announce { text: announced } => text(announced, false)?,
            _ => {}
        }
        if let Self::Stop { seconds, .. } = self
            && *seconds > MOST_SECONDS
        {
            return Err(format!("A stop lies at most {MOST_SECONDS} seconds ahead."));
        }
        self.force().map(|_| ())
    }
}

/// What a request that was done has to tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// What was done, in a sentence.
    Done(String),
    /// How the server is.
    Status(Overview),
    /// Who plays, by name.
    Players(Vec<Player>),
}

/// How a server is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// What anyone may know.
    #[serde(flatten)]
    pub public: keel_protocol::status::Status,
    /// How long it has run, in seconds.
    pub uptime_s: u64,
    /// Steps that were run.
    pub steps: u64,
    /// Time by which its world has fallen behind the clock, in seconds.
    pub slipped_s: f64,
    /// What half of the steps took at most, and 99 in 100, in microseconds.
    pub step_p50_us: u64,
    /// See there.
    pub step_p99_us: u64,
    /// Connections, greeted or not.
    pub connections: usize,
    /// The hash of its balance, in hexadecimal digits.
    pub balance: String,
    /// Why nobody is let in, if so.
    pub closed: Option<String>,
    /// In how many seconds it stops, if it does.
    pub stops_in_s: Option<u64>,
}

/// Someone who plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Player {
    /// The pilot's name.
    pub name: String,
    /// The pilot's number.
    pub pilot: u32,
    /// Where the pilot comes from.
    pub address: Option<String>,
    /// For how long, in seconds.
    pub connected_s: u64,
    /// How long a datagram takes to get there and back, in milliseconds.
    pub rtt_ms: f64,
    /// The share of datagrams that get lost, 0 to 1.
    pub lost: f64,
    /// The maps where the pilot has ships, such as `layer-3`.
    pub maps: Vec<String>,
}

/// Why a request was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It cannot be done, for a person to read.
    Refused(String),
    /// Too many requests wait.
    Busy,
    /// The server stops, or has stopped.
    Gone,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused(reason) => reason,
            Self::Busy => "Too many requests wait already. Try again.",
            Self::Gone => "The server is stopping.",
        })
    }
}

/// What becomes of a request.
pub type Outcome = Result<Reply, Denial>;

/// A request on its way to the loop, and where its answer goes.
pub(crate) struct Asked {
    request: Request,
    answer: oneshot::Sender<Outcome>,
}

/// The way to the loop. It can be cloned and used from any thread.
#[derive(Clone, Debug)]
pub struct Console(SyncSender<Asked>);

impl Console {
    /// Hands a request to the loop. What becomes of it comes from the receiver.
    ///
    /// # Errors
    /// When it cannot be done at all, or nobody can hear of it.
    pub fn ask(&self, request: Request) -> Result<oneshot::Receiver<Outcome>, Denial> {
        request.check().map_err(Denial::Refused)?;
        let (answer, answered) = oneshot::channel();
        match self.0.try_send(Asked { request, answer }) {
            Ok(()) => Ok(answered),
            Err(TrySendError::Full(_)) => Err(Denial::Busy),
            Err(TrySendError::Disconnected(_)) => Err(Denial::Gone),
        }
    }
}
