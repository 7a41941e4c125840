//! Storms, incursions, charts, wrecks and goods, as lines of text: for the log, and for panels of the screen.

use keel_client::{Ground, Named, STEP_MICROS};
use keel_map::MapKey;

use super::pilot::Pilot;
use crate::sight::Sight;

/// What a map is called.
pub(crate) fn title(code: u8) -> String {
    MapKey::from_code(code).map_or("Nowhere".to_owned(), MapKey::title)
}

/// A span as people say it: `3 h 05 min`, `4 min 10 s`.
fn span(seconds: u64) -> String {
    match seconds {
        3600.. => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
        60.. => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{seconds} s"),
    }
}

/// Incursions that are on, and storms that are to come, soonest first.
pub(crate) fn journal_lines(pilot: &Pilot) -> Vec<String> {
    let replica = pilot.replica();
    let (journal, utc) = (replica.journal(), replica.utc());
    let now = replica.step() * STEP_MICROS;
    let left = |moment: u64| span(moment.saturating_sub(now) / 1_000_000);
    // Those of the pilot's own map first.
    let own = pilot.active().map(|ship| ship.map);
    let mut on: Vec<_> = journal.incursions.iter().collect();
    on.sort_by_key(|incursion| (Some(incursion.map) != own, incursion.begins));
    let incursions = on.into_iter().map(|incursion| {
        let (col, row) = incursion.sectors.first().copied().unwrap_or_default();
        let faction = replica.word(|welcome| &welcome.factions, incursion.faction);
        let head = format!("{faction} incursion on {} around {col} {row}", title(incursion.map));
        if incursion.begins > now {
            format!("{head}: comes in {}", left(incursion.begins))
        } else {
            format!("{head}: wave {} of {}, {} left to clear it", incursion.wave, incursion.waves, left(incursion.ends))
        }
    });
    let storms = journal.storms.iter().map(|storm| {
        let (map, lands) = (title(storm.map), span(storm.lands.saturating_sub(utc)));
        let day = storm.lands % 86_400;
        let clock = format!("{:02}:{:02} UTC", day / 3600, day % 3600 / 60);
        if storm.is_building {
            format!("{} over {map} lands in {lands}", storm.name)
        } else {
            format!("{map}: storm in {lands}, {clock}")
        }
    });
    incursions.chain(storms).collect()
}

/// When the storm that builds over a map lands; nothing while none does.
pub(crate) fn storm_over(pilot: &Pilot, map: u8) -> String {
    let (replica, utc) = (pilot.replica(), pilot.replica().utc());
    let storm = replica.journal().storms.iter().find(|storm| storm.map == map && storm.is_building);
    storm.map_or_else(String::new, |storm| format!(" · storm in {}", span(storm.lands.saturating_sub(utc))))
}

/// Wallet and cargo.
pub(crate) fn cargo_lines(pilot: &Pilot) -> Vec<String> {
    let goods = pilot.replica().goods();
    let mut lines = vec![
        format!("Salt {}.{:02} · Notches {}", goods.salt / 100, goods.salt % 100, goods.notches),
        format!("Ore {} · gas {} · material {} · Remnants {}", goods.ore, goods.gas, goods.material, goods.remnants),
        format!("Modules in the hold: {} (show modules)", pilot.replica().hold().len()),
    ];
    lines.extend(goods.originals.iter().map(|original| format!("Original of the {original} blueprint")));
    lines.extend(goods.copies.iter().map(|(copy, count)| format!("{count} × copy of the {copy} blueprint")));
    lines
}

/// The chart of the map where the pilot is: how much of it there is, and what is on it, the nearest first.
pub(crate) fn chart_lines(pilot: &Pilot) -> Vec<String> {
    let replica = pilot.replica();
    let Some(ship) = pilot.active() else { return vec!["You have no ship.".to_owned()] };
    let share = replica.charted(ship.map).unwrap_or_default();
    let mut lines = vec![format!("{} is charted to {}.", title(ship.map), percent(share))];
    let here = pilot.here().unwrap_or_default();
    let mut finds: Vec<(u32, String)> = Vec::new();
    let mut find = |(col, row): (i16, i16), what: String| {
        let hops = keel_map::Hex::new(col.into(), row.into()).distance(here);
        finds.push((hops, format!("{what} at {col} {row}")));
    };
    for (&place, ground) in replica.chart(ship.map).into_iter().flatten() {
        match ground {
            Ground::Open => {}
            Ground::Belt(richness) => find(place, format!("belt, richness {richness},")),
            Ground::Cloud(richness) => find(place, format!("gas cloud, richness {richness},")),
        }
    }
    for end in replica.wormholes().iter().filter(|end| end.map == ship.map) {
        find(end.place, format!("wormhole {} to {}", end.code, title(end.to)));
    }
    finds.sort();
    lines.extend(finds.into_iter().map(|(_, line)| line));
    lines
}

/// A share as whole percent: all only when all.
pub(crate) fn percent(share: f32) -> String {
    format!("{:.0} %", (share * 100.0).floor())
}

/// The wrecks in view.
pub(crate) fn wreck_lines(pilot: &Pilot) -> Vec<String> {
    let replica = pilot.replica();
    let wrecks = replica.wrecks().iter().map(|wreck| {
        let ship = Named { id: wreck.id, pilot: 0, class: wreck.class, faction: wreck.faction };
        let (col, row) = wreck.place;
        format!("wreck {}, a {} at {col} {row}", wreck.id, replica.make(&ship))
    });
    let lines: Vec<String> = wrecks.collect();
    if lines.is_empty() { vec!["No wreck is in view.".to_owned()] } else { lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_as_people_say_them() {
        assert_eq!([11_100, 250, 59, 0].map(span), ["3 h 05 min", "4 min 10 s", "59 s", "0 s"]);
        assert_eq!([0.999, 1.0, 0.0].map(percent), ["99 %", "100 %", "0 %"]);
    }
}
