//! Messages of the ordered channel.

use bincode::{Decode, Encode};
use thiserror::Error;

use crate::PROTOCOL_VERSION;

/// The first message of a client. Its shape never changes, so that versions can tell each other apart.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Hello {
    /// The client's [`PROTOCOL_VERSION`].
    pub version: u16,
    /// What the pilot is called.
    pub name: String,
}

/// From a client. New kinds go to the end; `Hello` stays first.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ToServer {
    /// The first message.
    Hello(Hello),
    /// An order.
    Op {
        /// The client's number for it; its answer carries the same.
        seq: u32,
        /// What.
        command: Command,
    },
}

/// An order to one of the pilot's ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Command {
    /// Go to a sector by the shortest way.
    Move {
        /// The ship.
        ship: u32,
        /// The sector's column.
        col: i32,
        /// The sector's row.
        row: i32,
    },
    /// Stop: in the window before a hop at once, later after the hop that runs.
    Cancel {
        /// The ship.
        ship: u32,
    },
    /// Lock and fire, with the pilot's other ships in the sector.
    Attack {
        /// The ship.
        ship: u32,
        /// At which ship.
        target: u32,
    },
    /// Lock and fire alone.
    Focus {
        /// The ship.
        ship: u32,
        /// At which ship.
        target: u32,
    },
    /// Drop the lock and hold fire.
    Hold {
        /// The ship.
        ship: u32,
    },
}

/// From the server. New kinds go to the end; `Refused` stays first.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum ToClient {
    /// The greeting is not accepted, or the session is over, and why. The connection is closed after it.
    Refused {
        /// For a person.
        reason: String,
    },
    /// The greeting is accepted.
    Welcome(Welcome),
    /// What became of an op.
    Answer(Answer),
    /// A line of the pilot's log.
    Line(Line),
    /// The card of one of the pilot's ships: sent when it comes into the pilot's hands and whenever it changes.
    Card(Card),
}

/// What a client needs to know once.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Welcome {
    /// The server's [`PROTOCOL_VERSION`].
    pub version: u16,
    /// A hash of the server's balance.
    pub balance: u64,
    /// The pilot's number, by which contacts name their owner.
    pub pilot: u32,
    /// The layer of the map, 1 to 6.
    pub layer: u8,
    /// The sectors of the map, as column and row.
    pub sectors: Vec<(i16, i16)>,
    /// Class names; contacts name theirs by index.
    pub classes: Vec<String>,
    /// Faction names, likewise.
    pub factions: Vec<String>,
}

/// What became of an op.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Answer {
    /// The client's number for the op.
    pub seq: u32,
    /// Whether it was accepted. A refused op has changed nothing.
    pub accepted: bool,
    /// What it does, or why it does not.
    pub text: String,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Line {
    /// The step that it tells of.
    pub step: u64,
    /// The line.
    pub text: String,
}

/// A ship's card: the server's own sheet, in the numbers that it prints.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Card {
    /// The ship.
    pub ship: u32,
    /// Index of the class.
    pub class: u8,
    /// Damage of a shot; 0 with no gun.
    pub volley: f32,
    /// Microseconds between shots.
    pub cycle: u32,
    /// Battery a shot.
    pub cost: f32,
    /// Damage a second while the battery holds.
    pub sustained: f32,
    /// Damage a second once the battery sets the pace.
    pub battery_limited: f32,
    /// Shield when full.
    pub shield: f32,
    /// Hull when full.
    pub hull: f32,
    /// Battery when full.
    pub battery: f32,
    /// Points.
    pub evasion: f32,
    /// Share.
    pub tracking: f32,
    /// The gun's own chance, in points.
    pub hit: f32,
    /// Points.
    pub crit: f32,
    /// Factor.
    pub crit_damage: f32,
    /// Points on the shield; `None` with none fitted.
    pub shield_resist: Option<Resists>,
    /// Points on the armor.
    pub armor_resist: Resists,
    /// Microseconds of a lock on a ship of the same size.
    pub lock: u32,
    /// Microseconds of the wait before a hop.
    pub window: u32,
    /// Microseconds of a hop.
    pub hop: u32,
    /// Power grid taken, and there is.
    pub grid: (f32, f32),
}

/// Points of resist against each type.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct Resists {
    /// Against Plasma.
    pub plasma: f32,
    /// Against Impact.
    pub impact: f32,
    /// Against Phase.
    pub phase: f32,
}

/// The longest name of a pilot, in characters.
pub const MAX_NAME: usize = 20;

/// Why a name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NameError {
    /// Empty, or too long.
    #[error("A pilot's name has 1 to {MAX_NAME} characters.")]
    Length,
    /// Something that is neither letter, digit, `-` nor `_`.
    #[error("A pilot's name is made of letters, digits, - and _.")]
    Characters,
}

/// Whether a pilot may be called that.
///
/// # Errors
/// With what is wrong with it.
pub fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() || name.chars().count() > MAX_NAME {
        return Err(NameError::Length);
    }
    // ASCII only, so that no two names look alike.
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
        Ok(())
    } else {
        Err(NameError::Characters)
    }
}

impl Hello {
    /// A greeting in this version.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { version: PROTOCOL_VERSION, name: name.to_owned() }
    }
}
