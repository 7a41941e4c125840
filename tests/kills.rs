//! A server that is killed in the middle of a fight and started again goes on with a world that there was.

mod keel;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use keel::{Server, keel};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

/// How many bots fight.
const BOTS: &str = "50";

/// Steps from the last cut that was made to the one that was on disk, at most: a second.
const MOST_LOST: u64 = 20;

/// A step and the world's hash after it, in a line of the log.
fn told(line: &str, what: &str) -> Option<(u64, String)> {
    let field = |name: &str| Some(line.split(name).nth(1)?.split_whitespace().next()?.to_owned());
    line.contains(what).then_some(())?;
    Some((field("step=")?.parse().ok()?, field("hash=")?))
}

/// When storms take a round to begin: every other announces one on the pilots' map, and it lands in the first second of the next.
fn clock(round: u32) -> String {
    let noon: jiff::Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
    let seconds = i64::from(round / 2) * 12 * 3600 + if round.is_multiple_of(2) { 55 * 60 } else { 3599 };
    (noon + jiff::SignedDuration::from_secs(seconds)).to_string()
}

fn start(data: &Path, log: &Path, round: u32) -> Server {
    let log = std::fs::File::create(log).unwrap();
    let data = data.to_str().unwrap();
    let mut command =
        keel(&["serve", "--unsecured", "--operator-ops", "--metrics", "off", "--bind", "127.0.0.1:0", "--data", data]);
    command.env("KEEL_STORM_CLOCK", clock(round));
    Server::spawn(command.env("RUST_LOG", "info,keel_server::keeper=debug").env("NO_COLOR", "1").stderr(log))
}

/// Every hash of a world after a step tells all that a step can change apart: so the world that comes back has each id
/// once, each total as it was, and each transfer on both sides or on none.
#[test]
fn a_server_that_is_killed_under_fighting_bots_comes_back_with_a_world_that_there_was() {
    let rounds = std::env::var("KEEL_TORTURE_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let (data, log) = (directory.path().join("data"), directory.path().join("log"));
    let mut chance = Pcg32::new(5, 5);
    let mut cuts: BTreeMap<u64, String> = BTreeMap::new();
    let (mut most_lost, mut most_ran) = (0, 0);
    for round in 0..rounds {
        let mut server = start(&data, &log, round);
        let mut bots = keel(&["bots", "--server", &server.address, "--count", BOTS, "--scenario", "big-fight"])
            .args(["--seconds", "60"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(700 + u64::from(chance.next_u32() % 2500)));
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        let _ = (bots.kill(), bots.wait());
        let text = std::fs::read_to_string(&log).unwrap();
        if round > 0 {
            let (step, hash) = text
                .lines()
                .find_map(|line| told(line, "goes on with the world of the save"))
                .unwrap_or_else(|| panic!("round {round} says of no save: {text}"));
            assert_eq!(cuts.get(&step), Some(&hash), "round {round}: no world was like that after step {step}");
            let (last, _) = cuts.last_key_value().unwrap();
            assert!(last - step <= MOST_LOST, "round {round}: step {step} was saved, and {last} was the last");
            most_lost = most_lost.max(last - step);
        }
        cuts = text.lines().filter_map(|line| told(line, "a cut")).collect();
        let (Some((first, _)), Some((last, _))) = (cuts.first_key_value(), cuts.last_key_value()) else {
            panic!("round {round} made no cut: {text}");
        };
        most_ran = most_ran.max(last - first);
    }
    println!(
        "{rounds} kills: at most {most_lost} steps from the last cut to the save, in runs of up to {most_ran} steps"
    );
    assert!(most_ran > 20, "no run went on for long enough to fight");
}
