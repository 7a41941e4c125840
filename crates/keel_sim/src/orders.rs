//! What pilots may order, and the answers.

use std::fmt;

use bevy_ecs::prelude::*;
use keel_balance::Faction;
use keel_map::{Hex, MapKey};
use keel_rules::fire::Forbidden;
use keel_rules::fit::FitError;
use keel_rules::module::Unrepairable;
use keel_rules::powers::{Power, Unusable};
use keel_rules::{ClassId, Kind, Line, Micros, Module, Moment, Slot};
use thiserror::Error;

use crate::ids::{CharterId, ModuleId, PilotId, ShipId, WormholeId, WreckId};
use crate::minds::{Act, Stance};
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

/// A pilot's op, with the number by which the pilot knows its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Who orders.
    pub pilot: PilotId,
    /// The pilot's own number for it.
    pub seq: u32,
    /// What.
    pub op: Op,
}

/// The way in for all that comes from outside a step. What is pushed here is applied in the next step, exactly once,
/// however often or seldom a step runs.
#[derive(Resource, Debug, Default)]
pub struct Orders {
    pub(crate) joins: Vec<(PilotId, String)>,
    pub(crate) leaves: Vec<PilotId>,
    pub(crate) pilots: Vec<Order>,
    /// What minds decided in the last step.
    pub(crate) minds: Vec<(ShipId, Act)>,
}

impl Orders {
    /// A pilot is here. One who is new gets a ship; one who is known finds theirs as it is.
    pub fn join(&mut self, pilot: PilotId, name: impl Into<String>) {
        self.leaves.retain(|&leaves| leaves != pilot);
        self.joins.push((pilot, name.into()));
    }

    /// A pilot has gone. Their ships at a Haven or berth dock; the others stay in space.
    pub fn leave(&mut self, pilot: PilotId) {
        self.joins.retain(|&(joins, _)| joins != pilot);
        self.leaves.push(pilot);
    }

    /// A pilot orders something.
    pub fn push(&mut self, order: Order) {
        self.pilots.push(order);
    }
}

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

/// Why an op was refused. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Refusal {
    /// The pilot is not in the world.
    #[error("You are not in this world.")]
    UnknownPilot,
    /// The ship is not in the world.
    #[error("You have no such ship.")]
    UnknownShip,
    /// The ship is another's.
    #[error("That is not your ship.")]
    NotYours,
    /// The pilot has no ship to fly.
    #[error("You have no ship.")]
    NoShip,
    /// The target is not in the world, or nowhere that the pilot can see.
    #[error("There is no such target.")]
    UnknownTarget,
    /// A lock needs the target in the same sector.
    #[error("That ship is not in your sector.")]
    OtherSector,
    /// The target's arrival flag stands.
    #[error("That ship just jumped in. It cannot be locked yet.")]
    TargetArriving,
    /// The ship's own flag stands, and does not end early.
    #[error("This ship just jumped in. Its guns stay quiet.")]
    Arriving,
    /// The ship's own flag stands: a rescue jump would begin another.
    #[error("This ship just jumped in. It cannot jump to the centre again yet.")]
    Rescued,
    /// A lock needs a weapon.
    #[error("This ship has no weapon fitted.")]
    NoWeapon,
    /// The rules of who may fire on whom.
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    /// The map has no such sector.
    #[error("There is no such sector.")]
    UnknownSector,
    /// No way leads there.
    #[error("No way leads there.")]
    NoWay,
    /// The ship is there.
    #[error("The ship is there already.")]
    AlreadyThere,
    /// The ship is not under way.
    #[error("There is nothing to cancel.")]
    NothingToCancel,
    /// The last hop runs.
    #[error("This hop can no longer be cancelled.")]
    TooLate,
    /// The hop that runs has to end first.
    #[error("This ship is in mid-hop.")]
    MidHop,
    /// The ship is in transit.
    #[error("This ship is in transit. It cannot lock, fire, move or dock.")]
    InTransit,
    /// The ship is docked.
    #[error("This ship is docked. Undock first.")]
    Docked,
    /// The ship is docked, which is what was asked for.
    #[error("This ship is docked already.")]
    AlreadyDocked,
    /// The ship is not docked, and has to be.
    #[error("This ship is not docked.")]
    NotDocked,
    /// There is neither a Haven nor a berth of the pilot's charter.
    #[error("There is no Haven and no berth of your charter in this sector.")]
    NoPort,
    /// The pilot has found no such end in the ship's sector.
    #[error("You know of no such wormhole in this sector.")]
    NoWormhole,
    /// The op is for operators.
    #[error("This server takes no operator's orders from pilots.")]
    NotOperator,
    /// There is no such map.
    #[error("There is no such map.")]
    NoSuchMap,
    /// A wormhole leads away.
    #[error("A wormhole leads to another map.")]
    SameMap,
    /// A map has one incursion at a time.
    #[error("There is an incursion on that map already.")]
    IncursionOn,
    /// There is no such wreck in the ship's sector.
    #[error("There is no such wreck in this sector.")]
    NoWreck,
    /// A Rift has none.
    #[error("A Rift has no Haven. Leave through a wormhole.")]
    NoHavenInRift,
    /// Only a Haven does that.
    #[error("There is no Haven here.")]
    NoHaven,
    /// A Clamp holds the ship.
    #[error("Clamped. Press Unclamp or Jam it.")]
    Clamped,
    /// A power is not used.
    #[error("{0}")]
    Unusable(#[from] Unusable),
    /// There is no layer that way.
    #[error("There is no layer beyond this one.")]
    LastLayer,
    /// A jump was cancelled a short while ago.
    #[error("A jump was cancelled. The next one can begin in {0:.1} s.")]
    JumpCooling(Micros),
    /// A ship does not protect itself.
    #[error("A ship does not protect itself.")]
    Itself,
    /// More than all.
    #[error("That is no share of a hull: 0 to 100 percent.")]
    NoShare,
    /// The other pilot is not known.
    #[error("There is no such pilot.")]
    NoSuchPilot,
    /// The other pilot is the pilot.
    #[error("That is you.")]
    Yourself,
    /// The other pilot is not connected.
    #[error("That pilot is not here.")]
    Absent,
    /// The challenge stands already.
    #[error("You have challenged that pilot already.")]
    AlreadyAsked,
    /// The duel runs already.
    #[error("You are in a duel with that pilot already.")]
    AlreadyDuelling,
    /// No challenge stands.
    #[error("That pilot has not challenged you.")]
    NotAsked,
    /// Neither a duel nor a challenge.
    #[error("There is no duel with that pilot.")]
    NoDuel,
    /// The pilot is in a charter.
    #[error("You are in a charter already.")]
    InCharter,
    /// The pilot is in no charter.
    #[error("You are in no charter.")]
    NoCharter,
    /// Only the head may.
    #[error("Only your charter's head does that.")]
    NotHead,
    /// There is no such charter.
    #[error("There is no such charter.")]
    NoSuchCharter,
    /// The charter is the pilot's own.
    #[error("That is your own charter.")]
    OwnCharter,
    /// Another charter has the name.
    #[error("Another charter has that name.")]
    NameTaken,
    /// The name is none.
    #[error("A charter's name has 1 to 20 characters: letters, digits, - and _.")]
    BadName,
    /// The charter is full.
    #[error("That charter is full.")]
    CharterFull,
    /// The other pilot has a charter.
    #[error("That pilot is in a charter.")]
    TheirCharter,
    /// No invitation stands.
    #[error("That charter has not invited you.")]
    NotInvited,
    /// The sector has a Haven or a structure.
    #[error("There is a Haven or a structure in this sector already.")]
    SectorTaken,
    /// The charter has built all that it may.
    #[error("Your charter has all that it can have of that: {0}.")]
    AllBuilt(u8),
    /// The map has all that it may.
    #[error("This map has all the structures that it can have.")]
    MapBuilt,
    /// Charters do not build on that layer.
    #[error("Charters build nothing on this layer.")]
    NoStructures,
    /// The head has not what it takes.
    #[error(
        "That takes {ore} ore, {gas} gas and {material} material. You have {has_ore}, {has_gas} and {has_material}."
    )]
    TooDear {
        /// What it takes.
        ore: u32,
        /// What it takes.
        gas: u32,
        /// What it takes.
        material: u32,
        /// What there is.
        has_ore: u64,
        /// What there is.
        has_gas: u64,
        /// What there is.
        has_material: u64,
    },
    /// There is nothing to harvest.
    #[error("There is neither belt nor cloud in this sector.")]
    NothingHere,
    /// The ship does already.
    #[error("This ship is harvesting already.")]
    AlreadyHarvesting,
    /// The fit does not make a ship.
    #[error("{0}")]
    Fit(#[from] FitError),
    /// The hold has no such module.
    #[error("Your hold has no such module.")]
    NoSuchModule,
    /// The yard does not make that.
    #[error("The yard does not make that.")]
    NotInYard,
    /// The slot is empty.
    #[error("That slot is empty.")]
    EmptySlot,
    /// The hold is full.
    #[error("Your hold is full.")]
    HoldFull,
    /// The module is not repaired.
    #[error("{0}")]
    Unrepairable(#[from] Unrepairable),
    /// What was to be mended is whole.
    #[error("That ship is whole.")]
    Whole,
    /// The fleet is full.
    #[error("Your fleet has all the ships that it can have.")]
    FleetFull,
    /// The last ship is not given up.
    #[error("That is your last ship.")]
    LastShip,
}
