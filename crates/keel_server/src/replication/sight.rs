//! What a pilot may see, plainly.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use keel_protocol::{Contact, OwnShip};
use keel_sim::{Now, Occupants};

use super::eyes::{self, Eyes, Lookout};

/// All that a pilot has and sees, in the order of ids: looked up plainly, for others to be checked against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// The pilot's own ships.
    pub own: Vec<OwnShip>,
    /// Every other ship in view.
    pub contacts: Vec<Contact>,
}

impl Sight {
    /// What a pilot sees of the world after its last step.
    #[must_use]
    pub fn of(world: &World, pilot: Entity) -> Self {
        let Some(eyes) = Eyes::open(world) else { return Self::default() };
        let now = world.resource::<Now>().moment();
        let (mut own, lookouts): (Vec<OwnShip>, Vec<Lookout>) = eyes.own(world, pilot, now).unzip();
        let mut contacts = Vec::new();
        for sector in in_view(world, &lookouts) {
            let Some(place) = eyes::place(world, sector) else { continue };
            let occupants = world.get::<Occupants>(sector).into_iter().flat_map(Occupants::iter);
            let others =
                occupants.filter(|&ship| !eyes::is_of(world, ship, pilot) && eyes::is_visible(world, ship, pilot));
            contacts.extend(others.filter_map(|ship| eyes.contact(world, ship, place, now)));
        }
        own.sort_unstable_by_key(|ship| ship.id);
        contacts.sort_unstable_by_key(|contact| contact.id);
        Self { own, contacts }
    }
}

/// The sectors in view from lookouts.
pub(super) fn in_view(world: &World, lookouts: &[Lookout]) -> BTreeSet<Entity> {
    lookouts.iter().flat_map(|&lookout| eyes::around(world, lookout)).collect()
}
