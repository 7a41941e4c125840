//! Steps that take too long, and clocks that leap: the world slows down evenly, and nobody is put out for it.

use std::time::Duration;

use keel_client::{Command, Hello};
use keel_protocol::{OwnShip, ToServer, encode};
use keel_server::{Config, SaveConfig, saves};
use keel_torture::arena::config;
use keel_torture::overload::{Overload, Spell, quantile};
use keel_torture::{Arena, Peer};

const MS: Duration = Duration::from_millis(1);

/// That steps come evenly, so far apart.
#[track_caller]
fn even(spell: &Spell, apart: Duration) {
    // The first few make good what the spell before has left.
    let intervals = &spell.intervals[8..];
    let (least, most) = (quantile(intervals, 0.01), quantile(intervals, 0.99));
    assert!(least + 2 * MS >= apart && most <= apart + 2 * MS, "{least:?} to {most:?}, not {apart:?}");
}

#[test]
fn a_minute_of_80_ms_a_step_and_ten_seconds_of_200_ms_slow_the_world_evenly() {
    let mut overload = Overload::new(4);
    overload.spell(10 * MS, 5_000 * MS);
    let heavy = overload.spell(80 * MS, 60_000 * MS);
    even(&heavy, 80 * MS);
    assert!((61..=63).contains(&heavy.pace), "{} %", heavy.pace);
    assert!((735..=755).contains(&heavy.intervals.len()), "{} steps", heavy.intervals.len());
    let heavier = overload.spell(200 * MS, 10_000 * MS);
    even(&heavier, 200 * MS);
    assert!((24..=26).contains(&heavier.pace), "{} %", heavier.pace);
    // What pilots order waits for a step or two at most: nothing piles up.
    for (spell, step) in [(&heavy, 80 * MS), (&heavier, 200 * MS)] {
        let most = spell.delays.iter().max().unwrap();
        assert!(*most <= 3 * step, "an order took {most:?} of steps of {step:?}");
    }
    // Full speed within two seconds, without a burst of what was missed.
    let after = overload.spell(10 * MS, 2_000 * MS);
    assert_eq!(after.pace, 100);
    assert!(after.intervals.len() <= 44, "{} steps in two seconds", after.intervals.len());
    let calm = overload.spell(10 * MS, 3_000 * MS);
    even(&calm, 50 * MS);
    assert!(overload.unanswered() <= 4);
}

#[test]
fn the_socket_is_looked_at_every_10_ms_and_between_any_two_steps() {
    let mut overload = Overload::new(1);
    let calm = overload.spell(2 * MS, 5_000 * MS);
    let most = calm.polls.iter().max().unwrap();
    assert!(*most <= 12 * MS + 2 * MS, "{most:?} from one look to the next");
    let steps = overload.arena.server.steps();
    let before = overload.arena.polls();
    overload.spell(300 * MS, 6_000 * MS);
    let (steps, polls) = (overload.arena.server.steps() - steps, overload.arena.polls() - before);
    assert!(polls >= steps, "{polls} looks, {steps} steps");
}

#[test]
fn no_pace_is_told_below_the_floor_and_the_world_still_goes() {
    let mut overload = Overload::new(2);
    let worst = overload.spell(800 * MS, 40_000 * MS);
    assert_eq!(worst.pace, 10);
    even(&worst, 800 * MS);
    let after = overload.spell(5 * MS, 2_000 * MS);
    assert_eq!(after.pace, 100);
}

#[test]
fn a_slow_world_is_saved_by_the_clock_and_not_by_its_steps() {
    let data = tempfile::tempdir().unwrap();
    let mut arena = Arena::new(&Config { save: Some(SaveConfig::of(data.path().to_owned())), ..config() });
    let clock = arena.clock.clone();
    arena.server.burden(move || clock.advance(200 * MS));
    let is_saved = |step: u64| {
        let seen = saves::inspect(data.path()).unwrap();
        seen.save.is_ok_and(|save| save.meta.is_some_and(|meta| meta.step >= step))
    };
    for step in 1..=9 {
        arena.step();
        // What 600 ms have changed is handed over, and on disk as soon as a thread of its own has written it.
        let end = std::time::Instant::now() + 20_000 * MS;
        while step % 3 == 0 && !is_saved(step) {
            assert!(std::time::Instant::now() < end, "nothing is saved of step {step}");
            std::thread::sleep(MS);
        }
    }
}

#[test]
fn who_acknowledges_nothing_is_put_out_by_the_clock_also_in_a_slow_world() {
    let mut overload = Overload::new(1);
    let mut mute = overload.arena.connected(50);
    mute.is_mute = true;
    mute.say(&ToServer::Hello(Hello::new("mute")));
    for _ in 0..100 {
        mute.turn();
        overload.arena.turn();
        overload.pilots[0].turn();
    }
    let begun = overload.arena.clock.now();
    while mute.words.is_none() {
        overload.spell(500 * MS, 500 * MS);
        assert!(mute.turn());
        assert!(overload.arena.clock.now() < begun + 12_000 * MS, "a hundred and sixty steps take eighty seconds");
    }
    assert_eq!(mute.words.as_deref(), Some("Your client does not acknowledge what it is shown, or far too late."));
    assert!(overload.arena.clock.now() > begun + 5_000 * MS);
}

#[test]
fn each_order_is_done_once_however_often_steps_run() {
    for (step, per_second) in [(200, 5), (10, 20), (0, 20)] {
        let mut overload = Overload::new(1);
        let mut seqs = Vec::new();
        for _ in 0..40 {
            let ship = overload.pilots[0].replica.active().unwrap().id;
            overload.spell(step * MS, Duration::from_millis(1000 / per_second));
            let pilot = &mut overload.pilots[0];
            seqs.push(pilot.order(Command::Hold { ship }));
            for _ in 0..30 {
                pilot.turn();
                overload.arena.turn();
            }
            let answers = pilot.answers.iter().filter(|answer| Some(&answer.seq) == seqs.last());
            assert_eq!(answers.count(), 1, "with steps of {step} ms");
            overload.pilots[0].answers.clear();
        }
    }
}

/// Two pilots in a fight with each other, in a world of its own.
fn fight() -> (Arena, [Peer; 2]) {
    let mut arena = Arena::new(&Config { layer: 3, ..config() });
    let mut pilots = [arena.pilot(1, "ann"), arena.pilot(2, "bob")];
    let ships = pilots.each_ref().map(|pilot| pilot.replica.active().unwrap().id);
    pilots[0].order(Command::Attack { ship: ships[0], target: ships[1] });
    pilots[1].order(Command::Attack { ship: ships[1], target: ships[0] });
    pilots[1].order(Command::Power(keel_client::Power::Brace));
    steps(&mut arena, &mut pilots, 20);
    (arena, pilots)
}

fn steps(arena: &mut Arena, pilots: &mut [Peer], count: u64) {
    let end = arena.server.steps() + count;
    while arena.server.steps() < end {
        pilots.iter_mut().for_each(|pilot| assert!(pilot.turn() && pilot.words.is_none(), "{:?}", pilot.words));
        arena.turn();
    }
}

/// What of a fight is timed, and what is not: all that pilots know of their ships.
fn state(arena: &Arena) -> Vec<(u64, Vec<u8>)> {
    let sights = [1, 2].map(|pilot| arena.server.sight(pilot).expect("a pilot"));
    let own = sights.iter().flat_map(|sight| &sight.own);
    own.map(|ship: &OwnShip| (arena.server.steps(), encode(&format!("{ship:?}")))).collect()
}

#[test]
fn clocks_that_leap_change_nothing_of_a_fight_and_drop_nobody() {
    let day = 86_400;
    let (mut calm, mut calm_pilots) = fight();
    for leap in ["asleep for ten minutes", "a day forward", "a day back", "before 1970", "the end of time"] {
        let (mut arena, mut pilots) = fight();
        let utc = arena.clock.utc();
        match leap {
            "asleep for ten minutes" => arena.clock.advance(Duration::from_secs(600)),
            "a day forward" => arena.clock.set_utc(utc + day),
            "a day back" => arena.clock.set_utc(utc - day),
            "before 1970" => arena.clock.set_utc(0),
            _ => arena.clock.set_utc(u64::MAX - day),
        }
        steps(&mut arena, &mut pilots, 200);
        if calm.server.steps() < arena.server.steps() {
            let count = arena.server.steps() - calm.server.steps();
            steps(&mut calm, &mut calm_pilots, count);
        }
        assert_eq!(calm.server.steps(), arena.server.steps());
        assert!(state(&calm) == state(&arena), "{leap}: the fight is another");
    }
    // And those who sleep again and again stay as well.
    let (mut arena, mut pilots) = fight();
    for _ in 0..20 {
        arena.clock.advance(Duration::from_secs(600));
        steps(&mut arena, &mut pilots, 20);
    }
}

#[test]
fn what_is_due_by_the_network_is_so_by_the_clock_after_a_sleep_too() {
    let mut arena = Arena::new(&config());
    let mut silent = arena.connected(9);
    // One that is about to greet is not late because the machine slept.
    arena.clock.advance(Duration::from_secs(600));
    arena.turn();
    silent.say(&ToServer::Hello(Hello::new("late")));
    for _ in 0..100 {
        assert!(silent.turn() && silent.words.is_none(), "{:?}", silent.words);
        arena.turn();
    }
    assert!(silent.replica.own().next().is_some());
}
