"""A provider's failure as plain data, for those who pass it on instead of raising it."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import NoReturn

from ._retry_config import real_number
from .error_messages import short_repr


class ProviderError:
    """What a provider reports of a failed call; not an exception, and immutable.

    Args:
        message: What happened; `str(error)`.
        provider: Name of the provider.
        model: Name of the model that was asked.
        retry_after: Seconds the server asked to wait before the next call.
        delay_multiplier: Factor on the delay before the next call.
        retryable: Whether the same call may succeed later.
        error_type: Category of the failure.
    """

    __slots__ = (
        "_delay_multiplier",
        "_error_type",
        "_message",
        "_model",
        "_provider",
        "_retry_after",
        "_retryable",
    )

    def __init__(
        self,
        message: str,
        *,
        provider: str | None = None,
        model: str | None = None,
        retry_after: float | None = None,
        delay_multiplier: float | None = None,
        retryable: bool = False,
        error_type: str = "Other",
    ) -> None:
        texts = {"message": message, "error_type": error_type}
        optional = {"provider": provider, "model": model}
        texts.update({name: value for name, value in optional.items() if value is not None})
        for name, value in texts.items():
            if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"`{name}` must be a `str`, found `{short_repr(value)}`")
        values = {
            "_message": message,
            "_provider": provider,
            "_model": model,
            "_retry_after": None
            if retry_after is None
            else real_number("retry_after", retry_after),
            "_delay_multiplier": None
            if delay_multiplier is None
            else real_number("delay_multiplier", delay_multiplier),
            "_retryable": bool(retryable),
            "_error_type": error_type,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def message(self) -> str:
        """What happened."""
        return self._message

    @property
    def provider(self) -> str | None:
        """Name of the provider."""
        return self._provider

    @property
    def model(self) -> str | None:
        """Name of the model that was asked."""
        return self._model

    @property
    def retry_after(self) -> float | None:
        """Seconds the server asked to wait."""
        return self._retry_after

    @property
    def delay_multiplier(self) -> float | None:
        """Factor on the delay before the next call."""
        return self._delay_multiplier

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self._retryable

    @property
    def error_type(self) -> str:
        """Category of the failure."""
        return self._error_type

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: what happened does not change."""
        raise AttributeError(f"`ProviderError.{name}` cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        """Refuse: what happened does not change."""
        raise AttributeError(f"`ProviderError.{name}` cannot be deleted")

    def __str__(self) -> str:
        """Return the message."""
        return self._message

    def __repr__(self) -> str:
        """Write the message and whatever is set, in double quotes."""
        parts = [_quote(self._message)]
        for name, text in (("provider", self._provider), ("model", self._model)):
            if text is not None:
                parts.append(f"{name}={_quote(text)}")
        numbers = (
            ("retry_after", self._retry_after),
            ("delay_multiplier", self._delay_multiplier),
        )
        parts += [f"{name}={_write_number(value)}" for name, value in numbers if value is not None]
        if self._retryable:
            parts.append("retryable=True")
        return f"ProviderError({', '.join(parts)})"


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def _quote(text: str) -> str:
    r"""A text in double quotes; what cannot be printed is written as `\u{7}`."""
    characters = (
        _ESCAPES.get(character)
        or (character if character.isprintable() else f"\\u{{{ord(character):x}}}")
        for character in text
    )
    return f'"{"".join(characters)}"'


def _write_number(value: float) -> str:
    """A float in full, whole ones without a fraction."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else str(value)
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
