"""Every public callable with hostile values: a typed error or a result, never a panic or a hang.

The calls are made in an interpreter of their own, this file run as a script, so that a crash or a
hang is a failure of one test and not the end of all.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import importlib
import inspect
import itertools
import logging
import pkgutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest

PACKAGES = ("amplifier_core", "amplifier_stream", "amplifier_guard")
PLAN = {"session": {"orchestrator": "loop", "context": "context"}}
SECONDS = 60
"""What one callable may take with all its hostile values before it counts as hanging."""
DEPTH = 5_000


class HostileError(Exception):
    """Raised by hostile objects, and free to come through."""


def refuse(*_: Any, **__: Any) -> Any:
    raise HostileError("leave me alone")


REFUSED = [
    "str",
    "repr",
    "eq",
    "ne",
    "lt",
    "hash",
    "bool",
    "len",
    "iter",
    "next",
    "contains",
    "getitem",
    "setitem",
    "call",
    "int",
    "float",
    "index",
    "bytes",
    "fspath",
    "format",
    "await",
    "enter",
    "exit",
    "get",
    "set",
    "delete",
    "instancecheck",
    "reversed",
    "length_hint",
]
Refusing = type("Refusing", (), {f"__{name}__": refuse for name in REFUSED})
Unaskable = type("Unaskable", (Refusing,), {"__getattribute__": refuse})


class RefusingText(str):
    __hash__ = __eq__ = __str__ = __repr__ = __len__ = refuse


class RefusingDict(dict[Any, Any]):
    __getitem__ = __iter__ = __len__ = __contains__ = __bool__ = refuse
    keys = items = values = get = copy = refuse


class RefusingList(list[Any]):
    __getitem__ = __iter__ = __len__ = __contains__ = __bool__ = refuse


class RefusingInt(int):
    __index__ = __int__ = __eq__ = __hash__ = __bool__ = __lt__ = refuse


class Growing(dict[Any, Any]):
    """A dict that grows whenever somebody looks at it."""

    def __getitem__(self, key: Any) -> Any:
        self[len(self)] = self
        return super().get(key)

    def items(self) -> Any:
        self[len(self)] = 1
        return super().items()


def circular_list() -> list[Any]:
    circular: list[Any] = []
    circular.append(circular)
    return circular


def circular_dict() -> dict[str, Any]:
    circular: dict[str, Any] = {}
    circular["session"] = circular["data"] = circular
    return circular


def nested(wrap: Callable[[Any], Any]) -> Any:
    value = None
    for _ in range(DEPTH):
        value = wrap(value)
    return value


async def refuses_when_awaited(*_: Any, **__: Any) -> Any:
    await asyncio.sleep(0)
    refuse()


HOSTILE: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "object": object,
    "a class": lambda: Refusing,
    "a function that raises": lambda: refuse,
    "an async function that raises": lambda: refuses_when_awaited,
    "a function that returns a hostile object": lambda: lambda *_, **__: Refusing(),
    "refusing": Refusing,
    "unaskable": Unaskable,
    "refusing text": lambda: RefusingText("e"),
    "refusing dict": lambda: RefusingDict(session={}),
    "refusing list": lambda: RefusingList([1]),
    "refusing int": lambda: RefusingInt(1),
    "a growing dict": lambda: Growing(a=1),
    "a dict of refusing": lambda: {"session": Refusing(), "a": Unaskable()},
    "a dict with a refusing key": lambda: {RefusingKey(): 1},
    "odd keys": lambda: {1: 1, None: 2, (1, 2): 3, b"b": 4},
    "true": lambda: True,
    "minus one": lambda: -1,
    "2**31": lambda: 2**31,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "huge": lambda: 10**5_000,
    "nan": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity": lambda: float("-inf"),
    "1e308": lambda: 1e308,
    "signalling nan": lambda: Decimal("sNaN"),
    "no text": lambda: "",
    "lone surrogate": lambda: "\ud800",
    "nul": lambda: "a\0b",
    "long text": lambda: "x" * 100_000,
    "bytes": lambda: b"\xff\x00",
    "a set": lambda: {1, "a", None},
    "circular list": circular_list,
    "circular dict": circular_dict,
    "deep list": lambda: nested(lambda value: [value]),
    "deep dict": lambda: nested(lambda value: {"session": value}),
    "deep tuple": lambda: nested(lambda value: (value,)),
    "surrogate in a dict": lambda: {"\ud800": "\udfff", "session": {"\ud800": 1}},
    "nan in a dict": lambda: {"session": {"orchestrator": float("nan"), "context": 10**5_000}},
    "a generator": lambda: (number for number in range(3)),
    "an exception": lambda: HostileError("\ud800"),
}


class RefusingKey:
    """Can be put into a dict once, and never compared or shown."""

    __eq__ = __str__ = __repr__ = refuse

    def __hash__(self) -> int:
        return 1


def makers() -> dict[str, Callable[[], Any]]:
    """How to make an object of each class that needs more than its own name for it."""
    import amplifier_core as core
    import amplifier_guard as guard
    import amplifier_stream as stream
    from amplifier_core import _engine

    root = tempfile.mkdtemp()

    def registry() -> Any:
        hooks = core.HookRegistry()
        hooks.register("e", lambda *_: None, name="e")
        hooks.register("e", refuses_when_awaited)
        return hooks

    def window() -> Any:
        with open(f"{root}/text", "w") as file:
            file.write("a\nb\n")
        return guard.PathPolicy(root).lines("text", 1, 10)

    return {
        "RustHookRegistry": registry,
        "RustSession": lambda: core.AmplifierSession(dict(PLAN)),
        "RustUnregisterFn": lambda: registry().register("e", lambda *_: None),
        "PathPolicy": lambda: guard.PathPolicy(root),
        "LineWindow": window,
        "StreamDecoder": lambda: stream.StreamDecoder("anthropic"),
        "StreamResult": lambda: stream.StreamDecoder("anthropic").finish(),
        "SseEvent": lambda: stream.SseDecoder().feed(b"data: x\n\n")[0],
        "StreamEvent": lambda: stream.StreamDecoder("anthropic").feed(START_OF_A_BLOCK)[0],
        "Step": lambda: _engine.RustHookRegistry(),
    }


START_OF_A_BLOCK = (
    b"event: content_block_start\n"
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
)


def modules() -> list[str]:
    """The public modules of all packages, and the extension."""
    names = ["amplifier_core._engine"]
    for package in PACKAGES:
        found = importlib.import_module(package)
        names.append(package)
        names += [
            module.name
            for module in pkgutil.walk_packages(found.__path__, f"{package}.")
            if "._" not in module.name and "pytest" not in module.name
        ]
    return names


def public_callables(module: str) -> Iterator[tuple[str, Any]]:
    """The functions and classes that a module defines or offers."""
    loaded = importlib.import_module(module)
    for name in getattr(loaded, "__all__", None) or dir(loaded):
        value = getattr(loaded, name)
        origin = getattr(value, "__module__", None) or ""
        is_ours = isinstance(origin, str) and origin.startswith(("amplifier_", "builtins"))
        if not name.startswith("__") and callable(value) and is_ours:
            yield name, value


def methods_of(cls: type) -> Iterator[str]:
    """The public methods and properties of a class that are not inherited from elsewhere."""
    for base in cls.__mro__:
        if base.__module__.startswith("amplifier_"):
            yield from (
                name for name in vars(base) if not name.startswith("_") or name in CALLED_DUNDERS
            )


CALLED_DUNDERS = ("__call__", "__aenter__", "__aexit__", "__eq__", "__repr__", "__setattr__")


def argument_lists(
    target: Any, *, is_thorough: bool
) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Hostile arguments: each value alone in each place, plain ones in the others."""
    plain: tuple[Any, ...] = ("e", {}, "name", 1)
    yield "nothing", (), {}
    for name, make in HOSTILE.items():
        yield f"one {name}", (make(),), {}
        yield f"three times {name}", (make(), make(), make()), {}
        keywords = keywords_of(target)
        for keyword in keywords:
            yield f"{name} as `{keyword}`", (), {keyword: make()}
        if not is_thorough:
            continue
        for count in (2, 4):
            yield f"{count} times {name}", tuple(make() for _ in range(count)), {}
        for place, count in ((0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
            arguments = [*plain[:place], make(), *plain[place + 1 : count]]
            yield f"{name} in place {place} of {count}", tuple(arguments), {}
        for keyword in keywords:
            yield f"{name} as `{keyword}` of three", ("e", refuse), {keyword: make()}


def keywords_of(target: Any) -> list[str]:
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError, HostileError):
        return []
    return [
        each.name for each in parameters if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]


class Findings:
    """What was called, and what must not have come of it."""

    def __init__(self, *, is_thorough: bool) -> None:
        self.is_thorough = is_thorough
        self.calls = 0
        self.bad: list[str] = []

    def call(self, what: str, target: Callable[[], Any]) -> Any:
        """Call something, await what comes back, and judge what it raises."""
        self.calls += 1
        try:
            result = target()
            if inspect.iscoroutine(result):
                result = asyncio.run(asyncio.wait_for(result, 5))
        except BaseException as error:  # noqa: BLE001 -- a panic is one
            if problem := self.problem(error):
                self.bad.append(f"{what}: {problem}")
            return None
        return result

    @staticmethod
    def problem(error: BaseException) -> str:
        """What is wrong with an error; nothing for one that a caller can work with."""
        kind = type(error)
        if kind.__name__ == "PanicException" or not isinstance(error, Exception):
            return f"{kind.__name__}: {error}"
        if isinstance(error, SystemError | MemoryError | TimeoutError):
            return f"{kind.__name__}: {str(error)[:200]}"
        return ""


def walk(module: str, findings: Findings) -> None:
    """Call everything that a module offers."""
    made = makers()
    for name, value in public_callables(module):
        where = f"{module}.{name}"
        if inspect.isclass(value) and not issubclass(value, Enum):
            methods = sorted(set(methods_of(value)))
            walk_callable(where, lambda value=value: value, findings)
            make = made.get(value.__name__, value)
            with contextlib.suppress(Exception):
                make()
                for method in methods:
                    walk_callable(
                        f"{where}.{method}", lambda make=make, m=method: bound(make(), m), findings
                    )
        elif not inspect.isclass(value):
            walk_callable(where, lambda value=value: value, findings)


def bound(owner: Any, name: str) -> Callable[..., Any]:
    """A method, or the reading or setting of a property as one."""
    member = inspect.getattr_static(owner, name, None)
    if callable(getattr(type(owner), name, None)):
        return getattr(owner, name)

    def read_or_set(*values: Any) -> None:
        if values:
            with contextlib.suppress(AttributeError):
                setattr(owner, name, values[0])
        getattr(owner, name)
        repr(owner)

    return read_or_set if member is not None else refuse


def walk_callable(where: str, get: Callable[[], Any], findings: Findings) -> None:
    """Call one thing with all hostile arguments."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    print(where, flush=True)
    try:
        target = get()
    except Exception as error:  # noqa: BLE001 -- then it is no method
        findings.bad.append(f"{where}: {error!r}")
        return
    for what, positional, keywords in argument_lists(target, is_thorough=findings.is_thorough):
        findings.call(f"{where} with {what}", lambda p=positional, k=keywords: get()(*p, **k))
    gc.collect()
    faulthandler.cancel_dump_traceback_later()


def sequences(findings: Findings) -> None:
    """Use what was given to the kernel before: hostile handlers, modules, callbacks, defaults."""
    import amplifier_core as core

    for name, make in HOSTILE.items():
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        print("sequences with", name, flush=True)
        uses: dict[str, Callable[[Any], Any]] = {
            "handler": emit_to(lambda value: value),
            "what a handler returns": emit_to(lambda value: lambda *_: value),
            "what a handler awaits to": emit_to(returned_later),
            "data that a handler changes": emit_to(lambda value: lambda *_: modified(value)),
            "data": lambda value: collect(core.HookRegistry(), value),
            "defaults": with_defaults,
            "callback": triggered,
            "clean-up": cleaned,
            "contributor": contributed,
            "module": mounted,
            "approval system": approved,
            "display system": displayed,
            "plan": lambda value: core.AmplifierSession(value),
            "section": lambda value: core.AmplifierSession({"session": value}),
            "orchestrator": lambda value: initialized(orchestrator=value),
            "context": lambda value: initialized(context=value),
            "loader": lambda value: core.AmplifierSession(PLAN, loader=value).initialize(),
            "session of a coordinator": core.ModuleCoordinator,
            "raw": lambda value: initialized(raw=value),
        }
        for use, act in uses.items():
            findings.call(f"{name} as {use}", lambda act=act, make=make: act(make()))
    faulthandler.cancel_dump_traceback_later()


def modified(value: Any) -> Any:
    from amplifier_core.models import HookResult

    return HookResult.model_construct(action="modify", data=value)


def returned_later(value: Any) -> Any:
    async def handler(event: str, data: Any) -> Any:
        await asyncio.sleep(0)
        return value

    return handler


def emit_to(handler_of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    async def emit(value: Any) -> None:
        from amplifier_core import HookRegistry

        hooks = HookRegistry()
        hooks.register("e", handler_of(value), name="hostile")
        hooks.register("e", lambda *_: None)
        with contextlib.suppress(HostileError):
            repr(await hooks.emit("e", {"a": value}))
        with contextlib.suppress(HostileError):
            repr(await hooks.emit("e", {"a": 1}))
        repr(await hooks.emit_and_collect("e", {}))
        hooks.list_handlers()

    return emit


async def collect(hooks: Any, value: Any) -> None:
    hooks.register("e", lambda *_: None)
    with contextlib.suppress(ValueError, TypeError):
        await hooks.emit("e", {"a": [value]})
    with contextlib.suppress(ValueError, TypeError):
        await hooks.emit("e", value)
    await hooks.emit_and_collect("e", {"a": (value,)}, timeout=1)


async def with_defaults(value: Any) -> None:
    from amplifier_core import HookRegistry

    hooks = HookRegistry()
    hooks.register("e", lambda *_: None)
    hooks.set_default_fields(value=value)
    await hooks.emit("e", {})


async def triggered(value: Any) -> None:
    from amplifier_core import CancellationToken

    token = CancellationToken()
    token.on_cancel(value)
    with contextlib.suppress(TypeError, AttributeError, HostileError):
        token.register_child(value)
    token.request_immediate()
    await token.trigger_callbacks()


async def cleaned(value: Any) -> None:
    from amplifier_core import ModuleCoordinator

    coordinator = ModuleCoordinator()
    coordinator.register_cleanup(value)
    await coordinator.cleanup()


async def contributed(value: Any) -> None:
    from amplifier_core import ModuleCoordinator

    coordinator = ModuleCoordinator()
    coordinator.register_contributor("c", "n", value)
    coordinator.register_contributor("c", "n", lambda: value)
    await coordinator.collect_contributions("c")


async def mounted(value: Any) -> None:
    from amplifier_core import AmplifierSession

    session = AmplifierSession(PLAN)
    coordinator = session.coordinator
    for slot in ("orchestrator", "context", "providers", "tools", "module-source-resolver"):
        await coordinator.mount(slot, value, name="n")
        coordinator.get(slot)
        coordinator.to_dict()
        with contextlib.suppress(TypeError):
            coordinator.mount_points[slot] = value
        repr(coordinator)
    coordinator.register_capability("c", value)
    coordinator.session_state = value
    with contextlib.suppress(RuntimeError):
        await session.execute("go")
    with contextlib.suppress(TypeError):
        coordinator.mount_points = value
    await session.cleanup()


async def approved(value: Any) -> None:
    from amplifier_core import ModuleCoordinator
    from amplifier_core.models import HookResult

    result = HookResult(action="ask_user", approval_prompt="?", approval_timeout=1)
    with contextlib.suppress(TypeError, AttributeError, HostileError):
        await ModuleCoordinator(approval_system=value).process_hook_result(result, "e", "n")

    class Answers:
        async def request_approval(self, *_: Any) -> Any:
            return value

    coordinator = ModuleCoordinator(approval_system=Answers())
    with contextlib.suppress(TypeError):
        await coordinator.process_hook_result(result, "e", "n")
    await coordinator.process_hook_result(value, "e", "n")


async def displayed(value: Any) -> None:
    from amplifier_core import ModuleCoordinator
    from amplifier_core.models import HookResult

    coordinator = ModuleCoordinator(display_system=value)
    await coordinator.process_hook_result(HookResult(user_message="m"), "e", "n")
    strange = HookResult.model_construct(
        action="inject_context", context_injection=value, user_message=value, context_injections=[]
    )
    await coordinator.process_hook_result(strange, "e", "n")


async def initialized(**section: Any) -> None:
    from amplifier_core import AmplifierSession

    session = AmplifierSession({"session": {**PLAN["session"], **section}})
    with contextlib.suppress(RuntimeError):
        await session.initialize()
    await session.cleanup()


def main(part: str, thoroughness: str = "") -> None:
    """Walk one module, or the sequences, and print what went wrong."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    gc.disable()  # collected after each callable, see the test of objects made while it runs
    findings = Findings(is_thorough=thoroughness == "thorough")
    if part == "sequences":
        sequences(findings)
    else:
        with contextlib.suppress(ImportError):  # what is not supported here says so
            walk(part, findings)
    print(f"{findings.calls} calls", *findings.bad, sep="\n", flush=True)


def assert_harmless(part: str, *options: str, seconds: float = 110) -> None:
    """Run this file as a script and check that it came to its end with nothing found."""
    command = [sys.executable, __file__, part, *options]
    result = subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
    )
    lines = result.stdout.splitlines()
    assert result.returncode == 0, f"ended in {lines[-1:]}: {result.stderr[-3_000:]}"
    findings = list(itertools.dropwhile(lambda line: not line.endswith(" calls"), lines))
    assert findings[1:] == []


@pytest.mark.parametrize("part", ["amplifier_core._engine", "sequences"])
def test_hostile_values_never_panic_hang_or_crash(part):
    assert_harmless(part)


if __name__ == "__main__":
    main(*sys.argv[1:])
