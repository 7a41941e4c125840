//! The six Rifts (rule 11): a key and a tier, twice the NPCs, no Haven.

use std::collections::BTreeMap;

use keel_balance::Faction;
use keel_map::{Hex, MapKey, MapKind, Plan, generate};
use keel_rules::{Fit, Pools};
use keel_sim::{Condition, Done, Haven, Map, Op, ShipId, Squad, StructureKind, Way};
use keel_testkit::{Game, Setup, shipped_balance};

/// All twelve maps, generated, from that seed on.
fn world(seed: u64, squads: bool) -> Game {
    Game::new(Setup { layer: 1, generated: true, others: true, squads, seed, ..Setup::default() })
}

fn map_of(game: &Game, key: MapKey) -> &Map {
    let map = game.app.world().resource::<keel_sim::Maps>().get(key).unwrap();
    game.app.world().get::<Map>(map).unwrap()
}

/// NPCs in each sector of a map.
fn npcs(game: &Game, key: MapKey) -> BTreeMap<Hex, Vec<ShipId>> {
    let mut sectors: BTreeMap<Hex, Vec<ShipId>> = BTreeMap::new();
    for ship in game.ships().into_iter().filter(|ship| ship.pilot().is_none() && game.map(ship.id) == key) {
        sectors.entry(game.hex(ship.id)).or_default().push(ship.id);
    }
    sectors
}

#[test]
fn rule_11_six_fixed_rifts_each_match_a_layer_and_have_no_haven() {
    let game = world(3, false);
    assert_eq!(game.app.world().resource::<keel_sim::Maps>().iter().len(), 12);
    for tier in 1..=6 {
        let (layer, rift) = (map_of(&game, MapKey::layer(tier)), map_of(&game, MapKey::rift(tier)));
        assert_eq!((rift.key.to_string(), rift.key.tier), (format!("rift-{tier}"), tier));
        assert!(game.app.world().get::<Haven>(rift.centre()).is_none());
        assert_eq!(game.app.world().get::<Haven>(layer.centre()).is_some(), tier < 6);
        assert_eq!(rift.squad, 2 * layer.squad);
        assert_eq!(rift.sector_cap, 2 * layer.sector_cap);
        assert_eq!(rift.incursion_cap, 2 * layer.incursion_cap);
        assert_eq!(rift.incursion_cap, 2 * rift.sector_cap, "an incursion's sector holds twice what another does");
        assert!(rift.structures && rift.hull_loss && rift.fire == keel_balance::FireRule::Open);
    }
    let caps = [4, 6, 8, 12, 16, 20].into_iter();
    assert!((1..).zip(caps).all(|(tier, cap)| map_of(&game, MapKey::rift(tier)).sector_cap == cap));
}

#[test]
fn rule_11_rift_6_at_its_full_450_sectors_is_filled_four_squads_a_step_and_the_cap_wins() {
    // A seed whose Rift 6 is as large as one can be.
    let balance = shipped_balance();
    let plan = Plan::of(&balance, MapKey::rift(6));
    let seed = (0..5000).find(|&seed| generate(&plan, seed, &[]).hexes().len() == 450).unwrap();
    let mut game = world(seed, true);
    let squads = |game: &mut Game| {
        let world = game.app.world_mut();
        let map = world.resource::<keel_sim::Maps>().get(MapKey::rift(6));
        world.query::<&Squad>().iter(world).filter(|squad| squad.map() == map).count()
    };
    for steps in 1..=23 {
        game.step(1);
        assert_eq!(squads(&mut game), (4 * steps).min(90), "after step {steps}");
    }
    let sectors = npcs(&game, MapKey::rift(6));
    // 28 on paper, and 20 in a sector: most squads are of 20.
    assert!(sectors.values().all(|ships| ships.len() <= 20));
    assert_eq!(sectors.values().filter(|ships| ships.len() == 20).count(), 90);
    assert!(!sectors.contains_key(&Hex::CENTRE));
}

#[test]
fn rule_11_after_the_fill_the_respawn_clock_runs() {
    let mut game = world(9, true);
    game.step(40);
    let key = MapKey::rift(1);
    let before: usize = npcs(&game, key).values().map(Vec::len).sum();
    let (_, victims) = npcs(&game, key).into_iter().find(|(_, ships)| ships.len() == 4).unwrap();
    for &victim in &victims {
        game.kill(victim);
    }
    let lost = game.now();
    game.step(lost + 2399 - game.now());
    assert_eq!(npcs(&game, key).values().map(Vec::len).sum::<usize>(), before - 4);
    game.step(1);
    assert!(npcs(&game, key).values().map(Vec::len).sum::<usize>() > before - 4);
}

#[test]
fn rule_11_a_roaming_rift_npc_has_the_layers_stats() {
    let mut game = world(3, true);
    game.step(40);
    for tier in 1..=6 {
        let cards = |key| {
            let ships = npcs(&game, key).into_values().flatten();
            let mut hulls: Vec<String> = ships.map(|ship| format!("{:?}", game.card(ship))).collect();
            hulls.sort();
            hulls.dedup();
            hulls
        };
        let (layer, rift) = (cards(MapKey::layer(tier)), cards(MapKey::rift(tier)));
        assert!(rift.iter().all(|card| layer.contains(card)), "tier {tier}: a Rift flies what its layer flies");
    }
}

#[test]
fn rule_10_every_rift_is_open_fire_with_hull_loss_rift_1_included() {
    for tier in 1..=6 {
        let mut game = world(3, false);
        game.go_on_at(MapKey::rift(tier));
        let fit = Fit { shield: None, ..game.common(4, Faction::Human) };
        let ((one, mine), (_, theirs)) = (game.pilot_in(fit), game.pilot_in(fit));
        assert!(matches!(game.op(one, Op::Attack { ship: mine, target: theirs }), Ok(Done::Locking { .. })));
        game.set(theirs, Condition(Pools { shield: 0.0, hull: 1.0 }));
        game.step(90);
        assert!(!game.lives(theirs), "Rift {tier}");
    }
}

#[test]
fn rule_11_a_rift_has_no_haven_no_dock_no_travel_and_no_rescue() {
    let mut game = world(3, false);
    game.go_on_at(MapKey { kind: MapKind::Rift, tier: 3 });
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let text = "A Rift has no Haven. Leave through a wormhole.";
    for op in
        [Op::Travel { ship, way: Way::Up }, Op::Travel { ship, way: Way::Down }, Op::Rescue { ship }, Op::Dock { ship }]
    {
        game.refuses(pilot, op, text);
    }
    // A charter's own berth is a dock all the same.
    game.op(pilot, Op::Found { name: "Keel".into() }).unwrap();
    assert_eq!(game.build_berth(pilot, ship), Ok(Done::Built(StructureKind::Berth)));
    assert_eq!(game.op(pilot, Op::Dock { ship }), Ok(Done::Docking));
    game.refuses(pilot, Op::Travel { ship, way: Way::Up }, text);
}

#[test]
fn rule_10_a_logout_in_a_rift_leaves_the_ship_in_space() {
    let mut game = world(3, false);
    game.go_on_at(MapKey::rift(2));
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.leave(pilot);
    game.step(5);
    assert!(!game.is_docked(ship) && game.map(ship) == MapKey::rift(2));
}
