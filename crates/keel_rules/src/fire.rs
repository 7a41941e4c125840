//! Who may fire on whom (rule 10).

use keel_balance::FireRule;
use serde::{Deserialize, Serialize};

/// Whose ship it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Owner {
    /// A pilot, by number.
    Pilot(u32),
    /// Nobody: an NPC.
    Npc,
    /// A charter, by number: one of its structures.
    Charter(u32),
}

/// Why a ship may not fire on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Forbidden {
    /// The target is the pilot's own.
    #[error("That is your own ship.")]
    OwnShip,
    /// NPCs do not fight each other.
    #[error("NPCs hold together.")]
    BothNpcs,
    /// No pilot may fire on a pilot here.
    #[error("No pilot may fire on a pilot on this layer.")]
    Never,
    /// Only by consent, and there is none.
    #[error("On this layer pilots fire on pilots only in a duel, or when their charters are hostile.")]
    NoConsent,
    /// The target is of the same charter, and there is no duel.
    #[error("That is a charter mate's ship.")]
    Mate,
    /// The target is a structure of the pilot's charter.
    #[error("That is your own charter's.")]
    OwnStructure,
    /// Structures have no guns.
    #[error("A structure does not fire.")]
    Structure,
}

/// What is between two pilots, or a pilot and a charter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bond {
    /// They have agreed to a duel.
    pub duel: bool,
    /// One's charter has declared the other's hostile.
    pub hostile: bool,
    /// They are of one charter.
    pub mates: bool,
}

/// Whether a ship may fire on another under a map's rule (rule 10), with what is between their pilots.
///
/// # Errors
/// With the reason when it may not.
pub fn may_fire(rule: FireRule, shooter: Owner, target: Owner, bond: Bond) -> Result<(), Forbidden> {
    match (shooter, target) {
        (Owner::Npc, Owner::Npc) => Err(Forbidden::BothNpcs),
        (Owner::Charter(_), _) => Err(Forbidden::Structure),
        (Owner::Npc, Owner::Pilot(_) | Owner::Charter(_)) | (Owner::Pilot(_), Owner::Npc) => Ok(()),
        (Owner::Pilot(_), Owner::Charter(_)) if bond.mates => Err(Forbidden::OwnStructure),
        (Owner::Pilot(shooter), Owner::Pilot(target)) if shooter == target => Err(Forbidden::OwnShip),
        (Owner::Pilot(_), Owner::Pilot(_) | Owner::Charter(_)) => match rule {
            FireRule::Never => Err(Forbidden::Never),
            // A duel is by consent of both, whatever else they are to each other.
            _ if bond.duel => Ok(()),
            _ if bond.mates => Err(Forbidden::Mate),
            FireRule::Consent if !bond.hostile => Err(Forbidden::NoConsent),
            FireRule::Consent | FireRule::Open => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_10_layers_say_who_may_fire_on_whom() {
        use FireRule::{Consent, Never, Open};
        let bond = |duel, hostile, mates| Bond { duel, hostile, mates };
        let table = [
            // (duel, hostile, mates): Never, Consent, Open
            (bond(false, false, false), Err(Forbidden::NoConsent), Ok(())),
            (bond(true, false, false), Ok(()), Ok(())),
            (bond(false, true, false), Ok(()), Ok(())),
            (bond(true, true, false), Ok(()), Ok(())),
            (bond(false, false, true), Err(Forbidden::Mate), Err(Forbidden::Mate)),
            (bond(true, false, true), Ok(()), Ok(())),
        ];
        for (bond, consent, open) in table {
            let check = |rule| may_fire(rule, Owner::Pilot(1), Owner::Pilot(2), bond);
            assert_eq!([check(Never), check(Consent), check(Open)], [Err(Forbidden::Never), consent, open], "{bond:?}");
        }
        for rule in [Never, Consent, Open] {
            let check = |shooter, target| may_fire(rule, shooter, target, bond(true, true, true));
            assert_eq!(check(Owner::Pilot(1), Owner::Npc), Ok(()));
            assert_eq!(check(Owner::Npc, Owner::Pilot(1)), Ok(()));
            assert_eq!(check(Owner::Npc, Owner::Npc), Err(Forbidden::BothNpcs));
            assert_eq!(check(Owner::Charter(1), Owner::Pilot(1)), Err(Forbidden::Structure));
            let own = Bond { mates: true, ..Bond::default() };
            assert_eq!(may_fire(rule, Owner::Pilot(1), Owner::Charter(1), own), Err(Forbidden::OwnStructure));
            let other = may_fire(rule, Owner::Pilot(1), Owner::Charter(1), Bond::default());
            assert_eq!(other, may_fire(rule, Owner::Pilot(1), Owner::Pilot(2), Bond::default()));
            assert_eq!(check(Owner::Pilot(1), Owner::Pilot(1)), Err(Forbidden::OwnShip));
        }
    }
}
