//! The sim's types as the wire's, by hand.

mod card;
mod op;
mod ship;

pub(crate) use card::{card, kind, module};
pub(crate) use op::op;
pub(crate) use ship::{Inside, Outside, contact, own_ship};

use keel_map::Hex;
use keel_protocol::{Answer, Named, Shot};
use keel_sim::Answered;

pub(crate) fn answer(answered: &Answered) -> Answer {
    let (accepted, text) = match &answered.result {
        Ok(done) => (true, done.to_string()),
        Err(refusal) => (false, refusal.to_string()),
    };
    Answer { seq: answered.seq, accepted, text }
}

/// A map is far smaller than what a sector's coordinates have room for on the wire.
pub(crate) const fn place(hex: Hex) -> (i16, i16) {
    (hex.col as i16, hex.row as i16)
}

pub(crate) fn shot(shot: &keel_sim::Shot) -> Shot {
    let named = |contact: &keel_sim::Contact| Named {
        id: contact.id.0,
        pilot: contact.pilot().map_or(0, |pilot| pilot.0),
        class: contact.class.0,
        faction: contact.faction as u8,
    };
    Shot {
        step: shot.step,
        shooter: named(&shot.shooter),
        target: named(&shot.target),
        hit: !shot.outcome.is_miss(),
        raw: shot.raw,
        shield: shot.dealt.shield,
        hull: shot.dealt.hull,
    }
}
