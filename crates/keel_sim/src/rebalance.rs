//! Another balance for a world that lives on.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use keel_balance::Balance;
use keel_map::MapKind;
use keel_rules::{Blueprint, ClassId, Fit, FitError, Sheet};
use thiserror::Error;

use crate::bonds::Bonds;
use crate::incursions::Incursions;
use crate::pay::{Surveyed, Wreck, WreckIndex};
use crate::pilots::Shipless;
use crate::schedule::Now;
use crate::shot::CombatLog;
use crate::squads::{Roster, UnfitError, check_fits, listed, top_up};
use crate::storms::Storms;
use crate::structures::cast_off;
use crate::world::{Card, Cargo, Fitted, Haven, Map, Maps, PilotIndex, Ship, ShipIndex, Tuning, keep_sheets, set_card};
use crate::wormholes::Sought;

/// Why a world cannot go by a balance.
#[derive(Debug, Error)]
pub enum RebalanceError {
    /// What the balance has the world make cannot be made.
    #[error(transparent)]
    Fits(#[from] UnfitError),
    /// A class stands in another row, or has another name.
    #[error(
        "row {row} of the classes is {old}, and would be {new}: ships, wrecks and clients know classes by their rows, so that \
         only a restart moves or renames one; a new class can come after the others"
    )]
    Moved {
        /// Which row, from 1.
        row: usize,
        /// Its class.
        old: String,
        /// Its class by the balance that was refused.
        new: String,
    },
    /// A class is gone that something in the world has.
    #[error("the class {class} is gone, and {user} has it")]
    Gone {
        /// Which.
        class: String,
        /// What has it.
        user: String,
    },
    /// Ships that are there could not be by that balance: of each fit the first.
    #[error("ships that there are could not be:{}", listed(.0))]
    Ships(Vec<(String, FitError)>),
}

/// Has a world go by another balance from its next step on. To be called between two steps.
///
/// All that a ship's card says holds at once. A pool or battery that was so full stays so full: it keeps its share of what
/// there can be in it. What maps allow holds at once too: locks and Clamps that are no longer allowed end with the next step,
/// who is docked where a Haven goes is cast off, and squads that a map has room for come.
///
/// What was begun is not begun again: a lock, a cycle, a hop, a cooldown, a flag, a duel, a wormhole or an incursion that runs
/// ends when it would have. Only what merely waits (for a new ship, a squad, an incursion, or for a wreck to fade) waits at
/// most as long as it would from now on. Squads and structures that are there keep what is fitted to them, and ships the
/// stance they have. How maps are laid out holds from each map's next storm on.
///
/// The same balance again changes nothing.
///
/// # Errors
/// When the balance makes ships that cannot be, or the world has what the balance does not allow. Nothing has changed then.
pub fn rebalance(world: &mut World, balance: Arc<Balance>) -> Result<(), RebalanceError> {
    let old = Arc::clone(&world.resource::<Tuning>().balance);
    if *old == *balance {
        return Ok(());
    }
    check_fits(&balance)?;
    check_classes(world, &old, &balance)?;
    let sheets = sheets(world, &old, &balance)?;

    world.resource_mut::<Tuning>().balance = Arc::clone(&balance);
    let ships: Vec<Entity> = world.resource::<ShipIndex>().iter().map(|(_, ship)| ship).collect();
    for ship in ships {
        if let Some(sheet) = world.get::<Fitted>(ship).and_then(|fitted| sheets.get(&fitted.0)) {
            set_card(world, ship, Arc::clone(sheet));
        }
    }
    keep_sheets(world, sheets);
    logs(world, &balance);
    maps(world, &balance);
    settle(world, &old.storms.names);
    Ok(())
}

/// What is as another balance had it goes by the world's own: what waits, what maps no longer allow, squads, and what is named by
/// its place in a list, such as storms by theirs in that one.
pub(crate) fn settle(world: &mut World, storms: &[String]) {
    let balance = Arc::clone(&world.resource::<Tuning>().balance);
    waits(world, &balance);
    world.resource_mut::<Storms>().rename(storms, &balance.storms.names);
    // Locks and Clamps that are not allowed any more end with the next step.
    world.resource_mut::<Bonds>().loosened = true;
    for entity in world.resource::<Maps>().iter().collect::<Vec<_>>() {
        let Some(centre) = world.get::<Map>(entity).map(Map::centre) else { continue };
        if world.get::<Haven>(centre).is_none() {
            cast_off(world, centre);
        }
        top_up(world, entity);
    }
    // Who sees farther now has not come anywhere for it.
    *world.resource_mut::<Surveyed>() = Surveyed::NOTHING;
    *world.resource_mut::<Sought>() = Sought::NOTHING;
}

/// Whether each class is where it was, or nothing has it.
fn check_classes(world: &mut World, old: &Balance, new: &Balance) -> Result<(), RebalanceError> {
    for (row, (class, _)) in old.classes.iter().enumerate() {
        match new.classes.get(row) {
            Some((name, _)) if name == class => {}
            Some((name, _)) => {
                return Err(RebalanceError::Moved { row: row + 1, old: class.to_owned(), new: name.to_owned() });
            }
            None => {
                let is_it = |id: ClassId| usize::from(id.0) == row;
                if let Some(user) = user(world, old, is_it) {
                    return Err(RebalanceError::Gone { class: class.to_owned(), user });
                }
            }
        }
    }
    Ok(())
}

/// Something that has a class, in words.
fn user(world: &World, balance: &Balance, is_it: impl Fn(ClassId) -> bool) -> Option<String> {
    let copied = |of: &Blueprint| matches!(of, Blueprint::Hull(class) if is_it(*class));
    let mut ships = world.resource::<ShipIndex>().iter().filter_map(|(_, ship)| world.get::<Ship>(ship));
    if let Some(ship) = ships.find(|ship| is_it(ship.class)) {
        return Some(ship.contact().name(balance));
    }
    let mut wrecks = world.resource::<WreckIndex>().iter().filter_map(|(_, wreck)| world.get::<Wreck>(wreck));
    if let Some(wreck) = wrecks.find(|wreck| is_it(wreck.of.class) || wreck.load.copy.iter().any(copied)) {
        return Some(format!("wreck {}", wreck.id));
    }
    for (id, pilot) in world.resource::<PilotIndex>().iter() {
        let mut shots = world.get::<CombatLog>(pilot).into_iter().flat_map(CombatLog::iter);
        let cargo = world.get::<Cargo>(pilot);
        let blueprint = cargo.is_some_and(|cargo| cargo.copies.keys().chain(&cargo.originals).any(copied));
        if blueprint || shots.any(|shot| is_it(shot.shooter.class) || is_it(shot.target.class)) {
            return Some(format!("{} of pilot {id}", if blueprint { "a blueprint" } else { "the combat log" }));
        }
    }
    None
}

/// The sheets of all fits that there are. One that is as it was is the same one.
fn sheets(world: &World, old: &Balance, new: &Balance) -> Result<BTreeMap<Fit, Arc<Sheet>>, RebalanceError> {
    let mut sheets: BTreeMap<Fit, Option<Arc<Sheet>>> = BTreeMap::new();
    let mut unfit = Vec::new();
    for (_, entity) in world.resource::<ShipIndex>().iter() {
        let (Some(ship), Some(Fitted(fit)), Some(card)) =
            (world.get::<Ship>(entity), world.get::<Fitted>(entity), world.get::<Card>(entity))
        else {
            continue;
        };
        sheets.entry(*fit).or_insert_with(|| match Sheet::new(new, fit) {
            Ok(sheet) if sheet == *card.0 => Some(Arc::clone(&card.0)),
            Ok(sheet) => Some(Arc::new(sheet)),
            Err(error) => {
                unfit.push((ship.contact().name(old), error));
                None
            }
        });
    }
    if unfit.is_empty() {
        Ok(sheets.into_iter().filter_map(|(fit, sheet)| Some((fit, sheet?))).collect())
    } else {
        Err(RebalanceError::Ships(unfit))
    }
}

fn logs(world: &mut World, balance: &Balance) {
    let pilots: Vec<Entity> = world.resource::<PilotIndex>().iter().map(|(_, pilot)| pilot).collect();
    for pilot in pilots {
        if let Some(mut log) = world.get_mut::<CombatLog>(pilot)
            && log.most() != usize::from(balance.combat_log)
        {
            log.resize(balance.combat_log.into());
        }
    }
}

/// Nothing waits longer than it would from now on. What waits in a row waits equally long, and so stays in order.
fn waits(world: &mut World, balance: &Balance) {
    let now = world.resource::<Now>().moment();
    world.resource_mut::<Shipless>().wait_at_most(now + balance.starter.respawn_s.into());
    world.resource_mut::<Incursions>().wait_at_most(balance, now);
    for map in world.resource::<Maps>().iter().collect::<Vec<_>>() {
        if let Some(mut roster) = world.get_mut::<Roster>(map) {
            roster.wait_at_most(balance, now);
        }
    }
    for wreck in world.resource_mut::<WreckIndex>().last_at_most(now + balance.pay.wreck_s.into()) {
        if let Some(mut wreck) = world.get_mut::<Wreck>(wreck) {
            wreck.set_changed();
        }
    }
}

/// What maps allow, and their Havens.
fn maps(world: &mut World, balance: &Balance) {
    for entity in world.resource::<Maps>().iter().collect::<Vec<_>>() {
        let Some(mut map) = world.get_mut::<Map>(entity) else { continue };
        map.follow(balance);
        let (key, centre) = (map.key, map.centre());
        let has_haven = key.kind == MapKind::Layer && balance.layers[usize::from(key.tier - 1)].haven;
        if has_haven && world.get::<Haven>(centre).is_none() {
            world.entity_mut(centre).insert(Haven);
        } else if !has_haven {
            world.entity_mut(centre).remove::<Haven>();
        }
    }
}
