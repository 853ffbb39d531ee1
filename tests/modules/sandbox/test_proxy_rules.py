"""The setting `network`, and which addresses a host that it lists may be reached at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proxy_setup import Names

from amplifier_guard import UrlPolicy
from amplifier_modules.sandbox.network.address import judge_addresses, look_up_host
from amplifier_modules.sandbox.network.problem import ProxyProblem
from amplifier_modules.sandbox.network.rules import Allowed, ListedHosts, Refused, write_entry

PUBLIC = "93.184.215.14"


def judge(url: str, *network: str, **addresses: list[str]) -> list[str]:
    """Judge a URL by the setting; the keywords are names beneath `example`."""
    port = int(url.rpartition(":")[2].strip("/")) if url.count(":") > 1 else 443
    destination = UrlPolicy(ports=[port], deny_private=False).destination(url)
    names = Names({f"{name}.example": found for name, found in addresses.items()})
    names.addresses["localhost"] = ["127.0.0.1", "::1"]
    names.addresses["db.internal"] = ["10.0.0.1"]
    return judge_addresses(destination, ListedHosts(network), names.look_up)


# Holds: sandbox-36
@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("shop.example", "shop.example", 443),
        ("shop.example", "shop.example", 80),
        ("Shop.Example.", "shop.example", 443),
        ("shop.example:8080", "shop.example", 8080),
        ("*.example", "shop.example", 443),
        ("*.shop.example", "a.b.shop.example", 443),
        ("*.shop.example:8080", "a.shop.example", 8080),
        ("b\u00fccher.example", "xn--bcher-kva.example", 443),
        ("127.0.0.1", "127.0.0.1", 80),
        ("127.1:8080", "127.0.0.1", 8080),
        ("::1", "::1", 443),
        ("[::1]:8080", "::1", 8080),
    ],
)
def test_an_entry_allows_its_host(entry: str, host: str, port: int) -> None:
    assert ListedHosts([entry]).decide(host, port) == Allowed()


# Holds: sandbox-36
@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("shop.example", "shop.example", 8080),
        ("shop.example", "a.shop.example", 443),
        ("shop.example", "ashop.example", 443),
        ("shop.example", "shop.example.evil", 443),
        ("shop.example:8080", "shop.example", 443),
        ("*.shop.example", "shop.example", 443),
        ("*.shop.example", "evilshop.example", 443),
        ("10.0.0.1", "1.10.0.0.1", 443),
    ],
)
def test_an_entry_allows_no_other_host(entry: str, host: str, port: int) -> None:
    assert isinstance(ListedHosts([entry]).decide(host, port), Refused)


def test_entries_of_one_host_add_up() -> None:
    rules = ListedHosts(["shop.example", "shop.example:8080"])

    assert [rules.decide("shop.example", port) for port in (80, 443, 8080)] == [Allowed()] * 3


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("on", '`network` is "off" or a list of hosts, not `on`'),
        ([""], "`` of `network` is not a host, such as `example.org:443`"),
        (["https://shop.example"], "`https://shop.example` of `network` is not a host"),
        (["shop.example/path"], "is not a host"),
        (["*"], "`*` of `network`"),
        (["a.*.example"], "`a.*.example` of `network`"),
        (["*.10.0.0.1"], "no names are beneath an address"),
        (["shop.example:0"], "is not between 1 and 65535"),
        (["shop.example:99999"], "is not between 1 and 65535"),
        (["user@shop.example"], "user name or password"),
        (["169.254.169.254"], "link-local"),
        (["metadata.google.internal"], "belongs to a private network"),
    ],
)
def test_an_entry_that_is_no_host_is_refused(network: str | list[str], message: str) -> None:
    with pytest.raises(ValueError, match="network") as caught:
        ListedHosts(network)  # pyright: ignore[reportArgumentType]

    assert message in str(caught.value)


def test_without_a_network_the_refusal_says_so() -> None:
    assert ListedHosts("off").decide("shop.example", 443) == Refused(
        "`shop.example` was not reached: commands have no network; to allow it, set `network` to a "
        "list with `shop.example`"
    )


# Holds: sandbox-33
@given(
    st.sampled_from(["shop.example", "a.b.example", "10.0.0.1", "::1", "2606:4700::1"]),
    st.integers(1, 65535),
)
def test_the_entry_that_a_refusal_names_allows_the_host(host: str, port: int) -> None:
    refusal = ListedHosts([]).decide(host, port)

    assert isinstance(refusal, Refused)
    assert f"add `{write_entry(host, port)}` to" in refusal.reason
    assert ListedHosts([write_entry(host, port)]).decide(host, port) == Allowed()


# Holds: sandbox-37
def test_public_addresses_of_a_listed_name_are_used() -> None:
    assert judge("https://a.example/", "a.example", a=[PUBLIC, PUBLIC, "2606:4700::1"]) == [
        PUBLIC,
        "2606:4700::1",
    ]


# Holds: sandbox-37
@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "100.64.0.1", "::1", "fd00::1", "::ffff:127.0.0.1"],
)
def test_a_private_address_of_a_public_name_must_be_listed_itself(address: str) -> None:
    with pytest.raises(ProxyProblem, match="to allow it, add") as caught:
        judge("https://a.example/", "a.example", a=[PUBLIC, address])

    assert caught.value.status == 403
    listed = judge("https://a.example/", "a.example", write_entry(address, 443), a=[address])
    assert listed == [address]


# Holds: sandbox-37
@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "169.254.1.1", "fe80::1", "fd00:ec2::254", "0.0.0.0", "224.0.0.1", "x"],
)
def test_no_entry_allows_a_link_local_or_metadata_address(address: str) -> None:
    with pytest.raises(ProxyProblem) as caught:
        judge("https://a.example/", "a.example", "*.example", "localhost", a=[address])

    assert caught.value.status == 403


# Holds: sandbox-37
def test_a_name_that_only_private_networks_have_may_be_listed() -> None:
    assert judge("https://localhost/", "localhost") == ["127.0.0.1", "::1"]
    assert judge("https://db.internal:5432/", "db.internal:5432") == ["10.0.0.1"]


# Holds: sandbox-37
@pytest.mark.parametrize("spelled", ["127.0.0.1", "0x7f.1", "127.1", "2130706433", "0177.0.0.1"])
def test_every_spelling_of_an_address_is_that_address(spelled: str) -> None:
    assert judge(f"https://{spelled}/", "127.0.0.1") == ["127.0.0.1"]
    with pytest.raises(ProxyProblem, match=r"add `127\.0\.0\.1` to that setting"):
        judge(f"https://{spelled}/", "shop.example")


def test_a_name_without_an_address_is_said_to_have_none() -> None:
    with pytest.raises(ProxyProblem, match=r"host `a\.example` has no address") as caught:
        judge("https://a.example/", "a.example")

    assert caught.value.status == 502


def test_the_operating_system_looks_up_names() -> None:
    assert "127.0.0.1" in look_up_host("localhost", 80)
    assert look_up_host("no\udcffname", 80) == []
