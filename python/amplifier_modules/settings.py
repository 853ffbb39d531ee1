"""The settings of all modules: declared as models, read from a config and the environment.

    class PaceSettings(Settings):
        delay: Annotated[float, Env("PACE_DELAY")] = Field(default=0.0, ge=0)

    settings = read_settings(PaceSettings, config, "hooks-pace")

A field declared with `repr=False` is a secret: its value is in no `repr`, error or log.
"""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from amplifier_core._kernel.shown import shown
from amplifier_core.llm_errors import ConfigurationError

logger = logging.getLogger(__name__)

_NAMES: dict[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text",
}  # fmt: skip
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


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


@dataclass(frozen=True)
class Env:
    """In the annotation of a field: the environment variable for what the config leaves open."""

    name: str
    read: Callable[[str], Any] | None = str.strip
    """Makes the value from the text; None where another part of the program reads it."""


@dataclass(frozen=True)
class Form:
    """In the annotation of a field: what a value must be, where the type does not say it."""

    text: str


class Settings(BaseModel):
    """The settings of a module or of a part of it; each field is a key of the config.

    A key that is absent or None has its default.
    """

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    unknown_keys: ClassVar[Literal["refuse", "warn", "ignore"]] = "refuse"
    """What is done about a key that is no field, at the top of a config."""
    ignored_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys that plans for other modules of this name carry and that ask for nothing here."""
    renamed_keys: ClassVar[Mapping[str, str]] = {}
    """Deprecated keys, each with the field that took its place."""
    none_is_absent: ClassVar[bool] = True
    """Whether a key may be None whatever its type is."""

    @model_validator(mode="before")
    @classmethod
    def _as_given(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        return {
            key: value
            for key, value in cast("Mapping[str, Any]", given).items()
            if value is not None or not cls.none_is_absent or key not in cls.model_fields
        }


SettingsT = TypeVar("SettingsT", bound=Settings)

OptionalText = Annotated[str | None, AfterValidator(lambda text: text or None)]  # pyright: ignore[reportUnknownLambdaType] -- of the annotation
"""A text that may be left out or empty."""


class GivenSettings(Generic[SettingsT]):
    """What a config and the environment say, not checked yet.

    Args:
        model: The settings of the module.
        config: The module's section of the mount plan.
        module: The id of the module, for errors.
        environment: Where variables are looked up; the process environment by default.

    Raises:
        SettingError: The config is not a mapping.
    """

    def __init__(
        self,
        model: type[SettingsT],
        config: Mapping[str, Any] | None,
        module: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._model = model
        self._module = module
        self._variables: dict[str, str] = {}
        if config and not isinstance(config, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            found = type(config).__name__
            raise SettingError(f"{module}: the config is a `{found}` (must be a mapping)")
        self.values: dict[str, Any] = self._known_keys(config or {})
        environment = os.environ if environment is None else environment
        for key, field in model.model_fields.items():
            variable = env_of(field)
            if variable is None or variable.read is None or self.values.get(key) is not None:
                continue
            self.values.pop(key, None)
            if text := environment.get(variable.name, "").strip():
                self.values[key] = variable.read(text)
                self._variables[key] = variable.name

    def checked(self) -> SettingsT:
        """Return the settings.

        Raises:
            SettingError: Values are missing or cannot be used; the text names all of them.
        """
        try:
            return self._model.model_validate(self.values)
        except ValidationError as error:
            details = error.errors(include_url=False)
        # Not raised above, where the values, secrets among them, would be its context.
        message = "; ".join(self._problem(detail) for detail in details)
        key = ".".join(map(str, details[0]["loc"]))
        prefix = f"{self._module}: " if self._module else ""
        raise SettingError(f"{prefix}{message}", module=self._module, key=key)

    def _known_keys(self, config: Mapping[str, Any]) -> dict[str, Any]:
        model, known = self._model, list(self._model.model_fields)
        values: dict[str, Any] = {}
        for key, value in config.items():
            if key in model.ignored_keys or (value is None and model.none_is_absent):
                continue
            if key in known or model.unknown_keys == "refuse":
                values[key] = value
            elif new := model.renamed_keys.get(key):
                if config.get(new) is None:
                    values[new] = value
                logger.warning("%s: `%s` is deprecated; use `%s`", self._module, key, new)
            elif model.unknown_keys == "warn":
                advice = _advice(str(key), known)
                logger.warning(
                    "%s ignores the unknown config key `%s`%s", self._module, key, advice
                )
        return values

    def _problem(self, detail: Any) -> str:
        """Say what is wrong with one value."""
        holder, field, is_secret = _field_at(self._model, detail["loc"])
        name = ".".join(map(str, detail["loc"]))
        name = self._variables.get(name, name)
        if detail["type"] == "extra_forbidden":
            return (
                f"`{name}` is unknown{_advice(str(detail['loc'][-1]), list(holder.model_fields))}"
            )
        wanted = f"must be {describe(field)}" if field else ""
        if detail["type"] == "missing":
            return f"`{name}` is missing ({wanted})"
        if detail["type"] == "value_error":
            wanted = str(detail["ctx"]["error"])
        value = detail["input"]
        is_shown = not is_secret and (value is None or isinstance(value, str | int | float))
        found = shown(value) if is_shown else f"of type `{type(value).__name__}`"
        return f"`{name}` is {found} ({wanted})"


def read_settings(
    model: type[SettingsT],
    config: Mapping[str, Any] | None,
    module: str,
    environment: Mapping[str, str] | None = None,
) -> SettingsT:
    """Return the settings of a module; the arguments are those of `GivenSettings`.

    Raises:
        SettingError: A key is unknown to a module that refuses such, or a value cannot be used.
    """
    return GivenSettings(model, config, module, environment).checked()


def env_of(field: FieldInfo) -> Env | None:
    """Return the environment variable of a field."""
    return next((item for item in field.metadata if isinstance(item, Env)), None)


def describe(field: FieldInfo) -> str:
    """Say what a value of a field must be, such as `a whole number, at least 1`."""
    for item in field.metadata:
        if isinstance(item, Form):
            return item.text
    bounds = [
        f"{words} {bound:,.12g}"
        for name, words in _BOUNDS.items()
        for item in field.metadata
        if (bound := getattr(item, name, None)) is not None
    ]
    return ", ".join([_described_type(field.annotation), *bounds])


def settings_within(annotation: Any) -> type[Settings] | None:
    """Return the model of nested settings, also where they are optional or in a mapping."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation
    return next(filter(None, map(settings_within, get_args(annotation))), None)


def _described_type(annotation: Any) -> str:
    arguments = [each for each in get_args(annotation) if each is not type(None)]
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return " or ".join(map(_described_type, arguments))
    if origin is Literal:
        *most, last = (f"`{value}`" for value in arguments)
        return f"{', '.join(most)} or {last}"
    if origin is tuple:
        return f"a list, each item {_NAMES[arguments[0]]}"
    return _NAMES.get(annotation, "a mapping")


def _field_at(
    model: type[Settings], place: Sequence[str | int]
) -> tuple[type[Settings], FieldInfo | None, bool]:
    """Return the innermost model and field at a place, and whether anything there is secret."""
    field, is_secret = None, False
    parts = iter(place)
    for part in parts:
        found = model.model_fields.get(str(part))
        if found is None:
            break
        field, is_secret = found, is_secret or not found.repr
        model = settings_within(found.annotation) or model
        if get_origin(found.annotation) is dict:
            next(parts, None)
    return model, field, is_secret


def _advice(key: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    if near:
        return f" (did you mean `{near[0]}`?)"
    return f" (known: {', '.join(f'`{name}`' for name in sorted(known))})"
