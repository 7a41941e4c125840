//! A world that is kept and taken up again goes on as if it had never stopped.

mod any;

use std::collections::BTreeMap;

use any::{PILOTS, op, setup, world};
use keel_balance::{Faction, System};
use keel_map::{Hex, MapKey};
use keel_rules::powers::Power;
use keel_rules::{Fit, Moment, Slot};
use keel_sim::{
    Arrival, Cut, Force, Key, Kind, Locking, Op, OperatorOps, Orders, Part, Pilot, PilotId, RestoreError, Row, ShipId,
    Stance, StructureKind, WallClock, changes,
};
use keel_testkit::{Game, Setup};
use proptest::prelude::*;

/// Rows as a file would keep them: as bytes, and only what each cut says.
#[derive(Default)]
struct Kept(BTreeMap<Key, Vec<u8>>);

impl Kept {
    /// Takes in what has changed; how many rows that were.
    fn cut(&mut self, game: &mut Game) -> usize {
        let cut = changes(game.app.world_mut());
        assert_eq!(cut.step, game.now());
        if cut.is_whole {
            self.0.clear();
        }
        let rows = cut.rows.len();
        for (key, row) in cut.rows {
            match row {
                Some(row) => drop(self.0.insert(key, rmp_serde::to_vec_named(&row).unwrap())),
                None => assert!(self.0.remove(&key).is_some(), "{key:?} was never there"),
            }
        }
        rows
    }

    fn rows(&self) -> impl Iterator<Item = (Key, Row)> {
        self.0.iter().map(|(&key, bytes)| {
            let row = Row::read(key.kind, &mut rmp_serde::Deserializer::new(&bytes[..]));
            (key, row.unwrap_or_else(|error| panic!("{key:?}: {error}")))
        })
    }

    /// A world of what is kept. Told all anew, it says what it was made of.
    fn restored(&self, setup: Setup, like: &Game) -> Game {
        let mut game = Game::restored(setup, like, self.rows()).unwrap();
        game.app.insert_resource(*like.app.world().resource::<OperatorOps>());
        let mut again = Self::default();
        again.cut(&mut game);
        for (key, bytes) in &self.0 {
            let said = |bytes: &[u8]| format!("{:?}", Row::read(key.kind, &mut rmp_serde::Deserializer::new(bytes)));
            let anew = again.0.get(key).map(|bytes| said(bytes));
            assert_eq!(anew, Some(said(bytes)), "{key:?}");
        }
        assert_eq!(again.0.len(), self.0.len());
        let all = keel_sim::whole(game.app.world_mut());
        assert!(all.is_whole && all.rows.keys().eq(self.0.keys()));
        assert_eq!(game.hash(), like.hash(), "as it was at step {}", like.now());
        game
    }
}

/// Runs a script on a world that goes on, and on one made anew of its rows after every so many rounds.
fn goes_on(setup: impl Fn() -> Setup, rounds: u32, every: u32, script: impl Fn(&mut Game, u32)) -> (Game, Kept) {
    let mut game = Game::new(setup());
    game.app.insert_resource(OperatorOps(true));
    let mut kept = Kept::default();
    let mut copies: Vec<Game> = Vec::new();
    for round in 0..rounds {
        for game in copies.iter_mut().chain([&mut game]) {
            script(game, round);
        }
        for copy in &copies {
            assert_eq!(copy.now(), game.now());
            assert_eq!(copy.hash(), game.hash(), "after round {round}");
        }
        kept.cut(&mut game);
        if round % every == every - 1 {
            copies = vec![kept.restored(setup(), &game)];
        }
    }
    (game, kept)
}

/// A fleet of three in a world of squads that fights, hops and uses its powers.
fn fight(game: &mut Game, round: u32) {
    if round == 0 {
        game.step(15);
        let systems = [System::Brace, System::Jam, System::Clamp, System::Mender, System::Aura];
        let fit = systems.iter().fold(game.common(4, Faction::Human), |fit, &system| fit.with(system, Faction::Human));
        let sectors: Vec<Hex> = game.ships().iter().step_by(10).map(|npc| game.hex(npc.id)).collect();
        for &sector in &sectors[..3] {
            let pilot = game.pilot();
            game.ship_at(pilot, fit, sector);
            for stance in [Stance::Aggressive, Stance::Support] {
                let escort = game.ship_at(pilot, fit, sector);
                game.order(pilot, Op::Stance { ship: escort, stance });
            }
        }
    }
    for n in 0..3 {
        let pilot = PilotId(n + 1);
        let Some(ship) = game.active(pilot).filter(|&ship| !game.is_docked(ship)) else { continue };
        let here = game.hex(ship);
        let mut others = game.ships().into_iter().filter(|other| other.pilot().is_none());
        let near = others.find(|other| game.hex(other.id) == here);
        match near {
            Some(target) if !(round + n).is_multiple_of(29) => {
                game.order(pilot, Op::Attack { ship, target: target.id })
            }
            _ if round.is_multiple_of(7) => game.order(pilot, Op::Power(Power::ALL[(round % 5) as usize])),
            _ => {
                let side = keel_map::Direction::ALL[((round / 3 + n * 2) % 6) as usize];
                game.order(pilot, Op::Move { ship, to: here.neighbour(side) })
            }
        };
    }
    game.step(7);
}

#[test]
fn a_fight_that_is_taken_up_again_goes_on_to_the_same_hash_after_every_step() {
    let setup = || Setup { seed: 11, squads: true, layer: 3, ..Setup::default() };
    let (game, kept) = goes_on(setup, 90, 6, fight);
    assert!(game.shots().len() > 50, "{} shots", game.shots().len());
    for kind in [Kind::Shot, Kind::Squad, Kind::Squads, Kind::Wreck] {
        assert!(kept.0.keys().any(|key| key.kind == kind), "{kind:?}");
    }
}

/// All twelve maps through storms, incursions, harvests, structures, duels and losses.
fn storms(game: &mut Game, round: u32) {
    if round == 0 {
        game.step(30);
        for name in ["Keel", "Mast"] {
            let head = game.pilot();
            game.stock(head);
            game.order(head, Op::Found { name: name.to_owned() });
        }
        game.step(1);
    }
    let (head, other) = (PilotId(1), PilotId(2));
    game.app.world_mut().resource_mut::<WallClock>().set(u64::from(round) * 1200);
    let map = MapKey::all().nth((round % 12) as usize).unwrap();
    game.order(head, Op::Force(if round.is_multiple_of(3) { Force::Storm(map) } else { Force::Incursion(map) }));
    game.order(head, Op::Force(Force::Wormhole(map)));
    game.order(head, Op::AskDuel(other));
    game.order(other, Op::Kos { pilot: head, marked: round.is_multiple_of(2) });
    game.go_on_at(map);
    let ship = game.ship(head, game.common(4, Faction::Raider));
    let rival = game.ship(other, game.common(3, Faction::Sentry));
    game.order(head, Op::Harvest { ship });
    game.order(head, Op::Build { ship, kind: StructureKind::ALL[(round % 2) as usize] });
    game.order(other, Op::Attack { ship: rival, target: ship });
    game.order(head, Op::Dock { ship });
    let lost = game.ships();
    let lost = lost.iter().skip(round as usize).step_by(197).map(|ship| ship.id).take(10);
    let lost: Vec<ShipId> = lost.chain([rival]).collect();
    if round % 4 == 3 {
        game.kill_all(&lost);
    }
    game.order(head, Op::Move { ship, to: Hex::new(1, 0) });
    game.step(11);
}

#[test]
fn twelve_maps_of_storms_incursions_and_structures_are_taken_up_as_they_were() {
    let setup = || Setup { seed: 5, squads: true, layer: 4, others: true, generated: true, ..Setup::default() };
    let (_, kept) = goes_on(setup, 40, 8, storms);
    for &kind in Kind::ALL.iter().filter(|kind| !matches!(kind, Kind::Shot | Kind::Hold)) {
        assert!(kept.0.keys().any(|key| key.kind == kind), "{kind:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn whatever_pilots_order_a_world_that_is_taken_up_again_is_the_same(
        layer in 1u8..=6,
        seed: u64,
        ops in proptest::collection::vec((1..=PILOTS, op(), 0u64..30), 20..80),
    ) {
        let mut game = world(layer, seed);
        let mut kept = Kept::default();
        let half = ops.len() / 2;
        for (pilot, op, pause) in &ops[..half] {
            game.order(PilotId(*pilot), op.clone());
            game.step(1 + pause);
            kept.cut(&mut game);
        }
        let mut copy = kept.restored(setup(layer, seed), &game);
        for (pilot, op, pause) in &ops[half..] {
            let answers = [&mut game, &mut copy].map(|game| game.op(PilotId(*pilot), op.clone()));
            prop_assert_eq!(answers[0], answers[1], "{:?}", op);
            for _ in 0..*pause {
                game.step(1);
                copy.step(1);
                prop_assert_eq!(game.hash(), copy.hash(), "after {:?}", op);
            }
        }
    }
}

/// Runs steps with a cut after each, and looks whether what each said is all that was there to say.
fn says_all(game: &mut Game, kept: &mut Kept, steps: u64) {
    for _ in 0..steps {
        game.step(1);
        kept.cut(game);
        let whole = rows(game);
        for (key, bytes) in &whole {
            assert_eq!(kept.0.get(key), Some(bytes), "{key:?} after step {}", game.now());
        }
        assert_eq!(kept.0.len(), whole.len());
    }
}

#[test]
fn after_every_step_what_is_said_to_have_changed_is_all_that_has() {
    let mut game = Game::new(Setup { layer: 3, ..Setup::default() });
    let systems = [System::Mender, System::Clamp, System::Brace];
    let fit = systems.iter().fold(game.common(4, Faction::Human), |fit, &system| fit.with(system, Faction::Human));
    let (pilot, home) = game.pilot_in(fit);
    let ship = game.ship_at(pilot, fit, Hex::new(2, 0));
    let npcs = game.squad(&[game.common(1, Faction::Raider); 2], Hex::new(2, 0));
    let mut kept = Kept::default();
    says_all(&mut game, &mut kept, 5);
    game.order(pilot, Op::Dock { ship: home });
    game.order(pilot, Op::Activate { ship });
    game.order(pilot, Op::Attack { ship, target: npcs[0] });
    says_all(&mut game, &mut kept, 80);
    game.order(pilot, Op::Power(Power::Clamp));
    // A ship without a mender is not one that mends.
    game.order(pilot, Op::Fit { ship: home, slot: Slot::System(0), part: Part::Empty });
    says_all(&mut game, &mut kept, 60);
    game.kill(npcs[1]);
    says_all(&mut game, &mut kept, 40);
    game.order(pilot, Op::Hold { ship });
    game.order(pilot, Op::Move { ship, to: Hex::new(4, 0) });
    game.order(pilot, Op::Undock { ship: home });
    // Until all of them sleep, and wrecks have faded.
    says_all(&mut game, &mut kept, 700);
    assert!(!game.is_docked(home));
}

#[test]
fn what_came_at_the_end_of_a_step_is_noticed_in_the_next_whoever_runs_it() {
    let setup = || Setup { seed: 3, squads: true, layer: 3, radius: 4, ..Setup::default() };
    let mut game = Game::new(setup());
    let pilot = game.pilot();
    for hex in Hex::CENTRE.within(4) {
        game.ship_at(pilot, game.common(0, Faction::Human), hex);
    }
    // Squads come beside ships that are there, as the last that a step does.
    for _ in 0..4 {
        game.step(1);
        let mut kept = Kept::default();
        kept.0.extend(rows(&mut game));
        let mut copy = kept.restored(setup(), &game);
        for _ in 0..20 {
            game.step(1);
            copy.step(1);
            assert_eq!(copy.hash(), game.hash(), "after step {}", game.now());
        }
    }
}

/// All rows of a world as a file would keep them.
fn rows(game: &mut Game) -> BTreeMap<Key, Vec<u8>> {
    let rows = keel_sim::whole(game.app.world_mut()).rows.into_iter();
    rows.map(|(key, row)| (key, rmp_serde::to_vec_named(&row.unwrap()).unwrap())).collect()
}

#[test]
fn a_lock_whose_duel_ended_with_the_last_step_is_dropped_in_the_next() {
    let setup = || Setup { layer: 1, ..Setup::default() };
    let mut game = Game::new(setup());
    let ((one, ship), (two, target)) = (
        game.pilot_in(Fit { guns: [None; 2], ..game.common(0, Faction::Human) }),
        game.pilot_in(Fit { guns: [None; 2], ..game.common(0, Faction::Human) }),
    );
    game.op(one, Op::AskDuel(two)).unwrap();
    game.op(two, Op::AcceptDuel(one)).unwrap();
    let accepted = game.now();
    let prey = game.entity(target);
    game.set(ship, Locking(prey));
    // 600 s of the duel.
    game.step(accepted + 11_999 - game.now());
    assert_eq!(game.target(ship), Some(target), "it is on");
    let mut kept = Kept::default();
    kept.0.extend(rows(&mut game));
    let mut copy = kept.restored(setup(), &game);
    for _ in 0..3 {
        game.step(1);
        copy.step(1);
        assert_eq!(copy.hash(), game.hash());
    }
    assert_eq!([game.target(ship), copy.target(ship)], [None; 2]);
}

#[test]
fn after_a_restart_the_ships_of_who_was_connected_are_under_a_flag_and_no_others() {
    let setup = || Setup { layer: 3, ..Setup::default() };
    let mut game = Game::new(setup());
    // Not at a port, where whoever leaves docks.
    let mut fly = |faction| {
        let (pilot, fit) = (game.pilot(), game.common(3, faction));
        (pilot, game.ship_at(pilot, fit, Hex::new(2, 0)))
    };
    let [(here, ship), (gone, left), (hunter, hunts)] =
        [Faction::Human, Faction::Sentry, Faction::Raider].map(&mut fly);
    game.leave(gone);
    game.op(hunter, Op::Focus { ship: hunts, target: ship }).unwrap();
    game.step(60);
    assert_eq!(game.target(hunts), Some(ship));
    let mut kept = Kept::default();
    kept.cut(&mut game);
    let mut game = kept.restored(setup(), &game);
    let drone = game.drone_at(game.common(1, Faction::Breaker), Hex::new(2, 0));
    let prey = game.entity(ship);
    game.set(drone, Locking(prey));
    keel_sim::resume(game.app.world_mut());
    let begun = game.now();
    game.step(1);
    assert_eq!([here, gone, hunter].map(|pilot| game.of_pilot::<Pilot>(pilot).online), [false; 3]);
    assert_eq!([game.target(hunts), game.target(drone)], [None; 2]);
    let flags = [ship, left, hunts].map(|ship| game.get::<Arrival>(ship).is_up(Moment::of_step(begun + 60 * 20)));
    assert_eq!(flags, [true, false, true], "60 s of resume_s");
    // Whoever comes back and acts is in the fight again.
    game.app.world_mut().resource_mut::<Orders>().join(hunter, "");
    game.op(hunter, Op::Focus { ship: hunts, target: left }).unwrap();
    assert!(!game.get::<Arrival>(hunts).is_up(Moment::of_step(game.now())));
    game.refuses(hunter, Op::Focus { ship: hunts, target: ship }, "That ship just jumped in. It cannot be locked yet.");
}

#[test]
fn a_world_that_has_no_numbers_left_is_refused() {
    let setup = || Setup { layer: 3, ..Setup::default() };
    let mut game = Game::new(setup());
    let pilot = game.pilot();
    game.ship(pilot, game.common(1, Faction::Human));
    let mut kept = Kept::default();
    kept.cut(&mut game);
    for (kind, field, what) in [
        (Kind::World, "ships", "ships"),
        (Kind::World, "wrecks", "wrecks"),
        (Kind::World, "squads", "squads"),
        (Kind::World, "wormholes", "wormholes"),
        (Kind::Bonds, "last", "charters"),
        (Kind::Incursions, "last", "incursions"),
        (Kind::Hold, "last", "modules"),
    ] {
        let mut rows = Kept(kept.0.clone());
        let (_, bytes) = rows.0.iter_mut().find(|(key, _)| key.kind == kind).unwrap();
        let mut row: serde_json::Value = rmp_serde::from_slice(bytes).unwrap();
        assert!(row[field].is_u64(), "{row}");
        row[field] = (u32::MAX - 1000).into();
        *bytes = rmp_serde::to_vec_named(&row).unwrap();
        let error = Game::restored(setup(), &game, rows.rows()).map(|_| ()).unwrap_err();
        assert_eq!(error, RestoreError::Full(what));
    }
}

#[test]
fn a_quiet_world_has_one_row_to_say() {
    let setup = Setup { squads: true, layer: 1, others: true, generated: true, ..Setup::default() };
    let mut game = Game::new(setup);
    let pilot = game.pilot();
    game.ship(pilot, game.common(0, Faction::Human));
    game.step(100);
    let mut kept = Kept::default();
    let whole = kept.cut(&mut game);
    assert!(whole > 1000, "{whole} rows");
    let rows = kept.cut(&mut game);
    assert_eq!(rows, 1, "nothing has changed since");
    game.step(20);
    let rows = kept.cut(&mut game);
    assert!(rows < 60, "{rows} rows after a second in which some squads roamed");
}

#[test]
fn cuts_that_had_to_wait_are_one() {
    let mut game = Game::new(Setup { seed: 3, squads: true, ..Setup::default() });
    let (mut each, mut waiting): (Kept, Option<Cut>) = (Kept::default(), None);
    for round in 0..30 {
        fight(&mut game, round);
        let cut = changes(game.app.world_mut());
        for (&key, row) in &cut.rows {
            match row {
                Some(row) => drop(each.0.insert(key, rmp_serde::to_vec_named(row).unwrap())),
                None => drop(each.0.remove(&key)),
            }
        }
        match &mut waiting {
            Some(waiting) => waiting.merge(cut),
            None => waiting = Some(cut),
        }
    }
    let waiting = waiting.unwrap();
    assert!(waiting.is_whole);
    assert_eq!(waiting.step, game.now());
    let said = waiting.rows.iter().map(|(&key, row)| (key, rmp_serde::to_vec_named(row).unwrap()));
    assert!(said.eq(each.0));
}
