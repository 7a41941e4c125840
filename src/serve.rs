//! `keel serve`: the dedicated server.

mod endpoints;
mod file;
mod layers;
mod log;
mod settings;
mod signals;
mod vitals;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use keel_balance::Balance;
use keel_server::accounts::Accounts;
use keel_server::http::Tls;
use keel_server::saves::Finished;
use keel_server::{Access, BalanceFile, Config, LoginConfig, SaveConfig, Server, Watchdog};

pub(crate) use endpoints::ADMIN_SOCKET;
pub(crate) use signals::stop_by_signals;

use layers::Flags;
use settings::{Settings, StormClock};

/// What an operator should know besides the flags.
pub(crate) const NOTE: &str = "Each flag that takes a value is a setting. One that is not given is taken from the environment, such as KEEL_MAX_CLIENTS
for --max-clients, else from the settings file, such as (max_clients: 100), else it is the default.
RUST_LOG sets how much the log says, such as debug.";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The settings file; without it, keel.ron in the data directory if there is one [env: KEEL_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print every setting and where it comes from, and start nothing
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    flags: Flags,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    // First of all, and whatever was inherited: a stop that comes during the start is a stop.
    let stop = stop_by_signals()?;
    let reload = signals::reload_by_signal()?;
    let layered = layers::settings(&args.flags, args.config.as_deref(), |name| std::env::var_os(name))?;
    if args.print_config {
        say(&layered.to_string());
        return Ok(());
    }
    let settings = layered.settings;
    let log = log::start(settings.log_format);

    let config = config(&settings)?;
    let hash = config.balance.hash();
    let server = Server::start(&config)?;
    let balance = BalanceFile::start(&settings.balance, settings.watch_balance, hash, server.reloader(), reload)?;
    let balance = Arc::new(balance);
    let (address, layer) = (server.address(), settings.layer);
    let endpoints = endpoints::open(&settings, &server, &balance)?;
    let (mut vitals, metrics, lost) = (vitals::Vitals::new(), server.handle().metrics, log.lost.clone());
    let watchdog = Watchdog::start(server.handle().health, move |vital| {
        metrics.see_log(lost.dropped_lines() as u64);
        vitals.tell(vital);
    });
    let watchdog = watchdog.context("cannot start the watchdog")?;
    let listens = format!("Keel listens on {address}: new pilots on Layer {layer}, balance {hash:016x}");
    say(&format!("{listens}{}. Ctrl-C stops it.", endpoints.said));
    if let Some(login) = endpoints.login {
        let scheme = if settings.login_certificate.is_some() { "https" } else { "http" };
        let count = Accounts::open(&settings.data)?.count()?;
        let hint = if count == 0 { " There is none yet: keel account add NAME makes one." } else { "" };
        say(&format!("Pilots with an account log in at {scheme}://{login}.{hint}"));
    }
    let report = server.run(&stop);
    endpoints.http.stop();
    drop(watchdog);
    match &report.saved {
        None => say(&format!("Stopped after {} steps.", report.steps)),
        Some(Finished { is_saved: true, .. }) => {
            say(&format!("Stopped after {} steps. The world is saved.", report.steps));
        }
        Some(Finished { error, .. }) => {
            let reason = error.as_deref().unwrap_or("there was not enough time");
            bail!("stopped after {} steps, and the last of the world could not be saved: {reason}", report.steps);
        }
    }
    Ok(())
}

/// The data directory that a server would take by the environment and the defaults.
pub(crate) fn data_directory() -> anyhow::Result<PathBuf> {
    let layered = layers::settings(&Flags::default(), None, |name| std::env::var_os(name))?;
    Ok(layered.settings.data)
}

/// What the server is started with.
fn config(settings: &Settings) -> anyhow::Result<Config> {
    Ok(Config {
        name: settings.name.clone(),
        bind: settings.bind,
        access: if settings.unsecured { Access::Unsecured } else { Access::Accounts(logins(settings)?) },
        balance: Arc::new(Balance::load(&settings.balance)?),
        layer: settings.layer,
        seed: settings.seed,
        max_clients: settings.max_clients,
        threads: settings.threads.into(),
        snapshot_bytes: settings.snapshot_bytes,
        operator_ops: settings.operator_ops,
        storm_clock: settings.storm_clock.map(|StormClock(seconds)| seconds),
        save: (!settings.ephemeral).then(|| save(settings)),
    })
}

/// How the world is kept.
fn save(settings: &Settings) -> SaveConfig {
    SaveConfig {
        data: settings.data.clone(),
        every: settings.save_steps,
        copy_every: Duration::from_secs(60 * settings.save_copy_minutes),
        copies: settings.save_copies,
        most_behind: Duration::from_secs(settings.save_behind_seconds),
    }
}

/// How logins are taken.
fn logins(settings: &Settings) -> anyhow::Result<LoginConfig> {
    let tls = match (&settings.login_certificate, &settings.login_key) {
        (Some(certificate), Some(key)) => Some(Tls::load(certificate, key)?),
        (None, None) => None,
        (Some(_), None) => bail!("login_certificate is set, and login_key is not"),
        (None, Some(_)) => bail!("login_key is set, and login_certificate is not"),
    };
    Ok(LoginConfig {
        data: settings.data.clone(),
        bind: settings.login,
        tls,
        proxies: settings.trusted_proxies.clone(),
        public: settings.public,
        life: Duration::from_secs(settings.login_seconds),
    })
}

/// Says something on the standard output. That nobody reads it any more is no reason to stop a server.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
