//! The pilot's screen. It draws what the server has shown and decides nothing.

use keel_client::{Card, Contact, Leg, OwnShip, Replica};
use keel_map::Hex;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::pilot::{Pilot, place};

const GOLD: Color = Color::Rgb(255, 200, 60);
const SHIELD: Color = Color::Rgb(90, 170, 255);
const HULL: Color = Color::Rgb(120, 220, 120);
const BATTERY: Color = Color::Rgb(230, 210, 110);
const ENEMY: Color = Color::Rgb(255, 110, 100);
const DIM: Color = Color::DarkGray;

/// Columns of a sector on the map. Odd rows stand half of it to the right.
const CELL: i32 = 4;

/// What the pilot looks at.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// The contact that attack and focus mean.
    pub(crate) selected: Option<u32>,
    /// The sector that is being picked.
    pub(crate) cursor: Option<Hex>,
    /// Whether the card is shown in place of the log.
    pub(crate) card: bool,
}

impl View {
    /// Selects another contact when the one that was is gone.
    pub(crate) fn keep_up(&mut self, pilot: &Pilot) {
        if self.selected.is_none_or(|id| pilot.replica().contact(id).is_none()) {
            self.selected = pilot.enemies().first().map(|contact| contact.id);
        }
    }

    /// Goes so many contacts on in the list.
    pub(crate) fn select_next(&mut self, pilot: &Pilot, by: isize) {
        let ids: Vec<u32> = listed(pilot).iter().map(|contact| contact.id).collect();
        let at = ids.iter().position(|&id| Some(id) == self.selected).map_or(0, |at| at.cast_signed() + by);
        if !ids.is_empty() {
            self.selected = Some(ids[at.rem_euclid(ids.len().cast_signed()).cast_unsigned()]);
        }
    }
}

/// Contacts as the list shows them: NPCs by distance, then pilots.
fn listed(pilot: &Pilot) -> Vec<&Contact> {
    let mut contacts = pilot.enemies();
    contacts.extend(pilot.replica().contacts().filter(|contact| contact.pilot != 0));
    contacts
}

pub(crate) fn draw(frame: &mut Frame<'_>, pilot: &Pilot, view: &View) {
    let [top, bottom, keys] =
        Layout::vertical([Constraint::Min(13), Constraint::Length(12), Constraint::Length(1)]).areas(frame.area());
    let [map, contacts] = Layout::horizontal([Constraint::Min(38), Constraint::Length(44)]).areas(top);
    let [ship, log] = Layout::horizontal([Constraint::Length(38), Constraint::Min(30)]).areas(bottom);
    draw_map(frame, map, pilot, view);
    draw_contacts(frame, contacts, pilot, view);
    draw_ship(frame, ship, pilot);
    match pilot.active().and_then(|ship| pilot.replica().card(ship.id)).filter(|_| view.card) {
        Some(card) => draw_card(frame, log, card),
        None => draw_log(frame, log, pilot),
    }
    let help = if view.cursor.is_some() {
        " arrows, yubn pick a sector · Enter go there · Esc back"
    } else {
        " Tab contact · a attack · f focus · h hold · arrows, yubn hop · m pick a sector · Esc cancel · c card · Ctrl-C leave"
    };
    frame.render_widget(Paragraph::new(help).style(Style::new().fg(DIM)), keys);
}

fn draw_map(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot, view: &View) {
    let here = pilot.here().unwrap_or_default();
    let layer = pilot.replica().welcome().map_or(0, |welcome| welcome.layer);
    let block = Block::bordered().title(format!(" Layer {layer} · sector {here} "));
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
            if x < 0 || x + CELL > i32::from(inner.width) || !pilot.has_sector(hex) {
                continue;
            }
            let (text, style) = sector(pilot, view, hex, here, &course);
            let cell = Rect::new(inner.x + x as u16, inner.y + row as u16, CELL as u16, 1);
            frame.render_widget(Paragraph::new(text).style(style), cell);
        }
    }
}

/// A sector in [`CELL`] columns.
fn sector(pilot: &Pilot, view: &View, hex: Hex, here: Hex, course: &[Hex]) -> (String, Style) {
    let contacts = || pilot.replica().contacts().filter(move |contact| place(contact) == hex);
    let npcs = contacts().filter(|contact| contact.pilot == 0).count();
    let pilots = contacts().count() - npcs;
    let (mark, style) = if hex == here {
        (if npcs > 0 { format!("@{npcs}") } else { "@".to_owned() }, Style::new().fg(GOLD).add_modifier(Modifier::BOLD))
    } else if npcs > 0 {
        (format!("x{npcs}"), Style::new().fg(ENEMY))
    } else if pilots > 0 {
        (format!("o{pilots}"), Style::new().fg(SHIELD))
    } else if course.contains(&hex) {
        ("*".to_owned(), Style::new().fg(GOLD))
    } else if hex.distance(here) <= 1 {
        (".".to_owned(), Style::new())
    } else {
        (".".to_owned(), Style::new().fg(DIM))
    };
    if view.cursor == Some(hex) {
        (format!("[{mark}]"), style.add_modifier(Modifier::REVERSED))
    } else {
        (format!(" {mark}"), style)
    }
}

fn draw_contacts(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot, view: &View) {
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
        .map(|contact| contact_line(pilot.replica(), contact, here, Some(contact.id) == view.selected, target))
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn contact_line<'a>(replica: &Replica, contact: &Contact, here: Hex, selected: bool, target: u32) -> Line<'a> {
    let hops = place(contact).distance(here);
    let colour = if contact.pilot == 0 { ENEMY } else { SHIELD };
    let mark = match (contact.id == target, selected) {
        (true, _) => "»",
        (false, true) => ">",
        (false, false) => " ",
    };
    let state = if contact.arriving { "arriving".to_owned() } else { format!("{hops} hop") };
    let name = format!("{mark} {:<20}", replica.name(contact));
    let style = Style::new().fg(colour);
    Line::from(vec![
        Span::styled(name, if selected { style.add_modifier(Modifier::REVERSED) } else { style }),
        Span::raw(" "),
        bar(f32::from(contact.shield) / 255.0, 5, SHIELD),
        Span::raw(" "),
        bar(f32::from(contact.hull) / 255.0, 6, HULL),
        Span::styled(format!(" {state}"), Style::new().fg(DIM)),
    ])
}

fn draw_ship(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot) {
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
    let lines = vec![
        pool("Shield", ship.shield, full(|card| card.shield), SHIELD),
        pool("Hull", ship.hull, full(|card| card.hull), HULL),
        pool("Battery", ship.battery, full(|card| card.battery), BATTERY),
        Line::from(format!(
            "Target     {}",
            replica.contact(ship.target).map_or("none".to_owned(), |contact| replica.name(contact))
        )),
        lock_line(ship, now),
        cycle_line(ship, card, now),
        course_line(ship, now),
        Line::from(if ship.arrival > now {
            format!("Arriving   {:.1} s: cannot be locked", seconds(ship.arrival, now))
        } else {
            String::new()
        }),
    ];
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
        Leg::Hop { ends } => format!("Course     {hops} to go, there in {:.1} s", seconds(ends, now)),
    })
}

fn draw_log(frame: &mut Frame<'_>, area: Rect, pilot: &Pilot) {
    let block = Block::bordered().title(" Log ");
    let rows = usize::from(block.inner(area).height);
    let skip = pilot.log.len().saturating_sub(rows);
    let lines: Vec<Line<'_>> = pilot
        .log
        .iter()
        .skip(skip)
        .map(|(seconds, line)| {
            Line::from(vec![Span::styled(format!("{seconds:8.2} "), Style::new().fg(DIM)), Span::raw(line.clone())])
        })
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn draw_card(frame: &mut Frame<'_>, area: Rect, card: &Card) {
    let s = |micros: u32| f64::from(micros) / 1e6;
    let resists = |name: &str, resists: Option<keel_client::Resists>| match resists {
        Some(r) => format!("{name} resist: Plasma {:.0} %, Impact {:.0} %, Phase {:.0} %", r.plasma, r.impact, r.phase),
        None => format!("{name}: none fitted"),
    };
    let lines = [
        format!("Volley {:.1} · cycle {:.2} s · battery a shot {:.1}", card.volley, s(card.cycle), card.cost),
        format!("Sustained {:.1}/s · battery-limited {:.1}/s", card.sustained, card.battery_limited),
        format!("Hit {:.0} % · crit {:.0} %, × {:.1}", card.hit, card.crit, card.crit_damage),
        format!("Evasion {:.0} % · tracking {:.2}", card.evasion, card.tracking),
        format!("Shield {:.0} · hull {:.0} · battery {:.0}", card.shield, card.hull, card.battery),
        resists("Shield", card.shield_resist),
        resists("Armor", Some(card.armor_resist)),
        format!("Move {:.2} s after {:.1} s · lock {:.2} s", s(card.hop), s(card.window), s(card.lock)),
        format!("Power grid {:.0} of {:.0}", card.grid.0, card.grid.1),
    ];
    let lines: Vec<Line<'_>> = lines.into_iter().map(Line::from).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(" Card ")), area);
}

fn pool<'a>(name: &str, holds: f32, full: f32, colour: Color) -> Line<'a> {
    let share = if full > 0.0 { holds / full } else { 0.0 };
    Line::from(vec![
        Span::raw(format!("{name:<11}")),
        bar(share, 14, colour),
        Span::raw(format!(" {:.0}/{full:.0}", holds.ceil())),
    ])
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
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use keel_balance::Balance;
    use keel_client::{Client, Hello};
    use keel_server::{Config, Server};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    /// What a screen of that size shows.
    fn screen(pilot: &Pilot, view: &View, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, pilot, view)).unwrap();
        let cells = terminal.backend().buffer().content.chunks(usize::from(width));
        cells.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>() + "\n").collect()
    }

    #[track_caller]
    fn shows(screen: &str, parts: &[&str]) {
        for part in parts {
            assert!(screen.contains(part), "no `{part}` in\n{screen}");
        }
    }

    #[test]
    fn the_screen_shows_map_contacts_own_pools_lock_bar_log_and_card() {
        let (tell, told) = std::sync::mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let server = std::thread::spawn(move || {
            let balance = Balance::parse("balance.ron", include_str!("../../balance.ron")).unwrap();
            let bind = "127.0.0.1:0".parse().unwrap();
            let balance = Arc::new(balance);
            let config = Config { bind, unsecured: false, balance, layer: 1, seed: 1, max_clients: 4, threads: 1 };
            let server = Server::start(&config).unwrap();
            tell.send(server.address()).unwrap();
            server.run(&flag)
        });
        let mut pilot = Pilot::new(Client::connect(told.recv().unwrap(), Hello::new("ann")).unwrap());
        let mut view = View::default();
        let until = |pilot: &mut Pilot, view: &mut View, is_so: &dyn Fn(&Pilot) -> bool| {
            let start = Instant::now();
            while !is_so(pilot) {
                pilot.poll().unwrap();
                view.keep_up(pilot);
                assert!(start.elapsed() < Duration::from_secs(20), "{}", screen(pilot, view, 120, 36));
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        until(&mut pilot, &mut view, &|pilot| !pilot.enemies().is_empty() && pilot.active().is_some());
        let first = screen(&pilot, &view, 120, 36);
        shows(
            &first,
            &[
                "Layer 1 · sector 0 0",
                " @ ",
                "x2",
                "Contacts",
                "> ",
                "1 hop",
                "Target     none",
                "Lock       none",
                "Course     none",
            ],
        );
        shows(&first, &["Shield     ██████████████ 90/90", "Hull       ██████████████ 360/360", "Tab contact"]);

        // Pick the squad's sector on the map, and go there.
        let goal = pilot.enemies().first().map(|contact| place(contact)).unwrap();
        view.cursor = Some(goal);
        shows(&screen(&pilot, &view, 120, 36), &["[x2]", "Enter go there"]);
        view.cursor = None;
        pilot.go_to(goal);
        until(&mut pilot, &mut view, &|pilot| pilot.active().is_some_and(|ship| ship.leg != Leg::Still));
        shows(&screen(&pilot, &view, 120, 36), &["Course     1 to go"]);
        until(&mut pilot, &mut view, &|pilot| !pilot.enemies_here().is_empty());
        pilot.attack(view.selected.unwrap());
        until(&mut pilot, &mut view, &|pilot| {
            let now = pilot.replica().now();
            pilot.active().is_some_and(|ship| ship.target != 0 && ship.locked_at < now + 1_500_000)
        });
        let fight = screen(&pilot, &view, 120, 36);
        shows(&fight, &["@2", "» ", "Locking. 2.00 s.", "Arrived at"]);
        shows(&fight, &["Target     Breaker Patrol", "Lock       ██"]);
        view.card = true;
        shows(
            &screen(&pilot, &view, 120, 36),
            &["Volley 90.0 · cycle 1.00 s", "Hit 100 % · crit 0 %, × 1.5", "lock 2.00 s"],
        );
        // No size of a terminal is too small to stand.
        for (width, height) in [(1, 1), (10, 4), (40, 12), (80, 24), (300, 90)] {
            screen(&pilot, &view, width, height);
        }
        stop.store(true, Ordering::Relaxed);
        server.join().unwrap();
    }
}
