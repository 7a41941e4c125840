//! Logins: a name and a password over HTTP for a token that connects.

mod checks;
mod limit;
mod tickets;
mod tries;

pub(crate) use tickets::{STALE, Tickets};

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bevy_log::{debug, info};
use keel_protocol::check_name;
use serde::{Deserialize, Serialize};

use crate::accounts::{Accounts, Ban, check_password};
use crate::admission::Admission;
use crate::boundary::LastNet;
use crate::clock::utc;
use crate::http::{Caller, Limits, Listener, Peer, Proxies, Tls};
use crate::networks::network;
use crate::presence::Presence;
use crate::roster::folded;
use crate::{Board, StartError};
use checks::{CheckError, Checks, Verdict};
use tickets::Ungiven;
use tries::{TooOften, Tries};

/// Bytes of a login, and how long one may wait for its turn.
const BODY_BYTES: usize = 4096;
const REQUEST: Duration = Duration::from_secs(15);

/// Threads that prove passwords: one, and on a machine with cores to spare two.
const CORES_TO_SPARE: usize = 4;

/// How logins are taken.
#[derive(Clone, Debug)]
pub struct LoginConfig {
    /// The directory of `accounts.sqlite` and `connect.key`; made if it is not there.
    pub data: PathBuf,
    /// Where they are taken.
    pub bind: SocketAddr,
    /// By what certificate they are encrypted. Without, only this machine and the proxies may log in.
    pub tls: Option<Tls>,
    /// The proxies before it, which say for whom they ask.
    pub proxies: Proxies,
    /// Under which address pilots reach the server, if not the one where it listens.
    pub public: Option<SocketAddr>,
    /// How long a login is good for: one connection within it, from 1 to 300 seconds.
    pub life: Duration,
}

/// How long a login is good for, unless the configuration says otherwise.
pub const LOGIN_LIFE: Duration = Duration::from_secs(30);

/// What became of logins, by numbers that only grow.
#[derive(Debug, Default)]
pub struct LoginCounts {
    accepted: AtomicU64,
    refused: [AtomicU64; LoginRefusal::ALL.len()],
}

/// Why a login is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginRefusal {
    /// It is no login.
    Malformed,
    /// It came neither encrypted nor from this machine nor through a proxy.
    Unencrypted,
    /// No such name, or another password.
    Wrong,
    /// The account is banned.
    Banned,
    /// Too many from one address.
    Address,
    /// Too many for one account.
    Account,
    /// Too many wait for their turn.
    Busy,
    /// Nobody new is let in.
    Closed,
    /// As many play as can.
    Full,
    /// The accounts cannot be read.
    Failed,
    /// A connection showed a token that was used, is too old, or was for this server before it restarted.
    Stale,
}

impl LoginRefusal {
    /// All of them, in their order.
    pub const ALL: [Self; 11] = [
        Self::Malformed,
        Self::Unencrypted,
        Self::Wrong,
        Self::Banned,
        Self::Address,
        Self::Account,
        Self::Busy,
        Self::Closed,
        Self::Full,
        Self::Failed,
        Self::Stale,
    ];

    /// Its name in figures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Unencrypted => "unencrypted",
            Self::Wrong => "wrong",
            Self::Banned => "banned",
            Self::Address => "address",
            Self::Account => "account",
            Self::Busy => "busy",
            Self::Closed => "closed",
            Self::Full => "full",
            Self::Failed => "failed",
            Self::Stale => "stale",
        }
    }
}

impl LoginCounts {
    /// Logins that were given a token.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Logins, and connections by one, that were refused for a reason.
    #[must_use]
    pub fn refused(&self, why: LoginRefusal) -> u64 {
        self.refused[why as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self, why: LoginRefusal) {
        self.refused[why as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// What logins look at of the server.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) admission: Arc<Admission>,
    pub(crate) presence: Arc<Presence>,
    pub(crate) board: Arc<Board>,
    pub(crate) counts: Arc<LoginCounts>,
}

impl About {
    /// Why an account is not let in, whoever it is that has its password.
    fn refuses(&self, name: &str) -> Option<Refusal> {
        let why = if let Some(reason) = self.admission.closed().filter(|_| !self.presence.is_in(name)) {
            Refusal::new(LoginRefusal::Closed, reason)
        } else if self.board.is_full() && !self.presence.plays(name) {
            Refusal::new(LoginRefusal::Full, self.board.full())
        } else {
            return None;
        };
        Some(why.after(Duration::from_secs(10)))
    }
}

/// Takes logins.
pub(crate) struct Logins {
    bind: SocketAddr,
    tls: Option<Tls>,
    proxies: Proxies,
    pub(crate) tickets: Arc<Tickets>,
    about: About,
    checks: Checks,
    tries: Mutex<Tries>,
}

impl fmt::Debug for Logins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logins").field("bind", &self.bind).finish_non_exhaustive()
    }
}

impl Logins {
    /// Opens the accounts and starts the threads that prove passwords.
    pub(crate) fn start(
        config: &LoginConfig,
        tickets: Arc<Tickets>,
        about: About,
        net: &LastNet,
    ) -> Result<Self, StartError> {
        if !config.bind.ip().is_loopback() && config.tls.is_none() && config.proxies.is_empty() {
            return Err(StartError::OpenLogins(config.bind));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = 1 + usize::from(cores >= CORES_TO_SPARE);
        let checks = Checks::start(&config.data, threads, net).map_err(|error| match error {
            CheckError::Accounts(error) => StartError::Accounts(error),
            CheckError::Thread(error) => StartError::Thread(error),
        })?;
        let seen = Accounts::open(&config.data).and_then(|accounts| accounts.seen()).map_err(StartError::Accounts)?;
        let tries = Mutex::new(Tries::new(seen));
        let LoginConfig { bind, tls, proxies, .. } = config.clone();
        Ok(Self { bind, tls, proxies, tickets, about, checks, tries })
    }

    /// What listens for logins.
    pub(crate) fn listener(self: &Arc<Self>) -> Listener {
        let router = Router::new().route("/login", post(login)).with_state(Arc::clone(self));
        let limits = Limits { body_bytes: BODY_BYTES, request: REQUEST, ..Limits::default() };
        let (tls, proxies) = (self.tls.clone(), self.proxies.clone());
        Listener { tls, proxies, limits, ..Listener::new(self.bind, router) }
    }

    /// Whoever panicked has left counts at worst.
    fn tries(&self) -> MutexGuard<'_, Tries> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a try of an account from a network out of both their budgets; whether it has logged in from there before.
    fn budget(&self, from: IpAddr, account: &str) -> Result<bool, Refusal> {
        self.tries().take(from, account, self.tickets.now()).map_err(|often| match often {
            TooOften::Address(wait) => {
                let text = "Too many logins from your address. Wait before you try again.";
                Refusal::new(LoginRefusal::Address, text).after(wait)
            }
            TooOften::Account(wait) => {
                let text = "Too many wrong passwords for this name. Wait before you try again.";
                Refusal::new(LoginRefusal::Account, text).after(wait)
            }
        })
    }

    async fn login(
        &self,
        peer: IpAddr,
        caller: IpAddr,
        asked: Result<Json<Asked>, JsonRejection>,
    ) -> Result<Given, Refusal> {
        if self.tls.is_none() && !peer.is_loopback() && !self.proxies.trust(peer) {
            return Err(Refusal::new(LoginRefusal::Unencrypted, "Log in with https."));
        }
        let malformed = |reason: String| Refusal::new(LoginRefusal::Malformed, reason);
        let Json(Asked { name, password }) = asked.map_err(|error| malformed(error.body_text()))?;
        check_name(&name).map_err(|error| malformed(error.to_string()))?;
        let wrong = || Refusal::new(LoginRefusal::Wrong, "No account has that name and that password.");
        let (from, account) = (network(caller), folded(&name));
        let is_known = self.budget(from, &account)?;
        // No account has one like that, whatever its name.
        check_password(&password).map_err(|_| wrong())?;
        let busy = |text| Refusal::new(LoginRefusal::Busy, text).after(Duration::from_secs(2));
        let revoked = self.tickets.revoked();
        let verdict = self.checks.ask(name.clone(), password, (!is_known).then_some(from));
        let verdict = verdict.ok_or_else(|| busy("Too many log in at once. Try again."))?.await;
        let account_of = match verdict {
            Ok(Verdict::Right(account)) => account,
            Ok(Verdict::Wrong) => {
                info!(%caller, name, "a login with a wrong name or password");
                return Err(wrong());
            }
            Ok(Verdict::Failed) | Err(_) => {
                let text = "The server cannot read its accounts now.";
                return Err(Refusal::new(LoginRefusal::Failed, text).after(Duration::from_secs(10)));
            }
        };
        self.tries().give_back(from, account, is_known);
        if let Some(ban) = account_of.ban {
            return Err(Refusal::new(LoginRefusal::Banned, banned(&ban)));
        }
        // Only whoever has the password is told who is in.
        if let Some(refusal) = self.about.refuses(&account_of.name) {
            return Err(refusal);
        }
        let token = self.tickets.give(&account_of.name, revoked).map_err(|why| match why {
            Ungiven::TooMany => busy("Too many log in at once. Try again."),
            Ungiven::Banned => busy("An account was banned while you logged in. Try again."),
        })?;
        info!(%caller, name = account_of.name, "logged in");
        self.about.counts.accepted.fetch_add(1, Ordering::Relaxed);
        Ok(Given {
            name: account_of.name,
            token: BASE64_STANDARD.encode(token),
            server: self.tickets.server(),
            expires_in: self.tickets.life().as_secs(),
        })
    }
}

/// What whoever logs in sends.
#[derive(Deserialize)]
struct Asked {
    name: String,
    password: String,
}

/// What they are given.
#[derive(Serialize)]
struct Given {
    name: String,
    token: String,
    server: SocketAddr,
    expires_in: u64,
}

/// Why they are not, and when to try again.
struct Refusal {
    why: LoginRefusal,
    text: String,
    after: Option<Duration>,
}

impl Refusal {
    fn new(why: LoginRefusal, text: impl Into<String>) -> Self {
        Self { why, text: text.into(), after: None }
    }

    fn after(self, wait: Duration) -> Self {
        Self { after: Some(wait), ..self }
    }
}

/// What a pilot who is banned is told.
pub(crate) fn banned(ban: &Ban) -> String {
    let end = match ban.until {
        None => "for good".to_owned(),
        Some(until) => {
            let minutes = until.saturating_sub(utc()).div_ceil(60);
            let (days, hours) = (minutes / 1440, minutes % 1440 / 60);
            match (days, hours) {
                (0, 0) => format!("for another {minutes} min"),
                (0, hours) => format!("for another {hours} h {} min", minutes % 60),
                (days, hours) => format!("for another {days} d {hours} h"),
            }
        }
    };
    let why = if ban.why.is_empty() { "" } else { ": " };
    format!("This account is banned {end}{why}{}", ban.why)
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self.why {
            LoginRefusal::Malformed => StatusCode::BAD_REQUEST,
            LoginRefusal::Wrong | LoginRefusal::Stale => StatusCode::UNAUTHORIZED,
            LoginRefusal::Banned | LoginRefusal::Unencrypted => StatusCode::FORBIDDEN,
            LoginRefusal::Address | LoginRefusal::Account => StatusCode::TOO_MANY_REQUESTS,
            LoginRefusal::Busy | LoginRefusal::Closed | LoginRefusal::Full | LoginRefusal::Failed => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        let body = Json(serde_json::json!({ "error": self.text }));
        let wait = self.after.map(|wait| [(header::RETRY_AFTER, wait.as_secs_f32().ceil().max(1.0).to_string())]);
        (
            status,
            wait.map(IntoResponse::into_response).map(|response| response.headers().clone()).unwrap_or_default(),
            body,
        )
            .into_response()
    }
}

async fn login(
    State(logins): State<Arc<Logins>>,
    Extension(Peer(peer)): Extension<Peer>,
    Extension(Caller(caller)): Extension<Caller>,
    asked: Result<Json<Asked>, JsonRejection>,
) -> Response {
    match logins.login(peer, caller, asked).await {
        // A token is a secret, so nobody between is to keep it.
        Ok(given) => ([(header::CACHE_CONTROL, "no-store")], Json(given)).into_response(),
        Err(refusal) => {
            debug!(%caller, why = refusal.why.name(), "refused a login");
            logins.about.counts.count(refusal.why);
            refusal.into_response()
        }
    }
}
