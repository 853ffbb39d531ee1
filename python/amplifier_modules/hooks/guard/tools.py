"""Where the arguments of a tool lead: commands and URLs, judged before the tool runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from amplifier_core.models import HookResult
from amplifier_guard import ShellDenied, ShellPolicy, UrlDenied, UrlPolicy

from .answers import ask, deny
from .settings import ShellSettings, ToolSettings, UrlSettings

LONGEST_LOOK_UP = 10.0
"""Seconds that the look-up of a name may take."""
_LONGEST_SHOWN = 1000
"""Characters of a command that a person can be shown whole."""


class ToolSinks:
    """The policies of one tool, as its settings have them."""

    def __init__(self, settings: ToolSettings) -> None:
        """Make the policies.

        Raises:
            ValueError: A policy cannot be made of its settings.
        """
        self._shell = settings.shell and _Shell(settings.shell)
        self._url = settings.url and _Url(settings.url)

    async def judge(self, tool: str, tool_input: Mapping[str, Any]) -> HookResult | None:
        """Refuse a call, ask a person about it, or let it pass with None."""
        if self._url and (answer := await self._url.judge(tool, tool_input)):
            return answer
        return self._shell.judge(tool, tool_input) if self._shell else None


class _Shell:
    def __init__(self, settings: ShellSettings) -> None:
        self._settings = settings
        self._policy = ShellPolicy(settings.allow, root=settings.root)

    def judge(self, tool: str, tool_input: Mapping[str, Any]) -> HookResult | None:
        name = self._settings.argument
        command = tool_input.get(name)
        if not isinstance(command, str):
            return deny(f"`{tool}` needs a command as `{name}`, a text")
        try:
            self._policy.check(command)
        except ShellDenied as denial:
            if self._settings.otherwise == "reject":
                return deny(str(denial))
            if len(command) > _LONGEST_SHOWN:
                length = f"a command of {len(command):,} characters"
                return deny(f"nobody can be asked about {length} ({denial})")
            return ask(f"`{tool}` is to run `{command}` ({denial})")
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
            return deny(f"`{tool}` needs a URL as `{self._argument}`, a text")
        try:
            with anyio.move_on_after(LONGEST_LOOK_UP):
                await self._policy.check(url)
                return None
        except UrlDenied as denial:
            return deny(str(denial))
        return deny(f"the name in the URL was not found within {LONGEST_LOOK_UP:g} s")
