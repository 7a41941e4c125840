//! Ships, as others see them and as their pilots do.

use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use keel_map::{Hex, MapKey};
use keel_protocol::snapshot::{MAX_COURSE, rounded};
use keel_protocol::{Contact, Flags, Leg, Mind, OwnShip, Pool, Stance};
use keel_rules::clocks::shield_refills;
use keel_rules::fire::Owner;
use keel_rules::{Moment, STEP};
use keel_sim::{
    Arrival, Battery, Card, ClampedBy, Clamping, Condition, Docked, Gun, Harvest, Helm, Locking, Powers, Ship,
};

use super::place;

/// What others may know of a ship, and what that follows from.
#[derive(QueryData)]
pub(crate) struct Outside {
    pub(crate) ship: &'static Ship,
    condition: &'static Condition,
    pub(crate) card: &'static Card,
    pub(crate) powers: &'static Powers,
    arrival: &'static Arrival,
    helm: &'static Helm,
    clamps: Option<&'static ClampedBy>,
    pub(crate) locking: Option<&'static Locking>,
    docked: Has<Docked>,
}

/// What a ship's pilot knows of it besides.
#[derive(QueryData)]
pub(crate) struct Inside {
    pub(crate) outside: Outside,
    battery: &'static Battery,
    gun: &'static Gun,
    harvest: Option<&'static Harvest>,
    pub(crate) clamping: Option<&'static Clamping>,
    mind: &'static keel_sim::Mind,
}

/// A share of a pool as 0 to 255: full is 255, and what is not empty is not 0.
fn share(pool: f32, full: f32) -> u8 {
    if full <= 0.0 { 0 } else { (pool / full * 255.0).ceil() as u8 }
}

/// What anyone in view may see of a ship's state.
fn flags(ship: &OutsideItem<'_, '_>, now: Moment) -> Flags {
    let states = [
        (Flags::ARRIVING, ship.arrival.is_up(now)),
        (Flags::JAMMED, ship.powers.is_jammed(now)),
        (Flags::BRACED, ship.powers.is_braced(now)),
        (Flags::CLAMPED, ship.clamps.is_some_and(|clamps| clamps.iter().len() > 0)),
        (Flags::CLOAKED, ship.powers.cloaked),
        (Flags::IN_TRANSIT, ship.helm.in_transit()),
        (Flags::DOCKED, ship.docked),
    ];
    states.into_iter().fold(Flags::default(), |flags, (flag, is_so)| flags.with(flag, is_so))
}

/// A ship as others see it; `target` is the number of the ship that it locks, as far as anyone may know.
pub(crate) fn contact(ship: &OutsideItem<'_, '_>, target: u32, (map, hex): (MapKey, Hex), now: Moment) -> Contact {
    let (col, row) = place(hex);
    let (pools, full) = (ship.condition.0, ship.card.0.full);
    Contact {
        id: ship.ship.id.0,
        pilot: ship.ship.pilot().map_or(0, |pilot| pilot.0),
        charter: match ship.ship.owner {
            Owner::Charter(charter) => charter,
            Owner::Pilot(_) | Owner::Npc => 0,
        },
        class: ship.ship.class.0,
        faction: ship.ship.faction as u8,
        map: map.code(),
        col,
        row,
        hull: share(pools.hull, full.hull),
        shield: share(pools.shield, full.shield),
        flags: flags(ship, now),
        target,
    }
}

/// One of a pilot's own ships. `is_active` is whether they fly it, `target` and `clamping` are the numbers of the ships that
/// it locks and clamps.
pub(crate) fn own_ship(
    own: &InsideItem<'_, '_>,
    is_active: bool,
    target: u32,
    clamping: u32,
    (map, hex): (MapKey, Hex),
    now: Moment,
) -> OwnShip {
    let InsideItem { outside: ship, battery, gun, harvest, mind, .. } = own;
    let (col, row) = place(hex);
    let (pools, powers, helm, sheet) = (ship.condition.0, ship.powers, ship.helm, &*ship.card.0);
    let pool =
        |held: f32, full: f32, gains: f32| Pool { held: rounded(held), at: now.get(), gains, full: rounded(full) };
    // To a full one it makes no difference, so nothing is told of it.
    let refills =
        pools.shield >= sheet.full.shield || shield_refills(powers.is_jammed(now), battery.0, sheet.battery_empty);
    OwnShip {
        id: ship.ship.id.0,
        class: ship.ship.class.0,
        faction: ship.ship.faction as u8,
        map: map.code(),
        col,
        row,
        hull: rounded(pools.hull),
        shield: pool(pools.shield, sheet.full.shield, if refills { sheet.shield_per_step } else { 0.0 }),
        battery: pool(battery.0, sheet.battery, sheet.battery_per_step),
        target,
        locked_at: moment(gun.locked_at),
        lock_takes: gun.lock_takes.steps() * STEP.get(),
        ready_at: moment(gun.ready_at),
        leg: leg(helm),
        course: helm.course().take(MAX_COURSE).map(place).collect(),
        flags: flags(ship, now).with(Flags::ACTIVE, is_active),
        arrival: moment(ship.arrival.ends),
        brace_ready: moment(powers.brace_ready),
        jam_ready: moment(powers.jam_ready),
        cloak_ready: moment(powers.cloak_ready),
        jammed_until: moment(powers.jammed_until),
        immune_until: moment(powers.immune_until),
        jump_ready: moment(helm.jump_ready()),
        harvest: harvest.map_or(0, |harvest| moment(harvest.ends)),
        clamping,
        mind: self::mind(mind),
    }
}

/// When something is over, for a client: the moment of the first step in which it is.
const fn moment(ends: Moment) -> u64 {
    Moment::of_step(ends.step()).get()
}

fn leg(helm: &Helm) -> Leg {
    match helm.leg() {
        keel_sim::Leg::Still => Leg::Still,
        keel_sim::Leg::Window { ends } => Leg::Window { ends: moment(ends) },
        keel_sim::Leg::Hop { ends } => Leg::Hop { ends: moment(ends) },
        keel_sim::Leg::Transit { ends } => Leg::Transit { ends: moment(ends) },
    }
}

fn mind(mind: &keel_sim::Mind) -> Mind {
    Mind {
        stance: match mind.stance {
            keel_sim::Stance::Aggressive => Stance::Aggressive,
            keel_sim::Stance::Defensive => Stance::Defensive,
            keel_sim::Stance::Support => Stance::Support,
            keel_sim::Stance::Passive => Stance::Passive,
        },
        protectee: mind.protectee.map_or(0, |ship| ship.0),
        brace_percent: mind.brace_percent,
        jam: mind.jam,
        follows: mind.follows,
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
