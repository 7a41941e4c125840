//! Two ships, step by step: what happens in exactly which step.

use keel_balance::{Balance, Faction};
use keel_map::Hex;
use keel_rules::roll::Outcome;
use keel_rules::{ClassId, Fit, Kind, Line, Micros, Module, Moment, Variant};
use keel_sim::{Arrival, Battery, Condition, Done, Gun, Op, PilotId, Quiet, Refusal, Rolls, ShipId};
use keel_testkit::{Game, SHIPPED_BALANCE, Setup, unworn_balance};
use std::sync::Arc;

const PATROL: u8 = 0;
const CARRIER: u8 = 4;

/// A Human Patrol against a Raider Carrier that does not fight back: every shot is certain to hit.
fn duel() -> (Game, PilotId, ShipId, ShipId) {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(PATROL, Faction::Human));
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    (game, pilot, ship, drone)
}

fn shot_steps(game: &Game, ship: ShipId) -> Vec<u64> {
    game.shots_of(ship).map(|shot| shot.step).collect()
}

#[track_caller]
fn close(found: f32, expected: f32) {
    assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
}

#[test]
fn rule_4_lock_first_shot_battery_and_pools_at_their_steps() {
    let (mut game, pilot, ship, drone) = duel();
    // A Carrier is four classes larger: 2.00 - 4 × 0.25 = 1.00 s.
    let done = game.op(pilot, Op::Attack { ship, target: drone });
    let ordered = game.now();
    assert_eq!(done, Ok(Done::Locking { takes: Micros::from_seconds(1.0) }));
    assert_eq!(game.log(pilot), [(ordered, "Locking. 1.00 s.".to_owned())]);
    assert_eq!(game.get::<Gun>(ship).locked_at.step(), ordered + 20);

    game.step(20);
    assert!(shot_steps(&game, ship).is_empty());
    assert_eq!(*game.get::<Battery>(ship), Battery(100.0));
    // The first shot leaves one step after the lock completes.
    game.step(1);
    let first = ordered + 21;
    assert_eq!(shot_steps(&game, ship), [first]);
    assert_eq!(*game.get::<Battery>(ship), Battery(80.5), "20 spent and a step's trickle back");
    assert_eq!(*game.get::<Quiet>(ship), Quiet(Moment::of_step(first)));
    // Thirds: 30 × 1.15 × 0.95 + 30 × 0.85 + 30 × 0.85 × 0.95, and the shield refills in the same step.
    let struck = 32.775 + 25.5 + 24.225;
    close(game.shots()[0].dealt.shield, struck);
    close(game.get::<Condition>(drone).0.shield, 450.0 - struck + 450.0 / 70.0);
    assert_eq!(game.get::<Condition>(drone).0.hull, 1800.0);

    // One shot a cycle while the battery holds; then each waits for the battery alone.
    game.step(400);
    let mut expected: Vec<u64> = (0..9).map(|shot| first + 20 * shot).collect();
    expected.extend((1..=6).map(|shot| first + 160 + 40 * shot));
    expected.retain(|&step| step <= first + 400);
    assert_eq!(shot_steps(&game, ship), expected);
}

#[test]
fn rule_3_a_cycle_of_0_713_s_averages_0_713_s() {
    let mut game = Game::new(Setup { balance: Arc::new(unworn_balance()), ..Setup::default() });
    let gun = Module::common(Kind::Gun(Variant::Fast), Faction::Raider);
    let fit = Fit { guns: [Some(gun), None], ..game.common(PATROL, Faction::Raider) };
    let (pilot, ship) = game.pilot_in(fit);
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    game.set(ship, Battery(1e6));
    game.set(drone, Condition(keel_rules::Pools { shield: 0.0, hull: 1e9 }));
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    game.step(21 + 713 * 20);
    let steps = shot_steps(&game, ship);
    // 713 s are 1,000 cycles: the shot after the thousandth is exactly there.
    assert_eq!(steps.len(), 1001);
    assert_eq!(steps[1000] - steps[0], 713 * 20);
    let card = game.card(ship).sustained();
    let fight: f32 = game.shots_of(ship).take(1000).map(|shot| shot.raw).sum::<f32>() / 713.0;
    assert!((card - fight).abs() / card < 1e-3, "the card says {card} a second and the fight {fight}");
}

#[test]
fn rule_1_1_a_gun_that_waited_starts_its_cycle_afresh() {
    let mut game = Game::default();
    let gun = Module::common(Kind::Gun(Variant::Fast), Faction::Raider);
    let fit = Fit { guns: [Some(gun), None], ..game.common(PATROL, Faction::Raider) };
    let (pilot, ship) = game.pilot_in(fit);
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    game.step(21);
    game.set(ship, Battery(0.0));
    // 20 units take 40 steps to come; the cycle of 14.26 ended long before.
    game.step(41);
    assert_eq!(shot_steps(&game, ship).len(), 2);
    let now = Moment::of_step(game.now());
    assert_eq!(game.get::<Gun>(ship).ready_at, now + Micros::new(713_000));
}

#[test]
fn rule_4_relocking_never_beats_the_cycle_and_the_first_shot_waits_for_whichever_ends_later() {
    let mut game = Game::default();
    let gun = Module::common(Kind::Gun(Variant::Slow), Faction::Sentry);
    let fit = Fit { guns: [Some(gun), None], ..game.common(PATROL, Faction::Sentry) };
    let (pilot, ship) = game.pilot_in(fit);
    let [one, two] = [0, 0].map(|_| game.drone(game.common(CARRIER, Faction::Raider)));
    // A slow Sentry gun locks a Carrier in 0.75 s and cycles in 1.7 s.
    game.op(pilot, Op::Focus { ship, target: one }).unwrap();
    game.step(16);
    let first = game.now();
    assert_eq!(shot_steps(&game, ship), [first]);
    game.op(pilot, Op::Focus { ship, target: two }).unwrap();
    game.step(40);
    assert_eq!(shot_steps(&game, ship)[..2], [first, first + 34]);
    assert_eq!(game.shots()[1].target.id, two);
}

#[test]
fn rule_4_attack_on_the_locked_target_changes_nothing() {
    let (mut game, pilot, ship, drone) = duel();
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    let gun = *game.get::<Gun>(ship);
    game.step(5);
    assert_eq!(game.op(pilot, Op::Attack { ship, target: drone }), Ok(Done::AlreadyLocked));
    assert_eq!(*game.get::<Gun>(ship), gun);
}

#[test]
fn rule_4_hold_drops_the_lock_and_the_cycle_runs_out() {
    let (mut game, pilot, ship, drone) = duel();
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    game.step(21);
    assert_eq!(game.op(pilot, Op::Hold { ship }), Ok(Done::Held));
    game.step(100);
    assert_eq!(shot_steps(&game, ship).len(), 1);
}

#[test]
fn rule_3_two_guns_roll_once_a_cycle() {
    let mut game = Game::new(Setup { balance: Arc::new(unworn_balance()), ..Setup::default() });
    let (pilot, ship) = game.pilot_in(game.common(CARRIER, Faction::Raider));
    let drone = game.drone(game.common(PATROL, Faction::Raider));
    game.set(drone, Condition(keel_rules::Pools { shield: 0.0, hull: 1e9 }));
    game.set(ship, Battery(1e6));
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    let locked = game.now() + 80;
    let mut fingerprints = std::collections::BTreeSet::from([game.get::<Rolls>(ship).fingerprint()]);
    let mut volley = Vec::new();
    for _ in 0..81 + 23 * 50 {
        game.step(1);
        fingerprints.insert(game.get::<Rolls>(ship).fingerprint());
    }
    for shot in game.shots_of(ship) {
        assert_eq!((shot.step - locked - 1) % 23, 0, "one shot a cycle of 1.15 s");
        if shot.outcome == Outcome::Hit {
            volley.push(shot.raw);
        }
    }
    // 51 shots of one roll each, and each hit is worth both guns.
    assert_eq!(game.shots().len(), 51);
    assert_eq!(fingerprints.len(), 52);
    volley.iter().for_each(|&raw| close(raw, 2.0 * 125.0 * 1.15));
}

#[test]
fn rule_1_4_a_certain_hit_leaves_the_random_stream_untouched() {
    let (mut game, pilot, ship, drone) = duel();
    let before = game.get::<Rolls>(ship).fingerprint();
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    game.step(200);
    assert!(game.shots_of(ship).count() > 5);
    assert_eq!(game.get::<Rolls>(ship).fingerprint(), before);
    // And an uncertain one does not.
    let small = game.drone(game.common(PATROL, Faction::Raider));
    game.op(pilot, Op::Focus { ship, target: small }).unwrap();
    game.step(100);
    assert_ne!(game.get::<Rolls>(ship).fingerprint(), before);
}

#[test]
fn rule_6_player_and_npc_take_identical_damage_from_identical_shots() {
    for faction in [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker] {
        let mut game = Game::default();
        let target_fit = game.common(CARRIER, Faction::Raider);
        let (_, players) = game.pilot_in(target_fit);
        let npcs = game.drone(target_fit);
        for target in [players, npcs] {
            let (pilot, ship) = game.pilot_in(game.common(PATROL, faction));
            game.set(target, Condition(keel_rules::Pools { shield: 120.0, hull: 1800.0 }));
            game.order(pilot, Op::Attack { ship, target });
        }
        game.step(150);
        let taken = |target: ShipId| {
            let shots = game.shots().iter().filter(move |shot| shot.target.id == target);
            shots.map(|shot| (shot.step, shot.raw, shot.dealt)).collect::<Vec<_>>()
        };
        assert!(taken(players).len() >= 5);
        assert_eq!(taken(players), taken(npcs), "{faction:?}");
        assert_eq!(game.get::<Condition>(players), game.get::<Condition>(npcs));
    }
}

#[test]
fn rule_1_2_two_ships_may_destroy_each_other_in_one_step() {
    let mut game = Game::default();
    let fit = Fit { shield: None, ..game.common(CARRIER, Faction::Raider) };
    let ((one, mine), (two, theirs)) = (game.pilot_in(fit), game.pilot_in(fit));
    for ship in [mine, theirs] {
        game.set(ship, Condition(keel_rules::Pools { shield: 0.0, hull: 1.0 }));
        game.set(ship, Quiet(Moment::of_step(game.now())));
    }
    game.order(one, Op::Attack { ship: mine, target: theirs });
    game.order(two, Op::Attack { ship: theirs, target: mine });
    game.step(81);
    assert!(game.lives(mine) && game.lives(theirs));
    game.step(1);
    assert!(!game.lives(mine) && !game.lives(theirs));
    for pilot in [one, two] {
        assert!(game.log(pilot).iter().any(|(_, line)| line == "Your ship is destroyed."));
    }
}

#[test]
fn rule_6_later_shots_of_the_step_at_a_ship_at_zero_are_spent_with_nothing_dealt() {
    let mut game = Game::default();
    let bare = Fit { shield: None, ..game.common(CARRIER, Faction::Raider) };
    let drone = game.drone(bare);
    game.set(drone, Condition(keel_rules::Pools { shield: 0.0, hull: 10.0 }));
    let shooters = [0; 3].map(|_| game.pilot_in(game.common(PATROL, Faction::Raider)));
    for (pilot, ship) in shooters {
        game.order(pilot, Op::Attack { ship, target: drone });
    }
    game.step(22);
    let dealt: Vec<f32> = game.shots().iter().map(|shot| shot.dealt.total()).collect();
    assert_eq!(dealt, [10.0, 0.0, 0.0]);
    for (pilot, ship) in shooters {
        assert_eq!(*game.get::<Battery>(ship), Battery(80.5));
        assert_eq!(game.steps_noted(pilot, |note| matches!(note, keel_sim::Note::TargetDestroyed { .. })).len(), 1);
        assert_eq!(game.target(ship), None);
    }
}

#[test]
fn rule_5_a_miss_spends_battery_and_restarts_the_shooters_hull_clock_alone() {
    let mut game = Game::default();
    let fit = Fit { line: Line::Screen, ..game.common(PATROL, Faction::Raider) };
    let drone = game.drone(fit);
    let (pilot, ship) = game.pilot_in(game.common(CARRIER, Faction::Raider));
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    for _ in 0..2000 {
        let (before, quiet) = (game.shots().len(), *game.get::<Quiet>(drone));
        game.set(ship, Battery(100.0));
        game.step(1);
        if game.shots().len() == before {
            continue;
        }
        let shot = *game.shots().last().unwrap();
        assert!(game.get::<Battery>(ship).0 < 100.0);
        assert_eq!(*game.get::<Quiet>(ship), Quiet(Moment::of_step(shot.step)));
        if shot.outcome == Outcome::Miss {
            assert_eq!((shot.raw, shot.dealt.total()), (0.0, 0.0));
            assert_eq!(*game.get::<Quiet>(drone), quiet);
            assert!(game.log(pilot).contains(&(shot.step, "Shot missed.".to_owned())));
            return;
        }
        game.set(drone, Condition(game.card(drone).full));
    }
    panic!("no shot missed");
}

#[test]
fn rule_6_on_layer_1_the_hull_stays_at_1_and_the_ship_is_towed_to_the_centre() {
    let mut game = Game::new(Setup { layer: 1, ..Setup::default() });
    let pilot = game.pilot();
    let fit = Fit { shield: None, ..game.common(CARRIER, Faction::Human) };
    let ship = game.ship_at(pilot, fit, Hex::new(3, 0));
    let hunters = game.squad(&[game.common(PATROL, Faction::Raider); 2], Hex::new(3, 0));
    game.set(ship, Condition(keel_rules::Pools { shield: 0.0, hull: 5.0 }));
    game.op(pilot, Op::Attack { ship, target: hunters[0] }).unwrap();
    game.step(40);
    assert!(game.lives(ship));
    assert_eq!(game.hex(ship), Hex::CENTRE);
    assert_eq!(game.get::<Condition>(ship).0.hull, 1.0);
    assert!(game.log(pilot).iter().any(|(_, line)| line == "Your hull gave out. The ship was towed to the centre."));
    for id in hunters.into_iter().chain([ship]) {
        assert_eq!(game.target(id), None, "a tow drops every lock");
    }
}

#[test]
fn rule_6_a_hit_that_the_shield_takes_does_not_tow_a_ship_whose_hull_is_at_1() {
    let mut game = Game::new(Setup { layer: 1, ..Setup::default() });
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(CARRIER, Faction::Human), Hex::new(3, 0));
    game.set(ship, Condition(keel_rules::Pools { shield: 405.0, hull: 1.0 }));
    let hunter = game.squad(&[game.common(PATROL, Faction::Raider)], Hex::new(3, 0))[0];
    game.step(60);
    assert!(game.shots_of(hunter).any(|shot| shot.dealt.shield > 0.0));
    assert_eq!(game.hex(ship), Hex::new(3, 0));
    assert!(game.log(pilot).iter().all(|(_, line)| !line.contains("towed")));
}

#[test]
fn rule_6_on_layer_2_a_pilots_ship_is_destroyed_and_the_next_one_comes() {
    let mut game = Game::new(Setup { layer: 2, ..Setup::default() });
    let pilot = game.pilot();
    let fit = Fit { shield: None, ..game.common(CARRIER, Faction::Human) };
    let ship = game.ship_at(pilot, fit, Hex::new(3, 0));
    let hunter = game.squad(&[game.common(PATROL, Faction::Raider)], Hex::new(3, 0))[0];
    game.set(ship, Condition(keel_rules::Pools { shield: 0.0, hull: 5.0 }));
    game.op(pilot, Op::Attack { ship, target: hunter }).unwrap();
    while game.lives(ship) {
        game.step(1);
    }
    let lost = game.now();
    game.step(99);
    assert_eq!(game.ships().len(), 1);
    game.step(1);
    assert_eq!(game.now(), lost + 100, "the starter comes 5 s later");
    let ships = game.ships();
    let next = ships.iter().find(|ship| ship.pilot() == Some(pilot)).unwrap();
    assert_eq!((game.hex(next.id), next.class), (Hex::CENTRE, ClassId(0)));
    // The flag covers the 100 steps after the one in which it came.
    assert!(game.get::<Arrival>(next.id).is_up(Moment::of_step(game.now() + 100)));
    assert!(!game.get::<Arrival>(next.id).is_up(Moment::of_step(game.now() + 101)));
}

#[test]
fn rule_6_an_npc_at_zero_is_destroyed_on_every_layer() {
    for layer in 1..=6 {
        let mut game = Game::new(Setup { layer, ..Setup::default() });
        let (pilot, ship) = game.pilot_in(game.common(PATROL, Faction::Human));
        let drone = game.drone(Fit { shield: None, ..game.common(CARRIER, Faction::Raider) });
        game.set(drone, Condition(keel_rules::Pools { shield: 0.0, hull: 5.0 }));
        game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
        game.step(21);
        assert!(!game.lives(drone), "layer {layer}");
    }
}

#[test]
fn rule_5_a_crit_is_rolled_only_where_there_is_a_chance_of_one() {
    let text = SHIPPED_BALANCE.replace("crit: 0,", "crit: 1,");
    let balance = Arc::new(Balance::parse("crit.ron", &text).unwrap());
    let mut game = Game::new(Setup { balance, ..Setup::default() });
    let (pilot, ship) = game.pilot_in(game.common(PATROL, Faction::Raider));
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    game.step(21);
    assert_eq!((game.shots()[0].outcome, game.shots()[0].raw), (Outcome::Crit, 187.5));
}

#[test]
fn rule_9_an_arriving_ship_cannot_be_locked_and_its_own_lock_ends_the_grace() {
    let (mut game, pilot, ship, drone) = duel();
    let up = |ends_early| Arrival { ends: Moment::of_step(1000), ends_early };
    game.set(drone, up(true));
    let attack = || Op::Attack { ship, target: drone };
    assert_eq!(game.op(pilot, attack()), Err(Refusal::TargetArriving));
    assert_eq!(Refusal::TargetArriving.to_string(), "That ship just jumped in. It cannot be locked yet.");
    game.set(drone, Arrival::default());
    game.set(ship, up(false));
    assert_eq!(game.op(pilot, attack()), Err(Refusal::Arriving));
    assert_eq!(*game.get::<Arrival>(ship), up(false));
    game.set(ship, up(true));
    assert!(game.op(pilot, attack()).is_ok());
    assert!(!game.get::<Arrival>(ship).is_up(Moment::of_step(game.now())));
}

#[test]
fn rule_10_attack_takes_the_fleets_other_ships_in_the_sector_along_and_focus_does_not() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let fit = game.common(PATROL, Faction::Human);
    let [active, escort] = [0, 0].map(|_| game.ship(pilot, fit));
    let away = game.ship_at(pilot, fit, Hex::new(1, 0));
    let drone = game.drone(game.common(CARRIER, Faction::Raider));
    game.op(pilot, Op::Focus { ship: active, target: drone }).unwrap();
    let targets = |game: &Game| [active, escort, away].map(|ship| game.target(ship));
    assert_eq!(targets(&game), [Some(drone), None, None]);
    game.op(pilot, Op::Hold { ship: active }).unwrap();
    game.op(pilot, Op::Attack { ship: active, target: drone }).unwrap();
    assert_eq!(targets(&game), [Some(drone), Some(drone), None]);
}

#[test]
fn rule_10_the_log_keeps_the_last_200_shots_of_each_pilot() {
    let (mut game, pilot, ship, drone) = duel();
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    while game.shots().len() < 230 {
        game.set(ship, Battery(100.0));
        game.step(1);
    }
    let world = game.app.world();
    let entity = world.resource::<keel_sim::PilotIndex>().get(pilot).unwrap();
    let log: Vec<_> = world.get::<keel_sim::CombatLog>(entity).unwrap().iter().copied().collect();
    assert_eq!(log.len(), 200);
    assert_eq!(log, game.shots()[30..]);
}
