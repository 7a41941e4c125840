//! The printed tables and examples, computed from the shipped balance.

use keel_balance::{Balance, DamageType, Faction, Grade, System};
use keel_rules::pools::{Defenses, strike};
use keel_rules::{ClassId, Damage, DamageTable, Defense, Fit, Kind, Line, Micros, Module, Pools, Sheet, Variant};
use proptest::prelude::*;

const FACTIONS: [Faction; 4] = [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker];

fn balance() -> Balance {
    Balance::parse("balance.ron", include_str!("../../../balance.ron")).unwrap()
}

fn sheet(fit: &Fit) -> Sheet {
    Sheet::new(&balance(), fit).unwrap()
}

fn common(class: u8, faction: Faction) -> Fit {
    Fit::common(&balance(), ClassId(class), faction)
}

fn gun(faction: Faction, variant: Variant) -> Module {
    Module::common(Kind::Gun(variant), faction)
}

#[track_caller]
fn close(found: f32, printed: f32, digit: f32) {
    assert!((found - printed).abs() <= digit / 2.0 + 1e-4, "{found} is not the printed {printed}");
}

#[test]
fn rule_2_classes_print_their_row() {
    let moves = [0.75, 1.0, 1.25, 1.5, 1.75];
    let locks = [2.0, 2.5, 3.0, 3.5, 4.0];
    let evasions = [15.0, 11.0, 7.0, 3.0, 0.0];
    let pools = [1.0, 1.5, 2.2, 3.2, 4.5];
    for class in 0..5u8 {
        let card = sheet(&common(class, Faction::Raider));
        let row = usize::from(class);
        assert_eq!(card.navigation.hop, Micros::from_seconds(moves[row]));
        assert_eq!(card.lock, Micros::from_seconds(locks[row]));
        assert_eq!(card.evasion, evasions[row]);
        close(card.full.hull, 400.0 * pools[row], 0.01);
        close(card.full.shield, 100.0 * pools[row], 0.01);
        assert_eq!(card.battery, 100.0);
        assert_eq!((card.hit, card.crit, card.crit_damage), (100.0, 0.0, 1.5));
    }
}

#[test]
fn rule_2_human_gear_is_a_tenth_under_the_baseline() {
    let card = sheet(&common(0, Faction::Human));
    assert_eq!((card.full.hull, card.full.shield), (360.0, 90.0));
    assert_eq!(card.gun.unwrap().volley, 90.0);
    assert_eq!((card.battery, card.gun.unwrap().cost), (100.0, 20.0));
}

#[test]
fn rule_2_a_hull_without_armor_is_half() {
    let card = sheet(&Fit { armor: None, shield: None, ..common(0, Faction::Raider) });
    assert_eq!((card.full.hull, card.full.shield), (200.0, 0.0));
    assert_eq!(card.armor_resist(), DamageTable::all(0.0));
    assert_eq!(card.shield_resist(), None);
}

#[test]
fn rule_2_volleys_scale_with_the_class_per_gun() {
    let scale = [1.0, 1.2, 1.45, 0.95 * 2.0, 1.15 * 2.0];
    for class in 0..5u8 {
        close(sheet(&common(class, Faction::Raider)).gun.unwrap().volley, 125.0 * scale[usize::from(class)], 0.01);
    }
}

#[test]
fn rule_2_lines_shift_the_card_and_the_roll_by_the_same_number() {
    let target = |line| sheet(&Fit { line, ..common(0, Faction::Human) });
    let shooter = |line| sheet(&Fit { line, ..common(4, Faction::Human) });
    assert_eq!(target(Line::Line).evasion, 15.0);
    assert_eq!(target(Line::Anchor).evasion, 12.0);
    assert_eq!(target(Line::Screen).evasion, 18.0);
    close(shooter(Line::Anchor).tracking, 0.30, 0.001);
    close(shooter(Line::Screen).tracking, 0.20, 0.001);
    assert_eq!(sheet(&Fit { line: Line::Screen, ..common(0, Faction::Raider) }).tracking, 0.0);
    // Carrier at Patrol, tracking 0.25: 100 - 15 - 20 × 0.75 = 70.
    close(shooter(Line::Line).hit_chance(&target(Line::Line)), 70.0, 0.001);
    close(shooter(Line::Line).hit_chance(&target(Line::Anchor)), 73.0, 0.001);
    close(shooter(Line::Line).hit_chance(&target(Line::Screen)), 67.0, 0.001);
    close(shooter(Line::Anchor).hit_chance(&target(Line::Line)), 71.0, 0.001);
    close(shooter(Line::Screen).hit_chance(&target(Line::Line)), 69.0, 0.001);
}

#[test]
fn rule_3_guns_print_volley_cycle_battery_tracking_and_lock() {
    let rows = [
        (Faction::Human, 90.0, 1.0, 20.0, 0.25, 2.0),
        (Faction::Raider, 125.0, 1.15, 20.0, 0.0, 2.0),
        (Faction::Sentry, 85.0, 1.0, 20.0, 0.5, 1.5),
        (Faction::Breaker, 85.0, 1.0, 15.0, 0.0, 2.0),
    ];
    for (faction, volley, cycle, cost, tracking, lock) in rows {
        let card = sheet(&common(0, faction));
        let gun = card.gun.unwrap();
        close(gun.volley, volley, 0.001);
        assert_eq!(gun.cycle, Micros::from_seconds(cycle));
        assert_eq!((gun.cost, card.tracking), (cost, tracking));
        assert_eq!(card.lock, Micros::from_seconds(lock));
    }
}

#[test]
fn rule_3_a_raider_gun_does_126_109_and_99_a_second() {
    let card =
        |variant| sheet(&Fit { guns: [Some(gun(Faction::Raider, variant)), None], ..common(0, Faction::Raider) });
    close(card(Variant::Fast).sustained(), 126.0, 1.0);
    close(card(Variant::Plain).sustained(), 109.0, 1.0);
    close(card(Variant::Slow).sustained(), 99.0, 1.0);
    close(card(Variant::Slow).gun.unwrap().volley, 194.0, 1.0);
    assert_eq!(card(Variant::Fast).gun.unwrap().cycle, Micros::new(713_000));
    assert_eq!(card(Variant::Fast).gun.unwrap().cost, 20.0);
}

#[test]
fn rule_3_the_second_gun_folds_into_the_first() {
    let pair = |first, second| {
        let guns = [Some(gun(first, Variant::Plain)), Some(gun(second, Variant::Plain))];
        sheet(&Fit { guns, ..common(3, Faction::Human) })
    };
    // v1 + (v2 / cycle2) × cycle1, with the class's 0.95 on both; the battery likewise.
    let raider_first = pair(Faction::Raider, Faction::Breaker).gun.unwrap();
    close(raider_first.volley, 0.95 * (125.0 + 85.0 / 1.0 * 1.15), 0.001);
    close(raider_first.cost, 20.0 + 15.0 / 1.0 * 1.15, 0.001);
    assert_eq!(raider_first.damage, Damage::One(DamageType::Impact));
    assert_eq!(raider_first.cycle, Micros::from_seconds(1.15));
    let sentry_first = pair(Faction::Sentry, Faction::Raider);
    close(sentry_first.gun.unwrap().volley, 0.95 * (85.0 + 125.0 / 1.15), 0.001);
    assert_eq!((sentry_first.tracking, sentry_first.lock), (0.5, Micros::from_seconds(3.5 * 0.75)));
    // Folding neither adds nor loses damage a second.
    close(raider_first.sustained(), 0.95 * (125.0 / 1.15 + 85.0), 0.01);
}

#[test]
fn rule_3_grade_quality_rank_and_durability_scale_the_volley_and_not_the_cycle() {
    let with = |gun: Module| sheet(&Fit { guns: [Some(gun), None], ..common(0, Faction::Raider) }).gun.unwrap();
    let plain = gun(Faction::Raider, Variant::Plain);
    for (gun, scale) in [
        (Module { grade: Grade::Rare, ..plain }, 1.10),
        (Module { grade: Grade::Legendary, ..plain }, 1.20),
        (Module { grade: Grade::Ultimate, ..plain }, 1.35),
        (Module { quality: 0, ..plain }, 0.80),
        (Module { quality: 50, ..plain }, 0.90),
        (Module { rank: 3, ..plain }, 1.10),
        (Module { durability: 0, ..plain }, 0.50),
        (Module { durability: 50, ..plain }, 0.75),
    ] {
        close(with(gun).volley, 125.0 * scale, 0.01);
        assert_eq!(with(gun).cycle, Micros::from_seconds(1.15));
    }
}

#[test]
fn rule_3_the_battery_limits_a_gun_to_what_trickles_back() {
    let raider = sheet(&common(0, Faction::Raider));
    close(raider.battery_limited(), 125.0 * 10.0 / 20.0, 0.01);
    let breaker = sheet(&common(0, Faction::Breaker));
    close(breaker.battery_limited(), 85.0 * 10.0 / 15.0, 0.01);
}

#[test]
fn rule_4_the_lock_table() {
    let printed = [
        [2.00, 1.75, 1.50, 1.25, 1.00],
        [2.50, 2.50, 2.25, 2.00, 1.75],
        [3.00, 3.00, 3.00, 2.75, 2.50],
        [3.50, 3.50, 3.50, 3.50, 3.25],
        [4.00, 4.00, 4.00, 4.00, 4.00],
    ];
    for (shooter, row) in (0u8..).zip(printed) {
        for (target, seconds) in (0u8..).zip(row) {
            let target = sheet(&common(target, Faction::Raider));
            let lock = sheet(&common(shooter, Faction::Raider)).lock_on(target.lock_size);
            assert_eq!(lock, Micros::from_seconds(seconds), "{shooter} at {target:?}");
        }
    }
}

#[test]
fn rule_4_an_anchor_counts_one_class_larger_for_the_lock_alone() {
    let anchor = sheet(&Fit { line: Line::Anchor, ..common(4, Faction::Raider) });
    let patrol = sheet(&common(0, Faction::Raider));
    assert_eq!(patrol.lock_on(anchor.lock_size), Micros::from_seconds(0.75));
    // The roll knows the class: 100 - (0 - 3) + 20 is clamped, so look from a larger shooter's side.
    let destroyer = sheet(&Fit { line: Line::Anchor, ..common(2, Faction::Raider) });
    close(sheet(&common(3, Faction::Raider)).hit_chance(&destroyer), 100.0 - (7.0 - 3.0) - 5.0, 0.001);
}

#[test]
fn rule_4_the_lock_multiplier_scales_what_is_left() {
    let sentry = sheet(&common(0, Faction::Sentry));
    assert_eq!(sentry.lock_on(0), Micros::from_seconds(1.5));
    assert_eq!(sentry.lock_on(4), Micros::from_seconds(0.75));
}

#[test]
fn rule_5_the_hit_table_without_tracking() {
    let printed = [
        [85.0, 94.0, 100.0, 100.0, 100.0],
        [80.0, 89.0, 98.0, 100.0, 100.0],
        [75.0, 84.0, 93.0, 100.0, 100.0],
        [70.0, 79.0, 88.0, 97.0, 100.0],
        [65.0, 74.0, 83.0, 92.0, 100.0],
    ];
    for (shooter, row) in (0u8..).zip(printed) {
        for (target, chance) in (0u8..).zip(row) {
            let target = sheet(&common(target, Faction::Raider));
            assert_eq!(sheet(&common(shooter, Faction::Raider)).hit_chance(&target), chance, "{shooter}");
        }
    }
}

#[test]
fn rule_5_sentry_guns_win_back_half_of_the_step_and_human_guns_a_quarter() {
    let patrol = sheet(&common(0, Faction::Raider));
    assert_eq!(sheet(&common(4, Faction::Sentry)).hit_chance(&patrol), 100.0 - 15.0 - 10.0);
    assert_eq!(sheet(&common(4, Faction::Human)).hit_chance(&patrol), 100.0 - 15.0 - 15.0);
}

#[test]
fn rule_6_the_edge_is_read_from_the_struck_module() {
    use DamageType::{Impact, Phase, Plasma};
    let edges = [
        (Faction::Human, [1.0, 1.0, 1.0]),
        (Faction::Raider, [1.15, 1.0, 0.85]),
        (Faction::Sentry, [0.85, 1.15, 1.0]),
        (Faction::Breaker, [1.0, 0.85, 1.15]),
    ];
    for (faction, [plasma, impact, phase]) in edges {
        let card = sheet(&common(0, faction));
        for defense in [card.defenses.shield.unwrap(), card.defenses.armor] {
            assert_eq!([Plasma, Impact, Phase].map(|damage| defense.edge.get(damage)), [plasma, impact, phase]);
        }
    }
}

#[test]
fn rule_6_resist_per_type_and_grade() {
    let own = |faction, grade| {
        let piece = |kind| Some(Module { grade, ..Module::common(kind, faction) });
        let card = sheet(&Fit { shield: piece(Kind::Shield), armor: piece(Kind::Armor), ..common(0, faction) });
        assert_eq!(card.shield_resist(), Some(card.armor_resist()));
        let DamageTable { plasma, impact, phase } = card.armor_resist();
        [plasma, impact, phase]
    };
    assert_eq!(own(Faction::Human, Grade::Common), [8.0, 8.0, 8.0]);
    assert_eq!(own(Faction::Raider, Grade::Common), [5.0, 15.0, 5.0]);
    assert_eq!(own(Faction::Sentry, Grade::Common), [5.0, 5.0, 15.0]);
    assert_eq!(own(Faction::Breaker, Grade::Common), [15.0, 5.0, 5.0]);
    assert_eq!(own(Faction::Raider, Grade::Rare), [7.0, 17.0, 7.0]);
    assert_eq!(own(Faction::Raider, Grade::Legendary), [9.0, 19.0, 9.0]);
    assert_eq!(own(Faction::Raider, Grade::Ultimate), [11.0, 21.0, 11.0]);
}

#[test]
fn rule_6_a_resist_stops_at_75_and_a_negative_one_is_none() {
    use keel_rules::edge::resist;
    assert_eq!(resist(70.0, 0.0, 75.0), 70.0);
    assert_eq!(resist(70.0, 10.0, 75.0), 75.0);
    assert_eq!(resist(-20.0, 0.0, 75.0), 0.0);
    assert_eq!(resist(-20.0, 10.0, 75.0), 0.0);
    assert_eq!(resist(-5.0, 10.0, 75.0), 5.0);
}

#[test]
fn rule_6_worked_shot() {
    let raider = sheet(&common(0, Faction::Raider));
    let mut pools = Pools { shield: 100.0, hull: 400.0 };
    let dealt = strike(&mut pools, &raider.defenses, 100.0, Damage::One(DamageType::Plasma), 0.0, 0.0);
    close(dealt.total(), 109.25, 0.001);
    assert_eq!(pools.shield, 0.0);
    close(dealt.hull, 9.25, 0.001);
    close(pools.hull, 400.0 - 9.25, 0.001);
    // The 9.25 left over is 8.47 raw.
    close(9.25 / (1.15 * 0.95), 8.47, 0.01);

    let mut pools = Pools { shield: 100.0, hull: 400.0 };
    let dealt = strike(&mut pools, &raider.defenses, 100.0, Damage::One(DamageType::Plasma), 10.0, 0.0);
    close(dealt.total(), 97.75, 0.001);
    close(pools.shield, 2.25, 0.001);
}

#[test]
fn rule_6_the_overflow_meets_the_armors_own_edge_and_resist() {
    // A Breaker shield over Raider armor: 100 Plasma strikes 85, of a shield of 50; 35 over is 41.18 raw, and 44.99 struck.
    let fit = Fit { shield: Some(Module::common(Kind::Shield, Faction::Breaker)), ..common(0, Faction::Raider) };
    let mut pools = Pools { shield: 50.0, hull: 400.0 };
    let dealt = strike(&mut pools, &sheet(&fit).defenses, 100.0, Damage::One(DamageType::Plasma), 0.0, 0.0);
    assert_eq!(dealt.shield, 50.0);
    close(dealt.hull, 35.0 / 0.85 * 1.15 * 0.95, 0.001);
}

#[test]
fn rule_6_a_human_shot_lands_a_third_of_each_type() {
    let raider = sheet(&common(0, Faction::Raider));
    let mut pools = Pools { shield: 1000.0, hull: 400.0 };
    let dealt = strike(&mut pools, &raider.defenses, 90.0, Damage::Thirds, 0.0, 0.0);
    close(dealt.shield, 30.0 * 1.15 * 0.95 + 30.0 * 0.85 + 30.0 * 0.85 * 0.95, 0.001);
    // In that order: with a shield for the Plasma third alone, the others meet the armor.
    let mut pools = Pools { shield: 30.0 * 1.15 * 0.95, hull: 400.0 };
    let dealt = strike(&mut pools, &raider.defenses, 90.0, Damage::Thirds, 0.0, 0.0);
    close(dealt.hull, 30.0 * 0.85 + 30.0 * 0.85 * 0.95, 0.01);
}

#[test]
fn rule_6_a_bare_hull_knows_no_edge_and_only_braces_resist() {
    let bare = sheet(&Fit { armor: None, shield: None, ..common(0, Faction::Raider) });
    let plasma = Damage::One(DamageType::Plasma);
    let mut pools = bare.full;
    assert_eq!(strike(&mut pools, &bare.defenses, 100.0, plasma, 0.0, 0.0).hull, 100.0);
    close(strike(&mut pools, &bare.defenses, 100.0, plasma, 10.0, 0.0).hull, 90.0, 0.001);
}

#[test]
fn rule_6_a_ship_at_zero_is_dealt_nothing_more() {
    let card = sheet(&common(0, Faction::Raider));
    let mut pools = Pools { shield: 0.0, hull: 5.0 };
    let plasma = Damage::One(DamageType::Plasma);
    assert_eq!(strike(&mut pools, &card.defenses, 100.0, plasma, 0.0, 0.0).hull, 5.0);
    assert_eq!(strike(&mut pools, &card.defenses, 100.0, plasma, 0.0, 0.0).total(), 0.0);
    let mut protected = Pools { shield: 0.0, hull: 5.0 };
    assert_eq!(strike(&mut protected, &card.defenses, 100.0, plasma, 0.0, 1.0).hull, 4.0);
    assert_eq!(protected.hull, 1.0);
}

#[test]
fn rule_7_refills_by_the_step() {
    let patrol = sheet(&common(0, Faction::Raider));
    assert_eq!(patrol.battery_per_step, 0.5);
    close(patrol.shield_per_step, 100.0 / 30.0, 0.0001);
    let carrier = sheet(&common(4, Faction::Raider));
    close(carrier.shield_per_step * 70.0, 450.0, 0.01);
    assert_eq!(patrol.hull_quiet.steps(), 200);
    use keel_rules::clocks::{refill, shield_refills};
    assert_eq!(refill(99.8, 100.0, 0.5), 100.0);
    assert!(shield_refills(false, 1.0, 1.0));
    assert!(!shield_refills(false, 0.99, 1.0));
    assert!(!shield_refills(true, 100.0, 1.0));
}

#[test]
fn rule_8_powers_with_their_makers_shades() {
    let card = |faction| {
        let powers = [System::Brace, System::Jam, System::Clamp];
        sheet(&powers.iter().fold(Fit::bare(ClassId(0)), |fit, &power| fit.with(power, faction))).powers
    };
    let rows = [(72.0, 15.0, 4.0, 2.7), (100.0, 18.0, 4.0, 3.75), (80.0, 15.0, 3.0, 3.0), (80.0, 11.0, 4.0, 2.4)];
    for (faction, (hull, cost, cooldown, jam_s)) in FACTIONS.into_iter().zip(rows) {
        let (brace, jam) = (card(faction).brace.unwrap(), card(faction).jam.unwrap());
        assert_eq!((brace.hull, brace.cost, brace.cooldown), (hull, cost, Micros::from_seconds(cooldown)));
        assert_eq!((brace.resist, brace.lasts), (10.0, Micros::from_seconds(3.0)));
        assert_eq!((jam.cost, jam.cooldown), (10.0, Micros::from_seconds(8.0)));
        assert_eq!(jam.lasts, Micros::from_seconds(jam_s));
    }
    let human = card(Faction::Human);
    let (clamp, unclamp) = (human.clamp.unwrap(), human.unclamp.unwrap());
    assert_eq!((clamp.cost, clamp.grapple, clamp.holds_at), (10.0, 100.0, 50.0));
    assert_eq!((unclamp.cost, unclamp.immune), (10.0, Micros::from_seconds(0.5)));
    let mender = sheet(&common(0, Faction::Human).with(System::Mender, Faction::Human)).powers.mender.unwrap();
    assert_eq!((mender.hull, mender.cost, mender.reach, mender.every), (50.0, 10.0, 1, Micros::from_seconds(2.0)));
}

#[test]
fn rule_1_2_every_tenth_of_a_second_is_exactly_its_steps() {
    for tenths in 1..=39_990u32 {
        let seconds = format!("{}.{}", tenths / 10, tenths % 10).parse::<f64>().unwrap();
        assert_eq!(Micros::from_seconds(seconds).steps(), tenths * 2, "{seconds} s");
    }
    // And the file's own numbers come through as they are written.
    let text = include_str!("../../../balance.ron").replacen("rescue_s: 35", "rescue_s: 20.7", 1);
    let balance = Balance::parse("b.ron", &text).unwrap();
    let card = Sheet::new(&balance, &Fit::starter(&balance)).unwrap();
    assert_eq!(card.navigation.rescue[2].steps(), 414);
}

#[test]
fn rule_4_the_strongest_aura_alone_stretches_the_cycle() {
    use keel_rules::gun::suppressed_cycle;
    let cycle = Micros::from_seconds(1.15);
    assert_eq!(suppressed_cycle(cycle, []), cycle);
    assert_eq!(suppressed_cycle(cycle, [1.25]), Micros::new(1_437_500));
    assert_eq!(suppressed_cycle(cycle, [1.1, 1.25, 1.2]), Micros::new(1_437_500));
}

#[test]
fn rule_9_moving_times() {
    let navigation = sheet(&common(0, Faction::Human)).navigation;
    assert_eq!(navigation.window, Micros::from_seconds(0.4));
    assert_eq!((navigation.travel, navigation.jump), (Micros::from_seconds(5.0), Micros::from_seconds(5.0)));
    assert_eq!((navigation.grace, navigation.jump_cooldown), (Micros::from_seconds(5.0), Micros::from_seconds(15.0)));
    assert_eq!(navigation.rescue, [45.0, 45.0, 35.0, 25.0, 15.0, 10.0].map(Micros::from_seconds));
}

#[test]
fn a_sixth_class_needs_no_code() {
    let row = "\"Titan\": (move_s: 2, lock_s: 4.5, evasion: 0, hull: 6, shield: 6, volley: 1.2, guns: 2, power_grid: 180, slots: 8),\n    },\n\n    // Hull lines";
    let text = include_str!("../../../balance.ron").replacen("},\n\n    // Hull lines", row, 1);
    let balance = Balance::parse("six.ron", &text).unwrap();
    let titan = Sheet::new(&balance, &Fit::common(&balance, ClassId(5), Faction::Raider)).unwrap();
    let patrol = Sheet::new(&balance, &Fit::common(&balance, ClassId(0), Faction::Raider)).unwrap();
    assert_eq!(patrol.lock_on(titan.lock_size), Micros::from_seconds(2.0 - 1.25));
    close(titan.hit_chance(&patrol), 100.0 - 15.0 - 25.0, 0.001);
}

fn any_defense() -> impl Strategy<Value = Defense> {
    let table = |range: std::ops::Range<f32>| {
        (range.clone(), range.clone(), range).prop_map(|(plasma, impact, phase)| DamageTable { plasma, impact, phase })
    };
    (table(0.5..1.5), table(-50.0..100.0)).prop_map(|(edge, resist)| Defense { edge, resist })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Pools stay in range, and what they lost is what is dealt.
    #[test]
    fn rule_6_pools_lose_exactly_what_is_dealt(
        shield in 0.0f32..500.0, hull in 0.0f32..2000.0, raw in 0.0f32..5000.0, brace in 0.0f32..20.0,
        shield_defense in proptest::option::of(any_defense()), armor in any_defense(), thirds: bool, floor in 0.0f32..2.0,
    ) {
        let before = Pools { shield: if shield_defense.is_some() { shield } else { 0.0 }, hull };
        let mut pools = before;
        let damage = if thirds { Damage::Thirds } else { Damage::One(DamageType::Impact) };
        let defenses = Defenses { shield: shield_defense, armor, cap: 75.0 };
        let dealt = strike(&mut pools, &defenses, raw, damage, brace, floor);
        prop_assert!((0.0..=before.shield).contains(&pools.shield), "{pools:?}");
        prop_assert!((floor.min(before.hull)..=before.hull).contains(&pools.hull), "{pools:?}");
        prop_assert!((before.shield - pools.shield - dealt.shield).abs() < 0.01);
        prop_assert!((before.hull - pools.hull - dealt.hull).abs() < 0.01);
        prop_assert!(dealt.shield >= 0.0 && dealt.hull >= 0.0);
        // Nothing reaches the hull while the shield holds.
        prop_assert!(pools.shield == 0.0 || dealt.hull == 0.0);
    }

    /// What the pools took and what was left over make up the shot, each in the struck module's own terms.
    #[test]
    fn rule_6_damage_to_pools_and_overflow_is_what_was_struck(
        shield in 0.0f32..500.0, hull in 1.0f32..2000.0, raw in 0.0f32..5000.0, brace in 0.0f32..20.0,
        shield_defense in any_defense(), armor in any_defense(),
    ) {
        let mut pools = Pools { shield, hull };
        let defenses = Defenses { shield: Some(shield_defense), armor, cap: 75.0 };
        let dealt = strike(&mut pools, &defenses, raw, Damage::One(DamageType::Phase), brace, 0.0);
        let at_shield = shield_defense.factor(DamageType::Phase, brace, 75.0);
        let at_armor = armor.factor(DamageType::Phase, brace, 75.0);
        let past_shield = raw - dealt.shield / at_shield;
        let overflow = past_shield - dealt.hull / at_armor;
        let slack = raw * 1e-4 + 0.01;
        prop_assert!(overflow >= -slack, "{overflow} of {raw}");
        prop_assert!(dealt.hull_out || overflow <= slack, "{overflow} of {raw} went nowhere");
        prop_assert!(!dealt.hull_out || pools.hull == 0.0);
    }
}
