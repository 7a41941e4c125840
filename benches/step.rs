//! One step of a world in which every ship fights.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use keel_balance::{Balance, Faction, System};
use keel_map::{Hex, MapKey, Plan, generate};
use keel_sim::{Condition, Force, Incursions, Locking, Op, OperatorOps, ShipId, Stance, changes, whole};
use keel_testkit::{Game, SHIPPED_BALANCE, Setup, shipped_balance};

/// Ships that fight, so many in each sector: half of them pilots', half NPCs, all with pools that outlast the measurement.
fn fight(ships: u32, a_sector: u32) -> Game {
    let mut game = Game::unheard(Setup::default());
    let factions = [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker];
    let fits: Vec<_> = (0..20u8).map(|n| game.common(n % 5, factions[usize::from(n / 5)])).collect();
    let sectors = Hex::CENTRE.within(4);
    let pairs: Vec<_> = (0..ships / 2)
        .map(|n| {
            let fit = fits[(n % 20) as usize];
            let hex = sectors[(n * 2 / a_sector) as usize];
            let pilot = game.pilot();
            let ship = game.ship_at(pilot, fit, hex);
            let npc = game.squad(&[fits[((n * 7 + 3) % 20) as usize]], hex)[0];
            (pilot, ship, npc)
        })
        .collect();
    for &(pilot, ship, npc) in &pairs {
        for id in [ship, npc] {
            harden(&mut game, id);
        }
        // At different steps, as in a fight that has gone on for a while.
        game.order(pilot, Op::Attack { ship, target: npc });
        if ship.0 % 16 == 0 {
            game.step(1);
        }
    }
    game.step(300);
    game
}

/// Pools that no measurement empties.
fn harden(game: &mut Game, ship: ShipId) {
    let mut condition = *game.get::<Condition>(ship);
    condition.0.hull = 1e9;
    game.set(ship, condition);
}

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step");
    let all = [100, 400, 1000, 2000, 8000];
    let one_sector = all.map(|ships| ("one sector", ships, ships));
    let spread = all.map(|ships| ("400 a sector", ships, 400));
    for (name, ships, a_sector) in one_sector.into_iter().chain(spread) {
        let mut game = fight(ships, a_sector);
        group.throughput(Throughput::Elements(ships.into()));
        group.bench_function(BenchmarkId::new(name, ships), |bencher| bencher.iter(|| game.app.update()));
        let fighting = game.ships().iter().filter(|ship| game.target(ship.id).is_some()).count();
        assert_eq!(fighting, ships as usize, "every ship still fights after the measurement");
    }
    group.finish();
}

/// The longest step while all twelve maps are filled, Rift 6 at its largest among them.
fn fill(criterion: &mut Criterion) {
    let plan = Plan::of(&shipped_balance(), MapKey::rift(6));
    let largest = (0..5000).find(|&seed| generate(&plan, seed, &[]).hexes().len() == 450);
    let seed = largest.expect("a seed whose Rift 6 has 450 sectors");
    let setup = || Setup { generated: true, others: true, squads: true, seed, ..Setup::default() };
    criterion.bench_function("step/longest of the fill", |bencher| {
        bencher.iter_custom(|runs| {
            let longest = |_| {
                let mut game = Game::unheard(setup());
                let steps = (0..24).map(|_| {
                    let start = Instant::now();
                    game.app.update();
                    start.elapsed()
                });
                steps.max().unwrap_or_default()
            };
            (0..runs).map(longest).sum()
        });
    });
    let mut game = Game::unheard(setup());
    game.step(100);
    criterion.bench_function("step/idle, twelve maps filled", |bencher| bencher.iter(|| game.app.update()));
}

/// The whole world filled, and forty pilots' fleets of two amid the whole of an incursion into Rift 6.
fn incursion(criterion: &mut Criterion) {
    let setup = Setup { balance: endless(), generated: true, others: true, squads: true, ..Setup::default() };
    let mut game = Game::unheard(setup);
    game.app.insert_resource(OperatorOps(true));
    game.step(40);
    let rift = MapKey::rift(6);
    let operator = game.pilot();
    game.order(operator, Op::Force(Force::Incursion(rift)));
    let waves = game.balance().incursions.waves;
    game.step(u64::from(waves) * (game.balance().incursions.wave_s.get() * 20.0) as u64);
    let block = game.app.world().resource::<Incursions>().iter().next().map(|(_, on)| on.block.clone());
    let block = block.expect("an incursion that lasts longer than its waves");
    game.go_on_at(rift);
    for n in 0..40 {
        let pilot = game.pilot();
        let hex = block[n % block.len()];
        for _ in 0..2 {
            let ship = game.ship_at(pilot, game.common(4, Faction::Raider), hex);
            game.order(pilot, Op::Stance { ship, stance: Stance::Aggressive });
            game.order(pilot, Op::Follow { ship, follows: false });
        }
    }
    game.step(300);
    let fighting = |game: &Game| game.ships().iter().filter(|ship| game.target(ship.id).is_some()).count();
    assert!(fighting(&game) > 200, "{} ships fight", fighting(&game));
    // Not for long: an incursion has its time.
    let mut group = criterion.benchmark_group("incursion");
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group.bench_function("Rift 6, forty fleets", |bencher| bencher.iter(|| game.app.update()));
    group.finish();
    assert!(fighting(&game) > 200, "{} ships still fight after the measurement", fighting(&game));
}

/// The step of a world in which nobody is there: every ship sleeps.
fn idle(criterion: &mut Criterion) {
    let mut game = Game::unheard(Setup { squads: true, layer: 6, ..Setup::default() });
    game.step(100);
    criterion.bench_function("step/idle", |bencher| bencher.iter(|| game.app.update()));
}

/// A balance whose hulls outlast the measurement although they are damaged all the while.
fn endless() -> Arc<Balance> {
    let text =
        SHIPPED_BALANCE.replacen("(hull: 400,", "(hull: 1000000,", 1).replacen("lasts_s: 1800", "lasts_s: 4000", 1);
    Arc::new(Balance::parse("endless.ron", &text).expect("a hull in range"))
}

/// Fleets of four against squads of four, all of them under the Brace trigger and each with a system of every kind among
/// its ships: Brace, Jam, Clamp, mender and aura, all of which wear.
fn melee(ships: u32, a_sector: u32) -> Game {
    let mut game = Game::unheard(Setup { balance: endless(), ..Setup::default() });
    let factions = [Faction::Raider, Faction::Sentry, Faction::Breaker, Faction::Human];
    let fit = |game: &Game, n: u32| {
        let faction = factions[(n % 4) as usize];
        let last = if n.is_multiple_of(2) { System::Mender } else { System::Aura };
        let systems = [System::Brace, System::Jam, System::Clamp, last];
        let hull = game.common(2 + (n % 3) as u8, faction);
        systems.iter().fold(hull, |fit, &system| fit.with(system, faction))
    };
    let sectors = Hex::CENTRE.within(4);
    for group in 0..ships / 8 {
        let hex = sectors[(group * 8 / a_sector) as usize];
        let pilot = game.pilot();
        let fits = [0, 1, 2, 3].map(|n| fit(&game, group + n));
        let mine = fits.map(|fit| game.ship_at(pilot, fit, hex));
        let theirs = game.squad(&fits, hex);
        for (&one, &two) in mine.iter().zip(&theirs) {
            for (shooter, target) in [(one, two), (two, one)] {
                let hull = game.card(shooter).full.hull * 0.3;
                game.change::<Condition>(shooter, |condition| condition.0.hull = hull);
                // Each has its own to fight: a thousand squads that chose for themselves would choose alike.
                let target = game.entity(target);
                game.set(shooter, Locking(target));
            }
        }
        if group % 8 == 0 {
            game.step(1);
        }
    }
    game.step(300);
    game
}

fn everything(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("everything");
    for (name, a_sector) in [("one sector", 2000), ("400 a sector", 400), ("40 a sector", 40)] {
        let mut game = melee(2000, a_sector);
        group.throughput(Throughput::Elements(2000));
        group.bench_function(BenchmarkId::new(name, 2000), |bencher| bencher.iter(|| game.app.update()));
        let fighting = game.ships().iter().filter(|ship| game.target(ship.id).is_some()).count();
        assert_eq!(fighting, 2000, "every ship still fights after the measurement");
    }
    group.finish();
}

/// What a step pays in which the world is cut for the save: what has changed in the ten steps since the last cut, of 2,000 ships that
/// all fight, or of twelve maps full of ships that sleep; and all that there is of either.
fn cut(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cut");
    let full = Setup { generated: true, others: true, squads: true, ..Setup::default() };
    let mut asleep = Game::unheard(full);
    asleep.step(100);
    for (name, mut game) in [("2,000 fight", melee(2000, 400)), ("twelve maps asleep", asleep)] {
        changes(game.app.world_mut());
        group.bench_function(BenchmarkId::new(name, "changes"), |bencher| {
            bencher.iter_custom(|runs| {
                let run = |_| {
                    game.step(10);
                    let begun = Instant::now();
                    std::hint::black_box(changes(game.app.world_mut()));
                    begun.elapsed()
                };
                (0..runs).map(run).sum()
            });
        });
        group.bench_function(BenchmarkId::new(name, "whole"), |bencher| bencher.iter(|| whole(game.app.world_mut())));
    }
    group.finish();
}

criterion_group!(benches, step, everything, idle, fill, incursion, cut);
criterion_main!(benches);
