"""A mount plan that shows no secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast


class ShownPlan(dict[str, Any]):
    """A copy of a mount plan whose text has marks in the place of secrets, at every depth.

    It is a dict like any other: its values are the real ones, also in JSON and pickles.
    """

    def __init__(self, plan: Mapping[str, Any] = {}) -> None:
        """Copy the plan, its dicts and lists."""
        super().__init__({key: _copy_plain(value) for key, value in plan.items()})

    def __repr__(self) -> str:
        """Return the text of a dict, with marks in the place of secrets."""
        return repr(self._redact())

    def __rich_repr__(self) -> Iterator[Any]:
        """Show the same to Rich, which would look into a dict itself."""
        yield self._redact()

    def __reduce__(self) -> tuple[type[dict[Any, Any]], tuple[dict[str, Any]]]:
        """Copy and pickle it as a plain dict."""
        return dict, (dict(self),)

    def _redact(self) -> dict[str, Any]:
        from amplifier_guard import Redactor

        return dict(Redactor([]).redact_data(cast("Mapping[str, Any]", _copy_as_dicts(self))))


def _copy_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return ShownPlan(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return [_copy_plain(item) for item in cast("list[Any]", value)]
    return value


def _copy_as_dicts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy_as_dicts(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_copy_as_dicts(item) for item in cast("list[Any]", value)]
    return value
