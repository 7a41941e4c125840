//! A server of the load's own, on a thread of this process.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use anyhow::{Context, bail};
use keel_balance::Balance;
use keel_server::{Config, Gauges, Server};

/// What the server's thread is called.
pub(super) const THREAD: &str = "keel-server";

pub(super) struct Host {
    pub(super) address: SocketAddr,
    pub(super) gauges: Arc<Gauges>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Host {
    /// Starts a server that takes operator's orders, on a port of this machine that the system chooses.
    pub(super) fn start(balance: &Path, layer: u8, seed: u64, pilots: u16) -> anyhow::Result<Self> {
        let local = Config::local(Arc::new(Balance::load(balance)?));
        let config = Config { layer, seed, max_clients: pilots, operator_ops: true, ..local };
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        // A world stays on the thread that made it.
        let (says, said) = mpsc::channel();
        let thread = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
            let server = Server::start(&config);
            let _ = says
                .send(server.as_ref().map(|server| (server.address(), server.gauges())).map_err(ToString::to_string));
            if let Ok(server) = server {
                server.run(&stopped);
            }
        });
        let thread = thread.context("cannot start a thread")?;
        let (address, gauges) = said.recv().context("the server has panicked")?.map_err(anyhow::Error::msg)?;
        Ok(Self { address, gauges, stop, thread })
    }

    /// Stops the server, and waits until it has.
    pub(super) fn stop(self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        if self.thread.join().is_err() {
            bail!("the server has panicked");
        }
        Ok(())
    }
}
