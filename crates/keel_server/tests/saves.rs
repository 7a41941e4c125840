//! Saves on a real disk: what is written comes back, and what breaks is found.

mod kept;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use keel_server::saves::{
    self, DumpError, Lock, Migration, Old, Opened, SAVE_VERSION, SaveError, Settings, Store, Writer, put_row,
};
use kept::{
    Change, SOON, all_files, begin, change, files, found, lay_out, make, open, rows_at, rows_of, saved, until, whole,
};

/// Waiting for the writer at most.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn what_was_handed_over_last_is_what_is_found() {
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 30, 100);
    let meta = found(data.path(), 100).unwrap();
    assert_eq!((meta.step, meta.seed, meta.is_clean, meta.version), (30, 7, true, SAVE_VERSION));
    assert_eq!(files(data.path()).into_keys().collect::<Vec<_>>(), ["world.sqlite"], "nothing is left beside it");
}

#[test]
fn cuts_that_come_faster_than_the_disk_are_one_commit() {
    let data = tempfile::tempdir().unwrap();
    let writer = begin(data.path(), SOON);
    writer.submit(whole(1, 200));
    for step in 2..=500 {
        writer.submit(change(step, 200));
    }
    let status = writer.status();
    let finished = writer.finish(LONG);
    assert_eq!((finished.is_saved, finished.step, finished.error), (true, Some(500), None));
    assert!(status.report().commits < 400, "{:?}", status.report());
    assert_eq!(found(data.path(), 200).unwrap().step, 500);
}

#[test]
fn a_save_goes_on_where_it_left_off_and_a_whole_cut_removes_what_it_lacks() {
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 5, 50);
    let writer = Writer::start(*open(data.path()).unwrap(), SOON).unwrap();
    writer.submit(change(6, 50));
    writer.submit(whole(9, 50));
    let status = writer.status();
    saved(&status, 9);
    writer.submit(Change { step: 10, is_whole: true, rows: BTreeMap::new() });
    assert!(writer.finish(LONG).is_saved);
    assert!(rows_of(&open(data.path()).unwrap()).is_empty());
    assert_eq!(status.report().rows, 0);
}

#[test]
fn a_server_that_ends_without_a_word_has_what_was_committed() {
    let data = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let writer = begin(data.path(), SOON);
    let status = writer.status();
    writer.submit(whole(1, 50));
    saved(&status, 1);
    writer.submit(change(2, 50));
    saved(&status, 2);
    // As a kill would leave it: the log is not in the file yet.
    lay_out(copy.path(), &files(data.path()));
    assert!(files(copy.path()).contains_key("world.sqlite-wal"));
    let meta = found(copy.path(), 50).unwrap();
    assert_eq!((meta.step, meta.is_clean), (2, false));
    drop(writer);
}

#[test]
fn a_second_server_is_told_who_has_the_save() {
    let data = tempfile::tempdir().unwrap();
    let writer = begin(data.path(), SOON);
    let refused = Store::open(data.path()).unwrap_err();
    assert!(matches!(refused, SaveError::Locked { pid: Some(pid), .. } if pid == std::process::id()), "{refused:?}");
    assert!(writer.finish(LONG).is_saved);
    assert!(matches!(Store::open(data.path()).unwrap(), Opened::New(_)));
}

/// A save with copies, the newest of step 20, and the save of step 25.
fn with_copies(data: &Path, count: u64) {
    let every = Settings { copies: 3, copy_every: Duration::from_millis(1), ..SOON };
    let writer = begin(data, every);
    let status = writer.status();
    writer.submit(whole(1, count));
    for step in 2..=20 {
        saved(&status, step - 1);
        writer.submit(change(step, count));
    }
    saved(&status, 20);
    until("copied", || {
        saves::inspect(data)
            .unwrap()
            .kept
            .first()
            .is_some_and(|copy| copy.save.as_ref().is_ok_and(|copy| copy.meta.as_ref().unwrap().step == 20))
    });
    assert!(writer.finish(LONG).is_saved);
    let writer = Writer::start(*open(data).unwrap(), SOON).unwrap();
    for step in 21..=25 {
        writer.submit(change(step, count));
    }
    assert!(writer.finish(LONG).is_saved);
}

#[test]
fn copies_are_kept_the_newest_first_and_each_is_a_save() {
    let data = tempfile::tempdir().unwrap();
    with_copies(data.path(), 60);
    let seen = saves::inspect(data.path()).unwrap();
    let metas: Vec<_> = seen.kept.iter().map(|copy| copy.save.as_ref().unwrap().meta.clone().unwrap()).collect();
    assert!((2..=3).contains(&metas.len()), "{metas:?}");
    assert!(metas.is_sorted_by(|one, next| one.step > next.step && one.generation > next.generation), "{metas:?}");
    let names = files(data.path());
    assert!(names.keys().all(|name| !name.contains("new") && !name.contains("copy")), "{:?}", names.keys());
}

#[test]
fn each_page_that_breaks_and_each_file_cut_short_gives_the_last_whole_copy_or_the_same_save() {
    let (data, trial) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let trial = trial.path().join("data");
    with_copies(data.path(), 60);
    let sound = files(data.path());
    let save = &sound["world.sqlite"];
    let check = |broken: &[u8], what: &str| {
        let mut all = sound.clone();
        all.insert("world.sqlite".to_owned(), broken.to_vec());
        lay_out(&trial, &all);
        match found(&trial, 60) {
            // What is broken has no meaning, as between the rows of a page.
            Ok(meta) if meta.step == 25 => false,
            Ok(meta) => {
                assert_eq!(meta.step, 20, "{what}");
                let after = files(&trial);
                let aside = after.iter().find(|(name, _)| name.starts_with("world.broken-"));
                assert!(aside.is_some_and(|(_, bytes)| bytes == broken), "{what}: it is put aside as it was");
                true
            }
            Err(error) => {
                assert!(matches!(error, SaveError::Newer { .. } | SaveError::Broken { .. }), "{what}: {error:?}");
                true
            }
        }
    };
    let mut count = 0;
    for page in 0..save.len() / 4096 {
        // Its head, its cells' places, what is in the middle, and its end; a bit, a byte, and a stretch of it.
        for (at, length) in
            [(0, 1), (1, 1), (5, 2), (9, 1), (18, 2), (24, 8), (60, 4), (68, 4), (100, 16), (2000, 300), (4095, 1)]
        {
            for flip in [0x01, 0xff] {
                let mut broken = save.clone();
                broken[page * 4096 + at..][..length].iter_mut().for_each(|byte| *byte ^= flip);
                count += usize::from(check(&broken, &format!("page {page}, {length} bytes from {at} by {flip:02x}")));
            }
        }
        let mut broken = save.clone();
        broken[page * 4096..][..4096].fill(0);
        count += usize::from(check(&broken, &format!("page {page} of zeros")));
    }
    assert!(count > 100, "only {count} of them were found");
    for length in [0, 1, 16, 99, 100, 511, 4095, 4096, 4097, 8192, save.len() / 2, save.len() - 4096] {
        assert!(check(&save[..length], &format!("cut to {length}")), "cut to {length} it passed for whole");
    }
    // What is missing may have been zero.
    check(&save[..save.len() - 1], "cut by one");
}

#[test]
fn a_broken_save_without_a_copy_is_refused_by_name_and_left_as_it_is() {
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 3, 40);
    let path = data.path().join("world.sqlite");
    for length in [0, 50, 8192] {
        let sound = std::fs::read(&path).unwrap();
        std::fs::write(&path, &sound[..length]).unwrap();
        let before = files(data.path());
        let refused = Store::open(data.path()).unwrap_err();
        assert!(matches!(refused, SaveError::Broken { .. }), "{refused:?}");
        assert!(refused.to_string().contains("no copy of it was kept"), "{refused}");
        assert!(files(data.path()) == before);
        std::fs::write(&path, sound).unwrap();
    }
}

#[test]
fn a_save_that_vanished_is_not_a_new_world_while_there_is_a_copy_or_a_log() {
    let data = tempfile::tempdir().unwrap();
    with_copies(data.path(), 60);
    let report = |store: Store| Writer::<Change>::start(store, SOON).unwrap().status().report();
    let sound = report(*open(data.path()).unwrap());
    assert!(!sound.fell_back && sound.copied_at.is_some() && sound.bytes > 0 && sound.rows > 0, "{sound:?}");
    until("let go", || Lock::take(data.path()).is_ok());
    std::fs::remove_file(data.path().join("world.sqlite")).unwrap();
    assert!(report(*open(data.path()).unwrap()).fell_back);
    until("let go", || Lock::take(data.path()).is_ok());
    assert_eq!(found(data.path(), 60).unwrap().step, 20);

    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("world.sqlite-wal"), "a log").unwrap();
    assert!(matches!(Store::open(data.path()), Err(SaveError::Broken { .. })));
}

/// What a directory's files are after a kill between the two renames by which one save takes the place of another: the old
/// one is put aside, its log perhaps not yet, and the new one has the name that it was made by.
fn between_renames(data: &Path, new: &[u8], is_log_left: bool) {
    let mut all = files(data);
    let save = all.remove("world.sqlite").unwrap();
    all.insert("world.broken-20260101T000000Z.sqlite".to_owned(), save);
    if is_log_left {
        all.insert("world.sqlite-wal".to_owned(), b"of the old one".to_vec());
    }
    all.insert("world.new.sqlite".to_owned(), new.to_vec());
    lay_out(data, &all);
}

#[test]
fn a_kill_between_putting_one_save_aside_and_another_in_its_place_loses_neither() {
    let (other, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make(other.path(), 40, 60);
    let new = files(other.path()).remove("world.sqlite").unwrap();
    for (has_copies, is_log_left) in [(false, false), (false, true), (true, false), (true, true)] {
        let data = data.path().join(format!("{has_copies}-{is_log_left}"));
        if has_copies {
            with_copies(&data, 60);
        } else {
            make(&data, 25, 60);
        }
        between_renames(&data, &new, is_log_left);
        assert_eq!(found(&data, 60).unwrap().step, 40, "copies: {has_copies}, log: {is_log_left}");
        let names = files(&data).into_keys().collect::<Vec<_>>();
        assert!(!names.contains(&"world.new.sqlite".to_owned()), "{names:?}");
        let logs = names.iter().filter(|name| name.starts_with("world.replaced-") && name.ends_with("-wal"));
        assert_eq!(logs.count(), usize::from(is_log_left), "{names:?}");
        // Once more: it stays.
        assert_eq!(found(&data, 60).unwrap().step, 40);
    }
    // What is not whole is of no use, and what is there is not touched.
    for (len, step) in [(new.len(), 25), (5_000, 25)] {
        let data = data.path().join(len.to_string());
        make(&data, 25, 60);
        std::fs::write(data.join("world.new.sqlite"), &new[..len]).unwrap();
        assert_eq!(found(&data, 60).unwrap().step, step);
    }
    let data = data.path().join("half");
    with_copies(&data, 60);
    between_renames(&data, &new[..5_000], false);
    assert_eq!(found(&data, 60).unwrap().step, 20, "the newest copy");
}

#[test]
fn an_import_that_is_killed_in_the_middle_is_not_lost_to_the_next_one() {
    let (other, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make(other.path(), 40, 60);
    let text = export(other.path()).join("\n");
    make(data.path(), 25, 60);
    between_renames(data.path(), &files(other.path())["world.sqlite"], false);
    let refused = saves::import(data.path(), text.as_bytes(), false).unwrap_err();
    assert!(matches!(refused, DumpError::Save(SaveError::Exists(_))), "{refused:?}");
    assert_eq!(found(data.path(), 60).unwrap().step, 40);
}

#[test]
fn a_backup_is_restored_whole_with_what_was_there_put_aside() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make(data.path(), 3, 40);
    let file = other.path().join("backup.sqlite");
    saves::backup(data.path(), &file).unwrap();
    let data = other.path().join("data");
    let restored = saves::restore(&data, &file, false).unwrap();
    assert_eq!((restored.contents.meta.unwrap().step, restored.before), (3, None));
    assert_eq!(found(&data, 40).unwrap().step, 3);

    // Over another world with a log and copies.
    let (before, data) = (tempfile::tempdir().unwrap(), other.path().join("more"));
    with_copies(before.path(), 60);
    let writer = Writer::start(*open(before.path()).unwrap(), SOON).unwrap();
    let status = writer.status();
    writer.submit(change(26, 60));
    saved(&status, 26);
    lay_out(&data, &files(before.path()).into_iter().filter(|(name, _)| !name.ends_with("-shm")).collect());
    let refused = saves::restore(&data, &file, false).unwrap_err();
    assert!(matches!(refused, SaveError::Exists(_)), "{refused:?}");
    let aside = saves::restore(&data, &file, true).unwrap().before.unwrap();
    assert_eq!(found(&data, 40).unwrap().step, 3, "without the log of the other");
    std::fs::write(data.join("world.sqlite"), "").unwrap();
    assert_eq!(found(&data, 40).unwrap().step, 3, "and its newest copy is of it too");
    // What was put aside is all of it: with its name back, it is the world that it was.
    let (log, again) = (aside.with_extension("sqlite-wal"), other.path().join("again"));
    std::fs::create_dir(&again).unwrap();
    std::fs::copy(&aside, again.join("world.sqlite")).unwrap();
    std::fs::copy(&log, again.join("world.sqlite-wal")).unwrap();
    assert_eq!(found(&again, 60).unwrap().step, 26);
    // And a kept copy is a backup.
    let kept = again.join("world.1.sqlite");
    std::fs::copy(&file, &kept).unwrap();
    saves::restore(&again, &kept, true).unwrap();
    assert_eq!(found(&again, 40).unwrap().step, 3);
    assert!(writer.finish(LONG).is_saved);
}

#[test]
fn what_is_not_a_whole_save_is_not_restored_and_changes_nothing() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make(data.path(), 3, 40);
    let file = other.path().join("backup.sqlite");
    saves::backup(data.path(), &file).unwrap();
    let sound = std::fs::read(&file).unwrap();
    std::fs::write(&file, &sound[..sound.len() - 4096]).unwrap();
    let before = files(data.path());
    let refused = saves::restore(data.path(), &file, true).unwrap_err();
    assert!(matches!(refused, SaveError::Broken { .. }), "{refused:?}");
    assert!(files(data.path()) == before);
    let nowhere = other.path().join("nowhere");
    assert!(matches!(saves::restore(&nowhere, &file, false), Err(SaveError::Broken { .. })));
    assert!(!nowhere.exists(), "nothing is made for a file that is of no use");
    std::fs::write(&file, sound).unwrap();
    let lock = Lock::take(data.path()).unwrap();
    assert!(matches!(saves::restore(data.path(), &file, true), Err(SaveError::Locked { .. })));
    drop(lock);
    // One of an older version is brought forward as any is.
    let older = other.path().join("older");
    old(&older);
    let restored = saves::restore(&nowhere, &older.join("world.sqlite"), false).unwrap();
    assert_eq!(restored.contents.version, 1);
    assert!(matches!(Store::open(&nowhere).unwrap(), Opened::Old(_)));
}

#[test]
fn a_backup_leaves_the_files_of_others_alone() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make(data.path(), 3, 40);
    let theirs = ["backup.sqlite.new", "backup.sqlite.new-wal"].map(|name| other.path().join(name));
    theirs.iter().for_each(|path| std::fs::write(path, "theirs").unwrap());
    saves::backup(data.path(), &other.path().join("backup.sqlite")).unwrap();
    assert!(theirs.iter().all(|path| std::fs::read(path).unwrap() == b"theirs"));
    let taken = other.path().join(format!("second.sqlite.{}.new", std::process::id()));
    std::fs::write(&taken, "theirs").unwrap();
    let refused = saves::backup(data.path(), &other.path().join("second.sqlite")).unwrap_err();
    assert!(matches!(&refused, SaveError::Exists(path) if *path == taken), "{refused:?}");
    assert_eq!(std::fs::read(&taken).unwrap(), b"theirs");
    assert_eq!(files(other.path()).len(), 4);
}

#[test]
fn rows_of_two_steps_rows_left_out_and_rows_from_elsewhere_are_found() {
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 3, 40);
    let sound = files(data.path());
    let tampered = |sql: &str| {
        lay_out(data.path(), &sound);
        let connection = rusqlite::Connection::open(data.path().join("world.sqlite")).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        Store::open(data.path()).err().map(|error| error.to_string())
    };
    assert_eq!(tampered("UPDATE rows SET sum = sum"), None);
    for sql in [
        "DELETE FROM rows WHERE id = 4",
        "UPDATE rows SET data = x'00' WHERE id = 4",
        "UPDATE rows SET sum = sum + 1 WHERE id = 4",
        "UPDATE rows SET id = 4000 WHERE id = 4",
        "UPDATE rows SET kind = 'other' WHERE id = 4",
        "INSERT INTO rows SELECT kind, id + 1000, data, sum FROM rows WHERE id = 4",
        "UPDATE meta SET step = step + 1",
        "UPDATE meta SET seed = 8",
        "DELETE FROM meta",
        "DROP TABLE rows",
        "CREATE TRIGGER more AFTER UPDATE ON rows BEGIN DELETE FROM meta; END",
        "CREATE TABLE more (id)",
        "PRAGMA application_id = 5",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 99",
    ] {
        let refused = tampered(sql).unwrap_or_else(|| panic!("{sql} passed"));
        assert!(refused.contains("is broken"), "{sql}: {refused}");
    }
}

/// Makes a save say that it is of another version.
fn set_version(data: &Path, version: u32, with_log: bool) {
    // What it says of itself has a sum, which only who writes it can make.
    let connection = rusqlite::Connection::open(data.join("world.sqlite")).unwrap();
    let drop_meta = "DROP TABLE meta; CREATE TABLE meta (what TEXT); INSERT INTO meta VALUES ('the future');";
    connection.execute_batch(&format!("{drop_meta} PRAGMA user_version = {version};")).unwrap();
    if with_log {
        // A log that was not written into the file, as after a kill.
        let all = files(data);
        drop(connection);
        lay_out(data, &all.into_iter().filter(|(name, _)| !name.ends_with("-shm")).collect());
    }
}

#[test]
fn a_save_of_a_later_version_is_refused_and_not_a_byte_of_anything_changes() {
    for with_log in [false, true] {
        let data = tempfile::tempdir().unwrap();
        make(data.path(), 3, 40);
        set_version(data.path(), SAVE_VERSION + 1, with_log);
        let before = files(data.path());
        assert_eq!(before.contains_key("world.sqlite-wal"), with_log);
        let refused = Store::open(data.path()).unwrap_err();
        let is_newer = |found: u32, known: u32| (found, known) == (SAVE_VERSION + 1, SAVE_VERSION);
        assert!(matches!(refused, SaveError::Newer { found, known, .. } if is_newer(found, known)), "{refused:?}");
        assert!(Old::find(data.path()).is_err());
        let all = all_files(data.path());
        assert!(saves::export(data.path(), Vec::new()).is_err());
        assert!(saves::inspect(data.path()).unwrap().save.is_err());
        assert!(files(data.path()) == before && all_files(data.path()) == all);
    }
}

#[test]
fn looking_at_a_save_with_a_log_reads_the_log_and_changes_nothing() {
    let (data, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let writer = begin(data.path(), SOON);
    writer.submit(whole(1, 40));
    saved(&writer.status(), 1);
    writer.submit(change(2, 40));
    saved(&writer.status(), 2);
    let mut killed = files(data.path());
    killed.remove("world.sqlite-shm");
    lay_out(copy.path(), &killed);
    let seen = saves::inspect(copy.path()).unwrap();
    assert_eq!(seen.save.unwrap().meta.unwrap().step, 2);
    saves::export(copy.path(), Vec::new()).unwrap();
    saves::backup(copy.path(), &data.path().join("of-copy")).unwrap();
    assert!(all_files(copy.path()) == killed, "not even a lock");
    // Nor is the one that is there written.
    std::fs::write(copy.path().join("lock"), "4000000000\n").unwrap();
    killed = all_files(copy.path());
    let seen = saves::inspect(copy.path()).unwrap();
    assert_eq!((seen.holder, seen.save.unwrap().meta.unwrap().step), (None, 2));
    saves::export(copy.path(), Vec::new()).unwrap();
    assert!(all_files(copy.path()) == killed);
    // While a server has it, as well.
    let seen = saves::inspect(data.path()).unwrap();
    assert_eq!(seen.save.unwrap().meta.unwrap().step, 2);
    assert_eq!(seen.holder, Some(Some(std::process::id())));
    let to = copy.path().join("backup.sqlite");
    assert_eq!(saves::backup(data.path(), &to).unwrap().step, 2);
    assert!(matches!(saves::backup(data.path(), &to), Err(SaveError::Exists(_))));
    writer.submit(change(3, 40));
    assert!(writer.finish(LONG).is_saved);
    let restored = tempfile::tempdir().unwrap();
    std::fs::copy(to, restored.path().join("world.sqlite")).unwrap();
    assert_eq!(found(restored.path(), 40).unwrap().step, 2);
}

#[test]
fn a_server_waits_for_a_reader_who_comes_to_an_end_and_says_so_of_one_who_does_not() {
    /// A text that nobody reads on for a while.
    struct Slow(bool, Duration);

    impl std::io::Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if !std::mem::replace(&mut self.0, true) {
                std::thread::sleep(self.1);
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let data = tempfile::tempdir().unwrap();
    make(data.path(), 3, 40);
    let (other, begun) = (data.path().to_owned(), std::time::Instant::now());
    let reader = std::thread::spawn(move || saves::export(&other, Slow(false, Duration::from_millis(300))).unwrap());
    until("read", || {
        let lock = std::fs::File::open(data.path().join("lock")).unwrap();
        matches!(lock.try_lock(), Err(std::fs::TryLockError::WouldBlock))
    });
    assert_eq!(saves::inspect(data.path()).unwrap().holder, None, "others may read as well");
    assert_eq!(found(data.path(), 40).unwrap().step, 3);
    assert!(begun.elapsed() >= Duration::from_millis(300) && reader.is_finished());

    let lock = std::fs::File::open(data.path().join("lock")).unwrap();
    lock.lock_shared().unwrap();
    let refused = Store::open(data.path()).unwrap_err();
    assert!(matches!(refused, SaveError::Read(_)), "{refused:?}");
    assert!(refused.to_string().contains("is being read"), "{refused}");
}

#[cfg(unix)]
#[test]
fn all_that_is_made_is_for_its_owner_alone() {
    use std::os::unix::fs::MetadataExt;
    let place = tempfile::tempdir().unwrap();
    let (data, imported) = (place.path().join("deep/data"), place.path().join("imported"));
    let check = |directory: &Path, least: usize| {
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(mode(directory), 0o700);
        let names = all_files(directory).into_keys().collect::<Vec<_>>();
        assert!(names.len() >= least, "{names:?}");
        for name in names {
            assert_eq!(mode(&directory.join(&name)), 0o600, "{name}");
        }
    };
    let writer = begin(&data, SOON);
    writer.submit(whole(1, 40));
    saved(&writer.status(), 1);
    writer.submit(change(2, 40));
    saved(&writer.status(), 2);
    // The save, its log, its index and the lock.
    check(&data, 4);
    assert!(writer.finish(LONG).is_saved);
    std::fs::remove_dir_all(&data).unwrap();
    with_copies(&data, 60);
    let backup = data.join("backup");
    saves::backup(&data, &backup).unwrap();
    // One that was made otherwise.
    let kept = data.join("world.1.sqlite");
    std::fs::set_permissions(&kept, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    std::fs::write(data.join("world.sqlite"), "").unwrap();
    assert_eq!(found(&data, 60).unwrap().step, 20);
    assert_eq!(std::fs::metadata(data.join("world.sqlite")).unwrap().mode() & 0o777, 0o600);
    std::fs::remove_file(&kept).unwrap();
    check(&data, 4);
    let text = export(&data).join("\n");
    for _ in 0..2 {
        saves::import(&imported, text.as_bytes(), true).unwrap();
        check(&imported, 2);
        saves::restore(&imported, &backup, true).unwrap();
        check(&imported, 4);
    }
    std::fs::remove_dir_all(&imported).unwrap();
    old(&imported);
    let Opened::Old(found) = Store::open(&imported).unwrap() else { panic!("it should be old") };
    found.migrate(&[FORWARD]).unwrap();
    check(&imported, 3);
}

/// A save of version 1, which has another table instead of what a save says of itself now.
fn old(data: &Path) {
    make(data, 3, 40);
    let connection = rusqlite::Connection::open(data.join("world.sqlite")).unwrap();
    connection.execute_batch("DROP TABLE meta; CREATE TABLE world (seed INTEGER); INSERT INTO world VALUES (7); PRAGMA user_version = 1;").unwrap();
}

fn export(data: &Path) -> Vec<String> {
    let mut text = Vec::new();
    saves::export(data, &mut text).unwrap();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

/// Gives every row another number, and one more row.
const FORWARD: Migration = Migration {
    from: 1,
    run: |transaction| {
        let seed: i64 = transaction.query_row("SELECT seed FROM world", [], |row| row.get(0))?;
        transaction
            .execute_batch("UPDATE rows SET id = id + 1000; ALTER TABLE rows RENAME TO old; DROP TABLE world;")?;
        saves::start_schema(transaction, &saves::Meta::new(seed.cast_unsigned()))?;
        transaction.execute_batch("INSERT INTO rows SELECT * FROM old; DROP TABLE old;")?;
        put_row(transaction, "map", 1, b"new")?;
        Ok(())
    },
};

#[test]
fn an_older_save_is_brought_forward_once_with_a_copy_of_the_old_one() {
    let data = tempfile::tempdir().unwrap();
    old(data.path());
    let before = files(data.path());
    let Opened::Old(found) = Store::open(data.path()).unwrap() else { panic!("it should be old") };
    assert_eq!(found.version(), 1);
    let rehearsed = found.rehearse(&[FORWARD]).unwrap();
    assert!(files(data.path()) == before, "a rehearsal changes nothing");
    let (store, migrated) = found.migrate(&[FORWARD]).unwrap();
    assert_eq!(rehearsed.after, migrated.after);
    assert_eq!(migrated.backup.unwrap(), data.path().join("world.v1.sqlite"));
    let mut expected: kept::Rows =
        rows_at(3, 40).into_iter().map(|((kind, id), row)| ((kind, id + 1000), row)).collect();
    expected.insert(("map".to_owned(), 1), b"new".to_vec());
    assert_eq!((rows_of(&store), store.meta().seed), (expected.clone(), 7));
    drop(store);
    // Nothing is left to do.
    assert!(Old::find(data.path()).unwrap().is_none());
    // A copy of it that takes the place of a broken save is brought forward too, and told of.
    let broken = tempfile::tempdir().unwrap();
    std::fs::copy(data.path().join("world.v1.sqlite"), broken.path().join("world.1.sqlite")).unwrap();
    std::fs::write(broken.path().join("world.sqlite"), "").unwrap();
    let Opened::Old(found) = Store::open(broken.path()).unwrap() else { panic!("it should be old") };
    let (store, _) = found.migrate(&[FORWARD]).unwrap();
    assert!(Writer::<Change>::start(store, SOON).unwrap().status().report().fell_back);
    assert_eq!(rows_of(&open(data.path()).unwrap()), expected);
    // From the kept one it is the same again, and that is not kept twice.
    std::fs::copy(data.path().join("world.v1.sqlite"), data.path().join("world.sqlite")).unwrap();
    let names = files(data.path()).into_keys().collect::<Vec<_>>();
    let (store, _) = Old::find(data.path()).unwrap().unwrap().migrate(&[FORWARD]).unwrap();
    assert_eq!(rows_of(&store), expected);
    assert_eq!(files(data.path()).into_keys().collect::<Vec<_>>(), names);
}

#[test]
fn a_migration_that_fails_in_the_middle_leaves_the_save_as_it_was() {
    let half = |transaction: &rusqlite::Transaction<'_>| {
        transaction.execute_batch("UPDATE rows SET id = id + 1000; DROP TABLE world;")?;
        Err("half way".into())
    };
    let forgets = |transaction: &rusqlite::Transaction<'_>| Ok(transaction.execute_batch("DROP TABLE rows")?);
    for steps in [vec![], vec![Migration { from: 1, run: half }], vec![Migration { from: 1, run: forgets }]] {
        let data = tempfile::tempdir().unwrap();
        old(data.path());
        let before = std::fs::read(data.path().join("world.sqlite")).unwrap();
        let find = || Old::find(data.path()).unwrap().unwrap();
        assert!(matches!(find().rehearse(&steps), Err(SaveError::Migration { from: 1, .. })));
        for _ in 0..2 {
            assert!(matches!(find().migrate(&steps), Err(SaveError::Migration { from: 1, .. })));
        }
        let after = files(data.path());
        assert!(after["world.sqlite"] == before);
        assert_eq!(after.into_keys().collect::<Vec<_>>(), ["world.sqlite", "world.v1.sqlite"]);
    }
}

#[test]
fn a_save_told_as_text_comes_back_row_by_row() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let rows = [
        rmp_serde::to_vec_named(&BTreeMap::from([("hull", 0.1_f32), ("shield", -0.0)])).unwrap(),
        rmp_serde::to_vec_named(&(1.5_f64, u64::MAX, i64::MIN, "ä\n", None::<u8>)).unwrap(),
        rmp_serde::to_vec_named(&BTreeMap::from([(3_u32, f32::NAN), (4, f32::INFINITY)])).unwrap(),
        b"\xc1 is no MessagePack".to_vec(),
        vec![0xc0],
        vec![],
    ];
    let rows = rows.into_iter().enumerate().map(|(id, row)| (("thing".to_owned(), u64::MAX - id as u64), Some(row)));
    let writer = begin(data.path(), SOON);
    writer.submit(Change { step: 5, is_whole: true, rows: rows.collect() });
    assert!(writer.finish(LONG).is_saved);
    let text = export(data.path()).join("\n");
    let imported = saves::import(other.path(), text.as_bytes(), false).unwrap();
    assert_eq!((imported.rows, imported.before), (6, None));
    let (one, two) = (open(data.path()).unwrap(), open(other.path()).unwrap());
    assert_eq!(one.meta(), two.meta());
    assert_eq!(rows_of(&one), rows_of(&two));
}

#[test]
fn a_text_with_a_bad_line_is_refused_with_its_number_and_nothing_is_made_of_it() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make(data.path(), 3, 10);
    let lines = export(data.path());
    assert_eq!(lines.len(), 10);
    let long = format!("{{\"kind\":\"ship\",\"id\":1,\"raw\":\"{}\"}}", "0".repeat(saves::MAX_LINE));
    let deep = format!("{{\"kind\":\"ship\",\"id\":1,\"data\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let again = lines[2].clone();
    for (bad, reason) in [
        ("", "EOF"),
        ("{}", "kind"),
        ("not json", "expected"),
        (r#"{"kind":"ship","id":-1,"data":1}"#, "-1"),
        (r#"{"kind":"ship","id":1e3,"data":1}"#, "1000"),
        (r#"{"kind":"ship","id":1}"#, "either"),
        (r#"{"kind":"ship","id":1,"data":1,"raw":"00"}"#, "either"),
        (r#"{"kind":"ship","id":1,"raw":"0"}"#, "digits"),
        (r#"{"kind":"ship","id":1,"raw":"ÄÖ"}"#, "digits"),
        (r#"{"kind":"","id":1,"data":1}"#, "word"),
        (r#"{"kind":"a b","id":1,"data":1}"#, "word"),
        (r#"{"kind":"ship","id":1,"data":{"$f32":"x"}}"#, "$f32"),
        (r#"{"kind":"ship","id":1,"data":1,"more":2}"#, "more"),
        (&again, "before"),
        (&long, "longer"),
        (&deep, "recursion"),
    ] {
        let mut text = lines.clone();
        text[5] = bad.to_owned();
        let refused = saves::import(other.path(), text.join("\n").as_bytes(), false).unwrap_err();
        let start: String = bad.chars().take(60).collect();
        assert!(matches!(&refused, DumpError::Line { line: 6, .. }), "{start}: {refused:?}");
        assert!(refused.to_string().contains(reason), "{start}: {refused}");
        assert!(files(other.path()).is_empty(), "{start}");
    }
    for (text, line) in [
        (String::new(), 1),
        (lines[..9].join("\n"), 10),
        (lines.join("\n") + "\n" + r#"{"kind":"ship","id":4000,"data":1}"#, 11),
        (lines.join("\n").replace("\"keel_save\":2", "\"keel_save\":3"), 1),
    ] {
        let refused = saves::import(other.path(), text.as_bytes(), false).unwrap_err();
        assert!(matches!(&refused, DumpError::Line { line: at, .. } if *at == line), "{refused:?}");
        assert!(files(other.path()).is_empty());
    }
}

#[test]
fn a_save_is_only_replaced_if_that_is_asked_for_and_never_lost() {
    let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    make(data.path(), 3, 10);
    with_copies(other.path(), 60);
    let text = export(data.path()).join("\n");
    let before = std::fs::read(other.path().join("world.sqlite")).unwrap();
    let refused = saves::import(other.path(), text.as_bytes(), false).unwrap_err();
    assert!(matches!(refused, DumpError::Save(SaveError::Exists(_))), "{refused:?}");
    let lock = Lock::take(other.path()).unwrap();
    let refused = saves::import(other.path(), text.as_bytes(), true).unwrap_err();
    assert!(matches!(refused, DumpError::Save(SaveError::Locked { .. })), "{refused:?}");
    drop(lock);
    let imported = saves::import(other.path(), text.as_bytes(), true).unwrap();
    assert!(std::fs::read(imported.before.unwrap()).unwrap() == before);
    assert_eq!(found(other.path(), 10).unwrap().step, 3);
    // And should it break, it is not the one before that takes its place.
    std::fs::write(other.path().join("world.sqlite"), "").unwrap();
    assert_eq!(found(other.path(), 10).unwrap().step, 3);
}
