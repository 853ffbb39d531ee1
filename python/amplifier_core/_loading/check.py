"""Whether a package is a module: the checks that need no mounting."""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

from .._module_error import ModuleValidationError
from .._packages.second_name import forget_second_name
from ..error_messages import add_hint, describe_failure, error_text
from ..known_modules import Kind, guess_kind
from .info import declared_kind

logger = logging.getLogger("amplifier_core.loader")


class Check(NamedTuple):
    """One check and its result."""

    name: str
    passed: bool
    message: str


def is_async(function: object) -> bool:
    """Whether a function returns a coroutine.

    True as well for partial functions of such a function, objects whose `__call__` is one, and
    asynchronous mocks.
    """
    inner: Any = function
    while isinstance(inner, partial):
        inner = cast("partial[Any]", inner).func
    call: Any = getattr(cast(Any, type(inner)), "__call__", None)  # noqa: B004
    for candidate in (inner, call):
        code = getattr(candidate, "__code__", None)
        flags = getattr(code, "co_flags", 0)
        if isinstance(flags, int) and flags & inspect.CO_COROUTINE:
            return True
    return False


def _find_file(module: ModuleType) -> Path | None:
    """File that an imported package came from."""
    file = getattr(module, "__file__", None)
    return Path(file) if isinstance(file, str) else None


def check_package(package: Path) -> list[Check]:
    """Import a package whose folder is on `sys.path`, and check that it is a module."""
    name = "module_importable"
    forget_second_name(package.name)
    try:
        module = importlib.import_module(package.name)
    except Exception as error:  # noqa: BLE001 (a foreign import)
        reason = add_hint(describe_failure(error), error)
        return [Check(name, False, f"Failed to import module: {reason}")]
    file = _find_file(module)
    if file is not None and file.resolve().parent != package.resolve():
        expected = package / "__init__.py"
        message = f"Refusing to import '{package.name}' from {expected}: it is loaded from {file}"
        return [Check(name, False, message)]
    mount = check_mount(module)
    found = [Check(name, True, "Module imported"), *mount]
    return [*found, *check_on_session_ready(module)] if mount[0].passed else found


def judge_package(
    module_id: str, path: Path, package: Path | None
) -> tuple[Kind, Path, list[Check]]:
    """Import the package of a module, and return its type, its folder and what was checked.

    Args:
        module_id: Id of the module.
        path: Folder that the module was looked for in.
        package: Its package there, whose folder is on `sys.path`; None if there is none.

    Raises:
        ModuleValidationError: It is not a module; the text names each check that failed.
    """
    if package is None:
        raise ModuleValidationError(
            f"Module '{module_id}' has no valid Python package at {path}",
            reason_code="invalid_package_layout" if path.exists() else "missing_source",
        )
    checks = check_package(package)
    broken = {check.name for check in checks if not check.passed}
    if broken:
        raise ModuleValidationError(
            f"Module '{module_id}' failed validation: {summarize(checks)}",
            reason_code="validation_failed"
            if "module_importable" in broken
            else "invalid_entry_point",
        )
    declared = getattr(sys.modules[package.name], "__amplifier_module_type__", None)
    return declared_kind(module_id, declared) or guess_kind(module_id), package, checks


def check_mount(module: ModuleType) -> list[Check]:
    """Check that a module has `async def mount(coordinator, config)`, without calling it."""
    mount: Any = getattr(module, "mount", None)
    if mount is None:
        return [Check("mount_exists", False, "No mount() function found in module")]
    if not callable(mount):
        return [Check("mount_exists", False, "mount is not callable")]
    return [Check("mount_exists", True, "mount() function found"), _check_signature(mount)]


def _check_signature(mount: Callable[..., Any]) -> Check:
    name = "mount_signature"
    if not is_async(mount):
        return Check(name, False, "mount() should be async (async def mount(...))")
    try:
        inspect.signature(mount).bind(object(), {})
    except TypeError:
        found = inspect.signature(mount)
        message = f"mount() should take the 2 parameters (coordinator, config), found {found}"
        return Check(name, False, message)
    except ValueError:
        pass  # a signature that cannot be read cannot be judged
    return Check(name, True, "mount() has the right signature")


def check_on_session_ready(module: ModuleType) -> list[Check]:
    """Check that an `on_session_ready` is `async def on_session_ready(coordinator)`."""
    ready: Any = getattr(module, "on_session_ready", None)
    if ready is None:
        return []
    name = "on_session_ready_async"
    expected = "expected `async def on_session_ready(coordinator)`"
    if not is_async(ready):
        message = f"on_session_ready() must be async, found a sync function; {expected}"
        return [Check(name, False, message)]
    try:
        parameters = list(inspect.signature(ready).parameters.values())
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    first = parameters[0] if parameters else None
    if first is None or first.kind not in positional or first.default is not first.empty:
        message = f"on_session_ready() must require a coordinator parameter; {expected}"
        return [Check(name, False, message)]
    return []


def summarize(checks: list[Check]) -> str:
    """Count the checks in one line, and tell what each failed one found."""
    failed = [check for check in checks if not check.passed]
    verdict = "FAILED" if failed else "PASSED"
    passed = len(checks) - len(failed)
    counts = f"{verdict}: {passed}/{len(checks)} checks passed ({len(failed)} errors, 0 warnings)"
    if not failed:
        return counts
    found = "; ".join(f"{check.name}: {check.message}" for check in failed)
    return f"{counts}. Errors: {found}"


def check_transport(module_id: str, path: Path) -> None:
    """Refuse a module whose folder shows that it is not a Python package."""
    engine = sys.modules.get("amplifier_core._engine")
    resolve_module: Any = getattr(engine, "resolve_module", None)
    if resolve_module is None:
        return
    try:
        transport = resolve_module(str(path)).get("transport", "python")
    except (ImportError, FileNotFoundError):
        return
    except Exception as error:  # noqa: BLE001 (Python is worth a try)
        logger.warning(
            "resolve_module failed for '%s' (%s); taken for Python", module_id, error_text(error)
        )
        return
    if transport != "python":
        raise ModuleValidationError(
            f"Module '{module_id}' at {path} needs transport `{transport}`; only `python` is there",
            reason_code="invalid_package_layout",
        )
