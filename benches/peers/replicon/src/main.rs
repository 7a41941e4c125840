//! Replication by others beside Keel's own, on the same worlds in one run.

#[path = "../../../replicate/keel.rs"]
mod keel;
mod ours;
mod replicon;
mod report;
mod system;
#[path = "../../../replicate/workload.rs"]
mod workload;
#[cfg(test)]
mod worlds;

use std::fs;
use std::thread::available_parallelism;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use keel::Keel;
use replicon::{Marked, Replicon};
use report::{Report, Row};
use system::{Measured, System};
use workload::{FIRST_STEP, SIZES, Workload};

/// Steps before the measured ones: every client knows every ship and has acknowledged it, and every gun has fired.
const WARM_UP: u64 = 120;

/// Steps that one system runs before the next one's turn: short enough that the machine's moods hit all alike, long enough
/// that each works in its own cache.
const BLOCK: u64 = 20;

/// Measures what replicating a step takes, and how much is sent.
#[derive(Parser)]
struct Args {
    /// Measures as many steps of each world.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Only the worlds whose name begins so, such as W2.
    #[arg(long, value_name = "WORLD", default_value = "")]
    only: String,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
}

fn main() {
    let args = Args::parse();
    let sizes: Vec<_> = SIZES.into_iter().filter(|size| size.name.starts_with(&args.only)).collect();
    if sizes.is_empty() {
        Args::command().error(ErrorKind::InvalidValue, format!("no world's name begins with {}", args.only)).exit();
    }
    let rows = sizes.into_iter().flat_map(|size| measure(&Workload::new(size), args.steps)).collect();
    let cores = available_parallelism().map_or(1, usize::from);
    let report = Report { machine: machine(), cores, steps: args.steps, rows };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report).expect("plain values are JSON"));
    } else {
        print!("{report}");
    }
}

/// Every system that is measured in a world; times are compared with the first one's.
fn systems(workload: &Workload) -> Vec<Box<dyn System>> {
    let ours: Box<dyn System> = Box::new(Keel::new(workload));
    let mut systems = vec![ours, Box::new(Replicon::new(workload, Marked::All))];
    if (0..workload.size().sectors).any(|sector| !workload.is_seen(sector)) {
        systems.push(Box::new(Replicon::new(workload, Marked::Seen)));
    }
    systems
}

/// Lets all systems take turns in the same world, block by block.
fn measure(workload: &Workload, steps: u64) -> Vec<Row> {
    let mut systems = systems(workload);
    for system in &mut systems {
        for step in FIRST_STEP..FIRST_STEP + WARM_UP {
            system.step(step);
        }
    }
    let (first, end) = (FIRST_STEP + WARM_UP, FIRST_STEP + WARM_UP + steps);
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); systems.len()];
    for block in (first..end).step_by(BLOCK as usize) {
        for (system, measured) in systems.iter_mut().zip(&mut measured) {
            measured.extend((block..end.min(block + BLOCK)).map(|step| system.step(step)));
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    for (system, measured) in systems.iter().zip(&measured) {
        let size = workload.size();
        rows.push(Row::new(size.name, system.name(), size.clients, measured, rows.first()));
    }
    rows
}

/// The processor's name, where the system tells it.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    name.unwrap_or("an unknown processor").to_owned()
}
