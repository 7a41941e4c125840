//! A shot from lock to log, one file for each of its stages: lock, cycle, roll, pools, record. Between the stages go
//! messages: fired, rolled, struck, logged.

mod cycle;
mod lock;
mod pools;
mod record;
mod roll;
mod wear;

pub use cycle::Fired;
pub(crate) use lock::LockStarted;
pub use lock::{Gun, LockedBy, Locking};
pub(crate) use pools::Hurt;
pub use pools::{Downed, Struck};
pub use record::{CombatLog, Logged, Shot};
pub use roll::Rolled;
pub use wear::Wear;

use bevy_app::prelude::*;

pub(crate) struct ShotPlugins;

impl Plugin for ShotPlugins {
    fn build(&self, app: &mut App) {
        app.add_plugins((
            lock::LockPlugin,
            cycle::CyclePlugin,
            roll::RollPlugin,
            pools::PoolsPlugin,
            record::RecordPlugin,
            wear::WearPlugin,
        ));
    }
}
