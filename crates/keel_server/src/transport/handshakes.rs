//! Those who ask for a connection and do not have one yet.
//!
//! netcode keeps them until their token expires, and whoever makes tokens says when that is; when it has so many, nobody
//! comes in any more. Here they are counted: who does not answer the challenge in time makes room, and so do the oldest
//! when there are too many. How often a host may ask is bounded, and how often all may.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::bucket::Bucket;
use crate::networks::network;

/// How long one may take to answer the challenge.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most that wait; netcode holds four times as many.
const MOST_PENDING: usize = 1024;

/// Requests a second of one host, and of all. A client sends four until it is in; each costs some ten microseconds.
const PER_HOST: (f32, f32) = (2_000.0, 2_000.0);
const OF_ALL: (f32, f32) = (10_000.0, 10_000.0);

/// Hosts of which it is remembered how often they asked.
const MOST_HOSTS: usize = 4096;

#[derive(Debug)]
pub(super) struct Handshakes {
    pending: BTreeMap<SocketAddr, Duration>,
    oldest: BTreeSet<(Duration, SocketAddr)>,
    /// By the network of each.
    hosts: BTreeMap<IpAddr, Bucket>,
    all: Bucket,
}

impl Handshakes {
    pub(super) const fn new() -> Self {
        Self {
            pending: BTreeMap::new(),
            oldest: BTreeSet::new(),
            hosts: BTreeMap::new(),
            all: Bucket::full(OF_ALL.0, OF_ALL.1, Duration::ZERO),
        }
    }

    /// Whether a request is looked at.
    pub(super) fn admits(&mut self, from: SocketAddr, now: Duration) -> bool {
        if self.hosts.len() >= MOST_HOSTS {
            self.hosts.retain(|_, bucket| {
                bucket.fill(now);
                !bucket.is_full()
            });
            if self.hosts.len() >= MOST_HOSTS {
                self.hosts.clear();
            }
        }
        let host = self.hosts.entry(network(from.ip())).or_insert(Bucket::full(PER_HOST.0, PER_HOST.1, now));
        host.fill(now);
        self.all.fill(now);
        host.take(1.0) && self.all.take(1.0)
    }

    /// Whether an address has been sent a challenge.
    pub(super) fn is_pending(&self, from: SocketAddr) -> bool {
        self.pending.contains_key(&from)
    }

    /// An address was sent a challenge.
    pub(super) fn challenged(&mut self, to: SocketAddr, now: Duration) {
        // One who asks again has waited since the first time.
        let since = *self.pending.entry(to).or_insert(now);
        self.oldest.insert((since, to));
    }

    /// An address is connected, or given up.
    pub(super) fn over(&mut self, with: SocketAddr) {
        if let Some(since) = self.pending.remove(&with) {
            self.oldest.remove(&(since, with));
        }
    }

    /// One that has to make room, if there is one.
    pub(super) fn overdue(&mut self, now: Duration) -> Option<SocketAddr> {
        let &(since, address) = self.oldest.first()?;
        let is_overdue = self.pending.len() > MOST_PENDING || now.saturating_sub(since) > PATIENCE;
        is_overdue.then(|| {
            self.over(address);
            address
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(host: u32, port: u16) -> SocketAddr {
        SocketAddr::new(IpAddr::V4(host.into()), port)
    }

    #[test]
    fn whoever_asks_too_often_is_not_heard_and_others_are() {
        let mut handshakes = Handshakes::new();
        let mut heard = [0; 2];
        for ms in 0..5_000 {
            let now = Duration::from_millis(ms);
            for n in 0..20 {
                heard[0] += u32::from(handshakes.admits(at(1, n), now));
            }
            heard[1] += u32::from(ms % 250 == 0 && handshakes.admits(at(2, 9), now));
        }
        assert!((11_900..=12_010).contains(&heard[0]), "{heard:?}");
        assert_eq!(heard[1], 20);
        // From ever other hosts: no more of all together, and no more is remembered.
        let mut heard = 0;
        for host in 0..200_000 {
            heard += u32::from(handshakes.admits(at(host, 1), Duration::from_secs(60)));
        }
        assert!(heard <= 10_000 && handshakes.hosts.len() <= MOST_HOSTS, "{heard}");
    }

    #[test]
    fn who_does_not_answer_makes_room_the_oldest_first() {
        let mut handshakes = Handshakes::new();
        for n in 0..MOST_PENDING as u32 + 10 {
            handshakes.challenged(at(n, 1), Duration::from_millis(n.into()));
        }
        let mut gone = Vec::new();
        while let Some(address) = handshakes.overdue(Duration::from_secs(2)) {
            gone.push(address);
        }
        assert_eq!(gone, (0..10).map(|n| at(n, 1)).collect::<Vec<_>>());
        handshakes.over(at(10, 1));
        assert!(!handshakes.is_pending(at(10, 1)) && handshakes.is_pending(at(11, 1)));
        while handshakes.overdue(Duration::from_secs(20)).is_some() {}
        assert!(handshakes.pending.is_empty() && handshakes.oldest.is_empty());
    }
}
