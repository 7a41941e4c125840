//! The lines of a pilot's log.

use bevy_ecs::prelude::*;
use keel_balance::Balance;
use keel_map::Hex;
use keel_rules::Micros;

use crate::ids::PilotId;
use crate::record::Shot;
use crate::world::Contact;

/// A line for one pilot. It is put into words only when someone reads it.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Noted {
    /// Whose log.
    pub pilot: PilotId,
    /// What.
    pub note: Note,
}

/// What a log tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// A lock of the pilot's runs.
    Locking {
        /// For how long.
        takes: Micros,
    },
    /// A ship locks one of the pilot's.
    LockedBy {
        /// Which.
        contact: Contact,
    },
    /// A shot of the pilot's.
    Fired(Shot),
    /// A shot at a ship of the pilot's.
    Taken(Shot),
    /// A ship's hull is full again.
    HullRefilled,
    /// A ship's course has ended.
    Arrived {
        /// Where.
        at: Hex,
    },
    /// A ship that the pilot had locked is destroyed.
    TargetDestroyed {
        /// Which.
        contact: Contact,
    },
    /// A ship of the pilot's is destroyed.
    ShipDestroyed,
    /// A ship of the pilot's was brought to the centre with a hull of 1.
    Towed,
    /// The pilot flies a new ship.
    NewShip,
}

impl Note {
    /// The line.
    #[must_use]
    pub fn text(&self, balance: &Balance) -> String {
        match self {
            Self::Locking { takes } => format!("Locking. {takes:.2} s."),
            Self::LockedBy { contact } => format!("{} is locking you.", contact.name(balance)),
            Self::Fired(shot) if shot.outcome.is_miss() => "Shot missed.".to_owned(),
            Self::Fired(shot) => format!("Hit {}. {}", shot.target.name(balance), numbers(shot)),
            Self::Taken(shot) if shot.outcome.is_miss() => format!("{} missed you.", shot.shooter.name(balance)),
            Self::Taken(shot) => format!("{} hit you. {}", shot.shooter.name(balance), numbers(shot)),
            Self::HullRefilled => "Fight hull refilled out of combat.".to_owned(),
            Self::Arrived { at } => format!("Arrived at {at}."),
            Self::TargetDestroyed { contact } => format!("{} destroyed.", contact.name(balance)),
            Self::ShipDestroyed => "Your ship is destroyed.".to_owned(),
            Self::Towed => "Your hull gave out. The ship was towed to the centre.".to_owned(),
            Self::NewShip => "A new ship is yours. It cannot be locked yet.".to_owned(),
        }
    }
}

fn numbers(shot: &Shot) -> String {
    let Shot { raw, dealt, .. } = shot;
    format!("{raw:.1} raw, {:.1} to shield, {:.1} to hull.", dealt.shield, dealt.hull)
}
