//! The sim's types as the wire's, by hand.

use keel_map::Hex;
use keel_protocol::{Answer, Card, Command, Contact, Leg, MAX_COURSE, OwnShip, Resists};
use keel_rules::{DamageTable, Micros, Moment, Sheet};
use keel_sim::{Answered, Arrival, Battery, Condition, Gun, Helm, Op, Ship, ShipId};

pub(crate) const fn op(command: Command) -> Op {
    match command {
        Command::Move { ship, col, row } => Op::Move { ship: ShipId(ship), to: Hex::new(col, row) },
        Command::Cancel { ship } => Op::Cancel { ship: ShipId(ship) },
        Command::Attack { ship, target } => Op::Attack { ship: ShipId(ship), target: ShipId(target) },
        Command::Focus { ship, target } => Op::Focus { ship: ShipId(ship), target: ShipId(target) },
        Command::Hold { ship } => Op::Hold { ship: ShipId(ship) },
    }
}

pub(crate) fn answer(answered: &Answered) -> Answer {
    let (accepted, text) = match &answered.result {
        Ok(done) => (true, done.to_string()),
        Err(refusal) => (false, refusal.to_string()),
    };
    Answer { seq: answered.seq, accepted, text }
}

/// A map is far smaller than what a sector's coordinates have room for on the wire.
pub(crate) const fn place(hex: Hex) -> (i16, i16) {
    (hex.col as i16, hex.row as i16)
}

/// A share of a pool as 0 to 255: full is 255, and what is not empty is not 0.
pub(crate) fn share(pool: f32, full: f32) -> u8 {
    if full <= 0.0 { 0 } else { (pool / full * 255.0).ceil() as u8 }
}

pub(crate) fn contact(
    ship: &Ship,
    sheet: &Sheet,
    condition: &Condition,
    arrival: &Arrival,
    hex: Hex,
    now: Moment,
) -> Contact {
    let (col, row) = place(hex);
    Contact {
        id: ship.id.0,
        pilot: ship.pilot().map_or(0, |pilot| pilot.0),
        class: ship.fit.class.0,
        faction: ship.faction as u8,
        col,
        row,
        hull: share(condition.0.hull, sheet.full.hull),
        shield: share(condition.0.shield, sheet.full.shield),
        arriving: arrival.is_up(now),
    }
}

pub(crate) fn own_ship(
    ship: &Ship,
    hex: Hex,
    condition: &Condition,
    battery: &Battery,
    gun: &Gun,
    helm: &Helm,
    arrival: &Arrival,
) -> OwnShip {
    let (col, row) = place(hex);
    OwnShip {
        id: ship.id.0,
        class: ship.fit.class.0,
        faction: ship.faction as u8,
        col,
        row,
        hull: condition.0.hull,
        shield: condition.0.shield,
        battery: battery.0,
        target: gun.target.map_or(0, |target| target.id.0),
        locked_at: gun.locked_at.get(),
        lock_takes: gun.lock_takes.get(),
        ready_at: gun.ready_at.get(),
        leg: match helm.leg() {
            keel_sim::Leg::Still => Leg::Still,
            keel_sim::Leg::Window { ends } => Leg::Window { ends: ends.get() },
            keel_sim::Leg::Hop { ends } => Leg::Hop { ends: ends.get() },
        },
        course: helm.course().take(MAX_COURSE).map(place).collect(),
        arrival: arrival.ends.get(),
    }
}

pub(crate) fn card(ship: ShipId, sheet: &Sheet) -> Card {
    let resists = |table: DamageTable| Resists { plasma: table.plasma, impact: table.impact, phase: table.phase };
    Card {
        ship: ship.0,
        class: sheet.class.0,
        volley: sheet.gun.map_or(0.0, |gun| gun.volley),
        cycle: sheet.gun.map_or(Micros::ZERO, |gun| gun.cycle).get(),
        cost: sheet.gun.map_or(0.0, |gun| gun.cost),
        sustained: sheet.sustained(),
        battery_limited: sheet.battery_limited(),
        shield: sheet.full.shield,
        hull: sheet.full.hull,
        battery: sheet.battery,
        evasion: sheet.evasion,
        tracking: sheet.tracking,
        hit: sheet.hit,
        crit: sheet.crit,
        crit_damage: sheet.crit_damage,
        shield_resist: sheet.shield_resist().map(resists),
        armor_resist: resists(sheet.armor_resist()),
        lock: sheet.lock.get(),
        window: sheet.navigation.window.get(),
        hop: sheet.navigation.hop.get(),
        grid: (sheet.grid_used, sheet.grid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_only_when_full_and_empty_only_when_empty() {
        assert_eq!(share(400.0, 400.0), 255);
        assert_eq!(share(399.9, 400.0), 255);
        assert_eq!(share(0.1, 400.0), 1);
        assert_eq!(share(0.0, 400.0), 0);
        assert_eq!(share(500.0, 400.0), 255);
        assert_eq!(share(0.0, 0.0), 0);
    }
}
