//! Modules wear in battle (rule 3): guns by shots, shield and armor by hits. Uses are counted beside the ship; a point of
//! durability lost makes a new card, in [`ExpirySet::Wear`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_balance::Wear as WearRule;
use keel_rules::{Fit, Module};
use serde::{Deserialize, Serialize};

use crate::ids::ShipId;
use crate::schedule::ExpirySet;
use crate::world::{ShipIndex, refit};

pub(crate) struct WearPlugin;

impl Plugin for WearPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Worn>().add_systems(FixedUpdate, wear_down.in_set(ExpirySet::Wear));
    }
}

/// Shots fired and hits taken since the last point of durability that they cost.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wear {
    shots: u16,
    shield_hits: u16,
    armor_hits: u16,
}

/// What wears by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Guns,
    Shield,
    Armor,
}

impl Wear {
    /// Counts a shot or a hit; whether it costs a point of durability.
    pub(crate) const fn count(&mut self, part: Part, rule: &WearRule) -> bool {
        let (count, most) = match part {
            Part::Guns => (&mut self.shots, rule.shots),
            Part::Shield => (&mut self.shield_hits, rule.hits),
            Part::Armor => (&mut self.armor_hits, rule.hits),
        };
        *count += 1;
        let full = *count >= most;
        if full {
            *count = 0;
        }
        full
    }
}

/// What has lost a point of durability in this step.
#[derive(Resource, Debug, Default)]
pub(crate) struct Worn(Vec<(ShipId, Part)>);

impl Worn {
    pub(crate) fn add(&mut self, ship: ShipId, part: Part) {
        self.0.push((ship, part));
    }
}

fn wear_down(world: &mut World) {
    if world.resource::<Worn>().0.is_empty() {
        return;
    }
    let mut worn = std::mem::take(&mut world.resource_mut::<Worn>().0);
    for (ship, part) in worn.drain(..) {
        if let Some(entity) = world.resource::<ShipIndex>().get(ship) {
            refit(world, entity, |fit| wear_part(fit, part));
        }
    }
    world.resource_mut::<Worn>().0 = worn;
}

fn wear_part(fit: &mut Fit, part: Part) {
    let wear = |slot: &mut Option<Module>| *slot = slot.map(|module| module.worn_by(1));
    match part {
        Part::Guns => fit.guns.iter_mut().for_each(wear),
        Part::Shield => wear(&mut fit.shield),
        Part::Armor => wear(&mut fit.armor),
    }
}
