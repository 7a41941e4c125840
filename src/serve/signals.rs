//! What the system asks of the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// A flag that is set when the process is told to stop. The handlers are there from now on, whatever was inherited: a shell has
/// those it puts into the background ignore the one, and as process 1 of a container one without handlers ignores both.
pub(crate) fn stop_by_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The second of a kind waits for nothing. One of each kind is a stop that was passed on twice.
        let once = Arc::new(AtomicBool::new(false));
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&once)).context("cannot handle signals")?;
        for heard in [once, Arc::clone(&stop)] {
            flag::register(signal, heard).context("cannot handle signals")?;
        }
    }
    Ok(stop)
}

/// A flag that is set whenever the process is told to read its balance again.
pub(super) fn reload_by_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let reload = Arc::new(AtomicBool::new(false));
    flag::register(SIGHUP, Arc::clone(&reload)).context("cannot handle signals")?;
    Ok(reload)
}
