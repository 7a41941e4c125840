//! What charters build, and what they build it of (rule 11): berths, outposts and harvests.

use keel_balance::Faction;
use keel_map::{Hex, MapKey, Terrain};
use keel_rules::{ClassId, Fit, Line, Pools};
use keel_sim::{
    Battery, Cargo, CharterId, Condition, Done, Force, Harvest, InSector, Load, Op, OperatorOps, PilotId, Ship, ShipId,
    Squad, Structure, StructureKind, Wreck, WreckIndex,
};
use keel_testkit::{Game, Setup};

const BERTH: StructureKind = StructureKind::Berth;
const OUTPOST: StructureKind = StructureKind::Outpost;

/// All maps, and a charter's head with a ship at a place of one of them.
fn headed(map: MapKey, hex: Hex) -> (Game, PilotId, ShipId) {
    let mut game = Game::new(Setup { layer: 4, others: true, ..Setup::default() });
    game.go_on_at(map);
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(0, Faction::Human), hex);
    game.op(pilot, Op::Found { name: "Keel".to_owned() }).unwrap();
    (game, pilot, ship)
}

fn structure(game: &Game, map: MapKey, hex: Hex) -> Option<Structure> {
    game.app.world().get::<Structure>(game.sector(map, hex)).copied()
}

#[test]
fn rule_11_charters_build_in_any_rift_and_on_layers_4_to_6_for_ore_gas_and_material() {
    for (map, may) in MapKey::all().map(|map| (map, map.kind == keel_map::MapKind::Rift || map.tier >= 4)) {
        let hex = Hex::new(2, 0);
        let (mut game, pilot, ship) = headed(map, hex);
        if !may {
            game.stock(pilot);
            for kind in StructureKind::ALL {
                let text = "Charters build nothing on this layer.";
                game.refuses(pilot, Op::Build { ship, kind }, text);
            }
            continue;
        }
        game.refuses(
            pilot,
            Op::Build { ship, kind: BERTH },
            "That takes 120 ore, 60 gas and 200 material. You have 0, 0 and 0.",
        );
        game.stock(pilot);
        let done = game.op(pilot, Op::Build { ship, kind: OUTPOST }).unwrap();
        assert_eq!((done, done.to_string()), (Done::Built(OUTPOST), "The charter's outpost stands.".to_owned()));
        let cargo = game.of_pilot::<Cargo>(pilot);
        assert_eq!((cargo.ore, cargo.gas, cargo.material), (10_000 - 60, 10_000 - 30, 10_000 - 80));
        assert_eq!(structure(&game, map, hex).map(|built| (built.kind, built.charter)), Some((OUTPOST, CharterId(1))));
        game.refuses(pilot, Op::Build { ship, kind: BERTH }, "There is a Haven or a structure in this sector already.");
    }
}

#[test]
fn rule_11_a_structure_is_shot_at_by_the_one_path_and_falls() {
    let (map, hex) = (MapKey::rift(4), Hex::new(2, 0));
    let (mut game, head, builder) = headed(map, hex);
    game.build_berth(head, builder).unwrap();
    game.op(head, Op::Dock { ship: builder }).unwrap();
    let berth = structure(&game, map, hex).unwrap().ship;
    // 0.9 × 400 × 30 hull, 0.9 × 100 × 15 shield, and nothing to shoot with.
    let card = game.card(berth).clone();
    assert_eq!((card.full.hull.round(), card.full.shield.round(), card.gun), (10_800.0, 1350.0, None));
    let (raider, scout) = (game.pilot(), game.pilot_in(game.common(4, Faction::Raider)));
    let raids = game.ship_at(raider, game.common(4, Faction::Raider), hex);
    game.refuses(head, Op::Focus { ship: builder, target: berth }, "This ship is docked. Undock first.");
    let mate = game.ship_at(head, game.common(0, Faction::Human), hex);
    game.refuses(head, Op::Focus { ship: mate, target: berth }, "That is your own charter's.");
    game.refuses(scout.0, Op::Focus { ship: scout.1, target: berth }, "That ship is not in your sector.");
    assert!(matches!(game.op(raider, Op::Attack { ship: raids, target: berth }), Ok(Done::Locking { .. })));
    let alarm = "pilot 2's Carrier 4 is locking your charter's berth at 2 0 on Rift 4.";
    let alarms =
        |game: &Game| game.log(head).iter().filter(|(_, line)| line.contains("is locking your charter's")).count();
    game.says(head, alarm);
    // Not again and again.
    for _ in 0..5 {
        game.op(raider, Op::Hold { ship: raids }).unwrap();
        game.op(raider, Op::Attack { ship: raids, target: berth }).unwrap();
    }
    assert_eq!(alarms(&game), 1);
    game.set(raids, (Battery(1e9), Condition(Pools { shield: 1e9, hull: 1e9 })));
    game.step(200);
    let pools = game.get::<Condition>(berth).0;
    assert!(pools.shield < card.full.shield || pools.hull < card.full.hull, "{pools:?}");
    assert!(game.shots_of(raids).all(|shot| shot.target.id == berth && shot.raw > 0.0));
    while game.lives(berth) {
        game.step(20);
        assert!(game.now() < 40_000);
    }
    assert_eq!(structure(&game, map, hex), None);
    assert!(!game.is_docked(builder), "who was docked there is in space");
    assert_eq!(game.hex(builder), hex);
    let log = game.log(head);
    assert!(log.iter().any(|(_, line)| line == "Your charter's berth at 2 0 on Rift 4 is destroyed."), "{log:?}");
    assert!(log.iter().any(|(_, line)| line == "The dock is gone. The ship is in space."));
    game.refuses(head, Op::Dock { ship: builder }, "A Rift has no Haven. Leave through a wormhole.");
    // An order to dock in the step in which the berth falls is told of, too.
    game.build_berth(head, builder).unwrap();
    let berth = structure(&game, map, hex).unwrap().ship;
    game.order(head, Op::Dock { ship: builder });
    game.kill(berth);
    game.says(head, "The ship could not dock.");
    // The charter may build again, and the sector is free.
    game.build_berth(head, builder).unwrap();
}

#[test]
fn rule_10_nobody_fires_on_a_structure_without_being_told_to() {
    let (map, hex) = (MapKey::layer(5), Hex::new(2, 0));
    let (mut game, head, builder) = headed(map, hex);
    game.build_berth(head, builder).unwrap();
    game.op(head, Op::Dock { ship: builder }).unwrap();
    let berth = structure(&game, map, hex).unwrap().ship;
    let squad = game.squad(&[game.common(4, Faction::Raider); 3], hex);
    let other = game.pilot();
    let ships: Vec<ShipId> =
        (0..2).map(|_| game.ship_at(other, game.common(2, Faction::Human), Hex::new(3, 0))).collect();
    for &ship in &ships {
        game.op(other, Op::Stance { ship, stance: keel_sim::Stance::Aggressive }).unwrap();
    }
    game.kill_all(&squad);
    let squad = game.squad(&[game.common(0, Faction::Raider)], Hex::new(4, 0));
    game.op(other, Op::Move { ship: ships[0], to: hex }).unwrap();
    game.step(400);
    assert_eq!(ships.iter().filter(|&&ship| game.hex(ship) == hex).count(), 2);
    assert!(ships.iter().chain(&squad).all(|&ship| game.target(ship) != Some(berth)));
    assert_eq!(game.get::<Condition>(berth).0, game.card(berth).full);
}

#[test]
fn rule_11_a_structure_leaves_less_than_it_took() {
    for (kind, material) in [(BERTH, 50), (OUTPOST, 20)] {
        let (map, hex) = (MapKey::rift(6), Hex::new(2, 0));
        let (mut game, head, ship) = headed(map, hex);
        game.stock(head);
        game.op(head, Op::Build { ship, kind }).unwrap();
        let built = structure(&game, map, hex).unwrap().ship;
        game.kill(built);
        let world = game.app.world();
        let wrecks: Vec<_> =
            world.resource::<WreckIndex>().iter().filter_map(|(_, wreck)| world.get::<Wreck>(wreck)).collect();
        assert_eq!(wrecks.len(), 1);
        assert_eq!(wrecks[0].load, Load { material, ..Load::default() }, "a quarter of what it took");
    }
}

#[test]
fn rule_11_a_map_has_so_many_structures_in_all() {
    let mut balance = keel_testkit::shipped_balance();
    balance.structures.a_map = 3;
    let mut game =
        Game::new(Setup { balance: std::sync::Arc::new(balance), layer: 4, others: true, ..Setup::default() });
    let built: Vec<_> = (0..3)
        .flat_map(|n| {
            let head = game.pilot();
            game.op(head, Op::Found { name: format!("Keel{n}") }).unwrap();
            game.stock(head);
            [0, 1].map(|row| {
                let ship = game.ship_at(head, game.common(0, Faction::Human), Hex::new(3, 2 * n + row));
                let text = game.op(head, Op::Build { ship, kind: OUTPOST }).map_err(|refusal| refusal.to_string());
                text.map(|_| ())
            })
        })
        .collect();
    let full = Err("This map has all the structures that it can have.".to_owned());
    assert_eq!(built, [Ok(()), Ok(()), Ok(()), full.clone(), full.clone(), full]);
}

#[test]
fn rule_11_so_many_of_each_and_none_in_the_yard() {
    let map = MapKey::layer(4);
    let (mut game, head, ship) = headed(map, Hex::new(2, 0));
    game.stock(head);
    let ships: Vec<ShipId> = (-5..5).map(|col| game.ship_at(head, Fit::bare(ClassId(0)), Hex::new(col, 3))).collect();
    for &ship in &ships {
        game.order(head, Op::Build { ship, kind: OUTPOST });
    }
    game.step(1);
    let answers: Vec<String> = game
        .answers()
        .iter()
        .rev()
        .take(10)
        .map(|answer| answer.result.map_or_else(|refusal| refusal.to_string(), |done| done.to_string()))
        .collect();
    let all = "Your charter has all that it can have of that: 6.";
    assert!(answers[..4].iter().all(|answer| answer == all), "{answers:?}");
    assert!(answers[4..].iter().all(|answer| answer == "The charter's outpost stands."));
    assert!(game.op(head, Op::Build { ship, kind: BERTH }).is_ok(), "each kind counts by itself");
    let home = game.ship_at(head, game.common(0, Faction::Human), Hex::CENTRE);
    game.op(head, Op::Activate { ship: home }).unwrap();
    game.op(head, Op::Dock { ship: home }).unwrap();
    for class in 5..7 {
        let op = Op::Commission { class: ClassId(class), line: Line::Line };
        game.refuses(head, op, "The yard does not make that.");
    }
}

#[test]
fn rule_11_a_charter_that_dissolves_takes_what_it_built_with_it() {
    let (map, hex) = (MapKey::rift(2), Hex::new(2, 0));
    let (mut game, head, builder) = headed(map, hex);
    let before = game.ships().len();
    game.build_berth(head, builder).unwrap();
    game.op(head, Op::Dock { ship: builder }).unwrap();
    let berth = structure(&game, map, hex).unwrap().ship;
    let (raider, _) = game.pilot_in(game.common(0, Faction::Human));
    let hunter = game.ship_at(raider, game.common(0, Faction::Human), hex);
    game.op(raider, Op::Focus { ship: hunter, target: berth }).unwrap();
    game.op(head, Op::Leave).unwrap();
    game.step(1);
    assert!(!game.lives(berth) && structure(&game, map, hex).is_none());
    assert_eq!((game.target(hunter), game.is_docked(builder)), (None, false));
    assert_eq!(game.ships().len(), before + 2);
    game.step(100);
}

#[test]
fn rule_13_a_structures_sector_never_changes_whatever_storms_come() {
    let mut game = Game::new(Setup { layer: 4, others: true, generated: true, ..Setup::default() });
    game.app.insert_resource(OperatorOps(true));
    let rift = MapKey::rift(6);
    game.go_on_at(rift);
    let map = game.app.world().resource::<keel_sim::Maps>().get(rift).unwrap();
    let layout = |game: &Game| game.app.world().get::<keel_sim::Map>(map).unwrap().layout.clone();
    let belts: Vec<(Hex, Terrain)> =
        layout(&game).sectors().filter(|(_, terrain)| *terrain != Terrain::Open).take(6).collect();
    let head = game.pilot();
    game.op(head, Op::Found { name: "Keel".to_owned() }).unwrap();
    game.stock(head);
    for &(hex, _) in &belts {
        let ship = game.ship_at(head, game.common(0, Faction::Human), hex);
        game.op(head, Op::Build { ship, kind: OUTPOST }).unwrap();
    }
    for _ in 0..40 {
        game.op(head, Op::Force(Force::Storm(rift))).unwrap();
        for &(hex, terrain) in &belts {
            assert_eq!(layout(&game).terrain(hex), Some(terrain));
            let built = structure(&game, rift, hex).unwrap();
            let stands = game.find::<InSector>(built.ship).unwrap().0;
            assert_eq!(stands, game.sector(rift, hex));
        }
    }
}

/// A ship in a sector of a Rift with a belt or with a cloud.
fn at_ground(is_belt: bool) -> (Game, PilotId, ShipId, Hex, u64) {
    let mut game = Game::new(Setup { layer: 4, others: true, generated: true, ..Setup::default() });
    let rift = MapKey::rift(3);
    game.go_on_at(rift);
    let map = game.app.world().resource::<keel_sim::Maps>().get(rift).unwrap();
    let layout = game.app.world().get::<keel_sim::Map>(map).unwrap().layout.clone();
    let found = layout.sectors().find_map(|(hex, terrain)| match terrain {
        Terrain::Belt { richness } if is_belt => Some((hex, richness)),
        Terrain::Cloud { richness } if !is_belt => Some((hex, richness)),
        _ => None,
    });
    let (hex, richness) = found.unwrap();
    let pilot = game.pilot();
    let ship = game.ship_at(pilot, game.common(0, Faction::Human), hex);
    (game, pilot, ship, hex, richness.into())
}

#[test]
fn rule_11_a_harvest_takes_its_time_and_yields_what_the_sector_is_rich_in() {
    for is_belt in [true, false] {
        let (mut game, pilot, ship, _, richness) = at_ground(is_belt);
        let done = game.op(pilot, Op::Harvest { ship }).unwrap();
        assert_eq!(done.to_string(), "Harvesting for 20 s.");
        game.refuses(pilot, Op::Harvest { ship }, "This ship is harvesting already.");
        game.step(398);
        assert_eq!(*game.of_pilot::<Cargo>(pilot), Cargo::default());
        game.step(1);
        let (ore, gas) = if is_belt { (richness, 0) } else { (0, richness) };
        assert_eq!(*game.of_pilot::<Cargo>(pilot), Cargo { ore, gas, ..Cargo::default() });
        let good = if is_belt { "ore" } else { "gas" };
        game.says(pilot, &format!("Harvested {richness} {good}."));
        game.step(500);
        assert_eq!(game.of_pilot::<Cargo>(pilot).ore + game.of_pilot::<Cargo>(pilot).gas, richness, "once an order");
    }
}

#[test]
fn rule_11_in_the_sector_of_an_own_outpost_a_harvest_yields_twice() {
    let (mut game, pilot, ship, hex, richness) = at_ground(true);
    game.op(pilot, Op::Found { name: "Keel".to_owned() }).unwrap();
    game.stock(pilot);
    game.op(pilot, Op::Build { ship, kind: OUTPOST }).unwrap();
    let other = game.pilot();
    let theirs = game.ship_at(other, game.common(0, Faction::Human), hex);
    let before = game.of_pilot::<Cargo>(pilot).ore;
    game.order(other, Op::Harvest { ship: theirs });
    game.op(pilot, Op::Harvest { ship }).unwrap();
    game.step(400);
    assert_eq!(game.of_pilot::<Cargo>(pilot).ore - before, 2 * richness);
    assert_eq!(game.of_pilot::<Cargo>(other).ore, richness);
}

#[test]
fn rule_11_a_harvest_ends_with_the_stay() {
    let (mut game, pilot, ship, hex, _) = at_ground(true);
    game.op(pilot, Op::Harvest { ship }).unwrap();
    assert_eq!(game.op(pilot, Op::Cancel { ship }), Ok(Done::Stopped));
    assert!(game.find::<Harvest>(ship).is_none());
    // A transit is no stay, and a gathering that leads nowhere is no reason to stop.
    let mate = game.ship_at(pilot, game.common(0, Faction::Human), hex);
    game.op(pilot, Op::Harvest { ship: mate }).unwrap();
    game.op(pilot, Op::Gather).unwrap();
    assert!(game.find::<Harvest>(mate).is_some());
    game.op(pilot, Op::Harvest { ship }).unwrap();
    game.app.insert_resource(OperatorOps(true));
    game.op(pilot, Op::Force(Force::Wormhole(MapKey::layer(1)))).unwrap();
    game.step(1);
    let door = game.app.world().resource::<keel_sim::Wormholes>().found_by(pilot).next().unwrap().0;
    game.op(pilot, Op::Follow { ship: mate, follows: false }).unwrap();
    game.op(pilot, Op::Jump { ship, wormhole: door }).unwrap();
    assert!(game.find::<Harvest>(ship).is_none() && game.find::<Harvest>(mate).is_some());
    game.op(pilot, Op::Cancel { ship }).unwrap();
    game.kill(mate);
    game.op(pilot, Op::Harvest { ship }).unwrap();
    let map = game.app.world().resource::<keel_sim::Maps>().get(MapKey::rift(3)).unwrap();
    let layout = game.app.world().get::<keel_sim::Map>(map).unwrap().layout.clone();
    let to = hex.neighbours().find(|&hex| layout.contains(hex)).unwrap();
    game.op(pilot, Op::Move { ship, to }).unwrap();
    game.step(40);
    assert!(game.find::<Harvest>(ship).is_none());
    assert!(game.log(pilot).iter().any(|(_, line)| line == "The ship has left its harvest."));
    game.step(400);
    assert_eq!(*game.of_pilot::<Cargo>(pilot), Cargo::default());
    if layout.terrain(to) == Some(Terrain::Open) {
        game.refuses(pilot, Op::Harvest { ship }, "There is neither belt nor cloud in this sector.");
    }
}

#[test]
fn rule_8_retreat_flies_every_escort_to_the_centre_where_it_waits() {
    let mut game = Game::new(Setup { layer: 4, others: true, ..Setup::default() });
    game.go_on_at(MapKey::rift(3));
    let pilot = game.pilot();
    let fit = game.common(0, Faction::Human);
    let active = game.ship_at(pilot, fit, Hex::new(3, 0));
    let escorts: Vec<ShipId> = [Hex::new(3, 0), Hex::new(-2, 1), Hex::new(4, 0), Hex::CENTRE]
        .into_iter()
        .map(|hex| game.ship_at(pilot, fit, hex))
        .collect();
    for (&ship, stance) in escorts.iter().zip([keel_sim::Stance::Support, keel_sim::Stance::Aggressive]) {
        game.op(pilot, Op::Stance { ship, stance }).unwrap();
    }
    let done = game.op(pilot, Op::Retreat).unwrap();
    assert_eq!(done.to_string(), "3 escorts fly to the centre.");
    game.step(200);
    assert!(escorts.iter().all(|&ship| game.hex(ship) == Hex::CENTRE));
    assert_eq!(game.hex(active), Hex::new(3, 0), "the ship that the pilot flies stays");
    // They wait, whatever their stance, while the active ship goes about.
    game.op(pilot, Op::Move { ship: active, to: Hex::new(1, 0) }).unwrap();
    game.step(200);
    assert!(escorts.iter().all(|&ship| game.hex(ship) == Hex::CENTRE));
    // Until they are told something else.
    game.op(pilot, Op::Gather).unwrap();
    game.step(200);
    assert!(escorts.iter().all(|&ship| game.hex(ship) == Hex::new(1, 0)));
    let lone = game.pilot_in(fit).0;
    assert_eq!(game.op(lone, Op::Retreat), Ok(Done::Retreating { ships: 0 }));
    let none = game.pilot();
    game.refuses(none, Op::Retreat, "You have no ship.");
}

#[test]
fn no_entity_is_left_of_what_was_built_and_fell() {
    let (map, hex) = (MapKey::rift(4), Hex::new(2, 0));
    let (mut game, head, builder) = headed(map, hex);
    let count = |game: &mut Game| {
        let world = game.app.world_mut();
        world.query::<bevy_ecs::entity::Entity>().iter(world).count()
    };
    game.step(3);
    let before = count(&mut game);
    for _ in 0..5 {
        game.build_berth(head, builder).unwrap();
        let berth = structure(&game, map, hex).unwrap().ship;
        game.kill(berth);
        game.step((game.balance().pay.wreck_s.get() * 20.0) as u64 + 1);
        assert_eq!(count(&mut game), before);
    }
    assert!(game.ships().iter().all(|ship: &Ship| ship.pilot().is_some()));
    let world = game.app.world_mut();
    assert_eq!(world.query::<&Squad>().iter(world).count(), 0);
}
