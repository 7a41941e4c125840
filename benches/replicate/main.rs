//! What clients are shown of a step: to collect, encode and hand over to the transport, without encryption and sockets.

mod keel;
#[allow(dead_code, reason = "others who measure the same worlds use the rest of it")]
mod workload;

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

use keel::Keel;
use workload::{FIRST_STEP, SIZES, Workload};

/// Steps before the measured ones: every client has every ship, and every gun has fired.
const WARM_UP: u64 = 120;

fn replicate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replicate");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for size in SIZES {
        let workload = Workload::new(size);
        let mut keel = Keel::new(&workload);
        let mut step = FIRST_STEP;
        let (mut bytes, mut steps) = (0, 0u32);
        let mut run = |count: u64| {
            (0..count).fold(Duration::ZERO, |took, _| {
                keel.change(step);
                keel.acknowledge();
                let start = Instant::now();
                let sent = keel.replicate();
                let took = took + start.elapsed();
                keel.carry();
                step += 1;
                if step > FIRST_STEP + WARM_UP {
                    (bytes, steps) = (bytes + sent, steps + 1);
                }
                took
            })
        };
        run(WARM_UP);
        group.bench_function(BenchmarkId::from_parameter(size.name), |bencher| bencher.iter_custom(&mut run));
        let a_client = bytes as f64 / f64::from(steps) / f64::from(size.clients);
        println!("{}: {a_client:.0} bytes a client and step, over {steps} steps\n", size.name);
    }
    group.finish();
}

criterion_group!(benches, replicate);
criterion_main!(benches);
