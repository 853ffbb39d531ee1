"""Which engine the top-level names are: the Rust extension, or the classes in plain Python.

The environment variable `AMPLIFIER_ENGINE` forces one, `rust` or `python`. Without it the extension
is used, and plain Python if the extension is not installed. An extension that is installed but
cannot be loaded is an error: a slower engine must not hide it.
"""

from atexit import register
from os import environ
from sys import modules

TYPE_CHECKING = False  # what type checkers take for true, without the cost of `typing`
if TYPE_CHECKING:
    from typing import Any

_NAME = "amplifier_core._engine"


def _load() -> "Any":
    wanted = environ.get("AMPLIFIER_ENGINE", "")
    if wanted not in ("", "python", "rust"):
        raise ImportError(f"`AMPLIFIER_ENGINE` must be `python` or `rust`, found `{wanted}`")
    if wanted == "python":
        return None
    try:
        from .._engine import _claim_interpreter  # pyright: ignore[reportPrivateUsage]
    except ModuleNotFoundError as error:
        if error.name != _NAME or wanted == "rust":
            raise
        from warnings import warn

        warn(
            f"the extension `{_NAME}` is not installed: sessions run in plain Python, slower; "
            "streams, the guard and `amplifier-core run` need it",
            RuntimeWarning,
            stacklevel=4,  # where the package is imported
        )
        return None
    _claim_interpreter()
    register(_leave)
    return modules[_NAME]


def _leave() -> None:
    threading = modules.get("threading")
    if threading is not None and threading.active_count() > 1:
        from .ending import leave

        leave()


extension = _load()
"""The extension module; None where plain Python is the engine."""

__version__: str = "3.0.0" if extension is None else extension.__version__
"""The version of the package, which the extension knows from its build."""
