//! What a bot decides when it looks up: its role first, then how it fights, and how it looks after its ship.

use keel_client::{Command, Contact, Flags, Force, Leg, OwnShip, Part, Power, STEP_MICROS, Slot};
use keel_map::{Hex, MapKey, MapKind};

use super::bot::{Bot, Common};
use super::scenario::{ARENA, INVADED, Role};
use crate::sight::{Sight, hex, is_npc, place, place_of};

/// Shares of a hull: under the first a pilot Braces, under the second runs or hides, and under the third has it mended where a
/// Haven is.
const BRACES: f32 = 0.5;
const RUNS: f32 = 0.35;
const MENDS: f32 = 0.7;

/// Chances, at each look, that a pilot who could do so Jams or Clamps a target, breaks a Clamp, or runs.
const JAMS: f64 = 0.2;
const CLAMPS: f64 = 0.2;
const UNCLAMPS: f64 = 0.5;
const FLEES: f64 = 0.2;

/// Between two Clamps of a bot, in microseconds: one that does not catch is not tried at once again.
const CLAMPED_AGAIN: u64 = 5_000_000;

/// A hop that begins so soon, in microseconds, is not cancelled any more.
const CANCELS: u64 = 150_000;

/// What bots roam to is so many hops away.
const ROAMS: std::ops::RangeInclusive<u32> = 3..=8;

/// Farther than that from the centre, in hops, a rescue jump is quicker.
const WALKS: u32 = 6;

/// What a bot has put into a slot: a kind and a faction of the yard's, or nothing.
type Fitting = (Slot, Option<(&'static str, &'static str)>);

/// What is changed on a starter ship; each bot has one of these. The first leaves it as it is: Brace, Jam and Clamp.
const LOADOUTS: [&[Fitting]; 4] = [
    &[],
    &[(Slot::Well(0), Some(("fast gun", "Raider")))],
    &[(Slot::Well(0), Some(("slow gun", "Sentry")))],
    &[(Slot::System(2), None), (Slot::System(1), Some(("cloak", "Human")))],
];

impl Bot {
    /// Looks up and orders what is to be ordered.
    pub(super) fn think(&mut self, common: &mut Common) {
        let Some(ship) = self.active().cloned() else { return };
        if !ship.flags.has(Flags::ARRIVING) {
            self.is_rescued = false;
        }
        if matches!(ship.leg, Leg::Transit { .. }) {
            self.is_at_post |= self.role == Role::Jump;
        } else if ship.flags.has(Flags::DOCKED) {
            self.leave_port(&ship, common);
        } else if let Some(power) = self.defence(&ship) {
            self.order(Command::Power(power), common);
        } else if self.wants_port(&ship) {
            self.order(Command::Dock { ship: ship.id }, common);
        } else {
            match self.role {
                Role::Brawl => self.brawl(&ship, common),
                Role::Hunt(map) => self.hunt(&ship, map, common),
                Role::Hop => self.hop(&ship, common),
                Role::Jump => self.cross(&ship, common),
                Role::Raid => self.raid(&ship, common),
            }
        }
    }

    fn brawl(&mut self, ship: &OwnShip, common: &mut Common) {
        if !self.make_way(ship, ARENA, common) {
            return;
        }
        let field = self.field(common.seed);
        if self.hull(ship) < RUNS && self.dice.happens(FLEES) {
            self.go(ship, Hex::CENTRE, common);
        } else if place_of(ship) != field {
            self.go(ship, field, common);
        } else if ship.leg == Leg::Still {
            self.is_at_post = true;
            if self.incursion(ARENA).is_none() {
                self.force(Force::Incursion(ARENA.code()), common);
            }
            self.fight(ship, |contact| contact.charter == 0, common);
        }
    }

    /// The sector of big fights: one beside the centre, where incursions come and pilots are back in a hop.
    fn field(&self, seed: u64) -> Hex {
        let around: Vec<Hex> = Hex::CENTRE.neighbours().filter(|&hex| self.has_sector(hex)).collect();
        around.get((seed % around.len().max(1) as u64) as usize).copied().unwrap_or(Hex::CENTRE)
    }

    fn hunt(&mut self, ship: &OwnShip, map: MapKey, common: &mut Common) {
        // Where no gate opens, a Rift's layer has to do.
        let map = if common.is_unforced { MapKey::layer(map.tier) } else { map };
        if !self.make_way(ship, map, common) {
            return;
        }
        self.is_at_post = true;
        if !self.fight(ship, is_npc, common) {
            self.seek(ship, &[], common);
        }
    }

    fn raid(&mut self, ship: &OwnShip, common: &mut Common) {
        if common.is_unforced {
            return self.hunt(ship, INVADED, common);
        }
        if !self.make_way(ship, INVADED, common) {
            return;
        }
        self.is_at_post = true;
        if self.fight(ship, is_npc, common) {
            return;
        }
        match self.incursion(INVADED) {
            Some(block) => self.seek(ship, &block, common),
            None => self.force(Force::Incursion(INVADED.code()), common),
        }
    }

    fn hop(&mut self, ship: &OwnShip, common: &mut Common) {
        self.is_at_post |= ship.leg != Leg::Still;
        self.roam(ship, common);
    }

    /// Takes one of the ways that lead off the map, or goes where there is one.
    fn cross(&mut self, ship: &OwnShip, common: &mut Common) {
        if ship.leg != Leg::Still {
            return;
        }
        let Some(map) = MapKey::from_code(ship.map) else { return };
        let id = ship.id;
        let mut ways: Vec<Command> =
            self.wormholes_here().into_iter().map(|wormhole| Command::Jump { ship: id, wormhole }).collect();
        if self.is_at_haven() {
            // The last layer has no Haven, and so no way back.
            ways.extend((map.tier < 5).then_some(Command::Travel { ship: id, up: true }));
            ways.extend((map.tier > 1).then_some(Command::Travel { ship: id, up: false }));
            if self.replica().wormholes().is_empty() {
                self.force(Force::Wormhole(MapKey::rift(map.tier).code()), common);
            }
        }
        if let Some(way) = self.dice.pick(&ways) {
            self.order(way, common);
        } else {
            self.leave(ship, map, common);
        }
    }

    /// Goes to where a map can be left.
    fn leave(&mut self, ship: &OwnShip, map: MapKey, common: &mut Common) {
        let door = self.replica().wormholes().iter().find(|end| end.map == ship.map).map(|end| hex(end.place));
        match (map.kind, door) {
            (MapKind::Layer, _) if place_of(ship) != Hex::CENTRE => self.go_home(ship, common),
            (_, Some(door)) => self.go(ship, door, common),
            (_, None) => self.roam(ship, common),
        }
    }

    /// Goes to the centre of a layer.
    fn go_home(&mut self, ship: &OwnShip, common: &mut Common) {
        if place_of(ship).distance(Hex::CENTRE) <= WALKS || ship.flags.has(Flags::ARRIVING) {
            self.go(ship, Hex::CENTRE, common);
        } else if ship.leg == Leg::Still {
            self.order(Command::Rescue { ship: ship.id }, common);
        }
    }

    /// Whether the ship is on a map; a step of the way there if it is not. From a layer to a Rift leads a gate that is forced at
    /// the layer's centre.
    fn make_way(&mut self, ship: &OwnShip, to: MapKey, common: &mut Common) -> bool {
        let Some(map) = MapKey::from_code(ship.map) else { return false };
        if map == to {
            return true;
        }
        // What is on its way somewhere is let to come there.
        if ship.leg != Leg::Still {
            return false;
        }
        let ends = self.replica().wormholes().iter();
        let gate = ends.filter(|end| self.is_here(end.map, end.place)).find(|end| end.to == to.code());
        if let Some(wormhole) = gate.map(|gate| gate.id) {
            self.order(Command::Jump { ship: ship.id, wormhole }, common);
        } else if map.kind == MapKind::Rift || !self.is_at_haven() && map.tier != to.tier {
            self.leave(ship, map, common);
        } else if place_of(ship) != Hex::CENTRE {
            self.go_home(ship, common);
        } else if to.kind == MapKind::Layer || map.tier != to.tier && self.role != Role::Raid {
            self.order(Command::Travel { ship: ship.id, up: to.tier > map.tier }, common);
        } else {
            self.force(Force::Wormhole(to.code()), common);
        }
        false
    }

    /// The sectors of a map's incursion, if one is announced or on.
    fn incursion(&self, map: MapKey) -> Option<Vec<Hex>> {
        let incursion = self.replica().journal().incursions.iter().find(|incursion| incursion.map == map.code())?;
        Some(incursion.sectors.iter().map(|&place| hex(place)).collect())
    }

    /// Goes to the nearest NPC in view, or else to one of those sectors, or else anywhere.
    fn seek(&mut self, ship: &OwnShip, else_to: &[Hex], common: &mut Common) {
        let nearest = self.enemies().first().map(|contact| place(contact));
        if let Some(nearest) = nearest {
            self.go(ship, nearest, common);
        } else if ship.leg == Leg::Still {
            match self.dice.pick(else_to) {
                Some(to) => self.go(ship, to, common),
                None => self.roam(ship, common),
            }
        }
    }

    /// Takes a course to anywhere not far, after the last one.
    fn roam(&mut self, ship: &OwnShip, common: &mut Common) {
        if ship.leg == Leg::Still {
            let here = place_of(ship);
            let near: Vec<Hex> = self.sectors().filter(|hex| ROAMS.contains(&hex.distance(here))).collect();
            if let Some(to) = self.dice.pick(&near) {
                self.go(ship, to, common);
            }
        }
    }

    /// Takes a course, unless the ship is on it.
    fn go(&mut self, ship: &OwnShip, to: Hex, common: &mut Common) {
        let is_under_way = ship.leg != Leg::Still && self.bound == Some(to);
        if place_of(ship) != to && !is_under_way && !matches!(ship.leg, Leg::Hop { .. }) {
            self.order(Command::Move { ship: ship.id, col: to.col, row: to.row }, common);
            self.bound = Some(to);
        }
    }

    /// Fights those of the sector that `may` says; whether there is any.
    fn fight(&mut self, ship: &OwnShip, may: impl Fn(&Contact) -> bool, common: &mut Common) -> bool {
        let here = place_of(ship);
        let hidden = |contact: &Contact| contact.flags.has(Flags::ARRIVING) || contact.flags.has(Flags::CLOAKED);
        let is_foe = |contact: &&Contact| {
            place(contact) == here && may(contact) && !hidden(contact) && !self.is_mate(contact.pilot)
        };
        let foes: Vec<u32> = self.contacts().filter(is_foe).map(|contact| contact.id).collect();
        let Some(target) = self.dice.pick(&foes) else { return false };
        if let Leg::Window { ends } = ship.leg {
            if self.now() + CANCELS < ends {
                self.order(Command::Cancel { ship: ship.id }, common);
            }
        } else if ship.target != 0 {
            if let Some(power) = self.offence(ship) {
                self.order(Command::Power(power), common);
            }
        } else if !self.is_rescued && !self.is_hiding(ship) {
            self.order(Command::Attack { ship: ship.id, target }, common);
        }
        true
    }

    /// Whether a ship is cloaked to get over its damage.
    fn is_hiding(&self, ship: &OwnShip) -> bool {
        ship.flags.has(Flags::CLOAKED) && self.hull(ship) < BRACES
    }

    /// Whether a pilot is of the bot's charter.
    fn is_mate(&self, pilot: u32) -> bool {
        let charter = self.replica().bonds().charter.as_ref();
        charter.is_some_and(|charter| charter.members.contains(&pilot))
    }

    /// The world's time, as far as it is known, in microseconds.
    fn now(&self) -> u64 {
        self.replica().step() * STEP_MICROS
    }

    /// The share of its hull that a ship has left.
    fn hull(&self, ship: &OwnShip) -> f32 {
        self.replica().card(ship.id).map_or(1.0, |card| ship.hull / card.hull)
    }

    /// The power that looks after the ship, if it needs and has one.
    fn defence(&mut self, ship: &OwnShip) -> Option<Power> {
        let (now, hull) = (self.now(), self.hull(ship));
        let powers = self.replica().card(ship.id)?.powers;
        let is_jammed = ship.flags.has(Flags::JAMMED);
        let can = |cost: f32, ready: u64| ship.battery.holds(now) > cost && ready <= now && !is_jammed;
        if hull < BRACES && powers.brace.is_some_and(|brace| can(brace.cost, ship.brace_ready)) {
            return Some(Power::Brace);
        }
        let is_clamped = ship.flags.has(Flags::CLAMPED);
        if is_clamped && powers.clamp.is_some_and(|clamp| ship.battery.holds(now) > clamp.unclamp_cost) {
            return self.dice.happens(UNCLAMPS).then_some(Power::Unclamp);
        }
        let hides = hull < RUNS && !ship.flags.has(Flags::CLOAKED);
        (hides && powers.cloak.is_some_and(|cost| can(cost, ship.cloak_ready))).then_some(Power::Cloak)
    }

    /// The power to use on the target, if it is locked and one is at hand.
    fn offence(&mut self, ship: &OwnShip) -> Option<Power> {
        let now = self.now();
        let powers = self.replica().card(ship.id)?.powers;
        if ship.locked_at > now {
            return None;
        }
        let is_braced = self.replica().contact(ship.target).is_some_and(|target| target.flags.has(Flags::BRACED));
        let jams = powers.jam.is_some_and(|jam| ship.battery.holds(now) > jam.cost && ship.jam_ready <= now);
        if jams && (is_braced || self.dice.happens(JAMS)) {
            return Some(Power::Jam);
        }
        let may_clamp = ship.clamping == 0 && !ship.flags.has(Flags::JAMMED) && self.clamps_at <= now;
        let clamps = may_clamp && powers.clamp.is_some_and(|clamp| ship.battery.holds(now) > clamp.cost);
        if clamps && self.dice.happens(CLAMPS) {
            self.clamps_at = now + CLAMPED_AGAIN;
            return Some(Power::Clamp);
        }
        None
    }

    fn loadout(&self) -> &'static [Fitting] {
        LOADOUTS[self.nth % LOADOUTS.len()]
    }

    /// Whether the ship is where it can dock, and has a reason to.
    fn wants_port(&self, ship: &OwnShip) -> bool {
        let has_reason = self.hull(ship) < MENDS || self.fitted != Some(ship.id) && !self.loadout().is_empty();
        has_reason && ship.leg == Leg::Still && !ship.flags.has(Flags::CLAMPED) && self.is_at_haven()
    }

    /// Fits the ship out, if it is not yet, and leaves.
    fn leave_port(&mut self, ship: &OwnShip, common: &mut Common) {
        if self.fitted.replace(ship.id) != Some(ship.id) {
            // What the last fitting has left in the hold would fill it one day.
            let kept: Vec<u32> = self.replica().hold().iter().map(|(module, _)| *module).collect();
            kept.into_iter().for_each(|module| self.order(Command::Drop { module }, common));
            for &(slot, made) in self.loadout() {
                let part = made.map_or(Some(Part::Empty), |(kind, faction)| self.yard(kind, faction));
                if let Some(part) = part {
                    self.order(Command::Fit { ship: ship.id, slot, part }, common);
                }
            }
        }
        self.order(Command::Undock { ship: ship.id }, common);
    }

    /// What the yard makes under those names.
    fn yard(&self, kind: &str, faction: &str) -> Option<Part> {
        let welcome = self.replica().welcome()?;
        let kind = welcome.kinds.iter().position(|known| known.name == kind)?;
        let faction = welcome.factions.iter().position(|known| known == faction)?;
        Some(Part::Yard { kind: kind as u8, faction: faction as u8 })
    }
}
