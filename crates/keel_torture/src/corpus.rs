//! The seed corpora that fuzzers begin with: inputs of a good length and variety, which the suite runs as well.
//!
//! They are made, not kept: `cargo xtask torture corpus` writes them where `cargo fuzz` looks for them.

use crate::choices::seeded;
use crate::{balance, codec, datagrams, ops, payloads, saves};

/// What is fuzzed, under the names of the fuzz targets.
pub const TARGETS: [&str; 6] = ["payloads", "datagrams", "codec", "ops", "balance", "saves"];

/// Inputs for a target to begin with.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let most = if target == "datagrams" { 512 } else { 4096 };
    let mut seeds: Vec<_> = (0..24).map(|seed| seeded(seed, most)).collect();
    match target {
        "balance" => seeds.push(keel_testkit::SHIPPED_BALANCE.as_bytes().to_vec()),
        "codec" => {
            let orders = [0, 1, u32::MAX].into_iter().flat_map(crate::orders::all);
            seeds.extend(orders.map(|command| keel_protocol::encode(&keel_protocol::ToServer::Op { seq: 1, command })));
        }
        _ => {}
    }
    seeds
}

/// Runs one input of a target, whatever the target keeps from run to run being kept by the thread.
///
/// # Panics
/// When the input finds a fault, or there is no such target.
pub fn run(target: &str, bytes: &[u8]) {
    use std::cell::RefCell;
    thread_local! {
        static PAYLOADS: RefCell<payloads::Range> = RefCell::default();
        static DATAGRAMS: RefCell<datagrams::Range> = RefCell::default();
        static OPS: RefCell<ops::Range> = RefCell::default();
        static SAVES: RefCell<saves::Range> = RefCell::default();
    }
    match target {
        "payloads" => PAYLOADS.with_borrow_mut(|range| range.run(bytes)),
        "datagrams" => DATAGRAMS.with_borrow_mut(|range| range.run(bytes)),
        "codec" => codec::run(bytes),
        "ops" => OPS.with_borrow_mut(|range| range.run(bytes)),
        "balance" => balance::run(bytes),
        "saves" => SAVES.with_borrow_mut(|range| range.run(bytes)),
        _ => panic!("there is no target {target}"),
    }
}
