//! A bounded run of everything that is fuzzed; `cargo xtask torture` has the long one.

use std::time::Instant;

use keel_torture::choices::seeded;
use keel_torture::overload::quantile;
use keel_torture::{corpus, datagrams, payloads, saves};

/// Runs the corpus of a target, and then bytes of so many seeds.
fn fuzz(target: &str, seeds: u64, most: usize) {
    for bytes in corpus::seeds(target) {
        corpus::run(target, &bytes);
    }
    for seed in 0..seeds {
        corpus::run(target, &seeded(1_000_000 + seed, most));
    }
}

#[test]
fn any_payloads_after_the_handshake_are_borne() {
    let (mut range, begun, mut seed) = (payloads::Range::default(), Instant::now(), 0);
    while range.payloads < 1_000_000 {
        range.run(&seeded(seed, 4096));
        seed += 1;
    }
    assert!(range.answers > range.payloads / 20, "hardly anything is heard: {} answers", range.answers);
    println!(
        "{} payloads in {} sequences, {} answers, in {:?}; steps p50 {:?}, p99 {:?}",
        range.payloads,
        range.sequences,
        range.answers,
        begun.elapsed(),
        quantile(&range.steps, 0.5),
        quantile(&range.steps, 0.99)
    );
}

#[test]
fn any_datagrams_are_borne() {
    let (mut range, begun, mut seed) = (datagrams::Range::default(), Instant::now(), 0);
    while range.datagrams < 1_000_000 {
        range.run(&seeded(seed, 4096));
        seed += 1;
    }
    println!("{} datagrams in {:?}", range.datagrams, begun.elapsed());
}

#[test]
fn any_bytes_are_messages_or_none() {
    fuzz("codec", 60_000, 512);
}

#[test]
fn any_orders_are_answered_once() {
    fuzz("ops", 60, 512);
}

#[test]
fn any_save_is_taken_up_or_refused() {
    let mut range = saves::Range::default();
    for seed in 0..60 {
        range.run(&seeded(2_000_000 + seed, 512));
    }
    assert!(range.worlds > 10 && range.refused > 10, "{} worlds, {} refused", range.worlds, range.refused);
    println!("{} worlds, {} refused", range.worlds, range.refused);
}

#[test]
fn any_balance_file_is_taken_or_refused() {
    fuzz("balance", 300, 512);
}
