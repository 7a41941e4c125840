//! The connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use keel_protocol::{
    Answer, Bonds, CHANNEL_LOSSY, CHANNEL_ORDERED, Card, Command, Hello, Line, MAX_ORDER, NETCODE_ID, Pilot, Shot,
    ToClient, ToServer, Welcome, Who, connection_config, decode, encode,
};
use renet::RenetClient;
use renet_netcode::{
    ClientAuthentication, ConnectToken, NetcodeClientTransport, NetcodeDisconnectReason as DisconnectReason,
    NetcodeTransportError,
};
use thiserror::Error;

use crate::login::Login;
use crate::plain::plain;
use crate::replica::Replica;
use crate::traffic::Traffic;

/// How long a server may take to answer at all.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest that nothing is sent.
const MOST_REST: Duration = Duration::from_millis(50);

/// The most time that counts as passed from one poll to the next.
const MOST_PASSED: Duration = Duration::from_secs(1);

/// A connection to a server.
pub struct Client {
    server: SocketAddr,
    is_by_login: bool,
    transport: NetcodeClientTransport,
    renet: RenetClient,
    hello: Option<Hello>,
    started: Instant,
    last: Instant,
    /// Whether something waits to be sent, and when anything last was.
    due: bool,
    sent: Instant,
    replica: Replica,
    seq: u32,
    refused: Option<String>,
    traffic: Traffic,
}

/// Something that the server told.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The pilot is in.
    Welcome(Welcome),
    /// The server goes by another balance.
    Rebalanced(Welcome),
    /// What became of an op.
    Answer(Answer),
    /// A line of the pilot's log.
    Line(Line),
    /// The card of a ship of the pilot's: a new one, or another than it was.
    Card(Card),
    /// What is between the pilot and others is not what it was.
    Bonds(Bonds),
    /// Who was asked for; `None` when there is no such pilot.
    Pilot(Option<Pilot>),
    /// The pilot's last shots, which were asked for; oldest first.
    Log(Vec<Shot>),
}

/// Why there is no connection, or none any more.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No socket could be had.
    #[error("cannot open a socket: {0}")]
    Socket(#[from] std::io::Error),
    /// The transport does not start.
    #[error("cannot start a connection: {0}")]
    Start(String),
    /// It has as many pilots as it can hold.
    #[error("the Keel server at {0} is full")]
    Full(SocketAddr),
    /// Nobody answers. A server with accounts does not answer who has not logged in.
    #[error("no Keel server answers at {0}, or it answers only those who log in")]
    Unreachable(SocketAddr),
    /// Nobody answers, or the login is not this server's.
    #[error("no Keel server answers at {0} to this login")]
    Deaf(SocketAddr),
    /// The login was not used in time.
    #[error("the login has expired: log in again")]
    Expired,
    /// The server ended it and said why.
    #[error("{0}")]
    Refused(String),
    /// The connection broke.
    #[error("the connection to {0} is lost")]
    Lost(SocketAddr),
}

/// Why something was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unsent {
    /// The server has not yet taken what was sent before.
    #[error("the server does not keep up: too much waits to be sent")]
    Full,
    /// No server takes a message of that length.
    #[error("{bytes} bytes are more than a message to the server may have")]
    TooLong {
        /// What it has.
        bytes: usize,
    },
    /// The connection is over.
    #[error("the connection is over")]
    Closed,
}

impl Client {
    /// Starts to connect to a server that takes whoever asks; [`Self::poll`] goes on with it.
    ///
    /// # Errors
    /// When no socket can be had.
    pub fn connect(server: SocketAddr, hello: Hello) -> Result<Self, ClientError> {
        Self::start(server, hello, None)
    }

    /// Starts to connect by a login; [`Self::poll`] goes on with it.
    ///
    /// # Errors
    /// When no socket can be had, or the login has expired.
    pub fn connect_as(login: Login) -> Result<Self, ClientError> {
        if login.until <= Instant::now() {
            return Err(ClientError::Expired);
        }
        Self::start(login.server, Hello::new(&login.name), Some(login.token))
    }

    fn start(server: SocketAddr, hello: Hello, token: Option<ConnectToken>) -> Result<Self, ClientError> {
        let any: IpAddr = if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // The number only tells connections apart: the time and the port that the system chose are enough for that.
        let client_id = (now.as_nanos() as u64) << 16 | u64::from(socket.local_addr()?.port());
        let (protocol_id, is_by_login) = (NETCODE_ID, token.is_some());
        let authentication = match token {
            Some(connect_token) => ClientAuthentication::Secure { connect_token },
            None => ClientAuthentication::Unsecure { protocol_id, client_id, server_addr: server, user_data: None },
        };
        let transport = NetcodeClientTransport::new(now, authentication, socket)
            .map_err(|error| ClientError::Start(error.to_string()))?;
        let started = Instant::now();
        Ok(Self {
            server,
            is_by_login,
            transport,
            renet: RenetClient::new(connection_config()),
            hello: Some(hello),
            started,
            last: started,
            due: false,
            sent: started,
            replica: Replica::default(),
            seq: 0,
            refused: None,
            traffic: Traffic::default(),
        })
    }

    /// Takes what has arrived and sends what waits. To be called often: at least at every step of the server.
    ///
    /// # Errors
    /// When the server cannot be reached, has refused, or is gone.
    pub fn poll(&mut self) -> Result<Vec<Event>, ClientError> {
        let passed = self.last.elapsed();
        self.last += passed;
        // A machine that slept has not been silent for so long: it looks at what has come before it gives up.
        let passed = passed.min(MOST_PASSED);
        self.renet.update(passed);
        let broken = self.transport.update(passed, &mut self.renet).is_err() || self.renet.is_disconnected();
        let events = self.receive();
        if let Some(reason) = self.refused.take() {
            self.leave();
            return Err(ClientError::Refused(reason));
        }
        if self.renet.is_connected() {
            if let Some(hello) = self.hello.take() {
                self.say(&ToServer::Hello(hello)).map_err(|unsent| ClientError::Start(unsent.to_string()))?;
            }
        } else if self.hello.is_some() && (broken || self.started.elapsed() > PATIENCE) {
            return Err(self.end());
        }
        if broken || self.flush().is_err() {
            // Everything that arrived before the end is told first.
            return if events.is_empty() { Err(self.end()) } else { Ok(events) };
        }
        Ok(events)
    }

    /// Sends what waits. Each time it tells the server too which packets have come, so it is not done for nothing.
    fn flush(&mut self) -> Result<(), NetcodeTransportError> {
        if self.renet.is_disconnected() || !(self.due || self.sent.elapsed() >= MOST_REST) {
            return Ok(());
        }
        (self.due, self.sent) = (false, Instant::now());
        self.transport.send_packets(&mut self.renet)
    }

    /// Why there is no connection.
    fn end(&self) -> ClientError {
        if self.hello.is_none() {
            ClientError::Lost(self.server)
        } else if self.transport.disconnect_reason() == Some(DisconnectReason::ConnectionDenied) {
            ClientError::Full(self.server)
        } else if self.transport.disconnect_reason() == Some(DisconnectReason::ConnectTokenExpired) {
            ClientError::Expired
        } else if self.is_by_login {
            ClientError::Deaf(self.server)
        } else {
            ClientError::Unreachable(self.server)
        }
    }

    fn receive(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(bytes) = self.renet.receive_message(CHANNEL_ORDERED) {
            self.traffic.down.count(bytes.len());
            // What this version cannot read it does without.
            let Ok(message) = decode::<ToClient>(&bytes) else { continue };
            events.extend(match plain(message) {
                ToClient::Refused { reason } => {
                    self.refused = Some(reason);
                    None
                }
                ToClient::Welcome(welcome) => {
                    self.replica.welcome = Some(welcome.clone());
                    Some(Event::Welcome(welcome))
                }
                ToClient::Rebalanced(welcome) => {
                    self.replica.welcome = Some(welcome.clone());
                    Some(Event::Rebalanced(welcome))
                }
                ToClient::Answer(answer) => Some(Event::Answer(answer)),
                ToClient::Line(line) => Some(Event::Line(line)),
                ToClient::Card(card) => {
                    self.replica.cards.insert(card.ship, card.clone());
                    Some(Event::Card(card))
                }
                ToClient::Map(map) => {
                    self.replica.maps.insert(map.map, map);
                    None
                }
                ToClient::Hold(hold) => {
                    self.replica.hold = hold;
                    None
                }
                ToClient::Bonds(bonds) => {
                    self.replica.bonds.clone_from(&bonds);
                    Some(Event::Bonds(bonds))
                }
                ToClient::Pilot(pilot) => {
                    if let Some(pilot) = &pilot {
                        self.replica.pilots.insert(pilot.id, pilot.clone());
                    }
                    Some(Event::Pilot(pilot))
                }
                ToClient::Wormholes(wormholes) => {
                    self.replica.wormholes = wormholes;
                    None
                }
                ToClient::Journal(journal) => {
                    self.replica.set_journal(journal, Instant::now());
                    None
                }
                ToClient::Goods(goods) => {
                    self.replica.goods = goods;
                    None
                }
                ToClient::Chart(chart) => {
                    self.replica.add_to_chart(chart);
                    None
                }
                ToClient::Wrecks(wrecks) => {
                    self.replica.wrecks = wrecks;
                    None
                }
                ToClient::Log(shots) => Some(Event::Log(shots)),
            });
        }
        let before = self.replica.ack();
        while let Some(bytes) = self.renet.receive_message(CHANNEL_LOSSY) {
            self.traffic.down.count(bytes.len());
            self.replica.take(&bytes, Instant::now());
        }
        if let Some(ack) = self.replica.ack().filter(|&ack| Some(ack) != before) {
            self.queue(CHANNEL_LOSSY, encode(&ack));
        }
        events
    }

    fn say(&mut self, message: &ToServer) -> Result<(), Unsent> {
        if self.renet.is_disconnected() {
            return Err(Unsent::Closed);
        }
        let message = encode(message);
        if message.len() > MAX_ORDER {
            return Err(Unsent::TooLong { bytes: message.len() });
        }
        // The transport would end the connection over it.
        if !self.renet.can_send_message(CHANNEL_ORDERED, message.len()) {
            return Err(Unsent::Full);
        }
        self.queue(CHANNEL_ORDERED, message);
        Ok(())
    }

    /// Lets a message wait until the next flush, which is then due.
    fn queue(&mut self, channel: u8, message: Vec<u8>) {
        self.traffic.up.count(message.len());
        self.renet.send_message(channel, message);
        self.due = true;
    }

    /// Orders something; the number by which its answer will name it.
    ///
    /// # Errors
    /// When it is not sent, and so never answered.
    pub fn send(&mut self, command: Command) -> Result<u32, Unsent> {
        let seq = self.seq.wrapping_add(1);
        self.say(&ToServer::Op { seq, command })?;
        self.seq = seq;
        Ok(seq)
    }

    /// Asks who a pilot is; [`Event::Pilot`] answers, and the replica remembers.
    ///
    /// # Errors
    /// When it is not sent, and so never answered.
    pub fn ask_who(&mut self, who: Who) -> Result<(), Unsent> {
        self.say(&ToServer::Who(who))
    }

    /// Asks for the pilot's combat log; [`Event::Log`] answers.
    ///
    /// # Errors
    /// When it is not sent, and so never answered.
    pub fn ask_log(&mut self) -> Result<(), Unsent> {
        self.say(&ToServer::Log)
    }

    /// What the server has shown.
    #[must_use]
    pub const fn replica(&self) -> &Replica {
        &self.replica
    }

    /// What has crossed the wire so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        Traffic { lost: self.renet.packet_loss(), ..self.traffic }
    }

    /// Ends the connection and tells the server.
    pub fn leave(&mut self) {
        self.transport.disconnect();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.leave();
    }
}
