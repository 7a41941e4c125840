//! The list of contacts.

use keel_client::{Contact, Flags};
use keel_map::Hex;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::{DIM, ENEMY, HULL, Pilot, SHIELD, View, bar, listed};
use crate::sight::{Sight, is_npc, place};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot, view: &View) {
    let here = pilot.here().unwrap_or_default();
    let block = Block::bordered().title(" Contacts ");
    let rows = usize::from(block.inner(area).height);
    let target = pilot.active().map_or(0, |ship| ship.target);
    let contacts = listed(pilot);
    let at = contacts.iter().position(|contact| Some(contact.id) == view.selected).unwrap_or(0);
    let lines: Vec<Line<'_>> = contacts
        .iter()
        .skip(at.saturating_sub(rows.saturating_sub(1)))
        .take(rows)
        .map(|contact| contact_line(pilot, contact, here, Some(contact.id) == view.selected, target))
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn contact_line<'a>(pilot: &Pilot, contact: &Contact, here: Hex, selected: bool, target: u32) -> Line<'a> {
    let hops = place(contact).distance(here);
    let colour = if is_npc(contact) { ENEMY } else { SHIELD };
    let mark = match (contact.id == target, selected) {
        (true, _) => "»",
        (false, true) => ">",
        (false, false) => " ",
    };
    // A pilot's ship goes by their name, which tells it from an NPC of the same make.
    let name = pilot.owner(contact).map_or_else(
        || pilot.replica().name(contact),
        |owner| format!("{owner} {} {}", pilot.replica().word(|welcome| &welcome.classes, contact.class), contact.id),
    );
    let name = format!("{mark} {name:<20}");
    let mut state = match hops {
        0 => " here".to_owned(),
        1 => " 1 hop".to_owned(),
        hops => format!(" {hops} hops"),
    };
    if contact.charter != 0 {
        state.push_str(&format!(" of charter {}", contact.charter));
    }
    if contact.pilot != 0 {
        let bonds = pilot.replica().bonds();
        let duel = if bonds.duels.contains(&contact.pilot) { " duel" } else { "" };
        let kos = if bonds.kos.contains(&contact.pilot) { " KOS" } else { "" };
        state.push_str(&format!("{duel}{kos}"));
    }
    state.push_str(&states(contact.flags));
    if pilot.replica().own_ship(contact.target).is_some() {
        state.push_str(" locks you");
    }
    let style = Style::new().fg(colour);
    Line::from(vec![
        Span::styled(name, if selected { style.add_modifier(Modifier::REVERSED) } else { style }),
        Span::raw(" "),
        bar(f32::from(contact.shield) / 255.0, 5, SHIELD),
        Span::raw(" "),
        bar(f32::from(contact.hull) / 255.0, 6, HULL),
        Span::styled(state, Style::new().fg(DIM)),
    ])
}

/// What is so of a ship, in words.
pub(super) fn states(flags: Flags) -> String {
    let words = [
        (Flags::ARRIVING, " arriving"),
        (Flags::JAMMED, " jammed"),
        (Flags::BRACED, " braced"),
        (Flags::CLAMPED, " clamped"),
        (Flags::CLOAKED, " cloaked"),
        (Flags::IN_TRANSIT, " in transit"),
        (Flags::DOCKED, " docked"),
    ];
    words.into_iter().filter(|(flag, _)| flags.has(*flag)).map(|(_, word)| word).collect()
}
