//! Connections: how many there may be, and what one may take.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;
use tower_http::catch_panic::CatchPanicLayer;

use super::{Caller, GRACE, Limits, Listener, Peer, Proxies, Tls};
use crate::networks::{network, site};

/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 * 1024;

/// The connections of one listener.
pub(super) struct Crowd(Arc<Shared>);

struct Shared {
    router: Router,
    tls: Option<Tls>,
    proxies: Proxies,
    limits: Limits,
    stopped: watch::Receiver<bool>,
    held: Mutex<Held>,
    left: Notify,
}

#[derive(Default)]
struct Held {
    next: u64,
    /// By number, so the oldest comes first.
    places: BTreeMap<u64, Connection>,
}

struct Connection {
    /// Where it is from, unless from where as many may come as like.
    from: Option<IpAddr>,
    /// Whether a request that has come to its end is being answered.
    is_busy: Arc<AtomicBool>,
    task: AbortHandle,
}

impl Held {
    /// Whether as many have come from near an address as may.
    fn is_crowded(&self, from: IpAddr, limits: &Limits) -> bool {
        let near = |is_near: &dyn Fn(IpAddr) -> bool| {
            self.places.values().filter_map(|place| place.from).filter(|&other| is_near(other)).count()
        };
        near(&|other| network(other) == network(from)) >= limits.per_network
            || site(from).is_some_and(|site_of| near(&|other| site(other) == Some(site_of)) >= limits.per_site)
    }
}

/// A connection's place, which is free when this is dropped.
struct Place {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.held().places.remove(&self.number);
        self.shared.left.notify_waiters();
    }
}

impl Shared {
    /// Whoever panicked has left a list that is whole.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Crowd {
    pub(super) fn new(listener: Listener, stopped: watch::Receiver<bool>) -> Self {
        let Listener { router, tls, proxies, limits, .. } = listener;
        let router = router.layer(CatchPanicLayer::new());
        let (held, left) = (Mutex::default(), Notify::new());
        Self(Arc::new(Shared { router, tls, proxies, limits, stopped, held, left }))
    }

    /// Serves a connection, if there is room for it or room can be made. `from` is none for one of this machine's files.
    pub(super) fn take_in<S>(&self, stream: S, from: Option<IpAddr>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let shared = &self.0;
        let bounded = from.filter(|&from| !from.is_loopback() && !shared.proxies.trust(from));
        let mut held = shared.held();
        if bounded.is_some_and(|from| held.is_crowded(from, &shared.limits)) {
            return;
        }
        if held.places.len() >= shared.limits.connections {
            let idle = |(_, place): &(&u64, &Connection)| !place.is_busy.load(Ordering::Relaxed);
            let Some(oldest) = held.places.iter().find(idle).map(|(&number, _)| number) else { return };
            if let Some(place) = held.places.remove(&oldest) {
                place.task.abort();
            }
        }
        let number = held.next;
        held.next += 1;
        let is_busy = Arc::new(AtomicBool::new(false));
        let place = Place { shared: Arc::clone(shared), number };
        let from = from.unwrap_or(Ipv4Addr::LOCALHOST.into());
        let task = tokio::spawn(serve(stream, from, place, Arc::clone(&is_busy))).abort_handle();
        held.places.insert(number, Connection { from: bounded, is_busy, task });
    }

    /// Waits until there is no connection.
    pub(super) async fn gone(&self) {
        loop {
            let left = self.0.left.notified();
            if self.0.held().places.is_empty() {
                return;
            }
            left.await;
        }
    }

    /// Ends every connection, whatever it does.
    pub(super) fn clear(&self) {
        for place in std::mem::take(&mut self.0.held().places).into_values() {
            place.task.abort();
        }
    }
}

/// Serves one connection to its end.
async fn serve<S>(stream: S, from: IpAddr, place: Place, is_busy: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match &place.shared.tls {
        None => speak(stream, from, &place.shared, is_busy).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(place.shared.limits.head, tls.accept(stream)).await {
                speak(stream, from, &place.shared, is_busy).await;
            }
        }
    }
}

async fn speak<S>(stream: S, from: IpAddr, shared: &Arc<Shared>, is_busy: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answering = Arc::clone(shared);
    let service = service_fn(move |request: Request<Incoming>| {
        let (shared, is_busy) = (Arc::clone(&answering), Arc::clone(&is_busy));
        async move {
            let answer = timeout(shared.limits.request, answer(request, from, &shared, &is_busy)).await;
            is_busy.store(false, Ordering::Relaxed);
            Ok::<_, Infallible>(answer.unwrap_or_else(|_| StatusCode::REQUEST_TIMEOUT.into_response()))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(shared.limits.head)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut stopped = shared.stopped.clone();
    // What a stranger's connection dies of is no matter.
    tokio::select! {
        _ = &mut connection => return,
        () = sleep(shared.limits.life) => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = timeout(GRACE, connection).await;
}

/// Answers a request once all of it has come. Until then whoever sends it is as idle as one who sends nothing, and has to make room
/// for others: else a crowd that sends bodies byte by byte would hold all places.
async fn answer(request: Request<Incoming>, from: IpAddr, shared: &Shared, is_busy: &AtomicBool) -> Response {
    let (mut head, body) = request.into_parts();
    let most = shared.limits.body_bytes;
    if body.size_hint().lower() > most as u64 {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    let body = match to_bytes(Body::new(body), most).await.map_err(axum::Error::into_inner) {
        Ok(body) => body,
        // What the connection says of it, and not that it is too long.
        Err(error) if error.is::<axum::Error>() => return StatusCode::BAD_REQUEST.into_response(),
        Err(_) => return StatusCode::PAYLOAD_TOO_LARGE.into_response(),
    };
    is_busy.store(true, Ordering::Relaxed);
    head.extensions.insert(Caller::of(from, &head.headers, &shared.proxies));
    head.extensions.insert(Peer(from));
    let request = Request::from_parts(head, Body::from(body));
    shared.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::sync::watch;
    use tokio::task::yield_now;

    use super::*;

    const SLOW: &str = "POST /length HTTP/1.1\r\nhost: keel\r\nconnection: close\r\ncontent-length: 10\r\n\r\nabc";
    const WAITS: &str = "GET /never HTTP/1.1\r\nhost: keel\r\n\r\n";
    const ASKS: &str = "GET / HTTP/1.1\r\nhost: keel\r\nconnection: close\r\n\r\n";

    fn crowd(limits: Limits) -> (Crowd, watch::Sender<bool>) {
        let router = Router::new()
            .route("/", get(|| async { "here" }))
            .route("/length", post(|body: String| async move { body.len().to_string() }))
            .route("/never", get(|| async { std::future::pending::<()>().await }));
        let (stop, stopped) = watch::channel(false);
        let nowhere: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
        let proxies = "10.0.0.0/8".parse().unwrap();
        (Crowd::new(Listener { proxies, limits, ..Listener::new(nowhere, router) }, stopped), stop)
    }

    /// One who connects from somewhere and says something, which is read as far as it goes.
    async fn connect(crowd: &Crowd, from: &str, says: &str) -> DuplexStream {
        let (mut near, far) = duplex(4096);
        crowd.take_in(far, Some(from.parse().unwrap()));
        let _ = near.write_all(says.as_bytes()).await;
        for _ in 0..20 {
            yield_now().await;
        }
        near
    }

    /// What a connection reads until its end.
    async fn heard(mut stream: DuplexStream) -> String {
        let mut heard = String::new();
        let _ = stream.read_to_string(&mut heard).await;
        heard
    }

    #[tokio::test]
    async fn whose_request_has_not_come_to_its_end_makes_room_and_who_waits_for_an_answer_does_not() {
        let (crowd, _stop) = crowd(Limits { connections: 4, ..Limits::default() });
        let mut slow = Vec::new();
        for n in 0..4 {
            slow.push(connect(&crowd, &format!("198.51.100.{n}"), SLOW).await);
        }
        assert!(heard(connect(&crowd, "192.0.2.1", ASKS).await).await.ends_with("here"), "slow bodies hold all places");
        assert_eq!(heard(slow.remove(0)).await, "", "the oldest has made room");
        // Whose body comes in time is answered.
        slow[2].write_all(b"defghij").await.unwrap();
        assert!(heard(slow.pop().unwrap()).await.ends_with("10"));

        let mut waiting = Vec::new();
        for n in 0..4 {
            waiting.push(connect(&crowd, &format!("198.51.100.{n}"), WAITS).await);
        }
        assert_eq!(heard(connect(&crowd, "192.0.2.1", ASKS).await).await, "", "all places are taken by those who wait");
        drop(waiting);
    }

    #[tokio::test]
    async fn a_network_and_a_site_hold_so_many_places_and_others_are_let_in() {
        let limits = Limits { per_network: 2, per_site: 5, ..Limits::default() };
        let (crowd, _stop) = crowd(limits);
        let mut held = Vec::new();
        for (from, is_in) in [
            ("192.0.2.1", true),
            ("::ffff:192.0.2.1", true),
            ("192.0.2.1", false),
            ("192.0.2.2", true),
            ("2001:db8:1:1::1", true),
            ("2001:db8:1:1::2", true),
            ("2001:db8:1:1::3", false),
            ("2001:db8:1:2::1", true),
            ("2001:db8:1:3::1", true),
            ("2001:db8:1:4::1", true),
            ("2001:db8:1:5::1", false),
            ("2001:db8:2:1::1", true),
        ] {
            let before = crowd.0.held().places.len();
            held.push(connect(&crowd, from, WAITS).await);
            assert_eq!(crowd.0.held().places.len() - before, usize::from(is_in), "{from}");
        }
        // This machine and the proxies speak for many.
        for from in ["127.0.0.1", "10.0.0.1"] {
            for _ in 0..4 {
                held.push(connect(&crowd, from, WAITS).await);
            }
        }
        assert_eq!(crowd.0.held().places.len(), 17);
        // Who has gone has left room.
        held.remove(0);
        for _ in 0..20 {
            yield_now().await;
        }
        assert!(heard(connect(&crowd, "192.0.2.1", ASKS).await).await.ends_with("here"));
    }
}
