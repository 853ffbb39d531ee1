//! An address is judged by the network it lies in, however it is written.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use amplifier_guard::Network;
use proptest::prelude::*;

use super::{hidden_v4, judged};

#[test]
fn networks_end_where_the_registries_say() {
    for (address, expected) in [
        ("0.0.0.0", Network::Unspecified),
        ("0.0.0.1", Network::Reserved),
        ("0.255.255.255", Network::Reserved),
        ("1.0.0.0", Network::Public),
        ("9.255.255.255", Network::Public),
        ("10.0.0.0", Network::Private),
        ("10.255.255.255", Network::Private),
        ("11.0.0.0", Network::Public),
        ("100.63.255.255", Network::Public),
        ("100.64.0.0", Network::Shared),
        ("100.100.100.200", Network::Metadata),
        ("100.127.255.255", Network::Shared),
        ("100.128.0.0", Network::Public),
        ("126.255.255.255", Network::Public),
        ("127.0.0.0", Network::Loopback),
        ("127.255.255.255", Network::Loopback),
        ("128.0.0.0", Network::Public),
        ("168.63.129.16", Network::Metadata),
        ("168.63.129.17", Network::Public),
        ("169.253.255.255", Network::Public),
        ("169.254.169.254", Network::LinkLocal),
        ("169.255.0.0", Network::Public),
        ("172.15.255.255", Network::Public),
        ("172.16.0.0", Network::Private),
        ("172.31.255.255", Network::Private),
        ("172.32.0.0", Network::Public),
        ("192.0.0.1", Network::Reserved),
        ("192.0.0.192", Network::Metadata),
        ("192.0.1.0", Network::Public),
        ("192.0.2.255", Network::Reserved),
        ("192.0.3.0", Network::Public),
        ("192.88.98.255", Network::Public),
        ("192.88.99.1", Network::Reserved),
        ("192.167.255.255", Network::Public),
        ("192.168.0.0", Network::Private),
        ("192.169.0.0", Network::Public),
        ("198.17.255.255", Network::Public),
        ("198.18.0.0", Network::Reserved),
        ("198.19.255.255", Network::Reserved),
        ("198.20.0.0", Network::Public),
        ("198.51.100.1", Network::Reserved),
        ("203.0.113.1", Network::Reserved),
        ("223.255.255.255", Network::Public),
        ("224.0.0.1", Network::Multicast),
        ("239.255.255.255", Network::Multicast),
        ("240.0.0.0", Network::Reserved),
        ("255.255.255.255", Network::Reserved),
        ("::", Network::Unspecified),
        ("::1", Network::Loopback),
        ("::2", Network::Reserved),
        ("::7f00:1", Network::Loopback),
        ("::808:808", Network::Public),
        ("::ffff:127.0.0.1", Network::Loopback),
        ("::ffff:8.8.8.8", Network::Public),
        ("::ffff:0:10.0.0.1", Network::Private),
        ("64:ff9b::a9fe:a9fe", Network::LinkLocal),
        ("64:ff9b::8.8.8.8", Network::Public),
        ("64:ff9b:1::1", Network::Reserved),
        ("100::1", Network::Reserved),
        ("2001::1", Network::Reserved),
        ("2001:1ff::1", Network::Reserved),
        ("2001:200::1", Network::Public),
        ("2001:db8::1", Network::Reserved),
        ("2001:db9::1", Network::Public),
        ("2002:7f00:1::", Network::Loopback),
        ("2002:808:808::1", Network::Public),
        ("2606:4700::5efe:a00:1", Network::Private),
        ("2606:4700::200:5efe:a00:1", Network::Private),
        ("2606:4700::5efe:808:808", Network::Public),
        ("fe80::5efe:808:808", Network::LinkLocal),
        ("2606:4700::1111", Network::Public),
        ("3fff:fff::1", Network::Reserved),
        ("3fff:1000::1", Network::Public),
        ("4000::1", Network::Reserved),
        ("5f00::1", Network::Reserved),
        ("fbff::1", Network::Reserved),
        ("fc00::1", Network::Private),
        ("fd00:ec2::254", Network::Metadata),
        ("fdff::1", Network::Private),
        ("fe00::1", Network::Reserved),
        ("fe80::1", Network::LinkLocal),
        ("feff::1", Network::LinkLocal),
        ("ff02::1", Network::Multicast),
    ] {
        let address: IpAddr = address.parse().unwrap();
        assert_eq!(Network::of(address), expected, "{address}");
    }
}

#[test]
fn each_network_has_its_word() {
    let words = [
        "8.8.8.8",
        "127.0.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.0.1",
        "100.100.100.200",
        "224.0.0.1",
        "0.0.0.0",
        "240.0.0.1",
    ]
    .map(|address| Network::of(address.parse().unwrap()).to_string());
    assert_eq!(
        words,
        [
            "public",
            "loopback",
            "private",
            "carrier-grade NAT",
            "link-local",
            "cloud metadata",
            "multicast",
            "unspecified",
            "reserved",
        ]
    );
}

/// The host `address` as one of its many spellings.
pub(super) fn spelled(address: Ipv4Addr, spelling: usize) -> String {
    let number = u32::from(address);
    let [a, b, c, d] = address.octets();
    let dotted = address.to_string();
    let (high, low) = (number >> 16, number & 0xffff);
    match spelling {
        0 => dotted,
        1 => number.to_string(),
        2 => format!("{number:#x}"),
        3 => format!("0{number:o}"),
        4 => format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        5 => format!("{a:#X}.{b:#x}.{c}.{d}"),
        6 => format!("{a}.{}", number & 0x00ff_ffff),
        7 => format!("{a}.{b}.{low}"),
        8 => format!("{dotted}."),
        9 => dotted.replace('1', "%31").replace('.', "%2e"),
        10 => dotted.replace('.', "\u{3002}"),
        11 => dotted
            .chars()
            .map(|digit| char::from_u32(u32::from(digit) + 0xfee0).unwrap())
            .collect(),
        12 => format!("[::ffff:{dotted}]"),
        13 => format!("[::ffff:{high:x}:{low:x}]"),
        14 => format!("[64:ff9b::{dotted}]"),
        15 => format!("[2002:{high:x}:{low:x}::1]"),
        16 => format!("[2606:4700::5efe:{high:x}:{low:x}]"),
        17 => format!("[0:0:0:0:FFFF:0:{high:X}:{low:X}]"),
        _ => format!("[::{dotted}]"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_spelling_of_a_hidden_address_passes(address in hidden_v4(), spelling in 0..19_usize) {
        let url = format!("http://{}/", spelled(address, spelling));
        let refusal = judged(&url);
        prop_assert_eq!(refusal, Err("address"), "{}", url);
    }

    #[test]
    fn an_ipv6_address_of_its_own_passes_only_if_it_is_global(
        first in 0x65..=0xffff_u16,
        others in any::<[u16; 7]>(),
    ) {
        let [a, b, c, d, e, f, g] = others;
        let address = Ipv6Addr::new(first, a, b, c, d, e, f, g);
        if judged(&format!("http://[{address}]/")).is_ok() {
            prop_assert!((0x2000..=0x3fff).contains(&first), "{}", address);
        }
    }
}
