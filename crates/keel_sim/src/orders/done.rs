//! What accepted ops do.

use std::fmt;

use keel_rules::powers::Power;
use keel_rules::{Micros, Module, Moment};

use super::Force;
use crate::ids::{CharterId, ModuleId, ShipId};
use crate::structures::StructureKind;

/// What an op that was accepted does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The ship is under way.
    Course {
        /// In how many hops.
        hops: u16,
        /// Until it is there.
        takes: Micros,
        /// When it is there.
        arrives: Moment,
    },
    /// The ship stays where it is.
    Stopped,
    /// The hop that runs can no longer be cancelled; the ship stops after it.
    Stopping,
    /// The transit is cancelled.
    Unjumped {
        /// Until the next one may begin.
        cooldown: Micros,
    },
    /// The lock runs.
    Locking {
        /// For how long.
        takes: Micros,
    },
    /// The target is locked, or the lock runs, already: nothing changed.
    AlreadyLocked,
    /// The guns are silent.
    Held,
    /// The power is used.
    Used(Power),
    /// The transit runs.
    Transit {
        /// For how long.
        takes: Micros,
        /// Ships that go.
        ships: u8,
    },
    /// The ship docks.
    Docking,
    /// The ship is in space.
    Undocked,
    /// It is so from now on.
    Set,
    /// Escorts are under way to the active ship.
    Gathering {
        /// How many.
        ships: u8,
    },
    /// The challenge stands.
    DuelAsked,
    /// The duel is on.
    DuelOn,
    /// The duel, or the challenge, is over.
    DuelOver,
    /// The charter is founded.
    Founded(CharterId),
    /// The pilot is invited.
    Invited,
    /// The pilot is in the charter.
    Joined(CharterId),
    /// The pilot has left the charter.
    Left,
    /// The structure stands.
    Built(StructureKind),
    /// The ship harvests.
    Harvesting {
        /// For how long.
        takes: Micros,
    },
    /// The slot holds what was asked for.
    Fitted {
        /// Where what was in it is in the hold now.
        kept: Option<ModuleId>,
    },
    /// The module is whole.
    Repaired(Module),
    /// The ship is docked and bare.
    Commissioned(ShipId),
    /// The ship is no more.
    Scrapped,
    /// The module is no more.
    Dropped,
    /// Escorts are under way to the centre.
    Retreating {
        /// How many.
        ships: u8,
    },
    /// What an operator wanted has happened.
    Forced(Force),
    /// What was in the wreck is the pilot's.
    Taken {
        /// Modules in the hold.
        modules: u16,
        /// Modules that the hold had no room for: they are still there.
        left: u16,
        /// Pieces of material.
        material: u32,
        /// Remnants.
        remnants: u32,
        /// Copies of blueprints.
        copies: u16,
    },
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Course { hops: 1, takes, .. } => write!(f, "Under way. 1 hop, {takes:.2} s."),
            Self::Course { hops, takes, .. } => write!(f, "Under way. {hops} hops, {takes:.2} s."),
            Self::Stopped => f.write_str("Stopped."),
            Self::Stopping => f.write_str("Stopping after this hop."),
            Self::Unjumped { cooldown } => write!(f, "Cancelled. The next jump can begin in {cooldown:.0} s."),
            Self::Locking { takes } => write!(f, "Locking. {takes:.2} s."),
            Self::AlreadyLocked => f.write_str("That ship is your target already."),
            Self::Held => f.write_str("Holding fire."),
            Self::Used(power) => write!(f, "{power:?}."),
            Self::Transit { takes, ships: 1 } => write!(f, "In transit for {takes:.0} s."),
            Self::Transit { takes, ships } => write!(f, "In transit for {takes:.0} s, {ships} ships."),
            Self::Docking => f.write_str("Docking."),
            Self::Undocked => f.write_str("Undocked."),
            Self::Set => f.write_str("Done."),
            Self::Gathering { ships: 1 } => f.write_str("1 escort is coming."),
            Self::Gathering { ships } => write!(f, "{ships} escorts are coming."),
            Self::DuelAsked => f.write_str("Challenged."),
            Self::DuelOn => f.write_str("The duel is on."),
            Self::DuelOver => f.write_str("That is over."),
            Self::Founded(charter) => write!(f, "Charter {charter} is founded."),
            Self::Invited => f.write_str("Invited."),
            Self::Joined(charter) => write!(f, "You are in charter {charter}."),
            Self::Left => f.write_str("You have left the charter."),
            Self::Built(kind) => write!(f, "The charter's {} stands.", kind.word()),
            Self::Harvesting { takes } => write!(f, "Harvesting for {takes:.0} s."),
            Self::Fitted { kept: None } => f.write_str("Fitted."),
            Self::Fitted { kept: Some(module) } => write!(f, "Fitted. What was there is module {module} of your hold."),
            Self::Repaired(module) => write!(f, "{module} repaired. Its quality is {}.", module.quality),
            Self::Commissioned(ship) => write!(f, "Ship {ship} is yours, docked and bare."),
            Self::Scrapped => f.write_str("Scrapped."),
            Self::Dropped => f.write_str("Thrown away."),
            Self::Retreating { ships: 1 } => f.write_str("1 escort flies to the centre."),
            Self::Retreating { ships } => write!(f, "{ships} escorts fly to the centre."),
            Self::Forced(Force::Storm(map)) => write!(f, "A storm lands on {}.", map.title()),
            Self::Forced(Force::Incursion(map)) => write!(f, "An incursion comes to {}.", map.title()),
            Self::Forced(Force::Wormhole(map)) => write!(f, "A wormhole leads from here to {}.", map.title()),
            Self::Forced(Force::Squad(map, hex)) => write!(f, "A squad is on {} at {hex}.", map.title()),
            Self::Taken { modules, left, material, remnants, copies } => {
                let counts = [
                    (u32::from(*modules), "module", "modules"),
                    (*material, "material", "material"),
                    (*remnants, "Remnant", "Remnants"),
                    (u32::from(*copies), "blueprint copy", "blueprint copies"),
                ];
                let some = counts.into_iter().filter(|(count, ..)| *count > 0);
                let parts: Vec<String> =
                    some.map(|(count, one, more)| format!("{count} {}", if count == 1 { one } else { more })).collect();
                write!(f, "Taken: {}.", parts.join(", "))?;
                if *left > 0 {
                    write!(f, " Your hold has no room for {left} more.")?;
                }
                Ok(())
            }
        }
    }
}
