//! A server on a port that the system chose, and who connects to it.

#![allow(dead_code, reason = "each test file uses its own part of it")]

pub(crate) mod secured;

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use keel_client::{Client, Hello, OwnShip, Pool};
use keel_protocol::snapshot::rounded;
use keel_protocol::{CHANNEL_ORDERED, NETCODE_ID, ToClient, connection_config, decode};
use keel_server::{Config, Metrics, Report, Server};
use renet::RenetClient;
use renetcode::{ClientAuthentication, NetcodeClient};

/// A small server of the shipped balance.
pub(crate) fn config() -> Config {
    Config { operator_ops: true, ..Config::local(Arc::new(keel_testkit::shipped_balance())) }
}

pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    metrics: Arc<Metrics>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Report>>,
}

impl Running {
    pub(crate) fn start() -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // An app stays on the thread that made it.
        let thread = std::thread::spawn(move || {
            let server = Server::start(&config()).unwrap();
            tell.send((server.address(), server.handle().metrics)).unwrap();
            server.run(&flag)
        });
        let (address, metrics) = told.recv().unwrap();
        Self { address, metrics, stop, thread: Some(thread) }
    }

    pub(crate) fn end(mut self) -> Report {
        self.stop.store(true, Ordering::Relaxed);
        let report = self.thread.take().unwrap().join().expect("the server did not panic");
        assert_eq!(self.metrics.faults(), 0, "the server fell");
        report
    }
}

/// A ship with what its pools hold now, rather than what they held when it was told.
pub(crate) fn settled(ship: &OwnShip, now: u64) -> OwnShip {
    let pool = |pool: Pool| Pool { held: rounded(pool.holds(now)), at: now, ..pool };
    OwnShip { shield: pool(ship.shield), battery: pool(ship.battery), ..ship.clone() }
}

/// A pilot who is in and has a ship.
pub(crate) fn pilot(address: SocketAddr, name: &str) -> Client {
    let mut client = Client::connect(address, Hello::new(name)).unwrap();
    let start = Instant::now();
    while client.replica().active().is_none() {
        client.poll().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "nobody lets {name} in");
        std::thread::sleep(Duration::from_millis(5));
    }
    client
}

/// Steps that a pilot sees pass in a second.
pub(crate) fn steps_in_a_second(client: &mut Client) -> u64 {
    let (start, first) = (Instant::now(), client.replica().step());
    while start.elapsed() < Duration::from_secs(1) {
        client.poll().unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    client.replica().step() - first
}

/// A client of the transport alone, which says whatever it likes.
pub(crate) struct Rogue {
    pub(crate) socket: UdpSocket,
    pub(crate) netcode: NetcodeClient,
    pub(crate) renet: RenetClient,
    pub(crate) last: Instant,
}

impl Rogue {
    pub(crate) fn connect(address: SocketAddr, client_id: u64) -> Self {
        Self::connect_with(address, client_id, || {})
    }

    /// Connects to a server that goes on by what `turn` does.
    pub(crate) fn connect_with(address: SocketAddr, client_id: u64, turn: impl FnMut()) -> Self {
        let authentication = ClientAuthentication::Unsecure {
            protocol_id: NETCODE_ID,
            client_id,
            server_addr: address,
            user_data: None,
        };
        let mut rogue = Self::new(authentication);
        assert!(rogue.connects(Duration::from_secs(10), turn), "nobody answers");
        rogue
    }

    /// One who has not begun to connect.
    pub(crate) fn new(authentication: ClientAuthentication) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        Self::over(socket, authentication)
    }

    /// One with a socket that is there already.
    pub(crate) fn over(socket: UdpSocket, authentication: ClientAuthentication) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let netcode = NetcodeClient::new(now, authentication).unwrap();
        Self { socket, netcode, renet: RenetClient::new(connection_config()), last: Instant::now() }
    }

    /// Tries to connect for so long, while `turn` goes on; whether it does.
    pub(crate) fn connects(&mut self, time: Duration, mut turn: impl FnMut()) -> bool {
        let start = Instant::now();
        while !self.netcode.is_connected() && start.elapsed() < time {
            self.turn();
            turn();
            std::thread::sleep(Duration::from_millis(2));
        }
        if self.netcode.is_connected() {
            self.renet.set_connected();
        }
        self.netcode.is_connected()
    }

    /// One turn of the loop; whether the connection stands.
    pub(crate) fn turn(&mut self) -> bool {
        self.turn_some(usize::MAX)
    }

    /// One that takes so many datagrams at most.
    pub(crate) fn turn_some(&mut self, most: usize) -> bool {
        let passed = self.last.elapsed();
        self.last += passed;
        self.renet.update(passed);
        let mut buffer = [0; 1400];
        for _ in 0..most {
            let Ok((length, _)) = self.socket.recv_from(&mut buffer) else { break };
            if let Some(payload) = self.netcode.process_packet(&mut buffer[..length]) {
                self.renet.process_packet(payload);
            }
        }
        if let Some((packet, to)) = self.netcode.update(passed) {
            let _ = self.socket.send_to(packet, to);
        }
        for packet in self.renet.get_packets_to_send() {
            self.payload(&packet);
        }
        !self.netcode.is_disconnected()
    }

    pub(crate) fn payload(&mut self, payload: &[u8]) {
        if let Ok((to, packet)) = self.netcode.generate_payload_packet(payload) {
            let _ = self.socket.send_to(packet, to);
        }
    }

    /// What the server says before it hangs up, if it hangs up.
    pub(crate) fn last_words(&mut self) -> Option<String> {
        let (start, mut words) = (Instant::now(), None);
        while start.elapsed() < Duration::from_secs(8) {
            let stands = self.turn();
            while let Some(bytes) = self.renet.receive_message(CHANNEL_ORDERED) {
                if let Ok(ToClient::Refused { reason }) = decode(&bytes) {
                    words = Some(reason);
                }
            }
            if !stands {
                return Some(words.unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}
