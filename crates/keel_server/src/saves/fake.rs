//! For tests: a world that is so many rows of so many bytes, all of which say which step it is.

use super::Cut;

pub(super) struct Fake {
    pub(super) step: u64,
    pub(super) rows: u64,
    pub(super) bytes: usize,
}

impl Cut for Fake {
    fn step(&self) -> u64 {
        self.step
    }

    fn is_whole(&self) -> bool {
        true
    }

    fn merge(&mut self, newer: Self) {
        *self = newer;
    }

    fn rows(&self, put: &mut dyn FnMut(&str, u64, Option<&[u8]>)) {
        let data = vec![self.step as u8; self.bytes];
        (0..self.rows).for_each(|id| put("row", id, Some(&data)));
    }
}
