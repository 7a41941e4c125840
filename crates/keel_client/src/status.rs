//! What a server says of itself to anyone, without a connection.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use keel_protocol::status::{QUERY_BYTES, Status, query, read_answer};

/// Asks a server, several times within `wait`, and waits for its first answer.
///
/// # Errors
/// When there is no socket, or no answer in time.
pub fn ask_status(server: SocketAddr, wait: Duration) -> io::Result<Status> {
    let local: SocketAddr = if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let socket = UdpSocket::bind(local)?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(wait / 4))?;
    // Not to be guessed by who does not see the query.
    let number = RandomState::new().hash_one(server);
    let begun = Instant::now();
    let mut buffer = [0; QUERY_BYTES];
    while begun.elapsed() < wait {
        // A port without a server answers so that the next call fails: nobody is there yet, or any more.
        let heard = socket.send(&query(number)).and_then(|_| socket.recv(&mut buffer));
        match heard {
            Ok(length) => {
                if let Some(status) = read_answer(&buffer[..length], number) {
                    return Ok(status);
                }
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
            Err(_) => std::thread::sleep(wait / 16),
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, "no answer"))
}
