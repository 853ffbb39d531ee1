"""A script: the first use of an operation, entered again in its own thread at every point.

The first use imports modules and makes what is kept for later. An import hook, a signal handler or
a finalizer may run there, and may use the same operation. Here a profile function does, at the
first call of a Python function in one process, at the second in the next, and so on. Each process
is forked before the first use, and an alarm ends it if it waits for itself.

Arguments: the engine and the operation. Prints the number of points; the exit code is 0 if every
process saw what it should.
"""

from __future__ import annotations

import dataclasses
import enum
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

SECONDS = 60
POINTS = 8
"""At most so many points are tried, spread over all of them."""


class Color(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Place:
    line: int


class Text(str):
    __slots__ = ()


DATA = {"color": Color.RED, "place": Place(1), "text": Text("x"), "call": {"id": [1, None]}}


def done(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


async def answers(event: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"action": "modify", "data": {"seen": data["text"]}}


def refused(call: Callable[[], Any]) -> str:
    try:
        return f"returned {call()}"
    except ValueError as error:
        return type(error).__name__
    except PermissionError as error:
        return type(error).__name__


def operation(engine: str, name: str) -> tuple[Callable[[], Any], Any, bool]:
    """The operation, what it returns, and whether it does so wherever it is entered again."""
    if name == "path":
        from amplifier_core._engine import PathPolicy

        policy = PathPolicy("/")
        return (lambda: refused(lambda: policy.resolve("\0"))), "PathDenied", False
    if name == "lines":
        from amplifier_core._engine import NdjsonDecoder

        lines = NdjsonDecoder()
        return (lambda: refused(lambda: lines.feed(b"{\n"))), "StreamLineError", False
    if engine == "rust":
        from amplifier_core._engine import RustHookRegistry as HookRegistry
    else:
        from amplifier_core.hooks import HookRegistry
    if name == "make":

        def make() -> Any:
            return done(HookRegistry().emit("e", DATA)).action

        return make, "continue", False
    hooks = HookRegistry()
    if name == "emit":
        return (lambda: done(hooks.emit("llm:request", DATA)).action), "continue", True
    hooks.register("e", answers, name="answers")
    if name == "answered":
        return (lambda: done(hooks.emit("e", DATA)).data), {"seen": "x"}, True
    return (lambda: done(hooks.emit_and_collect("e", DATA, None))), [{"seen": "x"}], True


def entered_again_at(point: int, engine: str, name: str) -> int:
    """Run the operation and enter it again at one point; return how many points there are."""
    run, expected, always = operation(engine, name)
    count = 0

    def enter(_frame: Any, kind: str, _argument: Any) -> None:
        nonlocal count
        if kind != "call":
            return
        count += 1
        if count != point:
            return
        try:
            found = run()
        except (ImportError, AttributeError):
            # A module that is being executed has no names yet; nothing can be done about it.
            if always:
                raise
        else:
            assert found == expected, found

    sys.setprofile(enter)
    try:
        found = run()
    finally:
        sys.setprofile(None)
    assert found == expected, found
    assert run() == expected
    return count


def main() -> None:
    engine, name = sys.argv[1:]
    reading, writing = os.pipe()

    def in_a_fork(point: int) -> None:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            code = 1
            try:
                os.write(writing, f"{entered_again_at(point, engine, name)}\n".encode())
                code = 0
            except BaseException:  # noqa: BLE001 (shown)
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"entered again at point {point}: status {status}")

    in_a_fork(-1)
    total = int(os.read(reading, 100))
    step = max(1, total // POINTS)
    for point in range(1, total + 1, step):
        in_a_fork(point)
        os.read(reading, 100)
    print(total)


main()
