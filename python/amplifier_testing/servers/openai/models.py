"""What the models of OpenAI take, by the vendor's list of models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_SUFFIX = re.compile(r"(-\d{4}-\d{2}-\d{2}|-\d{4}|-latest|-preview)?")
_O = frozenset({"low", "medium", "high"})
_FIRST = _O | {"minimal"}
_NEXT = _O | {"none"}
_NEW = _NEXT | {"xhigh"}
_ALL = _NEW | {"max"}


@dataclass(frozen=True)
class OpenAIModel:
    """What one model takes."""

    name: str
    """The id without a date."""
    efforts: frozenset[str] = frozenset()
    """The values of the reasoning effort; empty if the model does not reason."""
    vision: bool = True
    """Whether it sees images."""
    max_output: int | None = None
    """The most tokens of an answer."""

    @property
    def reasons(self) -> bool:
        """Whether it is a reasoning model."""
        return bool(self.efforts)


MODELS = (
    *(
        OpenAIModel(name, _ALL)
        for name in (
            "gpt-6.2-astra", "gpt-6.2-sol", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-astra",
            "gpt-6-sol", "gpt-6-luna", "gpt-6",
        )
    ),
    *(OpenAIModel(f"gpt-5.6-{name}", _ALL) for name in ("sol", "terra", "luna")),
    *(OpenAIModel(name, _NEW) for name in ("gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano")),
    *(OpenAIModel(name, _NEW) for name in ("gpt-5.3-codex", "gpt-5.2", "gpt-5.2-codex")),
    OpenAIModel("gpt-5.2-pro", frozenset({"medium", "high", "xhigh"})),
    OpenAIModel("gpt-5.1-codex-max", _NEW),
    *(OpenAIModel(name, _NEXT) for name in ("gpt-5.1", "gpt-5.1-codex", "gpt-5.1-mini")),
    OpenAIModel("gpt-5-pro", frozenset({"high"})),
    *(OpenAIModel(name, _FIRST) for name in ("gpt-5", "gpt-5-mini", "gpt-5-nano")),
    OpenAIModel("gpt-5-codex", _O),
    *(OpenAIModel(f"gpt-5{minor}-chat") for minor in (".3", ".2", ".1", "")),
    *(OpenAIModel(name, _O) for name in ("o4-mini-deep-research", "o3-deep-research")),
    *(OpenAIModel(name, _O) for name in ("o4-mini", "o3", "o3-pro", "o1", "o1-pro")),
    OpenAIModel("o3-mini", _O, vision=False),
    *(
        OpenAIModel(name, max_output=32_768)
        for name in ("gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano")
    ),
    *(OpenAIModel(name, max_output=16_384) for name in ("gpt-4o", "gpt-4o-mini")),
    OpenAIModel("gpt-4-turbo", max_output=4_096),
    OpenAIModel("gpt-4", vision=False, max_output=8_192),
    OpenAIModel("gpt-3.5-turbo", vision=False, max_output=4_096),
)  # fmt: skip
"""The models, newest first."""


def find_model(name: str, models: Iterable[OpenAIModel] = MODELS) -> OpenAIModel | None:
    """Return the model of a name, with or without a date."""
    for model in models:
        if name.startswith(model.name) and _SUFFIX.fullmatch(name, len(model.name)):
            return model
    return None
