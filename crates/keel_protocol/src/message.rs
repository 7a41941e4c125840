//! Messages of the ordered channel.

use bincode::{Decode, Encode};

use crate::PROTOCOL_VERSION;
use crate::card::{Card, Module};
use crate::command::{Command, Slot};
use crate::news::{Chart, Goods, Journal, Wreck};

/// The first message of a client. Its shape never changes, so that versions can tell each other apart.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Hello {
    /// The client's [`PROTOCOL_VERSION`].
    pub version: u16,
    /// What the pilot is called.
    pub name: String,
}

/// From a client. New kinds go to the end; `Hello` stays first.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum ToServer {
    /// The first message.
    Hello(Hello),
    /// An order.
    Op {
        /// The client's number for it; its answer carries the same.
        seq: u32,
        /// What.
        command: Command,
    },
    /// A question: who is that pilot?
    Who(Who),
    /// A question: what were the pilot's last shots?
    Log,
}

/// By what a pilot is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Who {
    /// The number.
    Id(u32),
    /// The name, whatever its case.
    Name(String),
}

/// From the server. New kinds go to the end; `Refused` stays first.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum ToClient {
    /// The greeting is not accepted, or the session is over, and why. The connection is closed after it.
    Refused {
        /// For a person.
        reason: String,
    },
    /// The greeting is accepted.
    Welcome(Welcome),
    /// What became of an op.
    Answer(Answer),
    /// A line of the pilot's log.
    Line(Line),
    /// The card of one of the pilot's ships: sent when it comes into the pilot's hands and whenever it changes.
    Card(Card),
    /// A map: sent when a ship of the pilot's is on it for the first time, when the pilot's ports there change, and after a storm.
    Map(Map),
    /// The modules that the pilot keeps, in the order of their ids: sent whenever they change.
    Hold(Vec<(u32, Module)>),
    /// What is between the pilot and others: sent whenever it changes.
    Bonds(Bonds),
    /// The answer to [`ToServer::Who`]; `None` when there is no such pilot.
    Pilot(Option<Pilot>),
    /// The answer to [`ToServer::Log`]: the pilot's last shots, oldest first.
    Log(Vec<Shot>),
    /// The ends of wormholes that the pilot has found: sent whenever something of them changes.
    Wormholes(Vec<Wormhole>),
    /// What is to come, and what is on: sent whenever it changes.
    Journal(Journal),
    /// What the pilot owns besides ships and modules: sent whenever it changes.
    Goods(Goods),
    /// What is new on a chart of the pilot's. What is in a sector is told to no one who has not seen it.
    Chart(Chart),
    /// The wrecks in view: sent whenever they change.
    Wrecks(Vec<Wreck>),
    /// The server goes by another balance: what was said at the greeting holds no more, and this does. Cards follow.
    Rebalanced(Welcome),
}

/// What a client needs to know once, and whenever the balance changes.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Welcome {
    /// The server's [`PROTOCOL_VERSION`].
    pub version: u16,
    /// A hash of the server's balance.
    pub balance: u64,
    /// The pilot's number, by which contacts name their owner.
    pub pilot: u32,
    /// Class names; ships name theirs by index.
    pub classes: Vec<String>,
    /// Hull line names, likewise.
    pub lines: Vec<String>,
    /// Faction names, likewise.
    pub factions: Vec<String>,
    /// Grade names; modules name theirs by index.
    pub grades: Vec<String>,
    /// The kinds of modules, likewise.
    pub kinds: Vec<Kind>,
    /// Factions whose Common modules every Haven's yard has.
    pub yard: Vec<u8>,
}

/// A kind of module.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Kind {
    /// What it is called.
    pub name: String,
    /// The first of the slots that it goes into.
    pub slot: Slot,
    /// Power grid that it takes.
    pub grid: f32,
}

/// A map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Map {
    /// Which: 1 to 6 are the layers, 11 to 16 the Rifts.
    pub map: u8,
    /// Its sectors, as column and row.
    pub sectors: Vec<(i16, i16)>,
    /// Sectors with a Haven.
    pub havens: Vec<(i16, i16)>,
    /// Sectors with a berth of the pilot's charter.
    pub berths: Vec<(i16, i16)>,
    /// Places beside sectors that no ship enters.
    pub hazards: Vec<(i16, i16)>,
    /// Sectors with an outpost of the pilot's charter.
    pub outposts: Vec<(i16, i16)>,
}

/// A found end of a wormhole.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Wormhole {
    /// The number by which it is entered.
    pub id: u32,
    /// What it is called.
    pub code: String,
    /// The map of this end: 1 to 6 are the layers, 11 to 16 the Rifts.
    pub map: u8,
    /// Column and row of this end.
    pub place: (i16, i16),
    /// The map where it leads.
    pub to: u8,
    /// When it opened, in microseconds of world time.
    pub opened: u64,
    /// What awaits one there.
    pub danger: String,
    /// For a Rift, the pilots who are connected and have a ship in space there, and those who are not and have.
    pub inside: Option<(u16, u16)>,
}

/// What is between a pilot and others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Bonds {
    /// The pilot's charter.
    pub charter: Option<Charter>,
    /// Pilots with whom a duel is on.
    pub duels: Vec<u32>,
    /// Pilots whom the pilot has marked KOS.
    pub kos: Vec<u32>,
}

/// A charter.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Charter {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The pilot who heads it.
    pub head: u32,
    /// Its pilots.
    pub members: Vec<u32>,
    /// Charters that it is hostile with.
    pub hostile: Vec<u32>,
}

/// A pilot, as anyone may know them.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Pilot {
    /// The number.
    pub id: u32,
    /// The name.
    pub name: String,
    /// The number of the charter; 0 for none.
    pub charter: u32,
}

/// A shot of the combat log.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub struct Shot {
    /// The step in which it was fired.
    pub step: u64,
    /// Who fired.
    pub shooter: Named,
    /// At whom.
    pub target: Named,
    /// Whether it hit.
    pub hit: bool,
    /// Damage before edge and resist.
    pub raw: f32,
    /// Damage to the shield.
    pub shield: f32,
    /// Damage to the hull.
    pub hull: f32,
}

/// A ship as a log names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Named {
    /// The ship.
    pub id: u32,
    /// The pilot whose it is; 0 for an NPC.
    pub pilot: u32,
    /// Index of the class.
    pub class: u8,
    /// Index of the faction.
    pub faction: u8,
}

/// What became of an op.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Answer {
    /// The client's number for the op.
    pub seq: u32,
    /// Whether it was accepted. A refused op has changed nothing.
    pub accepted: bool,
    /// What it does, or why it does not.
    pub text: String,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Line {
    /// The step that it tells of.
    pub step: u64,
    /// The ship of the pilot's that it tells of; 0 for none.
    pub ship: u32,
    /// The line.
    pub text: String,
}

impl Hello {
    /// A greeting in this version, with the name's letters composed.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { version: PROTOCOL_VERSION, name: keel_names::composed(name) }
    }
}
