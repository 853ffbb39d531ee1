//! What a resolver answers is judged before anything connects to it.

use std::net::Ipv4Addr;

use amplifier_guard::{Checked, UrlPolicy};
use proptest::prelude::*;

use super::{destination, hidden_v4, policy, variant};

#[test]
fn every_answer_must_be_allowed_and_exactly_those_are_connected_to() {
    let checked = policy().check(
        destination("https://good.example./x"),
        ["93.184.215.14", "2606:4700::1111", "93.184.215.14"],
    );
    assert_eq!(
        checked,
        Ok(Checked {
            url: "https://good.example/x".into(),
            host: "good.example".into(),
            port: 443,
            addresses: vec![
                "93.184.215.14".parse().unwrap(),
                "2606:4700::1111".parse().unwrap(),
            ],
        })
    );
    for (answers, expected) in [
        (vec![], "no address"),
        (vec!["93.184.215.14", "127.0.0.1"], "address"),
        (vec!["fe80::1"], "address"),
        (vec!["fe80::1%eth0"], "not an address"),
        (vec!["0177.0.0.1"], "not an address"),
        (vec!["elsewhere.example"], "not an address"),
    ] {
        let refusal = policy().check(destination("http://good.example/"), answers.iter().copied());
        assert_eq!(
            refusal.map_err(|error| variant(&error)),
            Err(expected),
            "{answers:?}"
        );
    }
}

#[test]
fn an_address_in_the_url_is_connected_to_whatever_a_resolver_says() {
    let checked = policy().check(destination("http://93.184.215.14/"), ["127.0.0.1"]);
    let addresses = checked.map(|checked| checked.addresses);
    assert_eq!(addresses, Ok(vec![Ipv4Addr::new(93, 184, 215, 14).into()]));
}

#[test]
fn without_the_private_rule_the_own_networks_open_and_no_others() {
    let open = UrlPolicy::new(vec!["http".into()], vec![80], false);
    for host in [
        "127.0.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "localhost",
        "[::1]",
        "[fd12::1]",
    ] {
        assert!(
            open.destination(&format!("http://{host}/")).is_ok(),
            "{host}"
        );
    }
    for host in [
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "100.100.100.200",
        "[fd00:ec2::254]",
    ] {
        let refusal = open.destination(&format!("http://{host}/"));
        assert_eq!(
            refusal.map_err(|error| variant(&error)),
            Err("address"),
            "{host}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hidden_answer_refuses_the_name_wherever_it_stands(
        hidden in hidden_v4(),
        mapped in any::<bool>(),
        before in 0..4_usize,
        after in 0..4_usize,
    ) {
        let hidden = if mapped { hidden.to_ipv6_mapped().to_string() } else { hidden.to_string() };
        let mut answers = vec!["93.184.215.14"; before];
        answers.push(&hidden);
        answers.resize(before + 1 + after, "93.184.215.14");
        let refusal = policy().check(destination("http://good.example/"), answers);
        prop_assert_eq!(refusal.map_err(|error| variant(&error)), Err("address"));
    }
}
