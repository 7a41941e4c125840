//! `cargo xtask torture`: what the suite does for seconds, for as long as it takes.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use keel_torture::choices::seeded;
use keel_torture::flood::{Honest, Running, flood};
use keel_torture::overload::quantile;
use keel_torture::{corpus, datagrams, payloads};

#[derive(clap::Subcommand)]
pub(crate) enum Torture {
    /// Bad tokens and three hundred logins, again and again, while fifty pilots play
    Logins {
        /// How often the crowd logs in
        #[arg(long, default_value_t = 20)]
        rounds: u32,
    },
    /// Kill a server under fifty fighting bots, and start it again, as often
    Kills {
        /// How often
        #[arg(long, default_value_t = 200)]
        rounds: u32,
    },
    /// Payloads of clients that are logged in, and as many raw datagrams
    Payloads {
        /// How many
        #[arg(long, default_value_t = 10_000_000)]
        count: u64,
        /// The number that all of them follow from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// A minute of steps that take 80 ms, and ten seconds of 200 ms, by the real clock
    Overload {
        /// Pilots who play meanwhile
        #[arg(long, default_value_t = 20)]
        pilots: u16,
    },
    /// One who sends fifty thousand packets a second
    Flood {
        /// For how long, in seconds
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Packets a second
        #[arg(long, default_value_t = 50_000)]
        rate: u64,
        /// Pilots who play meanwhile
        #[arg(long, default_value_t = 50)]
        pilots: u16,
    },
    /// What fuzzers do, with inputs of a seeded stream and without their compiler
    Inputs {
        /// One of codec, ops, balance, saves, payloads and datagrams
        target: String,
        /// How many
        #[arg(long, default_value_t = 10_000)]
        count: u64,
        /// The number that all of them follow from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Write what fuzzers begin with
    Corpus {
        /// Where to, a folder for each target
        #[arg(long, default_value = "fuzz/corpus")]
        out: PathBuf,
    },
}

pub(crate) fn run(torture: &Torture) -> anyhow::Result<()> {
    match *torture {
        Torture::Kills { rounds } => test("keel", "kills", &[("KEEL_TORTURE_ROUNDS", rounds.to_string())]),
        Torture::Logins { rounds } => test("keel_server", "flood", &[("KEEL_TORTURE_ROUNDS", rounds.to_string())]),
        Torture::Payloads { count, seed } => borne(count, seed),
        Torture::Overload { pilots } => overload(pilots),
        Torture::Flood { seconds, rate, pilots } => flooded(seconds, rate, pilots),
        Torture::Inputs { ref target, count, seed } => inputs(target, count, seed),
        Torture::Corpus { ref out } => write_corpus(out),
    }
}

/// Runs a test of the suite with what makes it longer.
fn test(package: &str, name: &str, longer: &[(&str, String)]) -> anyhow::Result<()> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--release", "--locked", "--package", package, "--test", name, "--", "--nocapture"]);
    let status = cargo.envs(longer.iter().map(|(key, value)| (key, value))).status().context("cannot run cargo")?;
    ensure!(status.success(), "{name} did not hold");
    Ok(())
}

/// Steps without any of it, to compare with.
const CALM: u32 = 5_000;

fn borne(count: u64, seed: u64) -> anyhow::Result<()> {
    let (mut range, begun) = (payloads::Range::default(), Instant::now());
    (0..CALM).for_each(|_| range.step());
    let calm = quantile(&std::mem::take(&mut range.steps), 0.99);
    for n in 0.. {
        if range.payloads >= count {
            break;
        }
        range.run(&seeded(seed.wrapping_mul(1 << 40).wrapping_add(n), 4096));
    }
    let p99 = quantile(&range.steps, 0.99);
    println!(
        "{} payloads in {} sequences, {} answers, {:.0} s; steps p50 {:?}, p99 {p99:?}, and {calm:?} before them",
        range.payloads,
        range.sequences,
        range.answers,
        begun.elapsed().as_secs_f64(),
        quantile(&range.steps, 0.5),
    );
    ensure!(p99 <= calm + Duration::from_millis(2), "steps take over 2 ms longer");
    let (mut range, begun) = (datagrams::Range::default(), Instant::now());
    for n in 0.. {
        if range.datagrams >= count {
            break;
        }
        range.run(&seeded(seed.wrapping_mul(1 << 40).wrapping_add(n), 4096));
    }
    println!("{} datagrams, {:.0} s", range.datagrams, begun.elapsed().as_secs_f64());
    Ok(())
}

/// Lets pilots play for so long; from each of their orders to its answer, and the slowest pace and the last that they were told.
fn play(pilots: &mut [Honest], lasts: Duration) -> (Vec<Duration>, u8, u8) {
    let begun = Instant::now();
    let mut slowest = 100;
    while begun.elapsed() < lasts {
        pilots.iter_mut().for_each(Honest::turn);
        slowest = slowest.min(pilots[0].client.replica().pace());
        std::thread::sleep(Duration::from_millis(1));
    }
    let delays = pilots.iter_mut().flat_map(|pilot| std::mem::take(&mut pilot.delays)).collect();
    (delays, slowest, pilots[0].client.replica().pace())
}

fn join(server: &Running, pilots: u16) -> anyhow::Result<Vec<Honest>> {
    ensure!((1..=60).contains(&pilots), "from 1 to 60 pilots, not {pilots}");
    Ok((0..pilots).map(|n| Honest::join(server.address, &format!("pilot{n}"))).collect())
}

/// What steps take while the server gets back to full speed, in milliseconds, and for how many seconds.
const RECOVERY: (u64, u64) = (0, 2);

fn overload(pilots: u16) -> anyhow::Result<()> {
    let burden = Arc::new(AtomicU64::new(0));
    let takes = Arc::clone(&burden);
    let server = Running::start(move |server| {
        let last = Cell::new(Instant::now());
        server.burden(move || {
            last.set(Instant::now());
            let takes = Duration::from_millis(takes.load(Ordering::Relaxed));
            while last.get().elapsed() < takes {
                std::hint::spin_loop();
            }
        });
    });
    let mut pilots = join(&server, pilots)?;
    for (ms, seconds) in [(0, 5), (80, 60), (200, 10), RECOVERY, (0, 5)] {
        burden.store(ms, Ordering::Relaxed);
        let step = pilots[0].client.replica().step();
        let (delays, slowest, pace) = play(&mut pilots, Duration::from_secs(seconds));
        let steps = pilots[0].client.replica().step() - step;
        println!(
            "{seconds:2} s of {ms:3} ms a step: {steps} steps, pace {pace} % (slowest {slowest} %), orders p50 {:?} p99 {:?}",
            quantile(&delays, 0.5),
            quantile(&delays, 0.99)
        );
        if (ms, seconds) == RECOVERY {
            // Orders that were given before are answered as late as those were.
            ensure!(pace == 100, "two seconds after, the pace is {pace} %");
        } else {
            ensure!(quantile(&delays, 0.99) < Duration::from_millis(3 * ms.max(100)), "orders pile up");
        }
    }
    server.end();
    Ok(())
}

fn flooded(seconds: u64, rate: u64, pilots: u16) -> anyhow::Result<()> {
    let server = Running::start(|_| {});
    let mut pilots = join(&server, pilots)?;
    let (before, ..) = play(&mut pilots, Duration::from_secs(5));
    let (address, sent) = (server.address, Arc::new(AtomicU64::new(0)));
    let flooder = {
        let sent = Arc::clone(&sent);
        std::thread::spawn(move || flood(address, rate, Duration::from_secs(seconds), &sent))
    };
    let (during, ..) = play(&mut pilots, Duration::from_secs(seconds));
    let flooded = flooder.join().ok().context("the flooder panicked")?;
    println!(
        "{} packets in {seconds} s; gone after {:?}: {}",
        flooded.sent,
        flooded.gone,
        flooded.words.as_deref().unwrap_or("without words")
    );
    for (when, delays) in [("before", &before), ("during", &during)] {
        println!("orders of others {when}: p50 {:?}, p99 {:?}", quantile(delays, 0.5), quantile(delays, 0.99));
    }
    ensure!(flooded.gone.is_some_and(|gone| gone < Duration::from_secs(5)), "not gone in five seconds");
    ensure!(quantile(&during, 0.99) <= Duration::from_millis(100), "others wait for over 100 ms");
    server.end();
    Ok(())
}

fn inputs(target: &str, count: u64, seed: u64) -> anyhow::Result<()> {
    ensure!(corpus::TARGETS.contains(&target), "the targets are {}", corpus::TARGETS.join(", "));
    let (begun, mut faults) = (Instant::now(), 0);
    for n in 0..count {
        let bytes = seeded(seed.wrapping_mul(1 << 40).wrapping_add(n), 4096);
        if std::panic::catch_unwind(|| corpus::run(target, &bytes)).is_err() {
            eprintln!("input {n} of seed {seed} finds a fault");
            faults += 1;
        }
    }
    println!("{count} inputs of {target} in {:.0} s", begun.elapsed().as_secs_f64());
    ensure!(faults == 0, "{faults} of them find a fault");
    Ok(())
}

fn write_corpus(out: &Path) -> anyhow::Result<()> {
    for target in corpus::TARGETS {
        let folder = out.join(target);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let seeds = corpus::seeds(target);
        for (n, seed) in seeds.iter().enumerate() {
            let file = folder.join(format!("seed-{n:03}"));
            std::fs::write(&file, seed).with_context(|| format!("cannot write {}", file.display()))?;
        }
        println!("{}: {} inputs", folder.display(), seeds.len());
    }
    Ok(())
}
