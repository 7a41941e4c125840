//! What this process takes of the machine, where the system says so in `/proc`.

use std::time::Duration;

/// Linux tells processor time in hundredths of a second, whatever its own tick is.
const TICK: Duration = Duration::from_millis(10);

/// Processor time taken so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    /// By all threads; `None` where the system does not say.
    pub(super) process: Option<Duration>,
    /// By the thread that was named.
    pub(super) thread: Option<Duration>,
}

impl Processor {
    /// What was taken until now, by the whole process and by the thread of that name.
    pub(super) fn now(thread: &str) -> Self {
        let taken = |directory: &str| taken(&std::fs::read_to_string(format!("{directory}/stat")).ok()?);
        Self { process: taken("/proc/self"), thread: named(thread).and_then(|directory| taken(&directory)) }
    }

    /// The shares of a core taken over a span since then, the process's and the thread's: 1 is all of one core.
    pub(super) fn since(self, earlier: Self, span: Duration) -> (Option<f64>, Option<f64>) {
        let share = |now: Option<Duration>, then: Option<Duration>| {
            Some(now?.saturating_sub(then?).as_secs_f64() / span.as_secs_f64().max(f64::MIN_POSITIVE))
        };
        (share(self.process, earlier.process), share(self.thread, earlier.thread))
    }
}

/// The directory of the thread of that name.
fn named(thread: &str) -> Option<String> {
    let mut threads = std::fs::read_dir("/proc/self/task").ok()?.filter_map(Result::ok);
    let is_it =
        |path: &std::path::Path| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim_end() == thread);
    threads.find(|entry| is_it(&entry.path())).map(|entry| entry.path().display().to_string())
}

/// The processor time that a `stat` file tells: its fields 14 and 15. The second is a name in brackets, which may have spaces.
fn taken(stat: &str) -> Option<Duration> {
    let fields = stat.rsplit_once(')')?.1;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some(TICK * (user + system))
}

/// Memory in use, in kilobytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    /// Now; `None` where the system does not say.
    pub(super) now: Option<u64>,
    /// At most, since the process began.
    pub(super) peak: Option<u64>,
}

impl Memory {
    /// What is in use now.
    pub(super) fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Self { now: kilobytes(&status, "VmRSS:"), peak: kilobytes(&status, "VmHWM:") }
    }
}

fn kilobytes(status: &str, field: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read() {
        let stat = "77 (a (b) c) S 1 77 77 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 3 0 99 1000 200\n";
        assert_eq!(taken(stat), Some(Duration::from_secs(3)));
        assert_eq!(taken("nonsense"), None);
        let status = "Name:\tkeel\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n";
        assert_eq!(kilobytes(status, "VmRSS:"), Some(10_240));
        assert_eq!(kilobytes(status, "VmHWM:"), Some(20_480));
        assert_eq!(kilobytes(status, "VmSwap:"), None);
    }

    #[test]
    fn shares_are_of_one_core() {
        let at = |ms| Processor { process: Some(Duration::from_millis(ms)), thread: None };
        assert_eq!(at(1500).since(at(500), Duration::from_secs(2)), (Some(0.5), None));
    }
}
