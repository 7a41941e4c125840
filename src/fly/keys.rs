//! Flying by keys.

use anyhow::Context;
use keel_client::{Command, Power, Stance};
use keel_map::{Direction, Hex};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::POLL;
use super::deed::{Deed, Report, deed, usage};
use super::pilot::Pilot;
use super::screen::{self, Fitting, Panel, View};
use crate::sight::Sight;

/// Flies until the pilot leaves or the connection ends.
pub(crate) fn fly(pilot: &mut Pilot) -> anyhow::Result<()> {
    let mut terminal = ratatui::try_init().context("this is no terminal to fly from; use --script")?;
    let result = (|| -> anyhow::Result<()> {
        let mut view = View::default();
        pilot.tell("Welcome. ? shows every key, : takes any order in words.".to_owned());
        loop {
            pilot.poll()?;
            view.keep_up(pilot);
            view.renew_shots(pilot);
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
pub(super) fn press(pilot: &mut Pilot, view: &mut View, key: KeyEvent) -> bool {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'q'));
    }
    if view.prompt.is_some() {
        write(pilot, view, key.code);
    } else if key.code == KeyCode::Char(':') {
        view.prompt = Some(String::new());
    } else if view.fitting.is_some() {
        fit(pilot, view, key.code);
    } else if let Some(direction) = direction(key.code, view.cursor.or_else(|| pilot.here())) {
        steer(pilot, view, direction);
    } else {
        fly_by(pilot, view, key.code);
    }
    false
}

/// A key at the prompt.
fn write(pilot: &mut Pilot, view: &mut View, key: KeyCode) {
    let Some(words) = &mut view.prompt else { return };
    match key {
        KeyCode::Char(letter) if words.len() < 100 => words.push(letter),
        KeyCode::Backspace => drop(words.pop()),
        KeyCode::Up => words.clone_from(&view.said),
        KeyCode::Enter => {
            view.said = std::mem::take(words);
            view.prompt = None;
            do_in_words(pilot, view);
        }
        KeyCode::Esc => view.prompt = None,
        _ => {}
    }
}

fn do_in_words(pilot: &mut Pilot, view: &mut View) {
    let words: Vec<&str> = view.said.split_whitespace().collect();
    let done = match (deed(&words), words.as_slice()) {
        // On the screen it has a panel, which asks for it.
        (Some(Deed::Show(Report::Combat)), _) => {
            view.panel = Panel::Combat;
            Ok(())
        }
        (Some(deed), _) => deed.go(pilot),
        (None, []) => Ok(()),
        (None, ["help", about @ ..]) => {
            pilot.tell(usage(about, &[]));
            Ok(())
        }
        (None, words) => Err(usage(words, &[])),
    };
    if let Err(reason) = done {
        pilot.refuse(&reason);
    }
}

/// A key on the fitting screen.
fn fit(pilot: &mut Pilot, view: &mut View, key: KeyCode) {
    let Some(fitting) = &mut view.fitting else { return };
    match key {
        KeyCode::Up => fitting.choose(pilot, -1),
        KeyCode::Down => fitting.choose(pilot, 1),
        KeyCode::Tab | KeyCode::BackTab | KeyCode::Left | KeyCode::Right => fitting.turn(),
        KeyCode::Enter => fitting.fit(pilot),
        KeyCode::Char('p') => fitting.repair(pilot),
        KeyCode::Char('d') => dock(pilot),
        KeyCode::Esc | KeyCode::Char('t') => view.fitting = None,
        _ => {}
    }
}

/// A side: the cursor goes there, or the ship.
fn steer(pilot: &mut Pilot, view: &mut View, direction: Direction) {
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
}

/// A key in flight.
fn fly_by(pilot: &mut Pilot, view: &mut View, key: KeyCode) {
    let power = |pilot: &mut Pilot, power| pilot.say(Command::Power(power));
    match key {
        KeyCode::Char('m') => view.cursor = pilot.here(),
        KeyCode::Enter => match view.cursor.take() {
            Some(to) => pilot.go_to(to),
            None => at_selected(pilot, view, |ship, target| Command::Attack { ship, target }),
        },
        KeyCode::Esc if view.cursor.is_some() => view.cursor = None,
        KeyCode::Esc if view.panel != Panel::Log => view.panel = Panel::Log,
        KeyCode::Esc => pilot.cancel_if_under_way(),
        KeyCode::Tab => view.select_next(pilot, 1),
        KeyCode::BackTab => view.select_next(pilot, -1),
        KeyCode::Char('a') => at_selected(pilot, view, |ship, target| Command::Attack { ship, target }),
        KeyCode::Char('f') => at_selected(pilot, view, |ship, target| Command::Focus { ship, target }),
        KeyCode::Char('h') => pilot.order(|ship| Command::Hold { ship }),
        KeyCode::Char('q') => power(pilot, Power::Brace),
        KeyCode::Char('w') => power(pilot, Power::Clamp),
        KeyCode::Char('e') => power(pilot, Power::Jam),
        KeyCode::Char('x') => power(pilot, Power::Unclamp),
        KeyCode::Char('z') => power(pilot, Power::Cloak),
        KeyCode::Char('d') => dock(pilot),
        KeyCode::Char('r') => pilot.order(|ship| Command::Rescue { ship }),
        KeyCode::Char('<') => pilot.order(|ship| Command::Travel { ship, up: false }),
        KeyCode::Char('>') => pilot.order(|ship| Command::Travel { ship, up: true }),
        KeyCode::Char('t') => view.fitting = Some(Fitting::default()),
        KeyCode::Char('[') => view.select_mate(pilot, -1),
        KeyCode::Char(']') => view.select_mate(pilot, 1),
        KeyCode::Char('g') => pilot.say(Command::Gather),
        KeyCode::Char('c') => view.panel = toggled(view.panel, Panel::Card),
        KeyCode::Char('i') => view.panel = toggled(view.panel, Panel::Wormholes),
        KeyCode::Char('N') => view.panel = toggled(view.panel, Panel::Journal),
        KeyCode::Char('G') => view.panel = toggled(view.panel, Panel::Cargo),
        KeyCode::Char('C') => view.panel = toggled(view.panel, Panel::Chart),
        KeyCode::Char('J') => go(pilot, &Deed::Jump(None)),
        KeyCode::Char('T') => go(pilot, &Deed::Take(None)),
        KeyCode::Char('H') => pilot.order(|ship| Command::Harvest { ship }),
        KeyCode::Char('R') => pilot.say(Command::Retreat),
        KeyCode::Char('?') => view.panel = toggled(view.panel, Panel::Keys),
        KeyCode::Char('l') => view.panel = toggled(view.panel, Panel::Combat),
        KeyCode::Char(key @ ('v' | 's' | 'o' | 'p' | 'j')) => of_mate(pilot, view, key),
        KeyCode::Char(key @ ('k' | 'D' | 'E')) => of_owner(pilot, view, key),
        _ => {}
    }
}

/// Does what a prompt would say.
fn go(pilot: &mut Pilot, deed: &Deed) {
    if let Err(reason) = deed.go(pilot) {
        pilot.refuse(&reason);
    }
}

fn toggled(panel: Panel, to: Panel) -> Panel {
    if panel == to { Panel::Log } else { to }
}

fn dock(pilot: &mut Pilot) {
    if pilot.is_docked() {
        pilot.order(|ship| Command::Undock { ship });
    } else {
        pilot.order(|ship| Command::Dock { ship });
    }
}

fn at_selected(pilot: &mut Pilot, view: &View, command: impl FnOnce(u32, u32) -> Command) {
    if let Some(target) = view.selected {
        pilot.order(|ship| command(ship, target));
    }
}

/// Keys that are for the chosen ship of the fleet.
fn of_mate(pilot: &mut Pilot, view: &View, key: char) {
    let ids: Vec<u32> = pilot.replica().own().map(|ship| ship.id).collect();
    let Some(mate) = view.mate.and_then(|id| pilot.replica().own_ship(id)) else { return };
    let (ship, mind) = (mate.id, mate.mind);
    pilot.say(match key {
        'v' => Command::Activate { ship },
        's' => Command::Stance {
            ship,
            stance: match mind.stance {
                Stance::Aggressive => Stance::Defensive,
                Stance::Defensive => Stance::Support,
                Stance::Support => Stance::Passive,
                Stance::Passive => Stance::Aggressive,
            },
        },
        'o' => Command::Follow { ship, follows: !mind.follows },
        'j' => Command::Triggers { ship, brace_percent: mind.brace_percent, jam: !mind.jam },
        _ => {
            // The active ship, then each other one, then the active ship again.
            let others: Vec<u32> = [0].into_iter().chain(ids.into_iter().filter(|&id| id != ship)).collect();
            let at = others.iter().position(|&id| id == mind.protectee).unwrap_or(0);
            Command::Protect { ship, protectee: others[(at + 1) % others.len()] }
        }
    });
}

/// Keys that are for the pilot of the chosen contact.
fn of_owner(pilot: &mut Pilot, view: &View, key: char) {
    let owner = view.selected.and_then(|id| pilot.replica().contact(id)).map_or(0, |contact| contact.pilot);
    if owner == 0 {
        return pilot.refuse("choose the ship of a pilot with Tab first");
    }
    pilot.say(match key {
        'k' => Command::Kos { pilot: owner, marked: !pilot.replica().bonds().kos.contains(&owner) },
        // A challenge to whoever has challenged is accepted by it.
        'D' => Command::AskDuel(owner),
        _ => Command::EndDuel(owner),
    });
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
