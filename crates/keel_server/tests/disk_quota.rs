//! A limit of the system on how long a file may grow, which holds for the whole process and so for no other test.
#![cfg(target_os = "linux")]

mod kept;

use std::time::Duration;

use kept::{SOON, begin, change, found, saved, until, whole};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn a_write_that_the_system_cuts_off_is_made_good_once_there_is_room() {
    // The system's way to say so would end the process, but for someone who takes it.
    let told = std::sync::Arc::default();
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, told).unwrap();
    let limit = getrlimit(Resource::Fsize);
    let data = tempfile::tempdir().unwrap();
    let writer = begin(data.path(), SOON);
    let status = writer.status();
    writer.submit(whole(1, 500));
    saved(&status, 1);
    setrlimit(Resource::Fsize, Rlimit { current: Some(100_000), maximum: limit.maximum }).unwrap();
    let mut step = 1;
    until("failed", || {
        step += 1;
        writer.submit(change(step, 500));
        status.report().failures > 3
    });
    let report = status.report();
    assert!(report.error.is_some() && report.outages == 1 && status.is_behind(Duration::ZERO), "{report:?}");
    setrlimit(Resource::Fsize, limit).unwrap();
    saved(&status, step);
    until("mended", || status.report().error.is_none());
    writer.submit(change(step + 1, 500));
    assert!(writer.finish(Duration::from_secs(20)).is_saved);
    assert_eq!(found(data.path(), 500).unwrap().step, step + 1);
}
