//! Saves on a real disk: what is written comes back, and what breaks is found.

mod kept;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use keel_server::saves::{self, Lock, Migration, Old, Opened, SAVE_VERSION, SaveError, Store, Writer, put_row};
use kept::{
    Change, LONG, SOON, all_files, begin, between_renames, change, export, files, found, lay_out, make, old, open,
    rows_at, rows_of, saved, until, whole, with_copies,
};

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
