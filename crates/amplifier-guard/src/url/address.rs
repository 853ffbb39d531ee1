//! What kind of network an address belongs to, whatever form it is written in.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use amplifier_core::words;

use super::metadata::is_metadata_address;

words! {
    /// The network that an address belongs to, after the registries of IANA for special addresses.
    #[non_exhaustive]
    pub enum Network {
        /// Reachable for everyone.
        Public = "public",
        /// This machine.
        Loopback = "loopback",
        /// A private network: RFC 1918, unique local IPv6.
        Private = "private",
        /// Shared by a provider and its customers (RFC 6598).
        Shared = "carrier-grade NAT",
        /// This cable alone; cloud machines find their metadata, with their keys, here.
        LinkLocal = "link-local",
        /// The metadata service of a cloud at an address that is not link-local.
        Metadata = "cloud metadata",
        /// Many machines at once.
        Multicast = "multicast",
        /// No address at all.
        Unspecified = "unspecified",
        /// Kept for documentation, tests, tunnels or the future.
        Reserved = "reserved",
    }
}

impl Network {
    /// The network of `address`; an IPv4 address inside an IPv6 one counts for what it is.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

fn of_v4(address: Ipv4Addr) -> Network {
    match address.octets() {
        [0, 0, 0, 0] => Network::Unspecified,
        [127, ..] => Network::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Network::Private,
        [169, 254, ..] => Network::LinkLocal,
        _ if is_metadata_address(address.into()) => Network::Metadata,
        [100, 64..=127, ..] => Network::Shared,
        [224..=239, ..] => Network::Multicast,
        [0 | 240..=255, ..]
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => Network::Reserved,
        _ => Network::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> Network {
    if let Some(inner) = inner_v4(address) {
        return of_v4(inner);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Network::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Network::Loopback,
        _ if is_metadata_address(address.into()) => Network::Metadata,
        // A translator of a private network may hand the packet on over IPv4.
        [0xfc00..=0xfdff, .., high, low] => match of_v4(join(high, low)) {
            network @ (Network::Metadata | Network::LinkLocal) => network,
            _ => Network::Private,
        },
        [0xfe80..=0xfeff, ..] => Network::LinkLocal,
        [0xff00..=0xffff, ..] => Network::Multicast,
        // Protocol assignments (Teredo among them) and documentation.
        [0x2001, 0..=0x01ff | 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => Network::Reserved,
        // ISATAP: the last router hands the packet on over IPv4.
        [0x2000..=0x3fff, _, _, _, 0 | 0x0200, 0x5efe, high, low] => of_v4(join(high, low)),
        [0x2000..=0x3fff, ..] => Network::Public,
        _ => Network::Reserved,
    }
}

/// The IPv4 address that a packet to `address` reaches in the end.
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        // Mapped, translated (SIIT), NAT64, 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x0064, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(join(high, low)),
        // Compatible, but for `::` and `::1`.
        [0, 0, 0, 0, 0, 0, high, low] if (high, low) > (0, 1) => Some(join(high, low)),
        _ => None,
    }
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}
