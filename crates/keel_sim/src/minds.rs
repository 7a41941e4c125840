//! NPC squads, escorts and menders decide (rules 4, 8 and 10): [`crate::SimSet::Minds`]. What they decide acts in the next
//! step's phases, by the same path as a pilot's ops.
//!
//! Only fleets that are alert are looked at. Whatever may concern one alerts it: a lock, a ship that comes, the first
//! damage to a hull, an op of its pilot's.

mod escorts;
mod menders;
mod squads;
mod triggers;

pub(crate) use menders::Mends;

use bevy_app::prelude::*;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::message::MessageCursor;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use keel_balance::Balance;
use keel_map::Hex;
use keel_rules::Moment;
use keel_rules::fire::{Owner, may_fire};
use keel_rules::powers::Power;
use serde::{Deserialize, Serialize};

use crate::bonds::Bonds;
use crate::clamps::{ClampedBy, Clamping};
use crate::ids::ShipId;
use crate::movement::Helm;
use crate::schedule::MindsSet;
use crate::shot::{Gun, Hurt, LockStarted, LockedBy, Locking};
use crate::squads::Squad;
use crate::world::{
    Appeared, Arrival, Awake, Battery, Card, Condition, Fleet, InFleet, InSector, Map, Occupants, Powers, Sector, Ship,
};

pub(crate) struct MindsPlugin;

impl Plugin for MindsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((squads::SquadMindsPlugin, escorts::EscortsPlugin, menders::MendersPlugin))
            .init_resource::<Noticed>()
            .add_systems(FixedUpdate, raise_alarms.in_set(MindsSet::Alarms));
    }
}

/// What a ship that its pilot does not fly does by itself (rule 10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stance {
    /// Engages every NPC and every pilot marked KOS in its sector, and helps fleet mates one hex away.
    Aggressive,
    /// Fires on what locks it or its protectee, and on the active ship's target.
    #[default]
    Defensive,
    /// Stays with its protectee and fires on what locks either; Jams and Clamps its attackers.
    Support,
    /// Fires only when told to.
    Passive,
}

/// What a ship does when its pilot does not fly it. Every ship has one; a pilot's active ship does not heed it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mind {
    /// How it stands.
    pub stance: Stance,
    /// The ship that it protects; `None` for the active one.
    pub protectee: Option<ShipId>,
    /// It Braces under so many percent of its hull.
    pub brace_percent: u8,
    /// Whether it Jams a locked target that Braces, or Clamps a ship of the fleet.
    pub jam: bool,
    /// Whether it goes where the active ship goes.
    pub follows: bool,
    /// Whether it stays where it is sent, whatever its stance, until it is told something else: after a retreat.
    pub waits: bool,
}

impl Mind {
    pub(crate) fn new(balance: &Balance, is_pilots: bool) -> Self {
        let brace_percent = (balance.powers.brace.trigger_hull.get() * 100.0).round() as u8;
        let stance = if is_pilots { Stance::Defensive } else { Stance::Aggressive };
        Self { stance, protectee: None, brace_percent, jam: true, follows: is_pilots, waits: false }
    }
}

/// What a mind has a ship do in the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Act {
    /// Lock a ship.
    Lock(ShipId),
    /// Go to a sector.
    Move(Hex),
    /// Use a power.
    Power(Power),
    /// Mend a ship.
    Mend(ShipId),
}

/// A squad, or a pilot's fleet, that something may concern. The others are not looked at.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Alert {
    /// When a squad starts its locks; `None` while there is no one it may lock.
    pub(crate) engages: Option<Moment>,
}

impl Alert {
    /// Alerts a fleet that has minds: a squad, or a pilot's with an escort in it.
    pub(crate) fn raise(world: &mut World, fleet: Entity) {
        let has_minds = world.get::<Fleet>(fleet).is_some_and(|fleet| fleet.iter().len() > 1)
            || world.get::<Squad>(fleet).is_some();
        if has_minds && world.get::<Self>(fleet).is_none() {
            world.entity_mut(fleet).insert(Self::default());
        }
    }
}

/// What has come somewhere up to where alarms have been raised for it.
#[derive(Resource, Default)]
pub(crate) struct Noticed(pub(crate) MessageCursor<Appeared>);

/// A lock, a ship that comes into a sector and the first damage to a hull alarm the fleets that they concern.
fn raise_alarms(
    mut locks: MessageReader<LockStarted>,
    appeared: Res<Messages<Appeared>>,
    mut noticed: ResMut<Noticed>,
    mut hurt: MessageReader<Hurt>,
    ships: Query<&InFleet>,
    sectors: Query<&Occupants>,
    fleets: Query<(&Fleet, Has<Squad>), Without<Alert>>,
    mut commands: Commands,
) {
    let mut alarm = |ship: Entity| {
        if let Ok(of) = ships.get(ship)
            && fleets.get(of.0).is_ok_and(|(fleet, squad)| squad || fleet.iter().len() > 1)
        {
            commands.entity(of.0).insert(Alert::default());
        }
    };
    for lock in locks.read() {
        alarm(lock.shooter);
        alarm(lock.target);
    }
    for coming in noticed.0.read(&appeared) {
        alarm(coming.ship);
        sectors.get(coming.sector).into_iter().flat_map(Occupants::iter).for_each(&mut alarm);
    }
    for hurt in hurt.read() {
        alarm(hurt.ship);
    }
}

/// A ship in space as minds see it.
#[derive(QueryData)]
struct Seen {
    entity: Entity,
    ship: &'static Ship,
    fleet: &'static InFleet,
    sector: &'static InSector,
    card: &'static Card,
    condition: &'static Condition,
    battery: &'static Battery,
    powers: &'static Powers,
    arrival: &'static Arrival,
    gun: &'static Gun,
    helm: &'static Helm,
    mind: &'static Mind,
    locking: Option<&'static Locking>,
    locked_by: Option<&'static LockedBy>,
    clamping: Option<&'static Clamping>,
    clamped_by: Option<&'static ClampedBy>,
    awake: Has<Awake>,
}

/// What minds look at.
#[derive(SystemParam)]
struct Sight<'w, 's> {
    ships: Query<'w, 's, Seen>,
    occupants: Query<'w, 's, &'static Occupants>,
    sectors: Query<'w, 's, &'static Sector>,
    maps: Query<'w, 's, &'static Map>,
    bonds: Res<'w, Bonds>,
}

/// What a sector holds to fight for.
#[derive(Clone, Copy, Debug, Default)]
struct Prey {
    /// The pilots' ship of the lowest id that may be locked: squads skip a ship that is arriving.
    pilot: Option<ShipId>,
    /// Whether any ship of a pilot's is there.
    any_pilot: bool,
    /// The NPC of the lowest id.
    npc: Option<ShipId>,
}

/// What sectors hold, each looked through once a step, however many fight in it.
type Preys = EntityHashMap<Prey>;

impl Sight<'_, '_> {
    fn ship(&self, ship: Entity) -> Option<SeenItem<'_, '_>> {
        self.ships.get(ship).ok()
    }

    /// Whether a ship can be locked, as far as its own state goes.
    fn is_open(ship: &SeenItem<'_, '_>, now: Moment) -> bool {
        !ship.arrival.is_up(now) && !ship.powers.cloaked
    }

    fn prey(&self, preys: &mut Preys, sector: Entity, now: Moment) -> Prey {
        *preys.entry(sector).or_insert_with(|| {
            let occupants = self.occupants.get(sector).into_iter().flat_map(Occupants::iter);
            occupants.filter_map(|ship| self.ship(ship)).fold(Prey::default(), |prey, ship| {
                let id = Self::is_open(&ship, now).then_some(ship.ship.id);
                let least = |found: Option<ShipId>| found.into_iter().chain(id).min();
                match ship.ship.owner {
                    Owner::Pilot(_) => Prey { pilot: least(prey.pilot), any_pilot: true, ..prey },
                    Owner::Npc => Prey { npc: least(prey.npc), ..prey },
                    // Nobody attacks a structure without being told to.
                    Owner::Charter(_) => prey,
                }
            })
        })
    }

    /// Whether one ship may fire on another where it is.
    fn may_fire(&self, ship: &SeenItem<'_, '_>, target: &SeenItem<'_, '_>) -> bool {
        let rule = self.sectors.get(ship.sector.0).ok().and_then(|sector| self.maps.get(sector.map).ok());
        let bond = self.bonds.between_owners(ship.ship.owner, target.ship.owner);
        rule.is_some_and(|map| may_fire(map.fire, ship.ship.owner, target.ship.owner, bond).is_ok())
    }
}
