//! The rules of a fight as pure functions of numbers: no ECS, no state, no clock, no random source of their own.
//!
//! A rule takes plain values and gives a value; whoever calls it queries and writes. The numbers come from
//! [`keel_balance`] through one place, the [`Sheet`]: what the ship card prints is what the roll and the pools read.
//!
//! Units: times are [`Micros`], chances and resists are percentage *points* (so that 15 stays 15 and not 0.15's nearest
//! float), pools and damage are `f32`.

mod blueprint;
pub mod clocks;
pub mod danger;
pub mod edge;
pub mod fire;
pub mod fit;
pub mod gun;
pub mod hull;
pub mod lock;
pub mod module;
pub mod pay;
pub mod pools;
pub mod powers;
pub mod roll;
pub mod sheet;
mod site;
pub mod storm;
pub mod time;

pub use blueprint::Blueprint;
pub use edge::{Damage, DamageTable};
pub use fit::{Fit, FitError, Slot};
pub use gun::GunSheet;
pub use hull::{ClassId, Line};
pub use module::{Kind, Module, Variant};
pub use pools::{Dealt, Defense, Pools};
pub use sheet::Sheet;
pub use site::Site;
pub use time::{Micros, Moment, STEP, STEPS_PER_SECOND};
