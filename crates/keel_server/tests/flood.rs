//! A flood of bad tokens and a crowd that logs in, while pilots play.
//!
//! `cargo xtask torture logins` runs it longer, and prints what it takes.

mod served;

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use keel_client::{Client, Command, Event};
use keel_protocol::NETCODE_ID;
use keel_server::Config;
use renetcode::{ClientAuthentication, ConnectToken, NetcodeClient};

use served::secured::{PASSWORD, Secured, flying, post};

const PILOTS: usize = 50;
const CROWD: usize = 300;
const BAD_A_SECOND: u32 = 1000;

/// How long a crowd of three hundred may take to be in.
const IN: Duration = Duration::from_secs(15);

/// Who log in at once. Three hundred do not press the key in the same instant.
const AT_ONCE: usize = 24;

/// Sends connection requests whose tokens are no good, so many a second: of a wrong key, cut off, and noise.
fn flood(server: SocketAddr, sent: &AtomicU64, stop: &AtomicBool) {
    let sockets: Vec<_> = (0..16).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    let begun = Instant::now();
    let mut count = 0u32;
    while !stop.load(Ordering::Relaxed) {
        while count < (begun.elapsed().as_secs_f64() * f64::from(BAD_A_SECOND)) as u32 {
            let now = Duration::from_secs(1);
            let id = count.into();
            let token = ConnectToken::generate(now, NETCODE_ID, 3000, id, 15, vec![server], None, &[9; 32]);
            let by = ClientAuthentication::Secure { connect_token: token.unwrap() };
            let mut client = NetcodeClient::new(now, by).unwrap();
            let Some((request, to)) = client.update(Duration::ZERO) else { continue };
            let length = if count % 4 == 3 { request.len() / 2 } else { request.len() };
            let _ = sockets[count as usize % sockets.len()].send_to(&request[..length], to);
            count += 1;
            sent.store(count.into(), Ordering::Relaxed);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A pilot's orders are at least so far apart: for long that is within what a pilot may send.
const REST: Duration = Duration::from_millis(100);

/// A pilot who orders something all the time; how long the answers take.
struct Playing {
    client: Client,
    asked: Option<(u32, Instant)>,
    next: Instant,
    delays: Vec<Duration>,
}

impl Playing {
    fn turn(&mut self) {
        for event in self.client.poll().unwrap_or_else(|error| panic!("a pilot is put out: {error}")) {
            if let (Event::Answer(answer), Some((seq, at))) = (event, self.asked)
                && answer.seq == seq
            {
                self.delays.push(at.elapsed());
                self.asked = None;
            }
        }
        if let (None, Some(ship)) = (self.asked, self.client.replica().active().filter(|_| Instant::now() >= self.next))
        {
            let command = if self.delays.len().is_multiple_of(2) {
                Command::Move { ship: ship.id, col: (self.delays.len() as i32 % 7) - 3, row: 0 }
            } else {
                Command::Hold { ship: ship.id }
            };
            self.asked = Some((self.client.send(command).unwrap(), Instant::now()));
            self.next = Instant::now() + REST;
        }
    }
}

fn play(playing: &mut [Playing], stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        for pilot in &mut *playing {
            pilot.turn();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// One of the crowd: logs in, connects, is shown a ship, and leaves. A server that is busy is asked again when it says.
fn come_in(login: SocketAddr, nth: usize) -> Duration {
    let begun = Instant::now();
    loop {
        let answer = post(login, &format!("198.51.{}.{}", 100 + nth / 200, nth % 200), &format!("c{nth}"), PASSWORD);
        match answer.status {
            200 => {
                flying(Client::connect_as(answer.login().unwrap()).unwrap());
                return begun.elapsed();
            }
            503 => std::thread::sleep(Duration::from_secs(answer.retry_after().unwrap_or(1))),
            _ => panic!("{answer:?}"),
        }
    }
}

/// The whole crowd, once; how long each took.
fn crowd(login: SocketAddr) -> Vec<Duration> {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let comers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| {
                    let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed) as usize));
                    numbers.take_while(|&nth| nth < CROWD).map(|nth| come_in(login, nth)).collect::<Vec<_>>()
                })
            })
            .collect();
        comers.into_iter().flat_map(|comer| comer.join().unwrap()).collect()
    })
}

fn at(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

#[test]
fn pilots_play_on_and_a_crowd_gets_in_through_a_flood_of_bad_tokens() {
    let rounds: usize = std::env::var("KEEL_TORTURE_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap());
    let names = (0..PILOTS).map(|nth| format!("p{nth}")).chain((0..CROWD).map(|nth| format!("c{nth}")));
    let server = Secured::start_with(names, |config, _| Config { max_clients: 400, operator_ops: false, ..config });
    let pilot = |nth| Client::connect_as(server.login(&format!("p{nth}"))).unwrap();
    let mut playing = Vec::new();
    for nth in 0..PILOTS {
        playing.push(Playing { client: pilot(nth), asked: None, next: Instant::now(), delays: Vec::new() });
        playing.iter_mut().for_each(Playing::turn);
    }
    let begun = Instant::now();
    while playing.iter().any(|pilot| pilot.client.replica().active().is_none()) {
        playing.iter_mut().for_each(Playing::turn);
        assert!(begun.elapsed() < Duration::from_secs(10), "not all pilots get in");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (stop, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    // What it is like before, for comparison.
    server.gauges.reset();
    std::thread::scope(|scope| {
        scope.spawn(|| play(&mut playing, &stop));
        std::thread::sleep(Duration::from_secs(2));
        stop.store(true, Ordering::Relaxed);
    });
    let before = server.gauges.read();
    stop.store(false, Ordering::Relaxed);
    for pilot in &mut playing {
        pilot.delays.clear();
    }
    server.gauges.reset();
    let begun = Instant::now();
    let whole: Vec<(Duration, Vec<Duration>)> = std::thread::scope(|scope| {
        scope.spawn(|| flood(server.address, &sent, &stop));
        scope.spawn(|| play(&mut playing, &stop));
        // Also when it fails, or the others would go on for good.
        let _stops = Stops(&stop);
        std::thread::sleep(Duration::from_millis(500));
        (0..rounds)
            .map(|_| {
                let begun = Instant::now();
                let took = crowd(server.login);
                (begun.elapsed(), took)
            })
            .collect()
    });
    let passed = begun.elapsed();
    let during = server.gauges.read();
    let mut delays: Vec<Duration> = playing.iter().flat_map(|pilot| pilot.delays.iter().copied()).collect();
    delays.sort();
    let sent = sent.load(Ordering::Relaxed);
    for (all, mut took) in whole {
        took.sort();
        println!(
            "{CROWD} in after {all:.1?}, {AT_ONCE} at once; one took p50 {:.0?}, p99 {:.0?}",
            at(&took, 0.5),
            at(&took, 0.99)
        );
        assert!(took.len() == CROWD && all < IN, "the crowd is in after {all:?}");
    }
    println!("bad tokens: {sent} in {passed:.1?}");
    println!(
        "step before p50 {} p99 {} µs, during p50 {} p99 {} µs, {} steps",
        before.whole.p50, before.whole.p99, during.whole.p50, during.whole.p99, during.steps
    );
    println!("orders answered {}: p50 {:.0?}, p99 {:.0?}", delays.len(), at(&delays, 0.5), at(&delays, 0.99));
    assert!(sent as f64 > 0.8 * f64::from(BAD_A_SECOND) * passed.as_secs_f64(), "{sent} in {passed:?}");
    // What the server owes its pilots, on a machine that runs all of them and other things besides.
    assert!(during.steps as f64 > 0.9 * 20.0 * passed.as_secs_f64(), "{} steps in {passed:?}", during.steps);
    assert!(during.whole.p50 < 25_000, "{:?}", during.whole);
    assert!(delays.len() > PILOTS * 10 && at(&delays, 0.5) < Duration::from_millis(200), "{:?}", at(&delays, 0.5));
    assert_eq!(server.counts.accepted() as usize, PILOTS + rounds * CROWD);
    drop(playing);
    server.end();
}

/// Stops the others when it goes.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
