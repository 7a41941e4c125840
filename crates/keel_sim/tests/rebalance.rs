//! A world that lives on by another balance.

#[allow(dead_code, reason = "each test file uses its own part of it")]
mod any;

use keel_balance::{Balance, Faction, System, Wear};
use keel_map::MapKey;
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, Line, Pools};
use keel_sim::{
    Arrival, Battery, Card, Cargo, Charts, CombatLog, Condition, Cut, Force, Map, Maps, Op, OperatorOps,
    RebalanceError, ShipId, ShipIndex, ShipSpec, Spot, Storms, WallClock, Wormholes, WreckIndex, changes, spawn_ship,
    spawn_squad, whole,
};
use keel_testkit::{Game, SHIPPED_BALANCE, Setup, shipped_balance};

/// The shipped balance with other values at these paths.
fn with(edits: &[(&str, &str)]) -> Balance {
    let leaves = Balance::leaves("balance.ron", SHIPPED_BALANCE).unwrap();
    let mut spans: Vec<_> = edits
        .iter()
        .map(|(path, value)| {
            let leaf = leaves.iter().find(|leaf| leaf.path == *path).unwrap_or_else(|| panic!("no {path}"));
            (leaf.span.clone(), *value)
        })
        .collect();
    spans.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = SHIPPED_BALANCE.to_owned();
    spans.into_iter().for_each(|(span, value)| text.replace_range(span, value));
    Balance::parse("edited", &text).unwrap()
}

/// The shipped balance with its text changed.
fn edited(from: &str, to: &str) -> Balance {
    assert!(SHIPPED_BALANCE.contains(from), "{from}");
    Balance::parse("edited", &SHIPPED_BALANCE.replacen(from, to, 1)).unwrap()
}

const BERTH: &str = "        \"Berth\": (";
const LINER: &str = "        \"Liner\": (move_s: 3, lock_s: 4.00, evasion: 0, hull: 9, shield: 5, volley: 1, guns: 1, power_grid: 160, slots: 4),\n";

/// The shipped balance with a class more, after all others.
fn with_liner() -> Balance {
    let line = SHIPPED_BALANCE.lines().find(|line| line.starts_with(BERTH)).unwrap();
    edited(&format!("{line}\n"), &format!("{line}\n{LINER}"))
}

fn cards(game: &Game) -> Vec<(ShipId, Card)> {
    game.ships().iter().map(|ship| (ship.id, game.get::<Card>(ship.id).clone())).collect()
}

fn sheets(game: &Game) -> String {
    cards(game).iter().map(|(id, card)| format!("{id}: {:?}\n", card.0)).collect()
}

fn map(game: &Game, key: MapKey) -> &Map {
    game.app.world().get::<Map>(game.app.world().resource::<Maps>().get(key).unwrap()).unwrap()
}

#[test]
fn the_same_balance_again_changes_nothing() {
    let mut game = any::world(4, 3);
    game.step(50);
    let (hash, before) = (game.hash(), cards(&game));
    game.rebalance(shipped_balance()).unwrap();
    assert_eq!(game.hash(), hash);
    for ((_, one), (_, two)) in before.iter().zip(cards(&game)) {
        assert!(std::sync::Arc::ptr_eq(&one.0, &two.0), "a card that stays is the same one, and is not told again");
    }
}

#[test]
fn a_card_says_at_once_what_the_balance_says_and_one_that_it_does_not_touch_stays() {
    let mut game = Game::default();
    let (_, patrol) = game.pilot_in(game.common(0, Faction::Human));
    let (_, cruiser) = game.pilot_in(game.common(3, Faction::Raider));
    let before = (game.get::<Card>(patrol).clone(), game.get::<Card>(cruiser).clone());
    game.rebalance(with(&[("classes.Patrol.evasion", "20"), ("factions.human.gun.volley", "1.8")])).unwrap();
    assert_eq!(game.card(patrol).evasion, before.0.0.evasion + 5.0);
    assert_eq!(game.card(patrol).gun.unwrap().volley, before.0.0.gun.unwrap().volley * 2.0);
    assert!(std::sync::Arc::ptr_eq(&game.get::<Card>(cruiser).0, &before.1.0));
    // Whoever comes later has it too, and shares the card.
    let (_, later) = game.pilot_in(game.common(0, Faction::Human));
    assert!(std::sync::Arc::ptr_eq(&game.get::<Card>(later).0, &game.get::<Card>(patrol).0));
}

#[test]
fn pools_and_battery_keep_their_share_full_stays_full_and_nobody_dies_of_it() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Sentry);
    let [whole, half, last] = [0; 3].map(|_| game.pilot_in(fit).1);
    let full = game.card(whole).full;
    let battery = game.card(whole).battery;
    let halves = Pools { shield: full.shield / 2.0, hull: full.hull / 4.0 };
    game.set(half, (Condition(halves), Battery(battery / 8.0)));
    game.set(last, Condition(Pools { shield: 0.0, hull: 1e-30 }));
    let edits = [("baseline.hull", "80"), ("baseline.shield", "300"), ("baseline.battery", "50")];
    game.rebalance(with(&edits)).unwrap();
    let is = game.card(whole).full;
    assert_eq!((is.hull, is.shield, game.card(whole).battery), (full.hull / 5.0, full.shield * 3.0, battery / 2.0));
    assert_eq!((game.get::<Condition>(whole).0, game.get::<Battery>(whole).0), (is, battery / 2.0));
    let held = game.get::<Condition>(half).0;
    assert!((held.shield / is.shield - 0.5).abs() < 1e-6 && (held.hull / is.hull - 0.25).abs() < 1e-6, "{held:?}");
    assert_eq!(game.get::<Battery>(half).0, battery / 16.0);
    let held = game.get::<Condition>(last).0;
    assert!(held.hull > 0.0 && held.shield == 0.0, "{held:?}");
    game.step(1);
    assert!([whole, half, last].iter().all(|&ship| game.lives(ship)));
}

#[test]
fn a_ship_at_rest_fills_what_has_grown() {
    // A ship whose card has not the same maximum is full at once, so it is a rate and a half-full pool that must wake it.
    let mut game = Game::default();
    let (_, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.step(200);
    game.rebalance(with(&[("baseline.battery", "200")])).unwrap();
    game.change::<Battery>(ship, |battery| battery.0 = 1.0);
    game.step(400);
    assert_eq!(game.get::<Battery>(ship).0, game.card(ship).battery);
}

#[test]
fn a_world_that_is_rebalanced_and_back_has_the_cards_that_it_had() {
    let mut game = any::world(5, 9);
    game.step(100);
    let before = sheets(&game);
    game.rebalance(with(&[("baseline.hull", "900"), ("resist_cap", "20"), ("moving.window_s", "2")])).unwrap();
    assert_ne!(sheets(&game), before);
    game.step(100);
    game.rebalance(shipped_balance()).unwrap();
    let after = sheets(&game);
    // Some may have been lost, or worn, in the fight.
    let same = after.lines().filter(|line| before.lines().any(|other| other == *line)).count();
    assert!(same > 0, "{after}");
    let mut still = Game::default();
    let (_, ship) = still.pilot_in(still.common(2, Faction::Breaker));
    let card = still.card(ship).clone();
    still.rebalance(with(&[("baseline.hull", "900")])).unwrap();
    still.rebalance(shipped_balance()).unwrap();
    assert_eq!(*still.card(ship), card);
}

/// Refuses the balance, with those words, and changes nothing.
#[track_caller]
fn refuses(game: &mut Game, balance: Balance, words: &str) -> RebalanceError {
    let (hash, before) = (game.hash(), sheets(game));
    let error = game.rebalance(balance).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!((game.hash(), sheets(game)), (hash, before));
    assert_eq!(game.app.world().resource::<keel_sim::Tuning>().balance.hash(), game.balance().hash());
    error
}

#[test]
fn a_balance_by_which_a_ship_could_not_be_changes_nothing() {
    let mut game = any::world(4, 1);
    let systems = [System::Sensor, System::Evasion, System::Jam, System::Clamp, System::Battery];
    let fit = systems.into_iter().fold(game.common(4, Faction::Human), |fit, system| fit.with(system, Faction::Human));
    let (_, ship) = game.pilot_in(fit);
    game.step(30);
    let error = refuses(&mut game, with(&[("classes.Carrier.slots", "4")]), &format!("Human Carrier {ship}: "));
    assert!(matches!(error, RebalanceError::Ships(_)), "{error:?}");
    let error = refuses(&mut game, with(&[("grid.sensor", "1000")]), "power grid");
    assert!(error.to_string().lines().skip(1).all(|line| line.starts_with("  ")), "{error}");
    // What it has the world make, though nobody has it yet.
    let error = refuses(&mut game, with(&[("grid.brace", "1000")]), "starter: ");
    assert!(matches!(error, RebalanceError::Fits(_)), "{error:?}");
}

#[test]
fn classes_stay_where_they_are_and_new_ones_come_after_them() {
    let mut game = any::world(4, 2);
    game.step(10);
    let patrol = SHIPPED_BALANCE.lines().find(|line| line.starts_with("        \"Patrol\"")).unwrap();
    let before = edited(&format!("{patrol}\n"), &format!("{LINER}{patrol}\n"));
    refuses(&mut game, before, "row 1 of the classes is Patrol, and would be Liner");

    let was = sheets(&game);
    game.rebalance(with_liner()).unwrap();
    assert_eq!(sheets(&game), was);
    // Nobody has one yet, so it may go again.
    game.rebalance(shipped_balance()).unwrap();
    game.rebalance(with_liner()).unwrap();
    let liner = ClassId::named(game.balance(), "Liner").unwrap();
    let (pilot, ship) = game.pilot_in(Fit { line: Line::Anchor, ..Fit::common(game.balance(), liner, Faction::Human) });
    refuses(&mut game, shipped_balance(), "the class Liner is gone, and Human Liner");
    // What is written in a log, lies in a wreck or is on a blueprint counts as well.
    let drone = game.drone(game.common(0, Faction::Human));
    game.hurt(pilot, drone, 1.0);
    game.kill_by(drone, ship);
    game.step(1);
    game.kill(ship);
    game.step(2);
    let error = refuses(&mut game, shipped_balance(), "the class Liner is gone, and ");
    assert!(!error.to_string().contains("Human Liner"), "{error}");
    let mut game = Game::default();
    game.rebalance(with_liner()).unwrap();
    let (pilot, _) = game.pilot_in(game.common(0, Faction::Human));
    let fleet = game.fleet_of(pilot);
    let blueprint = keel_rules::Blueprint::Hull(liner);
    game.app.world_mut().get_mut::<Cargo>(fleet).unwrap().originals.insert(blueprint);
    refuses(&mut game, shipped_balance(), "a blueprint of pilot 1");
}

#[test]
fn what_maps_allow_holds_at_once_and_a_lock_that_is_forbidden_ends() {
    let mut game = Game::new(Setup { layer: 3, others: true, ..Setup::default() });
    let [one, two] = [0, 1].map(|_| game.pilot_in(game.common(1, Faction::Human)));
    game.op(one.0, Op::Attack { ship: one.1, target: two.1 }).unwrap();
    game.step(2);
    assert_eq!(game.target(one.1), Some(two.1));
    game.rebalance(with(&[("layers[2].fire", "Never"), ("layers[2].sector_cap", "2"), ("rifts[2].sector_cap", "4")]))
        .unwrap();
    assert_eq!((map(&game, MapKey::layer(3)).sector_cap, map(&game, MapKey::rift(3)).sector_cap), (2, 4));
    game.step(1);
    assert_eq!(game.target(one.1), None);
    assert!(game.op(one.0, Op::Attack { ship: one.1, target: two.1 }).is_err());
    assert_eq!(map(&game, MapKey::rift(3)).fire, keel_balance::FireRule::Open, "a Rift's is its own");
}

#[test]
fn a_haven_that_goes_casts_off_who_is_docked_there_and_one_that_comes_takes_them() {
    let mut game = Game::new(Setup { layer: 3, ..Setup::default() });
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.op(pilot, Op::Dock { ship }).unwrap();
    game.step(2);
    assert!(game.is_docked(ship));
    game.rebalance(with(&[("layers[2].haven", "false")])).unwrap();
    game.step(1);
    assert!(!game.is_docked(ship));
    game.says(pilot, "The dock is gone. The ship is in space.");
    assert!(game.op(pilot, Op::Dock { ship }).is_err());
    game.rebalance(shipped_balance()).unwrap();
    game.op(pilot, Op::Dock { ship }).unwrap();
    game.step(2);
    assert!(game.is_docked(ship));
}

#[test]
fn squads_come_for_the_room_that_there_is_and_nobody_waits_longer_than_anyone_would() {
    let setup = || Setup { squads: true, generated: true, ..Setup::default() };
    let squads = |game: &mut Game| game.app.world_mut().query::<&keel_sim::Squad>().iter(game.app.world()).count();
    let mut game = Game::new(setup());
    game.step(400);
    let before = squads(&mut game);
    let per = game.balance().squads.per_sectors / 2;
    game.rebalance(with(&[("squads.per_sectors", &per.to_string()), ("map.layer.squads", "500")])).unwrap();
    game.step(400);
    assert!(squads(&mut game) > before, "{} of {before}", squads(&mut game));

    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let drone = game.drone(game.common(4, Faction::Human));
    game.kill(drone);
    game.kill(ship);
    game.step(2);
    assert_eq!(game.active(pilot), None);
    let wrecks = |game: &Game| game.app.world().resource::<WreckIndex>().iter().len();
    assert!(wrecks(&game) > 0);
    game.rebalance(with(&[("starter.respawn_s", "0.1"), ("pay.wreck_s", "0.2")])).unwrap();
    game.step(6);
    assert!(game.active(pilot).is_some());
    assert_eq!(wrecks(&game), 0);
}

#[test]
fn a_combat_log_of_another_length_keeps_the_newest_and_is_kept_so() {
    let mut game = Game::new(Setup { balance: keel_testkit::unworn_balance().into(), ..Setup::default() });
    let (pilot, ship) = game.pilot_in(game.common(4, Faction::Human));
    let target = game.drone(game.common(4, Faction::Human));
    game.op(pilot, Op::Attack { ship, target }).unwrap();
    let wear = Wear { shots: u16::MAX, hits: u16::MAX, ..shipped_balance().wear };
    let mut kept = Cut { step: 0, is_whole: true, rows: Default::default() };
    let mut count = |game: &mut Game, most: u16| {
        for _ in 0..4 {
            let (battery, full) = (game.card(ship).battery, game.card(target).full);
            game.set(ship, Battery(battery));
            game.set(target, Condition(full));
            game.step(100);
            kept.merge(changes(game.app.world_mut()));
        }
        let rows = kept.rows.keys().filter(|key| key.kind == keel_sim::Kind::Shot).count();
        let all = whole(game.app.world_mut());
        assert_eq!(rows, all.rows.keys().filter(|key| key.kind == keel_sim::Kind::Shot).count());
        let setup = Setup { balance: std::sync::Arc::new(game.balance().clone()), ..Setup::default() };
        let rows = kept.rows.clone().into_iter().filter_map(|(key, row)| Some((key, row?)));
        assert_eq!(Game::restored(setup, game, rows).unwrap().hash(), game.hash());
        let log = game.of_pilot::<CombatLog>(pilot);
        assert!(log.iter().len() <= most.into());
        (log.iter().len(), log.iter().last().unwrap().step)
    };
    for most in [7, 3, 12, 5] {
        let balance = Balance { combat_log: most, wear: wear.clone(), ..shipped_balance() };
        game.rebalance(balance).unwrap();
        let (length, last) = count(&mut game, most);
        assert_eq!(length, usize::from(most));
        assert!(last + 100 > game.now());
    }
}

#[test]
fn who_sees_farther_looks_about_at_once() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human).with(System::Sensor, Faction::Human);
    let (pilot, _) = game.pilot_in(fit);
    game.step(2);
    let seen = |game: &Game| game.of_pilot::<Charts>(pilot).get(MapKey::layer(3)).unwrap().count();
    let before = seen(&game);
    game.rebalance(with(&[("gear.sensor", "4")])).unwrap();
    game.step(1);
    assert!(seen(&game) > before);
}

#[test]
fn storms_to_come_keep_their_names_and_wormholes_open_as_many_as_there_are_to_be() {
    let mut game = Game::new(Setup { others: true, generated: true, ..Setup::default() });
    game.app.world_mut().resource_mut::<WallClock>().set(1_800_000_000);
    game.step(2);
    let name = |game: &Game, at: usize| {
        let (_, storm) = game.app.world().resource::<Storms>().journal()[at];
        game.balance().storms.names[usize::from(storm.name)].clone()
    };
    let names: Vec<String> = (0..12).map(|at| name(&game, at)).collect();
    let mut balance = with(&[("wormholes.per_layer", "4")]);
    balance.storms.names.reverse();
    balance.storms.names.push("a last one".to_owned());
    game.rebalance(balance).unwrap();
    assert_eq!((0..12).map(|at| name(&game, at)).collect::<Vec<_>>(), names);
    let open = game.app.world().resource::<Wormholes>().iter().len();
    game.step(1);
    assert_eq!(game.app.world().resource::<Wormholes>().iter().len(), open + 12);
    // Fewer names than any storm has.
    let mut balance = shipped_balance();
    balance.storms.names.truncate(1);
    game.rebalance(balance).unwrap();
    (0..12).for_each(|at| drop(name(&game, at)));
    game.step(40);
}

#[test]
fn a_restart_by_another_balance_makes_the_world_that_a_reload_makes() {
    let mut game = filled(3);
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.op(pilot, Op::Dock { ship }).unwrap();
    game.step(2);
    assert!(game.is_docked(ship));
    let rows = whole(game.app.world_mut()).rows;
    let mut balance = with(&[
        ("baseline.hull", "500"),
        ("baseline.shield", "70"),
        ("layers[2].haven", "false"),
        ("layers[2].fire", "Never"),
        ("squads.per_sectors", "20"),
        ("starter.respawn_s", "1"),
    ]);
    balance.storms.names.reverse();
    let setup = Setup {
        balance: std::sync::Arc::new(balance.clone()),
        layer: 3,
        others: true,
        generated: true,
        squads: true,
        seed: 11,
        ..Setup::default()
    };
    let mut restarted =
        Game::restored(setup, &game, rows.into_iter().filter_map(|(key, row)| Some((key, row?)))).unwrap();
    restarted.app.insert_resource(OperatorOps(true));
    game.rebalance(balance).unwrap();
    for step in 0..60 {
        assert_eq!(restarted.hash(), game.hash(), "after {step} steps");
        game.step(1);
        restarted.step(1);
        assert!(!restarted.is_docked(ship));
    }
}

/// The whole world, filled, with an incursion and a fight of many pilots.
fn filled(layer: u8) -> Game {
    let mut game =
        Game::new(Setup { layer, others: true, generated: true, squads: true, seed: 11, ..Setup::default() });
    game.app.insert_resource(OperatorOps(true));
    let pilots: Vec<_> = (0..20).map(|n| game.pilot_in(game.common(n % 5, Faction::ALL[n as usize % 4]))).collect();
    game.op(pilots[0].0, Op::Force(Force::Incursion(MapKey::rift(6)))).unwrap();
    for (n, &(pilot, ship)) in pilots.iter().enumerate() {
        let target = pilots[(n + 1) % pilots.len()].1;
        game.order(pilot, Op::Attack { ship, target });
    }
    game.step(300);
    game
}

#[test]
fn twelve_maps_with_fights_go_on_alike_by_another_balance_and_in_little_time() {
    let balance = || with(&[("baseline.hull", "500"), ("clocks.battery_per_s", "9"), ("classes.Patrol.move_s", "0.5")]);
    let hashes = |game: &mut Game| {
        game.rebalance(balance()).unwrap();
        let mut hashes = vec![game.hash()];
        for _ in 0..5 {
            game.step(20);
            hashes.push(game.hash());
        }
        hashes
    };
    let (mut one, mut two) = (filled(6), filled(6));
    assert_eq!(hashes(&mut one), hashes(&mut two));

    // Three thousand ships, of as many fits as wear makes of them.
    let world = one.app.world_mut();
    let fleet = spawn_squad(world, keel_sim::SquadId(1_000_000));
    let maps: Vec<_> = world.resource::<Maps>().iter().collect();
    while world.resource::<ShipIndex>().iter().len() < 3000 {
        let n = world.resource::<ShipIndex>().iter().len();
        let sectors = world.get::<Map>(maps[n % maps.len()]).unwrap().sectors();
        let spot = Spot::Space(sectors[n % sectors.len()]);
        let balance = world.resource::<keel_sim::Tuning>().balance.clone();
        let mut fit = Fit::common(&balance, ClassId((n % 5) as u8), Faction::ALL[n % 4]);
        fit.armor.as_mut().unwrap().durability = (n % 97) as u8 + 1;
        let arrival = Arrival::default();
        spawn_ship(world, ShipSpec { owner: Owner::Npc, fleet, faction: Faction::Human, fit, spot, arrival }).unwrap();
    }
    one.step(5);
    one.rebalance(shipped_balance()).unwrap();
    one.step(20);
}
