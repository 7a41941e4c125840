//! Powers (rule 8): what each does, costs and says, step by step.

use keel_balance::{Faction, System};
use keel_map::Hex;
use keel_rules::powers::{Power, Unusable};
use keel_rules::{Fit, Moment, Pools};
use keel_sim::{
    Battery, Clamping, Condition, Done, Gun, Helm, Leg, Mind, Note, Op, PilotId, Powers, Quiet, Refusal, ShipId,
};
use keel_testkit::Game;

const ALL: [System; 3] = [System::Brace, System::Jam, System::Clamp];

/// A hull of a class with the three powers of one maker.
fn powered(game: &Game, class: u8, faction: Faction) -> Fit {
    ALL.iter().fold(game.common(class, faction), |fit, &system| fit.with(system, faction))
}

/// Two pilots with a powered Patrol each, the first of which has the second locked.
fn locked() -> (Game, [PilotId; 2], [ShipId; 2]) {
    let mut game = Game::default();
    let fit = powered(&game, 0, Faction::Sentry);
    let ((one, mine), (two, theirs)) = (game.pilot_in(fit), game.pilot_in(fit));
    game.op(one, Op::Focus { ship: mine, target: theirs }).unwrap();
    // Sentry guns lock in 1.5 s; without a gun's shots nothing else happens.
    game.change::<Gun>(mine, |gun| gun.ready_at = Moment::of_step(100_000));
    game.step(30);
    (game, [one, two], [mine, theirs])
}

fn use_power(game: &mut Game, pilot: PilotId, power: Power) -> Result<Done, Refusal> {
    game.op(pilot, Op::Power(power))
}

fn unusable(found: Result<Done, Refusal>, why: Unusable, text: &str) {
    assert_eq!(found, Err(Refusal::Unusable(why)));
    assert_eq!(why.to_string(), text);
}

fn hurt(game: &mut Game, ship: ShipId, hull: f32) {
    game.change::<Condition>(ship, |condition| condition.0.hull = hull);
}

#[test]
fn rule_8_brace_restores_hull_raises_resists_costs_and_cools() {
    let table = [
        (Faction::Human, 72.0, 15.0, 80),
        (Faction::Raider, 100.0, 18.0, 80),
        (Faction::Sentry, 80.0, 15.0, 60),
        (Faction::Breaker, 80.0, 11.0, 80),
    ];
    for (faction, hull, cost, cools) in table {
        let mut game = Game::default();
        let (pilot, ship) = game.pilot_in(powered(&game, 0, faction));
        hurt(&mut game, ship, 100.0);
        assert_eq!(use_power(&mut game, pilot, Power::Brace), Ok(Done::Used(Power::Brace)));
        let used = game.now();
        assert_eq!(game.get::<Condition>(ship).0.hull, 100.0 + hull, "{faction:?}");
        assert_eq!(game.get::<Battery>(ship).0, 100.0 - cost + 0.5, "a step's trickle is back");
        assert_eq!(*game.get::<Quiet>(ship), Quiet(Moment::of_step(used)), "a power restarts the hull clock");
        game.says(pilot, &format!("Brace. {hull:.0} hull restored, every resist up 10 points for 3.0 s."));
        let powers = *game.get::<Powers>(ship);
        assert!(powers.is_braced(Moment::of_step(used + 59)) && !powers.is_braced(Moment::of_step(used + 60)));
        game.step(cools - 2);
        assert!(use_power(&mut game, pilot, Power::Brace).is_err(), "{faction:?} still cools");
        assert!(use_power(&mut game, pilot, Power::Brace).is_ok(), "{faction:?} cools {cools} steps");
    }
}

#[test]
fn rule_6_brace_takes_the_printed_shot_from_109_25_to_97_75() {
    for (braced, struck) in [(false, 109.25), (true, 97.75)] {
        let mut game = Game::default();
        let target_fit = powered(&game, 0, Faction::Raider);
        let (two, target) = game.pilot_in(target_fit);
        // 100 Plasma: a Breaker gun of 85 on a hull that makes it 100 is none that there is, so the shot's raw scales it.
        let (one, shooter) = game.pilot_in(game.common(2, Faction::Breaker));
        game.op(one, Op::Focus { ship: shooter, target }).unwrap();
        let mut tries = 0;
        loop {
            game.set(target, Condition(Pools { shield: 1e6, hull: 400.0 }));
            game.set(shooter, Battery(100.0));
            if braced {
                let until = Moment::of_step(game.now() + 100);
                game.change::<Powers>(target, |powers| powers.braced_until = until);
            }
            game.step(1);
            if let Some(shot) = game.shots_of(shooter).find(|shot| !shot.outcome.is_miss()) {
                let per_100 = shot.dealt.shield / shot.raw * 100.0;
                assert!((per_100 - struck).abs() < 0.01, "{per_100}");
                break;
            }
            tries += 1;
            assert!(tries < 400, "no hit");
        }
        let _ = two;
    }
}

#[test]
fn rule_8_jam_prints_its_seconds_and_lasts_them() {
    for (faction, text, steps) in [
        (Faction::Human, "2.7", 54),
        (Faction::Raider, "3.8", 75),
        (Faction::Sentry, "3.0", 60),
        (Faction::Breaker, "2.4", 48),
    ] {
        let mut game = Game::default();
        let (one, mine) = game.pilot_in(powered(&game, 0, faction));
        let drone = game.drone(game.common(0, Faction::Human));
        hurt(&mut game, drone, 1e9);
        game.op(one, Op::Focus { ship: mine, target: drone }).unwrap();
        game.step(40);
        use_power(&mut game, one, Power::Jam).unwrap();
        let used = game.now();
        game.says(one, &format!("Jam. Target silenced {text} s. Its Clamp, Brace, Sensor, and shield regen stop."));
        let powers = *game.get::<Powers>(drone);
        assert!(
            powers.is_jammed(Moment::of_step(used + steps - 1)) && !powers.is_jammed(Moment::of_step(used + steps))
        );
        assert_eq!(*game.get::<Quiet>(mine), Quiet(Moment::of_step(used)));
        game.step(158);
        game.set(mine, Battery(100.0));
        assert!(use_power(&mut game, one, Power::Jam).is_err());
        assert!(use_power(&mut game, one, Power::Jam).is_ok(), "cools 8 s");
    }
}

#[test]
fn rule_8_jam_needs_a_lock_that_holds() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(powered(&game, 0, Faction::Human));
    let drone = game.drone(game.common(0, Faction::Human));
    unusable(use_power(&mut game, pilot, Power::Jam), Unusable::NoTarget, "Lock a target first.");
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    unusable(use_power(&mut game, pilot, Power::Jam), Unusable::NotLocked, "The lock does not hold yet.");
    assert_eq!(*game.get::<Battery>(ship), Battery(100.0));
    game.step(39);
    assert!(use_power(&mut game, pilot, Power::Jam).is_ok());
}

#[test]
fn rule_8_a_jam_silences_clamp_brace_and_shield_refill_and_leaves_the_guns_firing() {
    let (mut game, [one, two], [mine, theirs]) = locked();
    game.op(two, Op::Focus { ship: theirs, target: mine }).unwrap();
    game.change::<Condition>(mine, |condition| condition.0 = Pools { shield: 1e6, hull: 400.0 });
    game.step(31);
    use_power(&mut game, two, Power::Clamp).unwrap();
    assert!(game.find::<Clamping>(theirs).is_some());
    use_power(&mut game, two, Power::Brace).unwrap();
    use_power(&mut game, one, Power::Jam).unwrap();
    let jammed = game.now();
    assert!(game.find::<Clamping>(theirs).is_none(), "its Clamp is broken");
    let powers = *game.get::<Powers>(theirs);
    assert!(!powers.is_braced(Moment::of_step(jammed)), "the Brace that was up is silenced");
    let refused = "A Jam silences it.";
    game.step(60 - 30);
    unusable(use_power(&mut game, two, Power::Clamp), Unusable::Silenced, refused);
    unusable(use_power(&mut game, two, Power::Brace), Unusable::Silenced, refused);
    game.change::<Condition>(theirs, |condition| condition.0.shield = 10.0);
    game.step(jammed + 59 - game.now());
    assert_eq!(game.get::<Condition>(theirs).0.shield, 10.0, "a 3 s Jam stops 60 refills");
    assert!(game.shots_of(theirs).filter(|shot| shot.step > jammed).count() >= 1, "its guns go on");
    game.step(1);
    assert!(game.get::<Condition>(theirs).0.shield > 10.0);
}

#[test]
fn rule_8_a_3_s_jam_stops_exactly_60_refills() {
    let (mut game, [one, _], [_, theirs]) = locked();
    game.change::<Condition>(theirs, |condition| condition.0.shield = 10.0);
    use_power(&mut game, one, Power::Jam).unwrap();
    let first = game.now();
    // Refilled steps up to and with the one in which the shield moves again.
    while game.get::<Condition>(theirs).0.shield == 10.0 {
        game.step(1);
    }
    assert_eq!(game.now() - first, 60);
}

#[test]
fn rule_6_a_jammed_full_shield_still_takes_hits() {
    let (mut game, [one, _], [mine, theirs]) = locked();
    use_power(&mut game, one, Power::Jam).unwrap();
    game.change::<Gun>(mine, |gun| gun.ready_at = Moment::START);
    while game.shots_of(mine).all(|shot| shot.outcome.is_miss()) {
        game.set(theirs, Condition(game.card(theirs).full));
        let until = Moment::of_step(game.now() + 100);
        game.change::<Powers>(theirs, |powers| powers.jammed_until = until);
        game.step(1);
    }
    let hit = *game.shots_of(mine).find(|shot| !shot.outcome.is_miss()).unwrap();
    assert!(hit.dealt.shield > 0.0 && hit.dealt.hull == 0.0, "{hit:?}");
}

#[test]
fn rule_8_a_jam_breaks_any_clamp_held_on_its_own_ship() {
    let (mut game, [one, two], [mine, theirs]) = locked();
    let third = game.drone(powered(&game, 0, Faction::Human));
    game.op(two, Op::Focus { ship: theirs, target: mine }).unwrap();
    game.step(31);
    use_power(&mut game, two, Power::Clamp).unwrap();
    let held = game.entity(mine);
    game.set(third, Clamping(held));
    assert_eq!(game.find::<keel_sim::ClampedBy>(mine).map(|clamps| clamps.iter().len()), Some(2));
    use_power(&mut game, one, Power::Jam).unwrap();
    assert_eq!(game.find::<keel_sim::ClampedBy>(mine).map(|clamps| clamps.iter().len()), None);
    assert!([theirs, third].iter().all(|&ship| game.find::<Clamping>(ship).is_none()));
}

#[test]
fn rule_8_a_jam_on_a_jammed_ship_restarts_its_time() {
    let (mut game, [one, _], [mine, theirs]) = locked();
    use_power(&mut game, one, Power::Jam).unwrap();
    game.change::<Powers>(mine, |powers| powers.jam_ready = Moment::START);
    game.step(20);
    use_power(&mut game, one, Power::Jam).unwrap();
    assert_eq!(game.get::<Powers>(theirs).jammed_until, Moment::of_step(game.now() + 60));
}

#[test]
fn rule_8_a_clamp_stops_leaving_and_not_shooting_and_an_unclamp_sends_the_move_again() {
    let (mut game, [one, two], [mine, theirs]) = locked();
    let hop = Op::Move { ship: theirs, to: Hex::new(1, 0) };
    use_power(&mut game, one, Power::Clamp).unwrap();
    assert_eq!(game.get::<Battery>(mine).0, 90.5);
    game.says(two, &format!("pilot 1's Patrol {mine} clamps you."));
    assert!(game.op(two, hop).is_ok(), "it catches when the ship tries to leave");
    let ordered = game.now();
    game.step(7);
    assert!(matches!(game.get::<Helm>(theirs).leg(), Leg::Window { .. }));
    game.step(1);
    assert_eq!(game.now(), ordered + 8);
    game.says(two, "Clamped. Press Unclamp or Jam it.");
    assert_eq!(game.get::<Helm>(theirs).leg(), Leg::Still);
    // It still locks and fires.
    assert!(game.op(two, Op::Focus { ship: theirs, target: mine }).is_ok());

    use_power(&mut game, two, Power::Unclamp).unwrap();
    let freed = game.now();
    game.says(two, "Unclamped. 0.5 s before a Clamp can catch this ship again.");
    assert_eq!(game.get::<Battery>(theirs).0, 90.5);
    assert!(game.find::<Clamping>(mine).is_none());
    unusable(
        use_power(&mut game, one, Power::Clamp),
        Unusable::Immune,
        "That ship just broke free. It cannot be clamped yet.",
    );
    // The move it stopped goes again: 0.4 s of window, which is over before a Clamp can catch it, and the hop.
    game.step(22);
    assert_eq!((game.hex(theirs), game.now()), (Hex::new(1, 0), freed + 23));
}

#[test]
fn rule_8_the_immunity_after_an_unclamp_lasts_half_a_second() {
    let (mut game, [one, two], [_, theirs]) = locked();
    use_power(&mut game, one, Power::Clamp).unwrap();
    use_power(&mut game, two, Power::Unclamp).unwrap();
    game.step(8);
    assert!(use_power(&mut game, one, Power::Clamp).is_err(), "in the ninth step after it");
    assert!(use_power(&mut game, one, Power::Clamp).is_ok(), "in the tenth");
    unusable(use_power(&mut game, one, Power::Clamp), Unusable::Clamped, "Your Clamp holds that ship already.");
    assert_eq!(game.find::<keel_sim::ClampedBy>(theirs).map(|clamps| clamps.iter().len()), Some(1));
}

#[test]
fn rule_8_a_clamp_holds_from_grapple_50_of_100_and_does_not_roll() {
    // Wear takes the grapple: a point of durability is a point of it.
    for (durability, held) in [(100, true), (51, true), (50, false), (49, false)] {
        let (mut game, [one, two], [mine, theirs]) = locked();
        let worn = game.get::<keel_sim::Fitted>(mine).0;
        let (slot, module) = worn.system(System::Clamp).map(|(slot, module)| (slot, *module)).unwrap();
        let before = game.get::<keel_sim::Rolls>(mine).fingerprint();
        game.refit(mine, |fit| *fit.slot_mut(slot).unwrap() = Some(keel_rules::Module { durability, ..module }));
        // Its use takes one point more; one that would hold nothing is not used.
        let used = use_power(&mut game, one, Power::Clamp);
        if durability < 50 {
            unusable(used, Unusable::Weak, "Its grapple is too worn to hold a ship.");
        }
        game.op(two, Op::Move { ship: theirs, to: Hex::new(1, 0) }).unwrap();
        game.step(40);
        assert_eq!(game.hex(theirs) == Hex::CENTRE, held, "durability {durability}");
        assert_eq!(game.get::<keel_sim::Rolls>(mine).fingerprint(), before);
    }
}

#[test]
fn rule_8_a_clamp_holds_an_npc_and_ends_when_its_holder_leaves() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(powered(&game, 0, Faction::Human));
    let drone = game.drone(game.common(4, Faction::Human));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    game.step(20);
    use_power(&mut game, pilot, Power::Clamp).unwrap();
    game.says(pilot, &format!("Clamp. Human Carrier {drone} is held."));
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(23);
    assert!(game.find::<keel_sim::ClampedBy>(drone).is_none());
}

#[test]
fn rule_8_unclamp_works_while_jammed_and_says_when_there_is_nothing_to_break() {
    let (mut game, [one, two], [_, theirs]) = locked();
    unusable(use_power(&mut game, two, Power::Unclamp), Unusable::Free, "No Clamp holds this ship.");
    use_power(&mut game, one, Power::Jam).unwrap();
    use_power(&mut game, one, Power::Clamp).unwrap();
    assert!(use_power(&mut game, two, Power::Unclamp).is_ok());
    assert!(game.find::<keel_sim::ClampedBy>(theirs).is_none());
}

#[test]
fn rule_8_a_power_without_its_module_or_its_battery_says_so_and_spends_nothing() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    for (power, text) in [
        (Power::Brace, "This ship has no Brace."),
        (Power::Jam, "This ship has no Jam."),
        (Power::Clamp, "This ship has no Clamp."),
        (Power::Unclamp, "This ship has no Clamp."),
        (Power::Cloak, "This ship has no cloak."),
    ] {
        let refusal = use_power(&mut game, pilot, power).unwrap_err();
        assert_eq!(refusal.to_string(), text);
    }
    let (other, armed) = game.pilot_in(powered(&game, 0, Faction::Human));
    game.set(armed, Battery(10.0));
    unusable(use_power(&mut game, other, Power::Brace), Unusable::Battery, "The battery is too low.");
    assert_eq!(*game.get::<Battery>(armed), Battery(10.5));
    let _ = ship;
}

#[test]
fn rule_3_each_use_of_a_system_wears_it_by_a_point() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(powered(&game, 0, Faction::Human));
    use_power(&mut game, pilot, Power::Brace).unwrap();
    let fit = game.get::<keel_sim::Fitted>(ship).0;
    assert_eq!(fit.system(System::Brace).map(|(_, module)| module.durability), Some(99));
    assert_eq!(fit.system(System::Jam).map(|(_, module)| module.durability), Some(100));
    assert!(game.card(ship).powers.brace.unwrap().hull < 72.0, "and the card says so");
}

#[test]
fn rule_8_a_cloak_hides_until_its_ship_acts_or_is_jammed() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human).with(System::Cloak, Faction::Human).with(System::Brace, Faction::Human);
    let (pilot, ship) = game.pilot_in(fit);
    let (other, hunter) = game.pilot_in(powered(&game, 0, Faction::Sentry));
    use_power(&mut game, pilot, Power::Cloak).unwrap();
    assert_eq!(game.get::<Battery>(ship).0, 80.5);
    game.says(pilot, "Cloaked.");
    unusable(use_power(&mut game, pilot, Power::Cloak), Unusable::Cloaked, "This ship is cloaked already.");
    let focus = || Op::Focus { ship: hunter, target: ship };
    assert_eq!(game.op(other, focus()), Err(Refusal::UnknownTarget), "nobody sees it");
    // Its own lock shows it, and the cloak cools from then on.
    game.op(pilot, Op::Focus { ship, target: hunter }).unwrap();
    game.says(pilot, "The cloak is down.");
    assert!(use_power(&mut game, pilot, Power::Cloak).is_err());
    assert!(game.op(other, focus()).is_ok());
    game.step(199);
    game.set(ship, (Battery(100.0), Condition(Pools { shield: 1e6, hull: 400.0 })));
    // A lock that was on it stays, and a Jam through that lock drops the cloak.
    assert!(use_power(&mut game, pilot, Power::Cloak).is_ok());
    assert_eq!(game.target(ship), None, "hiding drops its own lock");
    assert_eq!(game.target(hunter), Some(ship));
    game.set(hunter, Battery(100.0));
    use_power(&mut game, other, Power::Jam).unwrap();
    assert!(!game.get::<Powers>(ship).cloaked);
}

#[test]
fn rule_8_a_mender_repairs_the_most_damaged_within_one_sector_every_two_seconds() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let fit = game.common(2, Faction::Human);
    let mender = game.ship(pilot, fit.with(System::Mender, Faction::Human));
    let [near, worse] = [0, 0].map(|_| game.ship(pilot, fit));
    let beside = game.ship_at(pilot, fit, Hex::new(1, 0));
    let far = game.ship_at(pilot, fit, Hex::new(2, 0));
    let stranger = game.pilot_in(fit).1;
    for ship in [near, worse, beside, far, stranger] {
        game.change::<Mind>(ship, |mind| mind.follows = false);
    }
    // In share of the hull: the one beside is the worst that the mender reaches.
    for (ship, hull) in [(near, 500.0), (worse, 400.0), (beside, 300.0), (far, 100.0), (stranger, 50.0)] {
        hurt(&mut game, ship, hull);
        game.change::<Quiet>(ship, |quiet| quiet.0 = Moment::of_step(100_000));
    }
    let hull = |game: &Game, ship| game.get::<Condition>(ship).0.hull;
    game.step(2);
    assert_eq!(hull(&game, beside), 350.0, "decided in one step, done in the next");
    assert_eq!(game.get::<Battery>(mender).0, 90.5);
    game.says(pilot, &format!("Mended your Destroyer {beside} by 50 hull."));
    let quiet = game.get::<Quiet>(mender).0;
    assert_eq!(quiet, Moment::START, "no power: it restarts no hull clock");
    game.step(39);
    assert_eq!(hull(&game, beside), 350.0);
    game.step(1);
    // 49.75 of a module that was used once.
    assert!((hull(&game, beside) - 399.75).abs() < 0.01, "{}", hull(&game, beside));
    assert_eq!([near, worse, far, stranger].map(|ship| hull(&game, ship)), [500.0, 400.0, 100.0, 50.0]);
    // A Jam silences it.
    let until = Moment::of_step(game.now() + 100);
    game.change::<Powers>(mender, |powers| powers.jammed_until = until);
    game.step(99);
    assert!((hull(&game, beside) - 399.75).abs() < 0.01);
    game.step(2);
    assert!(hull(&game, beside) > 440.0);
}

#[test]
fn rule_8_a_mender_with_nothing_to_do_sleeps_and_wakes_at_the_first_damage() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let mender = game.ship(pilot, game.common(2, Faction::Human).with(System::Mender, Faction::Human));
    let mate = game.ship(pilot, Fit { shield: None, ..game.common(4, Faction::Human) });
    game.step(5);
    assert!(game.find::<keel_sim::Awake>(mender).is_none());
    let (other, hunter) = game.pilot_in(game.common(0, Faction::Raider));
    game.op(other, Op::Focus { ship: hunter, target: mate }).unwrap();
    game.step(25);
    assert!(game.shots_of(hunter).count() == 1);
    assert!(!game.steps_noted(pilot, |note| matches!(note, Note::Mended { .. })).is_empty());
}

#[test]
fn rule_4_an_enemys_aura_stretches_each_cycle_that_starts_under_it_and_a_jam_silences_it() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let drone = game.drone(game.common(4, Faction::Raider).with(System::Aura, Faction::Raider));
    let second = game.drone(game.common(4, Faction::Raider).with(System::Aura, Faction::Raider));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    game.step(21 + 24);
    let steps = |game: &Game| game.shots_of(ship).map(|shot| shot.step).collect::<Vec<_>>();
    assert_eq!(steps(&game).len(), 1);
    game.step(1);
    // 1.00 s × 1.25, once, although there are two auras.
    assert_eq!(steps(&game)[1] - steps(&game)[0], 25);
    for aura in [drone, second] {
        let until = Moment::of_step(game.now() + 1000);
        game.change::<Powers>(aura, |powers| powers.jammed_until = until);
    }
    game.step(46);
    // The cycle that had begun under it goes on as it began; the next is whole again.
    assert_eq!(steps(&game)[2] - steps(&game)[1], 25);
    assert_eq!(steps(&game)[3] - steps(&game)[2], 20);
}

#[test]
fn rule_4_an_own_aura_stretches_nothing() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let ship = game.ship(pilot, game.common(0, Faction::Human));
    let _aura = game.ship(pilot, game.common(2, Faction::Human).with(System::Aura, Faction::Human));
    let drone = game.drone(game.common(4, Faction::Raider));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    game.step(21 + 20);
    let steps: Vec<u64> = game.shots_of(ship).map(|shot| shot.step).collect();
    assert_eq!(steps[1] - steps[0], 20);
}

#[test]
fn rule_8_who_is_hidden_holds_mends_and_suppresses_nobody() {
    let mut game = Game::default();
    let systems = [System::Clamp, System::Cloak, System::Mender, System::Aura];
    let fit = systems.iter().fold(game.common(4, Faction::Sentry), |fit, &system| fit.with(system, Faction::Human));
    let (pilot, ship) = game.pilot_in(fit);
    let mate = game.ship(pilot, game.common(4, Faction::Human));
    let (other, theirs) = game.pilot_in(game.common(4, Faction::Human));
    game.op(pilot, Op::Focus { ship, target: theirs }).unwrap();
    game.change::<Gun>(ship, |gun| gun.ready_at = Moment::of_step(100_000));
    game.step(60);
    use_power(&mut game, pilot, Power::Clamp).unwrap();
    use_power(&mut game, pilot, Power::Cloak).unwrap();
    assert!(game.find::<Clamping>(ship).is_none());
    hurt(&mut game, mate, 100.0);
    game.step(60);
    assert_eq!(game.get::<Condition>(mate).0.hull, 100.0);
    let drone = game.drone(game.common(4, Faction::Raider));
    game.op(other, Op::Focus { ship: theirs, target: drone }).unwrap();
    game.step(80 + 41);
    let steps: Vec<u64> = game.shots_of(theirs).map(|shot| shot.step).collect();
    assert!(steps[1] - steps[0] == 20, "{steps:?}");
}

#[test]
fn rule_4_an_aura_of_who_cannot_be_locked_suppresses_nobody() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let aura = game.drone(game.common(4, Faction::Raider).with(System::Aura, Faction::Raider));
    let target = game.drone(game.common(4, Faction::Raider));
    game.set(aura, keel_sim::Arrival { ends: Moment::of_step(1000), ends_early: false });
    game.op(pilot, Op::Focus { ship, target }).unwrap();
    game.step(21 + 20);
    let steps: Vec<u64> = game.shots_of(ship).map(|shot| shot.step).collect();
    assert_eq!(steps[1] - steps[0], 20);
}
