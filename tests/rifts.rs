//! A pilot's way through the maps over UDP: charts a layer, finds a wormhole, reads its card, jumps into a Rift, lives through
//! a storm, clears an incursion, is paid, and finds the way out.

mod keel;

use std::path::Path;

use keel::{Server, flown, has, keel};

/// The shipped balance with a ship that hops ten times as fast and sees far, and incursions of a single small wave: what takes a
/// pilot an hour takes a test a minute.
fn hasty(file: &Path) {
    let mut text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/balance.ron")).unwrap();
    for (from, to) in [
        ("\"Carrier\": (move_s: 1.75,", "\"Carrier\": (move_s: 0.10,"),
        ("moving: (window_s: 0.4,", "moving: (window_s: 0.0,"),
        ("starter: (class: \"Patrol\",", "starter: (class: \"Carrier\","),
        ("reach: 1, waves: 3,", "reach: 0, waves: 1,"),
        ("sectors: 207, sector_cap: 2,", "sectors: 207, sector_cap: 1,"),
        ("sectors: 414, sector_cap: 4,", "sectors: 414, sector_cap: 2,"),
        ("incursion_cap: 4, notches: 1,", "incursion_cap: 1, notches: 1,"),
        ("incursion_cap: 8, notches: 2)", "incursion_cap: 2, notches: 2)"),
        ("harvest: (takes_s: 20)", "harvest: (takes_s: 1)"),
        ("drop: 0.10,", "drop: 1.00,"),
        ("sensor: 1, scanner: 2,", "sensor: 4, scanner: 5,"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    std::fs::write(file, text).unwrap();
}

#[test]
fn rules_11_to_13_a_pilot_charts_jumps_lives_through_a_storm_clears_an_incursion_and_finds_the_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let balance = directory.path().join("hasty.ron");
    hasty(&balance);
    let server = Server::start(&["--balance", balance.to_str().unwrap(), "--operator-ops", "--seed", "3"]);

    // Layer 1: a wormhole scanner, the whole chart, and a belt.
    let log = flown(
        &server,
        "ann",
        "dock\nawait docked 5\nfit system4 wormhole scanner Human\nfit system5 Sensor Human\nundock\nchart 120\nawait log is charted 5\nwait 1\n\
         show chart\nshow wormholes\nshow cargo\nhunt 60\nfight 60\nwait 1\nshow wrecks\ntake all\nwait 1\nshow cargo\n",
    );
    has(&log, &["Layer 1 is charted. 1 Notch paid.", "Layer 1 is charted to 100 %.", "belt, richness ", "gas cloud, "]);
    has(&log, &["Salt 0.00 · Notches 1", ", leads to ", " min old", " danger: "]);
    has(&log, &["wreck ", "Taken: ", " module", "material "]);
    let belt = log.lines().find_map(|line| line.split("belt, richness ").nth(1)).unwrap();
    let place: Vec<&str> = belt.split(" at ").nth(1).unwrap().split(' ').collect();
    let (richness, col, row) = (belt.split(',').next().unwrap(), place[0], place[1]);
    let log = flown(
        &server,
        "ann",
        &format!(
            "move {col} {row}\nawait arrival 60\nharvest\nawait log Harvested 5\ntry harvest\ncancel\nwait 1\nshow cargo\n"
        ),
    );
    has(&log, &[&format!("Harvested {richness} ore."), &format!("Ore {richness} · gas 0")]);

    // Through a wormhole into Rift 1, where a storm passes and the chart starts again.
    let log = flown(
        &server,
        "ann",
        "force wormhole rift-1\nawait log found 5\nwait 1\nshow wormholes\njump here\nawait log Arrived 10\nwait 1\nshow chart\n\
         force storm rift-1\nawait log has settled 5\nwait 1\nshow journal\nchart 180\nawait log is charted 5\nwait 1\nshow chart\nshow cargo\n",
    );
    has(
        &log,
        &["It leads to Rift 1.", "Low danger: Rift 1, twice the NPCs of Layer 1, NPC squads of up to 2; open fire"],
    );
    has(&log, &["The storm has passed. Rift 1 has settled into ", "Rift 2: storm in ", ":00 UTC"]);
    has(&log, &["Rift 1 is charted. 2 Notches paid.", "Salt 0.00 · Notches 3"]);
    let exit = log.lines().find(|line| line.contains("wormhole ") && line.contains(" to Layer 1 at ")).unwrap();
    let words: Vec<&str> = exit.split_whitespace().collect();
    let (col, row) = (words[words.len() - 2], words[words.len() - 1]);

    // An incursion where the ship is; it pays 4 Salt and a copy. Then home by the exit.
    let log = flown(
        &server,
        "ann",
        "force incursion rift-1\nawait log lands wave 5\nwait 1\nshow journal\nfight 120\nawait log is cleared 5\n\
         await log Your share 2\nwait 1\nshow cargo\n",
    );
    has(&log, &[" incursion on Rift 1 around ", "wave 1 of 1", "The incursion on Rift 1 is cleared."]);
    has(&log, &["Your share in clearing Rift 1: 4 Salt.", "You did the most. A copy of the ", "Salt 4.00 · Notches 3"]);
    has(&log, &["1 × copy of the Common "]);
    let log = flown(
        &server,
        "ann",
        &format!("move {col} {row}\nawait arrival 60\njump here\nawait log Arrived 10\nshow fleet\n"),
    );
    has(&log, &["Arrived on Layer 1. Transit flag ended.", "· L1 "]);
}

#[test]
fn a_server_takes_operators_orders_only_when_it_is_told_to() {
    let server = Server::start(&[]);
    let log = flown(&server, "ann", "try force storm rift-6\ntry force incursion rift-6\ntry force wormhole rift-6\n");
    assert_eq!(log.matches("Refused: This server takes no operator's orders from pilots.").count(), 3, "{log}");
    let help = keel(&["serve", "--help"]).output().unwrap();
    has(&String::from_utf8(help.stdout).unwrap(), &["--operator-ops", "for checks, not for play"]);
}

#[test]
fn rule_13_storms_come_by_the_clock_that_the_server_is_told() {
    let server = Server::start(&["--storm-clock", "2026-01-31T13:54:50Z"]);
    let log = flown(&server, "ann", "wait 1\nshow journal\nawait log reshape 30\nwait 1\nshow journal\n");
    has(&log, &["Rift 2: storm in 5 min ", ", 14:00 UTC", "Layer 2: storm in 1 h 05 min, 15:00 UTC"]);
    has(&log, &[" is building on Rift 2. The Rift will reshape in 5 minutes.", " over Rift 2 lands in 4 min 5"]);
}
