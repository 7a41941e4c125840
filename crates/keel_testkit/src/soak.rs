//! The whole world, filled and left to itself for hours of its own time, and what has to hold of it all the while.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bevy_ecs::prelude::*;
use keel_map::{MapKey, MapKind};
use keel_rules::STEPS_PER_SECOND;
use keel_rules::fire::Owner;
use keel_sim::{
    Docked, Fleet, InFleet, InSector, Incursions, Map, Maps, Occupants, PilotIndex, Sector, Ship, ShipIndex, Squad,
    Storms, Structure, WallClock, Wormholes, WreckIndex,
};

use crate::{Game, Setup};

/// Steps in a minute.
const MINUTE: u64 = 60 * STEPS_PER_SECOND as u64;

/// When a soak begins, by the clock of the wall: a midnight, UTC.
const MIDNIGHT: u64 = 20_000 * 86_400;

/// A world that is left to itself.
pub struct Soak {
    /// The world.
    pub game: Game,
    /// Entities that are neither maps, sectors, ships, squads, wrecks, pilots nor structures: the engine's own.
    others: Option<usize>,
    minutes: u64,
    /// Incursions that have been on.
    incursions: u32,
}

/// What a world holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Entities in all.
    pub entities: usize,
    /// NPCs.
    pub npcs: usize,
    /// NPC squads.
    pub squads: usize,
    /// Storms that have passed.
    pub storms: u32,
    /// Incursions that have been on.
    pub incursions: u32,
}

impl Soak {
    /// All twelve maps, generated and filled from that seed on.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let setup = Setup { layer: 1, others: true, generated: true, squads: true, seed, ..Setup::default() };
        let mut soak = Self { game: Game::unheard(setup), others: None, minutes: 0, incursions: 0 };
        soak.tick(40, &mut |_| {});
        soak
    }

    /// Runs so many steps, with the clock of the wall beside them; how long each took.
    fn tick(&mut self, steps: u64, took: &mut dyn FnMut(Duration)) {
        for _ in 0..steps {
            let clock = MIDNIGHT + self.game.now() / u64::from(STEPS_PER_SECOND);
            self.game.app.world_mut().resource_mut::<WallClock>().set(clock);
            let start = Instant::now();
            self.game.step(1);
            took(start.elapsed());
        }
    }

    /// Runs a minute of the world's time, and checks all that has to hold after it.
    ///
    /// # Errors
    /// With what does not hold.
    pub fn minute(&mut self) -> Result<Held, String> {
        self.minute_timed(&mut |_| {})
    }

    /// The same, and tells how long each step took.
    ///
    /// # Errors
    /// With what does not hold.
    pub fn minute_timed(&mut self, took: &mut dyn FnMut(Duration)) -> Result<Held, String> {
        self.tick(MINUTE, took);
        self.minutes += 1;
        let last = self.game.app.world().resource::<Incursions>().iter().map(|(id, _)| id.0).max();
        self.incursions = self.incursions.max(last.unwrap_or(0));
        let minutes = self.minutes;
        self.check().map_err(|problem| format!("after {minutes} min: {problem}"))
    }

    fn check(&mut self) -> Result<Held, String> {
        self.check_caps()?;
        self.check_bonds()?;
        self.check_doors()?;
        self.count()
    }

    /// No sector and no map holds more than it may.
    fn check_caps(&self) -> Result<(), String> {
        let world = self.game.app.world();
        let blocks: BTreeMap<MapKey, Vec<_>> =
            world.resource::<Incursions>().iter().map(|(_, on)| (on.map, on.block.clone())).collect();
        for map in world.resource::<Maps>().iter().filter_map(|map| world.get::<Map>(map)) {
            for (&hex, &sector) in map.layout.hexes().iter().zip(map.sectors()) {
                let npcs = world.get::<Occupants>(sector).into_iter().flat_map(Occupants::iter);
                let npcs =
                    npcs.filter(|&ship| world.get::<Ship>(ship).is_some_and(|ship| ship.owner == Owner::Npc)).count();
                let invaded = blocks.get(&map.key).is_some_and(|block| block.contains(&hex));
                let cap = if invaded { map.incursion_cap } else { map.sector_cap };
                if npcs > cap.into() {
                    return Err(format!("{npcs} NPCs at {hex} of {}, which has room for {cap}", map.key));
                }
            }
        }
        Ok(())
    }

    /// Whatever belongs to something is what that holds: no orphan.
    fn check_bonds(&mut self) -> Result<(), String> {
        let world = self.game.app.world_mut();
        for (id, ship) in world.resource::<ShipIndex>().iter() {
            let fleet = world.get::<InFleet>(ship).map(|of| of.0);
            let in_fleet = fleet
                .and_then(|fleet| world.get::<Fleet>(fleet))
                .is_some_and(|fleet| fleet.iter().any(|of| of == ship));
            let docked = world.get::<Docked>(ship).map(|at| at.0);
            let sector = world.get::<InSector>(ship).map(|at| at.0);
            let is_there = |sector: Entity| {
                let place = world.get::<Sector>(sector)?;
                (world.get::<Map>(place.map)?.sector(place.hex) == Some(sector)).then_some(())
            };
            let holds = sector.is_none_or(|sector| {
                world.get::<Occupants>(sector).is_some_and(|occupants| occupants.iter().any(|of| of == ship))
            });
            if !in_fleet || !holds || sector.or(docked).and_then(is_there).is_none() {
                return Err(format!("ship {id} is nowhere, or nobody's"));
            }
        }
        let mut squads = world.query::<(&Squad, Option<&Fleet>)>();
        let empty = squads.iter(world).filter(|(_, fleet)| fleet.is_none_or(|fleet| fleet.iter().len() == 0)).count();
        let sectors: usize = world
            .resource::<Maps>()
            .iter()
            .filter_map(|map| world.get::<Map>(map))
            .map(|map| map.sectors().len())
            .sum();
        let all = world.query::<&Sector>().iter(world).count();
        if empty > 0 || sectors != all {
            return Err(format!("{empty} squads without ships, and {all} sectors of {sectors}"));
        }
        Ok(())
    }

    /// Two wormholes from every layer, and one exit from every Rift.
    fn check_doors(&self) -> Result<(), String> {
        let wormholes = self.game.app.world().resource::<Wormholes>();
        for key in MapKey::all() {
            let of = wormholes.iter().filter(|(_, wormhole)| wormhole.ends[0].map == key);
            let (exits, doors): (Vec<_>, Vec<_>) = of.partition(|(_, wormhole)| wormhole.is_exit);
            let expected = if key.kind == MapKind::Rift { (1, 0) } else { (0, 2) };
            if (exits.len(), doors.len()) != expected {
                return Err(format!("{key} has {} exits and {} doors", exits.len(), doors.len()));
            }
        }
        Ok(())
    }

    /// Counts what there is. Every entity is something that is known.
    fn count(&mut self) -> Result<Held, String> {
        let world = self.game.app.world_mut();
        let entities = world.query::<Entity>().iter(world).count();
        let squads = world.query::<&Squad>().iter(world).count();
        let sectors = world.query::<&Sector>().iter(world).count();
        let structures = world.query::<&Structure>().iter(world).count();
        let ships = world.resource::<ShipIndex>().iter().len();
        let known = world.resource::<Maps>().iter().len()
            + sectors
            + ships
            + squads
            + structures
            + world.resource::<WreckIndex>().iter().len()
            + world.resource::<PilotIndex>().iter().len();
        let others = entities - known;
        if *self.others.get_or_insert(others) != others {
            return Err(format!("{others} entities are nothing that is known"));
        }
        let npcs = world.query::<&Ship>().iter(world).filter(|ship| ship.owner == Owner::Npc).count();
        let storms = world.resource::<Storms>().passed();
        Ok(Held { entities, npcs, squads, storms, incursions: self.incursions })
    }
}

/// Memory that the process holds, in bytes, where the system tells it.
#[must_use]
pub fn memory() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    // What every Linux that this runs on has.
    Some(pages * 4096)
}
