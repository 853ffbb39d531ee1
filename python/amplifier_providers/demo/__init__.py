"""`provider-demo`: a model for those without a key, a program and not a language model."""

from typing import TYPE_CHECKING

from .server import DemoModel

if TYPE_CHECKING:
    from .provider import DemoProvider, mount

__all__ = ["DemoModel", "DemoProvider", "mount"]

__amplifier_module_type__ = "provider"

_OF_PROVIDER = {
    "DemoProvider": "DemoProvider",
    "__amplifier_settings__": "DemoSettings",
    "mount": "mount",
}
"""Names of the provider, which those who only start the server need not import."""


def __getattr__(name: str) -> object:
    if name not in _OF_PROVIDER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import provider

    return getattr(provider, _OF_PROVIDER[name])
