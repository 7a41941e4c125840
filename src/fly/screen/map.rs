//! The map around the active ship.

use keel_client::{Ground, Map};
use keel_map::Hex;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Paragraph};

use super::{DIM, ENEMY, GOLD, HAZARD, HULL, Pilot, SHIELD, View};
use crate::fly::news::{percent, storm_over, title};
use crate::sight::{Sight, is_npc, place, place_of};

/// Columns of a sector on the map. Odd rows stand half of it to the right.
const CELL: i32 = 4;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot, view: &View) {
    let here = pilot.here().unwrap_or_default();
    let Some(layer) = pilot.active().map(|ship| ship.map) else {
        return frame.render_widget(Block::bordered().title(" No ship "), area);
    };
    let block = Block::bordered().title(format!(
        " {} · sector {here}{} · charted {}{} ",
        title(layer),
        pilot.ground_here().iter().map(|word| format!(" · {word}")).collect::<String>(),
        percent(pilot.replica().charted(layer).unwrap_or_default()),
        storm_over(pilot, layer)
    ));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let course: Vec<Hex> = pilot
        .active()
        .map(|ship| ship.course.iter().map(|&(col, row)| Hex::new(col.into(), row.into())).collect())
        .unwrap_or_default();
    let middle = (i32::from(inner.width) / 2 - CELL / 2, i32::from(inner.height) / 2);
    let centre = view.cursor.unwrap_or(here);
    let left = |hex: Hex| hex.col * CELL + (hex.row & 1) * (CELL / 2);
    for row in 0..i32::from(inner.height) {
        for col in -1..=i32::from(inner.width) / CELL {
            let hex = Hex::new(centre.col + col - i32::from(inner.width) / CELL / 2, centre.row + row - middle.1);
            let x = middle.0 + left(hex) - left(centre);
            if x < 0 || x + CELL > i32::from(inner.width) {
                continue;
            }
            let Some((text, style)) = sector(pilot, view, hex, here, &course) else { continue };
            let cell = Rect::new(inner.x + x as u16, inner.y + row as u16, CELL as u16, 1);
            frame.render_widget(Paragraph::new(text).style(style), cell);
        }
    }
}

/// A sector in [`CELL`] columns.
fn sector(pilot: &Pilot, view: &View, hex: Hex, here: Hex, course: &[Hex]) -> Option<(String, Style)> {
    let contacts = || pilot.contacts().filter(move |contact| place(contact) == hex);
    let npcs = contacts().filter(|contact| is_npc(contact)).count();
    let pilots = contacts().filter(|contact| contact.pilot != 0).count();
    let is_built = contacts().any(|contact| contact.charter != 0);
    let layer = pilot.active().map(|ship| ship.map);
    let is_in = |places: fn(&Map) -> &Vec<(i16, i16)>| {
        let mut places = pilot.replica().map().into_iter().flat_map(places);
        places.any(|&(col, row)| Hex::new(col.into(), row.into()) == hex)
    };
    if is_in(|map| &map.hazards) {
        return Some((" #".to_owned(), Style::new().fg(HAZARD)));
    }
    if !pilot.has_sector(hex) {
        return None;
    }
    let replica = pilot.replica();
    let here_on = |map: u8, place: (i16, i16)| Some(map) == layer && place_at(place) == hex;
    let is_invaded =
        replica.journal().incursions.iter().any(|incursion| {
            Some(incursion.map) == layer && incursion.sectors.iter().any(|&place| place_at(place) == hex)
        });
    let chart = layer.and_then(|map| replica.chart(map));
    let ground = match chart.and_then(|chart| chart.get(&(hex.col as i16, hex.row as i16))) {
        Some(Ground::Open) => ".",
        Some(Ground::Belt(_)) => "b",
        Some(Ground::Cloud(_)) => "c",
        None => "?",
    };
    let (mark, style) = if hex == here {
        (if npcs > 0 { format!("@{npcs}") } else { "@".to_owned() }, Style::new().fg(GOLD).add_modifier(Modifier::BOLD))
    } else if npcs > 0 {
        (format!("x{npcs}"), Style::new().fg(ENEMY))
    } else if pilots > 0 {
        (format!("o{pilots}"), Style::new().fg(SHIELD))
    } else if pilot.replica().own().any(|ship| place_of(ship) == hex && Some(ship.map) == layer) {
        ("+".to_owned(), Style::new().fg(GOLD))
    } else if course.contains(&hex) {
        ("*".to_owned(), Style::new().fg(GOLD))
    } else if replica.wormholes().iter().any(|end| here_on(end.map, end.place)) {
        ("W".to_owned(), Style::new().fg(GOLD))
    } else if replica.wrecks().iter().any(|wreck| here_on(wreck.map, wreck.place)) {
        ("$".to_owned(), Style::new().fg(GOLD))
    } else if is_in(|map| &map.havens) {
        ("H".to_owned(), Style::new().fg(HULL))
    } else if is_in(|map| &map.berths) {
        ("B".to_owned(), Style::new().fg(HULL))
    } else if is_in(|map| &map.outposts) {
        ("O".to_owned(), Style::new().fg(HULL))
    } else if is_built {
        ("s".to_owned(), Style::new().fg(SHIELD))
    } else if is_invaded {
        ("!".to_owned(), Style::new().fg(ENEMY))
    } else if hex.distance(here) <= 1 {
        (ground.to_owned(), Style::new())
    } else {
        (ground.to_owned(), Style::new().fg(DIM))
    };
    Some(if view.cursor == Some(hex) {
        (format!("[{mark}]"), style.add_modifier(Modifier::REVERSED))
    } else {
        (format!(" {mark}"), style)
    })
}

fn place_at((col, row): (i16, i16)) -> Hex {
    Hex::new(col.into(), row.into())
}
