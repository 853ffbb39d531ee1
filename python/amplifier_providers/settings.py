"""The settings of all modules: declared as models, read from a config and the environment.

    class PaceSettings(Settings):
        delay: Annotated[float, Env("PACE_DELAY")] = Field(default=0.0, ge=0)

    settings = read_settings(PaceSettings, config, "hooks-pace")

A field declared with `repr=False` is a secret: its value is in no `repr`, error or log.
"""

from __future__ import annotations

import logging
import marshal
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.mounting import is_mounting
from amplifier_core.suggest import suggest_or_list
from amplifier_providers.value_problems import describe_problem, shown_key

if TYPE_CHECKING:
    from amplifier_guard import Rate

logger = logging.getLogger(__name__)


OptionalText = Annotated[str | None, AfterValidator(lambda text: text or None)]  # pyright: ignore[reportUnknownLambdaType] -- of the annotation
"""A text that may be left out or empty."""


class SettingError(ConfigurationError, ValueError, TypeError):
    """A setting that cannot be used.

    It is a `ValueError` and a `TypeError` too, for callers that catch what Python itself raises.

    Args:
        message: The module, the key, what was found, and what would be right.
        module: Whose config it is.
        key: The first key that is wrong, dotted where it is nested.
    """

    def __init__(self, message: str, *, module: str = "", key: str = "") -> None:
        kind, _, name = module.partition("-")
        super().__init__(message, provider=name if kind == "provider" else None)
        self.module = module
        self.key = key
        self.missing: tuple[str, ...] = ()
        """The required keys that are absent."""


@dataclass(frozen=True)
class Env:
    """In the annotation of a field: the variable that is used if the config has no value."""

    name: str
    read: Callable[[str], Any] | None = str
    """Converts the text; None if another part of the program reads the variable.

    A text that it refuses with a `ValueError` is refused by the type of the field.
    """


class Settings(BaseModel):
    """The settings of a module or of a part of it; each field is a key of the config.

    A key that is absent or None has its default.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        defer_build=True,
    )

    unknown_keys: ClassVar[Literal["refuse", "warn", "ignore"]] = "refuse"
    """What happens to an unknown key at the top of a config."""
    ignored_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys of public modules of the same name that have no effect here."""
    renamed_keys: ClassVar[Mapping[str, str]] = {}
    """Deprecated keys, each with the field that replaces it."""
    none_is_absent: ClassVar[bool] = True
    """Whether None counts as absent, whatever the type of the key."""
    unlimited_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys for which None is a value of its own: no limit."""
    is_shared: ClassVar[bool] = False
    """Whether all modules that are told the same have one object: nobody changes what is in it, and
    no value depends on anything else, but for `random_values`.

    Each session has a loop, a context and mostly a provider, whose settings would take it 4,000
    bytes, and as long to check as all else of its beginning.
    """

    random_values: ClassVar[Mapping[str, str]] = {}
    """Values that mean something else each time, by their keys: with one, nothing is shared."""

    @classmethod
    def drops_none(cls, key: str) -> bool:
        """Whether None counts as absent for a key."""
        return cls.none_is_absent and key not in cls.unlimited_keys

    @model_validator(mode="before")
    @classmethod
    def _as_given(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {
            key: value
            for key, value in cast("Mapping[str, Any]", given).items()
            if value is not None or key not in cls.model_fields or not cls.drops_none(key)
        }


SettingsT = TypeVar("SettingsT", bound=Settings)


def read_settings(
    model: type[SettingsT],
    config: Mapping[str, Any] | None,
    module: str,
    environment: Mapping[str, str] | None = None,
) -> SettingsT:
    """Return the settings of a module.

    Args:
        model: The settings of the module.
        config: The module's section of the mount plan.
        module: The id of the module, for errors.
        environment: Where variables are looked up; the process environment by default.

    Raises:
        SettingError: Keys are unknown to a module that refuses such, values are missing or cannot
            be used; the text names all of them.
    """
    prefix = f"{module}: " if module else ""
    if config and not isinstance(config, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        raise SettingError(f"{prefix}the config is a `{type(config).__name__}` (must be a mapping)")
    values = _known_keys(model, config, module) if config else {}
    variables = _fill(model, values, os.environ if environment is None else environment)
    try:
        return _find_shared(model, values) if model.is_shared else model.model_validate(values)
    except ValidationError as error:
        details = error.errors(include_url=False)
    # Not raised above, where the values, secrets among them, would be its context.
    message = "; ".join(describe_problem(model, each, variables) for each in details)
    error = SettingError(f"{prefix}{message}", module=module, key=_write_key(details[0]))
    error.missing = tuple(_write_key(each) for each in details if each["type"] == "missing")
    raise error


def env_of(field: FieldInfo) -> Env | None:
    """Return the environment variable of a field."""
    return next((item for item in field.metadata if isinstance(item, Env)), None)


def _known_keys(model: type[Settings], config: Mapping[str, Any], module: str) -> dict[str, Any]:
    """Return what a config says, without the keys that have no effect."""
    known = list(model.model_fields)
    values: dict[str, Any] = {}
    for key, value in config.items():
        if key in model.ignored_keys or (value is None and model.drops_none(key)):
            continue
        if key in known or model.unknown_keys == "refuse":
            values[key] = value
        elif new := model.renamed_keys.get(key):
            if config.get(new) is None:
                values[new] = value
            logger.warning("%s: `%s` is deprecated; use `%s`", module, key, new)
        elif model.unknown_keys == "warn" and not is_mounting():  # else the session says it
            advice = suggest_or_list(str(key), known)
            logger.warning(
                "%s ignores the unknown config key `%s`%s", module, shown_key(key), advice
            )
    return values


def _fill(
    model: type[Settings], values: dict[str, Any], environment: Mapping[str, str]
) -> dict[str, str]:
    """Fill what is absent from the environment; return the variable of each key filled."""
    filled: dict[str, str] = {}
    for key, variable, read in _list_variables(model):
        if values.get(key) is not None:
            continue
        values.pop(key, None)
        if text := environment.get(variable, "").strip():
            try:
                values[key] = read(text)
            except ValueError:
                values[key] = text
            filled[key] = variable
    return filled


@cache
def _list_variables(model: type[Settings]) -> list[tuple[str, str, Callable[[str], Any]]]:
    """List the fields that a variable of the environment fills, each with that and its reader."""
    named = [(key, env_of(field)) for key, field in model.model_fields.items()]
    return [(key, each.name, each.read) for key, each in named if each and each.read]


def _find_shared(model: type[SettingsT], values: dict[str, Any]) -> SettingsT:
    """Return the settings that all modules have which are told these values."""
    if any(values.get(key) == value for key, value in model.random_values.items()):
        return model.model_validate(values)
    try:
        # Unlike equal dicts, which may hold 1 and True, equal bytes mean equal values and types.
        written = marshal.dumps(values, 0)
    except ValueError:  # an object of the program's own
        return model.model_validate(values)
    return _make_settings(model, written)


@lru_cache(maxsize=128)
def _make_settings(model: type[SettingsT], written: bytes) -> SettingsT:
    # Of a copy, as the config of a plan may still change.
    return model.model_validate(marshal.loads(written))


def _write_key(detail: Any) -> str:
    return ".".join(map(str, detail["loc"]))


class RateSettings(Settings):
    """How many calls are allowed, in the form of `amplifier_guard.Rate`."""

    limit: Annotated[int, Field(ge=1)]
    """Calls in each period."""
    period: Annotated[float, Field(gt=0, strict=False)] = 60.0
    """Seconds."""
    burst: Annotated[int | None, Field(ge=1)] = None
    """Calls at once after a rest; without it, as many as in a period."""

    def rate(self) -> Rate:
        """Return the `Rate`."""
        # Imported here, so that a module can be mounted without the extension.
        from amplifier_guard import Rate

        return Rate(self.limit, self.period, self.burst)
