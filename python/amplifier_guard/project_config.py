"""Configuration found inside a project folder, which comes from the project and not the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from amplifier_guard.guard_error import GuardError
from amplifier_guard.project_settings import SETTINGS, Setting

__all__ = ["ProjectConfig", "ProjectConfigDenied", "ProjectRefusal", "judge_project_config"]

_MAX_KEYS = 10_000
_MAX_NAME_CHARS = 120
_MAX_GUESSED_CHARS = 40
_Level = Mapping[str, "Setting | Mapping[str, Setting]"]


class ProjectConfigDenied(GuardError, ValueError):
    """A configuration of which no part can be used."""


@dataclass(frozen=True, slots=True)
class ProjectRefusal:
    """A setting that a project folder may not make."""

    name: str
    """Its place, such as `display.width`, escaped and cut to 120 characters."""
    reason: str
    """What was found, and what would be right."""

    def __post_init__(self) -> None:
        """Check the types of the fields."""
        for name in ("name", "reason"):
            found: object = getattr(self, name)
            if not isinstance(found, str):
                raise TypeError(f"`{name}` must be a text, found `{type(found).__name__}`")

    def __str__(self) -> str:
        """Say what was refused, why, and what to do instead."""
        return (
            f"`{self.name}` may not be set inside a project folder: {self.reason};"
            " set it in your own configuration"
        )


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """The settings of a project that may be used, and those that were refused."""

    allowed: dict[str, Any]
    refused: list[ProjectRefusal] = field(default_factory=list[ProjectRefusal])


def judge_project_config(found: Mapping[str, Any]) -> ProjectConfig:
    """Keep of a configuration the settings that cannot harm the user's session.

    A project folder may come from anybody. Allowed are the settings of one table, in their exact
    spelling and with values within its bounds; anything else is refused with everything in it.
    `None` means the default and is allowed. Nothing is read from the environment.

    Args:
        found: The contents of a file in the folder, as plain data. It is not changed.

    Raises:
        ProjectConfigDenied: It is not a mapping, or it has more than 10,000 keys.
    """
    judged = ProjectConfig({})
    _judge(found, SETTINGS, "", judged.allowed, judged.refused)
    return judged


def _judge(
    found: Any, level: _Level, place: str, allowed: dict[str, Any], refused: list[ProjectRefusal]
) -> None:
    if not isinstance(found, Mapping):
        kind = type(found).__name__
        raise ProjectConfigDenied(f"the configuration must be a mapping, found `{kind}`")
    entries = cast("Mapping[Any, Any]", found)
    if len(entries) > _MAX_KEYS:
        raise ProjectConfigDenied(
            f"the configuration has {len(entries):,} keys in one mapping, at most {_MAX_KEYS:,}"
            " are allowed"
        )
    for key, value in entries.items():
        known = level.get(key) if type(key) is str else None
        if known is None:
            refused.append(ProjectRefusal(_write_place(place, key), _explain_unknown(key, level)))
        elif isinstance(known, Setting):
            if value is None or known.form.is_valid(value):
                allowed[key] = list(cast("list[Any]", value)) if type(value) is list else value
            else:
                reason = f"it must be {known.form.right}, found {_describe_value(value)}"
                refused.append(ProjectRefusal(_write_place(place, key), reason))
        elif isinstance(value, Mapping):
            allowed[key] = {}
            _judge(value, known, f"{place}{key}.", allowed[key], refused)
        else:
            reason = f"it must be a mapping, found {_describe_value(value)}"
            refused.append(ProjectRefusal(_write_place(place, key), reason))


def _explain_unknown(key: object, level: _Level) -> str:
    """Why a key that is not in the table is refused, with what may have been meant."""
    reason = "it is not one of the settings that are known to be harmless"
    if type(key) is str and len(key) <= _MAX_GUESSED_CHARS:
        alike = get_close_matches(key.casefold().replace("-", "_"), level, n=1, cutoff=0.8)
        if alike:
            reason += f" (did you mean `{alike[0]}`?)"
    return reason


def _describe_value(value: object) -> str:
    """A value for a message; a text may be a secret, so only its type is named."""
    if type(value) is bool:
        return f"`{str(value).lower()}`"
    if type(value) is float or (type(value) is int and abs(value) < 10**20):
        return f"`{value}`"
    return f"`{type(value).__name__}`"


def _write_place(place: str, key: object) -> str:
    name = key if type(key) is str else f"<{type(key).__name__}>"
    shown = f"{place}{name[: _MAX_NAME_CHARS + 1]}".encode("unicode_escape").decode()
    return shown if len(shown) <= _MAX_NAME_CHARS else shown[: _MAX_NAME_CHARS - 1] + "…"
