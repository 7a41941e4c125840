//! Wrecks (rule 11).

use bevy_ecs::prelude::*;

use super::Bridge;
use crate::ids::WreckId;
use crate::orders::{Done, Refusal};
use crate::pay::{LiesIn, Wreck, WreckIndex};
use crate::world::{Cargo, Hold};

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
}
