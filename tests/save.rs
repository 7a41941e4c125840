//! `keel save` as a process, and its exit codes.

mod keel;

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use keel::keel;
use keel_server::saves::{Cut, Finished, Lock, Opened, Settings, Store, Writer};

/// A world of three rows.
struct World;

impl Cut for World {
    fn step(&self) -> u64 {
        72_000
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn merge(&mut self, newer: Self) {
        *self = newer;
    }

    fn rows(&self, put: &mut dyn FnMut(&str, u64, Option<&[u8]>)) {
        // 0.1 as a float of four bytes, a text, a map of one number.
        put("pilot", 1, Some(b"\xca\x3d\xcc\xcc\xcd"));
        put("ship", 1, Some(b"\xa3one"));
        put("ship", 2, Some(b"\x81\xa4hull\x2a"));
    }
}

fn make(data: &Path) {
    let Opened::New(vacant) = Store::open(data).unwrap() else { panic!("there is a save") };
    let writer = Writer::start(vacant.begin(9), Settings::default()).unwrap();
    writer.submit(World);
    let finished = writer.finish(std::time::Duration::from_secs(20));
    assert!(matches!(finished, Finished { is_saved: true, error: None, .. }), "{finished:?}");
}

fn save(data: &Path, args: &[&str]) -> Output {
    keel(&["save", "--data"]).arg(data).args(args).stdin(Stdio::null()).output().unwrap()
}

/// The exit code of a server that does not start.
fn serve(data: &Path) -> i32 {
    let mut command = keel(&["serve", "--unsecured", "--bind", "127.0.0.1:0", "--data"]);
    command.arg(data).output().unwrap().status.code().unwrap()
}

/// What it says, and its exit code.
fn said(data: &Path, args: &[&str]) -> (String, i32) {
    let output = save(data, args);
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (text, output.status.code().unwrap())
}

#[test]
fn a_save_is_told_checked_copied_exported_and_imported() {
    let place = tempfile::tempdir().unwrap();
    let (data, other) = (place.path().join("data"), place.path().join("other"));
    make(&data);
    let (text, code) = said(&data, &["info"]);
    for part in ["version   2", "72000 (1 h 00 min of play)", "seed      9", "in order", "pilot", "ship", "2 rows"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!((code, said(&data, &["check"]).1), (0, 0));

    let (file, again) = (place.path().join("world.jsonl"), place.path().join("again.jsonl"));
    let named = |path: &Path| path.to_str().unwrap().to_owned();
    assert_eq!(said(&data, &["export", &named(&file)]).1, 0);
    assert_eq!(said(&data, &["export", &named(&file)]).1, 1, "it is there already");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(r#"{"kind":"pilot","id":1,"data":0.10000000149011612}"#), "{text}");
    assert!(text.contains(r#"{"kind":"ship","id":2,"data":{"hull":42}}"#), "{text}");
    assert_eq!(save(&data, &["export", "-"]).stdout, text.as_bytes());

    assert_eq!(said(&other, &["import", &named(&file)]).1, 0);
    assert_eq!(said(&other, &["import", &named(&file)]).1, 1, "there is a save already");
    assert_eq!(said(&other, &["import", "--force", &named(&file)]).1, 0);
    assert_eq!(said(&other, &["export", &named(&again)]).1, 0);
    assert_eq!(fs::read_to_string(&again).unwrap(), text);
    fs::write(&again, text.replace("\"hull\":42", "\"hull\":")).unwrap();
    let (refused, code) = said(&other, &["import", "--force", &named(&again)]);
    assert!(refused.starts_with("keel: line 4: ") && code == 1, "{refused}");

    let copy = place.path().join("copy");
    fs::create_dir(&copy).unwrap();
    assert_eq!(said(&data, &["backup", &named(&copy.join("world.sqlite"))]).1, 0);
    assert_eq!(said(&copy, &["check"]).1, 0);
    assert!(said(&copy, &["migrate", "--dry-run"]).0.contains("already"));
}

#[test]
fn a_backup_is_restored_and_what_was_there_is_put_aside() {
    let place = tempfile::tempdir().unwrap();
    let (data, other, file) = (place.path().join("data"), place.path().join("other"), place.path().join("backup"));
    let named = file.to_str().unwrap();
    make(&data);
    assert_eq!(said(&data, &["backup", named]).1, 0);
    let (text, code) = said(&other, &["restore", named]);
    assert!(text.contains("72000") && !text.contains("before") && code == 0, "{text}");
    assert_eq!(said(&other, &["export", "-"]), said(&data, &["export", "-"]));
    let (text, code) = said(&other, &["restore", named]);
    assert!(text.contains("is there already") && code == 1, "{text}");
    fs::write(other.join("world.sqlite-wal"), "of the one before").unwrap();
    let (text, code) = said(&other, &["restore", named, "--force"]);
    assert!(text.contains("What was there before is ") && code == 0, "{text}");
    assert_eq!(said(&other, &["check"]).1, 0);
    assert!(!other.join("world.sqlite-wal").exists() && other.join("world.1.sqlite").exists());
    let lock = Lock::take(&other).unwrap();
    assert_eq!(said(&other, &["restore", named, "--force"]).1, 5);
    drop(lock);
    fs::write(&file, "no save").unwrap();
    assert_eq!(said(&other, &["restore", named, "--force"]).1, 4);
}

#[test]
fn exit_codes_tell_later_broken_and_used_saves_apart() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    assert_eq!(said(&data, &["info"]).1, 1, "there is none");
    assert_eq!(said(&data, &["nonsense"]).1, 2);
    make(&data);
    let path = data.join("world.sqlite");
    let sound = fs::read(&path).unwrap();

    let lock = Lock::take(&data).unwrap();
    let (text, code) = said(&data, &["migrate"]);
    assert!(text.contains(&format!("(process {})", std::process::id())) && code == 5, "{text}");
    assert_eq!((said(&data, &["check"]).1, serve(&data)), (0, 5), "who only looks may");
    drop(lock);
    let reader = fs::File::open(data.join("lock")).unwrap();
    reader.lock_shared().unwrap();
    let (text, code) = said(&data, &["migrate"]);
    assert!(text.contains("is being read by someone else") && code == 5, "{text}");
    drop(reader);

    fs::write(&path, &sound[..5_000]).unwrap();
    for command in ["info", "check", "migrate"] {
        let (text, code) = said(&data, &[command]);
        assert!(text.lines().last().unwrap().starts_with("keel: ") && code == 4, "{command}: {text}");
    }
    assert_eq!(serve(&data), 4);

    fs::write(&path, &sound).unwrap();
    assert_eq!(serve(&data), 4, "its rows make no world");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("DROP TABLE meta; CREATE TABLE meta (more); PRAGMA user_version = 9").unwrap();
    drop(connection);
    let before = fs::read(&path).unwrap();
    for command in ["info", "check", "migrate", "export -"] {
        let (text, code) = said(&data, &command.split(' ').collect::<Vec<_>>());
        assert!(text.contains("version 9") && code == 3, "{command}: {text}");
    }
    assert_eq!(serve(&data), 3);
    assert!(fs::read(&path).unwrap() == before);
}
