//! Passwords in addresses.

use super::{BODY, assert_hidden, assert_stays};

#[test]
fn the_password_of_an_address_is_hidden_and_the_user_stays() {
    assert_hidden(
        "password",
        &[
            "http://ada:«swordfish»@host/a b",
            "a+b://ada:«swordfish»@host:80",
            "redis://:«swordfish»@host",
            "\"http://ada:«swordfish»@host\" b",
            "'http://ada:«swordfish»@host' b",
            "`http://ada:«swordfish»@host` b",
            "http://ada:«sword:fish»@host",
            "http://ada:«sword@fish»@host",
            "http://ada:«swordfish»@host?a=b@c",
            "http://ada:«swordfish»@host#b@c",
            "http://ada:«swordfish»@host,ada:b@c",
            "<http://ada:«swordfish»@host>b@c",
            "http://ada:«swordfish»@host\\nb@c",
            "http://ada:«sword/fish»@host",
            "http://ada:«sword?fish»@host",
            "http://ada:«sword#fish»@host",
            "http://ada:«8a/sword»@host",
            "http://ada:«swordfish»@a http://ada:«swordfish»@b",
            "http://ada:«swordfish»@a,http://ada:«swordfish»@b",
            "http://x/http://ada:«swordfish»@b",
        ],
    );
}

#[test]
fn a_token_in_the_place_of_the_user_is_hidden() {
    assert_hidden(
        "password",
        &[
            &format!("https://«{BODY}»@host/a"),
            "https://«Q7wE9rT2yU4iO6pA»@host/a",
            "https://«Q7wE9rT2yU4iO6pA»@host:80/a",
        ],
    );
    assert_stays(&[
        "https://Q7wE9rT2yU4iO6p@host/a",
        "https://swordfishswordfish@host/a",
        "https://host/Q7wE9rT2yU4iO6pA@a",
    ]);
}

#[test]
fn other_addresses_stay() {
    assert_stays(&[
        "http://host:80/a@b",
        "http://host:/a@b",
        "http://host:80?a@b",
        "http://host://a@b",
        "http://host/a:b@c",
        "http://ada@host",
        "http://ada:@host",
        "http://ada:xxxx@host",
        "http://ada:<password>@host",
        "http://ada:$PASSWORD@host",
        "http://ada:[REDACTED:password]@host",
        "http://ada:[REDACTED:password]b@host",
        "http://ada:b c@host",
        "http://ada:b\nc@host",
        "http://ada:b\"c@host",
        "http://ada:b'c@host",
        "http://ada:b`c@host",
        "http://ada:b\u{1b}c@host",
        "http://ada:b\u{7f}c@host",
        "http:/ada:swordfish@host",
        "ada:swordfish@host",
    ]);
}

#[test]
fn an_address_is_looked_at_up_to_its_thousandth_character() {
    let path = "a".repeat(1024 - "ada:swordfish@".len());
    assert_hidden("password", &[&format!("http://ada:«{path}swordfish»@b")]);
    assert_stays(&[&format!("http://ada:{path}swordfishes@b")]);
    assert_stays(&[&format!("http://ada:{path}swordfisha@b")]);
}
