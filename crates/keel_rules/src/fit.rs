//! What is fitted to a hull. A fit names rows of the balance; [`crate::Sheet`] is what they come to.

use keel_balance::{Balance, Faction, FactionGear, Grade, GradeGain, GunVariant, Layer, LineShift, NpcFits};
use thiserror::Error;

/// A ship class, by its place among the balance's rows: 0 is the smallest, and the place is the size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u8);

impl ClassId {
    /// The class of that name.
    #[must_use]
    pub fn named(balance: &Balance, name: &str) -> Option<Self> {
        balance.classes.position(name).and_then(|index| u8::try_from(index).ok()).map(Self)
    }
}

/// A hull line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// No shift.
    #[default]
    Line,
    /// Easier to hit and to lock, better at tracking.
    Anchor,
    /// Harder to hit, worse at tracking.
    Screen,
}

/// A gun's build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// As its maker builds it.
    #[default]
    Plain,
    /// Weaker shots, more of them.
    Fast,
    /// Stronger shots, fewer of them.
    Slow,
}

/// A piece of gear: a gun, an armor or a shield.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its maker.
    pub faction: Faction,
    /// Its grade.
    pub grade: Grade,
    /// 0 to 1.
    pub quality: f32,
    /// From 1.
    pub rank: u8,
    /// 0 (worn out) to 1 (whole).
    pub durability: f32,
}

impl Piece {
    /// A whole Common piece of rank 1 and no quality: what the printed numbers are of.
    #[must_use]
    pub const fn common(faction: Faction) -> Self {
        Self { faction, grade: Grade::Common, quality: 0.0, rank: 1, durability: 1.0 }
    }
}

/// A gun in a weapon well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GunFit {
    /// The gun.
    pub piece: Piece,
    /// Its build.
    pub variant: Variant,
}

/// What is fitted to a hull.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The hull's class.
    pub class: ClassId,
    /// The hull's line.
    pub line: Line,
    /// The weapon wells in order; the first gun's cycle, type, tracking and lock hold for a pair.
    pub guns: [Option<GunFit>; 2],
    /// Without one the hull is bare.
    pub armor: Option<Piece>,
    /// Without one the armor is struck at once.
    pub shield: Option<Piece>,
    /// The maker of the Brace.
    pub brace: Option<Faction>,
    /// The maker of the Jam.
    pub jam: Option<Faction>,
    /// Clamp and Unclamp.
    pub grapple: bool,
    /// A mender.
    pub mender: bool,
    /// A suppression aura.
    pub aura: bool,
}

/// Why a fit does not make a ship.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum FitError {
    /// The balance has no such class.
    #[error("There is no class {}.", .0.0)]
    UnknownClass(ClassId),
    /// More guns than the class has wells.
    #[error("That hull has {wells} weapon wells; the fit has {guns} guns.")]
    TooManyGuns {
        /// What the fit has.
        guns: u8,
        /// What the hull has.
        wells: u8,
    },
    /// More modules than the class has slots.
    #[error("That hull has {slots} module slots; the fit has {modules} modules.")]
    TooManyModules {
        /// What the fit has.
        modules: u8,
        /// What the hull has.
        slots: u8,
    },
    /// More power grid than the class has.
    #[error("The fit takes {used} power grid of {grid}.")]
    OverGrid {
        /// What the fit takes.
        used: f32,
        /// What the hull has.
        grid: f32,
    },
}

impl Fit {
    /// A hull with nothing in it.
    #[must_use]
    pub const fn bare(class: ClassId) -> Self {
        Self {
            class,
            line: Line::Line,
            guns: [None; 2],
            armor: None,
            shield: None,
            brace: None,
            jam: None,
            grapple: false,
            mender: false,
            aura: false,
        }
    }

    /// A hull of a class with a gun in each well, armor and shield, all of one make.
    #[must_use]
    pub fn common(balance: &Balance, class: ClassId, faction: Faction) -> Self {
        let piece = Piece::common(faction);
        Self { armor: Some(piece), shield: Some(piece), ..Self::armed(balance, class, piece) }
    }

    /// A hull of a class with that gun in each well and nothing else.
    #[must_use]
    pub fn armed(balance: &Balance, class: ClassId, piece: Piece) -> Self {
        let wells = balance.classes.get(class.0.into()).map_or(0, |(_, class)| class.guns);
        let gun = GunFit { piece, variant: Variant::Plain };
        Self { guns: [(wells > 0).then_some(gun), (wells > 1).then_some(gun)], ..Self::bare(class) }
    }

    /// What a new pilot flies (rule 10): gun, armor, shield and the powers of its maker.
    #[must_use]
    pub fn starter(balance: &Balance) -> Self {
        let faction = balance.starter.faction;
        let class = ClassId::named(balance, &balance.starter.class).unwrap_or_default();
        Self { brace: Some(faction), jam: Some(faction), grapple: true, ..Self::common(balance, class, faction) }
    }

    /// What an NPC of a layer flies (rule 10).
    #[must_use]
    pub fn npc(balance: &Balance, layer: &Layer, class: ClassId, faction: Faction) -> Self {
        let NpcFits { grade, durability, armor, shield, .. } = &layer.npcs;
        let piece = Piece { grade: *grade, durability: durability.get(), ..Piece::common(faction) };
        Self { armor: armor.then_some(piece), shield: shield.then_some(piece), ..Self::armed(balance, class, piece) }
    }

    /// How many modules the fit has other than guns (rule 2).
    #[must_use]
    pub fn modules(&self) -> u8 {
        self.fitted().iter().filter(|fitted| **fitted).count() as u8
    }

    /// The power grid that the fit takes (rule 2), 0 or more.
    #[must_use]
    pub fn grid_used(&self, balance: &Balance) -> f32 {
        let grid = &balance.grid;
        let guns = self.guns.iter().flatten().count() as f32 * grid.gun.get();
        let takes = [grid.armor, grid.shield, grid.brace, grid.jam, grid.grapple, grid.mender, grid.aura];
        let modules = self.fitted().into_iter().zip(takes).filter(|(fitted, _)| *fitted);
        modules.fold(guns, |used, (_, takes)| used + takes.get())
    }

    /// Which modules other than guns are fitted, in the order of the balance's grid.
    const fn fitted(&self) -> [bool; 7] {
        let Self { armor, shield, brace, jam, grapple, mender, aura, .. } = self;
        [armor.is_some(), shield.is_some(), brace.is_some(), jam.is_some(), *grapple, *mender, *aura]
    }
}

pub(crate) const fn faction_gear(balance: &Balance, faction: Faction) -> &FactionGear {
    match faction {
        Faction::Human => &balance.factions.human,
        Faction::Raider => &balance.factions.raider,
        Faction::Sentry => &balance.factions.sentry,
        Faction::Breaker => &balance.factions.breaker,
    }
}

pub(crate) const fn grade_gain(balance: &Balance, grade: Grade) -> &GradeGain {
    match grade {
        Grade::Common => &balance.grades.common,
        Grade::Rare => &balance.grades.rare,
        Grade::Legendary => &balance.grades.legendary,
        Grade::Ultimate => &balance.grades.ultimate,
    }
}

pub(crate) const fn line_shift(balance: &Balance, line: Line) -> &LineShift {
    match line {
        Line::Line => &balance.lines.line,
        Line::Anchor => &balance.lines.anchor,
        Line::Screen => &balance.lines.screen,
    }
}

pub(crate) const fn variant(balance: &Balance, variant: Variant) -> &GunVariant {
    match variant {
        Variant::Plain => &balance.variants.plain,
        Variant::Fast => &balance.variants.fast,
        Variant::Slow => &balance.variants.slow,
    }
}
