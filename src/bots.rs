//! `keel bots`: a load of pilots that fly by themselves, and what it costs a server.
//!
//! Each bot is a client like any other, over UDP, that sees and may do what a person's can. One thread polls them all; the
//! server, unless one is there already, has a thread of its own.

mod bot;
mod dice;
mod host;
mod load;
mod mind;
mod report;
mod scenario;
mod tally;
mod vitals;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::{fly, serve};
use host::Host;
use load::Load;
use report::{Cpu, Dropped, Memory, Ops, REASONS, Report, Ways};
use scenario::Scenario;
use tally::top;
use vitals::Processor;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Bots, 1 to 1000
    #[arg(long, default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,
    /// What they do: big-fight (all in one sector), spread (hunting on all twelve maps), hop, jump (from map to map),
    /// incursion (into Rift 6), or mixed (a share of each)
    #[arg(long, default_value_t = Scenario::Mixed)]
    scenario: Scenario,
    /// For how long it is measured, once all are where they should be
    #[arg(long, default_value_t = 30, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    /// The number that every bot's choices follow from, and the world of a server of their own
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The balance file of a server of their own
    #[arg(long, default_value = "balance.ron", value_name = "FILE", conflicts_with = "server")]
    balance: PathBuf,
    /// Load that server of this machine instead of one of their own; start it with --operator-ops
    #[arg(long, value_name = "ADDRESS")]
    server: Option<String>,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let there = args.server.as_deref().map(of_this_machine).transpose()?;
    let stop = serve::stop_by_signals()?;
    let host = match there {
        Some(_) => None,
        None => Some(Host::start(&args.balance, args.scenario.layer(), args.seed, args.count)?),
    };
    let Some(address) = there.or(host.as_ref().map(|host| host.address)) else { bail!("there is no server") };
    let gauges = host.as_ref().map(|host| std::sync::Arc::clone(&host.gauges));
    let mut load = Load::new(address, args.scenario, args.count.into(), args.seed, gauges, stop);
    let report = measured(args, &mut load, host.as_ref());
    load.clear();
    drop(load);
    // Whatever became of the load: a server that has panicked is why.
    host.map_or(Ok(()), Host::stop)?;
    let report = report?;
    serve::say(&if args.json { serde_json::to_string(&report)? } else { report.to_string() });
    Ok(())
}

/// The address of a server of this machine. A load is nothing to send to others.
fn of_this_machine(server: &str) -> anyhow::Result<SocketAddr> {
    let address = fly::resolve(server)?;
    if !address.ip().is_loopback() {
        bail!("{server} is not on this machine, and bots load no other: name an address such as 127.0.0.1:7777");
    }
    Ok(address)
}

/// Gathers the bots, lets them play, and says what it has cost.
fn measured(args: &Args, load: &mut Load, host: Option<&Host>) -> anyhow::Result<Report> {
    load.gather().with_context(|| format!("the {} load does not come about", args.scenario))?;
    let (bytes, memory, processor) = (load.bytes(), vitals::Memory::now(), Processor::now(host::THREAD));
    let (begun, clients) = (Instant::now(), load.connected().max(1));
    load.measure(Duration::from_secs(args.seconds.into()))?;
    let passed = begun.elapsed();
    let (process, server) = Processor::now(host::THREAD).since(processor, passed);
    let (last_bytes, last_memory) = (load.bytes(), vitals::Memory::now());
    let each = |bytes: u64| bytes as f64 / (clients as f64 * passed.as_secs_f64());
    let figures = host.map(|host| host.gauges.read());
    let (tally, dropped) = (&load.common.tally, load.dropped());
    let reasons = |counted| top(counted, REASONS).into_iter().map(Into::into).collect();
    Ok(Report {
        scenario: args.scenario.to_string(),
        count: args.count.into(),
        seed: args.seed,
        server: args.server.clone(),
        seconds: passed.as_secs_f64(),
        steps: figures.map(|figures| figures.steps),
        step_us: figures.map(Into::into),
        bytes_per_client_s: Ways { down: each(last_bytes.down - bytes.down), up: each(last_bytes.up - bytes.up) },
        lost_share: Ways { down: figures.map(|figures| figures.lost), up: Some(load.lost()) },
        cpu_share: Cpu { process, server },
        memory_kb: Memory { start: memory.now, end: last_memory.now, peak: last_memory.peak },
        ops: Ops {
            sent: tally.sent,
            accepted: tally.accepted,
            refused: tally.refusals(),
            reasons: reasons(&tally.refused),
        },
        connected: load.connected(),
        dropped: Dropped { count: dropped.values().sum(), reasons: reasons(&dropped) },
        shots: tally.shots,
        kills: tally.kills.len(),
        deaths: tally.deaths,
        hops: tally.hops,
        transits: tally.transits,
    })
}
