//! Hops and transits (rule 9): [`SimSet::Movement`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_map::{Hex, MapKey};
use keel_rules::sheet::Navigation;
use keel_rules::{Micros, Moment};
use serde::{Deserialize, Serialize};

use crate::clamps::ClampedBy;
use crate::docks::Docking;
use crate::ids::ShipId;
use crate::notes::{Note, Noted};
use crate::orders::{Done, Refusal};
use crate::schedule::{Now, SimSet};
use crate::world::{Appeared, Arrival, Awake, Card, InFleet, InSector, Map, Maps, Pilot, Sector, Ship};
use crate::wormholes::{Code, Place, Wormholes};

pub(crate) struct MovementPlugin;

impl Plugin for MovementPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(FixedUpdate, advance_ships.in_set(SimSet::Movement));
    }
}

/// Where a ship is heading.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Helm {
    leg: Leg,
    /// The sectors to come, the next one last.
    course: Vec<Hex>,
    /// Where the transit that runs leads.
    passage: Option<Passage>,
    /// What a Clamp has stopped: an Unclamp sends it again.
    stopped: Option<Errand>,
    /// When a transit may begin again after one was cancelled.
    jump_ready: Moment,
}

/// What a ship does of its course now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// It leaves its map, or jumps across it. Until then it is where it was, and neither locks nor fires.
    Transit {
        /// When it is where that leads.
        ends: Moment,
    },
}

/// Where a transit leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Passage {
    /// To another layer.
    Travel {
        /// Which.
        layer: u8,
    },
    /// To the centre of the map.
    Rescue,
    /// Through a wormhole.
    Jump {
        /// Which: its name for the log.
        code: Code,
        /// Where it leads.
        to: Place,
    },
}

/// What a ship was about when a Clamp stopped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Errand {
    Course(Hex),
    Passage(Passage),
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

    /// Where the transit that runs leads.
    #[must_use]
    pub const fn passage(&self) -> Option<Passage> {
        self.passage
    }

    /// When a transit may begin, after one was cancelled.
    #[must_use]
    pub const fn jump_ready(&self) -> Moment {
        self.jump_ready
    }

    /// Whether the ship is in transit.
    #[must_use]
    pub const fn in_transit(&self) -> bool {
        matches!(self.leg, Leg::Transit { .. })
    }

    /// Whether what a Clamp has stopped waits for an Unclamp.
    pub(crate) const fn is_caught(&self) -> bool {
        self.stopped.is_some()
    }

    /// Where the course ends, if there is one.
    pub(crate) fn destination(&self) -> Option<Hex> {
        self.course.first().copied()
    }

    /// Where a hop that can no longer be cancelled ends.
    pub(crate) fn hopping_to(&self) -> Option<Hex> {
        match self.leg {
            Leg::Hop { .. } => self.course.last().copied(),
            Leg::Still | Leg::Window { .. } | Leg::Transit { .. } => None,
        }
    }

    /// Takes a new course, of one sector or more, and says when it ends. A hop that runs goes on first, and the course
    /// begins where it ends.
    pub(crate) fn set_course(&mut self, mut path: Vec<Hex>, now: Moment, navigation: &Navigation) -> Moment {
        path.reverse();
        self.stopped = None;
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

    /// Begins a transit.
    pub(crate) fn set_passage(&mut self, passage: Passage, ends: Moment) {
        self.leg = Leg::Transit { ends };
        self.course.clear();
        self.passage = Some(passage);
        self.stopped = None;
    }

    /// Stops where the ship is, and forgets what a Clamp has stopped.
    pub(crate) fn stop(&mut self) {
        self.leg = Leg::Still;
        self.course.clear();
        self.passage = None;
        self.stopped = None;
    }

    /// Stops for a Clamp: what the ship was about waits for an Unclamp.
    pub(crate) fn catch(&mut self) {
        let errand = self.passage.map(Errand::Passage).or_else(|| self.destination().map(Errand::Course));
        self.stop();
        self.stopped = errand;
    }

    /// What a Clamp has stopped. It is not to be sent twice.
    pub(crate) fn take_stopped(&mut self) -> Option<Errand> {
        self.stopped.take()
    }

    /// Stops as soon as it can be: in the window and in transit at once, later after the hop that runs. After a cancelled
    /// transit the next one has to wait.
    pub(crate) fn halt(&mut self, now: Moment, cooldown: Micros) -> Result<Done, Refusal> {
        match self.leg {
            Leg::Still if self.stopped.is_none() => Err(Refusal::NothingToCancel),
            Leg::Still | Leg::Window { .. } => {
                self.stop();
                Ok(Done::Stopped)
            }
            Leg::Transit { .. } => {
                self.stop();
                self.jump_ready = now + cooldown;
                Ok(Done::Unjumped { cooldown })
            }
            Leg::Hop { .. } if self.course.len() > 1 => {
                self.course.drain(..self.course.len() - 1);
                Ok(Done::Stopping)
            }
            Leg::Hop { .. } => Err(Refusal::TooLate),
        }
    }

    /// Goes on by what has ended at `now`. `is_held` is asked only when the ship tries to leave.
    fn advance(&mut self, now: Moment, navigation: &Navigation, is_held: impl FnOnce() -> bool) -> Event {
        match self.leg {
            Leg::Window { ends } if ends <= now => {
                if is_held() {
                    self.catch();
                    return Event::Caught;
                }
                self.leg = Leg::Hop { ends: ends + navigation.hop };
            }
            Leg::Transit { ends } => {
                if is_held() {
                    self.catch();
                    return Event::Caught;
                }
                let Some(passage) = self.passage.filter(|_| ends <= now) else { return Event::Nothing };
                self.stop();
                return Event::Landed(passage);
            }
            Leg::Still | Leg::Window { .. } | Leg::Hop { .. } => {}
        }
        let Leg::Hop { ends } = self.leg else { return Event::Nothing };
        if ends > now {
            return Event::Nothing;
        }
        let reached = self.course.pop();
        self.leg = if self.course.is_empty() { Leg::Still } else { Leg::Window { ends: ends + navigation.window } };
        reached.map_or(Event::Nothing, Event::Reached)
    }
}

/// What a ship's helm has come to.
enum Event {
    Nothing,
    /// A Clamp holds it.
    Caught,
    /// It is in the next sector.
    Reached(Hex),
    /// Its transit is over.
    Landed(Passage),
}

/// A ship that comes into a sector.
struct Coming {
    id: ShipId,
    ship: Entity,
    sector: Entity,
    arrival: Option<Arrival>,
}

fn advance_ships(
    now: Res<Now>,
    layers: Res<Maps>,
    maps: Query<&Map>,
    sectors: Query<&Sector>,
    mut ships: Query<(Entity, &Ship, &Card, &InFleet, &InSector, &mut Helm, Option<&ClampedBy>), With<Awake>>,
    cards: Query<&Card>,
    pilots: Query<&Pilot>,
    wormholes: Res<Wormholes>,
    mut docking: ResMut<Docking>,
    mut appeared: MessageWriter<Appeared>,
    mut notes: MessageWriter<Noted>,
    mut coming: Local<Vec<Coming>>,
    mut commands: Commands,
) {
    let now = now.moment();
    for (entity, ship, card, fleet, sector, mut helm, clamped_by) in &mut ships {
        if helm.leg == Leg::Still {
            continue;
        }
        let is_held = || clamped_by.is_some_and(|clamps| clamps.holds(|holder| cards.get(holder).ok()));
        let navigation = &card.0.navigation;
        let Ok(here) = sectors.get(sector.0) else { continue };
        let Ok(map) = maps.get(here.map) else { continue };
        let mut come = |sector, arrival| coming.push(Coming { id: ship.id, ship: entity, sector, arrival });
        let before = helm.leg;
        let event = helm.bypass_change_detection().advance(now, navigation, is_held);
        // Most steps of a leg change nothing, and nothing is kept anew for them.
        if helm.leg != before {
            helm.set_changed();
        }
        match event {
            Event::Nothing => {}
            Event::Caught => {
                notes.write_batch(Noted::ship(ship, Note::Clamped));
            }
            Event::Reached(hex) => {
                if helm.leg == Leg::Still {
                    notes.write_batch(Noted::ship(ship, Note::Arrived { at: hex }));
                }
                if let Some(sector) = map.sector(hex) {
                    come(sector, None);
                }
            }
            Event::Landed(Passage::Rescue) => {
                let flag = navigation.rescue[usize::from(map.key.tier - 1)];
                come(map.centre(), Some(Arrival { ends: now + flag, ends_early: false }));
                notes.write_batch(Noted::ship(ship, Note::Rescued { flag }));
            }
            Event::Landed(Passage::Jump { code, to }) => {
                let to = wormholes.landing(code, to);
                let Some(there) = layers.get(to.map).and_then(|map| maps.get(map).ok()) else { continue };
                come(there.nearest(to.hex), Some(Arrival { ends: now + navigation.grace, ends_early: true }));
                notes.write_batch(Noted::ship(ship, Note::Landed { map: to.map }));
            }
            Event::Landed(Passage::Travel { layer }) => {
                let Some(to) = layers.get(MapKey::layer(layer)).and_then(|map| maps.get(map).ok()) else { continue };
                come(to.centre(), None);
                notes.write_batch(Noted::ship(ship, Note::Landed { map: MapKey::layer(layer) }));
            }
        }
        // Whose pilot has left docks where it comes to rest, if it may there.
        if helm.leg == Leg::Still && pilots.get(fleet.0).is_ok_and(|pilot| !pilot.online) {
            docking.add(entity);
        }
    }
    // Ships come into a sector in the order of their ids, so that the order in which it holds them is no accident.
    coming.sort_unstable_by_key(|coming| coming.id);
    for Coming { ship, sector, arrival, .. } in coming.drain(..) {
        commands.entity(ship).insert(InSector(sector));
        if let Some(arrival) = arrival {
            commands.entity(ship).insert(arrival);
        }
        appeared.write(Appeared { ship, sector });
    }
}
