//! A module: what it is, who made it, and how good and how worn it is (rule 3).

use serde::{Deserialize, Serialize};
use std::fmt;

use keel_balance::{Balance, Faction, FactionGear, Grade, GradeGain, GunVariant, System, Wear};
use thiserror::Error;

/// Points of a whole module's durability, and of the best quality.
pub const WHOLE: u8 = 100;

/// A gun's build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Variant {
    /// As its maker builds it.
    #[default]
    Plain,
    /// Weaker shots, more of them.
    Fast,
    /// Stronger shots, fewer of them.
    Slow,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Fast, Self::Slow];

    pub(crate) const fn factors(self, balance: &Balance) -> &GunVariant {
        match self {
            Self::Plain => &balance.variants.plain,
            Self::Fast => &balance.variants.fast,
            Self::Slow => &balance.variants.slow,
        }
    }
}

/// What a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A gun, for a weapon well.
    Gun(Variant),
    /// An armor.
    Armor,
    /// A shield.
    Shield,
    /// A system, for a slot of its own kind.
    System(System),
    /// A Shard.
    Shard,
}

impl Kind {
    /// Every kind, in the order in which a list shows them.
    pub const ALL: [Self; 17] = [
        Self::Gun(Variant::Plain),
        Self::Gun(Variant::Fast),
        Self::Gun(Variant::Slow),
        Self::Armor,
        Self::Shield,
        Self::System(System::Brace),
        Self::System(System::Jam),
        Self::System(System::Clamp),
        Self::System(System::Sensor),
        Self::System(System::Mender),
        Self::System(System::Aura),
        Self::System(System::Cloak),
        Self::System(System::Evasion),
        Self::System(System::Tracking),
        Self::System(System::Battery),
        Self::System(System::Scanner),
        Self::Shard,
    ];

    /// The power grid that a module of the kind takes (rule 2), 0 or more.
    #[must_use]
    pub fn grid(self, balance: &Balance) -> f32 {
        let grid = &balance.grid;
        let takes = match self {
            Self::Gun(_) => grid.gun,
            Self::Armor => grid.armor,
            Self::Shield => grid.shield,
            Self::Shard => grid.shard,
            Self::System(System::Brace) => grid.brace,
            Self::System(System::Jam) => grid.jam,
            Self::System(System::Clamp) => grid.clamp,
            Self::System(System::Sensor) => grid.sensor,
            Self::System(System::Mender) => grid.mender,
            Self::System(System::Aura) => grid.aura,
            Self::System(System::Cloak) => grid.cloak,
            Self::System(System::Evasion) => grid.evasion,
            Self::System(System::Tracking) => grid.tracking,
            Self::System(System::Battery) => grid.battery,
            Self::System(System::Scanner) => grid.scanner,
        };
        takes.get()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gun(Variant::Plain) => "gun",
            Self::Gun(Variant::Fast) => "fast gun",
            Self::Gun(Variant::Slow) => "slow gun",
            Self::Armor => "armor",
            Self::Shield => "shield",
            Self::Shard => "Shard",
            Self::System(System::Brace) => "Brace",
            Self::System(System::Jam) => "Jam",
            Self::System(System::Clamp) => "Clamp",
            Self::System(System::Sensor) => "Sensor",
            Self::System(System::Mender) => "mender",
            Self::System(System::Aura) => "suppression aura",
            Self::System(System::Cloak) => "cloak",
            Self::System(System::Evasion) => "evasion gear",
            Self::System(System::Tracking) => "tracking gear",
            Self::System(System::Battery) => "battery gear",
            Self::System(System::Scanner) => "wormhole scanner",
        })
    }
}

/// A module. Its numbers are whole, so that two alike are equal and share a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Module {
    /// What it is.
    pub kind: Kind,
    /// Its maker.
    pub faction: Faction,
    /// Its grade.
    pub grade: Grade,
    /// Points, 0 to [`WHOLE`].
    pub quality: u8,
    /// From 1.
    pub rank: u8,
    /// Points, 0 (worn out) to [`WHOLE`].
    pub durability: u8,
}

/// Why a module is not repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unrepairable {
    /// It is whole.
    #[error("That module is whole.")]
    Whole,
    /// A repair costs more quality than it has.
    #[error("A repair costs {cost} quality; that module has {quality}.")]
    Quality {
        /// What a repair costs.
        cost: u8,
        /// What there is.
        quality: u8,
    },
}

impl Module {
    /// A whole Common module of rank 1 and the best quality: what the printed numbers are of.
    #[must_use]
    pub const fn common(kind: Kind, faction: Faction) -> Self {
        Self { kind, faction, grade: Grade::Common, quality: WHOLE, rank: 1, durability: WHOLE }
    }

    /// What grade, quality, rank and durability make of its strength (rule 3), a factor of 0 or more. A gun's scales the
    /// volley and leaves the cycle alone.
    #[must_use]
    pub fn strength(&self, balance: &Balance) -> f32 {
        let rule = &balance.strength;
        let poor = rule.poor.get();
        let quality = poor + (1.0 - poor) * points(self.quality);
        let rank = 1.0 + rule.rank.get() * f32::from(self.rank.saturating_sub(1));
        self.grade_gain(balance).strength.get() * quality * rank * self.wholeness(balance)
    }

    /// What durability leaves of it (rule 3), a share.
    #[must_use]
    pub fn wholeness(&self, balance: &Balance) -> f32 {
        let worn = balance.strength.worn.get();
        worn + (1.0 - worn) * points(self.durability)
    }

    /// The module after so many points of wear (rule 3).
    #[must_use]
    pub const fn worn_by(self, points: u8) -> Self {
        Self { durability: self.durability.saturating_sub(points), ..self }
    }

    /// The module after a repair at a Haven (rule 8): whole, for 10 quality.
    ///
    /// # Errors
    /// When it is whole already, or has too little quality.
    pub const fn repaired(self, wear: &Wear) -> Result<Self, Unrepairable> {
        if self.durability >= WHOLE {
            return Err(Unrepairable::Whole);
        }
        match self.quality.checked_sub(wear.repair_quality) {
            Some(quality) => Ok(Self { quality, durability: WHOLE, ..self }),
            None => Err(Unrepairable::Quality { cost: wear.repair_quality, quality: self.quality }),
        }
    }

    pub(crate) const fn gear(self, balance: &Balance) -> &FactionGear {
        gear_of(balance, self.faction)
    }

    pub(crate) const fn grade_gain(self, balance: &Balance) -> &GradeGain {
        match self.grade {
            Grade::Common => &balance.grades.common,
            Grade::Rare => &balance.grades.rare,
            Grade::Legendary => &balance.grades.legendary,
            Grade::Ultimate => &balance.grades.ultimate,
        }
    }
}

const fn gear_of(balance: &Balance, faction: Faction) -> &FactionGear {
    match faction {
        Faction::Human => &balance.factions.human,
        Faction::Raider => &balance.factions.raider,
        Faction::Sentry => &balance.factions.sentry,
        Faction::Breaker => &balance.factions.breaker,
    }
}

/// Points of a hundred as a share.
fn points(points: u8) -> f32 {
    f32::from(points) / f32::from(WHOLE)
}

/// Its grade, maker and kind: `Rare Raider fast gun`.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} {}", self.grade, self.faction, self.kind)
    }
}
