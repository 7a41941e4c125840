//! Replication by `bevy_replicon`, as a careful user of it would set it up.
//!
//! What changes together is one component, since each costs a look for every client that sees the ship. What only the owner
//! may know is an entity of its own: a filter by component would hide something of nearly every ship from nearly every
//! client, and replicon then visits such a ship for all of them in every step. Timers go when they begin, and what clients
//! can count themselves is not replicated.

use std::time::{Duration, Instant};

use bevy::app::TaskPoolPlugin;
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
    /// The entities of owners' knowledge, with the ship's number.
    guns: Vec<(u32, Entity)>,
    /// By number of the client.
    clients: Vec<Entity>,
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
#[derive(Component, Serialize, Deserialize)]
struct Pools {
    hull: u8,
    shield: u8,
}

/// What a ship is up to.
#[derive(Component, Serialize, Deserialize)]
struct Conduct {
    flags: u8,
    /// The id of the ship on which it fires.
    target: u32,
}

/// What the server alone counts: the battery now, 255 when full.
#[derive(Component)]
struct Battery(#[expect(dead_code, reason = "what a game would read")] u8);

/// A gun's cycle, which clients count on from its beginning. An entity of its own, beside the ship's.
#[derive(Component, Serialize, Deserialize)]
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
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), TimePlugin, StatesPlugin));
        app.add_plugins(plugins());
        register(&mut app);
        app.finish();
        app.cleanup();
        app.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        app.update();
        let world = app.world_mut();
        let clients: Vec<_> = (0..workload.size().clients)
            .map(|client| {
                world.spawn((ConnectedClient { max_size: MAX_DATAGRAM }, Sees(workload.seen_by(client)))).id()
            })
            .collect();
        let ships = (0..workload.size().ships).map(|ship| spawn_ship(world, workload, marked, ship)).collect();
        let guns = (0..workload.size().ships)
            .filter_map(|ship| {
                let owner = clients[workload.owner(ship)? as usize];
                Some((ship, world.spawn((Replicated, OwnedBy(owner), gun(workload, FIRST_STEP, ship))).id()))
            })
            .collect();
        Self { name, workload: workload.clone(), app, ships, guns, clients, acks: Vec::new() }
    }

    /// Does to the world what the workload says of `step`.
    fn fight(&mut self, step: u64) {
        let world = self.app.world_mut();
        for (number, &entity) in (0..).zip(&self.ships) {
            let mut ship = world.entity_mut(entity);
            ship.insert(Battery(self.workload.cycle(step, number).battery_in(step)));
            if self.workload.is_damaged(step, number) {
                *ship.get_mut::<Pools>().expect("a ship has pools") = pools(&self.workload, step, number);
            }
            if self.workload.is_retargeted(step, number) {
                *ship.get_mut::<Conduct>().expect("a ship has a conduct") = conduct(&self.workload, step, number);
            }
        }
        for &(number, entity) in &self.guns {
            if self.workload.is_firing(step, number) {
                *world.get_mut::<Gun>(entity).expect("a gun of a client's ship") = gun(&self.workload, step, number);
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
        self.acks = acknowledge(&self.clients, &messages);
        let bytes = messages.iter().map(|(.., message)| message.len() as u64).sum();
        Measured { time, acks, bytes }
    }
}

/// What each client answers to what it was sent: one message with the indices of all mutation messages, as replicon's own
/// client does.
fn acknowledge(clients: &[Entity], messages: &[(Entity, usize, Bytes)]) -> Vec<(Entity, Vec<u8>)> {
    let mutations = usize::from(ServerChannel::Mutations as usize);
    let mut acks: Vec<_> = clients.iter().map(|&client| (client, Vec::new())).collect();
    let mut at = 0;
    for (client, channel, message) in messages {
        if *channel != mutations {
            continue;
        }
        // Messages come client by client, in the order in which clients connected.
        while acks[at].0 != *client {
            at = (at + 1) % acks.len();
        }
        acks[at].1.extend_from_slice(&message[MUTATE_INDEX]);
    }
    acks.retain(|(_, indices)| !indices.is_empty());
    acks
}

/// Replicon's plugins: a step of replication with each run of `PostUpdate`, and no client to be asked for its protocol.
fn plugins() -> impl PluginGroup {
    RepliconPlugins
        .set(RepliconSharedPlugin { auth_method: AuthMethod::None })
        .set(ServerPlugin::new(PostUpdate))
}

/// What is replicated, and to whom.
fn register(app: &mut App) {
    app.replicate::<Pools>().replicate::<Conduct>().replicate::<Gun>().replicate_once::<Who>();
    app.add_visibility_filter::<InSector>().add_visibility_filter::<OwnedBy>();
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

fn pools(workload: &Workload, step: u64, ship: u32) -> Pools {
    let condition = workload.condition(step, ship);
    Pools { hull: condition.hull, shield: condition.shield }
}

fn conduct(workload: &Workload, step: u64, ship: u32) -> Conduct {
    Conduct { flags: 0, target: workload.target(step, ship) }
}

fn gun(workload: &Workload, step: u64, ship: u32) -> Gun {
    let cycle = workload.cycle(step, ship);
    Gun { ship: workload.identity(ship).id, since: cycle.since as u32, battery: cycle.battery }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}
