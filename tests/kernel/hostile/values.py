"""Values that nobody should pass, and that anybody may."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from typing import Any

DEPTH = 100_000
"""How deep the deep values are nested."""


class HostileError(Exception):
    """Raised by hostile objects, and free to come through."""


class HostileExit(BaseException):
    """Raised by the most hostile objects, and free to come through, too."""


def refuse(*_: Any, **__: Any) -> Any:
    raise HostileError("leave me alone")


def leave(*_: Any, **__: Any) -> Any:
    raise HostileExit("I am leaving")


async def refuses_when_awaited(*_: Any, **__: Any) -> Any:
    await asyncio.sleep(0)
    refuse()


REFUSED = (
    *("str", "repr", "eq", "ne", "lt", "le", "gt", "ge", "hash", "bool", "len", "length_hint"),
    *("iter", "next", "aiter", "anext", "reversed", "contains", "getitem", "setitem", "delitem"),
    *("call", "int", "float", "index", "complex", "bytes", "fspath", "format", "await", "enter"),
    *("exit", "aenter", "aexit", "get", "set", "delete", "instancecheck", "subclasscheck", "copy"),
    *("deepcopy", "reduce_ex", "getattr", "setattr", "add", "radd", "mul", "sub", "or", "and"),
)
Refusing = type("Refusing", (), {f"__{name}__": refuse for name in REFUSED})
Leaving = type("Leaving", (), {f"__{name}__": leave for name in REFUSED})
Unaskable = type("Unaskable", (Refusing,), {"__getattribute__": refuse})


class RefusingMeta(type):
    __call__ = __instancecheck__ = __repr__ = __eq__ = refuse
    __hash__ = type.__hash__


class RefusingClass(metaclass=RefusingMeta):
    """A class that makes no instances."""


class RefusingText(str):
    __hash__ = __eq__ = __str__ = __repr__ = __len__ = refuse


class RefusingBytes(bytes):
    __hash__ = __eq__ = __len__ = __getitem__ = __iter__ = refuse


class RefusingDict(dict[Any, Any]):
    __getitem__ = __iter__ = __len__ = __contains__ = __bool__ = refuse
    keys = items = values = get = copy = refuse


class RefusingList(list[Any]):
    __getitem__ = __iter__ = __len__ = __contains__ = __bool__ = refuse


class RefusingInt(int):
    __index__ = __int__ = __eq__ = __hash__ = __bool__ = __lt__ = refuse


class RefusingKey:
    """Can be put into a dict once, and never compared or shown."""

    __eq__ = __str__ = __repr__ = refuse

    def __hash__(self) -> int:
        return 1


class Growing(dict[Any, Any]):
    """A dict that grows whenever somebody looks at it."""

    def __getitem__(self, key: Any) -> Any:
        self[len(self)] = self
        return super().get(key)

    def items(self) -> Any:
        self[len(self)] = 1
        return super().items()


class ReturnsWrongTypes:
    """Every special method gives something of another type than it should."""


for _name in REFUSED:
    if _name not in ("getattr", "setattr", "get", "set", "delete"):
        setattr(ReturnsWrongTypes, f"__{_name}__", lambda *_, **__: NotImplemented)


def circular_list() -> list[Any]:
    circular: list[Any] = []
    circular.append(circular)
    return circular


def circular_dict() -> dict[str, Any]:
    circular: dict[str, Any] = {}
    circular["session"] = circular["data"] = circular
    return circular


@cache  # they take long to make, and nobody gets to their bottom to change it
def nested(kind: str) -> Any:
    wrap: dict[str, Callable[[Any], Any]] = {
        "list": lambda value: [value],
        "dict": lambda value: {"session": value},
        "tuple": lambda value: (value,),
        "error": chained,
    }
    value = None
    for _ in range(DEPTH):
        value = wrap[kind](value)
    return value


def chained(cause: BaseException | None) -> BaseException:
    error = HostileError("deep")
    error.__cause__ = cause
    return error


def closed_coroutine() -> Any:
    coroutine = refuses_when_awaited()
    coroutine.close()
    return coroutine


async def refusing_numbers() -> Any:
    yield 1
    refuse()


def used_generator() -> Iterator[int]:
    generator = (number for number in range(1))
    list(generator)
    return generator


@cache
def of_another_thread(kind: str) -> Any:
    """Something that a thread is in the middle of, or that belongs to its event loop."""
    begun, end = threading.Event(), threading.Event()

    def running() -> Iterator[None]:
        begun.set()
        end.wait()
        yield

    async def executing() -> None:
        begun.set()
        end.wait()

    if kind == "future":
        return asyncio.new_event_loop().create_future()
    made: Any = running() if kind == "generator" else executing()
    advance = made.__next__ if kind == "generator" else lambda: made.send(None)
    threading.Thread(target=advance, daemon=True).start()
    begun.wait()
    return made


class Empty:
    """Has nothing."""


def dead_proxy() -> Any:
    return weakref.proxy(Empty())


HOSTILE: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "object": object,
    "a class": lambda: Refusing,
    "a class that makes nothing": lambda: RefusingClass,
    "the type `int`": lambda: int,
    "the type `dict`": lambda: dict,
    "a generic type": lambda: list[int],
    "a function that raises": lambda: refuse,
    "a function that leaves": lambda: leave,
    "an async function that raises": lambda: refuses_when_awaited,
    "a function that returns a hostile object": lambda: lambda *_, **__: Refusing(),
    "a function that returns a function": lambda: lambda *_, **__: lambda *_, **__: None,
    "a module": lambda: asyncio,
    "refusing": Refusing,
    "leaving": Leaving,
    "unaskable": Unaskable,
    "wrong answers": ReturnsWrongTypes,
    "a dead proxy": dead_proxy,
    "refusing text": lambda: RefusingText("e"),
    "refusing bytes": lambda: RefusingBytes(b"e"),
    "refusing dict": lambda: RefusingDict(session={}),
    "refusing list": lambda: RefusingList([1]),
    "refusing int": lambda: RefusingInt(1),
    "a growing dict": lambda: Growing(a=1),
    "a dict of refusing": lambda: {"session": Refusing(), "a": Unaskable()},
    "a dict of leaving": lambda: {"session": Leaving(), "a": [Leaving()]},
    "a list of refusing": lambda: [Refusing(), Unaskable(), Leaving()],
    "a dict with a refusing key": lambda: {RefusingKey(): 1},
    "odd keys": lambda: {1: 1, None: 2, (1, 2): 3, b"b": 4},
    "an empty dict": dict,
    "an empty list": list,
    "true": lambda: True,
    "minus one": lambda: -1,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "2**70": lambda: 2**70,
    "minus 2**70": lambda: -(2**70),
    "huge": lambda: 10**5_000,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "1e308": lambda: 1e308,
    "complex": lambda: 1j,
    "signalling nan": lambda: Decimal("sNaN"),
    "no text": lambda: "",
    "lone surrogate": lambda: "\ud800",
    "nul": lambda: "a\0b",
    "control characters": lambda: "\x1b[2J\r\n\u202e",
    "long text": lambda: "x" * 1_000_000,
    "bytes": lambda: b"\xff\x00",
    "a bytearray": lambda: bytearray(b"{"),
    "a memory view": lambda: memoryview(bytearray(b"abcdef"))[::2],
    "a set": lambda: {1, "a", None},
    "a frozen set": lambda: frozenset({1}),
    "a range": lambda: range(3),
    "circular list": circular_list,
    "circular dict": circular_dict,
    "deep list": lambda: nested("list"),
    "deep dict": lambda: nested("dict"),
    "deep tuple": lambda: nested("tuple"),
    "deep error": lambda: nested("error"),
    "surrogate in a dict": lambda: {"\ud800": "\udfff", "session": {"\ud800": 1}},
    "nan in a dict": lambda: {"session": {"orchestrator": float("nan"), "context": 10**5_000}},
    "empty plan": lambda: {"session": {"orchestrator": "", "context": {}}},
    "an ellipsis": lambda: ...,
    "not implemented": lambda: NotImplemented,
    "a generator": lambda: (number for number in range(3)),
    "a used generator": used_generator,
    "an async generator": refusing_numbers,
    "a closed coroutine": closed_coroutine,
    "another loop's future": lambda: of_another_thread("future"),
    "another thread's generator": lambda: of_another_thread("generator"),
    "another thread's coroutine": lambda: of_another_thread("coroutine"),
    "a lock": threading.Lock,
    "an exception": lambda: HostileError("\ud800"),
    "an exit": lambda: HostileExit("exit"),
    "stop iteration": lambda: StopIteration(1),
}

WORST = (
    "leaving",
    "unaskable",
    "wrong answers",
    "refusing text",
    "refusing dict",
    "a growing dict",
    "2**70",
    "nan",
    "lone surrogate",
    "circular dict",
    "deep list",
    "another thread's coroutine",
)
"""What is tried in two places at once."""
