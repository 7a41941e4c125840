//! Fleets (rule 10): stances, protectees, triggers, KOS, follow and gather.

use keel_balance::{Faction, System};
use keel_map::Hex;
use keel_rules::{Fit, Moment, Pools};
use keel_sim::{Arrival, Clamping, Condition, Done, Gun, Leg, Mind, Op, PilotId, Powers, Refusal, ShipId, Stance};
use keel_testkit::{Game, Setup};

/// A fleet of an active ship and an escort of that stance, at the centre.
struct Wing {
    game: Game,
    pilot: PilotId,
    active: ShipId,
    escort: ShipId,
}

fn wing(stance: Stance) -> Wing {
    let mut game = Game::default();
    let pilot = game.pilot();
    let fit = powered(&game, 1, Faction::Human);
    let [active, escort] = [0, 0].map(|_| game.ship(pilot, fit));
    game.op(pilot, Op::Stance { ship: escort, stance }).unwrap();
    Wing { game, pilot, active, escort }
}

fn powered(game: &Game, class: u8, faction: Faction) -> Fit {
    let powers = [System::Brace, System::Jam, System::Clamp];
    powers.iter().fold(game.common(class, faction), |fit, &system| fit.with(system, faction))
}

/// Makes a ship outlast what is done to it.
fn harden(game: &mut Game, ship: ShipId) {
    game.change::<Condition>(ship, |condition| condition.0 = Pools { shield: 0.0, hull: 1e9 });
}

const STANCES: [Stance; 4] = [Stance::Aggressive, Stance::Defensive, Stance::Support, Stance::Passive];

/// For each stance, whether the escort does by itself what `happens` calls for.
fn engages(happens: impl Fn(&mut Wing) -> ShipId) -> [bool; 4] {
    STANCES.map(|stance| {
        let mut wing = wing(stance);
        let target = happens(&mut wing);
        wing.game.step(3);
        wing.game.target(wing.escort) == Some(target)
    })
}

#[test]
fn rule_10_aggressive_alone_engages_anything_in_the_sector() {
    assert_eq!(engages(|wing| wing.game.drone(wing.game.common(0, Faction::Raider))), [true, false, false, false]);
}

#[test]
fn rule_10_what_locks_a_ship_is_answered_by_all_but_passive() {
    let happens = |wing: &mut Wing| {
        let (pilot, ship) = wing.game.pilot_in(wing.game.common(0, Faction::Raider));
        wing.game.op(pilot, Op::Focus { ship, target: wing.escort }).unwrap();
        ship
    };
    assert_eq!(engages(happens), [true, true, true, false]);
}

#[test]
fn rule_10_what_locks_the_protectee_is_answered_by_all_but_passive() {
    let happens = |wing: &mut Wing| {
        let (pilot, ship) = wing.game.pilot_in(wing.game.common(0, Faction::Raider));
        wing.game.op(pilot, Op::Focus { ship, target: wing.active }).unwrap();
        ship
    };
    assert_eq!(engages(happens), [true, true, true, false]);
    // A protectee of its own is another's than the active ship.
    let happens = |wing: &mut Wing| {
        let third = wing.game.ship(wing.pilot, wing.game.common(0, Faction::Human));
        wing.game.op(wing.pilot, Op::Stance { ship: third, stance: Stance::Passive }).unwrap();
        wing.game.op(wing.pilot, Op::Protect { ship: wing.escort, protectee: Some(third) }).unwrap();
        let (pilot, ship) = wing.game.pilot_in(wing.game.common(0, Faction::Raider));
        wing.game.op(pilot, Op::Focus { ship, target: third }).unwrap();
        ship
    };
    assert_eq!(engages(happens), [true, true, true, false]);
}

#[test]
fn rule_10_the_active_ships_npc_target_is_fired_on_by_aggressive_and_defensive() {
    let happens = |wing: &mut Wing| {
        let drone = wing.game.drone(wing.game.common(0, Faction::Raider));
        wing.game.op(wing.pilot, Op::Focus { ship: wing.active, target: drone }).unwrap();
        drone
    };
    assert_eq!(engages(happens), [true, true, false, false]);
}

#[test]
fn rule_10_a_pilot_is_locked_by_an_explicit_attack_or_focus_alone() {
    let focus = |wing: &mut Wing| {
        let (_, rival) = wing.game.pilot_in(wing.game.common(0, Faction::Raider));
        wing.game.op(wing.pilot, Op::Focus { ship: wing.active, target: rival }).unwrap();
        rival
    };
    assert_eq!(engages(focus), [false; 4]);
    let attack = |wing: &mut Wing| {
        let (_, rival) = wing.game.pilot_in(wing.game.common(0, Faction::Raider));
        wing.game.op(wing.pilot, Op::Attack { ship: wing.active, target: rival }).unwrap();
        rival
    };
    assert_eq!(engages(attack), [true; 4], "an Attack is an order to every escort of the sector");
}

#[test]
fn rule_10_aggressive_engages_pilots_marked_kos_where_firing_is_allowed() {
    let happens = |wing: &mut Wing| {
        let (pilot, rival) = wing.game.pilot_in(wing.game.common(0, Faction::Raider));
        wing.game.op(wing.pilot, Op::Kos { pilot, marked: true }).unwrap();
        rival
    };
    assert_eq!(engages(happens), [true, false, false, false]);
    for (layer, engaged) in [(1, false), (2, false), (3, true)] {
        let mut game = Game::new(Setup { layer, ..Setup::default() });
        let pilot = game.pilot();
        let fit = game.common(0, Faction::Human);
        let [_, escort] = [0, 0].map(|_| game.ship(pilot, fit));
        game.op(pilot, Op::Stance { ship: escort, stance: Stance::Aggressive }).unwrap();
        let (other, rival) = game.pilot_in(fit);
        game.op(pilot, Op::Kos { pilot: other, marked: true }).unwrap();
        game.step(3);
        assert_eq!(game.target(escort) == Some(rival), engaged, "layer {layer}");
        // And it is told when the mark is taken back.
        game.op(pilot, Op::Kos { pilot: other, marked: false }).unwrap();
        game.op(pilot, Op::Hold { ship: escort }).unwrap();
        game.step(3);
        assert_eq!(game.target(escort), None);
    }
}

#[test]
fn rule_10_aggressive_skips_an_arriving_mark_until_its_flag_ends() {
    let Wing { mut game, pilot, escort, .. } = wing(Stance::Aggressive);
    let (other, rival) = game.pilot_in(game.common(0, Faction::Raider));
    let ends = Moment::of_step(game.now() + 60);
    game.set(rival, Arrival { ends, ends_early: false });
    game.op(pilot, Op::Kos { pilot: other, marked: true }).unwrap();
    game.step(55);
    assert_eq!(game.target(escort), None);
    game.step(10);
    assert_eq!(game.target(escort), Some(rival));
}

#[test]
fn rule_10_aggressive_helps_a_mate_one_hex_away() {
    for (distance, goes) in [(1, true), (2, false)] {
        let mut game = Game::default();
        let pilot = game.pilot();
        let fit = game.common(1, Faction::Human);
        let active = game.ship(pilot, fit);
        let helper = game.ship(pilot, fit);
        let mate = game.ship_at(pilot, fit, Hex::new(distance, 0));
        for ship in [helper, mate] {
            game.op(pilot, Op::Follow { ship, follows: false }).unwrap();
        }
        game.op(pilot, Op::Stance { ship: helper, stance: Stance::Aggressive }).unwrap();
        let hunter = game.squad(&[game.common(0, Faction::Raider)], Hex::new(distance, 0))[0];
        harden(&mut game, hunter);
        harden(&mut game, mate);
        game.step(60);
        assert_eq!(game.hex(helper) == Hex::new(distance, 0), goes);
        if goes {
            assert_eq!(game.target(helper), Some(hunter), "and engages there");
        }
        assert_eq!(game.hex(active), Hex::CENTRE);
    }
}

#[test]
fn rule_10_support_stays_with_its_protectee_and_always_jams_and_clamps_its_attackers() {
    let Wing { mut game, pilot, active, escort } = wing(Stance::Support);
    game.op(pilot, Op::Follow { ship: escort, follows: false }).unwrap();
    game.op(pilot, Op::Move { ship: active, to: Hex::new(2, 0) }).unwrap();
    game.step(80);
    assert_eq!([active, escort].map(|ship| game.hex(ship)), [Hex::new(2, 0); 2]);
    let hunter = game.squad(&[game.common(0, Faction::Raider)], Hex::new(2, 0))[0];
    harden(&mut game, hunter);
    harden(&mut game, active);
    game.step(11 + 50 + 3);
    assert_eq!(game.target(escort), Some(hunter));
    let now = Moment::of_step(game.now());
    assert!(game.get::<Powers>(hunter).is_jammed(now), "it neither Braces nor Clamps, and is Jammed all the same");
    assert_eq!(game.find::<Clamping>(escort).map(|clamping| clamping.0), Some(game.entity(hunter)));
}

#[test]
fn rule_8_escorts_brace_under_40_percent_by_default_and_under_what_they_are_told() {
    for (percent, hull, braces) in
        [(None, 0.41, false), (None, 0.39, true), (Some(70), 0.69, true), (Some(0), 0.01, false)]
    {
        let Wing { mut game, pilot, active, escort } = wing(Stance::Passive);
        if let Some(brace_percent) = percent {
            game.op(pilot, Op::Triggers { ship: escort, brace_percent, jam: true }).unwrap();
        }
        for ship in [active, escort] {
            let full = game.card(ship).full;
            game.set(ship, Condition(Pools { hull: full.hull * hull, ..full }));
        }
        // Something that happens to the fleet has it look about.
        game.op(pilot, Op::Hold { ship: active }).unwrap();
        game.step(1);
        let braced = |ship| game.get::<Powers>(ship).is_braced(Moment::of_step(game.now()));
        assert_eq!(braced(escort), braces, "{percent:?} at {hull}");
        assert!(!braced(active), "powers of the active ship are its pilot's");
    }
}

#[test]
fn rule_8_an_escort_braces_when_a_hit_takes_it_under_its_trigger() {
    let Wing { mut game, escort, .. } = wing(Stance::Passive);
    let full = game.card(escort).full;
    game.set(escort, Condition(Pools { shield: 0.0, hull: full.hull * 0.5 }));
    let (other, hunter) = game.pilot_in(game.common(4, Faction::Raider));
    game.op(other, Op::Focus { ship: hunter, target: escort }).unwrap();
    let mut hit = None;
    for _ in 0..400 {
        game.step(1);
        if game.get::<Condition>(escort).0.hull < full.hull * 0.4 {
            hit.get_or_insert(game.now());
        }
        if game.get::<Powers>(escort).is_braced(Moment::of_step(game.now())) {
            break;
        }
    }
    assert_eq!(hit.map(|hit| hit + 1), Some(game.now()), "decided in the step of the hit, done in the next");
}

#[test]
fn rule_8_jam_triggers_are_on_and_wait_for_a_brace_or_a_clamp_on_the_fleet() {
    let lock = |jam: bool| {
        let Wing { mut game, pilot, active, escort } = wing(Stance::Passive);
        game.op(pilot, Op::Triggers { ship: escort, brace_percent: 40, jam }).unwrap();
        let drone = game.drone(powered(&game, 4, Faction::Raider));
        harden(&mut game, drone);
        game.op(pilot, Op::Focus { ship: escort, target: drone }).unwrap();
        game.change::<Gun>(escort, |gun| gun.ready_at = Moment::of_step(100_000));
        game.step(45);
        (game, active, drone)
    };
    let jammed = |game: &Game, drone| game.get::<Powers>(drone).is_jammed(Moment::of_step(game.now()));
    for (jam, by_trigger) in [(true, true), (false, false)] {
        let (mut game, _, drone) = lock(jam);
        assert!(!jammed(&game, drone), "nothing provokes it");
        let until = Moment::of_step(game.now() + 60);
        game.change::<Powers>(drone, |powers| powers.braced_until = until);
        game.step(2);
        assert_eq!(jammed(&game, drone), by_trigger, "a Brace");
        let (mut game, active, drone) = lock(jam);
        let held = game.entity(active);
        game.set(drone, Clamping(held));
        game.step(2);
        assert_eq!(jammed(&game, drone), by_trigger, "a Clamp on the fleet");
        assert_eq!(game.find::<Clamping>(drone).is_none(), by_trigger);
    }
}

#[test]
fn rule_10_followers_go_where_the_active_ship_goes_and_gather_calls_all() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let fit = game.common(0, Faction::Human);
    let [active, near, apart] = [0, 0, 0].map(|_| game.ship(pilot, fit));
    let away = game.ship_at(pilot, fit, Hex::new(-3, 0));
    for ship in [apart, away] {
        game.op(pilot, Op::Follow { ship, follows: false }).unwrap();
    }
    game.op(pilot, Op::Move { ship: active, to: Hex::new(2, 0) }).unwrap();
    game.step(46);
    let hexes = |game: &Game| [active, near, apart, away].map(|ship| game.hex(ship));
    assert_eq!(hexes(&game), [Hex::new(2, 0), Hex::new(2, 0), Hex::CENTRE, Hex::new(-3, 0)]);
    assert_eq!(game.op(pilot, Op::Gather), Ok(Done::Gathering { ships: 2 }));
    game.step(5 * 23);
    assert_eq!(hexes(&game), [Hex::new(2, 0); 4]);
    assert!(game.get::<Mind>(apart).follows, "and follow from now on");
    // An escort that is sent by itself stays where it was sent.
    game.op(pilot, Op::Move { ship: near, to: Hex::new(3, 0) }).unwrap();
    game.step(100);
    assert_eq!(game.hex(near), Hex::new(3, 0));
}

#[test]
fn rule_10_another_ship_is_flown_on_order_and_when_the_active_one_is_lost() {
    let Wing { mut game, pilot, active, escort } = wing(Stance::Passive);
    assert_eq!(game.active(pilot), Some(active), "a pilot's first ship");
    game.op(pilot, Op::Activate { ship: escort }).unwrap();
    assert_eq!(game.active(pilot), Some(escort));
    game.set(escort, Condition(Pools { shield: 0.0, hull: 1.0 }));
    let (other, hunter) = game.pilot_in(game.common(4, Faction::Raider));
    game.op(other, Op::Focus { ship: hunter, target: escort }).unwrap();
    while game.lives(escort) {
        game.step(1);
    }
    assert_eq!(game.active(pilot), Some(active));
    assert!(game.log(pilot).iter().any(|(_, line)| line == "You fly this ship."));
}

#[test]
fn rule_10_orders_to_a_fleet_refuse_what_makes_no_sense() {
    let Wing { mut game, pilot, escort, .. } = wing(Stance::Passive);
    let rows = [
        (Op::Protect { ship: escort, protectee: Some(escort) }, Refusal::Itself, "A ship does not protect itself."),
        (
            Op::Triggers { ship: escort, brace_percent: 101, jam: true },
            Refusal::NoShare,
            "That is no share of a hull: 0 to 100 percent.",
        ),
        (Op::Kos { pilot, marked: true }, Refusal::Yourself, "That is you."),
        (Op::Kos { pilot: PilotId(77), marked: true }, Refusal::NoSuchPilot, "There is no such pilot."),
    ];
    for (op, refusal, text) in rows {
        assert_eq!(game.op(pilot, op), Err(refusal));
        assert_eq!(refusal.to_string(), text);
    }
}

#[test]
fn rule_10_npcs_fly_fits_of_the_same_sheet_and_use_their_powers() {
    let balance = keel_testkit::shipped_balance();
    let mut game = Game::new(Setup { layer: 4, ..Setup::default() });
    let fit = Fit::npc(&balance, &balance.layers[3], keel_rules::ClassId(2), Faction::Raider);
    let npc = game.squad(&[fit], Hex::CENTRE)[0];
    let full = game.card(npc).full;
    game.set(npc, Condition(Pools { hull: full.hull * 0.3, ..full }));
    let (pilot, ship) = game.pilot_in(powered(&game, 4, Faction::Human));
    harden(&mut game, ship);
    game.step(11 + 60 + 5);
    assert_eq!(game.target(npc), Some(ship));
    assert!(game.get::<Powers>(npc).brace_ready > Moment::START, "hurt, it Braced");
    assert!(game.find::<Clamping>(npc).is_some(), "and holds whom it fights");
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(60);
    assert_eq!(game.hex(ship), Hex::CENTRE);
    assert_eq!(game.get::<keel_sim::Helm>(ship).leg(), Leg::Still);
}

#[test]
fn rule_10_what_a_mind_decided_does_not_undo_what_its_pilot_orders_next() {
    // An Aggressive escort sees a drone in one step; in the next it is told something else.
    let told: [&dyn Fn(&Wing) -> Op; 4] = [
        &|wing| Op::Activate { ship: wing.escort },
        &|wing| Op::Hold { ship: wing.escort },
        &|wing| Op::Stance { ship: wing.escort, stance: Stance::Passive },
        &|wing| Op::Dock { ship: wing.escort },
    ];
    for (n, op) in told.iter().enumerate() {
        let mut wing = wing(Stance::Aggressive);
        wing.game.drone(wing.game.common(0, Faction::Raider));
        wing.game.step(1);
        let op = op(&wing);
        wing.game.op(wing.pilot, op).unwrap();
        assert_eq!(wing.game.target(wing.escort), None, "order {n}");
    }
}

#[test]
fn rule_10_an_escort_that_stays_keeps_the_course_it_was_sent_on() {
    let Wing { mut game, pilot, escort, .. } = wing(Stance::Passive);
    game.op(pilot, Op::Move { ship: escort, to: Hex::new(1, 0) }).unwrap();
    game.op(pilot, Op::Follow { ship: escort, follows: false }).unwrap();
    game.step(60);
    assert_eq!(game.hex(escort), Hex::new(1, 0));
}
