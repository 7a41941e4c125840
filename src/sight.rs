//! What whoever flies a ship sees of it and around it: for a pilot at a terminal and for a bot alike.

use keel_client::{Contact, Flags, OwnShip, Replica};
use keel_map::Hex;

/// Looks at a replica from the ship that is flown.
pub(crate) trait Sight {
    /// What the server has shown.
    fn replica(&self) -> &Replica;

    /// The ship that is flown.
    fn active(&self) -> Option<&OwnShip> {
        self.replica().active()
    }

    /// Where the active ship is.
    fn here(&self) -> Option<Hex> {
        self.active().map(place_of)
    }

    /// Whether the active ship is docked.
    fn is_docked(&self) -> bool {
        self.active().is_some_and(|ship| ship.flags.has(Flags::DOCKED))
    }

    /// Whether the active ship is where it can dock.
    fn is_at_haven(&self) -> bool {
        let here = self.here();
        let havens = self.replica().map().map_or(&[][..], |map| &map.havens);
        havens.iter().any(|&place| Some(hex(place)) == here)
    }

    /// The sectors of the active ship's map.
    fn sectors(&self) -> impl Iterator<Item = Hex> {
        self.replica().map().map_or(&[][..], |map| &map.sectors).iter().map(|&place| hex(place))
    }

    /// Whether the active ship's map has that sector.
    fn has_sector(&self, hex: Hex) -> bool {
        self.sectors().any(|sector| sector == hex)
    }

    /// Contacts on the active ship's map.
    fn contacts(&self) -> impl Iterator<Item = &Contact> {
        let map = self.active().map(|ship| ship.map);
        self.replica().contacts().filter(move |contact| Some(contact.map) == map)
    }

    /// Contacts of a kind on the active ship's map, the nearest first.
    fn nearest(&self, is_one: impl Fn(&Contact) -> bool) -> Vec<&Contact> {
        let Some(here) = self.here() else { return Vec::new() };
        let mut contacts: Vec<_> = self.contacts().filter(|contact| is_one(contact)).collect();
        contacts.sort_by_key(|contact| (place(contact).distance(here), contact.id));
        contacts
    }

    /// NPCs in view, the nearest first.
    fn enemies(&self) -> Vec<&Contact> {
        self.nearest(is_npc)
    }

    /// NPCs in the active ship's sector.
    fn enemies_here(&self) -> Vec<&Contact> {
        let here = self.here();
        self.enemies().into_iter().filter(|contact| Some(place(contact)) == here).collect()
    }

    /// Other pilots' ships in view, the nearest first.
    fn rivals(&self) -> Vec<&Contact> {
        self.nearest(|contact| contact.pilot != 0)
    }

    /// Whether a place is where the active ship is.
    fn is_here(&self, map: u8, place: (i16, i16)) -> bool {
        self.active().is_some_and(|ship| (ship.map, (ship.col, ship.row)) == (map, place))
    }

    /// The wormholes of which the pilot has found an end where the active ship is.
    fn wormholes_here(&self) -> Vec<u32> {
        let ends = self.replica().wormholes().iter();
        ends.filter(|end| self.is_here(end.map, end.place)).map(|end| end.id).collect()
    }

    /// The wrecks of the active ship's sector.
    fn wrecks_here(&self) -> Vec<u32> {
        let wrecks = self.replica().wrecks().iter();
        wrecks.filter(|wreck| self.is_here(wreck.map, wreck.place)).map(|wreck| wreck.id).collect()
    }
}

/// Whether a contact is an NPC: neither a pilot's ship nor a charter's structure.
pub(crate) const fn is_npc(contact: &Contact) -> bool {
    contact.pilot == 0 && contact.charter == 0
}

/// Where a contact is.
pub(crate) fn place(contact: &Contact) -> Hex {
    Hex::new(contact.col.into(), contact.row.into())
}

/// Where one's own ship is.
pub(crate) fn place_of(ship: &OwnShip) -> Hex {
    Hex::new(ship.col.into(), ship.row.into())
}

/// A place that crossed the wire.
pub(crate) fn hex((col, row): (i16, i16)) -> Hex {
    Hex::new(col.into(), row.into())
}
