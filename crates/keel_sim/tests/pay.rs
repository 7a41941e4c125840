//! Wrecks, charts and fair kills (rule 11): what is left, who takes it, and what is paid.

use bevy_ecs::prelude::*;
use keel_balance::{Faction, Grade};
use keel_map::{Hex, MapKey};
use keel_rules::pay::Salt;
use keel_rules::{Blueprint, ClassId, Fit, Kind, Module, Moment, Pools};
use keel_sim::{
    Cargo, CharterId, Charts, Condition, Done, Hold, LiesIn, Op, PilotId, Purse, Quiet, ShipId, Storms, WallClock,
    Wreck, WreckId, WreckIndex,
};
use keel_testkit::{Game, Setup};

fn world() -> Game {
    Game::new(Setup { layer: 3, others: true, ..Setup::default() })
}

fn wrecks(game: &Game) -> Vec<Wreck> {
    let world = game.app.world();
    world.resource::<WreckIndex>().iter().map(|(_, wreck)| world.get::<Wreck>(wreck).unwrap().clone()).collect()
}

/// What is left of so many NPCs of tier 3 on a map.
fn lost(map: MapKey, count: usize) -> Vec<Wreck> {
    let mut game = world();
    game.go_on_at(map);
    let fit = Fit::npc(game.balance(), &game.balance().layers[2], ClassId(1), Faction::Raider);
    let ships: Vec<ShipId> = (0..count).map(|_| game.drone(fit)).collect();
    game.kill_all(&ships);
    wrecks(&game)
}

/// Whether so many of so many are what a chance makes of them, within three standard errors.
#[track_caller]
fn about(count: usize, of: usize, chance: f64) {
    let (count, of) = (count as f64, of as f64);
    let error = (chance * (1.0 - chance) / of).sqrt();
    assert!((count / of - chance).abs() <= 3.0 * error, "{count} of {of}, not {chance}");
}

#[test]
fn rule_11_a_wreck_holds_twice_in_a_rift_over_3000_rolls() {
    const KILLS: usize = 3000;
    let pay = keel_testkit::shipped_balance().pay;
    let (drop, remnant, copy) = (f64::from(pay.drop.get()), f64::from(pay.remnant.get()), f64::from(pay.copy.get()));
    // Gun, armor, shield, Brace and Clamp.
    let modules = 5 * KILLS;
    for (map, times) in [(MapKey::layer(3), 1), (MapKey::rift(3), 2)] {
        let wrecks = lost(map, KILLS);
        assert_eq!(wrecks.len(), KILLS);
        let by = f64::from(times);
        about(wrecks.iter().map(|wreck| wreck.load.modules.len()).sum(), modules, drop * by);
        about(wrecks.iter().map(|wreck| wreck.load.remnants as usize).sum(), KILLS, remnant * by);
        about(wrecks.iter().filter(|wreck| wreck.load.copy.is_some()).count(), KILLS, copy * by);
        // A Frigate's hull is 1.5 Patrols: 6 pieces.
        assert!(wrecks.iter().all(|wreck| wreck.load.material == 6 * times));
        let copied = wrecks.iter().filter_map(|wreck| wreck.load.copy);
        let is_of_the_ship =
            |copy| matches!(copy, Blueprint::Module { faction: Faction::Raider, grade: Grade::Common, .. });
        assert!(copied.into_iter().all(is_of_the_ship));
    }
}

#[test]
fn rule_11_a_wreck_is_taken_once_by_whoever_is_there_and_first() {
    let mut game = world();
    let fit = Fit::npc(game.balance(), &game.balance().layers[2], ClassId(1), Faction::Raider);
    let (one, mine) = game.pilot_in(game.common(0, Faction::Human));
    let (two, theirs) = game.pilot_in(game.common(0, Faction::Human));
    let far = game.ship_at(one, game.common(0, Faction::Human), Hex::new(1, 0));
    let ships: Vec<ShipId> = (0..40).map(|_| game.drone(fit)).collect();
    game.kill_all(&ships);
    let laden = wrecks(&game).into_iter().find(|wreck| !wreck.load.modules.is_empty()).expect("one of forty has some");
    let take = |ship, wreck| Op::Take { ship, wreck };
    game.refuses(one, take(far, laden.id), "There is no such wreck in this sector.");
    game.refuses(one, take(mine, WreckId(999)), "There is no such wreck in this sector.");
    game.refuses(one, take(theirs, laden.id), "That is not your ship.");
    // Both in one step: the first of the two has it all.
    game.order(one, take(mine, laden.id));
    game.order(two, take(theirs, laden.id));
    game.order(one, take(mine, laden.id));
    game.step(1);
    let answers: Vec<_> = game.answers().iter().rev().take(3).map(|answer| answer.result.is_ok()).collect();
    assert_eq!(answers.iter().filter(|&&taken| taken).count(), 1);
    let modules: Vec<Module> = game.of_pilot::<Hold>(one).iter().map(|(_, module)| *module).collect();
    assert_eq!(modules, laden.load.modules);
    assert_eq!(game.of_pilot::<Cargo>(one).material, u64::from(laden.load.material));
    assert_eq!(game.of_pilot::<Cargo>(one).remnants, u64::from(laden.load.remnants));
    assert_eq!(*game.of_pilot::<Cargo>(two), Cargo::default());
    game.refuses(two, take(theirs, laden.id), "There is no such wreck in this sector.");
    // Docked, under way: what has no hands takes nothing.
    let next = wrecks(&game)[0].id;
    game.op(one, Op::Dock { ship: mine }).unwrap();
    game.refuses(one, take(mine, next), "This ship is docked. Undock first.");
    game.order(two, Op::Rescue { ship: theirs });
    game.step(1);
    game.refuses(two, take(theirs, next), "This ship is in transit. It cannot lock, fire, move or dock.");
}

#[test]
fn rule_11_what_a_full_hold_has_no_room_for_stays_in_the_wreck() {
    let mut game = world();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let room = usize::from(game.balance().yard.hold);
    let fleet = game.fleet_of(pilot);
    let spare = Module::common(Kind::Armor, Faction::Human);
    for _ in 1..room {
        game.app.world_mut().get_mut::<Hold>(fleet).unwrap().keep(spare);
    }
    let fit = Fit::npc(game.balance(), &game.balance().layers[5], ClassId(4), Faction::Sentry);
    let ships: Vec<ShipId> = (0..200).map(|_| game.drone(fit)).collect();
    game.kill_all(&ships);
    let laden = wrecks(&game).into_iter().find(|wreck| wreck.load.modules.len() > 1).unwrap();
    let left = laden.load.modules.len() - 1;
    let done = game.op(pilot, Op::Take { ship, wreck: laden.id }).unwrap();
    assert!(matches!(done, Done::Taken { modules: 1, left: l, .. } if usize::from(l) == left));
    assert!(done.to_string().starts_with("Taken: 1 module, 18 material"), "{done}");
    assert!(done.to_string().ends_with(&format!(" Your hold has no room for {left} more.")), "{done}");
    assert_eq!(game.of_pilot::<Hold>(pilot).iter().len(), room);
    game.refuses(pilot, Op::Take { ship, wreck: laden.id }, "Your hold is full.");
    let kept = wrecks(&game).into_iter().find(|wreck| wreck.id == laden.id).unwrap();
    assert_eq!((kept.load.modules.as_slice(), kept.load.material), (&laden.load.modules[1..], 0));
}

#[test]
fn rule_11_a_wreck_fades() {
    let mut game = world();
    let fit = Fit::npc(game.balance(), &game.balance().layers[2], ClassId(1), Faction::Raider);
    let drone = game.drone(fit);
    game.kill(drone);
    let lasts = (game.balance().pay.wreck_s.get() * 20.0) as u64;
    game.step(lasts - 1);
    assert_eq!(wrecks(&game).len(), 1);
    game.step(1);
    assert!(wrecks(&game).is_empty());
}

#[test]
fn rule_13_wrecks_of_a_sector_that_goes_are_in_the_nearest_open_one() {
    let mut game = Game::new(Setup { layer: 1, others: true, generated: true, ..Setup::default() });
    let rift = MapKey::rift(1);
    game.go_on_at(rift);
    let map = game.app.world().resource::<keel_sim::Maps>().get(rift).unwrap();
    let layout = |game: &Game| game.app.world().get::<keel_sim::Map>(map).unwrap().layout.clone();
    let fit = Fit::npc(game.balance(), &game.balance().layers[2], ClassId(1), Faction::Raider);
    let hexes: Vec<Hex> = layout(&game).hexes().iter().copied().step_by(3).collect();
    let ships: Vec<ShipId> = hexes.iter().map(|&hex| game.squad(&[fit], hex)[0]).collect();
    game.kill_all(&ships);
    for seconds in [12 * 3600 - 300, 12 * 3600] {
        game.app.world_mut().resource_mut::<WallClock>().set(seconds);
        game.step(1);
    }
    assert_eq!(game.app.world().resource::<Storms>().passed(), 1);
    let new = layout(&game);
    let places: Vec<Hex> = game
        .app
        .world()
        .resource::<WreckIndex>()
        .iter()
        .map(|(_, wreck)| {
            let lies = game.app.world().get::<LiesIn>(wreck).unwrap().0;
            game.app.world().get::<keel_sim::Sector>(lies).unwrap().hex
        })
        .collect();
    assert_eq!(places.len(), hexes.len(), "no wreck is lost");
    assert!(places.iter().zip(&hexes).all(|(is, was)| *is == new.nearest(*was)));
    assert!(places.iter().zip(&hexes).any(|(is, was)| is != was));
}

/// Ships of a pilot's all over a map.
fn spread(game: &mut Game, pilot: PilotId, map: MapKey) {
    game.go_on_at(map);
    let entity = game.app.world().resource::<keel_sim::Maps>().get(map).unwrap();
    let hexes = game.app.world().get::<keel_sim::Map>(entity).unwrap().layout.hexes().to_vec();
    let fit = game.common(0, Faction::Human);
    for hex in hexes {
        game.ship_at(pilot, fit, hex);
    }
}

#[test]
fn rule_11_a_full_chart_pays_its_notches_once_and_a_storm_starts_it_again() {
    let mut game = world();
    for (map, notches) in [(MapKey::layer(6), 6), (MapKey::rift(6), 12), (MapKey::layer(1), 1), (MapKey::rift(1), 2)] {
        game.go_on_at(map);
        let pilot = game.pilot();
        let first = game.ship(pilot, game.common(0, Faction::Human));
        game.step(1);
        assert_eq!(game.of_pilot::<Charts>(pilot).get(map).unwrap().count(), 7, "where it is, and one hex away");
        spread(&mut game, pilot, map);
        game.step(1);
        assert_eq!(game.of_pilot::<Charts>(pilot).get(map).unwrap().count(), 217);
        assert_eq!(game.of_pilot::<Purse>(pilot).notches, notches);
        let paid = if notches == 1 { "1 Notch paid.".to_owned() } else { format!("{notches} Notches paid.") };
        game.says(pilot, &format!("{} is charted. {paid}", map.title()));
        game.op(pilot, Op::Move { ship: first, to: Hex::new(1, 0) }).unwrap();
        game.step(60);
        assert_eq!(game.of_pilot::<Purse>(pilot).notches, notches, "once");
    }
    let pilot = game.pilot();
    spread(&mut game, pilot, MapKey::rift(2));
    game.step(1);
    assert_eq!(game.of_pilot::<Purse>(pilot).notches, 2);
    for seconds in [2 * 3600 - 300, 2 * 3600] {
        game.app.world_mut().resource_mut::<WallClock>().set(seconds);
        game.step(1);
    }
    let map = game.app.world().resource::<keel_sim::Maps>().get(MapKey::rift(2)).unwrap();
    let open = game.app.world().get::<keel_sim::Map>(map).unwrap().layout.hexes().to_vec();
    let ships: Vec<Hex> =
        game.ships().iter().filter(|ship| ship.pilot() == Some(pilot)).map(|ship| game.hex(ship.id)).collect();
    let seen: Vec<Hex> = open.iter().copied().filter(|hex| ships.iter().any(|ship| ship.distance(*hex) <= 1)).collect();
    let begun = game.of_pilot::<Charts>(pilot).get(MapKey::rift(2)).unwrap();
    let begun: Vec<Hex> = begun.sectors().map(|index| open[index]).collect();
    assert_eq!(begun, seen, "what its ships see now, and nothing of before");
    assert!(begun.len() < open.len());
    spread(&mut game, pilot, MapKey::rift(2));
    game.step(1);
    assert_eq!(game.of_pilot::<Purse>(pilot).notches, 4, "a new map pays anew");
}

/// Has one pilot's ship kill another's; what the killer is paid for it.
fn paid_for(game: &mut Game, (killer, with): (PilotId, ShipId), victim: PilotId, class: u8) -> Salt {
    let before = game.of_pilot::<Purse>(killer).salt;
    let lost = game.ship(victim, Fit { shield: None, ..game.common(class, Faction::Human) });
    game.set(lost, (Condition(Pools { shield: 0.0, hull: 1.0 }), Quiet(Moment::of_step(game.now()))));
    game.op(killer, Op::Focus { ship: with, target: lost }).unwrap();
    game.step(120);
    assert!(!game.lives(lost));
    Salt(game.of_pilot::<Purse>(killer).salt.0 - before.0)
}

#[test]
fn rule_11_a_fair_kill_pays_salt_on_tier_3_to_6_and_a_quarter_more_in_the_rift() {
    let mut game = world();
    let kill_salt = game.balance().layers.each_ref().map(|layer| u64::from(layer.kill_salt));
    for tier in 1..=6u8 {
        for (map, times) in [(MapKey::layer(tier), 100), (MapKey::rift(tier), 125)] {
            if map == MapKey::layer(1) || map == MapKey::layer(2) {
                continue;
            }
            game.go_on_at(map);
            let killer = game.pilot_in(game.common(1, Faction::Sentry));
            let victim = game.pilot();
            let paid = paid_for(&mut game, killer, victim, 0);
            assert_eq!(paid.0, kill_salt[usize::from(tier) - 1] * times / 100, "{map}");
            if paid.0 > 0 {
                assert!(game.log(killer.0).iter().any(|(_, line)| *line == format!("A fair kill. {paid} paid.")));
            }
        }
    }
}

#[test]
fn rule_11_rift_1_is_open_fire_with_full_loss_and_its_kills_pay_nothing() {
    let mut game = world();
    game.go_on_at(MapKey::rift(1));
    let killer = game.pilot_in(game.common(0, Faction::Human));
    let victim = game.pilot();
    assert_eq!(paid_for(&mut game, killer, victim, 0), Salt(0));
}

#[test]
fn rule_11_a_kill_is_not_fair_of_the_same_pilot_again_of_a_mate_in_a_duel_or_of_a_hull_too_small() {
    let mut game = world();
    let (killer, with) = game.pilot_in(game.common(2, Faction::Sentry));
    let (small, again, rival) = (game.pilot(), game.pilot(), game.pilot());
    assert_eq!(paid_for(&mut game, (killer, with), small, 0), Salt(0), "two classes smaller");
    assert_eq!(paid_for(&mut game, (killer, with), small, 1), Salt(100), "one class smaller");
    assert_eq!(paid_for(&mut game, (killer, with), again, 1), Salt(100));
    assert_eq!(paid_for(&mut game, (killer, with), again, 1), Salt(0), "the same pilot again");
    game.step((game.balance().pay.kill_again_s.get() * 20.0) as u64);
    assert_eq!(paid_for(&mut game, (killer, with), again, 1), Salt(100), "an hour later");
    game.order(killer, Op::AskDuel(rival));
    game.step(1);
    game.op(rival, Op::AcceptDuel(killer)).unwrap();
    assert_eq!(paid_for(&mut game, (killer, with), rival, 1), Salt(0), "in a duel");
    game.op(killer, Op::EndDuel(rival)).unwrap();
    assert_eq!(paid_for(&mut game, (killer, with), rival, 1), Salt(100));
    // An NPC's kill is nobody's.
    let (mate, _) = game.pilot_in(game.common(1, Faction::Human));
    game.op(killer, Op::Found { name: "Keel".to_owned() }).unwrap();
    game.op(killer, Op::Invite(mate)).unwrap();
    game.op(mate, Op::Join(CharterId(1))).unwrap();
    let mates = game.ship(mate, game.common(1, Faction::Human));
    let before = game.of_pilot::<Purse>(killer).salt;
    game.kill(mates);
    assert_eq!(game.of_pilot::<Purse>(killer).salt, before);
}

#[test]
fn rule_11_a_pilots_wreck_holds_some_of_what_it_had_and_no_more() {
    let mut game = world();
    let pilot = game.pilot();
    let fit = Fit::starter(game.balance());
    let ships: Vec<ShipId> = (0..2000).map(|_| game.ship(pilot, fit)).collect();
    game.kill_all(&ships);
    let wrecks = wrecks(&game);
    assert!(
        wrecks.iter().all(|wreck| wreck.load.material == 0 && wreck.load.remnants == 0 && wreck.load.copy.is_none())
    );
    let drop = f64::from(game.balance().pay.drop.get());
    about(wrecks.iter().map(|wreck| wreck.load.modules.len()).sum(), 6 * 2000, drop);
    let fitted: Vec<&Module> = fit.modules().map(|(_, module)| module).collect();
    assert!(wrecks.iter().flat_map(|wreck| &wreck.load.modules).all(|module| fitted.contains(&module)));
}

#[test]
fn no_entity_is_left_of_wrecks_that_are_gone() {
    let mut game = world();
    game.step(5);
    let count = |game: &mut Game| {
        let world = game.app.world_mut();
        world.query::<Entity>().iter(world).count()
    };
    let before = count(&mut game);
    let fit = Fit::npc(game.balance(), &game.balance().layers[2], ClassId(1), Faction::Raider);
    let ships = game.squad(&[fit; 8], Hex::CENTRE);
    game.kill_all(&ships);
    game.step((game.balance().pay.wreck_s.get() * 20.0) as u64 + 2);
    // A squad that no map counts is despawned with its last ship only where squads are.
    assert!(count(&mut game) <= before + 1);
}
