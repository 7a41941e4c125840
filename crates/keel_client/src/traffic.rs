//! What has crossed the wire.

/// What a client has sent and received since it was made, in messages: what the transport adds to them is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// From the client.
    pub up: Flow,
    /// From the server.
    pub down: Flow,
    /// The share of the client's datagrams of the last seconds that the server has not acknowledged, 0 to 1.
    pub lost: f64,
}

/// What went one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Messages.
    pub messages: u64,
    /// Bytes of them.
    pub bytes: u64,
}

impl Flow {
    /// Counts a message of so many bytes.
    pub(crate) const fn count(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}
