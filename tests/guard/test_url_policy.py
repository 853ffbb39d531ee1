"""What `UrlPolicy` lets through, and that names are looked up before they are trusted."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

import anyio
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain_line import is_plain_line

from amplifier_guard import UrlDenied, UrlPolicy
from amplifier_guard.url import Resolver, resolve_host

PUBLIC = "93.184.215.14"


def answers(*successive: list[str]) -> tuple[list[tuple[str, int]], Resolver]:
    """A resolver that gives one answer after the other, and the questions it was asked."""
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> Iterable[str]:
        asked.append((host, port))
        return successive[min(len(asked), len(successive)) - 1]

    return asked, resolve


@pytest.mark.anyio
async def test_a_url_is_checked_with_all_its_addresses() -> None:
    asked, resolve = answers([PUBLIC, "2606:4700::1111"])
    checked = await UrlPolicy().check("HTTPS://B\u00fccher.example./a?b#c", resolve)
    assert (checked.url, checked.host, checked.port, checked.addresses) == (
        "https://xn--bcher-kva.example/a?b#c",
        "xn--bcher-kva.example",
        443,
        [PUBLIC, "2606:4700::1111"],
    )
    assert asked == [("xn--bcher-kva.example", 443)] * 2


@pytest.mark.anyio
async def test_a_resolver_may_be_async() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        await anyio.lowlevel.checkpoint()
        return [PUBLIC]

    assert (await UrlPolicy().check("http://good.example/", resolve)).addresses == [PUBLIC]


@pytest.mark.anyio
async def test_an_address_needs_no_resolver() -> None:
    asked, resolve = answers(["127.0.0.1"])
    checked = await UrlPolicy().check(f"http://{PUBLIC}/", resolve)
    assert (checked.addresses, asked) == ([PUBLIC], [])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("successive", "message"),
    [
        ([["127.0.0.1"]], "host `x.example` has the address `127.0.0.1`, which is not public (loopback)"),
        ([[PUBLIC, "10.0.0.1"]], "host `x.example` has the address `10.0.0.1`, which is not public (private)"),
        ([[PUBLIC], ["10.0.0.1"]], "host `x.example` has the address `10.0.0.1`, which is not public (private)"),
        ([[]], "host `x.example` has no address"),
        ([["fe80::1%eth0"]], "host `x.example` resolves to `fe80::1%eth0`, which is not an IP address"),
    ],
)  # fmt: skip
async def test_a_name_is_refused_for_any_of_its_addresses(
    successive: list[list[str]], message: str
) -> None:
    _, resolve = answers(*successive)
    with pytest.raises(UrlDenied) as raised:
        await UrlPolicy().check("http://x.example/", resolve)
    assert str(raised.value) == message


@pytest.mark.anyio
async def test_each_hop_of_a_redirect_is_checked_anew() -> None:
    policy = UrlPolicy()
    source = policy.destination("https://good.example/a/b")
    _, resolve = answers([PUBLIC])
    hop = await policy.follow(source, "../c", resolve)
    assert (hop.url, hop.addresses) == ("https://good.example/c", [PUBLIC])
    for location in ("//169.254.169.254/", "http://other.example/", "//localhost/"):
        with pytest.raises(UrlDenied):
            await policy.follow(source, location, resolve)


@pytest.mark.anyio
async def test_the_operating_system_resolves_unless_told_otherwise() -> None:
    assert set(await resolve_host("localhost", 80)) <= {"127.0.0.1", "::1"}
    policy = UrlPolicy(deny_private=False)
    assert "127.0.0.1" in (await policy.check("http://localhost/")).addresses
    assert await resolve_host("no-such-name.invalid", 80) == []


ADDRESSES = st.ip_addresses()


# Holds: sink-54
@given(ADDRESSES)
@example(ipaddress.ip_address("2002:100::"))
@example(ipaddress.ip_address("2002:a00::"))
def test_only_global_addresses_pass(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    host = f"[{address}]" if address.version == 6 else str(address)
    try:
        destination = UrlPolicy().destination(f"http://{host}/")
    except UrlDenied:
        return
    assert destination.address is not None
    judged = getattr(address, "sixtofour", None) or address  # what it wraps is judged
    assert judged.is_global or judged.version == 6
    assert not judged.is_private
    assert not judged.is_loopback
    assert not judged.is_link_local


@given(st.text())
def test_no_text_is_anything_but_a_destination_or_a_refusal(url: str) -> None:
    refusal = ""
    try:
        UrlPolicy().destination(url)
    except UrlDenied as error:
        refusal = str(error)
    assert is_plain_line(refusal)
