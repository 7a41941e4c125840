//! No number is read by nothing: each value of the shipped balance is changed alone, and a card or the live world must show it.

use std::collections::BTreeMap;
use std::sync::Arc;

use keel_balance::{Balance, Faction, Grade, Leaf};
use keel_map::{Direction, Hex, MapKey, Plan, Terrain, generate};
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, Kind, Line, Module, Pools, Sheet, Site, Slot};
use keel_rules::{danger, pay};
use keel_sim::{
    Battery, Cargo, CharterId, Condition, Fitted, Force, Incursions, Op, OperatorOps, Orders, Part, PilotId, Storms,
    StructureKind, WallClock, Wormholes,
};
use keel_testkit::{Game, SHIPPED_BALANCE, Setup};

const FACTIONS: [Faction; 4] = [Faction::Human, Faction::Raider, Faction::Sentry, Faction::Breaker];

/// The cards of fits that together use every piece there is.
fn cards(balance: &Balance) -> String {
    let mut cards = String::new();
    let mut print = |fit: &Fit| cards += &format!("{:?}\n", Sheet::new(balance, fit));
    for class in (0..balance.classes.len() as u8).map(ClassId) {
        for faction in FACTIONS {
            let plain = Fit::common(balance, class, faction);
            for kind in Kind::ALL {
                let module = Module { quality: 50, rank: 3, durability: 50, ..Module::common(kind, faction) };
                for grade in [Grade::Common, Grade::Rare, Grade::Legendary, Grade::Ultimate] {
                    for slot in [Slot::Well(0), Slot::Armor, Slot::Shield, Slot::Shard, Slot::System(0)] {
                        let module = Module { grade, ..module };
                        let fit = Fit::bare(class).fitted(balance, slot, Some(module));
                        fit.iter().for_each(&mut print);
                    }
                }
            }
            print(&Fit { shard: Some(Module::common(Kind::Shard, faction)), ..plain });
            for line in [Line::Anchor, Line::Screen] {
                print(&Fit { line, ..plain });
            }
        }
    }
    for layer in &balance.layers {
        print(&Fit::npc(balance, layer, ClassId(2), Faction::Raider));
    }
    print(&Fit::starter(balance));
    for tier in 1..=6 {
        cards += &danger::of_layer(balance, tier);
        cards += &danger::of_rift(balance, tier);
    }
    cards
}

/// Every map of two seeds.
fn maps(balance: &Balance) -> String {
    let seeds = MapKey::all().flat_map(|key| [1, 2].map(|seed| (Plan::of(balance, key), seed)));
    seeds.map(|(plan, seed)| format!("{:?}\n", generate(&plan, seed, &[]))).collect()
}

/// What a world of that layer tells over 130 s of fights, losses and arrivals.
fn told(balance: &Arc<Balance>, layer: u8) -> Vec<String> {
    let mut game = Game::new(Setup { balance: Arc::clone(balance), layer, squads: true, ..Setup::default() });
    let mut told = Vec::new();
    for _ in 0..14 {
        game.step(1);
        told.push(format!("{:x}", game.hash()));
    }
    told.push(format!("{:?}", game.ships()));
    game.app.world_mut().resource_mut::<Orders>().join(PilotId(900), "new");
    let Some(npc) = game.ships().into_iter().find(|ship| ship.pilot().is_none()) else { return told };
    let hex = game.hex(npc.id);
    let carrier = game.common(4, Faction::Raider);
    // One pilot kills the squad of a sector; another is lost there.
    let (hunter, prey) = (game.pilot(), game.pilot());
    let doomed = game.ship_at(prey, Fit { shield: None, ..game.common(0, Faction::Human) }, hex);
    let hunts = game.ship_at(hunter, carrier, hex);
    game.set(hunts, Battery(1e6));
    game.set(doomed, Condition(Pools { shield: 0.0, hull: 1.0 }));
    game.order(prey, Op::Attack { ship: doomed, target: npc.id });
    for _ in 0..12 {
        game.step(10);
        told.push(format!("{:x}", game.hash()));
    }
    // Two more try each other, at the centre.
    let ((one, first), (_, second)) = (game.pilot_in(carrier), game.pilot_in(carrier));
    told.push(format!("{:?}", game.op(one, Op::Attack { ship: first, target: second })));
    for round in 0..100 {
        let npcs = game.ships().into_iter().filter(|ship| ship.pilot().is_none() && game.hex(ship.id) == hex);
        if let Some(next) = npcs.map(|ship| ship.id).next().filter(|_| round < 40) {
            game.set(next, Condition(Pools { shield: 0.0, hull: 1.0 }));
            let _ = game.op(hunter, Op::Attack { ship: hunts, target: next });
        }
        if round == 40 {
            let target = game.squad(&[Fit { guns: [None; 2], ..carrier }], hex)[0];
            game.set(target, Condition(Pools { shield: 0.0, hull: 1e9 }));
            let _ = game.op(hunter, Op::Focus { ship: hunts, target });
        }
        game.step(28);
        told.push(format!("{:x}", game.hash()));
    }
    told.push(format!("{:?}", game.ships()));
    // And the server is started again.
    keel_sim::resume(game.app.world_mut());
    game.step(1);
    told.push(format!("{:x}", game.hash()));
    told
}

/// The ships of a filled Rift, and the wormholes of all maps.
fn filled(balance: &Arc<Balance>, tier: u8) -> String {
    let mut game =
        Game::new(Setup { balance: Arc::clone(balance), layer: 1, others: true, squads: true, ..Setup::default() });
    game.step(12);
    let ships = game.ships().into_iter().filter(|ship| game.map(ship.id) == MapKey::rift(tier));
    let ships: String = ships.map(|ship| format!("{} {:?}\n", game.hex(ship.id), ship)).collect();
    let wormholes: Vec<_> = game.app.world().resource::<Wormholes>().iter().collect();
    format!("{ships}{wormholes:?}")
}

/// The storms of a day, and what is told of them.
fn storms(balance: &Arc<Balance>) -> String {
    let mut game = Game::new(Setup { balance: Arc::clone(balance), layer: 1, others: true, ..Setup::default() });
    let pilot = game.pilot();
    let mut journals = Vec::new();
    for quarter in 0..96 {
        game.app.world_mut().resource_mut::<WallClock>().set(quarter * 900);
        game.step(1);
        journals.push(format!("{:?}", game.app.world().resource::<Storms>().journal()));
    }
    format!("{:?}\n{}", game.log(pilot), journals.join("\n"))
}

/// What is paid for what on every map.
fn paid(balance: &Balance) -> String {
    let mut paid = String::new();
    for site in (1..=6).flat_map(|tier| [Site::Layer(tier), Site::Rift(tier)]) {
        let multiples = [false, true].map(|incursion| pay::rift_multiple(balance, site, incursion));
        let chances = [pay::hull_copy_chance(balance, site), pay::original_chance(balance, site)];
        let salt = [pay::incursion_salt(balance, site), pay::fair_kill_salt(balance, site)];
        let (notches, odds) = (pay::notches(balance, site), pay::wreck_odds(balance, multiples[0]));
        let material = pay::wreck_material(balance, ClassId(1), multiples[0]);
        paid += &format!("{multiples:?} {chances:?} {salt:?} {notches} {odds:?} {material}\n");
    }
    let shares: Vec<bool> = (0..100).map(|share| pay::contributes(balance, f64::from(share) + 0.5, 100.0)).collect();
    let matches: Vec<bool> = (0..5).map(|class| pay::is_match(balance, ClassId(4), ClassId(class))).collect();
    paid + &format!("{shares:?} {matches:?}")
}

/// Incursions on every map, wrecks and kills, and what a charter builds and harvests.
fn industry(balance: &Arc<Balance>) -> String {
    let setup = Setup {
        balance: Arc::clone(balance),
        layer: 4,
        others: true,
        generated: true,
        squads: true,
        ..Setup::default()
    };
    let mut game = Game::new(setup);
    game.app.insert_resource(OperatorOps(true));
    let head = game.pilot();
    game.step(20);
    let mut all = format!("{:x}\n", game.hash());
    for map in MapKey::all() {
        game.order(head, Op::Force(Force::Incursion(map)));
    }
    game.step(2);
    all += &format!("{:x} {:?}\n", game.hash(), game.answers());
    // A lost ship of a pilot's and an NPC, in Rift 3.
    game.go_on_at(MapKey::rift(3));
    let ((_, killer), (_, lost)) = (game.pilot_in(Fit::starter(balance)), game.pilot_in(Fit::starter(balance)));
    game.kill_by(lost, killer);
    let drone = game.drone(Fit::npc(balance, &balance.layers[2], ClassId(2), Faction::Raider));
    game.kill_by(drone, killer);
    game.step(10);
    all += &format!("{:x}\n", game.hash());
    // Outposts, berths and harvests on Layer 4, where there is something to harvest.
    game.go_on_at(MapKey::layer(4));
    game.stock(head);
    game.order(head, Op::Found { name: "Keel".to_owned() });
    let layout = generate(&Plan::of(balance, MapKey::layer(4)), 7, &[]);
    let rich: Vec<Hex> =
        layout.sectors().filter(|(_, ground)| *ground != Terrain::Open).map(|(hex, _)| hex).take(14).collect();
    for (place, &hex) in rich.iter().enumerate() {
        let ship = game.ship_at(head, Fit::bare(ClassId(0)), hex);
        let kind = StructureKind::ALL[usize::from(place < 9)];
        game.order(head, Op::Build { ship, kind });
        game.order(head, Op::Harvest { ship });
    }
    game.step(1);
    all += &format!("{:x} {:?}\n{:?}\n", game.hash(), game.answers(), game.of_pilot::<Cargo>(head));
    game.step(400);
    let built = game.ships().into_iter().find(|ship| ship.owner == Owner::Charter(1)).map(|ship| ship.id);
    if let Some(target) = built {
        let raider = game.pilot();
        let ship = game.ship_at(raider, Fit::starter(balance), game.hex(target));
        let _ = game.op(raider, Op::Focus { ship, target });
        all += &format!("{:x}\n", game.hash());
    }
    game.kill_all(&built.into_iter().collect::<Vec<_>>());
    all + &format!("{:x} {:?}", game.hash(), game.log(head))
}

/// What the first in a dozen clears of each Rift wins.
fn prizes(balance: &Arc<Balance>) -> String {
    let mut balance = Balance::clone(balance);
    (balance.incursions.waves, balance.incursions.reach) = (1, 0);
    let mut game = Game::new(Setup { balance: Arc::new(balance), layer: 1, others: true, ..Setup::default() });
    game.app.insert_resource(OperatorOps(true));
    let pilot = game.pilot();
    for map in (1..=6).flat_map(|tier| [MapKey::rift(tier); 12]) {
        game.op(pilot, Op::Force(Force::Incursion(map))).unwrap();
        game.step(2);
        let own = game.active(pilot);
        let npcs: Vec<_> = game.ships().iter().map(|ship| ship.id).filter(|&id| Some(id) != own).collect();
        game.hurt(pilot, npcs[0], 10.0);
        game.step(1);
        game.kill_all(&npcs);
        assert_eq!(game.app.world().resource::<Incursions>().iter().len(), 0);
    }
    format!("{:?}", game.of_pilot::<Cargo>(pilot))
}

/// Values that say nothing by themselves: a structure has no guns, and is the class that it is named after.
const SAYS_NOTHING: [&str; 6] = [
    "classes.Outpost.volley",
    "classes.Outpost.guns",
    "classes.Berth.volley",
    "classes.Berth.guns",
    "structures.berth.class",
    "structures.outpost.class",
];

/// Values that have a test of their own: the first incursion is announced after an hour of the world's time, and it takes many
/// charters to fill a map.
const SHOWN_ELSEWHERE: [&str; 2] = ["incursions.warn_s", "structures.a_map"];

/// What pilots are told in the dock of a layer, and of duels and charters.
fn answered(balance: &Arc<Balance>, layer: u8) -> Vec<String> {
    let mut game = Game::new(Setup { balance: Arc::clone(balance), layer, ..Setup::default() });
    let (pilot, ship) = game.pilot_in(Fit::starter(balance));
    let others: Vec<PilotId> = (0..60).map(|_| game.pilot()).collect();
    game.stock(pilot);
    game.order(pilot, Op::Found { name: "Keel".to_owned() });
    for &other in &others {
        game.order(pilot, Op::Invite(other));
        game.order(other, Op::Join(CharterId(1)));
    }
    game.order(pilot, Op::AskDuel(others[0]));
    game.order(others[0], Op::AcceptDuel(pilot));
    for side in &Direction::ALL[..5] {
        let ship = game.ship_at(pilot, Fit::bare(ClassId(0)), Hex::CENTRE.neighbour(*side));
        game.order(pilot, Op::Build { ship, kind: StructureKind::Berth });
    }
    game.step(1);
    let (builder, home) = game.pilot_in(Fit::starter(balance));
    game.order(builder, Op::Dock { ship: home });
    game.order(pilot, Op::Dock { ship });
    game.step(1);
    game.change::<Fitted>(ship, |fitted| fitted.0.armor = fitted.0.armor.map(|armor| armor.worn_by(5)));
    game.order(pilot, Op::Repair { ship, slot: Slot::Armor });
    for _ in 0..130 {
        for faction in FACTIONS {
            game.order(pilot, Op::Fit { ship, slot: Slot::Shield, part: Part::Yard(Kind::Shield, faction) });
        }
    }
    for _ in 0..13 {
        game.order(builder, Op::Commission { class: ClassId(0), line: Line::Line });
    }
    game.step(1);
    let answers = game.answers().iter().map(|answer| format!("{:?}", answer.result));
    answers.chain(game.log(others[0]).into_iter().map(|(_, line)| line)).collect()
}

/// Other values to put in a value's place.
fn others(value: &str) -> Vec<String> {
    if let Ok(number) = value.parse::<f64>() {
        let near = [
            number * 0.5,
            number + 1.0,
            number * 2.0,
            number - 1.0,
            1.0 - number,
            number + 2.0,
            number - 2.0,
            number + 0.1,
            (number * 0.2).round(),
        ];
        return near.iter().filter(|&&other| other != number).map(ToString::to_string).collect();
    }
    let words: &[&str] = match value {
        "true" => &["false"],
        "false" => &["true"],
        "Safe" | "Low" | "Moderate" | "High" | "Severe" | "Deadly" => &["Safe", "Deadly"],
        "Never" | "Consent" | "Open" => &["Never", "Consent", "Open"],
        "Common" | "Rare" | "Legendary" | "Ultimate" => &["Common", "Rare", "Ultimate"],
        "Human" | "Raider" | "Sentry" | "Breaker" => &["Human", "Raider", "Sentry", "Breaker"],
        "Thirds" | "Plasma" | "Impact" | "Phase" => &["Plasma", "Impact", "Phase"],
        "Brace" | "Jam" | "Clamp" | "Aura" => &["Sensor"],
        name if name.starts_with("\"A") => &["\"A calm\""],
        name if name.starts_with('"') => &["\"Patrol\"", "\"Frigate\"", "\"Carrier\""],
        other => panic!("no other value is known for {other}"),
    };
    words.iter().filter(|&&word| word != value).map(|&word| word.to_owned()).collect()
}

/// The row of a Rift that has to be twice a layer's, or the layer's of which it has to be twice, for such another value.
fn twin(leaves: &[Leaf], leaf: &Leaf, other: &str) -> Option<(std::ops::Range<usize>, String)> {
    let other: f64 = other.parse().ok()?;
    let (path, value) = match leaf.path.strip_prefix("rifts[") {
        Some(row) => (format!("layers[{row}"), other / 2.0),
        None => (format!("rifts[{}", leaf.path.strip_prefix("layers[")?), other * 2.0),
    };
    leaves.iter().find(|leaf| leaf.path == path).map(|leaf| (leaf.span.clone(), value.to_string()))
}

#[test]
fn every_value_of_the_balance_shows_on_a_card_or_in_the_world() {
    let shipped = Arc::new(Balance::parse("balance.ron", SHIPPED_BALANCE).unwrap());
    let leaves = Balance::leaves("balance.ron", SHIPPED_BALANCE).unwrap();
    let shipped_maps = maps(&shipped);
    let (shipped_cards, mut shipped_answered, mut shipped_told) = (cards(&shipped), BTreeMap::new(), BTreeMap::new());
    for layer in 1..=6 {
        shipped_answered.insert(layer, answered(&shipped, layer));
        shipped_told.insert(layer, told(&shipped, layer));
    }
    let (shipped_paid, shipped_industry) = (paid(&shipped), industry(&shipped));
    let unread = &|leaf: &Leaf| {
        let value = &SHIPPED_BALANCE[leaf.span.clone()];
        if SAYS_NOTHING.contains(&leaf.path.as_str()) || SHOWN_ELSEWHERE.contains(&leaf.path.as_str()) {
            return None;
        }
        let changed = others(value).into_iter().filter_map(|other| {
            let mut text = SHIPPED_BALANCE.to_owned();
            // What has to be twice another is changed with it; the later one first, so that the earlier's place stays.
            let twin = twin(&leaves, leaf, &other);
            let mut changes: Vec<_> = twin.into_iter().chain([(leaf.span.clone(), other)]).collect();
            changes.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
            changes.into_iter().for_each(|(span, other)| text.replace_range(span, &other));
            Balance::parse("changed.ron", &text).ok().map(Arc::new)
        });
        let of_pay = ["incursion_cap", "notches", "incursion_salt", "kill_salt", "hull_copies"];
        let is_of_pay = of_pay.iter().any(|name| leaf.path.contains(name));
        let of_industry = ["incursions.", "pay.", "rift_incursion_pay", "structures.", "harvest.", "squads.roam_s"];
        if is_of_pay || of_industry.iter().any(|of| leaf.path.starts_with(of)) {
            let shows = |balance: Arc<Balance>| {
                paid(&balance) != shipped_paid
                    || (leaf.path.contains("hull_copies") && prizes(&balance) != prizes(&shipped))
                    || industry(&balance) != shipped_industry
            };
            let is_read = changed.into_iter().any(shows);
            return (!is_read).then(|| format!("{} = {value}", leaf.path));
        }
        if leaf.path.starts_with("storms.") {
            let shipped = storms(&shipped);
            let is_read = changed.into_iter().any(|balance| storms(&balance) != shipped);
            return (!is_read).then(|| format!("{} = {value}", leaf.path));
        }
        // A layer's own value shows on that layer; anything else on the first two, or where charters build.
        let layers = match leaf.path.strip_prefix("layers[").and_then(|path| path[..1].parse::<u8>().ok()) {
            Some(index) => index + 1..=index + 1,
            None => 1..=2,
        };
        // A Rift's own shows on a Rift. What is twice a layer's changes that as well, so no layer is asked.
        let row = leaf.path.strip_prefix("rifts[").and_then(|path| path[..1].parse::<u8>().ok());
        if let Some(tier) = row
            .map(|row| row + 1)
            .or(["map.rift.", "wormholes."].iter().any(|of| leaf.path.starts_with(of)).then_some(1))
        {
            let of_rift = |balance: &Arc<Balance>| {
                let cards = cards(balance);
                (
                    format!("{:?}", generate(&Plan::of(balance, MapKey::rift(tier)), 1, &[])),
                    filled(balance, tier),
                    cards,
                )
            };
            let shipped = of_rift(&shipped);
            let is_read = changed.into_iter().any(|balance| of_rift(&balance) != shipped);
            return (!is_read).then(|| format!("{} = {value}", leaf.path));
        }
        let shows = |balance: &Arc<Balance>| {
            cards(balance) != shipped_cards
                || maps(balance) != shipped_maps
                || layers.clone().chain([4]).any(|layer| answered(balance, layer) != shipped_answered[&layer])
                || layers.clone().any(|layer| told(balance, layer) != shipped_told[&layer])
        };
        let is_read = changed.into_iter().any(|balance| shows(&balance));
        (!is_read).then(|| format!("{} = {value}", leaf.path))
    };
    // Each value is a few worlds of its own: two threads take half of them each.
    let (one, two) = leaves.split_at(leaves.len() / 2);
    let unread: Vec<String> = std::thread::scope(|scope| {
        let other = scope.spawn(|| two.iter().filter_map(unread).collect::<Vec<_>>());
        one.iter().filter_map(unread).chain(other.join().unwrap()).collect()
    });
    assert!(leaves.len() > 250, "{} values were found", leaves.len());
    assert!(unread.is_empty(), "read by nothing: {unread:#?}");
}
