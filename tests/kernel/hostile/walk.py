"""Calls everything public with hostile values, as a script: it prints what must not have come.

Arguments: `short` or `thorough`, then the part of all callables to walk, as `index/count`, or
`extension` for what Rust implements.
"""

from __future__ import annotations

import asyncio
import faulthandler
import gc
import inspect
import itertools
import logging
import os
import socket
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from owners import call_plainly, parameters, required
from surface import Target, mounted, public_callables, targets
from values import HOSTILE, WORST, HostileExit

SECONDS = 60
"""What a hundred calls may take before one of them counts as hanging."""
PATIENCE = 2
"""What one call may be awaited for, in seconds."""
DEEP = 100
"""Functions in each other below which a recursion is one of Python itself, such as a comparison."""

Arguments = Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]


def argument_lists(target: Any, *, is_thorough: bool) -> Iterator[tuple[str, Arguments]]:
    """Hostile arguments: each value in each place, plain ones in the others; and in all places."""
    given = [parameter.name for parameter in parameters(target)]
    yield "an unknown keyword", lambda: ((), {**required(target), "no_such_name": 1})
    yield "lots", lambda: ((None,) * 50, {})
    for word, make in HOSTILE.items():
        counts = (2, 3, 4) if is_thorough else (3,)
        for count in counts:
            yield (
                f"{count} times {word}",
                lambda m=make, c=count: (tuple(m() for _ in range(c)), {}),
            )
        for name in given:
            yield f"{word} as `{name}`", lambda n=name, m=make: ((), {**required(target), n: m()})
    if is_thorough:
        for one, other in itertools.permutations(given, 2):
            for first, second in itertools.product(WORST, repeat=2):
                yield (
                    f"{first} as `{one}` and {second} as `{other}`",
                    lambda o=one, p=other, f=first, s=second: (
                        (),
                        {**required(target), o: HOSTILE[f](), p: HOSTILE[s]()},
                    ),
                )


class Findings:
    """What was called, and what must not have come of it."""

    def __init__(self) -> None:
        self.calls = 0
        self.bad: list[str] = []
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def call(self, what: str, function: Callable[[], Any]) -> None:
        """Call something, run what comes back, look at it, and judge what is raised."""
        self.calls += 1
        try:
            result = self.finished(function())
        except BaseException as error:  # noqa: BLE001 -- a panic is one
            self.judge(what, error)
            return
        for use in (repr, str, hash, bool, lambda it: it == it, dumped):  # noqa: PLR0124
            try:
                use(result)
            except RecursionError:
                pass  # of a deep value itself
            except BaseException as error:  # noqa: BLE001
                self.judge(f"{what}, then {use.__name__}", error)

    def finished(self, result: Any) -> Any:
        """What an awaitable or an iterator of ours comes to."""
        if inspect.iscoroutine(result) and is_ours(result.cr_code.co_filename):
            return self.loop.run_until_complete(asyncio.wait_for(result, PATIENCE))
        if inspect.isasyncgen(result) and is_ours(result.ag_code.co_filename):
            return self.loop.run_until_complete(asyncio.wait_for(anext(result, None), PATIENCE))
        if inspect.isgenerator(result) and is_ours(result.gi_code.co_filename):
            return list(itertools.islice(result, 3))
        return result

    def judge(self, what: str, error: BaseException) -> None:
        """Note an error that a caller cannot work with."""
        kind = type(error)
        is_expected = isinstance(error, Exception | HostileExit | GeneratorExit) or (
            kind.__name__ in ("Skipped", "Failed")  # the outcomes of pytest, in its plugin
        )
        is_unclear = isinstance(error, SystemError | MemoryError | TimeoutError | RecursionError)
        said = text_of(error)
        is_of_python = isinstance(error, RecursionError) and depth_of(error) < DEEP
        if is_of_python or "the repr of an object" in said:
            is_unclear = False  # Python says what it could not do with the caller's own value
        if is_unclear or not is_expected:
            self.bad.append(f"{what}: {kind.__name__}: {said[:300]}")


def depth_of(error: BaseException) -> int:
    """How many Python functions were in each other when an error was raised."""
    return sum(1 for _ in traceback.walk_tb(error.__traceback__))


def text_of(error: BaseException) -> str:
    """What an error says, if the caller's own values in it let it."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 -- of a hostile object
        return ""


def is_ours(path: str) -> bool:
    return os.sep + "amplifier_" in path or path.startswith(os.path.dirname(__file__))


def dumped(result: Any) -> None:
    """Write a model as JSON."""
    if hasattr(type(result), "model_dump_json"):
        result.model_dump_json()


def walk_callable(target: Target, findings: Findings, *, is_thorough: bool) -> None:
    """Call one thing with all hostile arguments."""
    one_each = ((f"{word}", lambda m=make: ((m(),), {})) for word, make in HOSTILE.items())
    more = argument_lists(target.get(), is_thorough=is_thorough) if target.takes_more else ()
    lists = itertools.chain([("nothing", lambda: ((), {}))], one_each, more)
    for number, (what, arguments) in enumerate(lists):
        if number % 100 == 0:
            faulthandler.dump_traceback_later(SECONDS, exit=True)

        def call(arguments: Arguments = arguments) -> Any:
            positional, keywords = arguments()
            function = target.get()
            if positional or not keywords:
                return function(*positional, **keywords)
            return call_plainly(function, keywords)

        findings.call(f"{target.name} with {what}", call)
    gc.collect()
    faulthandler.cancel_dump_traceback_later()


def isolate() -> None:
    """Leave nothing outside of a new folder to be changed, and nobody to be called."""

    def refuse_network(*_: Any) -> Any:
        raise OSError("there is no network here")

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    home = tempfile.mkdtemp()
    os.chdir(home)
    os.environ.update(HOME=home, XDG_CONFIG_HOME=home, TMPDIR=home)
    tempfile.tempdir = home
    socket.socket.connect = socket.socket.connect_ex = refuse_network  # type: ignore[method-assign]
    socket.getaddrinfo = refuse_network
    sys.stdin = open(os.devnull)  # noqa: SIM115 -- for the life of the process
    sys.unraisablehook = threading.excepthook = lambda *_: None


def groups(part: str) -> list[Iterator[Target]]:
    """What is to be walked: a callable with its members, or what modules mount."""
    offered = public_callables()
    if part == "extension":
        compiled = {w: v for w, v in offered.items() if v.__module__ == "amplifier_core._engine"}
        return [targets(where, value) for where, value in compiled.items()]
    index, count = map(int, part.split("/"))
    return [*(targets(where, value) for where, value in offered.items()), mounted()][index::count]


def main(thoroughness: str, part: str) -> None:
    """Walk a part of what is public and print what went wrong."""
    isolate()
    findings = Findings()
    walked = 0
    parts = groups(part)
    # A collection after each callable is for what was made by then, not for all that is imported,
    # nor for the values that are made once.
    for make in HOSTILE.values():
        make()
    gc.collect()
    gc.freeze()
    for group in parts:
        for target in group:
            print(target.name, flush=True)
            walk_callable(target, findings, is_thorough=thoroughness == "thorough")
            walked += 1
    print(f"{findings.calls} calls of {walked} callables", *findings.bad, sep="\n", flush=True)
    os._exit(0)  # another thread is in the middle of a coroutine


if __name__ == "__main__":
    main(*sys.argv[1:])
