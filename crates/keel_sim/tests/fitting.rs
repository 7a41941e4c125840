//! Fitting, wear, repair and hulls, in the live world (rules 2, 3 and 8).

use keel_balance::{Faction, System};
use keel_rules::{ClassId, Fit, Kind, Line, Module, Pools, Slot, Variant};
use keel_sim::{Battery, Condition, Done, Fitted, Hold, ModuleId, Op, Part, PilotId, ShipId};
use keel_testkit::{Game, Setup};

fn docked(layer: u8) -> (Game, PilotId, ShipId) {
    let mut game = Game::new(Setup { layer, ..Setup::default() });
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    game.op(pilot, Op::Dock { ship }).unwrap();
    (game, pilot, ship)
}

fn yard(kind: Kind, faction: Faction) -> Part {
    Part::Yard(kind, faction)
}

#[test]
fn rule_3_a_fit_changes_card_pools_and_hold() {
    let (mut game, pilot, ship) = docked(3);
    let gun = Kind::Gun(Variant::Slow);
    let fit = Op::Fit { ship, slot: Slot::Well(0), part: yard(gun, Faction::Raider) };
    assert_eq!(game.op(pilot, fit), Ok(Done::Fitted { kept: Some(ModuleId(1)) }));
    assert!((game.card(ship).gun.unwrap().volley - 193.75).abs() < 0.01);
    assert_eq!(game.get::<keel_sim::Ship>(ship).faction, Faction::Raider, "a contact shows the gun's maker");
    let hold: Vec<_> = game.of_pilot::<Hold>(pilot).iter().map(|(id, module)| (id, *module)).collect();
    assert_eq!(hold, [(ModuleId(1), Module::common(Kind::Gun(Variant::Plain), Faction::Human))]);
    // Back again, and the pools follow the card at once: a dock fills them.
    let back = Op::Fit { ship, slot: Slot::Well(0), part: Part::Hold(ModuleId(1)) };
    assert_eq!(game.op(pilot, back), Ok(Done::Fitted { kept: Some(ModuleId(2)) }));
    let armor = Op::Fit { ship, slot: Slot::Armor, part: Part::Empty };
    game.op(pilot, armor).unwrap();
    assert_eq!(game.get::<Condition>(ship).0, Pools { shield: 90.0, hull: 200.0 });
    let battery = Op::Fit { ship, slot: Slot::System(0), part: yard(Kind::System(System::Battery), Faction::Human) };
    assert_eq!(game.op(pilot, battery), Ok(Done::Fitted { kept: None }));
    assert_eq!(*game.get::<Battery>(ship), Battery(125.0));
}

#[test]
fn rule_3_what_makes_no_ship_is_refused_with_the_reason() {
    let (mut game, pilot, ship) = docked(3);
    let fit = |slot, kind| Op::Fit { ship, slot, part: yard(kind, Faction::Human) };
    let aura = Kind::System(System::Aura);
    game.op(pilot, fit(Slot::System(0), aura)).unwrap();
    let cloak = Kind::System(System::Cloak);
    game.refuses(pilot, fit(Slot::System(1), cloak), "The fit takes 90 power grid of 80.");
    game.refuses(pilot, fit(Slot::Armor, aura), "No suppression aura goes into the armor slot.");
    game.refuses(pilot, fit(Slot::System(1), aura), "That ship has one already: suppression aura.");
    let text = "That hull has no system slot 4: it has 1 for weapons and 3 for systems.";
    game.refuses(pilot, fit(Slot::System(3), Kind::System(System::Brace)), text);
    let hold = Op::Fit { ship, slot: Slot::Armor, part: Part::Hold(ModuleId(9)) };
    game.refuses(pilot, hold, "Your hold has no such module.");
    game.refuses(pilot, Op::Drop(ModuleId(9)), "Your hold has no such module.");
    game.refuses(pilot, Op::Repair { ship, slot: Slot::Shard }, "That slot is empty.");
    game.refuses(pilot, Op::Repair { ship, slot: Slot::Armor }, "That module is whole.");
    game.op(pilot, Op::Undock { ship }).unwrap();
    for op in [fit(Slot::Shard, Kind::Shard), Op::Repair { ship, slot: Slot::Armor }, Op::Scrap { ship }] {
        game.refuses(pilot, op, "This ship is not docked.");
    }
    let commission = Op::Commission { class: ClassId(0), line: Line::Line };
    game.refuses(pilot, commission, "This ship is not docked.");
}

#[test]
fn rule_3_durability_falls_in_battle_a_point_in_50_shots_and_hits() {
    let mut game = Game::default();
    let (pilot, ship) = game.pilot_in(game.common(0, Faction::Human));
    let drone = game.drone(game.common(4, Faction::Raider));
    game.op(pilot, Op::Focus { ship, target: drone }).unwrap();
    let durability = |game: &Game, ship, slot| {
        game.get::<Fitted>(ship).0.slot(slot).and_then(|module| module.map(|module| module.durability))
    };
    while game.shots_of(ship).count() < 50 {
        assert_eq!(durability(&game, ship, Slot::Well(0)), Some(100));
        game.set(ship, Battery(100.0));
        game.set(drone, Condition(Pools { shield: 450.0, hull: 1e9 }));
        game.step(1);
    }
    // 50 hits that the shield took whole; the armor has none.
    assert_eq!(durability(&game, ship, Slot::Well(0)), Some(99));
    assert_eq!(durability(&game, drone, Slot::Shield), Some(99));
    assert_eq!(durability(&game, drone, Slot::Armor), Some(100));
    assert!((game.card(ship).gun.unwrap().volley - 90.0 * 0.995).abs() < 0.001, "the card is the sheet the gun reads");
    assert!((game.shots_of(ship).next().unwrap().raw - 90.0).abs() < 0.001);
    game.step(40);
    game.set(ship, Battery(100.0));
    game.step(25);
    assert!((game.shots_of(ship).last().unwrap().raw - 90.0 * 0.995).abs() < 0.001);
}

#[test]
fn rule_8_repair_at_a_haven_makes_whole_for_10_quality_and_a_berth_does_none() {
    let (mut game, pilot, ship) = docked(4);
    let worn = |fit: &mut Fit| fit.armor = fit.armor.map(|armor| armor.worn_by(60));
    game.refit(ship, worn);
    let resist = game.card(ship).armor_resist().plasma;
    assert!((resist - 8.0 * 0.7).abs() < 1e-4);
    let Ok(Done::Repaired(armor)) = game.op(pilot, Op::Repair { ship, slot: Slot::Armor }) else { panic!("a repair") };
    assert_eq!((armor.durability, armor.quality), (100, 90));
    assert_eq!(Done::Repaired(armor).to_string(), "Common Human armor repaired. Its quality is 90.");
    assert_eq!(game.card(ship).armor_resist().plasma, 8.0);
    for _ in 0..9 {
        game.refit(ship, worn);
        game.op(pilot, Op::Repair { ship, slot: Slot::Armor }).unwrap();
    }
    game.refit(ship, worn);
    let text = "A repair costs 10 quality; that module has 0.";
    game.refuses(pilot, Op::Repair { ship, slot: Slot::Armor }, text);
    // At a berth a fit changes from the hold, and nothing more.
    game.op(pilot, Op::Found { name: "Keel".into() }).unwrap();
    let away = game.ship_at(pilot, game.common(0, Faction::Human), keel_map::Hex::new(1, 0));
    game.build_berth(pilot, away).unwrap();
    game.op(pilot, Op::Dock { ship: away }).unwrap();
    let haven = "There is no Haven here.";
    game.refuses(pilot, Op::Repair { ship: away, slot: Slot::Armor }, haven);
    let part = yard(Kind::Shard, Faction::Human);
    game.refuses(pilot, Op::Fit { ship: away, slot: Slot::Shard, part }, haven);
    assert!(game.op(pilot, Op::Fit { ship: away, slot: Slot::Armor, part: Part::Empty }).is_ok());
}

#[test]
fn rule_10_a_fleet_of_six_is_commissioned_at_a_haven_and_scrapped_into_the_hold() {
    let (mut game, pilot, ship) = docked(3);
    game.refuses(pilot, Op::Scrap { ship }, "That is your last ship.");
    let hull = |line| Op::Commission { class: ClassId(4), line };
    for line in [Line::Anchor, Line::Screen, Line::Line, Line::Line, Line::Line] {
        let Ok(Done::Commissioned(new)) = game.op(pilot, hull(line)) else { panic!("a hull") };
        assert!(game.is_docked(new));
        assert_eq!(game.get::<Fitted>(new).0, Fit { line, ..Fit::bare(ClassId(4)) });
    }
    game.refuses(pilot, hull(Line::Line), "Your fleet has all the ships that it can have.");
    game.refuses(pilot, Op::Commission { class: ClassId(9), line: Line::Line }, "There is no class 9.");
    assert_eq!(game.op(pilot, Op::Scrap { ship }), Ok(Done::Scrapped));
    assert!(!game.lives(ship));
    assert_eq!(game.of_pilot::<Hold>(pilot).iter().count(), 3, "gun, armor and shield");
    assert_eq!(game.active(pilot), Some(ShipId(2)), "another is flown then");
    assert_eq!(game.op(pilot, Op::Drop(ModuleId(2))), Ok(Done::Dropped));
    assert_eq!(game.of_pilot::<Hold>(pilot).iter().count(), 2);
}

#[test]
fn rule_3_a_full_hold_takes_no_more() {
    let (mut game, pilot, ship) = docked(3);
    let fleet = game.fleet_of(pilot);
    for _ in 0..60 {
        let module = Module::common(Kind::Armor, Faction::Human);
        game.app.world_mut().get_mut::<Hold>(fleet).unwrap().keep(module);
    }
    let empty = || Op::Fit { ship, slot: Slot::Armor, part: Part::Empty };
    game.refuses(pilot, empty(), "Your hold is full.");
    // What goes out of it makes room for what comes in.
    assert!(game.op(pilot, Op::Fit { ship, slot: Slot::Armor, part: Part::Hold(ModuleId(7)) }).is_ok());
    game.refuses(pilot, empty(), "Your hold is full.");
}

#[test]
fn rule_2_an_anchors_shift_is_on_the_card_in_the_roll_and_in_the_log_of_hits() {
    // 10,000 shots of a Destroyer at a Destroyer, whose evasion of 7 a line shifts by 3: each within three standard errors.
    for (line, percent) in [(Line::Line, 93.0), (Line::Anchor, 96.0), (Line::Screen, 90.0)] {
        let mut game = Game::new(Setup {
            balance: std::sync::Arc::new(keel_testkit::unworn_balance()),
            seed: 5,
            ..Setup::default()
        });
        let fit = game.common(2, Faction::Breaker);
        let target = game.drone(Fit { line, ..fit });
        assert_eq!(game.card(target).evasion, 100.0 - percent);
        game.set(target, Condition(Pools { shield: 0.0, hull: 1e30 }));
        for _ in 0..100 {
            let (pilot, ship) = game.pilot_in(fit);
            game.set(ship, Battery(1e6));
            game.order(pilot, Op::Focus { ship, target });
        }
        game.step(62 + 20 * 99);
        let shots = game.shots();
        assert_eq!(shots.len(), 10_000);
        let hits = shots.iter().filter(|shot| !shot.outcome.is_miss()).count();
        let chance = f64::from(percent) / 100.0;
        let error = (chance * (1.0 - chance) / 10_000.0).sqrt();
        let off = (hits as f64 / 10_000.0 - chance).abs();
        assert!(off <= 3.0 * error, "{line:?}: {hits} hits");
    }
}
