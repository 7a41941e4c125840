//! Who asks, also when a proxy asks for them.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::http::HeaderMap;
use ipnet::IpNet;
use thiserror::Error;

/// The address that a request comes from: that of the connection, or what a trusted proxy says of it. This machine's for a
/// socket in the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller(pub IpAddr);

/// The address that a connection comes from itself, whoever it asks for. This machine's for a socket in the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// Addresses that are believed when they say, by `X-Forwarded-For`, for whom they ask.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

/// What is no address of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no address, such as 10.0.0.1, and no network, such as 10.0.0.0/8")]
pub struct ProxyError(String);

impl FromStr for Proxies {
    type Err = ProxyError;

    /// Reads addresses and networks with commas between them; nothing for nobody.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = |part: &str| {
            let network = part.parse::<IpNet>().ok();
            network.or_else(|| part.parse::<IpAddr>().ok().map(IpNet::from)).ok_or_else(|| ProxyError(part.to_owned()))
        };
        text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(read).collect::<Result<_, _>>().map(Self)
    }
}

impl Proxies {
    /// Whether nobody is believed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an address is believed.
    #[must_use]
    pub fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

impl Caller {
    /// Who asks over a connection from `from`. Each proxy adds whom it asks for at the end, so from there on back the first that
    /// is not itself trusted is whom they all ask for; what stands before may be anyone's invention.
    pub(super) fn of(from: IpAddr, headers: &HeaderMap, proxies: &Proxies) -> Self {
        let mut caller = from;
        let lines: Vec<&str> =
            headers.get_all("x-forwarded-for").iter().map(|value| value.to_str().unwrap_or("?")).collect();
        let hops = lines.iter().flat_map(|line| line.split(',')).collect::<Vec<_>>();
        for hop in hops.into_iter().rev() {
            if !proxies.trust(caller) {
                break;
            }
            let Some(address) = address(hop.trim()) else { break };
            caller = address;
        }
        Self(caller)
    }
}

/// An address as proxies write it: alone, with a port, or in brackets.
fn address(hop: &str) -> Option<IpAddr> {
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(hop);
    let address = bare.parse().ok().or_else(|| hop.parse::<SocketAddr>().ok().map(|address| address.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(from: &str, lines: &[&str], proxies: &str) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        Caller::of(from.parse().unwrap(), &headers, &proxies.parse().unwrap()).0.to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed_and_only_about_whom_they_ask_for() {
        let proxies = "10.0.0.0/8, ::1";
        for (from, lines, expected) in [
            ("192.0.2.1", &["198.51.100.7"][..], "192.0.2.1"),
            ("10.1.2.3", &[], "10.1.2.3"),
            ("10.1.2.3", &["198.51.100.7"], "198.51.100.7"),
            ("10.1.2.3", &["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
            ("10.1.2.3", &["203.0.113.9", "198.51.100.7, 10.9.9.9"], "198.51.100.7"),
            ("10.1.2.3", &["203.0.113.9, nonsense, 10.9.9.9"], "10.9.9.9"),
            ("10.1.2.3", &["198.51.100.7, nonsense"], "10.1.2.3"),
            ("10.1.2.3", &["10.4.4.4, 10.5.5.5"], "10.4.4.4"),
            ("::1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("::1", &["[2001:db8::7]:4711"], "2001:db8::7"),
            ("::1", &["[2001:db8::7]"], "2001:db8::7"),
            ("::1", &["::ffff:198.51.100.7"], "198.51.100.7"),
            ("::1", &[""], "::1"),
        ] {
            assert_eq!(caller(from, lines, proxies), expected, "{from} {lines:?}");
        }
        assert_eq!(caller("127.0.0.1", &["198.51.100.7"], ""), "127.0.0.1", "nobody is believed unless named");
    }

    #[test]
    fn a_list_of_proxies_with_a_mistake_is_refused() {
        assert_eq!("10.0.0.1,here".parse::<Proxies>(), Err(ProxyError("here".to_owned())));
        assert!("".parse::<Proxies>().unwrap().is_empty());
    }
}
