//! Orders of every kind, with any number in every place.

use keel_client::{Command, Force, Hello, Part, Power, Slot, Stance, Structure, Who};
use keel_protocol::{Ack, ToServer};

use crate::Choices;

/// Kinds of orders.
pub const KINDS: usize = 38;

/// Every kind of order with that number wherever there is one, and every kind of what is in it.
#[must_use]
pub fn all(n: u32) -> Vec<Command> {
    let mut orders = Vec::new();
    for kind in 0..KINDS {
        // A kind that goes by what is in it comes once for each.
        for variant in 0..variants(kind) {
            orders.push(order(kind, variant, &mut || n));
        }
    }
    orders
}

const fn variants(kind: usize) -> u8 {
    match kind {
        6 | 27 => 5,
        13 => 4,
        26 => 15,
        25 => 2,
        37 => 3,
        _ => 1,
    }
}

/// An order of a kind and a variety, with numbers from `n`.
///
/// # Panics
/// When there is no such kind.
pub fn order(kind: usize, variant: u8, n: &mut dyn FnMut() -> u32) -> Command {
    let ship = n();
    let stance = [Stance::Aggressive, Stance::Defensive, Stance::Support, Stance::Passive][usize::from(variant % 4)];
    let slot = |which: u8, n: u32| {
        [Slot::Well(n as u8), Slot::Armor, Slot::Shield, Slot::System(n as u8), Slot::Shard][usize::from(which % 5)]
    };
    match kind {
        0 => Command::Move { ship, col: n() as i32, row: n() as i32 },
        1 => Command::Move { ship, col: i32::MIN, row: n() as i32 },
        2 => Command::Cancel { ship },
        3 => Command::Attack { ship, target: n() },
        4 => Command::Focus { ship, target: n() },
        5 => Command::Hold { ship },
        6 => Command::Power(
            [Power::Brace, Power::Jam, Power::Clamp, Power::Unclamp, Power::Cloak][usize::from(variant % 5)],
        ),
        7 => Command::Travel { ship, up: ship.is_multiple_of(2) },
        8 => Command::Rescue { ship },
        9 => Command::Dock { ship },
        10 => Command::Undock { ship },
        11 => Command::Activate { ship },
        12 => Command::Follow { ship, follows: n().is_multiple_of(2) },
        13 => Command::Stance { ship, stance },
        14 => Command::Protect { ship, protectee: n() },
        15 => Command::Triggers { ship, brace_percent: n() as u8, jam: true },
        16 => Command::Gather,
        17 => Command::Kos { pilot: ship, marked: n().is_multiple_of(2) },
        18 => Command::AskDuel(ship),
        19 => Command::AcceptDuel(ship),
        20 => Command::EndDuel(ship),
        21 => Command::Found { name: name(ship) },
        22 => Command::Invite(ship),
        23 => Command::Join(ship),
        24 => Command::Hostile { charter: ship, hostile: n().is_multiple_of(2) },
        25 => Command::Build { ship, structure: [Structure::Berth, Structure::Outpost][usize::from(variant % 2)] },
        26 => {
            let part = [Part::Hold(n()), Part::Yard { kind: n() as u8, faction: n() as u8 }, Part::Empty];
            Command::Fit { ship, slot: slot(variant / 3, n()), part: part[usize::from(variant % 3)] }
        }
        27 => Command::Repair { ship, slot: slot(variant, n()) },
        28 => Command::Commission { class: ship as u8, line: n() as u8 },
        29 => Command::Scrap { ship },
        30 => Command::Drop { module: ship },
        31 => Command::Jump { ship, wormhole: n() },
        32 => Command::Take { ship, wreck: n() },
        33 => Command::Harvest { ship },
        34 => Command::Retreat,
        35 => Command::Leave,
        36 => Command::Found { name: String::new() },
        37 => Command::Force(
            [Force::Storm(ship as u8), Force::Incursion(ship as u8), Force::Wormhole(ship as u8)]
                [usize::from(variant % 3)],
        ),
        _ => panic!("there is no kind {kind}"),
    }
}

/// A name for a number: good, bad and worse.
fn name(n: u32) -> String {
    match n % 8 {
        0 => "Keel".to_owned(),
        1 => format!("c{n}"),
        2 => "\u{202e}".repeat((n % 200) as usize),
        3 => "\u{1b}[2J".to_owned(),
        4 => "王".repeat((n % 90) as usize),
        5 => "a\u{300}".repeat((n % 40) as usize),
        6 => "pаypal".to_owned(),
        _ => "x".repeat((n % 900) as usize),
    }
}

/// Any order. Most numbers are small, as those of ships and pilots are.
pub fn any(choices: &mut Choices<'_>) -> Command {
    let (kind, variant) = (choices.below(KINDS), choices.byte());
    order(kind, variant, &mut || match choices.below(4) {
        0 => choices.extreme() as u32,
        _ => u32::from(choices.byte() % 48),
    })
}

/// Anything that a client says on the ordered channel.
pub fn message(choices: &mut Choices<'_>) -> ToServer {
    match choices.below(16) {
        0 => ToServer::Hello(Hello { version: choices.extreme() as u16, name: name(choices.word() as u32) }),
        1 => ToServer::Who(Who::Id(choices.extreme() as u32)),
        2 => ToServer::Who(Who::Name(name(choices.word() as u32))),
        3 => ToServer::Log,
        _ => ToServer::Op { seq: choices.extreme() as u32, command: any(choices) },
    }
}

/// Any acknowledgement of what was shown.
pub fn ack(choices: &mut Choices<'_>) -> Ack {
    Ack { newest: choices.extreme() % (1 << 40), before: choices.extreme() }
}
