//! `cargo xtask soak`: the whole world, filled, with nobody there.

use std::time::{Duration, Instant};

use anyhow::bail;
use keel_testkit::soak::{Held, Soak, memory};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Hours of the world's time
    #[arg(long, default_value_t = 24)]
    hours: u64,
    /// The number that every chance follows from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What the process may hold more at the end than after the first hour, in bytes.
const MOST_GROWTH: u64 = 8 << 20;

/// What it may hold in all, in bytes.
const MOST_MEMORY: u64 = 150 << 20;

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut soak = Soak::new(args.seed);
    let mut steps = Vec::with_capacity(3600 * 20);
    let mut first: Option<(Held, Option<u64>)> = None;
    for hour in 1..=args.hours {
        steps.clear();
        let mut held = Held::default();
        for _ in 0..60 {
            held = soak.minute_timed(&mut |step| steps.push(step)).map_err(anyhow::Error::msg)?;
        }
        steps.sort_unstable();
        let at = |share: f64| micros(steps[(share * (steps.len() - 1) as f64) as usize]);
        let memory = memory();
        println!(
            "{hour:3} h: {} NPCs in {} squads, {} entities, {} storms, {} incursions; step p50 {:.1} p95 {:.1} p99 {:.1} max {:.0} µs; {} MB",
            held.npcs,
            held.squads,
            held.entities,
            held.storms,
            held.incursions,
            at(0.5),
            at(0.95),
            at(0.99),
            at(1.0),
            memory.map_or_else(|| "?".to_owned(), |bytes| (bytes >> 20).to_string())
        );
        let (_, before) = *first.get_or_insert((held, memory));
        if let (Some(before), Some(now)) = (before, memory)
            && (now > before + MOST_GROWTH || now > MOST_MEMORY)
        {
            bail!("{now} bytes are held after {hour} h, {before} were after the first");
        }
    }
    println!("{} h held in {:.0} s.", args.hours, start.elapsed().as_secs_f64());
    Ok(())
}

fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}
