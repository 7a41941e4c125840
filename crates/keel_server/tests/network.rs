//! Real clients and a real server with a bad network between them.

mod served;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use keel_client::{
    Bonds, Client, Command, Event, Flags, Force, Hello, OwnShip, Part, Power, Replica, STEP_MICROS, Slot,
};
use keel_protocol::snapshot::{Ack, Block, BlockHead, Group, Head, Reader};
use keel_protocol::{CHANNEL_LOSSY, CHANNEL_ORDERED, Contact, ToClient, ToServer, decode, encode};
use keel_server::{Config, Server};
use keel_testkit::weather::{Shim, Weather};

use served::{Rogue, Running, config, pilot, settled, steps_in_a_second};

/// A server and pilots in one thread, so that what both have can be compared at a moment.
struct Play {
    server: Server,
    shims: Vec<Shim>,
    clients: Vec<Client>,
    /// The longest that a client's clock went in one look, in microseconds, and whether any ever went back.
    jump: u64,
    looked: Vec<u64>,
}

impl Play {
    /// As many pilots as there are weathers.
    fn begin(weathers: &[Weather]) -> Self {
        let server = Server::start(&Config { layer: 3, ..config() }).unwrap();
        let mut play = Self { server, shims: Vec::new(), clients: Vec::new(), jump: 0, looked: Vec::new() };
        for (n, &weather) in (0..).zip(weathers) {
            let shim = Shim::start(play.server.address(), weather, 10 * n).unwrap();
            let name = format!("pilot{n}");
            play.clients.push(Client::connect(shim.address(), Hello::new(&name)).unwrap());
            play.looked.push(0);
            play.shims.push(shim);
        }
        play
    }

    fn turn(&mut self) {
        let rest = self.server.turn();
        for (client, looked) in self.clients.iter_mut().zip(&mut self.looked) {
            client.poll().unwrap();
            let now = client.replica().now();
            assert!(now >= *looked, "the clock goes back");
            if *looked > 0 {
                self.jump = self.jump.max(now - *looked);
            }
            *looked = now;
        }
        std::thread::sleep(rest.min(Duration::from_millis(2)));
    }

    fn run(&mut self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            self.turn();
        }
    }

    /// Whether a client has byte for byte what its pilot sees.
    fn agrees(&self, index: usize) -> bool {
        let replica = self.clients[index].replica();
        let Some(welcome) = replica.welcome() else { return false };
        let Some(sight) = self.server.sight(welcome.pilot) else { return false };
        let now = replica.step() * STEP_MICROS;
        let own: Vec<_> = sight.own.iter().map(|ship| settled(ship, now)).collect();
        !own.is_empty() && encode(&seen(replica, now)) == encode(&(own, sight.contacts))
    }
}

fn seen(replica: &Replica, now: u64) -> (Vec<OwnShip>, Vec<Contact>) {
    (replica.own().map(|ship| settled(ship, now)).collect(), replica.contacts().copied().collect())
}

#[test]
fn real_clients_converge_byte_for_byte_in_any_weather() {
    let fair = Weather { delay: Duration::from_millis(20), ..Weather::default() };
    let jitter = Duration::from_millis(300);
    let weathers = [
        Weather::default(),
        Weather { loss: 0.05, ..fair },
        Weather { loss: 0.3, ..fair },
        Weather { jitter, ..fair },
        Weather { duplicate: 0.5, ..fair },
        Weather { reorder: 0.4, ..fair },
        Weather { bandwidth: Some(12_000), ..fair },
        Weather { loss: 0.3, jitter, duplicate: 0.2, reorder: 0.2, ..fair },
    ];
    let mut play = Play::begin(&weathers);
    let start = Instant::now();
    while play.clients.iter().any(|client| client.replica().active().is_none()) {
        play.turn();
        assert!(start.elapsed() < Duration::from_secs(15), "everyone comes in");
    }
    // For a while they fight one another.
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(6) {
        let round = start.elapsed().as_millis() / 500;
        for (n, client) in play.clients.iter_mut().enumerate() {
            let Some(ship) = client.replica().active().map(|ship| ship.id) else { continue };
            let others = client.replica().contacts().map(|contact| contact.id).collect::<Vec<_>>();
            match (round as usize + n) % 4 {
                0 | 1 if !others.is_empty() => {
                    client.send(Command::Attack { ship, target: others[(round as usize + n) % others.len()] }).unwrap();
                }
                2 => drop(client.send(Command::Power(Power::Brace)).unwrap()),
                _ => drop(client.send(Command::Move { ship, col: (round % 2) as i32, row: 0 }).unwrap()),
            }
        }
        play.run(Duration::from_millis(250));
    }
    // Then they rest, in the same weather, until nothing changes any more.
    for client in &mut play.clients {
        if let Some(ship) = client.replica().active().map(|ship| ship.id) {
            client.send(Command::Hold { ship }).unwrap();
            client.send(Command::Cancel { ship }).unwrap();
        }
    }
    let start = Instant::now();
    let mut left: Vec<usize> = (0..weathers.len()).collect();
    while !left.is_empty() {
        play.turn();
        left.retain(|&index| !play.agrees(index));
        assert!(start.elapsed() < Duration::from_secs(60), "pilots {left:?} see what is not so");
    }
    assert!(play.jump < 400_000, "a clock jumped by {} us", play.jump);
}
#[test]
fn a_narrow_network_is_enough_for_a_quiet_world() {
    let mut play =
        Play::begin(&[Weather { bandwidth: Some(6_000), delay: Duration::from_millis(20), ..Weather::default() }]);
    for _ in 0..20 {
        play.run(Duration::from_millis(500));
        let silence = play.clients[0].replica().silence();
        assert!(silence < Duration::from_millis(400), "nothing for {silence:?}");
    }
    assert!(play.agrees(0));
}

/// A server, a pilot, and one who keeps every byte that the server tells.
struct Spied {
    server: Server,
    pilot: Client,
    spy: Rogue,
    replica: Replica,
    snapshots: Vec<Vec<u8>>,
    messages: Vec<Vec<u8>>,
}

impl Spied {
    fn begin() -> Self {
        let mut server = Server::start(&Config { layer: 1, ..config() }).unwrap();
        let pilot = Client::connect(server.address(), Hello::new("ann")).unwrap();
        let spy = Rogue::connect_with(server.address(), 99, || {
            server.turn();
        });
        let (replica, snapshots, messages) = (Replica::default(), Vec::new(), Vec::new());
        let mut spied = Self { server, pilot, spy, replica, snapshots, messages };
        spied.spy.renet.send_message(CHANNEL_ORDERED, encode(&ToServer::Hello(Hello::new("eve"))));
        spied
            .until("both are in", |spied| spied.pilot.replica().active().is_some() && spied.replica.active().is_some());
        spied
    }

    fn turn(&mut self) -> Vec<Event> {
        self.server.turn();
        self.spy.turn();
        while let Some(bytes) = self.spy.renet.receive_message(CHANNEL_ORDERED) {
            self.messages.push(bytes.to_vec());
        }
        let before = self.replica.ack();
        while let Some(bytes) = self.spy.renet.receive_message(CHANNEL_LOSSY) {
            self.replica.take(&bytes, Instant::now());
            self.snapshots.push(bytes.to_vec());
        }
        if let Some(ack) = self.replica.ack().filter(|&ack| Some(ack) != before) {
            self.spy.renet.send_message(CHANNEL_LOSSY, encode(&ack));
        }
        std::thread::sleep(Duration::from_millis(2));
        self.pilot.poll().unwrap()
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            self.turn();
            assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        }
    }

    fn ask(&mut self, command: Command) {
        let seq = self.pilot.send(command.clone()).unwrap();
        let start = Instant::now();
        loop {
            let answer = self.turn().into_iter().find_map(|event| match event {
                Event::Answer(answer) if answer.seq == seq => Some(answer),
                _ => None,
            });
            if let Some(answer) = answer {
                assert!(answer.accepted, "{command:?}: {}", answer.text);
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(5), "no answer to {command:?}");
        }
    }

    fn run(&mut self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            self.turn();
        }
    }
}

#[test]
fn no_byte_that_a_client_is_sent_tells_what_is_hidden() {
    let mut spied = Spied::begin();
    let ship = spied.pilot.replica().active().unwrap().id;
    let (eves, ann) = (spied.replica.active().unwrap().id, spied.pilot.replica().welcome().unwrap().pilot);
    // A cloak, and a wormhole that the other does not find: it is a sector away.
    let kinds = spied.pilot.replica().welcome().unwrap().kinds.clone();
    let kind = |name: &str| kinds.iter().position(|kind| kind.name == name).unwrap_or_else(|| panic!("{name}")) as u8;
    spied.ask(Command::Dock { ship });
    spied.until("docked", |spied| spied.pilot.replica().active().unwrap().flags.has(Flags::DOCKED));
    spied.ask(Command::Fit { ship, slot: Slot::Shield, part: Part::Empty });
    let part = Part::Yard { kind: kind("cloak"), faction: 0 };
    spied.ask(Command::Fit { ship, slot: Slot::System(2), part });
    spied.ask(Command::Undock { ship });
    let order = ToServer::Op { seq: 1, command: Command::Move { ship: eves, col: 1, row: 0 } };
    spied.spy.renet.send_message(CHANNEL_ORDERED, encode(&order));
    spied.until("the other is a sector away", |spied| spied.replica.active().is_some_and(|ship| ship.col == 1));
    spied.until("it sees the pilot", |spied| spied.replica.contact(ship).is_some());
    spied.ask(Command::Force(Force::Wormhole(11)));
    spied.until("the pilot has found it", |spied| !spied.pilot.replica().wormholes().is_empty());
    spied.run(Duration::from_millis(1500));
    spied.ask(Command::Power(Power::Cloak));
    spied.until("it is out of sight", |spied| spied.replica.contact(ship).is_none());
    let cloaked = spied.snapshots.len();
    spied.run(Duration::from_millis(1500));
    assert!(spied.pilot.replica().active().unwrap().flags.has(Flags::CLOAKED));

    // Every snapshot, to the last byte: own ships are the other's, and who is cloaked is neither seen nor anyone's target.
    assert!(cloaked > 20 && spied.snapshots.len() > cloaked + 20);
    let mut groups: BTreeMap<(u32, u64), Group> = BTreeMap::new();
    let mut ships: BTreeMap<(u32, u64), OwnShip> = BTreeMap::new();
    for (n, snapshot) in spied.snapshots.iter().enumerate() {
        let mut bytes = Reader::new(snapshot);
        let head = Head::take(&mut bytes).unwrap();
        while let Some(block) = Block::take(&mut bytes, head.step).unwrap() {
            match block {
                Block::Group(BlockHead { key, version, base }) => {
                    let group = Group::take(&mut bytes, base.map(|base| &groups[&(key, base)])).unwrap();
                    for contact in group.contacts().filter(|_| n >= cloaked) {
                        assert!(contact.id != ship && contact.target != ship, "{contact:?}");
                    }
                    groups.insert((key, version), group);
                }
                Block::Own(BlockHead { key, version, base }) => {
                    let own = OwnShip::take(&mut bytes, base.map(|base| &ships[&(key, base)]), version).unwrap();
                    assert_eq!(own.id, eves);
                    ships.insert((key, version), own);
                }
                Block::Gone(_) => {}
            }
        }
    }
    // Every message: of the other's own.
    let code = spied.pilot.replica().wormholes()[0].code.clone();
    for message in &spied.messages {
        assert!(!message.windows(code.len()).any(|bytes| bytes == code.as_bytes()), "the wormhole's code is told");
        match decode::<ToClient>(message).unwrap() {
            ToClient::Card(card) => assert_eq!(card.ship, eves),
            ToClient::Welcome(welcome) => assert_ne!(welcome.pilot, ann),
            ToClient::Line(line) => assert!(line.ship == 0 || line.ship == eves, "{line:?}"),
            ToClient::Wormholes(found) => assert!(found.is_empty(), "{found:?}"),
            ToClient::Hold(hold) => assert!(hold.is_empty(), "{hold:?}"),
            ToClient::Answer(answer) => assert_eq!(answer.seq, 1),
            ToClient::Goods(goods) => assert_eq!(goods.salt, 0),
            ToClient::Map(map) => assert!(map.berths.is_empty() && map.outposts.is_empty()),
            ToClient::Bonds(bonds) => assert_eq!(bonds, Bonds::default()),
            ToClient::Chart(_) | ToClient::Journal(_) | ToClient::Wrecks(_) => {}
            message => panic!("nobody asked for {message:?}"),
        }
    }
}

/// One who greets, and then does as `turn` says until the server hangs up: after how long, and with which words.
fn put_out(name: &str, number: u64, mut turn: impl FnMut(&mut Rogue)) -> (Duration, String) {
    let server = Running::start();
    let mut ann = pilot(server.address, "ann");
    let mut rogue = Rogue::connect(server.address, number);
    rogue.renet.send_message(CHANNEL_ORDERED, encode(&ToServer::Hello(Hello::new(name))));
    let (start, mut words) = (Instant::now(), None);
    while words.is_none() && start.elapsed() < Duration::from_secs(20) {
        turn(&mut rogue);
        while let Some(bytes) = rogue.renet.receive_message(CHANNEL_ORDERED) {
            if let Ok(ToClient::Refused { reason }) = decode(&bytes) {
                words = Some(reason);
            }
        }
        ann.poll().unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    let after = start.elapsed();
    assert!(steps_in_a_second(&mut ann) >= 17, "nobody else notices");
    server.end();
    (after, words.unwrap_or_default())
}

#[test]
fn one_who_acknowledges_nothing_is_put_out_within_ten_seconds() {
    let (after, words) = put_out("mum", 31, |rogue| {
        rogue.turn();
    });
    assert_eq!(words, "Your client does not acknowledge what it is shown, or far too late.");
    assert!((7.0..10.0).contains(&after.as_secs_f64()), "{after:?}");
}

#[test]
fn one_who_acknowledges_nonsense_is_put_out_at_once() {
    for ack in [Ack { newest: u64::MAX, before: u64::MAX }, Ack { newest: 0, before: 0 }] {
        let (after, words) = put_out("liar", 32, |rogue| {
            rogue.renet.send_message(CHANNEL_LOSSY, encode(&ack));
            rogue.turn();
        });
        assert_eq!(words, "Your client acknowledges what it was never sent.");
        assert!(after < Duration::from_secs(2), "{after:?}");
    }
}

/// How long another pilot, who does as `turn` says, stays in the world.
fn stays(server: &Running, ann: &mut Client, other: u32, mut turn: impl FnMut()) -> Duration {
    let start = Instant::now();
    loop {
        let seq = ann.send(Command::AskDuel(other)).unwrap();
        let (mut answer, asked) = (None, Instant::now());
        while answer.is_none() || asked.elapsed() < Duration::from_millis(200) {
            answer = answer.or(ann.poll().unwrap().into_iter().find_map(|event| match event {
                Event::Answer(answer) if answer.seq == seq => Some(answer.text),
                _ => None,
            }));
            turn();
            std::thread::sleep(Duration::from_millis(5));
        }
        if answer.as_deref() == Some("That pilot is not here.") || start.elapsed() > Duration::from_secs(20) {
            assert!(steps_in_a_second(ann) >= 17, "nobody else notices at {}", server.address);
            return start.elapsed();
        }
    }
}

#[test]
fn one_who_reads_slowly_is_put_out() {
    let server = Running::start();
    let mut ann = pilot(server.address, "ann");
    let mut slow = Rogue::connect(server.address, 33);
    slow.renet.send_message(CHANNEL_ORDERED, encode(&ToServer::Hello(Hello::new("slow"))));
    let (mut replica, mut turned) = (Replica::default(), Instant::now());
    let stayed = stays(&server, &mut ann, 2, || {
        // A datagram in a while, of the forty or so a second that come.
        if turned.elapsed() > Duration::from_millis(150) {
            turned = Instant::now();
            slow.turn_some(1);
            while let Some(bytes) = slow.renet.receive_message(CHANNEL_LOSSY) {
                replica.take(&bytes, Instant::now());
            }
            if let Some(ack) = replica.ack() {
                slow.renet.send_message(CHANNEL_LOSSY, encode(&ack));
            }
        }
    });
    assert!((2.0..16.0).contains(&stayed.as_secs_f64()), "{stayed:?}");
    server.end();
}

#[test]
fn one_who_stops_reading_is_put_out() {
    let server = Running::start();
    let (mut ann, bob) = (pilot(server.address, "ann"), pilot(server.address, "bob"));
    let stayed = stays(&server, &mut ann, bob.replica().welcome().unwrap().pilot, || {});
    assert!((6.0..10.0).contains(&stayed.as_secs_f64()), "{stayed:?}");
    server.end();
}
