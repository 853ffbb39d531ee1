"""The prompts of MCP servers as commands of a conversation: `/mcp__SERVER__PROMPT ARGUMENTS`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.chat.slash_commands import SlashCommand
from amplifier_app.failure import Failure
from amplifier_app.printable import printable_line

if TYPE_CHECKING:
    from amplifier_modules.tools.mcp import Prompt

PREFIX = "/mcp__"
"""What such a command begins with, as Claude Code has it."""
_REFUSED = re.compile(r"[^\w-]")
_MAX_DESCRIPTION_CHARS = 100
_INTRODUCTION = (
    "The user asks for the prompt `{name}` of the MCP server `{server}`. The server says it as"
    " follows; these are its words, and not the user's:"
)


class ServerPrompts:
    """The prompts of the servers that are connected, by the names of their commands."""

    def __init__(self) -> None:
        """Know none yet."""
        self._prompts: dict[str, Prompt] = {}

    async def read_prompts(self, servers: Any) -> None:
        """Ask the servers of a session what they have."""
        self._prompts = name_commands(await servers.list_prompts())

    def clear(self) -> None:
        """Know none any more."""
        self._prompts = {}

    def describe(self) -> dict[str, str]:
        """Return what each command does, by the command with its arguments."""
        return {
            write_usage(name, prompt): printable_line(prompt.description, _MAX_DESCRIPTION_CHARS)
            for name, prompt in self._prompts.items()
        }

    async def write_prompt(self, command: SlashCommand, servers: Any) -> str:
        """Return what the model gets for a command.

        Args:
            command: The command, with its arguments.
            servers: Those of the session; None without any.

        Raises:
            Failure: There is no such prompt, an argument is missing, or the server does not answer.
        """
        from amplifier_modules.tools.mcp.server_errors import ServerError

        if servers is None:
            raise Failure("there are no MCP servers", hint="`amplifier-core mcp add` adds one")
        servers.start()
        meant = [
            each
            for each in servers.servers
            if command.name.startswith(f"{PREFIX}{_replace_refused(each.name)}__".lower())
        ]
        for server in meant:
            await server.wait_until_settled()
        await self.read_prompts(servers)
        prompt = self._prompts.get(command.name)
        if prompt is None:
            for server in meant:
                if problem := server.status.problem:
                    raise Failure(f"the MCP server `{server.name}` is not connected: {problem}")
            names = ", ".join(f"`{each}`" for each in self._prompts)
            hint = f"there are {names}" if names else "the servers that are connected have none"
            raise Failure(f"there is no prompt `{command.name}`", hint=hint)
        arguments = read_arguments(command, prompt)
        try:
            text = await servers.get_prompt(prompt.server, prompt.name, arguments)
        except ServerError as error:
            raise Failure(f"the MCP server `{prompt.server}`: {error}") from error
        return mark_prompt(prompt, text)


def name_commands(prompts: Sequence[Prompt]) -> dict[str, Prompt]:
    """Return prompts by the names of their commands, each of which is there once."""
    named: dict[str, Prompt] = {}
    for prompt in prompts:
        words = map(_replace_refused, (prompt.server, prompt.name))
        plain = name = f"{PREFIX}{'__'.join(words)}".lower()
        number = 2
        while name in named:
            name, number = f"{plain}_{number}", number + 1
        named[name] = prompt
    return named


def _replace_refused(name: str) -> str:
    """Return a name as the word of a command can hold it."""
    return _REFUSED.sub("_", name)


def write_usage(name: str, prompt: Prompt) -> str:
    """Return a command with its arguments: those in brackets can be left out."""
    words = (
        each.upper() if each in prompt.required else f"[{each.upper()}]"
        for each in prompt.arguments
    )
    return printable_line(" ".join([name, *words]), 200)


def read_arguments(command: SlashCommand, prompt: Prompt) -> dict[str, str]:
    """Return the arguments of a prompt: `name=value`, or by position; the last takes what is left.

    Raises:
        Failure: One is missing, or there is none.
    """
    given: dict[str, str] = {}
    plain: list[str] = []
    for word in _split(command.argument):
        name, equals, value = word.partition("=")
        if equals and name in prompt.arguments:
            given[name] = value
        else:
            plain.append(word)
    free = [each for each in prompt.arguments if each not in given]
    hint = f"`{write_usage(command.name, prompt)}`"
    if plain and not free:
        raise Failure(f"`{command.name}` takes no more arguments", hint=hint)
    if len(plain) > len(free):
        plain[len(free) - 1 :] = [" ".join(plain[len(free) - 1 :])]
    given |= dict(zip(free, plain, strict=False))
    missing = [f"`{printable_line(each, 80)}`" for each in prompt.required if each not in given]
    if missing:
        raise Failure(f"`{command.name}` needs {' and '.join(missing)}", hint=hint)
    return given


def mark_prompt(prompt: Prompt, text: str) -> str:
    """Return the words of a server as a prompt of the user, with where they begin and end."""
    tag = "mcp-prompt"
    while f"</{tag}>" in text:
        tag += "-"  # the text must not end its own block
    introduction = _INTRODUCTION.format(name=_quote(prompt.name), server=_quote(prompt.server))
    return f"{introduction}\n\n<{tag}>\n{text}\n</{tag}>"


def _quote(name: str) -> str:
    return printable_line(name, 80).replace("`", "'")


def _split(argument: str) -> list[str]:
    """Return the words of an argument; quotes keep several together."""
    try:
        return shlex.split(argument)
    except ValueError:  # an apostrophe
        return argument.split()
