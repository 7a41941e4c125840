//! A pilot's escorts (rule 10): [`MindsSet::Escorts`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_map::Hex;
use keel_rules::Moment;

use super::triggers::Zeal;
use super::{Act, Alert, Preys, SeenItem, Sight, Stance};
use crate::ids::ShipId;
use crate::movement::Leg;
use crate::orders::Orders;
use crate::schedule::{MindsSet, Now};
use crate::shot::LockedBy;
use crate::world::{Fleet, Occupants, Pilot, ShipIndex};

pub(super) struct EscortsPlugin;

impl Plugin for EscortsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(FixedUpdate, decide.in_set(MindsSet::Escorts));
    }
}

fn decide(
    now: Res<Now>,
    pilots: Query<(Entity, &Pilot, &Fleet), With<Alert>>,
    index: Res<ShipIndex>,
    sight: Sight,
    mut preys: Local<Preys>,
    mut orders: ResMut<Orders>,
    mut commands: Commands,
) {
    let now = now.moment();
    for (entity, pilot, fleet) in &pilots {
        let active = pilot.active.and_then(|id| index.get(id));
        let active = || active.and_then(|ship| sight.ship(ship));
        let mut at_rest = true;
        for ship in fleet.iter().filter_map(|ship| sight.ship(ship)) {
            at_rest &= !ship.awake;
            if Some(ship.ship.id) == pilot.active {
                continue;
            }
            let protectee = ship.mind.protectee.and_then(|id| index.get(id)).and_then(|ship| sight.ship(ship));
            let mind = Escort {
                sight: &sight,
                now,
                pilot,
                fleet,
                active: active(),
                protectee: protectee.or_else(active),
                ship,
            };
            let power = sight.triggered(&mind.ship, now.next_step(), mind.zeal());
            orders.minds.extend(power.map(|power| (mind.ship.ship.id, Act::Power(power))));
            let act = mind.lock(&mut preys).map(Act::Lock).or_else(|| mind.way().map(Act::Move));
            at_rest &= act.is_none() && !mind.awaits();
            orders.minds.extend(act.map(|act| (mind.ship.ship.id, act)));
        }
        // A fleet of which every ship sleeps, and none has anything to wait for, is not looked at until it is alarmed.
        if at_rest {
            commands.entity(entity).remove::<Alert>();
        }
    }
    preys.clear();
}

/// An escort that decides.
struct Escort<'a, 'w, 's> {
    sight: &'a Sight<'w, 's>,
    now: Moment,
    pilot: &'a Pilot,
    fleet: &'a Fleet,
    active: Option<SeenItem<'a, 'a>>,
    /// Whom it protects: the active ship when it was told of no other, or that one is not in space.
    protectee: Option<SeenItem<'a, 'a>>,
    ship: SeenItem<'a, 'a>,
}

impl Escort<'_, '_, '_> {
    /// A Support ship always Jams and Clamps its attackers.
    fn zeal(&self) -> Zeal {
        let target = self.ship.locking.map(|locking| locking.0);
        let attacks = |ship: &SeenItem<'_, '_>| {
            ship.locked_by.is_some_and(|hunters| hunters.iter().any(|hunter| Some(hunter) == target))
        };
        let always = self.ship.mind.stance == Stance::Support
            && (attacks(&self.ship) || self.protectee.as_ref().is_some_and(attacks));
        Zeal { jams: always, clamps: always }
    }

    /// Whom it locks by itself.
    fn lock(&self, preys: &mut Preys) -> Option<ShipId> {
        let busy = self.ship.locking.is_some()
            || self.ship.helm.in_transit()
            || self.ship.arrival.is_up(self.now)
            || self.ship.card.0.gun.is_none();
        if busy {
            return None;
        }
        let answers =
            || self.hunter_of(&self.ship).or_else(|| self.protectee.as_ref().and_then(|ship| self.hunter_of(ship)));
        match self.ship.mind.stance {
            Stance::Passive => None,
            Stance::Support => answers(),
            Stance::Defensive => answers().or_else(|| self.actives_target()),
            Stance::Aggressive => answers().or_else(|| self.actives_target()).or_else(|| self.quarry(preys)),
        }
    }

    fn is_here(&self, ship: &SeenItem<'_, '_>) -> bool {
        ship.sector == self.ship.sector
    }

    /// Who locks a ship, and may be fired on from here: of several the one of the lowest id.
    fn hunter_of(&self, ship: &SeenItem<'_, '_>) -> Option<ShipId> {
        let hunters = ship.locked_by.into_iter().flat_map(LockedBy::iter).filter_map(|hunter| self.sight.ship(hunter));
        let open = hunters.filter(|hunter| {
            self.is_here(hunter) && Sight::is_open(hunter, self.now) && self.sight.may_fire(&self.ship, hunter)
        });
        open.map(|hunter| hunter.ship.id).min()
    }

    /// The active ship's target. A pilot's is locked by order alone.
    fn actives_target(&self) -> Option<ShipId> {
        let target = self.active.as_ref()?.locking.and_then(|locking| self.sight.ship(locking.0))?;
        let open = target.ship.pilot().is_none() && self.is_here(&target) && Sight::is_open(&target, self.now);
        open.then_some(target.ship.id)
    }

    /// Anything of the sector that an Aggressive ship engages: NPCs, and pilots marked KOS where firing is allowed.
    fn quarry(&self, preys: &mut Preys) -> Option<ShipId> {
        self.sight.prey(preys, self.ship.sector.0, self.now).npc.or_else(|| {
            let marked = self.marked_here().filter(|ship| Sight::is_open(ship, self.now));
            marked.map(|ship| ship.ship.id).min()
        })
    }

    /// Ships of KOS pilots in the sector that may be fired on.
    fn marked_here(&self) -> impl Iterator<Item = SeenItem<'_, '_>> {
        let occupants = self.sight.occupants.get(self.ship.sector.0).ok().filter(|_| !self.pilot.kos.is_empty());
        occupants.into_iter().flat_map(Occupants::iter).filter_map(|ship| self.sight.ship(ship)).filter(|ship| {
            ship.ship.pilot().is_some_and(|owner| self.pilot.kos.contains(&owner))
                && self.sight.may_fire(&self.ship, ship)
        })
    }

    /// Whether there is something that it will do when another's flag or cloak ends.
    fn awaits(&self) -> bool {
        self.ship.mind.stance == Stance::Aggressive && self.marked_here().next().is_some()
    }

    /// Where it goes by itself. Whoever fights, or is under way, stays at that.
    fn way(&self) -> Option<Hex> {
        // Whoever a Clamp has stopped waits for what breaks it.
        let held = self.ship.clamped_by.is_some() && self.ship.helm.is_caught();
        if held || self.ship.mind.waits || self.ship.locking.is_some() || self.ship.helm.leg() != Leg::Still {
            return None;
        }
        let here = self.sight.sectors.get(self.ship.sector.0).ok()?;
        let helped = (self.ship.mind.stance == Stance::Aggressive).then(|| self.mate_in_need(here.hex)).flatten();
        let leader = match self.ship.mind.stance {
            Stance::Support => self.protectee.as_ref(),
            _ => self.active.as_ref().filter(|_| self.ship.mind.follows),
        };
        let led = leader.and_then(|leader| {
            let there = self.sight.sectors.get(leader.sector.0).ok()?;
            (there.map == here.map).then(|| leader.helm.destination().unwrap_or(there.hex))
        });
        helped.or(led).filter(|&hex| hex != here.hex)
    }

    /// Where a ship of the fleet one hex away is locked by others: of several the one of the lowest id.
    fn mate_in_need(&self, here: Hex) -> Option<Hex> {
        let mates = self.fleet.iter().filter_map(|mate| self.sight.ship(mate)).filter_map(|mate| {
            let there = self.sight.sectors.get(mate.sector.0).ok()?;
            let own = self.sight.sectors.get(self.ship.sector.0).ok()?;
            let in_need = mate.locked_by.is_some_and(|hunters| hunters.iter().len() > 0);
            (in_need && there.map == own.map && there.hex.distance(here) == 1).then_some((mate.ship.id, there.hex))
        });
        mates.min_by_key(|&(id, _)| id).map(|(_, hex)| hex)
    }
}
