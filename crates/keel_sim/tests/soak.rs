//! The whole world filled and left to itself: what has to hold does, minute after minute, and nothing grows.

use keel_testkit::soak::{Soak, memory};

/// Hours that the suite soaks. `cargo xtask soak` goes on for a day, or for as long as one likes.
const HOURS: u64 = 6;

/// What the process may hold more after the last hour than after the first, in bytes.
const MOST_GROWTH: u64 = 4 << 20;

#[test]
fn the_world_filled_holds_caps_doors_and_entities_and_does_not_grow() {
    let mut soak = Soak::new(1);
    let first = soak.minute().unwrap();
    assert!(first.npcs > 6500 && first.squads > 700, "{first:?}");
    let (mut held, mut after_first) = (first, None);
    for _ in 0..HOURS {
        for _ in 0..60 {
            held = soak.minute().unwrap();
        }
        after_first = after_first.or_else(memory);
    }
    // Incursions come on top of what roams.
    assert!(held.npcs > 6000 && held.npcs < 12_000, "{held:?}");
    assert_eq!(u64::from(held.storms), HOURS);
    assert!(held.incursions > 3, "{held:?}");
    if let (Some(before), Some(now)) = (after_first, memory()) {
        assert!(now < before + MOST_GROWTH && now < 150 << 20, "{before} bytes, and {now} in the end");
    }
}
