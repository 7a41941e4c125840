//! The screen against a live server, flown by keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use keel_balance::Balance;
use keel_client::{Client, Flags, Hello, Leg};
use keel_server::{Config, Report, Server};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::fly::keys::press;
use crate::sight::{Sight, place};

/// A pilot at a screen, and the server that they fly on.
struct Desk {
    pilot: Pilot,
    view: View,
    stop: Arc<AtomicBool>,
    server: Option<JoinHandle<Report>>,
}

impl Desk {
    fn new(layer: u8) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let server = std::thread::spawn(move || {
            let balance = Balance::parse("balance.ron", include_str!("../../../balance.ron")).unwrap();
            let config = Config { layer, operator_ops: true, ..Config::local(Arc::new(balance)) };
            let server = Server::start(&config).unwrap();
            tell.send(server.address()).unwrap();
            server.run(&flag)
        });
        let pilot = Pilot::new(Client::connect(told.recv().unwrap(), Hello::new("ann")).unwrap());
        let mut desk = Self { pilot, view: View::default(), stop, server: Some(server) };
        desk.until(|pilot| pilot.active().is_some() && pilot.replica().map().is_some());
        desk
    }

    fn until(&mut self, is_so: impl Fn(&Pilot) -> bool) {
        let start = Instant::now();
        while !is_so(&self.pilot) {
            self.pilot.poll().unwrap();
            self.view.keep_up(&self.pilot);
            self.view.renew_shots(&mut self.pilot);
            assert!(start.elapsed() < Duration::from_secs(20), "{}", self.screen(120, 36));
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What a screen of that size shows.
    fn screen(&self, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, &self.pilot, &self.view)).unwrap();
        let cells = terminal.backend().buffer().content.chunks(usize::from(width));
        cells.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>() + "\n").collect()
    }

    #[track_caller]
    fn shows(&self, parts: &[&str]) {
        let screen = self.screen(120, 36);
        for part in parts {
            assert!(screen.contains(part), "no `{part}` in\n{screen}");
        }
    }

    fn key(&mut self, code: KeyCode) {
        assert!(!press(&mut self.pilot, &mut self.view, KeyEvent::new(code, KeyModifiers::NONE)));
        self.view.keep_up(&self.pilot);
    }

    fn keys(&mut self, keys: &str) {
        keys.chars().for_each(|key| self.key(KeyCode::Char(key)));
    }

    /// Types at the prompt.
    fn say(&mut self, words: &str) {
        self.keys(&format!(":{words}"));
        self.key(KeyCode::Enter);
    }

    fn logged(pilot: &Pilot, text: &str) -> bool {
        pilot.log.iter().any(|(_, line)| line.contains(text))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

#[test]
fn the_screen_shows_map_contacts_own_pools_lock_bar_log_and_card() {
    let mut desk = Desk::new(1);
    desk.until(|pilot| !pilot.enemies().is_empty());
    desk.shows(&["Layer 1 · sector 0 0", " @ ", "x2", "Contacts", "> ", "1 hop", "Fleet", "@ Human Patrol"]);
    desk.shows(&["Target     none", "Lock       none", "State      none", "Brace ● Jam ● Clamp ●", "· Haven"]);
    desk.shows(&["Shield     ██████████████ 90/90", "Hull       ██████████████ 360/360", "Tab a attack"]);

    // Pick the squad's sector on the map, and go there.
    let goal = desk.pilot.enemies().first().map(|contact| place(contact)).unwrap();
    desk.key(KeyCode::Char('m'));
    desk.view.cursor = Some(goal);
    desk.shows(&["[x2]", "Enter go there"]);
    desk.key(KeyCode::Enter);
    desk.until(|pilot| pilot.active().is_some_and(|ship| ship.leg != Leg::Still));
    desk.shows(&["Course     1 to go"]);
    desk.until(|pilot| !pilot.enemies_here().is_empty());
    desk.key(KeyCode::Char('a'));
    desk.until(|pilot| {
        let now = pilot.replica().now();
        pilot.active().is_some_and(|ship| ship.target != 0 && ship.locked_at < now + 1_500_000)
    });
    desk.shows(&["@2", "» ", "Locking. 2.00 s.", "Arrived at", "Target     Sentry Patrol", "Lock       ██"]);
    desk.key(KeyCode::Char('c'));
    desk.shows(&["Volley 90.0 · cycle 1.00 s", "Hit 100 % · crit 0 %, × 1.5", "lock 2.00 s", "Brace +72 hull"]);

    // Powers, and the combat log.
    desk.key(KeyCode::Char('c'));
    desk.until(|pilot| Desk::logged(pilot, "Hit Sentry Patrol"));
    desk.until(|pilot| {
        let own = pilot.active().map(|ship| ship.id);
        pilot.enemies_here().iter().any(|contact| Some(contact.target) == own)
    });
    desk.shows(&["locks you"]);
    desk.keys("qew");
    desk.until(|pilot| Desk::logged(pilot, "Clamp. Sentry Patrol"));
    desk.shows(&["Brace. ", "Jam. Target silenced 2.7 s. Its Clamp, Brace, Sensor, and shield", "here jammed"]);
    desk.key(KeyCode::Char('x'));
    desk.until(|pilot| Desk::logged(pilot, "Refused: No Clamp holds this ship."));
    desk.key(KeyCode::Char('l'));
    desk.until(|pilot| !pilot.shots.is_empty());
    desk.shows(&["Combat log, newest first", " shield, "]);
    desk.key(KeyCode::Char('?'));
    desk.shows(&["Keys", "Brace, Clamp, Jam, Unclamp, Cloak", "Ctrl-C            leave", "H Haven"]);
    let small = desk.screen(80, 24);
    assert!(small.contains("Ctrl-C            leave") && small.contains("B berth"), "{small}");
    desk.key(KeyCode::Esc);
    let small = desk.screen(80, 24);
    assert!(small.contains("State ") && small.contains(": words"), "{small}");
    // No size of a terminal is too small to stand.
    for (width, height) in [(1, 1), (10, 4), (40, 12), (80, 24), (300, 90)] {
        desk.screen(width, height);
    }
}

#[test]
fn the_fitting_screen_fits_what_the_yard_and_the_hold_have_and_the_card_follows() {
    let mut desk = Desk::new(1);
    desk.key(KeyCode::Char('t'));
    desk.shows(&["Fitting Patrol 1, grid 80 of 80 · dock first to change it", "> well 1    Common Human gun 100/100"]);
    desk.shows(&["system 1  Common Human Brace", "Shard     -", "yard: Raider slow gun · grid 20", "Volley 90.0"]);
    desk.key(KeyCode::Enter);
    desk.until(|pilot| Desk::logged(pilot, "Refused: This ship is not docked."));
    desk.key(KeyCode::Char('d'));
    desk.until(Pilot::is_docked);
    desk.shows(&["Fitting Patrol 1, grid 80 of 80 · quality/durability "]);

    // Nothing, then every kind of gun of four makers: the second is the Raider's plain one.
    desk.key(KeyCode::Tab);
    (0..2).for_each(|_| desk.key(KeyCode::Down));
    desk.shows(&["> yard: Raider gun"]);
    desk.key(KeyCode::Enter);
    desk.until(|pilot| !pilot.replica().hold().is_empty());
    desk.until(|pilot| {
        pilot.active().and_then(|ship| pilot.replica().card(ship.id)).is_some_and(|card| card.volley > 100.0)
    });
    desk.shows(&["> well 1    Common Raider gun", "Volley 125.0 · cycle 1.15 s", "hold 1: Common Human gun"]);
    desk.key(KeyCode::Tab);
    desk.key(KeyCode::Char('p'));
    desk.until(|pilot| Desk::logged(pilot, "Refused: That module is whole."));
    desk.say("fit shard Shard Human");
    desk.until(|pilot| Desk::logged(pilot, "Refused: The fit takes 85 power grid of 80."));
    desk.say("fit system3 empty");
    desk.say("fit shard Shard Human");
    desk.until(|pilot| {
        pilot
            .active()
            .and_then(|ship| pilot.replica().card(ship.id))
            .is_some_and(|card| card.fit.iter().any(|(slot, _)| *slot == keel_client::Slot::Shard))
    });
    for (width, height) in [(1, 1), (20, 5), (80, 24), (300, 90)] {
        desk.screen(width, height);
    }

    // A second ship, flown beside it as an escort.
    desk.key(KeyCode::Esc);
    desk.say("commission Frigate Anchor");
    desk.until(|pilot| pilot.replica().own().len() == 2);
    desk.shows(&["Human Frigate", "L1 docked defensive F J unarmed"]);
    desk.keys("]s");
    desk.until(|pilot| pilot.replica().own().any(|ship| ship.mind.stance == keel_client::Stance::Support));
    desk.keys("v");
    desk.until(|pilot| pilot.active().is_some_and(|ship| ship.class == 1));
    desk.say("stance @9 passive");
    desk.shows(&["Refused: your fleet has 2 ships"]);
    desk.say("sail away");
    desk.shows(&["no order begins with \"sail\""]);
    desk.keys("d");
    desk.until(|pilot| pilot.active().is_some_and(|ship| !ship.flags.has(Flags::DOCKED)));
    // Up a layer, in transit, and back by Esc.
    desk.keys(">");
    desk.until(|pilot| Desk::logged(pilot, "Travel up to Layer 2. 5 s. You cannot lock or fire."));
    desk.until(|pilot| pilot.active().is_some_and(|ship| matches!(ship.leg, Leg::Transit { .. })));
    desk.shows(&["Transit    there in "]);
    desk.key(KeyCode::Esc);
    desk.until(|pilot| pilot.active().is_some_and(|ship| ship.leg == Leg::Still));
    desk.keys(">");
    desk.until(|pilot| Desk::logged(pilot, "A jump was cancelled. The next one can begin in 1"));
}

#[test]
fn a_whole_rift_is_drawn_and_what_was_not_seen_is_not_known() {
    let mut desk = Desk::new(1);
    desk.until(|pilot| pilot.replica().chart(1).is_some_and(|chart| chart.len() >= 5));
    desk.shows(&["Layer 1 · sector 0 0 · Haven · charted ", "?"]);
    desk.say("force wormhole rift-6");
    desk.until(|pilot| pilot.wormholes_here().len() == 1);
    desk.keys("i");
    desk.shows(&[
        "leads to Rift 6, 0 min old",
        "Deadly danger: Rift 6, twice the NPCs of Layer 6",
        "Pilots inside: 0.",
    ]);
    desk.keys("J");
    desk.until(|pilot| pilot.active().is_some_and(|ship| ship.map == 16));
    desk.until(|pilot| pilot.replica().map().is_some() && pilot.replica().chart(16).is_some());
    let sectors = desk.pilot.replica().map().unwrap().sectors.len();
    assert!((302..=450).contains(&sectors), "{sectors}");
    let charted = desk.pilot.replica().chart(16).unwrap().len();
    assert!(charted <= 7, "{charted}");
    // On a screen that has room for all of it: every sector that was not seen is a question.
    let screen = desk.screen(300, 90);
    let map: Vec<&str> = screen.lines().take(76).collect();
    let unseen: usize = map.iter().map(|line| line.split('┐').next().unwrap_or(line).matches('?').count()).sum();
    assert_eq!(unseen, sectors - charted, "\n{screen}");

    // A storm: the screen shows the new map, and the chart begins again.
    desk.say("force storm rift-6");
    desk.until(|pilot| Desk::logged(pilot, "Rift 6 has settled into "));
    desk.until(|pilot| {
        let map = pilot.replica().map().map_or(&[][..], |map| &map.sectors);
        let charted = pilot.replica().chart(16).map_or(0, std::collections::BTreeMap::len);
        map.len() != sectors && (1..=7).contains(&charted)
    });
    desk.keys("N");
    desk.shows(&["Journal", ": storm in ", " UTC"]);
    desk.say("force incursion rift-6");
    desk.until(|pilot| !pilot.replica().journal().incursions.is_empty());
    desk.shows(&[" incursion on Rift 6 around ", "wave "]);
    desk.keys("C");
    desk.shows(&["Chart, nearest first", "Rift 6 is charted to "]);
    desk.keys("G");
    desk.shows(&["Wallet and cargo", "Salt 0.00 · Notches 0", "Ore 0 · gas 0 · material 0"]);
    desk.keys("T");
    desk.until(|pilot| Desk::logged(pilot, "Refused: no wreck is in your sector"));
    for (width, height) in [(1, 1), (40, 12), (80, 24), (300, 90)] {
        desk.screen(width, height);
    }
}
