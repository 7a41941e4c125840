//! What a pilot can do in words: the lines of a script, and of the prompt on the screen.

use keel_client::{Command, Flags, Force, Part, Power, Slot, Stance, Structure};
use keel_map::{Direction, Hex, MapKey};

use super::pilot::Pilot;
use super::{news, report};
use crate::sight::Sight;

/// How each is said, for a person. SHIP is a number, or @1, @2, … of the fleet.
const DEEDS: [&str; 60] = [
    "move COLUMN ROW",
    "move E|SE|SW|W|NW|NE",
    "cancel",
    "attack nearest|pilot|ID",
    "focus nearest|pilot|ID",
    "hold",
    "brace",
    "jam",
    "clamp",
    "unclamp",
    "cloak",
    "travel up|down",
    "rescue",
    "jump CODE",
    "jump here",
    "dock",
    "undock",
    "fly SHIP",
    "stance SHIP|all aggressive|defensive|support|passive",
    "protect SHIP active|SHIP",
    "triggers SHIP|all PERCENT jam|nojam",
    "follow SHIP|all",
    "stay SHIP|all",
    "gather",
    "kos PILOT",
    "unkos PILOT",
    "duel PILOT",
    "accept PILOT",
    "endduel PILOT",
    "found NAME",
    "invite PILOT",
    "join CHARTER'S-NUMBER",
    "leave",
    "hostile CHARTER'S-NUMBER",
    "peace CHARTER'S-NUMBER",
    "build berth|outpost",
    "take all|ID",
    "harvest",
    "retreat",
    "force storm MAP",
    "force incursion MAP",
    "force wormhole MAP",
    "fit well1|well2|armor|shield|shard|system1|… KIND FACTION",
    "fit SLOT hold MODULE",
    "fit SLOT empty",
    "repair SLOT",
    "commission CLASS",
    "commission CLASS Line|Anchor|Screen",
    "scrap SHIP",
    "drop MODULE",
    "show card",
    "show fleet",
    "show modules",
    "show combat",
    "show charter",
    "show wormholes",
    "show journal",
    "show cargo",
    "show chart",
    "show wrecks",
];

/// How to say what somebody tried to say: the ways that begin with the same word, or else every first word. `more` is what
/// can be said besides deeds.
pub(crate) fn usage(words: &[&str], more: &[&'static str]) -> String {
    let first = words.first().copied().unwrap_or_default();
    let verb = |way: &&'static str| way.split(' ').next().unwrap_or_default();
    let ways = || DEEDS.iter().chain(more).copied();
    let alike: Vec<&str> = ways().filter(|way| verb(way) == first).collect();
    if alike.is_empty() {
        let mut verbs: Vec<&str> = ways().map(|way| verb(&way)).collect();
        verbs.dedup();
        let orders = format!("orders are {}", verbs.join(", "));
        if first.is_empty() { orders } else { format!("no order begins with \"{first}\"; {orders}") }
    } else {
        format!("say {}", alike.join(", or "))
    }
}

/// Something that a pilot does at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    MoveTo(Hex),
    MoveBy(Direction),
    Cancel,
    Attack(Target),
    Focus(Target),
    Hold,
    Power(Power),
    Travel { up: bool },
    Rescue,
    Jump(Option<String>),
    Dock,
    Undock,
    Fly(Which),
    Stance(Which, Stance),
    Protect(Which, Option<Which>),
    Triggers(Which, u8, bool),
    Follow(Which, bool),
    Gather,
    Kos(String, bool),
    Duel(String),
    Accept(String),
    EndDuel(String),
    Found(String),
    Invite(String),
    Join(u32),
    Leave,
    Hostile(u32, bool),
    Build(Structure),
    Take(Option<u32>),
    Harvest,
    Retreat,
    Force(Event, String),
    Fit(Slot, Stuff),
    Repair(Slot),
    Commission(String, Option<String>),
    Scrap(Which),
    Drop(u32),
    Show(Report),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The nearest NPC.
    Nearest,
    /// The nearest ship of another pilot's.
    Pilot,
    Ship(u32),
}

/// Ships of the pilot's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Ship(u32),
    /// The so-manieth of the fleet, from 1.
    Nth(usize),
    /// Every escort.
    All,
}

/// What to put into a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stuff {
    Empty,
    Hold(u32),
    /// The name of a kind and of a faction.
    Yard(String, String),
}

/// What an operator has happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Storm,
    Incursion,
    Wormhole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Card,
    Fleet,
    Modules,
    Combat,
    Charter,
    Wormholes,
    Journal,
    Cargo,
    Chart,
    Wrecks,
}

/// The deed that the words say, if they say one.
pub(crate) fn deed(words: &[&str]) -> Option<Deed> {
    let owned = |word: &&str| (*word).to_owned();
    Some(match words {
        ["move", direction] => Deed::MoveBy(direction_named(direction)?),
        ["move", col, row] => Deed::MoveTo(Hex::new(col.parse().ok()?, row.parse().ok()?)),
        ["cancel"] => Deed::Cancel,
        ["attack", ship] => Deed::Attack(target(ship)?),
        ["focus", ship] => Deed::Focus(target(ship)?),
        ["hold"] => Deed::Hold,
        ["brace"] => Deed::Power(Power::Brace),
        ["jam"] => Deed::Power(Power::Jam),
        ["clamp"] => Deed::Power(Power::Clamp),
        ["unclamp"] => Deed::Power(Power::Unclamp),
        ["cloak"] => Deed::Power(Power::Cloak),
        ["travel", "up"] => Deed::Travel { up: true },
        ["travel", "down"] => Deed::Travel { up: false },
        ["rescue"] => Deed::Rescue,
        ["jump", "here"] => Deed::Jump(None),
        ["jump", code] => Deed::Jump(Some(owned(code))),
        ["dock"] => Deed::Dock,
        ["undock"] => Deed::Undock,
        ["fly", ship] => Deed::Fly(one(ship)?),
        ["stance", ship, stance] => Deed::Stance(which(ship)?, stance_named(stance)?),
        ["protect", ship, "active"] => Deed::Protect(which(ship)?, None),
        ["protect", ship, other] => Deed::Protect(which(ship)?, Some(one(other)?)),
        ["triggers", ship, percent, jam] => {
            let jam = match *jam {
                "jam" => true,
                "nojam" => false,
                _ => return None,
            };
            Deed::Triggers(which(ship)?, percent.trim_end_matches('%').parse().ok()?, jam)
        }
        ["follow", ship] => Deed::Follow(which(ship)?, true),
        ["stay", ship] => Deed::Follow(which(ship)?, false),
        ["gather"] => Deed::Gather,
        ["kos", pilot] => Deed::Kos(owned(pilot), true),
        ["unkos", pilot] => Deed::Kos(owned(pilot), false),
        ["duel", pilot] => Deed::Duel(owned(pilot)),
        ["accept", pilot] => Deed::Accept(owned(pilot)),
        ["endduel", pilot] => Deed::EndDuel(owned(pilot)),
        ["found", name] => Deed::Found(owned(name)),
        ["invite", pilot] => Deed::Invite(owned(pilot)),
        ["join", charter] => Deed::Join(charter.parse().ok()?),
        ["leave"] => Deed::Leave,
        ["hostile", charter] => Deed::Hostile(charter.parse().ok()?, true),
        ["peace", charter] => Deed::Hostile(charter.parse().ok()?, false),
        ["build", "berth"] => Deed::Build(Structure::Berth),
        ["build", "outpost"] => Deed::Build(Structure::Outpost),
        ["take", "all"] => Deed::Take(None),
        ["take", wreck] => Deed::Take(Some(wreck.parse().ok()?)),
        ["harvest"] => Deed::Harvest,
        ["retreat"] => Deed::Retreat,
        ["force", what, map] => {
            let event = match *what {
                "storm" => Event::Storm,
                "incursion" => Event::Incursion,
                "wormhole" => Event::Wormhole,
                _ => return None,
            };
            Deed::Force(event, owned(map))
        }
        ["fit", slot, "empty"] => Deed::Fit(slot_named(slot)?, Stuff::Empty),
        ["fit", slot, "hold", module] => Deed::Fit(slot_named(slot)?, Stuff::Hold(module.parse().ok()?)),
        ["fit", slot, kind @ .., faction] if !kind.is_empty() => {
            Deed::Fit(slot_named(slot)?, Stuff::Yard(kind.join(" "), owned(faction)))
        }
        ["repair", slot] => Deed::Repair(slot_named(slot)?),
        ["commission", class] => Deed::Commission(owned(class), None),
        ["commission", class, line] => Deed::Commission(owned(class), Some(owned(line))),
        ["scrap", ship] => Deed::Scrap(one(ship)?),
        ["drop", module] => Deed::Drop(module.parse().ok()?),
        ["show", report] => Deed::Show(match *report {
            "card" => Report::Card,
            "fleet" => Report::Fleet,
            "modules" => Report::Modules,
            "combat" => Report::Combat,
            "charter" => Report::Charter,
            "wormholes" => Report::Wormholes,
            "journal" => Report::Journal,
            "cargo" => Report::Cargo,
            "chart" => Report::Chart,
            "wrecks" => Report::Wrecks,
            _ => return None,
        }),
        _ => return None,
    })
}

fn target(word: &str) -> Option<Target> {
    Some(match word {
        "nearest" => Target::Nearest,
        "pilot" => Target::Pilot,
        id => Target::Ship(id.parse().ok()?),
    })
}

fn which(word: &str) -> Option<Which> {
    if word == "all" { Some(Which::All) } else { one(word) }
}

fn one(word: &str) -> Option<Which> {
    match word.strip_prefix('@') {
        Some(nth) => nth.parse().ok().filter(|&nth| nth > 0).map(Which::Nth),
        None => word.parse().ok().map(Which::Ship),
    }
}

fn stance_named(word: &str) -> Option<Stance> {
    Some(match word {
        "aggressive" => Stance::Aggressive,
        "defensive" => Stance::Defensive,
        "support" => Stance::Support,
        "passive" => Stance::Passive,
        _ => return None,
    })
}

fn slot_named(word: &str) -> Option<Slot> {
    let nth = |number: &str| number.parse::<u8>().ok()?.checked_sub(1);
    Some(match word {
        "armor" => Slot::Armor,
        "shield" => Slot::Shield,
        "shard" => Slot::Shard,
        _ => match (word.strip_prefix("well"), word.strip_prefix("system")) {
            (Some(well), _) => Slot::Well(nth(well)?),
            (_, Some(system)) => Slot::System(nth(system)?),
            _ => return None,
        },
    })
}

fn direction_named(word: &str) -> Option<Direction> {
    Some(match word {
        "E" => Direction::East,
        "SE" => Direction::SouthEast,
        "SW" => Direction::SouthWest,
        "W" => Direction::West,
        "NW" => Direction::NorthWest,
        "NE" => Direction::NorthEast,
        _ => return None,
    })
}

impl Deed {
    /// Does it.
    ///
    /// # Errors
    /// When it names what is not there, with what that is.
    pub(crate) fn go(&self, pilot: &mut Pilot) -> Result<(), String> {
        match self.clone() {
            Self::MoveTo(to) => pilot.go_to(to),
            Self::MoveBy(direction) => {
                let here = pilot.here().ok_or("there is no ship to move")?;
                pilot.go_to(here.neighbour(direction));
            }
            Self::Cancel => pilot.order(|ship| Command::Cancel { ship }),
            Self::Attack(target) => {
                let target = target.ship(pilot)?;
                pilot.order(|ship| Command::Attack { ship, target });
            }
            Self::Focus(target) => {
                let target = target.ship(pilot)?;
                pilot.order(|ship| Command::Focus { ship, target });
            }
            Self::Hold => pilot.order(|ship| Command::Hold { ship }),
            Self::Power(power) => pilot.say(Command::Power(power)),
            Self::Travel { up } => pilot.order(|ship| Command::Travel { ship, up }),
            Self::Rescue => pilot.order(|ship| Command::Rescue { ship }),
            Self::Jump(Some(code)) => {
                let known = pilot.replica().wormholes().iter().find(|known| known.code.eq_ignore_ascii_case(&code));
                let wormhole = known.map(|known| known.id).ok_or(format!("you know of no wormhole {code}"))?;
                pilot.order(|ship| Command::Jump { ship, wormhole });
            }
            Self::Jump(None) => {
                match *pilot.wormholes_here() {
                    [] => return Err("you know of no wormhole in this sector".to_owned()),
                    [wormhole] => pilot.order(|ship| Command::Jump { ship, wormhole }),
                    // One may lead home, and the other into a Rift.
                    _ => return Err("several wormholes are here: say jump CODE; i lists them".to_owned()),
                }
            }
            Self::Dock => pilot.order(|ship| Command::Dock { ship }),
            Self::Undock => pilot.order(|ship| Command::Undock { ship }),
            Self::Fly(which) => which.order(pilot, |ship| Command::Activate { ship })?,
            Self::Stance(which, stance) => which.order(pilot, |ship| Command::Stance { ship, stance })?,
            Self::Protect(which, other) => {
                let protectee = other.map(|other| other.first(pilot)).transpose()?.unwrap_or(0);
                which.order(pilot, |ship| Command::Protect { ship, protectee })?;
            }
            Self::Triggers(which, brace_percent, jam) => {
                which.order(pilot, |ship| Command::Triggers { ship, brace_percent, jam })?;
            }
            Self::Follow(which, follows) => which.order(pilot, |ship| Command::Follow { ship, follows })?,
            Self::Gather => pilot.say(Command::Gather),
            Self::Kos(whom, marked) => pilot.about(&whom, move |pilot| Command::Kos { pilot, marked }),
            Self::Duel(whom) => pilot.about(&whom, Command::AskDuel),
            Self::Accept(whom) => pilot.about(&whom, Command::AcceptDuel),
            Self::EndDuel(whom) => pilot.about(&whom, Command::EndDuel),
            Self::Found(name) => pilot.say(Command::Found { name }),
            Self::Invite(whom) => pilot.about(&whom, Command::Invite),
            Self::Join(charter) => pilot.say(Command::Join(charter)),
            Self::Leave => pilot.say(Command::Leave),
            Self::Hostile(charter, hostile) => pilot.say(Command::Hostile { charter, hostile }),
            Self::Build(structure) => pilot.order(|ship| Command::Build { ship, structure }),
            Self::Take(Some(wreck)) => pilot.order(|ship| Command::Take { ship, wreck }),
            Self::Take(None) => {
                let wrecks = pilot.wrecks_here();
                if wrecks.is_empty() {
                    return Err("no wreck is in your sector".to_owned());
                }
                // As many as a server takes orders at once.
                wrecks.into_iter().take(20).for_each(|wreck| pilot.order(|ship| Command::Take { ship, wreck }));
            }
            Self::Harvest => pilot.order(|ship| Command::Harvest { ship }),
            Self::Retreat => pilot.say(Command::Retreat),
            Self::Force(event, map) => {
                let map = map.to_lowercase().parse::<MapKey>().map_err(|error| error.to_string())?.code();
                pilot.say(Command::Force(match event {
                    Event::Storm => Force::Storm(map),
                    Event::Incursion => Force::Incursion(map),
                    Event::Wormhole => Force::Wormhole(map),
                }));
            }
            Self::Fit(slot, stuff) => {
                let part = stuff.part(pilot)?;
                pilot.order(|ship| Command::Fit { ship, slot, part });
            }
            Self::Repair(slot) => pilot.order(|ship| Command::Repair { ship, slot }),
            Self::Commission(class, line) => {
                let welcome = pilot.replica().welcome();
                let class = index(welcome.map(|welcome| &welcome.classes), &class)?;
                let line = line.map_or(Ok(0), |line| index(welcome.map(|welcome| &welcome.lines), &line))?;
                pilot.say(Command::Commission { class, line });
            }
            Self::Scrap(which) => which.order(pilot, |ship| Command::Scrap { ship })?,
            Self::Drop(module) => pilot.say(Command::Drop { module }),
            Self::Show(report) => match report {
                Report::Card => report::card(pilot),
                Report::Fleet => report::fleet(pilot),
                Report::Modules => report::modules(pilot),
                Report::Combat => pilot.ask_log(),
                Report::Charter => report::charter(pilot),
                Report::Wormholes => report::wormholes(pilot),
                Report::Journal => report::tell(pilot, news::journal_lines),
                Report::Cargo => report::tell(pilot, news::cargo_lines),
                Report::Chart => report::tell(pilot, news::chart_lines),
                Report::Wrecks => report::tell(pilot, news::wreck_lines),
            },
        }
        Ok(())
    }
}

impl Target {
    fn ship(self, pilot: &Pilot) -> Result<u32, String> {
        match self {
            Self::Ship(id) => Ok(id),
            Self::Pilot => {
                pilot.rivals().first().map(|contact| contact.id).ok_or("no other pilot is in view".to_owned())
            }
            Self::Nearest => pilot.enemies().first().map(|contact| contact.id).ok_or("no NPC is in view".to_owned()),
        }
    }
}

impl Which {
    fn ships(self, pilot: &Pilot) -> Result<Vec<u32>, String> {
        let own = pilot.replica().own();
        Ok(match self {
            Self::Ship(id) => vec![id],
            Self::Nth(nth) => {
                let count = own.len();
                let mut ships = pilot.replica().own();
                vec![ships.nth(nth - 1).ok_or(format!("your fleet has {count} ships"))?.id]
            }
            Self::All => own.filter(|ship| !ship.flags.has(Flags::ACTIVE)).map(|ship| ship.id).collect(),
        })
    }

    fn first(self, pilot: &Pilot) -> Result<u32, String> {
        self.ships(pilot)?.first().copied().ok_or("your fleet has no such ship".to_owned())
    }

    fn order(self, pilot: &mut Pilot, command: impl Fn(u32) -> Command) -> Result<(), String> {
        self.ships(pilot)?.into_iter().for_each(|ship| pilot.say(command(ship)));
        Ok(())
    }
}

impl Stuff {
    fn part(self, pilot: &Pilot) -> Result<Part, String> {
        Ok(match self {
            Self::Empty => Part::Empty,
            Self::Hold(module) => Part::Hold(module),
            Self::Yard(kind, faction) => {
                let welcome = pilot.replica().welcome();
                let kinds: Option<Vec<String>> =
                    welcome.map(|welcome| welcome.kinds.iter().map(|kind| kind.name.clone()).collect());
                let faction = index(welcome.map(|welcome| &welcome.factions), &faction)?;
                Part::Yard { kind: index(kinds.as_ref(), &kind)?, faction }
            }
        })
    }
}

/// A name's place in a list of the catalogue, whatever its case.
fn index(names: Option<&Vec<String>>, name: &str) -> Result<u8, String> {
    let names = names.map_or(&[][..], Vec::as_slice);
    let at = names.iter().position(|known| known.eq_ignore_ascii_case(name));
    at.map(|at| at as u8).ok_or_else(|| format!("there is no {name}; there are {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deed_is_read() {
        let ship = Which::Ship(7);
        let table = [
            ("move 3 -2", Deed::MoveTo(Hex::new(3, -2))),
            ("move NE", Deed::MoveBy(Direction::NorthEast)),
            ("attack nearest", Deed::Attack(Target::Nearest)),
            ("focus 12", Deed::Focus(Target::Ship(12))),
            ("unclamp", Deed::Power(Power::Unclamp)),
            ("travel up", Deed::Travel { up: true }),
            ("fly @2", Deed::Fly(Which::Nth(2))),
            ("stance all aggressive", Deed::Stance(Which::All, Stance::Aggressive)),
            ("protect 7 active", Deed::Protect(ship, None)),
            ("protect 7 @1", Deed::Protect(ship, Some(Which::Nth(1)))),
            ("triggers 7 60% nojam", Deed::Triggers(ship, 60, false)),
            ("stay all", Deed::Follow(Which::All, false)),
            ("kos bob", Deed::Kos("bob".into(), true)),
            ("duel bob", Deed::Duel("bob".into())),
            ("peace 2", Deed::Hostile(2, false)),
            ("fit well2 fast gun Raider", Deed::Fit(Slot::Well(1), Stuff::Yard("fast gun".into(), "Raider".into()))),
            ("fit system1 hold 4", Deed::Fit(Slot::System(0), Stuff::Hold(4))),
            ("fit shard empty", Deed::Fit(Slot::Shard, Stuff::Empty)),
            ("commission Frigate Anchor", Deed::Commission("Frigate".into(), Some("Anchor".into()))),
            ("show combat", Deed::Show(Report::Combat)),
            ("build outpost", Deed::Build(Structure::Outpost)),
            ("take 12", Deed::Take(Some(12))),
            ("take all", Deed::Take(None)),
            ("force storm rift-6", Deed::Force(Event::Storm, "rift-6".into())),
            ("show journal", Deed::Show(Report::Journal)),
        ];
        for (line, expected) in table {
            assert_eq!(deed(&line.split_whitespace().collect::<Vec<_>>()), Some(expected), "{line}");
        }
    }

    #[test]
    fn usage_names_the_ways_that_begin_alike_or_every_first_word() {
        assert_eq!(usage(&["stance", "7", "angry"], &[]), "say stance SHIP|all aggressive|defensive|support|passive");
        assert_eq!(usage(&["fit"], &[]).matches("fit ").count(), 3);
        assert!(
            usage(&["sail"], &["hunt S"]).starts_with("no order begins with \"sail\"; orders are move, cancel, attack")
        );
        assert!(usage(&["sail"], &["hunt S"]).ends_with("show, hunt"));
        // Every way that stands there can be said.
        for way in DEEDS {
            let last = |word: &'static str| word.split('|').next_back().unwrap();
            let said = way.split(' ').map(|word| match last(word) {
                "MAP" => "rift-3",
                "COLUMN" | "ROW" | "MODULE" | "SHIP" | "CHARTER'S-NUMBER" | "ID" => "3",
                "PERCENT" => "40",
                "SLOT" | "…" => "armor",
                word => word,
            });
            let said: Vec<&str> = said.collect();
            assert!(deed(&said).is_some(), "{said:?}");
        }
    }

    #[test]
    fn what_is_no_deed_is_none() {
        for line in [
            "",
            "mov 1 2",
            "move 1",
            "move 1 2 3",
            "attack",
            "attack me",
            "move 99999999999 0",
            "fly @0",
            "fly all",
            "stance 7 angry",
            "triggers 7 300 jam",
            "triggers 7 40 maybe",
            "fit well0 gun Human",
            "fit wing gun Human",
            "fit armor Human",
            "join keel",
            "force haven rift-3",
            "build haven",
            "show me",
        ] {
            assert_eq!(deed(&line.split_whitespace().collect::<Vec<_>>()), None, "{line}");
        }
    }
}
