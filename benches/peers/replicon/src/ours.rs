//! Keel's own replication as one of the systems that are measured.

use std::time::Instant;

use crate::keel::Keel;
use crate::system::{Measured, System};

impl System for Keel {
    fn name(&self) -> &str {
        "Keel"
    }

    fn step(&mut self, step: u64) -> Measured {
        self.change(step);
        let start = Instant::now();
        self.acknowledge();
        let acks = start.elapsed();
        let start = Instant::now();
        let bytes = self.replicate() as u64;
        let time = start.elapsed();
        self.carry();
        Measured { time, acks, bytes }
    }
}
