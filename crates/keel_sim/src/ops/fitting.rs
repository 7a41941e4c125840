//! Fitting, repairs and hulls, in dock (rules 2, 3 and 8).

use bevy_ecs::prelude::*;
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, Line, Module, Sheet, Slot};

use super::Bridge;
use crate::docks::make_whole;
use crate::ids::{ModuleId, PilotId};
use crate::orders::{Done, Part, Refusal};
use crate::world::{Arrival, Docked, Fitted, Haven, Hold, Pilot, ShipSpec, Spot, remove_ship, set_fit, spawn_ship};

impl Bridge<'_> {
    fn dock_of(&self, ship: Entity) -> Result<Entity, Refusal> {
        self.world.get::<Docked>(ship).map(|docked| docked.0).ok_or(Refusal::NotDocked)
    }

    /// The Haven at which a ship is docked.
    fn haven_of(&self, ship: Entity) -> Result<Entity, Refusal> {
        let dock = self.dock_of(ship)?;
        if self.world.get::<Haven>(dock).is_some() { Ok(dock) } else { Err(Refusal::NoHaven) }
    }

    pub(super) fn fit(&mut self, ship: Entity, fleet: Entity, slot: Slot, part: Part) -> Result<Done, Refusal> {
        self.dock_of(ship)?;
        let hold = self.get::<Hold>(fleet)?;
        let module = match part {
            Part::Hold(id) => Some(*hold.get(id).ok_or(Refusal::NoSuchModule)?),
            Part::Yard(kind, faction) => {
                self.haven_of(ship)?;
                if !self.balance.yard.factions.contains(&faction) {
                    return Err(Refusal::NotInYard);
                }
                Some(Module::common(kind, faction))
            }
            Part::Empty => None,
        };
        let fit = self.get::<Fitted>(ship)?.0;
        let fitted = fit.fitted(&self.balance, slot, module)?;
        let removed = fit.slot(slot).copied().flatten();
        let taken = usize::from(matches!(part, Part::Hold(_)));
        if removed.is_some() && hold.iter().len() - taken >= self.balance.yard.hold.into() {
            return Err(Refusal::HoldFull);
        }
        set_fit(self.world, ship, fitted)?;
        make_whole(self.world, ship);
        let mut hold = self.get_mut::<Hold>(fleet)?;
        if let Part::Hold(id) = part {
            hold.take(id);
        }
        Ok(Done::Fitted { kept: removed.map(|module| hold.keep(module)) })
    }

    pub(super) fn repair(&mut self, ship: Entity, slot: Slot) -> Result<Done, Refusal> {
        self.haven_of(ship)?;
        let fit = self.get::<Fitted>(ship)?.0;
        let module = fit.slot(slot).copied().flatten().ok_or(Refusal::EmptySlot)?;
        let repaired = module.repaired(&self.balance.wear)?;
        let fitted = fit.fitted(&self.balance, slot, Some(repaired))?;
        set_fit(self.world, ship, fitted)?;
        make_whole(self.world, ship);
        Ok(Done::Repaired(repaired))
    }

    pub(super) fn commission(
        &mut self,
        pilot: PilotId,
        fleet: Entity,
        class: ClassId,
        line: Line,
    ) -> Result<Done, Refusal> {
        let dock = self.haven_of(self.active(fleet)?)?;
        let fit = Fit { line, ..Fit::bare(class) };
        if self.balance.is_structure(class.name(&self.balance)) {
            return Err(Refusal::NotInYard);
        }
        Sheet::new(&self.balance, &fit)?;
        if self.ships_of(fleet).len() >= self.balance.fleet.into() {
            return Err(Refusal::FleetFull);
        }
        let spec = ShipSpec {
            owner: Owner::Pilot(pilot.0),
            fleet,
            faction: self.balance.starter.faction,
            fit,
            spot: Spot::Dock(dock),
            arrival: Arrival::default(),
        };
        let (id, _) = spawn_ship(self.world, spec)?;
        Ok(Done::Commissioned(id))
    }

    pub(super) fn scrap(&mut self, ship: Entity, fleet: Entity) -> Result<Done, Refusal> {
        self.dock_of(ship)?;
        let ships = self.ships_of(fleet);
        if ships.len() < 2 {
            return Err(Refusal::LastShip);
        }
        let fit = self.get::<Fitted>(ship)?.0;
        if self.get::<Hold>(fleet)?.iter().len() + fit.modules().count() > self.balance.yard.hold.into() {
            return Err(Refusal::HoldFull);
        }
        let id = self.ship(ship)?.id;
        let mut hold = self.get_mut::<Hold>(fleet)?;
        for (_, module) in fit.modules() {
            hold.keep(*module);
        }
        remove_ship(self.world, ship);
        Pilot::replace_active(self.world, fleet, id);
        Ok(Done::Scrapped)
    }

    pub(super) fn drop_module(&mut self, fleet: Entity, module: ModuleId) -> Result<Done, Refusal> {
        self.get::<Hold>(fleet)?.get(module).ok_or(Refusal::NoSuchModule)?;
        self.get_mut::<Hold>(fleet)?.take(module);
        Ok(Done::Dropped)
    }
}
