//! The measured worlds as Keel holds them, and clients who look on.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use keel_balance::Faction;
use keel_map::{Hex, MapKey};
use keel_protocol::snapshot::Ack;
use keel_protocol::{CHANNEL_LOSSY, connection_config};
use keel_rules::Moment;
use keel_server::{Replication, SNAPSHOT_BYTES, Viewer};
use keel_sim::{Awake, Battery, Card, Gun, Locking, Powers};
use keel_testkit::{Game, Setup};
use renet::RenetServer;

use crate::workload::Workload;

/// Hops from the centre of a map to its rim: twelve such maps have 3,000 sectors of which no two touch.
const RADIUS: u8 = 18;

/// A world, its replication and its clients' connections.
pub(crate) struct Keel {
    workload: Workload,
    game: Game,
    ships: Vec<Entity>,
    replication: Replication,
    clients: Vec<Client>,
    transport: RenetServer,
}

struct Client {
    id: u64,
    pilot: Entity,
    viewer: Viewer,
    /// Packets that were sent to it.
    packets: u64,
}

impl Keel {
    /// The world of a workload, before its first step, with everyone connected.
    pub(crate) fn new(workload: &Workload) -> Self {
        let size = workload.size();
        let mut game = Game::unheard(Setup { others: true, radius: RADIUS, ..Setup::default() });
        let sectors = lonely_sectors();
        let pilots: Vec<_> = (0..size.clients).map(|_| game.pilot()).collect();
        let factions = [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker];
        let ships = (0..size.ships).map(|ship| {
            let identity = workload.identity(ship);
            let fit = game.common(identity.class, factions[usize::from(identity.faction)]);
            let (map, hex) = sectors[workload.sector(ship) as usize];
            game.go_on_at(map);
            let id = match workload.owner(ship) {
                Some(client) => game.ship_at(pilots[client as usize], fit, hex),
                None => game.drone_at(fit, hex),
            };
            // A shield that a Jam silences does not refill: it changes when it is damaged, as the workload has it.
            game.change::<Powers>(id, |powers| powers.jammed_until = Moment::of_step(u64::from(u32::MAX)));
            game.entity(id)
        });
        let ships: Vec<_> = ships.collect();
        let mut transport = RenetServer::new(connection_config());
        let clients = (1..).zip(&pilots).map(|(id, &pilot)| {
            transport.add_connection(id);
            Client { id, pilot: game.fleet_of(pilot), viewer: Viewer::new(SNAPSHOT_BYTES), packets: 0 }
        });
        let clients = clients.collect();
        let replication = Replication::default();
        Self { workload: workload.clone(), game, ships, replication, clients, transport }
    }

    /// The next step of the world: what the workload says has changed.
    pub(crate) fn change(&mut self, step: u64) {
        // Ships at rest are left alone by the step, so what happens to them is the workload's alone.
        let world = self.game.app.world_mut();
        let awake: Vec<_> = world.query_filtered::<Entity, With<Awake>>().iter(world).collect();
        for ship in awake {
            world.entity_mut(ship).remove::<Awake>();
        }
        self.game.step(1);
        let now = self.game.now();
        let world = self.game.app.world_mut();
        for (number, &entity) in (0..).zip(&self.ships) {
            let (workload, mut ship) = (&self.workload, world.entity_mut(entity));
            let left = workload.condition(step, number);
            let sheet = ship.get::<Card>().expect("every ship has a card").0.clone();
            let share = |part: u8, full: f32| f32::from(part) / 255.0 * full;
            let mut condition = ship.get_mut::<keel_sim::Condition>().expect("every ship has pools");
            condition.0.hull = share(left.hull, sheet.full.hull);
            condition.0.shield = share(left.shield, sheet.full.shield);
            let cycle = workload.cycle(step, number);
            let passed = step - cycle.since;
            let held = share(cycle.battery, sheet.battery) + sheet.battery_per_step * passed as f32;
            ship.get_mut::<Battery>().expect("every ship has a battery").0 = held.min(sheet.battery);
            let ends = now + crate::workload::CYCLE_STEPS - passed;
            ship.get_mut::<Gun>().expect("every ship has a gun").ready_at = Moment::of_step(ends);
            if !ship.contains::<Locking>() || workload.is_retargeted(step, number) {
                let target = self.ships[workload.target(step, number) as usize - 1];
                ship.insert(Locking(target));
            }
        }
    }

    /// What is measured: collects, encodes and hands over to the transport what everyone is shown of the step. The bytes of
    /// packets, over all clients.
    pub(crate) fn replicate(&mut self) -> usize {
        let mut bytes = 0;
        self.replication.begin(self.game.app.world(), 100);
        for client in &mut self.clients {
            let Client { id, pilot, viewer, packets } = client;
            self.replication.view(self.game.app.world(), *pilot, viewer, &mut |packet| {
                bytes += packet.len();
                *packets += 1;
                self.transport.send_message(*id, CHANNEL_LOSSY, packet);
            });
        }
        bytes
    }

    /// The transport's work: nothing is lost.
    pub(crate) fn carry(&mut self) {
        for client in &self.clients {
            drop(self.transport.get_packets_to_send(client.id));
        }
    }

    /// Takes in what every client acknowledges of the step before: all of it.
    pub(crate) fn acknowledge(&mut self) {
        let step = self.game.now();
        for client in self.clients.iter_mut().filter(|client| client.packets > 0) {
            let ack = Ack { newest: client.packets, before: u64::MAX };
            client.viewer.acknowledge(ack, step).expect("packets that were sent");
        }
    }
}

/// Sectors of which none is beside another, so that whoever is in one sees the ships of that one alone.
fn lonely_sectors() -> Vec<(MapKey, Hex)> {
    let mut taken = BTreeSet::new();
    for hex in Hex::CENTRE.within(RADIUS.into()) {
        if hex.within(1).iter().all(|near| !taken.contains(near)) {
            taken.insert(hex);
        }
    }
    MapKey::all().flat_map(|map| taken.iter().map(move |&hex| (map, hex)).collect::<Vec<_>>()).collect()
}
