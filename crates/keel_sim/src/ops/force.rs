//! What an operator has happen.

use bevy_ecs::prelude::*;
use keel_map::Hex;

use super::Bridge;
use crate::incursions;
use crate::orders::{Done, Force, OperatorOps, Refusal};
use crate::squads;
use crate::storms::Storms;
use crate::world::{Map, Maps};
use crate::wormholes::{Place, Wormholes};

impl Bridge<'_> {
    /// What a pilot wants to happen, where pilots may.
    pub(super) fn force(&mut self, fleet: Entity, force: Force) -> Result<Done, Refusal> {
        if !self.world.resource::<OperatorOps>().0 {
            return Err(Refusal::NotOperator);
        }
        self.have(Some(fleet), force)
    }

    /// Has something happen, around the ship that a fleet's pilot flies if there is one.
    pub(super) fn have(&mut self, fleet: Option<Entity>, force: Force) -> Result<Done, Refusal> {
        let (Force::Storm(key) | Force::Incursion(key) | Force::Wormhole(key) | Force::Squad(key, _)) = force;
        let map = self.world.resource::<Maps>().get(key).ok_or(Refusal::NoSuchMap)?;
        let near = fleet.ok_or(Refusal::NoShip).and_then(|fleet| self.whereabouts(fleet));
        match force {
            // Where storms land: not amid the orders of a step.
            Force::Storm(key) => self.world.resource_mut::<Storms>().force(key),
            Force::Incursion(key) => {
                let around = near.ok().filter(|place| place.map == key).map(|place| place.hex);
                if !incursions::begin(self.world, key, around.filter(|&hex| hex != Hex::CENTRE), self.now) {
                    return Err(Refusal::IncursionOn);
                }
            }
            Force::Wormhole(_) => {
                let near = near?;
                if near.map == key {
                    return Err(Refusal::SameMap);
                }
                let far = self.world.get::<Map>(map).map(|map| map.layout.hexes().to_vec()).unwrap_or_default();
                let (now, balance) = (self.now, std::sync::Arc::clone(&self.balance));
                let mut wormholes = self.world.resource_mut::<Wormholes>();
                let hex = wormholes.draw_hex(&far);
                wormholes.open([near, Place { map: key, hex }], false, now, &balance.wormholes);
            }
            Force::Squad(_, hex) => squads::muster(self.world, map, hex)?,
        }
        Ok(Done::Forced(force))
    }

    /// Where the ship that a pilot flies is in space.
    fn whereabouts(&self, fleet: Entity) -> Result<Place, Refusal> {
        self.place(self.sector(self.active(fleet)?)?)
    }
}
