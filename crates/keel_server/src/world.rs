//! The world as the server holds it: stepped, ordered about and looked at.

use std::collections::BTreeSet;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use keel_balance::{Balance, Faction};
use keel_protocol::{Card, PROTOCOL_VERSION, Welcome};
use keel_rules::STEPS_PER_SECOND;
use keel_sim::{Answered, Fleet, Map, Noted, Now, Order, Orders, PilotId, Ship, SimPlugin, SimSet, Tuning};

use crate::replication::{Plain, Replication};
use crate::{Config, convert};

pub(crate) struct World {
    app: App,
    replication: Box<dyn Replication>,
    balance: std::sync::Arc<Balance>,
}

/// What the last step has to tell pilots.
#[derive(Resource, Debug, Default)]
pub(crate) struct Told {
    pub(crate) answers: Vec<Answered>,
    pub(crate) notes: Vec<Noted>,
}

impl World {
    pub(crate) fn new(config: &Config) -> Self {
        let mut app = App::new();
        app.add_plugins((
            TimePlugin,
            SimPlugin {
                balance: config.balance.clone(),
                layer: config.layer,
                seed: config.seed,
                threads: config.threads,
                squads: true,
            },
        ))
        .insert_resource(Time::<Fixed>::from_hz(STEPS_PER_SECOND.into()))
        // The loop says when a step runs; an update is one.
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Told>()
        .add_systems(FixedUpdate, hear.in_set(SimSet::Replicate));
        app.finish();
        app.cleanup();
        // The first update moves no time.
        app.update();
        Self { app, replication: Box::new(Plain), balance: config.balance.clone() }
    }

    pub(crate) fn balance(&self) -> &Balance {
        &self.balance
    }

    /// Runs one step.
    pub(crate) fn step(&mut self) {
        self.app.update();
    }

    /// The last step that ran.
    pub(crate) fn now(&self) -> u64 {
        self.app.world().resource::<Now>().step()
    }

    pub(crate) fn join(&mut self, pilot: PilotId, name: &str) {
        self.app.world_mut().resource_mut::<Orders>().join(pilot, name);
    }

    pub(crate) fn order(&mut self, order: Order) {
        self.app.world_mut().resource_mut::<Orders>().push(order);
    }

    /// What every client is told of this world, but for who they are.
    pub(crate) fn welcome(&mut self) -> Welcome {
        let balance = self.balance.clone();
        let world = self.app.world_mut();
        let map = world.query::<&Map>().single(world).ok();
        let factions = [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker];
        Welcome {
            version: PROTOCOL_VERSION,
            balance: balance.hash(),
            pilot: 0,
            layer: map.map_or(0, |map| map.layer),
            sectors: map.into_iter().flat_map(|map| map.layout.hexes()).map(|&hex| convert::place(hex)).collect(),
            classes: world.resource::<Tuning>().balance.classes.iter().map(|(name, _)| name.to_owned()).collect(),
            factions: factions.iter().map(|faction| format!("{faction:?}")).collect(),
        }
    }

    /// What the last step has to tell. Give it back for the next one to fill.
    pub(crate) fn take_told(&mut self) -> Told {
        std::mem::take(&mut *self.app.world_mut().resource_mut::<Told>())
    }

    pub(crate) fn put_back(&mut self, mut told: Told) {
        told.answers.clear();
        told.notes.clear();
        *self.app.world_mut().resource_mut::<Told>() = told;
    }

    /// The cards of a pilot's ships that are not among `known`, which then holds them all.
    pub(crate) fn cards(&mut self, pilot: PilotId, known: &mut BTreeSet<u32>) -> Vec<Card> {
        let Some(pilot) = self.pilot(pilot) else { return Vec::new() };
        let world = self.app.world();
        let fleet = world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
        fleet
            .filter_map(|entity| Some((world.get::<Ship>(entity)?.id, world.get::<keel_sim::Card>(entity)?)))
            .filter(|(id, _)| known.insert(id.0))
            .map(|(id, card)| convert::card(id, &card.0))
            .collect()
    }

    /// A step has run and is about to be looked at.
    pub(crate) fn begin_views(&mut self) {
        self.replication.begin(self.app.world());
    }

    pub(crate) fn view(&mut self, pilot: PilotId, acked: u64, show: &mut dyn FnMut(Vec<u8>)) {
        if let Some(pilot) = self.pilot(pilot) {
            self.replication.view(self.app.world(), pilot, acked, show);
        }
    }

    fn pilot(&self, pilot: PilotId) -> Option<Entity> {
        self.app.world().resource::<keel_sim::PilotIndex>().get(pilot)
    }
}

fn hear(mut told: ResMut<Told>, mut answers: MessageReader<Answered>, mut notes: MessageReader<Noted>) {
    told.answers.extend(answers.read());
    told.notes.extend(notes.read());
}
