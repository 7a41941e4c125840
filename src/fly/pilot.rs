//! A pilot's side of the connection: what there is to see and do, for screen and script alike.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use keel_client::{Client, ClientError, Command, Contact, Event, Leg, OwnShip, Replica, STEP_MICROS};
use keel_map::Hex;

use super::POLL;

/// Lines of the log that are kept.
const MOST_LINES: usize = 500;

/// After so long the same course may be ordered again.
const AGAIN: Duration = Duration::from_millis(300);

pub(crate) struct Pilot {
    client: Client,
    /// The log, oldest first: the world's time in seconds, and the line.
    pub(crate) log: VecDeque<(f64, String)>,
    /// Lines ever logged, so that a reader can tell what is new.
    pub(crate) logged: usize,
    /// Sectors that the ship has been in.
    been: BTreeSet<Hex>,
    /// The last sector that a course was ordered to.
    gone: Option<(Hex, Instant)>,
}

impl Pilot {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, log: VecDeque::new(), logged: 0, been: BTreeSet::new(), gone: None }
    }

    pub(crate) const fn replica(&self) -> &Replica {
        self.client.replica()
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
                Event::Line(line) => self.note((line.step * STEP_MICROS) as f64 / 1e6, line.text),
                Event::Answer(answer) if !answer.accepted => {
                    let now = self.seconds();
                    self.note(now, format!("Refused: {}", answer.text));
                }
                // What an accepted op does is seen, or told by a line.
                Event::Answer(_) | Event::Welcome(_) | Event::Card(_) => {}
            }
        }
        if let Some(here) = self.here() {
            self.been.insert(here);
        }
        Ok(())
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

    pub(crate) fn active(&self) -> Option<&OwnShip> {
        self.replica().active()
    }

    /// Where the active ship is.
    pub(crate) fn here(&self) -> Option<Hex> {
        self.active().map(|ship| Hex::new(ship.col.into(), ship.row.into()))
    }

    /// Whether the map has that sector.
    pub(crate) fn has_sector(&self, hex: Hex) -> bool {
        let sectors = self.replica().welcome().map_or(&[][..], |welcome| &welcome.sectors);
        sectors.iter().any(|&(col, row)| Hex::new(col.into(), row.into()) == hex)
    }

    /// NPCs in view, the nearest first.
    pub(crate) fn enemies(&self) -> Vec<&Contact> {
        let Some(here) = self.here() else { return Vec::new() };
        let mut enemies: Vec<_> = self.replica().contacts().filter(|contact| contact.pilot == 0).collect();
        enemies.sort_by_key(|contact| (place(contact).distance(here), contact.id));
        enemies
    }

    /// NPCs in the active ship's sector.
    pub(crate) fn enemies_here(&self) -> Vec<&Contact> {
        let here = self.here();
        self.enemies().into_iter().filter(|contact| Some(place(contact)) == here).collect()
    }

    /// The nearest sector whose surroundings have not been seen.
    pub(crate) fn unseen(&self) -> Option<Hex> {
        let here = self.here()?;
        let sectors = &self.replica().welcome()?.sectors;
        let hexes = sectors.iter().map(|&(col, row)| Hex::new(col.into(), row.into()));
        hexes.filter(|hex| !self.been.contains(hex)).min_by_key(|hex| (hex.distance(here), *hex))
    }

    /// Begins to look for sectors afresh.
    pub(crate) fn forget_where(&mut self) {
        self.been.clear();
    }

    pub(crate) fn go_to(&mut self, to: Hex) {
        // A held key asks many times for what is under way already.
        if self.gone.is_some_and(|(last, when)| last == to && when.elapsed() < AGAIN) {
            return;
        }
        self.gone = Some((to, Instant::now()));
        self.order(|ship| Command::Move { ship, col: to.col, row: to.row });
    }

    pub(crate) fn attack(&mut self, target: u32) {
        self.order(|ship| Command::Attack { ship, target });
    }

    pub(crate) fn focus(&mut self, target: u32) {
        self.order(|ship| Command::Focus { ship, target });
    }

    pub(crate) fn hold(&mut self) {
        self.order(|ship| Command::Hold { ship });
    }

    pub(crate) fn cancel(&mut self) {
        self.order(|ship| Command::Cancel { ship });
    }

    /// Ends a course, if there is one.
    pub(crate) fn cancel_if_under_way(&mut self) {
        if self.active().is_some_and(|ship| !matches!(ship.leg, Leg::Still)) {
            self.cancel();
        }
    }

    fn order(&mut self, command: impl Fn(u32) -> Command) {
        match self.active().map(|ship| ship.id) {
            Some(ship) => {
                self.client.send(command(ship));
            }
            None => {
                let now = self.seconds();
                self.note(now, "Refused: You have no ship at the moment.".to_owned());
            }
        }
    }
}

/// Where a contact is.
pub(crate) fn place(contact: &Contact) -> Hex {
    Hex::new(contact.col.into(), contact.row.into())
}
