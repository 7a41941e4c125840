//! What one client has sent and was sent, and what is wrong with it.

use std::net::SocketAddr;
use std::time::Duration;

use thiserror::Error;

use super::datagram::Kind;
use super::payload::{Course, Sane};
use crate::bucket::Bucket;

/// Payloads a second that a client may send for long, and at once. One of ours sends an acknowledgement for each packet of a
/// snapshot, and an order now and then: under a hundred and fifty.
const PAYLOADS: (f32, f32) = (400.0, 600.0);

/// Payloads over that after which a client is put out, and how many a second are forgiven.
const EXCESS: (f32, f32) = (100.0, 4_000.0);

/// Datagrams that only say that a client is there, four a second, or that it goes.
const KEEP_ALIVES: (f32, f32) = (10.0, 20.0);

/// How long an ordered message may wait for one before it.
const MOST_GAP: Duration = Duration::from_secs(8);

/// How long nothing of what must arrive may be acknowledged while some of it waits.
const MOST_STUCK: Duration = Duration::from_secs(8);

/// The share of packets that may get lost, and how long more may.
const MOST_LOST: f64 = 0.98;
const MOST_DEAF: Duration = Duration::from_secs(3);

/// Lossy messages that wait to be taken: they are taken in the same poll.
const MOST_LOSSY: u32 = 256;

/// Why a client is put out by the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Fault {
    /// No client of ours sends such a payload.
    #[error("Your client sends what no client of this server does.")]
    Nonsense,
    /// More payloads than the server takes.
    #[error("Your client sends far too much.")]
    Flood,
    /// Messages that wait for one that does not come.
    #[error("Your client begins what it does not end: a message is missing for too long.")]
    Gap,
    /// Too much waits for an acknowledgement.
    #[error("Your client does not take what it is sent: too much of it waits.")]
    Clogged,
    /// Nothing of what must arrive is acknowledged, whatever else is.
    #[error("Your client does not acknowledge what must arrive.")]
    Stuck,
    /// Nothing is acknowledged.
    #[error("Your client does not acknowledge what it is sent.")]
    Deaf,
}

#[derive(Debug)]
pub(super) struct Flow {
    pub(super) address: SocketAddr,
    pub(super) course: Course,
    payloads: Bucket,
    excess: Bucket,
    keep_alives: Bucket,
    /// Ordered messages that were delivered when the first of those that wait now began to.
    gap: Option<(u64, Duration)>,
    deaf: Option<Duration>,
    /// Bytes of ordered messages that the client was sent.
    pub(super) said: u64,
    /// Bytes of them that were acknowledged when the last of those was, while others wait.
    stuck: Option<(u64, Duration)>,
    pub(super) lossy: u32,
    /// Whether it connected in this poll.
    pub(super) is_new: bool,
    /// Whether something waits to be sent to it.
    pub(super) is_due: bool,
    /// Nothing of it is heard any more.
    pub(super) fault: Option<Fault>,
}

impl Flow {
    pub(super) fn new(address: SocketAddr, now: Duration) -> Self {
        Self {
            address,
            course: Course::default(),
            payloads: Bucket::full(PAYLOADS.0, PAYLOADS.1, now),
            excess: Bucket::full(EXCESS.0, EXCESS.1, now),
            keep_alives: Bucket::full(KEEP_ALIVES.0, KEEP_ALIVES.1, now),
            gap: None,
            deaf: None,
            said: 0,
            stuck: None,
            lossy: 0,
            is_new: true,
            is_due: false,
            fault: None,
        }
    }

    /// Begins a poll.
    pub(super) fn begin(&mut self, now: Duration) {
        self.is_new = false;
        self.payloads.fill(now);
        self.excess.fill(now);
        self.keep_alives.fill(now);
    }

    /// Whether a datagram that says it is the client's is opened. What is too much is not: opening costs most. One that is not
    /// the client's opens for nobody, and so counts against nobody.
    pub(super) fn admits(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::Payload if self.fault.is_none() => self.admits_payload(),
            Kind::Goodbye => self.keep_alives.take(1.0),
            Kind::KeepAlive if self.fault.is_none() => self.keep_alives.take(1.0),
            // One who has a connection asks for none: anyone could, in their name, to keep it alive.
            Kind::Request | Kind::Response | Kind::Payload | Kind::KeepAlive => false,
        }
    }

    fn admits_payload(&mut self) -> bool {
        let admits = self.payloads.has(1.0);
        if !admits && !self.excess.take(1.0) {
            self.fault = Some(Fault::Flood);
        }
        admits
    }

    /// A payload of the client's was opened.
    pub(super) fn count(&mut self) {
        self.payloads.take(1.0);
    }

    /// What renet may see of a payload.
    pub(super) fn check(&mut self, payload: &[u8]) -> Option<Sane> {
        match self.course.check(payload) {
            Some(Sane::Lossy(count)) => {
                self.lossy += u32::from(count);
                // What is too much was only the newest of what is sent anew all the time.
                (self.lossy <= MOST_LOSSY).then_some(Sane::Lossy(count))
            }
            Some(Sane::Late) => None,
            Some(sane) => Some(sane),
            None => {
                self.fault = Some(Fault::Nonsense);
                None
            }
        }
    }

    /// Looks whether the client takes what it is sent, and ends what it begins. `lost` is the share of packets of the last
    /// seconds that it has not acknowledged, `waiting` the bytes of ordered messages.
    pub(super) fn look(&mut self, lost: f64, waiting: usize, now: Duration) {
        let Course { delivered, come, .. } = self.course;
        self.gap = (come > delivered).then(|| self.gap.filter(|gap| gap.0 == delivered).unwrap_or((delivered, now)));
        let acknowledged = self.said.saturating_sub(waiting as u64);
        let stuck = self.stuck.filter(|stuck| stuck.0 == acknowledged).unwrap_or((acknowledged, now));
        self.stuck = (waiting > 0).then_some(stuck);
        self.deaf = (lost > MOST_LOST).then(|| self.deaf.unwrap_or(now));
        let is_over = |since: Duration, most: Duration| now.saturating_sub(since) > most;
        if self.gap.is_some_and(|(_, since)| is_over(since, MOST_GAP)) {
            self.fault.get_or_insert(Fault::Gap);
        } else if self.deaf.is_some_and(|since| is_over(since, MOST_DEAF)) {
            self.fault.get_or_insert(Fault::Deaf);
        } else if self.stuck.is_some_and(|(_, since)| is_over(since, MOST_STUCK)) {
            self.fault.get_or_insert(if self.deaf.is_some() { Fault::Deaf } else { Fault::Stuck });
        }
    }
}
