//! Who may fire on whom (rule 10): duels by consent, and charters.

use bevy_ecs::change_detection::DetectChanges;
use keel_balance::{Faction, System};
use keel_rules::fire::Forbidden;
use keel_sim::{Bonds, CharterId, Clamping, Condition, Done, Mind, Op, PilotId, Refusal, ShipId};
use keel_testkit::{Game, Setup};

/// Two pilots with a Patrol each on a layer.
fn pair(layer: u8) -> (Game, [PilotId; 2], [ShipId; 2]) {
    let mut game = Game::new(Setup { layer, ..Setup::default() });
    let fit = game.common(0, Faction::Human);
    let ((one, mine), (two, theirs)) = (game.pilot_in(fit), game.pilot_in(fit));
    (game, [one, two], [mine, theirs])
}

fn charter_of(game: &mut Game, head: PilotId, name: &str, members: &[PilotId]) -> CharterId {
    let Ok(Done::Founded(id)) = game.op(head, Op::Found { name: name.to_owned() }) else { panic!("{name}") };
    for &member in members {
        game.op(head, Op::Invite(member)).unwrap();
        game.op(member, Op::Join(id)).unwrap();
    }
    id
}

#[test]
fn rule_10_layer_1_has_no_player_fire_whatever_was_agreed() {
    let (mut game, [one, two], [mine, theirs]) = pair(1);
    game.op(one, Op::AskDuel(two)).unwrap();
    game.op(two, Op::AcceptDuel(one)).unwrap();
    let attack = Op::Attack { ship: mine, target: theirs };
    game.refuses(one, attack, "No pilot may fire on a pilot on this layer.");
}

#[test]
fn rule_10_on_layer_2_a_duel_is_asked_accepted_fought_and_ended() {
    let (mut game, [one, two], [mine, theirs]) = pair(2);
    let attack = || Op::Focus { ship: mine, target: theirs };
    let no = "On this layer pilots fire on pilots only in a duel, or when their charters are hostile.";
    game.refuses(one, attack(), no);
    assert_eq!(game.op(one, Op::AskDuel(two)), Ok(Done::DuelAsked));
    game.says(two, "pilot 1 challenges you to a duel. The challenge stands 30 s.");
    game.refuses(one, attack(), no);
    game.refuses(one, Op::AskDuel(two), "You have challenged that pilot already.");
    game.refuses(one, Op::AcceptDuel(two), "That pilot has not challenged you.");
    assert_eq!(game.op(two, Op::AcceptDuel(one)), Ok(Done::DuelOn));
    for (pilot, other) in [(one, "pilot 2"), (two, "pilot 1")] {
        game.says(pilot, &format!("Your duel with {other} is on, for 600 s."));
    }
    game.refuses(one, Op::AskDuel(two), "You are in a duel with that pilot already.");
    assert!(game.op(one, attack()).is_ok());
    assert!(game.op(two, Op::Focus { ship: theirs, target: mine }).is_ok());
    let held = game.entity(theirs);
    game.set(mine, Clamping(held));
    // Its end drops the locks and the Clamps, in the same step.
    assert_eq!(game.op(two, Op::EndDuel(one)), Ok(Done::DuelOver));
    for (pilot, other) in [(one, "pilot 2"), (two, "pilot 1")] {
        game.says(pilot, &format!("Your duel with {other} is over."));
    }
    assert_eq!([mine, theirs].map(|ship| game.target(ship)), [None, None]);
    assert!(game.find::<Clamping>(mine).is_none());
    game.refuses(one, Op::EndDuel(two), "There is no duel with that pilot.");
}

#[test]
fn rule_10_a_challenge_and_a_duel_end_by_themselves() {
    let (mut game, [one, two], [mine, theirs]) = pair(2);
    game.op(one, Op::AskDuel(two)).unwrap();
    game.step(599);
    game.says(one, "pilot 2 has not accepted your duel.");
    game.refuses(two, Op::AcceptDuel(one), "That pilot has not challenged you.");
    // One that is asked for by both is on.
    game.op(two, Op::AskDuel(one)).unwrap();
    assert_eq!(game.op(one, Op::AskDuel(two)), Ok(Done::DuelOn));
    game.op(one, Op::Focus { ship: mine, target: theirs }).unwrap();
    for ship in [mine, theirs] {
        game.change::<Condition>(ship, |condition| condition.0.hull = 1e9);
    }
    game.step(11_998);
    game.says(one, "Your duel with pilot 2 is over.");
    assert_eq!(game.target(mine), Some(theirs));
    game.step(1);
    assert_eq!(game.target(mine), None, "600 s are 12,000 steps");
}

#[test]
fn rule_10_a_challenge_is_declined_or_taken_back() {
    let (mut game, [one, two], _) = pair(2);
    game.op(one, Op::AskDuel(two)).unwrap();
    assert_eq!(game.op(two, Op::EndDuel(one)), Ok(Done::DuelOver));
    game.says(one, "pilot 2 has not accepted your duel.");
    game.op(one, Op::AskDuel(two)).unwrap();
    assert_eq!(game.op(one, Op::EndDuel(two)), Ok(Done::DuelOver));
    game.refuses(two, Op::AcceptDuel(one), "That pilot has not challenged you.");
    game.refuses(one, Op::AskDuel(one), "That is you.");
    game.refuses(one, Op::AskDuel(PilotId(99)), "There is no such pilot.");
    game.leave(two);
    game.refuses(one, Op::AskDuel(two), "That pilot is not here.");
}

#[test]
fn rule_10_hostile_charters_fire_on_layer_2_and_mates_nowhere_but_in_a_duel() {
    let mut game = Game::new(Setup { layer: 2, ..Setup::default() });
    let fit = game.common(0, Faction::Human);
    let pilots = [0; 4].map(|_| game.pilot_in(fit));
    let [(a, a_ship), (b, b_ship), (c, c_ship), (d, _)] = pilots;
    let ours = charter_of(&mut game, a, "Ours", &[b]);
    let theirs = charter_of(&mut game, c, "Theirs", &[d]);
    let focus = |ship, target| Op::Focus { ship, target };
    let no = "On this layer pilots fire on pilots only in a duel, or when their charters are hostile.";
    game.refuses(a, focus(a_ship, c_ship), no);
    assert_eq!(game.op(a, Op::Hostile { charter: theirs, hostile: true }), Ok(Done::Set));
    for pilot in [a, b] {
        game.says(pilot, "Hostile now: charter 2, Theirs, and yours.");
    }
    for pilot in [c, d] {
        game.says(pilot, "Hostile now: charter 1, Ours, and yours.");
    }
    // Whoever declared it, both may fire.
    assert!(game.op(a, focus(a_ship, c_ship)).is_ok());
    assert!(game.op(c, focus(c_ship, b_ship)).is_ok());
    game.refuses(a, focus(a_ship, b_ship), "That is a charter mate's ship.");
    game.op(a, Op::AskDuel(b)).unwrap();
    game.op(b, Op::AcceptDuel(a)).unwrap();
    assert!(game.op(a, focus(a_ship, b_ship)).is_ok());
    // Peace drops the locks that it forbids.
    game.op(a, Op::Hostile { charter: theirs, hostile: false }).unwrap();
    assert_eq!((game.target(a_ship), game.target(c_ship)), (Some(b_ship), None));
    assert!(!game.app.world().resource::<Bonds>().are_hostile(ours, theirs));
}

#[test]
fn rule_10_mates_are_not_fired_on_where_fire_is_open() {
    let (mut game, [one, two], [mine, theirs]) = pair(3);
    game.op(one, Op::Focus { ship: mine, target: theirs }).unwrap();
    charter_of(&mut game, one, "Keel", &[two]);
    assert_eq!(game.target(mine), None, "joining drops the lock");
    let forbidden = Refusal::Forbidden(Forbidden::Mate);
    assert_eq!(game.op(one, Op::Focus { ship: mine, target: theirs }), Err(forbidden));
}

#[test]
fn rule_10_charters_are_founded_joined_led_and_left() {
    let mut game = Game::default();
    let pilots = [0; 3].map(|_| game.pilot());
    let [a, b, c] = pilots;
    for (name, text) in [
        ("", "A name has 1 to 20 characters."),
        ("a-name-of-twenty-one-c", "A name has 1 to 20 characters."),
        ("two words", "A name is made of letters, digits, - and _."),
        ("\u{202e}leek", "A name is made of letters, digits, - and _."),
        ("K\u{1b}[31mel", "A name is made of letters, digits, - and _."),
        ("К\u{435}el", "A name is written in one script."),
    ] {
        game.refuses(a, Op::Found { name: name.to_owned() }, text);
    }
    let keel = charter_of(&mut game, a, "Keel", &[]);
    game.refuses(a, Op::Found { name: "Other".into() }, "You are in a charter already.");
    for alike in ["KEEL", "KeeI"] {
        let text = "Another charter has that name, or one that looks the same.";
        game.refuses(b, Op::Found { name: alike.into() }, text);
    }
    game.refuses(b, Op::Join(keel), "That charter has not invited you.");
    game.refuses(b, Op::Join(CharterId(9)), "There is no such charter.");
    game.refuses(b, Op::Invite(c), "You are in no charter.");
    game.refuses(b, Op::Leave, "You are in no charter.");
    game.op(a, Op::Invite(b)).unwrap();
    game.says(b, "Invited into charter 1, Keel, which stands 600 s.");
    assert_eq!(game.op(b, Op::Join(keel)), Ok(Done::Joined(keel)));
    game.says(a, "pilot 2 has joined your charter.");
    game.refuses(b, Op::Invite(c), "Only your charter's head does that.");
    game.refuses(b, Op::Hostile { charter: keel, hostile: true }, "Only your charter's head does that.");
    game.refuses(a, Op::Hostile { charter: keel, hostile: true }, "That is your own charter.");
    game.refuses(a, Op::Hostile { charter: CharterId(9), hostile: true }, "There is no such charter.");
    game.refuses(a, Op::Invite(b), "That pilot is in a charter.");
    // The head goes: who has been in it longest leads it.
    assert_eq!(game.op(a, Op::Leave), Ok(Done::Left));
    game.says(b, "pilot 1 has left your charter.");
    game.says(b, "You are the head of your charter.");
    game.op(b, Op::Invite(c)).unwrap();
    // An invitation stands 600 s.
    game.step(11_999);
    game.refuses(c, Op::Join(keel), "That charter has not invited you.");
    game.op(b, Op::Leave).unwrap();
    assert_eq!(game.app.world().resource::<Bonds>().charters().len(), 0);
    assert!(game.op(c, Op::Found { name: "keel".into() }).is_ok(), "the name is free again");
}

#[test]
fn rule_8_a_mender_repairs_charter_mates() {
    let mut game = Game::default();
    let (one, mender) = game.pilot_in(game.common(2, Faction::Human).with(System::Mender, Faction::Human));
    let (two, mate) = game.pilot_in(game.common(2, Faction::Human));
    game.change::<Condition>(mate, |condition| condition.0.hull = 100.0);
    game.step(5);
    assert_eq!(game.get::<Condition>(mate).0.hull, 100.0);
    charter_of(&mut game, one, "Keel", &[two]);
    game.step(3);
    assert_eq!(game.get::<Condition>(mate).0.hull, 150.0);
    let _ = (mender, game.get::<Mind>(mate));
}

#[test]
fn rule_10_escorts_look_about_when_another_makes_a_pilot_fair_game() {
    // Each way in which somebody else's op lets the first pilot's Aggressive escort fire on a KOS pilot beside it.
    let ways: [&dyn Fn(&mut Game, PilotId, PilotId); 2] = [
        &|game, one, two| {
            game.op(one, Op::AskDuel(two)).unwrap();
            game.step(100);
            game.op(two, Op::AcceptDuel(one)).unwrap();
        },
        &|game, one, two| {
            let ours = charter_of(game, one, "Ours", &[]);
            charter_of(game, two, "Theirs", &[]);
            game.step(100);
            game.op(two, Op::Hostile { charter: ours, hostile: true }).unwrap();
        },
    ];
    for (way, happens) in ways.iter().enumerate() {
        let (mut game, [one, two], [_, theirs]) = pair(2);
        let escort = game.ship(one, game.common(0, Faction::Human));
        game.op(one, Op::Stance { ship: escort, stance: keel_sim::Stance::Aggressive }).unwrap();
        game.op(one, Op::Kos { pilot: two, marked: true }).unwrap();
        game.step(100);
        assert_eq!(game.target(escort), None);
        happens(&mut game, one, two);
        game.step(2);
        assert_eq!(game.target(escort), Some(theirs), "way {way}");
    }
}

#[test]
fn a_refused_or_empty_word_between_pilots_is_no_change() {
    let (mut game, [one, two], _) = pair(2);
    let ours = charter_of(&mut game, one, "Ours", &[]);
    let theirs = charter_of(&mut game, two, "Theirs", &[]);
    game.op(one, Op::Hostile { charter: theirs, hostile: true }).unwrap();
    game.step(1);
    let told = |game: &Game| [one, two].map(|pilot| game.log(pilot).len());
    let before = told(&game);
    for op in [
        Op::EndDuel(two),
        Op::AcceptDuel(two),
        Op::Join(theirs),
        Op::Hostile { charter: theirs, hostile: true },
        Op::Hostile { charter: ours, hostile: false },
    ] {
        let changed = game.app.world().resource_ref::<Bonds>().last_changed();
        let _ = game.op(one, op.clone());
        assert_eq!(game.app.world().resource_ref::<Bonds>().last_changed(), changed, "{op:?}");
    }
    assert_eq!(told(&game), before);
}
