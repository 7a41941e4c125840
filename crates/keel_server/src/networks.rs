//! Whom an address stands for: what is bounded for each is bounded for all addresses that one caller has.

use std::net::{IpAddr, Ipv6Addr};

/// What one caller has at least: an IPv4 address, or an IPv6 network of 64 bits.
pub(crate) const fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(first(address, 64)),
    }
}

/// What one caller may have besides: an IPv6 network of 48 bits, with 65,536 of the others in it. `None` for IPv4.
pub(crate) const fn site(address: IpAddr) -> Option<Ipv6Addr> {
    match address.to_canonical() {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => Some(first(address, 48)),
    }
}

/// The first so many bits of an address, and zeros.
const fn first(address: Ipv6Addr, bits: u32) -> Ipv6Addr {
    Ipv6Addr::from_bits(address.to_bits() & u128::MAX << (128 - bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_is_an_address_or_a_network_and_may_be_a_site() {
        for (address, one, more) in [
            ("192.0.2.1", "192.0.2.1", None),
            ("::ffff:192.0.2.1", "192.0.2.1", None),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", Some("2001:db8:1::")),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(network(address).to_string(), one);
            assert_eq!(site(address).map(|site| site.to_string()).as_deref(), more);
        }
    }
}
