//! What is fitted to a hull. A fit names rows of the balance; [`crate::Sheet`] is what they come to.

use serde::{Deserialize, Serialize};
use std::fmt;

use keel_balance::{Balance, Faction, Layer, MOST_SYSTEMS, NpcFits, System};
use thiserror::Error;

use crate::hull::{ClassId, Line};
use crate::module::{Kind, Module, Variant, WHOLE};

/// A place for a module. Wells and system slots count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// A weapon well.
    Well(u8),
    /// The armor's.
    Armor,
    /// The shield's.
    Shield,
    /// A system's.
    System(u8),
    /// The Shard's.
    Shard,
}

impl Slot {
    /// Whether a hull with so many wells and slots for systems has it.
    const fn is_there(self, wells: u8, systems: u8) -> bool {
        match self {
            Self::Well(well) => well < wells,
            Self::System(slot) => slot < systems,
            Self::Armor | Self::Shield | Self::Shard => true,
        }
    }

    /// Whether a module of that kind goes into the slot.
    #[must_use]
    pub const fn takes(self, kind: Kind) -> bool {
        matches!(
            (self, kind),
            (Self::Well(_), Kind::Gun(_))
                | (Self::Armor, Kind::Armor)
                | (Self::Shield, Kind::Shield)
                | (Self::System(_), Kind::System(_))
                | (Self::Shard, Kind::Shard)
        )
    }
}

/// As people count: `weapon well 1`, `system slot 3`.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Well(well) => write!(f, "weapon well {}", u16::from(*well) + 1),
            Self::Armor => f.write_str("armor slot"),
            Self::Shield => f.write_str("shield slot"),
            Self::System(slot) => write!(f, "system slot {}", u16::from(*slot) + 1),
            Self::Shard => f.write_str("Shard slot"),
        }
    }
}

/// What is fitted to a hull. Whether it makes a ship, [`crate::Sheet::new`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fit {
    /// The hull's class.
    pub class: ClassId,
    /// The hull's line.
    pub line: Line,
    /// The weapon wells in order; the first gun's cycle, type, tracking and lock hold for a pair.
    pub guns: [Option<Module>; 2],
    /// Without one the hull is bare.
    pub armor: Option<Module>,
    /// Without one the armor is struck at once.
    pub shield: Option<Module>,
    /// The system slots in order; a class has the first so many of them.
    pub systems: [Option<Module>; MOST_SYSTEMS as usize],
    /// What raises hull, shield and volley alike.
    pub shard: Option<Module>,
    /// How many times the hull, the shield and the volley of what is fitted: 1, but for a Rift incursion's ships (rule 11).
    pub strength: u8,
}

/// Why a fit does not make a ship.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum FitError {
    /// The balance has no such class.
    #[error("There is no class {}.", .0.0)]
    UnknownClass(ClassId),
    /// The hull has no such slot.
    #[error("That hull has no {slot}: it has {wells} for weapons and {systems} for systems.")]
    NoSuchSlot {
        /// Which.
        slot: Slot,
        /// What the hull has.
        wells: u8,
        /// What the hull has.
        systems: u8,
    },
    /// The slot is for other modules.
    #[error("No {kind} goes into the {slot}.")]
    WrongSlot {
        /// What was to go there.
        kind: Kind,
        /// Where.
        slot: Slot,
    },
    /// The ship has one, and works with one alone.
    #[error("That ship has one already: {0}.")]
    Twice(Kind),
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
            systems: [None; MOST_SYSTEMS as usize],
            shard: None,
            strength: 1,
        }
    }

    /// A hull of a class with a gun in each well, armor and shield, all whole, Common and of one make.
    #[must_use]
    pub fn common(balance: &Balance, class: ClassId, faction: Faction) -> Self {
        Self {
            armor: Some(Module::common(Kind::Armor, faction)),
            shield: Some(Module::common(Kind::Shield, faction)),
            ..Self::armed(balance, class, Module::common(Kind::Gun(Variant::Plain), faction))
        }
    }

    /// A hull of a class with that gun in each well and nothing else.
    #[must_use]
    pub fn armed(balance: &Balance, class: ClassId, gun: Module) -> Self {
        let wells = balance.classes.get(class.0.into()).map_or(0, |(_, class)| class.guns);
        Self { guns: [(wells > 0).then_some(gun), (wells > 1).then_some(gun)], ..Self::bare(class) }
    }

    /// What a new pilot flies (rule 10): gun, armor, shield and the powers of its maker.
    #[must_use]
    pub fn starter(balance: &Balance) -> Self {
        let faction = balance.starter.faction;
        let class = ClassId::named(balance, &balance.starter.class).unwrap_or_default();
        let powers = [System::Brace, System::Jam, System::Clamp];
        powers.iter().fold(Self::common(balance, class, faction), |fit, &power| fit.with(power, faction))
    }

    /// What an NPC of a layer flies (rule 10).
    #[must_use]
    pub fn npc(balance: &Balance, layer: &Layer, class: ClassId, faction: Faction) -> Self {
        let NpcFits { grade, durability, armor, shield, systems, .. } = &layer.npcs;
        let durability = (durability.get() * f32::from(WHOLE)).round() as u8;
        let module = |kind| Module { grade: *grade, durability, ..Module::common(kind, faction) };
        let fit = Self {
            armor: armor.then(|| module(Kind::Armor)),
            shield: shield.then(|| module(Kind::Shield)),
            ..Self::armed(balance, class, module(Kind::Gun(Variant::Plain)))
        };
        systems.iter().fold(fit, |fit, &system| fit.with_module(module(Kind::System(system))))
    }

    /// The fit with a whole Common system more, in the first slot that is free.
    #[must_use]
    pub fn with(self, system: System, faction: Faction) -> Self {
        self.with_module(Module::common(Kind::System(system), faction))
    }

    fn with_module(mut self, module: Module) -> Self {
        if let Some(free) = self.systems.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(module);
        }
        self
    }

    /// What is in a slot; `None` when no hull has such a slot.
    #[must_use]
    pub fn slot(&self, slot: Slot) -> Option<&Option<Module>> {
        match slot {
            Slot::Well(well) => self.guns.get(usize::from(well)),
            Slot::Armor => Some(&self.armor),
            Slot::Shield => Some(&self.shield),
            Slot::System(slot) => self.systems.get(usize::from(slot)),
            Slot::Shard => Some(&self.shard),
        }
    }

    /// A slot to change; `None` when no hull has such a slot.
    pub fn slot_mut(&mut self, slot: Slot) -> Option<&mut Option<Module>> {
        match slot {
            Slot::Well(well) => self.guns.get_mut(usize::from(well)),
            Slot::Armor => Some(&mut self.armor),
            Slot::Shield => Some(&mut self.shield),
            Slot::System(slot) => self.systems.get_mut(usize::from(slot)),
            Slot::Shard => Some(&mut self.shard),
        }
    }

    /// The fit with that in a slot, or nothing (rule 2).
    ///
    /// # Errors
    /// When it makes no ship.
    pub fn fitted(&self, balance: &Balance, slot: Slot, module: Option<Module>) -> Result<Self, FitError> {
        let (_, class) = balance.classes.get(self.class.0.into()).ok_or(FitError::UnknownClass(self.class))?;
        let (wells, systems) = (class.guns, class.slots);
        if !slot.is_there(wells, systems) {
            return Err(FitError::NoSuchSlot { slot, wells, systems });
        }
        let mut fit = *self;
        if let Some(place) = fit.slot_mut(slot) {
            *place = module;
        }
        fit.check(balance).map(|()| fit)
    }

    /// What is fitted, and where.
    pub fn modules(&self) -> impl Iterator<Item = (Slot, &Module)> {
        let wells = (0..).map(Slot::Well).zip(&self.guns);
        let systems = (0..).map(Slot::System).zip(&self.systems);
        let single = [(Slot::Armor, &self.armor), (Slot::Shield, &self.shield), (Slot::Shard, &self.shard)];
        wells.chain(single).chain(systems).filter_map(|(slot, module)| module.as_ref().map(|module| (slot, module)))
    }

    /// Where a system of that kind is fitted.
    #[must_use]
    pub fn system(&self, system: System) -> Option<(Slot, &Module)> {
        self.modules().find(|(_, module)| module.kind == Kind::System(system))
    }

    /// The power grid that the fit takes (rule 2), 0 or more.
    #[must_use]
    pub fn grid_used(&self, balance: &Balance) -> f32 {
        // Not a sum: that of nothing is -0.
        self.modules().fold(0.0, |used, (_, module)| used + module.kind.grid(balance))
    }

    /// Whether the fit makes a ship (rule 2).
    ///
    /// # Errors
    /// With the first thing that stands against it.
    pub fn check(&self, balance: &Balance) -> Result<(), FitError> {
        let (_, class) = balance.classes.get(self.class.0.into()).ok_or(FitError::UnknownClass(self.class))?;
        let (wells, systems) = (class.guns, class.slots);
        for (slot, &Module { kind, .. }) in self.modules() {
            if !slot.is_there(wells, systems) {
                return Err(FitError::NoSuchSlot { slot, wells, systems });
            }
            if !slot.takes(kind) {
                return Err(FitError::WrongSlot { kind, slot });
            }
            let is_twin = |(_, other): &(Slot, &Module)| matches!(slot, Slot::System(_)) && other.kind == kind;
            if self.modules().filter(is_twin).count() > 1 {
                return Err(FitError::Twice(kind));
            }
        }
        let (used, grid) = (self.grid_used(balance), class.power_grid.get());
        if used > grid { Err(FitError::OverGrid { used, grid }) } else { Ok(()) }
    }
}
