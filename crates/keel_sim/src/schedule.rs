//! The order of a step (rule 1.2) and the step's own time.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{LogLevel, MultiThreadedExecutor, ScheduleBuildSettings, SingleThreadedExecutor};
use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};
use keel_rules::Moment;

/// What a step does, in order. Each phase runs over all ships before the next begins, so two ships may destroy each other
/// in one step. A phase says only which set it is in, nothing about its neighbours.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SimSet {
    /// The time has gone on by a step, and every order that was waiting is applied and answered.
    Ops,
    /// Ships have hopped.
    Movement,
    /// Locks that a hop broke are gone; locks that are done hold.
    Lock,
    /// Guns that could fire have fired and paid for it.
    Cycle,
    /// Every shot is a hit or a miss.
    Roll,
    /// Every hit has met its pools.
    Pools,
    /// Every shot is in the combat logs.
    Record,
    /// Shield, hull and battery have refilled, in that order.
    Clocks,
    /// Ships at zero are gone or towed, flags have ended, and ships at rest sleep.
    Expiry,
    /// NPCs, escorts and menders have decided what they do in the next step; ships that were to dock are docked.
    Minds,
    /// Lost squads and ships have come back.
    World,
    /// What happened is told. A system that is not in this set sees messages of the step only by chance.
    Replicate,
}

/// What [`SimSet::Ops`] does, in order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OpsSet {
    /// Pilots who came are in the world, and those who left are berthed where they can be.
    Joins,
    /// Their orders, and those of the minds, are applied.
    Orders,
}

/// What [`SimSet::Expiry`] does, in order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExpirySet {
    /// Ships whose hull gave out are gone or towed.
    Hulls,
    /// They have left wrecks, and kills are paid.
    Loot,
    /// Worn modules have new cards.
    Wear,
    /// Harvests that are done are in the cargo.
    Harvests,
    /// Challenges, duels, invitations and wrecks whose time is over are gone.
    Ends,
    /// Ships at rest sleep.
    Sleep,
}

/// What [`SimSet::Minds`] does, in order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MindsSet {
    /// Fleets to which something has happened are alert.
    Alarms,
    /// NPC squads have decided.
    Squads,
    /// Escorts have decided.
    Escorts,
    /// Menders have chosen what to mend.
    Menders,
    /// Ships that were to dock are docked.
    Docks,
}

/// What [`SimSet::World`] does, in order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WorldSet {
    /// Wormholes that are over are closed, those that were wanting are open, and ends that were reached are found.
    Wormholes,
    /// Storms that are due have landed.
    Storms,
    /// What ships see is on their pilots' charts.
    Charts,
    /// Incursions have gone on: the next wave is in the world, or they are over.
    Incursions,
    /// Squads that are due are in the world.
    Squads,
    /// Pilots who wait for a ship have it when they are due.
    Ships,
}

/// The step that runs, from 1.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    pub(crate) step: u64,
}

impl Now {
    /// The step's number.
    #[must_use]
    pub const fn step(self) -> u64 {
        self.step
    }

    /// The step's moment.
    #[must_use]
    pub const fn moment(self) -> Moment {
        Moment::of_step(self.step)
    }
}

pub(crate) struct SchedulePlugin {
    pub(crate) threads: usize,
}

impl Plugin for SchedulePlugin {
    fn build(&self, app: &mut App) {
        use SimSet::*;
        app.init_resource::<Now>();
        if self.threads > 1 {
            // The process's pool is made once; whoever comes first says how large.
            ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(self.threads).build());
        }
        app.configure_sets(
            FixedUpdate,
            (Ops, Movement, Lock, Cycle, Roll, Pools, Record, Clocks, Expiry, Minds, World, Replicate).chain(),
        );
        app.configure_sets(FixedUpdate, (OpsSet::Joins, OpsSet::Orders).chain().in_set(Ops));
        app.configure_sets(
            FixedUpdate,
            (
                ExpirySet::Hulls,
                ExpirySet::Loot,
                ExpirySet::Wear,
                ExpirySet::Harvests,
                ExpirySet::Ends,
                ExpirySet::Sleep,
            )
                .chain()
                .in_set(Expiry),
        );
        app.configure_sets(
            FixedUpdate,
            (MindsSet::Alarms, MindsSet::Squads, MindsSet::Escorts, MindsSet::Menders, MindsSet::Docks)
                .chain()
                .in_set(Minds),
        );
        app.configure_sets(
            FixedUpdate,
            (
                WorldSet::Wormholes,
                WorldSet::Storms,
                WorldSet::Charts,
                WorldSet::Incursions,
                WorldSet::Squads,
                WorldSet::Ships,
            )
                .chain()
                .in_set(World),
        );
        app.add_systems(FixedUpdate, begin_step.before(Ops));
        app.edit_schedule(FixedUpdate, |schedule| {
            // Two systems that touch the same data with no order between them would make a step's result depend on the
            // executor. Such a schedule does not start.
            schedule.set_build_settings(ScheduleBuildSettings {
                ambiguity_detection: LogLevel::Error,
                ..ScheduleBuildSettings::default()
            });
        });
    }

    fn finish(&self, app: &mut App) {
        // The phases are one chain: handing them to a pool costs more than most of them do, so that has to be asked for.
        for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
            if self.threads > 1 {
                schedule.set_executor(MultiThreadedExecutor::new());
            } else {
                schedule.set_executor(SingleThreadedExecutor::new());
            }
        }
    }
}

fn begin_step(mut now: ResMut<Now>) {
    now.step += 1;
}
