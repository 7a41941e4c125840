//! The game's way for datagrams, which counts what passes and answers those who only ask how the server is.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use crate::metrics::Metrics;
use crate::status::{Board, Inquiry, Reply};
use crate::transport::Wire;

pub(crate) struct Socket {
    wire: Box<dyn Wire>,
    metrics: Arc<Metrics>,
    board: Arc<Board>,
    inquiry: Inquiry,
    start: Instant,
}

impl Socket {
    pub(crate) fn new(wire: Box<dyn Wire>, metrics: Arc<Metrics>, board: Arc<Board>) -> Self {
        Self { wire, metrics, board, inquiry: Inquiry::new(), start: Instant::now() }
    }
}

impl Wire for Socket {
    fn address(&self) -> SocketAddr {
        self.wire.address()
    }

    /// `Interrupted` is for a query for the status, which is dealt with: the next one may be the caller's.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, from) = self.wire.receive(buffer)?;
        self.metrics.traffic.received.count(length);
        match self.inquiry.hear(&buffer[..length], from.ip(), self.start.elapsed(), &self.board) {
            Reply::None => return Ok((length, from)),
            Reply::Dropped => self.metrics.count_query("dropped"),
            Reply::Answer(answer) => {
                self.metrics.count_query("answered");
                // Who does not get it asks again.
                let _ = self.send(&answer, from);
            }
        }
        Err(io::ErrorKind::Interrupted.into())
    }

    fn send(&mut self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        self.metrics.traffic.sent.count(datagram.len());
        self.wire.send(datagram, to)
    }
}
