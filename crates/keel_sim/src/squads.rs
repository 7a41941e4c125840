//! NPC squads (rule 11): they come into the world, roam, and are back when they are lost. [`WorldSet::Squads`].

mod roam;
mod roster;

pub(crate) use roster::{Roster, SquadCount, crew, draw_fits, man, room, top_up};

use std::sync::Arc;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_balance::Balance;
use keel_map::Hex;
use keel_rules::{ClassId, Fit, FitError, Sheet};
use thiserror::Error;

use crate::ids::SquadId;
use crate::orders::Refusal;
use crate::schedule::WorldSet;
use crate::stream::{Purpose, Stream};
use crate::structures::StructureKind;
use crate::world::{Map, Maps, Tuning};

pub(crate) struct SquadsPlugin {
    /// Whether maps have squads of their own.
    pub(crate) fill: bool,
}

impl Plugin for SquadsPlugin {
    fn build(&self, app: &mut App) {
        let world = app.world_mut();
        let seed = world.resource::<Tuning>().seed;
        let maps: Vec<Entity> = world.resource::<Maps>().iter().filter(|_| self.fill).collect();
        for map in maps {
            let code = world.get::<Map>(map).map_or(0, |map| map.key.code());
            let streams = [Purpose::Placing, Purpose::Roaming].map(|purpose| Stream::new(seed, purpose, code.into()));
            world.entity_mut(map).insert(Roster::new(streams));
        }
        app.init_resource::<SquadCount>().add_systems(
            FixedUpdate,
            (roster::count_losses, roster::fill, roam::roam).chain().in_set(WorldSet::Squads),
        );
    }
}

/// An NPC squad. Its ships are its [`crate::Fleet`].
#[derive(Component, Debug)]
pub struct Squad {
    /// Its stable name.
    pub id: SquadId,
    pub(crate) stream: Stream,
    /// The map that counts it among its squads; `None` for one that was put there by hand.
    pub(crate) map: Option<Entity>,
}

impl Squad {
    /// The map that counts it among its squads; `None` for one that was put there by hand.
    #[must_use]
    pub const fn map(&self) -> Option<Entity> {
        self.map
    }
}

/// Ships that the balance has the world make and that cannot be made.
#[derive(Debug, Error)]
#[error("the balance makes ships that cannot be:{}", listed(.0))]
pub struct UnfitError(pub Vec<(String, FitError)>);

/// What cannot be made and why, each on a line of its own.
pub(crate) fn listed(unfit: &[(String, FitError)]) -> String {
    unfit.iter().map(|(what, error)| format!("\n  {what}: {error}")).collect()
}

/// Whether every ship that the balance has the world make can be made: the starter, and what each layer's squads fly.
///
/// # Errors
/// With all that cannot be made, and why.
pub fn check_fits(balance: &Balance) -> Result<(), UnfitError> {
    let mut unfit = Vec::new();
    let mut check = |what: String, fit: &Fit| {
        if let Err(error) = Sheet::new(balance, fit) {
            unfit.push((what, error));
        }
    };
    check("starter".to_owned(), &Fit::starter(balance));
    for kind in StructureKind::ALL {
        check(kind.word().to_owned(), &kind.fit(balance));
    }
    for (number, layer) in (1..).zip(&balance.layers) {
        for name in &layer.npcs.classes {
            let class = ClassId::named(balance, name).unwrap_or_default();
            for &faction in &layer.npcs.factions {
                check(format!("{faction:?} {name} of layer {number}"), &Fit::npc(balance, layer, class, faction));
            }
        }
    }
    if unfit.is_empty() { Ok(()) } else { Err(UnfitError(unfit)) }
}

/// Puts a squad without ships into the world. When it is lost it does not come back.
pub fn spawn_squad(world: &mut World, id: SquadId) -> Entity {
    spawn(world, id, None)
}

/// Puts a squad of a map's NPCs into a sector of it, for good: it is none of those that the map fills itself with.
pub(crate) fn muster(world: &mut World, map: Entity, hex: Hex) -> Result<(), Refusal> {
    let balance = Arc::clone(&world.resource::<Tuning>().balance);
    let parts = world.get::<Map>(map).ok_or(Refusal::NoSuchMap)?;
    let (sector, site) = (parts.sector(hex).ok_or(Refusal::UnknownSector)?, parts.site());
    let size = usize::from(parts.squad).min(room(world, parts, sector));
    if size == 0 {
        return Err(Refusal::SectorFull);
    }
    let id = world.resource_mut::<SquadCount>().next();
    let fleet = spawn(world, id, None);
    let Some(mut squad) = world.get_mut::<Squad>(fleet) else { return Err(Refusal::SectorFull) };
    let rules = &balance.layers[site.row()];
    let faction = rules.npcs.factions[squad.stream.below(rules.npcs.factions.len())];
    let fits = draw_fits(&balance, rules, faction, size, &mut squad.stream);
    man(world, fleet, faction, &fits, sector);
    Ok(())
}

pub(crate) fn spawn(world: &mut World, id: SquadId, map: Option<Entity>) -> Entity {
    let seed = world.resource::<Tuning>().seed;
    world.spawn(Squad { id, stream: Stream::new(seed, Purpose::Squad, id.0), map }).id()
}
