//! What a pilot has, as lines of text: for the log, and for panels of the screen.

use keel_client::{Card, Flags, Module, Named, OwnShip, Replica, Resists, Shot, Slot, Stance};

use keel_map::{MapKey, MapKind};

use super::pilot::Pilot;
use crate::sight::{Sight, place_of};

/// The active ship's card and fit, into the log.
pub(crate) fn card(pilot: &mut Pilot) {
    if pilot.active().is_none() {
        return pilot.tell("You have no ship.".to_owned());
    }
    let lines = pilot.active().and_then(|ship| pilot.replica().card(ship.id)).map(|card| {
        let replica = pilot.replica();
        let fit =
            card.fit.iter().map(|(slot, module)| format!("{}: {}", slot_name(*slot), module_line(replica, module)));
        card_lines(replica, card).into_iter().chain(fit).collect::<Vec<_>>()
    });
    lines.into_iter().flatten().for_each(|line| pilot.tell(line));
}

/// The fleet, into the log.
pub(crate) fn fleet(pilot: &mut Pilot) {
    let mut lines: Vec<String> = pilot.replica().own().map(|ship| fleet_line(pilot.replica(), ship)).collect();
    if lines.is_empty() {
        lines.push("You have no ship.".to_owned());
    }
    lines.into_iter().for_each(|line| pilot.tell(line));
}

/// The hold, into the log.
pub(crate) fn modules(pilot: &mut Pilot) {
    let replica = pilot.replica();
    let mut lines: Vec<String> =
        replica.hold().iter().map(|(id, module)| format!("{id}: {}", module_line(replica, module))).collect();
    if lines.is_empty() {
        lines.push("Your hold is empty.".to_owned());
    }
    lines.into_iter().for_each(|line| pilot.tell(line));
}

/// The charter, into the log.
pub(crate) fn charter(pilot: &mut Pilot) {
    let line = pilot.replica().bonds().charter.as_ref().map_or("You are in no charter.".to_owned(), |charter| {
        let is_own = |id: u32| pilot.replica().welcome().is_some_and(|welcome| welcome.pilot == id);
        let name = |&id: &u32| if is_own(id) { "you".to_owned() } else { pilot.called(id) };
        let members: Vec<String> = charter.members.iter().map(name).collect();
        let hostile: Vec<String> = charter.hostile.iter().map(u32::to_string).collect();
        let hostile = if hostile.is_empty() { "none".to_owned() } else { hostile.join(", ") };
        let (id, title, head) = (charter.id, &charter.name, name(&charter.head));
        format!("Charter {id} {title}: {}; head {head}; hostile charters {hostile}.", members.join(", "))
    });
    pilot.tell(line);
}

/// Lines about what the pilot knows, into the log.
pub(crate) fn tell(pilot: &mut Pilot, lines: impl Fn(&Pilot) -> Vec<String>) {
    lines(pilot).into_iter().for_each(|line| pilot.tell(line));
}

/// The found wormholes, into the log.
pub(crate) fn wormholes(pilot: &mut Pilot) {
    tell(pilot, |pilot| wormhole_lines(pilot.replica()));
}

/// The card of each found end in lines.
pub(crate) fn wormhole_lines(replica: &Replica) -> Vec<String> {
    let now = replica.step() * keel_client::STEP_MICROS;
    let lines = replica.wormholes().iter().flat_map(|wormhole| {
        let title = |code: u8| MapKey::from_code(code).map_or("nowhere".to_owned(), MapKey::title);
        let age = now.saturating_sub(wormhole.opened) / 60_000_000;
        let (col, row) = wormhole.place;
        let inside = wormhole.inside.map(|(pilots, _)| format!("  Pilots inside: {pilots}."));
        let away = wormhole.inside.map(|(_, away)| format!("  Fleets left there by pilots who are away: {away}."));
        let code = &wormhole.code;
        let head =
            format!("{code} at {} {col} {row}, leads to {}, {age} min old", title(wormhole.map), title(wormhole.to));
        [Some(head), Some(format!("  {}", wormhole.danger)), inside, away].into_iter().flatten()
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { vec!["You have found no wormhole.".to_owned()] } else { lines }
}

/// A card in lines.
pub(crate) fn card_lines(replica: &Replica, card: &Card) -> Vec<String> {
    let s = |micros: u32| f64::from(micros) / 1e6;
    let resists = |name: &str, resists: Option<Resists>| match resists {
        Some(r) => format!("{name} resist: Plasma {:.0} %, Impact {:.0} %, Phase {:.0} %", r.plasma, r.impact, r.phase),
        None => format!("{name}: none fitted"),
    };
    let class = replica.word(|welcome| &welcome.classes, card.class);
    let line = replica.word(|welcome| &welcome.lines, card.line);
    let mut lines = vec![
        format!("{class}, {line} hull · power grid {:.0} of {:.0}", card.grid.0, card.grid.1),
        format!("Volley {:.1} · cycle {:.2} s · battery a shot {:.1}", card.volley, s(card.cycle), card.cost),
        format!("Sustained {:.1}/s · battery-limited {:.1}/s", card.sustained, card.battery_limited),
        format!("Hit {:.0} % · crit {:.0} %, × {:.1}", card.hit, card.crit, card.crit_damage),
        format!("Evasion {:.0} % · tracking {:.2}", card.evasion, card.tracking),
        format!("Shield {:.0} · hull {:.0} · battery {:.0}", card.shield, card.hull, card.battery),
        resists("Shield", card.shield_resist),
        resists("Armor", Some(card.armor_resist)),
        format!(
            "Move {:.2} s after {:.1} s · lock {:.2} s · sees {}",
            s(card.hop),
            s(card.window),
            s(card.lock),
            card.view
        ),
    ];
    let powers = &card.powers;
    lines.extend(powers.brace.map(|brace| {
        let (lasts, cooldown) = (s(brace.lasts), s(brace.cooldown));
        format!(
            "Brace +{:.0} hull, +{:.0} resist {lasts:.1} s · costs {:.0}, cools {cooldown:.1} s",
            brace.hull, brace.resist, brace.cost
        )
    }));
    lines.extend(
        powers
            .jam
            .map(|jam| format!("Jam {:.2} s · costs {:.0}, cools {:.1} s", s(jam.lasts), jam.cost, s(jam.cooldown))),
    );
    lines.extend(powers.clamp.map(|clamp| {
        format!(
            "Clamp grapple {:.0} · costs {:.0} · Unclamp costs {:.0}",
            clamp.grapple, clamp.cost, clamp.unclamp_cost
        )
    }));
    lines.extend(powers.mender.map(|hull| format!("Mender {hull:.0} hull")));
    lines.extend(powers.aura.map(|factor| format!("Suppression aura: enemies' cycles × {factor:.2}")));
    lines.extend(powers.cloak.map(|cost| format!("Cloak costs {cost:.0}")));
    lines
}

/// A module in a line.
fn module_line(replica: &Replica, module: &Module) -> String {
    format!("{} · quality {} · durability {}", ranked(replica, module), module.quality, module.durability)
}

/// The same in few columns: quality and durability as `100/97`.
pub(crate) fn module_marks(replica: &Replica, module: &Module) -> String {
    format!("{} {}/{}", ranked(replica, module), module.quality, module.durability)
}

fn ranked(replica: &Replica, module: &Module) -> String {
    let name = replica.module(module);
    if module.rank == 1 { name } else { format!("{name} rank {}", module.rank) }
}

/// A slot as people count.
pub(crate) fn slot_name(slot: Slot) -> String {
    match slot {
        Slot::Well(well) => format!("well {}", u16::from(well) + 1),
        Slot::Armor => "armor".to_owned(),
        Slot::Shield => "shield".to_owned(),
        Slot::System(slot) => format!("system {}", u16::from(slot) + 1),
        Slot::Shard => "Shard".to_owned(),
    }
}

/// A ship of the fleet in a line.
pub(crate) fn fleet_line(replica: &Replica, ship: &OwnShip) -> String {
    let name = replica.named(&Named { id: ship.id, pilot: 0, class: ship.class, faction: ship.faction });
    let mind = if ship.flags.has(Flags::ACTIVE) { "you fly it".to_owned() } else { mind_line(ship) };
    format!("{name} · {} · {mind}", where_line(ship))
}

/// Where a ship is.
pub(crate) fn where_line(ship: &OwnShip) -> String {
    let place = place_of(ship);
    let map = MapKey::from_code(ship.map);
    let map =
        map.map_or("?".to_owned(), |map| format!("{}{}", if map.kind == MapKind::Layer { "L" } else { "R" }, map.tier));
    if ship.flags.has(Flags::DOCKED) {
        format!("{map} docked")
    } else if ship.flags.has(Flags::IN_TRANSIT) {
        format!("{map} in transit")
    } else {
        format!("{map} {place}")
    }
}

/// What an escort does by itself.
fn mind_line(ship: &OwnShip) -> String {
    let mind = &ship.mind;
    let follows = if mind.follows { ", follows" } else { "" };
    let jams = if mind.jam { ", Jams" } else { "" };
    format!("{}{follows}, Braces under {} %{jams}", stance_line(ship), mind.brace_percent)
}

/// The same in few columns: F for one that follows, J for one whose Jam triggers are on.
pub(crate) fn mind_marks(ship: &OwnShip) -> String {
    let marks = [(ship.mind.follows, " F"), (ship.mind.jam, " J")];
    let marks: String = marks.iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| *mark).collect();
    format!("{}{marks}", stance_line(ship))
}

fn stance_line(ship: &OwnShip) -> String {
    let stance = match ship.mind.stance {
        Stance::Aggressive => "aggressive",
        Stance::Defensive => "defensive",
        Stance::Support => "support",
        Stance::Passive => "passive",
    };
    let protectee = ship.mind.protectee;
    if protectee == 0 { stance.to_owned() } else { format!("{stance} of {protectee}") }
}

/// A shot of the combat log in a line.
pub(crate) fn shot_line(replica: &Replica, shot: &Shot) -> String {
    let own = replica.welcome().map(|welcome| welcome.pilot);
    let name = |ship: &Named| if Some(ship.pilot) == own { format!("your {}", ship.id) } else { replica.named(ship) };
    let (shooter, target) = (name(&shot.shooter), name(&shot.target));
    let seconds = (shot.step * keel_client::STEP_MICROS) as f64 / 1e6;
    if shot.hit {
        let (raw, shield, hull) = (shot.raw, shot.shield, shot.hull);
        format!("{seconds:8.2} {shooter} at {target}: {raw:.1} raw, {shield:.1} shield, {hull:.1} hull")
    } else {
        format!("{seconds:8.2} {shooter} at {target}: missed")
    }
}
