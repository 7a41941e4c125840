//! What a client has of one thing.

use std::sync::Arc;

/// Steps without an acknowledgement after which a client is not taken to have anything to tell changes from.
const STALE: u64 = 60;

/// What a client has of one thing, and what is under way.
#[derive(Debug)]
pub(super) struct Told<T> {
    /// The thing's key on the connection.
    pub(super) key: u32,
    /// The newest version that the client has, and what it is.
    acked: Option<(u64, Arc<T>)>,
    /// The newest version that was sent, and in which step.
    sent: Option<(u64, u64)>,
    /// Since when what was sent is not acknowledged.
    waits: Option<u64>,
    /// Since when something of it should be sent.
    due: Option<u64>,
}

impl<T> Told<T> {
    pub(super) const fn new(key: u32) -> Self {
        Self { key, acked: None, sent: None, waits: None, due: None }
    }

    /// From what changes can be told.
    pub(super) fn base(&self, step: u64) -> Option<&(u64, Arc<T>)> {
        let fresh = self.waits.is_none_or(|since| step - since < STALE);
        self.acked.as_ref().filter(|_| fresh)
    }

    /// For how many steps the client has gone without something that it should have; `None` when it has this version, or
    /// that may be on its way: what was sent less than `patience` steps ago.
    pub(super) fn wants(&mut self, version: u64, step: u64, patience: u64) -> Option<u64> {
        if self.acked.as_ref().is_some_and(|(acked, _)| *acked == version) {
            self.due = None;
            return None;
        }
        if let Some((sent, at)) = self.sent {
            // All of it is large: before it is sent again, a newer one too waits for the first to be acknowledged.
            if step - at < patience && (sent == version || self.base(step).is_none()) {
                return None;
            }
        }
        Some(step - *self.due.get_or_insert(step))
    }

    /// The thing is out of sight: what tells the client so, if it can know of it.
    pub(super) fn lost(self) -> Option<Told<()>> {
        self.sent.map(|_| Told::new(self.key))
    }

    pub(super) fn send(&mut self, version: u64, step: u64) {
        self.sent = Some((version, step));
        self.waits.get_or_insert(step);
        self.due = None;
    }

    /// The client has that version. Of several it keeps the newest.
    pub(super) fn acknowledge(&mut self, version: u64, state: Arc<T>) {
        if self.acked.as_ref().is_none_or(|(acked, _)| *acked < version) {
            self.acked = Some((version, state));
            self.waits = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(version: u64) -> Told<()> {
        let mut told = Told::new(1);
        told.send(version, version);
        told.acknowledge(version, Arc::new(()));
        told
    }

    #[test]
    fn what_is_under_way_is_not_sent_again_before_it_can_have_been_acknowledged() {
        let mut told = acked(10);
        assert_eq!(told.wants(10, 11, 3), None, "it has that");
        assert_eq!(told.wants(12, 12, 3), Some(0));
        told.send(12, 12);
        assert_eq!(told.wants(12, 14, 3), None);
        assert_eq!(told.wants(12, 15, 3), Some(0), "the packet seems lost");
        assert_eq!(told.wants(16, 16, 3), Some(1), "a newer state does not wait");
    }

    #[test]
    fn all_of_it_is_sent_once_and_then_what_changed_since() {
        let mut told = Told::new(1);
        assert_eq!(told.wants(10, 10, 3), Some(0));
        told.send(10, 10);
        assert_eq!(told.wants(11, 11, 3), None);
        assert_eq!(told.wants(13, 13, 3), Some(0), "the packet seems lost");
        told.acknowledge(10, Arc::new(()));
        assert_eq!(told.wants(14, 14, 3), Some(1));
        assert_eq!(told.base(14).map(|base| base.0), Some(10));
    }

    #[test]
    fn who_waits_says_how_long() {
        let mut told = acked(10);
        assert_eq!([12, 13, 20].map(|step| told.wants(step, step, 3)), [Some(0), Some(1), Some(8)]);
        told.send(20, 20);
        assert_eq!(told.wants(21, 21, 3), Some(0));
    }

    #[test]
    fn late_acknowledgements_change_nothing_and_silence_ends_in_all_of_it() {
        let mut told = acked(10);
        told.acknowledge(9, Arc::new(()));
        assert_eq!(told.base(12).map(|base| base.0), Some(10));
        for step in 12..12 + STALE {
            told.send(step, step);
            assert!(told.base(step).is_some());
        }
        assert!(told.base(12 + STALE).is_none());
        told.acknowledge(30, Arc::new(()));
        assert_eq!(told.base(12 + STALE).map(|base| base.0), Some(30));
    }
}
