//! The dedicated server: a socket, sessions, replication and the loop that keeps time around a [`keel_sim`] world.
//!
//! Nothing else knows the server side of the transport. Per poll the loop takes a bounded amount from the socket, runs at
//! most one step, and sends; nothing that a client does can make it do more.

pub mod accounts;
mod admission;
mod boundary;
mod bucket;
mod causes;
mod clock;
mod console;
mod convert;
mod data;
mod gauges;
mod health;
pub mod http;
mod keeper;
mod key;
mod known;
mod logins;
mod metrics;
mod networks;
mod pace;
mod presence;
mod reload;
mod replication;
mod roster;
pub mod saves;
mod session;
mod socket;
mod stages;
mod status;
mod transport;
mod watchdog;
mod world;

pub use admission::{Admission, Bar};
pub use clock::{Clock, SystemClock};
pub use console::{
    Console, Denial, Office, Outcome, Overview, Player, Reply, Request, Token, TokenError, admin_routes,
    telemetry_routes,
};
pub use data::make_data_directory;
pub use gauges::{Figures, Gauges, Quantiles};
pub use health::{Health, Life};
pub use keeper::{LoadError, SAVE_EVERY, SaveConfig, read_row};
pub use key::{ConnectKey, KeyError};
pub use logins::{LOGIN_LIFE, LoginConfig, LoginCounts, LoginRefusal};
pub use metrics::Metrics;
pub use pace::Pace;
pub use reload::{BalanceFile, ReloadError, Reloader};
pub use replication::{Nonsense, Replication, Sight, Viewer};
pub use status::Board;
pub use transport::Wire;
pub use watchdog::{Vital, Watchdog};

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bevy_log::{info, warn};
use keel_balance::Balance;
use keel_rules::STEP;
use keel_sim::PilotId;
use thiserror::Error;

use boundary::LastNet;
use console::Desk;
use keeper::Keeper;
use logins::{About, Logins, Tickets};
use metrics::Look;
use presence::Presence;
use reload::Reloads;
use session::{Doors, Sessions};
use socket::Socket;
use transport::Transport;
use world::World;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it is called in lists of servers.
    pub name: String,
    /// Where it listens.
    pub bind: SocketAddr,
    /// Who may connect.
    pub access: Access,
    /// Every number.
    pub balance: Arc<Balance>,
    /// The layer where new pilots come into the world, 1 to 6.
    pub layer: u8,
    /// What every chance follows from.
    pub seed: u64,
    /// Pilots connected at once: 992 at most.
    pub max_clients: u16,
    /// Threads that a step may use.
    pub threads: usize,
    /// The most bytes of snapshots that a client is sent in a step; never less than one packet's.
    pub snapshot_bytes: usize,
    /// Whether any pilot may give an operator's orders: force a storm, an incursion, a wormhole.
    pub operator_ops: bool,
    /// What storms take the start for, in seconds since 1970, UTC; `None` where they go by the machine's clock.
    pub storm_clock: Option<u64>,
    /// How the world is kept; `None` for one that ends with its server.
    pub save: Option<SaveConfig>,
}

/// Who may connect to a server.
#[derive(Clone, Debug)]
pub enum Access {
    /// Whoever asks, under any name. Traffic is as good as not encrypted, so it is for this machine alone.
    Unsecured,
    /// Pilots with an account, by the token that a login gives them.
    Accounts(LoginConfig),
}

impl Config {
    /// A small server for this machine alone, on a port that the system chooses: it takes whoever asks and keeps nothing. No
    /// storm comes for most of an hour, whatever the time of the day.
    #[must_use]
    pub fn local(balance: Arc<Balance>) -> Self {
        Self {
            name: "Keel".to_owned(),
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            access: Access::Unsecured,
            balance,
            layer: 1,
            seed: 1,
            max_clients: 16,
            threads: 1,
            snapshot_bytes: SNAPSHOT_BYTES,
            operator_ops: false,
            storm_clock: Some(0),
            save: None,
        }
    }

    fn check(&self) -> Result<(), StartError> {
        if !(1..=6).contains(&self.layer) {
            return Err(StartError::Layer(self.layer));
        }
        Ok(keel_sim::check_fits(&self.balance)?)
    }
}

/// Why a server does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The address cannot be had.
    #[error("cannot listen on {address}")]
    Bind {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// The address is open to others, and names would not be proven.
    #[error("{0} is open to other machines, and an unsecured server is for this one alone")]
    Open(SocketAddr),
    /// Passwords would be sent so that others can read them.
    #[error("{0} is open to other machines: logins there need a certificate, or a trusted proxy before them")]
    OpenLogins(SocketAddr),
    /// A login would be good for no time, or far too long.
    #[error("a login is good for 1 to {most} seconds, not {asked}", most = MOST_LOGIN_LIFE.as_secs(), asked = .0.as_secs())]
    LoginLife(Duration),
    /// The data directory cannot be made.
    #[error("cannot make the directory {path}", path = path.display())]
    Data {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no key to seal tokens with.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The save makes no world.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The accounts cannot be used.
    #[error(transparent)]
    Accounts(accounts::AccountError),
    /// The system gives no thread.
    #[error("cannot start a thread")]
    Thread(#[source] std::io::Error),
    /// More clients than the transport can hold.
    #[error("a server holds from 1 to {most} pilots at once, not {asked}")]
    MaxClients {
        /// What was asked for.
        asked: u16,
        /// What it can hold.
        most: u16,
    },
    /// There is no such layer.
    #[error("there is no layer {0}: layers are 1 to 6")]
    Layer(u8),
    /// Fits of the balance make no ships.
    #[error("{0}")]
    Fits(#[from] keel_sim::UnfitError),
}

/// Bytes of snapshots that a client is sent in a step at most, unless the configuration says otherwise: four packets.
pub const SNAPSHOT_BYTES: usize = 4 * keel_protocol::MAX_SNAPSHOT;

/// More datagrams than this in a poll are a burst: the next poll comes soon.
const MANY: usize = 16;
const SHORT_REST: Duration = Duration::from_millis(2);

/// The longest that a login is good for.
const MOST_LOGIN_LIFE: Duration = Duration::from_secs(300);

/// The file of the key in the data directory.
const KEY_FILE: &str = "connect.key";

/// How often the log says that the world runs slower.
const WARN_EVERY: Duration = Duration::from_secs(5);

/// Steps from one look at what there is and what gets lost to the next: a second.
const LOOK_EVERY: u64 = keel_rules::STEPS_PER_SECOND as u64;

/// The key of a data directory, which is made with it at the first start.
fn key(config: &LoginConfig) -> Result<ConnectKey, StartError> {
    if !(Duration::from_secs(1)..=MOST_LOGIN_LIFE).contains(&config.life) {
        return Err(StartError::LoginLife(config.life));
    }
    let path = &config.data;
    make_data_directory(path).map_err(|source| StartError::Data { path: path.clone(), source })?;
    Ok(ConnectKey::open(&path.join(KEY_FILE))?)
}

/// A server that listens.
pub struct Server {
    transport: Transport,
    sessions: Sessions,
    world: World,
    pace: Pace,
    clock: Box<dyn Clock>,
    start: Duration,
    /// What every step does besides.
    burden: Option<Box<dyn FnMut()>>,
    /// Time by which the world had fallen behind when the log last said so, and when that was.
    warned: (Duration, Duration),
    /// Time by which the world had fallen behind when that was last counted.
    slipped: Duration,
    gauges: Arc<Gauges>,
    logins: Option<Arc<Logins>>,
    login_counts: Arc<LoginCounts>,
    keeper: Option<Keeper>,
    /// The step with which it began.
    begun: u64,
    reloads: Reloads,
    metrics: Arc<Metrics>,
    health: Arc<Health>,
    admission: Arc<Admission>,
    board: Arc<Board>,
    console: Console,
    desk: Desk,
    operator_ops: bool,
}

/// What other threads may hold of a server: to look at it, and to ask it for something.
#[derive(Clone, Debug)]
pub struct Handle {
    /// What it does, in numbers.
    pub metrics: Arc<Metrics>,
    /// Whether it is well.
    pub health: Arc<Health>,
    /// Whether who comes is let in.
    pub admission: Arc<Admission>,
    /// What anyone may know of it.
    pub board: Arc<Board>,
    /// The way to its loop.
    pub console: Console,
}

/// What a server has done when it stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Steps run.
    pub steps: u64,
    /// Time by which the world fell behind the clock because steps took too long.
    pub slipped: Duration,
    /// What became of the save; `None` where there is none.
    pub saved: Option<saves::Finished>,
}

impl Server {
    /// Starts to listen, with a world before its first step.
    ///
    /// # Errors
    /// When the configuration asks for what cannot be had.
    pub fn start(config: &Config) -> Result<Self, StartError> {
        Self::with(config, Transport::bind, Box::new(SystemClock::start(config.storm_clock)))
    }

    /// Starts with a way for datagrams and clocks that are given, with a world before its first step. [`turn`](Self::turn) goes on
    /// with it.
    ///
    /// # Errors
    /// When the configuration asks for what cannot be had.
    pub fn start_on(config: &Config, wire: Box<dyn Wire>, clock: Box<dyn Clock>) -> Result<Self, StartError> {
        Self::with(config, |_, _| Ok(wire), clock)
    }

    fn with(
        config: &Config,
        wire: impl FnOnce(&Config, Option<&ConnectKey>) -> Result<Box<dyn Wire>, StartError>,
        clock: Box<dyn Clock>,
    ) -> Result<Self, StartError> {
        config.check()?;
        let start = clock.now();
        let key = match &config.access {
            Access::Unsecured => None,
            Access::Accounts(logins) => Some(key(logins)?),
        };
        let (admission, login_counts) = (Arc::new(Admission::default()), Arc::new(LoginCounts::default()));
        let net = LastNet::default();
        let metrics = Arc::new(Metrics::new(config.max_clients, Arc::clone(&login_counts), &net));
        let health = Arc::new(Health::new(Arc::clone(&admission)));
        let board = Arc::new(Board::new(&config.name, config.max_clients));
        let presence = Arc::new(Presence::default());
        let wire = Socket::new(wire(config, key.as_ref())?, Arc::clone(&metrics), Arc::clone(&board));
        let transport = Transport::on(config, key.as_ref(), Box::new(wire), net.clone())?;
        let (mut logins, mut tickets) = (None, None);
        if let (Access::Accounts(config), Some(key)) = (&config.access, key) {
            // Tokens are sealed by the time by which the transport opens them.
            let given = Arc::new(Tickets::new(key, transport.public(), config.life, transport.time()));
            let about = About {
                admission: Arc::clone(&admission),
                presence: Arc::clone(&presence),
                board: Arc::clone(&board),
                counts: Arc::clone(&login_counts),
            };
            logins = Some(Arc::new(Logins::start(config, Arc::clone(&given), about, &net)?));
            tickets = Some(given);
        }
        let mut world = World::new(config, Arc::clone(&health));
        let now = clock.now().saturating_sub(start);
        let open = |save| Keeper::open(config, save, &admission, &mut world, now);
        let keeper = config.save.as_ref().map(open).transpose()?;
        if let Some(keeper) = &keeper {
            metrics.watch_save(keeper.status());
        }
        let doors = Doors {
            tickets,
            admission: Arc::clone(&admission),
            presence,
            board: Arc::clone(&board),
            login_counts: Arc::clone(&login_counts),
            metrics: Arc::clone(&metrics),
            net,
        };
        let sessions = Sessions::new(&world, config, doors);
        let pace = Pace::new(Duration::from_micros(STEP.get().into()));
        let (console, desk) = Desk::new();
        let begun = world.now();
        let reloads = Reloads::new(Arc::clone(&metrics));
        Ok(Self {
            transport,
            sessions,
            world,
            pace,
            clock,
            start,
            burden: None,
            warned: Default::default(),
            slipped: Duration::ZERO,
            gauges: Arc::new(Gauges::new()),
            logins,
            login_counts,
            metrics,
            health,
            admission,
            board,
            console,
            desk,
            operator_ops: config.operator_ops,
            keeper,
            begun,
            reloads,
        })
    }

    /// Has every step do something more, such as to take long: to see what becomes of a server that is overloaded.
    pub fn burden(&mut self, work: impl FnMut() + 'static) {
        self.burden = Some(Box::new(work));
    }

    /// The last step that ran.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.world.now()
    }

    /// Time since the start. It never goes back.
    fn now(&self) -> Duration {
        self.clock.now().saturating_sub(self.start)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.transport.address()
    }

    /// What a pilot sees after the last step, by the pilot's number: what their client is to have in the end.
    #[must_use]
    pub fn sight(&self, pilot: u32) -> Option<Sight> {
        self.world.sight(PilotId(pilot))
    }

    /// What its steps cost, to be read while it runs.
    #[must_use]
    pub fn gauges(&self) -> Arc<Gauges> {
        Arc::clone(&self.gauges)
    }

    /// What other threads may hold of it.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            metrics: Arc::clone(&self.metrics),
            health: Arc::clone(&self.health),
            admission: Arc::clone(&self.admission),
            board: Arc::clone(&self.board),
            console: self.console.clone(),
        }
    }

    /// What takes logins, to be started by [`http::Http`]; `None` for a server that takes whoever asks.
    #[must_use]
    pub fn login_listener(&self) -> Option<http::Listener> {
        self.logins.as_ref().map(Logins::listener)
    }

    /// What became of logins, to be read while it runs.
    #[must_use]
    pub fn login_counts(&self) -> Arc<LoginCounts> {
        Arc::clone(&self.login_counts)
    }

    /// What has it go by another balance while it runs.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        self.reloads.reloader()
    }

    /// Has it go by another balance from the next step on, and tells everyone; see [`keel_sim::rebalance`].
    ///
    /// # Errors
    /// When its world cannot go by it. Nothing has changed then.
    pub fn reload(&mut self, balance: &Arc<Balance>) -> Result<(), keel_sim::RebalanceError> {
        if self.world.rebalance(balance)? {
            self.sessions.rebalanced(&mut self.transport, self.world.welcome());
        }
        Ok(())
    }

    /// One turn: takes what has arrived, runs a step if one is due, and sends. How long the next turn may wait.
    pub fn turn(&mut self) -> Duration {
        let taken = self.transport.receive(self.now());
        self.sessions.listen(&mut self.transport, &mut self.world);
        self.attend();
        let is_step = self.pace.is_due(self.now());
        if is_step {
            self.step();
        } else {
            self.transport.send(false);
        }
        let (slipped, now) = (self.pace.slipped(), self.now());
        if slipped > self.warned.0 && now > self.warned.1 + WARN_EVERY {
            self.warned = (slipped, now);
            let pace = self.pace.percent();
            warn!(behind = ?slipped, pace, "steps came late or took too long; the world runs slower");
        }
        let rest = self.pace.rest(self.now());
        // All answer a step at once, and a socket holds only so much.
        if is_step || taken > MANY { rest.min(SHORT_REST) } else { rest }
    }

    /// Runs until `stop` is set, or an operator's stop is due, then says goodbye to everyone.
    pub fn run(mut self, stop: &AtomicBool) -> Report {
        while !stop.load(Ordering::Relaxed) && !self.desk.is_over(self.now()) {
            let rest = self.turn();
            std::thread::sleep(rest);
        }
        info!("stopping");
        self.health.stop();
        self.sessions.part(&mut self.transport);
        self.transport.send(true);
        self.transport.close();
        let now = self.now();
        let saved = self.keeper.take().map(|keeper| keeper.finish(&mut self.world, now));
        Report { steps: self.world.now() - self.begun, slipped: self.pace.slipped(), saved }
    }

    /// Runs a step, and tells and sends everyone what it did.
    fn step(&mut self) {
        if self.desk.hangs() {
            console::hang();
        }
        if let Some((balance, answer)) = self.reloads.next() {
            answer(self.reload(&balance));
        }
        let begun = Instant::now();
        let orders = self.world.waiting();
        self.world.step(self.clock.utc());
        if let Some(work) = &mut self.burden {
            work();
        }
        let sim = begun.elapsed();
        self.world.stages().enter(stages::TELLING);
        self.desk.answer(self.world.operated());
        self.sessions.tell(&mut self.transport, &mut self.world, self.pace.percent());
        self.world.stages().enter(stages::SENDING);
        self.transport.send(true);
        self.world.stages().enter(stages::KEEPING);
        let now = self.now();
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(&mut self.world, now);
        }
        self.world.stages().end();
        let whole = begun.elapsed();
        self.gauges.count(sim, whole, self.pace.percent());
        self.metrics.count_step(self.world.stages().took(), whole);
        self.board.set(self.sessions.playing(), self.pace.percent());
        if self.world.now().is_multiple_of(LOOK_EVERY) {
            self.look(orders);
        }
        self.health.step();
    }

    /// Looks at what there is.
    fn look(&mut self, orders: usize) {
        self.sessions.look(&self.world);
        let lost = self.transport.lost();
        self.gauges.count_lost(lost);
        self.metrics.see(&Look {
            census: self.world.census(),
            connections: self.transport.clients().len(),
            players: self.sessions.playing(),
            pace: self.pace.percent(),
            // A sum of nothing is a negative zero.
            lost: lost + 0.0,
            orders,
            unacknowledged: self.transport.unacknowledged(),
        });
        let slipped = self.pace.slipped();
        self.metrics.count_slip(slipped.saturating_sub(std::mem::replace(&mut self.slipped, slipped)));
    }
}
