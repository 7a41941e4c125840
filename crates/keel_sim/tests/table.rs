//! Ten thousand shots in the live world for every pair of classes, against the printed table.

use keel_balance::Faction;
use keel_rules::Pools;
use keel_sim::{Battery, Condition, Op};
use keel_testkit::{Game, Setup};

const PRINTED: [[f64; 5]; 5] = [
    [85.0, 94.0, 100.0, 100.0, 100.0],
    [80.0, 89.0, 98.0, 100.0, 100.0],
    [75.0, 84.0, 93.0, 100.0, 100.0],
    [70.0, 79.0, 88.0, 97.0, 100.0],
    [65.0, 74.0, 83.0, 92.0, 100.0],
];

/// Each class pair has so many shooters, which fire so many shots each.
const SHOOTERS: usize = 100;
const SHOTS: usize = 100;

#[test]
fn rule_5_ten_thousand_shots_of_every_pair_hit_as_often_as_the_table_says() {
    let mut game = Game::new(Setup { seed: 20, ..Setup::default() });
    let targets = [0, 1, 2, 3, 4].map(|class| {
        // Breaker guns have no tracking and cycle in 1 s.
        let target = game.drone(game.common(class, Faction::Breaker));
        game.set(target, Condition(Pools { shield: 0.0, hull: 1e30 }));
        target
    });
    for class in 0..5 {
        for target in targets {
            for _ in 0..SHOOTERS {
                let (pilot, ship) = game.pilot_in(game.common(class, Faction::Breaker));
                game.set(ship, Battery(1e6));
                game.order(pilot, Op::Focus { ship, target });
            }
        }
    }
    // The longest lock is 4 s; after that every step of 20 has a shot of each.
    game.step(81 + 20 * SHOTS as u64);
    let mut tally = [[(0u32, 0u32); 5]; 5];
    let mut fired = std::collections::BTreeMap::new();
    for shot in game.shots() {
        let count = fired.entry(shot.shooter.id).or_insert(0);
        *count += 1;
        if *count <= SHOTS {
            let (shots, hits) = &mut tally[usize::from(shot.shooter.class.0)][usize::from(shot.target.class.0)];
            *shots += 1;
            *hits += u32::from(!shot.outcome.is_miss());
        }
    }
    for (shooter, row) in PRINTED.iter().enumerate() {
        for (target, percent) in row.iter().enumerate() {
            let (shots, hits) = tally[shooter][target];
            assert_eq!(shots, 10_000, "class {shooter} at class {target}");
            let (chance, shots) = (percent / 100.0, f64::from(shots));
            let error = (chance * (1.0 - chance) / shots).sqrt();
            let off = (f64::from(hits) / shots - chance).abs();
            assert!(off <= 3.0 * error, "class {shooter} at class {target}: {hits} hits, printed {percent} %");
        }
    }
}
