//! Where something happens, as far as a rule asks: on a layer, or in a Rift, which reads its layer's tables.

/// A map by its kind and its number, 1 to 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// That layer.
    Layer(u8),
    /// That Rift.
    Rift(u8),
}

impl Site {
    /// The number of the layer whose tables it reads, 1 to 6.
    #[must_use]
    pub const fn tier(self) -> u8 {
        match self {
            Self::Layer(tier) | Self::Rift(tier) => tier,
        }
    }

    /// The row of the layer whose tables it reads.
    #[must_use]
    pub const fn row(self) -> usize {
        self.tier() as usize - 1
    }
}
