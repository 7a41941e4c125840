//! What stands where the log is: the log, the card, the combat log or the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::{DIM, Pilot};
use crate::fly::report::{card_lines, shot_line, wormhole_lines};
use crate::sight::Sight;

/// The end of the log, with every line whole.
pub(super) fn log(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot) {
    let block = Block::bordered().title(" Log ");
    let inner = block.inner(area);
    let (rows, width) = (usize::from(inner.height), usize::from(inner.width));
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (seconds, text) in pilot.log.iter().rev() {
        if lines.len() >= rows {
            break;
        }
        // Upwards from the end, so the last piece of a line comes first.
        let mut pieces = wrapped(text, width.saturating_sub(9));
        let first = pieces.remove(0);
        lines.extend(pieces.into_iter().rev().map(|piece| Line::from(format!("         {piece}"))));
        let time = Span::styled(format!("{seconds:8.2} "), Style::new().fg(DIM));
        lines.push(Line::from(vec![time, Span::raw(first)]));
    }
    lines.truncate(rows);
    lines.reverse();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// A text in pieces of so many columns, one at least, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for word in text.split(' ') {
        let last = pieces.len() - 1;
        let piece = &mut pieces[last];
        if !piece.is_empty() && piece.chars().count() + 1 + word.chars().count() > width {
            pieces.push(word.to_owned());
        } else {
            if !piece.is_empty() {
                piece.push(' ');
            }
            piece.push_str(word);
        }
    }
    pieces
}

pub(super) fn card(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot) {
    let lines = pilot.active().and_then(|ship| pilot.replica().card(ship.id));
    let lines = lines.map(|card| card_lines(pilot.replica(), card)).unwrap_or_default();
    list(frame, area, " Card ", lines.into_iter());
}

/// The newest of the combat log's shots.
pub(super) fn combat(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot) {
    let shots = pilot.shots.iter().rev().map(|shot| shot_line(pilot.replica(), shot));
    list(frame, area, " Combat log, newest first ", shots);
}

/// The wormholes that the pilot has found.
pub(super) fn wormholes(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot) {
    lines(frame, area, " Wormholes ", wormhole_lines(pilot.replica()));
}

/// Lines, each broken where it is too long.
pub(super) fn lines(frame: &mut Frame<'_>, area: Rect, title: &'static str, lines: Vec<String>) {
    let width = usize::from(area.width.saturating_sub(2));
    list(frame, area, title, lines.into_iter().flat_map(move |line| wrapped(&line, width)));
}

/// What every key does.
const KEYS: [&str; 19] = [
    "arrows, y u b n   hop to that side",
    "m                 pick a sector on the map, and Enter to go there",
    "Esc               stop: a hop in its window, a jump; or close this",
    "Tab, Shift-Tab    the next contact, the one before",
    "a, f, h           attack it with escorts, focus it alone, hold fire",
    "q w e x z         Brace, Clamp, Jam, Unclamp, Cloak, of the ship you fly",
    "d, t              dock at a Haven or berth, and undock; the fitting screen",
    "< > r             travel down, up a layer, from a Haven; rescue to the centre",
    "[ and ], v        choose a ship of the fleet; fly it",
    "s, o              its stance; whether it follows you (F)",
    "p, j, g           whom it protects; its Jam triggers (J); gather all escorts",
    "k                 mark the contact's pilot KOS, or no more",
    "D, E              ask for or accept a duel with that pilot; end it",
    "c, l, i           card; combat log; wormholes: again for the log",
    "N, C, G           journal of storms and incursions; chart; wallet and cargo",
    "J, T, H           jump through the wormhole here; take the wrecks; harvest",
    "R                 retreat: all escorts fly to the centre and wait",
    ":                 any order in words; :help lists them, Up brings the last",
    "Ctrl-C            leave",
];

pub(super) fn keys(frame: &mut Frame<'_>, area: Rect) {
    let legend = [
        "map   @ you, + yours, xN NPCs, oN pilots, H Haven, B berth, O outpost, s other's",
        "      W wormhole, $ wreck, ! incursion, b belt, c cloud, ? uncharted, # hazard",
    ];
    list(frame, area, " Keys ", KEYS.iter().chain(&legend).map(|&line| line.to_owned()));
}

pub(super) fn list(frame: &mut Frame<'_>, area: Rect, title: &'static str, lines: impl Iterator<Item = String>) {
    let block = Block::bordered().title(title);
    let rows = usize::from(block.inner(area).height);
    let mut lines: Vec<Line<'_>> = lines.map(Line::from).collect();
    if lines.len() > rows && rows > 0 {
        let more = lines.len() - rows + 1;
        lines.truncate(rows - 1);
        lines.push(Line::from(Span::styled(format!("… and {more} more"), Style::new().fg(DIM))));
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
