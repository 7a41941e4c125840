//! Shield, hull and battery refills (rule 7): what starts, stops and restarts each.

use keel_balance::{Faction, System};
use keel_rules::powers::Power;
use keel_rules::{Moment, Pools};
use keel_sim::{Battery, Condition, Op, Powers, Quiet};
use keel_testkit::Game;

const PATROL: u8 = 0;
const CARRIER: u8 = 4;

#[track_caller]
fn close(found: f32, expected: f32) {
    assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
}

#[test]
fn rule_7_the_hull_fills_200_steps_after_the_last_shot_and_says_so() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(PATROL, Faction::Human));
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    game.step(21);
    let fired = game.now();
    game.set(ship, Condition(Pools { shield: 90.0, hull: 100.0 }));
    game.op(pilot, Op::Hold { ship }).unwrap();
    game.step(fired + 199 - game.now());
    assert_eq!(game.get::<Condition>(ship).0.hull, 100.0);
    game.step(1);
    assert_eq!(game.now(), fired + 200);
    assert_eq!(game.get::<Condition>(ship).0.hull, 360.0);
    assert!(game.log(pilot).contains(&(fired + 200, "Fight hull refilled out of combat.".to_owned())));
}

#[test]
fn rule_7_shield_refills_in_two_moves_and_an_empty_battery_stops_it() {
    let mut game = Game::default();
    let (_, ship) = game.pilot_in(game.common(PATROL, Faction::Raider));
    let empty = Condition(Pools { shield: 0.0, hull: 400.0 });
    game.set(ship, empty);
    game.step(29);
    assert!(game.get::<Condition>(ship).0.shield < 100.0);
    game.step(1);
    close(game.get::<Condition>(ship).0.shield, 100.0);
    // Under 1 unit before the step's trickle: 0 and 0.5 are, 1.0 is not.
    game.set(ship, empty);
    game.set(ship, Battery(0.0));
    game.step(2);
    assert_eq!(game.get::<Condition>(ship).0.shield, 0.0);
    game.step(1);
    close(game.get::<Condition>(ship).0.shield, 100.0 / 30.0);
}

#[test]
fn rule_7_every_shield_fills_in_exactly_twice_its_move_time() {
    for faction in [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker] {
        for (class, steps) in [(0, 30), (1, 40), (2, 50), (3, 60), (4, 70)] {
            let mut game = Game::default();
            let (_, ship) = game.pilot_in(game.common(class, faction));
            let full = game.card(ship).full;
            game.set(ship, Condition(Pools { shield: 0.0, ..full }));
            game.step(steps - 1);
            assert!(game.get::<Condition>(ship).0.shield < full.shield, "{faction:?} {class}");
            game.step(1);
            assert_eq!(game.get::<Condition>(ship).0.shield, full.shield, "{faction:?} {class}");
        }
    }
}

#[test]
fn rule_7_battery_fills_in_ten_seconds() {
    let mut game = Game::default();
    let (_, ship) = game.pilot_in(game.common(PATROL, Faction::Raider));
    game.set(ship, Battery(0.0));
    game.step(199);
    assert_eq!(*game.get::<Battery>(ship), Battery(99.5));
    game.step(1);
    assert_eq!(*game.get::<Battery>(ship), Battery(100.0));
}

#[test]
fn rule_7_firing_a_hit_and_a_power_restart_the_hull_clock_and_nothing_else_does() {
    let mut game = Game::default();
    let fit = game.common(PATROL, Faction::Human);
    let (pilot, ship) = game.pilot_in(fit.with(System::Brace, Faction::Human));
    let (other, hunter) = game.pilot_in(fit);
    let restarted = |game: &Game| game.get::<Quiet>(ship).0 == Moment::of_step(game.now());
    game.step(5);
    // What is no fight: a lock on it and of it, a move, a stance.
    game.op(other, Op::Focus { ship: hunter, target: ship }).unwrap();
    assert!(!restarted(&game));
    game.op(pilot, Op::Focus { ship, target: hunter }).unwrap();
    assert!(!restarted(&game));
    game.op(pilot, Op::Move { ship, to: keel_map::Hex::new(1, 0) }).unwrap();
    game.op(pilot, Op::Cancel { ship }).unwrap();
    assert!(!restarted(&game));
    game.op(pilot, Op::Power(Power::Brace)).unwrap();
    assert!(restarted(&game), "a power");
    game.op(pilot, Op::Hold { ship }).unwrap();
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..4000 {
        let shots = game.shots().len();
        game.set(hunter, Battery(100.0));
        game.set(ship, Condition(game.card(ship).full));
        game.step(1);
        if let Some(shot) = game.shots().get(shots) {
            assert_eq!(restarted(&game), !shot.outcome.is_miss(), "{shot:?}");
            *(if shot.outcome.is_miss() { &mut misses } else { &mut hits }) += 1;
        }
    }
    assert!(hits > 20 && misses > 5, "{hits} hits, {misses} misses");
}

#[test]
fn rule_7_a_hit_in_the_last_step_puts_the_hull_off_by_ten_seconds() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(PATROL, Faction::Human));
    game.step(1);
    let start = game.now();
    game.change::<Quiet>(ship, |quiet| quiet.0 = Moment::of_step(start));
    game.set(ship, Condition(Pools { shield: 90.0, hull: 100.0 }));
    game.step(199);
    // In the step before it would have filled: a hit.
    let now = game.now();
    game.change::<Quiet>(ship, |quiet| quiet.0 = Moment::of_step(now));
    game.step(199);
    assert_eq!(game.get::<Condition>(ship).0.hull, 100.0);
    game.step(1);
    assert_eq!(game.get::<Condition>(ship).0.hull, 360.0, "in full");
    assert_eq!(game.log(pilot), [(game.now(), "Fight hull refilled out of combat.".to_owned())]);
}

#[test]
fn rule_7_the_shield_refills_in_the_very_step_of_a_hit() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(PATROL, Faction::Human));
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    game.step(21);
    let dealt = game.shots()[0].dealt.shield;
    close(game.get::<Condition>(drone).0.shield, 450.0 - dealt + 450.0 / 70.0);
}

#[test]
fn rule_7_a_jam_or_an_empty_battery_stops_the_shield_and_nothing_else_does() {
    let mut game = Game::default();
    let (_, ship) = game.pilot_in(game.common(PATROL, Faction::Raider));
    let gains = |game: &mut Game| {
        game.set(ship, Condition(Pools { shield: 10.0, hull: 5.0 }));
        game.step(1);
        game.get::<Condition>(ship).0.shield > 10.0
    };
    assert!(gains(&mut game));
    let until = Moment::of_step(game.now() + 1);
    game.change::<Powers>(ship, |powers| powers.jammed_until = until + keel_rules::STEP);
    assert!(!gains(&mut game), "jammed");
    assert!(gains(&mut game), "no longer");
    game.set(ship, Battery(0.9));
    assert!(!gains(&mut game), "empty");
    game.set(ship, Battery(1.0));
    assert!(gains(&mut game), "one unit is not empty");
}

#[test]
fn rule_7_a_gun_that_fires_flat_out_runs_dry_after_about_ten_seconds() {
    // 20 a second out and 10 in: 100 last about 10 s, and then the battery sets the pace, a shot in 2 s.
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(PATROL, Faction::Human));
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    game.set(drone, Condition(Pools { shield: 0.0, hull: 1e9 }));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    game.step(600);
    let steps: Vec<u64> = game.shots_of(ship).map(|shot| shot.step).collect();
    let paces: Vec<u64> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let dry = paces.iter().position(|&pace| pace > 20).unwrap();
    let seconds = (steps[dry] - steps[0]) / 20;
    assert!((8..=10).contains(&seconds), "dry after {seconds} s");
    assert!(paces[..dry].iter().all(|&pace| pace == 20) && paces[dry..].iter().all(|&pace| pace == 40), "{paces:?}");
}
