//! What bots have done and met with, counted from what they are told.

use std::collections::{BTreeMap, BTreeSet};

use keel_client::Answer;

/// All that is counted of all bots.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Orders sent.
    pub(super) sent: u64,
    /// Orders that were accepted.
    pub(super) accepted: u64,
    /// Orders that were refused, by the reason with its numbers left out.
    pub(super) refused: BTreeMap<String, u64>,
    /// Shots of bots.
    pub(super) shots: u64,
    /// Ships that a bot had locked when they were destroyed.
    pub(super) kills: BTreeSet<u32>,
    /// Ships of bots that were destroyed or towed.
    pub(super) deaths: u64,
    /// Sectors that ships of bots have come to by a hop.
    pub(super) hops: u64,
    /// Transits of bots that have ended.
    pub(super) transits: u64,
}

/// What a line of a log tells that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The ship has fired.
    Shot,
    /// A ship that it had locked is destroyed.
    Kill(u32),
    /// The ship is lost, or towed.
    Death,
    /// The ship is on another map.
    Landed,
    /// The ship is at the centre, and its guns stay quiet for a while.
    Rescued,
}

impl Told {
    /// What a line tells, if it is one that is counted.
    pub(super) fn of(line: &str) -> Option<Self> {
        if line == "Shot missed." || line.starts_with("Hit ") {
            return Some(Self::Shot);
        }
        if line == "Your ship is destroyed." || line.starts_with("Your hull gave out.") {
            return Some(Self::Death);
        }
        if line.starts_with("Arrived on ") {
            return Some(Self::Landed);
        }
        if line.starts_with("Rescued.") {
            return Some(Self::Rescued);
        }
        let destroyed = line.strip_suffix(" destroyed.")?;
        destroyed.rsplit(' ').next()?.parse().ok().map(Self::Kill)
    }
}

impl Tally {
    /// Counts what a line has told.
    pub(super) fn count(&mut self, told: Told) {
        match told {
            Told::Shot => self.shots += 1,
            Told::Kill(ship) => {
                self.kills.insert(ship);
            }
            Told::Death => self.deaths += 1,
            Told::Landed | Told::Rescued => self.transits += 1,
        }
    }

    /// Counts what became of an order.
    pub(super) fn answer(&mut self, answer: &Answer) {
        if answer.accepted {
            self.accepted += 1;
        } else {
            self.refuse(&answer.text);
        }
    }

    fn refuse(&mut self, reason: &str) {
        *self.refused.entry(without_numbers(reason)).or_default() += 1;
    }

    /// Orders refused, whatever for.
    pub(super) fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }
}

/// How often each of those occurs.
pub(super) fn tallied<'a>(what: impl Iterator<Item = &'a str>) -> BTreeMap<String, u64> {
    what.fold(BTreeMap::new(), |mut counted, one| {
        *counted.entry(one.to_owned()).or_default() += 1;
        counted
    })
}

/// The most frequent of counted things, most frequent first, and so many at most.
pub(super) fn top(counted: &BTreeMap<String, u64>, most: usize) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = counted.iter().map(|(what, &count)| (what.clone(), count)).collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.truncate(most);
    all
}

/// A reason with `#` for each of its numbers, so that all of a kind count as one.
fn without_numbers(reason: &str) -> String {
    let mut kind = String::with_capacity(reason.len());
    let mut rest = reason;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        kind.push_str(&rest[..start]);
        kind.push('#');
        rest = &rest[start..];
        let mut end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        // A full stop ends the sentence.
        end -= rest[..end].len() - rest[..end].trim_end_matches('.').len();
        rest = &rest[end..];
    }
    kind + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_count_are_told_from_those_that_do_not() {
        let table = [
            ("Shot missed.", Some(Told::Shot)),
            ("Hit Raider Patrol 12. 90.0 raw, 80.0 to shield, 10.0 to hull.", Some(Told::Shot)),
            ("Raider Patrol 12 destroyed.", Some(Told::Kill(12))),
            ("bot-7's Patrol 31 destroyed.", Some(Told::Kill(31))),
            ("Your ship is destroyed.", Some(Told::Death)),
            ("Your hull gave out. The ship was towed to the centre.", Some(Told::Death)),
            ("Arrived on Rift 6. Transit flag ended.", Some(Told::Landed)),
            ("Rescued. For 35 s this ship cannot be locked and its guns stay quiet.", Some(Told::Rescued)),
            ("Arrived at 3 -2.", None),
            ("Raider Patrol 12 hit you. 90.0 raw, 80.0 to shield, 10.0 to hull.", None),
            ("Your charter's berth at 1 2 on Layer 4 is destroyed.", None),
        ];
        for (line, told) in table {
            assert_eq!(Told::of(line), told, "{line}");
        }
    }

    #[test]
    fn refusals_of_a_kind_count_as_one_and_the_most_frequent_comes_first() {
        let mut tally = Tally::default();
        tally.refuse("The battery is too low.");
        tally.refuse("It cools down for 1.3 s more.");
        tally.refuse("It cools down for 12 s more.");
        assert_eq!(tally.refusals(), 3);
        assert_eq!(top(&tally.refused, 1), [("It cools down for # s more.".to_owned(), 2)]);
        assert_eq!(without_numbers("all that it can have: 6."), "all that it can have: #.");
        assert_eq!(without_numbers("1.5 of 2"), "# of #");
    }
}
