//! Logging in: a name and a password over HTTP for a token that connects once.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use renet_netcode::ConnectToken;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use ureq::http::{Uri, header};
use ureq::tls::{PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};

/// How long a login may take. A server with many who log in lets them wait for their turn.
const PATIENCE: Duration = Duration::from_secs(20);

/// Bytes of an answer at most.
const MOST_ANSWER: u64 = 64 * 1024;

/// Bytes before netcode's token, for the number that renetcode's writer puts there. Only the server needs to know it.
const NUMBER_BYTES: usize = 8;

/// What a login gave: it is good for one connection, soon.
pub struct Login {
    pub(crate) token: ConnectToken,
    /// Where the server is.
    pub server: SocketAddr,
    /// What the pilot is called, as the account has it.
    pub name: String,
    /// Until when it connects.
    pub until: Instant,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("server", &self.server).field("name", &self.name).finish_non_exhaustive()
    }
}

/// Whose certificates are believed.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// Those that this machine believes.
    #[default]
    Machine,
    /// Those that these have signed, and no others: the text of a PEM file.
    Pem(String),
}

/// Why there is no login.
#[derive(Debug, Error)]
pub enum LoginError {
    /// That is no address of a web server.
    #[error("{0} is no address to log in at, such as https://keel.example:7778")]
    Address(String),
    /// The password would be sent so that others can read it.
    #[error("{0} is not on this machine, and a password goes to others only by https")]
    Unencrypted(String),
    /// There is no certificate in what is to be trusted.
    #[error("there is no certificate in what is to be trusted")]
    Trust,
    /// Nobody answers there, or not as who they should be.
    #[error("cannot log in at {address}: {reason}")]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        reason: String,
    },
    /// The server says no.
    #[error("{reason}")]
    Refused {
        /// Why, for a person.
        reason: String,
        /// When to try again, if that is a question of time.
        after: Option<Duration>,
    },
    /// What answers there is no Keel server of this kind.
    #[error("what answers at {0} is no Keel server's login")]
    Answer(String),
}

#[derive(Serialize)]
struct Asked<'a> {
    name: &'a str,
    password: &'a str,
}

#[derive(Deserialize)]
struct Given {
    name: String,
    token: String,
    expires_in: u64,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
}

impl Login {
    /// Logs in at an address such as `https://keel.example:7778`. It waits for the answer: some 20 ms, and longer while many
    /// log in.
    ///
    /// # Errors
    /// When the server cannot be reached or says no, and before anything is sent when others could read the password.
    pub fn ask(address: &str, name: &str, password: &str, trust: &Trust) -> Result<Self, LoginError> {
        let (uri, host) = place(address)?;
        let agent = agent(trust, uri.scheme_str() == Some("https"))?;
        let begun = Instant::now();
        let unreachable =
            |error: ureq::Error| LoginError::Unreachable { address: address.to_owned(), reason: error.to_string() };
        let mut answer = agent.post(&uri).send_json(Asked { name, password }).map_err(unreachable)?;
        let wait = answer.headers().get(header::RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
        let is_given = answer.status().is_success();
        let body = answer.body_mut().with_config().limit(MOST_ANSWER).read_to_vec().map_err(unreachable)?;
        if !is_given {
            let strange = |_| LoginError::Answer(address.to_owned());
            let Refused { error: reason } = serde_json::from_slice(&body).map_err(strange)?;
            return Err(LoginError::Refused { reason, after: wait.map(Duration::from_secs) });
        }
        Self::read(&body, host, begun).ok_or_else(|| LoginError::Answer(address.to_owned()))
    }

    /// Reads what a login answered, for clients that ask by an HTTP client of their own: a body, the machine that it is from, and when it was
    /// asked for. `None` if it is no such answer.
    #[must_use]
    pub fn read(body: &[u8], host: IpAddr, asked: Instant) -> Option<Self> {
        let given: Given = serde_json::from_slice(body).ok()?;
        let mut bytes = vec![0; NUMBER_BYTES];
        BASE64_STANDARD.decode_vec(&given.token, &mut bytes).ok()?;
        let mut token = ConnectToken::read(&mut bytes.as_slice()).ok()?;
        let server = token.server_addresses[0].as_mut()?;
        // A server that listens everywhere does not know under which address it was found.
        if server.ip().is_unspecified() {
            server.set_ip(host);
        }
        let server = *server;
        let until = asked.checked_add(Duration::from_secs(given.expires_in))?;
        Some(Self { token, server, name: given.name, until })
    }
}

/// Where to ask, and the address of the machine that this is. A password goes to another machine only encrypted.
fn place(address: &str) -> Result<(Uri, IpAddr), LoginError> {
    let wrong = || LoginError::Address(address.to_owned());
    let uri: Uri = address.parse().map_err(|_| wrong())?;
    let is_encrypted = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => false,
        _ => return Err(wrong()),
    };
    let host = uri.host().ok_or_else(wrong)?.trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
    let unreachable = |reason: String| LoginError::Unreachable { address: address.to_owned(), reason };
    let found: Vec<SocketAddr> =
        (host, port).to_socket_addrs().map_err(|error| unreachable(error.to_string()))?.collect();
    let ip = found.iter().find(|found| found.is_ipv4()).or(found.first());
    let ip = ip.ok_or_else(|| unreachable("there is no such machine".to_owned()))?.ip();
    if !is_encrypted && !found.iter().all(|found| found.ip().is_loopback()) {
        return Err(LoginError::Unencrypted(address.to_owned()));
    }
    let path = match uri.path() {
        "" | "/" => "/login",
        path => path,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path.parse().map_err(|_| wrong())?);
    Ok((Uri::from_parts(parts).map_err(|_| wrong())?, ip))
}

fn agent(trust: &Trust, is_encrypted: bool) -> Result<ureq::Agent, LoginError> {
    let roots = match trust {
        Trust::Machine => RootCerts::PlatformVerifier,
        Trust::Pem(text) => {
            let certificates = parse_pem(text.as_bytes()).filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            });
            let certificates: Vec<_> = certificates.collect();
            if certificates.is_empty() {
                return Err(LoginError::Trust);
            }
            RootCerts::from(certificates)
        }
    };
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(roots)
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        // What was meant for one server is not told to another.
        .max_redirects(0);
    // Nor to a proxy in clear.
    let config = if is_encrypted { config } else { config.proxy(None) };
    Ok(config.build().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_goes_to_other_machines_only_encrypted() {
        for (address, expected) in [
            ("http://127.0.0.1:7778", Some("http://127.0.0.1:7778/login")),
            ("http://127.0.0.1:7778/", Some("http://127.0.0.1:7778/login")),
            ("http://[::1]:7778", Some("http://[::1]:7778/login")),
            ("https://192.0.2.1", Some("https://192.0.2.1/login")),
            ("https://192.0.2.1/keel/login", Some("https://192.0.2.1/keel/login")),
            ("http://192.0.2.1:7778", None),
        ] {
            match (place(address), expected) {
                (Ok((uri, _)), Some(expected)) => assert_eq!(uri.to_string(), expected),
                (Err(LoginError::Unencrypted(_)), None) => {}
                (found, _) => panic!("{address}: {found:?}"),
            }
        }
        for address in ["", "keel", "127.0.0.1:7778", "ftp://127.0.0.1", "http://", "https:///login"] {
            assert!(matches!(place(address), Err(LoginError::Address(_))), "{address}");
        }
        let none = Login::ask("https://127.0.0.1:1", "ann", "secret", &Trust::Pem("nothing".to_owned()));
        assert!(matches!(none, Err(LoginError::Trust)));
    }
}
