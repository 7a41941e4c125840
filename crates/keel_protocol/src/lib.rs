//! What crosses the wire between a Keel server and a client, and nothing of how either works.
//!
//! The types are the wire's own: ids are plain numbers, names are indices into the [`Welcome`]'s catalogue, and a timer is
//! the moment at which it ends, so counting down sends nothing. Both ends convert by hand, so the world can be reshaped
//! without touching a client, and a client needs no engine.

mod card;
pub mod codec;
mod command;
mod message;
mod news;
pub mod snapshot;
pub mod status;
mod transport;

pub use card::{Brace, Card, Clamp, Jam, Module, Powers, Resists};
pub use keel_names::{MAX_NAME, NameError, check_name};

pub use codec::{DecodeError, MAX_ORDER, decode, decode_order, encode};
pub use command::{Command, Force, Part, Power, Slot, Stance, Structure};
pub use message::{
    Answer, Bonds, Charter, Hello, Kind, Line, Map, Named, Pilot, Shot, ToClient, ToServer, Welcome, Who, Wormhole,
};
pub use news::{Chart, Goods, Ground, Incursion, Journal, Storm, Wreck};
pub use snapshot::{Ack, Contact, Flags, Leg, MAX_SNAPSHOT, Mind, OwnShip, Pool};
pub use transport::{CHANNEL_LOSSY, CHANNEL_ORDERED, MOST_AHEAD, MOST_WAITING, NETCODE_ID, connection_config};

/// The version of everything in this crate. A server and a client of different versions part at the first message.
pub const PROTOCOL_VERSION: u16 = 5;

/// The slowest pace that a server tells, in percent of the clock.
pub const LEAST_PACE: u8 = 10;

/// Microseconds of world time in a step.
pub const STEP_MICROS: u64 = 50_000;
