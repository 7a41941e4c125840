//! What pilots may order.

use bevy_ecs::prelude::*;
use keel_balance::Faction;
use keel_map::{Hex, MapKey};
use keel_rules::powers::Power;
use keel_rules::{ClassId, Kind, Line, Slot};

use crate::ids::{CharterId, ModuleId, PilotId, ShipId, WormholeId, WreckId};
use crate::minds::Stance;
use crate::structures::StructureKind;

/// An order of a pilot's. Powers and [`Op::Gather`] are for the active ship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Go to a sector by the shortest way.
    Move {
        /// The ship.
        ship: ShipId,
        /// Where to.
        to: Hex,
    },
    /// Stop: in the window before a hop or in transit at once, later after the hop that runs.
    Cancel {
        /// The ship.
        ship: ShipId,
    },
    /// Lock and fire, with the pilot's other ships in the sector.
    Attack {
        /// The ship.
        ship: ShipId,
        /// At which ship.
        target: ShipId,
    },
    /// Lock and fire alone.
    Focus {
        /// The ship.
        ship: ShipId,
        /// At which ship.
        target: ShipId,
    },
    /// Drop the lock and hold fire.
    Hold {
        /// The ship.
        ship: ShipId,
    },
    /// Use a power of the active ship.
    Power(Power),
    /// Travel a layer up or down, from a Haven, with the escorts that follow.
    Travel {
        /// The ship.
        ship: ShipId,
        /// Which way.
        way: Way,
    },
    /// Jump to the layer's centre, with the escorts that follow.
    Rescue {
        /// The ship.
        ship: ShipId,
    },
    /// Jump through a wormhole of which an end is in the ship's sector, with the escorts that follow.
    Jump {
        /// The ship.
        ship: ShipId,
        /// Which.
        wormhole: WormholeId,
    },
    /// Take what is in a wreck of the ship's sector.
    Take {
        /// The ship.
        ship: ShipId,
        /// Which.
        wreck: WreckId,
    },
    /// Dock at the Haven or berth of the sector.
    Dock {
        /// The ship.
        ship: ShipId,
    },
    /// Leave the dock.
    Undock {
        /// The ship.
        ship: ShipId,
    },
    /// Fly that ship; the others are its escorts.
    Activate {
        /// The ship.
        ship: ShipId,
    },
    /// What an escort does by itself.
    Stance {
        /// The ship.
        ship: ShipId,
        /// How it stands.
        stance: Stance,
    },
    /// Whom an escort protects.
    Protect {
        /// The ship.
        ship: ShipId,
        /// The other ship of the pilot's; `None` for the active one.
        protectee: Option<ShipId>,
    },
    /// When an escort uses its powers.
    Triggers {
        /// The ship.
        ship: ShipId,
        /// It Braces under so many percent of its hull, 0 to 100.
        brace_percent: u8,
        /// Whether it Jams a locked target that Clamps or Braces.
        jam: bool,
    },
    /// Whether an escort goes where the active ship goes.
    Follow {
        /// The ship.
        ship: ShipId,
        /// Whether it does.
        follows: bool,
    },
    /// All escorts of the map come to the active ship.
    Gather,
    /// Whether Aggressive escorts fire on a pilot's ships on sight.
    Kos {
        /// Whose.
        pilot: PilotId,
        /// Whether they do.
        marked: bool,
    },
    /// Challenge a pilot to a duel.
    AskDuel(PilotId),
    /// Accept a pilot's challenge.
    AcceptDuel(PilotId),
    /// End a duel with a pilot, or take back or decline a challenge.
    EndDuel(PilotId),
    /// Found a charter.
    Found {
        /// What it is called.
        name: String,
    },
    /// Invite a pilot into the charter.
    Invite(PilotId),
    /// Join a charter that has invited the pilot.
    Join(CharterId),
    /// Leave the charter.
    Leave,
    /// Declare a charter hostile, or no longer.
    Hostile {
        /// Which.
        charter: CharterId,
        /// Whether it is.
        hostile: bool,
    },
    /// Build a structure of the charter's in the ship's sector.
    Build {
        /// The ship.
        ship: ShipId,
        /// What.
        kind: StructureKind,
    },
    /// Harvest the belt or the gas cloud of the ship's sector.
    Harvest {
        /// The ship.
        ship: ShipId,
    },
    /// Put something into a slot of a docked ship, or empty it. What was in it goes into the hold.
    Fit {
        /// The ship.
        ship: ShipId,
        /// Where.
        slot: Slot,
        /// What.
        part: Part,
    },
    /// Repair a module of a ship docked at a Haven.
    Repair {
        /// The ship.
        ship: ShipId,
        /// Which.
        slot: Slot,
    },
    /// Take a hull from the yard of the Haven where the active ship is docked.
    Commission {
        /// Its class.
        class: ClassId,
        /// Its line.
        line: Line,
    },
    /// Give a docked ship up. What is fitted to it goes into the hold.
    Scrap {
        /// The ship.
        ship: ShipId,
    },
    /// Throw a module of the hold away.
    Drop(ModuleId),
    /// Every escort flies to the centre of the map that it is on, and waits there.
    Retreat,
    /// Have something happen: where the world takes an operator's ops.
    Force(Force),
}

/// What an operator has happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// A storm lands on a map, at once.
    Storm(MapKey),
    /// An incursion comes to a map, at once: around the active ship's sector if it is there, else anywhere.
    Incursion(MapKey),
    /// A wormhole opens in the active ship's sector and leads to a map.
    Wormhole(MapKey),
    /// A squad of the map's NPCs comes into a sector. When it is lost it does not come back.
    Squad(MapKey, Hex),
}

/// Whether the world takes [`Op::Force`], from anyone: for checks on a closed network.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorOps(pub bool);

/// A way between layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the next higher number.
    Up,
    /// To the next lower number.
    Down,
}

/// What goes into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A module of the hold.
    Hold(ModuleId),
    /// A new Common module of the yard's.
    Yard(Kind, Faction),
    /// Nothing.
    Empty,
}
