//! Clamps (rule 8): who holds whom. A Clamp rolls nothing and lasts until one of the two leaves the sector, a Jam or an
//! Unclamp breaks it, or they may no longer fire on each other.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::powers::clamp_holds;

use crate::world::{Card, InSector};

pub(crate) struct ClampsPlugin;

impl Plugin for ClampsPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(part);
    }
}

/// The ship that a ship's Clamp is on.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = ClampedBy)]
pub struct Clamping(pub Entity);

/// The ships whose Clamp is on a ship.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = Clamping)]
pub struct ClampedBy(Vec<Entity>);

impl ClampedBy {
    /// The ships, in the order in which they clamped it.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.0.iter().copied()
    }

    /// Whether one of these Clamps is strong enough to hold the ship (rule 8).
    pub(crate) fn holds<'a>(&self, card: impl Fn(Entity) -> Option<&'a Card>) -> bool {
        self.iter().filter_map(card).any(|card| card.0.powers.clamp.as_ref().is_some_and(clamp_holds))
    }
}

/// A ship leaves its sector: its Clamp and those on it are broken.
fn part(
    left: On<Discard<InSector>>,
    clamped_by: Query<&ClampedBy>,
    clamps: Query<(), With<Clamping>>,
    mut commands: Commands,
) {
    let holders = clamped_by.get(left.entity).into_iter().flat_map(ClampedBy::iter);
    for holder in holders.chain([left.entity]).filter(|&holder| clamps.contains(holder)) {
        commands.entity(holder).try_remove::<Clamping>();
    }
}

/// Breaks every Clamp that is on a ship; how many there were.
pub(crate) fn break_clamps_on(world: &mut World, ship: Entity) -> usize {
    let holders: Vec<Entity> = world.get::<ClampedBy>(ship).into_iter().flat_map(ClampedBy::iter).collect();
    for &holder in &holders {
        world.entity_mut(holder).remove::<Clamping>();
    }
    holders.len()
}

/// Whether a Clamp holds a ship where it is.
pub(crate) fn is_held(world: &World, ship: Entity) -> bool {
    world.get::<ClampedBy>(ship).is_some_and(|clamps| clamps.holds(|holder| world.get::<Card>(holder)))
}
