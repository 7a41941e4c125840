//! What is between pilots: duels by consent and charters (rule 10).

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::Moment;
use keel_rules::fire::{Bond, Owner};

use crate::ids::{CharterId, PilotId};
use crate::notes::{Note, Noted};
use crate::save::pairs;
use crate::schedule::{ExpirySet, Now};

pub(crate) struct BondsPlugin;

impl Plugin for BondsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Bonds>().add_systems(FixedUpdate, expire.in_set(ExpirySet::Ends));
    }
}

/// A charter: pilots who hold together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Charter {
    /// What it is called.
    pub name: String,
    /// What that looks like: no other charter's name looks the same.
    pub(crate) looks: [String; 2],
    /// Who may invite, declare and build: the founder, and after them who has been in it longest.
    pub head: PilotId,
    /// Its pilots, in the order in which they joined.
    pub members: Vec<PilotId>,
    /// Charters that it has declared hostile.
    pub hostile: BTreeSet<CharterId>,
    /// Whom it has invited, and until when that stands.
    #[serde(with = "pairs")]
    pub invited: BTreeMap<PilotId, Moment>,
    /// How often something of it was built or fell.
    pub(crate) built: u32,
}

impl Charter {
    pub(crate) fn new(name: &str, founder: PilotId) -> Self {
        Self {
            name: name.to_owned(),
            looks: keel_names::looks(name),
            head: founder,
            members: vec![founder],
            hostile: BTreeSet::new(),
            invited: BTreeMap::new(),
            built: 0,
        }
    }
}

/// Every duel and every charter.
#[derive(Resource, Debug, Default, Hash)]
pub struct Bonds {
    /// Who challenged whom, and until when that stands.
    pub(crate) asks: BTreeMap<(PilotId, PilotId), Moment>,
    /// Who duels whom (the lower id first), and until when.
    pub(crate) duels: BTreeMap<(PilotId, PilotId), Moment>,
    pub(crate) charters: BTreeMap<CharterId, Charter>,
    pub(crate) members: BTreeMap<PilotId, CharterId>,
    pub(crate) last: u32,
    /// Whether someone may no longer fire on someone: locks are looked through for it in the next lock phase.
    pub(crate) loosened: bool,
}

/// A duel's place: the lower id first.
pub(crate) fn pair(one: PilotId, two: PilotId) -> (PilotId, PilotId) {
    (one.min(two), one.max(two))
}

impl Bonds {
    /// What is between two pilots.
    #[must_use]
    pub fn between(&self, one: PilotId, two: PilotId) -> Bond {
        let charters = (self.charter_of(one), self.charter_of(two));
        Bond {
            duel: self.duels.contains_key(&pair(one, two)),
            hostile: matches!(charters, (Some(one), Some(two)) if self.are_hostile(one, two)),
            mates: matches!(charters, (Some(one), Some(two)) if one == two),
        }
    }

    /// Whether two charters are hostile: whoever declared it, it holds for both.
    #[must_use]
    pub fn are_hostile(&self, one: CharterId, two: CharterId) -> bool {
        let declared =
            |by: CharterId, on: CharterId| self.charters.get(&by).is_some_and(|charter| charter.hostile.contains(&on));
        declared(one, two) || declared(two, one)
    }

    /// What is between two ships' owners: nothing where one is an NPC. A structure is its charter's mates' mate.
    #[must_use]
    pub fn between_owners(&self, one: Owner, two: Owner) -> Bond {
        match (one, two) {
            (Owner::Pilot(one), Owner::Pilot(two)) => self.between(PilotId(one), PilotId(two)),
            (Owner::Pilot(pilot), Owner::Charter(charter)) | (Owner::Charter(charter), Owner::Pilot(pilot)) => {
                let (own, charter) = (self.charter_of(PilotId(pilot)), CharterId(charter));
                let hostile = own.is_some_and(|own| self.are_hostile(own, charter));
                Bond { duel: false, hostile, mates: own == Some(charter) }
            }
            (Owner::Npc | Owner::Charter(_), Owner::Npc | Owner::Charter(_))
            | (Owner::Npc, Owner::Pilot(_))
            | (Owner::Pilot(_), Owner::Npc) => Bond::default(),
        }
    }

    /// Pilots with whom a pilot is in a duel.
    pub fn rivals(&self, pilot: PilotId) -> impl Iterator<Item = PilotId> {
        self.duels.keys().filter_map(move |&(one, two)| match pilot {
            _ if pilot == one => Some(two),
            _ if pilot == two => Some(one),
            _ => None,
        })
    }

    /// What changes whenever it changes where a pilot may dock, or what of a map is the pilot's charter's.
    #[must_use]
    pub fn ports(&self, pilot: PilotId) -> Option<(CharterId, u32)> {
        let id = self.charter_of(pilot)?;
        Some((id, self.charter(id)?.built))
    }

    /// Something of a charter's was built, or has fallen.
    pub(crate) fn has_built(&mut self, charter: CharterId) {
        if let Some(charter) = self.charters.get_mut(&charter) {
            charter.built += 1;
        }
    }

    /// The charter that a pilot is in.
    #[must_use]
    pub fn charter_of(&self, pilot: PilotId) -> Option<CharterId> {
        self.members.get(&pilot).copied()
    }

    /// A charter.
    #[must_use]
    pub fn charter(&self, id: CharterId) -> Option<&Charter> {
        self.charters.get(&id)
    }

    /// All charters in the order in which they were founded.
    pub fn charters(&self) -> impl ExactSizeIterator<Item = (CharterId, &Charter)> {
        self.charters.iter().map(|(&id, charter)| (id, charter))
    }
}

/// Challenges, duels and invitations end when their time is over.
fn expire(now: Res<Now>, mut bonds: ResMut<Bonds>, mut notes: MessageWriter<Noted>) {
    // A timer that begins in a step covers that step: what ends with this one is over from the next on.
    let ends = now.moment().next_step();
    let is_over = |until: Moment| until <= ends;
    if !bonds.asks.values().chain(bonds.duels.values()).copied().any(is_over)
        && !bonds.charters.values().any(|charter| charter.invited.values().copied().any(is_over))
    {
        return;
    }
    bonds.asks.retain(|&(by, of), &mut until| {
        let over = is_over(until);
        if over {
            notes.write(Noted::pilot(by, Note::DuelUnanswered { by: of }));
        }
        !over
    });
    let mut ended = false;
    bonds.duels.retain(|&(one, two), &mut until| {
        let over = is_over(until);
        if over {
            notes.write(Noted::pilot(one, Note::DuelOver { with: two }));
            notes.write(Noted::pilot(two, Note::DuelOver { with: one }));
        }
        ended |= over;
        !over
    });
    bonds.loosened |= ended;
    for charter in bonds.charters.values_mut() {
        charter.invited.retain(|_, until| !is_over(*until));
    }
}
