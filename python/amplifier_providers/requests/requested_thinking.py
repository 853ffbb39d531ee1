"""How much a call asks its model to think: one value, whoever says it and in whichever form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator

from amplifier_core.error_messages import short_repr
from amplifier_core.llm_errors import InvalidRequestError

from ..settings import Env
from ..value_problems import Form


def fitting_effort(asked: str, efforts: tuple[str, ...], order: tuple[str, ...]) -> str:
    """Return the effort nearest to the one asked, not above it where one is below.

    Only who asks for none gets none, and a word that nobody knows is left to the service.

    Args:
        asked: The effort.
        efforts: Those that a model takes; none where that is not known.
        order: All efforts, the least first.
    """
    if asked in frozenset(efforts) or not efforts or asked not in order:
        return asked
    positions = {effort: position for position, effort in enumerate(order)}
    some = [each for each in efforts if each != "none"]
    below = [each for each in some if positions[each] <= positions[asked]]
    return below[-1] if below else some[0]


MIN_THINKING_TOKENS = 1_024
"""The least that a model thinks; an answer that may not be longer has no room for it."""
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""The types of blocks that hold thinking."""
HIDDEN = "internal"
"""The `visibility` of a thought that is kept for the service alone."""
BY_ITSELF = "what the model does by itself"
"""What happens where nothing can be asked of a model."""

_FORM = Form(
    'true or false, an effort such as `low`, or {"type": "enabled", "budget_tokens": 2048} with'
    " `type`, `budget_tokens` and `effort`"
)
_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""What switches are in the environment; as an effort, each would be a mistake."""
_EFFORT = re.compile(r"[A-Za-z][\w-]{0,31}")


def read_switch(text: str) -> bool:
    """Return what the text of a variable of the environment means.

    Raises:
        ValueError: It means nothing.
    """
    try:
        return _SWITCHES[text.strip().lower()]
    except KeyError:
        raise ValueError from None


@dataclass(frozen=True)
class RequestedThinking:
    """How much a model is asked to think."""

    is_on: bool | None = None
    """Whether it is asked to think, or not to; None if nobody says anything."""
    effort: str | None = None
    """How much, in a word such as `low`."""
    budget_tokens: int | None = None
    """How much, in tokens."""
    kind: Literal["enabled", "adaptive"] | None = None
    """How, in the words of Anthropic."""
    is_effort_none: bool = False
    """Whether the effort `none` is what says that it is asked not to think."""

    @property
    def is_asked(self) -> bool:
        """Whether somebody asks for thinking."""
        return self.is_on is True

    @property
    def is_off(self) -> bool:
        """Whether somebody asks for no thinking; thoughts that come all the same are not shown."""
        return self.is_on is False

    def has_room(self, tokens: int | None) -> bool:
        """Whether an answer of so many tokens may be thought about first: unasked, with room only."""
        return self.is_asked or tokens is None or tokens > MIN_THINKING_TOKENS

    @classmethod
    def parse(cls, value: Any) -> RequestedThinking:
        """Read a value of `extended_thinking`.

        Raises:
            ValueError: It has no meaning.
        """
        match value:
            case None:
                return _NOTHING
            case bool() | 0 | 1:
                return cls(bool(value))
            case "enabled" | "adaptive":
                return cls(True, kind=value)
            case "disabled" | "none":
                return cls(False, is_effort_none=value == "none")
            case str() if _EFFORT.fullmatch(value) and value.lower() not in _SWITCHES:
                return cls(True, value)
            case Mapping():
                return cls._parse_mapping(cast("Mapping[Any, Any]", value))
            case _:
                raise ValueError

    @classmethod
    def _parse_mapping(cls, value: Mapping[Any, Any]) -> RequestedThinking:
        if value.keys() - {"type", "budget_tokens", "effort"}:
            raise ValueError
        kind, budget, effort = map(value.get, ("type", "budget_tokens", "effort"))
        if kind not in (None, "enabled", "adaptive", "disabled"):
            raise ValueError
        return _join(
            cls.parse(kind), _of_budget(budget), _of_effort(effort), cls(True if value else None)
        )


_NOTHING = RequestedThinking()
"""Of most sources of most calls."""


def _is_meaningful(value: Any) -> Any:
    RequestedThinking.parse(value)
    return value


ExtendedThinking = Annotated[Any, AfterValidator(_is_meaningful), _FORM]
"""Whether and how much a model is asked to think, in any form that `RequestedThinking` reads."""
ThinkingMode = Annotated[bool, Env("THINKING_MODE_ENABLED", read=read_switch)]
"""Whether models think where nothing else says it."""


def requested_thinking(
    options: Mapping[str, Any], effort: str | None, settings: Any, *, provider: str | None = None
) -> RequestedThinking:
    """Return how much a call asks its model to think.

    The first of these that says anything decides whether it does: the keywords of the call, the
    request, the settings, the variable `THINKING_MODE_ENABLED`. The effort and the budget are the
    first that are named.

    Args:
        options: Keywords of the call: `extended_thinking`, `reasoning`, `reasoning_effort` and
            `thinking_budget_tokens`.
        effort: The effort of the request.
        settings: The settings, which may have fields of these names and others.
        provider: Who is called, for errors.

    Raises:
        InvalidRequestError: A keyword has no meaning.
    """
    sources = (
        _of_call(options, provider),
        _of_effort(effort),
        _of_settings(settings),
        # Only who turns it off says anything: on is the default.
        _NOTHING if getattr(settings, "thinking_mode_enabled", True) else RequestedThinking(False),
    )
    decided = next((each for each in sources if each.is_on is not None), sources[0])
    if not decided.is_on:
        return decided
    return _join(*(each for each in sources if not each.is_off))


def _of_call(options: Mapping[str, Any], provider: str | None) -> RequestedThinking:
    found: list[RequestedThinking] = []
    for name, read in _KEYWORDS.items():
        value = options.get(name)
        if value is None:
            continue
        try:
            found.append(read(value))
        except ValueError:
            wanted = _FORM.text if name == "extended_thinking" else _WANTED[name]
            message = f"`{name}` is {short_repr(value)} (must be {wanted})"
            raise InvalidRequestError(message, provider=provider) from None
    return _join(*found)


def _of_settings(settings: Any) -> RequestedThinking:
    switch = getattr(settings, "enable_thinking", None)
    return _join(
        RequestedThinking.parse(getattr(settings, "extended_thinking", None)),
        RequestedThinking.parse(getattr(settings, "thinking_type", None)),
        _NOTHING if switch is None else RequestedThinking(switch),
        _of_effort(getattr(settings, "reasoning", None)),
        _of_effort(getattr(settings, "reasoning_effort", None)),
        _of_budget(getattr(settings, "thinking_budget_tokens", None)),
    )


def _of_budget(tokens: Any) -> RequestedThinking:
    if tokens is None:
        return _NOTHING
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0:
        raise ValueError
    return RequestedThinking(tokens > 0, budget_tokens=tokens or None)


def _of_effort(effort: Any) -> RequestedThinking:
    if effort is None or effort == "":
        return _NOTHING
    if not isinstance(effort, str):
        raise ValueError  # noqa: TRY004 (a validator, whose `TypeError` would go through)
    if effort == "none":
        return RequestedThinking(False, is_effort_none=True)
    return RequestedThinking(True, effort)


def _of_reasoning(value: Any) -> RequestedThinking:
    """Read `reasoning`: an effort, or a mapping as OpenAI and OpenRouter have it."""
    if not isinstance(value, Mapping):
        return _of_effort(value)
    given = cast("Mapping[str, Any]", value)
    switch = given.get("enabled")
    return _join(
        RequestedThinking(switch if isinstance(switch, bool) else None),
        _of_effort(given.get("effort")),
        _of_budget(given.get("max_tokens")),
    )


_KEYWORDS = {
    "extended_thinking": RequestedThinking.parse,
    "reasoning": _of_reasoning,
    "reasoning_effort": _of_effort,
    "thinking_budget_tokens": _of_budget,
}
_WANTED = {
    "reasoning": 'an effort such as `low`, or {"effort": "low"}',
    "reasoning_effort": "an effort such as `low`",
    "thinking_budget_tokens": "a whole number, at least 0",
}


def _join(*parts: RequestedThinking) -> RequestedThinking:
    """Return what several wishes of one source say: that of no thinking wins, else the first."""
    said = [part for part in parts if part is not _NOTHING]
    if not said:
        return _NOTHING
    for part in said:
        if part.is_off:
            return part
    return RequestedThinking(
        is_on=True if any(part.is_on for part in said) else None,
        effort=next((part.effort for part in said if part.effort), None),
        budget_tokens=next((part.budget_tokens for part in said if part.budget_tokens), None),
        kind=next((part.kind for part in said if part.kind), None),
    )
