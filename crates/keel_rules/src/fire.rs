//! Who may fire on whom (rule 10).

use keel_balance::FireRule;

/// Whose ship it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A pilot, by number.
    Pilot(u32),
    /// Nobody: an NPC.
    Npc,
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
    #[error("On this layer pilots fire on pilots only in a duel.")]
    NoConsent,
}

/// Whether a ship may fire on another under a layer's rule (rule 10). `consent` says whether the two have agreed to a duel.
///
/// # Errors
/// With the reason when it may not.
pub fn may_fire(rule: FireRule, shooter: Owner, target: Owner, consent: bool) -> Result<(), Forbidden> {
    match (shooter, target) {
        (Owner::Npc, Owner::Npc) => Err(Forbidden::BothNpcs),
        (Owner::Npc, Owner::Pilot(_)) | (Owner::Pilot(_), Owner::Npc) => Ok(()),
        (Owner::Pilot(shooter), Owner::Pilot(target)) if shooter == target => Err(Forbidden::OwnShip),
        (Owner::Pilot(_), Owner::Pilot(_)) => match rule {
            FireRule::Never => Err(Forbidden::Never),
            FireRule::Consent if !consent => Err(Forbidden::NoConsent),
            FireRule::Consent | FireRule::Open => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_10_layers_say_who_may_fire_on_whom() {
        let pilots = (Owner::Pilot(1), Owner::Pilot(2));
        let check = |rule, consent| may_fire(rule, pilots.0, pilots.1, consent);
        assert_eq!(check(FireRule::Never, true), Err(Forbidden::Never));
        assert_eq!(check(FireRule::Consent, false), Err(Forbidden::NoConsent));
        assert_eq!(check(FireRule::Consent, true), Ok(()));
        assert_eq!(check(FireRule::Open, false), Ok(()));
        for rule in [FireRule::Never, FireRule::Consent, FireRule::Open] {
            assert_eq!(may_fire(rule, Owner::Pilot(1), Owner::Npc, false), Ok(()));
            assert_eq!(may_fire(rule, Owner::Npc, Owner::Pilot(1), false), Ok(()));
            assert_eq!(may_fire(rule, Owner::Npc, Owner::Npc, false), Err(Forbidden::BothNpcs));
            assert_eq!(may_fire(rule, Owner::Pilot(1), Owner::Pilot(1), true), Err(Forbidden::OwnShip));
        }
    }
}
