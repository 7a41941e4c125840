//! One step of a world in which every ship fights.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use keel_balance::Faction;
use keel_map::Hex;
use keel_sim::{Condition, Op, ShipId};
use keel_testkit::{Game, Setup};

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

/// The step of a world in which nobody is there: every ship sleeps.
fn idle(criterion: &mut Criterion) {
    let mut game = Game::unheard(Setup { squads: true, layer: 6, ..Setup::default() });
    game.step(100);
    criterion.bench_function("step/idle", |bencher| bencher.iter(|| game.app.update()));
}

criterion_group!(benches, step, idle);
criterion_main!(benches);
