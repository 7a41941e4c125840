//! One of the pilot's own ships, in full.

use bincode::{Decode, Encode};

use super::bytes::{Reader, put_signed, put_varint};
use super::contact::Flags;
use crate::command::Stance;
use crate::{DecodeError, STEP_MICROS};

/// The most sectors of a course that a snapshot tells.
pub const MAX_COURSE: usize = 8;

/// One of the pilot's own ships, in full. Moments are microseconds of world time, whole steps: that of the first step in which
/// the thing is over. Amounts are multiples of a sixteenth, rounded up.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct OwnShip {
    /// The ship.
    pub id: u32,
    /// Index of the class.
    pub class: u8,
    /// Index of the faction.
    pub faction: u8,
    /// The map: 1 to 6 are the layers, 11 to 16 the Rifts.
    pub map: u8,
    /// Column of the sector.
    pub col: i16,
    /// Row of the sector.
    pub row: i16,
    /// What the hull holds.
    pub hull: f32,
    /// What the shield holds.
    pub shield: Pool,
    /// What the battery holds.
    pub battery: Pool,
    /// The ship that it locks or has locked; 0 for none.
    pub target: u32,
    /// When the lock holds.
    pub locked_at: u64,
    /// Microseconds that this lock takes from its start, in whole steps.
    pub lock_takes: u32,
    /// When the gun may fire again.
    pub ready_at: u64,
    /// What it does of its course now.
    pub leg: Leg,
    /// The next sectors of its course, at most [`MAX_COURSE`].
    pub course: Vec<(i16, i16)>,
    /// What is so of it.
    pub flags: Flags,
    /// When its arrival flag ends.
    pub arrival: u64,
    /// When its Brace may be used again.
    pub brace_ready: u64,
    /// When its Jam may be used again.
    pub jam_ready: u64,
    /// When its cloak may be used again.
    pub cloak_ready: u64,
    /// When the Jam that silences it ends.
    pub jammed_until: u64,
    /// Until when no Clamp catches it.
    pub immune_until: u64,
    /// When a transit may begin again after one was cancelled.
    pub jump_ready: u64,
    /// When its harvest is done; 0 when it does not harvest.
    pub harvest: u64,
    /// The ship that its Clamp is on; 0 for none.
    pub clamping: u32,
    /// What it does by itself when its pilot does not fly it.
    pub mind: Mind,
}

/// What refills by itself: told once, and again only when something else than time has changed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Pool {
    /// What it held.
    pub held: f32,
    /// When, in microseconds of world time.
    pub at: u64,
    /// What it gains each step, until it is full.
    pub gains: f32,
    /// What it holds when full.
    pub full: f32,
}

impl Pool {
    /// How far what it holds may be from what the server has, besides rounding.
    pub const SLACK: f32 = 0.125;

    /// This, or `told`, an earlier state, as long as that still says as much.
    #[must_use]
    pub fn or_still(self, told: Self) -> Self {
        let is_same = (self.gains, self.full) == (told.gains, told.full);
        if is_same && (told.holds(self.at) - self.held).abs() <= Self::SLACK { told } else { self }
    }

    /// What it holds at a moment.
    #[must_use]
    pub fn holds(&self, now: u64) -> f32 {
        // Time in a client's drawing is no rule of the world's.
        let steps = now.saturating_sub(self.at) as f64 / STEP_MICROS as f64;
        if self.gains == 0.0 {
            return self.held;
        }
        let gained = (steps * f64::from(self.gains)) as f32;
        (self.held + gained).min(self.full.max(self.held))
    }
}

/// What an escort does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Mind {
    /// How it stands.
    pub stance: Stance,
    /// The ship that it protects; 0 for the active one.
    pub protectee: u32,
    /// It Braces under so many percent of its hull.
    pub brace_percent: u8,
    /// Whether it Jams a locked target that Braces or Clamps.
    pub jam: bool,
    /// Whether it goes where the active ship goes.
    pub follows: bool,
}

/// What a ship does of its course.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum Leg {
    /// Nothing.
    #[default]
    Still,
    /// It waits before a hop, which can still be cancelled.
    Window {
        /// When the hop begins.
        ends: u64,
    },
    /// It hops.
    Hop {
        /// When it is in the next sector.
        ends: u64,
    },
    /// It is in transit to another layer, or to the centre. It neither locks nor fires.
    Transit {
        /// When it is there.
        ends: u64,
    },
}

/// The parts of a ship, a bit for each, in the order in which they are told. What changes most often comes first.
const HULL: u32 = 1;
const SHIELD: u32 = 1 << 1;
const BATTERY: u32 = 1 << 2;
const LOCK: u32 = 1 << 3;
const READY: u32 = 1 << 4;
const PLACE: u32 = 1 << 5;
const COURSE: u32 = 1 << 6;
const FLAGS: u32 = 1 << 7;
const ARRIVAL: u32 = 1 << 8;
const BRACE: u32 = 1 << 9;
const JAM: u32 = 1 << 10;
const CLOAK: u32 = 1 << 11;
const JAMMED: u32 = 1 << 12;
const IMMUNE: u32 = 1 << 13;
const JUMP: u32 = 1 << 14;
const HARVEST: u32 = 1 << 15;
const CLAMPING: u32 = 1 << 16;
const MIND: u32 = 1 << 17;
const SHIELD_TANK: u32 = 1 << 18;
const BATTERY_TANK: u32 = 1 << 19;
const SHIP: u32 = 1 << 20;
const ALL: u32 = (1 << 21) - 1;

impl OwnShip {
    /// Appends what has changed since `base`, an earlier state of the same ship, or all of it. `version` is this state's.
    pub fn put(&self, base: Option<&Self>, version: u64, out: &mut Vec<u8>) {
        let told = base.map_or(ALL, |base| self.differs(base));
        let moment = |moment: u64, out: &mut Vec<u8>| {
            put_signed(out, (moment / STEP_MICROS).wrapping_sub(version) as i64);
        };
        let pool = |pool: &Pool, out: &mut Vec<u8>| {
            put_amount(pool.held, out);
            moment(pool.at, out);
        };
        put_varint(out, told.into());
        let mut put = |part: u32, put: &dyn Fn(&mut Vec<u8>)| {
            if told & part != 0 {
                put(out);
            }
        };
        put(HULL, &|out| put_amount(self.hull, out));
        put(SHIELD, &|out| pool(&self.shield, out));
        put(BATTERY, &|out| pool(&self.battery, out));
        put(LOCK, &|out| {
            put_varint(out, self.target.into());
            moment(self.locked_at, out);
            put_varint(out, u64::from(self.lock_takes) / STEP_MICROS);
        });
        put(READY, &|out| moment(self.ready_at, out));
        put(PLACE, &|out| {
            out.push(self.map);
            put_place((self.col, self.row), out);
        });
        put(COURSE, &|out| {
            let (leg, ends) = match self.leg {
                Leg::Still => (0, None),
                Leg::Window { ends } => (1, Some(ends)),
                Leg::Hop { ends } => (2, Some(ends)),
                Leg::Transit { ends } => (3, Some(ends)),
            };
            out.push(leg);
            if let Some(ends) = ends {
                moment(ends, out);
            }
            let course = &self.course[..self.course.len().min(MAX_COURSE)];
            out.push(course.len() as u8);
            course.iter().for_each(|&place| put_place(place, out));
        });
        put(FLAGS, &|out| out.push(self.flags.0));
        put(ARRIVAL, &|out| moment(self.arrival, out));
        put(BRACE, &|out| moment(self.brace_ready, out));
        put(JAM, &|out| moment(self.jam_ready, out));
        put(CLOAK, &|out| moment(self.cloak_ready, out));
        put(JAMMED, &|out| moment(self.jammed_until, out));
        put(IMMUNE, &|out| moment(self.immune_until, out));
        put(JUMP, &|out| moment(self.jump_ready, out));
        put(HARVEST, &|out| moment(self.harvest, out));
        put(CLAMPING, &|out| put_varint(out, self.clamping.into()));
        put(MIND, &|out| {
            let Mind { stance, protectee, brace_percent, jam, follows } = self.mind;
            out.extend([stance as u8 | u8::from(jam) << 2 | u8::from(follows) << 3, brace_percent]);
            put_varint(out, protectee.into());
        });
        for (part, pool) in [(SHIELD_TANK, &self.shield), (BATTERY_TANK, &self.battery)] {
            put(part, &|out| {
                out.extend(pool.gains.to_le_bytes());
                put_amount(pool.full, out);
            });
        }
        put(SHIP, &|out| {
            put_varint(out, self.id.into());
            out.extend([self.class, self.faction]);
        });
    }

    /// A state as [`Self::put`] wrote it since the same `base`.
    ///
    /// # Errors
    /// When the bytes end within it or make no sense.
    pub fn take(bytes: &mut Reader<'_>, base: Option<&Self>, version: u64) -> Result<Self, DecodeError> {
        let mut ship = base.cloned().unwrap_or_default();
        let told = bytes.varint::<u32>()?;
        if told & !ALL != 0 {
            return Err(DecodeError::Nonsense("a part that there is not"));
        }
        let moment = |bytes: &mut Reader<'_>| -> Result<u64, DecodeError> {
            let step = version.wrapping_add_signed(bytes.signed()?);
            step.checked_mul(STEP_MICROS).ok_or(DecodeError::Nonsense("a moment beyond all time"))
        };
        let pool = |bytes: &mut Reader<'_>, pool: &mut Pool| -> Result<(), DecodeError> {
            (pool.held, pool.at) = (take_amount(bytes)?, moment(bytes)?);
            Ok(())
        };
        let tells = |part: u32| told & part != 0;
        if tells(HULL) {
            ship.hull = take_amount(bytes)?;
        }
        if tells(SHIELD) {
            pool(bytes, &mut ship.shield)?;
        }
        if tells(BATTERY) {
            pool(bytes, &mut ship.battery)?;
        }
        if tells(LOCK) {
            (ship.target, ship.locked_at) = (bytes.varint()?, moment(bytes)?);
            let takes = bytes.varint::<u32>()?.checked_mul(STEP_MICROS as u32);
            ship.lock_takes = takes.ok_or(DecodeError::Nonsense("a lock without end"))?;
        }
        if tells(READY) {
            ship.ready_at = moment(bytes)?;
        }
        if tells(PLACE) {
            ship.map = bytes.byte()?;
            (ship.col, ship.row) = take_place(bytes)?;
        }
        if tells(COURSE) {
            ship.leg = match bytes.byte()? {
                0 => Leg::Still,
                1 => Leg::Window { ends: moment(bytes)? },
                2 => Leg::Hop { ends: moment(bytes)? },
                3 => Leg::Transit { ends: moment(bytes)? },
                _ => return Err(DecodeError::Nonsense("a leg that there is not")),
            };
            let length = usize::from(bytes.byte()?);
            if length > MAX_COURSE {
                return Err(DecodeError::Nonsense("too long a course"));
            }
            ship.course = (0..length).map(|_| take_place(bytes)).collect::<Result<_, _>>()?;
        }
        if tells(FLAGS) {
            ship.flags = Flags(bytes.byte()?);
        }
        for (part, ends) in [
            (ARRIVAL, &mut ship.arrival),
            (BRACE, &mut ship.brace_ready),
            (JAM, &mut ship.jam_ready),
            (CLOAK, &mut ship.cloak_ready),
            (JAMMED, &mut ship.jammed_until),
            (IMMUNE, &mut ship.immune_until),
            (JUMP, &mut ship.jump_ready),
            (HARVEST, &mut ship.harvest),
        ] {
            if tells(part) {
                *ends = moment(bytes)?;
            }
        }
        if tells(CLAMPING) {
            ship.clamping = bytes.varint()?;
        }
        if tells(MIND) {
            let [bits, brace_percent] = bytes.array()?;
            let stance = match bits & 3 {
                0 => Stance::Aggressive,
                1 => Stance::Defensive,
                2 => Stance::Support,
                _ => Stance::Passive,
            };
            let (jam, follows) = (bits & 4 != 0, bits & 8 != 0);
            ship.mind = Mind { stance, protectee: bytes.varint()?, brace_percent, jam, follows };
        }
        for (part, pool) in [(SHIELD_TANK, &mut ship.shield), (BATTERY_TANK, &mut ship.battery)] {
            if tells(part) {
                (pool.gains, pool.full) = (bytes.float()?, take_amount(bytes)?);
            }
        }
        if tells(SHIP) {
            ship.id = bytes.varint()?;
            [ship.class, ship.faction] = bytes.array()?;
        }
        Ok(ship)
    }

    /// The parts that are not as in `base`.
    fn differs(&self, base: &Self) -> u32 {
        let now = |pool: &Pool| (pool.held, pool.at);
        let tank = |pool: &Pool| (pool.gains, pool.full);
        let parts = [
            (HULL, self.hull != base.hull),
            (SHIELD, now(&self.shield) != now(&base.shield)),
            (BATTERY, now(&self.battery) != now(&base.battery)),
            (LOCK, (self.target, self.locked_at, self.lock_takes) != (base.target, base.locked_at, base.lock_takes)),
            (READY, self.ready_at != base.ready_at),
            (PLACE, (self.map, self.col, self.row) != (base.map, base.col, base.row)),
            (COURSE, self.leg != base.leg || self.course != base.course),
            (FLAGS, self.flags != base.flags),
            (ARRIVAL, self.arrival != base.arrival),
            (BRACE, self.brace_ready != base.brace_ready),
            (JAM, self.jam_ready != base.jam_ready),
            (CLOAK, self.cloak_ready != base.cloak_ready),
            (JAMMED, self.jammed_until != base.jammed_until),
            (IMMUNE, self.immune_until != base.immune_until),
            (JUMP, self.jump_ready != base.jump_ready),
            (HARVEST, self.harvest != base.harvest),
            (CLAMPING, self.clamping != base.clamping),
            (MIND, self.mind != base.mind),
            (SHIELD_TANK, tank(&self.shield) != tank(&base.shield)),
            (BATTERY_TANK, tank(&self.battery) != tank(&base.battery)),
            (SHIP, (self.id, self.class, self.faction) != (base.id, base.class, base.faction)),
        ];
        parts.iter().fold(0, |told, (part, is_other)| told | if *is_other { *part } else { 0 })
    }
}

/// An amount as it crosses the wire: the next multiple of a sixteenth.
#[must_use]
pub fn rounded(amount: f32) -> f32 {
    (amount * 16.0).ceil() / 16.0
}

/// Sixteenths of an amount. One that is no multiple of them comes back a little greater.
fn put_amount(amount: f32, out: &mut Vec<u8>) {
    put_varint(out, (amount * 16.0).ceil() as u64);
}

fn take_amount(bytes: &mut Reader<'_>) -> Result<f32, DecodeError> {
    Ok(bytes.varint::<u64>()? as f32 / 16.0)
}

fn put_place((col, row): (i16, i16), out: &mut Vec<u8>) {
    put_signed(out, col.into());
    put_signed(out, row.into());
}

fn take_place(bytes: &mut Reader<'_>) -> Result<(i16, i16), DecodeError> {
    Ok((bytes.signed()?, bytes.signed()?))
}
