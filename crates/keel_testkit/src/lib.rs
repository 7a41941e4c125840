//! A world to test and measure in: built in a line, stepped by whole steps, with a record of all that happened.

pub mod soak;
pub mod weather;

use std::sync::Arc;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use keel_balance::{Balance, Faction, Wear};
use keel_map::{Hex, MapKey, MapKind};
use keel_rules::fire::Owner;
use keel_rules::roll::Outcome;
use keel_rules::{ClassId, Dealt, Fit, Sheet};
use keel_sim::{
    Answered, Arrival, Card, Cargo, Docked, Done, Downed, Fitted, Ground, InSector, Key, Locking, Logged, Map, Maps,
    Note, Noted, Now, Op, Order, Orders, Pilot, PilotId, PilotIndex, RebalanceError, Refusal, RestoreError, Row,
    Sector, Ship, ShipId, ShipIndex, ShipSpec, Shot, SimPlugin, SimSet, Spot, SquadId, Struck, StructureKind,
    spawn_pilot, spawn_ship, spawn_squad,
};

/// The balance that ships with the server.
#[must_use]
pub fn shipped_balance() -> Balance {
    Balance::parse("balance.ron", SHIPPED_BALANCE).expect("the shipped balance has no fault")
}

/// The same, but that modules do not wear: for what goes on longer than they would last unchanged.
#[must_use]
pub fn unworn_balance() -> Balance {
    Balance { wear: Wear { shots: u16::MAX, hits: u16::MAX, ..shipped_balance().wear }, ..shipped_balance() }
}

/// Its text.
pub const SHIPPED_BALANCE: &str = include_str!("../../../balance.ron");

/// Hops from the centre of a plain map to its rim: 217 sectors.
pub const RADIUS: u8 = 8;

/// What a world is made of.
pub struct Setup {
    /// Every number.
    pub balance: Arc<Balance>,
    /// Whether the layers are generated, or plain hexagons.
    pub generated: bool,
    /// Hops from the centre of a plain hexagon to its rim.
    pub radius: u8,
    /// The layer where everything comes into the world, 1 to 6.
    pub layer: u8,
    /// Whether the other eleven maps are there too.
    pub others: bool,
    /// What every chance follows from.
    pub seed: u64,
    /// Threads that a step may use.
    pub threads: usize,
    /// Whether NPC squads fill the maps.
    pub squads: bool,
}

impl Default for Setup {
    /// An empty open-fire layer of the shipped balance.
    fn default() -> Self {
        Self {
            balance: Arc::new(shipped_balance()),
            generated: false,
            radius: RADIUS,
            layer: 3,
            others: false,
            seed: 7,
            threads: 1,
            squads: false,
        }
    }
}

/// All that a world has told.
#[derive(Resource, Debug, Default)]
struct Heard {
    shots: Vec<Shot>,
    answers: Vec<Answered>,
    notes: Vec<(u64, Noted)>,
}

/// A world.
pub struct Game {
    /// The app that runs it.
    pub app: App,
    balance: Arc<Balance>,
    pilots: u32,
    squads: u32,
    seq: u32,
    map: MapKey,
}

impl Default for Game {
    fn default() -> Self {
        Self::new(Setup::default())
    }
}

impl Game {
    /// A world of that setup, before its first step.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        let mut game = Self::unheard(setup);
        game.app.init_resource::<Heard>().add_systems(FixedUpdate, hear.in_set(SimSet::Replicate));
        game
    }

    /// A world that keeps no record, to be measured.
    #[must_use]
    pub fn unheard(setup: Setup) -> Self {
        let Setup { balance, generated, radius, layer, others, seed, threads, squads } = setup;
        let maps = if others { MapKey::all().collect() } else { vec![MapKey::layer(layer)] };
        let ground = if generated { Ground::Generated } else { Ground::Open(radius) };
        let sim = SimPlugin { balance: Arc::clone(&balance), ground, maps, start: layer, seed, threads, squads };
        let mut app = App::new();
        app.add_plugins((TimePlugin, sim))
            .insert_resource(bevy_time::Time::<bevy_time::Fixed>::from_hz(keel_rules::STEPS_PER_SECOND.into()))
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
        app.finish();
        app.cleanup();
        // The first update moves no time.
        app.update();
        Self { app, balance, pilots: 0, squads: 0, seq: 0, map: MapKey::layer(layer) }
    }

    /// A world of that setup that goes on where the rows of another were taken, and is used as that one was.
    ///
    /// # Errors
    /// When the rows make no world.
    pub fn restored(
        setup: Setup,
        like: &Self,
        rows: impl IntoIterator<Item = (Key, Row)>,
    ) -> Result<Self, RestoreError> {
        let mut game = Self::new(setup);
        keel_sim::restore(game.app.world_mut(), rows)?;
        (game.pilots, game.squads, game.seq, game.map) = (like.pilots, like.squads, like.seq, like.map);
        Ok(game)
    }

    /// The balance of the world.
    #[must_use]
    pub fn balance(&self) -> &Balance {
        &self.balance
    }

    /// Has the world go by another balance.
    ///
    /// # Errors
    /// When it cannot.
    pub fn rebalance(&mut self, balance: Balance) -> Result<(), RebalanceError> {
        let balance = Arc::new(balance);
        keel_sim::rebalance(self.app.world_mut(), Arc::clone(&balance))?;
        self.balance = balance;
        Ok(())
    }

    /// Runs so many steps.
    pub fn step(&mut self, steps: u64) {
        let end = self.now() + steps;
        while self.now() < end {
            self.app.update();
        }
    }

    /// The last step that ran.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.app.world().resource::<Now>().step()
    }

    /// The world's hash.
    #[must_use]
    pub fn hash(&self) -> u64 {
        keel_sim::world_hash(self.app.world())
    }

    /// A new pilot without a ship.
    pub fn pilot(&mut self) -> PilotId {
        self.pilots += 1;
        let id = PilotId(self.pilots);
        spawn_pilot(self.app.world_mut(), id, &format!("pilot {id}"));
        id
    }

    /// A ship of a pilot's at the centre.
    pub fn ship(&mut self, pilot: PilotId, fit: Fit) -> ShipId {
        self.ship_at(pilot, fit, Hex::CENTRE)
    }

    /// A ship of a pilot's in a sector.
    pub fn ship_at(&mut self, pilot: PilotId, fit: Fit, hex: Hex) -> ShipId {
        let fleet = self.fleet_of(pilot);
        self.spawn(Owner::Pilot(pilot.0), fleet, fit, hex)
    }

    /// A new pilot with one ship at the centre.
    pub fn pilot_in(&mut self, fit: Fit) -> (PilotId, ShipId) {
        let pilot = self.pilot();
        (pilot, self.ship(pilot, fit))
    }

    /// An NPC at the centre that nobody's mind flies.
    pub fn drone(&mut self, fit: Fit) -> ShipId {
        self.drone_at(fit, Hex::CENTRE)
    }

    /// An NPC in a sector that nobody's mind flies.
    pub fn drone_at(&mut self, fit: Fit, hex: Hex) -> ShipId {
        let fleet = self.app.world_mut().spawn_empty().id();
        self.spawn(Owner::Npc, fleet, fit, hex)
    }

    /// An NPC squad in a sector.
    pub fn squad(&mut self, fits: &[Fit], hex: Hex) -> Vec<ShipId> {
        self.squads += 1;
        let id = SquadId(1000 + self.squads);
        let fleet = spawn_squad(self.app.world_mut(), id);
        fits.iter().map(|&fit| self.spawn(Owner::Npc, fleet, fit, hex)).collect()
    }

    fn spawn(&mut self, owner: Owner, fleet: Entity, fit: Fit, hex: Hex) -> ShipId {
        let spot = Spot::Space(self.sector(self.map, hex));
        let spec = ShipSpec { owner, fleet, faction: Faction::Human, fit, spot, arrival: Arrival::default() };
        spawn_ship(self.app.world_mut(), spec).expect("a fit that makes a ship").0
    }

    /// A pilot's entity.
    #[must_use]
    pub fn fleet_of(&self, pilot: PilotId) -> Entity {
        self.app.world().resource::<PilotIndex>().get(pilot).expect("a pilot of this world")
    }

    /// A component of a pilot.
    #[must_use]
    pub fn of_pilot<C: Component>(&self, pilot: PilotId) -> &C {
        self.app.world().get::<C>(self.fleet_of(pilot)).expect("every pilot has it")
    }

    /// The ship that a pilot flies.
    #[must_use]
    pub fn active(&self, pilot: PilotId) -> Option<ShipId> {
        self.of_pilot::<Pilot>(pilot).active
    }

    /// Where ships come into the world from now on.
    pub const fn go_on_at(&mut self, map: MapKey) {
        self.map = map;
    }

    /// The sector at a place of a map.
    #[must_use]
    pub fn sector(&self, map: MapKey, hex: Hex) -> Entity {
        let world = self.app.world();
        let map = world.resource::<Maps>().get(map).expect("a map of this world");
        world.get::<Map>(map).and_then(|map| map.sector(hex)).expect("a sector of the map")
    }

    /// A hull of a class with gun, armor and shield of one make.
    #[must_use]
    pub fn common(&self, class: u8, faction: Faction) -> Fit {
        Fit::common(&self.balance, ClassId(class), faction)
    }

    /// Lets an order wait for the next step.
    pub fn order(&mut self, pilot: PilotId, op: Op) -> u32 {
        self.seq += 1;
        self.app.world_mut().resource_mut::<Orders>().push(Order { pilot, seq: self.seq, op });
        self.seq
    }

    /// Runs a step in which a pilot is no longer connected.
    pub fn leave(&mut self, pilot: PilotId) {
        self.app.world_mut().resource_mut::<Orders>().leave(pilot);
        self.step(1);
    }

    /// Runs a step with an order in it; the answer.
    pub fn op(&mut self, pilot: PilotId, op: Op) -> Result<Done, Refusal> {
        let seq = self.order(pilot, op);
        self.step(1);
        self.answers().iter().find(|answer| answer.seq == seq).expect("an answer in the same step").result
    }

    /// Gives a pilot plenty of whatever structures take.
    pub fn stock(&mut self, pilot: PilotId) {
        let fleet = self.fleet_of(pilot);
        let plenty = Cargo { ore: 10_000, gas: 10_000, material: 10_000, ..Cargo::default() };
        self.app.world_mut().entity_mut(fleet).insert(plenty);
    }

    /// Runs a step in which a pilot who lacks nothing has a berth built; the answer.
    pub fn build_berth(&mut self, pilot: PilotId, ship: ShipId) -> Result<Done, Refusal> {
        self.stock(pilot);
        self.op(pilot, Op::Build { ship, kind: StructureKind::Berth })
    }

    /// Runs a step with an order in it that is to be refused with those words.
    ///
    /// # Panics
    /// When it is accepted, or refused in other words.
    #[track_caller]
    pub fn refuses(&mut self, pilot: PilotId, op: Op, text: &str) {
        match self.op(pilot, op.clone()) {
            Ok(done) => panic!("{op:?} was accepted: {done:?}"),
            Err(refusal) => assert_eq!(refusal.to_string(), text, "{op:?}"),
        }
    }

    /// A pilot's log has that line from the last step.
    ///
    /// # Panics
    /// When it has not.
    #[track_caller]
    pub fn says(&self, pilot: PilotId, line: &str) {
        let log = self.log(pilot);
        assert!(log.contains(&(self.now(), line.to_owned())), "no `{line}` in {log:#?}");
    }

    /// Every answer.
    #[must_use]
    pub fn answers(&self) -> &[Answered] {
        &self.app.world().resource::<Heard>().answers
    }

    /// Every shot.
    #[must_use]
    pub fn shots(&self) -> &[Shot] {
        &self.app.world().resource::<Heard>().shots
    }

    /// Every shot of one ship.
    pub fn shots_of(&self, ship: ShipId) -> impl Iterator<Item = &Shot> {
        self.shots().iter().filter(move |shot| shot.shooter.id == ship)
    }

    /// Every line of a pilot's log, with its step.
    #[must_use]
    pub fn log(&self, pilot: PilotId) -> Vec<(u64, String)> {
        let notes = self.app.world().resource::<Heard>().notes.iter().filter(|(_, noted)| noted.pilot == pilot);
        notes.map(|(step, noted)| (*step, noted.text(self.app.world()))).collect()
    }

    /// The steps in which a pilot was told that.
    pub fn steps_noted(&self, pilot: PilotId, tells: impl Fn(&Note) -> bool) -> Vec<u64> {
        let notes = &self.app.world().resource::<Heard>().notes;
        notes.iter().filter(|(_, noted)| noted.pilot == pilot && tells(&noted.note)).map(|(step, _)| *step).collect()
    }

    /// Whether a ship is in the world.
    #[must_use]
    pub fn lives(&self, ship: ShipId) -> bool {
        self.app.world().resource::<ShipIndex>().get(ship).is_some()
    }

    /// A ship's entity.
    #[must_use]
    pub fn entity(&self, ship: ShipId) -> Entity {
        self.app.world().resource::<ShipIndex>().get(ship).expect("a ship of this world")
    }

    /// A component of a ship.
    #[must_use]
    pub fn get<C: Component>(&self, ship: ShipId) -> &C {
        self.app.world().get::<C>(self.entity(ship)).expect("every ship has it")
    }

    /// Changes a component of a ship between steps.
    pub fn set(&mut self, ship: ShipId, component: impl Bundle) {
        let entity = self.entity(ship);
        self.app.world_mut().entity_mut(entity).insert((component, keel_sim::Awake));
    }

    /// A ship's card.
    #[must_use]
    pub fn card(&self, ship: ShipId) -> &Sheet {
        &self.get::<Card>(ship).0
    }

    /// The ship that a ship locks or has locked.
    #[must_use]
    pub fn target(&self, ship: ShipId) -> Option<ShipId> {
        let locking = self.find::<Locking>(ship)?;
        self.app.world().get::<Ship>(locking.0).map(|ship| ship.id)
    }

    /// A component that not every ship has.
    #[must_use]
    pub fn find<C: Component>(&self, ship: ShipId) -> Option<&C> {
        self.app.world().get::<C>(self.entity(ship))
    }

    /// Changes a component of a ship between steps, in place.
    pub fn change<C: Component<Mutability = bevy_ecs::component::Mutable>>(
        &mut self,
        ship: ShipId,
        change: impl FnOnce(&mut C),
    ) {
        let entity = self.entity(ship);
        let mut ship = self.app.world_mut().entity_mut(entity);
        change(&mut *ship.get_mut::<C>().expect("every ship has it"));
        ship.insert(keel_sim::Awake);
    }

    /// Takes a component from a ship between steps.
    pub fn remove<C: Component>(&mut self, ship: ShipId) {
        let entity = self.entity(ship);
        self.app.world_mut().entity_mut(entity).remove::<C>();
    }

    /// Destroys a ship as a shot would, in the next step's own phase for that.
    pub fn kill(&mut self, ship: ShipId) {
        self.kill_all(&[ship]);
    }

    /// Destroys ships, all in the next step.
    pub fn kill_all(&mut self, ships: &[ShipId]) {
        for &ship in ships {
            let entity = self.entity(ship);
            self.app.world_mut().write_message(Downed { ship: entity, by: None });
        }
        self.step(1);
    }

    /// Destroys a ship as a shot of another's would.
    pub fn kill_by(&mut self, ship: ShipId, by: ShipId) {
        let (ship, by) = (self.entity(ship), Some(self.entity(by)));
        self.app.world_mut().write_message(Downed { ship, by });
        self.step(1);
    }

    /// A hit of a pilot's on a ship, as the next step counts it: of so much hull, which the ship keeps.
    pub fn hurt(&mut self, pilot: PilotId, target: ShipId, hull: f32) {
        let ship = self.active(pilot).unwrap_or_else(|| self.ship(pilot, Fit::bare(ClassId(0))));
        let (shooter, target) = (self.entity(ship), self.entity(target));
        let dealt = Dealt { hull, ..Dealt::default() };
        self.app.world_mut().write_message(Struck { shooter, target, outcome: Outcome::Hit, raw: hull, dealt });
    }

    /// Changes what is fitted to a ship between steps, with the card that comes of it.
    pub fn refit(&mut self, ship: ShipId, change: impl FnOnce(&mut Fit)) {
        let mut fit = self.get::<Fitted>(ship).0;
        change(&mut fit);
        let sheet = Sheet::new(&self.balance, &fit).expect("a fit that makes a ship");
        self.set(ship, (Fitted(fit), Card(Arc::new(sheet))));
    }

    /// Whether a ship is docked.
    #[must_use]
    pub fn is_docked(&self, ship: ShipId) -> bool {
        self.find::<Docked>(ship).is_some()
    }

    /// The number of the layer that a ship is on.
    #[must_use]
    pub fn layer(&self, ship: ShipId) -> u8 {
        let map = self.map(ship);
        assert_eq!(map.kind, MapKind::Layer);
        map.tier
    }

    /// The map that a ship is on.
    #[must_use]
    pub fn map(&self, ship: ShipId) -> MapKey {
        let world = self.app.world();
        let sector = self.find::<InSector>(ship).map(|sector| sector.0);
        let sector = sector.or(self.find::<Docked>(ship).map(|docked| docked.0)).expect("a place of this world");
        world.get::<Sector>(sector).and_then(|sector| world.get::<Map>(sector.map)).expect("a sector's map").key
    }

    /// Where a ship is in space.
    #[must_use]
    pub fn hex(&self, ship: ShipId) -> Hex {
        self.app.world().get::<Sector>(self.get::<InSector>(ship).0).unwrap().hex
    }

    /// Every ship, in the order of ids.
    #[must_use]
    pub fn ships(&self) -> Vec<Ship> {
        let world = self.app.world();
        world.resource::<ShipIndex>().iter().filter_map(|(_, entity)| world.get::<Ship>(entity).copied()).collect()
    }
}

fn hear(
    now: Res<Now>,
    mut heard: ResMut<Heard>,
    mut shots: MessageReader<Logged>,
    mut answers: MessageReader<Answered>,
    mut notes: MessageReader<Noted>,
) {
    heard.shots.extend(shots.read().map(|logged| logged.0));
    heard.answers.extend(answers.read());
    heard.notes.extend(notes.read().map(|&noted| (now.step(), noted)));
}
