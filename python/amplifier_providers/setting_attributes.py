"""Settings of a provider as its attributes: what is set there acts from the next request on."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Protocol, Self, TypeVar, overload

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from .settings import SettingError, Settings
from .value_problems import describe_problem

SettingsT = TypeVar("SettingsT", bound=Settings)
ValueT = TypeVar("ValueT")


class HasSettings(Protocol):
    """A provider with settings."""

    @property
    def settings(self) -> Any:
        """Its settings, which never change themselves."""
        ...

    @property
    def name(self) -> str:
        """The name under which it is mounted."""
        ...

    def use_settings(self, settings: Any) -> None:
        """Take other settings from the next request on."""
        ...


class SettingAttribute(Generic[ValueT]):
    """A setting that is read and set as an attribute of a provider."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn the name of the setting."""
        self._name = name

    @overload
    def __get__(self, provider: None, owner: type) -> Self: ...
    @overload
    def __get__(self, provider: HasSettings, owner: type) -> ValueT: ...
    def __get__(self, provider: HasSettings | None, owner: type) -> Self | ValueT:
        """Return the value of the setting."""
        return self if provider is None else getattr(provider.settings, self._name)

    def __set__(self, provider: HasSettings, value: ValueT) -> None:
        """Set it; None for its default.

        Raises:
            SettingError: The value cannot be used.
        """
        module = f"provider-{provider.name}"
        provider.use_settings(changed_setting(provider.settings, self._name, value, module))


def changed_setting(settings: SettingsT, name: str, value: Any, module: str) -> SettingsT:
    """Return settings with another value of one of them.

    Args:
        settings: The settings.
        name: The setting.
        value: Its value; None for its default.
        module: Whose settings they are, for errors.

    Raises:
        SettingError: The value cannot be used.
    """
    field = type(settings).model_fields[name]
    if value is None:
        return settings.model_copy(update={name: field.get_default(call_default_factory=True)})
    adapter: TypeAdapter[Any] = TypeAdapter(_declared_type(field))
    try:
        checked = adapter.validate_python(value, strict=True)
    except ValidationError as error:
        detail = {**error.errors(include_url=False)[0], "loc": (name,)}
    else:
        return settings.model_copy(update={name: checked})
    raise SettingError(
        f"{module}: {describe_problem(type(settings), detail, {})}", module=module, key=name
    )


def _declared_type(field: FieldInfo) -> Any:
    """Return the type of a field as it was declared, with what it is checked by."""
    found: Any = field.annotation
    return Annotated[(found, *field.metadata)] if field.metadata else found  # pyright: ignore[reportInvalidTypeForm] -- made here
