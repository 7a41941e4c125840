//! The active ship.

use keel_client::{Card, Flags, Leg, OwnShip};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::contacts::states;
use super::{BATTERY, DIM, GOLD, HULL, Pilot, SHIELD, bar, seconds};
use crate::sight::Sight;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot) {
    let replica = pilot.replica();
    let block = Block::bordered().title(" Your ship ");
    let Some(ship) = pilot.active() else {
        let text = "Your ship is lost. The next one is on its way.";
        frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }).block(block), area);
        return;
    };
    let card = replica.card(ship.id);
    let full = |full: fn(&Card) -> f32| card.map_or(1.0, full);
    let now = replica.now();
    let mut lines = vec![
        pool("Shield", ship.shield.holds(now), full(|card| card.shield), SHIELD),
        pool("Hull", ship.hull, full(|card| card.hull), HULL),
        pool("Battery", ship.battery.holds(now), full(|card| card.battery), BATTERY),
        Line::from(format!(
            "Target     {}",
            replica.contact(ship.target).map_or("none".to_owned(), |contact| replica.name(contact))
        )),
        lock_line(ship, now),
        cycle_line(ship, card, now),
        powers_line(ship, card, now),
        Line::from(format!("State     {}", or_none(&states(ship.flags)))),
    ];
    // On a low screen these are what there is no row for, so they stand only when they say something.
    if ship.leg != Leg::Still {
        lines.insert(6, course_line(ship, now));
    }
    if ship.harvest > now {
        lines.insert(6, Line::from(format!("Harvest    done in {:.0} s (Esc)", seconds(ship.harvest, now))));
    }
    if ship.arrival > now {
        lines.insert(6, Line::from(format!("Arriving   {:.1} s: cannot be locked", seconds(ship.arrival, now))));
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn lock_line<'a>(ship: &OwnShip, now: u64) -> Line<'a> {
    if ship.target == 0 {
        return Line::from(Span::styled("Lock       none", Style::new().fg(DIM)));
    }
    let left = seconds(ship.locked_at, now);
    let takes = (f64::from(ship.lock_takes) / 1e6).max(0.05);
    let done = (1.0 - left / takes).clamp(0.0, 1.0) as f32;
    let state = if left > 0.0 { format!(" {left:.2} s") } else { " locked".to_owned() };
    Line::from(vec![Span::raw("Lock       "), bar(done, 10, GOLD), Span::raw(state)])
}

fn cycle_line<'a>(ship: &OwnShip, card: Option<&Card>, now: u64) -> Line<'a> {
    let left = seconds(ship.ready_at, now);
    let cycle = card.map_or(1.0, |card| f64::from(card.cycle) / 1e6).max(0.05);
    let state = if left > 0.0 { format!(" {left:.2} s") } else { " ready".to_owned() };
    Line::from(vec![
        Span::raw("Cycle      "),
        bar((1.0 - left / cycle).clamp(0.0, 1.0) as f32, 10, Color::White),
        Span::raw(state),
    ])
}

fn course_line<'a>(ship: &OwnShip, now: u64) -> Line<'a> {
    let hops = ship.course.len();
    Line::from(match ship.leg {
        Leg::Still => "Course     none".to_owned(),
        Leg::Window { ends } => format!("Course     {hops} to go, hop in {:.1} s (Esc)", seconds(ends, now)),
        Leg::Transit { ends } => format!("Transit    there in {:.1} s (Esc)", seconds(ends, now)),
        Leg::Hop { ends } => format!("Course     {hops} to go, there in {:.1} s", seconds(ends, now)),
    })
}

/// The powers that are fitted, each ready or with the time until it is.
fn powers_line<'a>(ship: &OwnShip, card: Option<&Card>, now: u64) -> Line<'a> {
    let powers = card.map(|card| card.powers).unwrap_or_default();
    let jammed = ship.flags.has(Flags::JAMMED);
    let state = |key: &str, silenced: bool, ready: u64| {
        let left = seconds(ready, now);
        match (silenced, left > 0.0) {
            (true, _) => format!("{key}- "),
            (false, true) => format!("{key}{left:.0}s "),
            (false, false) => format!("{key}\u{25cf} "),
        }
    };
    let mut line = "Powers     ".to_owned();
    line.extend(powers.brace.map(|_| state("Brace ", jammed, ship.brace_ready)));
    line.extend(powers.jam.map(|_| state("Jam ", false, ship.jam_ready)));
    line.extend(powers.clamp.map(|_| state("Clamp ", jammed, 0)));
    line.extend(powers.cloak.map(|_| state("Cloak ", jammed, ship.cloak_ready)));
    Line::from(line)
}

fn or_none(words: &str) -> &str {
    if words.is_empty() { " none" } else { words }
}

fn pool<'a>(name: &str, holds: f32, full: f32, colour: Color) -> Line<'a> {
    let share = if full > 0.0 { holds / full } else { 0.0 };
    Line::from(vec![
        Span::raw(format!("{name:<11}")),
        bar(share, 14, colour),
        Span::raw(format!(" {:.0}/{:.0}", holds.ceil(), full.ceil())),
    ])
}
