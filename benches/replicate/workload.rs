//! What happens in the worlds that are measured, and who sees it: the same for every system.
//!
//! All of it follows from a ship's number and the step's, so that systems that know nothing of each other show the same
//! fight. Ships, sectors and clients are numbered from 0; what crosses the wire are ids, from 1, so that 0 is no one.

/// Steps that a cycle takes.
pub(crate) const CYCLE_STEPS: u64 = 60;

/// The first step of any world, in steps: every gun has begun a cycle by then.
pub(crate) const FIRST_STEP: u64 = CYCLE_STEPS;

/// A ship is damaged once in as many steps.
const DAMAGE_EVERY: u64 = 4;

/// A ship takes another target once in as many steps.
const RETARGET_EVERY: u64 = 50;

/// What every world is shuffled by.
const SEED: u64 = 0x6b65_656c;

/// How large a world is, and how many watch it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// What it is called.
    pub(crate) name: &'static str,
    /// Ships, all of which fight.
    pub(crate) ships: u32,
    /// Sectors, over which ships are spread evenly.
    pub(crate) sectors: u32,
    /// Clients, each of which sees one sector.
    pub(crate) clients: u32,
    /// Ships of each client, all of them in the sector that it sees. The rest are NPCs.
    pub(crate) fleet: u32,
}

/// Every world that is measured.
pub(crate) const SIZES: [Size; 6] = [
    Size { name: "W1", ships: 400, sectors: 1, clients: 100, fleet: 4 },
    Size { name: "W1, 50 clients", ships: 400, sectors: 1, clients: 50, fleet: 4 },
    Size { name: "W1, 200 clients", ships: 400, sectors: 1, clients: 200, fleet: 2 },
    Size { name: "W1, 400 clients", ships: 400, sectors: 1, clients: 400, fleet: 1 },
    Size { name: "W2", ships: 20_000, sectors: 3_000, clients: 200, fleet: 4 },
    Size { name: "W3", ships: 1_000, sectors: 1, clients: 40, fleet: 4 },
];

/// A world that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    size: Size,
    /// Clients that see the same sector, at most.
    a_sector: u32,
    /// From one sector that is seen to the next, in sectors.
    stride: u32,
    /// By ship: how many steps it is ahead of ship 0 in all that it does. A shuffle of all numbers below the ships' count,
    /// so that as many ships do a thing in each step and no sector does it at once.
    phases: Vec<u64>,
}

/// Who a ship is, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its id.
    pub(crate) id: u32,
    /// The id of the pilot whose it is; 0 for an NPC.
    pub(crate) pilot: u32,
    /// Index of the class.
    pub(crate) class: u8,
    /// Index of the faction.
    pub(crate) faction: u8,
}

/// What is left of a ship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// Hull, 255 when full.
    pub(crate) hull: u8,
    /// Shield, likewise.
    pub(crate) shield: u8,
}

/// The gun's cycle and the battery that it drains: its owner's business alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// The step in which it began.
    pub(crate) since: u64,
    /// Battery in that step, 255 when full. It refills evenly and is full when the cycle ends.
    pub(crate) battery: u8,
}

impl Cycle {
    /// Battery in `step` of this cycle, 255 when full.
    pub(crate) fn battery_in(self, step: u64) -> u8 {
        let refilled = u64::from(255 - self.battery) * (step - self.since) / CYCLE_STEPS;
        self.battery + refilled as u8
    }
}

impl Workload {
    /// The world of that size.
    pub(crate) fn new(size: Size) -> Self {
        let a_sector = size.clients.div_ceil(size.sectors);
        let stride = size.sectors / size.clients.div_ceil(a_sector);
        let mut phases: Vec<u64> = (0..size.ships.into()).collect();
        for at in (1..phases.len()).rev() {
            phases.swap(at, (mix(at as u64) % (at as u64 + 1)) as usize);
        }
        Self { size, a_sector, stride, phases }
    }

    /// Its size.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The sector that a ship is in.
    pub(crate) fn sector(&self, ship: u32) -> u32 {
        ship % self.size.sectors
    }

    /// The sector that a client sees.
    pub(crate) fn seen_by(&self, client: u32) -> u32 {
        client / self.a_sector * self.stride
    }

    /// Whether any client sees the sector.
    pub(crate) fn is_seen(&self, sector: u32) -> bool {
        sector.is_multiple_of(self.stride) && sector / self.stride * self.a_sector < self.size.clients
    }

    /// The client whose ship it is; `None` for an NPC.
    pub(crate) fn owner(&self, ship: u32) -> Option<u32> {
        let sector = self.sector(ship);
        let rank = ship / self.size.sectors / self.size.fleet;
        let client = sector / self.stride * self.a_sector + rank;
        (self.is_seen(sector) && rank < self.a_sector && client < self.size.clients).then_some(client)
    }

    /// Who a ship is.
    pub(crate) fn identity(&self, ship: u32) -> Identity {
        Identity {
            id: ship + 1,
            pilot: self.owner(ship).map_or(0, |client| client + 1),
            class: (ship % 5) as u8,
            faction: (ship / 5 % 4) as u8,
        }
    }

    /// Whether a ship is damaged in `step`: a quarter of all are, of which half keep their hull.
    pub(crate) fn is_damaged(&self, step: u64, ship: u32) -> bool {
        self.at(step, ship).is_multiple_of(DAMAGE_EVERY)
    }

    /// Whether a ship takes another target in `step`: one in fifty does.
    pub(crate) fn is_retargeted(&self, step: u64, ship: u32) -> bool {
        self.at(step, ship).is_multiple_of(RETARGET_EVERY)
    }

    /// Whether a ship fires in `step` and its cycle begins anew: one in sixty does.
    pub(crate) fn is_firing(&self, step: u64, ship: u32) -> bool {
        self.at(step, ship).is_multiple_of(CYCLE_STEPS)
    }

    /// What is left of a ship in `step`. It never wears out: after a while it is mended.
    pub(crate) fn condition(&self, step: u64, ship: u32) -> Condition {
        let hits = self.at(step, ship) / DAMAGE_EVERY;
        let ship = u64::from(ship);
        let left = |lost: u64| 255 - (lost % 200) as u8;
        Condition { hull: left(hits / 2 * 3 + ship), shield: left(hits * 5 + ship * 7) }
    }

    /// The id of the ship on which a ship fires in `step`: another one of its sector.
    pub(crate) fn target(&self, step: u64, ship: u32) -> u32 {
        let sectors = self.size.sectors;
        let (sector, rank) = (ship % sectors, ship / sectors);
        let others = u64::from((self.size.ships - sector - 1) / sectors);
        let turn = self.at(step, ship) / RETARGET_EVERY;
        // The one `turn` places on, from a start of its own; never itself, and never the same twice running.
        let ahead = 1 + (mix(u64::from(ship)) % others + turn) % others;
        let target = (u64::from(rank) + ahead) % (others + 1);
        sector + target as u32 * sectors + 1
    }

    /// A ship's cycle in `step`.
    pub(crate) fn cycle(&self, step: u64, ship: u32) -> Cycle {
        let at = self.at(step, ship);
        let drained = mix(u64::from(ship) ^ ((at / CYCLE_STEPS) << 32)) % 100;
        Cycle { since: step - at % CYCLE_STEPS, battery: 155 - drained as u8 }
    }

    fn at(&self, step: u64, ship: u32) -> u64 {
        step + self.phases[ship as usize]
    }
}

/// A number that nobody would guess from `number`.
fn mix(number: u64) -> u64 {
    // One step of SplitMix64.
    let mut mixed = (number ^ SEED).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
