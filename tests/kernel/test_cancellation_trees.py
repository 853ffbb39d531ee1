"""Trees of tokens of any size and either engine: all of them are cancelled, and all are freed."""

from __future__ import annotations

import subprocess
import sys
import threading
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

DEPTH = 100_000
REGISTRIES = 20_000
"""They take longer to make; a call for each would need more than a small stack, too."""
SMALL_STACK_BYTES = 256 * 1024
# From 3.13 on the interpreter itself needs more than 256 kB to free a chain of 60,000 plain lists.
PLAIN_PYTHON_STACK_BYTES = SMALL_STACK_BYTES if sys.version_info < (3, 13) else 1024 * 1024
MIXES = ["rust", "python", "alternating", "subclasses", "pairs"]


def classes(engines: tuple[Any, Any], mix: str) -> list[Any]:
    """The classes of tokens that take turns in a tree."""
    rust, python = (engine.CancellationToken for engine in engines)
    return {
        "rust": [rust],
        "python": [python],
        "alternating": [rust, python],
        "subclasses": [type("Rust", (rust,), {}), type("Python", (python,), {})],
        "pairs": [rust, rust, python, python],
    }[mix]


def in_a_small_thread(work: Any, stack_bytes: int) -> None:
    """Run in a thread with a small stack; an overflow would end the process."""
    before = threading.stack_size(stack_bytes)
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (raised in the thread of the test)
            raised.append(error)

    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if raised:
        raise raised[0]


def stack_bytes(is_plain_python: bool) -> int:
    return PLAIN_PYTHON_STACK_BYTES if is_plain_python else SMALL_STACK_BYTES


# Holds: differ-39
@pytest.mark.parametrize("mix", MIXES)
def test_a_chain_is_cancelled_to_its_end_and_freed(engines, mix):
    kinds = classes(engines, mix)

    def work() -> None:
        first = token = kinds[0]()
        for number in range(1, DEPTH):
            child = kinds[number % len(kinds)]()
            token.register_child(child)
            token = child
        gone, last = weakref.ref(token), token
        del token, child
        assert first.request_graceful()
        assert last.is_graceful
        assert first.request_immediate()
        assert last.is_immediate
        del last
        del first
        assert gone() is None

    in_a_small_thread(work, stack_bytes(mix == "python"))


@pytest.mark.parametrize("mix", MIXES)
def test_a_chain_that_hangs_by_callbacks_is_freed(engines, mix):
    kinds = classes(engines, mix)

    def work() -> None:
        first = token = kinds[0]()
        for number in range(1, DEPTH):
            child = kinds[number % len(kinds)]()
            token.on_cancel(child.request_graceful)
            token = child
        gone = weakref.ref(token)
        del token, child, first
        assert gone() is None

    in_a_small_thread(work, stack_bytes(mix == "python"))


def test_registries_and_coordinators_in_chains_are_freed(engine):
    def work() -> None:
        first = hooks = engine.HookRegistry()
        for _ in range(REGISTRIES):
            inner = engine.HookRegistry()
            hooks.register("e", inner.emit, name="inner")
            hooks = inner
        gone = weakref.ref(hooks)
        del hooks, inner, first
        assert gone() is None

    is_plain_python = engine.HookRegistry.__module__ != "amplifier_core._engine"
    in_a_small_thread(work, stack_bytes(is_plain_python))


def test_a_chain_that_lives_to_the_end_of_the_program_ends_with_it():
    program = (
        "from amplifier_core import CancellationToken\n"
        "first = token = CancellationToken()\n"
        f"for _ in range({DEPTH}):\n"
        "    child = CancellationToken()\n"
        "    token.register_child(child)\n"
        "    token = child\n"
        "del token, child\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, b"")


EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


# Holds: differ-39
@given(
    kinds=st.lists(st.sampled_from(["rust", "python", "spy"]), min_size=12, max_size=12),
    edges=EDGES,
    levels=st.lists(st.sampled_from(["graceful", "immediate"]), min_size=1, max_size=3),
)
def test_every_reachable_token_is_asked_once_in_the_order_of_depth(engines, kinds, edges, levels):
    rust, python = (engine.CancellationToken for engine in engines)
    heard: list[int] = []

    class Spy:
        """Not a token of ours: it is called, and has no children."""

        def __init__(self, number: int) -> None:
            self.number, self.is_cancelled = number, False

        def request_graceful(self) -> None:
            heard.append(self.number)
            self.is_cancelled = True

        request_immediate = request_graceful

    make = {"rust": lambda _: rust(), "python": lambda _: python(), "spy": Spy}
    nodes = [make["rust"](0), *(make[kind](number) for number, kind in enumerate(kinds[1:], 1))]
    children: dict[int, list[int]] = {}
    for parent, child in edges:
        if not isinstance(nodes[parent], Spy):
            nodes[parent].register_child(nodes[child])
            children.setdefault(parent, []).append(child)

    rank = {"graceful": 1, "immediate": 2}
    level, expected, reached = [0] * 12, [], set()

    def ask(number: int, wanted: int) -> None:
        reached.add(number)
        if isinstance(nodes[number], Spy):
            expected.append(number)
        elif level[number] < wanted:
            level[number] = wanted
            for child in children.get(number, []):
                ask(child, wanted)

    for each in levels:
        rose = getattr(nodes[0], f"request_{each}")()
        assert rose is (level[0] < rank[each])
        ask(0, rank[each])
    names = ["none", "graceful", "immediate"]
    for number, node in enumerate(nodes):
        if isinstance(node, Spy):
            assert node.is_cancelled is (number in reached)
        else:
            assert node.state == names[level[number]]
    assert heard == expected


@pytest.mark.parametrize("place", ["class", "subclass", "instance"])
def test_a_method_of_anothers_own_is_called(engine, monkeypatch, place):
    seen: list[str] = []
    parent = engine.CancellationToken()
    own = engine.CancellationToken.request_immediate

    def request(self: Any) -> bool:
        seen.append("called")
        return own(self)

    if place == "subclass":
        child = type("Other", (engine.CancellationToken,), {"request_immediate": request})()
    else:
        child = engine.CancellationToken()
    if place == "class":
        monkeypatch.setattr(engine.CancellationToken, "request_immediate", request)
    elif place == "instance":
        child.request_immediate = lambda: request(child)
    grandchild = engine.CancellationToken()
    parent.register_child(child)
    child.register_child(grandchild)

    own(parent)

    assert seen[:1] == ["called"]
    assert child.is_immediate
    assert grandchild.is_immediate


# Holds: differ-39
def test_all_are_asked_even_if_some_raise(engine):
    class Raises:
        def request_graceful(self) -> None:
            raise KeyError("first")

        def request_immediate(self) -> None:
            raise SystemExit("first")

    parent, last = engine.CancellationToken(), engine.CancellationToken()
    for child in (Raises(), Raises(), last):
        parent.register_child(child)

    with pytest.raises(KeyError, match="first"):
        parent.request_graceful()
    assert last.is_graceful
    with pytest.raises(SystemExit, match="first"):
        parent.request_immediate()
    assert last.is_immediate
    assert not parent.request_immediate()
