"""The files of the configuration: the user's own, which may say all, and that of a project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

from .keys import KEYS, PROFILE, PROFILES

_MAX_BYTES = 1024 * 1024


def read_user_file(path: Path) -> dict[str, Any]:
    """Return the content of the user's file, which is checked; nothing where it does not exist.

    Raises:
        Failure: It cannot be read, or has a mistake.
    """
    content = _read_toml(path)
    profiles: Any = content.get(PROFILES, {})
    if not isinstance(profiles, dict):
        raise _make_failure(path, f"`{PROFILES}` is no table (must be a table of profiles)")
    _check_keys(path, "", {key: content[key] for key in content if key not in (PROFILE, PROFILES)})
    for name, profile in cast("dict[str, Any]", profiles).items():
        if not isinstance(profile, dict):
            raise _make_failure(path, f"`{PROFILES}.{name}` is no table")
        _check_keys(path, f"{PROFILES}.{name}.", cast("dict[str, Any]", profile))
    chosen: Any = content.get(PROFILE)
    known = cast("dict[str, Any]", profiles)
    if chosen is not None and (not isinstance(chosen, str) or chosen not in known):
        raise _make_failure(path, f"`{PROFILE}` names no profile ({list_names(known)})")
    return content


def read_project_file(path: Path) -> dict[str, Any]:
    """Return the content of a project's file, which nobody has judged; nothing if there is none.

    Raises:
        Failure: It cannot be read, is no plain file in the project, or is no TOML.
    """
    if not path.exists() and not path.is_symlink():
        return {}
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        raise _make_failure(path, "it is no plain file in the project, and is not read")
    return _read_toml(path)


def list_names(profiles: Mapping[str, Any]) -> str:
    """Return what profiles there are, for a message."""
    return (
        f"there are: {', '.join(f'`{each}`' for each in profiles)}"
        if profiles
        else "there are none"
    )


def _check_keys(path: Path, place: str, content: Mapping[str, Any]) -> None:
    for name, value in content.items():
        key = KEYS.get(name)
        if key is None:
            from amplifier_core.suggest import suggest_or_list

            known = [*KEYS] if place else [*KEYS, PROFILE, PROFILES]
            raise _make_failure(path, f"`{place}{name}` is unknown{suggest_or_list(name, known)}")
        if not key.form.is_valid(value):
            raise _make_failure(path, f"`{place}{name}` is {value!r} (must be {key.form.right})")


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise _make_failure(path, f"it is longer than {_MAX_BYTES:,} bytes")
        return tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise _make_failure(path, f"it is not UTF-8 (byte {error.start})") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _make_failure(path, f"it is no TOML: {error}") from None
    except OSError as error:
        raise _make_failure(path, f"it cannot be read: {error.strerror}") from None


def _make_failure(path: Path, problem: str) -> Failure:
    hint = "correct the file; `amplifier-core config show` shows its keys"
    return Failure(f"`{path}`: {problem}", hint=hint, exit_code=WRONG_USAGE)
