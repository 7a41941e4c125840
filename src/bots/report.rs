//! What a load has cost and done: as text for a person, and as JSON for a program.

use std::fmt;

use keel_server::{Figures, Quantiles};
use serde::Serialize;

/// Reasons that a report lists.
pub(super) const REASONS: usize = 5;

/// All of it. Its fields are the keys of the JSON object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Report {
    pub(super) scenario: String,
    /// Bots that were asked for.
    pub(super) count: usize,
    pub(super) seed: u64,
    /// The server that was there already; `None` for one of the load's own.
    pub(super) server: Option<String>,
    /// How long it was measured, in seconds.
    pub(super) seconds: f64,
    /// Steps in that time; `None` of a server in another process.
    pub(super) steps: Option<u64>,
    /// How long they took; `None` likewise.
    pub(super) step_us: Option<Steps>,
    pub(super) bytes_per_client_s: Ways<f64>,
    /// Shares of datagrams, 0 to 1.
    pub(super) lost_share: Ways<Option<f64>>,
    pub(super) cpu_share: Cpu,
    pub(super) memory_kb: Memory,
    pub(super) ops: Ops,
    /// Bots that were connected at the end.
    pub(super) connected: usize,
    pub(super) dropped: Dropped,
    pub(super) shots: u64,
    /// Ships that a bot had locked when they were destroyed.
    pub(super) kills: usize,
    pub(super) deaths: u64,
    pub(super) hops: u64,
    pub(super) transits: u64,
}

/// How long steps took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Steps {
    /// World and telling.
    pub(super) whole: Span,
    /// The world's own part.
    pub(super) sim: Span,
    /// Messages, views and datagrams to all clients.
    pub(super) telling: Span,
}

/// Microseconds: the median, the 95th and 99th percentiles, and the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Span {
    p50: u64,
    p95: u64,
    p99: u64,
    max: u64,
}

/// To and from a client.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Ways<T> {
    pub(super) down: T,
    pub(super) up: T,
}

/// Shares of one core; `None` where the system does not say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Cpu {
    /// Of this process, with the server if it is its own.
    pub(super) process: Option<f64>,
    /// Of the server's thread.
    pub(super) server: Option<f64>,
}

/// Resident memory of this process; `None` where the system does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Memory {
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    /// Since the process began.
    pub(super) peak: Option<u64>,
}

/// Orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Ops {
    pub(super) sent: u64,
    pub(super) accepted: u64,
    pub(super) refused: u64,
    /// Why the most were refused.
    pub(super) reasons: Vec<Reason>,
}

/// Bots that were connected, or tried to be, and are not any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Dropped {
    pub(super) count: u64,
    pub(super) reasons: Vec<Reason>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Reason {
    reason: String,
    count: u64,
}

impl From<(String, u64)> for Reason {
    fn from((reason, count): (String, u64)) -> Self {
        Self { reason, count }
    }
}

impl From<Figures> for Steps {
    fn from(figures: Figures) -> Self {
        Self { whole: figures.whole.into(), sim: figures.sim.into(), telling: figures.telling.into() }
    }
}

impl From<Quantiles> for Span {
    fn from(Quantiles { p50, p95, p99, max }: Quantiles) -> Self {
        Self { p50, p95, p99, max }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { p50, p95, p99, max } = self;
        write!(f, "p50 {p50} µs, p95 {p95} µs, p99 {p99} µs, longest {max} µs")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scenario, count, seconds, seed, ops, dropped, .. } = self;
        let server =
            self.server.as_ref().map_or("a server of its own".to_owned(), |server| format!("the server {server}"));
        writeln!(f, "{scenario}: {count} bots for {seconds:.1} s on {server}, seed {seed}")?;
        if let (Some(steps), Some(Steps { whole, sim, telling })) = (self.steps, self.step_us) {
            writeln!(f, "  step       {whole}, {steps} steps")?;
            writeln!(f, "    world    {sim}")?;
            writeln!(f, "    telling  {telling}")?;
        }
        let Ways { down, up } = self.bytes_per_client_s;
        writeln!(f, "  a client   {:.1} kB/s down, {:.2} kB/s up", down / 1e3, up / 1e3)?;
        let percent = |share: Option<f64>| share.map_or("?".to_owned(), |share| format!("{:.2} %", 100.0 * share));
        writeln!(f, "  lost       {} down, {} up", percent(self.lost_share.down), percent(self.lost_share.up))?;
        let Cpu { process, server } = self.cpu_share;
        writeln!(f, "  processor  {} of a core, the server alone {}", percent(process), percent(server))?;
        let megabytes = |kb: Option<u64>| kb.map_or("?".to_owned(), |kb| format!("{:.1} MB", kb as f64 / 1024.0));
        let Memory { start, end, peak } = self.memory_kb;
        writeln!(
            f,
            "  memory     {} at the start, {} at the end, {} at most",
            megabytes(start),
            megabytes(end),
            megabytes(peak)
        )?;
        writeln!(f, "  orders     {} sent, {} accepted, {} refused", ops.sent, ops.accepted, ops.refused)?;
        list(f, &ops.reasons)?;
        writeln!(f, "  bots       {} connected, {} dropped", self.connected, dropped.count)?;
        list(f, &dropped.reasons)?;
        writeln!(f, "  fights     shots {}, kills {}, deaths {}", self.shots, self.kills, self.deaths)?;
        write!(f, "  ways       hops {}, transits {}", self.hops, self.transits)
    }
}

fn list(f: &mut fmt::Formatter<'_>, reasons: &[Reason]) -> fmt::Result {
    reasons.iter().try_for_each(|Reason { reason, count }| writeln!(f, "    {count:>6} × {reason}"))
}
