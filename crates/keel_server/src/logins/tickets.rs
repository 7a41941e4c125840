//! Connect tokens: what a login gives, and what a connection has to show for it.
//!
//! A token is sealed with the server's key, so it cannot be made by anyone else; it is for one connection, so that one which was
//! overheard is worth nothing; and its time is that of this process, so that no clock of any machine has to be right.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keel_protocol::NETCODE_ID;
use renetcode::{ConnectToken, NETCODE_USER_DATA_BYTES};

use crate::clock::NetworkTime;
use crate::key::ConnectKey;
use crate::roster::folded;
use crate::transport::ClientId;

/// The bytes of a netcode 1.02 connect token.
const TOKEN_BYTES: usize = 2048;

/// What renetcode writes before it that is not netcode's.
const NUMBER_BYTES: usize = 8;

/// Tokens that were given and not used.
const MOST_WAITING: usize = 4096;

/// Of those, of one account.
const MOST_OF_ONE: usize = 4;

/// After a token's time, how long its connection has to say hello.
const GREETING: Duration = Duration::from_secs(15);

/// Seconds without a word after which a connection is over.
const SILENCE_S: i32 = 15;

/// The layout of what a token says of its pilot.
const VERSION: u8 = 1;

/// Gives tokens and takes them back.
pub(crate) struct Tickets {
    key: ConnectKey,
    server: SocketAddr,
    life: Duration,
    /// The time by which the transport opens what is sealed here.
    time: NetworkTime,
    given: Mutex<Given>,
}

struct Given {
    /// The number of the last token, from anywhere on: each has its own, so each connection is its own to netcode, and of two the greater is of
    /// the later login.
    last: ClientId,
    waiting: BTreeMap<ClientId, Ticket>,
    /// How often an account's were taken back.
    revoked: u64,
}

struct Ticket {
    name: String,
    /// What accounts of that name are kept under.
    key: String,
    nonce: [u8; 16],
    until: Duration,
}

/// Why a connection's token is not taken, for its pilot.
pub(crate) const STALE: &str =
    "This login was used already, took too long to come, or was for this server before it restarted. Log in again.";

/// Why no token is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ungiven {
    /// There are as many as can be.
    TooMany,
    /// Some account was banned meanwhile, and it may be this one.
    Banned,
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tickets").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Tickets {
    /// Tokens for the server that pilots reach at an address, by the time of its transport. Each is good for `life`.
    pub(crate) fn new(key: ConnectKey, server: SocketAddr, life: Duration, time: NetworkTime) -> Self {
        // Not those of the process before, of whose tokens some may still connect: netcode takes a number once at a time.
        let mut last = [0; 8];
        let _ = getrandom::fill(&mut last);
        let given = Given { last: u64::from_ne_bytes(last) >> 1, waiting: BTreeMap::new(), revoked: 0 };
        Self { key, server, life, time, given: Mutex::new(given) }
    }

    pub(super) const fn server(&self) -> SocketAddr {
        self.server
    }

    pub(super) const fn life(&self) -> Duration {
        self.life
    }

    pub(super) fn now(&self) -> Duration {
        self.time.get()
    }

    /// How often tokens were taken back so far. Who looks at this before an account, and then [gives](Self::give), gives nothing to one
    /// that was banned between the two.
    pub(super) fn revoked(&self) -> u64 {
        self.given().revoked
    }

    /// A token for a pilot, in netcode's layout, unless more were taken back than `revoked`.
    pub(super) fn give(&self, name: &str, revoked: u64) -> Result<Vec<u8>, Ungiven> {
        let now = self.now();
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce).map_err(|_| Ungiven::TooMany)?;
        let ticket = Ticket { name: name.to_owned(), key: folded(name), nonce, until: now + self.life + GREETING };
        let client = self.enter(ticket, now, revoked)?;
        // Without the lock, for which the loop would have to wait.
        let sealed = self.sealed(client, name, &nonce, now);
        if sealed.is_none() {
            self.given().waiting.remove(&client);
        }
        sealed.ok_or(Ungiven::TooMany)
    }

    /// Has a ticket wait for its connection, under the number that it gives it.
    fn enter(&self, ticket: Ticket, now: Duration, revoked: u64) -> Result<ClientId, Ungiven> {
        let mut given = self.given();
        if given.revoked != revoked {
            return Err(Ungiven::Banned);
        }
        given.waiting.retain(|_, ticket| ticket.until > now);
        let own: Vec<_> =
            given.waiting.iter().filter(|(_, other)| other.key == ticket.key).map(|(&client, _)| client).collect();
        if own.len() >= MOST_OF_ONE {
            given.waiting.remove(&own[0]);
        }
        if given.waiting.len() >= MOST_WAITING {
            return Err(Ungiven::TooMany);
        }
        given.last += 1;
        let client = given.last;
        given.waiting.insert(client, ticket);
        Ok(client)
    }

    /// The token of a ticket.
    fn sealed(&self, client: ClientId, name: &str, nonce: &[u8; 16], now: Duration) -> Option<Vec<u8>> {
        let data = written(nonce, name)?;
        let token = ConnectToken::generate(
            now,
            NETCODE_ID,
            self.life.as_secs(),
            client,
            SILENCE_S,
            vec![self.server],
            Some(&data),
            self.key.bytes(),
        );
        let mut bytes = Vec::with_capacity(NUMBER_BYTES + TOKEN_BYTES);
        token.ok()?.write(&mut bytes).ok()?;
        bytes.drain(..NUMBER_BYTES);
        bytes.resize(TOKEN_BYTES, 0);
        Some(bytes)
    }

    /// Whether a connection's token, by what it says, was given by this process, was not taken, and is not too late.
    pub(crate) fn waits(&self, client: ClientId, data: &[u8; NETCODE_USER_DATA_BYTES]) -> bool {
        self.given().find(client, data, self.now()).is_some()
    }

    /// The pilot of a connection, if its token [waits](Self::waits). It is taken then.
    pub(crate) fn take(&self, client: ClientId, data: &[u8; NETCODE_USER_DATA_BYTES]) -> Option<String> {
        let now = self.now();
        let mut given = self.given();
        given.find(client, data, now)?;
        given.waiting.remove(&client).map(|ticket| ticket.name)
    }

    /// Takes back what an account was given: it was banned since.
    pub(crate) fn revoke(&self, name: &str) {
        let key = folded(name);
        let mut given = self.given();
        given.revoked += 1;
        given.waiting.retain(|_, ticket| ticket.key != key);
    }

    /// Whoever panicked has left a list that is whole.
    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Given {
    fn find(&self, client: ClientId, data: &[u8; NETCODE_USER_DATA_BYTES], now: Duration) -> Option<&Ticket> {
        let (nonce, name) = read(data)?;
        let is_it = |ticket: &&Ticket| ticket.until > now && ticket.nonce == nonce && ticket.name == name;
        self.waiting.get(&client).filter(is_it)
    }
}

/// What a token says of its pilot: the layout, what makes it one of its kind, and the name with its length before it.
fn written(nonce: &[u8; 16], name: &str) -> Option<[u8; NETCODE_USER_DATA_BYTES]> {
    let mut data = [0; NETCODE_USER_DATA_BYTES];
    data[0] = VERSION;
    data[1..17].copy_from_slice(nonce);
    data[17] = u8::try_from(name.len()).ok()?;
    data.get_mut(18..18 + name.len())?.copy_from_slice(name.as_bytes());
    Some(data)
}

fn read(data: &[u8; NETCODE_USER_DATA_BYTES]) -> Option<([u8; 16], &str)> {
    if data[0] != VERSION {
        return None;
    }
    let nonce = data[1..17].try_into().ok()?;
    let name = data.get(18..18 + usize::from(data[17]))?;
    Some((nonce, std::str::from_utf8(name).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tickets() -> Tickets {
        let folder = tempfile::tempdir().unwrap();
        let key = ConnectKey::open(&folder.path().join("connect.key")).unwrap();
        Tickets::new(key, "127.0.0.1:7777".parse().unwrap(), Duration::from_secs(30), NetworkTime::default())
    }

    /// What the server finds in the token that it gave last.
    fn data(tickets: &Tickets) -> (ClientId, [u8; NETCODE_USER_DATA_BYTES]) {
        let given = tickets.given();
        let ticket = &given.waiting[&given.last];
        (given.last, written(&ticket.nonce, &ticket.name).unwrap())
    }

    #[test]
    fn a_token_is_taken_once_under_its_number_and_as_it_was_given() {
        let tickets = tickets();
        assert_eq!(tickets.give("Ann", 0).unwrap().len(), 2048);
        let (client, good) = data(&tickets);
        for change in [0, 1, 16, 17, 18] {
            let mut changed = good;
            changed[change] ^= 1;
            assert_eq!(tickets.take(client, &changed), None, "byte {change}");
        }
        assert_eq!(tickets.take(client + 1, &good), None);
        assert_eq!(tickets.take(client, &[0xff; NETCODE_USER_DATA_BYTES]), None);
        assert!(tickets.waits(client, &good) && !tickets.waits(client + 1, &good));
        assert_eq!(tickets.take(client, &good).as_deref(), Some("Ann"));
        assert!(!tickets.waits(client, &good));
        assert_eq!(tickets.take(client, &good), None, "once");
    }

    #[test]
    fn a_token_is_no_good_after_a_restart_a_ban_or_its_time() {
        let (before, after) = (tickets(), tickets());
        before.give("ann", 0).unwrap();
        after.give("ann", 0).unwrap();
        let (client, old) = data(&before);
        let same_number = data(&after).0;
        assert_eq!(after.take(same_number, &old), None, "of another process, whatever its number");
        assert_eq!(after.take(client, &old), None);
        before.revoke("ANN");
        assert_eq!(before.take(client, &old), None);
        let (client, late) = data(&after);
        after.time.set(after.life + GREETING);
        assert!(!after.waits(client, &late));
        assert_eq!(after.take(client, &late), None);
    }

    #[test]
    fn who_was_looked_at_before_a_ban_is_given_nothing_after_it() {
        let tickets = tickets();
        let looked = tickets.revoked();
        tickets.revoke("ann");
        assert_eq!(tickets.give("ann", looked), Err(Ungiven::Banned));
        assert!(
            tickets.give("ann", tickets.revoked()).is_ok(),
            "whoever is not banned, or no longer, is looked at again"
        );
    }

    #[test]
    fn one_account_holds_few_and_all_hold_a_bound_of_tokens() {
        let tickets = tickets();
        for _ in 0..10 {
            tickets.give("ann", 0).unwrap();
        }
        assert_eq!(tickets.given().waiting.len(), MOST_OF_ONE);
        for pilot in MOST_OF_ONE..MOST_WAITING {
            tickets.give(&format!("p{pilot}"), 0).unwrap();
        }
        assert_eq!(tickets.give("bob", 0), Err(Ungiven::TooMany));
        tickets.revoke("p100");
        assert!(tickets.give("bob", 1).is_ok());
        tickets.revoke("p101");
        assert_eq!(tickets.give(&"x".repeat(300), 2), Err(Ungiven::TooMany));
        assert_eq!(tickets.given().waiting.len(), MOST_WAITING - 1, "what is not given does not wait");
    }
}
