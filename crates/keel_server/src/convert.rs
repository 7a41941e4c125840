//! The sim's types as the wire's, by hand.

mod card;
mod op;

pub(crate) use card::{card, kind, module};
pub(crate) use op::op;

use bevy_ecs::prelude::*;
use keel_map::{Hex, MapKey};
use keel_protocol::snapshot::{MAX_COURSE, rounded};
use keel_protocol::{Answer, Contact, Flags, Leg, Mind, Named, OwnShip, Pool, Shot, Stance};
use keel_rules::clocks::shield_refills;
use keel_rules::fire::Owner;
use keel_rules::{Moment, STEP};
use keel_sim::{
    Answered, Arrival, Battery, Card, ClampedBy, Clamping, Condition, Docked, Gun, Harvest, Helm, Locking, Powers, Ship,
};

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
fn share(pool: f32, full: f32) -> u8 {
    if full <= 0.0 { 0 } else { (pool / full * 255.0).ceil() as u8 }
}

/// What anyone in view may see of a ship's state.
fn flags(ship: EntityRef<'_>, now: Moment) -> Option<Flags> {
    let powers = ship.get::<Powers>()?;
    let states = [
        (Flags::ARRIVING, ship.get::<Arrival>()?.is_up(now)),
        (Flags::JAMMED, powers.is_jammed(now)),
        (Flags::BRACED, powers.is_braced(now)),
        (Flags::CLAMPED, ship.get::<ClampedBy>().is_some_and(|clamps| clamps.iter().len() > 0)),
        (Flags::CLOAKED, powers.cloaked),
        (Flags::IN_TRANSIT, ship.get::<Helm>()?.in_transit()),
        (Flags::DOCKED, ship.contains::<Docked>()),
    ];
    Some(states.into_iter().fold(Flags::default(), |flags, (flag, is_so)| flags.with(flag, is_so)))
}

pub(crate) fn contact(world: &World, ship: EntityRef<'_>, map: MapKey, hex: Hex, now: Moment) -> Option<Contact> {
    let (col, row) = place(hex);
    let (name, pools, full) = (ship.get::<Ship>()?, ship.get::<Condition>()?.0, ship.get::<Card>()?.0.full);
    Some(Contact {
        id: name.id.0,
        pilot: name.pilot().map_or(0, |pilot| pilot.0),
        charter: match name.owner {
            Owner::Charter(charter) => charter,
            Owner::Pilot(_) | Owner::Npc => 0,
        },
        class: name.class.0,
        faction: name.faction as u8,
        map: map.code(),
        col,
        row,
        hull: share(pools.hull, full.hull),
        shield: share(pools.shield, full.shield),
        flags: flags(ship, now)?,
        target: ship.get::<Locking>().map_or(0, |locking| shown(world, locking.0)),
    })
}

/// The number of a ship that another locks, for anyone to see: one that is cloaked is not given away.
fn shown(world: &World, target: Entity) -> u32 {
    let Ok(target) = world.get_entity(target) else { return 0 };
    let cloaked = target.get::<Powers>().is_some_and(|powers| powers.cloaked);
    if cloaked { 0 } else { target.get::<Ship>().map_or(0, |ship| ship.id.0) }
}

/// One of a pilot's own ships. `active` is whether they fly it.
pub(crate) fn own_ship(
    world: &World,
    ship: EntityRef<'_>,
    active: bool,
    map: MapKey,
    hex: Hex,
    now: Moment,
) -> Option<OwnShip> {
    let (col, row) = place(hex);
    let id = |ship: Option<Entity>| ship.and_then(|ship| world.get::<Ship>(ship)).map_or(0, |ship| ship.id.0);
    let (name, pools, helm) = (ship.get::<Ship>()?, ship.get::<Condition>()?.0, ship.get::<Helm>()?);
    let (gun, powers, sheet) = (ship.get::<Gun>()?, ship.get::<Powers>()?, &*ship.get::<Card>()?.0);
    let battery = ship.get::<Battery>()?.0;
    let pool =
        |held: f32, full: f32, gains: f32| Pool { held: rounded(held), at: now.get(), gains, full: rounded(full) };
    // To a full one it makes no difference, so nothing is told of it.
    let refills =
        pools.shield >= sheet.full.shield || shield_refills(powers.is_jammed(now), battery, sheet.battery_empty);
    Some(OwnShip {
        id: name.id.0,
        class: name.class.0,
        faction: name.faction as u8,
        map: map.code(),
        col,
        row,
        hull: rounded(pools.hull),
        shield: pool(pools.shield, sheet.full.shield, if refills { sheet.shield_per_step } else { 0.0 }),
        battery: pool(battery, sheet.battery, sheet.battery_per_step),
        target: id(ship.get::<Locking>().map(|locking| locking.0)),
        locked_at: moment(gun.locked_at),
        lock_takes: gun.lock_takes.steps() * STEP.get(),
        ready_at: moment(gun.ready_at),
        leg: leg(helm),
        course: helm.course().take(MAX_COURSE).map(place).collect(),
        flags: flags(ship, now)?.with(Flags::ACTIVE, active),
        arrival: moment(ship.get::<Arrival>()?.ends),
        brace_ready: moment(powers.brace_ready),
        jam_ready: moment(powers.jam_ready),
        cloak_ready: moment(powers.cloak_ready),
        jammed_until: moment(powers.jammed_until),
        immune_until: moment(powers.immune_until),
        jump_ready: moment(helm.jump_ready()),
        harvest: ship.get::<Harvest>().map_or(0, |harvest| moment(harvest.ends)),
        clamping: id(ship.get::<Clamping>().map(|clamping| clamping.0)),
        mind: mind(ship.get()?),
    })
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

pub(crate) fn shot(shot: &keel_sim::Shot) -> Shot {
    let named = |contact: &keel_sim::Contact| Named {
        id: contact.id.0,
        pilot: contact.pilot().map_or(0, |pilot| pilot.0),
        class: contact.class.0,
        faction: contact.faction as u8,
    };
    Shot {
        step: shot.step,
        shooter: named(&shot.shooter),
        target: named(&shot.target),
        hit: !shot.outcome.is_miss(),
        raw: shot.raw,
        shield: shot.dealt.shield,
        hull: shot.dealt.hull,
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
