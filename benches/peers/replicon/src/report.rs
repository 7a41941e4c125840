//! What was measured, as a table or as JSON.

use std::fmt::{self, Display, Formatter};
use std::time::Duration;

use serde::Serialize;

use crate::system::Measured;

/// All that one run measured, and on what.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The processor's name.
    pub(crate) machine: String,
    /// Threads that it runs at once.
    pub(crate) cores: usize,
    /// Steps measured of each world.
    pub(crate) steps: u64,
    /// A row for each world and system.
    pub(crate) rows: Vec<Row>,
}

/// How one system did in one world.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// The world.
    pub(crate) workload: String,
    /// The system.
    pub(crate) system: String,
    /// Half of all steps took as much at most, in ms.
    pub(crate) p50_ms: f64,
    /// Of a hundred steps, 95 took as much at most, in ms.
    pub(crate) p95_ms: f64,
    /// What a step took on average, in ms.
    pub(crate) mean_ms: f64,
    /// What taking in the acknowledgements of a step took on average, in ms, which is not in the times above.
    pub(crate) acks_ms: f64,
    /// Payload that one client was sent in a step on average, in bytes.
    pub(crate) bytes: f64,
    /// The median by that of the first system in the same world.
    pub(crate) ratio: f64,
}

impl Row {
    /// The row of a system that `measured` each step of a world with so many `clients`. The first system of the world is
    /// its own `first`.
    pub(crate) fn new(workload: &str, system: &str, clients: u32, measured: &[Measured], first: Option<&Row>) -> Self {
        let mut times: Vec<_> = measured.iter().map(|step| step.time).collect();
        times.sort_unstable();
        let steps = measured.len() as f64;
        let p50_ms = ms(quantile(&times, 0.5));
        Self {
            workload: workload.to_owned(),
            system: system.to_owned(),
            p50_ms,
            p95_ms: ms(quantile(&times, 0.95)),
            mean_ms: ms(times.iter().sum()) / steps,
            acks_ms: ms(measured.iter().map(|step| step.acks).sum()) / steps,
            bytes: measured.iter().map(|step| step.bytes).sum::<u64>() as f64 / steps / f64::from(clients),
            ratio: first.map_or(1.0, |first| p50_ms / first.p50_ms),
        }
    }
}

impl Display for Report {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        writeln!(to, "{}, {} cores, {} steps each\n", self.machine, self.cores, self.steps)?;
        writeln!(to, "| world | system | p50 ms | p95 ms | mean ms | acks ms | bytes a client | p50 by the first's |")?;
        writeln!(to, "|---|---|---:|---:|---:|---:|---:|---:|")?;
        for row in &self.rows {
            let Row { workload, system, p50_ms, p95_ms, mean_ms, acks_ms, bytes, ratio } = row;
            writeln!(
                to,
                "| {workload} | {system} | {p50_ms:.3} | {p95_ms:.3} | {mean_ms:.3} | {acks_ms:.3} | {bytes:.0} | {ratio:.2} |"
            )?;
        }
        Ok(())
    }
}

/// The least of the sorted `times` that so large a `part` of them do not exceed.
fn quantile(times: &[Duration], part: f64) -> Duration {
    let rank = (times.len() as f64 * part).ceil() as usize;
    times[rank.clamp(1, times.len()) - 1]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
