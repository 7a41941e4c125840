//! HTTP as strangers use it: what they may take is bounded, and nothing that they do ends it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Extension;
use axum::routing::{get, post};
use keel_server::http::{Bind, Caller, Http, Limits, Listener, Tls};

/// What answers in these tests.
fn router() -> Router {
    Router::new()
        .route("/", get(|| async { "here" }))
        .route("/caller", get(|Extension(Caller(address)): Extension<Caller>| async move { address.to_string() }))
        .route("/length", post(|body: String| async move { body.len().to_string() }))
        .route("/never", get(|| async { std::future::pending::<()>().await }))
        .route(
            "/panic",
            get(|| async {
                if true {
                    panic!("on purpose")
                }
            }),
        )
}

fn any() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn start(limits: Limits) -> (Http, SocketAddr) {
    let http = Http::start(vec![Listener { limits, ..Listener::new(any(), router()) }]).unwrap();
    let address = http.port(0).unwrap();
    (http, address)
}

/// Says something and reads until the end of the connection.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn fetch(address: SocketAddr, path: &str) -> String {
    ask(address, &format!("GET {path} HTTP/1.1\r\nhost: keel\r\nconnection: close\r\n\r\n"))
}

#[test]
fn each_listener_answers_by_its_own_router_at_the_address_it_says() {
    let other = Router::new().route("/", get(|| async { "there" }));
    let http = Http::start(vec![Listener::new(any(), router()), Listener::new(any(), other)]).unwrap();
    assert!(fetch(http.port(0).unwrap(), "/").ends_with("here"));
    assert!(fetch(http.port(1).unwrap(), "/").ends_with("there"));
    assert!(fetch(http.port(0).unwrap(), "/caller").ends_with("127.0.0.1"));
    assert!(fetch(http.port(0).unwrap(), "/nothing").starts_with("HTTP/1.1 404"));
    let address = http.port(0).unwrap();
    http.stop();
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn an_address_that_is_taken_is_one_clear_error() {
    let taken = TcpListener::bind(any()).unwrap();
    let address = taken.local_addr().unwrap();
    let error = Http::start(vec![Listener::new(address, router())]).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {address}"));
}

#[test]
fn a_handler_that_panics_is_answered_500_and_the_next_is_answered() {
    let (_http, address) = start(Limits::default());
    assert!(fetch(address, "/panic").starts_with("HTTP/1.1 500"));
    assert!(fetch(address, "/").ends_with("here"));
}

#[test]
fn a_body_over_the_limit_is_refused_whether_it_says_its_length_or_not() {
    let (_http, address) = start(Limits { body_bytes: 100, ..Limits::default() });
    let head = "POST /length HTTP/1.1\r\nhost: keel\r\nconnection: close\r\n";
    let body = "x".repeat(100);
    assert!(ask(address, &format!("{head}content-length: 100\r\n\r\n{body}")).ends_with("100"));
    assert!(ask(address, &format!("{head}content-length: 101\r\n\r\n{body}x")).starts_with("HTTP/1.1 413"));
    let vast = format!("{head}content-length: 18446744073709551615\r\n\r\n");
    assert!(ask(address, &vast).starts_with("HTTP/1.1 4"));
    let chunk = format!("64\r\n{body}\r\n");
    assert!(
        ask(address, &format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}{chunk}0\r\n\r\n"))
            .starts_with("HTTP/1.1 413")
    );
}

#[test]
fn a_request_that_is_not_answered_in_time_is_over() {
    let (_http, address) = start(Limits { request: Duration::from_millis(200), ..Limits::default() });
    assert!(fetch(address, "/never").starts_with("HTTP/1.1 408"));
    // Nor does one wait for a body that never comes.
    let head = "POST /length HTTP/1.1\r\nhost: keel\r\nconnection: close\r\ncontent-length: 10\r\n\r\nabc";
    assert!(ask(address, head).starts_with("HTTP/1.1 408"));
}

#[test]
fn who_is_slow_with_the_head_is_put_out_and_makes_room_for_others() {
    let (_http, address) = start(Limits { connections: 8, head: Duration::from_secs(1), ..Limits::default() });
    let mut slow: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: ");
            stream
        })
        .collect();
    let start = Instant::now();
    assert!(fetch(address, "/").ends_with("here"), "the oldest makes room at once");
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let gone = match stream.read(&mut [0; 512]) {
            Ok(_) => true,
            Err(error) => !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
        };
        assert!(gone, "still there after five seconds");
    }
}

#[test]
fn a_connection_ends_at_the_end_of_its_life_whatever_it_does() {
    let (_http, address) = start(Limits { life: Duration::from_millis(300), ..Limits::default() });
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let start = Instant::now();
    let gone = loop {
        let asked = stream.write_all(b"GET / HTTP/1.1\r\nhost: keel\r\n\r\n");
        if asked.is_err() || matches!(stream.read(&mut [0; 4096]), Ok(0) | Err(_)) {
            break start.elapsed();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(gone < Duration::from_secs(3), "{gone:?}");
}

#[test]
fn a_stop_is_bounded_whatever_connections_and_handlers_do() {
    let (http, address) = start(Limits::default());
    let idle = TcpStream::connect(address).unwrap();
    let mut waiting = TcpStream::connect(address).unwrap();
    waiting.write_all(b"GET /never HTTP/1.1\r\nhost: keel\r\n\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    http.stop();
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    drop((idle, waiting));
}

#[test]
fn a_socket_in_the_file_system_is_its_owners_and_outlives_no_server() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("admin");
    // A server that was killed leaves its socket.
    drop(UnixListener::bind(&path).unwrap());
    let bind = Bind::File(path.clone());
    let http = Http::start(vec![Listener::new(bind.clone(), router())]).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: keel\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("here"));
    assert!(Http::start(vec![Listener::new(bind, router())]).is_err(), "one that runs is left alone");
    drop(http);
    assert!(!path.exists());
}

#[test]
fn tls_speaks_by_the_operators_certificate_and_faults_of_the_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = file("certificate.pem", &made.cert.pem());
    let key = file("key.pem", &made.signing_key.serialize_pem());
    let tls = Some(Tls::load(&certificate, &key).unwrap());
    let http = Http::start(vec![Listener { tls, ..Listener::new(any(), router()) }]).unwrap();
    let address = http.port(0).unwrap();

    let mut roots = rustls::RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut session = rustls::ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let mut encrypted = rustls::Stream::new(&mut session, &mut stream);
    encrypted.write_all(b"GET / HTTP/1.1\r\nhost: keel\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = encrypted.read_to_string(&mut answer);
    assert!(answer.ends_with("here"), "{answer}");
    assert!(!fetch(address, "/").contains("here"), "not without encryption");

    let refused = |certificate, key| Tls::load(certificate, key).unwrap_err().to_string();
    let (empty, nowhere) = (file("empty.pem", "nothing"), folder.path().join("nowhere.pem"));
    for (certificate, key, expected) in [
        (&nowhere, &key, format!("cannot use the certificate {}: ", nowhere.display())),
        (&empty, &key, format!("cannot use the certificate {}: there is no certificate in it", empty.display())),
        (&certificate, &empty, format!("cannot use the key {}: ", empty.display())),
        (&certificate, &file("other.pem", &other.signing_key.serialize_pem()), "cannot use the key ".to_owned()),
    ] {
        let said = refused(certificate, key);
        assert!(said.starts_with(&expected) && !said.contains('\n'), "{said}");
    }
}
