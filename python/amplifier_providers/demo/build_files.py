"""Facts about a project from its build files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

from .readings import items, mapping, text

_MAX_NAMES = 12
_TARGET = re.compile(r"^([A-Za-z0-9][\w.-]*)[ \t]*:(?!=)", re.MULTILINE)
_GO_MODULE = re.compile(r"^module[ \t]+(\S+)", re.MULTILINE)


def is_build_file(name: str) -> bool:
    """Return whether a file of this name says how a project is built or what it needs."""
    return name in _READERS


def describe(name: str, content: str) -> list[str]:
    """Return what `content` says, in short statements; none if it cannot be parsed."""
    reader = _READERS.get(name)
    try:
        return reader(content.removeprefix("\ufeff")) if reader else []
    except (ValueError, RecursionError):
        return []


def _pyproject(content: str) -> list[str]:
    data = tomllib.loads(content)
    project = mapping(data.get("project")) or mapping(mapping(data.get("tool")).get("poetry"))
    said = _describe_project("Python project", project)
    said += _value("needs Python", project.get("requires-python"))
    said += _names("commands", list(mapping(project.get("scripts"))))
    return said + _value("built by", mapping(data.get("build-system")).get("build-backend"))


def _cargo(content: str) -> list[str]:
    data = tomllib.loads(content)
    members = [text(member) for member in items(mapping(data.get("workspace")).get("members"))]
    return _describe_project("Rust crate", mapping(data.get("package"))) + _names(
        "workspace of", members
    )


def _package_json(content: str) -> list[str]:
    data = mapping(json.loads(content))
    return _describe_project("package", data) + _names(
        "scripts", list(mapping(data.get("scripts")))
    )


def _makefile(content: str) -> list[str]:
    return _names("targets", list(dict.fromkeys(_TARGET.findall(content))))


def _go_module(content: str) -> list[str]:
    return _names("Go module", _GO_MODULE.findall(content)[:1])


def _nothing(content: str) -> list[str]:
    del content
    return []


def _describe_project(kind: str, data: dict[str, Any]) -> list[str]:
    said = _value(kind, data.get("name")) + _value("version", data.get("version"))
    description = " ".join(text(data.get("description")).split())
    return [*said, f"“{description}”"] if description else said


def _value(label: str, value: object) -> list[str]:
    return _names(label, [text(value)])


def _names(label: str, names: list[str]) -> list[str]:
    shown = [f"`{name}`" for name in names if name and "`" not in name and "\n" not in name]
    more = ", …" if len(shown) > _MAX_NAMES else ""
    return [f"{label} {', '.join(shown[:_MAX_NAMES])}{more}"] if shown else []


_READERS: dict[str, Callable[[str], list[str]]] = {
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "package.json": _package_json,
    "Makefile": _makefile,
    "go.mod": _go_module,
    **dict.fromkeys(
        (
            "BUILD.bazel", "CMakeLists.txt", "Dockerfile", "Gemfile", "Justfile", "Taskfile.yml",
            "build.gradle", "build.gradle.kts", "build.zig", "composer.json", "deno.json",
            "docker-compose.yml", "dune-project", "flake.nix", "justfile", "makefile",
            "meson.build", "mix.exs", "pom.xml", "requirements.txt", "setup.cfg", "setup.py",
        ),
        _nothing,
    ),
}  # fmt: skip
