//! The list of the pilot's own ships.

use keel_client::{Flags, Named, OwnShip};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::{DIM, GOLD, HULL, Pilot, SHIELD, View, bar};
use crate::fly::report::{mind_marks, where_line};
use crate::sight::Sight;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot, view: &View) {
    let block = Block::bordered().title(" Fleet ");
    let rows = usize::from(block.inner(area).height);
    let lines: Vec<Line<'_>> = pilot.replica().own().take(rows).map(|ship| line(pilot, ship, view)).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn line<'a>(pilot: &Pilot, ship: &OwnShip, view: &View) -> Line<'a> {
    let replica = pilot.replica();
    let is_active = ship.flags.has(Flags::ACTIVE);
    let selected = view.mate == Some(ship.id);
    let mark = match (is_active, selected) {
        (true, _) => "@",
        (false, true) => ">",
        (false, false) => " ",
    };
    let name = replica.named(&Named { id: ship.id, pilot: 0, class: ship.class, faction: ship.faction });
    let style = Style::new().fg(GOLD);
    let style = if selected { style.add_modifier(Modifier::REVERSED) } else { style };
    let full = replica.card(ship.id).map_or((1.0, 1.0), |card| (card.shield, card.hull));
    let share = |pool: f32, full: f32| if full > 0.0 { pool / full } else { 0.0 };
    let mind = if is_active { String::new() } else { format!(" {}", mind_marks(ship)) };
    let unarmed = if replica.card(ship.id).is_some_and(|card| card.volley == 0.0) { " unarmed" } else { "" };
    Line::from(vec![
        Span::styled(format!("{mark} {name:<18}"), style),
        Span::raw(" "),
        bar(share(ship.shield.holds(replica.now()), full.0), 3, SHIELD),
        Span::raw(" "),
        bar(share(ship.hull, full.1), 3, HULL),
        Span::styled(format!(" {}{mind}{unarmed}", where_line(ship)), Style::new().fg(DIM)),
    ])
}
