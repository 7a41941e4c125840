//! Replication by `bevy_replicon`, as a careful user of it would set it up.
//!
//! Components are few, since each costs a look for every client that sees the ship. What only owners may know is an entity
//! for each of them: a filter by component would hide something of nearly every ship from nearly every client, and replicon
//! then visits all such ships for all clients in every step. Timers go when they begin, and what clients can count
//! themselves is not replicated.

use std::time::{Duration, Instant};

use bevy::app::TaskPoolPlugin;
use bevy::ecs::schedule::{ScheduleLabel, SingleThreadedExecutor};
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy::time::TimePlugin;
use bevy_replicon::bytes::Bytes;
use bevy_replicon::prelude::*;
use bevy_replicon::shared::backend::channels::{ClientChannel, ServerChannel};
use serde::{Deserialize, Serialize};

use crate::system::{Measured, System};
use crate::workload::{FIRST_STEP, Workload};

/// The most bytes of a datagram, as replicon's own tests have it.
const MAX_DATAGRAM: usize = 1200;

/// Where a mutation message has the index by which it is acknowledged: two bytes behind one of flags.
const MUTATE_INDEX: std::ops::Range<usize> = 1..3;

/// Which ships are marked for replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    /// All of them: what each client sees is left to the filter alone.
    All,
    /// Those in sectors that a client sees. A game would have to move the mark as clients move, which is not measured.
    Seen,
}

/// A server that replicates with replicon.
pub(crate) struct Replicon {
    name: &'static str,
    workload: Workload,
    app: App,
    /// By number of the ship.
    ships: Vec<Entity>,
    /// By number of the client: the entity that it alone knows of, and its ships' numbers.
    fleets: Vec<(Entity, Vec<u32>)>,
    /// What clients acknowledge before the next step.
    acks: Vec<(Entity, Vec<u8>)>,
}

/// Who a ship is.
#[derive(Component, Serialize, Deserialize)]
#[component(immutable)]
struct Who {
    id: u32,
    pilot: u32,
    class: u8,
    faction: u8,
}

/// What is left of a ship, each 255 when full.
#[derive(Component, Debug, PartialEq, Serialize, Deserialize)]
struct Pools {
    hull: u8,
    shield: u8,
}

/// What a ship is up to.
#[derive(Component, Debug, PartialEq, Serialize, Deserialize)]
struct Conduct {
    flags: u8,
    /// The id of the ship on which it fires.
    target: u32,
}

/// What the server counts and clients count for themselves: the battery now, 255 when full.
#[derive(Component, PartialEq)]
struct Battery(u8);

/// What a client alone knows of its ships, on an entity of its own.
#[derive(Component, Serialize, Deserialize)]
struct Guns(Vec<Gun>);

/// A gun's cycle, which clients count on from its beginning.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Gun {
    /// The ship's id.
    ship: u32,
    /// The step in which the cycle began.
    since: u32,
    /// The battery then, 255 when full.
    battery: u8,
}

/// The sector that a ship is in, by which it is shown.
#[derive(Component)]
#[component(immutable)]
struct InSector(u32);

/// The sector that a client sees.
#[derive(Component)]
#[component(immutable)]
struct Sees(u32);

impl VisibilityFilter for InSector {
    type ClientComponent = Sees;
    type Scope = Entity;

    fn is_visible(&self, _: Entity, sees: Option<&Sees>) -> bool {
        sees.is_some_and(|sees| sees.0 == self.0)
    }
}

/// The client that alone may know of an entity.
#[derive(Component)]
#[component(immutable)]
struct OwnedBy(Entity);

impl VisibilityFilter for OwnedBy {
    type ClientComponent = AuthorizedClient;
    type Scope = Entity;

    fn is_visible(&self, client: Entity, _: Option<&AuthorizedClient>) -> bool {
        client == self.0
    }
}

impl Replicon {
    /// A server with all clients connected and all ships in space, before the first step.
    pub(crate) fn new(workload: &Workload, marked: Marked) -> Self {
        let name = match marked {
            Marked::All => "replicon",
            Marked::Seen => "replicon, seen sectors marked",
        };
        let mut app = app();
        app.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        app.update();
        let world = app.world_mut();
        let clients: Vec<_> = (0..workload.size().clients)
            .map(|client| {
                world.spawn((ConnectedClient { max_size: MAX_DATAGRAM }, Sees(workload.seen_by(client)))).id()
            })
            .collect();
        let ships = (0..workload.size().ships).map(|ship| spawn_ship(world, workload, marked, ship)).collect();
        let fleets = (0..).zip(clients).map(|(number, client)| spawn_fleet(world, workload, number, client)).collect();
        Self { name, workload: workload.clone(), app, ships, fleets, acks: Vec::new() }
    }

    /// Does to the world what the workload says of `step`.
    fn fight(&mut self, step: u64) {
        let world = self.app.world_mut();
        for (number, &entity) in (0..).zip(&self.ships) {
            let mut ship = world.entity_mut(entity);
            let battery = Battery(self.workload.cycle(step, number).battery_in(step));
            ship.get_mut::<Battery>().expect("a ship has a battery").set_if_neq(battery);
            if self.workload.is_damaged(step, number) {
                *ship.get_mut::<Pools>().expect("a ship has pools") = pools(&self.workload, step, number);
            }
            if self.workload.is_retargeted(step, number) {
                *ship.get_mut::<Conduct>().expect("a ship has a conduct") = conduct(&self.workload, step, number);
            }
        }
        for (fleet, ships) in &self.fleets {
            if ships.iter().any(|&ship| self.workload.is_firing(step, ship)) {
                *world.get_mut::<Guns>(*fleet).expect("a fleet has guns") = guns(&self.workload, step, ships);
            }
        }
    }

    /// Takes in what clients acknowledged and hands over what they are to be told: the times that these two took.
    fn replicate(&mut self) -> (Duration, Duration) {
        let world = self.app.world_mut();
        let mut messages = world.resource_mut::<ServerMessages>();
        for (client, acks) in self.acks.drain(..) {
            messages.insert_received(client, ClientChannel::MutationAcks, acks);
        }
        world.run_schedule(First);
        let acks = timed(|| world.run_schedule(PreUpdate));
        let send = timed(|| world.run_schedule(PostUpdate));
        world.clear_trackers();
        (acks, send)
    }

    /// Takes the messages away as a transport would.
    fn drain(&mut self) -> Vec<(Entity, usize, Bytes)> {
        self.app.world_mut().resource_mut::<ServerMessages>().drain_sent().collect()
    }
}

impl System for Replicon {
    fn name(&self) -> &str {
        self.name
    }

    fn step(&mut self, step: u64) -> Measured {
        self.fight(step);
        let (acks, time) = self.replicate();
        let messages = self.drain();
        self.acks = acknowledge(&messages);
        let bytes = messages.iter().map(|(.., message)| message.len() as u64).sum();
        Measured { time, acks, bytes }
    }
}

/// What each client answers to what it was sent: one message with the indices of all mutation messages, as replicon's own
/// client does.
fn acknowledge(messages: &[(Entity, usize, Bytes)]) -> Vec<(Entity, Vec<u8>)> {
    let mut acks: Vec<(Entity, Vec<u8>)> = Vec::new();
    // All messages of one client come one after the other.
    for (client, _, message) in messages.iter().filter(|(_, channel, _)| *channel == ServerChannel::Mutations as usize)
    {
        let index = &message[MUTATE_INDEX];
        match acks.last_mut() {
            Some((last, indices)) if last == client => indices.extend_from_slice(index),
            _ => acks.push((*client, index.to_vec())),
        }
    }
    acks
}

/// An app with what is replicated and to whom. It replicates with each run of `PostUpdate`, and asks no client for its
/// protocol.
fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, StatesPlugin));
    app.add_plugins(
        RepliconPlugins.set(RepliconSharedPlugin { auth_method: AuthMethod::None }).set(ServerPlugin::new(PostUpdate)),
    );
    app.replicate::<Pools>().replicate::<Conduct>().replicate::<Guns>().replicate_once::<Who>();
    app.add_visibility_filter::<InSector>().add_visibility_filter::<OwnedBy>();
    // Replicon's systems run one after the other anyway, and faster on the thread that they are on.
    for schedule in [PreUpdate.intern(), PostUpdate.intern()] {
        app.edit_schedule(schedule, |schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        });
    }
    app.finish();
    app.cleanup();
    app
}

fn spawn_ship(world: &mut World, workload: &Workload, marked: Marked, ship: u32) -> Entity {
    let sector = workload.sector(ship);
    let who = workload.identity(ship);
    let mut spawned = world.spawn((
        Who { id: who.id, pilot: who.pilot, class: who.class, faction: who.faction },
        pools(workload, FIRST_STEP, ship),
        conduct(workload, FIRST_STEP, ship),
        Battery(workload.cycle(FIRST_STEP, ship).battery_in(FIRST_STEP)),
    ));
    if marked == Marked::All || workload.is_seen(sector) {
        spawned.insert((Replicated, InSector(sector)));
    }
    spawned.id()
}

fn spawn_fleet(world: &mut World, workload: &Workload, number: u32, client: Entity) -> (Entity, Vec<u32>) {
    let ships: Vec<_> = (0..workload.size().ships).filter(|&ship| workload.owner(ship) == Some(number)).collect();
    let fleet = world.spawn((Replicated, OwnedBy(client), guns(workload, FIRST_STEP, &ships))).id();
    (fleet, ships)
}

fn pools(workload: &Workload, step: u64, ship: u32) -> Pools {
    let condition = workload.condition(step, ship);
    Pools { hull: condition.hull, shield: condition.shield }
}

fn conduct(workload: &Workload, step: u64, ship: u32) -> Conduct {
    Conduct { flags: 0, target: workload.target(step, ship) }
}

fn guns(workload: &Workload, step: u64, ships: &[u32]) -> Guns {
    let gun = |&ship| {
        let cycle = workload.cycle(step, ship);
        Gun { ship: workload.identity(ship).id, since: cycle.since as u32, battery: cycle.battery }
    };
    Guns(ships.iter().map(gun).collect())
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Size;

    /// A client with replicon's own receiving side, connected.
    fn client() -> App {
        let mut app = app();
        app.world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
        app.update();
        app
    }

    #[test]
    fn real_clients_acknowledge_alike_and_know_what_they_see() {
        let size = Size { name: "small", ships: 90, sectors: 3, clients: 4, fleet: 2 };
        let workload = Workload::new(size);
        for marked in [Marked::All, Marked::Seen] {
            let mut server = Replicon::new(&workload, marked);
            let owners: Vec<_> = server.fleets.iter().map(|(fleet, _)| owner(&server.app, *fleet)).collect();
            let mut clients: Vec<_> = owners.into_iter().map(|entity| (entity, client())).collect();
            let last = FIRST_STEP + 150;
            for step in FIRST_STEP..=last {
                server.fight(step);
                server.replicate();
                let messages = server.drain();
                let mut acks = Vec::new();
                for (entity, client) in &mut clients {
                    let mut inbox = client.world_mut().resource_mut::<ClientMessages>();
                    for (_, channel, message) in messages.iter().filter(|(to, ..)| to == entity) {
                        inbox.insert_received(*channel, message.clone());
                    }
                    client.update();
                    let mut outbox = client.world_mut().resource_mut::<ClientMessages>();
                    acks.extend(outbox.drain_sent().map(|(_, message)| (*entity, message.to_vec())));
                }
                server.acks = acknowledge(&messages);
                assert_eq!(server.acks, acks, "what clients acknowledge of step {step}");
            }
            for (number, (_, client)) in (0..).zip(&mut clients) {
                check(&workload, last, number, client.world_mut());
            }
        }
    }

    fn owner(app: &App, fleet: Entity) -> Entity {
        app.world().get::<OwnedBy>(fleet).unwrap().0
    }

    /// Compares what a client knows after `step` with what is so.
    fn check(workload: &Workload, step: u64, client: u32, world: &mut World) {
        let mut known = world.query::<(&Who, &Pools, &Conduct)>();
        let mut ids: Vec<_> = known.iter(world).map(|(who, ..)| who.id).collect();
        ids.sort_unstable();
        let seen = (0..workload.size().ships).filter(|&ship| workload.sector(ship) == workload.seen_by(client));
        assert_eq!(ids, seen.map(|ship| ship + 1).collect::<Vec<_>>());
        for (who, is, does) in known.iter(world) {
            let ship = who.id - 1;
            assert_eq!((is, does), (&pools(workload, step, ship), &conduct(workload, step, ship)), "ship {ship}");
        }
        let own: Vec<_> = (0..workload.size().ships).filter(|&ship| workload.owner(ship) == Some(client)).collect();
        assert_eq!(own.len(), workload.size().fleet as usize);
        let fleets: Vec<_> = world.query::<&Guns>().iter(world).map(|guns| &guns.0).collect();
        assert_eq!(fleets, [&guns(workload, step, &own).0]);
    }
}
