//! The clear of an incursion, and what it pays.

use bevy_ecs::prelude::*;
use keel_balance::{Balance, Faction};
use keel_map::MapKey;
use keel_rules::pay::{Salt, contributes, hull_copy_chance, incursion_salt, is_training, original_chance};
use keel_rules::{Blueprint, ClassId, Moment, Site};

use super::{Incursions, end};
use crate::ids::{IncursionId, PilotId};
use crate::notes::{Note, Noted};
use crate::squads::draw_fits;
use crate::storms::tell_all;
use crate::stream::Stream;
use crate::world::{Cargo, Map, Maps, PilotIndex, Purse, Tuning};

/// All of it is destroyed: each contributor is paid, and the first of them gets a copy, and perhaps an original.
pub(super) fn clear(world: &mut World, id: IncursionId, now: Moment) {
    let Some(incursion) = end(world, id, now) else { return };
    let balance = world.resource::<Tuning>().balance.clone();
    let key = incursion.map;
    tell_all(world, Note::IncursionCleared { map: key });
    let Some(site) = world.resource::<Maps>().get(key).and_then(|map| world.get::<Map>(map)).map(Map::site) else {
        return;
    };
    if is_training(&balance, site) {
        return;
    }
    let salt = incursion_salt(&balance, site);
    let all: f64 = incursion.dealt.values().sum();
    for (&pilot, _) in incursion.dealt.iter().filter(|(_, dealt)| contributes(&balance, **dealt, all)) {
        pay(world, pilot, salt, key);
    }
    // Of two who did as much, the one of the lower id.
    let top = incursion.dealt.iter().rev().max_by(|one, two| one.1.total_cmp(two.1)).map(|(&pilot, _)| pilot);
    if let Some(top) = top {
        let mut stream = world.resource::<Incursions>().stream.clone();
        let won = draw_prize(&balance, site, incursion.faction, &mut stream);
        world.resource_mut::<Incursions>().stream = stream;
        if let Some(prize) = won {
            award(world, top, prize);
        }
    }
}

fn pay(world: &mut World, pilot: PilotId, salt: Salt, map: MapKey) {
    let Some(entity) = world.resource::<PilotIndex>().get(pilot) else { return };
    if let Some(mut purse) = world.get_mut::<Purse>(entity) {
        purse.salt.0 += salt.0;
        world.write_message(Noted::pilot(pilot, Note::ClearPaid { map, salt }));
    }
}

/// What the top contributor gets.
struct Prize {
    copy: Blueprint,
    original: bool,
}

/// A hull's copy by its chance, where the tier has hulls, and else a copy of what its ships have fitted.
fn draw_prize(balance: &Balance, site: Site, faction: Faction, stream: &mut Stream) -> Option<Prize> {
    let layer = &balance.layers[site.row()];
    let of_hull = stream.happens(hull_copy_chance(balance, site)) && !layer.hull_copies.is_empty();
    let copy = if of_hull {
        let class = &layer.hull_copies[stream.below(layer.hull_copies.len())];
        Blueprint::Hull(ClassId::named(balance, class)?)
    } else {
        let fit = *draw_fits(balance, layer, faction, 1, stream).first()?;
        let fitted: Vec<Blueprint> = fit.modules().map(|(_, module)| Blueprint::of(module)).collect();
        *fitted.get(stream.below(fitted.len().max(1)))?
    };
    Some(Prize { copy, original: stream.happens(original_chance(balance, site)) })
}

fn award(world: &mut World, pilot: PilotId, Prize { copy, original }: Prize) {
    let Some(entity) = world.resource::<PilotIndex>().get(pilot) else { return };
    let Some(mut cargo) = world.get_mut::<Cargo>(entity) else { return };
    cargo.keep_copy(copy);
    let is_new = original && cargo.originals.insert(copy);
    world.write_message(Noted::pilot(pilot, Note::CopyWon { of: copy }));
    if is_new {
        world.write_message(Noted::pilot(pilot, Note::OriginalWon { of: copy }));
    }
}
