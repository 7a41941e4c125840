//! The game's socket, which counts what passes and answers those who only ask how the server is.

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Instant;

use crate::metrics::Metrics;
use crate::status::{Board, Inquiry, Reply};

pub(crate) struct Socket {
    udp: UdpSocket,
    metrics: Arc<Metrics>,
    board: Arc<Board>,
    inquiry: RefCell<Inquiry>,
    start: Instant,
}

impl Socket {
    /// One that never waits.
    pub(crate) fn bind(address: SocketAddr, metrics: Arc<Metrics>, board: Arc<Board>) -> io::Result<Self> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        Ok(Self { udp, metrics, board, inquiry: RefCell::new(Inquiry::new()), start: Instant::now() })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Takes a datagram.
    ///
    /// # Errors
    /// `WouldBlock` when there is none, and `Interrupted` for a query for the status, which is dealt with: the next one may be the
    /// caller's.
    pub(crate) fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let (length, from) = self.udp.recv_from(buffer)?;
        self.metrics.traffic.received.count(length);
        match self.inquiry.borrow_mut().hear(&buffer[..length], from.ip(), self.start.elapsed(), &self.board) {
            Reply::None => return Ok((length, from)),
            Reply::Dropped => self.metrics.count_query("dropped"),
            Reply::Answer(answer) => {
                self.metrics.count_query("answered");
                // Who does not get it asks again.
                let _ = self.send_to(&answer, from);
            }
        }
        Err(io::ErrorKind::Interrupted.into())
    }

    pub(crate) fn send_to(&self, datagram: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.metrics.traffic.sent.count(datagram.len());
        self.udp.send_to(datagram, to)
    }
}
