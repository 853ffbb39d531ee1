"""What the models of Anthropic take, by the vendor's list, and what they can be held to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..serving.fields import Path
from ..serving.schema import UNSUPPORTED, SchemaLimits, schema_problem
from .refusals import make_invalid

_SUFFIX = re.compile(r"(-\d{8}|-latest|-0)?")
_NEW = frozenset({"adaptive", "between_tools", "disabled"})
_ALWAYS = frozenset({"adaptive", "between_tools"})
_OLD = frozenset({"enabled", "disabled"})
_BOTH = frozenset({"enabled", "adaptive", "disabled"})
_EFFORTS = frozenset({"low", "medium", "high"})
_ALL_EFFORTS = _EFFORTS | {"xhigh", "max"}


_NONE = frozenset[str]()
LIMITS = SchemaLimits(
    UNSUPPORTED
    | {
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maximum",
        "minLength",
        "minimum",
        "multipleOf",
    },
    max_optional=24,
    min_items=frozenset({0, 1}),
    recursive=False,
)
"""What Anthropic can hold an answer to: its guide to structured outputs."""


@dataclass(frozen=True)
class AnthropicModel:
    """What one model takes."""

    name: str
    """The id without a date."""
    max_tokens: int = 128_000
    """The most tokens of an answer."""
    thinking: frozenset[str] = _NEW
    """The types of `thinking`; empty if it cannot think."""
    sampling: str = "none"
    """Sampling parameters: `any`, `one` of `temperature` and `top_p`, or `none`."""
    forced_tools: bool = True
    """Whether `tool_choice` may force a call."""
    prefill: bool = False
    """Whether the last message may be the beginning of the answer."""
    efforts: frozenset[str] = _ALL_EFFORTS
    """The values of `output_config.effort`."""
    max_input_tokens: int = 1_000_000
    """The context window."""


def _make_older_model(
    name: str, most: int, thinking: frozenset[str], sampling: str
) -> AnthropicModel:
    efforts = _EFFORTS if name == "claude-opus-4-5" else frozenset[str]()
    return AnthropicModel(
        name, most, thinking, sampling, prefill=True, efforts=efforts, max_input_tokens=200_000
    )


MODELS = (
    AnthropicModel("claude-fable-5-2", thinking=_ALWAYS, forced_tools=False),
    AnthropicModel("claude-mythos-5-2", thinking=_ALWAYS, forced_tools=False),
    AnthropicModel("claude-haiku-5-5"),
    AnthropicModel("claude-sonnet-5-5"),
    AnthropicModel("claude-fable-5-1", thinking=_ALWAYS, forced_tools=False),
    AnthropicModel("claude-opus-5-5", thinking=_ALWAYS, forced_tools=False),
    AnthropicModel("claude-mythos-5-1", thinking=_ALWAYS, forced_tools=False),
    AnthropicModel("claude-sonnet-5"),
    AnthropicModel("claude-fable-5", thinking=_ALWAYS),
    AnthropicModel("claude-mythos-5", thinking=_ALWAYS),
    AnthropicModel("claude-opus-5"),
    AnthropicModel("claude-opus-4-8"),
    AnthropicModel("claude-opus-4-7"),
    AnthropicModel("claude-mythos-preview", thinking=_ALWAYS),
    AnthropicModel("claude-opus-4-6", thinking=_BOTH, sampling="one", efforts=_EFFORTS | {"max"}),
    AnthropicModel("claude-sonnet-4-6", thinking=_BOTH, sampling="one", efforts=_EFFORTS | {"max"}),
    _make_older_model("claude-opus-4-5", 64_000, _OLD, "one"),
    _make_older_model("claude-haiku-4-5", 64_000, _OLD, "one"),
    _make_older_model("claude-sonnet-4-5", 64_000, _OLD, "one"),
    _make_older_model("claude-opus-4-1", 32_000, _OLD, "one"),
    _make_older_model("claude-opus-4", 32_000, _OLD, "any"),
    _make_older_model("claude-sonnet-4", 64_000, _OLD, "any"),
    _make_older_model("claude-3-7-sonnet", 64_000, _OLD, "any"),
    _make_older_model("claude-3-5-sonnet", 8_192, _NONE, "any"),
    _make_older_model("claude-3-5-haiku", 8_192, _NONE, "any"),
    _make_older_model("claude-3-haiku", 4_096, _NONE, "any"),
)
"""The models, newest first."""


def find_model(name: str, models: Iterable[AnthropicModel] = MODELS) -> AnthropicModel | None:
    """Return the model of a name, with or without a date."""
    for model in models:
        if name.startswith(model.name) and _SUFFIX.fullmatch(name, len(model.name)):
            return model
    return None


def check_held_schema(schema: Mapping[str, Any], path: Path) -> None:
    """Refuse a schema that an answer cannot be held to."""
    problem = schema_problem(schema, LIMITS)
    if problem is not None:
        raise make_invalid(problem.message, (*path, *problem.path))
