//! What is paid for a kill, a clear and a chart (rule 11). One pair of numbers, `rift_pay` and `rift_incursion_pay`, makes a
//! Rift pay more than its layer; nothing here repeats them.

use serde::{Deserialize, Serialize};
use std::fmt;

use keel_balance::{Balance, Chance};

use crate::hull::ClassId;
use crate::site::Site;

/// Salt, in hundredths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Salt(pub u64);

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 100 {
            0 => write!(f, "{} Salt", self.0 / 100),
            cents => write!(f, "{}.{cents:02} Salt", self.0 / 100),
        }
    }
}

/// By how much a place's pay is multiplied: 1 on a layer, 2 in a Rift, 4 for a Rift's incursion.
#[must_use]
pub const fn rift_multiple(balance: &Balance, site: Site, incursion: bool) -> u8 {
    match (site, incursion) {
        (Site::Layer(_), _) => 1,
        (Site::Rift(_), false) => balance.rift_pay,
        (Site::Rift(_), true) => balance.rift_incursion_pay,
    }
}

/// A chance so many times over: certain at most.
fn times(chance: Chance, times: u8) -> f32 {
    (chance.get() * f32::from(times)).min(1.0)
}

/// What a wreck may hold, each a chance from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WreckOdds {
    /// For each module of the ship's.
    pub drop: f32,
    /// For a Remnant.
    pub remnant: f32,
    /// For a copy of one of its modules.
    pub copy: f32,
}

/// The odds of the wreck of a roaming NPC, or of a pilot's ship: there what the pilot had is multiplied by nothing.
#[must_use]
pub fn wreck_odds(balance: &Balance, multiple: u8) -> WreckOdds {
    let pay = &balance.pay;
    WreckOdds {
        drop: times(pay.drop, multiple),
        remnant: times(pay.remnant, multiple),
        copy: times(pay.copy, multiple),
    }
}

/// Material in a wreck: by the hull, in whole pieces.
#[must_use]
pub fn wreck_material(balance: &Balance, class: ClassId, multiple: u8) -> u32 {
    let hull = balance.classes.get(class.0.into()).map_or(1.0, |(_, class)| class.hull.get());
    (f32::from(balance.pay.material) * hull).round() as u32 * u32::from(multiple)
}

/// Salt that each contributor to a cleared incursion is paid. A layer that pays none counts a base for its Rift.
#[must_use]
pub fn incursion_salt(balance: &Balance, site: Site) -> Salt {
    let layer = balance.layers[site.row()].incursion_salt;
    let base = match site {
        Site::Layer(_) => layer,
        Site::Rift(_) => layer.max(balance.pay.rift_base_salt),
    };
    Salt(u64::from(base) * u64::from(rift_multiple(balance, site, true)))
}

/// Whether a place has training incursions alone, which pay nothing: a layer without Salt.
#[must_use]
pub const fn is_training(balance: &Balance, site: Site) -> bool {
    matches!(site, Site::Layer(_)) && balance.layers[site.row()].incursion_salt == 0
}

/// The chance that the top contributor's copy is a hull's.
#[must_use]
pub fn hull_copy_chance(balance: &Balance, site: Site) -> f32 {
    times(balance.pay.hull_copy, rift_multiple(balance, site, true))
}

/// The chance that the top contributor gets a blueprint's original.
#[must_use]
pub fn original_chance(balance: &Balance, site: Site) -> f32 {
    times(balance.pay.original, rift_multiple(balance, site, true)).min(balance.pay.original_most.get())
}

/// Whether so much of all damage to an incursion's NPCs makes a contributor: strictly more than the share.
#[must_use]
pub fn contributes(balance: &Balance, dealt: f64, all: f64) -> bool {
    // The share as it is written: the nearest `f32` to 0.05 is a little more.
    let share = (f64::from(balance.pay.contribution.get()) * 1e6).round() / 1e6;
    dealt > all * share
}

/// Notches for a full chart.
#[must_use]
pub const fn notches(balance: &Balance, site: Site) -> u8 {
    match site {
        Site::Layer(_) => balance.layers[site.row()].notches,
        Site::Rift(_) => balance.rifts[site.row()].notches,
    }
}

/// Salt for a fair kill of a pilot's ship.
#[must_use]
pub fn fair_kill_salt(balance: &Balance, site: Site) -> Salt {
    let layer = u64::from(balance.layers[site.row()].kill_salt);
    Salt(match site {
        Site::Layer(_) => layer,
        Site::Rift(_) => layer * u64::from(balance.pay.rift_kill_percent) / 100,
    })
}

/// Whether a kill of a pilot's ship is fair as far as the hulls go: the lost one is not much smaller than the killer's.
#[must_use]
pub const fn is_match(balance: &Balance, killer: ClassId, lost: ClassId) -> bool {
    killer.0.saturating_sub(lost.0) <= balance.pay.kill_smaller
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Balance {
        Balance::parse("balance.ron", include_str!("../../../balance.ron")).unwrap()
    }

    #[test]
    fn rule_11_the_multiple_is_1_on_a_layer_2_in_a_rift_and_4_in_its_incursion() {
        let balance = shipped();
        for tier in 1..=6 {
            let multiples = [Site::Layer(tier), Site::Rift(tier)]
                .map(|site| [false, true].map(|inc| rift_multiple(&balance, site, inc)));
            assert_eq!(multiples, [[1, 1], [2, 4]]);
        }
    }

    #[test]
    fn rule_11_an_incursion_npcs_wreck_would_pay_four_times() {
        // None is left in play: the clear carries the payout.
        let balance = shipped();
        let four = rift_multiple(&balance, Site::Rift(4), true);
        let (one, many) = (wreck_odds(&balance, 1), wreck_odds(&balance, four));
        let times = |chance: f32| (chance * 4.0).min(1.0);
        assert_eq!((many.drop, many.remnant, many.copy), (times(one.drop), times(one.remnant), times(one.copy)));
        assert_eq!(wreck_material(&balance, ClassId(4), four), 4 * wreck_material(&balance, ClassId(4), 1));
    }

    #[test]
    fn rule_11_a_clear_pays_4_4_4_8_12_16_salt_in_a_rift() {
        let balance = shipped();
        let salt = |site: fn(u8) -> Site| [1, 2, 3, 4, 5, 6].map(|tier| incursion_salt(&balance, site(tier)).0);
        assert_eq!(salt(Site::Rift), [400, 400, 400, 800, 1200, 1600]);
        assert_eq!(salt(Site::Layer), [0, 100, 100, 200, 300, 400]);
        assert!(is_training(&balance, Site::Layer(1)) && !is_training(&balance, Site::Rift(1)));
        assert!(!is_training(&balance, Site::Layer(2)));
    }

    #[test]
    fn rule_11_moving_the_pair_moves_all_pay_with_it() {
        let shipped = shipped();
        let moved = Balance { rift_pay: 3, rift_incursion_pay: 6, ..shipped.clone() };
        for tier in 1..=6 {
            let rift = Site::Rift(tier);
            assert_eq!(incursion_salt(&moved, rift).0 * 4, incursion_salt(&shipped, rift).0 * 6);
            assert_eq!(rift_multiple(&moved, rift, false), 3);
        }
        assert!(hull_copy_chance(&Balance { rift_incursion_pay: 3, ..shipped.clone() }, Site::Rift(3)) < 1.0);
        let odds = wreck_odds(&shipped, rift_multiple(&moved, Site::Rift(1), false));
        assert_eq!(odds.drop, shipped.pay.drop.get() * 3.0);
    }

    #[test]
    fn rule_11_copies_and_originals_have_the_printed_chances() {
        let balance = shipped();
        for tier in 1..=6 {
            assert_eq!(hull_copy_chance(&balance, Site::Layer(tier)), 0.25);
            assert_eq!(hull_copy_chance(&balance, Site::Rift(tier)), 1.0, "0.25 times 4 is certain");
            assert_eq!(original_chance(&balance, Site::Layer(tier)), 0.1);
            assert_eq!(original_chance(&balance, Site::Rift(tier)), 0.25, "0.1 times 4, capped");
        }
    }

    #[test]
    fn rule_11_a_full_chart_pays_2_2_4_6_8_12_notches_in_a_rift_and_half_on_a_layer() {
        let balance = shipped();
        let pay = |site: fn(u8) -> Site| [1, 2, 3, 4, 5, 6].map(|tier| notches(&balance, site(tier)));
        assert_eq!(pay(Site::Rift), [2, 2, 4, 6, 8, 12]);
        assert_eq!(pay(Site::Layer), [1, 1, 2, 3, 4, 6]);
    }

    #[test]
    fn rule_11_a_fair_kill_pays_on_tier_3_to_6_alone_and_1_25_times_in_a_rift() {
        let balance = shipped();
        for tier in 1..=6 {
            let (layer, rift) =
                (fair_kill_salt(&balance, Site::Layer(tier)), fair_kill_salt(&balance, Site::Rift(tier)));
            assert_eq!(layer.0 > 0, tier >= 3);
            assert_eq!(rift.0 * 4, layer.0 * 5, "1.25 times, and nothing lost by rounding");
        }
        assert!(is_match(&balance, ClassId(2), ClassId(1)) && is_match(&balance, ClassId(0), ClassId(4)));
        assert!(!is_match(&balance, ClassId(2), ClassId(0)));
    }

    #[test]
    fn rule_11_over_5_percent_is_strictly_more() {
        let balance = shipped();
        assert!(!contributes(&balance, 5.0, 100.0) && contributes(&balance, 5.000_000_1, 100.0));
        assert!(!contributes(&balance, 50.0, 1000.0) && contributes(&balance, 50.1, 1000.0));
        assert!(!contributes(&balance, 0.0, 0.0));
    }

    #[test]
    fn salt_is_told_in_hundredths_where_there_are_some() {
        assert_eq!([400, 125, 5, 0].map(|salt| Salt(salt).to_string()), ["4 Salt", "1.25 Salt", "0.05 Salt", "0 Salt"]);
    }
}
