//! HTTP, on one thread of its own: logins, and what an operator looks at. The step never waits for it.
//!
//! Whoever connects holds little for a short time: every connection has a bound on its request's head, its body, how long
//! either may take and how long it lives, and where there is no room for one more the oldest that has not asked for anything
//! to its end makes room. A handler must not block its thread: all listeners share it.

mod caller;
mod connection;
mod tls;

pub use caller::{Caller, Peer, Proxies, ProxyError};
pub use tls::Tls;

use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio::sync::watch;

use connection::Crowd;

/// Connections that wait to be taken: one that finds no place among them tries again after a second.
const BACKLOG: u32 = 1024;

/// How long requests under way have to end when the server stops.
const GRACE: Duration = Duration::from_secs(2);

/// How long a stop waits for the thread, whatever its handlers do.
const MOST_STOP: Duration = Duration::from_secs(4);

/// Where a listener listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    /// On a port; 0 lets the system choose one.
    Port(SocketAddr),
    /// On a socket in the file system that only its owner may open.
    File(PathBuf),
}

impl From<SocketAddr> for Bind {
    fn from(address: SocketAddr) -> Self {
        Self::Port(address)
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(address) => address.fmt(f),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// What a listener's callers may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections at once from one address, or one IPv6 network of 64 bits. This machine and trusted proxies have no such bound.
    pub per_network: usize,
    /// Connections at once from one IPv6 network of 48 bits, but for those.
    pub per_site: usize,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// How long the TLS handshake and then each request's head may take, and how long a connection may idle.
    pub head: Duration,
    /// How long a request may take once its head is there: to send its body, and to be answered.
    pub request: Duration,
    /// How long a connection lives, whatever it does.
    pub life: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            per_network: 32,
            per_site: 64,
            body_bytes: 16 * 1024,
            head: Duration::from_secs(5),
            request: Duration::from_secs(10),
            life: Duration::from_secs(60),
        }
    }
}

/// What listens, and what answers there.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Where.
    pub bind: Bind,
    /// What answers. Each request has its [`Caller`] and its [`Peer`] as extensions.
    pub router: Router,
    /// How connections are encrypted; `None` for not at all.
    pub tls: Option<Tls>,
    /// Who is believed when they say for whom they ask.
    pub proxies: Proxies,
    /// What callers may take.
    pub limits: Limits,
}

impl Listener {
    /// A listener without encryption, with nobody to believe and the usual limits.
    #[must_use]
    pub fn new(bind: impl Into<Bind>, router: Router) -> Self {
        Self { bind: bind.into(), router, tls: None, proxies: Proxies::default(), limits: Limits::default() }
    }
}

/// Why HTTP does not start.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The address cannot be had.
    #[error("cannot listen on {bind}")]
    Bind {
        /// Which.
        bind: Bind,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the certificate or its key cannot be read, or they do not belong together.
    #[error("cannot use the {what} {path}: {reason}", path = path.display())]
    Tls {
        /// `certificate` or `key`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system gives no thread.
    #[error("cannot start the thread for HTTP")]
    Thread(#[source] io::Error),
}

/// Listeners that answer until this is dropped or stopped.
#[derive(Debug)]
pub struct Http {
    addresses: Vec<Bind>,
    stop: watch::Sender<bool>,
    ended: mpsc::Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

/// A socket that listens.
enum Socket {
    Port(TcpListener),
    File(UnixListener),
}

impl Http {
    /// Listens, and answers on a thread named `http`. All addresses are had when this returns.
    ///
    /// # Errors
    /// When an address or the thread cannot be had.
    pub fn start(listeners: Vec<Listener>) -> Result<Self, HttpError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(HttpError::Thread)?;
        let entered = runtime.enter();
        let mut addresses = Vec::new();
        let mut sockets = Vec::new();
        for listener in listeners {
            let (socket, address) =
                open(&listener.bind).map_err(|source| HttpError::Bind { bind: listener.bind.clone(), source })?;
            addresses.push(address);
            sockets.push((socket, listener));
        }
        let (stop, stopped) = watch::channel(false);
        let (tell, ended) = mpsc::channel();
        drop(entered);
        let run = move || {
            let _tell = tell;
            runtime.block_on(async {
                let served = sockets
                    .into_iter()
                    .map(|(socket, listener)| tokio::spawn(serve(socket, listener, stopped.clone())));
                for served in served.collect::<Vec<_>>() {
                    let _ = served.await;
                }
            });
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("http".to_owned()).spawn(run).map_err(HttpError::Thread)?;
        Ok(Self { addresses, stop, ended, thread: Some(thread) })
    }

    /// Where it listens, in the order of the listeners, with the ports that the system chose.
    #[must_use]
    pub fn addresses(&self) -> &[Bind] {
        &self.addresses
    }

    /// The address of a listener by its place in the order, if it is a port.
    #[must_use]
    pub fn port(&self, listener: usize) -> Option<SocketAddr> {
        match self.addresses.get(listener)? {
            Bind::Port(address) => Some(*address),
            Bind::File(_) => None,
        }
    }

    /// Stops to listen, gives requests under way two seconds to end, and waits for that.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        let _ = self.stop.send(true);
        // A handler that blocks the thread must not block whoever stops it.
        if self.ended.recv_timeout(MOST_STOP) == Err(mpsc::RecvTimeoutError::Disconnected) {
            let _ = thread.join();
        }
        for address in &self.addresses {
            if let Bind::File(path) = address {
                let _ = fs::remove_file(path);
            }
        }
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.end();
    }
}

/// A socket that listens, and where it does.
fn open(bind: &Bind) -> io::Result<(Socket, Bind)> {
    match bind {
        Bind::Port(address) => {
            let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
            // A port that was in use a moment ago is had again at once.
            socket.set_reuseaddr(true)?;
            socket.bind(*address)?;
            let socket = socket.listen(BACKLOG)?;
            let address = socket.local_addr()?;
            Ok((Socket::Port(socket), Bind::Port(address)))
        }
        Bind::File(path) => {
            // What a server that was killed has left; one that runs is left alone.
            let is_left = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
            if is_left && UnixStream::connect(path).is_err() {
                fs::remove_file(path)?;
            }
            let socket = UnixListener::bind(path)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
            Ok((Socket::File(socket), bind.clone()))
        }
    }
}

/// Takes connections until the stop.
async fn serve(socket: Socket, listener: Listener, mut stopped: watch::Receiver<bool>) {
    let crowd = Crowd::new(listener, stopped.clone());
    let accept = async {
        match socket {
            Socket::Port(socket) => loop {
                match socket.accept().await {
                    Ok((stream, from)) => crowd.take_in(stream, Some(from.ip().to_canonical())),
                    Err(error) => after(&error).await,
                }
            },
            Socket::File(socket) => loop {
                match socket.accept().await {
                    Ok((stream, _)) => crowd.take_in(stream, None),
                    Err(error) => after(&error).await,
                }
            },
        }
    };
    tokio::select! {
        () = accept => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    // The socket is closed by now; what goes on has its time to end.
    let _ = tokio::time::timeout(GRACE, crowd.gone()).await;
    crowd.clear();
}

/// An error of one connection is nothing; without files or memory it gets better with time alone.
async fn after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    if !matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
