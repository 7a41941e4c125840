//! The pilot's screen. It draws what the server has shown and decides nothing.

mod contacts;
mod fitting;
mod fleet;
mod map;
mod panels;
mod ship;

use std::time::{Duration, Instant};

use keel_client::Contact;
use keel_map::Hex;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use ratatui::widgets::Paragraph;

pub(crate) use fitting::Fitting;

use super::news;
use super::pilot::Pilot;
use crate::sight::{Sight, place};

const GOLD: Color = Color::Rgb(255, 200, 60);
const SHIELD: Color = Color::Rgb(90, 170, 255);
const HULL: Color = Color::Rgb(120, 220, 120);
const BATTERY: Color = Color::Rgb(230, 210, 110);
const ENEMY: Color = Color::Rgb(255, 110, 100);
const HAZARD: Color = Color::Rgb(120, 50, 50);
const DIM: Color = Color::DarkGray;

/// How often a combat log that is looked at is asked for.
const RENEWED: Duration = Duration::from_secs(2);

/// For how many seconds a line of a hidden log stands in the last row.
const TOLD: f64 = 4.0;

/// A server that shows nothing for so long is not well.
const SILENT: Duration = Duration::from_secs(1);

/// What stands where the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Panel {
    #[default]
    Log,
    Card,
    Combat,
    Wormholes,
    Journal,
    Cargo,
    Chart,
    Keys,
}

/// What the pilot looks at.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The contact that attack and focus mean.
    pub(crate) selected: Option<u32>,
    /// The ship of the fleet that stances and the like are for.
    pub(crate) mate: Option<u32>,
    /// The sector that is being picked.
    pub(crate) cursor: Option<Hex>,
    /// What stands where the log is.
    pub(crate) panel: Panel,
    /// The fitting screen, when it is open.
    pub(crate) fitting: Option<Fitting>,
    /// The words of the prompt, when it is open.
    pub(crate) prompt: Option<String>,
    /// The last words of the prompt.
    pub(crate) said: String,
    /// When the combat log was asked for, and how long the log was then.
    asked: Option<(Instant, usize)>,
}

impl View {
    /// Selects another contact when the one that was is gone.
    pub(crate) fn keep_up(&mut self, pilot: &Pilot) {
        if self.selected.is_none_or(|id| pilot.replica().contact(id).is_none()) {
            self.selected = pilot.enemies().first().map(|contact| contact.id);
        }
        if self.mate.is_none_or(|id| pilot.replica().own_ship(id).is_none()) {
            self.mate = pilot.replica().own().next().map(|ship| ship.id);
        }
        if let Some(fitting) = &mut self.fitting {
            fitting.keep_up(pilot);
        }
    }

    /// Asks for the combat log again while it is shown and something happens.
    pub(crate) fn renew_shots(&mut self, pilot: &mut Pilot) {
        let is_old = |&(when, logged): &(Instant, usize)| when.elapsed() > RENEWED && logged < pilot.logged;
        if self.panel == Panel::Combat && self.asked.as_ref().is_none_or(is_old) {
            self.asked = Some((Instant::now(), pilot.logged));
            pilot.ask_log();
        }
    }

    /// Goes so many ships on in the fleet.
    pub(crate) fn select_mate(&mut self, pilot: &Pilot, by: isize) {
        let ids: Vec<u32> = pilot.replica().own().map(|ship| ship.id).collect();
        self.mate = next(&ids, self.mate, by);
    }

    /// Goes so many contacts on in the list.
    pub(crate) fn select_next(&mut self, pilot: &Pilot, by: isize) {
        let ids: Vec<u32> = listed(pilot).iter().map(|contact| contact.id).collect();
        self.selected = next(&ids, self.selected, by);
    }
}

/// The id that is so many places on, round the list; the first when there was none.
fn next(ids: &[u32], from: Option<u32>, by: isize) -> Option<u32> {
    let at = ids.iter().position(|&id| Some(id) == from).map_or(0, |at| at.cast_signed() + by);
    (!ids.is_empty()).then(|| ids[at.rem_euclid(ids.len().cast_signed()).cast_unsigned()])
}

/// Contacts as the list shows them: by distance, and pilots before NPCs.
fn listed(pilot: &Pilot) -> Vec<&Contact> {
    let here = pilot.here().unwrap_or_default();
    let mut contacts: Vec<&Contact> = pilot.contacts().collect();
    contacts.sort_by_key(|contact| (place(contact).distance(here), contact.pilot == 0, contact.id));
    contacts
}

pub(crate) fn draw(frame: &mut Frame<'_>, pilot: &Pilot, view: &View) {
    let [body, keys] = Layout::vertical([Constraint::Min(10), Constraint::Length(1)]).areas(frame.area());
    if let Some(fitting) = &view.fitting {
        fitting::draw(frame, body, pilot, fitting);
    } else if view.panel == Panel::Keys {
        panels::keys(frame, body);
    } else {
        draw_flight(frame, body, pilot, view);
    }
    let silence = pilot.replica().silence();
    let line = match &view.prompt {
        _ if silence > SILENT => {
            let text = format!(" No word from the server for {:.0} s", silence.as_secs_f32());
            Span::styled(text, Style::new().fg(ENEMY))
        }
        Some(words) => Span::raw(format!(":{words}_   (Enter does it, Esc closes; such as: stance all support)")),
        None => match last_told(pilot, view) {
            Some(told) => Span::raw(format!(" {told}")),
            None => Span::styled(help(view), Style::new().fg(DIM)),
        },
    };
    frame.render_widget(Paragraph::new(line), keys);
}

/// What was told a moment ago, while something else stands in the log's place.
fn last_told<'a>(pilot: &'a Pilot, view: &View) -> Option<&'a str> {
    let (at, line) = pilot.log.back()?;
    let is_hidden = view.fitting.is_some() || view.panel != Panel::Log;
    (is_hidden && pilot.seconds() - at < TOLD).then_some(line.as_str())
}

fn help(view: &View) -> &'static str {
    if view.fitting.is_some() {
        " up, down choose · Tab other list · Enter fit · p repair · d dock · : words · Esc"
    } else if view.cursor.is_some() {
        " arrows, yubn pick a sector · Enter go there · Esc back"
    } else {
        " Tab a attack · h hold · q w e x powers · d dock · t fitting · ? keys · : words"
    }
}

fn draw_flight(frame: &mut Frame<'_>, area: ratatui::layout::Rect, pilot: &Pilot, view: &View) {
    let [top, bottom] = Layout::vertical([Constraint::Min(13), Constraint::Length(13)]).areas(area);
    let [map, lists] = Layout::horizontal([Constraint::Min(38), Constraint::Length(62)]).areas(top);
    let ships = pilot.replica().own().len().clamp(1, 8) as u16;
    let [contacts, fleet] = Layout::vertical([Constraint::Min(5), Constraint::Length(ships + 2)]).areas(lists);
    let [ship, log] = Layout::horizontal([Constraint::Length(40), Constraint::Min(30)]).areas(bottom);
    map::draw(frame, map, pilot, view);
    contacts::draw(frame, contacts, pilot, view);
    fleet::draw(frame, fleet, pilot, view);
    ship::draw(frame, ship, pilot);
    match view.panel {
        Panel::Log | Panel::Keys => panels::log(frame, log, pilot),
        Panel::Card => panels::card(frame, log, pilot),
        Panel::Combat => panels::combat(frame, log, pilot),
        Panel::Wormholes => panels::wormholes(frame, log, pilot),
        Panel::Journal => panels::lines(frame, log, " Journal ", news::journal_lines(pilot)),
        Panel::Cargo => panels::lines(frame, log, " Wallet and cargo ", news::cargo_lines(pilot)),
        Panel::Chart => panels::lines(frame, log, " Chart, nearest first ", news::chart_lines(pilot)),
    }
}

/// A bar: full only when full, empty only when empty.
fn bar<'a>(share: f32, width: usize, colour: Color) -> Span<'a> {
    let share = share.clamp(0.0, 1.0);
    let mut filled = (share * width as f32) as usize;
    if share > 0.0 {
        filled = filled.max(1);
    }
    Span::styled(format!("{}{}", "█".repeat(filled), "░".repeat(width - filled)), Style::new().fg(colour))
}

fn seconds(moment: u64, now: u64) -> f64 {
    moment.saturating_sub(now) as f64 / 1e6
}

#[cfg(test)]
mod tests;
