"""The settings of `hooks-guard`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from amplifier_guard import RateLimiter
from amplifier_providers.settings import Env, RateSettings, Settings


class RatesSettings(Settings):
    """Rate limits of one user, of each tool and of each provider."""

    user: RateSettings | None = None
    """The rate limit of prompts; None for no limit."""
    tool: RateSettings | None = None
    """The rate limit of calls of each tool."""
    provider: RateSettings | None = None
    """The rate limit of calls of the model."""

    def make_limiter(self) -> RateLimiter | None:
        """Return the limiter of these rates, None if no rate is set."""
        rates = {name: each.rate() for name, each in self if each is not None}
        return RateLimiter(**rates) if rates else None


class ShellSettings(Settings):
    """A tool that runs commands, judged by `amplifier_guard.ShellPolicy`."""

    allow: tuple[str, ...] = Field(default=(), strict=False)
    """Commands, or their first words, that run without a person's approval."""
    root: str | None = None
    """Folder that paths in commands may not leave."""
    loopback: bool = False
    """Whether curl may read from the servers of this machine."""
    argument: str = "command"
    """Argument that holds the command."""
    harmless: tuple[str, ...] = Field(default=(), strict=False)
    """Arguments beside the command that need no approval, whatever their value; a folder or path outside the root does."""
    otherwise: Literal["ask", "reject"] = "ask"
    """What happens to any other command."""


class UrlSettings(Settings):
    """A tool that fetches from the network, judged by `amplifier_guard.UrlPolicy`."""

    schemes: tuple[str, ...] | None = Field(default=None, strict=False)
    """Schemes that URLs may have; without it those of `UrlPolicy`."""
    ports: tuple[int, ...] | None = Field(default=None, strict=False)
    """Ports that URLs may have; without it those of `UrlPolicy`."""
    deny_private: bool = True
    """Whether addresses that are not public are refused."""
    argument: str = "url"
    """Argument that holds the URL."""


class ToolSettings(Settings):
    """What the arguments of one tool lead to."""

    shell: ShellSettings | None = None
    """The tool runs commands."""
    url: UrlSettings | None = None
    """The tool fetches URLs."""


class GuardSettings(Settings):
    """What the guard refuses."""

    # A misspelt key must not leave something unguarded.
    unknown_keys = "refuse"

    findings: Literal["report", "ask", "reject"] = "report"
    """What happens to a prompt with a suspicious pattern."""
    message_max_chars: Annotated[int | None, Env("MESSAGE_MAX_CHARS", None), Field(ge=1)] = None
    """Characters of a prompt, at most; 50,000 if not set."""
    tool_timeout: Annotated[float | None, Env("TOOL_TIMEOUT", None)] = Field(
        default=None, gt=0, strict=False
    )
    """Seconds after which a tool is ended; 120 if not set."""
    max_content_blocks: Annotated[int | None, Env("MAX_CONTENT_BLOCKS", None), Field(ge=1)] = None
    """Blocks of a message, at most; 1,000 if not set."""
    name_max_chars: Annotated[int | None, Env("NAME_MAX_CHARS", None), Field(ge=1)] = None
    """Characters in the name of a tool, at most; 100 if not set."""
    rates: RatesSettings = RatesSettings()
    """Rate limits."""
    user: str = "user"
    """Name of the user whose prompts are counted."""
    tools: dict[str, ToolSettings] = Field(default_factory=dict[str, ToolSettings])
    """By the name of a tool, what its arguments lead to."""

    def list_limits(self) -> dict[str, Any]:
        """Return the limits that are set; others come from the environment or are defaults."""
        names = {"message_max_chars", "tool_timeout", "max_content_blocks", "name_max_chars"}
        return self.model_dump(include=names, exclude_none=True)
