"""What counts: the option, then the environment, then the user's profile and file, then the usual.

A project may restrict what follows from these, and choose among the user's models. What the keys mean is
imported where there is a file: a turn shows its first line before that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from amplifier_app.failure import Failure
from amplifier_app.outcome import WRONG_USAGE

from .places import IN_PROJECT, find_user_file


class Value(NamedTuple):
    """What a key is set to."""

    value: Any
    origin: str
    """Where that comes from, for people."""
    is_restriction: bool = False
    """Whether a project has set it, which counts before the environment."""


@dataclass
class Configuration:
    """The keys that are set."""

    values: dict[str, Value] = field(default_factory=dict[str, Value])
    warnings: list[str] = field(default_factory=list[str])
    """What of a project's file does not count, and why."""

    def get(self, key: str, option: Any = None) -> Any:
        """Return an option if it is given, else what a key is set to; None if neither is."""
        if option is not None:
            return option
        found = self.values.get(key)
        return None if found is None else found.value

    def list_modules(self) -> list[str]:
        """Return the modules that are mounted, as `--module` has them."""
        modules: dict[str, Any] = self.get("modules") or {}
        return [f"{name}={json.dumps(config)}" for name, config in modules.items()]

    def set_variables(self, environment: MutableMapping[str, str]) -> None:
        """Set the variables that mean keys of files; those that the user has set stay."""
        if not self.values:
            return
        from .keys import KEYS, write_variable

        for name, found in self.values.items():
            variable = KEYS[name].variable
            is_set = environment.get(variable, "").strip()
            if variable and (found.is_restriction or not is_set):
                environment[variable] = write_variable(found.value)

    def add_variables(self, environment: Mapping[str, str]) -> None:
        """Add the variables that are set, which count before the files."""
        from .keys import KEYS

        for name, key in KEYS.items():
            if key.variable and (text := environment.get(key.variable, "").strip()):
                self.values[name] = Value(_read_variable(text), f"the variable {key.variable}")

    def restrict_by(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Let the file of a project restrict what is set, in the environment too.

        Raises:
            Failure: The file cannot be read.
        """
        path = folder / IN_PROJECT
        if not path.exists() and not path.is_symlink():
            return
        from amplifier_guard import ProjectConfigDenied, judge_project_config

        from .files import read_project_file

        self.add_variables(environment)
        try:
            judged = judge_project_config(read_project_file(path))
        except ProjectConfigDenied as error:
            self.warnings.append(f"`{path}` is ignored: {error}")
            return
        self.warnings += [f"{path}: {each}" for each in judged.refused]
        for name, value in judged.allowed.items():
            self._restrict_key(path, name, value)

    def _restrict_key(self, path: Path, name: str, value: Any) -> None:
        from .keys import KEYS

        key = KEYS.get(name)
        if key is None or value is None:
            return  # harmless, and of another program
        ours = self.get(name)
        if key.allows is not None and key.form.is_valid(value) and key.allows(value, ours):
            self.values[name] = Value(value, str(path), is_restriction=True)
            return
        usual = "the usual one" if ours is None else repr(ours)
        self.warnings.append(
            f"{path}: `{name}` is {value!r}, and yours ({usual}) lets less happen: yours counts"
        )


def read_configuration(environment: Mapping[str, str], profile: str | None = None) -> Configuration:
    """Return what the user has set in a profile and in the file.

    Args:
        environment: The environment variables, which say where the file is.
        profile: The profile that counts; None for that of the file.

    Raises:
        Failure: The file has a mistake, or there is no such profile.
    """
    configuration = Configuration()
    path = find_user_file(environment)
    if path is None or not path.exists():
        if profile is not None:
            hint = "`amplifier-core config init` makes the file for it"
            raise Failure(f"there is no profile `{profile}`", hint=hint, exit_code=WRONG_USAGE)
        return configuration
    from .files import list_names, read_user_file
    from .keys import PROFILE, PROFILES

    content = read_user_file(path)
    profiles: dict[str, Any] = content.pop(PROFILES, {})
    usual = content.pop(PROFILE, None)
    chosen = usual if profile is None else profile
    for name, value in content.items():
        configuration.values[name] = Value(_complete(name, value, path), str(path))
    if chosen is None:
        return configuration
    if chosen not in profiles:
        message = f"there is no profile `{chosen}` ({list_names(profiles)})"
        hint = f"`[{PROFILES}.{chosen}]` in `{path}` makes one"
        raise Failure(message, hint=hint, exit_code=WRONG_USAGE)
    for name, value in profiles[chosen].items():
        origin = f"{path}, profile `{chosen}`"
        configuration.values[name] = Value(_complete(name, value, path), origin)
    return configuration


def _complete(name: str, value: Any, file: Path) -> Any:
    """Return a path as one from the file's folder, and any other value as it is."""
    from .keys import PATHS

    if name not in PATHS:
        return value
    try:
        return str(file.parent / Path(value).expanduser())
    except RuntimeError:  # `~name` of nobody
        return value


def _read_variable(text: str) -> Any:
    """Return a variable as a file would have it, as far as it can be compared with that."""
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
