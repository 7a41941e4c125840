//! All bots, polled in turn: they join, take up their posts, and then are measured.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::bail;
use keel_server::Gauges;

use super::bot::{Bot, Common};
use super::scenario::Scenario;
use super::tally::{Tally, tallied, top};

/// Bots are polled a part after the other with a rest between them, so that they do not all send at once.
const PARTS: usize = 4;
const REST: Duration = Duration::from_millis(3);

/// Bots that connect in a second.
const JOINS_PER_SECOND: f64 = 50.0;

/// How long it may take, once all are connecting, until all are in, and then until all are where their roles are played. Who is
/// not there by then is on the way, or was lost in between: it counts all the same.
const JOINED: Duration = Duration::from_secs(15);
const POSTED: Duration = Duration::from_secs(60);

/// How often the progress line is renewed, and what gets lost is looked at.
const RENEWED: Duration = Duration::from_secs(1);

pub(super) struct Load {
    server: SocketAddr,
    scenario: Scenario,
    count: usize,
    bots: Vec<Bot>,
    pub(super) common: Common,
    /// Of the server, where it is this process's own.
    gauges: Option<Arc<Gauges>>,
    stop: Arc<AtomicBool>,
    /// When the progress line was renewed last, and the bytes until then.
    renewed: (Instant, Bytes),
    shows: bool,
    /// Samples of the share of datagrams to the server that get lost.
    lost: (f64, u32),
}

/// Bytes that all bots have sent and received.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes {
    pub(super) up: u64,
    pub(super) down: u64,
}

impl Load {
    pub(super) fn new(
        server: SocketAddr,
        scenario: Scenario,
        count: usize,
        seed: u64,
        gauges: Option<Arc<Gauges>>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            server,
            scenario,
            count,
            bots: Vec::with_capacity(count),
            common: Common::new(seed),
            gauges,
            stop,
            renewed: (Instant::now(), Bytes::default()),
            shows: std::io::stderr().is_terminal(),
            lost: (0.0, 0),
        }
    }

    /// Connects all bots, and goes on until they are where their roles are played.
    pub(super) fn gather(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        while self.bots.len() < self.count && !self.is_stopped() {
            let due = (begun.elapsed().as_secs_f64() * JOINS_PER_SECOND) as usize + 1;
            for nth in self.bots.len()..due.min(self.count) {
                let role = self.scenario.role(nth);
                self.bots.push(Bot::connect(self.server, nth, role, self.common.seed, Instant::now())?);
            }
            self.round("joining", begun)?;
        }
        self.go_on("joining", JOINED, |load| load.present().all(Bot::is_in))?;
        self.go_on("taking up posts", POSTED, |load| load.present().all(|bot| bot.is_at_post))?;
        if self.is_stopped() {
            bail!("stopped before anything was measured");
        }
        Ok(())
    }

    /// Forgets what has been, and goes on so long, or until it is told to stop.
    pub(super) fn measure(&mut self, span: Duration) -> anyhow::Result<()> {
        self.common.tally = Tally::default();
        self.bots.iter_mut().for_each(Bot::count_anew);
        self.lost = (0.0, 0);
        self.gauges.iter().for_each(|gauges| gauges.reset());
        self.go_on(&format!("measuring {} s", span.as_secs()), span, |_| false)
    }

    /// Goes on until it is so, or told to stop, for a while at most.
    fn go_on(&mut self, phase: &str, most: Duration, until: impl Fn(&Self) -> bool) -> anyhow::Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < most && !until(self) && !self.is_stopped() {
            self.round(phase, begun)?;
        }
        Ok(())
    }

    /// Polls every bot once.
    fn round(&mut self, phase: &str, begun: Instant) -> anyhow::Result<()> {
        let part = self.bots.len().div_ceil(PARTS).max(1);
        for nth in 0..PARTS {
            let now = Instant::now();
            self.bots.iter_mut().skip(nth * part).take(part).for_each(|bot| bot.poll(&mut self.common, now));
            std::thread::sleep(REST);
        }
        if self.renewed.0.elapsed() >= RENEWED {
            self.renew(phase, begun.elapsed());
        }
        if self.scenario == Scenario::Incursion && self.common.is_unforced {
            bail!("{} takes no operator's orders, and so has no incursion: start it with --operator-ops", self.server);
        }
        if !self.bots.is_empty() && self.present().next().is_none() {
            let reason = top(&self.dropped(), 1).pop().map_or_else(String::new, |(reason, _)| reason);
            bail!("no bot is left: {reason}");
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Bots that are connected, or about to be.
    fn present(&self) -> impl Iterator<Item = &Bot> {
        self.bots.iter().filter(|bot| bot.gone().is_none())
    }

    pub(super) fn connected(&self) -> usize {
        self.present().filter(|bot| bot.is_in()).count()
    }

    /// Bots that are not connected any more, by the reason.
    pub(super) fn dropped(&self) -> BTreeMap<String, u64> {
        tallied(self.bots.iter().filter_map(Bot::gone))
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bots.iter().map(Bot::traffic).fold(Bytes::default(), |all, traffic| Bytes {
            up: all.up + traffic.up.bytes,
            down: all.down + traffic.down.bytes,
        })
    }

    /// The share of datagrams to the server that got lost, 0 to 1.
    pub(super) fn lost(&self) -> f64 {
        self.lost.0 / f64::from(self.lost.1.max(1))
    }

    /// Looks at what gets lost, and says how it goes where a person looks.
    fn renew(&mut self, phase: &str, passed: Duration) {
        let (count, lost) =
            self.present().map(|bot| bot.traffic().lost).fold((0, 0.0), |(count, sum), lost| (count + 1, sum + lost));
        self.lost.0 += lost / f64::from(count.max(1));
        self.lost.1 += 1;
        let ((then, before), now, bytes) = (self.renewed, Instant::now(), self.bytes());
        self.renewed = (now, bytes);
        if self.shows {
            let each = f64::from(count.max(1)) * (now - then).as_secs_f64();
            let rate = (bytes.up + bytes.down - before.up - before.down) as f64 / each;
            let line = self.progress(phase, passed, rate);
            let mut out = std::io::stderr().lock();
            let _ = write!(out, "\r\x1b[2K{line}").and_then(|()| out.flush());
        }
    }

    /// Takes the progress line away.
    pub(super) fn clear(&self) {
        if self.shows {
            eprint!("\r\x1b[2K");
        }
    }

    /// How it goes, with the bytes a second that a client sends and receives.
    fn progress(&self, phase: &str, passed: Duration, rate: f64) -> String {
        let figures = self.gauges.as_ref().map(|gauges| gauges.read());
        let step = figures.map_or("?".to_owned(), |figures| format!("{:.1} ms", figures.whole.p95 as f64 / 1e3));
        let lost = figures.map_or(self.lost(), |figures| figures.lost.max(self.lost()));
        format!(
            "{phase}: {} s · {} of {} connected · step p95 {step} · {:.1} kB/s each · {:.1} % lost · {} refused",
            passed.as_secs(),
            self.connected(),
            self.count,
            rate / 1e3,
            100.0 * lost,
            self.common.tally.refusals(),
        )
    }
}
