//! Shield and hull, and the one path by which damage reaches them (rule 6).

use keel_balance::DamageType;
use serde::{Deserialize, Serialize};

use crate::edge::{Damage, DamageTable, resist};

/// The two pools of a ship.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pools {
    /// Takes hits first.
    pub shield: f32,
    /// Takes what is left.
    pub hull: f32,
}

/// What the struck module does to damage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defense {
    /// The factor of each type.
    pub edge: DamageTable,
    /// Points of resist against each type, grade included, before Brace and the cap.
    pub resist: DamageTable,
}

impl Defense {
    /// A hull with no armor: no edge, no resist but Brace's.
    pub const BARE: Self = Self { edge: DamageTable::all(1.0), resist: DamageTable::all(0.0) };

    /// What a raw point of that type comes to (rule 6), a factor of 0 or more: edge times what the resist lets through.
    #[must_use]
    pub fn factor(&self, damage: DamageType, brace: f32, cap: f32) -> f32 {
        self.edge.get(damage) * (1.0 - resist(self.resist.get(damage), brace, cap) / 100.0)
    }
}

/// All that stands between a shot and a ship.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defenses {
    /// The shield; `None` when none is fitted, and the armor is struck at once.
    pub shield: Option<Defense>,
    /// The armor, or the bare hull.
    pub armor: Defense,
    /// Points no resist goes over.
    pub cap: f32,
}

/// What a shot took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dealt {
    /// From the shield.
    pub shield: f32,
    /// From the hull.
    pub hull: f32,
    /// Whether the hull gave out: what got to it was all that it had above its floor, or more.
    pub hull_out: bool,
}

impl Dealt {
    /// Points taken from both pools (rule 6).
    #[must_use]
    pub fn total(self) -> f32 {
        self.shield + self.hull
    }
}

/// Takes `raw` damage, 0 or more, from the pools (rule 6): the shield first, what is left over turned back into raw and met by the armor.
///
/// `brace` is the points that an active Brace adds to every resist, 0 without one. The hull never goes under `floor`,
/// which is 0 where a ship can be destroyed. What it could not take is not dealt.
pub fn strike(pools: &mut Pools, defenses: &Defenses, raw: f32, damage: Damage, brace: f32, floor: f32) -> Dealt {
    match damage {
        Damage::One(damage) => strike_type(pools, defenses, raw, damage, brace, floor),
        Damage::Thirds => {
            let mut dealt = Dealt::default();
            for damage in [DamageType::Plasma, DamageType::Impact, DamageType::Phase] {
                let third = strike_type(pools, defenses, raw / 3.0, damage, brace, floor);
                dealt.shield += third.shield;
                dealt.hull += third.hull;
                dealt.hull_out |= third.hull_out;
            }
            dealt
        }
    }
}

fn strike_type(
    pools: &mut Pools,
    defenses: &Defenses,
    mut raw: f32,
    damage: DamageType,
    brace: f32,
    floor: f32,
) -> Dealt {
    let mut dealt = Dealt::default();
    if let Some(shield) = &defenses.shield {
        let factor = shield.factor(damage, brace, defenses.cap);
        let struck = raw * factor;
        if struck <= pools.shield {
            pools.shield -= struck;
            return Dealt { shield: struck, ..Dealt::default() };
        }
        dealt.shield = pools.shield;
        raw = (struck - pools.shield) / factor;
        pools.shield = 0.0;
    }
    let struck = raw * defenses.armor.factor(damage, brace, defenses.cap);
    let room = (pools.hull - floor).max(0.0);
    dealt.hull_out = struck > 0.0 && struck >= room;
    if struck < room {
        dealt.hull = struck;
        pools.hull -= struck;
    } else if room > 0.0 {
        // Set, not subtracted: rounding must not leave a hull beside its floor.
        dealt.hull = room;
        pools.hull = floor;
    }
    dealt
}
