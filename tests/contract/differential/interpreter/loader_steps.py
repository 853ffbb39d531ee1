"""What programs do with a loader."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from values import build, error
from world import World, step


def path(world: World, name: str) -> str:
    """A path below the folder of the packages."""
    return str(Path(world.folder) / name)


@step
def loader(
    world: World,
    as_: str = "loader",
    coordinator: str | None = None,
    search_paths: list[str] | None = None,
) -> Any:
    from amplifier_core import ModuleLoader

    paths = None if search_paths is None else [Path(path(world, p)) for p in search_paths]
    given = None if coordinator is None else world.things[coordinator]
    made = world.keep(as_, ModuleLoader(coordinator=given, search_paths=paths))
    world.undo.append(made.cleanup)
    return made


@step
async def load(
    world: World,
    module_id: Any,
    config: Any = None,
    on: str = "loader",
    as_: str = "mount function",
    **options: Any,
) -> Any:
    if "coordinator" in options:
        options["coordinator"] = world.things[options["coordinator"]]
    function = await world.things[on].load(module_id, build(config), **options)
    world.keep(as_, function)
    ready = getattr(function, "__on_session_ready__", None)
    return None if ready is None else [ready[0], callable(ready[1])]


@step
async def call_mount(
    world: World, function: str = "mount function", coordinator: str = "coordinator"
) -> Any:
    returned = await world.things[function](world.things[coordinator])
    return [callable(returned), None if callable(returned) else returned]


@step
async def loader_initialize(
    world: World,
    function: str = "mount function",
    coordinator: str = "coordinator",
    on: str = "loader",
) -> Any:
    return await world.things[on].initialize(world.things[function], world.things[coordinator])


@step
async def discover(world: World, on: str = "loader") -> Any:
    return sorted(await world.things[on].discover(), key=lambda module: module.id)


@step
def loader_cleanup(world: World, on: str = "loader") -> Any:
    return world.things[on].cleanup()


@step
def environment(world: World, name: str, paths: list[str]) -> None:
    before = os.environ.get(name)
    os.environ[name] = os.pathsep.join(path(world, p) for p in paths)
    world.undo.append(
        lambda: os.environ.pop(name) if before is None else os.environ.update({name: before})
    )


@step
def on_search_path(world: World) -> Any:
    """The entries of `sys.path` below the folder of the packages."""
    return [entry for entry in sys.path if entry.startswith(world.folder)]


@step
def entry_points(world: World, points: list[dict[str, Any]], **_: Any) -> None:
    """Pretend that these entry points are installed: of a module's mount, or failing."""
    real = importlib.metadata.entry_points

    def entry_point(spec: dict[str, Any]) -> Any:
        def load() -> Any:
            world.saw("entry point loaded", spec["name"])
            if "raise" in spec:
                raise error(*spec["raise"])
            return importlib.import_module(spec["module"]).mount

        return SimpleNamespace(name=spec["name"], load=load)

    def patched(**options: Any) -> Any:
        if options.get("group") == "amplifier.modules":
            return [entry_point(spec) for spec in points]
        return real(**options)

    importlib.metadata.entry_points = patched  # type: ignore[assignment]  # as tests patch it

    def restore() -> None:
        importlib.metadata.entry_points = real

    world.undo.append(restore)


@step
def resolver(world: World, as_: str, modules: dict[str, Any], asynchronous: bool = False) -> None:
    """A resolver that knows where some modules are; a list is an error to raise."""

    def find(module_id: str, *hints: Any, **named: Any) -> Any:
        world.saw("resolve", module_id, {k: v for k, v in named.items() if v is not None})
        from amplifier_core.module_sources import ModuleNotFoundError

        given = modules.get(module_id)
        if given is None:
            raise ModuleNotFoundError(f"no source for {module_id}")
        if isinstance(given, list):
            raise error(*given)
        return SimpleNamespace(resolve=lambda: Path(path(world, given)))

    async def find_later(module_id: str, *hints: Any, **named: Any) -> Any:
        return find(module_id, *hints, **named)

    made = SimpleNamespace(resolve=find)
    if asynchronous:
        made.async_resolve = find_later
    world.keep(as_, made)
    world.undo.append(lambda: forget(world))


def forget(world: World) -> None:
    """Let modules that were found below the folder of modules be imported anew."""
    below = str(Path(world.folder) / "modules")
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(below):
            del sys.modules[name]
    sys.path[:] = [entry for entry in sys.path if not entry.startswith(below)]


@step
def failure_reason(world: World, raised: list[str]) -> Any:
    from amplifier_core.loader import module_failure_reason

    return module_failure_reason(error(*raised))


@step
def file_system_source(world: World, paths: list[str] | None = None) -> Any:
    from amplifier_core.module_sources import FileSystemModuleSource

    source = FileSystemModuleSource(None if paths is None else [Path(p) for p in paths])
    return [[str(p) for p in source.get_module_paths()], source.get_mention_mappings()]
