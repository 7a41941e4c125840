//! A pilot's side of the connection: what there is to see and do, for screen and script alike.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use keel_client::{
    Client, ClientError, Command, Contact, Event, Flags, Ground, Leg, OwnShip, Replica, STEP_MICROS, Shot, Who,
};
use keel_map::Hex;

use super::POLL;
use crate::sight::{Sight, place_of};

/// Lines of the log that are kept.
const MOST_LINES: usize = 500;

/// After so long the same course may be ordered again.
const AGAIN: Duration = Duration::from_millis(300);

/// A command that waits for a pilot's number.
type Named = Box<dyn FnOnce(u32) -> Command>;

pub(crate) struct Pilot {
    client: Client,
    /// The log, oldest first: the world's time in seconds, and the line.
    pub(crate) log: VecDeque<(f64, String)>,
    /// Lines ever logged, so that a reader can tell what is new.
    pub(crate) logged: usize,
    /// The combat log, as far as it was asked for.
    pub(crate) shots: Vec<Shot>,
    /// Combat logs that have come, so that a reader can tell a new one.
    pub(crate) logs: usize,
    /// The ship that the pilot flies, or flew last.
    flown: Option<u32>,
    /// Sectors that the ship has been in, by layer.
    been: BTreeSet<(u8, Hex)>,
    /// The last sector that a course was ordered to.
    gone: Option<(Hex, Instant)>,
    /// Commands about pilots whose numbers were asked for, in that order.
    asked: VecDeque<Option<Named>>,
    /// Orders without an answer yet, and whether the log is to have it.
    unanswered: BTreeMap<u32, bool>,
    /// The last reason why something was refused, until it is taken.
    refused: Option<String>,
    /// Pilots that were asked for because a ship of theirs is in view.
    wondered: BTreeSet<u32>,
}

impl Sight for Pilot {
    fn replica(&self) -> &Replica {
        self.client.replica()
    }
}

impl Pilot {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            log: VecDeque::new(),
            logged: 0,
            shots: Vec::new(),
            logs: 0,
            flown: None,
            been: BTreeSet::new(),
            gone: None,
            asked: VecDeque::new(),
            unanswered: BTreeMap::new(),
            refused: None,
            wondered: BTreeSet::new(),
        }
    }

    /// Connects, and waits until a ship is in sight.
    pub(crate) fn join(&mut self) -> Result<(), ClientError> {
        while self.replica().welcome().is_none() || self.replica().step() == 0 {
            self.poll()?;
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Takes what has arrived into log and picture.
    pub(crate) fn poll(&mut self) -> Result<(), ClientError> {
        for event in self.client.poll()? {
            match event {
                Event::Line(line) => {
                    // A line about another ship than the one that is flown, or was until now, says which.
                    let text = if line.ship == 0 || self.flown.is_none_or(|flown| flown == line.ship) {
                        line.text
                    } else {
                        format!("[{}] {}", line.ship, line.text)
                    };
                    self.note((line.step * STEP_MICROS) as f64 / 1e6, text);
                }
                Event::Answer(answer) => {
                    let echoes = self.unanswered.remove(&answer.seq).unwrap_or(false);
                    if !answer.accepted {
                        self.refuse(&answer.text);
                    } else if echoes {
                        self.tell(answer.text);
                    }
                }
                Event::Pilot(pilot) => match (self.asked.pop_front().flatten(), pilot) {
                    (Some(command), Some(pilot)) => self.say(command(pilot.id)),
                    (Some(_), None) => self.refuse("There is no such pilot."),
                    (None, _) => {}
                },
                Event::Log(shots) => {
                    self.shots = shots;
                    self.logs += 1;
                }
                Event::Rebalanced(welcome) => self.tell(format!("The balance has changed: {:016x}.", welcome.balance)),
                Event::Welcome(_) | Event::Card(_) | Event::Bonds(_) => {}
            }
        }
        self.flown = self.active().map(|ship| ship.id).or(self.flown);
        if let Some((layer, here)) = self.active().map(|ship| (ship.map, place_of(ship))) {
            self.been.insert((layer, here));
        }
        let strangers = self.replica().contacts().map(|contact| contact.pilot).filter(|&pilot| pilot != 0);
        let new: BTreeSet<u32> = strangers.filter(|pilot| !self.wondered.contains(pilot)).collect();
        for pilot in new {
            self.wondered.insert(pilot);
            self.ask(Who::Id(pilot), None);
        }
        Ok(())
    }

    fn ask(&mut self, who: Who, then: Option<Named>) {
        match self.client.ask_who(who) {
            Ok(()) => self.asked.push_back(then),
            Err(unsent) => self.refuse(&format!("Not sent: {unsent}.")),
        }
    }

    /// The world's time in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        (self.replica().step() * STEP_MICROS) as f64 / 1e6
    }

    fn note(&mut self, seconds: f64, line: String) {
        if self.log.len() == MOST_LINES {
            self.log.pop_front();
        }
        self.log.push_back((seconds, line));
        self.logged += 1;
    }

    /// Shows the pilot a line of the client's own.
    pub(crate) fn tell(&mut self, line: String) {
        self.note(self.seconds(), line);
    }

    pub(crate) fn refuse(&mut self, reason: &str) {
        self.tell(format!("Refused: {reason}"));
        self.refused = Some(reason.to_owned());
    }

    /// Why the last thing was refused, if one was since this was asked.
    pub(crate) fn take_refusal(&mut self) -> Option<String> {
        self.refused.take()
    }

    /// Whether an order has no answer yet.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.unanswered.is_empty() || self.asked.iter().any(Option::is_some)
    }

    /// What there is in the active ship's sector besides ships, in words.
    pub(crate) fn ground_here(&self) -> Vec<String> {
        let Some(ship) = self.active() else { return Vec::new() };
        let counted = |count: usize, one: &str, more: &str| match count {
            0 => None,
            1 => Some(one.to_owned()),
            count => Some(format!("{count} {more}")),
        };
        let ground = self.replica().chart(ship.map).and_then(|chart| chart.get(&(ship.col, ship.row)));
        let words = [
            self.is_at_haven().then(|| "Haven".to_owned()),
            match ground {
                Some(Ground::Belt(_)) => Some("belt".to_owned()),
                Some(Ground::Cloud(_)) => Some("gas cloud".to_owned()),
                Some(Ground::Open) | None => None,
            },
            counted(self.wormholes_here().len(), "wormhole", "wormholes"),
            counted(self.wrecks_here().len(), "wreck", "wrecks"),
        ];
        words.into_iter().flatten().collect()
    }

    /// The sector of the active ship's map that is not charted and nearest.
    pub(crate) fn uncharted(&self) -> Option<Hex> {
        let ship = self.active()?;
        let (here, chart) = (place_of(ship), self.replica().chart(ship.map));
        let is_new = |hex: &Hex| chart.is_none_or(|chart| !chart.contains_key(&(hex.col as i16, hex.row as i16)));
        self.sectors().filter(is_new).min_by_key(|hex| (hex.distance(here), *hex))
    }

    /// The nearest sector whose surroundings have not been seen.
    pub(crate) fn unseen(&self) -> Option<Hex> {
        let ship = self.active()?;
        let here = place_of(ship);
        let unseen = self.sectors().filter(|hex| !self.been.contains(&(ship.map, *hex)));
        unseen.min_by_key(|hex| (hex.distance(here), *hex))
    }

    /// Begins to look for sectors afresh.
    pub(crate) fn forget_where(&mut self) {
        self.been.clear();
    }

    /// Goes to a sector, out of the dock first.
    pub(crate) fn go_to(&mut self, to: Hex) {
        // A held key asks many times for what is under way already.
        if self.gone.is_some_and(|(last, when)| last == to && when.elapsed() < AGAIN) {
            return;
        }
        self.gone = Some((to, Instant::now()));
        if self.is_docked() {
            self.order(|ship| Command::Undock { ship });
        }
        self.order(|ship| Command::Move { ship, col: to.col, row: to.row });
    }

    /// Ends a course or a harvest, if there is one.
    pub(crate) fn cancel_if_under_way(&mut self) {
        // A Clamp may have stopped it: what waits for an Unclamp is cancelled as well.
        let is_busy =
            |ship: &OwnShip| !matches!(ship.leg, Leg::Still) || ship.flags.has(Flags::CLAMPED) || ship.harvest != 0;
        if self.active().is_some_and(is_busy) {
            self.order(|ship| Command::Cancel { ship });
        }
    }

    /// Orders something of the active ship.
    pub(crate) fn order(&mut self, command: impl FnOnce(u32) -> Command) {
        match self.active().map(|ship| ship.id) {
            Some(ship) => self.say(command(ship)),
            None => self.refuse("You have no ship at the moment."),
        }
    }

    /// Orders something.
    pub(crate) fn say(&mut self, command: Command) {
        // What becomes of the others is seen, or told by a line of the log.
        let echoes = !matches!(
            command,
            Command::Move { .. }
                | Command::Attack { .. }
                | Command::Focus { .. }
                | Command::Power(_)
                | Command::Travel { .. }
                | Command::Rescue { .. }
                | Command::Jump { .. }
                | Command::Dock { .. }
                | Command::Activate { .. }
                | Command::Stance { .. }
                | Command::Protect { .. }
                | Command::Triggers { .. }
                | Command::Follow { .. }
                | Command::Hostile { .. }
        );
        match self.client.send(command) {
            Ok(seq) => drop(self.unanswered.insert(seq, echoes)),
            Err(unsent) => self.refuse(&format!("Not sent: {unsent}.")),
        }
    }

    /// Orders something about another pilot, by name or number.
    pub(crate) fn about(&mut self, whom: &str, command: impl FnOnce(u32) -> Command + 'static) {
        match whom.parse() {
            Ok(id) => self.say(command(id)),
            Err(_) => self.ask(Who::Name(whom.to_owned()), Some(Box::new(command))),
        }
    }

    /// Asks for the combat log.
    pub(crate) fn ask_log(&mut self) {
        if let Err(unsent) = self.client.ask_log() {
            self.refuse(&format!("Not sent: {unsent}."));
        }
    }

    /// What a contact's pilot is called; `None` for an NPC.
    pub(crate) fn owner(&self, contact: &Contact) -> Option<String> {
        (contact.pilot != 0).then(|| self.called(contact.pilot))
    }

    /// What a pilot is called, as far as that is known.
    pub(crate) fn called(&self, id: u32) -> String {
        self.replica().pilot(id).map_or_else(|| format!("pilot {id}"), |pilot| pilot.name.clone())
    }
}
