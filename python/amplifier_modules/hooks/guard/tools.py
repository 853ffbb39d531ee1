"""Checks of tool calls: the name, the arguments by their schema, and commands and URLs in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from unicodedata import normalize

import anyio

from amplifier_core.models import HookResult
from amplifier_guard import (
    NameDenied,
    ShellDenied,
    ShellPolicy,
    ToolInputDenied,
    ToolSchemaDenied,
    UrlDenied,
    UrlPolicy,
    check_tool_name,
)
from amplifier_providers.answers.argument_check import ArgumentSchemas

from .answers import ask_about_call, deny
from .settings import ShellSettings, ToolSettings, UrlSettings


class ToolArguments:
    """The names and schemas of a session's tools."""

    def __init__(self, name_max_chars: int) -> None:
        """Deny longer names."""
        self._name_max_chars = name_max_chars
        self._schemas = ArgumentSchemas()

    def judge(self, name: str, tool: Any, tool_input: Mapping[str, Any]) -> HookResult | None:
        """Deny a call whose name or arguments are invalid, or return None to let it pass.

        Args:
            name: The tool that the model calls.
            tool: The tool mounted under that name, None if there is none.
            tool_input: The arguments.
        """
        try:
            check_tool_name(name, self._name_max_chars)
            self._schemas.check(name, tool, tool_input)
        except (NameDenied, ToolInputDenied, ToolSchemaDenied) as denial:
            return deny(str(denial))
        return None


LOOK_UP_SECONDS = 10.0
"""Time limit of a name look-up."""


class ToolSinks:
    """The policies of one tool."""

    def __init__(self, settings: ToolSettings) -> None:
        """Create the policies.

        Raises:
            ValueError: The settings of a policy cannot be used.
        """
        self._shell = settings.shell and _Shell(settings.shell)
        self._url = settings.url and _Url(settings.url)

    async def judge(self, tool: str, tool_input: Mapping[str, Any]) -> HookResult | None:
        """Deny a call, ask a person about it, or return None to let it pass."""
        if self._url and (answer := await self._url.judge(tool, tool_input)):
            return answer
        return self._shell.judge(tool, tool_input) if self._shell else None


class _Shell:
    def __init__(self, settings: ShellSettings) -> None:
        self._settings = settings
        self._policy = ShellPolicy(settings.allow, root=settings.root, loopback=settings.loopback)

    def judge(self, tool: str, tool_input: Mapping[str, Any]) -> HookResult | None:
        name = self._settings.argument
        command = tool_input.get(name)
        if not isinstance(command, str):
            return deny(f"`{name}` of `{tool}` must be a command, as text")
        try:
            self._policy.check(command)
        except ShellDenied as denial:
            reason = str(denial)
        else:
            if (found := self._check_arguments(tool_input)) is None:
                return None
            reason = found
        if self._settings.otherwise == "reject":
            return deny(reason)
        return ask_about_call(tool, name, tool_input, reason)

    def _check_arguments(self, tool_input: Mapping[str, Any]) -> str | None:
        """Return why the arguments beside the command need approval, or None."""
        name = self._settings.argument
        for each, value in tool_input.items():
            if each == name:
                continue
            if each not in self._settings.harmless:
                return f"it has arguments beside `{name}` that are not named as harmless"
            if leaves_root(self._settings.root, each, value):
                return "its working folder is not inside the root"
        return None


class _Url:
    def __init__(self, settings: UrlSettings) -> None:
        self._argument = settings.argument
        self._policy = UrlPolicy(
            schemes=settings.schemes, ports=settings.ports, deny_private=settings.deny_private
        )

    async def judge(self, tool: str, tool_input: Mapping[str, Any]) -> HookResult | None:
        url = tool_input.get(self._argument)
        if not isinstance(url, str):
            return deny(f"`{self._argument}` of `{tool}` must be a URL, as text")
        try:
            with anyio.move_on_after(LOOK_UP_SECONDS):
                await self._policy.check(url)
                return None
        except UrlDenied as denial:
            return deny(str(denial))
        return deny(f"name look-up of the URL timed out after {LOOK_UP_SECONDS:g} s")


_PLAIN = re.compile(r"(?![\s~-])[\w ./@+,=-]*(?<!\s)")
_NAMES = re.compile(
    "cwd|chdir|pwd|folder|director|path|work(ing)?(dir|place|space|tree)|dir$|^root"
)


_MAX_DEPTH = 32
"""Hooks see a very deep value only in part, so nothing is certain about it."""


def leaves_root(root: str | None, name: str, value: object) -> bool:
    """Whether an argument, or anything in it, is a working folder that is not inside the root.

    Tools call it `cwd`, `workingDir`, `directory_path` and much else. What is nested too deeply
    counts as one.
    """
    return _leaves_root(root, name, value, 0)


def _leaves_root(root: str | None, name: str, value: object, depth: int) -> bool:
    if depth > _MAX_DEPTH:
        return True
    within: list[tuple[str, object]] = []
    if isinstance(value, Mapping):
        within = [(str(key), each) for key, each in cast("Mapping[Any, Any]", value).items()]
    elif isinstance(value, list | tuple):
        within = [("", each) for each in cast("Sequence[Any]", value)]
    if any(_leaves_root(root, key, each, depth + 1) for key, each in within):
        return True
    letters = "".join(filter(str.isalnum, normalize("NFKC", name))).lower()
    return _NAMES.search(letters) is not None and not is_beneath(root, cast("object", value))


def is_beneath(root: str | None, folder: object) -> bool:
    """Whether `folder`, counted from the root, is inside it, links resolved.

    A name that a tool or a shell may read otherwise (`~`, `$HOME`, `-`) is not.
    """
    if root is None or not isinstance(folder, str) or not _PLAIN.fullmatch(folder):
        return False
    try:
        top = Path(root).resolve()
        path = top / folder
        # From CPython 3.13 on `resolve` takes links that lead to each other; `stat` does not.
        with suppress(FileNotFoundError):
            path.stat()
        return path.resolve().is_relative_to(top)
    except (OSError, RuntimeError, ValueError):
        return False  # a loop of links, a NUL
