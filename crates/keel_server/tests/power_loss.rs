//! What is on a disk when the power goes: the file and its log as they were at some moment, the log cut anywhere.

mod kept;

use keel_server::saves::SaveError;
use kept::{SOON, begin, change, files, found, lay_out, saved, until, whole};
use std::collections::BTreeMap;
use std::path::Path;

/// Rows of the world, some of which change in each step.
const COUNT: u64 = 1_500;

#[test]
fn whatever_is_left_of_the_log_the_save_is_that_of_some_step_not_older_than_the_file() {
    let (data, trial) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let trial = trial.path().join("data");
    let writer = begin(data.path(), SOON);
    let status = writer.status();
    let log_path = data.path().join("world.sqlite-wal");
    let log_length = || std::fs::metadata(&log_path).map_or(0, |log| log.len());
    let (mut folded, mut folds, mut seed) = (1, 0, 1_u64);
    for step in 1..=60 {
        writer.submit(if step == 1 { whole(1, COUNT) } else { change(step, COUNT) });
        saved(&status, step);
        // What is longer is written into the file before anything else.
        until("rests", || log_length() <= 16 << 20);
        let is_fold = log_length() == 0;
        if is_fold {
            (folded, folds) = (step, folds + 1);
        }
        if !is_fold && step > 4 && step % 11 != 0 {
            continue;
        }
        // The writer rests: what is there now is what the next loss of power finds at least.
        let mut left = files(data.path());
        left.remove("world.sqlite-shm");
        let log = left.get("world.sqlite-wal").cloned().unwrap_or_default();
        lay_out(&trial, &left);
        assert_eq!(found(&trial, COUNT).unwrap().step, step, "all of it is on disk once it counts as saved");
        let half = half_folded(&trial, &left, &mut seed);
        lay_out(&trial, &half);
        assert_eq!(found(&trial, COUNT).unwrap().step, step, "in the middle of writing the log into the file");
        // A log that was cut, or whose end never got there.
        for way in 0..2 {
            let at = draw(&mut seed) % (log.len() + 1);
            let mut log = log.clone();
            if way == 0 {
                log.truncate(at);
            } else {
                log[at..].fill(0);
            }
            left.insert("world.sqlite-wal".to_owned(), log);
            lay_out(&trial, &left);
            let found = found(&trial, COUNT).unwrap().step;
            assert!((folded..=step).contains(&found), "step {found} with a log cut at {at}, of {folded} to {step}");
        }
        left.remove("world.sqlite-wal");
        lay_out(&trial, &left);
        assert!((folded..=step).contains(&found(&trial, COUNT).unwrap().step), "without the log");
    }
    assert!(folds > 0, "the log was never written into the file");
}

fn draw(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 20) as usize
}

/// The same with a part of the log written into the file already, page by page in any order, and the log still there.
fn half_folded(trial: &Path, left: &BTreeMap<String, Vec<u8>>, seed: &mut u64) -> BTreeMap<String, Vec<u8>> {
    const SAVE: &str = "world.sqlite";
    lay_out(trial, left);
    let connection = rusqlite::Connection::open(trial.join(SAVE)).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).unwrap();
    connection.close().unwrap();
    let mut file = std::fs::read(trial.join(SAVE)).unwrap();
    let before = &left[SAVE];
    for (page, old) in file.chunks_mut(4096).zip(before.chunks(4096)) {
        if draw(seed).is_multiple_of(2) {
            page.copy_from_slice(old);
        }
    }
    let mut half = left.clone();
    half.insert(SAVE.to_owned(), file);
    half
}

#[test]
fn a_log_that_broke_in_the_middle_gives_an_older_step_or_is_refused_and_never_a_mixture() {
    let (data, trial) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let trial = trial.path().join("data");
    let writer = begin(data.path(), SOON);
    let status = writer.status();
    for step in 1..=6 {
        writer.submit(if step == 1 { whole(1, 60) } else { change(step, 60) });
        saved(&status, step);
    }
    let mut left = files(data.path());
    left.remove("world.sqlite-shm");
    let log = left["world.sqlite-wal"].clone();
    let mut older = 0;
    for at in (0..log.len()).step_by(509) {
        let mut broken = log.clone();
        broken[at] ^= 0x40;
        left.insert("world.sqlite-wal".to_owned(), broken);
        lay_out(&trial, &left);
        match found(&trial, 60) {
            Ok(meta) => older += usize::from(meta.step < 6),
            Err(error) => assert!(matches!(error, SaveError::Broken { .. }), "{error:?}"),
        }
    }
    assert!(older > 0);
}
