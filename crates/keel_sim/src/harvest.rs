//! Harvests of belts and gas clouds (rule 11): a ship that stays for a while gets as much as the sector is rich in.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_map::Terrain;
use keel_rules::Moment;
use serde::{Deserialize, Serialize};

use crate::bonds::Bonds;
use crate::notes::{Good, Note, Noted};
use crate::schedule::{ExpirySet, Now};
use crate::structures::{Structure, StructureKind};
use crate::world::{Cargo, InSector, Map, PilotIndex, Sector, Ship, Tuning};

pub(crate) struct HarvestPlugin;

impl Plugin for HarvestPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(give_up).add_systems(FixedUpdate, gather.in_set(ExpirySet::Harvests));
    }
}

/// A ship harvests its sector.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Harvest {
    /// When it has what there is to get.
    pub ends: Moment,
}

/// Whoever leaves the sector leaves what it was about.
fn give_up(
    left: On<Discard<InSector>>,
    harvests: Query<&Ship, With<Harvest>>,
    mut notes: MessageWriter<Noted>,
    mut commands: Commands,
) {
    if let Ok(ship) = harvests.get(left.entity) {
        notes.write_batch(Noted::ship(ship, Note::HarvestLeft));
        commands.entity(left.entity).try_remove::<Harvest>();
    }
}

/// Harvests whose time is over are in their pilots' cargo.
fn gather(
    now: Res<Now>,
    tuning: Res<Tuning>,
    bonds: Res<Bonds>,
    pilots: Res<PilotIndex>,
    harvests: Query<(Entity, &Ship, &InSector, &Harvest)>,
    sectors: Query<(&Sector, Option<&Structure>)>,
    maps: Query<&Map>,
    mut cargos: Query<&mut Cargo>,
    mut notes: MessageWriter<Noted>,
    mut commands: Commands,
) {
    for (entity, ship, sector, _) in harvests.iter().filter(|(.., harvest)| harvest.ends <= now.moment()) {
        commands.entity(entity).remove::<Harvest>();
        let Some(pilot) = ship.pilot() else { continue };
        let Ok((here, structure)) = sectors.get(sector.0) else { continue };
        let terrain = maps.get(here.map).ok().and_then(|map| map.layout.terrain(here.hex));
        let own = bonds.charter_of(pilot);
        let is_outpost = structure
            .is_some_and(|structure| structure.kind == StructureKind::Outpost && Some(structure.charter) == own);
        let times = if is_outpost { tuning.balance.structures.outpost_yield } else { 1 };
        let (good, richness) = match terrain {
            Some(Terrain::Belt { richness }) => (Good::Ore, richness),
            Some(Terrain::Cloud { richness }) => (Good::Gas, richness),
            Some(Terrain::Open) | None => {
                notes.write_batch(Noted::ship(ship, Note::HarvestLost));
                continue;
            }
        };
        let amount = u32::from(richness) * u32::from(times);
        if let Some(mut cargo) = pilots.get(pilot).and_then(|pilot| cargos.get_mut(pilot).ok()) {
            match good {
                Good::Ore => cargo.ore += u64::from(amount),
                Good::Gas => cargo.gas += u64::from(amount),
            }
            notes.write_batch(Noted::ship(ship, Note::Harvested { amount, good }));
        }
    }
}
