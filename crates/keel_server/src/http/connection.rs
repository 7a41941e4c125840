//! Connections: how many there may be, and what one may take.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tower::ServiceExt;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::limit::RequestBodyLimitLayer;

use super::{Caller, GRACE, Limits, Listener, Peer, Proxies, Tls, network};

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
    network: Option<IpAddr>,
    /// Requests that are being answered.
    requests: Arc<AtomicUsize>,
    task: AbortHandle,
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
        let router = router.layer(RequestBodyLimitLayer::new(limits.body_bytes)).layer(CatchPanicLayer::new());
        let (held, left) = (Mutex::default(), Notify::new());
        Self(Arc::new(Shared { router, tls, proxies, limits, stopped, held, left }))
    }

    /// Serves a connection, if there is room for it or room can be made. `from` is none for one of this machine's files.
    pub(super) fn take_in<S>(&self, stream: S, from: Option<IpAddr>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let shared = &self.0;
        let bounded = from.filter(|&from| !from.is_loopback() && !shared.proxies.trust(from)).map(network);
        let mut held = shared.held();
        let is_near = |place: &&Connection| bounded.is_some() && place.network == bounded;
        if held.places.values().filter(is_near).count() >= shared.limits.per_network {
            return;
        }
        if held.places.len() >= shared.limits.connections {
            let idle = |(_, place): &(&u64, &Connection)| place.requests.load(Ordering::Relaxed) == 0;
            let Some(oldest) = held.places.iter().find(idle).map(|(&number, _)| number) else { return };
            if let Some(place) = held.places.remove(&oldest) {
                place.task.abort();
            }
        }
        let number = held.next;
        held.next += 1;
        let requests = Arc::new(AtomicUsize::new(0));
        let place = Place { shared: Arc::clone(shared), number };
        let from = from.unwrap_or(Ipv4Addr::LOCALHOST.into());
        let task = tokio::spawn(serve(stream, from, place, Arc::clone(&requests))).abort_handle();
        held.places.insert(number, Connection { network: bounded, requests, task });
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
async fn serve<S>(stream: S, from: IpAddr, place: Place, requests: Arc<AtomicUsize>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match &place.shared.tls {
        None => speak(stream, from, &place.shared, requests).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(place.shared.limits.head, tls.accept(stream)).await {
                speak(stream, from, &place.shared, requests).await;
            }
        }
    }
}

async fn speak<S>(stream: S, from: IpAddr, shared: &Arc<Shared>, requests: Arc<AtomicUsize>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answering = Arc::clone(shared);
    let service = service_fn(move |request: Request<Incoming>| {
        let (shared, requests) = (Arc::clone(&answering), Arc::clone(&requests));
        async move {
            let mut request = request.map(Body::new);
            let caller = Caller::of(from, request.headers(), &shared.proxies);
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(Peer(from));
            requests.fetch_add(1, Ordering::Relaxed);
            let answer = timeout(shared.limits.request, shared.router.clone().oneshot(request)).await;
            requests.fetch_sub(1, Ordering::Relaxed);
            Ok::<_, Infallible>(match answer {
                Ok(Ok(answer)) => answer,
                Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
            })
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
