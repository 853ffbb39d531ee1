"""Whether a model could see the images of a prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def has_image(prompt: Any) -> bool:
    """Whether a prompt has an image."""
    return not isinstance(prompt, str) and any(
        _read(block).get("type") == "image" for block in prompt or ()
    )


def are_images_unseen(response: object) -> bool:
    """Whether a response says that its request went out without its images."""
    fields = _read(response)
    every = _read(fields.get("metadata")).get("degradations")
    noted = cast("list[Any]", every) if isinstance(every, list) else [fields.get("degradation")]
    return any("`image`" in str(_read(each).get("requested")) for each in noted)


def _read(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
