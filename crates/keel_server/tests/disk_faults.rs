//! What real faults of a disk and its files do to a server that goes on.

mod kept;

use std::fs;
use std::path::Path;
use std::time::Duration;

use keel_server::saves::{self, SaveError, Settings, Writer};
use kept::{Change, SOON, begin, change, found, make, open, saved, until, whole};

const LONG: Duration = Duration::from_secs(20);

/// Breaks something under a writer, has the world go on meanwhile, mends it, and demands that the save is the last cut.
fn goes_on(break_it: impl FnOnce(&Path), mend: impl FnOnce(&Path), expects: &str) {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let writer = begin(&data, SOON);
    let status = writer.status();
    writer.submit(whole(1, 100));
    saved(&status, 1);
    break_it(&data);
    let fails = || status.report().failures > 3;
    let mut step = 1;
    until("failed", || {
        step += 1;
        // As the server does: what it can no longer write is asked for as a whole.
        writer.submit(if status.wants_whole() { whole(step, 100) } else { change(step, 100) });
        fails() || step > 3_000
    });
    let report = status.report();
    assert!(report.error.as_deref().is_some_and(|error| error.contains(expects)), "{report:?}");
    assert!(status.is_behind(Duration::ZERO) && report.outages == 1, "{report:?}");
    mend(&data);
    writer.submit(if status.wants_whole() { whole(step + 1, 100) } else { change(step + 1, 100) });
    until("caught up", || {
        if status.wants_whole() {
            writer.submit(whole(step + 1, 100));
        }
        let report = status.report();
        report.saved_step == Some(step + 1) && report.error.is_none() && report.lag.is_zero()
    });
    assert_eq!(status.report().outages, 1);
    writer.submit(change(step + 2, 100));
    let finished = writer.finish(LONG);
    assert_eq!((finished.is_saved, finished.step, finished.error), (true, Some(step + 2), None));
    assert_eq!(found(&data, 100).unwrap().step, step + 2);
}

#[test]
fn a_directory_that_is_moved_away_and_back() {
    let aside = |data: &Path| data.with_extension("aside");
    goes_on(
        |data| fs::rename(data, aside(data)).unwrap(),
        |data| fs::rename(aside(data), data).unwrap(),
        "No such file",
    );
}

#[test]
fn a_directory_that_is_removed_and_made_again() {
    goes_on(|data| fs::remove_dir_all(data).unwrap(), |data| fs::create_dir(data).unwrap(), "No such file");
}

#[test]
fn a_save_that_a_directory_takes_the_place_of() {
    let save = |data: &Path| data.join("world.sqlite");
    goes_on(
        |data| {
            fs::remove_file(save(data)).unwrap();
            fs::create_dir(save(data)).unwrap();
        },
        |data| fs::remove_dir(save(data)).unwrap(),
        "directory",
    );
}

#[test]
fn a_save_that_another_takes_the_place_of_is_left_alone() {
    let other = tempfile::tempdir().unwrap();
    make(other.path(), 7, 30);
    let theirs = fs::read(other.path().join("world.sqlite")).unwrap();
    let save = |data: &Path| data.join("world.sqlite");
    goes_on(
        |data| {
            fs::rename(save(data), data.join("mine")).unwrap();
            fs::rename(data.join("world.sqlite-wal"), data.join("mine-wal")).unwrap();
            fs::write(save(data), &theirs).unwrap();
        },
        |data| {
            assert!(fs::read(save(data)).unwrap() == theirs);
            for end in ["-wal", "-shm"] {
                let _ = fs::remove_file(data.join(format!("world.sqlite{end}")));
            }
            fs::rename(data.join("mine"), save(data)).unwrap();
            fs::rename(data.join("mine-wal"), data.join("world.sqlite-wal")).unwrap();
        },
        "someone else",
    );
}

#[test]
fn a_save_that_is_removed_or_emptied_is_written_anew() {
    for break_it in [
        |save: &Path| fs::remove_file(save).unwrap(),
        |save: &Path| {
            // Another file of that name.
            fs::remove_file(save).unwrap();
            fs::write(save, "").unwrap();
        },
    ] {
        let data = tempfile::tempdir().unwrap();
        let writer = begin(data.path(), SOON);
        let status = writer.status();
        writer.submit(whole(1, 50));
        saved(&status, 1);
        break_it(&data.path().join("world.sqlite"));
        writer.submit(change(2, 50));
        until("asked for all", || status.wants_whole());
        writer.submit(whole(3, 50));
        saved(&status, 3);
        assert!(!status.wants_whole());
        assert!(writer.finish(LONG).is_saved);
        assert_eq!(found(data.path(), 50).unwrap().step, 3);
    }
}

#[cfg(unix)]
#[test]
fn a_log_that_cannot_be_opened_from_the_start() {
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 3, 50);
    let log = data.path().join("world.sqlite-wal");
    std::os::unix::fs::symlink("/nowhere/at/all", &log).unwrap();
    let writer = Writer::start(*open(data.path()).unwrap(), SOON).unwrap();
    let status = writer.status();
    for step in 4..=40 {
        writer.submit(change(step, 50));
    }
    until("failed", || status.report().failures > 3);
    let report = status.report();
    assert!(report.error.as_deref().is_some_and(|error| error.contains("unable to open")), "{report:?}");
    assert_eq!((report.saved_step, report.outages), (Some(3), 1));
    fs::remove_file(&log).unwrap();
    saved(&status, 40);
    assert!(writer.finish(LONG).is_saved);
    assert_eq!(found(data.path(), 50).unwrap().step, 40);
}

#[cfg(unix)]
#[test]
fn a_file_that_may_only_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 3, 50);
    let save = data.path().join("world.sqlite");
    let allow = |mode| fs::set_permissions(&save, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o444);
    // The superuser may write whatever it is told not to.
    let is_refused = fs::OpenOptions::new().write(true).open(&save).is_err();
    let writer = Writer::start(*open(data.path()).unwrap(), SOON).unwrap();
    let status = writer.status();
    writer.submit(change(4, 50));
    if is_refused {
        until("failed", || status.report().failures > 3);
        let report = status.report();
        assert!(report.error.as_deref().is_some_and(|error| error.contains("readonly")), "{report:?}");
    }
    allow(0o644);
    saved(&status, 4);
    assert!(writer.finish(LONG).is_saved);
    assert_eq!(found(data.path(), 50).unwrap().step, 4);
}

#[test]
fn a_server_that_stops_while_it_cannot_save_says_so_in_time() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().join("data");
    let writer = begin(&data, SOON);
    writer.submit(whole(1, 50));
    saved(&writer.status(), 1);
    fs::rename(&data, data.with_extension("aside")).unwrap();
    writer.submit(change(2, 50));
    let begun = std::time::Instant::now();
    let finished = writer.finish(Duration::from_millis(300));
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_eq!((finished.is_saved, finished.step), (false, Some(1)));
    assert!(finished.error.is_some());
    fs::rename(data.with_extension("aside"), &data).unwrap();
    assert_eq!(found(&data, 50).unwrap().step, 1);
}

#[test]
fn a_copy_that_cannot_be_kept_keeps_no_cut_waiting() {
    let data = tempfile::tempdir().unwrap();
    // What a copy is called before it is whole is taken.
    let settings = Settings { copies: 2, copy_every: Duration::from_millis(10), ..SOON };
    let writer = begin(data.path(), settings);
    let status = writer.status();
    let taken = data.path().join("world.copy.sqlite");
    fs::create_dir_all(taken.join("inside")).unwrap();
    writer.submit(whole(1, 50));
    saved(&status, 1);
    until("failed", || status.report().copy_error.is_some());
    writer.submit(change(2, 50));
    saved(&status, 2);
    assert_eq!(status.report().outages, 0);
    fs::remove_dir_all(&taken).unwrap();
    until("kept", || status.report().copies > 0);
    assert_eq!(status.report().copy_error, None);
    assert!(writer.finish(LONG).is_saved);
    assert!(saves::inspect(data.path()).unwrap().kept[0].save.is_ok());
}

#[test]
fn a_save_that_breaks_under_a_server_is_found_by_the_next_copy_and_written_anew() {
    let data = tempfile::tempdir().unwrap();
    let settings = Settings { copies: 2, copy_every: Duration::from_millis(50), ..SOON };
    let count = 2_000;
    make(data.path(), 3, count);
    let writer = Writer::start(*open(data.path()).unwrap(), settings).unwrap();
    let status = writer.status();
    until("kept", || status.report().copies > 0);
    // In the middle of the file, where no commit to come will look.
    let save = data.path().join("world.sqlite");
    let mut bytes = fs::read(&save).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 2000].fill(0xa5);
    fs::write(&save, bytes).unwrap();
    let row = (("pilot".to_owned(), 0), Some(b"changed".to_vec()));
    writer.submit(Change { step: 4, is_whole: false, rows: [row].into() });
    until("found", || status.wants_whole());
    writer.submit(whole(5, count));
    saved(&status, 5);
    assert!(writer.finish(LONG).is_saved);
    assert_eq!(found(data.path(), count).unwrap().step, 5);
}

#[test]
fn a_cut_that_cannot_be_told_is_no_reason_to_believe_that_it_is_saved() {
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 3, 50);
    struct Bad;
    impl saves::Cut for Bad {
        fn step(&self) -> u64 {
            4
        }
        fn is_whole(&self) -> bool {
            false
        }
        fn merge(&mut self, _: Self) {}
        fn rows(&self, put: &mut dyn FnMut(&str, u64, Option<&[u8]>)) {
            put("ship", 1, Some(b"half"));
            panic!("a row that cannot be told");
        }
    }
    let writer = Writer::start(*open(data.path()).unwrap(), SOON).unwrap();
    let status = writer.status();
    writer.submit(Bad);
    until("noticed", || status.report().error.is_some());
    assert!(status.is_behind(Duration::ZERO));
    let finished = writer.finish(LONG);
    assert!(!finished.is_saved && finished.error.is_some());
    assert_eq!(found(data.path(), 50).unwrap().step, 3);
}

#[test]
fn no_directory_can_be_made_where_a_file_is() {
    let data = tempfile::tempdir().unwrap();
    fs::write(data.path().join("file"), "").unwrap();
    let refused = saves::Store::open(&data.path().join("file")).unwrap_err();
    assert!(matches!(refused, SaveError::Io { .. }), "{refused:?}");
}
