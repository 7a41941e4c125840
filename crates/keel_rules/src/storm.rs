//! When storms land (rule 13).

use keel_balance::Storms;

use crate::site::Site;

/// Maps of a kind: one storm of a kind follows the other.
const MAPS: u64 = 6;

const HOUR: u64 = 3600;

/// When the next storm of a map lands after a moment; both in seconds since 1970, UTC.
#[must_use]
pub fn next_landing(rule: &Storms, site: Site, after: u64) -> u64 {
    let every = u64::from(rule.every_h) * HOUR;
    let shift = match site {
        Site::Layer(_) => u64::from(rule.layer_shift_h) * HOUR,
        Site::Rift(_) => 0,
    };
    let first = (every / MAPS * u64::from(site.tier() - 1) + shift) % every;
    let landed = after.saturating_add(every - first) / every;
    first.saturating_add(landed.saturating_mul(every))
}

#[cfg(test)]
mod tests {
    use keel_balance::Balance;

    use super::*;

    #[test]
    fn rule_13_each_rift_storms_every_12_h_and_one_rift_every_2_h() {
        let balance = Balance::parse("balance.ron", include_str!("../../../balance.ron")).unwrap();
        let day = 20_000 * 24 * HOUR;
        for tier in 1..=6 {
            let hours = 2 * u64::from(tier - 1);
            for (site, first) in [(Site::Rift(tier), hours), (Site::Layer(tier), hours + 1)] {
                let landing = day + first * HOUR;
                assert_eq!(next_landing(&balance.storms, site, landing - 1), landing, "{site:?}");
                assert_eq!(next_landing(&balance.storms, site, landing), landing + 12 * HOUR, "{site:?}");
                assert_eq!(next_landing(&balance.storms, site, landing + 11 * HOUR), landing + 12 * HOUR);
            }
        }
        assert!(next_landing(&balance.storms, Site::Rift(6), u64::MAX) > 0, "a clock that makes no sense is no fault");
        assert_eq!(next_landing(&balance.storms, Site::Rift(1), 0), 12 * HOUR);
    }
}
