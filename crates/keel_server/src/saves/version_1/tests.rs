use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use keel_balance::Faction;
use keel_map::{Hex, MapKey};
use keel_rules::pay::Salt;
use keel_sim::{
    Cargo, Docked, Force, InSector, Incursions, Key, Map, Op, OperatorOps, Pilot, PilotId, PilotIndex, Purse, Row,
    Sector, Ship, ShipIndex, Squad, Structure, StructureKind, Wormholes, WreckIndex,
};
use keel_testkit::{Game, Setup};
use rusqlite::Connection;

use super::super::schema::{mark, put_row, start_schema};
use super::super::{MIGRATIONS, Meta, Old, Opened, SAVE_VERSION, Store};
use super::{Rifts, Value};
use crate::keeper::{LoadError, read_row};

/// What the three temporary Rifts of the sample are called, the fixed one that the sample is made with, and their tier.
const OLD: [(&str, u8, u8); 3] = [("rift-3", 1, 5), ("rift-5", 2, 4), ("rift-7", 3, 5)];

/// The samples that ship with the server.
fn sample(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../assets/saves/version-{version}.sqlite"))
}

/// A world in which something of everything is on the maps that the sample has for temporary Rifts. A pilot and a charter
/// are called like Rifts.
fn world() -> Game {
    let setup = Setup { layer: 1, others: true, radius: 2, squads: true, ..Setup::default() };
    let mut game = Game::new(setup);
    game.app.insert_resource(OperatorOps(true));
    game.step(60);
    let (ann, ben) = (game.pilot(), game.pilot());
    for (pilot, name, charter) in [(ann, "rift-3", "rift-5"), (ben, "Ben", "rift-7")] {
        let entity = game.fleet_of(pilot);
        game.app.world_mut().get_mut::<Pilot>(entity).unwrap().name = name.to_owned();
        game.app.world_mut().entity_mut(entity).insert(Purse { salt: Salt(700 + u64::from(pilot.0)), notches: 9 });
        game.order(pilot, Op::Found { name: charter.to_owned() });
    }
    for tier in 1..=3 {
        game.go_on_at(MapKey::rift(tier));
        let fit = game.common(4, Faction::Human);
        let home = game.ship_at(ann, fit, Hex::new(1, 0));
        game.build_berth(ann, home).unwrap();
        game.op(ann, Op::Dock { ship: home }).unwrap();
        let [one, two] = [ann, ben].map(|pilot| game.ship_at(pilot, fit, Hex::new(-1, 0)));
        let drone = game.squad(&[game.common(1, Faction::Raider)], Hex::new(-1, 0))[0];
        game.op(ann, Op::Activate { ship: one }).unwrap();
        game.op(ben, Op::Attack { ship: two, target: one }).unwrap();
        game.op(ann, Op::Force(Force::Wormhole(MapKey::layer(tier)))).unwrap();
        game.step(45);
        game.kill(drone);
        game.kill(two);
    }
    game.op(ann, Op::Force(Force::Incursion(MapKey::rift(2)))).unwrap();
    game.step(300);
    game
}

/// What is to be kept of a world, as its rows are written.
fn rows(game: &mut Game) -> BTreeMap<Key, Vec<u8>> {
    let rows = keel_sim::whole(game.app.world_mut()).rows.into_iter();
    rows.filter_map(|(key, row)| Some((key, rmp_serde::to_vec_named(&row?).unwrap()))).collect()
}

fn put(path: &Path, version: u32, rows: &BTreeMap<(String, u64), Vec<u8>>) {
    let _ = std::fs::remove_file(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    start_schema(&connection, &Meta { version, ..Meta::new(7) }).unwrap();
    for ((kind, id), data) in rows {
        put_row(&connection, kind, *id, data).unwrap();
    }
    super::super::migrate::seal(&connection, version).unwrap();
    mark(&connection, version).unwrap();
}

/// The sample as a version-1 server would have written it: three Rifts under their old names, and none of the others.
fn old_rows(mut rows: BTreeMap<(String, u64), Vec<u8>>) -> BTreeMap<(String, u64), Vec<u8>> {
    let names = OLD.map(|(old, tier, _)| (format!("rift-{tier}"), old.to_owned()));
    let rename = Rifts(names.into());
    let absent = Rifts((4..=6).map(|tier| (format!("rift-{tier}"), String::new())).collect());
    let text = |row: &[u8]| format!("{:?}", Value::of_row(row).unwrap());
    let is_absent =
        |row: &[u8]| (4..=6).any(|tier| text(row).contains(&format!("(Text(\"map\"), Text(\"rift-{tier}\"))")));
    // Whatever is on what there was not, and the ships of it.
    let mut away: BTreeSet<(String, u64)> = BTreeSet::new();
    for ((kind, id), row) in &rows {
        if !matches!(kind.as_str(), "world" | "incursions" | "charts") && is_absent(row) {
            away.insert((kind.clone(), *id));
            if kind == "state" {
                away.insert(("ship".to_owned(), *id));
            }
        }
    }
    rows.retain(|key, _| !away.contains(key));
    for ((kind, id), data) in &mut rows {
        let mut row = Value::of_row(data).unwrap();
        rename.rewrite(&mut row);
        let pairs = |pairs: &mut Value| {
            absent.drop_pairs(pairs);
            let Value::List(pairs) = pairs else { return };
            for pair in pairs {
                let Value::List(pair) = pair else { continue };
                if let Some(Value::Text(map)) = pair.first_mut() {
                    map.clone_from(rename.0.get(map).unwrap_or(&map.clone()));
                }
            }
        };
        match kind.as_str() {
            "world" => {
                pairs(row.get_mut("storms").unwrap().get_mut("next").unwrap());
                let rifts = OLD.map(|(id, _, tier)| {
                    let entry = |key: &str, value| (Value::Text(key.to_owned()), value);
                    Value::Map(vec![entry("id", Value::Text(id.into())), entry("tier", Value::Uint(tier.into()))])
                });
                let Value::Map(entries) = &mut row else { panic!("{kind} {id}") };
                entries.push((Value::Text("rifts".into()), Value::List(rifts.into())));
            }
            "incursions" => pairs(row.get_mut("due").unwrap()),
            "charts" => pairs(&mut row),
            _ => {}
        }
        *data = row.to_row().unwrap();
    }
    rows
}

#[test]
fn the_samples_are_what_they_would_be_made_to_be() {
    if std::env::var_os("KEEL_BLESS").is_none() {
        assert!(sample(1).exists() && sample(2).exists(), "KEEL_BLESS=1 makes them");
        return;
    }
    let kept = rows(&mut world()).into_iter().map(|(key, data)| ((key.kind.word().to_owned(), key.id), data));
    let kept: BTreeMap<_, _> = kept.collect();
    put(&sample(2), 2, &kept);
    put(&sample(1), 1, &old_rows(kept));
}

/// A directory with a save.
fn directory(version: u32) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::copy(sample(version), directory.path().join("world.sqlite")).unwrap();
    directory
}

/// A world of today's maps out of a save.
fn load(store: &Store) -> Game {
    let mut rows: BTreeMap<Key, Row> = BTreeMap::new();
    store
        .each(|kind, id, data| {
            let (key, row) = read_row(kind, id, data)?;
            rows.insert(key, row);
            Ok::<_, LoadError>(())
        })
        .unwrap();
    let setup = || Setup { layer: 1, others: true, radius: 3, squads: true, ..Setup::default() };
    Game::restored(setup(), &Game::new(setup()), rows).unwrap()
}

/// How many rows of each kind a version-1 save has.
fn counted(path: &Path) -> BTreeMap<String, usize> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT kind, COUNT(*) FROM rows GROUP BY kind").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as usize))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Where every ship of a version-1 save was, and is to be.
fn expected(path: &Path) -> BTreeMap<u64, String> {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT id, data FROM rows WHERE kind = 'state'").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, Vec<u8>>(1)?))).unwrap();
    rows.map(|row| {
        let (id, data) = row.unwrap();
        let state = Value::of_row(&data).unwrap();
        let Some(Value::Text(map)) = state.find("at").and_then(|at| at.find("map")) else { panic!("{state:?}") };
        let now = OLD.iter().find(|(old, ..)| old == map).map(|(.., tier)| format!("rift-{tier}"));
        (id, now.unwrap_or_else(|| map.clone()))
    })
    .collect()
}

fn map_of(game: &Game, ship: keel_sim::ShipId) -> String {
    let world = game.app.world();
    let sector = game.find::<InSector>(ship).map(|sector| sector.0);
    let sector = sector.or(game.find::<Docked>(ship).map(|docked| docked.0)).unwrap();
    world.get::<Map>(world.get::<Sector>(sector).unwrap().map).unwrap().key.to_string()
}

#[test]
fn rule_15_temporary_rifts_close_and_all_that_was_there_is_on_the_fixed_rift_of_their_tier() {
    let directory = directory(1);
    let path = directory.path().join("world.sqlite");
    let (before, expected) = (counted(&path), expected(&path));
    assert!(OLD.iter().all(|(_, _, tier)| expected.values().filter(|map| **map == format!("rift-{tier}")).count() > 9));
    let Opened::Old(old) = Store::open(directory.path()).unwrap() else { panic!("it is of version 1") };
    let (store, migrated) = old.migrate(MIGRATIONS).unwrap();
    assert!(migrated.backup.is_some_and(|backup| backup.ends_with("world.v1.sqlite")));
    let mut game = load(&store);
    // Nothing is lost.
    let ships: Vec<Ship> = game.ships();
    assert_eq!(ships.len(), before["ship"]);
    for ship in &ships {
        assert_eq!(map_of(&game, ship.id), expected[&u64::from(ship.id.0)], "{ship:?}");
    }
    let world = game.app.world_mut();
    assert_eq!(world.query::<&Squad>().iter(world).count(), before["squad"]);
    assert_eq!(world.query::<&Structure>().iter(world).count(), before["structure"]);
    assert_eq!(world.resource::<WreckIndex>().iter().len(), before["wreck"]);
    assert_eq!(world.resource::<Wormholes>().iter().len(), before["wormhole"]);
    assert_eq!(world.resource::<PilotIndex>().iter().len(), before["pilot"]);
    assert_eq!(world.resource::<Incursions>().iter().len(), 0, "the incursion's Rift has closed");
    // What people called things stays, whatever it looks like.
    for (pilot, name) in [(PilotId(1), "rift-3"), (PilotId(2), "Ben")] {
        assert_eq!(game.of_pilot::<Pilot>(pilot).name, name);
        assert_eq!(*game.of_pilot::<Purse>(pilot), Purse { salt: Salt(700 + u64::from(pilot.0)), notches: 9 });
        assert!(game.of_pilot::<Cargo>(pilot).ore > 0 || pilot == PilotId(2));
    }
    let bonds = game.app.world().resource::<keel_sim::Bonds>();
    assert_eq!(bonds.charters().map(|(_, charter)| charter.name.as_str()).collect::<Vec<_>>(), ["rift-5", "rift-7"]);
    // The world goes on, and each structure stands in a sector of its own.
    game.step(200);
    assert!(game.app.world().resource::<ShipIndex>().iter().len() >= before["ship"]);
    let world = game.app.world_mut();
    let kinds: Vec<StructureKind> = world.query::<&Structure>().iter(world).map(|structure| structure.kind).collect();
    assert_eq!(kinds.len(), 3);
}

#[test]
fn rule_15_a_second_start_finds_nothing_left_to_migrate() {
    let directory = directory(1);
    let Opened::Old(old) = Store::open(directory.path()).unwrap() else { panic!("it is of version 1") };
    let (store, _) = old.migrate(MIGRATIONS).unwrap();
    let hash = load(&store).hash();
    drop(store);
    let Opened::Whole(store) = Store::open(directory.path()).unwrap() else {
        panic!("it is of version {SAVE_VERSION}")
    };
    assert_eq!(load(&store).hash(), hash);
}

#[test]
fn a_rehearsal_says_what_would_come_out_and_changes_no_byte() {
    let directory = directory(1);
    let path = directory.path().join("world.sqlite");
    let before = std::fs::read(&path).unwrap();
    let old = Old::find(directory.path()).unwrap().expect("it is of version 1");
    let migrated = old.rehearse(MIGRATIONS).unwrap();
    assert_eq!(migrated.after.version, SAVE_VERSION);
    assert_eq!(migrated.backup, None);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let files: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(files.iter().all(|name| name == "world.sqlite" || name == "lock"), "{files:?}");
}

#[test]
fn rifts_that_could_not_have_been_are_refused_and_the_save_is_as_it_was() {
    let rift = |id: &str, tier: u64| {
        let entry = |key: &str, value| (Value::Text(key.to_owned()), value);
        Value::Map(vec![entry("id", Value::Text(id.into())), entry("tier", Value::Uint(tier))])
    };
    let too_many = (1..=4).map(|n| rift(&format!("rift-{n}"), 4)).collect();
    for (listed, reason) in [
        (Value::List(vec![rift("rift-1", 3)]), "rift-1 has the tier 3"),
        (Value::List(vec![rift("rift-1", 7)]), "rift-1 has the tier 7"),
        (Value::List(too_many), "4 temporary Rifts"),
        (Value::List(vec![Value::Nil]), "a Rift without an id or a tier"),
        (Value::Nil, "the world does not say which Rifts it had"),
    ] {
        let directory = directory(1);
        let path = directory.path().join("world.sqlite");
        let connection = Connection::open(&path).unwrap();
        let data = connection.query_row("SELECT data FROM rows WHERE kind = 'world'", [], |row| row.get(0));
        let mut world = Value::of_row(&data.unwrap_or_else(|_| Vec::new())).unwrap();
        *world.get_mut("rifts").unwrap() = listed;
        put_row(&connection, "world", 0, &world.to_row().unwrap()).unwrap();
        super::super::migrate::seal(&connection, 1).unwrap();
        connection.close().unwrap();
        let before = std::fs::read(&path).unwrap();
        let Opened::Old(old) = Store::open(directory.path()).unwrap() else { panic!("it is of version 1") };
        let error = old.migrate(MIGRATIONS).unwrap_err().to_string();
        assert!(error.ends_with(reason), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
