//! Storms (rule 13): when they land, who is told, and that nothing is lost in them.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use keel_balance::Faction;
use keel_map::{Hex, Layout, MapKey, Shape};
use keel_sim::{
    CharterId, Docked, Force, InSector, Map, Maps, Op, OperatorOps, PilotId, Sector, ShipId, ShipIndex, Storms,
    WallClock, Wormholes,
};
use keel_testkit::{Game, Setup};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
/// A midnight, UTC.
const MIDNIGHT: u64 = 20_000 * 24 * HOUR;

fn world(squads: bool) -> Game {
    Game::new(Setup { layer: 1, others: true, generated: true, squads, ..Setup::default() })
}

/// Runs a step in which the clock of the wall shows that.
fn step_at(game: &mut Game, seconds: u64) {
    game.app.world_mut().resource_mut::<WallClock>().set(seconds);
    game.step(1);
}

fn layout(game: &Game, key: MapKey) -> Layout {
    let map = game.app.world().resource::<Maps>().get(key).unwrap();
    game.app.world().get::<Map>(map).unwrap().layout.clone()
}

fn journal(game: &Game) -> Vec<(MapKey, u64, bool)> {
    let journal = game.app.world().resource::<Storms>().journal();
    journal.into_iter().map(|(map, storm)| (map, storm.lands, storm.is_building)).collect()
}

/// Where every ship is, and which are in no sector of the world.
fn places(game: &Game) -> BTreeMap<ShipId, (MapKey, Hex)> {
    let world = game.app.world();
    let place = |ship: Entity| {
        let sector = world.get::<InSector>(ship).map(|at| at.0).or(world.get::<Docked>(ship).map(|at| at.0)).unwrap();
        let sector = *world.get::<Sector>(sector).expect("a ship is where a sector is");
        let map = world.get::<Map>(sector.map).unwrap();
        assert!(map.sector(sector.hex).is_some(), "a ship's sector is of its map");
        (map.key, sector.hex)
    };
    world.resource::<ShipIndex>().iter().map(|(id, ship)| (id, place(ship))).collect()
}

#[test]
fn rule_13_two_days_of_storms_land_warn_and_are_listed_as_printed() {
    let mut game = world(false);
    let (pilot, _) = game.pilot_in(game.common(0, Faction::Human));
    let away = game.pilot();
    game.leave(away);
    // A minute of the wall's clock in each step, from 23:59.
    for minute in 0..=2 * 24 * 60 {
        step_at(&mut game, MIDNIGHT - MINUTE + minute * MINUTE);
        let journal = journal(&game);
        assert_eq!(journal.len(), 12);
        assert!(journal.windows(2).all(|pair| pair[0].1 <= pair[1].1), "soonest first");
        assert!(journal.iter().all(|(_, lands, building)| *building == (*lands <= game_clock(&game) + 5 * MINUTE)));
    }
    let start = game.now() - 2 * 24 * 60;
    let at = |step: u64| MIDNIGHT - MINUTE + (step - start) * MINUTE;
    let lines: Vec<(u64, String)> = game.log(pilot).into_iter().map(|(step, line)| (at(step), line)).collect();
    let mut landings = Vec::new();
    for day in 0..2 {
        for half in 0..2 {
            for tier in 1..=6u8 {
                let lands = MIDNIGHT + day * 24 * HOUR + half * 12 * HOUR + 2 * HOUR * u64::from(tier - 1);
                landings.push((lands, MapKey::rift(tier), "Rift"));
                landings.push((lands + HOUR, MapKey::layer(tier), "layer"));
            }
        }
    }
    let names = &game.balance().storms.names;
    for (lands, map, kind) in &landings {
        // The first storm's warning was due before the clock was set: it was given at once, and the storm waited for it.
        let first = *lands == MIDNIGHT;
        let (warned, lands) =
            if first { (MIDNIGHT - MINUTE, MIDNIGHT + 4 * MINUTE) } else { (lands - 5 * MINUTE, *lands) };
        let is_warning = |line: &str| {
            names.iter().any(|name| {
                line == format!("{name} is building on {}. The {kind} will reshape in 5 minutes.", map.title())
            })
        };
        assert!(lines.iter().any(|(at, line)| *at == warned && is_warning(line)), "{map} warned at {warned}");
        let passed = format!("The storm has passed. {} has settled into ", map.title());
        assert!(lines.iter().any(|(at, line)| *at == lands && line.starts_with(&passed)), "{map} at {lands}");
    }
    let storms = |word: &str| lines.iter().filter(|(_, line)| line.contains(word)).count();
    assert_eq!((storms("has settled into"), game.app.world().resource::<Storms>().passed()), (48, 48));
    assert!(game.log(away).is_empty(), "who is not there is told nothing");
}

fn game_clock(game: &Game) -> u64 {
    game.app.world().resource::<WallClock>().seconds().unwrap()
}

#[test]
fn rule_14_a_storm_is_told_in_the_printed_words() {
    let mut balance = keel_testkit::shipped_balance();
    balance.storms.names.truncate(1);
    let mut game = Game::new(Setup {
        balance: std::sync::Arc::new(balance),
        layer: 1,
        others: true,
        generated: true,
        ..Setup::default()
    });
    let pilot = game.pilot();
    let mut shapes = Vec::new();
    for day in 0..20 {
        let noon = MIDNIGHT + day * 24 * HOUR + 4 * HOUR;
        step_at(&mut game, noon - 5 * MINUTE);
        game.says(pilot, "A plasma front is building on Rift 3. The Rift will reshape in 5 minutes.");
        let before = layout(&game, MapKey::rift(3));
        step_at(&mut game, noon);
        let after = layout(&game, MapKey::rift(3));
        assert_ne!(before, after);
        assert_ne!(before.shape(), after.shape(), "a new shape");
        let words = match after.shape().unwrap() {
            Shape::Sprawl => "a sprawl",
            Shape::Channels => "channels",
            Shape::Archipelago => "an archipelago",
            Shape::Rings => "rings",
        };
        game.says(pilot, &format!("The storm has passed. Rift 3 has settled into {words}."));
        shapes.push(words);
    }
    assert!(shapes.contains(&"rings") && shapes.contains(&"channels"));
}

#[test]
fn rule_13_nothing_is_lost_in_a_storm() {
    let mut game = world(true);
    game.step(40);
    // Pilots' ships all over a Rift, with a berth of a charter's and a ship docked at it.
    let rift = MapKey::rift(5);
    game.go_on_at(rift);
    let far: Vec<Hex> =
        layout(&game, rift).hexes().iter().copied().filter(|hex| hex.distance(Hex::CENTRE) > 5).collect();
    let pilots: Vec<(PilotId, ShipId, Hex)> = far
        .iter()
        .step_by(9)
        .map(|&hex| {
            let pilot = game.pilot();
            (pilot, game.ship_at(pilot, game.common(0, Faction::Human), hex), hex)
        })
        .collect();
    let (head, builder, home) = pilots[0];
    game.order(head, Op::Found { name: "Keel".to_owned() });
    game.build_berth(head, builder).unwrap();
    let kept = layout(&game, rift).terrain(home);
    game.op(head, Op::Dock { ship: builder }).unwrap();
    // A storm at a time on every map, twice over.
    let mut clock = MIDNIGHT + 30 * MINUTE;
    step_at(&mut game, clock);
    let ships = game.ships().len();
    for _ in 0..24 {
        let (map, lands, _) = journal(&game)[0];
        step_at(&mut game, lands - 5 * MINUTE);
        let before = places(&game);
        let moved: Vec<(ShipId, Hex)> =
            before.iter().filter(|(_, place)| place.0 == map).map(|(&ship, place)| (ship, place.1)).collect();
        let doors: Vec<_> = ends(&game);
        clock = lands;
        step_at(&mut game, clock);
        let (after, new) = (places(&game), layout(&game, map));
        assert!(before.keys().all(|ship| after.contains_key(ship)), "no ship is lost");
        for (ship, hex) in moved {
            let now = after[&ship];
            assert_eq!(now.0, map, "no ship leaves its map");
            if new.contains(hex) {
                assert_eq!(now.1, hex, "who is in a sector that stays, stays");
            } else if game.ships().iter().any(|other| other.id == ship && other.pilot().is_some()) {
                let least = new.hexes().iter().map(|open| open.distance(hex)).min().unwrap();
                assert_eq!(now.1.distance(hex), least, "to the nearest open sector");
            }
        }
        for ((id, was), (other, is)) in doors.iter().zip(ends(&game)) {
            assert_eq!(*id, other, "no wormhole is lost");
            for (was, is) in was.iter().zip(is) {
                if was.map == map {
                    assert_eq!(is.hex, new.nearest(was.hex));
                } else {
                    assert_eq!(is, *was);
                }
            }
        }
        assert_eq!(layout(&game, rift).terrain(home), kept, "a structure's sector never changes");
        assert!(game.is_docked(builder));
        caps_hold(&game);
        let npcs = game.ships().into_iter().filter(|ship| ship.pilot().is_none());
        let at_centre = npcs.filter(|ship| after.get(&ship.id).is_some_and(|place| place.1 == Hex::CENTRE));
        assert_eq!(at_centre.count(), 0, "no squad stands where pilots come into the world");
    }
    assert!(game.ships().len() >= ships);
    game.op(head, Op::Undock { ship: builder }).unwrap();
    assert_eq!(game.hex(builder), home);
    let mates = game.app.world().resource::<keel_sim::Bonds>().charter(CharterId(1)).unwrap();
    assert_eq!(mates.head, head);
}

fn ends(game: &Game) -> Vec<(keel_sim::WormholeId, [keel_sim::Place; 2])> {
    game.app.world().resource::<Wormholes>().iter().map(|(id, wormhole)| (id, wormhole.ends)).collect()
}

/// No sector holds more NPCs than its map lets it.
fn caps_hold(game: &Game) {
    let mut npcs: BTreeMap<(MapKey, Hex), usize> = BTreeMap::new();
    let places = places(game);
    for ship in game.ships().into_iter().filter(|ship| ship.pilot().is_none()) {
        *npcs.entry(places[&ship.id]).or_default() += 1;
    }
    for ((map, hex), count) in npcs {
        let entity = game.app.world().resource::<Maps>().get(map).unwrap();
        let cap = game.app.world().get::<Map>(entity).unwrap().sector_cap;
        assert!(count <= cap.into(), "{count} NPCs at {hex} of {map}, which has room for {cap}");
    }
}

#[test]
fn rule_13_who_is_under_way_stops_where_the_way_is_gone() {
    let mut game = world(false);
    let rift = MapKey::rift(2);
    game.go_on_at(rift);
    let hexes = layout(&game, rift).hexes().to_vec();
    let ships: Vec<(PilotId, ShipId, Hex)> = hexes
        .iter()
        .step_by(7)
        .map(|&to| {
            let pilot = game.pilot();
            let ship = game.ship_at(pilot, game.common(0, Faction::Human), Hex::CENTRE);
            game.order(pilot, Op::Move { ship, to });
            (pilot, ship, to)
        })
        .collect();
    step_at(&mut game, MIDNIGHT + 2 * HOUR - 5 * MINUTE);
    step_at(&mut game, MIDNIGHT + 2 * HOUR);
    let new = layout(&game, rift);
    game.step(20 * 60);
    let (mut there, mut stopped) = (0, 0);
    for (pilot, ship, to) in ships {
        assert!(new.contains(game.hex(ship)));
        if game.hex(ship) == to {
            there += 1;
        } else {
            stopped += 1;
            let is_told = |said: &str| {
                said == "The storm has taken the way. The ship has stopped."
                    || said.starts_with("The storm has moved the ship to ")
            };
            assert!(game.log(pilot).iter().any(|(_, said)| is_told(said)), "{to}");
        }
    }
    assert!(there > 0 && stopped > 0, "{there} and {stopped}");
}

#[test]
fn rule_13_a_clock_that_jumps_lands_no_storm_unannounced_and_none_twice() {
    let mut game = world(false);
    let passed = |game: &Game| game.app.world().resource::<Storms>().passed();
    game.step(100);
    assert!(journal(&game).is_empty(), "no clock, no storms");
    let noon = MIDNIGHT + 12 * HOUR + 30 * MINUTE;
    step_at(&mut game, noon);
    // A day ahead: every storm is announced first, and each map has one.
    for second in 0..=5 * MINUTE {
        step_at(&mut game, noon + 24 * HOUR + second);
        assert_eq!(passed(&game), if second < 5 * MINUTE { 0 } else { 12 });
    }
    // Back by a minute: nothing lands again.
    let after = journal(&game);
    step_at(&mut game, noon + 24 * HOUR);
    assert_eq!(journal(&game), after);
    // Back by a day: the journal is that day's.
    step_at(&mut game, noon);
    assert_eq!(passed(&game), 12);
    let journal = journal(&game);
    assert_eq!(journal[0], (MapKey::layer(1), MIDNIGHT + 13 * HOUR, false));
    assert!(journal.iter().all(|(_, lands, _)| *lands > noon && *lands <= noon + 12 * HOUR));
    for seconds in [0, 1, u64::MAX, MIDNIGHT, u64::MAX - 1] {
        step_at(&mut game, seconds);
    }
}

#[test]
fn rule_13_a_jump_lands_where_the_storm_has_left_the_end() {
    let (mut moved, mut landed) = (0, 0);
    for seed in 0..12 {
        let setup = Setup { layer: 1, others: true, generated: true, seed, ..Setup::default() };
        let mut game = Game::new(setup);
        game.app.insert_resource(OperatorOps(true));
        let pilot = game.pilot();
        let rift = MapKey::rift(4);
        let ship = game.ship(pilot, game.common(0, Faction::Human));
        game.op(pilot, Op::Force(Force::Wormhole(rift))).unwrap();
        game.step(1);
        let found = |game: &Game| {
            let wormholes = game.app.world().resource::<Wormholes>();
            let forced = wormholes.found_by(pilot).find(|(_, end, wormhole)| wormhole.far(*end).map == rift);
            forced.map(|(id, end, wormhole)| (id, wormhole.far(end).hex)).unwrap()
        };
        let (id, before) = found(&game);
        game.op(pilot, Op::Jump { ship, wormhole: id }).unwrap();
        // Two storms while it is on its way.
        for _ in 0..2 {
            game.step(20);
            game.op(pilot, Op::Force(Force::Storm(rift))).unwrap();
        }
        game.step(80);
        let (_, after) = found(&game);
        assert_eq!((game.map(ship), game.hex(ship)), (rift, after), "seed {seed}");
        moved += usize::from(after != before);
        landed += 1;
    }
    assert!(moved > 0, "{moved} of {landed} ends were moved");
}

#[test]
fn rule_12_an_end_that_a_storm_moves_to_a_ship_is_found() {
    let mut game = world(false);
    game.app.insert_resource(OperatorOps(true));
    let operator = game.pilot();
    let rift = MapKey::rift(3);
    let mut found = 0;
    for _ in 0..60 {
        game.op(operator, Op::Force(Force::Storm(rift))).unwrap();
        // Somebody is wherever an end has come to, and was there before the next storm.
        let hexes: Vec<Hex> = layout(&game, rift).hexes().to_vec();
        let watchers: Vec<PilotId> = hexes
            .iter()
            .step_by(11)
            .map(|&hex| {
                let pilot = game.pilot();
                game.go_on_at(rift);
                game.ship_at(pilot, game.common(0, Faction::Human), hex);
                pilot
            })
            .collect();
        game.step(2);
        game.op(operator, Op::Force(Force::Storm(rift))).unwrap();
        game.step(1);
        let wormholes = game.app.world().resource::<Wormholes>();
        for (id, wormhole) in wormholes.iter() {
            for end in [keel_sim::End::Near, keel_sim::End::Far] {
                let at = wormhole.at(end);
                let there = |pilot: &&PilotId| {
                    game.active(**pilot).is_some_and(|ship| (game.map(ship), game.hex(ship)) == (at.map, at.hex))
                };
                for &pilot in watchers.iter().filter(there) {
                    let knows = wormholes.found_by(pilot).any(|(known, of, _)| (known, of) == (id, end));
                    assert!(knows, "{pilot} stands at {}'s end", wormhole.code);
                    found += 1;
                }
            }
        }
    }
    assert!(found > 0);
}

#[test]
fn rule_4_a_squad_that_a_storm_has_parted_fights_where_it_is_attacked_and_comes_together() {
    let mut game = world(true);
    game.app.insert_resource(OperatorOps(true));
    let operator = game.pilot();
    let apart = |game: &mut Game| {
        let places = places(game);
        let world = game.app.world_mut();
        let mut squads = world.query_filtered::<&keel_sim::Fleet, With<keel_sim::Squad>>();
        let sectors = |fleet: &keel_sim::Fleet| -> std::collections::BTreeSet<(MapKey, Hex)> {
            fleet.iter().filter_map(|ship| world.get::<keel_sim::Ship>(ship)).map(|ship| places[&ship.id]).collect()
        };
        let fleets: Vec<_> = squads.iter(world).map(sectors).collect();
        fleets.iter().filter(|places| places.len() > 1).count()
    };
    // Squads are caught in mid-roam.
    let mut parted = 0;
    for _ in 0..40 {
        game.step(37);
        for tier in 4..=6 {
            game.op(operator, Op::Force(Force::Storm(MapKey::rift(tier)))).unwrap();
        }
        parted = parted.max(apart(&mut game));
        let centre = places(&game).into_iter().filter(|(_, place)| place.0.kind == keel_map::MapKind::Rift);
        assert_eq!(centre.filter(|(_, place)| place.1 == Hex::CENTRE).count(), 0, "no squad is put at the centre");
    }
    assert!(parted > 0, "storms part some");
    game.step(20 * 60 * 15);
    let left = apart(&mut game);
    // But for those that are on their way right now.
    assert!(left < 12, "{left} squads are apart a quarter of an hour later");

    // One that is apart fires back with the half that is attacked.
    let mut game = Game::default();
    let squad = game.squad(&[game.common(0, Faction::Raider); 2], Hex::new(1, 0));
    let away = game.sector(MapKey::layer(3), Hex::new(-3, 0));
    game.set(squad[0], InSector(away));
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(4, Faction::Human), Hex::new(1, 0));
    game.op(pilot, Op::Focus { ship, target: squad[1] }).unwrap();
    game.step(12);
    assert_eq!((game.target(squad[1]), game.target(squad[0])), (Some(ship), None));
}

#[test]
fn rule_10_an_absent_pilots_ship_that_a_storm_moves_to_a_port_is_berthed_and_everyone_is_told_where_it_is() {
    let mut game = world(false);
    game.app.insert_resource(OperatorOps(true));
    let operator = game.pilot();
    let map = MapKey::layer(1);
    let mut seen = (0, 0);
    for _ in 0..30 {
        game.go_on_at(map);
        let hexes = layout(&game, map).hexes().to_vec();
        let owners: Vec<(PilotId, ShipId, Hex)> = hexes
            .iter()
            .filter(|hex| (1..=6).contains(&hex.distance(Hex::CENTRE)))
            .step_by(3)
            .map(|&hex| {
                let pilot = game.pilot();
                (pilot, game.ship_at(pilot, game.common(0, Faction::Human), hex), hex)
            })
            .collect();
        for &(pilot, ..) in owners.iter().step_by(2) {
            game.leave(pilot);
        }
        game.op(operator, Op::Force(Force::Storm(map))).unwrap();
        game.step(1);
        for (n, &(pilot, ship, was)) in owners.iter().enumerate() {
            let place = places(&game)[&ship];
            if place.1 == was {
                continue;
            }
            let line = format!("The storm has moved the ship to {}.", place.1);
            assert!(game.log(pilot).iter().any(|(_, said)| *said == line), "{line}");
            seen.0 += 1;
            if place.1 == Hex::CENTRE {
                assert_eq!(game.is_docked(ship), n % 2 == 0, "the absent one is berthed");
                seen.1 += 1;
            }
        }
        let ships: Vec<ShipId> =
            owners.iter().map(|(_, ship, _)| *ship).filter(|&ship| !game.is_docked(ship)).collect();
        game.kill_all(&ships);
    }
    assert!(seen.0 > 20, "{seen:?}");
}
