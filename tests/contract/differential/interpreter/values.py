"""Values as programs write them, and the plain form in which both sides' values are compared."""

from __future__ import annotations

import asyncio
import builtins
import dataclasses
import enum
import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?")
FIXED_TIME = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)


INTERNAL_ERRORS = {"ModuleDiscoveryError", "MountPlanError"}


class Reply(BaseModel):
    """A model as a provider would put it in an event."""

    text: str = "hello"
    tokens: int = 3


@dataclasses.dataclass
class Place:
    """A dataclass as a tool would put it in an event."""

    path: str = "a.txt"
    line: int = 7


class Colour(enum.Enum):
    """An enum as a module would put it in an event."""

    RED = "red"


class Opaque:
    """An object that is no JSON, with a text that does not change."""

    def __str__(self) -> str:
        return "an opaque object"

    __repr__ = __str__


class Dumpable:
    """Not a model of Pydantic, but with its way to become a dict."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return dict(self.fields)


def circle() -> dict[str, Any]:
    inner: dict[str, Any] = {}
    inner["inner"] = inner
    return inner


MAKERS: dict[str, Callable[..., Any]] = {
    "nan": lambda: math.nan,
    "infinity": lambda: math.inf,
    "minus infinity": lambda: -math.inf,
    "integer": int,
    "surrogate": lambda: "a\ud800b",
    "datetime": lambda: FIXED_TIME,
    "date": lambda: date(2001, 2, 3),
    "decimal": Decimal,
    "bytes": lambda: b"x",
    "set": lambda *items: set(items),
    "tuple": lambda *items: items,
    "pairs": lambda *items: dict(items),
    "model": Reply,
    "dataclass": Place,
    "enum": lambda: Colour.RED,
    "opaque": Opaque,
    "dumpable": Dumpable,
    "circular": circle,
    "nested": lambda depth: eval("[" * depth + "]" * depth),
}


def build(value: Any) -> Any:
    """The value that a program means: `{"$": [maker, argument, ...]}` is what the maker makes."""
    if isinstance(value, list):
        return [build(item) for item in value]
    if isinstance(value, dict):
        if "$" in value:
            maker, *arguments = value["$"]
            return MAKERS[maker](*[build(item) for item in arguments])
        return {key: build(item) for key, item in value.items()}
    return value


def error(name: str, text: str) -> BaseException:
    """An exception by its name: a builtin one, of asyncio, or of the package."""
    from amplifier_core import approval, llm_errors, loader, module_sources

    if name == "UnprintableError":
        return UnprintableError(text)
    homes = (llm_errors, approval, loader, module_sources, builtins, asyncio)
    if name == "ModuleValidationError" or name.startswith("LLM"):
        return getattr(loader if name == "ModuleValidationError" else llm_errors, name)(text)
    for home in homes:
        found = getattr(home, name, None)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found(text)
    raise LookupError(f"no exception is called `{name}`")


class UnprintableError(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    def __repr__(self) -> str:
        return "UnprintableError()"


class Plain:
    """Turns values of one program into the plain form; equal ids get equal numbers."""

    def __init__(self) -> None:
        self.named: dict[int, str] = {}
        self.kept: list[object] = []
        self.ids: dict[str, str] = {}
        self.folders: dict[str, str] = {}
        self.within: list[int] = []

    def name(self, value: object, name: str) -> None:
        """Show an object by a name of the program."""
        self.named[id(value)] = f"<{name}>"
        self.kept.append(value)

    def text(self, text: str) -> str:
        for folder, name in self.folders.items():
            text = text.replace(folder, name)
        text = UUID.sub(
            lambda found: self.ids.setdefault(found[0], f"<id {len(self.ids) + 1}>"), text
        )
        text = TIMESTAMP.sub("<time>", text)
        return text.encode("utf-8", "backslashreplace").decode()

    def __call__(self, value: Any) -> Any:
        if id(value) in self.named:
            return self.named[id(value)]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum):
            return {f"<{type(value).__name__}>": value.value}
        if isinstance(value, int):
            return value if abs(value) < 2**53 else f"<integer {value}>"
        if isinstance(value, float):
            return {"<float>": repr(value)}
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self(item) for item in value]
        if isinstance(value, tuple):
            return {"<tuple>": [self(item) for item in value]}
        if isinstance(value, set | frozenset):
            return {"<set>": sorted(self(item) for item in value)}
        if isinstance(value, dict):
            if id(value) in self.within:
                return "<a circle>"
            self.within.append(id(value))
            shown = {self.key(key): self(value[key]) for key in sorted(value, key=str)}
            self.within.pop()
            return shown
        if isinstance(value, BaseModel):
            set_fields = {
                name: self(getattr(value, name))
                for name, field in type(value).model_fields.items()
                if getattr(value, name) != field.get_default(call_default_factory=True)
            }
            return {f"<{type(value).__name__}>": set_fields}
        if isinstance(value, BaseException):
            return {"<error>": [self.error_type(value), self.error_text(value)]}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [(f.name, self(getattr(value, f.name))) for f in dataclasses.fields(value)]
            return {f"<{type(value).__name__}>": dict(fields)}
        if isinstance(value, type):
            return f"<class {value.__name__}>"
        return f"<a {type(value).__name__}>"

    def key(self, key: Any) -> str:
        return self.text(key) if isinstance(key, str) else f"<key {key!r}>"

    def error_type(self, raised: BaseException) -> str:
        """The first class of its line that callers can name: not what a loader calls its own."""
        names = [base.__name__ for base in type(raised).__mro__]
        return next(n for n in names if not n.startswith("_") and n not in INTERNAL_ERRORS)

    def error_text(self, raised: BaseException) -> str:
        try:
            return self.text(str(raised))
        except UnicodeDecodeError:
            return "<no text>"
