//! Incursions (rule 11): warning, waves, who is paid at the clear and with what, and what a storm leaves alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use keel_balance::{Balance, Faction};
use keel_map::{Hex, MapKey};
use keel_rules::pay::Salt;
use keel_rules::{Blueprint, Fit, Pools};
use keel_sim::{
    Cargo, Condition, Fitted, Force, Incursion, Incursions, Op, OperatorOps, PilotId, Purse, Ship, ShipId, WreckIndex,
};
use keel_testkit::{Game, Setup, shipped_balance};

/// All maps, without squads of their own, and an operator who has no ship.
fn world(balance: Balance) -> (Game, PilotId) {
    let mut game = Game::new(Setup { balance: Arc::new(balance), layer: 1, others: true, ..Setup::default() });
    game.app.insert_resource(OperatorOps(true));
    let operator = game.pilot();
    (game, operator)
}

fn on(game: &Game) -> Vec<Incursion> {
    game.app.world().resource::<Incursions>().iter().map(|(_, incursion)| incursion.clone()).collect()
}

fn npcs(game: &Game) -> Vec<Ship> {
    game.ships().into_iter().filter(|ship| ship.pilot().is_none()).collect()
}

fn by_sector(game: &Game) -> BTreeMap<Hex, Vec<ShipId>> {
    let mut sectors: BTreeMap<Hex, Vec<ShipId>> = BTreeMap::new();
    for ship in npcs(game) {
        sectors.entry(game.hex(ship.id)).or_default().push(ship.id);
    }
    sectors
}

/// Forces an incursion on a map and lets all its waves come.
fn forced(game: &mut Game, operator: PilotId, map: MapKey) -> Incursion {
    game.op(operator, Op::Force(Force::Incursion(map))).unwrap();
    let steps = u64::from(game.balance().incursions.waves) * (game.balance().incursions.wave_s.get() as u64) * 20;
    game.step(steps);
    on(game)[0].clone()
}

/// Destroys all NPCs without anyone's doing.
fn destroy(game: &mut Game) {
    let ships: Vec<ShipId> = npcs(game).iter().map(|ship| ship.id).collect();
    game.kill_all(&ships);
}

/// Has each of those pilots do so much damage to an incursion, and then all of it be destroyed.
fn clear(game: &mut Game, done: &[(PilotId, f32)]) {
    let target = npcs(game)[0].id;
    for &(pilot, damage) in done {
        game.hurt(pilot, target, damage);
    }
    game.step(1);
    while !on(game).is_empty() {
        destroy(game);
    }
}

#[test]
fn rule_11_an_incursion_is_announced_comes_in_waves_and_fills_its_sectors_to_the_cap() {
    let (mut game, operator) = world(shipped_balance());
    let caps = [(MapKey::rift(4), 24), (MapKey::layer(4), 12), (MapKey::rift(6), 40), (MapKey::layer(1), 4)];
    for (map, cap) in caps {
        let seen = game.log(operator).len();
        let incursion = forced(&mut game, operator, map);
        assert_eq!((incursion.map, incursion.waves), (map, 3));
        let sectors = by_sector(&game);
        assert_eq!(sectors.keys().collect::<Vec<_>>().len(), incursion.block.len());
        for hex in &incursion.block {
            assert!(hex.distance(incursion.block[0]) <= 1);
            assert_eq!(sectors[hex].len(), cap, "{map} at {hex}");
        }
        let lines: Vec<String> = game.log(operator).into_iter().skip(seen).map(|(_, line)| line).collect();
        let (title, at, faction) = (map.title(), incursion.block[0], incursion.faction);
        let pays = if map == MapKey::layer(1) { " It is for training, and pays nothing." } else { "" };
        assert!(lines.contains(&format!("A {faction:?} incursion is on {title}, around {at}.{pays}")), "{lines:?}");
        for wave in 1..=3 {
            assert!(lines.contains(&format!("The incursion on {title} lands wave {wave} of 3.")));
        }
        game.refuses(operator, Op::Force(Force::Incursion(map)), "There is an incursion on that map already.");
        destroy(&mut game);
        assert!(on(&game).is_empty());
        game.says(operator, &format!("The incursion on {title} is cleared."));
        assert_eq!(game.app.world().resource::<WreckIndex>().iter().len(), 0, "nothing drops from its ships");
    }
}

#[test]
fn rule_11_a_wave_comes_a_sector_a_step_and_the_next_when_the_last_is_destroyed() {
    let (mut game, operator) = world(shipped_balance());
    game.op(operator, Op::Force(Force::Incursion(MapKey::rift(6)))).unwrap();
    for step in 1..=7 {
        game.step(1);
        assert_eq!(npcs(&game).len(), 14 * step, "a third of 40, rounded up, in each of 7 sectors");
    }
    game.step(100);
    assert_eq!(npcs(&game).len(), 14 * 7);
    destroy(&mut game);
    game.step(7);
    assert_eq!((on(&game)[0].waves, npcs(&game).len()), (2, 14 * 7));
}

#[test]
fn rule_11_in_a_rift_each_ship_has_twice_hull_shield_and_volley_of_the_layers() {
    let mut all = 0;
    for tier in 1..=6u8 {
        let (mut game, operator) = world(shipped_balance());
        let rules = game.balance().layers[usize::from(tier) - 1].clone();
        for (map, times) in [(MapKey::layer(tier), 1.0), (MapKey::rift(tier), 2.0)] {
            game.op(operator, Op::Force(Force::Incursion(map))).unwrap();
            game.step(8);
            for ship in npcs(&game).into_iter().filter(|ship| game.map(ship.id) == map) {
                let roaming = Fit::npc(game.balance(), &rules, ship.class, ship.faction);
                let roaming = keel_rules::Sheet::new(game.balance(), &roaming).unwrap();
                let card = game.card(ship.id);
                assert_eq!(
                    (card.full.hull, card.full.shield),
                    (roaming.full.hull * times, roaming.full.shield * times)
                );
                assert_eq!(card.gun.unwrap().volley, roaming.gun.unwrap().volley * times);
                assert_eq!(card.gun.unwrap().cycle, roaming.gun.unwrap().cycle);
                assert_eq!(game.get::<Condition>(ship.id).0, card.full);
                assert_eq!(f32::from(game.get::<Fitted>(ship.id).0.strength), times);
                all += 1;
            }
        }
    }
    assert!(all > 400);
}

#[test]
fn rule_11_each_contributor_over_5_percent_is_paid_and_no_one_else() {
    for (map, salt) in [
        (MapKey::rift(1), 400),
        (MapKey::rift(2), 400),
        (MapKey::rift(3), 400),
        (MapKey::rift(4), 800),
        (MapKey::rift(5), 1200),
        (MapKey::rift(6), 1600),
        (MapKey::layer(2), 100),
        (MapKey::layer(6), 400),
    ] {
        let (mut game, operator) = world(shipped_balance());
        let [much, some, five] = [(); 3].map(|()| game.pilot());
        game.op(operator, Op::Force(Force::Incursion(map))).unwrap();
        game.step(8);
        // Of 1000 one has done just 5 %, which is not over 5 %.
        let all = [(much, 800.0), (some, 150.0), (five, 50.0)];
        clear(&mut game, &all);
        let paid = |pilot| game.of_pilot::<Purse>(pilot).salt;
        assert_eq!((paid(much), paid(some)), (Salt(salt), Salt(salt)), "{map}");
        assert_eq!((paid(five), paid(operator)), (Salt(0), Salt(0)), "{map}");
        let line = format!("Your share in clearing {}: {}.", map.title(), Salt(salt));
        assert!(game.log(much).iter().any(|(_, said)| *said == line));
        // The first of them, and no other, has a copy: in a Rift a hull's, but for Rift 1, whose tier has none.
        let copies = |pilot| game.of_pilot::<Cargo>(pilot).copies.clone();
        assert_eq!(copies(much).values().sum::<u32>(), 1);
        assert!(copies(some).is_empty());
        let is_hull = copies(much).keys().all(|copy| matches!(copy, Blueprint::Hull(_)));
        if map.kind == keel_map::MapKind::Rift {
            assert_eq!(is_hull, map.tier > 1, "{map}");
        }
    }
}

#[test]
fn rule_11_what_a_pilot_contributes_is_what_their_shots_took() {
    let (mut game, operator) = world(shipped_balance());
    game.op(operator, Op::Force(Force::Incursion(MapKey::rift(2)))).unwrap();
    game.step(8);
    game.go_on_at(MapKey::rift(2));
    let hex = on(&game)[0].block[0];
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(4, Faction::Human), hex);
    game.set(ship, Condition(Pools { shield: 1e6, hull: 1e6 }));
    for target in by_sector(&game)[&hex].clone().into_iter().filter(|&npc| npc != ship).take(3) {
        game.op(pilot, Op::Focus { ship, target }).unwrap();
        game.step(200);
    }
    let took: f64 = game.shots_of(ship).map(|shot| f64::from(shot.dealt.shield) + f64::from(shot.dealt.hull)).sum();
    assert!(took > 500.0);
    assert_eq!(on(&game)[0].dealt().collect::<Vec<_>>(), [(pilot, took)]);
}

#[test]
fn rule_11_layer_1_has_a_training_incursion_that_pays_nothing() {
    let (mut game, operator) = world(shipped_balance());
    let map = MapKey::layer(1);
    let pilot = game.pilot();
    game.op(operator, Op::Force(Force::Incursion(map))).unwrap();
    game.step(8);
    clear(&mut game, &[(pilot, 80.0)]);
    assert_eq!(*game.of_pilot::<Purse>(pilot), Purse::default());
    assert_eq!(*game.of_pilot::<Cargo>(pilot), Cargo::default());
    assert!(game.log(operator).iter().any(|(_, line)| line == "The incursion on Layer 1 is cleared."));
}

#[test]
fn rule_11_over_hundreds_of_clears_copies_and_originals_come_as_often_as_printed() {
    const CLEARS: u32 = 1500;
    let mut balance = shipped_balance();
    (balance.incursions.waves, balance.incursions.reach) = (1, 0);
    for (map, hulls, originals) in
        [(MapKey::layer(3), 0.25, 0.1), (MapKey::rift(3), 1.0, 0.25), (MapKey::rift(1), 0.0, 0.25)]
    {
        let (mut game, operator) = world(balance.clone());
        let pilot = game.pilot();
        let (mut won, mut copied) = (0u32, 0u32);
        for _ in 0..CLEARS {
            game.op(operator, Op::Force(Force::Incursion(map))).unwrap();
            while npcs(&game).is_empty() {
                game.step(1);
            }
            game.hurt(pilot, npcs(&game)[0].id, 100.0);
            game.step(1);
            destroy(&mut game);
            game.step(1);
            assert!(on(&game).is_empty());
            // An original that one has already is none.
            let fleet = game.fleet_of(pilot);
            let mut cargo = game.app.world_mut().get_mut::<Cargo>(fleet).unwrap();
            won += cargo.originals.len() as u32;
            copied += cargo.copies.keys().filter(|copy| matches!(copy, Blueprint::Hull(_))).count() as u32;
            assert_eq!(cargo.copies.values().sum::<u32>(), 1);
            *cargo = Cargo::default();
        }
        for (count, chance) in [(copied, hulls), (won, originals)] {
            let error = (chance * (1.0 - chance) / f64::from(CLEARS)).sqrt();
            let share = f64::from(count) / f64::from(CLEARS);
            assert!((share - chance).abs() <= 3.0 * error, "{map}: {count} of {CLEARS}, not {chance}");
        }
    }
}

#[test]
fn rule_11_what_is_not_cleared_in_time_goes_and_pays_nobody() {
    let (mut game, operator) = world(shipped_balance());
    let map = MapKey::rift(3);
    game.op(operator, Op::Force(Force::Incursion(map))).unwrap();
    game.step(8);
    let pilot = game.pilot();
    game.hurt(pilot, npcs(&game)[0].id, 100.0);
    game.step(1);
    assert_eq!(on(&game)[0].dealt().collect::<Vec<_>>(), [(pilot, 100.0)]);
    let lasts = (game.balance().incursions.lasts_s.get() * 20.0) as u64;
    game.step(on(&game)[0].begins.step() + lasts - 1 - game.now());
    assert!(!npcs(&game).is_empty());
    game.step(1);
    assert!(npcs(&game).is_empty() && on(&game).is_empty());
    game.says(operator, "The incursion on Rift 3 was not cleared in time.");
    assert_eq!(*game.of_pilot::<Purse>(pilot), Purse::default());
    // Nothing of it is left.
    let world = game.app.world_mut();
    assert_eq!(world.query::<&keel_sim::Squad>().iter(world).count(), 0);
}

#[test]
fn rule_11_incursions_come_by_themselves_one_a_map_at_a_time_after_the_pause() {
    let mut game = Game::new(Setup { layer: 2, squads: true, ..Setup::default() });
    let pilot = game.pilot();
    game.step(20);
    let rule = game.balance().incursions.clone();
    let minute = 20 * 60;
    game.step(u64::from(rule.least_min) * minute - game.now() - 1);
    assert!(on(&game).is_empty());
    while on(&game).is_empty() {
        game.step(minute / 6);
        assert!(game.now() <= u64::from(rule.most_min) * minute + minute);
    }
    let incursion = on(&game)[0].clone();
    let announced = incursion.begins.step() - (rule.warn_s.get() * 20.0) as u64;
    let line =
        format!("A {:?} incursion is coming to Layer 2, around {}, in 120 s.", incursion.faction, incursion.block[0]);
    assert!(game.log(pilot).contains(&(announced, line)));
    assert!(!incursion.block.contains(&Hex::CENTRE));
    game.step(incursion.begins.step() - 1 - game.now());
    assert_eq!(on(&game)[0].waves, 0);
    game.step(1);
    assert_eq!(on(&game)[0].waves, 1);
    // Squads that were there share the cap with it, and no other comes.
    let all = u64::from(rule.waves) * (rule.wave_s.get() * 20.0) as u64;
    for _ in 0..all / 20 {
        game.step(20);
        for (hex, ships) in by_sector(&game) {
            let cap = if incursion.block.contains(&hex) { 6 } else { 3 };
            assert!(ships.len() <= cap, "{} at {hex}", ships.len());
        }
    }
}

#[test]
fn rule_13_a_storm_leaves_a_block_in_an_incursion_alone() {
    let mut game = Game::new(Setup { layer: 1, others: true, generated: true, ..Setup::default() });
    game.app.insert_resource(OperatorOps(true));
    let operator = game.pilot();
    let map = MapKey::rift(5);
    let incursion = forced(&mut game, operator, map);
    let before = by_sector(&game);
    for _ in 0..5 {
        game.op(operator, Op::Force(Force::Storm(map))).unwrap();
        assert_eq!(by_sector(&game), before);
        assert_eq!(on(&game)[0].block, incursion.block);
    }
}

#[test]
fn operators_ops_are_refused_where_the_world_does_not_take_them() {
    let (mut game, operator) = world(shipped_balance());
    game.app.insert_resource(OperatorOps(false));
    let before = game.hash();
    let text = "This server takes no operator's orders from pilots.";
    for force in [Force::Storm(MapKey::rift(6)), Force::Incursion(MapKey::rift(6)), Force::Wormhole(MapKey::rift(6))] {
        game.refuses(operator, Op::Force(force), text);
    }
    assert_eq!(game.app.world().resource::<Incursions>().iter().len(), 0);
    let mut idle = world(shipped_balance()).0;
    idle.app.insert_resource(OperatorOps(false));
    idle.step(3);
    assert_eq!(game.hash(), idle.hash());
    assert_ne!(before, idle.hash());
    game.app.insert_resource(OperatorOps(true));
    game.refuses(operator, Op::Force(Force::Storm(MapKey { tier: 9, ..MapKey::rift(1) })), "There is no such map.");
    game.refuses(operator, Op::Force(Force::Wormhole(MapKey::rift(6))), "You have no ship.");
    let ship = game.ship(operator, game.common(0, Faction::Human));
    game.op(operator, Op::Force(Force::Wormhole(MapKey::rift(6)))).unwrap();
    game.step(1);
    let found: Vec<_> = {
        let wormholes = game.app.world().resource::<keel_sim::Wormholes>();
        wormholes.found_by(operator).map(|(id, end, wormhole)| (id, wormhole.far(end).map)).collect()
    };
    assert_eq!(found[0].1, MapKey::rift(6));
    game.op(operator, Op::Jump { ship, wormhole: found[0].0 }).unwrap();
    game.step(101);
    assert_eq!(game.map(ship), MapKey::rift(6));
}
