//! The product's hardest hour, a minute of it: two hundred pilots in one incursion into Rift 6, with all the rest of the world. A
//! file of its own, so that nothing else of the suite runs beside it.

mod keel;

use std::process::Output;

use keel::keel;
use serde_json::Value;

#[test]
fn two_hundred_pilots_fight_an_incursion_into_rift_6_and_steps_stay_short_and_memory_flat() {
    let load = ["bots", "--json", "--scenario", "incursion", "--count", "200", "--seconds", "60"];
    let Output { status, stdout, stderr } = keel(&load).output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    let report: Value = serde_json::from_slice(&stdout).unwrap();
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path}"));
    assert_eq!((number("/connected"), number("/dropped/count")), (200.0, 0.0), "{report}");
    assert!(number("/shots") > 500.0 && number("/kills") > 0.0, "{report}");
    let step = number("/step_us/whole/p95");
    assert!(step <= 25_000.0, "a step took {step} µs at the 95th percentile: {report}");
    let (start, end) = (number("/memory_kb/start"), number("/memory_kb/end"));
    assert!(end <= 1.2 * start + 20.0 * 1024.0, "memory grew from {start} to {end} kB: {report}");
}
