"""What the models of OpenAI can do: sizes, efforts, pictures, structured output, prompt caching."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from ..services import OPENAI
from .requested_thinking import fitting_effort

DEFAULT_MODEL = OPENAI.default_model

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The efforts of reasoning, the least first."""
_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$|-latest$")


@dataclass(frozen=True)
class ModelProfile:
    """What one model supports; sizes are in tokens."""

    context_window: int
    max_output_tokens: int
    efforts: tuple[str, ...] = ()
    """The efforts that it takes; none where it does not reason."""
    long_context_window: int | None = None
    """All that it reads, if beyond `context_window` each token costs more."""
    has_vision: bool = True
    structured: Literal["schema", "object", "none"] = "schema"
    """Whether an answer can be held to a schema, to any JSON object, or to nothing."""
    keeps_cache: bool = False
    """Whether the cache of its prompts can be kept for a day."""
    is_slow: bool = False
    """Whether answers take so long that they are made in the background."""
    has_open_weights: bool = False
    """Whether others serve it, too, in their own way."""
    is_known: bool = True

    @property
    def reasons(self) -> bool:
        """Whether it thinks before it answers."""
        return bool(self.efforts)

    def can_sample(self, effort: str | None) -> bool:
        """Whether `temperature` and `top_p` are accepted with this effort."""
        if not self.efforts or self.has_open_weights:
            return True
        return effort == "none" and "none" in self.efforts

    @property
    def can_stop(self) -> bool:
        """Whether it can be asked not to think."""
        return "none" in self.efforts

    def fitting_effort(self, asked: str) -> str:
        """Return the effort nearest to the one asked, not above it where one is below.

        Only who asks for none gets none.
        """
        return fitting_effort(asked, self.efforts, EFFORTS)


_LOW_HIGH = ("low", "medium", "high")
_GPT_5 = ModelProfile(400_000, 128_000, ("minimal", *_LOW_HIGH), keeps_cache=True)
_GPT_5_1 = replace(_GPT_5, efforts=("none", *_LOW_HIGH))
_GPT_5_2 = replace(_GPT_5, efforts=("none", *_LOW_HIGH, "xhigh"))
_GPT_5_4 = replace(_GPT_5_2, context_window=272_000, long_context_window=1_050_000)
_GPT_6 = replace(_GPT_5_4, efforts=("none", *_LOW_HIGH, "xhigh", "max"))
_CODEX = replace(_GPT_5, efforts=_LOW_HIGH)
_CHAT = ModelProfile(128_000, 16_384)
_O = ModelProfile(200_000, 100_000, _LOW_HIGH)
_GPT_4 = ModelProfile(8_192, 8_192, has_vision=False, structured="none")

_PROFILES: tuple[tuple[str, ModelProfile], ...] = (
    (r"gpt-[5-9][\w.-]*-chat", _CHAT),
    (r"gpt-5-pro", replace(_GPT_5, efforts=("high",), max_output_tokens=272_000)),
    (r"gpt-5\.\d+-pro", replace(_GPT_5_4, efforts=("medium", "high", "xhigh"))),
    (r"gpt-5-codex", _CODEX),
    (r"gpt-5\.1-codex-max", _GPT_5_2),
    (r"gpt-5\.([6-9]|\d\d)|gpt-[6-9]", _GPT_6),
    (r"gpt-5\.[45]-(mini|nano)", _GPT_5_2),
    (r"gpt-5\.[45]", _GPT_5_4),
    (r"gpt-5\.[23]", _GPT_5_2),
    (r"gpt-5\.1", _GPT_5_1),
    (r"gpt-5(?![\d.])", _GPT_5),
    (r"gpt-4\.1", ModelProfile(1_047_576, 32_768, keeps_cache=True)),
    (r"gpt-4o", ModelProfile(128_000, 16_384)),
    (r"gpt-4-turbo", ModelProfile(128_000, 4_096, structured="object")),
    (r"gpt-4(?![\d.])", _GPT_4),
    (r"gpt-3\.5", ModelProfile(16_385, 4_096, has_vision=False, structured="object")),
    (
        r"gpt-oss",
        ModelProfile(131_072, 131_072, _LOW_HIGH, has_vision=False, has_open_weights=True),
    ),
    (r"(o3|o4-mini)-deep-research", replace(_O, structured="none", is_slow=True)),
    (
        r"o1-(mini|preview)",
        replace(_O, context_window=128_000, has_vision=False, structured="none"),
    ),
    (r"o3-mini", replace(_O, has_vision=False)),
    (r"o[134](?!\d)", _O),
    (r"codex-mini", _O),
)
_TABLE = tuple((re.compile(pattern), profile) for pattern, profile in _PROFILES)

# An unknown name is one of a deployment or of another vendor: nothing is refused in advance.
_UNKNOWN = ModelProfile(128_000, 16_384, is_known=False)


@lru_cache(maxsize=256)
def model_profile(model: str) -> ModelProfile:
    """Return what `model` supports; an unknown name gets a cautious profile."""
    name = model.rpartition("/")[2].removeprefix("ft:").lower()
    return next((profile for pattern, profile in _TABLE if pattern.match(name)), _UNKNOWN)


def is_same_model(one: str, other: str) -> bool:
    """Return whether two names mean the same model; a dated name equals its alias."""
    return _DATE.sub("", one) == _DATE.sub("", other)
