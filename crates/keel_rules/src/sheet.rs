//! The ship card: everything a fit comes to, computed once and read by every rule (rules 2 to 9).

use keel_balance::{Balance, Class, System};

use crate::clocks;
use crate::edge::{DamageTable, edge, resist};
use crate::fit::{Fit, FitError};
use crate::gun::{self, GunSheet};
use crate::hull::ClassId;
use crate::lock;
use crate::module::{Kind, Module};
use crate::pools::{Defense, Defenses, Pools};
use crate::powers::{self, PowerSheet};
use crate::roll;
use crate::time::Micros;

/// A ship's card. The systems read it, clients print it; there is no second copy of any number on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The hull's class, which is its size in the roll.
    pub class: ClassId,
    /// Its size for a lock: the class and what the line adds.
    pub lock_size: u8,
    /// The gun or the folded pair.
    pub gun: Option<GunSheet>,
    /// The gun's own chance to hit, in points, before the target's evasion.
    pub hit: f32,
    /// The gun's own chance of a crit, in points.
    pub crit: f32,
    /// Factor of the volley on a crit.
    pub crit_damage: f32,
    /// Points, line shift included.
    pub evasion: f32,
    /// Points of evasion for each class the shooter is larger.
    pub size_step: f32,
    /// Share, line shift included, 0 to 1.
    pub tracking: f32,
    /// Both pools when full. A shield of 0 is none.
    pub full: Pools,
    /// What meets a shot.
    pub defenses: Defenses,
    /// Lock time against a ship of the same size.
    pub lock: Micros,
    /// Factor of the lock time, from gear and hull.
    pub lock_multiplier: f32,
    /// The class's lock time before that.
    pub base_lock: Micros,
    /// What comes off the lock for each class the target is larger.
    pub larger: Micros,
    /// Battery when full.
    pub battery: f32,
    /// Battery that trickles back each step.
    pub battery_per_step: f32,
    /// Battery under which the shield does not refill.
    pub battery_empty: f32,
    /// Shield that refills each step.
    pub shield_per_step: f32,
    /// Quiet time after which the hull fills.
    pub hull_quiet: Micros,
    /// How the ship moves.
    pub navigation: Navigation,
    /// The powers.
    pub powers: PowerSheet,
    /// Sectors around its own that it sees.
    view: u8,
    /// What a Sensor adds to that; 0 with none fitted.
    sensor: u8,
    /// Sectors that its wormhole scanner reaches; `None` with none fitted.
    pub scanner: Option<u8>,
    /// Power grid that the fit takes.
    pub grid_used: f32,
    /// Power grid that the hull has.
    pub grid: f32,
    /// Weapon wells that the hull has.
    pub wells: u8,
    /// Slots that the hull has for systems.
    pub slots: u8,
}

/// How a ship moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Navigation {
    /// One hop, after its window.
    pub hop: Micros,
    /// The wait before each hop in which it can be cancelled.
    pub window: Micros,
    /// Travel between layers.
    pub travel: Micros,
    /// A wormhole jump.
    pub jump: Micros,
    /// Grace after a wormhole arrival.
    pub grace: Micros,
    /// Cooldown after a cancelled jump.
    pub jump_cooldown: Micros,
    /// The flag after a rescue jump, by layer.
    pub rescue: [Micros; 6],
}

/// Sectors around its own that every ship sees.
const VIEW: u8 = 1;

impl Sheet {
    /// The card of a fit (rules 2 to 9).
    ///
    /// # Errors
    /// When the fit makes no ship.
    pub fn new(balance: &Balance, fit: &Fit) -> Result<Self, FitError> {
        fit.check(balance)?;
        let (_, class) = balance.classes.get(fit.class.0.into()).ok_or(FitError::UnknownClass(fit.class))?;
        let gun = folded_guns(balance, fit, class);
        let shift = fit.line.shift(balance);
        let gear = |system| fit.system(system).map(|_| &balance.gear);
        let tracking = gun.map_or(0.0, |gun| gun.tracking) + shift.tracking.get();
        let lock_multiplier = gun.map_or(1.0, |gun| gun.lock) * shift.lock.get();
        let battery = gear(System::Battery).map_or(1.0, |gear| gear.battery.get());
        let sensor = gear(System::Sensor).map_or(0, |gear| gear.sensor);
        let base_lock = Micros::from(class.lock_s);
        let larger = Micros::from(balance.lock.larger_s);
        let hop = Micros::from(class.move_s);
        let full = full_pools(balance, fit, class);
        Ok(Self {
            class: fit.class,
            lock_size: fit.class.0.saturating_add(shift.lock_sizes),
            gun,
            hit: balance.roll.hit.get() * 100.0,
            crit: balance.roll.crit.get() * 100.0,
            crit_damage: balance.roll.crit_damage.get(),
            evasion: class.evasion.get()
                + shift.evasion.get()
                + gear(System::Evasion).map_or(0.0, |gear| gear.evasion.get()),
            size_step: balance.roll.size_step.get(),
            tracking: (tracking + gear(System::Tracking).map_or(0.0, |gear| gear.tracking.get())).clamp(0.0, 1.0),
            full,
            defenses: Defenses {
                shield: fit.shield.map(|piece| defense(balance, &piece)),
                armor: fit.armor.map_or(Defense::BARE, |piece| defense(balance, &piece)),
                cap: balance.resist_cap.get(),
            },
            lock: lock::lock_time(base_lock, 0, larger, lock_multiplier),
            lock_multiplier,
            base_lock,
            larger,
            battery: balance.baseline.battery.get() * battery,
            battery_per_step: clocks::per_step(balance.clocks.battery_per_s.get()),
            battery_empty: balance.clocks.battery_empty.get(),
            shield_per_step: clocks::shield_per_step(full.shield, hop.scaled(balance.clocks.shield_moves.get())),
            hull_quiet: balance.clocks.hull_quiet_s.into(),
            navigation: Navigation {
                hop,
                window: balance.moving.window_s.into(),
                travel: balance.moving.travel_s.into(),
                jump: balance.moving.jump_s.into(),
                grace: balance.moving.grace_s.into(),
                jump_cooldown: balance.moving.jump_cooldown_s.into(),
                rescue: balance.layers.each_ref().map(|layer| layer.rescue_s.into()),
            },
            powers: powers::powers(balance, fit),
            view: VIEW + sensor,
            sensor,
            scanner: gear(System::Scanner).map(|gear| gear.scanner),
            grid_used: fit.grid_used(balance),
            grid: class.power_grid.get(),
            wells: class.guns,
            slots: class.slots,
        })
    }

    /// Time until this ship's lock on a ship of that lock size holds (rule 4), whether or not it has a gun to lock with.
    #[must_use]
    pub fn lock_on(&self, target_lock_size: u8) -> Micros {
        let classes_larger = lock::classes_larger(self.class.0, target_lock_size);
        lock::lock_time(self.base_lock, classes_larger, self.larger, self.lock_multiplier)
    }

    /// This ship's chance to hit another, in points (rule 5).
    #[must_use]
    pub fn hit_chance(&self, target: &Self) -> f32 {
        let size = roll::size_evasion(self.size_step, self.class.0, target.class.0, self.tracking);
        roll::hit_chance(self.hit, target.evasion + size)
    }

    /// Damage a second while the battery holds (rule 3); 0 with no gun.
    #[must_use]
    pub fn sustained(&self) -> f32 {
        self.gun.map_or(0.0, |gun| gun.sustained())
    }

    /// Damage a second once the battery sets the pace (rules 3 and 7); 0 with no gun.
    #[must_use]
    pub fn battery_limited(&self) -> f32 {
        let per_second = self.battery_per_step * crate::STEPS_PER_SECOND as f32;
        self.gun.map_or(0.0, |gun| gun.battery_limited(per_second))
    }

    /// Sectors around its own that the ship sees: a Jam silences its Sensor (rule 8).
    #[must_use]
    pub const fn view(&self, jammed: bool) -> u8 {
        if jammed { self.view - self.sensor } else { self.view }
    }

    /// Points of resist, 0 to the cap, that the card prints for each type on the shield (rule 6); `None` with none fitted.
    #[must_use]
    pub fn shield_resist(&self) -> Option<DamageTable> {
        self.defenses.shield.map(|shield| self.capped(&shield))
    }

    /// Points of resist, 0 to the cap, that the card prints for each type on the armor or bare hull (rule 6).
    #[must_use]
    pub fn armor_resist(&self) -> DamageTable {
        self.capped(&self.defenses.armor)
    }

    fn capped(&self, defense: &Defense) -> DamageTable {
        DamageTable::of(|damage| resist(defense.resist.get(damage), 0.0, self.defenses.cap))
    }
}

fn folded_guns(balance: &Balance, fit: &Fit, class: &Class) -> Option<GunSheet> {
    let volley = class.volley.get() * raised(fit, balance.gear.shard.volley.get());
    let guns = fit.guns.iter().flatten().filter_map(|module| match module.kind {
        Kind::Gun(variant) => Some(gun::gun(balance, module, variant, volley)),
        Kind::Armor | Kind::Shield | Kind::System(_) | Kind::Shard => None,
    });
    guns.reduce(|pair, second| pair.folded_with(&second))
}

/// What raises a ship: a Shard's factor, 1 with none fitted, times its strength.
fn raised(fit: &Fit, shard: f32) -> f32 {
    fit.shard.map_or(1.0, |_| shard) * f32::from(fit.strength)
}

fn full_pools(balance: &Balance, fit: &Fit, class: &Class) -> Pools {
    let armor = fit.armor.map_or(balance.bare_hull, |module| module.gear(balance).armor);
    let shield = fit.shield.map_or(0.0, |module| module.gear(balance).shield.get());
    let gear = &balance.gear.shard;
    Pools {
        hull: balance.baseline.hull.get() * armor.get() * class.hull.get() * raised(fit, gear.hull.get()),
        shield: balance.baseline.shield.get() * shield * class.shield.get() * raised(fit, gear.shield.get()),
    }
}

fn defense(balance: &Balance, module: &Module) -> Defense {
    let gear = module.gear(balance);
    let own = DamageTable {
        plasma: gear.resist.plasma.get(),
        impact: gear.resist.impact.get(),
        phase: gear.resist.phase.get(),
    };
    let (grade, whole) = (module.grade_gain(balance).resist.get(), module.wholeness(balance));
    Defense {
        edge: DamageTable::of(|damage| edge(&balance.edge, damage, gear.damage.into())),
        resist: DamageTable::of(|damage| (own.get(damage) + grade) * whole),
    }
}
