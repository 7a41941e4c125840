//! Wrecks, harvests and structures (rule 11).

use bevy_ecs::prelude::*;
use keel_balance::Structure as StructureRule;
use keel_map::Terrain;

use super::Bridge;
use crate::harvest::Harvest;
use crate::ids::{PilotId, WreckId};
use crate::orders::{Done, Refusal};
use crate::pay::{LiesIn, Wreck, WreckIndex};
use crate::structures::{self, Structure, StructureKind};
use crate::world::{Cargo, Haven, Hold, Sector};

impl Bridge<'_> {
    /// What is in a wreck goes to the pilot, and is there no more. Modules that the hold has no room for stay in it.
    pub(super) fn take(&mut self, ship: Entity, fleet: Entity, id: WreckId) -> Result<Done, Refusal> {
        let sector = self.at_rest(ship)?;
        let wreck = self.world.resource::<WreckIndex>().get(id).ok_or(Refusal::NoWreck)?;
        if self.world.get::<LiesIn>(wreck).is_none_or(|lies| lies.0 != sector) {
            return Err(Refusal::NoWreck);
        }
        let room = usize::from(self.balance.yard.hold).saturating_sub(self.get::<Hold>(fleet)?.iter().len());
        let mut load = self.world.get::<Wreck>(wreck).map(|wreck| wreck.load.clone()).ok_or(Refusal::NoWreck)?;
        let fits = room.min(load.modules.len());
        if fits == 0 && load.material == 0 && load.remnants == 0 && load.copy.is_none() {
            return Err(Refusal::HoldFull);
        }
        let taken: Vec<_> = load.modules.drain(..fits).collect();
        let (material, remnants) = (std::mem::take(&mut load.material), std::mem::take(&mut load.remnants));
        let copy = load.copy.take();
        let left = load.modules.len() as u16;
        if load.is_empty() {
            self.world.resource_mut::<WreckIndex>().remove(id);
            self.world.despawn(wreck);
        } else if let Some(mut wreck) = self.world.get_mut::<Wreck>(wreck) {
            wreck.load = load;
        }
        let mut hold = self.get_mut::<Hold>(fleet)?;
        for module in taken {
            hold.keep(module);
        }
        let mut cargo = self.get_mut::<Cargo>(fleet)?;
        cargo.material += u64::from(material);
        cargo.remnants += u64::from(remnants);
        if let Some(copy) = copy {
            cargo.keep_copy(copy);
        }
        Ok(Done::Taken { modules: fits as u16, left, material, remnants, copies: copy.is_some().into() })
    }

    pub(super) fn harvest(&mut self, ship: Entity) -> Result<Done, Refusal> {
        let sector = self.at_rest(ship)?;
        if self.world.get::<Harvest>(ship).is_some() {
            return Err(Refusal::AlreadyHarvesting);
        }
        let (here, map) = self.map(sector)?;
        if !matches!(map.layout.terrain(here.hex), Some(Terrain::Belt { .. } | Terrain::Cloud { .. })) {
            return Err(Refusal::NothingHere);
        }
        let takes = self.balance.harvest.takes_s.into();
        self.world.entity_mut(ship).insert(Harvest { ends: self.now + takes });
        Ok(Done::Harvesting { takes })
    }

    /// A charter's head has something built, for what is in their cargo.
    pub(super) fn build(
        &mut self,
        ship: Entity,
        fleet: Entity,
        pilot: PilotId,
        kind: StructureKind,
    ) -> Result<Done, Refusal> {
        let charter = self.headed_by(pilot)?;
        let sector = self.at_rest(ship)?;
        if !self.map(sector)?.1.structures {
            return Err(Refusal::NoStructures);
        }
        if self.world.get::<Haven>(sector).is_some() || self.world.get::<Structure>(sector).is_some() {
            return Err(Refusal::SectorTaken);
        }
        let StructureRule { most, ore, gas, material, .. } = *kind.rule(&self.balance);
        let map = self.map(sector)?.0.map;
        let mut all = self.world.query::<(&Structure, &Sector)>();
        if all.iter(self.world).filter(|(_, sector)| sector.map == map).count() >= self.balance.structures.a_map.into()
        {
            return Err(Refusal::MapBuilt);
        }
        let mut all = self.world.query::<&Structure>();
        let is_one = |structure: &&Structure| (structure.charter, structure.kind) == (charter, kind);
        if all.iter(self.world).filter(is_one).count() >= most.into() {
            return Err(Refusal::AllBuilt(most));
        }
        let cargo = self.get::<Cargo>(fleet)?;
        let left = (
            cargo.ore.checked_sub(ore.into()),
            cargo.gas.checked_sub(gas.into()),
            cargo.material.checked_sub(material.into()),
        );
        let (Some(ore_left), Some(gas_left), Some(material_left)) = left else {
            let (has_ore, has_gas, has_material) = (cargo.ore, cargo.gas, cargo.material);
            return Err(Refusal::TooDear { ore, gas, material, has_ore, has_gas, has_material });
        };
        structures::build(self.world, kind, charter, sector)?;
        let mut cargo = self.get_mut::<Cargo>(fleet)?;
        (cargo.ore, cargo.gas, cargo.material) = (ore_left, gas_left, material_left);
        Ok(Done::Built(kind))
    }
}
