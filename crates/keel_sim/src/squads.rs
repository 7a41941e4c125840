//! NPC squads come into the world (rule 11): [`WorldSet::Squads`].

use std::collections::VecDeque;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_log::warn;
use keel_balance::Balance;
use keel_map::Hex;
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, FitError, Moment, Sheet};
use thiserror::Error;

use crate::expiry::FleetLost;
use crate::ids::SquadId;
use crate::minds::Alert;
use crate::schedule::{Now, WorldSet};
use crate::stream::{Purpose, Stream};
use crate::world::{Arrival, Map, Occupants, Sector, Ship, ShipSpec, Tuning, spawn_ship};

pub(crate) struct SquadsPlugin;

impl Plugin for SquadsPlugin {
    fn build(&self, app: &mut App) {
        let tuning = app.world().resource::<Tuning>();
        let stream = Stream::new(tuning.seed, Purpose::Placing, 0);
        app.insert_resource(Roster { stream, last: 0, living: 0, filled: false, due: VecDeque::new() })
            .add_systems(FixedUpdate, (count_losses, fill).chain().in_set(WorldSet::Squads));
    }
}

/// An NPC squad. Its ships are its [`crate::Fleet`].
#[derive(Component, Debug)]
pub struct Squad {
    /// Its stable name.
    pub id: SquadId,
    pub(crate) stream: Stream,
}

/// Ships that the balance has the world make and that cannot be made.
#[derive(Debug, Error)]
#[error("the balance makes ships that cannot be:{}", .0.iter().map(|(what, error)| format!("\n  {what}: {error}")).collect::<String>())]
pub struct UnfitError(pub Vec<(String, FitError)>);

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

/// Puts a squad without ships into the world.
pub fn spawn_squad(world: &mut World, id: SquadId) -> Entity {
    let seed = world.resource::<Tuning>().seed;
    // It looks about itself once: a pilot may be where it comes into the world.
    world.spawn((Squad { id, stream: Stream::new(seed, Purpose::Squad, id.0) }, Alert::default())).id()
}

/// The map's squads: how many live, and when the next one is due.
#[derive(Resource, Debug)]
pub(crate) struct Roster {
    stream: Stream,
    last: u32,
    living: usize,
    /// Whether the map has held all its squads once. From then on the respawn clock runs.
    filled: bool,
    due: VecDeque<Moment>,
}

impl Roster {
    /// All that it is, for a hash.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let own = [self.stream.fingerprint(), self.last.into(), self.living as u64, self.filled.into()];
        own.into_iter().chain(self.due.iter().map(|due| due.get()))
    }
}

fn count_losses(
    now: Res<Now>,
    tuning: Res<Tuning>,
    mut roster: ResMut<Roster>,
    mut lost: MessageReader<FleetLost>,
    mut commands: Commands,
) {
    for loss in lost.read() {
        roster.living -= 1;
        roster.due.push_back(now.moment() + tuning.balance.squads.respawn_s.into());
        commands.entity(loss.fleet).despawn();
    }
}

fn fill(world: &mut World) {
    let now = world.resource::<Now>().moment();
    let roster = world.resource::<Roster>();
    let due = roster.due.front().is_some_and(|&due| due <= now);
    if roster.filled && !due {
        return;
    }
    let balance = world.resource::<Tuning>().balance.clone();
    let Ok(map) = world.query::<&Map>().single(world) else { return };
    let wanted = map.sectors().len() / usize::from(balance.squads.per_sectors);
    let wanted = wanted.min(balance.squads.most.into());
    for _ in 0..balance.squads.fill_per_step {
        let mut roster = world.resource_mut::<Roster>();
        if roster.filled {
            // Due moments are in order: waits are all of one length.
            if roster.due.front().is_none_or(|&due| due > now) {
                break;
            }
            roster.due.pop_front();
        } else if roster.living >= wanted {
            roster.filled = true;
            break;
        }
        if !place_squad(world, &balance) && !world.resource::<Roster>().filled {
            // No sector has room: what stands is all the map holds.
            world.resource_mut::<Roster>().filled = true;
        }
    }
}

/// Puts one squad into a sector that has room for it; whether one has.
fn place_squad(world: &mut World, balance: &Balance) -> bool {
    let Ok(map) = world.query::<&Map>().single(world) else { return false };
    let rules = &balance.layers[usize::from(map.layer - 1)];
    let sectors: Vec<Entity> = map.sectors().to_vec();
    let mut free: Vec<(Entity, usize)> = Vec::new();
    for sector in sectors {
        let npcs = |occupants: &Occupants| {
            occupants.iter().filter(|&ship| world.get::<Ship>(ship).is_some_and(|ship| ship.pilot().is_none())).count()
        };
        let room = usize::from(rules.sector_cap).saturating_sub(world.get::<Occupants>(sector).map_or(0, npcs));
        // Pilots come into the world at the centre, and are not to be met there.
        let centre = world.get::<Sector>(sector).is_none_or(|sector| sector.hex == Hex::CENTRE);
        if room > 0 && !centre {
            free.push((sector, room));
        }
    }
    let mut roster = world.resource_mut::<Roster>();
    if free.is_empty() {
        return false;
    }
    let (sector, room) = free[roster.stream.below(free.len())];
    let faction = rules.npcs.factions[roster.stream.below(rules.npcs.factions.len())];
    // The sector's cap wins over the squad's size.
    let size = usize::from(rules.squad).min(room);
    let classes: Vec<ClassId> = (0..size)
        .filter_map(|_| {
            let name = &rules.npcs.classes[roster.stream.below(rules.npcs.classes.len())];
            ClassId::named(balance, name)
        })
        .collect();
    roster.last += 1;
    roster.living += 1;
    let id = SquadId(roster.last);
    let fleet = spawn_squad(world, id);
    for class in classes {
        let fit = Fit::npc(balance, rules, class, faction);
        let spec = ShipSpec { owner: Owner::Npc, fleet, faction, fit, sector, arrival: Arrival::default() };
        if let Err(error) = spawn_ship(world, spec) {
            warn!("the balance's {faction:?} squads cannot be made: {error}");
        }
    }
    true
}
