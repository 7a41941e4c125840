//! Hops (rule 9): [`SimSet::Movement`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_map::Hex;
use keel_rules::Moment;
use keel_rules::sheet::Navigation;

use crate::lock::Departures;
use crate::notes::{Note, Noted};
use crate::orders::{Done, Refusal};
use crate::schedule::{Now, SimSet};
use crate::world::{Awake, Card, InSector, Map, Ship};

pub(crate) struct MovementPlugin;

impl Plugin for MovementPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Arrived>().add_systems(FixedUpdate, hop.in_set(SimSet::Movement));
    }
}

/// Where a ship is heading.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct Helm {
    leg: Leg,
    /// The sectors to come, the next one last.
    course: Vec<Hex>,
}

/// What a ship does of its course now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leg {
    /// Nothing.
    #[default]
    Still,
    /// It waits before a hop, which can still be cancelled.
    Window {
        /// When the hop begins.
        ends: Moment,
    },
    /// It hops.
    Hop {
        /// When it is in the next sector.
        ends: Moment,
    },
}

/// A ship has come into a sector.
#[derive(Message, Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) sector: Entity,
}

impl Helm {
    /// What the ship does now.
    #[must_use]
    pub const fn leg(&self) -> Leg {
        self.leg
    }

    /// The sectors to come, in order.
    pub fn course(&self) -> impl Iterator<Item = Hex> {
        self.course.iter().rev().copied()
    }

    /// Where a hop that can no longer be cancelled ends.
    pub(crate) fn hopping_to(&self) -> Option<Hex> {
        match self.leg {
            Leg::Hop { .. } => self.course.last().copied(),
            Leg::Still | Leg::Window { .. } => None,
        }
    }

    /// Takes a new course, of one sector or more, and says when it ends. A hop that runs goes on first, and the course
    /// begins where it ends.
    pub(crate) fn set_course(&mut self, mut path: Vec<Hex>, now: Moment, navigation: &Navigation) -> Moment {
        path.reverse();
        let mut arrives = now;
        if let (Leg::Hop { ends }, Some(next)) = (self.leg, self.hopping_to()) {
            arrives = ends;
            self.course = path;
            self.course.push(next);
        } else {
            self.leg = Leg::Window { ends: now + navigation.window };
            self.course = path;
        }
        let hops = self.course.len() - usize::from(self.hopping_to().is_some());
        for _ in 0..hops {
            arrives = arrives + navigation.window + navigation.hop;
        }
        arrives
    }

    /// Stops where the ship is.
    pub(crate) fn stop(&mut self) {
        self.leg = Leg::Still;
        self.course.clear();
    }

    /// Stops as soon as it can be: in the window at once, later after the hop that runs.
    pub(crate) fn halt(&mut self) -> Result<Done, Refusal> {
        match self.leg {
            Leg::Still => Err(Refusal::NothingToCancel),
            Leg::Window { .. } => {
                self.stop();
                Ok(Done::Stopped)
            }
            Leg::Hop { .. } if self.course.len() > 1 => {
                self.course.drain(..self.course.len() - 1);
                Ok(Done::Stopping)
            }
            Leg::Hop { .. } => Err(Refusal::TooLate),
        }
    }

    /// Goes on with the course by what has ended at `now`; the sector that the ship has come to, if it has.
    fn advance(&mut self, now: Moment, navigation: &Navigation) -> Option<Hex> {
        if let Leg::Window { ends } = self.leg
            && ends <= now
        {
            self.leg = Leg::Hop { ends: ends + navigation.hop };
        }
        let Leg::Hop { ends } = self.leg else { return None };
        if ends > now {
            return None;
        }
        let reached = self.course.pop();
        self.leg = if self.course.is_empty() { Leg::Still } else { Leg::Window { ends: ends + navigation.window } };
        reached
    }
}

fn hop(
    now: Res<Now>,
    maps: Query<&Map>,
    mut ships: Query<(Entity, &Ship, &Card, &InSector, &mut Helm), With<Awake>>,
    mut departures: ResMut<Departures>,
    mut arrivals: MessageWriter<Arrived>,
    mut notes: MessageWriter<Noted>,
    mut commands: Commands,
) {
    let Ok(map) = maps.single() else { return };
    let mut reached: Vec<(Entity, &Ship, Entity, Hex)> = Vec::new();
    for (entity, ship, card, sector, mut helm) in &mut ships {
        if helm.leg == Leg::Still {
            continue;
        }
        let Some(hex) = helm.bypass_change_detection().advance(now.moment(), &card.0.navigation) else { continue };
        if helm.leg == Leg::Still
            && let Some(pilot) = ship.pilot()
        {
            notes.write(Noted { pilot, note: Note::Arrived { at: hex } });
        }
        reached.push((entity, ship, sector.0, hex));
    }
    // Ships come into a sector in the order of their ids, so that the order in which it holds them is no accident.
    reached.sort_unstable_by_key(|(_, ship, ..)| ship.id);
    for (entity, _, from, hex) in reached {
        let Some(sector) = map.sector(hex) else { continue };
        departures.add(entity, from);
        commands.entity(entity).insert(InSector(sector));
        arrivals.write(Arrived { sector });
    }
}
