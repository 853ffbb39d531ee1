//! No request reaches an address that was not judged, whatever form the URL gives it.

mod address;
mod answer;
mod metadata;

use std::net::Ipv4Addr;

use amplifier_guard::{Destination, UrlError, UrlPolicy};
use proptest::prelude::*;

fn policy() -> UrlPolicy {
    UrlPolicy::new(vec!["http".into(), "https".into()], vec![80, 443], true)
}

/// What a refusal is, without its words.
fn variant(error: &UrlError) -> &'static str {
    match error {
        UrlError::TooLong { .. } => "too long",
        UrlError::Character { .. } => "character",
        UrlError::Unreadable { .. } => "unreadable",
        UrlError::Scheme { .. } => "scheme",
        UrlError::Credentials { .. } => "credentials",
        UrlError::Port { .. } => "port",
        UrlError::InsideName { .. } => "inside name",
        UrlError::NoAddress { .. } => "no address",
        UrlError::NotAnAddress { .. } => "not an address",
        UrlError::Address { .. } => "address",
        UrlError::Downgrade { .. } => "downgrade",
        _ => "other",
    }
}

fn judged(url: &str) -> Result<String, &'static str> {
    match policy().destination(url) {
        Ok(destination) => Ok(destination.url),
        Err(error) => Err(variant(&error)),
    }
}

#[test]
fn a_url_is_given_back_in_the_form_to_request() {
    for (url, expected) in [
        ("http://good.example", "http://good.example/"),
        (
            "HTTPS://Good.Example:443/a?b#c",
            "https://good.example/a?b#c",
        ),
        ("https://good.example./", "https://good.example/"),
        (
            "https://b\u{fc}cher.example/",
            "https://xn--bcher-kva.example/",
        ),
        (
            "http://localhost-docs.example/",
            "http://localhost-docs.example/",
        ),
        ("http://notlocal/", "http://notlocal/"),
        (
            "http://good.example?\\@127.0.0.1",
            "http://good.example/?\\@127.0.0.1",
        ),
        (
            "http://good.example/?u=http://127.0.0.1/",
            "http://good.example/?u=http://127.0.0.1/",
        ),
        ("http://good.example/@me", "http://good.example/@me"),
        ("http://good.example/a b", "http://good.example/a%20b"),
        ("http://0x5db8d70e/", "http://93.184.215.14/"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
    ] {
        assert_eq!(judged(url), Ok(expected.to_owned()), "{url}");
    }
}

#[test]
fn urls_are_refused_for_what_they_are() {
    for (url, expected) in [
        ("", "unreadable"),
        ("good.example", "unreadable"),
        ("http:///etc/passwd", "unreadable"),
        ("http:/good.example", "unreadable"),
        ("http:good.example", "unreadable"),
        ("http:////good.example", "unreadable"),
        ("http://", "unreadable"),
        ("http://good..example/", "unreadable"),
        ("http://good.example../", "unreadable"),
        ("http://a'b.example/", "unreadable"),
        ("http://[fe80::1%25eth0]/", "unreadable"),
        ("http://1.2.3.4.5/", "unreadable"),
        ("http://256.1.1.1/", "unreadable"),
        ("http://good.example:99999/", "unreadable"),
        ("http://good.example%00.evil.example/", "unreadable"),
        ("http://good.example\\@127.0.0.1/", "character"),
        ("http:\\\\good.example/", "character"),
        (" http://good.example/", "character"),
        ("http://good.example/\u{3000}", "character"),
        ("http://a\r\nX-Injected: 1/", "character"),
        ("http://good.exa\tmple/", "character"),
        ("http://good.example/\u{2028}", "character"),
        ("http://good.example/\0", "character"),
        ("file:///etc/passwd", "scheme"),
        ("gopher://127.0.0.1:6379/_INFO", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/plain,x", "scheme"),
        ("ftp://good.example/", "scheme"),
        ("http://user@good.example/", "credentials"),
        ("http://:word@good.example/", "credentials"),
        ("http://@good.example/", "credentials"),
        ("http://good.example@127.0.0.1/", "credentials"),
        ("http://good.example:22/", "port"),
        ("http://good.example:0/", "port"),
        ("http://localhost/", "inside name"),
        ("http://LOCALHOST./", "inside name"),
        ("http://a.localhost/", "inside name"),
        ("http://metadata.google.internal/", "inside name"),
        ("http://printer.local/", "inside name"),
        ("http://router.home.arpa/", "inside name"),
        ("http://\u{ff4c}ocal\u{00ad}host/", "inside name"),
        (
            &format!("http://good.example/{}", "a".repeat(8192)),
            "too long",
        ),
        (&format!("http://{}.example/", "a".repeat(64)), "unreadable"),
    ] {
        assert_eq!(judged(url), Err(expected), "{url}");
    }
}

fn destination(url: &str) -> Destination {
    policy().destination(url).unwrap()
}

#[test]
fn each_hop_of_a_redirect_is_judged_anew() {
    let from = destination("https://good.example/a/b");
    for (location, expected) in [
        ("../c", Ok("https://good.example/c")),
        ("//other.example/", Ok("https://other.example/")),
        ("https://other.example", Ok("https://other.example/")),
        ("http://other.example", Err("downgrade")),
        ("//127.0.0.1/", Err("address")),
        ("http://169.254.169.254/latest/meta-data", Err("address")),
        ("//localhost/", Err("inside name")),
        ("file:///etc/passwd", Err("scheme")),
        ("//me@other.example/", Err("credentials")),
        ("//other.example:22/", Err("port")),
        ("/\\127.0.0.1/", Err("character")),
        ("/\r\nSet-Cookie: a", Err("character")),
    ] {
        let hop = policy().redirect(&from, location);
        let hop = hop.as_ref().map(|hop| hop.url.as_str());
        assert_eq!(hop.map_err(variant), expected, "{location}");
    }
}

#[test]
fn the_longest_url_is_taken_and_a_longer_one_is_not() {
    let longest = format!("http://good.example/{}", "a".repeat(8172));
    assert_eq!(judged(&longest), Ok(longest.clone()));
    assert_eq!(
        policy()
            .destination(&(longest + "a"))
            .unwrap_err()
            .to_string(),
        "the URL has 8193 bytes, at most 8192 are allowed"
    );
}

#[test]
fn a_refusal_tells_what_was_found_and_what_would_be_right() {
    for (url, message) in [
        (
            "ftp://good.example/",
            "URL scheme `ftp` is not allowed (allowed: http, https)",
        ),
        (
            "http://good.example:22/",
            "port 22 of `good.example` is not allowed (allowed: 80, 443)",
        ),
        (
            "http://10.0.0.1/",
            "host `10.0.0.1` has the address `10.0.0.1`, which is not public (private)",
        ),
        (
            "http://a\tb/",
            "the URL contains `\\t` at byte 8; it must be percent-encoded",
        ),
        (
            &format!("{}://good.example/", "a".repeat(101)),
            &format!(
                "URL scheme `{}…` is not allowed (allowed: http, https)",
                "a".repeat(100)
            ),
        ),
    ] {
        assert_eq!(policy().destination(url).unwrap_err().to_string(), message);
    }
    let answered = policy().check(destination("http://good.example/"), ["1.2.3.4\n"]);
    assert_eq!(
        answered.unwrap_err().to_string(),
        "host `good.example` resolves to `1.2.3.4\\n`, which is not an IP address"
    );
}

#[test]
fn no_message_tells_a_password_a_path_or_a_query() {
    for url in [
        "http://me:hunter2@good.example/hunter2?key=hunter2",
        "http://good.example:22/hunter2?key=hunter2",
        "http://127.0.0.1/hunter2?key=hunter2#hunter2",
        "ftp://me:hunter2@good.example/hunter2",
        "http:hunter2",
    ] {
        let message = policy().destination(url).unwrap_err().to_string();
        assert!(!message.contains("hunter2"), "{message}");
    }
}

/// IPv4 addresses that are not public.
fn hidden_v4() -> impl Strategy<Value = Ipv4Addr> {
    prop_oneof![
        any::<[u8; 3]>().prop_map(|[a, b, c]| Ipv4Addr::new(127, a, b, c)),
        any::<[u8; 3]>().prop_map(|[a, b, c]| Ipv4Addr::new(10, a, b, c)),
        any::<[u8; 3]>().prop_map(|[a, b, c]| Ipv4Addr::new(0, a, b, c)),
        (16..=31_u8, any::<[u8; 2]>()).prop_map(|(a, [b, c])| Ipv4Addr::new(172, a, b, c)),
        (64..=127_u8, any::<[u8; 2]>()).prop_map(|(a, [b, c])| Ipv4Addr::new(100, a, b, c)),
        any::<[u8; 2]>().prop_map(|[a, b]| Ipv4Addr::new(192, 168, a, b)),
        any::<[u8; 2]>().prop_map(|[a, b]| Ipv4Addr::new(169, 254, a, b)),
        (224..=255_u8, any::<[u8; 3]>()).prop_map(|(a, [b, c, d])| Ipv4Addr::new(a, b, c, d)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_passes_again_unchanged(url in "https?://[a-z0-9.\\[\\]:%@/\\\\ -]{0,30}|.*") {
        if let Ok(destination) = policy().destination(&url) {
            let again = policy().destination(&destination.url);
            prop_assert_eq!(again, Ok(destination));
        }
    }
}
