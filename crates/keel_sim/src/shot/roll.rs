//! Hit or miss (rule 5): [`SimSet::Roll`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::Damage;
use keel_rules::roll::{self, Outcome};

use super::cycle::Fired;
use crate::schedule::SimSet;
use crate::world::{Card, Rolls};

pub(crate) struct RollPlugin;

impl Plugin for RollPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Rolled>().add_systems(FixedUpdate, roll_shots.in_set(SimSet::Roll));
    }
}

/// A shot has been rolled.
#[derive(Message, Clone, Copy, Debug)]
pub struct Rolled {
    /// Who fired.
    pub shooter: Entity,
    /// At whom.
    pub target: Entity,
    /// How it left the roll.
    pub outcome: Outcome,
    /// Its damage before edge and resist, a crit's factor included; 0 on a miss.
    pub raw: f32,
    /// What it is made of.
    pub damage: Damage,
}

fn roll_shots(
    mut fired: MessageReader<Fired>,
    cards: Query<&Card>,
    mut streams: Query<&mut Rolls>,
    mut rolled: MessageWriter<Rolled>,
) {
    for &Fired { shooter, target, .. } in fired.read() {
        let (Ok(card), Ok(target_card), Ok(mut rolls)) =
            (cards.get(shooter), cards.get(target), streams.get_mut(shooter))
        else {
            continue;
        };
        let sheet = &card.0;
        let Some(gun) = sheet.gun else { continue };
        let outcome = roll::roll(sheet.hit_chance(&target_card.0), sheet.crit, || rolls.0.draw());
        let raw = match outcome {
            Outcome::Miss => 0.0,
            Outcome::Hit => gun.volley,
            Outcome::Crit => gun.volley * sheet.crit_damage,
        };
        rolled.write(Rolled { shooter, target, outcome, raw, damage: gun.damage });
    }
}
