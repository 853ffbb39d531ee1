"""Messages that are nested deeper than JSON is read: what is too deep is cut, and named."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel

from amplifier_core.message_models import Degradation, Message
from amplifier_core.plain_data import cut_depth

READ_LEVELS = 200
"""How deep the parsers of both sides read."""
_KEPT_LEVELS = 150
"""How deep a field is kept, well above the levels that its message adds."""


def shorten_message(message: Message) -> tuple[Message, list[Degradation]]:
    """Cut what is nested too deeply in the fields of a message and of its blocks."""
    lost: list[Degradation] = []
    return cast("Message", _shorten_model(message, "", lost)), lost


def _shorten_model(model: BaseModel, place: str, lost: list[Degradation]) -> BaseModel:
    fields = {**model.__dict__, **(model.model_extra or {})}
    return model.model_copy(
        update={key: _shorten_value(value, f"{place}{key}", lost) for key, value in fields.items()}
    )


def _shorten_value(value: Any, place: str, lost: list[Degradation]) -> Any:
    if isinstance(value, BaseModel):
        return _shorten_model(value, f"{place}.", lost)
    if isinstance(value, list) and any(
        isinstance(each, BaseModel) for each in cast("list[Any]", value)
    ):
        each_kept = enumerate(cast("list[Any]", value))
        return [_shorten_value(each, f"{place}[{index}]", lost) for index, each in each_kept]
    kept = cut_depth(value, _KEPT_LEVELS)
    if kept is not value:
        lost.append(
            Degradation(
                requested=f"`{place}`: nested deeper than {READ_LEVELS} levels",
                actual=f"{_KEPT_LEVELS} levels of it",
                reason="JSON that is nested deeper cannot be read",
            )
        )
    return kept
