"""How much the property tests try: `HYPOTHESIS_PROFILE=many` or `slow` for a long search, `few` for a look.

No test, and no program that a test starts, sees the keyring of this machine or stores its sessions in the
folder of its user.
"""

from __future__ import annotations

import asyncio.selector_events
import gc
import os
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

sys.path.append(str(Path(__file__).parent / "processes"))

from warm_interpreter import Interpreters

if TYPE_CHECKING:
    from postgres_fixture import Database
    from xdist.scheduler import Scheduling

    from amplifier_testing.servers.serving.recording import RecordingServer

# No deadline: a busy machine is not a slow parser.
settings.register_profile("fast", deadline=None, max_examples=50)
settings.register_profile("few", deadline=None, max_examples=25)
settings.register_profile("many", deadline=None, max_examples=500)
settings.register_profile("slow", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
_STATE = TemporaryDirectory(prefix="state-")
os.environ["XDG_STATE_HOME"] = _STATE.name


@pytest.fixture
def make_link() -> Callable[[Path, str], None]:
    """Make a symbolic link; where none can be made, as by most users of Windows, the test is skipped."""

    def make(link: Path, target: str) -> None:
        try:
            link.symlink_to(target)
        except OSError as error:
            if sys.platform != "win32":
                raise
            pytest.skip(str(error))
        if not link.is_symlink():
            pytest.skip("Wine has made no link")

    return make


def pytest_unconfigure() -> None:
    """Remove the sessions that programs of tests have stored."""
    _STATE.cleanup()


def _name_the_test(transport: type[Any]) -> None:
    """Let the warning about a connection that was left open say which test had opened it."""
    begin, describe = transport.__init__, transport.__repr__

    def __init__(self: Any, *arguments: Any, **options: Any) -> None:
        self.opened_by = os.environ.get("PYTEST_CURRENT_TEST")
        begin(self, *arguments, **options)

    def __repr__(self: Any) -> str:
        return f"{describe(self)} of {self.opened_by}"

    transport.__init__, transport.__repr__ = __init__, __repr__


if hasattr(asyncio.selector_events, "_SelectorTransport"):
    _name_the_test(asyncio.selector_events._SelectorTransport)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Search what is collected, many thousands of tests, for garbage once: it stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    """Spread the tests as `loadgroup` does, without the time that it takes for many thousands of them.

    With each test it counts what is left of all tests before, even of those that have ended.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class Scheduler(LoadGroupScheduling):
        def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
            super().mark_test_complete(node, item_index, duration)
            scope = self._split_scope(self.registered_collections[node][item_index])
            if all(self.assigned_work[node][scope].values()):
                del self.assigned_work[node][scope]

    return Scheduler(config, log)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Database]:
    """A database of PostgreSQL; each test takes a tenant of its own."""
    from postgres_fixture import serve_database

    yield from serve_database()


@pytest.fixture
def http_server() -> Iterator[RecordingServer]:
    """A server that sends what the test says, and records what it is sent."""
    from amplifier_testing.servers.serving.recording import RecordingServer

    with RecordingServer() as server:
        yield server


@pytest.fixture(scope="session")
def interpreters() -> Iterator[Interpreters]:
    """Run programs in processes of their own, which have imported the libraries."""
    made = Interpreters()
    yield made
    made.close()
