//! Decisions, read from bytes.

use rand::RngExt;
use rand_pcg::Pcg32;

/// Reads decisions from bytes; when there are no more, each is the first that there is.
#[derive(Debug)]
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    /// Those that the bytes make.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether none are left.
    #[must_use]
    pub const fn are_over(&self) -> bool {
        self.0.is_empty()
    }

    /// A byte.
    pub const fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&byte, rest)) => {
                self.0 = rest;
                byte
            }
            None => 0,
        }
    }

    /// A number under `count`, which is at most 256.
    pub const fn below(&mut self, count: usize) -> usize {
        self.byte() as usize % count
    }

    /// One of several.
    pub fn of<T: Clone>(&mut self, several: &[T]) -> T {
        several[self.below(several.len())].clone()
    }

    /// Whether something happens that does so once in so many times.
    pub const fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    /// Any number of eight bytes.
    pub fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    /// A number as one finds it at edges: 0, 1, the greatest of each width, and beside; or any.
    pub fn extreme(&mut self) -> u64 {
        let bits = self.of(&[0u32, 1, 7, 8, 15, 16, 31, 32, 62, 63]);
        let edge = 1u64 << bits;
        match self.below(6) {
            0 => 0,
            1 => edge,
            2 => edge - 1,
            3 => edge.wrapping_neg(),
            4 => u64::MAX,
            _ => self.word(),
        }
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    /// Spoils bytes: one is changed, some are lost, or some are added.
    pub fn spoil(&mut self, bytes: &mut Vec<u8>) {
        let at = self.word() as usize % (bytes.len() + 1);
        match self.below(4) {
            0 => bytes.truncate(at),
            1 => {
                let more = self.below(32);
                let more = self.bytes(more);
                bytes.splice(at..at, more);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = self.byte();
                }
            }
        }
    }
}

/// The bytes of a run of the suite's: all follow from the seed, and are up to `most` long.
#[must_use]
pub fn seeded(seed: u64, most: usize) -> Vec<u8> {
    let mut stream = Pcg32::new(seed, 0xda3e_39cb_94b9_5bdb);
    let length = stream.random_range(0..=most);
    (0..length).map(|_| stream.random()).collect()
}
