//! Commands as ops.

use keel_balance::Faction;
use keel_map::{Hex, MapKey};
use keel_protocol::{Command, Force, Part, Power, Slot, Stance, Structure};
use keel_rules::powers;
use keel_rules::{ClassId, Kind, Line};
use keel_sim::{CharterId, ModuleId, Op, PilotId, Refusal, ShipId, StructureKind, Way, WormholeId, WreckId};

/// The op that a command asks for.
///
/// # Errors
/// When it names by index what is not in the catalogue.
pub(crate) fn op(command: Command) -> Result<Op, Refusal> {
    Ok(match command {
        Command::Move { ship, col, row } => Op::Move { ship: ShipId(ship), to: Hex::new(col, row) },
        Command::Cancel { ship } => Op::Cancel { ship: ShipId(ship) },
        Command::Attack { ship, target } => Op::Attack { ship: ShipId(ship), target: ShipId(target) },
        Command::Focus { ship, target } => Op::Focus { ship: ShipId(ship), target: ShipId(target) },
        Command::Hold { ship } => Op::Hold { ship: ShipId(ship) },
        Command::Power(power) => Op::Power(match power {
            Power::Brace => powers::Power::Brace,
            Power::Jam => powers::Power::Jam,
            Power::Clamp => powers::Power::Clamp,
            Power::Unclamp => powers::Power::Unclamp,
            Power::Cloak => powers::Power::Cloak,
        }),
        Command::Travel { ship, up } => Op::Travel { ship: ShipId(ship), way: if up { Way::Up } else { Way::Down } },
        Command::Rescue { ship } => Op::Rescue { ship: ShipId(ship) },
        Command::Dock { ship } => Op::Dock { ship: ShipId(ship) },
        Command::Undock { ship } => Op::Undock { ship: ShipId(ship) },
        Command::Activate { ship } => Op::Activate { ship: ShipId(ship) },
        Command::Stance { ship, stance } => Op::Stance { ship: ShipId(ship), stance: self::stance(stance) },
        Command::Protect { ship, protectee } => {
            Op::Protect { ship: ShipId(ship), protectee: (protectee != 0).then_some(ShipId(protectee)) }
        }
        Command::Triggers { ship, brace_percent, jam } => Op::Triggers { ship: ShipId(ship), brace_percent, jam },
        Command::Follow { ship, follows } => Op::Follow { ship: ShipId(ship), follows },
        Command::Gather => Op::Gather,
        Command::Kos { pilot, marked } => Op::Kos { pilot: PilotId(pilot), marked },
        Command::AskDuel(pilot) => Op::AskDuel(PilotId(pilot)),
        Command::AcceptDuel(pilot) => Op::AcceptDuel(PilotId(pilot)),
        Command::EndDuel(pilot) => Op::EndDuel(PilotId(pilot)),
        Command::Found { name } => Op::Found { name },
        Command::Invite(pilot) => Op::Invite(PilotId(pilot)),
        Command::Join(charter) => Op::Join(CharterId(charter)),
        Command::Leave => Op::Leave,
        Command::Hostile { charter, hostile } => Op::Hostile { charter: CharterId(charter), hostile },
        Command::Build { ship, structure } => Op::Build {
            ship: ShipId(ship),
            kind: match structure {
                Structure::Berth => StructureKind::Berth,
                Structure::Outpost => StructureKind::Outpost,
            },
        },
        Command::Fit { ship, slot, part } => {
            Op::Fit { ship: ShipId(ship), slot: self::slot(slot), part: self::part(part)? }
        }
        Command::Repair { ship, slot } => Op::Repair { ship: ShipId(ship), slot: self::slot(slot) },
        Command::Commission { class, line } => {
            let line = *Line::ALL.get(usize::from(line)).ok_or(Refusal::NotInYard)?;
            Op::Commission { class: ClassId(class), line }
        }
        Command::Scrap { ship } => Op::Scrap { ship: ShipId(ship) },
        Command::Jump { ship, wormhole } => Op::Jump { ship: ShipId(ship), wormhole: WormholeId(wormhole) },
        Command::Drop { module } => Op::Drop(ModuleId(module)),
        Command::Take { ship, wreck } => Op::Take { ship: ShipId(ship), wreck: WreckId(wreck) },
        Command::Harvest { ship } => Op::Harvest { ship: ShipId(ship) },
        Command::Retreat => Op::Retreat,
        Command::Force(force) => Op::Force(match force {
            Force::Storm(map) => keel_sim::Force::Storm(self::map(map)?),
            Force::Incursion(map) => keel_sim::Force::Incursion(self::map(map)?),
            Force::Wormhole(map) => keel_sim::Force::Wormhole(self::map(map)?),
        }),
    })
}

fn map(code: u8) -> Result<MapKey, Refusal> {
    MapKey::from_code(code).ok_or(Refusal::NoSuchMap)
}

const fn stance(stance: Stance) -> keel_sim::Stance {
    match stance {
        Stance::Aggressive => keel_sim::Stance::Aggressive,
        Stance::Defensive => keel_sim::Stance::Defensive,
        Stance::Support => keel_sim::Stance::Support,
        Stance::Passive => keel_sim::Stance::Passive,
    }
}

const fn slot(slot: Slot) -> keel_rules::Slot {
    match slot {
        Slot::Well(well) => keel_rules::Slot::Well(well),
        Slot::Armor => keel_rules::Slot::Armor,
        Slot::Shield => keel_rules::Slot::Shield,
        Slot::System(slot) => keel_rules::Slot::System(slot),
        Slot::Shard => keel_rules::Slot::Shard,
    }
}

fn part(part: Part) -> Result<keel_sim::Part, Refusal> {
    Ok(match part {
        Part::Hold(module) => keel_sim::Part::Hold(ModuleId(module)),
        Part::Yard { kind, faction } => {
            let kind = Kind::ALL.get(usize::from(kind)).ok_or(Refusal::NotInYard)?;
            let faction = Faction::ALL.get(usize::from(faction)).ok_or(Refusal::NotInYard)?;
            keel_sim::Part::Yard(*kind, *faction)
        }
        Part::Empty => keel_sim::Part::Empty,
    })
}
