//! The fitting screen: slots, what can go into the chosen one, and the card that comes of it.

use keel_client::{Card, Command, Kind, Module, Part, Replica, Slot};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::{DIM, GOLD, Pilot, panels};
use crate::fly::report::{card_lines, module_marks, slot_name};
use crate::sight::Sight;

/// What is chosen on the fitting screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fitting {
    slot: usize,
    part: Part,
    /// Whether up and down choose among modules, or among slots.
    modules: bool,
}

/// The slots of a hull, in the order of the list.
fn slots(card: &Card) -> Vec<Slot> {
    let wells = (0..card.wells).map(Slot::Well);
    let systems = (0..card.systems).map(Slot::System);
    wells.chain([Slot::Armor, Slot::Shield, Slot::Shard]).chain(systems).collect()
}

fn fitted(card: &Card, slot: Slot) -> Option<&Module> {
    card.fit.iter().find(|(place, _)| *place == slot).map(|(_, module)| module)
}

/// What can go into a slot: nothing, what the hold has for it, what the yard has for it.
fn options(replica: &Replica, slot: Slot) -> Vec<(Part, String)> {
    let Some(welcome) = replica.welcome() else { return Vec::new() };
    let is_like = |home: Slot| std::mem::discriminant(&home) == std::mem::discriminant(&slot);
    let goes = |kind: u8| welcome.kinds.get(usize::from(kind)).is_some_and(|kind| is_like(kind.slot));
    let hold = replica.hold().iter().filter(|(_, module)| goes(module.kind));
    let hold = hold.map(|(id, module)| (Part::Hold(*id), format!("hold {id}: {}", module_marks(replica, module))));
    let kinds = (0..).zip(&welcome.kinds).filter(|(_, kind)| is_like(kind.slot));
    let yard = kinds.flat_map(|(kind, Kind { name, grid, .. })| {
        welcome.yard.iter().map(move |&faction| {
            let maker = replica.word(|welcome| &welcome.factions, faction);
            (Part::Yard { kind, faction }, format!("yard: {maker} {name} · grid {grid:.0}"))
        })
    });
    [(Part::Empty, "nothing".to_owned())].into_iter().chain(hold).chain(yard).collect()
}

impl Default for Fitting {
    fn default() -> Self {
        Self { slot: 0, part: Part::Empty, modules: false }
    }
}

impl Fitting {
    /// Keeps to what there is.
    pub(super) fn keep_up(&mut self, pilot: &Pilot) {
        let Some(card) = card(pilot) else { return };
        let slots = slots(card);
        self.slot = self.slot.min(slots.len() - 1);
        if options(pilot.replica(), slots[self.slot]).iter().all(|(part, _)| *part != self.part) {
            self.part = Part::Empty;
        }
    }

    /// Chooses the next, or the one before.
    pub(crate) fn choose(&mut self, pilot: &Pilot, by: isize) {
        if self.modules {
            let options = self.slot_of(pilot).map(|slot| options(pilot.replica(), slot)).unwrap_or_default();
            let at = options.iter().position(|(part, _)| *part == self.part).unwrap_or(0).saturating_add_signed(by);
            self.part = options.get(at).map_or(self.part, |(part, _)| *part);
        } else {
            self.slot = self.slot.saturating_add_signed(by);
        }
        self.keep_up(pilot);
    }

    /// Changes between slots and modules.
    pub(crate) const fn turn(&mut self) {
        self.modules = !self.modules;
    }

    /// Puts the chosen module into the chosen slot.
    pub(crate) fn fit(&self, pilot: &mut Pilot) {
        if let Some(slot) = self.slot_of(pilot) {
            let part = self.part;
            pilot.order(|ship| Command::Fit { ship, slot, part });
        }
    }

    /// Repairs what is in the chosen slot.
    pub(crate) fn repair(&self, pilot: &mut Pilot) {
        if let Some(slot) = self.slot_of(pilot) {
            pilot.order(|ship| Command::Repair { ship, slot });
        }
    }

    fn slot_of(&self, pilot: &Pilot) -> Option<Slot> {
        slots(card(pilot)?).get(self.slot).copied()
    }
}

fn card(pilot: &Pilot) -> Option<&Card> {
    pilot.active().and_then(|ship| pilot.replica().card(ship.id))
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot, fitting: &Fitting) {
    let Some(card) = card(pilot) else {
        return panels::list(frame, area, " Fitting ", ["You have no ship at the moment.".to_owned()].into_iter());
    };
    let replica = pilot.replica();
    let [top, log] = Layout::vertical([Constraint::Min(12), Constraint::Length(6)]).areas(area);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(top);
    let slots = slots(card);
    let [above, below] = Layout::vertical([Constraint::Length(slots.len() as u16 + 2), Constraint::Min(4)]).areas(left);
    let rows = slots.iter().map(|&slot| {
        let fitted = fitted(card, slot).map_or("-".to_owned(), |module| module_marks(replica, module));
        format!("{:<9} {fitted}", slot_name(slot))
    });
    let first = if pilot.is_docked() { "quality/durability" } else { "dock first to change it" };
    let class = replica.word(|welcome| &welcome.classes, card.class);
    let title = format!(" Fitting {class} {}, grid {:.0} of {:.0} · {first} ", card.ship, card.grid.0, card.grid.1);
    choice(frame, above, &title, rows.collect(), fitting.slot, !fitting.modules);
    let (parts, rows): (Vec<_>, _) = options(replica, slots[fitting.slot.min(slots.len() - 1)]).into_iter().unzip();
    let chosen = parts.iter().position(|part| *part == fitting.part).unwrap_or(0);
    choice(frame, below, " Modules for the slot ", rows, chosen, fitting.modules);
    panels::list(frame, right, " Card ", card_lines(replica, card).into_iter());
    panels::log(frame, log, pilot);
}

/// A list of which one is chosen, and always in sight.
fn choice(frame: &mut Frame<'_>, area: Rect, title: &str, rows: Vec<String>, chosen: usize, lit: bool) {
    let block = Block::bordered().title(title).border_style(Style::new().fg(if lit { GOLD } else { DIM }));
    let height = usize::from(block.inner(area).height);
    let skip = chosen.saturating_sub(height.saturating_sub(1));
    let lines: Vec<Line<'_>> = (0..)
        .zip(rows)
        .skip(skip)
        .take(height)
        .map(|(place, row)| {
            let mark = if place == chosen { "> " } else { "  " };
            let style =
                if place == chosen && lit { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            Line::from(Span::styled(format!("{mark}{row}"), style))
        })
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
