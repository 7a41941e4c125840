//! What each pilot is shown of a step (rules 7, 8 and 9): all that they may see, and no more.

use keel_balance::{Faction, System};
use keel_map::Hex;
use keel_protocol::{Contact, Flags, MAX_SNAPSHOT, OwnShip, Snapshot, decode};
use keel_rules::powers::Power;
use keel_rules::{Fit, Moment};
use keel_server::{Plain, Replication};
use keel_sim::{Gun, Op, PilotId, Powers};
use keel_testkit::Game;

struct View {
    own: Vec<OwnShip>,
    contacts: Vec<Contact>,
    parts: usize,
}

impl View {
    fn ids(&self) -> Vec<u32> {
        self.contacts.iter().map(|contact| contact.id).collect()
    }
}

/// A pilot's view of the last step, put together from its datagrams.
fn view(game: &Game, pilot: PilotId) -> View {
    let (mut seen, mut next) = (View { own: Vec::new(), contacts: Vec::new(), parts: 0 }, 0u64);
    let mut show = |bytes: Vec<u8>| {
        assert!(bytes.len() <= MAX_SNAPSHOT, "{} bytes", bytes.len());
        let Snapshot { step, from, to, own, contacts } = decode(&bytes).unwrap();
        assert_eq!((step, u64::from(from)), (game.now(), next), "parts tell of every id once");
        assert!(
            own.iter().map(|ship| ship.id).chain(contacts.iter().map(|it| it.id)).all(|id| (from..=to).contains(&id))
        );
        next = u64::from(to) + 1;
        seen.own.extend(own);
        seen.contacts.extend(contacts);
        seen.parts += 1;
    };
    Plain.view(game.app.world(), game.fleet_of(pilot), 0, &mut show);
    assert_eq!(next, u64::from(u32::MAX) + 1);
    seen
}

#[test]
fn a_ship_sees_one_sector_around_and_a_sensor_two_until_a_jam_silences_it() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human);
    let [(plain, _), (sensor, ship)] = [fit, fit.with(System::Sensor, Faction::Human)].map(|fit| game.pilot_in(fit));
    let near = game.squad(&[unarmed(&game)], Hex::new(1, 0))[0];
    let far = game.squad(&[unarmed(&game)], Hex::new(2, 0))[0];
    let beyond = game.squad(&[unarmed(&game)], Hex::new(3, 0))[0];
    let sees = |game: &Game, pilot| [near, far, beyond].map(|npc| view(game, pilot).ids().contains(&npc.0));
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
    assert_eq!(view(&game, other).ids(), [escort.0]);
}

#[test]
fn a_big_fight_with_a_whole_fleet_goes_out_in_datagrams_that_fit() {
    let mut game = Game::default();
    let fit = game.common(0, Faction::Human);
    let pilot = game.pilot();
    let mut own = Vec::new();
    for n in 0..200 {
        if n % 33 == 0 && own.len() < 6 {
            own.push(game.ship(pilot, fit).0);
        } else {
            game.drone(fit);
        }
    }
    game.step(1);
    let view = view(&game, pilot);
    assert_eq!(view.own.iter().map(|ship| ship.id).collect::<Vec<_>>(), own);
    assert_eq!(view.contacts.len(), 194);
    assert!(view.parts >= 2 && view.parts < 12, "{} parts", view.parts);
}
