//! Every kind of mistake in a balance file: found at its place, named by its path, and never alone.

use keel_balance::{Balance, BalanceError};
use proptest::prelude::*;

const SHIPPED: &str = include_str!("../../../balance.ron");

/// The faults of the shipped file after replacements, as `line:column: path: problem`.
fn faults(replacements: &[(&str, &str)]) -> Vec<String> {
    let mut text = SHIPPED.to_owned();
    for (from, to) in replacements {
        assert!(text.contains(from), "the shipped file has no `{from}`");
        text = text.replacen(from, to, 1);
    }
    match Balance::parse("b.ron", &text) {
        Ok(_) => Vec::new(),
        Err(BalanceError::Broken { faults, .. }) => faults.iter().map(ToString::to_string).collect(),
        Err(other) => panic!("{other}"),
    }
}

#[track_caller]
fn one_fault(from: &str, to: &str, path: &str, problem: &str) {
    let found = faults(&[(from, to)]);
    let [fault] = found.as_slice() else { panic!("expected one fault of `{to}`, found {found:#?}") };
    assert!(fault.contains(&format!(" {path}: ")), "{fault}");
    assert!(fault.contains(problem), "{fault}");
}

#[test]
fn the_shipped_balance_has_no_fault() {
    assert_eq!(faults(&[]), Vec::<String>::new());
}

#[test]
fn each_kind_of_fault_names_its_path_and_what_was_expected() {
    one_fault("every_h: 12", "every_h: 7", "storms.every_h", "expected hours that divide a day, found 7");
    one_fault(
        "warn_min: 5",
        "warn_min: 720",
        "storms.warn_min",
        "expected less than the 12 h from storm to storm, found 720",
    );
    one_fault("warn_min: 5", "warn_min: 0", "storms.warn_min", "expected at least 1, found 0");
    one_fault("hit: 1.0", "hit: 1.5", "roll.hit", "expected a chance from 0 to 1, found 1.5");
    one_fault("hit: 1.0", "hit: -0.1", "roll.hit", "a chance from 0 to 1");
    one_fault("hit: 1.0", "hit: NaN", "roll.hit", "a chance from 0 to 1");
    one_fault("hit: 1.0", "hit: inf", "roll.hit", "a chance from 0 to 1");
    one_fault("hit: 1.0", "hit: 1e99", "roll.hit", "a chance from 0 to 1");
    one_fault("cycle_s: 1.15", "cycle_s: 0", "factions.raider.gun.cycle_s", "seconds from 0.05 to 4000, found 0");
    one_fault("cycle_s: 1.15", "cycle_s: \"1.15\"", "factions.raider.gun.cycle_s", "found \"1.15\"");
    one_fault(
        "\"Frigate\": (",
        "\"Patrol\": (move_s: 1, lock_s: 1),\n\"Frigate\": (",
        "classes.Patrol",
        "a second time",
    );
    one_fault("size_step: 5,", "size_step: 5, size_step: 5,", "roll.size_step", "a second time");
    one_fault("size_step: 5,", "size_step: 5, luck: 5,", "roll.luck", "not known here; expected one of hit, size_step");
    one_fault("size_step: 5, ", "", "roll.size_step", "is missing; expected points from -100 to 100");
    one_fault("impact_beats: Phase", "impact_beats: Impact", "edge.impact_beats", "expected another type");
    one_fault("damage: Impact", "damage: Laser", "factions.raider.damage", "one of Thirds, Plasma, Impact, Phase");
    one_fault("hull_loss: false", "hull_loss: 0", "layers[0].hull_loss", "true or false, found 0");
    one_fault("combat_log: 200", "combat_log: 70000", "combat_log", "a whole number from 0 to 65535");
    one_fault("combat_log: 200", "combat_log: 0", "combat_log", "at least 1");
    one_fault("combat_log: 200", "combat_log: -1", "combat_log", "a whole number");
    one_fault("combat_log: 200", "combat_log: 2.5", "combat_log", "a whole number");
    one_fault("baseline: (", "baseline: 7, // (", "baseline", "expected (hull: …");
    one_fault("guns: 2, power_grid: 160", "guns: 3, power_grid: 160", "classes.Carrier.guns", "1 or 2 guns, found 3");
    one_fault("class: \"Patrol\"", "class: \"Tug\"", "starter.class", "found \"Tug\"");
    one_fault("classes: [\"Patrol\"]", "classes: [\"Tug\"]", "layers[0].npcs.classes[0]", "found \"Tug\"");
    one_fault("classes: [\"Patrol\"]", "classes: []", "layers[0].npcs.classes", "at least one");
    one_fault(
        "(side: 20, most: 225, ",
        "(side: 21, most: 225, ",
        "map.layer.side",
        "an even side from 8 to 40, found 21",
    );
    one_fault(
        "(side: 20, most: 225, ",
        "(side: 14, most: 225, ",
        "map.layer.most",
        "the 196 places of the box, found 225",
    );
    one_fault("hazards: 10", "hazards: 60", "map.hazards", "at most 50 of a hundred, found 60");
    one_fault("count: 6, size: 4", "count: 6, size: 0", "map.belts.size", "at least 1");
    one_fault(
        "sectors: 352, ",
        "sectors: 353, ",
        "rifts[2].sectors",
        "expected 352, twice the sectors of layers[2], found 353",
    );
    one_fault("rift_pay: 2", "rift_pay: 0", "rift_pay", "at least 1");
    one_fault("rift_incursion_pay: 4", "rift_incursion_pay: 0", "rift_incursion_pay", "at least 1");
    for (to, what, value, found) in [
        ("incursion_cap: 17, notches: 4)", "incursion_cap", 16, 17),
        ("incursion_cap: 16, notches: 5)", "notches", 4, 5),
    ] {
        let problem = format!("expected {value}, twice the {what} of layers[2], found {found}");
        one_fault("incursion_cap: 16, notches: 4)", to, &format!("rifts[2].{what}"), &problem);
    }
    one_fault(
        "guns: 0, power_grid: 30",
        "guns: 1, power_grid: 30",
        "classes.Outpost.guns",
        "expected no guns, found 1",
    );
    one_fault(
        "hull_copies: [\"Frigate\"]",
        "hull_copies: [\"Berth\"]",
        "layers[1].hull_copies[0]",
        "expected a class that is flown",
    );
    one_fault("a_map: 30", "a_map: 41", "structures.a_map", "at most 40, found 41");
    one_fault("class: \"Berth\"", "class: \"Barn\"", "structures.berth.class", "expected a class of this file");
    one_fault(
        "hull: 15, shield: 8, volley: 1, guns: 0, power_grid: 30",
        "hull: 15, shield: 8, volley: 1, guns: 0, power_grid: 29",
        "classes.Outpost.power_grid",
        "expected at least the 30 of an armor and a shield, found 29",
    );
    one_fault(
        "lasts_s: 1800",
        "lasts_s: 480",
        "incursions.lasts_s",
        "expected more than the 480 s until the last wave",
    );
    one_fault("layer_shift_h: 1", "layer_shift_h: 12", "storms.layer_shift_h", "expected less than the 12 h");
    one_fault("\"A shard gale\"", "\"\"", "storms.names[3]", "expected 1 to 40 characters of one line, found \"\"");
    one_fault("waves: 3", "waves: 0", "incursions.waves", "at least 1");
    one_fault("reach: 1, waves", "reach: 5, waves", "incursions.reach", "at most 4 hops, found 5");
    one_fault("least_min: 60, most_min: 180", "least_min: 60, most_min: 59", "incursions.most_min", "at least the 60");
    one_fault(
        "fast: (volley: 0.72, cycle: 0.62)",
        "fast: (volley: 1, cycle: 0.01)",
        "variants.fast.cycle",
        "human gun's cycle",
    );
}

#[test]
fn a_missing_class_is_named_and_so_is_whatever_refers_to_it() {
    let found = faults(&[("\"Carrier\": (", "\"Barge\": (")]);
    assert!(found[0].ends_with("classes: expected a class \"Carrier\", found none"), "{found:#?}");
    assert!(found[1].contains("layers[4].hull_copies[1]: expected a class of this file"), "{found:#?}");
    assert!(found[2].contains("layers[4].npcs.classes[2]: expected a class of this file"), "{found:#?}");
}

#[test]
fn all_faults_come_at_once_in_the_order_of_the_file() {
    let found = faults(&[
        ("move_s: 0.75", "move_s: no"),
        ("lock_s: 2.50", "lock_s: 0"),
        ("volley: 0.90", "volley: 0"),
        ("damage: Phase", "damage: Sound"),
        ("resist_cap: 75,", ""),
        ("fire: Consent", "fire: Sometimes"),
        ("classes: [\"Patrol\"]", "classes: [\"Tug\"]"),
        ("per_sectors: 5", "per_sector: 5"),
    ]);
    let paths: Vec<_> = found.iter().map(|fault| fault.split(": ").nth(1).unwrap()).collect();
    let expected = [
        "resist_cap",
        "classes.Patrol.move_s",
        "classes.Frigate.lock_s",
        "factions.human.gun.volley",
        "factions.sentry.damage",
        "layers[0].npcs.classes[0]",
        "layers[1].fire",
        "squads.per_sectors",
        "squads.per_sector",
    ];
    assert_eq!(paths, expected, "{found:#?}");
}

#[test]
fn a_fault_stands_at_its_line_and_column() {
    let text = SHIPPED.replacen("hull: 400", "hull: \u{fc}\u{fc}", 1);
    // What cannot be read at all is RON's to refuse, with its place.
    let Err(BalanceError::Broken { faults, .. }) = Balance::parse("b.ron", &text) else { panic!("accepted") };
    let line = SHIPPED.lines().position(|line| line.contains("hull: 400")).unwrap() + 1;
    assert_eq!(faults[0].line, line, "{faults:?}");

    let [fault] = &faults_of("hull: 400", "hull: 0")[..] else { panic!("one fault") };
    let column = SHIPPED.lines().nth(line - 1).unwrap().find("400").unwrap() + 1;
    assert_eq!((fault.line, fault.column), (line, column));
}

fn faults_of(from: &str, to: &str) -> Vec<keel_balance::Fault> {
    match Balance::parse("b.ron", &SHIPPED.replacen(from, to, 1)) {
        Err(BalanceError::Broken { faults, .. }) => faults,
        other => panic!("expected faults, found {other:?}"),
    }
}

#[test]
fn the_error_lists_every_fault_under_one_head() {
    let text = SHIPPED.replacen("hit: 1.0", "hit: 2", 1).replacen("crit: 0", "crit: 2", 1);
    let message = Balance::parse("b.ron", &text).unwrap_err().to_string();
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(lines[0], "b.ron has 2 faults:");
    assert!(lines[1].starts_with("  b.ron:") && lines[1].contains("roll.hit: expected a chance"), "{message}");
    assert_eq!(lines.len(), 3, "{message}");
}

#[test]
fn a_sixth_class_is_a_row() {
    let row = "\"Titan\": (move_s: 2, lock_s: 4.5, evasion: 0, hull: 6, shield: 6, volley: 1.2, guns: 2, power_grid: 180, slots: 8),\n    },\n\n    // Hull lines";
    let text = SHIPPED.replacen("},\n\n    // Hull lines", row, 1);
    let balance = Balance::parse("b.ron", &text).unwrap();
    assert_eq!(balance.classes.position("Titan"), Some(7));
}

#[test]
fn the_hash_tells_values_apart_and_not_layout() {
    let hash = |text: &str| Balance::parse("b.ron", text).unwrap().hash();
    assert_eq!(hash(SHIPPED), hash(&SHIPPED.replace("size_step: 5", "size_step:   5.0 /* wider */")));
    assert_ne!(hash(SHIPPED), hash(&SHIPPED.replace("size_step: 5", "size_step: 6")));
}

#[test]
fn a_missing_file_is_named() {
    let error = Balance::load(std::path::Path::new("no/such.ron")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the balance file no/such.ron");
    assert!(std::error::Error::source(&error).is_some(), "and why, which is said once");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    /// Whatever a hand does to the file, the answer is a balance or a list.
    #[test]
    fn no_damage_to_the_file_makes_it_panic(at in 0.0..1.0f64, cut in 0usize..60, put in "[ -~\n\u{e9}]{0,6}") {
        let place = |at: usize| (0..=at.min(SHIPPED.len())).rev().find(|&at| SHIPPED.is_char_boundary(at)).unwrap_or(0);
        let from = place((at * SHIPPED.len() as f64) as usize);
        let to = place(from + cut).max(from);
        let text = format!("{}{put}{}", &SHIPPED[..from], &SHIPPED[to..]);
        if let Err(BalanceError::Broken { faults, .. }) = Balance::parse("b.ron", &text) {
            prop_assert!(!faults.is_empty());
        }
    }
}
