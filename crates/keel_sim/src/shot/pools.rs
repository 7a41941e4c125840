//! Hits meet shield and hull (rule 6): [`SimSet::Pools`]. The one path by which a ship is hurt.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::roll::Outcome;
use keel_rules::{Dealt, pools};

use super::roll::Rolled;
use super::wear::{Part, Wear, Worn};
use crate::schedule::{Now, SimSet};
use crate::world::{Awake, Card, Condition, InSector, Map, Powers, Quiet, Sector, Ship, Tuning};

pub(crate) struct PoolsPlugin;

impl Plugin for PoolsPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Struck>()
            .add_message::<Downed>()
            .add_message::<Hurt>()
            .add_systems(FixedUpdate, strike.in_set(SimSet::Pools));
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

/// A ship's hull was whole and no longer is.
#[derive(Message, Clone, Copy, Debug)]
pub(crate) struct Hurt {
    pub(crate) ship: Entity,
}

/// A ship's hull has given out.
#[derive(Message, Clone, Copy, Debug)]
pub struct Downed {
    /// Which.
    pub ship: Entity,
    /// Whose shot it was.
    pub by: Option<Entity>,
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
    sectors: Query<&Sector>,
    mut rolled: MessageReader<Rolled>,
    mut ships: Query<(&Ship, &Card, &InSector, &Powers, &mut Condition, &mut Quiet, &mut Wear, Has<Awake>)>,
    mut struck: MessageWriter<Struck>,
    mut downed: MessageWriter<Downed>,
    mut hurt: MessageWriter<Hurt>,
    mut worn: ResMut<Worn>,
    mut down: Local<Vec<Entity>>,
    mut commands: Commands,
) {
    for &Rolled { shooter, target, outcome, raw, damage } in rolled.read() {
        let Ok((ship, card, sector, powers, mut condition, mut quiet, mut wear, awake)) = ships.get_mut(target) else {
            continue;
        };
        let mut dealt = Dealt::default();
        if !outcome.is_miss() {
            let map = sectors.get(sector.0).ok().and_then(|sector| maps.get(sector.map).ok());
            let destroys = map.is_some_and(|map| map.destroys(ship));
            let floor = if destroys { 0.0 } else { tuning.balance.kept_hull.get() };
            let sheet = &*card.0;
            let brace = if powers.is_braced(now.moment()) { sheet.powers.brace_resist() } else { 0.0 };
            let was_whole = condition.0.hull >= sheet.full.hull;
            dealt = pools::strike(&mut condition.0, &sheet.defenses, raw, damage, brace, floor);
            quiet.0 = now.moment();
            if !awake {
                commands.entity(target).insert(Awake);
            }
            if was_whole && dealt.hull > 0.0 {
                hurt.write(Hurt { ship: target });
            }
            for (part, dealt) in [(Part::Shield, dealt.shield), (Part::Armor, dealt.hull)] {
                if dealt > 0.0 && wear.count(part, &tuning.balance.wear) {
                    worn.add(ship.id, part);
                }
            }
            if dealt.hull_out && !down.contains(&target) {
                down.push(target);
                downed.write(Downed { ship: target, by: Some(shooter) });
            }
        }
        struck.write(Struck { shooter, target, outcome, raw, dealt });
    }
    down.clear();
}
