//! Wormholes (rule 12): doors, exits, who finds them, and the jump.

use keel_balance::{Faction, System};
use keel_map::{Hex, MapKey, MapKind};
use keel_rules::{Micros, Moment, Pools};
use keel_sim::{Arrival, Condition, Done, End, Op, PilotId, ShipId, Wormhole, WormholeId, Wormholes};
use keel_testkit::{Game, Setup};

fn world(seed: u64) -> Game {
    let mut game = Game::new(Setup { layer: 1, others: true, generated: true, seed, ..Setup::default() });
    game.step(1);
    game
}

fn open(game: &Game) -> Vec<(WormholeId, Wormhole)> {
    game.app.world().resource::<Wormholes>().iter().map(|(id, wormhole)| (id, *wormhole)).collect()
}

/// The sectors of a map.
fn hexes(game: &Game, key: MapKey) -> Vec<Hex> {
    let map = game.app.world().resource::<keel_sim::Maps>().get(key).unwrap();
    game.app.world().get::<keel_sim::Map>(map).unwrap().layout.hexes().to_vec()
}

fn found(game: &Game, pilot: PilotId) -> Vec<(WormholeId, End)> {
    game.app.world().resource::<Wormholes>().found_by(pilot).map(|(id, end, _)| (id, end)).collect()
}

/// A pilot's ship at the end of the first wormhole that is like that.
fn at_end(game: &mut Game, is_one: impl Fn(&Wormhole) -> bool) -> (PilotId, ShipId, WormholeId, Wormhole) {
    let (id, wormhole) = open(game).into_iter().find(|(_, wormhole)| is_one(wormhole)).unwrap();
    game.go_on_at(wormhole.ends[0].map);
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(0, Faction::Human), wormhole.ends[0].hex);
    game.step(2);
    (pilot, ship, id, wormhole)
}

#[test]
fn rule_12_every_layer_keeps_two_and_every_rift_one_exit_to_its_matching_layer() {
    let mut game = world(1);
    for minutes in 0..6 {
        let open = open(&game);
        for tier in 1..=6 {
            let of = |key| open.iter().filter(move |(_, wormhole)| wormhole.ends[0].map == key);
            assert_eq!(of(MapKey::layer(tier)).count(), 2, "after {minutes} half hours");
            let exits: Vec<_> = of(MapKey::rift(tier)).collect();
            assert_eq!(exits.len(), 1);
            assert!(exits[0].1.is_exit && exits[0].1.ends[1].map == MapKey::layer(tier));
        }
        assert_eq!(open.len(), 18);
        for (_, wormhole) in &open {
            let minutes = wormhole.closes.since(wormhole.opened).seconds() / 60.0;
            // A span stops at 71 minutes; the moments themselves do not.
            let steps = wormhole.closes.step() - wormhole.opened.step();
            assert!((36_000..=108_000).contains(&steps), "{minutes} min");
        }
        game.step(36_000);
    }
}

#[test]
fn rule_12_a_wormhole_that_closes_is_followed_by_the_next_in_the_same_step() {
    let mut game = world(2);
    let before = open(&game);
    let (id, first) = *before.iter().min_by_key(|(_, wormhole)| wormhole.closes).unwrap();
    game.step(first.closes.step() - 1 - game.now());
    assert!(open(&game).iter().any(|(other, _)| *other == id));
    game.step(1);
    let after = open(&game);
    assert!(after.iter().all(|(other, _)| *other != id) && after.len() == before.len());
    let next = after.iter().find(|(other, _)| before.iter().all(|(known, _)| known != other)).unwrap().1;
    assert_eq!(
        (next.ends[0].map, next.is_exit, next.opened),
        (first.ends[0].map, first.is_exit, Moment::of_step(game.now()))
    );
}

#[test]
fn rule_12_three_in_ten_of_a_layers_lead_into_a_rift_and_each_of_the_six_turns_up() {
    // 12 doors of layers a world: 6,000 rolls, within three standard errors of 0.3.
    let (mut rifts, mut all, mut tiers) = (0u32, 0u32, [0u32; 6]);
    for seed in 0..500 {
        let mut game = Game::new(Setup { layer: 1, others: true, seed, ..Setup::default() });
        game.step(1);
        for (_, wormhole) in open(&game).into_iter().filter(|(_, wormhole)| !wormhole.is_exit) {
            assert_ne!(wormhole.ends[0].map, wormhole.ends[1].map);
            all += 1;
            if wormhole.ends[1].map.kind == MapKind::Rift {
                rifts += 1;
                tiers[usize::from(wormhole.ends[1].map.tier) - 1] += 1;
            }
        }
    }
    assert_eq!(all, 6000);
    let error = (0.3f64 * 0.7 / 6000.0).sqrt();
    assert!((f64::from(rifts) / 6000.0 - 0.3).abs() <= 3.0 * error, "{rifts} of 6000");
    assert!(tiers.iter().all(|&count| count > 220 && count < 380), "{tiers:?}");
}

#[test]
fn rule_12_an_end_is_hidden_until_a_ship_stands_in_its_sector_or_a_scanner_reaches_it() {
    let mut game = world(3);
    let (_, wormhole) = open(&game)[0];
    let end = wormhole.ends[0];
    game.go_on_at(end.map);
    let beside: Vec<Hex> = hexes(&game, end.map).into_iter().filter(|hex| hex.distance(end.hex) == 2).collect();
    let fit = game.common(1, Faction::Human);
    let (blind, seeing, there) = (game.pilot(), game.pilot(), game.pilot());
    game.ship_at(blind, fit, beside[0]);
    game.ship_at(seeing, fit.with(System::Scanner, Faction::Human), beside[0]);
    game.ship_at(there, fit, end.hex);
    game.step(2);
    assert!(!found(&game, blind).contains(&(open(&game)[0].0, End::Near)));
    for pilot in [seeing, there] {
        assert!(found(&game, pilot).contains(&(open(&game)[0].0, End::Near)));
        assert!(!found(&game, pilot).contains(&(open(&game)[0].0, End::Far)), "its far end is another thing to find");
        let line =
            format!("Wormhole {} found at {}. It leads to {}.", wormhole.code, end.hex, wormhole.ends[1].map.title());
        assert!(game.log(pilot).iter().any(|(_, said)| *said == line), "{line}");
    }
    // One that opens beside a ship is found as well.
    let mut game = world(3);
    let first = open(&game).into_iter().min_by_key(|(_, wormhole)| wormhole.closes).unwrap().1;
    game.go_on_at(first.ends[0].map);
    let pilot = game.pilot();
    let scanner = fit.with(System::Scanner, Faction::Human);
    for hex in hexes(&game, first.ends[0].map) {
        let ship = game.ship_at(pilot, scanner, hex);
        game.change::<keel_sim::Mind>(ship, |mind| mind.follows = false);
    }
    game.step(first.closes.step() - game.now() + 2);
    let new = open(&game).last().unwrap().0;
    assert!(found(&game, pilot).iter().any(|(id, _)| *id == new));
}

#[test]
fn rule_12_a_jump_takes_5_s_with_the_followers_and_lands_under_a_5_s_grace() {
    for kind in [MapKind::Layer, MapKind::Rift] {
        // A wormhole of Layer 3 or deeper, where fire is open.
        let mut game = world(5);
        let (pilot, ship, id, wormhole) =
            at_end(&mut game, |wormhole| wormhole.ends[0].map.kind == kind && wormhole.ends[0].map.tier >= 3);
        let escort = game.ship_at(pilot, game.common(0, Faction::Human), wormhole.ends[0].hex);
        let takes = Micros::from_seconds(5.0);
        assert_eq!(game.op(pilot, Op::Jump { ship, wormhole: id }), Ok(Done::Transit { takes, ships: 2 }));
        let to = wormhole.ends[1];
        game.says(pilot, &format!("Wormhole {} to {}. 5 s. You cannot lock or fire.", wormhole.code, to.map.title()));
        game.step(99);
        assert_eq!(game.map(ship), wormhole.ends[0].map);
        game.step(1);
        for ship in [ship, escort] {
            assert_eq!((game.map(ship), game.hex(ship)), (to.map, to.hex));
            let arrival = *game.get::<Arrival>(ship);
            assert!(
                arrival.is_up(Moment::of_step(game.now() + 99)) && !arrival.is_up(Moment::of_step(game.now() + 100))
            );
            assert!(arrival.ends_early);
        }
        game.says(pilot, &format!("Arrived on {}. Transit flag ended.", to.map.title()));
        // The far end is found by being there, and leads back.
        game.step(1);
        assert!(found(&game, pilot).contains(&(id, End::Far)));
        assert!(game.op(pilot, Op::Jump { ship, wormhole: id }).is_ok());
        game.step(100);
        assert_eq!(game.map(ship), wormhole.ends[0].map);
    }
}

#[test]
fn rule_12_a_wormhole_that_is_not_found_or_not_here_is_refused_with_the_same_words() {
    let mut game = world(6);
    let (pilot, ship, id, wormhole) = at_end(&mut game, |wormhole| wormhole.ends[0].map == MapKey::layer(2));
    let text = "You know of no such wormhole in this sector.";
    let other = open(&game).into_iter().find(|(other, _)| *other != id).unwrap().0;
    game.refuses(pilot, Op::Jump { ship, wormhole: other }, text);
    game.refuses(pilot, Op::Jump { ship, wormhole: WormholeId(999) }, text);
    let away = game.ship_at(pilot, game.common(0, Faction::Human), Hex::CENTRE);
    if wormhole.ends[0].hex != Hex::CENTRE {
        game.refuses(pilot, Op::Jump { ship: away, wormhole: id }, text);
    }
    // A jump that is cancelled is followed by 15 s without one.
    game.op(pilot, Op::Jump { ship, wormhole: id }).unwrap();
    game.op(pilot, Op::Cancel { ship }).unwrap();
    assert!(game.op(pilot, Op::Jump { ship, wormhole: id }).is_err());
    game.step(299);
    assert!(game.op(pilot, Op::Jump { ship, wormhole: id }).is_ok());
}

#[test]
fn rule_12_a_fleet_leaves_a_rift_by_its_exit() {
    let mut game = world(7);
    let (pilot, ship, id, wormhole) = at_end(&mut game, |wormhole| wormhole.ends[0].map == MapKey::rift(4));
    game.change::<Condition>(ship, |condition| condition.0 = Pools { shield: 90.0, hull: 360.0 });
    game.refuses(pilot, Op::Rescue { ship }, "A Rift has no Haven. Leave through a wormhole.");
    game.op(pilot, Op::Jump { ship, wormhole: id }).unwrap();
    game.step(100);
    assert_eq!((game.map(ship), game.hex(ship)), (MapKey::layer(4), wormhole.ends[1].hex));
}
