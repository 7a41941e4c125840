//! Who is connected, what they ask for and what they are told.

mod cost;
mod lateness;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bevy_log::{debug, info};
use keel_protocol::{
    Ack, Answer, Hello, Line, PROTOCOL_VERSION, ToClient, ToServer, Welcome, Who, check_name, decode_order,
};
use keel_sim::{Op, Order, PilotId};

use crate::admission::Admission;
use crate::boundary::LastNet;
use crate::bucket::Bucket;
use crate::console::Player;
use crate::convert;
use crate::known::{Known, RENEWED};
use crate::logins::{STALE, Tickets};
use crate::metrics::Metrics;
use crate::presence::Presence;
use crate::replication::Viewer;
use crate::roster::Roster;
use crate::transport::{ClientId, Transport};
use crate::world::World;
use crate::{Board, Config, LoginCounts, LoginRefusal};
use cost::{OPS, cost};
use lateness::Lateness;

/// How long a connection may take to greet, and how long it stays to read a refusal.
const GREETING: Duration = Duration::from_secs(5);
const PARTING: Duration = Duration::from_secs(2);

/// Ops over what a pilot may send after which they are put out.
const MOST_EXCESS: u32 = 400;

/// Messages that make no sense after which a client is put out.
const MOST_MALFORMED: u32 = 8;

/// How far a client may be behind with acknowledging what it is shown.
const MOST_BEHIND: Duration = Duration::from_secs(8);

/// Messages of one client that one poll looks at.
const MOST_MESSAGES: usize = 64;

enum Stage {
    /// Connected; has not said who they are.
    Greeting {
        until: Duration,
    },
    Playing(Playing),
    /// Told why it is over.
    Parting {
        until: Duration,
    },
}

struct Playing {
    pilot: PilotId,
    /// What the client has of what the pilot sees.
    viewer: Box<Viewer>,
    /// What the client has been told and need not be told again.
    known: Box<Known>,
    ops: Bucket,
    excess: u32,
    /// When the pilot came, by the time of the network.
    since: Duration,
}

struct Session {
    stage: Stage,
    malformed: u32,
}

/// Who may come in.
pub(crate) struct Doors {
    /// What proves who a connection is; `None` where everyone is who they say.
    pub(crate) tickets: Option<Arc<Tickets>>,
    pub(crate) admission: Arc<Admission>,
    /// Who is in, which sessions keep true.
    pub(crate) presence: Arc<Presence>,
    pub(crate) board: Arc<Board>,
    pub(crate) login_counts: Arc<LoginCounts>,
    pub(crate) metrics: Arc<Metrics>,
    /// What catches whoever makes the server fall.
    pub(crate) net: LastNet,
}

impl Doors {
    /// Takes a pilot out of the world.
    fn leave(&self, world: &mut World, pilot: PilotId) {
        world.leave(pilot);
        self.presence.go(pilot);
    }

    /// Counts a connection whose token is no good.
    fn count_stale(&self) {
        self.login_counts.count(LoginRefusal::Stale);
        self.metrics.count_greeting("no_name");
    }
}

pub(crate) struct Sessions {
    welcome: Welcome,
    doors: Doors,
    /// The most pilots that play at once.
    most: usize,
    /// The most bytes of snapshots that a client is sent in a step.
    snapshot_bytes: usize,
    roster: Roster,
    sessions: BTreeMap<ClientId, Session>,
    lateness: Lateness,
}

impl Sessions {
    pub(crate) fn new(world: &World, config: &Config, doors: Doors) -> Self {
        let (welcome, roster, sessions) = (world.welcome(), Roster::of(world.pilots()), BTreeMap::new());
        let (most, snapshot_bytes) = (config.max_clients.into(), config.snapshot_bytes);
        Self { welcome, doors, most, snapshot_bytes, roster, sessions, lateness: Lateness::default() }
    }

    /// Takes what clients have said since the last poll.
    pub(crate) fn listen(&mut self, transport: &mut Transport, world: &mut World) {
        let now = transport.now();
        let connected = transport.clients();
        let Self { sessions, doors, .. } = self;
        sessions.retain(|client, session| {
            // One who left and came back within a poll is a new one.
            let stays = connected.contains(client) && !transport.is_new(*client);
            if let (false, Stage::Playing(playing)) = (stays, &session.stage) {
                info!(pilot = %playing.pilot, "left");
                doors.leave(world, playing.pilot);
            }
            stays
        });
        for client in connected {
            if !self.sessions.contains_key(&client) && !self.begin(transport, now, client) {
                continue;
            }
            let net = self.doors.net.clone();
            if net.catch(client, || self.listen_to(transport, now, world, client)).is_none() {
                self.drop(transport, world, client);
            }
        }
        for (client, fault) in transport.faults() {
            self.refuse(transport, now, world, client, fault.to_string());
        }
        self.expire(transport, now);
    }

    /// Begins the session of one who has connected, if there is to be one. A place is not to be held by a token that is no good, of
    /// which one account can have any number.
    fn begin(&mut self, transport: &mut Transport, now: Duration, client: ClientId) -> bool {
        let waits =
            |tickets: &Arc<Tickets>| transport.user_data(client).is_some_and(|data| tickets.waits(client, &data));
        if !self.doors.tickets.as_ref().is_none_or(waits) {
            self.doors.count_stale();
            transport.dismiss(client, &ToClient::Refused { reason: STALE.to_owned() });
            return false;
        }
        let stage = Stage::Greeting { until: now + GREETING };
        self.sessions.insert(client, Session { stage, malformed: 0 });
        true
    }

    /// Takes what one client has said.
    fn listen_to(&mut self, transport: &mut Transport, now: Duration, world: &mut World, client: ClientId) {
        for _ in 0..MOST_MESSAGES {
            let Some(bytes) = transport.next_ordered(client) else { break };
            match decode_order::<ToServer>(&bytes) {
                Ok(message) => self.hear(transport, now, world, client, message),
                Err(error) => self.malformed(transport, now, world, client, &error),
            }
        }
        // All of them: nothing of what may get lost waits for the next poll.
        while let Some(bytes) = transport.next_lossy(client) {
            match decode_order::<Ack>(&bytes) {
                Ok(ack) => self.acknowledge(transport, now, world, client, ack),
                Err(error) => self.malformed(transport, now, world, client, &error),
            }
        }
    }

    /// Ends a session without a word, and takes its pilot out of the world.
    fn drop(&mut self, transport: &mut Transport, world: &mut World, client: ClientId) {
        if let Some(Session { stage: Stage::Playing(playing), .. }) = self.sessions.remove(&client) {
            self.doors.leave(world, playing.pilot);
        }
        transport.disconnect(client);
    }

    fn hear(
        &mut self,
        transport: &mut Transport,
        now: Duration,
        world: &mut World,
        client: ClientId,
        message: ToServer,
    ) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        match (&mut session.stage, message) {
            (Stage::Greeting { .. }, ToServer::Hello(hello)) => self.greet(transport, now, world, client, &hello),
            (Stage::Greeting { .. }, _) => self.refuse(transport, now, world, client, "Say hello first.".to_owned()),
            (Stage::Playing(_), ToServer::Hello(_)) => {
                self.refuse(transport, now, world, client, "You have said hello already.".to_owned());
            }
            (Stage::Playing(playing), message) => {
                playing.ops.fill(now);
                if playing.ops.is_full() {
                    playing.excess = 0;
                }
                if playing.ops.take(cost(&message)) {
                    let pilot = playing.pilot;
                    return self.serve(transport, world, client, pilot, message);
                }
                playing.excess += 1;
                if playing.excess > MOST_EXCESS {
                    self.refuse(transport, now, world, client, "You send too many orders.".to_owned());
                } else if let ToServer::Op { seq, .. } = message {
                    self.doors.metrics.count_refused("too_many_at_once");
                    let text = "Too many orders at once. This one was dropped.".to_owned();
                    transport.say(client, &ToClient::Answer(Answer { seq, accepted: false, text }));
                } else {
                    let text = "Too many questions at once. This one was dropped.".to_owned();
                    transport.say(client, &ToClient::Line(Line { step: world.now(), ship: 0, text }));
                    if let ToServer::Who(_) = message {
                        // Answers come in the order of the questions.
                        transport.say(client, &ToClient::Pilot(None));
                    }
                }
            }
            (Stage::Parting { .. }, _) => {}
        }
    }

    /// Does what a pilot asks for: an op waits for the next step, a question is answered at once.
    fn serve(&self, transport: &mut Transport, world: &mut World, client: ClientId, pilot: PilotId, message: ToServer) {
        match message {
            ToServer::Op { seq, command } => match convert::op(command) {
                Ok(op) => {
                    if let Op::Force(force) = op {
                        info!(%pilot, ?force, "an operator's order");
                    }
                    world.order(Order { pilot, seq, op });
                }
                Err(refusal) => {
                    self.doors.metrics.count_refused(refusal.into());
                    let answer = Answer { seq, accepted: false, text: refusal.to_string() };
                    transport.say(client, &ToClient::Answer(answer));
                }
            },
            ToServer::Who(who) => {
                let pilot = match who {
                    Who::Id(id) => Some(PilotId(id)),
                    Who::Name(name) => self.roster.get(&name),
                };
                transport.say(client, &ToClient::Pilot(pilot.and_then(|pilot| world.who(pilot))));
            }
            ToServer::Log => transport.say(client, &ToClient::Log(world.shots(pilot))),
            ToServer::Hello(_) => {}
        }
    }

    /// Who a connection is: whoever its token was given to, or where there are no tokens, whoever it says.
    fn name(&self, transport: &Transport, client: ClientId, hello: &Hello) -> Result<String, String> {
        let Some(tickets) = &self.doors.tickets else {
            return check_name(&hello.name).map(|()| hello.name.clone()).map_err(|error| error.to_string());
        };
        transport.user_data(client).and_then(|data| tickets.take(client, &data)).ok_or_else(|| STALE.to_owned())
    }

    fn session_of(&self, pilot: PilotId) -> Option<ClientId> {
        let is_same = |session: &Session| matches!(&session.stage, Stage::Playing(playing) if playing.pilot == pilot);
        self.sessions.iter().find(|(_, session)| is_same(session)).map(|(&client, _)| client)
    }

    fn greet(&mut self, transport: &mut Transport, now: Duration, world: &mut World, client: ClientId, hello: &Hello) {
        if hello.version != PROTOCOL_VERSION {
            let reason = format!(
                "This server speaks protocol version {PROTOCOL_VERSION}; your client speaks {}. Update the older one.",
                hello.version
            );
            self.doors.metrics.count_greeting("other_version");
            return self.refuse(transport, now, world, client, reason);
        }
        let name = match self.name(transport, client, hello) {
            Ok(name) => name,
            Err(reason) => {
                match self.doors.tickets {
                    Some(_) => self.doors.count_stale(),
                    None => self.doors.metrics.count_greeting("no_name"),
                }
                return self.refuse(transport, now, world, client, reason);
            }
        };
        // Who is in stays, also one whose client has crashed.
        if let Some(reason) = self.doors.admission.closed().filter(|_| !self.doors.presence.is_in(&name)) {
            self.doors.metrics.count_greeting("not_admitted");
            return self.refuse(transport, now, world, client, reason);
        }
        // One pilot, one session: whoever comes last flies, so that a broken connection does not lock its pilot out.
        let other = self.roster.get(&name).and_then(|pilot| self.session_of(pilot));
        if other.is_none() && self.playing() >= self.most {
            self.doors.metrics.count_greeting("full");
            return self.refuse(transport, now, world, client, self.doors.board.full());
        }
        let pilot = match self.roster.pilot(&name) {
            Ok(pilot) => pilot,
            Err(taken) => {
                self.doors.metrics.count_greeting(taken.word());
                return self.refuse(transport, now, world, client, taken.to_string());
            }
        };
        if let Some(other) = other {
            // Tokens are numbered as they are given: the later login flies, whichever of the two comes first.
            let is_late = self.doors.tickets.is_some() && other > client;
            let (stays, goes) = if is_late { (other, client) } else { (client, other) };
            info!(name, %pilot, stays, goes, "connected twice");
            self.refuse(transport, now, world, goes, "You have connected from elsewhere.".to_owned());
            if is_late {
                return;
            }
        }
        // What the one before has ordered and no step has done yet would be answered to the wrong one, also when that one has left.
        world.forget_orders(pilot);
        self.doors.metrics.count_greeting(if other.is_some() { "taken_over" } else { "joined" });
        info!(name, %pilot, "joined");
        world.join(pilot, &name);
        self.doors.presence.come(&name, pilot);
        transport.say(client, &ToClient::Welcome(Welcome { pilot: pilot.0, ..self.welcome.clone() }));
        let playing = Playing {
            pilot,
            viewer: Box::new(Viewer::new(self.snapshot_bytes)),
            known: Box::default(),
            ops: Bucket::full(OPS.0, OPS.1, now),
            excess: 0,
            since: now,
        };
        if let Some(session) = self.sessions.get_mut(&client) {
            session.stage = Stage::Playing(playing);
        }
    }

    fn acknowledge(&mut self, transport: &mut Transport, now: Duration, world: &mut World, client: ClientId, ack: Ack) {
        let Some(Session { stage: Stage::Playing(playing), .. }) = self.sessions.get_mut(&client) else { return };
        if let Err(nonsense) = playing.viewer.acknowledge(ack, world.now()) {
            debug!(client, %nonsense, "cannot be");
            let reason = "Your client acknowledges what it was never sent.".to_owned();
            self.refuse(transport, now, world, client, reason);
        }
    }

    fn malformed(
        &mut self,
        transport: &mut Transport,
        now: Duration,
        world: &mut World,
        client: ClientId,
        error: &keel_protocol::DecodeError,
    ) {
        debug!(client, %error, "dropped a message");
        let Some(session) = self.sessions.get_mut(&client) else { return };
        session.malformed += 1;
        if session.malformed > MOST_MALFORMED {
            self.refuse(transport, now, world, client, "Your client sends what this server cannot read.".to_owned());
        }
    }

    /// Tells a client why it is over, and takes its pilot out of the world. The connection closes when there was time to read it.
    fn refuse(
        &mut self,
        transport: &mut Transport,
        now: Duration,
        world: &mut World,
        client: ClientId,
        reason: String,
    ) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        if matches!(session.stage, Stage::Parting { .. }) {
            return;
        }
        info!(client, reason, "refused");
        if let Stage::Playing(playing) = &session.stage {
            self.doors.leave(world, playing.pilot);
        }
        transport.say_last(client, &ToClient::Refused { reason });
        session.stage = Stage::Parting { until: now + PARTING };
    }

    fn expire(&mut self, transport: &mut Transport, now: Duration) {
        let is_over = |session: &Session| match session.stage {
            Stage::Greeting { until } | Stage::Parting { until } => until <= now,
            Stage::Playing(_) => false,
        };
        for (&client, _) in self.sessions.iter().filter(|(_, session)| is_over(session)) {
            transport.disconnect(client);
        }
        self.sessions.retain(|_, session| !is_over(session));
    }

    /// Puts out those who take nothing, do not read it, or read it far too late.
    fn put_out_deaf(&mut self, transport: &mut Transport, now: Duration, world: &mut World) {
        let lateness = &self.lateness;
        let is_deaf = |session: &Session| match &session.stage {
            Stage::Playing(playing) => lateness.since(playing.viewer.behind(world.now()), now) > MOST_BEHIND,
            Stage::Greeting { .. } | Stage::Parting { .. } => false,
        };
        let deaf = self.sessions.iter().filter(|(_, session)| is_deaf(session)).map(|(&client, _)| client);
        for client in deaf.collect::<Vec<_>>() {
            let reason = "Your client does not acknowledge what it is shown, or far too late.".to_owned();
            self.refuse(transport, now, world, client, reason);
        }
    }

    /// Tells everyone what the step did. `pace` is that of the world, in percent of the clock.
    pub(crate) fn tell(&mut self, transport: &mut Transport, world: &mut World, pace: u8) {
        let now = transport.now();
        self.lateness.ran(now);
        self.put_out_deaf(transport, now, world);
        let mut clients: BTreeMap<PilotId, ClientId> = BTreeMap::new();
        for (&client, session) in &self.sessions {
            if let Stage::Playing(playing) = &session.stage {
                clients.insert(playing.pilot, client);
            }
        }
        let told = world.take_told();
        // Those who are told something by which other things they know have changed.
        let mut answered = BTreeSet::new();
        for answer in &told.answers {
            match answer.result {
                Ok(_) => self.doors.metrics.count_accepted(),
                Err(refusal) => self.doors.metrics.count_refused(refusal.into()),
            }
            if let Some(&client) = clients.get(&answer.pilot) {
                transport.say(client, &ToClient::Answer(convert::answer(answer)));
                answered.insert(answer.pilot);
            }
        }
        for noted in &told.notes {
            if let Some(&client) = clients.get(&noted.pilot) {
                transport.say(client, &ToClient::Line(world.line(noted)));
                if noted.note.is_news() {
                    answered.insert(noted.pilot);
                }
            }
        }
        let bonds = told.bonds;
        world.put_back(told);
        // Once for all pilots, not once for each.
        if world.now().is_multiple_of(RENEWED) {
            world.renew();
        }
        world.begin_views(pace);
        for (&client, session) in &mut self.sessions {
            let Stage::Playing(playing) = &mut session.stage else { continue };
            let pilot = playing.pilot;
            world.view(pilot, &mut playing.viewer, &mut |bytes| transport.show(client, bytes));
            let (viewer, answered) = (&playing.viewer, answered.contains(&pilot));
            playing.known.catch_up(world, pilot, viewer, answered, bonds, &mut |message| {
                transport.say(client, &message);
            });
        }
    }

    /// Looks which of those who have gone are still in.
    pub(crate) fn look(&self, world: &World) {
        self.doors.presence.keep(|pilot| world.is_in_space(pilot));
    }

    /// Those who play.
    fn playing_clients(&self) -> impl Iterator<Item = (ClientId, &Playing)> {
        self.sessions.iter().filter_map(|(&client, session)| match &session.stage {
            Stage::Playing(playing) => Some((client, playing)),
            Stage::Greeting { .. } | Stage::Parting { .. } => None,
        })
    }

    /// How many play.
    pub(crate) fn playing(&self) -> usize {
        self.playing_clients().count()
    }

    /// Who plays, by name.
    pub(crate) fn players(&self, transport: &Transport, world: &World) -> Vec<Player> {
        let now = transport.now();
        let player = |(client, playing): (ClientId, &Playing)| {
            let (address, rtt, lost) = transport.link(client);
            Player {
                name: world.who(playing.pilot).map(|pilot| pilot.name).unwrap_or_default(),
                pilot: playing.pilot.0,
                address: address.map(|address| address.to_string()),
                connected_s: now.saturating_sub(playing.since).as_secs(),
                rtt_ms: rtt * 1000.0,
                lost,
                maps: world.maps(playing.pilot).map(|map| map.to_string()).collect(),
            }
        };
        let mut players: Vec<_> = self.playing_clients().map(player).collect();
        players.sort_by(|one, other| one.name.cmp(&other.name));
        for player in &mut players {
            player.maps.sort();
            player.maps.dedup();
        }
        players
    }

    /// Puts a pilot out who plays under a name; whether one does.
    pub(crate) fn kick(&mut self, transport: &mut Transport, world: &mut World, name: &str, reason: String) -> bool {
        let pilot = self.roster.get(name);
        let client = self.playing_clients().find(|(_, playing)| Some(playing.pilot) == pilot).map(|(client, _)| client);
        if let Some(client) = client {
            self.refuse(transport, transport.now(), world, client, reason);
        }
        client.is_some()
    }

    /// Tells all who play something; how many that are.
    pub(crate) fn announce(&self, transport: &mut Transport, step: u64, text: &str) -> usize {
        let line = ToClient::Line(Line { step, ship: 0, text: text.to_owned() });
        self.playing_clients().map(|(client, _)| transport.say(client, &line)).count()
    }

    /// The balance is another: everyone is told what they were told of it, and then, as ever, what has changed by it.
    pub(crate) fn rebalanced(&mut self, transport: &mut Transport, welcome: Welcome) {
        for (&client, session) in &mut self.sessions {
            if let Stage::Playing(playing) = &mut session.stage {
                let welcome = Welcome { pilot: playing.pilot.0, ..welcome.clone() };
                transport.say(client, &ToClient::Rebalanced(welcome));
                playing.known.look_again();
            }
        }
        self.welcome = welcome;
    }

    /// Says goodbye to everyone.
    pub(crate) fn part(&mut self, transport: &mut Transport) {
        for &client in self.sessions.keys() {
            transport.say_last(client, &ToClient::Refused { reason: "The server is stopping.".to_owned() });
        }
    }
}
