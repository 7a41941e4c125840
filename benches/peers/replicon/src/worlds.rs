//! The worlds that are measured are what is said of them.

use crate::workload::{CYCLE_STEPS, FIRST_STEP, SIZES, Size, Workload};

#[test]
fn every_client_has_its_ships_in_the_sector_that_it_sees() {
    for workload in SIZES.map(Workload::new) {
        let Size { name, ships, clients, fleet, .. } = workload.size();
        let mut fleets = vec![0; clients as usize];
        for (ship, client) in (0..ships).filter_map(|ship| Some((ship, workload.owner(ship)?))) {
            assert_eq!(workload.sector(ship), workload.seen_by(client), "{name}, ship {ship}");
            fleets[client as usize] += 1;
        }
        assert_eq!(fleets, vec![fleet; clients as usize], "{name}");
        assert!((0..clients).all(|client| workload.is_seen(workload.seen_by(client))), "{name}");
    }
}

#[test]
fn a_quarter_is_damaged_in_every_step_and_half_of_it_keeps_its_hull() {
    let workload = Workload::new(SIZES[0]);
    for step in FIRST_STEP..FIRST_STEP + 1000 {
        let (mut damaged, mut hulls) = (0, 0);
        for ship in 0..workload.size().ships {
            let (before, after) = (workload.condition(step - 1, ship), workload.condition(step, ship));
            let is_damaged = workload.is_damaged(step, ship);
            assert_eq!(before.shield != after.shield, is_damaged, "step {step}, ship {ship}");
            assert!(is_damaged || before.hull == after.hull, "step {step}, ship {ship}");
            damaged += u32::from(is_damaged);
            hulls += u32::from(before.hull != after.hull);
        }
        assert_eq!((damaged, hulls), (100, 50), "step {step}");
    }
}

#[test]
fn a_target_is_another_ship_of_the_sector_and_changes_when_it_is_said_to() {
    for workload in SIZES.map(Workload::new) {
        let Size { name, ships, .. } = workload.size();
        for (step, ship) in (0..ships).map(|ship| (FIRST_STEP + u64::from(ship), ship)) {
            let target = workload.target(step, ship);
            assert_ne!(target, ship + 1, "{name}");
            assert!(target <= ships && workload.sector(target - 1) == workload.sector(ship), "{name}, ship {ship}");
            let is_other = workload.target(step - 1, ship) != target;
            assert_eq!(is_other, workload.is_retargeted(step, ship), "{name}, ship {ship}");
        }
    }
}

#[test]
fn a_cycle_begins_when_a_ship_fires_and_ends_with_a_full_battery() {
    let workload = Workload::new(SIZES[0]);
    for (step, ship) in (0..400).map(|ship| (FIRST_STEP + u64::from(ship), ship)) {
        let cycle = workload.cycle(step, ship);
        assert_eq!(cycle.since == step, workload.is_firing(step, ship));
        assert!(cycle.since <= step && step < cycle.since + CYCLE_STEPS);
        assert_eq!(cycle.battery_in(cycle.since), cycle.battery);
        assert_eq!(cycle.battery_in(cycle.since + CYCLE_STEPS), 255);
    }
}
