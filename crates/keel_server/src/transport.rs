//! The socket: netcode connections below, renet channels above, with a bound on what one poll takes.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_log::debug;
use keel_protocol::{CHANNEL_LOSSY, CHANNEL_ORDERED, MOST_WAITING, NETCODE_ID, ToClient, connection_config, encode};
use renet::{Bytes, RenetServer};
use renetcode::{
    NETCODE_MAX_PACKET_BYTES, NETCODE_USER_DATA_BYTES, NetcodeServer, ServerAuthentication, ServerConfig, ServerResult,
};

use crate::key::ConnectKey;
use crate::metrics::Metrics;
use crate::socket::Socket;
use crate::status::Board;
use crate::{Access, Config, StartError, guard};

/// A connection, for as long as it lasts.
pub(crate) type ClientId = u64;

/// The most connections that netcode can hold.
const MOST_CLIENTS: u16 = 1024;

/// Connections beyond the pilots that may play: those who take over from their own broken connection, and those who are told
/// that there is no room.
const SPARE: u16 = 32;

/// The most datagrams taken in one poll, and the most time spent on them. What is left waits, or is dropped by the
/// system when its buffer is full.
const MOST_DATAGRAMS: usize = 8192;
const MOST_TIME: Duration = Duration::from_millis(5);

/// The most payloads of one client taken in one poll. A client of ours sends a few a step.
const MOST_PAYLOADS: u32 = 64;

/// Payloads over that bound after which a client is put out.
const MOST_EXCESS: u32 = 4096;

/// Of that, what is forgiven in each poll.
const FORGIVEN: u32 = 4;

pub(crate) struct Transport {
    socket: Socket,
    address: SocketAddr,
    public: SocketAddr,
    netcode: NetcodeServer,
    renet: RenetServer,
    last: Duration,
    flow: BTreeMap<ClientId, Flow>,
    buffer: [u8; NETCODE_MAX_PACKET_BYTES],
}

/// What one client has sent.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    in_poll: u32,
    excess: u32,
    /// Ordered messages that were taken.
    delivered: u64,
    /// Whether it connected in this poll.
    is_new: bool,
    /// Whether something waits to be sent to it.
    is_due: bool,
}

impl Transport {
    /// Listens, for connections whose tokens the key has sealed, or without one for whoever asks.
    pub(crate) fn bind(
        config: &Config,
        key: Option<&ConnectKey>,
        metrics: Arc<Metrics>,
        board: Arc<Board>,
    ) -> Result<Self, StartError> {
        if !config.bind.ip().is_loopback() && key.is_none() {
            return Err(StartError::Open(config.bind));
        }
        if !(1..=MOST_CLIENTS).contains(&config.max_clients) {
            return Err(StartError::MaxClients { asked: config.max_clients, most: MOST_CLIENTS });
        }
        let failed = |source| StartError::Bind { address: config.bind, source };
        let socket = Socket::bind(config.bind, metrics, board).map_err(failed)?;
        let address = socket.address().map_err(failed)?;
        let public = match &config.access {
            Access::Accounts(logins) => logins.public.unwrap_or(address),
            Access::Unsecured => address,
        };
        let netcode = NetcodeServer::new(ServerConfig {
            // Since the start, not since 1970: a client whose clock is wrong is not taken for one that is late.
            current_time: Duration::ZERO,
            max_clients: config.max_clients.saturating_add(SPARE).min(MOST_CLIENTS).into(),
            protocol_id: NETCODE_ID,
            public_addresses: vec![public],
            authentication: match key {
                Some(key) => ServerAuthentication::Secure { private_key: *key.bytes() },
                None => ServerAuthentication::Unsecure,
            },
        });
        let renet = RenetServer::new(connection_config());
        let buffer = [0; NETCODE_MAX_PACKET_BYTES];
        Ok(Self { socket, address, public, netcode, renet, last: Duration::ZERO, flow: BTreeMap::new(), buffer })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where pilots reach it.
    pub(crate) const fn public(&self) -> SocketAddr {
        self.public
    }

    /// What a connection's token says of its pilot.
    pub(crate) fn user_data(&self, client: ClientId) -> Option<[u8; NETCODE_USER_DATA_BYTES]> {
        self.netcode.user_data(client)
    }

    /// Takes what has arrived, as far as one poll goes; how many datagrams that were. `now` is since the start.
    pub(crate) fn receive(&mut self, now: Duration) -> usize {
        let passed = now.saturating_sub(self.last);
        self.last = now;
        self.netcode.update(passed);
        self.renet.update(passed);
        for flow in self.flow.values_mut() {
            (flow.in_poll, flow.is_new) = (0, false);
            if flow.excess != u32::MAX {
                flow.excess = flow.excess.saturating_sub(FORGIVEN);
            }
        }
        let begun = Instant::now();
        let mut taken = 0;
        while taken < MOST_DATAGRAMS && (taken % 64 < 63 || begun.elapsed() < MOST_TIME) {
            taken += 1;
            match self.socket.recv_from(&mut self.buffer) {
                Ok((length, from)) => {
                    let result = self.netcode.process_packet(from, &mut self.buffer[..length]);
                    handle(result, &self.socket, &mut self.renet, &mut self.flow);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // A port that is gone answers so, and a signal may come between: neither is about the next datagram.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::Interrupted) => {}
                Err(error) => {
                    debug!(%error, "receive");
                    break;
                }
            }
        }
        for client in self.netcode.clients_id() {
            let result = self.netcode.update_client(client);
            handle(result, &self.socket, &mut self.renet, &mut self.flow);
        }
        let spammers = self.flow.iter().filter(|(_, flow)| flow.excess > MOST_EXCESS).map(|(client, _)| *client);
        for client in spammers.chain(self.renet.disconnections_id()).collect::<Vec<_>>() {
            self.disconnect(client);
        }
        taken
    }

    /// The connections there are.
    pub(crate) fn clients(&self) -> Vec<ClientId> {
        self.renet.clients_id()
    }

    /// The next message of the ordered channel.
    pub(crate) fn next_ordered(&mut self, client: ClientId) -> Option<Bytes> {
        let message = self.renet.receive_message(client, CHANNEL_ORDERED)?;
        self.flow.entry(client).or_default().delivered += 1;
        Some(message)
    }

    /// The next message of the lossy channel.
    pub(crate) fn next_lossy(&mut self, client: ClientId) -> Option<Bytes> {
        self.renet.receive_message(client, CHANNEL_LOSSY)
    }

    /// Says something that must arrive.
    pub(crate) fn say(&mut self, client: ClientId, message: &ToClient) {
        if self.renet.is_connected(client) {
            self.renet.send_message(client, CHANNEL_ORDERED, encode(message));
            self.flow.entry(client).or_default().is_due = true;
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
        self.flow.get(&client).is_some_and(|flow| flow.is_new)
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

    pub(crate) fn disconnect(&mut self, client: ClientId) {
        let result = self.netcode.disconnect(client);
        handle(result, &self.socket, &mut self.renet, &mut self.flow);
        self.renet.remove_connection(client);
        self.flow.remove(&client);
    }

    /// Sends what waits: to everyone once a step, and between steps to those alone who were told something. Each time a client
    /// is told too which of its packets have come, so it is not done for nothing.
    pub(crate) fn send(&mut self, is_step: bool) {
        for client in self.renet.clients_id() {
            let is_due = self.flow.get_mut(&client).is_some_and(|flow| std::mem::take(&mut flow.is_due));
            if !is_due && !is_step {
                continue;
            }
            let Ok(packets) = self.renet.get_packets_to_send(client) else { continue };
            for packet in packets {
                match self.netcode.generate_payload_packet(client, &packet) {
                    Ok((to, datagram)) => send_to(&self.socket, datagram, to),
                    Err(error) => {
                        debug!(client, %error, "send");
                        break;
                    }
                }
            }
        }
    }

    /// Ends every connection.
    pub(crate) fn close(&mut self) {
        for client in self.netcode.clients_id() {
            self.disconnect(client);
        }
    }
}

fn send_to(socket: &Socket, datagram: &[u8], to: SocketAddr) {
    // A full buffer or an unreachable peer is what the layers above are made for.
    if let Err(error) = socket.send_to(datagram, to) {
        debug!(%to, %error, "send");
    }
}

fn handle(
    result: ServerResult<'_, '_>,
    socket: &Socket,
    renet: &mut RenetServer,
    flows: &mut BTreeMap<ClientId, Flow>,
) {
    match result {
        ServerResult::None => {}
        ServerResult::PacketToSend { addr, payload } => send_to(socket, payload, addr),
        ServerResult::Payload { client_id, payload } => {
            let flow = flows.entry(client_id).or_default();
            flow.in_poll += 1;
            if flow.in_poll > MOST_PAYLOADS {
                flow.excess += 1;
            } else if !guard::is_sane(payload, flow.delivered) {
                flow.excess = u32::MAX;
            } else if renet.process_packet_from(payload, client_id).is_err() {
                debug!(client_id, "a payload of no connection");
            }
        }
        ServerResult::ClientConnected { client_id, addr, payload, .. } => {
            debug!(client_id, %addr, "connected");
            renet.add_connection(client_id);
            flows.insert(client_id, Flow { is_new: true, ..Flow::default() });
            send_to(socket, payload, addr);
        }
        ServerResult::ClientDisconnected { client_id, addr, payload } => {
            debug!(client_id, %addr, "disconnected");
            renet.remove_connection(client_id);
            flows.remove(&client_id);
            if let Some(payload) = payload {
                send_to(socket, payload, addr);
            }
        }
    }
}
