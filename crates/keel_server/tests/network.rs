//! Real clients and a real server with a bad network between them.

mod served;

use std::time::{Duration, Instant};

use keel_client::{Client, Command, Hello, OwnShip, Pool, Power, Replica, STEP_MICROS};
use keel_protocol::snapshot::rounded;
use keel_protocol::{Contact, encode};
use keel_server::{Config, Server};
use keel_testkit::weather::{Shim, Weather};

use served::config;

/// A server and pilots in one thread, so that what both have can be compared at a moment.
struct Play {
    server: Server,
    shims: Vec<Shim>,
    clients: Vec<Client>,
    /// The longest that a client's clock went in one look, in microseconds, and whether any ever went back.
    jump: u64,
    looked: Vec<u64>,
}

impl Play {
    /// As many pilots as there are weathers.
    fn begin(weathers: &[Weather]) -> Self {
        let server = Server::start(&Config { layer: 3, ..config() }).unwrap();
        let mut play = Self { server, shims: Vec::new(), clients: Vec::new(), jump: 0, looked: Vec::new() };
        for (n, &weather) in (0..).zip(weathers) {
            let shim = Shim::start(play.server.address(), weather, 10 * n).unwrap();
            let name = format!("pilot{n}");
            play.clients.push(Client::connect(shim.address(), Hello::new(&name)).unwrap());
            play.looked.push(0);
            play.shims.push(shim);
        }
        play
    }

    fn turn(&mut self) {
        let rest = self.server.turn();
        for (client, looked) in self.clients.iter_mut().zip(&mut self.looked) {
            client.poll().unwrap();
            let now = client.replica().now();
            assert!(now >= *looked, "the clock goes back");
            if *looked > 0 {
                self.jump = self.jump.max(now - *looked);
            }
            *looked = now;
        }
        std::thread::sleep(rest.min(Duration::from_millis(2)));
    }

    fn run(&mut self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            self.turn();
        }
    }

    /// Whether a client has byte for byte what its pilot sees.
    fn agrees(&self, index: usize) -> bool {
        let replica = self.clients[index].replica();
        let Some(welcome) = replica.welcome() else { return false };
        let Some(sight) = self.server.sight(welcome.pilot) else { return false };
        let now = replica.step() * STEP_MICROS;
        let own: Vec<_> = sight.own.iter().map(|ship| settled(ship, now)).collect();
        !own.is_empty() && encode(&seen(replica, now)) == encode(&(own, sight.contacts))
    }
}

fn seen(replica: &Replica, now: u64) -> (Vec<OwnShip>, Vec<Contact>) {
    (replica.own().map(|ship| settled(ship, now)).collect(), replica.contacts().copied().collect())
}

/// A ship with what its pools hold now, rather than what they held when it was told.
fn settled(ship: &OwnShip, now: u64) -> OwnShip {
    let pool = |pool: Pool| Pool { held: rounded(pool.holds(now)), at: 0, ..pool };
    OwnShip { shield: pool(ship.shield), battery: pool(ship.battery), ..ship.clone() }
}

#[test]
fn real_clients_converge_byte_for_byte_in_any_weather() {
    let fair = Weather { delay: Duration::from_millis(20), ..Weather::default() };
    let jitter = Duration::from_millis(300);
    let weathers = [
        Weather::default(),
        Weather { loss: 0.05, ..fair },
        Weather { loss: 0.3, ..fair },
        Weather { jitter, ..fair },
        Weather { duplicate: 0.5, ..fair },
        Weather { reorder: 0.4, ..fair },
        Weather { bandwidth: Some(12_000), ..fair },
        Weather { loss: 0.3, jitter, duplicate: 0.2, reorder: 0.2, ..fair },
    ];
    let mut play = Play::begin(&weathers);
    let start = Instant::now();
    while play.clients.iter().any(|client| client.replica().active().is_none()) {
        play.turn();
        assert!(start.elapsed() < Duration::from_secs(15), "everyone comes in");
    }
    // For a while they fight one another.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(6) {
        let round = start.elapsed().as_millis() / 500;
        for (n, client) in play.clients.iter_mut().enumerate() {
            let Some(ship) = client.replica().active().map(|ship| ship.id) else { continue };
            let others = client.replica().contacts().map(|contact| contact.id).collect::<Vec<_>>();
            match (round as usize + n) % 4 {
                0 | 1 if !others.is_empty() => {
                    client.send(Command::Attack { ship, target: others[(round as usize + n) % others.len()] });
                }
                2 => drop(client.send(Command::Power(Power::Brace))),
                _ => drop(client.send(Command::Move { ship, col: (round % 2) as i32, row: 0 })),
            }
        }
        play.run(Duration::from_millis(250));
    }
    // Then they rest, in the same weather, until nothing changes any more.
    for client in &mut play.clients {
        if let Some(ship) = client.replica().active().map(|ship| ship.id) {
            client.send(Command::Hold { ship });
            client.send(Command::Cancel { ship });
        }
    }
    let start = Instant::now();
    let mut left: Vec<usize> = (0..weathers.len()).collect();
    while !left.is_empty() {
        play.turn();
        left.retain(|&index| !play.agrees(index));
        assert!(start.elapsed() < Duration::from_secs(60), "pilots {left:?} see what is not so");
    }
    assert!(play.jump < 400_000, "a clock jumped by {} us", play.jump);
}
