"""The pytest plugin for the tests of modules: fixtures that find and mount the module.

It needs pytest alone to be loaded; the fixtures that mount need `pytest-asyncio` when they are
used, as tests of modules do.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from ._testing.module_under_test import ModuleUnderTest, find_module

if TYPE_CHECKING:
    from .testing import EventRecorder, MockContextManager, MockCoordinator, MockTool

_BEHAVIORAL = Path(__file__).parent / "validation" / "behavioral"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the module."""
    group = parser.getgroup("amplifier", "modules of amplifier-core")
    group.addoption("--module-path", metavar="PATH", help="the module that the tests are about")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks that tests of modules carry."""
    config.addinivalue_line(
        "markers", "module_validation: a test of a module by the kernel's rules"
    )
    # Not before: pytest wants to be the first to import its plugins, pytest-asyncio among them.
    from ._testing import fixtures

    if not fixtures.IS_ASYNC_THERE:
        config.addinivalue_line("markers", "asyncio: needs pytest-asyncio, which is not installed")
    config.pluginmanager.register(fixtures, "amplifier_module_fixtures")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the kernel's own tests of behaviour that are about another type of module."""
    for item in items:
        if item.path.parent != _BEHAVIORAL:
            continue
        found = _module_of(config, None)
        wanted = item.path.stem.removeprefix("test_")
        if found is not None and found.module_type not in (None, wanted):
            reason = f"the module is a {found.module_type}, the test is for a {wanted}"
            item.add_marker(pytest.mark.skip(reason=reason))


def _module_of(config: pytest.Config, test_file: Path | None) -> ModuleUnderTest | None:
    arguments = [Path(argument.partition("::")[0]) for argument in config.args]
    folders = [Path.cwd(), config.rootpath, *arguments]
    given = cast("str | None", config.getoption("--module-path", default=None))
    return find_module(given, test_file, folders)


@pytest.fixture
def _module_under_test(request: pytest.FixtureRequest) -> ModuleUnderTest | None:
    return _module_of(request.config, request.path)


@pytest.fixture
def module_path(_module_under_test: ModuleUnderTest | None) -> Path | None:
    """Folder of the package that the tests are about; None without one."""
    return None if _module_under_test is None else _module_under_test.package


@pytest.fixture
def module_type(_module_under_test: ModuleUnderTest | None) -> str | None:
    """Type of the module, taken from its name; None if the name does not say."""
    return None if _module_under_test is None else _module_under_test.module_type


@pytest.fixture
def is_module_context(_module_under_test: ModuleUnderTest | None) -> bool:
    """Whether the tests are about a module."""
    return _module_under_test is not None


@pytest.fixture
def coordinator() -> MockCoordinator:
    """A coordinator of the test's own; the module fixtures mount on it."""
    from .testing import MockCoordinator

    return MockCoordinator()


@pytest.fixture
def mock_deps() -> tuple[MockContextManager, dict[str, Any], dict[str, MockTool], EventRecorder]:
    """What a loop works with: a context, providers, tools and something to emit events with."""
    from ._testing.scripted_provider import ScriptedProvider
    from .testing import EventRecorder, MockContextManager, MockTool

    providers = {"default": ScriptedProvider()}
    return MockContextManager(), providers, {"test_tool": MockTool("test_tool")}, EventRecorder()
