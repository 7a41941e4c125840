//! Ops: what is refused, with which words, and that a refusal changes nothing; hops, step by step.

use keel_balance::Faction;
use keel_map::Hex;
use keel_rules::fire::Forbidden;
use keel_rules::{ClassId, Fit, Micros};
use keel_sim::{Done, Helm, Leg, Op, PilotId, Refusal, ShipId};
use keel_testkit::{Game, Setup};

struct Scene {
    game: Game,
    pilot: PilotId,
    ship: ShipId,
    rival: ShipId,
    drone: ShipId,
    far: ShipId,
    unarmed: ShipId,
}

fn scene(layer: u8) -> Scene {
    let mut game = Game::new(Setup { layer, ..Setup::default() });
    let fit = game.common(0, Faction::Human);
    let (pilot, ship) = game.pilot_in(fit);
    let unarmed = game.ship(pilot, Fit::bare(ClassId(0)));
    let (_, rival) = game.pilot_in(fit);
    let drone = game.drone(fit);
    let far = game.squad(&[fit], Hex::new(3, 0))[0];
    Scene { game, pilot, ship, rival, drone, far, unarmed }
}

#[test]
fn every_refusal_says_why_and_changes_nothing() {
    let Scene { mut game, pilot, ship, rival, drone, far, unarmed } = scene(1);
    let stranger = PilotId(999);
    let nobody = ShipId(999);
    let rows = [
        (stranger, Op::Hold { ship }, Refusal::UnknownPilot, "You are not in this world."),
        (pilot, Op::Hold { ship: nobody }, Refusal::UnknownShip, "You have no such ship."),
        (pilot, Op::Hold { ship: ShipId(0) }, Refusal::UnknownShip, "You have no such ship."),
        (pilot, Op::Hold { ship: ShipId(u32::MAX) }, Refusal::UnknownShip, "You have no such ship."),
        (pilot, Op::Hold { ship: rival }, Refusal::NotYours, "That is not your ship."),
        (pilot, Op::Attack { ship: drone, target: far }, Refusal::NotYours, "That is not your ship."),
        (pilot, Op::Attack { ship, target: nobody }, Refusal::UnknownTarget, "There is no such target."),
        (pilot, Op::Focus { ship, target: ShipId(u32::MAX) }, Refusal::UnknownTarget, "There is no such target."),
        (pilot, Op::Attack { ship, target: far }, Refusal::OtherSector, "That ship is not in your sector."),
        (pilot, Op::Attack { ship: unarmed, target: drone }, Refusal::NoWeapon, "This ship has no weapon fitted."),
        (
            pilot,
            Op::Attack { ship, target: rival },
            Refusal::Forbidden(Forbidden::Never),
            "No pilot may fire on a pilot on this layer.",
        ),
        (pilot, Op::Attack { ship, target: ship }, Refusal::Forbidden(Forbidden::OwnShip), "That is your own ship."),
        (pilot, Op::Move { ship, to: Hex::CENTRE }, Refusal::AlreadyThere, "The ship is there already."),
        (pilot, Op::Move { ship, to: Hex::new(9, 0) }, Refusal::UnknownSector, "There is no such sector."),
        (
            pilot,
            Op::Move { ship, to: Hex::new(i32::MIN, i32::MAX) },
            Refusal::UnknownSector,
            "There is no such sector.",
        ),
        (pilot, Op::Cancel { ship }, Refusal::NothingToCancel, "There is nothing to cancel."),
    ];
    for (pilot, op, refusal, text) in rows {
        let mut untouched = scene(1).game;
        untouched.step(game.now() + 1);
        assert_eq!(game.op(pilot, op.clone()), Err(refusal), "{op:?}");
        assert_eq!(refusal.to_string(), text);
        assert_eq!(game.hash(), untouched.hash(), "{op:?} changed something");
    }
}

#[test]
fn rule_10_layers_2_and_3_say_who_may_fire_on_whom() {
    let Scene { mut game, pilot, ship, rival, .. } = scene(2);
    let refusal = game.op(pilot, Op::Attack { ship, target: rival }).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "On this layer pilots fire on pilots only in a duel, or when their charters are hostile."
    );
    let Scene { mut game, pilot, ship, rival, .. } = scene(3);
    assert!(game.op(pilot, Op::Attack { ship, target: rival }).is_ok());
}

#[test]
fn rule_9_a_hop_waits_its_window_and_takes_the_classs_move_time() {
    for (class, steps) in [(0, 15), (1, 20), (2, 25), (3, 30), (4, 35u32)] {
        let mut game = Game::default();
        let (pilot, ship) = game.pilot_in(game.common(class, Faction::Human));
        let done = game.op(pilot, Op::Move { ship, to: Hex::new(2, 0) }).unwrap();
        let ordered = game.now();
        let Done::Course { hops, takes, arrives } = done else { panic!("{done:?}") };
        assert_eq!((hops, takes), (2, Micros::from_seconds(f64::from(2 * (8 + steps)) / 20.0)));
        game.step(u64::from(8 + steps) - 1);
        assert_eq!(game.hex(ship), Hex::CENTRE);
        game.step(1);
        assert_eq!(game.hex(ship), Hex::new(1, 0));
        game.step(u64::from(8 + steps) - 1);
        assert_eq!(game.hex(ship), Hex::new(1, 0));
        game.step(1);
        assert_eq!((game.hex(ship), game.now()), (Hex::new(2, 0), arrives.step()));
        assert_eq!(game.now(), ordered + 2 * u64::from(8 + steps));
        assert!(game.log(pilot).contains(&(game.now(), "Arrived at 2 0.".to_owned())));
    }
}

#[test]
fn rule_9_a_hop_is_cancelled_in_its_window_and_not_after() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(6);
    // The window ends in the eighth step after the order; ops come before movement, so that step is still in time.
    game.step(0);
    assert_eq!(game.op(pilot, Op::Cancel { ship }), Ok(Done::Stopped));
    game.step(50);
    assert_eq!(game.hex(ship), Hex::CENTRE);

    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(8);
    assert_eq!(game.op(pilot, Op::Cancel { ship }), Err(Refusal::TooLate));
    game.step(14);
    assert_eq!(game.hex(ship), Hex::new(1, 0));

    // With more to come, the ship stops after the hop.
    game.op(pilot, Op::Move { ship, to: Hex::new(4, 0) }).unwrap();
    game.step(8);
    assert_eq!(game.op(pilot, Op::Cancel { ship }), Ok(Done::Stopping));
    game.step(100);
    assert_eq!(game.hex(ship), Hex::new(2, 0));
}

#[test]
fn rule_9_a_course_to_where_the_ship_is_or_will_be_stops_it_there() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    assert_eq!(game.op(pilot, Op::Move { ship, to: Hex::CENTRE }), Ok(Done::Stopped));
    game.op(pilot, Op::Move { ship, to: Hex::new(3, 0) }).unwrap();
    game.step(9);
    assert_eq!(game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }), Ok(Done::Stopping));
    assert_eq!(game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }), Err(Refusal::AlreadyThere));
    game.step(100);
    assert_eq!(game.hex(ship), Hex::new(1, 0));
}

#[test]
fn rule_9_a_new_course_in_mid_hop_goes_on_from_where_the_hop_ends() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(10);
    let done = game.op(pilot, Op::Move { ship, to: Hex::CENTRE }).unwrap();
    let Done::Course { hops, arrives, .. } = done else { panic!("{done:?}") };
    assert_eq!((hops, arrives.step()), (1, 1 + 23 + 23));
    assert!(matches!(game.get::<Helm>(ship).leg(), Leg::Hop { .. }));
    game.step(1 + 23 - game.now());
    assert_eq!(game.hex(ship), Hex::new(1, 0));
    game.step(23);
    assert_eq!(game.hex(ship), Hex::CENTRE);
}

#[test]
fn rule_4_a_hop_of_either_drops_the_lock() {
    for mover in 0..2 {
        let mut game = Game::default();
        let fit = game.common(0, Faction::Human);
        let pairs = [game.pilot_in(fit), game.pilot_in(fit)];
        let [(one, mine), (two, theirs)] = pairs;
        game.order(one, Op::Attack { ship: mine, target: theirs });
        game.order(two, Op::Attack { ship: theirs, target: mine });
        game.order(pairs[mover].0, Op::Move { ship: pairs[mover].1, to: Hex::new(0, 1) });
        game.step(23);
        assert!([mine, theirs].iter().all(|&ship| game.target(ship).is_some()));
        game.step(1);
        assert_eq!(game.hex(pairs[mover].1), Hex::new(0, 1));
        assert!([mine, theirs].iter().all(|&ship| game.target(ship).is_none()));
    }
}

#[test]
fn rule_1_2_ops_of_one_step_apply_in_order_of_pilots_then_of_arrival() {
    let mut game = Game::default();
    let fit = game.common(0, Faction::Human);
    let ((one, a), (two, b)) = (game.pilot_in(fit), game.pilot_in(fit));
    game.order(two, Op::Move { ship: b, to: Hex::new(1, 0) });
    game.order(one, Op::Move { ship: a, to: Hex::new(1, 0) });
    game.order(two, Op::Cancel { ship: b });
    game.order(one, Op::Cancel { ship: a });
    game.step(1);
    let order: Vec<_> = game.answers().iter().map(|answer| (answer.pilot, answer.seq)).collect();
    assert_eq!(order, [(one, 2), (one, 4), (two, 1), (two, 3)]);
}
