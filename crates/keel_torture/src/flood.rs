//! Floods over real sockets: how others fare meanwhile.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use keel_client::{Client, Command, Event, Hello};
use keel_protocol::{CHANNEL_ORDERED, NETCODE_ID, ToClient, ToServer, connection_config, decode, encode};
use keel_server::{Config, Metrics, Server};
use renet::RenetClient;
use renetcode::{ClientAuthentication, NETCODE_MAX_PACKET_BYTES, NetcodeClient};

use crate::arena::config;

/// A server on a port that the system chose.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    metrics: Arc<Metrics>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts one; `prepare` has it before its first turn.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(prepare: impl FnOnce(&mut Server) + Send + 'static) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // An app stays on the thread that made it.
        let thread = spawn(move || {
            let mut server = Server::start(&Config { layer: 3, ..config() }).expect("a sound configuration");
            prepare(&mut server);
            tell.send((server.address(), server.handle().metrics)).expect("someone who waits for it");
            server.run(&flag);
        });
        let (address, metrics) = told.recv().expect("a server that starts");
        Self { address, metrics, stop, thread: Some(thread) }
    }

    /// Stops it.
    ///
    /// # Panics
    /// When it has panicked, also if it has caught that.
    pub fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().into_iter().for_each(|thread| thread.join().expect("the server did not panic"));
        assert_eq!(self.metrics.faults(), 0, "the server fell");
    }
}

/// A pilot who orders something ten times a second and measures how long the answer takes.
pub struct Honest {
    /// The pilot's client.
    pub client: Client,
    waiting: Option<(u32, Instant)>,
    next: Instant,
    /// From each order to its answer.
    pub delays: Vec<Duration>,
}

impl Honest {
    /// One who is in.
    ///
    /// # Panics
    /// When they are not let in.
    #[must_use]
    pub fn join(server: SocketAddr, name: &str) -> Self {
        let mut client = Client::connect(server, Hello::new(name)).expect("a socket");
        let begun = Instant::now();
        while client.replica().active().is_none() {
            client.poll().expect("they are let in");
            assert!(begun.elapsed() < Duration::from_secs(15), "nobody lets {name} in");
            sleep(Duration::from_millis(5));
        }
        Self { client, waiting: None, next: Instant::now(), delays: Vec::new() }
    }

    /// One turn of their loop.
    ///
    /// # Panics
    /// When they are put out, or wait for an answer for ten seconds.
    pub fn turn(&mut self) {
        for event in self.client.poll().expect("they stay") {
            if let (Event::Answer(answer), Some((seq, since))) = (event, self.waiting)
                && answer.seq == seq
            {
                self.delays.push(since.elapsed());
                self.waiting = None;
            }
        }
        assert!(self.waiting.is_none_or(|(_, since)| since.elapsed() < Duration::from_secs(10)), "no answer");
        if self.waiting.is_none() && Instant::now() >= self.next {
            let Some(ship) = self.client.replica().active().map(|ship| ship.id) else { return };
            self.waiting = self.client.send(Command::Hold { ship }).ok().map(|seq| (seq, Instant::now()));
            self.next = Instant::now() + Duration::from_millis(100);
        }
    }
}

/// What became of one who floods.
#[derive(Clone, Debug)]
pub struct Flooded {
    /// Packets that were sent in all.
    pub sent: u64,
    /// After how long the server hung up, and what it said last.
    pub gone: Option<Duration>,
    /// What the server said last.
    pub words: Option<String>,
}

/// Connects, greets, and sends so many valid packets a second for so long, also when the server has hung up.
///
/// # Panics
/// When there is no socket.
pub fn flood(server: SocketAddr, per_second: u64, lasts: Duration, sent: &AtomicU64) -> Flooded {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_nonblocking(true).expect("a socket");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let authentication = ClientAuthentication::Unsecure {
        protocol_id: NETCODE_ID,
        client_id: 0xf100d,
        server_addr: server,
        user_data: None,
    };
    let mut netcode = NetcodeClient::new(now, authentication).expect("a token");
    let mut renet = RenetClient::new(connection_config());
    let (begun, mut last, mut words, mut gone) = (Instant::now(), Instant::now(), None, None);
    let mut is_in = false;
    let mut flooding = None::<Instant>;
    let mut count = 0;
    while flooding.is_none_or(|since| since.elapsed() < lasts) && begun.elapsed() < lasts + Duration::from_secs(10) {
        let passed = last.elapsed();
        last += passed;
        renet.update(passed);
        let mut buffer = [0; NETCODE_MAX_PACKET_BYTES];
        while let Ok((length, _)) = socket.recv_from(&mut buffer) {
            if let Some(payload) = netcode.process_packet(&mut buffer[..length]) {
                renet.process_packet(payload);
            }
        }
        if let Some((datagram, _)) = netcode.update(passed) {
            let _ = socket.send_to(datagram, server);
        }
        if netcode.is_connected() && !is_in {
            is_in = true;
            renet.set_connected();
            renet.send_message(CHANNEL_ORDERED, encode(&ToServer::Hello(Hello::new("flood"))));
        }
        while let Some(bytes) = renet.receive_message(CHANNEL_ORDERED) {
            match decode(&bytes) {
                Ok(ToClient::Welcome(_)) => flooding = Some(Instant::now()),
                Ok(ToClient::Refused { reason }) => words = Some(reason),
                _ => {}
            }
        }
        for packet in renet.get_packets_to_send() {
            if let Ok((_, datagram)) = netcode.generate_payload_packet(&packet) {
                let _ = socket.send_to(datagram, server);
            }
        }
        let Some(since) = flooding else {
            sleep(Duration::from_millis(1));
            continue;
        };
        if netcode.is_disconnected() {
            gone.get_or_insert(since.elapsed());
        }
        let due = (since.elapsed().as_secs_f64() * per_second as f64) as u64;
        while count < due {
            // An acknowledgement of the first packet: as valid as any. [kind, number (4), newest, before it, more ranges]
            let number = 0x8000_0000 | (1000 + count as u32);
            let payload = [&[4][..], &number.to_be_bytes(), &[0, 0, 0]].concat();
            match netcode.generate_payload_packet(&payload) {
                Ok((_, datagram)) => drop(socket.send_to(datagram, server)),
                // It goes on, with what the server cannot open any more.
                Err(_) => drop(socket.send_to(&[0x15; 40], server)),
            }
            count += 1;
            sent.fetch_add(1, Ordering::Relaxed);
        }
        sleep(Duration::from_millis(1));
    }
    Flooded { sent: count, gone, words }
}
