//! NPC squads: where they stand, when they engage and when they are back.

use bevy_ecs::message::Messages;
use keel_balance::{Balance, Faction};
use keel_map::{Hex, MapKey};
use keel_rules::Moment;
use keel_sim::{Arrival, Condition, Done, Force, Op, Operated, Orders, PilotId, Refusal, Ship};
use keel_testkit::{Game, Setup, shipped_balance};
use std::collections::BTreeMap;
use std::sync::Arc;

fn filled(layer: u8, seed: u64) -> Game {
    let mut game = Game::new(Setup { layer, seed, squads: true, ..Setup::default() });
    game.step(20);
    game
}

fn npcs(game: &Game) -> Vec<Ship> {
    game.ships().into_iter().filter(|ship| ship.pilot().is_none()).collect()
}

#[test]
fn rule_11_a_layer_holds_a_squad_for_each_5_sectors_and_the_sectors_cap_wins() {
    let balance = shipped_balance();
    for layer in 1..=6u8 {
        let game = filled(layer, u64::from(layer));
        let rules = &balance.layers[usize::from(layer) - 1];
        let mut sectors: BTreeMap<Hex, usize> = BTreeMap::new();
        for ship in npcs(&game) {
            *sectors.entry(game.hex(ship.id)).or_default() += 1;
            assert!(rules.npcs.factions.contains(&ship.faction));
        }
        // 217 sectors: 43 squads, some of them cut short where two share a sector.
        let total: usize = sectors.values().sum();
        assert!(total <= 43 * usize::from(rules.squad) && total > 30 * usize::from(rules.squad), "{total}");
        assert!(sectors.values().all(|&count| count <= usize::from(rules.sector_cap)), "{sectors:?}");
        assert!(!sectors.contains_key(&Hex::CENTRE));
    }
}

#[test]
fn rule_11_the_map_is_filled_four_squads_a_step() {
    let mut game = Game::new(Setup { layer: 1, squads: true, ..Setup::default() });
    for step in 1..=3 {
        game.step(1);
        assert!(npcs(&game).len() <= 8 * step && npcs(&game).len() > 4 * step);
    }
}

#[test]
fn rule_4_a_squad_that_is_attacked_locks_within_half_a_second_and_not_always_at_once() {
    let mut delays = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let mut game = Game::new(Setup { seed, ..Setup::default() });
        let (pilot, ship) = game.pilot_in(game.common(4, Faction::Human));
        let squad = game.squad(&[game.common(0, Faction::Raider); 3], Hex::CENTRE);
        // Under its flag the ship is skipped; its own attack ends that.
        game.set(ship, Arrival { ends: Moment::of_step(1000), ends_early: true });
        game.step(40);
        assert!(squad.iter().all(|&npc| game.target(npc).is_none()));
        game.op(pilot, Op::Attack { ship, target: squad[1] }).unwrap();
        let ordered = game.now();
        while game.target(squad[0]).is_none() {
            game.step(1);
        }
        assert!(squad.iter().all(|&npc| game.target(npc) == Some(ship)));
        delays.insert(game.now() - ordered);
    }
    assert!(delays.iter().all(|delay| (1..=10).contains(delay)), "{delays:?}");
    assert!(delays.len() >= 8, "{delays:?}");
}

#[test]
fn rule_4_a_squad_that_meets_an_enemy_engages_and_stands_down_when_it_leaves() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(4, Faction::Human), Hex::new(1, 0));
    let npc = game.squad(&[game.common(0, Faction::Raider)], Hex::CENTRE)[0];
    game.op(pilot, Op::Move { ship, to: Hex::CENTRE }).unwrap();
    game.step(42);
    assert_eq!(game.target(npc), None);
    game.step(12);
    assert_eq!(game.target(npc), Some(ship));
    game.op(pilot, Op::Move { ship, to: Hex::new(1, 0) }).unwrap();
    game.step(60);
    assert_eq!(game.target(npc), None);
}

#[test]
fn rule_4_a_squad_that_comes_into_the_world_beside_an_enemy_engages() {
    let mut game = Game::default();
    game.pilot_in(game.common(4, Faction::Human));
    game.step(40);
    let npc = game.squad(&[game.common(0, Faction::Raider)], Hex::CENTRE)[0];
    game.step(11);
    assert!(game.target(npc).is_some());
}

#[test]
fn rule_9_squads_skip_a_ship_that_is_arriving_until_its_flag_ends() {
    let mut game = Game::default();
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(4, Faction::Human), Hex::new(1, 0));
    let npc = game.squad(&[game.common(0, Faction::Raider)], Hex::CENTRE)[0];
    game.set(ship, Arrival { ends: Moment::of_step(200), ends_early: false });
    game.op(pilot, Op::Move { ship, to: Hex::CENTRE }).unwrap();
    game.step(198);
    assert_eq!(game.target(npc), None);
    game.step(13);
    assert_eq!(game.target(npc), Some(ship));
}

#[test]
fn rule_11_a_lost_squad_is_back_after_120_s() {
    let mut game = filled(1, 3);
    let before = npcs(&game).len();
    let victim = npcs(&game)[0];
    let hex = game.hex(victim.id);
    let squad: Vec<_> = npcs(&game).into_iter().filter(|ship| game.hex(ship.id) == hex).collect();
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(4, Faction::Raider), hex);
    for npc in &squad {
        game.set(npc.id, Condition(keel_rules::Pools { shield: 0.0, hull: 1.0 }));
    }
    while let Some(next) = squad.iter().find(|npc| game.lives(npc.id)) {
        let _ = game.op(pilot, Op::Attack { ship, target: next.id });
        game.step(20);
    }
    let lost = game.log(pilot).iter().rfind(|(_, line)| line.ends_with("destroyed.")).unwrap().0;
    game.step(lost + 2399 - game.now());
    assert_eq!(npcs(&game).len(), before - squad.len());
    game.step(1);
    assert!(npcs(&game).len() > before - squad.len());
}

#[test]
fn rule_10_a_new_pilot_starts_human_in_a_patrol_at_the_centre() {
    let mut game = Game::default();
    game.app.world_mut().resource_mut::<Orders>().join(PilotId(5), "ann");
    game.step(1);
    let [ship] = game.ships()[..] else { panic!("one ship") };
    assert_eq!((ship.pilot(), ship.faction, ship.class.0), (Some(PilotId(5)), Faction::Human, 0));
    assert_eq!(game.hex(ship.id), Hex::CENTRE);
    // Coming again finds the ship as it is.
    game.app.world_mut().resource_mut::<Orders>().join(PilotId(5), "ann");
    game.step(1);
    assert_eq!(game.ships().len(), 1);
}

#[test]
fn a_starter_wins_against_a_layer_1_squad_of_every_faction() {
    for faction in [Faction::Raider, Faction::Sentry, Faction::Breaker] {
        for seed in 0..5 {
            let balance: Arc<Balance> = Arc::new(shipped_balance());
            let mut game = Game::new(Setup { balance: Arc::clone(&balance), layer: 1, seed, ..Setup::default() });
            let pilot = game.pilot();
            let ship = game.ship_at(pilot, keel_rules::Fit::starter(&balance), Hex::new(2, 0));
            let fit = keel_rules::Fit::npc(&balance, &balance.layers[0], keel_rules::ClassId(0), faction);
            let squad = game.squad(&[fit; 2], Hex::new(2, 0));
            for _ in 0..100 {
                let Some(&next) = squad.iter().find(|&&npc| game.lives(npc)) else { break };
                let _ = game.op(pilot, Op::Attack { ship, target: next });
                game.step(20);
            }
            assert!(squad.iter().all(|&npc| !game.lives(npc)), "{faction:?}, seed {seed}");
            assert_eq!(game.hex(ship), Hex::new(2, 0), "{faction:?}, seed {seed}: towed");
        }
    }
}

#[test]
fn rule_11_generated_layers_fill_like_plain_ones_and_are_flown_by_their_ways() {
    let balance = shipped_balance();
    let mut game =
        Game::new(Setup { layer: 1, generated: true, others: true, squads: true, seed: 4, ..Setup::default() });
    game.step(30);
    let mut sectors: BTreeMap<(u8, Hex), usize> = BTreeMap::new();
    for ship in npcs(&game).into_iter().filter(|ship| game.map(ship.id).kind == keel_map::MapKind::Layer) {
        *sectors.entry((game.layer(ship.id), game.hex(ship.id))).or_default() += 1;
    }
    for (layer, rules) in (1..).zip(&balance.layers) {
        let counts: Vec<usize> = sectors.iter().filter(|((of, _), _)| *of == layer).map(|(_, &count)| count).collect();
        assert!(
            counts.iter().sum::<usize>() > 22 * usize::from(rules.squad.min(rules.sector_cap)),
            "layer {layer}: {counts:?}"
        );
        assert!(counts.iter().all(|&count| count <= usize::from(rules.sector_cap)));
        assert!(!sectors.contains_key(&(layer, Hex::CENTRE)));
    }
    // The way to the farthest squad of Layer 1 is as long as the order says, and leads there.
    let far = sectors.keys().filter(|(layer, _)| *layer == 1).map(|(_, hex)| *hex);
    let far = far.max_by_key(|hex| hex.distance(Hex::CENTRE)).unwrap();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let Done::Course { hops, arrives, .. } = game.op(pilot, Op::Move { ship, to: far }).unwrap() else {
        panic!("a course")
    };
    assert!(u32::from(hops) >= far.distance(Hex::CENTRE));
    game.set(ship, Condition(keel_rules::Pools { shield: 0.0, hull: 1e9 }));
    while game.now() < arrives.step() {
        game.step(1);
        game.change::<Condition>(ship, |condition| condition.0.hull = 1e9);
    }
    assert_eq!(game.hex(ship), far);
}

#[test]
fn an_operator_has_a_squad_come_into_a_sector_that_has_room_and_needs_no_pilot() {
    let mut game = filled(1, 3);
    let map = MapKey::layer(1);
    let have = |game: &mut Game, force| {
        game.app.world_mut().resource_mut::<Orders>().operate(7, force);
        let mut heard = game.app.world_mut().resource_mut::<Messages<Operated>>().get_cursor_current();
        game.step(1);
        let operated = game.app.world_mut().resource::<Messages<Operated>>();
        let answers: Vec<Operated> = heard.read(operated).copied().collect();
        assert_eq!(answers.iter().map(|answer| answer.ticket).collect::<Vec<_>>(), [7]);
        answers[0].result
    };
    let place = Hex::new(2, 1);
    let there = |game: &Game| npcs(game).iter().filter(|ship| game.hex(ship.id) == place).count();
    let (before, cap) = (there(&game), usize::from(shipped_balance().layers[0].sector_cap));
    assert_eq!(have(&mut game, Force::Squad(map, place)), Ok(Done::Forced(Force::Squad(map, place))));
    assert!(there(&game) > before);
    while there(&game) < cap {
        have(&mut game, Force::Squad(map, place)).unwrap();
    }
    assert_eq!(have(&mut game, Force::Squad(map, place)), Err(Refusal::SectorFull));
    assert_eq!(there(&game), cap);
    assert_eq!(have(&mut game, Force::Squad(map, Hex::new(99, 0))), Err(Refusal::UnknownSector));
    assert_eq!(have(&mut game, Force::Wormhole(MapKey::rift(1))), Err(Refusal::NoSuchMap));
}
