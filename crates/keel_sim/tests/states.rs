//! Every pair of states of a ship × every op: what is allowed, what is refused, and with which words. A refusal leaves
//! the world as it would have been without the op.

use keel_balance::{Faction, System};
use keel_map::Hex;
use keel_rules::powers::Power;
use keel_rules::{ClassId, Fit, Kind, Line, Moment, Slot};
use keel_sim::{
    Arrival, CharterId, Clamping, Condition, Done, Gun, Locking, Op, Part, PilotId, Powers, Refusal, ShipId, Stance,
    StructureKind, Way,
};
use keel_testkit::{Game, Setup};

/// What can be so of a ship.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Jammed,
    Braced,
    Clamped,
    Cloaked,
    InTransit,
    Arriving,
    Docked,
    Dead,
}

use State::{Arriving, Braced, Clamped, Cloaked, Dead, Docked, InTransit, Jammed};

const STATES: [State; 8] = [Jammed, Braced, Clamped, Cloaked, InTransit, Arriving, Docked, Dead];

struct Scene {
    game: Game,
    pilot: PilotId,
    other: PilotId,
    ship: ShipId,
    escort: ShipId,
    target: ShipId,
}

/// A pilot's two ships and a target at the Haven of Layer 4, the first of them in those states.
fn scene(states: &[State]) -> Scene {
    let mut game = Game::new(Setup { layer: 4, others: true, ..Setup::default() });
    let systems = [System::Brace, System::Jam, System::Clamp, System::Cloak];
    let fit = systems.iter().fold(game.common(4, Faction::Human), |fit, &system| fit.with(system, Faction::Human));
    let pilot = game.pilot();
    let ship = game.ship(pilot, fit);
    let escort = game.ship(pilot, fit);
    let (other, target) = game.pilot_in(fit);
    let holder = game.drone(fit);
    game.op(pilot, Op::Stance { ship: escort, stance: Stance::Passive }).unwrap();
    game.op(pilot, Op::Found { name: "Keel".into() }).unwrap();
    game.op(pilot, Op::Follow { ship: escort, follows: false }).unwrap();
    // A lock that holds, so that powers have their target; nobody fires.
    for id in [ship, escort, target, holder] {
        game.change::<Gun>(id, |gun| gun.ready_at = Moment::of_step(1_000_000));
    }
    let entity = game.entity(target);
    game.set(ship, Locking(entity));
    let has = |state| states.contains(&state);
    let far = Moment::of_step(10_000);
    if has(Docked) {
        game.op(pilot, Op::Dock { ship }).unwrap();
    }
    if has(InTransit) && !has(Docked) {
        game.op(pilot, Op::Rescue { ship }).unwrap();
    }
    game.change::<Powers>(ship, |powers| {
        powers.cloaked = has(Cloaked);
        powers.jammed_until = if has(Jammed) { far } else { Moment::START };
        powers.braced_until = if has(Braced) { far } else { Moment::START };
    });
    if has(Arriving) {
        game.set(ship, Arrival { ends: far, ends_early: false });
    }
    if has(Clamped) && !has(Docked) {
        let entity = game.entity(ship);
        game.set(holder, Clamping(entity));
    }
    if has(Dead) {
        game.change::<Condition>(ship, |condition| condition.0.hull = 0.0);
        game.kill(ship);
    }
    Scene { game, pilot, other, ship, escort, target }
}

/// Every op about the ship, or of the ship that the pilot flies.
fn ops(scene: &Scene) -> Vec<(&'static str, Op)> {
    let Scene { ship, escort, target, other, .. } = *scene;
    let to = Hex::new(1, 0);
    vec![
        ("move", Op::Move { ship, to }),
        ("cancel", Op::Cancel { ship }),
        ("attack", Op::Attack { ship, target }),
        ("focus", Op::Focus { ship, target }),
        ("hold", Op::Hold { ship }),
        ("brace", Op::Power(Power::Brace)),
        ("jam", Op::Power(Power::Jam)),
        ("clamp", Op::Power(Power::Clamp)),
        ("unclamp", Op::Power(Power::Unclamp)),
        ("cloak", Op::Power(Power::Cloak)),
        ("travel", Op::Travel { ship, way: Way::Up }),
        ("rescue", Op::Rescue { ship }),
        ("jump", Op::Jump { ship, wormhole: keel_sim::WormholeId(999) }),
        ("dock", Op::Dock { ship }),
        ("undock", Op::Undock { ship }),
        ("activate", Op::Activate { ship }),
        ("stance", Op::Stance { ship, stance: Stance::Support }),
        ("protect", Op::Protect { ship, protectee: Some(escort) }),
        ("triggers", Op::Triggers { ship, brace_percent: 10, jam: false }),
        ("follow", Op::Follow { ship, follows: false }),
        ("gather", Op::Gather),
        ("kos", Op::Kos { pilot: other, marked: true }),
        ("ask duel", Op::AskDuel(other)),
        ("accept duel", Op::AcceptDuel(other)),
        ("end duel", Op::EndDuel(other)),
        ("found", Op::Found { name: "Other".into() }),
        ("invite", Op::Invite(other)),
        ("join", Op::Join(CharterId(1))),
        ("leave", Op::Leave),
        ("hostile", Op::Hostile { charter: CharterId(9), hostile: true }),
        ("build", Op::Build { ship, kind: StructureKind::Berth }),
        ("take", Op::Take { ship, wreck: keel_sim::WreckId(999) }),
        ("harvest", Op::Harvest { ship }),
        ("retreat", Op::Retreat),
        ("force", Op::Force(keel_sim::Force::Storm(keel_map::MapKey::rift(1)))),
        ("fit", Op::Fit { ship, slot: Slot::Shield, part: Part::Yard(Kind::Shield, Faction::Raider) }),
        ("repair", Op::Repair { ship, slot: Slot::Shield }),
        ("commission", Op::Commission { class: ClassId(0), line: Line::Line }),
        ("scrap", Op::Scrap { ship }),
        ("drop", Op::Drop(keel_sim::ModuleId(1))),
    ]
}

const DOCKED: &str = "This ship is docked. Undock first.";
const NOT_DOCKED: &str = "This ship is not docked.";
const GONE: &str = "You have no such ship.";
const TRANSIT: &str = "This ship is in transit. It cannot lock, fire, move or dock.";
const SILENCED: &str = "A Jam silences it.";

/// What the rules say to an op in those states: `None` when it is allowed. The first reason that stands against it is told.
fn says(op: &str, has: impl Fn(State) -> bool) -> Option<&'static str> {
    // Whatever the ship is up to, what is between pilots goes on.
    let always = match op {
        "kos" | "ask duel" | "invite" | "leave" | "retreat" => Some(None),
        "force" => Some(Some("This server takes no operator's orders from pilots.")),
        "accept duel" => Some(Some("That pilot has not challenged you.")),
        "end duel" => Some(Some("There is no duel with that pilot.")),
        "found" | "join" => Some(Some("You are in a charter already.")),
        "hostile" => Some(Some("There is no such charter.")),
        "drop" => Some(Some("Your hold has no such module.")),
        _ => None,
    };
    if let Some(always) = always {
        return always;
    }
    if has(Docked) {
        return match op {
            "dock" => Some("This ship is docked already."),
            "undock" | "travel" | "activate" | "stance" | "protect" | "triggers" | "follow" | "fit" | "commission" => {
                None
            }
            "scrap" => None,
            "repair" => Some("That module is whole."),
            _ => Some(DOCKED),
        };
    }
    // Nothing reaches a docked ship, so it is not destroyed either.
    if has(Dead) {
        // The pilot flies the escort then, which is well, and in space.
        return match op {
            "brace" | "cloak" | "gather" => None,
            "jam" | "clamp" => Some("Lock a target first."),
            "unclamp" => Some("No Clamp holds this ship."),
            "commission" => Some(NOT_DOCKED),
            _ => Some(GONE),
        };
    }
    let (transit, clamped) = (has(InTransit), has(Clamped));
    match op {
        "undock" | "fit" | "repair" | "commission" | "scrap" => Some(NOT_DOCKED),
        "move" | "travel" | "rescue" | "jump" | "dock" | "build" | "take" | "harvest" | "attack" | "focus"
            if transit =>
        {
            Some(TRANSIT)
        }
        "rescue" if has(Arriving) => Some("This ship just jumped in. It cannot jump to the centre again yet."),
        "dock" if clamped => Some("Clamped. Press Unclamp or Jam it."),
        "cancel" if !transit => Some("There is nothing to cancel."),
        "attack" | "focus" if has(Arriving) => Some("This ship just jumped in. Its guns stay quiet."),
        "brace" | "clamp" | "cloak" if has(Jammed) => Some(SILENCED),
        // A transit drops the lock, and so does a flag when the hop that brought it did; here the lock is from after it.
        "jam" | "clamp" if transit => Some("Lock a target first."),
        "unclamp" if !clamped => Some("No Clamp holds this ship."),
        "cloak" if has(Cloaked) => Some("This ship is cloaked already."),
        "jump" => Some("You know of no such wormhole in this sector."),
        "build" => Some("There is a Haven or a structure in this sector already."),
        "take" => Some("There is no such wreck in this sector."),
        "harvest" => Some("There is neither belt nor cloud in this sector."),
        _ => None,
    }
}

#[test]
fn rules_8_to_10_every_op_in_every_pair_of_states() {
    let mut checked = 0;
    for (place, &one) in STATES.iter().enumerate() {
        for &two in &STATES[place..] {
            let states = [one, two];
            let mut untouched = scene(&states).game;
            untouched.step(1);
            for index in 0..ops(&scene(&[])).len() {
                let mut scene = scene(&states);
                let (name, op) = ops(&scene).swap_remove(index);
                let result = scene.game.op(scene.pilot, op);
                let expected = says(name, |state| states.contains(&state));
                let found = result.as_ref().err().map(Refusal::to_string);
                assert_eq!(found.as_deref(), expected, "{name} while {one:?} and {two:?}: {result:?}");
                if expected.is_some() {
                    assert_eq!(
                        scene.game.hash(),
                        untouched.hash(),
                        "{name} while {one:?} and {two:?} changed something"
                    );
                }
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 36 * 40);
}

#[test]
fn rule_10_whom_a_lock_may_be_on_in_every_state_of_the_target() {
    let table = [
        (Jammed, None),
        (Braced, None),
        (Clamped, None),
        (Cloaked, Some("There is no such target.")),
        (InTransit, None),
        (Arriving, Some("That ship just jumped in. It cannot be locked yet.")),
        (Docked, Some("There is no such target.")),
        (Dead, Some("There is no such target.")),
    ];
    for (state, expected) in table {
        let mut scene = scene(&[state]);
        let target = scene.ship;
        let ship = scene.target;
        let result: Result<Done, Refusal> = scene.game.op(scene.other, Op::Focus { ship, target });
        assert_eq!(result.err().map(|refusal| refusal.to_string()).as_deref(), expected, "{state:?}");
    }
}

/// A fit whose powers the table asks for is one.
#[test]
fn the_tables_ship_is_a_ship() {
    let game = Game::default();
    let systems = [System::Brace, System::Jam, System::Clamp, System::Cloak];
    let fit: Fit = systems.iter().fold(game.common(4, Faction::Human), |fit, &system| fit.with(system, Faction::Human));
    assert!(fit.check(game.balance()).is_ok());
}
