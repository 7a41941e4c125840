//! A flood over real sockets; `cargo xtask torture flood` has the long one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use keel_torture::flood::{Honest, Running, flood};
use keel_torture::overload::quantile;

#[test]
fn one_who_sends_fifty_thousand_packets_a_second_is_gone_and_others_hardly_notice() {
    let server = Running::start(|_| {});
    let mut pilots: Vec<_> = (0..6).map(|n| Honest::join(server.address, &format!("pilot{n}"))).collect();
    let (address, sent, over) = (server.address, Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let flooder = {
        let (sent, over) = (Arc::clone(&sent), Arc::clone(&over));
        std::thread::spawn(move || {
            let flooded = flood(address, 50_000, Duration::from_secs(5), &sent);
            over.store(true, Ordering::Relaxed);
            flooded
        })
    };
    let begun = Instant::now();
    while !over.load(Ordering::Relaxed) {
        pilots.iter_mut().for_each(Honest::turn);
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = begun.elapsed();
    let flooded = flooder.join().unwrap();
    let delays: Vec<_> = pilots.iter().flat_map(|pilot| pilot.delays.iter().copied()).collect();
    println!(
        "{} packets in {took:?}; gone after {:?}: {:?}; {} answers of others, p50 {:?}, p99 {:?}",
        flooded.sent,
        flooded.gone,
        flooded.words,
        delays.len(),
        quantile(&delays, 0.5),
        quantile(&delays, 0.99)
    );
    assert!(flooded.sent > 20_000, "{} sent", flooded.sent);
    assert_eq!(flooded.words.as_deref(), Some("Your client sends far too much."));
    assert!(flooded.gone.is_some_and(|gone| gone < Duration::from_secs(5)), "{:?}", flooded.gone);
    // A hundred milliseconds on a machine that does nothing else; a suite runs many things at once.
    let late = quantile(&delays, 0.95);
    assert!(delays.len() > 50 && late < Duration::from_millis(400), "p95 {late:?} of {}", delays.len());
    server.end();
}
