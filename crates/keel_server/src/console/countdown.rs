//! A stop that lies ahead, and when pilots are told of it.

use std::time::Duration;

/// What is left when pilots are told, in seconds, the most first.
const TOLD: [u64; 19] = [3600, 1800, 900, 600, 300, 120, 60, 30, 15, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];

/// A stop that lies ahead. Times are real ones, since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Countdown {
    ends: Duration,
    /// What pilots are told besides.
    why: String,
    /// How many of the moments to tell are over.
    told: usize,
}

impl Countdown {
    /// A stop after some time, of which pilots are to be told now.
    pub(crate) fn begin(now: Duration, after: Duration, why: String) -> (Self, String) {
        let told = TOLD.iter().take_while(|&&left| left >= after.as_secs()).count();
        let countdown = Self { ends: now + after, why, told };
        let line = countdown.line(after.as_secs());
        (countdown, line)
    }

    /// What pilots are to be told now. Of what was missed only the last.
    pub(crate) fn tell(&mut self, now: Duration) -> Option<String> {
        let left = self.left(now);
        let over = TOLD.iter().take_while(|&&tell| left <= Duration::from_secs(tell)).count();
        (over > self.told).then(|| {
            self.told = over;
            self.line(TOLD[over - 1])
        })
    }

    /// How long it is until then.
    pub(crate) const fn left(&self, now: Duration) -> Duration {
        self.ends.saturating_sub(now)
    }

    pub(crate) fn is_over(&self, now: Duration) -> bool {
        now >= self.ends
    }

    fn line(&self, left: u64) -> String {
        let (count, unit) = match left {
            0 => return format!("The server stops now.{}", self.reason()),
            left if left % 3600 == 0 => (left / 3600, "hour"),
            left if left % 60 == 0 => (left / 60, "minute"),
            left if left > 120 => (left / 60, "minute"),
            left => (left, "second"),
        };
        let plural = if count == 1 { "" } else { "s" };
        format!("The server stops in {count} {unit}{plural}.{}", self.reason())
    }

    fn reason(&self) -> String {
        if self.why.is_empty() { String::new() } else { format!(" {}", self.why) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of a stop, looked at every 50 ms, and when in seconds before it.
    fn told(after: u64) -> Vec<(u64, String)> {
        let start = Duration::from_secs(1000);
        let (mut countdown, line) = Countdown::begin(start, Duration::from_secs(after), "Back at noon.".to_owned());
        let mut told = vec![(after, line)];
        let mut now = start;
        while !countdown.is_over(now) {
            let left = countdown.left(now).as_secs_f64().round() as u64;
            told.extend(countdown.tell(now).map(|line| (left, line)));
            now += Duration::from_millis(50);
        }
        told
    }

    #[test]
    fn pilots_are_told_seldom_at_first_and_each_second_at_last() {
        let told = told(5 * 60);
        let times: Vec<u64> = told.iter().map(|(left, _)| *left).collect();
        assert_eq!(times, [300, 120, 60, 30, 15, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(told[0].1, "The server stops in 5 minutes. Back at noon.");
        assert_eq!(told[2].1, "The server stops in 1 minute. Back at noon.");
        assert_eq!(told[3].1, "The server stops in 30 seconds. Back at noon.");
        assert_eq!(told.last().unwrap().1, "The server stops in 1 second. Back at noon.");
    }

    #[test]
    fn short_and_odd_waits_are_told_once_at_the_beginning() {
        assert_eq!(told(0), [(0, "The server stops now. Back at noon.".to_owned())]);
        assert_eq!(told(2).iter().map(|(left, _)| *left).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(told(90)[0].1, "The server stops in 90 seconds. Back at noon.");
        assert_eq!(told(7 * 3600)[0].1, "The server stops in 7 hours. Back at noon.");
        assert_eq!(told(7 * 3600)[1].0, 3600);
    }

    #[test]
    fn of_what_a_long_step_missed_the_last_is_told() {
        let start = Duration::ZERO;
        let (mut countdown, _) = Countdown::begin(start, Duration::from_secs(600), String::new());
        assert_eq!(countdown.tell(Duration::from_secs(585)).unwrap(), "The server stops in 15 seconds.");
        assert_eq!(countdown.tell(Duration::from_secs(585)), None);
    }
}
