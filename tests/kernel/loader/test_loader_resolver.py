"""Modules from where a resolver says that they are."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core import _engine, module_sources
from amplifier_core.loader import ModuleLoader, ModuleValidationError

MODULE = """
mounts = 0
async def mount(coordinator, config=None):
    global mounts
    mounts += 1
    return (__file__, config)
"""

WritePackage = Callable[..., Path]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[WritePackage]:
    """Writes packages into folders that are not on `sys.path`, and forgets them at the end."""
    before, path = set(sys.modules), list(sys.path)

    def write(folder: str, package: str, text: str = MODULE) -> Path:
        (tmp_path / folder / package).mkdir(parents=True)
        (tmp_path / folder / package / "__init__.py").write_text(text, "utf-8")
        return tmp_path / folder

    yield write
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if name.startswith(("amplifier_module_", "other_package")):
            del sys.modules[name]


class Resolver:
    """Gives folders, and keeps how it was asked."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[Any, ...]] = []

    def resolve(self, module_id: str, source_hint: Any = None, profile_hint: Any = None) -> Any:
        self.asked.append((module_id, source_hint, profile_hint))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(resolve=lambda: answer)


class AsyncResolver(Resolver):
    async def async_resolve(self, *arguments: Any, **hints: Any) -> Any:
        return super().resolve(*arguments, **hints)

    def resolve(self, *arguments: Any, **hints: Any) -> Any:
        raise AssertionError("the asynchronous way comes first")


def loader_for(resolver: Any) -> ModuleLoader:
    return ModuleLoader(SimpleNamespace(get={"module-source-resolver": resolver}.get))


@pytest.mark.parametrize("kind", [Resolver, AsyncResolver])
async def test_a_resolver_is_asked_with_both_hints(store: WritePackage, kind: type[Resolver]):
    folder = store("a", "amplifier_module_tool_x")
    resolver = kind(folder)
    loader = loader_for(resolver)
    mount = await loader.load("tool-x", {"a": 1}, source_hint="from here")
    assert await mount(None) == (str(folder / "amplifier_module_tool_x" / "__init__.py"), {"a": 1})
    assert resolver.asked == [("tool-x", "from here", "from here")]
    assert (sys.path[0], loader._added_paths) == (str(folder), [str(folder)])
    loader.cleanup()
    assert str(folder) not in sys.path
    assert loader._added_paths == []


# Holds: differ-85
async def test_a_module_is_mounted_by_nobody_but_the_session(store: WritePackage):
    folder = store("a", "amplifier_module_tool_x")
    mount = await loader_for(Resolver(folder)).load("tool-x", coordinator=object())
    module = sys.modules["amplifier_module_tool_x"]
    assert module.mounts == 0
    await mount(None)
    assert module.mounts == 1


async def test_a_resolver_may_give_the_package_or_a_text(store: WritePackage):
    folder = store("a", "other_package")
    mount = await loader_for(Resolver(str(folder / "other_package"))).load("tool-x")
    assert (await mount(None))[0] == str(folder / "other_package" / "__init__.py")


async def test_a_module_from_a_resolver_is_resolved_again_and_must_be_the_same(store: WritePackage):
    first, second = store("a", "amplifier_module_tool_x"), store("b", "amplifier_module_tool_x")
    resolver = Resolver(first, first, second)
    loader = loader_for(resolver)
    await loader.load("tool-x")
    await loader.load("tool-x")
    with pytest.raises(ImportError, match=f"Refusing to load 'tool-x' from {second}.*{first}"):
        await loader.load("tool-x")
    assert len(resolver.asked) == 3


async def test_a_package_of_the_same_name_from_elsewhere_is_refused(store: WritePackage):
    first, second = store("a", "amplifier_module_tool_x"), store("b", "amplifier_module_tool_x")
    await loader_for(Resolver(first)).load("tool-x")
    with pytest.raises(
        ModuleValidationError, match=r"module_importable: Refusing to import"
    ) as failed:
        await loader_for(Resolver(second)).load("tool-x")
    assert failed.value.reason_code == "validation_failed"


async def test_a_resolver_that_knows_nothing_is_passed_over(store: WritePackage):
    unknown = module_sources.ModuleNotFoundError("never heard of it")
    folder = store("a", "amplifier_module_tool_x")
    sys.path.insert(0, str(folder))
    assert callable(await loader_for(Resolver(unknown)).load("tool-x"))
    with pytest.raises(module_sources.ModuleNotFoundError, match="never heard of it"):
        await loader_for(Resolver(unknown)).load("tool-zz")


@pytest.mark.parametrize("error", [KeyError("bad"), ModuleNotFoundError("the builtin")])
async def test_any_other_error_of_a_resolver_is_raised(error: Exception):
    with pytest.raises(type(error)) as failed:
        await loader_for(Resolver(error)).load("loop-basic")
    assert failed.value is error


@pytest.mark.parametrize(
    ("text", "reason", "found"),
    [
        ("raise KeyError('inner')", "validation_failed", "module_importable: .*KeyError: 'inner'"),
        ("import no_such_thing", "validation_failed", "No module named 'no_such_thing'"),
        ("", "invalid_entry_point", r"mount_exists: No mount\(\) function"),
        ("mount = 5", "invalid_entry_point", "mount_exists: mount is not callable"),
        ("def mount(c, config=None): pass", "invalid_entry_point", "mount_signature: .*async"),
        ("async def mount(c): pass", "invalid_entry_point", "mount_signature: .*2 parameters"),
        (MODULE + "def on_session_ready(c): pass", "invalid_entry_point", "must be async"),
        (MODULE + "async def on_session_ready(): pass", "invalid_entry_point", "a coordinator"),
        (MODULE + "async def on_session_ready(c=1): pass", "invalid_entry_point", "a coordinator"),
        (MODULE + "__amplifier_module_type__ = 'zork'", "invalid_module_metadata", "type 'zork'"),
    ],
)
async def test_what_is_not_a_module_fails_validation(
    store: WritePackage, text: str, reason: str, found: str
):
    folder = store("a", "amplifier_module_tool_bad", text)
    with pytest.raises(ModuleValidationError, match=f"^Module 'tool-bad' .*{found}") as failed:
        await loader_for(Resolver(folder)).load("tool-bad")
    assert failed.value.reason_code == reason
    if reason != "invalid_module_metadata":
        assert " failed validation: FAILED: " in str(failed.value)


@pytest.mark.parametrize(
    "ready",
    [
        "async def on_session_ready(coordinator): pass",
        "async def on_session_ready(coordinator, more=1, **kwargs): pass",
        "on_session_ready = None",
    ],
)
async def test_a_ready_function_that_fits_passes(store: WritePackage, ready: str):
    folder = store("a", "amplifier_module_tool_fits", MODULE + ready)
    assert callable(await loader_for(Resolver(folder)).load("tool-fits"))


async def test_a_folder_without_a_package_is_told(tmp_path: Path):
    for path, reason in [(tmp_path, "invalid_package_layout"), (tmp_path / "no", "missing_source")]:
        with pytest.raises(ModuleValidationError) as failed:
            await loader_for(Resolver(path)).load("tool-x")
        assert str(failed.value) == f"Module 'tool-x' has no valid Python package at {path}"
        assert failed.value.reason_code == reason


def test_the_package_is_the_folder_or_the_one_named_for_the_module_or_any(store: WritePackage):
    folder = store("a", "amplifier_module_b")
    store("a2", "amplifier_module_z")
    (folder / "amplifier_module_a").mkdir()
    (folder / "amplifier_module_c").mkdir()
    (folder / "amplifier_module_c" / "__init__.py").touch()
    find = ModuleLoader()._find_package_dir
    assert find("c", folder) == folder / "amplifier_module_c"
    assert find("zz", folder) == folder / "amplifier_module_b"
    assert find("zz", folder / "amplifier_module_b") == folder / "amplifier_module_b"
    assert find("zz", folder / "amplifier_module_a") is None
    assert find("zz", folder / "nowhere") is None


async def test_a_path_without_a_mount_function_is_told(
    store: WritePackage, monkeypatch: pytest.MonkeyPatch
):
    folder = store("a", "amplifier_module_tool_x")
    loader = loader_for(Resolver(folder))
    monkeypatch.setattr(loader, "_load_filesystem", lambda *_: None)
    with pytest.raises(
        ValueError, match=f"'tool-x' found at {folder} but failed to load"
    ) as failed:
        await loader.load("tool-x")
    assert failed.value.reason_code == "invalid_entry_point"  # pyright: ignore


@pytest.mark.parametrize("error", [ImportError("none here"), FileNotFoundError("no file")])
async def test_no_transport_detection_is_no_trouble(
    store: WritePackage,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
):
    def resolve_module(path: str) -> Any:
        raise error

    monkeypatch.setattr(_engine, "resolve_module", resolve_module, raising=False)
    folder = store("a", "amplifier_module_tool_x")
    await loader_for(Resolver(folder)).load("tool-x", coordinator=object())
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_failed_transport_detection_is_logged_and_python_assumed(
    store: WritePackage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def resolve_module(path: str) -> Any:
        raise RuntimeError("no idea")

    monkeypatch.setattr(_engine, "resolve_module", resolve_module, raising=False)
    folder = store("a", "amplifier_module_tool_x")
    assert callable(await loader_for(Resolver(folder)).load("tool-x", coordinator=object()))
    assert "resolve_module failed" in caplog.text


# Holds: differ-112
async def test_another_transport_is_refused(store: WritePackage, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_engine, "resolve_module", lambda _: {"transport": "wasm"}, raising=False)
    folder = store("a", "amplifier_module_tool_x")
    with pytest.raises(ModuleValidationError, match="transport `wasm`"):
        await loader_for(Resolver(folder)).load("tool-x", coordinator=object())


# Holds: differ-79
async def test_a_folder_leaves_the_path_with_the_last_loader_that_asked_for_it(store: WritePackage):
    folder = store("a", "amplifier_module_tool_x")
    first, second = loader_for(Resolver(folder)), loader_for(Resolver(folder))
    await first.load("tool-x")
    await second.load("tool-x")
    await second.load("tool-x")
    assert sys.path.count(str(folder)) == 1
    first.cleanup()
    first.cleanup()
    assert str(folder) in sys.path
    second.cleanup()
    assert str(folder) not in sys.path


async def test_a_folder_that_was_on_the_path_before_stays(store: WritePackage):
    folder = store("a", "amplifier_module_tool_x")
    sys.path.append(str(folder))
    loader = loader_for(Resolver(folder))
    await loader.load("tool-x")
    assert loader._added_paths == []
    loader.cleanup()
    assert str(folder) in sys.path


def test_an_entry_noted_from_outside_is_removed():
    loader = ModuleLoader()
    sys.path.insert(0, "/added/by/hand")
    loader._added_paths.append("/added/by/hand")
    loader.cleanup()
    assert "/added/by/hand" not in sys.path
