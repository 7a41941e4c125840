//! The socket: netcode connections below, renet channels above, with a bound on all that comes in.
//!
//! A datagram goes through four doors. It has to have the shape of one that a client sends ([`datagram`]); it has to be of
//! someone who has not sent too much ([`flow`], [`handshakes`]); netcode has to open it; and what is in it has to be what a
//! client of ours could have said ([`payload`]). Only then does renet see it. All that is timed here goes by the clock, never by
//! steps or polls, and by one that goes on a second at most from one poll to the next: that the machine slept is no one's fault.

mod datagram;
mod flow;
mod handshakes;
mod payload;
mod wire;

pub use wire::Wire;

pub(crate) use flow::Fault;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bevy_log::{debug, info};
use keel_protocol::{CHANNEL_LOSSY, CHANNEL_ORDERED, MOST_WAITING, NETCODE_ID, ToClient, connection_config, encode};
use renet::{Bytes, RenetServer};
use renetcode::{
    ConnectToken, NETCODE_KEY_BYTES, NETCODE_MAX_PACKET_BYTES, NETCODE_USER_DATA_BYTES, NetcodeServer,
    ServerAuthentication, ServerConfig, ServerResult,
};

use crate::boundary::LastNet;
use crate::clock::NetworkTime;
use crate::key::ConnectKey;
use crate::{Access, Config, StartError};
use datagram::Kind;
use flow::Flow;
use handshakes::Handshakes;
use payload::Sane;

/// A connection, for as long as it lasts.
pub(crate) type ClientId = u64;

/// The most connections that netcode can hold.
const MOST_CONNECTIONS: u16 = 1024;

/// Connections beyond the pilots that may play: those who take over from their own broken connection, and those who are told
/// that there is no room.
const SPARE: u16 = 32;

/// The most pilots that may play at once.
const MOST_CLIENTS: u16 = MOST_CONNECTIONS - SPARE;

/// The most datagrams taken in one poll, and the most time spent on them. What is left waits, or is dropped by the
/// system when its buffer is full.
const MOST_DATAGRAMS: usize = 8192;
const MOST_TIME: Duration = Duration::from_millis(5);

/// The most time that counts as passed from one poll to the next.
const MOST_PASSED: Duration = Duration::from_secs(1);

/// Those who asked for a connection that one poll gives up.
const MOST_DENIED: usize = 128;

/// How often netcode looks who has been silent, and to whom it was: it goes through all clients for each. It says that it is there four
/// times a second.
const UPDATE_EVERY: Duration = Duration::from_millis(100);

/// How often it is looked whether clients take what they are sent.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What of the ordered channel is kept for the last words.
const FOR_LAST_WORDS: usize = 4096;

pub(crate) struct Transport {
    net: LastNet,
    wire: Box<dyn Wire>,
    netcode: NetcodeServer,
    renet: RenetServer,
    max_clients: usize,
    public: SocketAddr,
    /// Whether tokens are the server's own.
    is_secured: bool,
    /// The clock at the last poll, and the time of the network since the start.
    last: Duration,
    now: Duration,
    /// The same, for other threads.
    time: NetworkTime,
    updated: Duration,
    looked: Duration,
    handshakes: Handshakes,
    flows: BTreeMap<ClientId, Flow>,
    addresses: BTreeMap<SocketAddr, ClientId>,
    buffer: [u8; NETCODE_MAX_PACKET_BYTES],
}

impl Transport {
    /// The socket that a server is to listen on.
    pub(crate) fn bind(config: &Config, key: Option<&ConnectKey>) -> Result<Box<dyn Wire>, StartError> {
        if !config.bind.ip().is_loopback() && key.is_none() {
            return Err(StartError::Open(config.bind));
        }
        let failed = |source| StartError::Bind { address: config.bind, source };
        Ok(Box::new(wire::Udp::bind(config.bind).map_err(failed)?))
    }

    /// Listens there, for connections whose tokens the key has sealed, or without one for whoever asks.
    pub(crate) fn on(
        config: &Config,
        key: Option<&ConnectKey>,
        wire: Box<dyn Wire>,
        net: LastNet,
    ) -> Result<Self, StartError> {
        if !(1..=MOST_CLIENTS).contains(&config.max_clients) {
            return Err(StartError::MaxClients { asked: config.max_clients, most: MOST_CLIENTS });
        }
        let max_clients = (config.max_clients + SPARE).into();
        let public = match &config.access {
            Access::Accounts(logins) => logins.public.unwrap_or(wire.address()),
            Access::Unsecured => wire.address(),
        };
        let netcode = NetcodeServer::new(ServerConfig {
            // Since the start, not since 1970: a client whose clock is wrong is not taken for one that is late.
            current_time: Duration::ZERO,
            max_clients,
            protocol_id: NETCODE_ID,
            public_addresses: vec![public],
            authentication: match key {
                Some(key) => ServerAuthentication::Secure { private_key: *key.bytes() },
                None => ServerAuthentication::Unsecure,
            },
        });
        Ok(Self {
            net,
            wire,
            netcode,
            renet: RenetServer::new(connection_config()),
            max_clients,
            public,
            is_secured: key.is_some(),
            last: Duration::ZERO,
            now: Duration::ZERO,
            time: NetworkTime::default(),
            updated: Duration::ZERO,
            looked: Duration::ZERO,
            handshakes: Handshakes::new(),
            flows: BTreeMap::new(),
            addresses: BTreeMap::new(),
            buffer: [0; NETCODE_MAX_PACKET_BYTES],
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.wire.address()
    }

    /// Where pilots reach it.
    pub(crate) const fn public(&self) -> SocketAddr {
        self.public
    }

    /// What a connection's token says of its pilot.
    pub(crate) fn user_data(&self, client: ClientId) -> Option<[u8; NETCODE_USER_DATA_BYTES]> {
        self.netcode.user_data(client)
    }

    /// The time of the network at the last poll: what is too late or too often is so by it.
    pub(crate) const fn now(&self) -> Duration {
        self.now
    }

    /// The time of the network, to be read by other threads.
    pub(crate) fn time(&self) -> NetworkTime {
        self.time.clone()
    }

    /// Takes what has arrived, as far as one poll goes; how many datagrams that were. `clock` is since the start.
    pub(crate) fn receive(&mut self, clock: Duration) -> usize {
        let passed = clock.saturating_sub(self.last).min(MOST_PASSED);
        self.last = clock;
        self.now += passed;
        self.time.set(self.now);
        self.netcode.update(passed);
        self.renet.update(passed);
        for flow in self.flows.values_mut() {
            flow.begin(self.now);
        }
        let taken = self.drain();
        if self.now >= self.updated + UPDATE_EVERY {
            self.updated = self.now;
            self.update_clients();
        }
        for _ in 0..MOST_DENIED {
            let Some(address) = self.handshakes.overdue(self.now) else { break };
            self.deny(address);
        }
        // It writes down who comes and goes, for whoever asks. Nobody does.
        while self.renet.get_event().is_some() {}
        if self.now >= self.looked + LOOK_EVERY {
            self.looked = self.now;
            for (&client, flow) in &mut self.flows {
                let free = self.renet.channel_available_memory(client, CHANNEL_ORDERED);
                flow.look(self.renet.packet_loss(client), MOST_WAITING.saturating_sub(free), self.now);
            }
        }
        for client in self.renet.disconnections_id() {
            let reason = self.renet.disconnect_reason(client).map(|reason| reason.to_string());
            info!(client, reason, "put out by the transport");
            self.disconnect(client);
        }
        taken
    }

    /// Keeps connections alive, and ends those that have been silent for too long.
    fn update_clients(&mut self) {
        for client in self.netcode.clients_id() {
            let result = self.netcode.update_client(client);
            let event = answer(result, &mut *self.wire);
            self.note(event);
        }
    }

    fn drain(&mut self) -> usize {
        let begun = Instant::now();
        let mut taken = 0;
        while taken < MOST_DATAGRAMS && (taken % 64 < 63 || begun.elapsed() < MOST_TIME) {
            taken += 1;
            match self.wire.receive(&mut self.buffer) {
                Ok((length, from)) => self.take(length, from),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return taken - 1,
                // A port that is gone answers so, and a signal may come between: neither is about the next datagram.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::Interrupted) => {}
                Err(error) => {
                    debug!(%error, "receive");
                    return taken - 1;
                }
            }
        }
        taken
    }

    /// Takes the datagram that is in the buffer.
    fn take(&mut self, length: usize, from: SocketAddr) {
        let Some(kind) = datagram::kind(&self.buffer[..length]) else { return };
        let client = self.addresses.get(&from).copied();
        let is_admitted = match (client.and_then(|client| self.flows.get_mut(&client)), kind) {
            (Some(flow), kind) => flow.admits(kind),
            (None, Kind::Request) => self.handshakes.admits(from, self.now),
            (None, Kind::Response) => self.handshakes.is_pending(from),
            (None, _) => false,
        };
        if !is_admitted {
            return;
        }
        let Self { net, netcode, renet, wire, buffer, flows, .. } = self;
        let result = net.catch(from, || netcode.process_packet(from, &mut buffer[..length]));
        let Some(result) = result else { return };
        if let ServerResult::Payload { client_id, payload } = result {
            let Some(flow) = flows.get_mut(&client_id) else { return };
            flow.count();
            if flow.check(payload).is_some_and(|sane| sane != Sane::Late)
                && deliver(net, renet, client_id, payload).is_none()
            {
                self.disconnect(client_id);
            }
            return;
        }
        let is_challenged = kind == Kind::Request && matches!(result, ServerResult::PacketToSend { .. });
        let event = answer(result, &mut **wire);
        if is_challenged {
            self.handshakes.challenged(from, self.now);
        }
        self.note(event);
    }

    /// Someone is connected, or no longer.
    fn note(&mut self, event: Option<Event>) {
        match event {
            // Two handshakes of one client can be answered so that netcode has two connections of one number. Neither is of any use.
            Some(Event::Connected(client, address)) if self.flows.contains_key(&client) => {
                debug!(client, %address, "connected twice");
                self.handshakes.over(address);
                while self.netcode.is_client_connected(client) {
                    self.disconnect(client);
                }
            }
            Some(Event::Connected(client, address)) => {
                debug!(client, %address, "connected");
                self.handshakes.over(address);
                self.renet.add_connection(client);
                self.flows.insert(client, Flow::new(address, self.now));
                self.addresses.insert(address, client);
            }
            Some(Event::Disconnected(client, address)) => {
                debug!(client, %address, "disconnected");
                self.renet.remove_connection(client);
                self.flows.remove(&client);
                self.addresses.remove(&address);
            }
            None => {}
        }
    }

    /// Has netcode forget someone who asked for a connection. It does that when it denies one for want of room.
    fn deny(&mut self, address: SocketAddr) {
        // A token of the server's own expires soon, and netcode forgets it by itself.
        if self.is_secured {
            return;
        }
        let token = ConnectToken::generate(
            self.netcode.current_time(),
            NETCODE_ID,
            PURGE_SECONDS,
            // One that nobody has: netcode looks at that first.
            ClientId::from_le_bytes(renetcode::generate_random_bytes()),
            -1,
            vec![self.wire.address()],
            None,
            &UNSECURED,
        );
        let Ok(token) = token else { return };
        let mut request = Vec::with_capacity(NETCODE_MAX_PACKET_BYTES);
        request.push(0);
        request.extend(token.version_info);
        request.extend(token.protocol_id.to_le_bytes());
        request.extend(token.expire_timestamp.to_le_bytes());
        request.extend(token.xnonce);
        request.extend(token.private_data);
        self.netcode.set_max_clients(0);
        // The answer is for the token, and nobody has that.
        let _ = self.netcode.process_packet(address, &mut request);
        self.netcode.set_max_clients(self.max_clients);
    }

    /// The connections there are.
    pub(crate) fn clients(&self) -> Vec<ClientId> {
        self.renet.clients_id()
    }

    /// Clients that have to be put out, and why.
    pub(crate) fn faults(&self) -> Vec<(ClientId, Fault)> {
        self.flows.iter().filter_map(|(&client, flow)| Some((client, flow.fault?))).collect()
    }

    /// The next message of the ordered channel.
    pub(crate) fn next_ordered(&mut self, client: ClientId) -> Option<Bytes> {
        let message = self.renet.receive_message(client, CHANNEL_ORDERED)?;
        if let Some(flow) = self.flows.get_mut(&client) {
            flow.course.delivered += 1;
        }
        Some(message)
    }

    /// The next message of the lossy channel.
    pub(crate) fn next_lossy(&mut self, client: ClientId) -> Option<Bytes> {
        let message = self.renet.receive_message(client, CHANNEL_LOSSY)?;
        if let Some(flow) = self.flows.get_mut(&client) {
            flow.lossy = flow.lossy.saturating_sub(1);
        }
        Some(message)
    }

    /// Says something that must arrive. A client that lets too much wait is put out.
    pub(crate) fn say(&mut self, client: ClientId, message: &ToClient) {
        let Some(flow) = self.flows.get_mut(&client).filter(|_| self.renet.is_connected(client)) else { return };
        let message = encode(message);
        let left = self.renet.channel_available_memory(client, CHANNEL_ORDERED);
        if message.len() + FOR_LAST_WORDS > left {
            flow.fault.get_or_insert(Fault::Clogged);
            return;
        }
        flow.is_due = true;
        flow.said += message.len() as u64;
        self.renet.send_message(client, CHANNEL_ORDERED, message);
    }

    /// Says the last that a client is told.
    pub(crate) fn say_last(&mut self, client: ClientId, message: &ToClient) {
        let Some(flow) = self.flows.get_mut(&client) else { return };
        flow.is_due = true;
        let message = encode(message);
        // What does not fit any more would end the connection here and now.
        if self.renet.can_send_message(client, CHANNEL_ORDERED, message.len()) {
            flow.said += message.len() as u64;
            self.renet.send_message(client, CHANNEL_ORDERED, message);
        }
    }

    /// Sends something that may get lost.
    pub(crate) fn show(&mut self, client: ClientId, bytes: Vec<u8>) {
        if self.renet.can_send_message(client, CHANNEL_LOSSY, bytes.len()) {
            self.renet.send_message(client, CHANNEL_LOSSY, bytes);
        }
    }

    /// Whether a client connected in this poll.
    pub(crate) fn is_new(&self, client: ClientId) -> bool {
        self.flows.get(&client).is_some_and(|flow| flow.is_new)
    }

    /// The share of datagrams of the last seconds that clients have not acknowledged, 0 to 1.
    pub(crate) fn lost(&self) -> f64 {
        let clients = self.renet.clients_id();
        let shares: f64 = clients.iter().map(|&client| self.renet.packet_loss(client)).sum();
        shares / clients.len().max(1) as f64
    }

    /// Bytes of ordered messages that clients have not acknowledged.
    pub(crate) fn unacknowledged(&self) -> usize {
        let free = |client| self.renet.channel_available_memory(client, CHANNEL_ORDERED);
        self.renet.clients_id_iter().map(|client| MOST_WAITING.saturating_sub(free(client))).sum()
    }

    /// Where a client is, how long a datagram takes to get there and back in seconds, and the share that gets lost.
    pub(crate) fn link(&self, client: ClientId) -> (Option<SocketAddr>, f64, f64) {
        (self.netcode.client_addr(client), self.renet.rtt(client), self.renet.packet_loss(client))
    }

    /// Tells a client one thing and hangs up at once.
    pub(crate) fn dismiss(&mut self, client: ClientId, message: &ToClient) {
        self.say_last(client, message);
        let Self { flows, renet, netcode, wire, .. } = self;
        if let Some(flow) = flows.get_mut(&client) {
            flush(client, flow, renet, netcode, &mut **wire);
        }
        self.disconnect(client);
    }

    pub(crate) fn disconnect(&mut self, client: ClientId) {
        let result = self.netcode.disconnect(client);
        let event = answer(result, &mut *self.wire);
        self.note(event);
        self.renet.remove_connection(client);
        if let Some(flow) = self.flows.remove(&client) {
            self.addresses.remove(&flow.address);
        }
    }

    /// Sends what waits: to everyone once a step, and between steps to those alone who were told something. Each time a client
    /// is told too which of its packets have come, so it is not done for nothing.
    pub(crate) fn send(&mut self, is_step: bool) {
        let Self { flows, renet, netcode, wire, .. } = self;
        for (&client, flow) in flows {
            if !std::mem::take(&mut flow.is_due) && !is_step {
                continue;
            }
            flush(client, flow, renet, netcode, &mut **wire);
        }
    }

    /// Ends every connection.
    pub(crate) fn close(&mut self) {
        for client in self.netcode.clients_id() {
            self.disconnect(client);
        }
    }
}

/// The key of tokens that prove nothing.
const UNSECURED: [u8; NETCODE_KEY_BYTES] = [0; NETCODE_KEY_BYTES];

/// How long a token is good that is used at once.
const PURGE_SECONDS: u64 = 60;

/// Who came or went.
enum Event {
    Connected(ClientId, SocketAddr),
    Disconnected(ClientId, SocketAddr),
}

/// Gives a payload to renet; `None` if it fell over it, and what it keeps of that client is not to be trusted.
fn deliver(net: &LastNet, renet: &mut RenetServer, client: ClientId, payload: &[u8]) -> Option<()> {
    net.catch(client, || {
        if renet.process_packet_from(payload, client).is_err() {
            debug!(client, "a payload of no connection");
        }
    })
}

/// Sends a client what waits for it.
fn flush(client: ClientId, flow: &mut Flow, renet: &mut RenetServer, netcode: &mut NetcodeServer, wire: &mut dyn Wire) {
    let Ok(packets) = renet.get_packets_to_send(client) else { return };
    flow.course.sent += packets.len() as u64;
    for packet in packets {
        match netcode.generate_payload_packet(client, &packet) {
            Ok((to, datagram)) => send_to(wire, datagram, to),
            Err(error) => {
                debug!(client, %error, "send");
                // Longer than any packet: an acknowledgement of more holes than anyone who means well leaves.
                flow.fault.get_or_insert(Fault::Nonsense);
                break;
            }
        }
    }
}

/// Sends what netcode has to say.
fn answer(result: ServerResult<'_, '_>, wire: &mut dyn Wire) -> Option<Event> {
    match result {
        ServerResult::None | ServerResult::Payload { .. } => None,
        ServerResult::PacketToSend { addr, payload } => {
            send_to(wire, payload, addr);
            None
        }
        ServerResult::ClientConnected { client_id, addr, payload, .. } => {
            send_to(wire, payload, addr);
            Some(Event::Connected(client_id, addr))
        }
        ServerResult::ClientDisconnected { client_id, addr, payload } => {
            if let Some(payload) = payload {
                send_to(wire, payload, addr);
            }
            Some(Event::Disconnected(client_id, addr))
        }
    }
}

fn send_to(wire: &mut dyn Wire, datagram: &[u8], to: SocketAddr) {
    // A full buffer or an unreachable peer is what the layers above are made for.
    if let Err(error) = wire.send(datagram, to) {
        debug!(%to, %error, "send");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A way on which nothing comes or goes.
    struct Nowhere;

    impl Wire for Nowhere {
        fn address(&self) -> SocketAddr {
            SocketAddr::from(([127, 0, 0, 1], 1))
        }

        fn receive(&mut self, _: &mut [u8]) -> std::io::Result<(usize, SocketAddr)> {
            Err(ErrorKind::WouldBlock.into())
        }

        fn send(&mut self, _: &[u8], _: SocketAddr) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn one_who_lets_too_much_wait_is_put_out_and_still_told_why() {
        let config = Config::local(std::sync::Arc::new(keel_testkit::shipped_balance()));
        let mut transport = Transport::on(&config, None, Box::new(Nowhere), LastNet::default()).unwrap();
        transport.note(Some(Event::Connected(7, Nowhere.address())));
        let long = ToClient::Refused { reason: "x".repeat(60_000) };
        let mut said = 0;
        while transport.faults().is_empty() {
            transport.say(7, &long);
            said += 1;
            assert!(said < 20);
        }
        assert_eq!(transport.faults(), [(7, Fault::Clogged)]);
        let left = transport.renet.channel_available_memory(7, CHANNEL_ORDERED);
        transport.say_last(7, &ToClient::Refused { reason: Fault::Clogged.to_string() });
        assert!(transport.renet.channel_available_memory(7, CHANNEL_ORDERED) < left, "the last words are on their way");
        // Without end: it is not renet that hangs up.
        for _ in 0..1000 {
            transport.say_last(7, &long);
        }
        assert!(transport.renet.is_connected(7));
    }

    #[test]
    fn one_who_makes_renet_panic_is_put_out_and_others_are_not() {
        let net = LastNet::default();
        let mut renet = RenetServer::new(connection_config());
        for client in [1, 2] {
            renet.add_connection(client);
        }
        // What no client gets past the check: slice 9 of 2. [kind, number, channel, message, slice, slices, length (2), bytes].
        let slice = [&[2, 0, CHANNEL_ORDERED, 0, 9, 2, 0x44, 0xb0][..], &[7; 1200]].concat();
        assert_eq!(payload::Course::default().check(&slice), None);
        assert_eq!(deliver(&net, &mut renet, 1, &slice), None, "renet has mended it: the check may let slices in");
        renet.remove_connection(1);
        assert!(!renet.is_connected(1));
        // [kind, number, channel, count (2), then id, length, bytes]
        assert_eq!(deliver(&net, &mut renet, 2, &[0, 0, CHANNEL_ORDERED, 0, 1, 0, 2, 8, 9]), Some(()));
        assert_eq!(renet.receive_message(2, CHANNEL_ORDERED).as_deref(), Some(&[8, 9][..]));
    }
}
