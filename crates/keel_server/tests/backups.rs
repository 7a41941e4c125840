//! A save as a file or a text elsewhere, and back: backups, exports, and what takes the place of a save.

mod kept;

use std::collections::BTreeMap;

use keel_server::saves::{self, DumpError, Lock, Opened, SaveError, Store, Writer};
use kept::{
    Change, LONG, SOON, begin, between_renames, change, export, files, found, lay_out, make, old, open, rows_of, saved,
    with_copies,
};

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
