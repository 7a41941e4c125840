//! What holds whatever pilots order: pools and batteries stay in range, and an op that is refused changes nothing.

mod any;

use any::{PILOTS, op, world};
use keel_sim::{Battery, Card, Condition, Hold, PilotId};
use keel_testkit::Game;
use proptest::prelude::*;

/// Pools in 0 to their maximum, batteries likewise, fleets and holds within their bounds.
fn in_range(game: &Game) -> Result<(), TestCaseError> {
    for ship in game.ships() {
        let (pools, full) = (game.get::<Condition>(ship.id).0, game.get::<Card>(ship.id).0.full);
        prop_assert!((0.0..=full.hull).contains(&pools.hull), "{ship:?}: {pools:?} of {full:?}");
        prop_assert!((0.0..=full.shield).contains(&pools.shield), "{ship:?}: {pools:?} of {full:?}");
        let (battery, most) = (game.get::<Battery>(ship.id).0, game.card(ship.id).battery);
        prop_assert!((0.0..=most).contains(&battery), "{ship:?}: {battery} of {most}");
    }
    for pilot in (1..=PILOTS).map(PilotId) {
        prop_assert!(game.ships().iter().filter(|ship| ship.pilot() == Some(pilot)).count() <= 6);
        prop_assert!(game.of_pilot::<Hold>(pilot).iter().count() <= 60);
        if let Some(active) = game.active(pilot) {
            prop_assert!(game.lives(active));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]

    /// A world that hears every op, and one that hears only those that are accepted, are the same.
    #[test]
    fn a_refused_op_changes_nothing_and_pools_and_batteries_stay_in_range(
        layer in 1u8..=6,
        seed: u64,
        ops in proptest::collection::vec((1..=PILOTS, op(), 0u64..30), 1..80),
    ) {
        let (mut all, mut accepted) = (world(layer, seed), world(layer, seed));
        for (pilot, op, pause) in ops {
            let pilot = PilotId(pilot);
            if all.op(pilot, op.clone()).is_ok() {
                prop_assert!(accepted.op(pilot, op.clone()).is_ok());
            } else {
                accepted.step(1);
            }
            prop_assert_eq!(all.hash(), accepted.hash(), "{:?} was refused and changed something", op);
            for _ in 0..pause {
                all.step(1);
                in_range(&all)?;
            }
            accepted.step(pause);
            in_range(&all)?;
        }
    }
}
