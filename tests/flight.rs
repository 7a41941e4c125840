//! A pilot's whole trade over UDP, by scripts: fitting, powers, duels, charters, fleets, docks and travel.

mod keel;

use keel::{Server, end, flown, fly, has};
use keel_map::{Hex, MapKey, MapKind};
use keel_sim::{Map, Maps, ShipId, Wormhole, Wormholes};
use keel_testkit::{Game, Setup};

#[test]
fn a_pilot_docks_fits_commissions_and_reads_the_card() {
    let server = Server::start(&[]);
    let log = flown(
        &server,
        "ann",
        "show card\ntry fit well1 slow gun Raider\ndock\nawait docked 5\n\
         fit well1 slow gun Raider\ntry fit shard Shard Human\ntry repair armor\n\
         show card\nshow modules\ncommission Frigate Anchor\nshow fleet\nfly @2\nshow card\n",
    );
    has(
        &log,
        &["Patrol, Line hull · power grid 80 of 80", "Volley 90.0 · cycle 1.00 s", "Brace +72 hull, +10 resist 3.0 s"],
    );
    has(&log, &["Refused: This ship is not docked.", "Docked. Hull, shield and battery are full."]);
    has(&log, &["Volley 193.8 · cycle 1.96 s", "1: Common Human gun · quality 100 · durability 100"]);
    has(&log, &["Refused: The fit takes 85 power grid of 80.", "Refused: That module is whole."]);
    has(
        &log,
        &["Raider Patrol ", " · L1 docked · you fly it", "L1 docked · defensive, follows, Braces under 40 %, Jams"],
    );
    has(&log, &["Frigate, Anchor hull · power grid 0 of 100", "Evasion 8 % · tracking 0.05", "Volley 0.0"]);
}

#[test]
fn two_pilots_duel_by_consent_with_jam_clamp_and_unclamp() {
    let server = Server::start(&["--layer", "2"]);
    let ann = fly(
        &server,
        "ann",
        "await pilot 20\ntry attack pilot\nduel bob\nawait log is on 20\nattack pilot\nawait locked 10\n\
         clamp\nawait log is held 5\nwait 3\njam\nawait log silenced 5\nwait 3\nendduel bob\nawait log is over 5\nshow combat\nwait 0.5\n",
    );
    let bob = fly(
        &server,
        "bob",
        "await log challenges 30\naccept ann\nawait log clamps you 30\nmove 1 0\nawait log Clamped. 10\nunclamp\n\
         await log Unclamped 5\nbrace\ncancel\nawait log jams you 20\ntry brace\nawait log Refused: A Jam 5\nawait log is over 20\nwait 1\n",
    );
    let ((ann, ann_errors, ann_content), (bob, bob_errors, bob_content)) = (end(ann), end(bob));
    assert!(ann_content && bob_content, "{ann}\n{ann_errors}\n{bob}\n{bob_errors}");
    has(&ann, &["Refused: On this layer pilots fire on pilots only in a duel, or when their charters are hostile."]);
    has(&ann, &["Your duel with bob is on, for 600 s.", "Locking. 2.00 s.", " is held."]);
    has(&ann, &["Jam. Target silenced 2.7 s. Its Clamp, Brace, Sensor, and shield regen stop."]);
    has(&ann, &["Your duel with bob is over.", " 90.0 raw, "]);
    has(&bob, &["ann challenges you to a duel. The challenge stands 30 s.", "Clamped. Press Unclamp or Jam it."]);
    has(&bob, &["Unclamped. 0.5 s before a Clamp can catch this ship again.", " jams you for 2.7 s."]);
}

#[test]
fn charters_are_founded_joined_and_declared_hostile_by_name() {
    let server = Server::start(&["--layer", "2"]);
    let ann = fly(
        &server,
        "ann",
        "found Keel\nawait pilot 20\ninvite bob\nawait log has joined 20\nshow charter\ntry attack pilot\nawait log mate 5\nwait 2\n",
    );
    let bob =
        fly(&server, "bob", "await log Invited 30\njoin 1\nwait 1\nshow charter\nleave\nwait 0.5\nshow charter\n");
    let ((ann, ann_errors, ann_content), (bob, bob_errors, bob_content)) = (end(ann), end(bob));
    assert!(ann_content && bob_content, "{ann}\n{ann_errors}\n{bob}\n{bob_errors}");
    has(&ann, &["bob has joined your charter.", "Charter 1 Keel: ", "Refused: That is a charter mate's ship."]);
    has(&bob, &["Invited into charter 1, Keel, which stands 600 s.", "Charter 1 Keel: ", "You are in no charter."]);
    let log = flown(&server, "eve", "try duel nobody\ntry join 1\ntry hostile 9\n");
    has(
        &log,
        &[
            "Refused: There is no such pilot.",
            "Refused: That charter has not invited you.",
            "Refused: You are in no charter.",
        ],
    );
}

#[test]
fn a_fleet_travels_is_rescued_and_finds_itself_berthed_after_a_logout() {
    let server = Server::start(&[]);
    let log = flown(
        &server,
        "ann",
        "dock\nawait docked 5\ncommission Frigate\ntravel up\nawait log Arrived on Layer 2 10\nshow fleet\n\
         travel up\nwait 1\ncancel\ntry travel up\nawait log Refused 5\nmove 1 0\nawait arrival 10\nmove 0 0\nawait arrival 10\nwait 13\n\
         rescue\nawait log Rescued 10\nshow fleet\n",
    );
    has(&log, &["Travel up to Layer 2. 5 s. You cannot lock or fire.", "Arrived on Layer 2. Transit flag ended."]);
    has(
        &log,
        &[
            "L2 0 0 · you fly it",
            "L2 0 0 · defensive, follows",
            "Refused: A jump was cancelled. The next one can begin in 14",
        ],
    );
    has(&log, &["Rescue jump. 5 s.", "Rescued. For 45 s this ship cannot be locked and its guns stay quiet."]);
    // The goodbye is a datagram under way.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let log = flown(&server, "ann", "show fleet\n");
    has(&log, &["L2 docked · you fly it", "L2 docked · defensive, follows"]);
}

/// A seed of which a wormhole near the centre of Layer 3 leads into a Rift, with nobody at either end or on the way, and
/// that wormhole. The world of a seed is the same here and in the server.
fn door() -> (u64, Wormhole) {
    let world = |seed, squads, steps| {
        let mut game = Game::new(Setup { layer: 3, generated: true, others: true, squads, seed, ..Setup::default() });
        game.step(steps);
        game
    };
    let is_near = |wormhole: &Wormhole| {
        let [near, far] = wormhole.ends;
        let hops = near.hex.distance(Hex::CENTRE);
        near.map == MapKey::layer(3) && (1..=3).contains(&hops) && far.map.kind == MapKind::Rift
    };
    for seed in 1..2000 {
        let game = world(seed, false, 1);
        let wormholes = game.app.world().resource::<Wormholes>();
        let Some(door) = wormholes.iter().map(|(_, wormhole)| *wormhole).find(is_near) else { continue };
        let game = world(seed, true, 30);
        let [near, far] = door.ends;
        let map = game.app.world().resource::<Maps>().get(near.map).and_then(|map| game.app.world().get::<Map>(map));
        let way = map.and_then(|map| map.layout.path(Hex::CENTRE, near.hex)).expect("every sector can be reached");
        let is_taken = |ship: ShipId| {
            let (map, hex) = (game.map(ship), game.hex(ship));
            (map == near.map && way.contains(&hex)) || (map == far.map && hex == far.hex)
        };
        if !game.ships().iter().any(|ship| is_taken(ship.id)) {
            return (seed, door);
        }
    }
    panic!("no such door in 2,000 seeds")
}

#[test]
fn rule_10_two_live_pilots_jump_into_a_rift_and_fire_on_each_other() {
    let (seed, door) = door();
    let server = Server::start(&["--layer", "3", "--seed", &seed.to_string()]);
    let Hex { col, row } = door.ends[0].hex;
    let code = door.code;
    let way = format!(
        "move {col} {row}\nawait arrival 20\nawait log found 5\nwait 1\nshow wormholes\njump {code}\nawait log Arrived 10\n\
         show fleet\ntry dock\ntry rescue\nawait pilot 20\nwait 6\nshow wormholes\n"
    );
    let ann = fly(
        &server,
        "ann",
        &format!("{way}attack pilot\nawait log Hit 20\nhold\nshow combat\nwait 4\nshow wormholes\n"),
    );
    let bob = fly(&server, "bob", &format!("{way}await log hit you 30\n"));
    let ((ann, ann_errors, ann_content), (bob, bob_errors, bob_content)) = (end(ann), end(bob));
    assert!(ann_content && bob_content, "{ann}\n{ann_errors}\n{bob}\n{bob_errors}");
    let to = door.ends[1].map;
    // Bob has left, and his ship stays in space: a Rift has nowhere to berth it.
    has(&ann, &["Pilots inside: 1.", "Fleets left there by pilots who are away: 1."]);
    for log in [&ann, &bob] {
        has(log, &[&format!("Wormhole {code} found at {col} {row}. It leads to {}.", to.title())]);
        has(
            log,
            &[
                &format!("danger: {}, twice the NPCs of Layer {}", to.title(), to.tier),
                "Pilots inside: 0.",
                "Fleets left there by pilots who are away: 0.",
                "Pilots inside: 2.",
            ],
        );
        has(log, &[&format!("Wormhole {code} to {}. 5 s. You cannot lock or fire.", to.title())]);
        has(log, &[&format!("Arrived on {}. Transit flag ended.", to.title()), &format!("R{} ", to.tier)]);
        has(log, &["Refused: A Rift has no Haven. Leave through a wormhole."]);
    }
}
