//! Why ops are refused.

use keel_names::NameError;
use keel_rules::Micros;
use keel_rules::fire::Forbidden;
use keel_rules::fit::FitError;
use keel_rules::module::Unrepairable;
use keel_rules::powers::Unusable;
use strum::IntoStaticStr;
use thiserror::Error;

/// Why an op was refused. It changed nothing. As a static text it is the name of its kind, whatever the details.
#[derive(Clone, Copy, Debug, PartialEq, Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
    /// A sector holds only so many NPCs.
    #[error("That sector has no room for more NPCs.")]
    SectorFull,
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
    /// Another charter has the name, or one that looks the same.
    #[error("Another charter has that name, or one that looks the same.")]
    NameTaken,
    /// The name is none.
    #[error("{0}")]
    BadName(#[from] NameError),
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
