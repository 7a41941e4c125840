//! Hulls before anything is fitted.

use serde::Deserialize;

use crate::units::{Amount, Factor, Points, Pool, Seconds, Shift};

/// What a factor of 1 stands for, before gear and Shard.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Hull points.
    pub hull: Pool,
    /// Shield points.
    pub shield: Pool,
    /// Damage of one shot before edge and resist.
    pub volley: Pool,
    /// Battery units.
    pub battery: Pool,
}

/// A ship class.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Time of one hop after its window.
    pub move_s: Seconds,
    /// Base lock time.
    pub lock_s: Seconds,
    /// Base evasion.
    pub evasion: Points,
    /// Factor of the hull.
    pub hull: Factor,
    /// Factor of the shield.
    pub shield: Factor,
    /// Factor of each gun's volley.
    pub volley: Factor,
    /// Weapon wells: 1 or 2.
    pub guns: u8,
    /// Power grid for modules.
    pub power_grid: Amount,
    /// Slots for systems.
    pub slots: u8,
}

/// The hull lines.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// No shift.
    pub line: LineShift,
    /// Easier to hit and to lock, better at tracking.
    pub anchor: LineShift,
    /// Harder to hit, worse at tracking.
    pub screen: LineShift,
}

/// What a hull line shifts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineShift {
    /// Added to evasion.
    pub evasion: Points,
    /// Added to tracking.
    pub tracking: Shift,
    /// Classes larger that a lock sees the ship as.
    pub lock_sizes: u8,
    /// Factor of the ship's own lock time.
    pub lock: Factor,
}
