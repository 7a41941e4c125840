//! Cards and modules.

use keel_balance::Balance;
use keel_protocol::{Brace, Card, Clamp, Jam, Module, Powers, Resists, Slot};
use keel_rules::powers::PowerSheet;
use keel_rules::{DamageTable, Fit, Kind, Micros, Sheet};
use keel_sim::ShipId;

pub(crate) fn card(ship: ShipId, fit: &Fit, sheet: &Sheet) -> Card {
    let resists = |table: DamageTable| Resists { plasma: table.plasma, impact: table.impact, phase: table.phase };
    Card {
        ship: ship.0,
        class: sheet.class.0,
        line: fit.line as u8,
        fit: fit.modules().map(|(place, fitted)| (slot(place), module(fitted))).collect(),
        wells: sheet.wells,
        systems: sheet.slots,
        grid: (sheet.grid_used, sheet.grid),
        volley: sheet.gun.map_or(0.0, |gun| gun.volley),
        cycle: sheet.gun.map_or(Micros::ZERO, |gun| gun.cycle).get(),
        cost: sheet.gun.map_or(0.0, |gun| gun.cost),
        sustained: sheet.sustained(),
        battery_limited: sheet.battery_limited(),
        hit: sheet.hit,
        crit: sheet.crit,
        crit_damage: sheet.crit_damage,
        shield: sheet.full.shield,
        hull: sheet.full.hull,
        battery: sheet.battery,
        evasion: sheet.evasion,
        tracking: sheet.tracking,
        shield_resist: sheet.shield_resist().map(resists),
        armor_resist: resists(sheet.armor_resist()),
        lock: sheet.lock.get(),
        window: sheet.navigation.window.get(),
        hop: sheet.navigation.hop.get(),
        view: sheet.view(false),
        powers: powers(&sheet.powers),
    }
}

fn powers(sheet: &PowerSheet) -> Powers {
    Powers {
        brace: sheet.brace.map(|brace| Brace {
            hull: brace.hull,
            resist: brace.resist,
            lasts: brace.lasts.get(),
            cost: brace.cost,
            cooldown: brace.cooldown.get(),
        }),
        jam: sheet.jam.map(|jam| Jam { lasts: jam.lasts.get(), cost: jam.cost, cooldown: jam.cooldown.get() }),
        clamp: sheet.clamp.zip(sheet.unclamp).map(|(clamp, unclamp)| Clamp {
            grapple: clamp.grapple,
            cost: clamp.cost,
            unclamp_cost: unclamp.cost,
        }),
        mender: sheet.mender.map(|mender| mender.hull),
        aura: sheet.aura,
        cloak: sheet.cloak.map(|cloak| cloak.cost),
    }
}

/// A module, by the indices of the welcome's catalogue.
pub(crate) fn module(module: &keel_rules::Module) -> Module {
    Module {
        kind: Kind::ALL.iter().position(|&kind| kind == module.kind).unwrap_or(0) as u8,
        faction: module.faction as u8,
        grade: module.grade as u8,
        quality: module.quality,
        rank: module.rank,
        durability: module.durability,
    }
}

pub(crate) fn kind(balance: &Balance, kind: Kind) -> keel_protocol::Kind {
    let slot = match kind {
        Kind::Gun(_) => Slot::Well(0),
        Kind::Armor => Slot::Armor,
        Kind::Shield => Slot::Shield,
        Kind::System(_) => Slot::System(0),
        Kind::Shard => Slot::Shard,
    };
    keel_protocol::Kind { name: kind.to_string(), slot, grid: kind.grid(balance) }
}

const fn slot(slot: keel_rules::Slot) -> Slot {
    match slot {
        keel_rules::Slot::Well(well) => Slot::Well(well),
        keel_rules::Slot::Armor => Slot::Armor,
        keel_rules::Slot::Shield => Slot::Shield,
        keel_rules::Slot::System(slot) => Slot::System(slot),
        keel_rules::Slot::Shard => Slot::Shard,
    }
}
