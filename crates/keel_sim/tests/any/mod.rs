//! A small world, and every op that a pilot could think of in it.

use keel_balance::{Faction, System};
use keel_map::{Hex, MapKey};
use keel_rules::powers::Power;
use keel_rules::{ClassId, Fit, Kind, Line, Slot};
use keel_sim::{
    CharterId, Force, ModuleId, Op, OperatorOps, Part, PilotId, ShipId, Stance, StructureKind, Way, WreckId,
};
use keel_testkit::{Game, Setup};
use proptest::prelude::*;

/// What that world is made of.
pub(crate) fn setup(layer: u8, seed: u64) -> Setup {
    Setup { layer, others: true, seed, ..Setup::default() }
}

/// Pilots of that world.
pub(crate) const PILOTS: u32 = 3;

/// Three pilots with three ships each and two squads, at the centre of a layer and beside it.
pub(crate) fn world(layer: u8, seed: u64) -> Game {
    let mut game = Game::new(setup(layer, seed));
    game.app.insert_resource(OperatorOps(true));
    let systems = [
        [System::Brace, System::Jam, System::Clamp, System::Mender],
        [System::Aura, System::Cloak, System::Sensor, System::Evasion],
    ];
    let fit = |game: &Game, n: u32| {
        let faction = Faction::ALL[(n % 4) as usize];
        let common = game.common(2 + (n % 3) as u8, faction);
        systems[(n % 2) as usize].iter().fold(common, |fit, &system| fit.with(system, faction))
    };
    for _ in 0..PILOTS {
        let pilot = game.pilot();
        game.stock(pilot);
        for n in 0..3 {
            let fit = fit(&game, n + pilot.0);
            game.ship(pilot, fit);
        }
    }
    for hex in [Hex::CENTRE, Hex::new(1, 0)] {
        let fits = [0, 1].map(|n| Fit { shield: None, ..fit(&game, n) });
        game.squad(&fits, hex);
    }
    game
}

/// A number as it usually is, and now and then one from the edge of what there is: 0, the greatest, and beside.
fn id(usual: std::ops::Range<u32>) -> impl Strategy<Value = u32> {
    let edges = vec![0, 1, u32::MAX, u32::MAX - 1, 1 << 31, (1 << 31) - 1, 255, 256, 65_535, 65_536];
    prop_oneof![12 => usual, 1 => proptest::sample::select(edges)]
}

/// The same for a byte.
fn byte(usual: std::ops::Range<u8>) -> impl Strategy<Value = u8> {
    prop_oneof![12 => usual, 1 => proptest::sample::select(vec![0, 1, 100, 101, 127, 128, 254, 255])]
}

/// The same for a place, where numbers may be below 0.
fn place() -> impl Strategy<Value = i32> {
    let edges = vec![i32::MIN, i32::MIN + 1, i32::MAX, i32::MAX - 1, -1, i16::MAX.into(), i32::from(i16::MAX) + 1];
    prop_oneof![12 => -2i32..=2, 1 => proptest::sample::select(edges)]
}

/// An op of any kind, about what there is and what there is not.
pub(crate) fn op() -> impl Strategy<Value = Op> {
    let ship = || id(0..16).prop_map(ShipId);
    let pilot = || id(0..PILOTS + 2).prop_map(PilotId);
    let hex = || (place(), place()).prop_map(|(col, row)| Hex::new(col, row));
    let slot = || {
        prop_oneof![
            byte(0..2).prop_map(Slot::Well),
            Just(Slot::Armor),
            Just(Slot::Shield),
            byte(0..6).prop_map(Slot::System),
            Just(Slot::Shard)
        ]
    };
    let stances = [Stance::Aggressive, Stance::Defensive, Stance::Support, Stance::Passive];
    let part = || {
        prop_oneof![
            Just(Part::Empty),
            id(0..8).prop_map(|id| Part::Hold(ModuleId(id))),
            (0..Kind::ALL.len(), 0..4usize).prop_map(|(kind, by)| Part::Yard(Kind::ALL[kind], Faction::ALL[by])),
        ]
    };
    let flight = prop_oneof![
        (ship(), hex()).prop_map(|(ship, to)| Op::Move { ship, to }),
        ship().prop_map(|ship| Op::Cancel { ship }),
        (ship(), any::<bool>()).prop_map(|(ship, up)| Op::Travel { ship, way: if up { Way::Up } else { Way::Down } }),
        ship().prop_map(|ship| Op::Rescue { ship }),
        (ship(), id(1..20)).prop_map(|(ship, id)| Op::Jump { ship, wormhole: keel_sim::WormholeId(id) }),
        ship().prop_map(|ship| Op::Dock { ship }),
        ship().prop_map(|ship| Op::Undock { ship }),
    ];
    let fight = prop_oneof![
        (ship(), ship()).prop_map(|(ship, target)| Op::Attack { ship, target }),
        (ship(), ship()).prop_map(|(ship, target)| Op::Focus { ship, target }),
        ship().prop_map(|ship| Op::Hold { ship }),
        (0..Power::ALL.len()).prop_map(|power| Op::Power(Power::ALL[power])),
    ];
    let fleet = prop_oneof![
        ship().prop_map(|ship| Op::Activate { ship }),
        (ship(), 0..4usize).prop_map(move |(ship, stance)| Op::Stance { ship, stance: stances[stance] }),
        (ship(), proptest::option::of(ship())).prop_map(|(ship, protectee)| Op::Protect { ship, protectee }),
        (ship(), byte(0..120), any::<bool>()).prop_map(|(ship, brace_percent, jam)| Op::Triggers {
            ship,
            brace_percent,
            jam
        }),
        (ship(), any::<bool>()).prop_map(|(ship, follows)| Op::Follow { ship, follows }),
        Just(Op::Gather),
        (pilot(), any::<bool>()).prop_map(|(pilot, marked)| Op::Kos { pilot, marked }),
    ];
    let society = prop_oneof![
        pilot().prop_map(Op::AskDuel),
        pilot().prop_map(Op::AcceptDuel),
        pilot().prop_map(Op::EndDuel),
        Just(Op::Found { name: "Keel".into() }),
        pilot().prop_map(Op::Invite),
        id(0..4).prop_map(|id| Op::Join(CharterId(id))),
        Just(Op::Leave),
        (id(0..4), any::<bool>()).prop_map(|(id, hostile)| Op::Hostile { charter: CharterId(id), hostile }),
        (ship(), 0..2usize).prop_map(|(ship, kind)| Op::Build { ship, kind: StructureKind::ALL[kind] }),
    ];
    let industry = prop_oneof![
        (ship(), id(1..6)).prop_map(|(ship, id)| Op::Take { ship, wreck: WreckId(id) }),
        ship().prop_map(|ship| Op::Harvest { ship }),
        Just(Op::Retreat),
        (0..12usize, 0..3usize).prop_map(|(map, what)| {
            let map = MapKey::all().nth(map).unwrap();
            Op::Force([Force::Storm(map), Force::Incursion(map), Force::Wormhole(map)][what])
        }),
    ];
    let fitting = prop_oneof![
        (ship(), slot(), part()).prop_map(|(ship, slot, part)| Op::Fit { ship, slot, part }),
        (ship(), slot()).prop_map(|(ship, slot)| Op::Repair { ship, slot }),
        byte(0..7).prop_map(|class| Op::Commission { class: ClassId(class), line: Line::Anchor }),
        ship().prop_map(|ship| Op::Scrap { ship }),
        id(0..8).prop_map(|id| Op::Drop(ModuleId(id))),
    ];
    prop_oneof![3 => flight, 4 => fight, 2 => fleet, 1 => society, 2 => fitting, 1 => industry]
}
