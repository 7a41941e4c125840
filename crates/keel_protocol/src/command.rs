//! Orders: what a client may ask of its pilot's ships.

use bincode::{Decode, Encode};

/// An order. Ships, pilots, charters and modules are named by their numbers; those without a ship are for the active one or for the
/// pilot. New kinds go to the end.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Command {
    /// Go to a sector by the shortest way; the active ship takes the escorts of its sector along that follow.
    Move {
        /// The ship.
        ship: u32,
        /// The sector's column.
        col: i32,
        /// The sector's row.
        row: i32,
    },
    /// Stop: in the window before a hop and in transit at once, later after the hop that runs.
    Cancel {
        /// The ship.
        ship: u32,
    },
    /// Lock and fire, with the pilot's other ships in the sector.
    Attack {
        /// The ship.
        ship: u32,
        /// At which ship.
        target: u32,
    },
    /// Lock and fire alone.
    Focus {
        /// The ship.
        ship: u32,
        /// At which ship.
        target: u32,
    },
    /// Drop the lock and hold fire.
    Hold {
        /// The ship.
        ship: u32,
    },
    /// Use a power of the active ship.
    Power(Power),
    /// Travel to the next layer, up or down, from a Haven.
    Travel {
        /// The ship.
        ship: u32,
        /// Up, to the higher number.
        up: bool,
    },
    /// Jump to the layer's centre.
    Rescue {
        /// The ship.
        ship: u32,
    },
    /// Dock at the Haven or berth of the sector.
    Dock {
        /// The ship.
        ship: u32,
    },
    /// Leave the dock.
    Undock {
        /// The ship.
        ship: u32,
    },
    /// Fly that ship; the others are its escorts.
    Activate {
        /// The ship.
        ship: u32,
    },
    /// What an escort does by itself.
    Stance {
        /// The ship.
        ship: u32,
        /// How it stands.
        stance: Stance,
    },
    /// Whom an escort protects.
    Protect {
        /// The ship.
        ship: u32,
        /// The other ship; 0 for the active one.
        protectee: u32,
    },
    /// When an escort uses its powers.
    Triggers {
        /// The ship.
        ship: u32,
        /// It Braces under so many percent of its hull, 0 to 100.
        brace_percent: u8,
        /// Whether it Jams a locked target that Clamps or Braces.
        jam: bool,
    },
    /// Whether an escort goes where the active ship goes.
    Follow {
        /// The ship.
        ship: u32,
        /// Whether it does.
        follows: bool,
    },
    /// All escorts of the map come to the active ship, and follow it.
    Gather,
    /// Whether Aggressive escorts fire on a pilot's ships on sight.
    Kos {
        /// The pilot.
        pilot: u32,
        /// Whether they do.
        marked: bool,
    },
    /// Challenge a pilot to a duel.
    AskDuel(u32),
    /// Accept a pilot's challenge.
    AcceptDuel(u32),
    /// End a duel, take back a challenge, or decline one.
    EndDuel(u32),
    /// Found a charter.
    Found {
        /// What it is called.
        name: String,
    },
    /// Invite a pilot into the charter.
    Invite(u32),
    /// Join a charter that has invited the pilot.
    Join(u32),
    /// Leave the charter.
    Leave,
    /// Declare a charter hostile, or no longer.
    Hostile {
        /// The charter.
        charter: u32,
        /// Whether it is.
        hostile: bool,
    },
    /// Build a structure of the charter's in the ship's sector.
    Build {
        /// The ship.
        ship: u32,
        /// What.
        structure: Structure,
    },
    /// Put something into a slot of a docked ship, or empty it. What was in it goes into the hold.
    Fit {
        /// The ship.
        ship: u32,
        /// Where.
        slot: Slot,
        /// What.
        part: Part,
    },
    /// Repair a module of a ship docked at a Haven.
    Repair {
        /// The ship.
        ship: u32,
        /// Which.
        slot: Slot,
    },
    /// Take a hull from the yard of the Haven where the active ship is docked.
    Commission {
        /// Index of the class.
        class: u8,
        /// Index of the hull line.
        line: u8,
    },
    /// Give a docked ship up. What is fitted to it goes into the hold.
    Scrap {
        /// The ship.
        ship: u32,
    },
    /// Throw a module of the hold away.
    Drop {
        /// Which.
        module: u32,
    },
    /// Jump through a wormhole of which an end is in the ship's sector, with the escorts that follow.
    Jump {
        /// The ship.
        ship: u32,
        /// The wormhole.
        wormhole: u32,
    },
    /// Take what is in a wreck of the ship's sector.
    Take {
        /// The ship.
        ship: u32,
        /// The wreck.
        wreck: u32,
    },
    /// Harvest the belt or the gas cloud of the ship's sector.
    Harvest {
        /// The ship.
        ship: u32,
    },
    /// Every escort flies to the centre of the map that it is on, and waits there.
    Retreat,
    /// Have something happen, on a server that takes operator's orders. Maps are named as everywhere: 1 to 6 are the layers, 11
    /// to 16 the Rifts.
    Force(Force),
}

/// What a charter builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Structure {
    /// Its pilots dock there.
    Berth,
    /// Its pilots harvest more there.
    Outpost,
}

/// What an operator has happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Force {
    /// A storm lands on a map.
    Storm(u8),
    /// An incursion comes to a map: around the active ship's sector if it is there, else anywhere.
    Incursion(u8),
    /// A wormhole opens in the active ship's sector and leads to a map.
    Wormhole(u8),
}

/// A power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Power {
    /// Restores hull and raises every resist.
    Brace,
    /// Silences the locked target.
    Jam,
    /// Holds the locked target in its sector.
    Clamp,
    /// Breaks every Clamp on the ship.
    Unclamp,
    /// Hides the ship.
    Cloak,
}

/// What a ship that its pilot does not fly does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum Stance {
    /// Engages every NPC and every pilot marked KOS in its sector, and helps fleet mates one hex away.
    Aggressive,
    /// Fires on what locks it or its protectee, and on the active ship's target.
    #[default]
    Defensive,
    /// Stays with its protectee and fires on what locks either; Jams and Clamps its attackers.
    Support,
    /// Fires only when told to.
    Passive,
}

/// A place for a module. Wells and system slots count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
pub enum Slot {
    /// A weapon well.
    Well(u8),
    /// The armor's.
    Armor,
    /// The shield's.
    Shield,
    /// A system's.
    System(u8),
    /// The Shard's.
    Shard,
}

/// What goes into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Part {
    /// A module of the hold, by its number.
    Hold(u32),
    /// A new Common module of the yard's.
    Yard {
        /// Index of the kind.
        kind: u8,
        /// Index of the faction.
        faction: u8,
    },
    /// Nothing.
    Empty,
}
