//! What each pilot is shown of a step (rules 7, 8 and 9): all that they may see, and no more.

use keel_balance::{Faction, System};
use keel_map::Hex;
use keel_protocol::Flags;
use keel_rules::powers::Power;
use keel_rules::{Fit, Moment};
use keel_server::Sight;
use keel_sim::{Gun, Op, PilotId, Powers};
use keel_testkit::Game;

/// A pilot's view of the last step.
fn view(game: &Game, pilot: PilotId) -> Sight {
    Sight::of(game.app.world(), game.fleet_of(pilot))
}

fn ids(sight: &Sight) -> Vec<u32> {
    sight.contacts.iter().map(|contact| contact.id).collect()
}

#[test]
fn a_ship_sees_one_sector_around_and_a_sensor_two_until_a_jam_silences_it() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human);
    let [(plain, _), (sensor, ship)] = [fit, fit.with(System::Sensor, Faction::Human)].map(|fit| game.pilot_in(fit));
    let near = game.squad(&[unarmed(&game)], Hex::new(1, 0))[0];
    let far = game.squad(&[unarmed(&game)], Hex::new(2, 0))[0];
    let beyond = game.squad(&[unarmed(&game)], Hex::new(3, 0))[0];
    let sees = |game: &Game, pilot| [near, far, beyond].map(|npc| ids(&view(game, pilot)).contains(&npc.0));
    game.step(1);
    assert_eq!(sees(&game, plain), [true, false, false]);
    assert_eq!(sees(&game, sensor), [true, true, false]);
    let until = Moment::of_step(1000);
    game.change::<Powers>(ship, |powers| powers.jammed_until = until);
    assert_eq!(sees(&game, sensor), [true, false, false]);
}

/// A hull without a gun.
fn unarmed(game: &Game) -> Fit {
    Fit { guns: [None; 2], ..game.common(0, Faction::Raider) }
}

#[test]
fn a_cloaked_ship_is_seen_by_those_alone_who_had_it_locked() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human);
    let (pilot, ship) = game.pilot_in(fit.with(System::Cloak, Faction::Human));
    let [(hunter, hunts), (other, _)] = [0, 0].map(|_| game.pilot_in(fit));
    game.op(hunter, Op::Focus { ship: hunts, target: ship }).unwrap();
    game.change::<Gun>(hunts, |gun| gun.ready_at = Moment::of_step(1000));
    game.op(pilot, Op::Power(Power::Cloak)).unwrap();
    let seen = |game: &Game, pilot| view(game, pilot).contacts.into_iter().find(|contact| contact.id == ship.0);
    assert!(seen(&game, hunter).is_some_and(|contact| contact.flags.has(Flags::CLOAKED)));
    assert_eq!(seen(&game, other), None);
    // Nor does the one who has it locked give it away to others.
    let hunted = |game: &Game| view(game, other).contacts.iter().find(|contact| contact.id == hunts.0).unwrap().target;
    assert_eq!(hunted(&game), 0);
    let until = Moment::of_step(1000);
    game.change::<Powers>(ship, |powers| powers.cloaked = false);
    assert_eq!(hunted(&game), ship.0);
    game.change::<Powers>(ship, |powers| (powers.cloaked, powers.cloak_ready) = (true, until));
    assert!(view(&game, pilot).own[0].flags.has(Flags::CLOAKED), "its pilot sees it");
    game.op(hunter, Op::Hold { ship: hunts }).unwrap();
    assert_eq!(seen(&game, hunter), None);
}

#[test]
fn a_docked_ship_is_its_pilots_to_see() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human);
    let [(pilot, ship), (other, _)] = [0, 0].map(|_| game.pilot_in(fit));
    let escort = game.ship(pilot, fit);
    game.op(pilot, Op::Dock { ship }).unwrap();
    let own = view(&game, pilot).own;
    assert_eq!(own.iter().map(|ship| ship.id).collect::<Vec<_>>(), [ship.0, escort.0]);
    assert!(own[0].flags.has(Flags::DOCKED) && own[0].flags.has(Flags::ACTIVE));
    assert!(!own[1].flags.has(Flags::DOCKED) && !own[1].flags.has(Flags::ACTIVE));
    assert_eq!(ids(&view(&game, other)), [escort.0]);
}
