//! A server that goes by another balance while pilots play.

mod served;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use keel_balance::Balance;
use keel_client::{Client, Event};
use keel_server::{BalanceFile, ReloadError, Server};
use keel_testkit::SHIPPED_BALANCE;
use served::{config, pilot};

/// The shipped balance with a Patrol of that evasion, and another class after all others.
fn text(evasion: u8, liner: bool) -> String {
    let text = SHIPPED_BALANCE.replacen("evasion: 15,", &format!("evasion: {evasion},"), 1);
    let berth = text.lines().find(|line| line.starts_with("        \"Berth\"")).unwrap();
    let class = berth.replacen("Berth", "Liner", 1).replacen("guns: 0", "guns: 1", 1);
    if liner { text.replacen(berth, &format!("{berth}\n{class}"), 1) } else { text.clone() }
}

fn parsed(text: &str) -> Arc<Balance> {
    Arc::new(Balance::parse("balance.ron", text).unwrap())
}

/// A server that runs on a thread of its own with a balance file, for as long as `during` takes.
fn with_file(path: &Path, is_watched: bool, during: impl FnOnce(std::net::SocketAddr, &BalanceFile, &AtomicBool)) {
    let stop = AtomicBool::new(false);
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let server = Server::start(&config()).unwrap();
            tell.send((server.address(), server.reloader())).unwrap();
            server.run(&stop);
        });
        let (address, reloader) = told.recv().unwrap();
        let asked = Arc::new(AtomicBool::new(false));
        let applied = config().balance.hash();
        let file = BalanceFile::start(path, is_watched, applied, reloader, Arc::clone(&asked)).unwrap();
        during(address, &file, &asked);
        stop.store(true, Ordering::Relaxed);
    });
}

/// Waits until the client is told of a balance of that hash.
#[track_caller]
fn hears(client: &mut Client, hash: u64, most: Duration) -> Vec<Event> {
    let (start, mut events) = (Instant::now(), Vec::new());
    while client.replica().welcome().unwrap().balance != hash {
        events.extend(client.poll().unwrap());
        assert!(start.elapsed() < most, "nobody tells of {hash:016x}");
        std::thread::sleep(Duration::from_millis(5));
    }
    events
}

/// Polls for so long; the hashes of balances that the client was told of.
fn told(client: &mut Client, time: Duration) -> Vec<u64> {
    let (start, mut hashes) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        for event in client.poll().unwrap() {
            if let Event::Rebalanced(welcome) = event {
                hashes.push(welcome.balance);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    hashes
}

const SOON: Duration = Duration::from_secs(10);

#[test]
fn pilots_are_told_of_another_balance_and_of_their_new_cards_and_play_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("balance.ron");
    std::fs::write(&path, SHIPPED_BALANCE).unwrap();
    with_file(&path, false, |address, file, asked| {
        let mut ann = pilot(address, "ann");
        let ship = ann.replica().active().unwrap().id;
        while ann.replica().card(ship).is_none() {
            ann.poll().unwrap();
        }
        let (welcome, card) = (ann.replica().welcome().unwrap().clone(), ann.replica().card(ship).unwrap().clone());
        // What it goes by already is nothing new to anyone.
        assert_eq!(file.request_reload().unwrap(), welcome.balance);
        assert!(told(&mut ann, Duration::from_millis(300)).is_empty());

        std::fs::write(&path, text(40, true)).unwrap();
        let hash = parsed(&text(40, true)).hash();
        assert!(told(&mut ann, Duration::from_millis(2500)).is_empty(), "it is not watched");
        assert_eq!(file.request_reload().unwrap(), hash);
        hears(&mut ann, hash, SOON);
        let start = Instant::now();
        while ann.replica().card(ship).unwrap().evasion == card.evasion {
            ann.poll().unwrap();
            assert!(start.elapsed() < SOON);
        }
        assert_eq!(ann.replica().card(ship).unwrap().evasion, card.evasion + 25.0);
        let now = ann.replica().welcome().unwrap();
        assert_eq!(now.pilot, welcome.pilot);
        assert_eq!(now.classes.last().unwrap(), "Liner");
        assert_eq!(now.classes[..welcome.classes.len()], welcome.classes);
        // Who comes later is told of it at once.
        let ben = pilot(address, "ben");
        assert_eq!(ben.replica().welcome().unwrap().balance, hash);

        // Each that cannot be used is refused with what is wrong, and the world goes on by the last.
        std::fs::write(
            &path,
            text(40, true).replace("hull: 400", "hull: -400").replace("battery: 100)", "battery: 0)"),
        )
        .unwrap();
        let refusal = file.request_reload().unwrap_err().to_string();
        assert!(refusal.contains("has 2 faults:"), "{refusal}");
        let line = SHIPPED_BALANCE.lines().position(|line| line.contains("baseline: (")).unwrap() + 1;
        assert_eq!(refusal.matches(&format!("balance.ron:{line}:")).count(), 2, "{refusal}");
        std::fs::write(&path, text(40, true).replace("brace: 10, jam", "brace: 1000, jam")).unwrap();
        assert!(matches!(file.request_reload(), Err(ReloadError::Fits(_))));
        std::fs::write(&path, text(40, true).replace("\"Liner\"", "\"Cutter\"")).unwrap();
        assert!(matches!(file.request_reload(), Err(ReloadError::World(_))));
        for bad in [&b""[..], b"(", b"\xff\xfe", &text(40, true).as_bytes()[..9000]] {
            std::fs::write(&path, bad).unwrap();
            assert!(matches!(file.request_reload(), Err(ReloadError::Balance(_))));
        }
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(file.request_reload(), Err(ReloadError::Balance(_))));
        std::fs::create_dir(&path).unwrap();
        assert!(matches!(file.request_reload(), Err(ReloadError::Balance(_))));
        assert!(told(&mut ann, Duration::from_millis(300)).is_empty());
        std::fs::remove_dir(&path).unwrap();

        // A signal asks as well.
        std::fs::write(&path, text(3, true)).unwrap();
        asked.store(true, Ordering::Relaxed);
        hears(&mut ann, parsed(&text(3, true)).hash(), SOON);
    });
}

#[test]
fn a_balance_that_changed_while_the_server_started_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("balance.ron");
    std::fs::write(&path, text(21, false)).unwrap();
    with_file(&path, true, |address, _, _| {
        let mut ann = pilot(address, "ann");
        hears(&mut ann, parsed(&text(21, false)).hash(), SOON);
    });
}

#[test]
fn a_server_that_has_stopped_answers_so() {
    let server = Server::start(&config()).unwrap();
    let reloader = server.reloader();
    drop(server);
    assert!(matches!(reloader.reload(parsed(SHIPPED_BALANCE)), Err(ReloadError::Stopped)));
}
