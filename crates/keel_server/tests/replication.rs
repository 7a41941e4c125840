//! What clients have of what their pilots may see: the same as the server, after any loss, delay and order; within a budget; and
//! nothing that is hidden.

mod served;

use std::time::Duration;

use keel_balance::{Faction, System};
use keel_client::{OwnShip, Pool, Replica, STEP_MICROS};
use keel_map::{Hex, MapKey};
use keel_protocol::snapshot::{Ack, Head, Reader};
use keel_protocol::{Contact, MAX_SNAPSHOT, decode, encode};
use keel_rules::powers::Power;
use keel_server::{Nonsense, Replication, SNAPSHOT_BYTES, Sight, Viewer};
use keel_sim::{Condition, Locking, Op, PilotId, ShipId, Stance};
use keel_testkit::weather::{Link, Weather};
use keel_testkit::{Game, Setup};

use served::settled;

const STEP: Duration = Duration::from_millis(50);

/// A pilot's client, as far from the server as the weather says.
struct Pilot {
    id: PilotId,
    viewer: Viewer,
    replica: Replica,
    down: Link,
    up: Link,
    /// Bytes and packets that were sent to it in the last step.
    sent: (usize, usize),
}

/// A world, and pilots who look at it.
struct Show {
    game: Game,
    replication: Replication,
    pilots: Vec<Pilot>,
    budget: usize,
}

impl Show {
    fn new(game: Game) -> Self {
        Self { game, replication: Replication::default(), pilots: Vec::new(), budget: SNAPSHOT_BYTES }
    }

    fn watch(&mut self, id: PilotId, weather: Weather, seed: u64) {
        let (down, up) = (Link::new(weather, seed), Link::new(weather, seed + 1000));
        let (viewer, replica) = (Viewer::new(self.budget), Replica::default());
        self.pilots.push(Pilot { id, viewer, replica, down, up, sent: (0, 0) });
    }

    fn turn(&mut self, weather: Weather) {
        for pilot in &mut self.pilots {
            pilot.down.turn(weather);
            pilot.up.turn(weather);
        }
    }

    fn step(&mut self, steps: u64) {
        for _ in 0..steps {
            self.game.step(1);
            self.show();
        }
    }

    /// Shows the last step, and takes what has come of it and before.
    fn show(&mut self) {
        let (step, world) = (self.game.now(), self.game.app.world());
        let now = STEP * step as u32;
        self.replication.begin(world, 100);
        for pilot in &mut self.pilots {
            while let Some(ack) = pilot.up.receive(now) {
                pilot.viewer.acknowledge(decode::<Ack>(&ack).unwrap(), step).unwrap();
            }
            pilot.sent = (0, 0);
            let entity = self.game.fleet_of(pilot.id);
            self.replication.view(world, entity, &mut pilot.viewer, &mut |packet| {
                assert!(packet.len() <= MAX_SNAPSHOT, "{} bytes", packet.len());
                pilot.sent = (pilot.sent.0 + packet.len(), pilot.sent.1 + 1);
                pilot.down.send(now, &packet);
            });
            assert!(pilot.sent.0 <= self.budget.max(MAX_SNAPSHOT), "{} bytes in a step", pilot.sent.0);
            let before = pilot.replica.ack();
            while let Some(packet) = pilot.down.receive(now) {
                pilot.replica.take(&packet, std::time::Instant::now());
            }
            if let Some(ack) = pilot.replica.ack().filter(|&ack| Some(ack) != before) {
                pilot.up.send(now, &encode(&ack));
            }
        }
    }

    /// What a pilot's client has, and what the server knows, as bytes.
    fn both(&self, index: usize) -> (Vec<u8>, Vec<u8>) {
        let pilot = &self.pilots[index];
        let now = self.game.now() * STEP_MICROS;
        let Sight { own, contacts } = Sight::of(self.game.app.world(), self.game.fleet_of(pilot.id));
        let has = (own_of(pilot, now), pilot.replica.contacts().copied().collect::<Vec<Contact>>());
        (encode(&has), encode(&(own.iter().map(|ship| settled(ship, now)).collect::<Vec<_>>(), contacts)))
    }

    #[track_caller]
    fn agree(&self) {
        for index in 0..self.pilots.len() {
            let (has, is) = self.both(index);
            assert!(has == is, "pilot {index} at step {}", self.game.now());
        }
    }
}

fn own_of(pilot: &Pilot, now: u64) -> Vec<OwnShip> {
    pilot.replica.own().map(|ship| settled(ship, now)).collect()
}

/// Fleets that fight, hop, use powers, die and dock, in a world whose pilots all look on.
fn melee(pilots: u32, seed: u64, weather: Weather) -> Show {
    let mut game = Game::new(Setup { seed, ..Setup::default() });
    let factions = [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker];
    let mut ids = Vec::new();
    for n in 0..pilots {
        let faction = factions[(n % 4) as usize];
        let fit = game.common(2 + (n % 3) as u8, faction);
        let fit = [System::Brace, System::Jam, System::Cloak].iter().fold(fit, |fit, &it| fit.with(it, faction));
        let (pilot, _) = game.pilot_in(fit);
        let escort = game.ship(pilot, game.common(1, faction));
        game.order(pilot, Op::Stance { ship: escort, stance: Stance::Aggressive });
        ids.push(pilot);
    }
    let mut show = Show::new(game);
    for (n, &pilot) in ids.iter().enumerate() {
        show.watch(pilot, weather, seed + 10 * n as u64);
    }
    show
}

/// What the pilots of a melee do at a step: seldom the same.
fn act(show: &mut Show) {
    let (now, pilots) = (show.game.now(), show.pilots.len() as u64);
    let id = show.pilots[(now % pilots) as usize].id;
    let Some(ship) = show.game.active(id).filter(|&ship| show.game.lives(ship)) else { return };
    let others: Vec<ShipId> = show.game.ships().iter().map(|ship| ship.id).collect();
    let target = others[(now * 31 % others.len() as u64) as usize];
    let place = Hex::CENTRE.within(2)[(now * 7 % 19) as usize];
    // Each has their turn at everything.
    let op = match (now / pilots + now) % 8 {
        0..=2 => Op::Attack { ship, target },
        3 => Op::Move { ship, to: place },
        4 => Op::Power(Power::Cloak),
        5 => Op::Power(Power::Brace),
        6 => Op::Power(Power::Jam),
        _ => Op::Dock { ship },
    };
    show.game.order(id, op);
}

/// Everyone holds their fire until every pool is full again, in whatever weather there is.
fn rest(show: &mut Show) {
    for (id, ship) in show.game.ships().iter().filter_map(|ship| Some((ship.pilot()?, ship.id))).collect::<Vec<_>>() {
        show.game.order(id, Op::Stance { ship, stance: Stance::Passive });
        show.game.order(id, Op::Hold { ship });
    }
    show.step(1000);
}

/// Weather that a game must be played in.
fn weathers() -> [(&'static str, Weather); 7] {
    let fair = Weather { delay: Duration::from_millis(30), ..Weather::default() };
    [
        ("none", Weather::default()),
        ("5 % loss", Weather { loss: 0.05, ..fair }),
        ("30 % loss", Weather { loss: 0.3, ..fair }),
        ("300 ms jitter", Weather { jitter: Duration::from_millis(300), ..fair }),
        ("doubles", Weather { duplicate: 0.5, ..fair }),
        ("overtaking", Weather { reorder: 0.4, ..fair }),
        ("all of it", Weather { loss: 0.3, jitter: Duration::from_millis(300), duplicate: 0.2, reorder: 0.2, ..fair }),
    ]
}

#[test]
fn a_replica_has_byte_for_byte_what_the_server_has_whatever_the_weather() {
    for (name, weather) in weathers() {
        for seed in 1..4 {
            let mut show = melee(8, seed, weather);
            for _ in 0..400 {
                act(&mut show);
                show.step(1);
            }
            assert!(!show.game.shots().is_empty(), "{name}: they fight");
            rest(&mut show);
            show.agree();
        }
    }
}

#[test]
fn on_a_good_network_a_replica_is_right_after_every_step() {
    let mut show = melee(6, 5, Weather::default());
    show.step(3);
    let mut hidden = 0;
    for _ in 0..600 {
        act(&mut show);
        show.step(1);
        let ships = show.game.ships();
        hidden += ships.iter().filter(|ship| show.game.get::<keel_sim::Powers>(ship.id).cloaked).count();
        for index in 0..6 {
            let pilot = &show.pilots[index];
            let Sight { own, contacts } = Sight::of(show.game.app.world(), show.game.fleet_of(pilot.id));
            let step = show.game.now();
            let has: Vec<_> = pilot.replica.contacts().copied().collect();
            assert_eq!(has, contacts, "pilot {index} at step {step}");
            let now = step * STEP_MICROS;
            assert_eq!(pilot.replica.own().len(), own.len());
            for (has, is) in pilot.replica.own().zip(&own) {
                for (has, is) in [(has.shield, is.shield), (has.battery, is.battery)] {
                    let off = (has.holds(now) - is.held).abs();
                    assert!(off <= Pool::SLACK + 1.0 / 16.0, "{off} off at step {step}: {has:?} {is:?}");
                }
                let same = |ship: &OwnShip| OwnShip { shield: is.shield, battery: is.battery, ..ship.clone() };
                assert_eq!(same(has), *is, "at step {step}");
            }
        }
    }
    assert!(hidden > 100, "ships cloak");
}

/// A sector full of ships that fight and are not destroyed, half of them NPCs.
fn big_fight(ships: u32) -> (Game, PilotId) {
    let mut game = Game::new(Setup::default());
    let fit = game.common(0, Faction::Human);
    let viewer = game.pilot_in(fit).0;
    for _ in 0..ships / 2 {
        let (pilot, ship) = game.pilot_in(fit);
        let npc = game.squad(&[fit], Hex::CENTRE)[0];
        for ship in [ship, npc] {
            game.change::<Condition>(ship, |condition| condition.0.hull = 1e9);
        }
        game.order(pilot, Op::Attack { ship, target: npc });
        let target = game.entity(ship);
        game.set(npc, Locking(target));
    }
    game.step(100);
    (game, viewer)
}

#[test]
fn a_late_joiner_of_the_biggest_fight_has_it_all_within_half_a_second() {
    let (game, pilot) = big_fight(1000);
    let mut show = Show::new(game);
    for loss in [0.0, 0.05] {
        let weather = Weather { delay: Duration::from_millis(40), loss, ..Weather::default() };
        show.pilots.clear();
        show.watch(pilot, weather, 3);
        show.step(10);
        let has = show.pilots[0].replica.contacts().count();
        if loss == 0.0 {
            assert_eq!(has, 1000, "after half a second");
        } else {
            assert!(has >= 900, "{has} after half a second");
            show.step(10);
            assert_eq!(show.pilots[0].replica.contacts().count(), 1000, "after a second");
        }
    }
}

#[test]
fn a_sector_of_five_thousand_is_joined_through_five_percent_loss() {
    let mut game = Game::new(Setup::default());
    let fit = game.common(0, Faction::Human);
    let pilot = game.pilot_in(fit).0;
    for _ in 0..5000 {
        game.drone(fit);
    }
    game.step(1);
    let mut show = Show::new(game);
    show.watch(pilot, Weather { delay: Duration::from_millis(40), loss: 0.05, ..Weather::default() }, 3);
    let steps = (1..=200).find(|_| {
        show.step(1);
        show.pilots[0].replica.contacts().count() == 5000
    });
    assert!(steps.is_some_and(|steps| steps <= 100), "all are seen after {steps:?} steps");
}

#[test]
fn within_a_tight_budget_own_ships_are_first_and_nothing_starves() {
    let (mut game, pilot) = big_fight(600);
    let fit = game.common(0, Faction::Human);
    for hex in Hex::CENTRE.within(1).into_iter().filter(|&hex| hex != Hex::CENTRE) {
        (0..40).for_each(|_| assert_eq!(game.squad(&[fit], hex).len(), 1));
    }
    let mut show = Show::new(game);
    show.budget = MAX_SNAPSHOT;
    show.watch(pilot, Weather { delay: Duration::from_millis(40), ..Weather::default() }, 3);
    show.step(1);
    assert_eq!(show.pilots[0].sent.1, 1, "a packet in a step");
    show.step(4);
    let replica = &show.pilots[0].replica;
    assert_eq!(replica.own().len(), 1, "own ships come first");
    let first: Vec<_> = replica.contacts().map(|contact| (contact.col, contact.row)).collect();
    assert!(!first.is_empty() && first.iter().all(|&place| place == (0, 0)), "the sector before its neighbours");
    show.step(100);
    assert_eq!(show.pilots[0].replica.contacts().count(), 600 + 6 * 40, "and in the end everything");
    // From then on every ship is at most so old, although there is more to tell than the budget.
    let mut worst = 0;
    for _ in 0..100 {
        show.step(1);
        worst = worst.max(show.pilots[0].sent.0);
        let Sight { own, .. } = Sight::of(show.game.app.world(), show.game.fleet_of(pilot));
        assert_eq!(show.pilots[0].replica.own().count(), own.len());
    }
    assert!(worst <= MAX_SNAPSHOT);
}

#[test]
fn what_happens_next_door_is_told_although_the_fight_here_takes_more_than_there_is() {
    let (mut game, pilot) = big_fight(800);
    let near = game.squad(&[game.common(0, Faction::Human)], Hex::new(1, 0))[0];
    let here: Vec<ShipId> = game.ships().iter().map(|ship| ship.id).filter(|&ship| ship != near).collect();
    let mut show = Show::new(game);
    show.budget = MAX_SNAPSHOT;
    show.watch(pilot, Weather::default(), 3);
    show.step(100);
    let shield = |show: &Show| show.pilots[0].replica.contact(near.0).map(|contact| contact.shield);
    assert_eq!(shield(&show), Some(255));
    show.game.change::<Condition>(near, |condition| condition.0.shield = 0.0);
    let told = (0..100).find(|step| {
        for &ship in &here {
            let change = f32::from((step % 2 * 40 + 1) as u8);
            show.game.change::<Condition>(ship, |condition| {
                (condition.0.shield, condition.0.hull) = (change, 300.0 + change);
            });
        }
        show.step(1);
        assert!(show.pilots[0].sent.0 > MAX_SNAPSHOT - 200, "the budget binds");
        shield(&show) != Some(255)
    });
    assert!(told.is_some_and(|steps| steps < 80), "{told:?}");
}

#[test]
fn who_locks_the_pilot_is_told_before_the_others() {
    let (mut game, pilot) = big_fight(900);
    let ship = game.active(pilot).unwrap();
    let fit = game.common(0, Faction::Human);
    let hunter = game.drone(fit);
    let target = game.entity(ship);
    game.set(hunter, Locking(target));
    let mut show = Show::new(game);
    show.budget = MAX_SNAPSHOT;
    show.watch(pilot, Weather::default(), 3);
    show.step(1);
    let contact = show.pilots[0].replica.contact(hunter.0).copied();
    assert_eq!(contact.map(|contact| contact.target), Some(ship.0), "in the first packet, of fourteen");
}

#[test]
fn a_quiet_world_costs_a_packets_head() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human);
    let pilot = game.pilot_in(fit).0;
    for _ in 0..100 {
        game.drone(fit);
    }
    game.step(200);
    let mut show = Show::new(game);
    show.watch(pilot, Weather::default(), 1);
    show.step(20);
    show.agree();
    for _ in 0..100 {
        show.step(1);
        assert!(show.pilots[0].sent.0 <= 8, "{} bytes", show.pilots[0].sent.0);
    }
}

#[test]
fn ships_that_come_and_go_are_told_to_come_and_go() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human);
    let (pilot, _) = game.pilot_in(fit);
    let (other, ship) = game.pilot_in(fit);
    let mut show = Show::new(game);
    show.watch(pilot, Weather::default(), 1);
    let sees = |show: &Show| show.pilots[0].replica.contact(ship.0).map(|contact| (contact.col, contact.row));
    show.step(2);
    assert_eq!(sees(&show), Some((0, 0)));
    for (col, expected) in [(1, Some((1, 0))), (2, None), (1, Some((1, 0))), (0, Some((0, 0)))] {
        show.game.order(other, Op::Move { ship, to: Hex::new(col, 0) });
        show.step(60);
        assert_eq!(sees(&show), expected);
        show.agree();
    }
    show.game.kill(ship);
    show.step(2);
    assert_eq!(sees(&show), None);
    let mate = show.game.ship(pilot, fit);
    show.step(2);
    assert_eq!(show.pilots[0].replica.own().len(), 2);
    show.game.kill(mate);
    show.step(2);
    show.agree();
    assert_eq!(show.pilots[0].replica.own().len(), 1);
}

#[test]
fn a_jump_to_another_map_leaves_nothing_behind() {
    let mut show = Show::new(Game::new(Setup { others: true, ..Setup::default() }));
    let fit = show.game.common(1, Faction::Human);
    let pilot = show.game.pilot_in(fit).0;
    for _ in 0..50 {
        show.game.drone(fit);
    }
    show.watch(pilot, Weather::default(), 1);
    show.step(5);
    assert_eq!(show.pilots[0].replica.contacts().count(), 50);
    let ship = show.game.active(pilot).unwrap();
    let there = show.game.sector(MapKey::rift(2), Hex::CENTRE);
    show.game.set(ship, keel_sim::InSector(there));
    show.step(5);
    assert_eq!(show.pilots[0].replica.contacts().count(), 0);
    show.agree();
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_is_refused_and_an_old_one_is_no_news() {
    let mut show = melee(1, 1, Weather::default());
    show.step(5);
    let viewer = &mut show.pilots[0].viewer;
    let ack = |newest| Ack { newest, before: 0 };
    assert_eq!(viewer.acknowledge(ack(u64::MAX), 6), Err(Nonsense { acked: u64::MAX, sent: 5 }));
    assert_eq!(viewer.acknowledge(ack(0), 6), Err(Nonsense { acked: 0, sent: 5 }));
    for ack in [ack(2), ack(5), Ack { newest: 5, before: u64::MAX }] {
        assert_eq!(viewer.acknowledge(ack, 6), Ok(()));
    }
    assert_eq!(viewer.behind(205), 200, "old news says nothing new");
}

#[test]
fn a_client_that_never_acknowledges_costs_a_budget_and_no_more() {
    let (game, pilot) = big_fight(400);
    let mut show = Show::new(game);
    show.watch(pilot, Weather { loss: 1.0, ..Weather::default() }, 1);
    for _ in 0..1000 {
        show.step(1);
    }
    let size = format!("{:?}", show.pilots[0].viewer).len();
    show.step(1000);
    let grown = format!("{:?}", show.pilots[0].viewer).len() as f64 / size as f64;
    assert!((0.5..1.5).contains(&grown), "what is remembered of it has grown by {grown}");
    assert!(agrees_later(&mut show), "and when it hears again, it has all");
}

fn agrees_later(show: &mut Show) -> bool {
    show.turn(Weather::default());
    (0..100).any(|_| {
        show.step(1);
        show.pilots[0].replica.contacts().count() == 400
    })
}

#[test]
fn packets_are_numbered_and_tell_the_step_and_the_pace() {
    let mut game = Game::default();
    let fit = game.common(1, Faction::Human);
    let pilot = game.pilot_in(fit).0;
    game.step(70);
    let (mut replication, mut viewer) = (Replication::default(), Viewer::new(SNAPSHOT_BYTES));
    for number in 1..4 {
        game.step(1);
        replication.begin(game.app.world(), 40);
        let mut heads = Vec::new();
        replication.view(game.app.world(), game.fleet_of(pilot), &mut viewer, &mut |packet| {
            heads.push(Head::take(&mut Reader::new(&packet)).unwrap());
        });
        assert_eq!(heads, [Head { step: 70 + number, number, pace: 40 }]);
    }
}
