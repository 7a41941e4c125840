//! Flying by a script: one order a line, each optionally after a time, and the log as text lines.

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use keel_client::Leg;
use keel_map::{Direction, Hex};

use super::POLL;
use super::pilot::{Pilot, place};

/// What is wrong with a line, for a person.
const COMMANDS: &str = "move C R, move E|SE|SW|W|NW|NE, hunt S, await arrival S, attack nearest|ID, focus nearest|ID, fight S, hold, cancel, wait S, quit";

/// After so long an order that had no effect is given again.
const AGAIN: Duration = Duration::from_secs(1);

/// A line of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    line: usize,
    /// Not before so long after joining.
    at: Option<Duration>,
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    MoveTo(Hex),
    MoveBy(Direction),
    /// Search the map until an NPC is in the ship's sector.
    Hunt(Duration),
    AwaitArrival(Duration),
    Attack(Target),
    Focus(Target),
    /// Attack one NPC of the sector after the other until none is left.
    Fight(Duration),
    Hold,
    Cancel,
    Wait(Duration),
    Quit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Nearest,
    Ship(u32),
}

/// Reads a script; every line is understood before any is flown.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Step>> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("cannot read the script from the standard input")?;
    } else {
        text = std::fs::read_to_string(path).with_context(|| format!("cannot read the script {}", path.display()))?;
    }
    parse(&text).with_context(|| path.display().to_string())
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
        let Some(order) = order(&words) else {
            bail!("line {line}: \"{}\" is none of: [SECONDS] {COMMANDS}", text.trim());
        };
        steps.push(Step { line, at, order });
    }
    Ok(steps)
}

fn order(words: &[&str]) -> Option<Order> {
    let time = |word: &str| word.parse().ok().and_then(seconds);
    Some(match *words {
        ["move", col, row] => Order::MoveTo(Hex::new(col.parse().ok()?, row.parse().ok()?)),
        ["move", direction] => Order::MoveBy(named(direction)?),
        ["hunt", most] => Order::Hunt(time(most)?),
        ["await", "arrival", most] => Order::AwaitArrival(time(most)?),
        ["attack", ship] => Order::Attack(target(ship)?),
        ["focus", ship] => Order::Focus(target(ship)?),
        ["fight", most] => Order::Fight(time(most)?),
        ["hold"] => Order::Hold,
        ["cancel"] => Order::Cancel,
        ["wait", span] => Order::Wait(time(span)?),
        ["quit"] => Order::Quit,
        _ => return None,
    })
}

fn seconds(number: f64) -> Option<Duration> {
    (0.0..=86_400.0).contains(&number).then(|| Duration::from_secs_f64(number))
}

fn target(word: &str) -> Option<Target> {
    if word == "nearest" { Some(Target::Nearest) } else { word.parse().ok().map(Target::Ship) }
}

fn named(word: &str) -> Option<Direction> {
    Some(match word {
        "E" => Direction::East,
        "SE" => Direction::SouthEast,
        "SW" => Direction::SouthWest,
        "W" => Direction::West,
        "NW" => Direction::NorthWest,
        "NE" => Direction::NorthEast,
        _ => return None,
    })
}

/// Flies a script to its end, printing the log as it comes.
pub(crate) fn fly(pilot: &mut Pilot, script: &[Step]) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut flight = Flight { pilot, printed: 0 };
    for step in script {
        if let Some(at) = step.at {
            flight.run(at.saturating_sub(start.elapsed()), |_| false)?;
        }
        if step.order == Order::Quit {
            break;
        }
        flight.fly(step.order).with_context(|| format!("line {}", step.line))?;
    }
    // The answer to a last order is still under way.
    flight.run(Duration::from_millis(300), |_| false)?;
    Ok(())
}

struct Flight<'a> {
    pilot: &'a mut Pilot,
    printed: usize,
}

impl Flight<'_> {
    fn fly(&mut self, order: Order) -> anyhow::Result<()> {
        match order {
            Order::MoveTo(to) => self.pilot.go_to(to),
            Order::MoveBy(direction) => {
                let Some(here) = self.pilot.here() else { bail!("there is no ship to move") };
                self.pilot.go_to(here.neighbour(direction));
            }
            Order::Hunt(most) => self.hunt(most)?,
            Order::AwaitArrival(most) => {
                // The order before has to be under way first.
                self.run(Duration::from_millis(300), |_| false)?;
                let still = |pilot: &mut Pilot| pilot.active().is_some_and(|ship| ship.leg == Leg::Still);
                if !self.run(most, still)? {
                    bail!("the ship is still under way after {} s", most.as_secs_f64());
                }
            }
            Order::Attack(target) => {
                let target = self.target(target)?;
                self.pilot.attack(target);
            }
            Order::Focus(target) => {
                let target = self.target(target)?;
                self.pilot.focus(target);
            }
            Order::Fight(most) => self.fight(most)?,
            Order::Hold => self.pilot.hold(),
            Order::Cancel => self.pilot.cancel(),
            Order::Wait(span) => {
                self.run(span, |_| false)?;
            }
            Order::Quit => {}
        }
        Ok(())
    }

    fn target(&self, target: Target) -> anyhow::Result<u32> {
        match target {
            Target::Ship(id) => Ok(id),
            Target::Nearest => self.pilot.enemies().first().map(|contact| contact.id).context("no NPC is in view"),
        }
    }

    fn hunt(&mut self, most: Duration) -> anyhow::Result<()> {
        self.pilot.forget_where();
        let mut ordered: Option<(Hex, Instant)> = None;
        let found = self.run(most, |pilot| {
            if !pilot.enemies_here().is_empty() {
                return true;
            }
            let goal = pilot.enemies().first().map(|contact| place(contact)).or_else(|| pilot.unseen());
            let still = pilot.active().is_some_and(|ship| ship.leg == Leg::Still);
            let is_ordered = |goal| ordered.is_some_and(|(to, when)| to == goal && !(still && when.elapsed() > AGAIN));
            if let Some(goal) = goal.filter(|&goal| !is_ordered(goal)) {
                pilot.go_to(goal);
                ordered = Some((goal, Instant::now()));
            }
            false
        })?;
        if found {
            self.pilot.cancel_if_under_way();
            return Ok(());
        }
        bail!("no NPC was found in {} s", most.as_secs_f64());
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
                pilot.attack(next);
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
        out.flush().context("cannot print the log")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_read_with_and_without_its_time() {
        let script = "# a comment\n\n1.5 move 3 -2\nmove NE # by side\nhunt 60\nawait arrival 9\nattack nearest\nfocus 12\n0 fight 90\nhold\ncancel\nwait 0.5\nquit\n";
        let orders: Vec<_> = parse(script).unwrap().iter().map(|step| (step.line, step.order)).collect();
        let s = Duration::from_secs_f64;
        let expected = [
            (3, Order::MoveTo(Hex::new(3, -2))),
            (4, Order::MoveBy(Direction::NorthEast)),
            (5, Order::Hunt(s(60.0))),
            (6, Order::AwaitArrival(s(9.0))),
            (7, Order::Attack(Target::Nearest)),
            (8, Order::Focus(Target::Ship(12))),
            (9, Order::Fight(s(90.0))),
            (10, Order::Hold),
            (11, Order::Cancel),
            (12, Order::Wait(s(0.5))),
            (13, Order::Quit),
        ];
        assert_eq!(orders, expected);
        assert_eq!(parse(script).unwrap()[0].at, Some(s(1.5)));
    }

    #[test]
    fn a_line_that_is_no_order_is_named() {
        for bad in
            ["mov 1 2", "move 1", "move 1 2 3", "attack", "attack me", "wait -1", "wait NaN", "5", "move 99999999999 0"]
        {
            let error = parse(&format!("hold\n{bad}\n")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line 2: \"{bad}\" is none of: ")), "{error}");
        }
    }
}
