//! Menders choose what to mend (rule 8): [`MindsSet::Menders`].
//!
//! A mender looks at the ships of its own fleet, or of its charter's, and at no others; the damaged ones of a group are
//! listed once a step for all its menders. While no ship of the group is damaged its menders are not looked at.

use bevy_app::prelude::*;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use keel_map::Hex;
use serde::{Deserialize, Serialize};

use super::Act;
use crate::bonds::Bonds;
use crate::ids::ShipId;
use crate::orders::Orders;
use crate::schedule::{MindsSet, Now};
use crate::shot::Hurt;
use crate::world::{
    Awake, Battery, Card, Condition, Fleet, InFleet, InSector, Pilot, PilotIndex, Powers, Sector, Ship,
};

pub(super) struct MendersPlugin;

impl Plugin for MendersPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(FixedUpdate, (look_up, choose).chain().in_set(MindsSet::Menders));
    }
}

/// A ship with a mender, and whether there is nothing to mend for it anywhere.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Mends {
    pub(crate) idle: bool,
}

/// The fleets of a fleet's group: those of its charter's pilots, or itself.
fn group<'a>(
    bonds: &'a Bonds,
    index: &'a PilotIndex,
    pilot: Option<&Pilot>,
    fleet: Entity,
) -> impl Iterator<Item = Entity> + use<'a> {
    let charter = pilot.and_then(|pilot| bonds.charter_of(pilot.id)).and_then(|id| bonds.charter(id));
    let mates = charter.into_iter().flat_map(|charter| &charter.members).filter_map(|&member| index.get(member));
    mates.chain(charter.is_none().then_some(fleet))
}

/// A hull that was whole no longer is: the menders of its group look up.
fn look_up(
    mut hurt: MessageReader<Hurt>,
    bonds: Res<Bonds>,
    index: Res<PilotIndex>,
    pilots: Query<&Pilot>,
    fleets: Query<&Fleet>,
    ships: Query<&InFleet>,
    mut menders: Query<&mut Mends>,
    mut commands: Commands,
) {
    for &Hurt { ship } in hurt.read() {
        let Ok(&InFleet(fleet)) = ships.get(ship) else { continue };
        for fleet in group(&bonds, &index, pilots.get(fleet).ok(), fleet) {
            for mate in fleets.get(fleet).into_iter().flat_map(Fleet::iter) {
                if let Ok(mut mends) = menders.get_mut(mate)
                    && mends.idle
                {
                    mends.idle = false;
                    commands.entity(mate).insert(Awake);
                }
            }
        }
    }
}

/// A ship that is not whole.
#[derive(Clone, Copy, Debug)]
struct Damaged {
    share: f32,
    id: ShipId,
    map: Entity,
    hex: Hex,
}

/// The damaged ships of groups, by each group's first fleet.
#[derive(Default)]
struct Sick {
    lists: EntityHashMap<(usize, usize)>,
    ships: Vec<Damaged>,
}

fn choose(
    now: Res<Now>,
    bonds: Res<Bonds>,
    index: Res<PilotIndex>,
    pilots: Query<&Pilot>,
    fleets: Query<&Fleet>,
    mut menders: Query<(&Ship, &InFleet, &InSector, &Card, &Powers, &Battery, &mut Mends), With<Awake>>,
    ships: Query<(&Ship, &InSector, &Card, &Condition)>,
    sectors: Query<&Sector>,
    mut sick: Local<Sick>,
    mut orders: ResMut<Orders>,
) {
    let next = now.moment().next_step();
    let Sick { lists, ships: damaged } = &mut *sick;
    for (ship, fleet, sector, card, powers, battery, mut mends) in &mut menders {
        let Some(mender) = card.0.powers.mender.filter(|_| !mends.idle) else { continue };
        if next < powers.mender_ready || powers.is_jammed(next) || powers.cloaked || battery.0 < mender.cost {
            continue;
        }
        let mut mates = group(&bonds, &index, pilots.get(fleet.0).ok(), fleet.0).peekable();
        let Some(&first) = mates.peek() else { continue };
        let &mut (from, to) = lists.entry(first).or_insert_with(|| {
            let from = damaged.len();
            for ship in mates.filter_map(|fleet| fleets.get(fleet).ok()).flat_map(Fleet::iter) {
                let Ok((ship, sector, card, condition)) = ships.get(ship) else { continue };
                let share = condition.0.hull / card.0.full.hull;
                if share < 1.0
                    && let Ok(sector) = sectors.get(sector.0)
                {
                    damaged.push(Damaged { share, id: ship.id, map: sector.map, hex: sector.hex });
                }
            }
            (from, damaged.len())
        });
        if from == to {
            mends.idle = true;
            continue;
        }
        let Ok(here) = sectors.get(sector.0) else { continue };
        let near = damaged[from..to]
            .iter()
            .filter(|other| other.map == here.map && other.hex.distance(here.hex) <= mender.reach.into());
        let worst = near.min_by(|one, two| one.share.total_cmp(&two.share).then(one.id.cmp(&two.id)));
        orders.minds.extend(worst.map(|worst| (ship.id, Act::Mend(worst.id))));
    }
    lists.clear();
    damaged.clear();
}
