//! A layout of each kind of map, over many seeds.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use keel_map::{MapKey, MapKind, Plan, generate};
use keel_testkit::shipped_balance;

fn layouts(criterion: &mut Criterion) {
    let balance = shipped_balance();
    for (kind, tier) in [(MapKind::Layer, 1), (MapKind::Rift, 1), (MapKind::Rift, 6)] {
        let key = MapKey { kind, tier };
        let plan = Plan::of(&balance, key);
        let mut seed = 0;
        criterion.bench_function(&format!("layout/{key}"), |bencher| {
            let next = || {
                seed += 1;
                seed
            };
            bencher.iter_batched(next, |seed| generate(&plan, seed, &[]), BatchSize::SmallInput);
        });
    }
}

criterion_group!(benches, layouts);
criterion_main!(benches);
