//! What the watchdog sees, told to the service manager; and the end of a server that hangs.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use keel_server::Vital;
use sd_notify::NotifyState;

/// The exit code of a server that was given up because its loop did not go on.
pub(crate) const HUNG: i32 = 70;

/// How long it may take to write down what the threads are at.
const DUMP: Duration = Duration::from_millis(1500);

/// Between two signs of life for the service manager.
const SIGN: Duration = Duration::from_secs(1);

pub(super) struct Vitals {
    /// When the service manager last had a sign of life.
    signed: Option<Instant>,
}

impl Vitals {
    pub(super) const fn new() -> Self {
        Self { signed: None }
    }

    pub(super) fn tell(&mut self, vital: Vital) {
        match vital {
            Vital::Ready => notify(&[NotifyState::Ready]),
            Vital::Stopping => notify(&[NotifyState::Stopping]),
            Vital::Well if self.signed.is_none_or(|signed| signed.elapsed() >= SIGN) => {
                self.signed = Some(Instant::now());
                notify(&[NotifyState::Watchdog]);
            }
            Vital::Well | Vital::Unwell => {}
            Vital::Hung => {
                // Whatever becomes of the dump: nobody may take it.
                let end = || {
                    std::thread::sleep(DUMP);
                    give_up();
                };
                let _ = std::thread::Builder::new().spawn(end);
                eprintln!("keel: the server hangs. This is what its threads are at:");
                dump();
                give_up();
            }
        }
    }
}

/// Ends the process. Nothing is cleaned up: whatever hangs may hold it.
fn give_up() -> ! {
    signal_hook::low_level::exit(HUNG)
}

/// Without a service manager this does nothing.
fn notify(states: &[NotifyState<'_>]) {
    let _ = sd_notify::notify(states);
}

/// Has another process write down what every thread of this one is at, to the standard error.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn dump() {
    // Where processes may look at their children only, this one may be looked at by its child: it ends in a moment.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    // What runs, whether or not another one lies in its place by now.
    let mut command = Command::new("/proc/self/exe");
    command.args(["stacks", &std::process::id().to_string()]).stdin(Stdio::null()).stdout(std::io::stderr());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return eprintln!("keel: that cannot be seen: {error}"),
    };
    let begun = Instant::now();
    while begun.elapsed() < DUMP && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
}

/// There is no way to do that here without code that is not safe.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn dump() {
    eprintln!("keel: that cannot be seen on this platform");
}
