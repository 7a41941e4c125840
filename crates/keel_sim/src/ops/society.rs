//! Duels and charters (rule 10).

use bevy_ecs::prelude::*;

use super::Bridge;
use crate::bonds::{Bonds, Charter, pair};
use crate::ids::{CharterId, PilotId};
use crate::minds::{Alert, Mends};
use crate::notes::Note;
use crate::orders::{Done, Refusal};
use crate::structures::raze;
use crate::world::Pilot;

impl Bridge<'_> {
    fn bonds(&self) -> &Bonds {
        self.world.resource()
    }

    fn bonds_mut(&mut self) -> Mut<'_, Bonds> {
        self.world.resource_mut()
    }

    /// Another pilot of the world.
    pub(super) fn other(&self, pilot: PilotId, other: PilotId) -> Result<&Pilot, Refusal> {
        if other == pilot {
            return Err(Refusal::Yourself);
        }
        self.pilot(other).and_then(|entity| self.world.get::<Pilot>(entity)).ok_or(Refusal::NoSuchPilot)
    }

    pub(super) fn ask_duel(&mut self, pilot: PilotId, other: PilotId) -> Result<Done, Refusal> {
        if !self.other(pilot, other)?.online {
            return Err(Refusal::Absent);
        }
        if self.bonds().duels.contains_key(&pair(pilot, other)) {
            return Err(Refusal::AlreadyDuelling);
        }
        if self.bonds().asks.contains_key(&(pilot, other)) {
            return Err(Refusal::AlreadyAsked);
        }
        if self.bonds().asks.contains_key(&(other, pilot)) {
            return self.accept_duel(pilot, other);
        }
        let stands = self.balance.duel.ask_s.into();
        let until = self.now + stands;
        self.bonds_mut().asks.insert((pilot, other), until);
        self.note_pilot(other, Note::DuelAsked { by: pilot, stands });
        Ok(Done::DuelAsked)
    }

    pub(super) fn accept_duel(&mut self, pilot: PilotId, other: PilotId) -> Result<Done, Refusal> {
        self.other(pilot, other)?;
        if !self.bonds().asks.contains_key(&(other, pilot)) {
            return Err(Refusal::NotAsked);
        }
        self.bonds_mut().asks.remove(&(other, pilot));
        let lasts = self.balance.duel.lasts_s.into();
        let until = self.now + lasts;
        self.bonds_mut().duels.insert(pair(pilot, other), until);
        self.note_pilot(pilot, Note::DuelOn { with: other, lasts });
        self.note_pilot(other, Note::DuelOn { with: pilot, lasts });
        self.alert(other);
        Ok(Done::DuelOn)
    }

    pub(super) fn end_duel(&mut self, pilot: PilotId, other: PilotId) -> Result<Done, Refusal> {
        self.other(pilot, other)?;
        let bonds = self.bonds();
        let asks = [(other, pilot), (pilot, other)];
        if !bonds.duels.contains_key(&pair(pilot, other)) && asks.iter().all(|ask| !bonds.asks.contains_key(ask)) {
            return Err(Refusal::NoDuel);
        }
        let mut bonds = self.bonds_mut();
        if bonds.duels.remove(&pair(pilot, other)).is_some() {
            bonds.loosened = true;
            self.note_pilot(pilot, Note::DuelOver { with: other });
            self.note_pilot(other, Note::DuelOver { with: pilot });
        } else if bonds.asks.remove(&(other, pilot)).is_some() {
            self.note_pilot(other, Note::DuelUnanswered { by: pilot });
        } else {
            bonds.asks.remove(&(pilot, other));
        }
        Ok(Done::DuelOver)
    }

    /// The pilot's charter.
    fn charter_of(&self, pilot: PilotId) -> Result<CharterId, Refusal> {
        self.bonds().charter_of(pilot).ok_or(Refusal::NoCharter)
    }

    /// The charter that the pilot heads.
    pub(super) fn headed_by(&self, pilot: PilotId) -> Result<CharterId, Refusal> {
        let id = self.charter_of(pilot)?;
        let heads = self.bonds().charter(id).is_some_and(|charter| charter.head == pilot);
        if heads { Ok(id) } else { Err(Refusal::NotHead) }
    }

    fn charter(&self, id: CharterId) -> Result<&Charter, Refusal> {
        self.bonds().charter(id).ok_or(Refusal::NoSuchCharter)
    }

    fn charter_mut(&mut self, id: CharterId) -> Result<&mut Charter, Refusal> {
        self.world.resource_mut::<Bonds>().into_inner().charters.get_mut(&id).ok_or(Refusal::NoSuchCharter)
    }

    /// Tells a charter's pilots something that concerns whom they may fire on.
    fn note_members(&mut self, id: CharterId, note: Note) {
        let members = self.bonds().charter(id).map(|charter| charter.members.clone());
        for member in members.into_iter().flatten() {
            self.note_pilot(member, note);
            self.alert(member);
        }
    }

    /// A pilot's escorts look about: whom they may fire on is not what it was.
    fn alert(&mut self, pilot: PilotId) {
        if let Some(fleet) = self.pilot(pilot) {
            Alert::raise(self.world, fleet);
        }
    }

    pub(super) fn found(&mut self, pilot: PilotId, name: &str) -> Result<Done, Refusal> {
        if self.bonds().charter_of(pilot).is_some() {
            return Err(Refusal::InCharter);
        }
        keel_names::check_name(name)?;
        let looks = keel_names::looks(name);
        if self.bonds().charters().any(|(_, charter)| charter.looks.iter().any(|look| looks.contains(look))) {
            return Err(Refusal::NameTaken);
        }
        let mut bonds = self.bonds_mut();
        bonds.last += 1;
        let id = CharterId(bonds.last);
        bonds.charters.insert(id, Charter::new(name, pilot));
        bonds.members.insert(pilot, id);
        Ok(Done::Founded(id))
    }

    pub(super) fn invite(&mut self, pilot: PilotId, other: PilotId) -> Result<Done, Refusal> {
        let id = self.headed_by(pilot)?;
        self.other(pilot, other)?;
        if self.bonds().charter_of(other).is_some() {
            return Err(Refusal::TheirCharter);
        }
        self.check_room(id)?;
        let stands = self.balance.charter.invite_s.into();
        let until = self.now + stands;
        self.charter_mut(id)?.invited.insert(other, until);
        self.note_pilot(other, Note::Invited { charter: id, stands });
        Ok(Done::Invited)
    }

    fn check_room(&self, id: CharterId) -> Result<(), Refusal> {
        let most = self.balance.charter.members.into();
        if self.charter(id)?.members.len() < most { Ok(()) } else { Err(Refusal::CharterFull) }
    }

    pub(super) fn join(&mut self, pilot: PilotId, id: CharterId) -> Result<Done, Refusal> {
        if self.bonds().charter_of(pilot).is_some() {
            return Err(Refusal::InCharter);
        }
        if !self.charter(id)?.invited.contains_key(&pilot) {
            return Err(Refusal::NotInvited);
        }
        self.check_room(id)?;
        self.note_members(id, Note::MemberJoined { pilot });
        let charter = self.charter_mut(id)?;
        charter.invited.remove(&pilot);
        charter.members.push(pilot);
        for fleet in self.bonds().charter(id).map(|charter| charter.members.clone()).into_iter().flatten() {
            self.look_up(fleet);
        }
        let mut bonds = self.bonds_mut();
        bonds.members.insert(pilot, id);
        // Mates hold no lock on each other.
        bonds.loosened = true;
        Ok(Done::Joined(id))
    }

    /// A pilot's menders have others to look after.
    fn look_up(&mut self, pilot: PilotId) {
        for ship in self.pilot(pilot).map(|fleet| self.ships_of(fleet)).into_iter().flatten() {
            if let Some(mut mends) = self.world.get_mut::<Mends>(ship) {
                mends.idle = false;
                self.wake(ship);
            }
        }
    }

    pub(super) fn leave(&mut self, pilot: PilotId) -> Result<Done, Refusal> {
        let id = self.charter_of(pilot)?;
        let mut bonds = self.bonds_mut();
        bonds.members.remove(&pilot);
        bonds.loosened = true;
        let charter = self.charter_mut(id)?;
        charter.members.retain(|&member| member != pilot);
        match charter.members.first().copied() {
            None => self.dissolve(id),
            Some(next) => {
                let headless = charter.head == pilot;
                charter.head = if headless { next } else { charter.head };
                self.note_members(id, Note::MemberLeft { pilot });
                if headless {
                    self.note_pilot(next, Note::Head);
                }
            }
        }
        Ok(Done::Left)
    }

    /// A charter without members is no more, and neither is what it has built.
    fn dissolve(&mut self, id: CharterId) {
        let mut bonds = self.bonds_mut();
        bonds.charters.remove(&id);
        for charter in bonds.charters.values_mut() {
            charter.hostile.remove(&id);
        }
        raze(self.world, id);
    }

    pub(super) fn declare(&mut self, pilot: PilotId, other: CharterId, hostile: bool) -> Result<Done, Refusal> {
        let id = self.headed_by(pilot)?;
        if other == id {
            return Err(Refusal::OwnCharter);
        }
        self.charter(other)?;
        if self.charter(id)?.hostile.contains(&other) == hostile {
            return Ok(Done::Set);
        }
        let charter = self.charter_mut(id)?;
        if hostile {
            charter.hostile.insert(other);
        } else {
            charter.hostile.remove(&other);
            self.bonds_mut().loosened = true;
        }
        let still = self.bonds().are_hostile(id, other);
        self.note_members(id, Note::Hostile { charter: other, hostile: still });
        self.note_members(other, Note::Hostile { charter: id, hostile: still });
        Ok(Done::Set)
    }
}
