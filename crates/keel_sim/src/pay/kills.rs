//! Pay for fair kills of pilots' ships.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use keel_rules::Moment;
use keel_rules::pay::{Salt, fair_kill_salt, is_match};
use serde::{Deserialize, Serialize};

use super::Destroyed;
use crate::bonds::Bonds;
use crate::ids::PilotId;
use crate::notes::{Note, Noted};
use crate::save::pairs;
use crate::schedule::Now;
use crate::world::{Map, PilotIndex, Purse, Sector, Tuning};

/// Who was paid for whom, and until when that one pays no more.
#[derive(Resource, Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub(crate) struct FairKills(#[serde(with = "pairs")] BTreeMap<(PilotId, PilotId), Moment>);

/// Pays for each fair kill: of a stranger, no match for whom the killer was too large, and not of the same one again and again.
pub(super) fn pay(
    now: Res<Now>,
    tuning: Res<Tuning>,
    bonds: Res<Bonds>,
    pilots: Res<PilotIndex>,
    sectors: Query<&Sector>,
    maps: Query<&Map>,
    mut destroyed: MessageReader<Destroyed>,
    mut paid: ResMut<FairKills>,
    mut purses: Query<&mut Purse>,
    mut notes: MessageWriter<Noted>,
) {
    let (balance, now) = (&*tuning.balance, now.moment());
    for Destroyed { ship: lost, sector, by, .. } in destroyed.read() {
        let (Some(victim), Some(by)) = (lost.pilot(), by) else { continue };
        let Some(killer) = by.pilot().filter(|&killer| killer != victim) else { continue };
        let Some(map) = sectors.get(*sector).ok().and_then(|sector| maps.get(sector.map).ok()) else { continue };
        // The place's own rule, not the layer's whose tables it reads: Rift 1 is open fire, and pays nothing all the same.
        let salt = fair_kill_salt(balance, map.site());
        let bond = bonds.between(killer, victim);
        let again = paid.0.get(&(killer, victim)).is_some_and(|&until| now < until);
        if salt == Salt(0) || bond.mates || bond.duel || again || !is_match(balance, by.class, lost.class) {
            continue;
        }
        paid.0.retain(|_, until| now < *until);
        paid.0.insert((killer, victim), now + balance.pay.kill_again_s.into());
        if let Some(mut purse) = pilots.get(killer).and_then(|pilot| purses.get_mut(pilot).ok()) {
            purse.salt.0 += salt.0;
            notes.write(Noted::pilot(killer, Note::KillPaid { salt }));
        }
    }
}
