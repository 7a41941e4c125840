//! Docks, travel, transit, arrivals, rescue and logout (rules 7, 9 and 10).

use keel_balance::{Faction, System};
use keel_map::Hex;
use keel_rules::powers::Power;
use keel_rules::{Fit, Micros, Moment, Pools};
use keel_sim::{
    Arrival, Battery, Clamping, Condition, Done, Gun, Helm, InSector, Leg, Op, Orders, PilotId, Powers, Refusal,
    ShipId, StructureKind, Way,
};
use keel_testkit::{Game, Setup};

fn powered(game: &Game) -> Fit {
    let powers = [System::Brace, System::Jam, System::Clamp];
    powers.iter().fold(game.common(0, Faction::Human), |fit, &system| fit.with(system, Faction::Human))
}

/// A pilot with a powered Patrol at the centre of a layer, with the other layers around it.
fn at(layer: u8) -> (Game, PilotId, ShipId) {
    let mut game = Game::new(Setup { layer, others: true, ..Setup::default() });
    let (pilot, ship) = game.pilot_in(powered(&game));
    (game, pilot, ship)
}

/// A Clamp of another's on a ship.
fn clamp(game: &mut Game, ship: ShipId) -> ShipId {
    let holder = game.drone(powered(game));
    let held = game.entity(ship);
    game.set(holder, Clamping(held));
    holder
}

#[test]
fn rule_7_docking_refills_hull_shield_and_battery_at_once_and_clears_a_jam() {
    let (mut game, pilot, ship) = at(3);
    game.set(ship, (Condition(Pools { shield: 1.0, hull: 2.0 }), Battery(3.0)));
    let until = Moment::of_step(1000);
    game.change::<Powers>(ship, |powers| powers.jammed_until = until);
    let hunter = game.drone(game.common(0, Faction::Raider));
    let target = game.entity(ship);
    let gun = Gun { locked_at: Moment::of_step(1000), ..Gun::default() };
    game.set(hunter, (keel_sim::Locking(target), gun));
    assert_eq!(game.op(pilot, Op::Dock { ship }), Ok(Done::Docking));
    assert!(game.is_docked(ship), "in the NPC phase of the same step");
    game.says(pilot, "Docked. Hull, shield and battery are full.");
    assert_eq!(game.get::<Condition>(ship).0, game.card(ship).full);
    assert_eq!(*game.get::<Battery>(ship), Battery(100.0));
    assert!(!game.get::<Powers>(ship).is_jammed(Moment::of_step(game.now())));
    assert_eq!(game.target(hunter), None, "a docked ship is out of reach");
    game.step(50);
    assert_eq!(game.op(pilot, Op::Undock { ship }), Ok(Done::Undocked));
    assert_eq!(game.hex(ship), Hex::CENTRE);
    assert!(!game.get::<Powers>(ship).is_jammed(Moment::of_step(game.now())), "berthed while jammed, it came out free");
    assert!(game.op(pilot, Op::Power(Power::Brace)).is_ok());
}

#[test]
fn rule_7_a_dock_needs_a_haven_or_an_own_berth_and_a_ship_that_is_free_and_still() {
    let mut game = Game::new(Setup { layer: 4, ..Setup::default() });
    let fit = powered(&game);
    let (pilot, ship) = game.pilot_in(fit);
    let (other, theirs) = game.pilot_in(fit);
    let berth = Hex::new(2, 0);
    let away = game.ship_at(pilot, fit, berth);
    game.op(pilot, Op::Follow { ship: away, follows: false }).unwrap();
    let port = "There is no Haven and no berth of your charter in this sector.";
    game.refuses(pilot, Op::Dock { ship: away }, port);
    game.refuses(pilot, Op::Undock { ship }, "This ship is not docked.");
    let holder = clamp(&mut game, ship);
    game.refuses(pilot, Op::Dock { ship }, "Clamped. Press Unclamp or Jam it.");
    game.remove::<Clamping>(holder);
    game.op(pilot, Op::Dock { ship }).unwrap();
    game.refuses(pilot, Op::Dock { ship }, "This ship is docked already.");

    // A berth of one's own charter is a dock; another's is none.
    game.op(pilot, Op::Found { name: "Keel".into() }).unwrap();
    assert_eq!(game.build_berth(pilot, away), Ok(Done::Built(StructureKind::Berth)));
    let taken = "There is a Haven or a structure in this sector already.";
    game.refuses(pilot, Op::Build { ship: away, kind: StructureKind::Berth }, taken);
    assert_eq!(game.op(pilot, Op::Dock { ship: away }), Ok(Done::Docking));
    assert!(game.is_docked(away));
    game.op(other, Op::Move { ship: theirs, to: berth }).unwrap();
    game.step(11);
    game.refuses(other, Op::Dock { ship: theirs }, "This ship is in mid-hop.");
    game.step(60);
    game.refuses(other, Op::Dock { ship: theirs }, port);
    game.op(pilot, Op::Invite(other)).unwrap();
    game.op(other, Op::Join(keel_sim::CharterId(1))).unwrap();
    assert_eq!(game.op(other, Op::Dock { ship: theirs }), Ok(Done::Docking));
    // Without a charter there is no berth, and whoever was in is in space.
    game.op(pilot, Op::Leave).unwrap();
    game.op(other, Op::Leave).unwrap();
    game.step(1);
    assert!(!game.is_docked(theirs) && !game.is_docked(away));
    game.refuses(other, Op::Dock { ship: theirs }, port);
}

#[test]
fn rule_11_charters_build_on_layers_4_to_6_and_so_many_berths() {
    for layer in 1..=6 {
        let mut game = Game::new(Setup { layer, ..Setup::default() });
        let pilot = game.pilot();
        game.op(pilot, Op::Found { name: "Keel".into() }).unwrap();
        let results: Vec<_> = (1..=4)
            .map(|col| {
                let ship = game.ship_at(pilot, powered(&game), Hex::new(col, 0));
                game.build_berth(pilot, ship)
            })
            .collect();
        if layer < 4 {
            assert_eq!(results, [Err(Refusal::NoStructures); 4], "layer {layer}");
        } else {
            assert_eq!(results[..3], [Ok(Done::Built(StructureKind::Berth)); 3], "layer {layer}");
            assert_eq!(results[3], Err(Refusal::AllBuilt(3)));
        }
    }
}

#[test]
fn rule_9_layer_travel_takes_5_s_from_a_haven_and_says_so() {
    let (mut game, pilot, ship) = at(1);
    let takes = Micros::from_seconds(5.0);
    assert_eq!(game.op(pilot, Op::Travel { ship, way: Way::Up }), Ok(Done::Transit { takes, ships: 1 }));
    let ordered = game.now();
    game.says(pilot, "Travel up to Layer 2. 5 s. You cannot lock or fire.");
    game.step(99);
    assert_eq!((game.layer(ship), game.get::<Helm>(ship).in_transit()), (1, true));
    game.step(1);
    assert_eq!((game.layer(ship), game.hex(ship), game.now()), (2, Hex::CENTRE, ordered + 100));
    game.says(pilot, "Arrived on Layer 2. Transit flag ended.");
    assert!(!game.get::<Arrival>(ship).is_up(Moment::of_step(game.now())), "the grace is for wormholes");
    // And down again, straight out of the dock.
    game.op(pilot, Op::Dock { ship }).unwrap();
    assert!(game.op(pilot, Op::Travel { ship, way: Way::Down }).is_ok());
    game.says(pilot, "Travel down to Layer 1. 5 s. You cannot lock or fire.");
    game.step(100);
    assert_eq!(game.layer(ship), 1);
}

#[test]
fn rule_9_travel_is_refused_without_a_haven_a_layer_or_a_still_ship() {
    let (mut game, pilot, ship) = at(1);
    game.refuses(pilot, Op::Travel { ship, way: Way::Down }, "There is no layer beyond this one.");
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(10);
    game.refuses(pilot, Op::Travel { ship, way: Way::Up }, "This ship is in mid-hop.");
    game.step(30);
    game.refuses(pilot, Op::Travel { ship, way: Way::Up }, "There is no Haven here.");
    // Layer 6 has none: it is left by other ways.
    let (mut game, pilot, ship) = at(6);
    game.refuses(pilot, Op::Travel { ship, way: Way::Down }, "There is no Haven here.");
}

#[test]
fn rule_9_in_transit_no_lock_and_no_fire() {
    let (mut game, pilot, ship) = at(3);
    let drone = game.drone(game.common(4, Faction::Raider));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    game.step(25);
    let fired = game.shots_of(ship).count();
    assert!(fired > 0);
    game.op(pilot, Op::Travel { ship, way: Way::Up }).unwrap();
    let text = "This ship is in transit. It cannot lock, fire, move or dock.";
    for op in [
        Op::Focus { ship, target: drone },
        Op::Attack { ship, target: drone },
        Op::Move { ship, to: Hex::new(1, 0) },
        Op::Travel { ship, way: Way::Up },
        Op::Rescue { ship },
        Op::Dock { ship },
    ] {
        game.refuses(pilot, op, text);
    }
    game.step(80);
    assert_eq!(game.shots_of(ship).count(), fired);
}

#[test]
fn rule_9_a_cancelled_transit_is_followed_by_15_s_without_one() {
    let (mut game, pilot, ship) = at(1);
    game.op(pilot, Op::Travel { ship, way: Way::Up }).unwrap();
    game.step(50);
    let cooldown = Micros::from_seconds(15.0);
    assert_eq!(game.op(pilot, Op::Cancel { ship }), Ok(Done::Unjumped { cooldown }));
    let cancelled = game.now();
    let again = "A jump was cancelled. The next one can begin in 15.0 s.";
    let refusal = game.op(pilot, Op::Travel { ship, way: Way::Up }).unwrap_err();
    assert!(matches!(refusal, Refusal::JumpCooling(left) if left == Micros::from_seconds(14.95)), "{refusal}");
    assert_eq!(Refusal::JumpCooling(cooldown).to_string(), again);
    assert!(game.op(pilot, Op::Rescue { ship }).is_err(), "of any kind");
    assert!(game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).is_ok(), "a hop is none");
    game.op(pilot, Op::Move { ship, to: Hex::CENTRE }).unwrap();
    game.step(cancelled + 299 - game.now() - 1);
    assert!(game.op(pilot, Op::Rescue { ship }).is_err());
    assert!(game.op(pilot, Op::Rescue { ship }).is_ok());
    assert_eq!(game.now(), cancelled + 300);
}

#[test]
fn rule_9_a_rescue_jump_lands_at_the_centre_under_a_flag_that_does_not_end_early() {
    for (layer, flag) in [(1, 45), (2, 45), (3, 35), (4, 25), (5, 15), (6, 10u64)] {
        let mut game = Game::new(Setup { layer, ..Setup::default() });
        let pilot = game.pilot();
        let ship = game.ship_at(pilot, powered(&game), Hex::new(4, 0));
        let takes = Micros::from_seconds(5.0);
        assert_eq!(game.op(pilot, Op::Rescue { ship }), Ok(Done::Transit { takes, ships: 1 }));
        game.says(pilot, "Rescue jump. 5 s. You cannot lock or fire.");
        game.step(100);
        let landed = game.now();
        assert_eq!(game.hex(ship), Hex::CENTRE);
        game.says(pilot, &format!("Rescued. For {flag} s this ship cannot be locked and its guns stay quiet."));
        let drone = game.drone(game.common(4, Faction::Raider));
        let (other, hunter) = game.pilot_in(powered(&game));
        let quiet = "This ship just jumped in. Its guns stay quiet.";
        game.refuses(pilot, Op::Focus { ship, target: drone }, quiet);
        let open = layer > 2;
        if open {
            let text = "That ship just jumped in. It cannot be locked yet.";
            game.refuses(other, Op::Focus { ship: hunter, target: ship }, text);
        }
        game.step(landed + flag * 20 - 1 - game.now());
        assert!(game.get::<Arrival>(ship).is_up(Moment::of_step(game.now())), "layer {layer}");
        game.step(1);
        assert!(!game.get::<Arrival>(ship).is_up(Moment::of_step(game.now())), "layer {layer}");
        assert!(game.op(pilot, Op::Focus { ship, target: drone }).is_ok());
    }
}

#[test]
fn rule_9_a_wormhole_grace_is_ended_by_its_pilots_lock_and_not_by_an_escorts_own() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let fit = powered(&game);
    let [ship, escort] = [0, 0].map(|_| game.ship(pilot, fit));
    let drone = game.drone(game.common(4, Faction::Raider));
    game.op(pilot, Op::Stance { ship: escort, stance: keel_sim::Stance::Aggressive }).unwrap();
    game.op(pilot, Op::Hold { ship: escort }).unwrap();
    let flag = Arrival { ends: Moment::of_step(game.now() + 100), ends_early: true };
    game.set(ship, flag);
    game.set(escort, flag);
    game.step(60);
    assert_eq!((game.target(escort), *game.get::<Arrival>(escort)), (None, flag), "by itself it waits");
    game.op(pilot, Op::Focus { ship: escort, target: drone }).unwrap();
    assert!(!game.get::<Arrival>(escort).is_up(Moment::of_step(game.now())), "an order ends it at once");
    assert_eq!(*game.get::<Arrival>(ship), flag, "its own alone");
}

#[test]
fn rule_9_a_clamp_holds_a_ship_in_transit_until_an_unclamp_sends_it_again() {
    for rescue in [false, true] {
        let (mut game, pilot, ship) = at(3);
        let op = if rescue { Op::Rescue { ship } } else { Op::Travel { ship, way: Way::Up } };
        game.op(pilot, op).unwrap();
        game.step(20);
        clamp(&mut game, ship);
        game.step(1);
        game.says(pilot, "Clamped. Press Unclamp or Jam it.");
        assert_eq!(game.get::<Helm>(ship).leg(), Leg::Still);
        game.op(pilot, Op::Power(Power::Unclamp)).unwrap();
        assert!(game.get::<Helm>(ship).in_transit());
        game.step(100);
        if rescue {
            assert!(game.get::<Arrival>(ship).is_up(Moment::of_step(game.now())));
        } else {
            assert_eq!(game.layer(ship), 4);
        }
    }
}

#[test]
fn rule_9_followers_of_the_place_travel_with_the_active_ship() {
    let (mut game, pilot, ship) = at(2);
    let fit = powered(&game);
    let [beside, docked, staying] = [0; 3].map(|_| game.ship(pilot, fit));
    game.op(pilot, Op::Follow { ship: staying, follows: false }).unwrap();
    game.op(pilot, Op::Dock { ship: docked }).unwrap();
    let takes = Micros::from_seconds(5.0);
    assert_eq!(game.op(pilot, Op::Travel { ship, way: Way::Up }), Ok(Done::Transit { takes, ships: 3 }));
    game.step(100);
    assert_eq!([ship, beside, docked, staying].map(|ship| game.layer(ship)), [3, 3, 3, 2]);
    // And stay with it when it cancels.
    game.op(pilot, Op::Travel { ship, way: Way::Up }).unwrap();
    game.step(20);
    game.op(pilot, Op::Cancel { ship }).unwrap();
    game.step(100);
    assert_eq!([ship, beside, docked].map(|ship| game.layer(ship)), [3, 3, 3]);
    assert!(game.op(pilot, Op::Travel { ship: beside, way: Way::Up }).is_err(), "its cooldown runs as well");
}

#[test]
fn rule_10_logout_berths_what_is_at_a_port_and_leaves_the_rest_in_space() {
    let (mut game, pilot, ship) = at(3);
    let away = game.ship_at(pilot, powered(&game), Hex::new(3, 0));
    game.op(pilot, Op::Follow { ship: away, follows: false }).unwrap();
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.leave(pilot);
    assert!(game.is_docked(ship), "a hop that had not begun does not begin any more");
    assert!(!game.is_docked(away));
    assert!(!game.of_pilot::<keel_sim::Pilot>(pilot).online);
    assert!(game.find::<InSector>(away).is_some());
    // Coming back finds them as they are.
    game.app.world_mut().resource_mut::<Orders>().join(pilot, "pilot");
    game.step(1);
    assert!(game.is_docked(ship) && game.of_pilot::<keel_sim::Pilot>(pilot).online);
}

#[test]
fn rule_10_a_logout_in_mid_hop_finishes_the_hop_in_space() {
    let (mut game, pilot, ship) = at(3);
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(12);
    game.leave(pilot);
    game.step(20);
    assert_eq!(game.hex(ship), Hex::new(1, 0));
}

#[test]
fn rule_9_a_flag_is_neither_ended_by_a_dock_nor_followed_by_the_next_rescue() {
    let (mut game, pilot, ship) = at(3);
    game.op(pilot, Op::Rescue { ship }).unwrap();
    game.step(100);
    let flag = *game.get::<Arrival>(ship);
    let text = "This ship just jumped in. It cannot jump to the centre again yet.";
    game.refuses(pilot, Op::Rescue { ship }, text);
    game.op(pilot, Op::Dock { ship }).unwrap();
    game.op(pilot, Op::Undock { ship }).unwrap();
    assert_eq!(*game.get::<Arrival>(ship), flag);
    let drone = game.drone(game.common(0, Faction::Raider));
    game.refuses(pilot, Op::Focus { ship, target: drone }, "This ship just jumped in. Its guns stay quiet.");
    game.step(35 * 20);
    assert!(game.op(pilot, Op::Rescue { ship }).is_ok());
}

#[test]
fn rule_8_a_dock_drops_a_cloak_with_its_cooldown() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human).with(System::Cloak, Faction::Human));
    game.op(pilot, Op::Power(Power::Cloak)).unwrap();
    game.op(pilot, Op::Dock { ship }).unwrap();
    game.op(pilot, Op::Undock { ship }).unwrap();
    game.refuses(pilot, Op::Power(Power::Cloak), "It cools down for 9.9 s more.");
}

#[test]
fn rule_8_what_a_clamp_stopped_is_forgotten_in_dock() {
    let (mut game, pilot, ship) = at(3);
    let holder = clamp(&mut game, ship);
    game.op(pilot, Op::Travel { ship, way: Way::Up }).unwrap();
    assert!(game.get::<Helm>(ship).leg() == Leg::Still, "held at once");
    game.remove::<Clamping>(holder);
    game.leave(pilot);
    assert!(game.is_docked(ship));
    game.op(pilot, Op::Undock { ship }).unwrap();
    clamp(&mut game, ship);
    game.op(pilot, Op::Power(Power::Unclamp)).unwrap();
    assert_eq!(game.get::<Helm>(ship).leg(), Leg::Still);
}

#[test]
fn rule_8_a_jump_that_a_clamp_stops_at_once_leaves_the_lock_alone() {
    let (mut game, pilot, ship) = at(3);
    let drone = game.drone(game.common(4, Faction::Raider));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    clamp(&mut game, ship);
    game.op(pilot, Op::Travel { ship, way: Way::Up }).unwrap();
    game.says(pilot, "Clamped. Press Unclamp or Jam it.");
    assert_eq!(game.target(ship), Some(drone));
}

#[test]
fn rule_8_a_held_escort_is_told_once_and_rests() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let fit = powered(&game);
    let [active, escort] = [0, 0].map(|_| game.ship(pilot, fit));
    clamp(&mut game, escort);
    game.op(pilot, Op::Move { ship: active, to: Hex::new(2, 0) }).unwrap();
    game.step(400);
    assert_eq!(game.steps_noted(pilot, |note| matches!(note, keel_sim::Note::Clamped)).len(), 1);
}

#[test]
fn rule_10_who_logged_out_under_way_to_a_port_is_berthed_there() {
    let (mut game, pilot, ship) = at(2);
    // In transit between two Havens.
    game.op(pilot, Op::Travel { ship, way: Way::Up }).unwrap();
    game.step(20);
    game.leave(pilot);
    assert!(!game.is_docked(ship));
    game.step(100);
    assert!(game.is_docked(ship) && game.layer(ship) == 3);
    // In a hop, or a window before it, on the way home.
    for steps in [2, 12] {
        let mut game = Game::default();
        let pilot = game.pilot();
        let ship = game.ship_at(pilot, powered(&game), Hex::new(2, 0));
        game.op(pilot, Op::Move { ship, to: Hex::CENTRE }).unwrap();
        game.step(steps);
        game.leave(pilot);
        game.step(60);
        assert!(game.is_docked(ship), "{steps} steps after the order");
    }
}

#[test]
fn rule_10_the_next_ship_of_who_is_not_there_waits_in_the_dock() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(powered(&game));
    let away = game.ship_at(pilot, powered(&game), Hex::new(3, 0));
    for ship in [ship, away] {
        game.kill(ship);
    }
    game.leave(pilot);
    game.step(100);
    let next = game.active(pilot).unwrap();
    assert!(game.is_docked(next));
}

#[test]
fn rule_7_a_docked_mender_rests() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let fit = powered(&game);
    let mender = game.ship(pilot, game.common(2, Faction::Human).with(System::Mender, Faction::Human));
    let mate = game.ship_at(pilot, fit, Hex::new(1, 0));
    game.op(pilot, Op::Follow { ship: mate, follows: false }).unwrap();
    game.op(pilot, Op::Dock { ship: mender }).unwrap();
    game.change::<Condition>(mate, |condition| condition.0.hull = 10.0);
    game.step(20);
    assert!(game.find::<keel_sim::Awake>(mender).is_none());
}
