"""The settings of all modules: declared as models, read from a config and the environment.

    class PaceSettings(Settings):
        delay: Annotated[float, Env("PACE_DELAY")] = Field(default=0.0, ge=0)

    settings = read_settings(PaceSettings, config, "hooks-pace")

A field declared with `repr=False` is a secret: its value is in no `repr`, error or log.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeVar,
    cast,
)

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo

from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules.value_problems import advice_on, problem

logger = logging.getLogger(__name__)


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
    """In the annotation of a field: the variable that is used if the config has no value."""

    name: str
    read: Callable[[str], Any] | None = str.strip
    """Converts the text; None if another part of the program reads the variable."""


class Settings(BaseModel):
    """The settings of a module or of a part of it; each field is a key of the config.

    A key that is absent or None has its default.
    """

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, hide_input_in_errors=True
    )

    unknown_keys: ClassVar[Literal["refuse", "warn", "ignore"]] = "refuse"
    """What happens to an unknown key at the top of a config."""
    ignored_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys of public modules of the same name that have no effect here."""
    renamed_keys: ClassVar[Mapping[str, str]] = {}
    """Deprecated keys, each with the field that replaces it."""
    none_is_absent: ClassVar[bool] = True
    """Whether None counts as absent, whatever the type of the key."""

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
        message = "; ".join(problem(self._model, each, self._variables) for each in details)
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
                advice = advice_on(str(key), known)
                logger.warning(
                    "%s ignores the unknown config key `%s`%s", self._module, key, advice
                )
        return values


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
