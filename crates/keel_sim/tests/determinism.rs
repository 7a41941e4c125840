//! Same seed, same balance, same ops: the same world, however it is run.

use std::time::Duration;

use bevy_tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_time::TimeUpdateStrategy;
use keel_balance::{Faction, System};
use keel_map::{Hex, MapKey};
use keel_rules::powers::Power;
use keel_sim::{Force, Op, OperatorOps, Order, Orders, PilotId, Stance, Storms, StructureKind, WallClock};
use keel_testkit::{Game, Setup};

/// A world of squads that three pilots fly about and fight in; its hash every ten steps.
fn flown(seed: u64, threads: usize) -> Vec<u64> {
    let mut game = Game::new(Setup { seed, threads, squads: true, layer: 2, ..Setup::default() });
    game.step(15);
    let systems = [System::Brace, System::Jam, System::Clamp, System::Mender, System::Aura];
    let fit = systems.iter().fold(game.common(4, Faction::Human), |fit, &system| fit.with(system, Faction::Human));
    let sectors: Vec<Hex> = game.ships().iter().step_by(10).map(|npc| game.hex(npc.id)).collect();
    let pilots = [0, 1, 2].map(|n| {
        let pilot = game.pilot();
        let ship = game.ship_at(pilot, fit, sectors[n]);
        for stance in [Stance::Aggressive, Stance::Support] {
            let escort = game.ship_at(pilot, fit, sectors[n]);
            game.order(pilot, Op::Stance { ship: escort, stance });
        }
        (pilot, ship)
    });
    let mut hashes = Vec::new();
    for round in 0..120u32 {
        for (n, &(pilot, ship)) in (0u32..).zip(&pilots) {
            if !game.lives(ship) {
                continue;
            }
            let here = game.hex(ship);
            let near = game.ships().into_iter().find(|other| other.pilot().is_none() && game.hex(other.id) == here);
            match near {
                Some(target) if (round + n) % 29 != 0 => game.order(pilot, Op::Attack { ship, target: target.id }),
                _ if round % 7 == 0 => game.order(pilot, Op::Power(Power::ALL[(round % 5) as usize])),
                _ => {
                    let side = keel_map::Direction::ALL[((round / 3 + n * 2) % 6) as usize];
                    game.order(pilot, Op::Move { ship, to: here.neighbour(side) })
                }
            };
        }
        game.step(10);
        hashes.push(game.hash());
    }
    assert!(game.shots().len() > 50, "{} shots", game.shots().len());
    hashes
}

#[test]
fn rule_1_3_same_seed_same_hash_at_every_step_and_another_seed_another() {
    let first = flown(11, 1);
    assert_eq!(first, flown(11, 1));
    assert_ne!(first.last(), flown(12, 1).last());
}

#[test]
fn rule_1_3_one_and_two_threads_give_the_same_world() {
    // The pool is the process's own, made on first use; the machine's core count is not to decide what is tested.
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(2).build());
    assert_eq!(flown(11, 1), flown(11, 2));
}

/// All twelve maps through storms, incursions, harvests and kills; their hash every ten steps.
fn stormy(seed: u64, threads: usize) -> Vec<u64> {
    let setup = Setup { seed, threads, squads: true, layer: 4, others: true, generated: true, ..Setup::default() };
    let mut game = Game::new(setup);
    game.app.insert_resource(OperatorOps(true));
    game.step(30);
    let head = game.pilot();
    game.stock(head);
    game.order(head, Op::Found { name: "Keel".to_owned() });
    let mut hashes = Vec::new();
    for round in 0..60u8 {
        game.app.world_mut().resource_mut::<WallClock>().set(u64::from(round) * 1200);
        let map = MapKey::all().nth(usize::from(round % 12)).unwrap();
        game.order(head, Op::Force(if round % 3 == 0 { Force::Storm(map) } else { Force::Incursion(map) }));
        game.go_on_at(map);
        let ship = game.ship(head, game.common(4, Faction::Raider));
        game.order(head, Op::Harvest { ship });
        game.order(head, Op::Build { ship, kind: StructureKind::ALL[usize::from(round % 2)] });
        game.order(head, Op::Move { ship, to: Hex::new(1, 0) });
        let doomed: Vec<_> =
            game.ships().iter().skip(usize::from(round)).step_by(97).map(|ship| ship.id).take(20).collect();
        game.kill_all(&doomed);
        game.step(9);
        hashes.push(game.hash());
    }
    assert!(game.app.world().resource::<Storms>().passed() > 20);
    hashes
}

#[test]
fn rule_1_3_storms_incursions_and_structures_are_the_same_however_the_world_is_run() {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(2).build());
    let first = stormy(5, 1);
    assert_eq!(first, stormy(5, 1));
    assert_eq!(first, stormy(5, 2));
    assert_ne!(first.last(), stormy(6, 1).last());
}

#[test]
fn ops_apply_exactly_once_however_often_a_frame_comes() {
    for frame_ms in [1, 7, 20, 50, 200] {
        let mut game = Game::default();
        let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
        let frame = Duration::from_millis(frame_ms);
        game.app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
        let mut seq = 0;
        for n in 0..(2000 / frame_ms) {
            if n % 3 == 0 {
                seq += 1;
                let order = Order { pilot, seq, op: Op::Hold { ship } };
                game.app.world_mut().resource_mut::<Orders>().push(order);
            }
            game.app.update();
        }
        // A frame in which no step falls leaves its ops waiting for the next.
        for _ in 0..=(100 / frame_ms) {
            game.app.update();
        }
        let answered: Vec<u32> = game.answers().iter().map(|answer| answer.seq).collect();
        assert_eq!(answered, (1..=seq).collect::<Vec<_>>(), "frames of {frame_ms} ms");
    }
}

#[test]
fn what_sleeps_costs_no_visit_and_wakes_when_it_is_ordered_or_hit() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let drone = game.drone(game.common(4, Faction::Raider));
    let awake = |game: &Game, ship| game.app.world().get::<keel_sim::Awake>(game.entity(ship)).is_some();
    game.step(2);
    assert!(!awake(&game, ship) && !awake(&game, drone));
    game.op(pilot, Op::Attack { ship, target: drone }).unwrap();
    assert!(awake(&game, ship));
    game.step(30);
    game.op(pilot, Op::Hold { ship }).unwrap();
    game.step(400);
    assert!(!awake(&game, ship) && !awake(&game, drone), "rest comes back when the last clock has run out");
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    assert!(awake(&game, ship));
    assert_eq!(PilotId(1), pilot);
}
