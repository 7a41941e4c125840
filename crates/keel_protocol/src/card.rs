//! A ship's card, and what is fitted to it.

use bincode::{Decode, Encode};

use crate::command::Slot;

/// A ship's card: the server's own sheet, in the numbers that it prints. Times are microseconds.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Card {
    /// The ship.
    pub ship: u32,
    /// Index of the class.
    pub class: u8,
    /// Index of the hull line.
    pub line: u8,
    /// What is fitted, and where.
    pub fit: Vec<(Slot, Module)>,
    /// Weapon wells of the hull.
    pub wells: u8,
    /// System slots of the hull.
    pub systems: u8,
    /// Power grid taken, and there is.
    pub grid: (f32, f32),
    /// Damage of a shot; 0 with no gun.
    pub volley: f32,
    /// Between shots.
    pub cycle: u32,
    /// Battery a shot.
    pub cost: f32,
    /// Damage a second while the battery holds.
    pub sustained: f32,
    /// Damage a second once the battery sets the pace.
    pub battery_limited: f32,
    /// The gun's own chance, in points.
    pub hit: f32,
    /// Points.
    pub crit: f32,
    /// Factor.
    pub crit_damage: f32,
    /// Shield when full.
    pub shield: f32,
    /// Hull when full.
    pub hull: f32,
    /// Battery when full.
    pub battery: f32,
    /// Points, line and gear included.
    pub evasion: f32,
    /// Share, line and gear included.
    pub tracking: f32,
    /// Points on the shield; `None` with none fitted.
    pub shield_resist: Option<Resists>,
    /// Points on the armor or bare hull.
    pub armor_resist: Resists,
    /// A lock on a ship of the same size.
    pub lock: u32,
    /// The wait before a hop.
    pub window: u32,
    /// A hop.
    pub hop: u32,
    /// Sectors around its own that it sees.
    pub view: u8,
    /// Its powers.
    pub powers: Powers,
}

/// What a ship's powers do and cost; `None` where the module is not fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Powers {
    /// Brace.
    pub brace: Option<Brace>,
    /// Jam.
    pub jam: Option<Jam>,
    /// Clamp and Unclamp.
    pub clamp: Option<Clamp>,
    /// Hull that a mender repairs.
    pub mender: Option<f32>,
    /// Factor by which an aura stretches an enemy's cycle.
    pub aura: Option<f32>,
    /// Battery that a cloak costs.
    pub cloak: Option<f32>,
}

/// A Brace.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct Brace {
    /// Hull restored.
    pub hull: f32,
    /// Points on every resist.
    pub resist: f32,
    /// For how long.
    pub lasts: u32,
    /// Battery spent.
    pub cost: f32,
    /// Until it can be used again.
    pub cooldown: u32,
}

/// A Jam.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct Jam {
    /// How long it silences.
    pub lasts: u32,
    /// Battery spent.
    pub cost: f32,
    /// Until it can be used again.
    pub cooldown: u32,
}

/// A Clamp, which is the Unclamp as well.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct Clamp {
    /// Its grapple.
    pub grapple: f32,
    /// Battery spent.
    pub cost: f32,
    /// Battery that an Unclamp spends.
    pub unclamp_cost: f32,
}

/// A module. Its quality and durability are points, 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Module {
    /// Index of the kind.
    pub kind: u8,
    /// Index of the faction.
    pub faction: u8,
    /// Index of the grade.
    pub grade: u8,
    /// How good it is.
    pub quality: u8,
    /// From 1.
    pub rank: u8,
    /// How worn it is: 100 is whole.
    pub durability: u8,
}

/// Points of resist against each type.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct Resists {
    /// Against Plasma.
    pub plasma: f32,
    /// Against Impact.
    pub impact: f32,
    /// Against Phase.
    pub phase: f32,
}
