//! One bot: a client, what it is told, and when it looks up.

use std::time::{Duration, Instant};

use keel_client::{Client, ClientError, Command, Event, Force, Hello, Leg, Replica, Traffic};
use keel_map::Hex;

use super::dice::Dice;
use super::scenario::Role;
use super::tally::{Tally, Told};
use crate::sight::{Sight, place_of};

/// How long a bot takes between two looks at what is around it: as a person would, and never all at once.
const LOOKS: Duration = Duration::from_millis(150);
const LOOKS_SPREAD_MS: usize = 200;

/// After so long the same thing may be forced again.
const FORCED_AGAIN: Duration = Duration::from_secs(3);

/// What all bots have in common.
#[derive(Debug, Default)]
pub(super) struct Common {
    /// The number that every choice follows from.
    pub(super) seed: u64,
    /// What they have done.
    pub(super) tally: Tally,
    /// What was forced, and when: once for all bots.
    forced: Vec<(Force, Instant)>,
    /// Whether the server has said that it takes no operator's orders.
    pub(super) is_unforced: bool,
}

impl Common {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// Whether a bot should force something now. It is then as good as done.
    fn should_force(&mut self, force: Force, now: Instant) -> bool {
        self.forced.retain(|(_, when)| now.duration_since(*when) < FORCED_AGAIN);
        if self.is_unforced || self.forced.iter().any(|(known, _)| *known == force) {
            return false;
        }
        self.forced.push((force, now));
        true
    }
}

/// A pilot that flies by itself. What it decides stands in [`mind`](super::mind).
pub(super) struct Bot {
    client: Client,
    /// Its number among the bots, from 0.
    pub(super) nth: usize,
    pub(super) role: Role,
    pub(super) dice: Dice,
    /// The number of its last order, and of the last one that is not counted.
    last_order: u32,
    uncounted: u32,
    /// When it looks up next.
    looks: Instant,
    /// Its ship at the last poll: which, and where.
    last: Option<Seen>,
    /// Whether it has come to where its role is played.
    pub(super) is_at_post: bool,
    /// Whether its last transit was a rescue, after which its guns stay quiet.
    pub(super) is_rescued: bool,
    /// The ship that it has fitted out.
    pub(super) fitted: Option<u32>,
    /// Where it has ordered its ship to go.
    pub(super) bound: Option<Hex>,
    /// The world's time from which it may Clamp again.
    pub(super) clamps_at: u64,
    /// Why it is not connected any more.
    gone: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
struct Seen {
    ship: u32,
    map: u8,
    at: Hex,
    hops: bool,
}

impl Sight for Bot {
    fn replica(&self) -> &Replica {
        self.client.replica()
    }
}

impl Bot {
    /// Begins to connect as `bot-1`, `bot-2` and so on.
    pub(super) fn connect(
        server: std::net::SocketAddr,
        nth: usize,
        role: Role,
        seed: u64,
        now: Instant,
    ) -> Result<Self, ClientError> {
        Ok(Self {
            client: Client::connect(server, Hello::new(&format!("bot-{}", nth + 1)))?,
            nth,
            role,
            dice: Dice::new(seed, nth),
            last_order: 0,
            uncounted: 0,
            looks: now,
            last: None,
            is_at_post: false,
            is_rescued: false,
            fitted: None,
            bound: None,
            clamps_at: 0,
            gone: None,
        })
    }

    /// Whether the server has shown it anything.
    pub(super) fn is_in(&self) -> bool {
        self.replica().welcome().is_some() && self.replica().step() > 0
    }

    /// Why it is not connected any more, if it is not.
    pub(super) fn gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.client.traffic()
    }

    /// Counts from now on: what is still to be answered is not of it.
    pub(super) const fn count_anew(&mut self) {
        self.uncounted = self.last_order;
    }

    /// Takes what has arrived, and looks up when it is time.
    pub(super) fn poll(&mut self, common: &mut Common, now: Instant) {
        if self.gone.is_some() {
            return;
        }
        match self.client.poll() {
            Ok(events) => events.into_iter().for_each(|event| self.hear(event, common)),
            Err(error) => {
                self.gone = Some(error.to_string());
                return;
            }
        }
        self.count_hops(&mut common.tally);
        if self.is_in() && self.looks <= now {
            self.looks = now + LOOKS + Duration::from_millis(self.dice.below(LOOKS_SPREAD_MS) as u64);
            self.think(common);
        }
    }

    fn hear(&mut self, event: Event, common: &mut Common) {
        match event {
            Event::Answer(answer) => {
                common.is_unforced |= answer.text.contains("takes no operator's orders");
                if answer.seq > self.uncounted {
                    common.tally.answer(&answer);
                }
            }
            Event::Line(line) => {
                let told = Told::of(&line.text);
                match told {
                    Some(Told::Rescued) => self.is_rescued = true,
                    Some(Told::Landed | Told::Death) => (self.is_rescued, self.bound) = (false, None),
                    Some(Told::Shot | Told::Kill(_)) | None => {}
                }
                told.into_iter().for_each(|told| common.tally.count(told));
            }
            Event::Welcome(_)
            | Event::Rebalanced(_)
            | Event::Card(_)
            | Event::Bonds(_)
            | Event::Pilot(_)
            | Event::Log(_) => {}
        }
    }

    /// A ship that hopped and is elsewhere now has hopped.
    fn count_hops(&mut self, tally: &mut Tally) {
        let seen = self.active().map(|ship| Seen {
            ship: ship.id,
            map: ship.map,
            at: place_of(ship),
            hops: matches!(ship.leg, Leg::Hop { .. }),
        });
        if let (Some(last), Some(seen)) = (self.last, seen)
            && last.hops
            && (last.ship, last.map) == (seen.ship, seen.map)
            && last.at != seen.at
        {
            tally.hops += 1;
        }
        self.last = seen;
    }

    /// Orders something.
    pub(super) fn order(&mut self, command: Command, common: &mut Common) {
        // One that the server does not keep up with is one that is not given.
        if let Ok(seq) = self.client.send(command) {
            self.last_order = seq;
            common.tally.sent += 1;
        }
    }

    /// Has something happen, unless another bot just had.
    pub(super) fn force(&mut self, force: Force, common: &mut Common) {
        if common.should_force(force, Instant::now()) {
            self.order(Command::Force(force), common);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_bot_forces_no_other_does_for_a_while() {
        let (mut common, now) = (Common::default(), Instant::now());
        assert!(common.should_force(Force::Incursion(16), now));
        assert!(!common.should_force(Force::Incursion(16), now + FORCED_AGAIN / 2));
        assert!(common.should_force(Force::Wormhole(16), now + FORCED_AGAIN / 2));
        assert!(common.should_force(Force::Incursion(16), now + FORCED_AGAIN));
        common.is_unforced = true;
        assert!(!common.should_force(Force::Incursion(16), now + 3 * FORCED_AGAIN));
    }
}
