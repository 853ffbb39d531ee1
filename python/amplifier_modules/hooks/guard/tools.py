"""Checks of the commands and URLs in the arguments of tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from amplifier_core.models import HookResult
from amplifier_guard import ShellDenied, ShellPolicy, UrlDenied, UrlPolicy

from .answers import deny
from .call_question import ask_about_call
from .settings import ShellSettings, ToolSettings, UrlSettings
from .working_folder import leaves_root

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
            if (found := self._beside(tool_input)) is None:
                return None
            reason = found
        if self._settings.otherwise == "reject":
            return deny(reason)
        return ask_about_call(tool, name, tool_input, reason)

    def _beside(self, tool_input: Mapping[str, Any]) -> str | None:
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
