"""The config of `hooks-guard`, checked once at mount."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_core.llm_errors import ConfigurationError
from amplifier_guard import Rate, RateLimiter

_LONGEST_FOUND = 80


class _Settings(BaseModel):
    # A key that is not known is refused: a slip must not leave something unguarded.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class RateSettings(_Settings):
    """How many calls are allowed, as `amplifier_guard.Rate` has it."""

    limit: Annotated[int, Field(ge=1)]
    """Calls in each period."""
    period: Annotated[float, Field(gt=0, strict=False)] = 60.0
    """Seconds."""
    burst: Annotated[int, Field(ge=1)] | None = None
    """Calls at once after a rest; None for as many as in a period."""

    def rate(self) -> Rate:
        """The rate itself."""
        return Rate(self.limit, self.period, self.burst)


class RatesSettings(_Settings):
    """Most calls of one user, of one tool and of one provider; None for no limit."""

    user: RateSettings | None = None
    """Counts prompts."""
    tool: RateSettings | None = None
    """Counts calls of each tool."""
    provider: RateSettings | None = None
    """Counts calls of the model."""

    def limiter(self) -> RateLimiter | None:
        """The limiter of these rates, None where there is none."""
        rates = {
            name: each.rate()
            for name in ("user", "tool", "provider")
            if (each := getattr(self, name)) is not None
        }
        return RateLimiter(**rates) if rates else None


class ShellSettings(_Settings):
    """A tool that runs commands, judged by `amplifier_guard.ShellPolicy`."""

    allow: tuple[str, ...] = Field(default=(), strict=False)
    """The first words of the commands that run without a person."""
    root: str | None = None
    """The folder that paths in them may not leave."""
    argument: str = "command"
    """The argument that holds the command."""
    otherwise: Literal["ask", "reject"] = "ask"
    """What is done with any other command."""


class UrlSettings(_Settings):
    """A tool that fetches from the net, judged by `amplifier_guard.UrlPolicy`."""

    schemes: tuple[str, ...] | None = Field(default=None, strict=False)
    ports: tuple[int, ...] | None = Field(default=None, strict=False)
    deny_private: bool = True
    argument: str = "url"
    """The argument that holds the URL."""


class ToolSettings(_Settings):
    """What the arguments of one tool lead to."""

    shell: ShellSettings | None = None
    url: UrlSettings | None = None


class GuardSettings(_Settings):
    """What `hooks-guard` may be told; a key that is absent has its default."""

    findings: Literal["report", "ask", "reject"] = "report"
    """What is done about a suspicious pattern in a prompt."""
    message_max_chars: Annotated[int, Field(ge=1)] | None = None
    """Most characters of a prompt."""
    tool_timeout: Annotated[float, Field(gt=0, strict=False)] | None = None
    """Seconds after which a tool is ended."""
    max_content_blocks: Annotated[int, Field(ge=1)] | None = None
    """Most blocks of a message."""
    name_max_chars: Annotated[int, Field(ge=1)] | None = None
    """Most characters in the name of a tool."""
    rates: RatesSettings = RatesSettings()
    user: str = "user"
    """Whose prompts are counted."""
    tools: dict[str, ToolSettings] = Field(default_factory=dict[str, ToolSettings])
    """By the name of a tool, what its arguments lead to."""

    def limits(self) -> dict[str, Any]:
        """The limits that are set here; others come from the environment, or are the defaults."""
        names = ("message_max_chars", "tool_timeout", "max_content_blocks", "name_max_chars")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def read_settings(config: Mapping[str, Any] | None) -> GuardSettings:
    """Check the config; keys that are None count as absent.

    Raises:
        ConfigurationError: A key is unknown, or a value is of the wrong type or cannot work.
    """
    given = {key: value for key, value in (config or {}).items() if value is not None}
    try:
        return GuardSettings.model_validate(given)
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False)[0]
        name = ".".join(str(part) for part in detail["loc"])
        if detail["type"] == "extra_forbidden":
            known = ", ".join(f"`{key}`" for key in GuardSettings.model_fields)
            message = f"`{name}` is unknown (known at the top: {known})"
        else:
            found = ascii(detail["input"])[:_LONGEST_FOUND]
            wanted = detail["msg"][:1].lower() + detail["msg"][1:]
            message = f"`{name}` is {found}: {wanted}"
        raise ConfigurationError(f"hooks-guard: {message}") from None
