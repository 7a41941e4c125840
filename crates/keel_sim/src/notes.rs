//! The lines of a pilot's log.

use bevy_ecs::prelude::*;
use keel_balance::Faction;
use keel_map::{Hex, MapKey, MapKind, Shape};
use keel_rules::pay::{Salt, is_training};
use keel_rules::{Blueprint, Micros, Site};

use crate::bonds::Bonds;
use crate::ids::{CharterId, PilotId, ShipId};
use crate::orders::Way;
use crate::shot::Shot;
use crate::structures::StructureKind;
use crate::world::{Contact, Pilot, PilotIndex, Ship, Tuning};
use crate::wormholes::Code;

/// A line for one pilot. It is put into words only when someone reads it.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Noted {
    /// Whose log.
    pub pilot: PilotId,
    /// The ship of theirs that it tells of; 0 for none.
    pub ship: ShipId,
    /// What.
    pub note: Note,
}

impl Noted {
    /// A line about a ship, for the pilot whose it is; an NPC has no log.
    #[must_use]
    pub fn ship(ship: &Ship, note: Note) -> Option<Self> {
        ship.pilot().map(|pilot| Self { pilot, ship: ship.id, note })
    }

    /// The line, with what pilots and charters of that world are called.
    #[must_use]
    pub fn text(&self, world: &World) -> String {
        self.note.text(world, self.pilot)
    }

    /// A line about no ship.
    #[must_use]
    pub const fn pilot(pilot: PilotId, note: Note) -> Self {
        Self { pilot, ship: ShipId(0), note }
    }
}

/// What is harvested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    /// Of a belt.
    Ore,
    /// Of a gas cloud.
    Gas,
}

/// What a log tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Note {
    /// A lock of the ship's runs.
    Locking {
        /// For how long.
        takes: Micros,
    },
    /// A ship locks this one.
    LockedBy {
        /// Which.
        contact: Contact,
    },
    /// A shot of the ship's.
    Fired(Shot),
    /// A shot at the ship.
    Taken(Shot),
    /// The ship's hull is full again.
    HullRefilled,
    /// The ship's course has ended.
    Arrived {
        /// Where.
        at: Hex,
    },
    /// A ship that this one had locked is destroyed.
    TargetDestroyed {
        /// Which.
        contact: Contact,
    },
    /// The ship is destroyed.
    ShipDestroyed,
    /// The ship was brought to the centre with a hull of 1.
    Towed,
    /// The pilot flies a new ship.
    NewShip,
    /// The ship has Braced.
    Braced {
        /// Hull that it restored.
        hull: f32,
        /// Points on every resist.
        resist: f32,
        /// For how long.
        lasts: Micros,
    },
    /// The ship's Jam silences its target.
    Jammed {
        /// For how long.
        lasts: Micros,
    },
    /// Another's Jam silences the ship.
    JammedBy {
        /// Whose.
        contact: Contact,
        /// For how long.
        lasts: Micros,
    },
    /// The ship's Clamp is on its target.
    Clamping {
        /// Which.
        contact: Contact,
    },
    /// Another's Clamp is on the ship.
    ClampedBy {
        /// Whose.
        contact: Contact,
    },
    /// A Clamp holds the ship, which wanted to leave.
    Clamped,
    /// The ship broke free.
    Unclamped {
        /// For how long no Clamp catches it.
        immune: Micros,
    },
    /// The ship is hidden.
    Cloaked,
    /// The ship is no longer hidden.
    Uncloaked,
    /// The ship mended another.
    Mended {
        /// Which.
        contact: Contact,
        /// By how much hull.
        hull: f32,
    },
    /// The ship is on its way to another layer.
    Travelling {
        /// Up or down.
        way: Way,
        /// Which.
        layer: u8,
        /// For how long.
        takes: Micros,
    },
    /// The ship is on its way through a wormhole.
    Jumping {
        /// Which.
        code: Code,
        /// Where to.
        to: MapKey,
        /// For how long.
        takes: Micros,
    },
    /// The ship is on another map.
    Landed {
        /// Which.
        map: MapKey,
    },
    /// The pilot has found an end of a wormhole.
    WormholeFound {
        /// Which.
        code: Code,
        /// Where.
        at: Hex,
        /// Where it leads.
        to: MapKey,
    },
    /// The ship's rescue jump runs.
    Rescuing {
        /// For how long.
        takes: Micros,
    },
    /// The ship is at the centre.
    Rescued {
        /// How long it cannot be locked and does not fire.
        flag: Micros,
    },
    /// The ship is docked, whole and full.
    Docked,
    /// The pilot flies another ship of theirs.
    Active,
    /// A pilot challenges this one.
    DuelAsked {
        /// Who.
        by: PilotId,
        /// How long that stands.
        stands: Micros,
    },
    /// An incursion is announced.
    IncursionComing {
        /// On which map.
        map: MapKey,
        /// Around which sector.
        at: Hex,
        /// Who comes.
        faction: Faction,
        /// How long until the first wave.
        after: Micros,
    },
    /// A wave of an incursion comes.
    IncursionWave {
        /// On which map.
        map: MapKey,
        /// Which, from 1.
        wave: u8,
        /// Of how many.
        of: u8,
    },
    /// An incursion was not cleared in time.
    IncursionOver {
        /// On which map.
        map: MapKey,
    },
    /// An incursion is cleared.
    IncursionCleared {
        /// On which map.
        map: MapKey,
    },
    /// The pilot is paid for a clear.
    ClearPaid {
        /// On which map.
        map: MapKey,
        /// With so much.
        salt: Salt,
    },
    /// The pilot has won a copy of a blueprint.
    CopyWon {
        /// Of which.
        of: Blueprint,
    },
    /// The pilot has won a blueprint's original.
    OriginalWon {
        /// Of which.
        of: Blueprint,
    },
    /// Someone locks a structure of the pilot's charter.
    StructureLocked {
        /// Who.
        by: Contact,
        /// What it is.
        kind: StructureKind,
        /// On which map.
        map: MapKey,
        /// Where.
        at: Hex,
    },
    /// A structure of the pilot's charter is destroyed.
    StructureLost {
        /// What it was.
        kind: StructureKind,
        /// On which map.
        map: MapKey,
        /// Where.
        at: Hex,
    },
    /// The ship was to dock, and could not.
    NotDocked,
    /// The berth at which the ship was docked is no more.
    CastOff,
    /// The ship has harvested.
    Harvested {
        /// So much.
        amount: u32,
        /// Of what.
        good: Good,
    },
    /// The ship has left the sector that it harvested.
    HarvestLeft,
    /// A storm has taken what the ship harvested.
    HarvestLost,
    /// A fair kill was paid.
    KillPaid {
        /// With so much.
        salt: Salt,
    },
    /// The pilot's chart of a map is full, and paid.
    Charted {
        /// Of which map.
        map: MapKey,
        /// With so much.
        notches: u8,
    },
    /// A storm builds over a map.
    StormBuilding {
        /// Which map.
        map: MapKey,
        /// Which of the storms' names it has.
        name: u8,
    },
    /// A storm has passed over a map.
    StormPassed {
        /// Which map.
        map: MapKey,
        /// What it has left.
        shape: Shape,
    },
    /// A storm has taken the sector that the ship was in.
    StormMoved {
        /// Where it is now.
        at: Hex,
    },
    /// A storm has taken what the ship's course led through.
    CourseLost,
    /// A duel is on.
    DuelOn {
        /// With whom.
        with: PilotId,
        /// For how long.
        lasts: Micros,
    },
    /// A challenge was not accepted.
    DuelUnanswered {
        /// By whom.
        by: PilotId,
    },
    /// A duel is over.
    DuelOver {
        /// With whom.
        with: PilotId,
    },
    /// A charter invites the pilot.
    Invited {
        /// Which.
        charter: CharterId,
        /// How long that stands.
        stands: Micros,
    },
    /// A pilot has joined the charter.
    MemberJoined {
        /// Who.
        pilot: PilotId,
    },
    /// A pilot has left the charter.
    MemberLeft {
        /// Who.
        pilot: PilotId,
    },
    /// The pilot is the charter's head now.
    Head,
    /// Two charters are hostile, or no longer.
    Hostile {
        /// The other one.
        charter: CharterId,
        /// Whether they are.
        hostile: bool,
    },
}

impl Note {
    /// Whether it tells of something that changes what the pilot owns, has charted or has found.
    #[must_use]
    pub const fn is_news(&self) -> bool {
        matches!(
            self,
            Self::WormholeFound { .. }
                | Self::Landed { .. }
                | Self::Charted { .. }
                | Self::Harvested { .. }
                | Self::KillPaid { .. }
                | Self::ClearPaid { .. }
                | Self::CopyWon { .. }
                | Self::OriginalWon { .. }
                | Self::TargetDestroyed { .. }
                | Self::StormPassed { .. }
        )
    }

    fn text(&self, world: &World, reader: PilotId) -> String {
        let balance = &world.resource::<Tuning>().balance;
        let pilot = |id: &PilotId| {
            let known = world.resource::<PilotIndex>().get(*id).and_then(|pilot| world.get::<Pilot>(pilot));
            known.map_or_else(|| format!("pilot {id}"), |pilot| pilot.name.clone())
        };
        // A pilot's ship goes by their name, which tells it from an NPC of the same make.
        let name = |contact: &Contact| match contact.pilot() {
            Some(id) if id == reader => format!("your {} {}", contact.class.name(balance), contact.id),
            Some(id) => format!("{}'s {} {}", pilot(&id), contact.class.name(balance), contact.id),
            None => contact.name(balance),
        };
        let charter = |id: &CharterId| {
            let known = world.resource::<Bonds>().charter(*id);
            known.map_or_else(|| format!("charter {id}"), |charter| format!("charter {id}, {},", charter.name))
        };
        match self {
            Self::Locking { takes } => format!("Locking. {takes:.2} s."),
            Self::LockedBy { contact } => format!("{} is locking you.", name(contact)),
            Self::Fired(shot) if shot.outcome.is_miss() => "Shot missed.".to_owned(),
            Self::Fired(shot) => format!("Hit {}. {}", name(&shot.target), numbers(shot)),
            Self::Taken(shot) if shot.outcome.is_miss() => format!("{} missed you.", name(&shot.shooter)),
            Self::Taken(shot) => format!("{} hit you. {}", name(&shot.shooter), numbers(shot)),
            Self::HullRefilled => "Fight hull refilled out of combat.".to_owned(),
            Self::Arrived { at } => format!("Arrived at {at}."),
            Self::TargetDestroyed { contact } => format!("{} destroyed.", name(contact)),
            Self::ShipDestroyed => "Your ship is destroyed.".to_owned(),
            Self::Towed => "Your hull gave out. The ship was towed to the centre.".to_owned(),
            Self::NewShip => "A new ship is yours. It cannot be locked yet.".to_owned(),
            Self::Braced { hull, resist, lasts } => {
                format!("Brace. {hull:.0} hull restored, every resist up {resist:.0} points for {lasts:.1} s.")
            }
            Self::Jammed { lasts } => {
                format!("Jam. Target silenced {lasts:.1} s. Its Clamp, Brace, Sensor, and shield regen stop.")
            }
            Self::JammedBy { contact, lasts } => format!("{} jams you for {lasts:.1} s.", name(contact)),
            Self::Clamping { contact } => format!("Clamp. {} is held.", name(contact)),
            Self::ClampedBy { contact } => format!("{} clamps you.", name(contact)),
            Self::Clamped => "Clamped. Press Unclamp or Jam it.".to_owned(),
            Self::Unclamped { immune } => {
                format!("Unclamped. {immune:.1} s before a Clamp can catch this ship again.")
            }
            Self::Cloaked => "Cloaked.".to_owned(),
            Self::Uncloaked => "The cloak is down.".to_owned(),
            Self::Mended { contact, hull } => format!("Mended {} by {hull:.0} hull.", name(contact)),
            Self::Travelling { way, layer, takes } => {
                let way = match way {
                    Way::Up => "up",
                    Way::Down => "down",
                };
                format!("Travel {way} to Layer {layer}. {takes:.0} s. You cannot lock or fire.")
            }
            Self::Jumping { code, to, takes } => {
                format!("Wormhole {code} to {}. {takes:.0} s. You cannot lock or fire.", to.title())
            }
            Self::Landed { map } => format!("Arrived on {}. Transit flag ended.", map.title()),
            Self::WormholeFound { code, at, to } => {
                format!("Wormhole {code} found at {at}. It leads to {}.", to.title())
            }
            Self::Rescuing { takes } => format!("Rescue jump. {takes:.0} s. You cannot lock or fire."),
            Self::Rescued { flag } => {
                format!("Rescued. For {flag:.0} s this ship cannot be locked and its guns stay quiet.")
            }
            Self::Docked => "Docked. Hull, shield and battery are full.".to_owned(),
            Self::Active => "You fly this ship.".to_owned(),
            Self::IncursionComing { map, at, faction, after } => {
                let title = map.title();
                let is_training = map.kind == MapKind::Layer && is_training(balance, Site::Layer(map.tier));
                let pays = if is_training { " It is for training, and pays nothing." } else { "" };
                if *after == Micros::ZERO {
                    format!("A {faction:?} incursion is on {title}, around {at}.{pays}")
                } else {
                    format!("A {faction:?} incursion is coming to {title}, around {at}, in {after:.0} s.{pays}")
                }
            }
            Self::IncursionWave { map, wave, of } => {
                format!("The incursion on {} lands wave {wave} of {of}.", map.title())
            }
            Self::IncursionOver { map } => format!("The incursion on {} was not cleared in time.", map.title()),
            Self::IncursionCleared { map } => format!("The incursion on {} is cleared.", map.title()),
            Self::ClearPaid { map, salt } => format!("Your share in clearing {}: {salt}.", map.title()),
            Self::CopyWon { of } => format!("You did the most. A copy of the {} blueprint is yours.", of.name(balance)),
            Self::OriginalWon { of } => format!("The original of the {} blueprint is yours.", of.name(balance)),
            Self::StructureLocked { by, kind, map, at } => {
                format!("{} is locking your charter's {} at {at} on {}.", name(by), kind.word(), map.title())
            }
            Self::StructureLost { kind, map, at } => {
                format!("Your charter's {} at {at} on {} is destroyed.", kind.word(), map.title())
            }
            Self::NotDocked => "The ship could not dock.".to_owned(),
            Self::CastOff => "The dock is gone. The ship is in space.".to_owned(),
            Self::Harvested { amount, good: Good::Ore } => format!("Harvested {amount} ore."),
            Self::Harvested { amount, good: Good::Gas } => format!("Harvested {amount} gas."),
            Self::HarvestLeft => "The ship has left its harvest.".to_owned(),
            Self::HarvestLost => "The storm has taken what there was to harvest.".to_owned(),
            Self::KillPaid { salt } => format!("A fair kill. {salt} paid."),
            Self::Charted { map, notches } => {
                let notches = if *notches == 1 { "1 Notch".to_owned() } else { format!("{notches} Notches") };
                format!("{} is charted. {notches} paid.", map.title())
            }
            Self::StormBuilding { map, name } => {
                let name = balance.storms.names.get(usize::from(*name)).map_or("A storm", String::as_str);
                let kind = match map.kind {
                    MapKind::Layer => "layer",
                    MapKind::Rift => "Rift",
                };
                let minutes = match balance.storms.warn_min {
                    1 => "1 minute".to_owned(),
                    minutes => format!("{minutes} minutes"),
                };
                format!("{name} is building on {}. The {kind} will reshape in {minutes}.", map.title())
            }
            Self::StormPassed { map, shape } => {
                format!("The storm has passed. {} has settled into {shape}.", map.title())
            }
            Self::StormMoved { at } => format!("The storm has moved the ship to {at}."),
            Self::CourseLost => "The storm has taken the way. The ship has stopped.".to_owned(),
            Self::DuelAsked { by, stands } => {
                format!("{} challenges you to a duel. The challenge stands {stands:.0} s.", pilot(by))
            }
            Self::DuelOn { with, lasts } => format!("Your duel with {} is on, for {lasts:.0} s.", pilot(with)),
            Self::DuelUnanswered { by } => format!("{} has not accepted your duel.", pilot(by)),
            Self::DuelOver { with } => format!("Your duel with {} is over.", pilot(with)),
            Self::Invited { charter: id, stands } => {
                format!("Invited into {} which stands {stands:.0} s.", charter(id))
            }
            Self::MemberJoined { pilot: id } => format!("{} has joined your charter.", pilot(id)),
            Self::MemberLeft { pilot: id } => format!("{} has left your charter.", pilot(id)),
            Self::Head => "You are the head of your charter.".to_owned(),
            Self::Hostile { charter: id, hostile: true } => format!("Hostile now: {} and yours.", charter(id)),
            Self::Hostile { charter: id, hostile: false } => format!("Hostile no more: {} and yours.", charter(id)),
        }
    }
}

fn numbers(shot: &Shot) -> String {
    let Shot { raw, dealt, .. } = shot;
    format!("{raw:.1} raw, {:.1} to shield, {:.1} to hull.", dealt.shield, dealt.hull)
}
