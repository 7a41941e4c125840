//! Flying by a script: one order a line, each optionally after a time, and the log as text lines.

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use keel_client::{Flags, Leg};
use keel_map::Hex;

use super::POLL;
use super::deed::{Deed, Target, deed, usage};
use super::pilot::Pilot;
use super::{news, report};
use crate::sight::{Sight, place};

/// What a script can say besides deeds, for a person.
const WAITS: [&str; 11] = [
    "hunt SECONDS",
    "chart SECONDS",
    "fight SECONDS",
    "await arrival SECONDS",
    "await docked SECONDS",
    "await pilot SECONDS",
    "await locked SECONDS",
    "await log TEXT SECONDS",
    "wait SECONDS",
    "quit",
    "try ORDER",
];

/// An order is answered in a step or two.
const ANSWERED: Duration = Duration::from_secs(3);

/// After so long an order that had no effect is given again.
const AGAIN: Duration = Duration::from_secs(1);

/// A line of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    line: usize,
    /// Not before so long after joining.
    at: Option<Duration>,
    /// Whether a refusal is no reason to end.
    tries: bool,
    order: Order,
}

#[derive(Clone, Debug, PartialEq)]
enum Order {
    Do(Deed),
    /// Search the map until an NPC is in the ship's sector.
    Hunt(Duration),
    /// Fly from one uncharted sector to the nearest other until the map is charted.
    Chart(Duration),
    /// Attack one NPC of the sector after the other until none is left.
    Fight(Duration),
    Await(Sign, Duration),
    Wait(Duration),
    Quit,
}

/// What a script waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sign {
    /// The active ship is not under way.
    Arrival,
    Docked,
    /// Another pilot's ship is in the active ship's sector.
    Pilot,
    /// The active ship's lock holds.
    Locked,
    /// A line that came after the order before has these words in it.
    Line(String),
}

/// Reads a script; every line is understood before any is flown.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Step>> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("cannot read the script from the standard input")?;
    } else {
        text = std::fs::read_to_string(path).with_context(|| format!("cannot read the script {}", path.display()))?;
    }
    let name = if path == Path::new("-") { "the script".to_owned() } else { path.display().to_string() };
    parse(&text).context(name)
}

fn parse(text: &str) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let mut words: Vec<&str> = text.split('#').next().unwrap_or_default().split_whitespace().collect();
        let at = words.first().and_then(|word| word.parse().ok()).and_then(seconds);
        if at.is_some() {
            words.remove(0);
        }
        if words.is_empty() && at.is_none() {
            continue;
        }
        let tries = words.first() == Some(&"try");
        if tries {
            words.remove(0);
        }
        let Some(order) = order(&words) else {
            bail!("line {line}: \"{}\" is no order: {}", text.trim(), usage(&words, &WAITS));
        };
        steps.push(Step { line, at, tries, order });
    }
    Ok(steps)
}

fn order(words: &[&str]) -> Option<Order> {
    let time = |word: &str| word.parse().ok().and_then(seconds);
    Some(match *words {
        ["hunt", most] => Order::Hunt(time(most)?),
        ["chart", most] => Order::Chart(time(most)?),
        ["fight", most] => Order::Fight(time(most)?),
        ["await", "arrival", most] => Order::Await(Sign::Arrival, time(most)?),
        ["await", "docked", most] => Order::Await(Sign::Docked, time(most)?),
        ["await", "pilot", most] => Order::Await(Sign::Pilot, time(most)?),
        ["await", "locked", most] => Order::Await(Sign::Locked, time(most)?),
        ["await", "log", ref text @ .., most] if !text.is_empty() => {
            Order::Await(Sign::Line(text.join(" ")), time(most)?)
        }
        ["wait", span] => Order::Wait(time(span)?),
        ["quit"] => Order::Quit,
        _ => Order::Do(deed(words)?),
    })
}

fn seconds(number: f64) -> Option<Duration> {
    (0.0..=86_400.0).contains(&number).then(|| Duration::from_secs_f64(number))
}

/// Flies a script to its end, printing the log as it comes.
pub(crate) fn fly(pilot: &mut Pilot, script: &[Step]) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut flight = Flight { pilot, printed: 0, logs: 0, read: 0 };
    for step in script {
        if let Some(at) = step.at {
            flight.run(at.saturating_sub(start.elapsed()), |_| false)?;
        }
        if step.order == Order::Quit {
            break;
        }
        match flight.fly(&step.order, step.tries) {
            // The connection is no order's to lose.
            Err(error) if step.tries && error.downcast_ref::<keel_client::ClientError>().is_none() => {
                flight.pilot.tell(format!("Given up: {error}."));
            }
            done => done.with_context(|| format!("line {}", step.line))?,
        }
    }
    // The answer to a last order is still under way.
    flight.run(Duration::from_millis(300), |_| false)?;
    Ok(())
}

struct Flight<'a> {
    pilot: &'a mut Pilot,
    /// Lines of the log that are printed, and combat logs.
    printed: usize,
    logs: usize,
    /// Lines of the log that were there before the last deed: `await log` looks at those after.
    read: usize,
}

impl Flight<'_> {
    fn fly(&mut self, order: &Order, tries: bool) -> anyhow::Result<()> {
        match order {
            Order::Do(deed) => self.carry_out(deed, tries)?,
            Order::Hunt(most) => self.hunt(*most)?,
            Order::Chart(most) => self.chart(*most)?,
            Order::Fight(most) => self.fight(*most)?,
            Order::Await(sign, most) => self.wait_for(sign, *most)?,
            Order::Wait(span) => {
                self.run(*span, |_| false)?;
            }
            Order::Quit => {}
        }
        Ok(())
    }

    /// Does something, and waits until it is answered and shown.
    fn carry_out(&mut self, deed: &Deed, tries: bool) -> anyhow::Result<()> {
        self.read = self.pilot.logged;
        self.pilot.take_refusal();
        if let Err(reason) = deed.go(self.pilot) {
            self.pilot.refuse(&reason);
        }
        self.run(ANSWERED, |pilot| !pilot.is_waiting())?;
        let step = self.pilot.replica().step();
        self.run(ANSWERED, |pilot| pilot.replica().step() > step)?;
        match self.pilot.take_refusal() {
            Some(reason) if !tries => bail!("refused: {reason}"),
            _ => Ok(()),
        }
    }

    fn wait_for(&mut self, sign: &Sign, most: Duration) -> anyhow::Result<()> {
        if *sign == Sign::Arrival {
            // The order before has to be under way first.
            self.run(Duration::from_millis(300), |_| false)?;
        }
        let read = self.read;
        let is_so = |pilot: &mut Pilot| match sign {
            Sign::Arrival => pilot.active().is_some_and(|ship| ship.leg == Leg::Still),
            Sign::Docked => pilot.active().is_some_and(|ship| ship.flags.has(Flags::DOCKED)),
            Sign::Pilot => {
                let here = pilot.here();
                pilot.contacts().any(|contact| contact.pilot != 0 && Some(place(contact)) == here)
            }
            Sign::Locked => {
                let now = pilot.replica().step() * keel_client::STEP_MICROS;
                pilot.active().is_some_and(|ship| ship.target != 0 && ship.locked_at <= now)
            }
            Sign::Line(text) => {
                let new = (pilot.logged - read).min(pilot.log.len());
                pilot.log.range(pilot.log.len() - new..).any(|(_, line)| line.contains(text.as_str()))
            }
        };
        if self.run(most, is_so)? {
            return Ok(());
        }
        let most = most.as_secs_f64();
        match sign {
            Sign::Arrival => bail!("the ship is still under way after {most} s"),
            Sign::Docked => bail!("the ship is not docked after {most} s"),
            Sign::Pilot => bail!("no other pilot is here after {most} s"),
            Sign::Locked => bail!("nothing is locked after {most} s"),
            Sign::Line(text) => bail!("the log does not say \"{text}\" within {most} s"),
        }
    }

    fn hunt(&mut self, most: Duration) -> anyhow::Result<()> {
        self.pilot.forget_where();
        let found = self.roam(most, |pilot| {
            let goal = || pilot.enemies().first().map(|contact| place(contact)).or_else(|| pilot.unseen());
            pilot.enemies_here().is_empty().then(goal)
        })?;
        if found {
            self.pilot.cancel_if_under_way();
            return Ok(());
        }
        bail!("no NPC was found in {} s", most.as_secs_f64());
    }

    fn chart(&mut self, most: Duration) -> anyhow::Result<()> {
        let is_full = self.roam(most, |pilot| pilot.uncharted().map(Some))?;
        let share = self.pilot.active().and_then(|ship| self.pilot.replica().charted(ship.map)).unwrap_or_default();
        if !is_full {
            bail!("the map is charted to {} after {} s", news::percent(share), most.as_secs_f64());
        }
        Ok(())
    }

    /// Flies from one goal to the next for as long as there is a reason to, for a while at most; whether there is none any more.
    /// `goal` says where to, if anywhere, or that it is done.
    fn roam(&mut self, most: Duration, goal: impl Fn(&Pilot) -> Option<Option<Hex>>) -> anyhow::Result<bool> {
        let mut ordered: Option<(Hex, Instant)> = None;
        self.run(most, |pilot| {
            let Some(goal) = goal(pilot) else { return true };
            let still = pilot.active().is_some_and(|ship| ship.leg == Leg::Still);
            let is_ordered = |goal| ordered.is_some_and(|(to, when)| to == goal && !(still && when.elapsed() > AGAIN));
            if let Some(goal) = goal.filter(|&goal| !is_ordered(goal)) {
                pilot.go_to(goal);
                ordered = Some((goal, Instant::now()));
            }
            false
        })
    }

    fn fight(&mut self, most: Duration) -> anyhow::Result<()> {
        if self.pilot.enemies_here().is_empty() {
            bail!("there is nobody to fight in this sector");
        }
        let place = self.pilot.here();
        let mut attacked: Option<(u32, Instant)> = None;
        let over = self.run(most, |pilot| {
            let next = pilot.enemies_here().first().map(|contact| contact.id);
            let Some(next) = next.filter(|_| pilot.here() == place) else { return true };
            let locked = pilot.active().map_or(0, |ship| ship.target);
            let is_attacked = attacked.is_some_and(|(target, when)| target == next && when.elapsed() < AGAIN);
            if locked == 0 && !is_attacked {
                let _ = Deed::Attack(Target::Ship(next)).go(pilot);
                attacked = Some((next, Instant::now()));
            }
            false
        })?;
        if self.pilot.here() != place {
            bail!("the fight is lost");
        }
        if !over {
            bail!("the fight is not over after {} s", most.as_secs_f64());
        }
        Ok(())
    }

    /// Flies on until something is so, for a while at most; whether it came to be.
    fn run(&mut self, most: Duration, mut until: impl FnMut(&mut Pilot) -> bool) -> anyhow::Result<bool> {
        let start = Instant::now();
        loop {
            let alive = self.pilot.poll();
            self.print()?;
            alive?;
            if until(self.pilot) {
                return Ok(true);
            }
            if start.elapsed() >= most {
                return Ok(false);
            }
            std::thread::sleep(POLL);
        }
    }

    fn print(&mut self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        let new = (self.pilot.logged - self.printed).min(self.pilot.log.len());
        for (seconds, line) in self.pilot.log.range(self.pilot.log.len() - new..) {
            writeln!(out, "{seconds:9.2} s  {line}").context("cannot print the log")?;
        }
        self.printed = self.pilot.logged;
        if self.pilot.logs > self.logs {
            self.logs = self.pilot.logs;
            for shot in &self.pilot.shots {
                writeln!(out, "{}", report::shot_line(self.pilot.replica(), shot)).context("cannot print the log")?;
            }
        }
        out.flush().context("cannot print the log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_with_and_without_its_time() {
        let script = "# a comment\n\n1.5 move 3 -2\nmove NE # by side\nhunt 60\nawait arrival 9\nawait log Hull is 5 3\n0 fight 90\nwait 0.5\nquit\n";
        let orders: Vec<_> = parse(script).unwrap().into_iter().map(|step| (step.line, step.order)).collect();
        let s = Duration::from_secs_f64;
        let expected = [
            (3, Order::Do(Deed::MoveTo(Hex::new(3, -2)))),
            (4, Order::Do(Deed::MoveBy(keel_map::Direction::NorthEast))),
            (5, Order::Hunt(s(60.0))),
            (6, Order::Await(Sign::Arrival, s(9.0))),
            (7, Order::Await(Sign::Line("Hull is 5".into()), s(3.0))),
            (8, Order::Fight(s(90.0))),
            (9, Order::Wait(s(0.5))),
            (10, Order::Quit),
        ];
        assert_eq!(orders, expected);
        assert_eq!(parse(script).unwrap()[0].at, Some(s(1.5)));
    }

    #[test]
    fn a_line_that_is_no_order_is_named() {
        for bad in ["mov 1 2", "attack me", "wait -1", "wait NaN", "5", "await", "await log 5", "hunt", "chart"] {
            let error = parse(&format!("hold\n{bad}\n")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line 2: \"{bad}\" is no order: ")), "{error}");
        }
    }
}
