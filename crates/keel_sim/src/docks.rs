//! Docking at a Haven or a charter's berth (rule 7): [`MindsSet::Docks`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::Moment;

use crate::clamps::is_held;
use crate::movement::{Helm, Leg};
use crate::notes::{Note, Noted};
use crate::schedule::{MindsSet, Now};
use crate::world::{Battery, Card, Condition, Docked, InSector, Powers, Ship, port};

pub(crate) struct DocksPlugin;

impl Plugin for DocksPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Docking>().add_systems(FixedUpdate, dock_ships.in_set(MindsSet::Docks));
    }
}

/// Ships that dock in this step: on order, or because they came to rest after their pilot had left.
#[derive(Resource, Debug, Default)]
pub(crate) struct Docking(pub(crate) Vec<(Entity, bool)>);

impl Docking {
    /// One whose pilot is not there docks if it can.
    pub(crate) fn add(&mut self, ship: Entity) {
        self.0.push((ship, false));
    }

    /// One that was ordered to.
    pub(crate) fn order(&mut self, ship: Entity) {
        self.0.push((ship, true));
    }
}

fn dock_ships(world: &mut World) {
    if world.resource::<Docking>().0.is_empty() {
        return;
    }
    let ships = std::mem::take(&mut world.resource_mut::<Docking>().0);
    for (ship, is_ordered) in ships {
        try_dock(world, ship);
        // The berth may have fallen in the very step of the order.
        if is_ordered && world.get::<Docked>(ship).is_none() {
            let noted = world.get::<Ship>(ship).and_then(|ship| Noted::ship(ship, Note::NotDocked));
            world.write_message_batch(noted);
        }
    }
}

/// Docks a ship that is at a port of its pilot's, not under way and free of Clamps.
pub(crate) fn try_dock(world: &mut World, ship: Entity) {
    let (Some(&name), Some(&InSector(sector))) = (world.get::<Ship>(ship), world.get::<InSector>(ship)) else { return };
    let Some(pilot) = name.pilot() else { return };
    let is_still = world.get::<Helm>(ship).is_some_and(|helm| helm.leg() == Leg::Still);
    if is_still && port(world, sector, pilot) && !is_held(world, ship) {
        if let Some(mut helm) = world.get_mut::<Helm>(ship) {
            helm.stop();
        }
        world.entity_mut(ship).remove::<InSector>().insert(Docked(sector));
        make_whole(world, ship);
        world.write_message_batch(Noted::ship(&name, Note::Docked));
    }
}

/// Hull, shield and battery are full, and no Jam, Brace or cloak is left (rule 7). An arrival flag runs on.
pub(crate) fn make_whole(world: &mut World, ship: Entity) {
    let now = world.resource::<Now>().moment();
    let Ok(mut ship) = world.get_entity_mut(ship) else { return };
    let Some(sheet) = ship.get::<Card>().map(|card| std::sync::Arc::clone(&card.0)) else { return };
    if let Some(mut powers) = ship.get_mut::<Powers>() {
        powers.jammed_until = Moment::START;
        powers.braced_until = Moment::START;
        powers.uncloak(now, &sheet);
    }
    ship.insert((Condition(sheet.full), Battery(sheet.battery)));
}
