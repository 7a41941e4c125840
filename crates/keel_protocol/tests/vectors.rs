//! Test vectors: messages and packets, and their bytes, for clients in other languages to be checked with. What they mean is
//! in `PROTOCOL.md`; here they are kept true. `KEEL_BLESS=1 cargo test -p keel_protocol` writes them anew.

use std::fmt::{Debug, Write};

use bincode::{Decode, Encode};
use keel_protocol::snapshot::{Ack, Block, BlockHead, Group, Head, Reader, put_gone};
use keel_protocol::status::{Status, answer, query, read_answer};
use keel_protocol::{
    Answer, Bonds, Card, Chart, Charter, Command, Contact, Flags, Force, Goods, Ground, Hello, Incursion, Journal,
    Kind, Leg, Line, Map, Mind, Module, Named, OwnShip, Part, Pilot, Pool, Power, Powers, Resists, Shot, Slot, Stance,
    Storm, Structure, ToClient, ToServer, Welcome, Who, Wormhole, Wreck, decode, encode,
};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors.txt");

#[derive(Default)]
struct Vectors(String);

impl Vectors {
    fn bytes(&mut self, name: &str, value: &str, bytes: &[u8]) {
        let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        writeln!(self.0, "{name}\n  {value}\n  {hex}\n").unwrap();
    }

    /// A message, which comes back as it was.
    fn message<T: Encode + Decode<()> + Debug + PartialEq>(&mut self, name: &str, message: &T) {
        let bytes = encode(message);
        assert_eq!(decode::<T>(&bytes).unwrap(), *message, "{name}");
        self.bytes(name, &format!("{message:?}"), &bytes);
    }
}

fn to_server(vectors: &mut Vectors) {
    let ship = 7;
    vectors.message("ToServer::Hello", &ToServer::Hello(Hello { version: 5, name: "ann".into() }));
    for (name, who) in [("Id", Who::Id(300)), ("Name", Who::Name("Bob".into()))] {
        vectors.message(&format!("ToServer::Who, by {name}"), &ToServer::Who(who));
    }
    vectors.message("ToServer::Log", &ToServer::Log);
    let part = Part::Yard { kind: 4, faction: 2 };
    let commands = [
        Command::Move { ship, col: -3, row: 200 },
        Command::Cancel { ship },
        Command::Attack { ship, target: 70_000 },
        Command::Focus { ship, target: 9 },
        Command::Hold { ship },
        Command::Power(Power::Brace),
        Command::Power(Power::Cloak),
        Command::Travel { ship, up: true },
        Command::Rescue { ship },
        Command::Dock { ship },
        Command::Undock { ship },
        Command::Activate { ship },
        Command::Stance { ship, stance: Stance::Support },
        Command::Protect { ship, protectee: 0 },
        Command::Triggers { ship, brace_percent: 40, jam: true },
        Command::Follow { ship, follows: false },
        Command::Gather,
        Command::Kos { pilot: 3, marked: true },
        Command::AskDuel(3),
        Command::AcceptDuel(3),
        Command::EndDuel(3),
        Command::Found { name: "Lanterns".into() },
        Command::Invite(3),
        Command::Join(2),
        Command::Leave,
        Command::Hostile { charter: 2, hostile: true },
        Command::Build { ship, structure: Structure::Outpost },
        Command::Fit { ship, slot: Slot::System(1), part },
        Command::Fit { ship, slot: Slot::Armor, part: Part::Empty },
        Command::Repair { ship, slot: Slot::Shield },
        Command::Commission { class: 1, line: 2 },
        Command::Scrap { ship },
        Command::Drop { module: 12 },
        Command::Jump { ship, wormhole: 5 },
        Command::Take { ship, wreck: 251 },
        Command::Harvest { ship },
        Command::Retreat,
        Command::Force(Force::Wormhole(16)),
    ];
    for (seq, command) in (1..).zip(commands) {
        let name = format!("{command:?}");
        let kind = name.split([' ', '(']).next().unwrap().to_owned();
        vectors.message(&format!("ToServer::Op, Command::{kind}"), &ToServer::Op { seq, command });
    }
    vectors.message("Ack", &Ack { newest: 40_000, before: 0b1011 });
}

fn card() -> Card {
    let resists = Resists { plasma: 30.0, impact: 20.0, phase: -5.5 };
    let module = Module { kind: 0, faction: 1, grade: 0, quality: 100, rank: 1, durability: 99 };
    Card {
        ship: 7,
        class: 0,
        line: 0,
        fit: vec![(Slot::Well(0), module)],
        wells: 2,
        systems: 3,
        grid: (70.0, 80.0),
        volley: 125.0,
        cycle: 3_000_000,
        cost: 10.0,
        sustained: 41.5,
        battery_limited: 20.25,
        hit: 75.0,
        crit: 5.0,
        crit_damage: 1.5,
        shield: 90.0,
        hull: 360.0,
        battery: 100.0,
        evasion: 20.0,
        tracking: 0.1,
        shield_resist: None,
        armor_resist: resists,
        lock: 2_000_000,
        window: 400_000,
        hop: 1_000_000,
        view: 1,
        powers: Powers { mender: Some(12.5), ..Powers::default() },
    }
}

fn to_client(vectors: &mut Vectors) {
    let named = Named { id: 12, pilot: 0, class: 1, faction: 2 };
    let kind = Kind { name: "gun".into(), slot: Slot::Well(0), grid: 25.0 };
    let (code, danger) = ("K-7".to_owned(), "Low danger".to_owned());
    let welcome = Welcome {
        version: 5,
        balance: 0x0123_4567_89ab_cdef,
        pilot: 1,
        classes: vec!["Patrol".into()],
        lines: vec!["Plain".into()],
        factions: vec!["Human".into()],
        grades: vec!["Common".into()],
        kinds: vec![kind],
        yard: vec![0],
    };
    let messages = [
        ToClient::Refused { reason: "no".into() },
        ToClient::Welcome(welcome.clone()),
        ToClient::Answer(Answer { seq: 5, accepted: true, text: "Holding fire.".into() }),
        ToClient::Line(Line { step: 1200, ship: 7, text: "Locking. 2.00 s.".into() }),
        ToClient::Card(card()),
        ToClient::Map(Map {
            map: 11,
            sectors: vec![(0, 0), (-1, 2)],
            havens: vec![],
            berths: vec![(0, 0)],
            hazards: vec![],
            outposts: vec![],
        }),
        ToClient::Hold(vec![(12, Module { kind: 3, faction: 0, grade: 1, quality: 80, rank: 2, durability: 100 })]),
        ToClient::Bonds(Bonds {
            charter: Some(Charter { id: 2, name: "Lanterns".into(), head: 1, members: vec![1, 3], hostile: vec![4] }),
            duels: vec![9],
            kos: vec![],
        }),
        ToClient::Pilot(Some(Pilot { id: 3, name: "bob".into(), charter: 2 })),
        ToClient::Pilot(None),
        ToClient::Log(vec![Shot {
            step: 99,
            shooter: named,
            target: Named { id: 7, pilot: 1, ..named },
            hit: true,
            raw: 125.0,
            shield: 90.0,
            hull: 10.5,
        }]),
        ToClient::Wormholes(vec![Wormhole {
            id: 5,
            code,
            map: 1,
            place: (3, -4),
            to: 11,
            opened: 60_000_000,
            danger,
            inside: Some((2, 1)),
        }]),
        ToClient::Journal(Journal {
            utc: 1_800_000_000,
            storms: vec![Storm { map: 12, lands: 1_800_003_600, name: "a grey storm".into(), is_building: false }],
            incursions: vec![Incursion {
                map: 16,
                sectors: vec![(0, 0)],
                faction: 2,
                begins: 50_000,
                ends: 100_000,
                wave: 1,
                waves: 3,
            }],
        }),
        ToClient::Goods(Goods { salt: 450, notches: 3, copies: vec![("Patrol".into(), 2)], ..Goods::default() }),
        ToClient::Chart(Chart {
            map: 1,
            anew: true,
            sectors: vec![((0, 0), Ground::Open), ((1, 0), Ground::Belt(300)), ((0, 1), Ground::Cloud(7))],
        }),
        ToClient::Wrecks(vec![Wreck { id: 4, map: 1, place: (0, 0), class: 0, faction: 1 }]),
        ToClient::Rebalanced(Welcome { balance: 0xfedc_ba98_7654_3210, yard: vec![0, 1], ..welcome }),
    ];
    for message in messages {
        let name = format!("{message:?}");
        vectors.message(&format!("ToClient::{}", name.split([' ', '(']).next().unwrap()), &message);
    }
}

/// A sector with so many ships.
fn group(ships: u32) -> Group {
    let mut group = Group::at(1, -2, 3);
    for n in 0..ships {
        let flags = Flags::ARRIVING.with(Flags::JAMMED, n % 2 == 1);
        let contact = Contact {
            id: 100 + 100 * n,
            pilot: n,
            charter: 0,
            class: n as u8 % 5,
            faction: n as u8 % 4,
            hull: 255,
            shield: 200,
            flags,
            target: if n == 0 { 0 } else { 100 },
            ..Contact::default()
        };
        group.seat(n as usize, &contact);
    }
    group
}

fn own() -> OwnShip {
    OwnShip {
        id: 7,
        class: 1,
        faction: 0,
        map: 1,
        col: -2,
        row: 3,
        hull: 360.0,
        shield: Pool { held: 80.5, at: 1000 * 50_000, gains: 0.25, full: 90.0 },
        battery: Pool { held: 31.0625, at: 990 * 50_000, gains: 0.5, full: 100.0 },
        target: 300,
        locked_at: 1010 * 50_000,
        lock_takes: 40 * 50_000,
        ready_at: 1060 * 50_000,
        leg: Leg::Hop { ends: 1005 * 50_000 },
        course: vec![(-1, 3), (0, 3)],
        flags: Flags::ACTIVE,
        jam_ready: 1100 * 50_000,
        mind: Mind { stance: Stance::Support, protectee: 9, brace_percent: 40, jam: true, follows: false },
        ..OwnShip::default()
    }
}

/// A packet of step 1,000 with one block in it, which is read as it was written.
fn packet(vectors: &mut Vectors, name: &str, value: &str, number: u64, put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    Head { step: 1000, number, pace: 100 }.put(&mut bytes);
    put(&mut bytes);
    vectors.bytes(name, value, &bytes);
    let mut reader = Reader::new(&bytes);
    assert_eq!(Head::take(&mut reader).unwrap(), Head { step: 1000, number, pace: 100 });
    bytes
}

fn packets(vectors: &mut Vectors) {
    packet(vectors, "Packet with nothing new", "step 1000, number 1, pace 100 %", 1, |_| {});
    packet(vectors, "Packet: key 5 is gone", "Gone(5)", 2, |out| put_gone(5, out));
    let whole = BlockHead { key: 3, version: 998, base: None };
    let delta = BlockHead { key: 3, version: 1000, base: Some(998) };
    for ships in [1, 2, 6] {
        let first = group(ships);
        let seen = first.contacts().map(|contact| format!("\n  {contact:?}")).collect::<String>();
        let name = format!("Packet: all of a group of {ships}");
        let bytes = packet(vectors, &name, &format!("{whole:?}{seen}"), 300, |out| {
            whole.put_group(1000, out);
            first.put(None, out);
        });
        read_group(&bytes, None, whole, &first);
        let mut second = first.clone();
        let hit: Vec<Contact> = first.contacts().map(|ship| Contact { hull: 128, shield: 0, ..ship }).collect();
        hit.iter().enumerate().for_each(|(seat, ship)| second.seat(seat, ship));
        if ships > 1 {
            second.seat(1, &Contact::default());
        }
        let seen = second.contacts().map(|contact| format!("\n  {contact:?}")).collect::<String>();
        let name = format!("Packet: changes of that group of {ships}");
        let bytes = packet(vectors, &name, &format!("{delta:?}{seen}"), 301, |out| {
            delta.put_group(1000, out);
            second.put(Some(&first), out);
        });
        read_group(&bytes, Some(&first), delta, &second);
    }
    let (first, version) = (own(), 1000);
    let head = BlockHead { key: 40, version, base: None };
    let bytes = packet(vectors, "Packet: all of an own ship", &format!("{head:?}\n  {first:?}"), 302, |out| {
        head.put_own(1000, out);
        first.put(None, version, out);
    });
    read_own(&bytes, None, head, &first);
    let second = OwnShip { hull: 300.5, ready_at: 1120 * 50_000, leg: Leg::Still, course: Vec::new(), ..first.clone() };
    let head = BlockHead { base: Some(997), ..head };
    let bytes = packet(vectors, "Packet: changes of that ship", &format!("{head:?}\n  {second:?}"), 303, |out| {
        head.put_own(1000, out);
        second.put(Some(&first), version, out);
    });
    read_own(&bytes, Some(&first), head, &second);
}

fn read_group(packet: &[u8], base: Option<&Group>, head: BlockHead, group: &Group) {
    let mut bytes = Reader::new(packet);
    Head::take(&mut bytes).unwrap();
    assert_eq!(Block::take(&mut bytes, 1000).unwrap(), Some(Block::Group(head)));
    assert_eq!(Group::take(&mut bytes, base).unwrap(), *group);
    assert_eq!(Block::take(&mut bytes, 1000).unwrap(), None);
}

fn read_own(packet: &[u8], base: Option<&OwnShip>, head: BlockHead, ship: &OwnShip) {
    let mut bytes = Reader::new(packet);
    Head::take(&mut bytes).unwrap();
    assert_eq!(Block::take(&mut bytes, 1000).unwrap(), Some(Block::Own(head)));
    assert_eq!(OwnShip::take(&mut bytes, base, head.version).unwrap(), *ship);
    assert_eq!(Block::take(&mut bytes, 1000).unwrap(), None);
}

fn status(vectors: &mut Vectors) {
    vectors.bytes("Status query", "number 258", &query(258));
    let status = Status {
        name: "Deep end".into(),
        version: "0.1.0".into(),
        protocol: 4,
        players: 7,
        max_players: 256,
        pace: 83,
    };
    let bytes = answer(258, &status);
    assert_eq!(read_answer(&bytes, 258).as_ref(), Some(&status));
    vectors.bytes("Status answer", &format!("number 258, {status:?}"), &bytes);
}

#[test]
fn the_vectors_are_what_is_sent() {
    let mut vectors = Vectors::default();
    to_server(&mut vectors);
    to_client(&mut vectors);
    packets(&mut vectors);
    status(&mut vectors);
    if std::env::var_os("KEEL_BLESS").is_some() {
        std::fs::write(FILE, &vectors.0).unwrap();
    }
    let known = std::fs::read_to_string(FILE).unwrap_or_default();
    let differs = known.lines().zip(vectors.0.lines()).find(|(known, now)| known != now);
    assert!(known == vectors.0, "{differs:#?}: if that is meant, raise PROTOCOL_VERSION and write them anew");
}

#[test]
fn whatever_is_cut_off_or_turned_over_is_refused_or_read_and_never_a_panic() {
    let mut whole = Vec::new();
    Head { step: 1000, number: 1, pace: 100 }.put(&mut whole);
    let (group, ship) = (group(20), own());
    BlockHead { key: 1, version: 1000, base: None }.put_group(1000, &mut whole);
    group.put(None, &mut whole);
    BlockHead { key: 2, version: 1000, base: None }.put_own(1000, &mut whole);
    ship.put(None, 1000, &mut whole);
    let read = |bytes: &[u8]| -> Result<(), keel_protocol::DecodeError> {
        let mut bytes = Reader::new(bytes);
        let head = Head::take(&mut bytes)?;
        while let Some(block) = Block::take(&mut bytes, head.step)? {
            match block {
                Block::Group(block) => {
                    Group::take(&mut bytes, block.base.map(|_| &group))?;
                }
                Block::Own(block) => drop(OwnShip::take(&mut bytes, block.base.map(|_| &ship), block.version)?),
                Block::Gone(_) => {}
            }
        }
        Ok(())
    };
    read(&whole).unwrap();
    for end in 0..whole.len() {
        let _ = read(&whole[..end]);
    }
    for at in 0..whole.len() {
        for byte in 0..=255 {
            let mut broken = whole.clone();
            broken[at] = byte;
            let _ = read(&broken);
        }
    }
}
