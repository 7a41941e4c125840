//! What one value must be to another. Each check names the value to change, at its place in the file.

use crate::load::Record;
use crate::schema::{Balance, DamageType, Structure};

/// The five printed classes. More may follow as rows.
const PRINTED_CLASSES: [&str; 5] = ["Patrol", "Frigate", "Destroyer", "Cruiser", "Carrier"];

/// One step of the server: no cycle may be shorter, for a gun fires at most once in a step.
const STEP_S: f64 = 0.05;

/// Size differences beyond this many classes would not fit the arithmetic of a lock.
const MOST_CLASSES: usize = 32;

/// The systems that a hull can have slots for, whatever its class.
pub const MOST_SYSTEMS: u8 = 8;

/// A pilot's ships are looked through one by one, and all of them go into one message.
const MOST_FLEET: u8 = 12;

pub(crate) fn check(balance: &Balance, record: &Record<'_>) {
    classes(balance, record);
    class_is_flown(balance, &balance.starter.class, "starter.class", record);
    for (index, layer) in balance.layers.iter().enumerate() {
        let npcs = format!("layers[{index}].npcs");
        for (place, class) in layer.npcs.classes.iter().enumerate() {
            class_is_flown(balance, class, &format!("{npcs}.classes[{place}]"), record);
        }
        for (place, class) in layer.hull_copies.iter().enumerate() {
            class_is_flown(balance, class, &format!("layers[{index}].hull_copies[{place}]"), record);
        }
        not_empty(&layer.npcs.classes, &format!("{npcs}.classes"), record);
        not_empty(&layer.npcs.factions, &format!("{npcs}.factions"), record);
        at_least_one(layer.squad, &format!("layers[{index}].squad"), record);
        at_least_one(layer.sector_cap, &format!("layers[{index}].sector_cap"), record);
        if layer.incursion_cap < layer.sector_cap {
            let problem =
                format!("expected at least the {} of sector_cap, found {}", layer.sector_cap, layer.incursion_cap);
            record.fault_at(&format!("layers[{index}].incursion_cap"), problem);
        }
    }
    at_least_one(balance.squads.per_sectors, "squads.per_sectors", record);
    at_least_one(balance.squads.fill_per_step, "squads.fill_per_step", record);
    at_least_one(balance.combat_log, "combat_log", record);
    at_least_one(balance.wear.shots, "wear.shots", record);
    at_least_one(balance.wear.hits, "wear.hits", record);
    at_least_one(balance.fleet, "fleet", record);
    at_least_one(balance.charter.members, "charter.members", record);
    not_empty(&balance.yard.factions, "yard.factions", record);
    if balance.fleet > MOST_FLEET {
        record.fault_at("fleet", format!("expected at most {MOST_FLEET} ships, found {}", balance.fleet));
    }
    cycles(balance, record);
    maps(balance, record);
    let edge = &balance.edge;
    for (name, damage, beaten) in [
        ("plasma_beats", DamageType::Plasma, edge.plasma_beats),
        ("impact_beats", DamageType::Impact, edge.impact_beats),
        ("phase_beats", DamageType::Phase, edge.phase_beats),
    ] {
        if damage == beaten {
            record.fault_at(&format!("edge.{name}"), format!("expected another type, found {beaten:?} itself"));
        }
    }
}

fn classes(balance: &Balance, record: &Record<'_>) {
    let (classes, structures) = (&balance.classes, &balance.structures);
    let is_missing = |structure: &Structure| classes.position(&structure.class).is_none();
    let structures_misnamed = is_missing(&structures.berth) || is_missing(&structures.outpost);
    for (name, structure) in [("berth", &structures.berth), ("outpost", &structures.outpost)] {
        let path = format!("structures.{name}.class");
        class_is_known(balance, &structure.class, &path, record);
        if PRINTED_CLASSES.contains(&structure.class.as_str()) {
            record
                .fault_at(&path, format!("expected a class of its own, found \"{}\", which is flown", structure.class));
        }
        // It has an armor and a shield.
        let takes = balance.grid.armor.get() + balance.grid.shield.get();
        let class = classes.position(&structure.class).and_then(|place| classes.get(place)).map(|(_, class)| class);
        if let Some(class) = class.filter(|class| class.power_grid.get() < takes) {
            let problem =
                format!("expected at least the {takes} of an armor and a shield, found {}", class.power_grid.get());
            record.fault_at(&format!("classes.{}.power_grid", structure.class), problem);
        }
        at_least_one(structure.most, &format!("structures.{name}.most"), record);
    }
    at_least_one(structures.outpost_yield, "structures.outpost_yield", record);
    at_least_one(structures.a_map, "structures.a_map", record);
    // Storms leave their sectors alone, and have to find room for a new map around them.
    if structures.a_map > MOST_STRUCTURES {
        let problem = format!("expected at most {MOST_STRUCTURES}, found {}", structures.a_map);
        record.fault_at("structures.a_map", problem);
    }
    for missing in PRINTED_CLASSES.iter().filter(|name| classes.position(name).is_none()) {
        record.fault_at("classes", format!("expected a class \"{missing}\", found none"));
    }
    if classes.len() > MOST_CLASSES {
        record.fault_at("classes", format!("expected at most {MOST_CLASSES} classes, found {}", classes.len()));
    }
    for (name, class) in classes.iter() {
        // A class without guns that a structure's row misses by its name is that row's fault.
        if class.guns == 0 && structures_misnamed {
            continue;
        }
        let (wells, words) = if balance.is_structure(name) { (0..=0, "no guns") } else { (1..=2, "1 or 2 guns") };
        if !wells.contains(&class.guns) {
            record.fault_at(&format!("classes.{name}.guns"), format!("expected {words}, found {}", class.guns));
        }
    }
    for (name, class) in classes.iter().filter(|(_, class)| class.slots > MOST_SYSTEMS) {
        let problem = format!("expected at most {MOST_SYSTEMS} slots, found {}", class.slots);
        record.fault_at(&format!("classes.{name}.slots"), problem);
    }
}

/// The longest name of a storm, in characters: it goes into a line of a log.
const MOST_NAME: usize = 40;

/// More structures than this would leave a storm nothing to reshape.
const MOST_STRUCTURES: u8 = 40;

/// An incursion farther than this would be most of a layer.
const MOST_REACH: u8 = 4;

/// The least side of a box, and the most: a map is laid out while a server starts and while it storms.
const SIDES: std::ops::RangeInclusive<u8> = 8..=40;

fn maps(balance: &Balance, record: &Record<'_>) {
    for (name, map) in [("layer", &balance.map.layer), ("rift", &balance.map.rift)] {
        if !SIDES.contains(&map.side) || map.side % 2 != 0 {
            record.fault_at(
                &format!("map.{name}.side"),
                format!("expected an even side from 8 to 40, found {}", map.side),
            );
        }
        let places = u16::from(map.side) * u16::from(map.side);
        at_least_one(map.squads, &format!("map.{name}.squads"), record);
        if map.most > places {
            let problem = format!("expected at most the {places} places of the box, found {}", map.most);
            record.fault_at(&format!("map.{name}.most"), problem);
        }
    }
    let wormholes = &balance.wormholes;
    at_least_one(wormholes.least_min, "wormholes.least_min", record);
    if wormholes.most_min < wormholes.least_min {
        let problem =
            format!("expected at least the {} of least_min, found {}", wormholes.least_min, wormholes.most_min);
        record.fault_at("wormholes.most_min", problem);
    }
    let incursions = &balance.incursions;
    at_least_one(incursions.least_min, "incursions.least_min", record);
    at_least_one(incursions.waves, "incursions.waves", record);
    at_least_one(incursions.rift_strength, "incursions.rift_strength", record);
    if incursions.most_min < incursions.least_min {
        let problem =
            format!("expected at least the {} of least_min, found {}", incursions.least_min, incursions.most_min);
        record.fault_at("incursions.most_min", problem);
    }
    let waves = incursions.wave_s.get() * f64::from(incursions.waves.saturating_sub(1));
    if incursions.lasts_s.get() <= waves {
        let problem =
            format!("expected more than the {waves} s until the last wave, found {}", incursions.lasts_s.get());
        record.fault_at("incursions.lasts_s", problem);
    }
    if incursions.reach > MOST_REACH {
        let problem = format!("expected at most {MOST_REACH} hops, found {}", incursions.reach);
        record.fault_at("incursions.reach", problem);
    }
    let storms = &balance.storms;
    at_least_one(storms.warn_min, "storms.warn_min", record);
    not_empty(&storms.names, "storms.names", record);
    for (place, name) in storms.names.iter().enumerate() {
        if !(1..=MOST_NAME).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            let problem = format!("expected 1 to {MOST_NAME} characters of one line, found {name:?}");
            record.fault_at(&format!("storms.names[{place}]"), problem);
        }
    }
    if storms.layer_shift_h >= storms.every_h {
        let problem =
            format!("expected less than the {} h from storm to storm, found {}", storms.every_h, storms.layer_shift_h);
        record.fault_at("storms.layer_shift_h", problem);
    }
    // So that each day has the same storms.
    if storms.every_h == 0 || 24 % storms.every_h != 0 {
        record.fault_at("storms.every_h", format!("expected hours that divide a day, found {}", storms.every_h));
    } else if u32::from(storms.warn_min) >= u32::from(storms.every_h) * 60 {
        let problem =
            format!("expected less than the {} h from storm to storm, found {}", storms.every_h, storms.warn_min);
        record.fault_at("storms.warn_min", problem);
    }
    if balance.map.hazards > 50 {
        record.fault_at("map.hazards", format!("expected at most 50 of a hundred, found {}", balance.map.hazards));
    }
    for (name, patches) in [("belts", &balance.map.belts), ("clouds", &balance.map.clouds)] {
        at_least_one(patches.size, &format!("map.{name}.size"), record);
        at_least_one(patches.richness, &format!("map.{name}.richness"), record);
    }
    at_least_one(balance.rift_pay, "rift_pay", record);
    at_least_one(balance.rift_incursion_pay, "rift_incursion_pay", record);
    for (index, (layer, rift)) in balance.layers.iter().zip(&balance.rifts).enumerate() {
        if !(1..=balance.map.layer.most).contains(&layer.sectors) {
            let problem = format!(
                "expected 1 to the {} that a layer has at most, found {}",
                balance.map.layer.most, layer.sectors
            );
            record.fault_at(&format!("layers[{index}].sectors"), problem);
        }
        if rift.sectors > balance.map.rift.most {
            let problem = format!(
                "expected the {} that a Rift has at most, or fewer, found {}",
                balance.map.rift.most, rift.sectors
            );
            record.fault_at(&format!("rifts[{index}].sectors"), problem);
        }
        let twins = [
            (layer.sectors, rift.sectors, "sectors"),
            (layer.sector_cap.into(), rift.sector_cap.into(), "sector_cap"),
            (layer.squad.into(), rift.squad.into(), "squad"),
            (layer.incursion_cap.into(), rift.incursion_cap.into(), "incursion_cap"),
            (layer.notches.into(), rift.notches.into(), "notches"),
        ];
        for (layer, rift, what) in twins {
            twice(layer, rift, what, index, record);
        }
    }
}

/// What a Rift has of its own is written out, and has to be twice its layer's (rule 11).
fn twice(layer: u16, rift: u16, what: &str, index: usize, record: &Record<'_>) {
    if u32::from(rift) != 2 * u32::from(layer) {
        let problem = format!("expected {}, twice the {what} of layers[{index}], found {rift}", 2 * u32::from(layer));
        record.fault_at(&format!("rifts[{index}].{what}"), problem);
    }
}

fn class_is_known(balance: &Balance, class: &str, path: &str, record: &Record<'_>) {
    if balance.classes.position(class).is_none() {
        let known: Vec<_> = balance.classes.iter().map(|(name, _)| name).collect();
        record.fault_at(path, format!("expected a class of this file ({}), found \"{class}\"", known.join(", ")));
    }
}

fn class_is_flown(balance: &Balance, class: &str, path: &str, record: &Record<'_>) {
    class_is_known(balance, class, path, record);
    if balance.is_structure(class) {
        record.fault_at(path, format!("expected a class that is flown, found the structure \"{class}\""));
    }
}

fn not_empty<T>(list: &[T], path: &str, record: &Record<'_>) {
    if list.is_empty() {
        record.fault_at(path, "expected at least one to draw from, found none");
    }
}

fn at_least_one(count: impl Into<u16>, path: &str, record: &Record<'_>) {
    if count.into() == 0 {
        record.fault_at(path, "expected at least 1, found 0");
    }
}

fn cycles(balance: &Balance, record: &Record<'_>) {
    let factions = &balance.factions;
    let guns = [
        ("human", &factions.human),
        ("raider", &factions.raider),
        ("sentry", &factions.sentry),
        ("breaker", &factions.breaker),
    ];
    let variants = &balance.variants;
    for (variant, factor) in [("plain", &variants.plain), ("fast", &variants.fast), ("slow", &variants.slow)] {
        let cycles = guns.map(|(faction, gear)| (faction, gear.gun.cycle_s.get() * f64::from(factor.cycle.get())));
        // A gun whose own cycle is at fault is no fault of the variant's.
        let is_sound = |faction: &str| !record.is_faulty(&format!("factions.{faction}.gun.cycle_s"));
        let mut sound = cycles.iter().filter(|(faction, _)| is_sound(faction));
        if let Some((faction, cycle)) = sound.find(|(_, cycle)| !(STEP_S..=4000.0).contains(cycle)) {
            let problem = format!("makes the {faction} gun's cycle {cycle} s; expected {STEP_S} to 4000 s");
            record.fault_at(&format!("variants.{variant}.cycle"), problem);
        }
    }
}
