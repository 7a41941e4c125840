//! Loads of bots, as an operator runs them: the real binary, real clients over UDP, and the report.

mod keel;

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use keel::{Server, keel, refused, wait};
use serde_json::Value;

/// Why orders of pilots who look up a few times a second may be refused: what they saw was so a moment ago. `#` is any number.
const UNDERSTANDABLE: [&str; 24] = [
    "You have no ship.",
    "You have no such ship.",
    "There is no such target.",
    "That ship is not in your sector.",
    "That ship just jumped in. It cannot be locked yet.",
    "This ship just jumped in. Its guns stay quiet.",
    "This ship just jumped in. It cannot jump to the centre again yet.",
    "The ship is there already.",
    "There is nothing to cancel.",
    "This hop can no longer be cancelled.",
    "This ship is in mid-hop.",
    "Clamped. Press Unclamp or Jam it.",
    "A Jam silences it.",
    "The battery is too low.",
    "Lock a target first.",
    "That ship just broke free. It cannot be clamped yet.",
    "No Clamp holds this ship.",
    "There is an incursion on that map already.",
    "It cools down for # s more.",
    "The lock does not hold yet.",
    "This ship is docked. Undock first.",
    "This ship is docked already.",
    "This ship is not docked.",
    "This ship is in transit. It cannot lock, fire, move or dock.",
];

/// Runs a load to its end; its report.
#[track_caller]
fn report(args: &[&str]) -> Value {
    let Output { status, stdout, stderr } = keel(&["bots", "--json"]).args(args).output().unwrap();
    let (out, errors) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.success() && errors.is_empty(), "{out}\n{errors}");
    assert_eq!(out.lines().count(), 1, "{out}");
    serde_json::from_str(&out).unwrap()
}

#[track_caller]
fn number(report: &Value, path: &str) -> f64 {
    report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path} in {report}"))
}

/// What holds of every load on a server of its own: it is measured in full, nobody is lost, and next to nothing is refused.
#[track_caller]
fn is_sound(report: &Value, count: f64, seconds: f64) {
    assert_eq!(number(report, "/count"), count);
    assert_eq!((number(report, "/connected"), number(report, "/dropped/count")), (count, 0.0), "{report}");
    let measured = number(report, "/seconds");
    assert!((seconds..seconds + 2.0).contains(&measured), "{measured} s");
    let steps = number(report, "/steps");
    assert!((15.0 * measured..21.0 * measured).contains(&steps), "{steps} steps in {measured} s");
    for part in ["whole", "sim", "telling"] {
        let at = |quantile| number(report, &format!("/step_us/{part}/{quantile}"));
        let spans = ["p50", "p95", "p99", "max"].map(at);
        assert!(spans.is_sorted() && spans[3] < 60e6, "{part}: {spans:?}");
    }
    assert!(number(report, "/step_us/whole/max") >= number(report, "/step_us/sim/p50"), "{report}");
    for (path, most) in
        [("/bytes_per_client_s/down", 1e6), ("/bytes_per_client_s/up", 1e4), ("/cpu_share/process", 8.0)]
    {
        let value = number(report, path);
        assert!(value > 0.0 && value < most, "{path} is {value}");
    }
    assert!(number(report, "/cpu_share/server") <= number(report, "/cpu_share/process"), "{report}");
    for path in ["/lost_share/down", "/lost_share/up"] {
        let share = number(report, path);
        assert!((0.0..=0.2).contains(&share), "{path} is {share}");
    }
    let [start, end, peak] = ["start", "end", "peak"].map(|at| number(report, &format!("/memory_kb/{at}")));
    assert!(start > 1e3 && start <= peak && end <= peak, "{report}");
    is_obeyed(report);
}

/// Next to no order of bots is refused, and none but for a reason of those that cannot be helped.
#[track_caller]
fn is_obeyed(report: &Value) {
    let [sent, accepted, refused] = ["sent", "accepted", "refused"].map(|what| number(report, &format!("/ops/{what}")));
    assert!(sent > 0.0 && accepted + refused <= sent, "{report}");
    assert!(refused <= 3.0 + 0.1 * sent, "{report}");
    for reason in report["ops"]["reasons"].as_array().unwrap() {
        let text = reason["reason"].as_str().unwrap();
        assert!(UNDERSTANDABLE.contains(&text), "{text}");
    }
}

/// Runs a scenario for a few seconds with so many bots.
#[track_caller]
fn played(scenario: &str, count: u32) -> Value {
    let report = report(&["--scenario", scenario, "--count", &count.to_string(), "--seconds", "5", "--seed", "3"]);
    assert_eq!(report["scenario"].as_str(), Some(scenario));
    assert_eq!((report["seed"].as_u64(), &report["server"]), (Some(3), &Value::Null));
    is_sound(&report, f64::from(count), 5.0);
    report
}

#[test]
fn a_big_fight_is_fought() {
    let report = played("big-fight", 12);
    assert!(number(&report, "/shots") > 20.0, "{report}");
    assert!(number(&report, "/kills") > 0.0 && number(&report, "/deaths") > 0.0, "{report}");
}

#[test]
fn bots_on_twelve_maps_meet_squads() {
    let report = played("spread", 12);
    assert!(number(&report, "/shots") > 0.0 || number(&report, "/hops") > 3.0, "{report}");
}

#[test]
fn hopping_bots_hop_all_the_time() {
    let report = played("hop", 12);
    // A hop and its window take a Patrol 1.15 s.
    assert!(number(&report, "/hops") > 30.0, "{report}");
}

#[test]
fn jumping_bots_are_in_transit_all_the_time() {
    let report = played("jump", 12);
    assert!(number(&report, "/transits") >= 6.0, "{report}");
}

#[test]
fn a_mixed_load_has_a_share_of_each() {
    let report = played("mixed", 20);
    assert!(number(&report, "/shots") > 0.0 && number(&report, "/hops") > 5.0, "{report}");
    assert!(number(&report, "/transits") > 0.0, "{report}");
}

#[test]
fn an_incursion_is_met_by_bots_who_come_back() {
    let report = played("incursion", 12);
    assert!(number(&report, "/shots") > 10.0, "{report}");
}

#[test]
fn a_server_that_is_there_is_loaded_and_tells_no_steps() {
    let server = Server::start(&["--operator-ops"]);
    let load = ["--scenario", "hop", "--count", "5", "--seconds", "6", "--server", &server.address];
    let report = report(&load);
    assert_eq!((number(&report, "/connected"), number(&report, "/dropped/count")), (5.0, 0.0));
    assert_eq!(report["server"].as_str(), Some(server.address.as_str()));
    for path in ["/steps", "/step_us", "/lost_share/down", "/cpu_share/server"] {
        assert_eq!(report.pointer(path), Some(&Value::Null), "{path}");
    }
    assert!(number(&report, "/hops") > 0.0, "{report}");
    is_obeyed(&report);
}

#[test]
fn a_load_that_is_stopped_reports_what_it_has_measured() {
    let mut load = keel(&["bots", "--scenario", "hop", "--count", "3", "--seconds", "600", "--json"]);
    let mut load = load.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(6));
    assert!(Command::new("kill").args(["-INT", &load.id().to_string()]).status().unwrap().success());
    assert!(wait(&mut load, Duration::from_secs(5)).success());
    let report: Value = serde_json::from_reader(load.stdout.take().unwrap()).unwrap();
    assert!((0.5..10.0).contains(&number(&report, "/seconds")), "{report}");
}

#[test]
fn a_report_for_people_says_the_same_in_words() {
    let load = ["bots", "--scenario", "hop", "--count", "2", "--seconds", "1"];
    let Output { status, stdout, stderr } = keel(&load).output().unwrap();
    let text = String::from_utf8(stdout).unwrap();
    assert!(status.success() && stderr.is_empty(), "{text}");
    keel::has(
        &text,
        &[
            "hop: 2 bots for 1.0 s on a server of its own, seed 1",
            "p95 ",
            " kB/s down, ",
            " of a core",
            " MB at the end",
        ],
    );
    keel::has(&text, &[" sent, ", "2 connected, 0 dropped", "shots ", ", deaths ", "hops "]);
}

#[test]
fn bad_loads_get_one_clear_line() {
    let load = |args: &[&str]| {
        let mut command = keel(&["bots"]);
        command.args(args);
        command
    };
    refused(&mut load(&["--count", "0"]), "invalid value '0' for '--count <COUNT>': 0 is not in 1..=1000");
    refused(&mut load(&["--count", "1001"]), "1001 is not in 1..=1000");
    refused(&mut load(&["--seconds", "0"]), "0 is not in 1..=86400");
    refused(
        &mut load(&["--scenario", "war"]),
        "there is no scenario war: scenarios are big-fight, spread, hop, jump, mixed",
    );
    refused(&mut load(&["--server", "192.0.2.1:7777"]), "192.0.2.1:7777 is not on this machine");
    refused(&mut load(&["--server", "nowhere"]), "nowhere is no server's address");
    refused(&mut load(&["--balance", "no.ron"]), "cannot read the balance file no.ron");
    refused(&mut load(&["--balance", "no.ron", "--server", "127.0.0.1:7777"]), "cannot be used with");
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    refused(&mut load(&["--count", "3", "--server", &silent]), &format!("no Keel server answers at {silent}"));
    let server = Server::start(&[]);
    let said =
        refused(&mut load(&["--count", "3", "--scenario", "incursion", "--server", &server.address]), "--operator-ops");
    assert!(said.contains("takes no operator's orders"), "{said}");
}
