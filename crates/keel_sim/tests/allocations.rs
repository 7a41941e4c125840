//! A step takes no memory from the system: not when nothing happens, and not in a fight that goes on.

use std::sync::Arc;

use keel_balance::Faction;
use keel_map::Hex;
use keel_rules::Pools;
use keel_sim::{Condition, Op};
use keel_testkit::{Game, Setup, unworn_balance};

/// Allocations of so many steps.
fn allocations(game: &mut Game, steps: usize) -> u64 {
    allocation_counter::measure(|| {
        for _ in 0..steps {
            game.app.update();
        }
    })
    .count_total
}

#[test]
fn the_count_counts() {
    assert!(allocation_counter::measure(|| drop(std::hint::black_box(vec![1]))).count_total > 0);
}

#[test]
fn a_quiet_step_allocates_nothing() {
    let mut game = Game::unheard(Setup { squads: true, ..Setup::default() });
    game.step(100);
    assert_eq!(allocations(&mut game, 100), 0);
}

#[test]
fn a_fight_that_goes_on_allocates_nothing() {
    // A point of wear makes a new card, which is all that a fight takes memory for.
    let mut game = Game::unheard(Setup { balance: Arc::new(unworn_balance()), ..Setup::default() });
    let fit = game.common(2, Faction::Human);
    for _ in 0..50 {
        let (pilot, ship) = game.pilot_in(fit);
        let npc = game.squad(&[fit], Hex::CENTRE)[0];
        for id in [ship, npc] {
            game.set(id, Condition(Pools { shield: 0.0, hull: 1e9 }));
        }
        game.order(pilot, Op::Attack { ship, target: npc });
    }
    // Every buffer has been as full as it gets once all guns have fired in one step.
    game.step(400);
    assert_eq!(allocations(&mut game, 200), 0);
}
