//! A server with accounts, and logins as they come over HTTP.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use keel_client::{Client, Login, Trust};
use keel_server::accounts::{Accounts, Hashed};
use keel_server::http::Http;
use keel_server::{Access, Admission, Config, Gauges, LOGIN_LIFE, LoginConfig, LoginCounts, Report, Server};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use renetcode::ConnectToken;

use super::config;

/// What every account here is proven by.
pub(crate) const PASSWORD: &str = "correct horse";

/// How logins are taken in a data directory, on a port that the system chooses.
pub(crate) fn logins(data: &std::path::Path) -> LoginConfig {
    LoginConfig {
        data: data.to_owned(),
        bind: "127.0.0.1:0".parse().unwrap(),
        tls: None,
        proxies: "127.0.0.1".parse().unwrap(),
        public: None,
        life: LOGIN_LIFE,
    }
}

/// Makes accounts, all with one password, which is hashed once.
pub(crate) fn accounts(data: &std::path::Path, names: impl IntoIterator<Item = String>) -> Accounts {
    let (accounts, hashed) = (Accounts::open(data).unwrap(), Hashed::of(PASSWORD).unwrap());
    for name in names {
        accounts.add(&name, &hashed).unwrap();
    }
    accounts
}

/// A server with accounts that runs by itself.
pub(crate) struct Secured {
    pub(crate) data: tempfile::TempDir,
    pub(crate) accounts: Accounts,
    pub(crate) address: SocketAddr,
    pub(crate) login: SocketAddr,
    pub(crate) counts: Arc<LoginCounts>,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) admission: Arc<Admission>,
    http: Option<Http>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Report>>,
}

impl Secured {
    /// One with accounts of those names.
    pub(crate) fn start(names: &[&str]) -> Self {
        Self::start_with(names.iter().map(ToString::to_string), |config, _| config)
    }

    /// One that is set otherwise.
    pub(crate) fn start_with(
        names: impl IntoIterator<Item = String>,
        set: impl FnOnce(Config, &mut LoginConfig) -> Config,
    ) -> Self {
        let data = tempfile::tempdir().unwrap();
        let accounts = accounts(data.path(), names);
        let mut taken = logins(data.path());
        let config = set(config(), &mut taken);
        let config = Config { access: Access::Accounts(taken), ..config };
        let (tell, told) = std::sync::mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        // An app stays on the thread that made it.
        let thread = std::thread::spawn(move || {
            let server = Server::start(&config).unwrap();
            let listener = server.login_listener().unwrap();
            let seen = (server.login_counts(), server.gauges(), server.handle().admission);
            tell.send((server.address(), listener, seen)).unwrap();
            server.run(&flag)
        });
        let (address, listener, (counts, gauges, admission)) = told.recv().unwrap();
        let http = Http::start(vec![listener]).unwrap();
        let login = http.port(0).unwrap();
        let (http, thread) = (Some(http), Some(thread));
        Self { data, accounts, address, login, counts, gauges, admission, http, stop, thread }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.login)
    }

    /// A login of an account of [`PASSWORD`].
    pub(crate) fn login(&self, name: &str) -> Login {
        Login::ask(&self.url(), name, PASSWORD, &Trust::Machine).unwrap()
    }

    /// A pilot who has logged in, is in, and has a ship.
    pub(crate) fn pilot(&self, name: &str) -> Client {
        flying(Client::connect_as(self.login(name)).unwrap())
    }

    pub(crate) fn end(mut self) -> Report {
        self.stop()
    }

    fn stop(&mut self) -> Report {
        self.stop.store(true, Ordering::Relaxed);
        drop(self.http.take());
        self.thread.take().unwrap().join().expect("the server did not panic")
    }
}

impl Drop for Secured {
    fn drop(&mut self) {
        if self.thread.is_some() && !std::thread::panicking() {
            self.stop();
        }
    }
}

/// A client, once it has a ship.
pub(crate) fn flying(mut client: Client) -> Client {
    let start = Instant::now();
    while client.replica().active().is_none() {
        client.poll().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "nobody lets it in");
        std::thread::sleep(Duration::from_millis(5));
    }
    client
}

/// What a web server has answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The login of it, if it is one.
    pub(crate) fn login(&self) -> Option<Login> {
        Login::read(self.body.as_bytes(), Ipv4Addr::LOCALHOST.into(), Instant::now())
    }

    /// Seconds to wait before the next try.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        let line = self.head.lines().find_map(|line| line.strip_prefix("retry-after: "))?;
        line.trim().parse().ok()
    }
}

/// Sends a body to the login, for an address that a proxy would name, and does not wait for the answer.
pub(crate) fn asking(login: SocketAddr, caller: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(login).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "POST /login HTTP/1.1\r\nhost: keel\r\nconnection: close\r\ncontent-type: application/json\r\nx-forwarded-for: {caller}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let _ = stream.write_all(body.as_bytes());
    stream
}

/// What is answered to one who has asked.
pub(crate) fn answer(mut stream: TcpStream) -> Answer {
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// Sends a body to the login as it is, for an address that a proxy would name.
pub(crate) fn post_raw(login: SocketAddr, caller: &str, body: &str) -> Answer {
    answer(asking(login, caller, body))
}

/// What one sends who logs in.
pub(crate) fn login_of(name: &str, password: &str) -> String {
    format!("{{\"name\":{name:?},\"password\":{password:?}}}")
}

/// Logs in for an address that a proxy would name.
pub(crate) fn post(login: SocketAddr, caller: &str, name: &str, password: &str) -> Answer {
    post_raw(login, caller, &login_of(name, password))
}

/// The token that a login was given.
pub(crate) fn token(answer: &Answer) -> ConnectToken {
    let given: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"));
    let bytes = BASE64_STANDARD.decode(given["token"].as_str().unwrap()).unwrap();
    assert_eq!(bytes.len(), 2048);
    // What renetcode reads before netcode's token is for the server alone.
    ConnectToken::read(&mut [&[0; 8], bytes.as_slice()].concat().as_slice()).unwrap()
}
