//! Hits meet shield and hull (rule 6): [`SimSet::Pools`]. The one path by which a ship is hurt.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::roll::Outcome;
use keel_rules::{Dealt, pools};

use crate::roll::Rolled;
use crate::schedule::{Now, SimSet};
use crate::world::{Awake, Card, Condition, Map, Quiet, Ship, Tuning};

pub(crate) struct PoolsPlugin;

impl Plugin for PoolsPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Struck>().add_message::<Downed>().add_systems(FixedUpdate, strike.in_set(SimSet::Pools));
    }
}

/// A shot has met its target, or passed it by.
#[derive(Message, Clone, Copy, Debug)]
pub struct Struck {
    /// Who fired.
    pub shooter: Entity,
    /// At whom.
    pub target: Entity,
    /// How it left the roll.
    pub outcome: Outcome,
    /// Its damage before edge and resist.
    pub raw: f32,
    /// What it took.
    pub dealt: Dealt,
}

/// A ship's hull has given out.
#[derive(Message, Clone, Copy, Debug)]
pub struct Downed {
    /// Which.
    pub ship: Entity,
}

impl Map {
    /// Whether that ship is destroyed at zero hull here: an NPC always, a pilot's where hulls are lost.
    pub(crate) fn destroys(&self, ship: &Ship) -> bool {
        self.hull_loss || ship.pilot().is_none()
    }
}

fn strike(
    now: Res<Now>,
    tuning: Res<Tuning>,
    maps: Query<&Map>,
    mut rolled: MessageReader<Rolled>,
    mut ships: Query<(&Ship, &Card, &mut Condition, &mut Quiet, Has<Awake>)>,
    mut struck: MessageWriter<Struck>,
    mut downed: MessageWriter<Downed>,
    mut down: Local<Vec<Entity>>,
    mut commands: Commands,
) {
    let Ok(map) = maps.single() else { return };
    for &Rolled { shooter, target, outcome, raw, damage } in rolled.read() {
        let Ok((ship, card, mut condition, mut quiet, awake)) = ships.get_mut(target) else { continue };
        let mut dealt = Dealt::default();
        if !outcome.is_miss() {
            let floor = if map.destroys(ship) { 0.0 } else { tuning.balance.kept_hull.get() };
            dealt = pools::strike(&mut condition.0, &card.0.defenses, raw, damage, 0.0, floor);
            quiet.0 = now.moment();
            if !awake {
                commands.entity(target).insert(Awake);
            }
            if dealt.hull_out && !down.contains(&target) {
                down.push(target);
                downed.write(Downed { ship: target });
            }
        }
        struck.write(Struck { shooter, target, outcome, raw, dealt });
    }
    down.clear();
}
