"""Capabilities of each Claude generation: thinking, sampling and token limits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..services import ANTHROPIC

DEFAULT_MODEL = ANTHROPIC.default_model

Thinking = Literal["none", "budget", "adaptive"]

_FAMILY = "opus|sonnet|haiku|fable|mythos"
# Both orders are in use: `claude-sonnet-4-5-20250929` and `claude-3-7-sonnet-20250219`.
# A version part has one or two digits, so that a date is not read as one.
_NAME = re.compile(
    rf"claude-(?:(?P<family>{_FAMILY})-)?(?P<major>\d{{1,2}})(?:[-.](?P<minor>\d{{1,2}}))?(?!\d)"
    rf"(?:-(?P<late_family>{_FAMILY}))?"
)
_DATE = re.compile(r"(?:-\d{8}|-latest|-0)$")


@dataclass(frozen=True)
class ModelProfile:
    """What one model supports; sizes are in tokens."""

    thinking: Thinking
    """`budget`: a fixed number of tokens; `adaptive`: the model decides, `effort` guides it."""
    sampling: bool
    """Whether `temperature` and `top_p` are accepted at all."""
    interleaved_beta: bool
    """Whether thinking between tool calls needs a beta header."""
    context_window: int
    max_output_tokens: int
    prefill: bool = True
    """Whether the last message may be the beginning of the answer."""
    structured: bool = False
    """Whether the form of an answer can be constrained by a schema."""
    long_context_beta: bool = False
    """Whether a context of a million tokens needs a beta header."""
    always_thinks: bool = False
    """Whether its thinking cannot be turned off."""
    samples_twice: bool = False
    """Whether `temperature` and `top_p` are accepted together."""
    efforts: tuple[str, ...] = ()
    """The efforts that guide adaptive thinking."""
    is_known: bool = True


EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
"""All efforts, the least first."""
_EFFORTS_OF_46 = ("low", "medium", "high", "max")
# An unknown name is an alias of a gateway or a model of another vendor: use no special features.
_UNKNOWN = ModelProfile("none", True, False, 200_000, 32_000, samples_twice=True, is_known=False)
LONG_CONTEXT_TOKENS = 1_000_000


@lru_cache(maxsize=256)
def model_profile(model: str) -> ModelProfile:
    """Return what `model` supports; an unknown name gets a cautious profile."""
    if "mythos-preview" in model:
        return ModelProfile(
            "adaptive", False, False, 200_000, 64_000, False, True,
            always_thinks=True, efforts=EFFORTS[1:],
        )  # fmt: skip
    name = _NAME.search(model)
    if name is None:
        return _UNKNOWN
    version = (int(name["major"]), int(name["minor"] or 0))
    family = name["family"] or name["late_family"]
    structured = version >= (4, 5)
    if version >= (4, 6):
        window = 200_000 if family == "haiku" else LONG_CONTEXT_TOKENS
        always = family in {"fable", "mythos"} or (family == "opus" and version >= (5, 5))
        return ModelProfile(
            "adaptive", version < (4, 7), False, window, 64_000, False, structured,
            always_thinks=always, efforts=_EFFORTS_OF_46 if version < (4, 7) else EFFORTS[1:],
        )  # fmt: skip
    if version >= (4, 0):
        output = 32_000 if family == "opus" and version < (4, 5) else 64_000
        is_long = family == "sonnet"
        return ModelProfile(
            "budget", True, True, 200_000, output, True, structured, long_context_beta=is_long,
            samples_twice=version < (4, 1),
        )  # fmt: skip
    if version >= (3, 7):
        return ModelProfile("budget", True, False, 200_000, 64_000, samples_twice=True)
    output = 8_192 if version >= (3, 5) else 4_096
    return ModelProfile("none", True, False, 200_000, output, samples_twice=True)


def is_same_model(one: str, other: str) -> bool:
    """Return whether two names mean the same model; a dated name equals its alias."""
    return _DATE.sub("", one) == _DATE.sub("", other)
