//! Bad networks: what gets lost, comes late, twice or in another order, all of it by a seed.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

/// What a network does to datagrams, each way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weather {
    /// Share of datagrams that never arrive, 0 to 1.
    pub loss: f64,
    /// How long every datagram takes.
    pub delay: Duration,
    /// How much longer it may take: evenly from nothing to this, so that later ones overtake it.
    pub jitter: Duration,
    /// Share of datagrams that arrive twice, 0 to 1; the second takes its own time.
    pub duplicate: f64,
    /// Share of datagrams that are held back for as long again as three steps, 0 to 1.
    pub reorder: f64,
    /// Bytes a second that get through; what waits for longer than a second is lost. `None` for any number.
    pub bandwidth: Option<u32>,
}

/// For how long a datagram that is to be overtaken is held back.
const HELD: Duration = Duration::from_millis(150);

/// The longest that a datagram waits for its turn on a narrow network.
const MOST_QUEUED: Duration = Duration::from_secs(1);

/// One direction of a network.
#[derive(Debug)]
pub struct Link {
    weather: Weather,
    chance: Pcg32,
    /// What is under way, by when it arrives and in which order it was sent.
    under_way: BTreeMap<(Duration, u64), Vec<u8>>,
    sent: u64,
    /// Until when the network is busy with what was sent.
    busy: Duration,
}

impl Link {
    /// A network with nothing under way.
    #[must_use]
    pub fn new(weather: Weather, seed: u64) -> Self {
        let chance = Pcg32::seed_from_u64(seed);
        Self { weather, chance, under_way: BTreeMap::new(), sent: 0, busy: Duration::ZERO }
    }

    /// Changes the weather for what is sent from now on.
    pub const fn turn(&mut self, weather: Weather) {
        self.weather = weather;
    }

    /// Sends a datagram, at a time since the beginning.
    pub fn send(&mut self, now: Duration, datagram: &[u8]) {
        let Weather { loss, duplicate, reorder, delay, jitter, bandwidth } = self.weather;
        let mut leaves = now;
        if let Some(bytes) = bandwidth {
            leaves = self.busy.max(now);
            if leaves > now + MOST_QUEUED {
                return;
            }
            leaves += Duration::from_secs_f64(datagram.len() as f64 / f64::from(bytes.max(1)));
            self.busy = leaves;
        }
        if self.chance.random_bool(loss) {
            return;
        }
        for _ in 0..1 + u32::from(self.chance.random_bool(duplicate)) {
            let mut arrives = leaves + delay + jitter.mul_f64(self.chance.random::<f64>());
            if self.chance.random_bool(reorder) {
                arrives += HELD;
            }
            self.sent += 1;
            self.under_way.insert((arrives, self.sent), datagram.to_vec());
        }
    }

    /// The next datagram that has arrived at a time since the beginning.
    pub fn receive(&mut self, now: Duration) -> Option<Vec<u8>> {
        let first = self.under_way.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }
}

/// A network between real clients and a real server: a port that clients connect to in the server's place.
#[derive(Debug)]
pub struct Shim {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    weather: Arc<Mutex<Weather>>,
    thread: Option<JoinHandle<()>>,
}

/// Clients that one shim serves.
const MOST_CLIENTS: usize = 256;

/// How long it rests between looks at its sockets.
const REST: Duration = Duration::from_millis(1);

impl Shim {
    /// Starts to carry datagrams to a server on loopback and back.
    ///
    /// # Errors
    /// When no socket can be had.
    pub fn start(server: SocketAddr, weather: Weather, seed: u64) -> std::io::Result<Self> {
        let front = loopback()?;
        let address = front.local_addr()?;
        let (stop, weather) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(weather)));
        let carrier = Carrier { front, server, weather: Arc::clone(&weather), seed, ways: BTreeMap::new() };
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || carrier.run(&stopped));
        Ok(Self { address, stop, weather, thread: Some(thread) })
    }

    /// Where clients connect to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the weather.
    pub fn turn(&self, weather: Weather) {
        *self.weather.lock().unwrap_or_else(PoisonError::into_inner) = weather;
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn loopback() -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

struct Carrier {
    front: UdpSocket,
    server: SocketAddr,
    weather: Arc<Mutex<Weather>>,
    seed: u64,
    ways: BTreeMap<SocketAddr, Way>,
}

/// One client's way to the server and back.
struct Way {
    socket: UdpSocket,
    up: Link,
    down: Link,
}

impl Carrier {
    fn run(mut self, stop: &AtomicBool) {
        let start = Instant::now();
        let mut buffer = [0; 2048];
        while !stop.load(Ordering::Relaxed) {
            let (now, weather) = (start.elapsed(), *self.weather.lock().unwrap_or_else(PoisonError::into_inner));
            while let Ok((length, client)) = self.front.recv_from(&mut buffer) {
                if let Some(way) = self.way(client, weather) {
                    way.up.send(now, &buffer[..length]);
                }
            }
            for (&client, way) in &mut self.ways {
                way.up.turn(weather);
                way.down.turn(weather);
                while let Ok((length, _)) = way.socket.recv_from(&mut buffer) {
                    way.down.send(now, &buffer[..length]);
                }
                // What cannot be sent is lost, as on any network.
                while let Some(datagram) = way.up.receive(now) {
                    let _ = way.socket.send_to(&datagram, self.server);
                }
                while let Some(datagram) = way.down.receive(now) {
                    let _ = self.front.send_to(&datagram, client);
                }
            }
            std::thread::sleep(REST);
        }
    }

    fn way(&mut self, client: SocketAddr, weather: Weather) -> Option<&mut Way> {
        let seed = self.seed.wrapping_add(2 * self.ways.len() as u64);
        if !self.ways.contains_key(&client) && self.ways.len() < MOST_CLIENTS {
            let (up, down) = (Link::new(weather, seed), Link::new(weather, seed + 1));
            self.ways.insert(client, Way { socket: loopback().ok()?, up, down });
        }
        self.ways.get_mut(&client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends so many datagrams, a millisecond apart; the numbers of those that arrive, with when they do.
    fn carry(weather: Weather, count: u32) -> Vec<(u32, u128)> {
        let mut link = Link::new(weather, 7);
        let mut arrived = Vec::new();
        for ms in 0..count + 3000 {
            let now = Duration::from_millis(ms.into());
            if ms < count {
                link.send(now, &ms.to_le_bytes());
            }
            while let Some(datagram) = link.receive(now) {
                arrived.push((u32::from_le_bytes(datagram.try_into().unwrap()), now.as_millis()));
            }
        }
        arrived
    }

    #[test]
    fn fair_weather_changes_nothing() {
        assert_eq!(carry(Weather::default(), 5), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]);
    }

    #[test]
    fn loss_delay_jitter_doubles_and_overtaking_are_as_asked_for() {
        let lost = carry(Weather { loss: 0.3, ..Weather::default() }, 10_000);
        assert!((6850..7150).contains(&lost.len()), "{}", lost.len());
        let doubled = carry(Weather { duplicate: 0.2, ..Weather::default() }, 10_000);
        assert!((11_850..12_150).contains(&doubled.len()), "{}", doubled.len());
        let delay = Duration::from_millis(40);
        let late = carry(Weather { delay, jitter: Duration::from_millis(300), ..Weather::default() }, 1000);
        assert!(late.iter().all(|(sent, at)| (40..=341).contains(&(at - u128::from(*sent)))));
        assert!(late.windows(2).any(|pair| pair[0].0 > pair[1].0), "later ones overtake");
        let held = carry(Weather { reorder: 0.1, ..Weather::default() }, 1000);
        assert!((70..130).contains(&held.iter().filter(|(sent, at)| at - u128::from(*sent) >= 150).count()));
        let narrow = carry(Weather { bandwidth: Some(400), ..Weather::default() }, 1000);
        assert!((190..=202).contains(&narrow.len()), "{} of four bytes at 400 a second", narrow.len());
        let same = Weather { loss: 0.3, duplicate: 0.3, jitter: delay, ..Weather::default() };
        assert_eq!(carry(same, 1000), carry(same, 1000), "the same seed, the same weather");
    }
}
