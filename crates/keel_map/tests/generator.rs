//! Layouts (rule 11): counts, reach and what is kept, for every seed.

use std::collections::BTreeSet;

use keel_balance::Balance;
use keel_map::{Hex, Kept, Layout, MapKey, MapKind, Plan, Shape, Terrain, generate};

fn balance() -> Balance {
    Balance::parse("balance.ron", include_str!("../../../balance.ron")).unwrap()
}

fn plan(kind: MapKind, tier: u8) -> Plan {
    Plan::of(&balance(), MapKey { kind, tier })
}

/// Open sectors that can be reached from the centre.
fn reached(layout: &Layout) -> usize {
    let (mut seen, mut rest) = (BTreeSet::from([Hex::CENTRE]), vec![Hex::CENTRE]);
    while let Some(here) = rest.pop() {
        rest.extend(here.neighbours().filter(|&next| layout.contains(next) && seen.insert(next)));
    }
    seen.len()
}

#[track_caller]
fn check(plan: &Plan, layout: &Layout, seed: u64) {
    let count = layout.hexes().len();
    assert!((plan.least.into()..=plan.most.into()).contains(&count), "{} {seed}: {count} sectors", plan.key);
    assert!(layout.contains(Hex::CENTRE));
    assert_eq!(reached(layout), count, "{} {seed}: not all can be reached", plan.key);
    let half = i32::from(plan.side) / 2;
    let inside = |hex: &Hex| (-half..half).contains(&hex.col) && (-half..half).contains(&hex.row);
    assert!(layout.hexes().iter().all(inside));
    assert!(layout.hazards().iter().all(|hex| inside(hex) && !layout.contains(*hex)));
    assert_eq!(layout.terrain(Hex::CENTRE), Some(Terrain::Open), "ships arrive there");
    for (_, terrain) in layout.sectors() {
        match terrain {
            Terrain::Open => {}
            Terrain::Belt { richness } => assert!((1..=plan.belts.richness).contains(&richness)),
            Terrain::Cloud { richness } => assert!((1..=plan.clouds.richness).contains(&richness)),
        }
    }
}

#[test]
fn rule_11_ten_thousand_seeds_of_each_kind_keep_their_counts_and_reach() {
    let balance = balance();
    let kinds = [MapKind::Layer, MapKind::Rift];
    std::thread::scope(|scope| {
        for kind in kinds {
            let balance = &balance;
            scope.spawn(move || {
                for seed in 0..10_000 {
                    let plan = Plan::of(balance, MapKey { kind, tier: (seed % 6) as u8 + 1 });
                    check(&plan, &generate(&plan, seed, &[]), seed);
                }
            });
        }
    });
}

#[test]
fn rule_11_a_layout_is_a_pure_function_and_every_map_and_seed_has_its_own() {
    let layouts: Vec<Layout> = MapKey::all()
        .flat_map(|key| {
            let plan = Plan::of(&balance(), key);
            assert_eq!(generate(&plan, 7, &[]), generate(&plan, 7, &[]));
            [generate(&plan, 7, &[]), generate(&plan, 8, &[])]
        })
        .collect();
    for (n, one) in layouts.iter().enumerate() {
        assert!(layouts[n + 1..].iter().all(|other| one != other));
    }
}

#[test]
fn rule_11_a_layers_box_is_20_and_a_rifts_28_and_counts_are_the_printed_ones() {
    let least = [414, 370, 352, 334, 316, 302];
    for (tier, least) in (1..).zip(least) {
        let (layer, rift) = (plan(MapKind::Layer, tier), plan(MapKind::Rift, tier));
        assert_eq!((rift.side, rift.least, rift.most), (28, least, 450));
        assert_eq!((layer.side, layer.least, layer.most), (20, least / 2, 225));
        assert_eq!((rift.belts.size, rift.belts.richness), (2 * layer.belts.size, 2 * layer.belts.richness));
        assert_eq!((rift.clouds.size, rift.clouds.richness), (2 * layer.clouds.size, 2 * layer.clouds.richness));
    }
}

#[test]
fn rule_11_every_shape_turns_up_as_often_as_the_others() {
    let plan = plan(MapKind::Rift, 3);
    let counts =
        Shape::ALL.map(|shape| (0..400).filter(|&seed| generate(&plan, seed, &[]).shape() == Some(shape)).count());
    assert!(counts.iter().all(|count| (70..=130).contains(count)), "{counts:?}");
}

#[test]
fn rule_13_a_reshape_keeps_named_sectors_exactly_and_all_can_be_reached() {
    for kind in [MapKind::Layer, MapKind::Rift] {
        let plan = plan(kind, 4);
        for seed in 0..300u64 {
            let before = generate(&plan, seed, &[]);
            // Every ninth sector has a structure, the outermost among them.
            let far = before.sectors().max_by_key(|(hex, _)| hex.distance(Hex::CENTRE));
            let keep: Vec<Kept> = before
                .sectors()
                .skip(seed as usize % 9)
                .step_by(9)
                .chain(far)
                .filter(|(hex, _)| *hex != Hex::CENTRE)
                .map(|(hex, terrain)| Kept { hex, terrain })
                .collect();
            let after = generate(&plan, seed + 1_000_000, &keep);
            for kept in &keep {
                assert_eq!(after.terrain(kept.hex), Some(kept.terrain), "{kind:?} {seed} at {}", kept.hex);
            }
            check(&plan, &after, seed);
            assert_ne!(before, after);
        }
    }
}

#[test]
fn rule_13_a_map_keeps_its_counts_with_as_many_structures_as_it_may_have() {
    // Those that a balance may allow, and a block in an incursion: all of them as far out as there are sectors.
    const STRUCTURES: usize = 40;
    const BLOCK: usize = 7;
    for key in MapKey::all() {
        let plan = Plan::of(&balance(), key);
        let may_build = key.kind == MapKind::Rift || balance().layers[usize::from(key.tier) - 1].structures;
        let most = if may_build { STRUCTURES + BLOCK } else { BLOCK };
        for seed in 0..300u64 {
            let before = generate(&plan, seed, &[]);
            let mut sectors: Vec<_> = before.sectors().collect();
            sectors.sort_by_key(|(hex, _)| std::cmp::Reverse(hex.distance(Hex::CENTRE)));
            let outermost = sectors.iter().take(most).copied();
            let spread = sectors.iter().step_by(2).take(most).copied();
            for keep in [outermost.collect::<Vec<_>>(), spread.collect()] {
                let keep: Vec<Kept> = keep.into_iter().map(|(hex, terrain)| Kept { hex, terrain }).collect();
                check(&plan, &generate(&plan, seed + 500, &keep), seed);
            }
        }
    }
}

#[test]
fn what_is_kept_outside_of_the_box_is_passed_over() {
    let plan = plan(MapKind::Layer, 1);
    for hex in [Hex::new(100, 0), Hex::new(i32::MIN, i32::MAX), Hex::new(-11, 0), Hex::new(10, 10)] {
        let layout = generate(&plan, 1, &[Kept { hex, terrain: Terrain::Open }]);
        assert_eq!(layout, generate(&plan, 1, &[]));
    }
}

#[test]
fn maps_are_known_by_their_names() {
    let names: Vec<String> = MapKey::all().map(|key| key.to_string()).collect();
    assert_eq!((names.len(), names[0].as_str(), names[11].as_str()), (12, "layer-1", "rift-6"));
    for (key, name) in MapKey::all().zip(&names) {
        assert_eq!(name.parse(), Ok(key));
    }
    let error = "rift-7".parse::<MapKey>().unwrap_err();
    assert_eq!(error.to_string(), "there is no map rift-7: maps are layer-1 to layer-6 and rift-1 to rift-6");
}
