//! What each row of a save says. Nothing in them names an entity.

use std::collections::BTreeSet;

use keel_balance::Faction;
use keel_map::{Hex, Layout, MapKey};
use keel_rules::fire::Owner;
use keel_rules::{Fit, Moment, Sheet};
use serde::{Deserialize, Serialize};

use crate::ids::{CharterId, IncursionId, PilotId, ShipId, SquadId, WormholeId, WreckId};
use crate::minds::{Act, Alert, Mends, Mind};
use crate::movement::Helm;
use crate::pay::Load;
use crate::shot::{Gun, Shot, Wear};
use crate::storms::Storms;
use crate::stream::Stream;
use crate::structures::StructureKind;
use crate::world::{Arrival, Cargo, Contact, Pilot, Powers, Purse};
use crate::wormholes::{End, Place};

/// What is the world's own: its time, what it has numbered, and what waits for the next step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WorldRow {
    pub(crate) step: u64,
    pub(crate) seed: u64,
    /// The classes of the balance by their numbers: another balance may have them in another order.
    pub(crate) classes: Vec<String>,
    /// The numbers that ships, wrecks, squads and wormholes had last.
    pub(crate) ships: u32,
    pub(crate) wrecks: u32,
    pub(crate) squads: u32,
    pub(crate) wormholes: u32,
    /// How many wormholes had opened and storms passed when ends were last looked for everywhere.
    pub(crate) sought: (u32, u32),
    pub(crate) wormhole_stream: Stream,
    pub(crate) storms: Storms,
    /// The clock of the wall at the last step, in seconds since 1970.
    pub(crate) clock: Option<u64>,
    /// Pilots without a ship, and when each gets one.
    pub(crate) shipless: Vec<(Moment, PilotId)>,
    /// What minds decided in the last step.
    pub(crate) minds: Vec<(ShipId, Act)>,
    /// Ships that dock in the next step, and whether on order.
    pub(crate) docking: Vec<(ShipId, bool)>,
    /// Ships that have come somewhere, and that nobody has looked at yet.
    pub(crate) appeared: Vec<ShipId>,
}

/// The balance that a world goes by, as far as what is kept depends on it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BalanceRow {
    pub(crate) hash: u64,
    /// The names of storms by their numbers.
    pub(crate) storms: Vec<String>,
}

/// A map as a storm left it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MapRow {
    pub(crate) map: MapKey,
    pub(crate) seed: u64,
    pub(crate) layout: Layout,
}

/// A map's squads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MapSquads {
    pub(crate) map: MapKey,
    pub(crate) stream: Stream,
    pub(crate) roaming: Stream,
    /// Those that live, in the order in which they came.
    pub(crate) squads: Vec<SquadId>,
    pub(crate) filled: bool,
    pub(crate) due: Vec<Moment>,
    pub(crate) roams: Moment,
    pub(crate) bound: Vec<(Moment, Hex, usize)>,
}

/// A pilot and what is paid to them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PilotRow {
    pub(crate) pilot: Pilot,
    pub(crate) purse: Purse,
    pub(crate) cargo: Cargo,
    pub(crate) alert: Option<Alert>,
}

/// The ends of wormholes that a pilot has found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FoundRow {
    pub(crate) pilot: PilotId,
    pub(crate) ends: BTreeSet<(WormholeId, End)>,
}

/// A shot of a pilot's combat log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShotRow {
    pub(crate) pilot: PilotId,
    /// How many there were before it.
    pub(crate) number: u64,
    pub(crate) shot: Shot,
}

/// What a ship is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShipRow {
    pub(crate) id: ShipId,
    pub(crate) owner: Owner,
    pub(crate) faction: Faction,
    pub(crate) fit: Fit,
    /// The squad that it is of.
    pub(crate) squad: Option<SquadId>,
}

/// How a ship is, and what it is about.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StateRow {
    pub(crate) at: Place,
    pub(crate) docked: bool,
    pub(crate) awake: bool,
    pub(crate) shield: f32,
    pub(crate) hull: f32,
    pub(crate) battery: f32,
    /// What they hold when they are full.
    #[serde(default)]
    pub(crate) full: Option<(f32, f32, f32)>,
    pub(crate) gun: Gun,
    pub(crate) wear: Wear,
    pub(crate) powers: Powers,
    pub(crate) quiet: Moment,
    pub(crate) helm: Helm,
    pub(crate) arrival: Arrival,
    pub(crate) mind: Mind,
    pub(crate) mends: Option<Mends>,
    /// When its harvest is in.
    pub(crate) harvest: Option<Moment>,
    pub(crate) locking: Option<ShipId>,
    pub(crate) clamping: Option<ShipId>,
    pub(crate) rolls: Stream,
}

/// What shield, hull and battery hold when they are full.
pub(crate) const fn fulls(sheet: &Sheet) -> (f32, f32, f32) {
    (sheet.full.shield, sheet.full.hull, sheet.battery)
}

/// An NPC squad.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SquadRow {
    pub(crate) id: SquadId,
    pub(crate) stream: Stream,
    /// The map that counts it among its squads.
    pub(crate) map: Option<MapKey>,
    pub(crate) alert: Option<Alert>,
    /// The incursion that it is of.
    pub(crate) invader: Option<IncursionId>,
}

/// What stands in a sector.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StructureRow {
    pub(crate) ship: ShipId,
    pub(crate) kind: StructureKind,
    pub(crate) charter: CharterId,
    pub(crate) at: Place,
    pub(crate) quiet_until: Moment,
}

/// What is left of a ship.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WreckRow {
    pub(crate) id: WreckId,
    pub(crate) of: Contact,
    pub(crate) load: Load,
    pub(crate) at: Place,
    pub(crate) gone: Moment,
}

/// Who challenged and duels whom, and the charters' numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BondsRow {
    pub(crate) asks: Vec<((PilotId, PilotId), Moment)>,
    pub(crate) duels: Vec<((PilotId, PilotId), Moment)>,
    pub(crate) last: u32,
    pub(crate) loosened: bool,
}
