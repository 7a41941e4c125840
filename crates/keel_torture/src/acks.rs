//! Acknowledgements below, as one makes them who picks what has come.

use std::collections::BTreeSet;

use crate::payloads::put;

/// Kinds of packets with what may get lost, and of acknowledgements.
const LOSSY: u8 = 1;
const ACK: u8 = 4;

/// Packets that are acknowledged at once.
const MOST: usize = 64;

/// The packets that have come, but for those with what must arrive.
#[derive(Debug, Default)]
pub struct Choosy(BTreeSet<u64>);

impl Choosy {
    /// A packet has come.
    pub fn take(&mut self, packet: &[u8]) {
        if let Some((&(LOSSY | ACK), mut rest)) = packet.split_first()
            && let Some(number) = number(&mut rest)
        {
            self.0.insert(number);
            while self.0.len() > MOST {
                self.0.pop_first();
            }
        }
    }

    /// A packet as it is to be sent: an acknowledgement says what was picked, if anything was.
    #[must_use]
    pub fn give(&self, packet: Vec<u8>) -> Option<Vec<u8>> {
        let Some((&ACK, mut rest)) = packet.split_first() else { return Some(packet) };
        let mut given = vec![ACK];
        put(&mut given, number(&mut rest)?);
        // From the newest down: the last of a range, and how many are before it.
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for &number in self.0.iter().rev() {
            match ranges.last_mut() {
                Some((last, before)) if number + 1 == *last - *before => *before += 1,
                _ => ranges.push((number, 0)),
            }
        }
        let (&(newest, before), others) = ranges.split_first()?;
        for number in [newest, before, others.len() as u64] {
            put(&mut given, number);
        }
        let mut first = newest - before;
        for &(last, before) in others {
            put(&mut given, first - last - 2);
            put(&mut given, before);
            first = last - before;
        }
        Some(given)
    }
}

/// A number as renet writes it: its first two bits give its length.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let length = 1usize << (rest.first()? >> 6);
    let (bytes, more) = rest.split_at_checked(length)?;
    *rest = more;
    let whole = bytes.iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    Some(whole & (u64::MAX >> (66 - 8 * length)))
}
