//! Fits: what a hull takes, what modules come to on the card, and how they wear.

use keel_balance::{Balance, Faction, Grade, System};
use keel_rules::module::Unrepairable;
use keel_rules::{ClassId, Fit, FitError, Kind, Line, Micros, Module, Sheet, Slot, Variant};

const RAIDER: Faction = Faction::Raider;

fn balance() -> Balance {
    Balance::parse("balance.ron", include_str!("../../../balance.ron")).unwrap()
}

fn sheet(fit: &Fit) -> Sheet {
    Sheet::new(&balance(), fit).unwrap()
}

fn patrol() -> Fit {
    Fit::common(&balance(), ClassId(0), RAIDER)
}

#[track_caller]
fn refused(fit: &Fit, slot: Slot, kind: Kind, text: &str) -> FitError {
    let error = fit.fitted(&balance(), slot, Some(Module::common(kind, RAIDER))).unwrap_err();
    assert_eq!(error.to_string(), text);
    error
}

#[test]
fn rule_2_a_fit_over_the_grid_is_refused_with_both_numbers() {
    // Gun 20, armor and shield 15 each, Shard 5: 25 are left of a Patrol's 80.
    let fit = patrol().fitted(&balance(), Slot::Shard, Some(Module::common(Kind::Shard, RAIDER))).unwrap();
    assert_eq!((sheet(&fit).grid_used, sheet(&fit).grid), (55.0, 80.0));
    let fit = fit.with(System::Aura, RAIDER);
    let error = refused(&fit, Slot::System(1), Kind::System(System::Mender), "The fit takes 90 power grid of 80.");
    assert_eq!(error, FitError::OverGrid { used: 90.0, grid: 80.0 });
}

#[test]
fn rule_2_slots_differ_by_class_and_a_module_goes_into_its_own_alone() {
    let classes = [(80.0, 3), (100.0, 3), (120.0, 4), (140.0, 4), (160.0, 5)];
    for (class, (grid, slots)) in (0..).map(ClassId).zip(classes) {
        let card = sheet(&Fit::bare(class));
        assert_eq!((card.grid, card.slots), (grid, slots));
        let fit = Fit::bare(class);
        let takes = |slot| fit.fitted(&balance(), slot, Some(Module::common(Kind::System(System::Sensor), RAIDER)));
        assert!(takes(Slot::System(slots - 1)).is_ok());
        assert!(matches!(takes(Slot::System(slots)), Err(FitError::NoSuchSlot { .. })));
    }
    let fit = patrol();
    refused(
        &fit,
        Slot::Well(1),
        Kind::Gun(Variant::Plain),
        "That hull has no weapon well 2: it has 1 for weapons and 3 for systems.",
    );
    refused(
        &fit,
        Slot::System(200),
        Kind::Armor,
        "That hull has no system slot 201: it has 1 for weapons and 3 for systems.",
    );
    refused(&fit, Slot::Well(0), Kind::Armor, "No armor goes into the weapon well 1.");
    let slots = [Slot::Well(0), Slot::Armor, Slot::Shield, Slot::System(0), Slot::Shard];
    for kind in Kind::ALL {
        let homes = slots.iter().filter(|slot| {
            let fitted = Fit::bare(ClassId(4)).fitted(&balance(), **slot, Some(Module::common(kind, RAIDER)));
            assert!(fitted.is_ok() || fitted == Err(FitError::WrongSlot { kind, slot: **slot }));
            fitted.is_ok()
        });
        assert_eq!(homes.count(), 1, "{kind}");
    }
}

#[test]
fn rule_2_a_ship_has_one_system_of_a_kind() {
    let fit = patrol().with(System::Brace, Faction::Human);
    refused(&fit, Slot::System(1), Kind::System(System::Brace), "That ship has one already: Brace.");
    // In the slot where the first one is, it takes its place.
    assert!(fit.fitted(&balance(), Slot::System(0), Some(Module::common(Kind::System(System::Brace), RAIDER))).is_ok());
}

#[test]
fn rule_2_an_unknown_class_makes_no_ship() {
    assert_eq!(Sheet::new(&balance(), &Fit::bare(ClassId(9))).unwrap_err(), FitError::UnknownClass(ClassId(9)));
    assert!(Sheet::new(&balance(), &Fit::starter(&balance())).is_ok());
}

#[test]
fn rule_3_gear_without_a_power_shows_on_the_card() {
    let card = |system| sheet(&patrol().with(system, RAIDER));
    let plain = sheet(&patrol());
    assert_eq!(card(System::Evasion).evasion, plain.evasion + 4.0);
    assert_eq!(card(System::Tracking).tracking, 0.10);
    assert_eq!(card(System::Battery).battery, 125.0);
    assert_eq!((card(System::Sensor).view(false), card(System::Sensor).view(true), plain.view(false)), (2, 1, 1));
    assert_eq!((card(System::Scanner).scanner, plain.scanner), (Some(2), None));
    assert_eq!(card(System::Aura).powers.aura, Some(1.25));
    let cloak = card(System::Cloak).powers.cloak.unwrap();
    assert_eq!((cloak.cost, cloak.cooldown), (20.0, Micros::from_seconds(10.0)));
    let shard = sheet(&Fit { shard: Some(Module::common(Kind::Shard, RAIDER)), ..patrol() });
    for (found, expected) in [(shard.full.hull, 420.0), (shard.full.shield, 105.0), (shard.gun.unwrap().volley, 131.25)]
    {
        assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
    }
}

#[test]
fn rule_2_gear_and_line_count_on_the_card_and_in_the_roll_the_same_number() {
    let balance = balance();
    let shooter = sheet(&Fit::common(&balance, ClassId(2), Faction::Breaker));
    for line in Line::ALL {
        for fit in [patrol(), patrol().with(System::Evasion, RAIDER)] {
            let target = sheet(&Fit { line, ..fit });
            // The Destroyer's size step of two classes, and what the card prints.
            assert_eq!(shooter.hit_chance(&target), 100.0 - 10.0 - target.evasion, "{line:?}");
            let shoots = sheet(&Fit { line, ..Fit::common(&balance, ClassId(2), Faction::Sentry) });
            let at = sheet(&patrol());
            assert!(
                (shoots.hit_chance(&at) - (100.0 - 15.0 - 10.0 * (1.0 - shoots.tracking))).abs() < 1e-4,
                "{line:?}"
            );
        }
    }
}

#[test]
fn rule_3_durability_weighs_on_volley_resist_brace_mender_and_grapple() {
    let worn = |kind, durability| Module { durability, ..Module::common(kind, RAIDER) };
    let with = |durability| {
        let system = |system| Some(worn(Kind::System(system), durability));
        let mut fit = Fit { armor: Some(worn(Kind::Armor, durability)), ..Fit::bare(ClassId(4)) };
        fit.guns[0] = Some(worn(Kind::Gun(Variant::Plain), durability));
        fit.systems[..3].copy_from_slice(&[System::Brace, System::Clamp, System::Mender].map(system));
        sheet(&fit)
    };
    let (whole, half) = (with(100), with(50));
    assert_eq!(half.gun.unwrap().volley, whole.gun.unwrap().volley * 0.75);
    assert_eq!(half.armor_resist().impact, 15.0 * 0.75);
    assert_eq!(half.full.hull, whole.full.hull, "wear takes no pool away");
    assert_eq!(half.powers.brace.unwrap().hull, 75.0);
    assert_eq!(half.powers.mender.unwrap().hull, 37.5);
    assert_eq!(half.powers.clamp.unwrap().grapple, 50.0);
    assert!(keel_rules::powers::clamp_holds(&half.powers.clamp.unwrap()));
    assert!(!keel_rules::powers::clamp_holds(&with(49).powers.clamp.unwrap()));
}

#[test]
fn rule_3_wear_stops_at_nothing() {
    let module = Module::common(Kind::Armor, RAIDER);
    assert_eq!(module.worn_by(1).durability, 99);
    assert_eq!(Module { durability: 1, ..module }.worn_by(5).durability, 0);
}

#[test]
fn rule_8_a_repair_makes_a_module_whole_for_10_quality() {
    let wear = balance().wear;
    let module = Module { durability: 40, ..Module::common(Kind::Armor, RAIDER) };
    assert_eq!(module.repaired(&wear), Ok(Module { durability: 100, quality: 90, ..module }));
    let whole = Module::common(Kind::Armor, RAIDER).repaired(&wear).unwrap_err();
    assert_eq!((whole, whole.to_string().as_str()), (Unrepairable::Whole, "That module is whole."));
    let poor = Module { quality: 9, ..module }.repaired(&wear).unwrap_err();
    assert_eq!(poor.to_string(), "A repair costs 10 quality; that module has 9.");
    assert_eq!(Module { quality: 10, ..module }.repaired(&wear).unwrap().quality, 0);
}

#[test]
fn modules_print_grade_maker_and_kind() {
    let module = Module { grade: Grade::Rare, ..Module::common(Kind::Gun(Variant::Fast), RAIDER) };
    assert_eq!(module.to_string(), "Rare Raider fast gun");
}
