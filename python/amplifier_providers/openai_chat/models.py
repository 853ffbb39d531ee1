"""What the lists of models say, in the words of each service."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

_NO_CHAT = re.compile(r"embed|whisper|\btts\b|rerank|moderation|dall-e|transcribe|\bocr\b")
_CHAT_TYPES = frozenset({"chat", "language", "code", "llm", "vlm", "model"})


class ListedModels:
    """The models of a server, as its list describes them once it was asked."""

    def __init__(self, has_vision: bool, *, is_vision_set: bool) -> None:
        """Ask nothing yet.

        Args:
            has_vision: Whether models take images of which the list does not say it.
            is_vision_set: Whether a setting says that of all models.
        """
        self._has_vision = has_vision
        self._is_vision_set = is_vision_set
        self._entries: dict[str, Mapping[str, Any]] = {}

    def remember(self, entries: list[dict[str, Any]]) -> None:
        """Keep the entries of the list."""
        self._entries = {str(entry.get("id")): entry for entry in entries}

    def find_entry(self, model: str) -> Mapping[str, Any]:
        """Return what the list says of a model; only its name if that is nothing."""
        return self._entries.get(model, {"id": model})

    def has_vision(self, model: str) -> bool:
        """Whether a model takes images."""
        listed = None if self._is_vision_set else sees_images(self._entries.get(model, {}))
        return self._has_vision if listed is None else listed


def can_chat(entry: Mapping[str, Any]) -> bool:
    """Whether a model is not known to be for something else than text."""
    capabilities = _read_mapping(entry.get("capabilities"))
    written = _read_mapping(entry.get("architecture")).get("output_modalities")
    return not (
        capabilities.get("completion_chat") is False
        or entry.get("active") is False
        or entry.get("supports_chat") is False
        or (isinstance(written, list) and "text" not in written)
        or (isinstance(entry.get("type"), str) and entry["type"] not in _CHAT_TYPES)
        or _NO_CHAT.search(str(entry.get("id")).lower())
    )


def context_window(entry: Mapping[str, Any]) -> int | None:
    """Return how many tokens a model reads."""
    return _first_count(
        entry.get("context_length"),
        entry.get("max_model_len"),
        entry.get("context_window"),
        entry.get("max_context_length"),
        entry.get("loaded_context_length"),
        _read_mapping(entry.get("meta")).get("n_ctx"),
        _read_mapping(entry.get("meta")).get("n_ctx_train"),
    )


def max_output_tokens(entry: Mapping[str, Any]) -> int | None:
    """Return how many tokens a model writes."""
    return _first_count(
        _read_mapping(entry.get("top_provider")).get("max_completion_tokens"),
        entry.get("max_completion_tokens"),
        entry.get("max_output_tokens"),
    )


def sees_images(entry: Mapping[str, Any]) -> bool | None:
    """Return whether a model takes images; None if nothing says so."""
    seen = _read_mapping(entry.get("architecture")).get("input_modalities")
    if isinstance(seen, list):
        return "image" in seen
    for known in (
        _read_mapping(entry.get("capabilities")).get("vision"),
        entry.get("supports_image_input"),
    ):
        if isinstance(known, bool):
            return known
    return None


def _first_count(*values: Any) -> int | None:
    return next(
        (value for value in values if isinstance(value, int) and value > 0 and value is not True),
        None,
    )


def _read_mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
