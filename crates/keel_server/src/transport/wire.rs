//! Where datagrams come from and go to.

use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A way for datagrams. What is sent may get lost.
pub trait Wire {
    /// Where it can be reached.
    fn address(&self) -> SocketAddr;

    /// Takes the next datagram that has arrived: its length, and where it came from.
    ///
    /// # Errors
    /// `WouldBlock` when there is none.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)>;

    /// Sends one.
    ///
    /// # Errors
    /// When it is certain that it does not arrive.
    fn send(&mut self, datagram: &[u8], to: SocketAddr) -> io::Result<()>;
}

/// What the system is asked to keep of datagrams that have arrived while a step runs. It may keep less.
const KEPT: usize = 4 << 20;

/// A socket, bound.
pub(super) struct Udp {
    socket: UdpSocket,
    address: SocketAddr,
}

impl Udp {
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        // Best effort: whoever floods the server fills what is kept, and the less that is, the more of others' gets lost.
        let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(KEPT);
        let address = socket.local_addr()?;
        Ok(Self { socket, address })
    }
}

impl Wire for Udp {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.recv_from(buffer)
    }

    fn send(&mut self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        self.socket.send_to(datagram, to).map(drop)
    }
}
