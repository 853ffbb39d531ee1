//! The metadata services of clouds: their addresses and names.

use std::net::IpAddr;
use std::sync::LazyLock;

/// The addresses and prefixes, each with its length in bits; IPv4 is mapped into IPv6.
static PREFIXES: LazyLock<Vec<(u128, u32)>> = LazyLock::new(|| {
    let prefix = |row: &str| {
        let (address, bits) = row.split_once('/').unwrap_or((row, "128"));
        Some((number(address.parse().ok()?), bits.parse().ok()?))
    };
    rows().filter_map(prefix).collect()
});

/// Whether a metadata service answers at `address`.
pub(super) fn is_metadata_address(address: IpAddr) -> bool {
    let mut prefixes = PREFIXES.iter();
    prefixes.any(|(prefix, bits)| (number(address) ^ prefix) >> (128 - bits) == 0)
}

/// Whether a metadata service answers under the name `host`.
pub(super) fn is_metadata_name(host: &str) -> bool {
    rows().any(|row| row == host)
}

fn rows() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("metadata.txt").lines();
    lines.filter_map(|line| line.split('#').next()?.split_whitespace().next())
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().into(),
        IpAddr::V6(address) => address.into(),
    }
}
