//! Flying by keys.

use anyhow::Context;
use keel_map::{Direction, Hex};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::POLL;
use super::pilot::Pilot;
use super::screen::{self, View};

/// Flies until the pilot leaves or the connection ends.
pub(crate) fn fly(pilot: &mut Pilot) -> anyhow::Result<()> {
    let mut terminal = ratatui::try_init().context("this is no terminal to fly from; use --script")?;
    let result = (|| -> anyhow::Result<()> {
        let mut view = View::default();
        loop {
            pilot.poll()?;
            view.keep_up(pilot);
            terminal.draw(|frame| screen::draw(frame, pilot, &view))?;
            // The wait for a key is the loop's rest. A held key comes faster than one a rest.
            let mut rest = POLL * 3;
            while event::poll(rest)? {
                if let Event::Key(key) = event::read()?
                    && key.kind != KeyEventKind::Release
                    && press(pilot, &mut view, key)
                {
                    return Ok(());
                }
                rest = std::time::Duration::ZERO;
            }
        }
    })();
    ratatui::restore();
    result
}

/// Does what a key says; whether it says to leave.
fn press(pilot: &mut Pilot, view: &mut View, key: KeyEvent) -> bool {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'q'));
    }
    if let Some(direction) = direction(key.code, view.cursor.or_else(|| pilot.here())) {
        match &mut view.cursor {
            Some(cursor) => {
                let next = cursor.neighbour(direction);
                if pilot.has_sector(next) {
                    *cursor = next;
                }
            }
            None => {
                if let Some(here) = pilot.here() {
                    pilot.go_to(here.neighbour(direction));
                }
            }
        }
        return false;
    }
    match key.code {
        KeyCode::Char('m') => view.cursor = pilot.here(),
        KeyCode::Enter => match view.cursor.take() {
            Some(to) => pilot.go_to(to),
            None => attack(pilot, view),
        },
        KeyCode::Esc if view.cursor.is_some() => view.cursor = None,
        KeyCode::Esc => pilot.cancel(),
        KeyCode::Tab => view.select_next(pilot, 1),
        KeyCode::BackTab => view.select_next(pilot, -1),
        KeyCode::Char('a') => attack(pilot, view),
        KeyCode::Char('f') => {
            if let Some(target) = view.selected {
                pilot.focus(target);
            }
        }
        KeyCode::Char('h') => pilot.hold(),
        KeyCode::Char('c') => view.card = !view.card,
        _ => {}
    }
    false
}

fn attack(pilot: &mut Pilot, view: &View) {
    if let Some(target) = view.selected {
        pilot.attack(target);
    }
}

/// The side that a key means. Up and down have two sides each: the one that keeps the column, so that two presses go
/// straight; y, u, b and n are the four slanted ones.
fn direction(code: KeyCode, from: Option<Hex>) -> Option<Direction> {
    let odd = from.is_some_and(|hex| hex.row & 1 == 1);
    Some(match code {
        KeyCode::Left => Direction::West,
        KeyCode::Right => Direction::East,
        KeyCode::Up if odd => Direction::NorthWest,
        KeyCode::Down if odd => Direction::SouthWest,
        KeyCode::Up | KeyCode::Char('u') => Direction::NorthEast,
        KeyCode::Down | KeyCode::Char('n') => Direction::SouthEast,
        KeyCode::Char('y') => Direction::NorthWest,
        KeyCode::Char('b') => Direction::SouthWest,
        _ => return None,
    })
}
