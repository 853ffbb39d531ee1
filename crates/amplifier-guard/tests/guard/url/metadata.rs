//! No spelling of a metadata service is requested, whatever else is allowed.
//!
//! Holds: sink-58

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use amplifier_guard::{Network, UrlPolicy};
use proptest::prelude::*;

use super::address::spelled;
use super::variant;

const DATA: &str = include_str!("../../../src/url/metadata.txt");

fn rows() -> impl Iterator<Item = &'static str> {
    DATA.lines()
        .filter_map(|line| line.split('#').next()?.split_whitespace().next())
}

fn v4_rows() -> Vec<Ipv4Addr> {
    rows().filter_map(|row| row.parse().ok()).collect()
}

fn v6_rows() -> Vec<Ipv6Addr> {
    rows()
        .filter_map(|row| row.split('/').next()?.parse().ok())
        .collect()
}

fn names() -> Vec<&'static str> {
    rows()
        .filter(|row| row.split('/').next().unwrap().parse::<IpAddr>().is_err())
        .collect()
}

/// What a policy says of `url` that allows private networks, too.
fn judged(url: &str) -> Result<String, &'static str> {
    UrlPolicy::new(vec!["http".into(), "https".into()], vec![80, 443], false)
        .destination(url)
        .map(|destination| destination.url)
        .map_err(|error| variant(&error))
}

#[test]
fn each_row_is_an_address_a_prefix_or_a_name() {
    assert_eq!((v4_rows().len(), v6_rows().len()), (15, 7));
    for name in names() {
        assert_eq!(name, name.to_ascii_lowercase());
        assert_eq!(judged(&format!("http://{name}/")), Err("inside name"));
    }
}

#[test]
fn a_neighbour_of_a_metadata_service_is_what_its_network_is() {
    for (address, expected) in [
        ("100.100.100.201", Network::Shared),
        ("168.63.129.15", Network::Public),
        ("192.0.0.193", Network::Reserved),
        ("fd00:100::100:201", Network::Private),
        ("fd00:42::43", Network::Private),
        ("fd00:ec1:ffff:ffff:ffff:ffff:ffff:ffff", Network::Private),
        ("fd00:ec2::", Network::Metadata),
        ("fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff", Network::Metadata),
        ("fd00:ec3::", Network::Private),
        ("fd20:ce::255", Network::Private),
        ("fd12::a9fe:a9fe", Network::LinkLocal),
        ("fd12::a9ff:a9fe", Network::Private),
        ("fd12::6464:64c8", Network::Metadata),
    ] {
        assert_eq!(Network::of(address.parse().unwrap()), expected, "{address}");
    }
    for host in ["metadata.example", "my-metadata", "kubernetes.example"] {
        let url = format!("http://{host}/");
        assert_eq!(judged(&url), Ok(url.clone()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_spelling_of_an_ipv4_row_passes(
        address in prop::sample::select(v4_rows()),
        spelling in 0..19_usize,
    ) {
        let url = format!("http://{}/", spelled(address, spelling));
        prop_assert_eq!(judged(&url), Err("address"), "{}", url);
    }

    #[test]
    fn no_network_of_ones_own_translates_to_an_ipv4_row(
        address in prop::sample::select(v4_rows()),
        prefix in any::<[u16; 5]>(),
    ) {
        let [high, low] = [0, 2].map(|at| {
            u16::from_be_bytes([address.octets()[at], address.octets()[at + 1]])
        });
        let [a, b, c, d, e] = prefix;
        let found = Ipv6Addr::new(0xfc00 | a & 0x1ff, b, c, d, e, 0, high, low);
        prop_assert_eq!(judged(&format!("http://[{found}]/")), Err("address"), "{}", found);
    }

    #[test]
    fn no_spelling_of_an_ipv6_row_passes(
        address in prop::sample::select(v6_rows()),
        spelling in 0..4_usize,
    ) {
        let groups = address.segments();
        let dotted = Ipv4Addr::from(u32::from(groups[6]) << 16 | u32::from(groups[7]));
        let long = |width| groups.map(|group| format!("{group:0width$X}")).join(":");
        let host = match spelling {
            0 => address.to_string(),
            1 => long(4),
            2 => long(1),
            _ => format!("{}:{dotted}", groups[..6].iter().map(|group| format!("{group:x}"))
                .collect::<Vec<_>>().join(":")),
        };
        prop_assert_eq!(judged(&format!("http://[{host}]/")), Err("address"), "{}", host);
    }

    #[test]
    fn no_answer_of_a_resolver_leads_to_a_row(
        address in prop::sample::select(
            v4_rows().into_iter().map(IpAddr::from).chain(v6_rows().into_iter().map(IpAddr::from))
                .collect::<Vec<_>>()
        ),
    ) {
        let policy = UrlPolicy::new(vec!["http".into()], vec![80], false);
        let destination = policy.destination("http://good.example/").unwrap();
        let answer = address.to_string();
        let checked = policy.check(destination, ["10.0.0.1", answer.as_str()]);
        prop_assert_eq!(checked.map_err(|error| variant(&error)), Err("address"));
    }

    #[test]
    fn no_spelling_of_a_name_passes(
        name in prop::sample::select(names()),
        capital in any::<prop::sample::Index>(),
        spelling in 0..5_usize,
    ) {
        let at = capital.index(name.len());
        let mut host = name.to_owned();
        host[at..=at].make_ascii_uppercase();
        let host = match spelling {
            0 => host,
            1 => format!("{host}."),
            2 => host.replace('.', "\u{3002}"),
            3 => host.replace('a', "%61"),
            _ => host.replace('e', "\u{ff45}"),
        };
        prop_assert_eq!(judged(&format!("http://{host}/")), Err("inside name"), "{}", host);
    }
}
