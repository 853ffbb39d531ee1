"""A model that layers may turn to, what is known of it, and what a call needs of it."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field

from amplifier_core.llm_errors import InvalidRequestError
from amplifier_providers.requests.model_window import limits_of
from amplifier_providers.requests.requested_thinking import requested_thinking
from amplifier_providers.requests.token_estimate import CHARACTERS_PER_TOKEN, estimate_tokens
from amplifier_providers.settings import Settings
from amplifier_providers.value_problems import Form

from ..exceptions import ArcLLMConfigError
from ..step import Call, Step
from ..types import ContentBlock, ImageBlock, Message, ToolResultBlock


class Needs:
    """What a call needs of a model."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._infos: dict[Candidate, Any] = {}

    @cached_property
    def capabilities(self) -> set[str]:
        """What the model must be able to do: `vision`, `tools`, `thinking`."""
        call = self._call
        asked = {
            "vision": any(_has_image(message.content) for message in call.messages),
            "tools": bool(call.tools),
            "thinking": _asks_for_thinking(call),
        }
        return {name for name, is_needed in asked.items() if is_needed}

    @cached_property
    def tokens(self) -> int:
        """The tokens of its messages and tools, as they are estimated."""
        tokens = sum(map(_tokens_of, self._call.messages))
        characters = sum(len(tool.model_dump_json()) for tool in self._call.tools or ())
        return tokens + characters // CHARACTERS_PER_TOKEN

    def explain_lack(self, candidate: Candidate, needs: Iterable[str]) -> str | None:
        """Return what a model cannot do of this and that; None if nothing, or if not known."""
        wanted = self.capabilities.union(needs)
        can = getattr(self._read_info(candidate), "capabilities", None) if wanted else None
        lacking = sorted(wanted - set(can)) if can else ()
        return f"has no {' and no '.join(lacking)}" if lacking else None

    def explain_excess(self, candidate: Candidate, reserve: int) -> str | None:
        """Return that the call exceeds a window; None if it does not, or if that is not known."""
        window, _ = limits_of(self._read_info(candidate))
        tokens = self.tokens + self.answer_tokens(reserve)
        if window is None or tokens <= window:
            return None
        return f"has a window of {window} tokens (the call needs about {tokens})"

    def _read_info(self, candidate: Candidate) -> Any:
        # Asked for once a call: to gather it takes longer than the rules.
        if candidate not in self._infos:
            self._infos[candidate] = candidate.info
        return self._infos[candidate]

    def answer_tokens(self, default: int) -> int:
        """The space for the answer: `max_tokens` of the call, or a default."""
        asked = self._call.options.get("max_tokens")
        return asked if isinstance(asked, int) else default


class Candidate:
    """A model that may answer.

    Args:
        provider: The model, bare.
        step: The model, as it is asked.
    """

    def __init__(self, provider: Step, step: Step) -> None:
        self.provider = provider
        self.step = step
        self.name = f"{provider.name}:{provider.model_name}"
        """`provider:model`."""

    @property
    def info(self) -> Any:
        """What is known of the model, a `ModelInfo` of the kernel; None if nothing is."""
        get_model_info = getattr(self.provider, "get_model_info", None)
        return get_model_info() if callable(get_model_info) else None

    def price(self, tokens: int) -> float:
        """Return what so many tokens of a request cost, in US dollars; infinite if not known."""
        input_cost = getattr(self.provider, "input_cost", None)
        cost: Any = input_cost(tokens) if callable(input_cost) else None
        return math.inf if cost is None else float(cost)

    def explain_price(self, limit: float, tokens: int) -> str | None:
        """Return that the input costs more than a limit in US dollars; None if it does not."""
        price = self.price(tokens)
        if price <= limit:
            return None
        costs = f"costs about ${price:.6f}" if math.isfinite(price) else "has no known price"
        return f"{costs} (at most ${limit:g})"


def _tokens_of(message: Message) -> int:
    if isinstance(message.content, str):
        return estimate_tokens({"content": message.content})
    return estimate_tokens(
        {"content": [block.model_dump() for block in _flatten_blocks(message.content)]}
    )


def _has_image(content: str | list[ContentBlock]) -> bool:
    return any(isinstance(block, ImageBlock) for block in _flatten_blocks(content))


def _flatten_blocks(content: str | list[ContentBlock]) -> Iterator[ContentBlock]:
    """Yield the blocks of a message, those in results of tools among them."""
    for block in () if isinstance(content, str) else content:
        if isinstance(block, ToolResultBlock) and not isinstance(block.content, str):
            yield from _flatten_blocks(block.content)
        else:
            yield block


def _asks_for_thinking(call: Call) -> bool:
    try:
        return requested_thinking(call.options, None, None).is_asked
    except InvalidRequestError:  # which whoever is asked refuses
        return False


class Target(Settings):
    """A model of a provider."""

    provider: Annotated[
        str,
        Field(pattern=r"\A[a-z][a-z0-9_-]{0,63}\z"),
        Form("the name of a provider: small letters, digits, `_` and `-`"),
    ]
    """The name of the provider."""
    model: Annotated[str | None, Field(min_length=1)] = None
    """The model; None for the default one of the provider."""

    def __str__(self) -> str:
        """Write it as `provider:model`."""
        return self.provider if self.model is None else f"{self.provider}:{self.model}"


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    provider, colon, model = value.partition(":")
    return {"provider": provider, "model": model} if colon else {"provider": provider}


TargetSetting: TypeAlias = Annotated[Target, BeforeValidator(_read)]
"""A `Target` as settings have it: `provider:model`, `provider`, or a mapping."""


@contextmanager
def naming(setting: str) -> Generator[None]:
    """Begin the message of an error with the setting that names the model."""
    try:
        yield
    except ArcLLMConfigError as error:
        raise ArcLLMConfigError(f"{setting}: {error.message}") from error
