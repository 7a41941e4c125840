//! Up to 32 ships of one sector, as anyone in view may know them.

use super::bytes::{Reader, put_signed, put_varint};
use super::contact::{Contact, Flags};
use crate::DecodeError;

/// Ships that a group has room for. A ship keeps its seat for as long as it stays in the sector.
pub const SEATS: usize = 32;

/// What never changes of a ship while it is in a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Name {
    id: u32,
    pilot: u32,
    charter: u32,
    class: u8,
    faction: u8,
}

/// Up to [`SEATS`] ships of one sector: their public state, a column for each part of it, so that what changed is found
/// and told column by column. A seat that is free has zeros in every column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    map: u8,
    col: i16,
    row: i16,
    names: [Name; SEATS],
    hull: [u8; SEATS],
    shield: [u8; SEATS],
    flags: [u8; SEATS],
    target: [u32; SEATS],
}

/// The columns, a bit for each, in the order in which they are told.
const NAMES: u8 = 1;
const HULL: u8 = 1 << 1;
const SHIELD: u8 = 1 << 2;
const FLAGS: u8 = 1 << 3;
const TARGET: u8 = 1 << 4;
const ALL: u8 = NAMES | HULL | SHIELD | FLAGS | TARGET;

/// So many seats are told by their numbers; more by a bit each.
const MOST_LISTED: u32 = 4;

impl Group {
    /// Nobody, in a sector of a map.
    #[must_use]
    pub fn at(map: u8, col: i16, row: i16) -> Self {
        Self { map, col, row, ..Self::default() }
    }

    /// The map and the sector's column and row.
    #[must_use]
    pub const fn place(&self) -> (u8, i16, i16) {
        (self.map, self.col, self.row)
    }

    /// Puts a ship on a seat. Its place is the group's.
    ///
    /// # Panics
    /// When there is no such seat.
    pub fn seat(&mut self, seat: usize, contact: &Contact) {
        let &Contact { id, pilot, charter, class, faction, hull, shield, flags, target, .. } = contact;
        self.names[seat] = Name { id, pilot, charter, class, faction };
        self.hull[seat] = hull;
        self.shield[seat] = shield;
        self.flags[seat] = flags.0;
        self.target[seat] = target;
    }

    /// The ship on a seat; 0 for none.
    ///
    /// # Panics
    /// When there is no such seat.
    #[must_use]
    pub const fn id(&self, seat: usize) -> u32 {
        self.names[seat].id
    }

    /// The ships, in the order of their seats.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> {
        let taken = (0..SEATS).filter(|&seat| self.names[seat].id != 0);
        taken.map(|seat| {
            let Name { id, pilot, charter, class, faction } = self.names[seat];
            let (hull, shield, flags) = (self.hull[seat], self.shield[seat], Flags(self.flags[seat]));
            let Self { map, col, row, .. } = *self;
            let target = self.target[seat];
            Contact { id, pilot, charter, class, faction, map, col, row, hull, shield, flags, target }
        })
    }

    /// Whether one of its ships locks that one, or has it locked.
    #[must_use]
    pub fn hunts(&self, ship: u32) -> bool {
        self.target.contains(&ship)
    }

    /// Appends what has changed since `base`, a state of the same group, or all of it.
    pub fn put(&self, base: Option<&Self>, out: &mut Vec<u8>) {
        if base.is_none() {
            out.push(self.map);
            put_signed(out, self.col.into());
            put_signed(out, self.row.into());
        }
        let nobody = Self::default();
        let base = base.unwrap_or(&nobody);
        let taken = seats_where(|seat| self.names[seat].id != 0);
        let columns = [
            seats_where(|seat| self.names[seat] != base.names[seat]),
            taken & seats_where(|seat| self.hull[seat] != base.hull[seat]),
            taken & seats_where(|seat| self.shield[seat] != base.shield[seat]),
            taken & seats_where(|seat| self.flags[seat] != base.flags[seat]),
            taken & seats_where(|seat| self.target[seat] != base.target[seat]),
        ];
        let told = columns.iter().enumerate().filter(|(_, seats)| **seats != 0);
        out.push(told.fold(0, |told, (column, _)| told | 1 << column));
        let [names, hull, shield, flags, target] = columns;
        put_column(out, names, |seat, out| put_name(&self.names[seat], out));
        put_column(out, hull, |seat, out| out.push(self.hull[seat]));
        put_column(out, shield, |seat, out| out.push(self.shield[seat]));
        put_column(out, flags, |seat, out| out.push(self.flags[seat]));
        put_column(out, target, |seat, out| put_varint(out, self.target[seat].into()));
    }

    /// A state as [`Self::put`] wrote it since the same `base`.
    ///
    /// # Errors
    /// When the bytes end within it or make no sense.
    pub fn take(bytes: &mut Reader<'_>, base: Option<&Self>) -> Result<Self, DecodeError> {
        let mut group = match base {
            Some(base) => base.clone(),
            None => Self::at(bytes.byte()?, bytes.signed()?, bytes.signed()?),
        };
        let told = bytes.byte()?;
        if told & !ALL != 0 {
            return Err(DecodeError::Nonsense("a column that there is not"));
        }
        if told & NAMES != 0 {
            for seat in take_seats(bytes)? {
                group.names[seat] = take_name(bytes)?;
                if group.names[seat].id == 0 {
                    group.seat(seat, &Contact::default());
                }
            }
        }
        for (column, values) in [(HULL, &mut group.hull), (SHIELD, &mut group.shield), (FLAGS, &mut group.flags)] {
            if told & column != 0 {
                for seat in take_seats(bytes)? {
                    values[seat] = bytes.byte()?;
                }
            }
        }
        if told & TARGET != 0 {
            for seat in take_seats(bytes)? {
                group.target[seat] = bytes.varint()?;
            }
        }
        Ok(group)
    }
}

/// Seats of which something is so, a bit for each.
fn seats_where(is_so: impl Fn(usize) -> bool) -> u32 {
    (0..SEATS).fold(0, |seats, seat| seats | u32::from(is_so(seat)) << seat)
}

fn put_column(out: &mut Vec<u8>, seats: u32, put: impl Fn(usize, &mut Vec<u8>)) {
    let listed = seats.count_ones();
    if listed == 0 {
        return;
    }
    if listed <= MOST_LISTED {
        out.push(listed as u8);
        out.extend(each(seats).map(|seat| seat as u8));
    } else {
        out.push(0);
        out.extend(seats.to_le_bytes());
    }
    each(seats).for_each(|seat| put(seat, out));
}

fn take_seats(bytes: &mut Reader<'_>) -> Result<impl Iterator<Item = usize> + use<>, DecodeError> {
    let listed = bytes.byte()?;
    let mut seats = 0u32;
    match u32::from(listed) {
        0 => seats = u32::from_le_bytes(bytes.array()?),
        1..=MOST_LISTED => {
            for _ in 0..listed {
                let seat = bytes.byte()?;
                seats |= 1u32.checked_shl(seat.into()).ok_or(DecodeError::Nonsense("a seat that there is not"))?;
            }
        }
        _ => return Err(DecodeError::Nonsense("a list of seats that is none")),
    }
    Ok(each(seats))
}

/// The seats whose bits are set, the lowest first.
fn each(mut seats: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let seat = seats.trailing_zeros();
        seats &= seats.checked_sub(1)?;
        Some(seat as usize)
    })
}

fn put_name(name: &Name, out: &mut Vec<u8>) {
    put_varint(out, name.id.into());
    if name.id != 0 {
        out.extend([name.class, name.faction]);
        put_varint(out, name.pilot.into());
        put_varint(out, name.charter.into());
    }
}

fn take_name(bytes: &mut Reader<'_>) -> Result<Name, DecodeError> {
    match bytes.varint()? {
        0 => Ok(Name::default()),
        id => Ok(Name {
            id,
            class: bytes.byte()?,
            faction: bytes.byte()?,
            pilot: bytes.varint()?,
            charter: bytes.varint()?,
        }),
    }
}
