"""Which Rust file uses which, inside each crate: `use` and paths, tests left out.

A module and its parts are one system: an arrow from a part back to the module that holds it, as
from `json/read.rs` to `json.rs`, is not counted.

No compiler is asked: names are looked up by the rules of modules, as far as they are needed here.
What a macro makes of its arguments is not seen, but the paths in its body are.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Place: TypeAlias = tuple[str, ...]
"""The names of a path, or those that lead to a module."""

_TOKEN = re.compile(
    r"""(?P<gap>\s+|//[^\n]*|/\*.*?\*/)
    |[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)
    |[bc]?"(?:\\.|[^"\\])*"
    |b?'(?:\\[^'\n]+|\\'|[^\\'])'
    |'\w+
    |(?:r\#)?\w+
    |::
    |.""",
    re.DOTALL | re.VERBOSE,
)
_DEFINING = frozenset(
    ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "macro_rules"]
)


@dataclass
class Module:
    """A module: a file, or a part of one."""

    file: str
    children: set[str] = field(default_factory=set[str])
    definitions: set[str] = field(default_factory=set[str])
    uses: dict[str, tuple[Place, bool]] = field(default_factory=dict[str, tuple[Place, bool]])
    """What a name is imported from, and whether it is handed on."""
    globs: list[tuple[Place, bool]] = field(default_factory=list[tuple[Place, bool]])
    paths: set[Place] = field(default_factory=set[Place])
    """The paths of its code."""
    words: Counter[str] = field(default_factory=Counter[str])
    """The names of its code."""


def rust_arrows(crates: Path) -> set[tuple[str, str]]:
    """List the arrows between the source files of each crate: user and used."""
    arrows: set[tuple[str, str]] = set()
    for source in sorted(crates.glob("*/src")):
        arrows |= _Crate(source, crates.parent).arrows()
    return arrows


class _Crate:
    def __init__(self, source: Path, checkout: Path) -> None:
        self.modules: dict[Place, Module] = {}
        self.tests: set[Place] = set()
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            if parts[-1] in ("lib", "main", "mod"):
                parts = parts[:-1]
            module = self.modules.setdefault(parts, Module(""))
            module.file = path.relative_to(checkout).as_posix()
            _Reader(self, parts, module.file).read(path.read_text())

    def arrows(self) -> set[tuple[str, str]]:
        arrows: set[tuple[str, str]] = set()
        for place, module in self.modules.items():
            if any(place[: len(test)] == test for test in self.tests):
                continue
            used = {self.definer(place, path) for path in module.paths}
            for name, (path, is_handed_on) in module.uses.items():
                if not is_handed_on or module.words[name]:
                    used.add(self.definer(place, path))
            for path, is_handed_on in module.globs:
                target = self.place(place, path)
                if target in self.modules and not is_handed_on:
                    used.add(self.modules[target].file)
            arrows |= {(module.file, file) for file in used if file and file != module.file}
        return {
            (user, used)
            for user, used in arrows
            if not user.startswith(f"{used.removesuffix('.rs')}/")
        }

    def definer(self, here: Place, path: Place) -> str | None:
        """The file that defines what a path names; None for a module and for what is foreign."""
        found = self.place(here, path)
        if found is None or found in self.modules:
            return None
        return self.modules[found[:-1]].file

    def place(self, here: Place, path: Place, depth: int = 0) -> Place | None:
        """The full path of what a path names in a module: a module, or one of its definitions."""
        if depth > 20:
            return None
        first, rest = path[0], path[1:]
        if first in ("crate", "$crate"):
            return self.below((), rest, depth)
        if first == "self":
            return self.below(here, rest, depth)
        if first == "super":
            above = here[:-1]
            while rest and rest[0] == "super":
                above, rest = above[:-1], rest[1:]
            return self.below(above, rest, depth)
        module = self.modules[here]
        if first in module.children or first in module.definitions or first in module.uses:
            return self.below(here, path, depth)
        return None

    def below(self, here: Place, rest: Place, depth: int) -> Place | None:
        """What the rest of a path names, seen from a module."""
        while rest:
            module, name = self.modules.get(here), rest[0]
            if module is None:
                return None
            if len(rest) > 1 and name in module.children:
                here, rest = (*here, name), rest[1:]
            elif name in module.definitions:
                return (*here, name)
            elif name in module.uses:
                path, _ = module.uses[name]
                if path == (name,):
                    return None  # a crate of this name
                return self.place(here, (*path, *rest[1:]), depth + 1)
            elif name in module.children:
                here, rest = (*here, name), rest[1:]
            else:
                return self.through_globs(here, rest, depth)
        return here

    def through_globs(self, here: Place, rest: Place, depth: int) -> Place | None:
        for path, _ in self.modules[here].globs:
            target = self.place(here, path, depth + 1)
            module = self.modules.get(target) if target is not None else None
            if target is None or module is None:
                continue
            if rest[0] in module.definitions | module.children or rest[0] in module.uses:
                return self.below(target, rest, depth + 1)
        return (*here, rest[0]) if rest else here


class _Reader:
    """Reads one file into its modules."""

    def __init__(self, crate: _Crate, place: Place, file: str) -> None:
        self.crate, self.file = crate, file
        self.place = place
        self.braces: list[str | None] = []
        """What each open brace is of: a module's name, a macro's call (""), anything else (None)."""
        self.tokens: list[str] = []

    @property
    def module(self) -> Module:
        return self.crate.modules.setdefault(self.place, Module(self.file))

    def read(self, text: str) -> None:
        found = _TOKEN.finditer(text)
        self.tokens = [match[0] for match in found if match["gap"] is None]
        at = 0
        while at < len(self.tokens):
            at = self.step(at)

    def token(self, at: int) -> str:
        return self.tokens[at] if 0 <= at < len(self.tokens) else ""

    def step(self, at: int) -> int:
        """Read what begins at a token, and give the place of what follows."""
        token = self.token(at)
        if token == "#" and self.token(at + 1) in ("[", "!"):
            return self.attribute(at)
        if token == "{":
            before = self.token(at - 1), self.token(at - 2)
            self.braces.append("" if before[0] == "!" else None)
            return at + 1
        if token == "}":
            if self.braces and (name := self.braces.pop()):
                assert self.place[-1] == name
                self.place = self.place[:-1]
            return at + 1
        if token == "mod" and self.token(at + 1).isidentifier():
            return self.child(at)
        if token == "use" and self.token(at + 1) != "<":
            return self.use(at)
        if token in _DEFINING and all(each is not None for each in self.braces):
            name = at + 2 if self.token(at + 1) == "!" else at + 1
            if self.token(name).isidentifier():
                self.module.definitions.add(self.token(name))
            return name
        if token.isidentifier():
            return self.path(at)
        return at + 1

    def attribute(self, at: int) -> int:
        end = self.closing(at + 1 if self.token(at + 1) == "[" else at + 2)
        words = self.tokens[at:end]
        if "cfg" not in words or "test" not in words or {"not", "any"} & {*words}:
            return end
        while self.token(end) == "#":
            end = self.closing(end + 1)
        if "mod" in self.tokens[end : end + 5]:
            name = self.tokens.index("mod", end) + 1
            self.crate.tests.add((*self.place, self.token(name)))
        while self.token(end) not in (";", "{", ""):
            end = self.closing(end) if self.token(end) in ("(", "[") else end + 1
        return self.closing(end) if self.token(end) == "{" else end + 1

    def closing(self, at: int) -> int:
        """The place after the bracket that closes the one at a place."""
        depth = 0
        while at < len(self.tokens):
            depth += self.token(at) in ("(", "[", "{")
            depth -= self.token(at) in (")", "]", "}")
            at += 1
            if depth == 0:
                break
        return at

    def child(self, at: int) -> int:
        name = self.token(at + 1)
        self.module.children.add(name)
        if self.token(at + 2) != "{":
            return at + 2
        self.place = (*self.place, name)
        self.braces.append(name)
        self.crate.modules.setdefault(self.place, Module(self.file))
        return at + 3

    def use(self, at: int) -> int:
        before = self.token(at - 1)
        is_handed_on = before == "pub" or (before == ")" and "pub" in self.tokens[at - 5 : at])
        end = self.tokens.index(";", at)
        if self.braces and self.braces[-1] is None:
            # Inside a function: it counts as its module's.
            is_handed_on = False
        self.tree((), at + 1, end, is_handed_on)
        return end + 1

    def tree(self, prefix: Place, at: int, end: int, is_handed_on: bool) -> int:
        path = prefix
        while at < end:
            token = self.token(at)
            if token == "{":
                at += 1
                while at < end and self.token(at) != "}":
                    at = self.tree(path, at, end, is_handed_on)
                    at += self.token(at) == ","
                return at + 1
            if token == "*":
                self.module.globs.append((path, is_handed_on))
                return at + 1
            if token == "as":
                self.note(path, self.token(at + 1), is_handed_on)
                return at + 2
            if token in (",", "}"):
                break
            if token != "::":
                path = (*path, token) if token != "$" else path
            at += 1
        self.note(path, path[-1] if path else "", is_handed_on)
        return at

    def note(self, path: Place, name: str, is_handed_on: bool) -> None:
        if path[1:] and path[-1] == "self":
            path, name = path[:-1], path[-2] if name == "self" else name
        self.module.uses[name] = (path, is_handed_on)

    def path(self, at: int) -> int:
        path: Place = (self.token(at),)
        if self.token(at - 1) == "." or self.token(at - 1) == "::":
            return at + 1  # a field, a method or what follows a type
        at += 1
        while self.token(at) == "::" and self.token(at + 1).isidentifier():
            path = (*path, self.token(at + 1))
            at += 2
        self.module.words[path[0]] += 1
        if path[1:]:
            self.module.paths.add(path)
        return at
