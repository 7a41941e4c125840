//! A server without a socket, and who connects to it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use keel_client::{Command, Hello, Replica};
use keel_protocol::{
    Answer, CHANNEL_LOSSY, CHANNEL_ORDERED, NETCODE_ID, ToClient, ToServer, connection_config, decode, encode,
};
use keel_server::{Clock, Config, Metrics, Server, StartError, Wire};
use renet::RenetClient;
use renetcode::{ClientAuthentication, NETCODE_MAX_PACKET_BYTES, NetcodeClient};

use crate::acks::Choosy;

/// A small server of the shipped balance.
///
/// # Panics
/// When the shipped balance is broken.
#[must_use]
pub fn config() -> Config {
    Config { max_clients: 64, ..Config::local(Arc::new(keel_testkit::shipped_balance())) }
}

/// A clock that is moved by hand.
#[derive(Clone, Debug, Default)]
pub struct Hand {
    now: Rc<Cell<Duration>>,
    utc: Rc<Cell<u64>>,
}

impl Hand {
    /// Lets time pass, also on the wall.
    pub fn advance(&self, by: Duration) {
        self.utc.set(self.utc.get().saturating_add((self.now.get() + by).as_secs() - self.now.get().as_secs()));
        self.now.set(self.now.get() + by);
    }

    /// Sets the clock of the wall, in seconds since 1970.
    pub fn set_utc(&self, seconds: u64) {
        self.utc.set(seconds);
    }

    /// Time since the start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now.get()
    }

    /// The clock of the wall, in seconds since 1970.
    #[must_use]
    pub fn utc(&self) -> u64 {
        self.utc.get()
    }
}

impl Clock for Hand {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn utc(&self) -> u64 {
        self.utc.get()
    }
}

/// Datagrams under way.
#[derive(Debug, Default)]
struct Air {
    up: VecDeque<(SocketAddr, Vec<u8>)>,
    /// To those who listen; what is sent to others is lost.
    down: BTreeMap<SocketAddr, VecDeque<Vec<u8>>>,
    /// What the server's system keeps until it is taken; the rest is lost.
    kept: usize,
    polls: u64,
}

#[derive(Clone, Debug)]
struct Pipes(Rc<RefCell<Air>>);

const SERVER: ([u8; 4], u16) = ([127, 0, 0, 1], 7777);

impl Wire for Pipes {
    fn address(&self) -> SocketAddr {
        SERVER.into()
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut air = self.0.borrow_mut();
        let Some((from, datagram)) = air.up.pop_front() else {
            air.polls += 1;
            return Err(io::ErrorKind::WouldBlock.into());
        };
        // As a socket does: what does not fit is cut off.
        let length = datagram.len().min(buffer.len());
        buffer[..length].copy_from_slice(&datagram[..length]);
        Ok((length, from))
    }

    fn send(&mut self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        if let Some(down) = self.0.borrow_mut().down.get_mut(&to) {
            down.push_back(datagram.to_vec());
        }
        Ok(())
    }
}

/// A server without a socket, and its clock. Whatever makes the server fall, also if that costs nobody else anything, ends it.
pub struct Arena {
    /// The server.
    pub server: Server,
    /// Its clock.
    pub clock: Hand,
    metrics: Arc<Metrics>,
    air: Rc<RefCell<Air>>,
    /// How long the server said that it may rest.
    rest: Duration,
    begun: Instant,
    /// Addresses that were given.
    addresses: u32,
}

impl Arena {
    /// One with a server of that configuration.
    ///
    /// # Panics
    /// When the server does not start.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self::start(config).expect("a sound configuration")
    }

    /// The same, if it starts.
    ///
    /// # Errors
    /// Why it does not.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        let clock = Hand::default();
        clock.set_utc(1_800_000_000);
        let air = Rc::new(RefCell::new(Air { kept: 100_000, ..Air::default() }));
        let pipes = Box::new(Pipes(Rc::clone(&air)));
        let server = Server::start_on(config, pipes, Box::new(clock.clone()))?;
        let metrics = server.handle().metrics;
        Ok(Self { server, clock, metrics, air, rest: Duration::ZERO, begun: Instant::now(), addresses: 0 })
    }

    /// One turn of the server's loop, after the rest that it wanted.
    ///
    /// # Panics
    /// When the server has caught a panic of its own.
    pub fn turn(&mut self) {
        self.clock.advance(self.rest.max(Duration::from_micros(100)));
        self.poll();
    }

    /// A turn at once.
    ///
    /// # Panics
    /// When the server has caught a panic of its own.
    pub fn poll(&mut self) {
        self.rest = self.server.turn();
        assert_eq!(self.metrics.faults(), 0, "the server fell");
    }

    /// Turns until the next step has run.
    pub fn step(&mut self) {
        let step = self.server.steps();
        while self.server.steps() == step {
            self.turn();
        }
    }

    /// How often the server has looked at what arrived, and found the end of it.
    #[must_use]
    pub fn polls(&self) -> u64 {
        self.air.borrow().polls
    }

    /// Something comes from somewhere.
    pub fn throw(&self, from: SocketAddr, datagram: &[u8]) {
        let mut air = self.air.borrow_mut();
        if air.up.len() < air.kept {
            air.up.push_back((from, datagram.to_vec()));
        }
    }

    /// Keeps what is sent to an address, for [`heard`](Self::heard).
    pub fn listen(&self, at: SocketAddr) {
        self.air.borrow_mut().down.insert(at, VecDeque::new());
    }

    /// The next datagram that was sent to an address.
    #[must_use]
    pub fn heard(&self, at: SocketAddr) -> Option<Vec<u8>> {
        self.air.borrow_mut().down.get_mut(&at).and_then(VecDeque::pop_front)
    }

    /// How many datagrams the system keeps for the server.
    pub fn keep(&self, datagrams: usize) {
        self.air.borrow_mut().kept = datagrams;
    }

    /// An address that nobody has had.
    pub fn address(&mut self) -> SocketAddr {
        let [_, high, middle, low] = (self.addresses + 0x1_0000).to_be_bytes();
        self.addresses += 1;
        SocketAddr::from(([127, high, middle, low], 4000))
    }

    /// Someone at an address that nobody has had, who begins a handshake.
    pub fn peer(&mut self, id: u64) -> Peer {
        let address = self.address();
        self.peer_at(id, address)
    }

    /// Someone at an address, who begins a handshake.
    ///
    /// # Panics
    /// Never: a token can be made of anything.
    #[must_use]
    pub fn peer_at(&self, id: u64, address: SocketAddr) -> Peer {
        self.air.borrow_mut().down.insert(address, VecDeque::new());
        let authentication = ClientAuthentication::Unsecure {
            protocol_id: NETCODE_ID,
            client_id: id,
            server_addr: SERVER.into(),
            user_data: None,
        };
        Peer {
            address,
            air: Rc::clone(&self.air),
            netcode: NetcodeClient::new(self.clock.now(), authentication).expect("a token"),
            renet: RenetClient::new(connection_config()),
            last: self.clock.now(),
            clock: self.clock.clone(),
            begun: self.begun,
            replica: Replica::default(),
            answers: Vec::new(),
            messages: 0,
            words: None,
            seq: 0,
            is_mute: false,
            is_by_hand: false,
            choosy: None,
        }
    }

    /// Someone who is connected.
    ///
    /// # Panics
    /// When the server does not let them in.
    pub fn connected(&mut self, id: u64) -> Peer {
        let mut peer = self.peer(id);
        for _ in 0..400 {
            peer.turn();
            self.turn();
            if peer.netcode.is_connected() {
                peer.renet.set_connected();
                return peer;
            }
        }
        panic!("{id} is not let in")
    }

    /// A pilot who is in and has a ship.
    ///
    /// # Panics
    /// When the server does not let them in.
    pub fn pilot(&mut self, id: u64, name: &str) -> Peer {
        let mut peer = self.connected(id);
        peer.say(&ToServer::Hello(Hello::new(name)));
        for _ in 0..400 {
            peer.turn();
            self.turn();
            if peer.replica.own().next().is_some() {
                return peer;
            }
        }
        panic!("{name} is not let in: {:?}", peer.words)
    }
}

/// A client of the transport, which says whatever it likes.
pub struct Peer {
    /// Where it is.
    pub address: SocketAddr,
    air: Rc<RefCell<Air>>,
    /// Its connection below.
    pub netcode: NetcodeClient,
    /// Its connection above.
    pub renet: RenetClient,
    last: Duration,
    clock: Hand,
    begun: Instant,
    /// What it has been shown.
    pub replica: Replica,
    /// What became of its orders.
    pub answers: Vec<Answer>,
    /// Messages that it has had.
    pub messages: u64,
    /// What the server has said last before it hung up.
    pub words: Option<String>,
    seq: u32,
    /// Whether it acknowledges nothing that it is shown.
    pub is_mute: bool,
    /// Whether nothing of it is sent but what is sent by hand: nothing that arrives is acknowledged.
    pub is_by_hand: bool,
    /// What it says has come, if that is not all that has: nothing of what must arrive.
    pub choosy: Option<Choosy>,
}

impl Peer {
    /// One turn of its loop; whether the connection stands.
    pub fn turn(&mut self) -> bool {
        let passed = self.clock.now() - self.last;
        self.last += passed;
        // As a client does: what slept has not been silent.
        let passed = passed.min(Duration::from_secs(1));
        self.renet.update(passed);
        loop {
            let datagram = self.air.borrow_mut().down.get_mut(&self.address).and_then(VecDeque::pop_front);
            let Some(mut datagram) = datagram else { break };
            if let Some(payload) = self.netcode.process_packet(&mut datagram) {
                self.choosy.iter_mut().for_each(|choosy| choosy.take(payload));
                self.renet.process_packet(payload);
            }
        }
        if let Some((datagram, _)) = self.netcode.update(passed) {
            let datagram = datagram.to_vec();
            self.throw(&datagram);
        }
        self.read();
        for payload in self.renet.get_packets_to_send() {
            let payload = match &self.choosy {
                Some(choosy) => choosy.give(payload),
                None => Some(payload),
            };
            if let Some(payload) = payload.filter(|_| !self.is_by_hand) {
                self.payload(&payload);
            }
        }
        !self.netcode.is_disconnected()
    }

    fn read(&mut self) {
        let now = self.begun + self.clock.now();
        while let Some(bytes) = self.renet.receive_message(CHANNEL_ORDERED) {
            self.messages += 1;
            match decode(&bytes) {
                Ok(ToClient::Answer(answer)) => self.answers.push(answer),
                Ok(ToClient::Refused { reason }) => self.words = Some(reason),
                _ => {}
            }
        }
        let before = self.replica.ack();
        while let Some(bytes) = self.renet.receive_message(CHANNEL_LOSSY) {
            self.replica.take(&bytes, now);
        }
        if let Some(ack) = self.replica.ack().filter(|&ack| Some(ack) != before && !self.is_mute) {
            self.renet.send_message(CHANNEL_LOSSY, encode(&ack));
        }
    }

    /// Says something that arrives.
    pub fn say(&mut self, message: &ToServer) {
        self.renet.send_message(CHANNEL_ORDERED, encode(message));
    }

    /// Orders something; the number of the order.
    pub fn order(&mut self, command: Command) -> u32 {
        self.seq += 1;
        self.say(&ToServer::Op { seq: self.seq, command });
        self.seq
    }

    /// The answer to an order, once it is there.
    #[must_use]
    pub fn answer(&self, seq: u32) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.seq == seq)
    }

    /// Sends any payload, as one of its connection.
    pub fn payload(&mut self, payload: &[u8]) {
        if let Some(datagram) = self.sealed(payload) {
            self.throw(&datagram);
        }
    }

    /// The datagram that carries a payload, if any can.
    pub fn sealed(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
        self.netcode.generate_payload_packet(payload).ok().map(|(_, datagram)| datagram.to_vec())
    }

    /// Sends any datagram.
    pub fn throw(&self, datagram: &[u8]) {
        let mut air = self.air.borrow_mut();
        if air.up.len() < air.kept {
            air.up.push_back((self.address, datagram.to_vec()));
        }
    }

    /// Hangs up.
    pub fn leave(&mut self) {
        if let Ok((_, datagram)) = self.netcode.disconnect() {
            let datagram = datagram[..datagram.len().min(NETCODE_MAX_PACKET_BYTES)].to_vec();
            self.throw(&datagram);
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.air.borrow_mut().down.remove(&self.address);
    }
}
