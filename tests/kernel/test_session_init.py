"""How the modules of a mount plan are loaded and mounted."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from amplifier_core import ModuleLoader, RustCoordinator
from amplifier_core import _session_init as session_init
from amplifier_core._session_init import initialize_session
from amplifier_core.loader import ModuleValidationError

PLAN: dict[str, Any] = {"session": {"orchestrator": "loop", "context": "context"}}


class Provider:
    """A provider that mounts itself, as its name or under it."""

    def __init__(self, name: str) -> None:
        self.name = name


class Loader(ModuleLoader):
    """Gives mount functions that are written down in the test."""

    def __init__(self, **mounts: Any) -> None:
        super().__init__()
        self.mounts = {name.replace("_", "-"): mount for name, mount in mounts.items()}
        self.loaded: list[tuple[Any, ...]] = []

    async def load(
        self, module_id: str, config: Any = None, source_hint: Any = None, coordinator: Any = None
    ) -> Any:
        self.loaded.append((module_id, config, source_hint))
        assert isinstance(coordinator, RustCoordinator)
        mount = self.mounts.get(module_id)
        if isinstance(mount, BaseException):
            raise mount

        async def mount_module(coordinator: Any) -> Any:
            return None if mount is None else await mount(coordinator)

        ready = getattr(mount, "__on_session_ready__", None)
        if ready is not None:
            mount_module.__on_session_ready__ = ready  # pyright: ignore
        return mount_module


def mounting(provider: Provider) -> Any:
    async def mount(coordinator: Any) -> None:
        await coordinator.mount("providers", provider)

    return mount


def failing(error: BaseException) -> Any:
    async def mount(coordinator: Any) -> None:
        raise error

    return mount


def ready(module_id: str, function: Callable[..., Any]) -> Any:
    async def mount(coordinator: Any) -> None: ...

    mount.__on_session_ready__ = (module_id, function)  # pyright: ignore
    return mount


def record(coordinator: Any, *events: str) -> list[Any]:
    """Keep the payloads of some events, without their time."""
    seen: list[Any] = []

    def keep(event: str, data: dict[str, Any]) -> None:
        seen.append((event, {key: value for key, value in data.items() if key != "timestamp"}))

    for event in events:
        coordinator.hooks.register(event, keep, name="recorder")
    return seen


async def start(
    plan: dict[str, Any], loader: Any, coordinator: Any = None, parent: Any = None
) -> Any:
    coordinator = coordinator or RustCoordinator()
    coordinator.loader = loader
    await initialize_session(plan, coordinator, "an id", parent)
    return coordinator


async def test_the_phases_come_in_their_order():
    loader = Loader(provider_a=mounting(Provider("a")))
    plan = {
        "hooks": [{"module": "hooks-a"}],
        "tools": ["tool-a", {"module": "tool-b", "source": "there", "config": {"n": 1}}],
        "providers": [{"module": "provider-a"}],
        "session": {
            "orchestrator": {"module": "loop", "source": "here", "config": {"m": 2}},
            "context": {"module": "context"},
        },
    }
    await start(plan, loader)
    assert loader.loaded == [
        ("loop", {"m": 2}, "here"),
        ("context", {}, None),
        ("provider-a", {}, None),
        ("tool-a", {}, None),
        ("tool-b", {"n": 1}, "there"),
        ("hooks-a", {}, None),
    ]


async def test_a_plan_may_name_the_loop_by_its_id_alone():
    loader = Loader()
    plan = {
        "session": {"orchestrator": "loop", "orchestrator_source": "here", "context": "kept"},
        "orchestrator": {"config": {"m": 2}},
        "context": {"config": {"n": 3}},
    }
    await start(plan, loader)
    assert loader.loaded == [("loop", {"m": 2}, "here"), ("kept", {"n": 3}, None)]


@pytest.mark.parametrize(
    "plan", [{}, {"session": {}}, {"session": {"orchestrator": {"config": {}}, "context": ""}}]
)
async def test_loop_and_context_have_defaults(plan: dict[str, Any]):
    loader = Loader()
    await start(plan, loader)
    assert [module_id for module_id, *_ in loader.loaded] == ["loop-basic", "context-simple"]


async def test_the_own_modules_make_a_session():
    coordinator = RustCoordinator()
    await initialize_session({}, coordinator, "an id", None)
    assert isinstance(coordinator.loader, ModuleLoader)
    assert coordinator.loader._coordinator is coordinator
    assert hasattr(coordinator.get("orchestrator"), "execute")
    assert hasattr(coordinator.get("context"), "add_message")


@pytest.mark.parametrize(
    ("module_id", "words"),
    [
        ("loop", "Cannot initialize without orchestrator"),
        ("context", "Cannot initialize without context manager"),
    ],
)
@pytest.mark.parametrize("error", [ValueError("gone"), RuntimeError("gone"), KeyError("gone")])
async def test_a_session_cannot_begin_without_loop_and_context(
    module_id: str, words: str, error: Exception
):
    loader = Loader(**{module_id: error})
    with pytest.raises(RuntimeError) as failed:
        await start(PLAN, loader)
    assert str(failed.value) == f"{words}: {error}"
    assert failed.value.__cause__ is error
    assert type(failed.value) is RuntimeError


async def test_an_error_without_a_text_is_told_by_its_repr():
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")

        def __repr__(self) -> str:
            return "Unreadable()"

    assert session_init._safe_exception_str(Unreadable()) == "Unreadable()"
    assert session_init._safe_exception_str(ValueError("plain")) == "plain"
    with pytest.raises(RuntimeError, match=r"orchestrator: Unreadable\(\)$"):
        await start(PLAN, Loader(loop=Unreadable()))


async def test_an_empty_slot_is_no_error():
    coordinator = await start(PLAN, Loader())
    assert coordinator.get("orchestrator") is None


async def test_cleanups_are_registered_and_other_returns_ignored():
    def cleanup() -> None: ...

    async def with_cleanup(coordinator: Any) -> Any:
        return cleanup

    async def with_information(coordinator: Any) -> Any:
        return {"info": 1}

    loader = Loader(loop=with_cleanup, tool_a=with_information)
    coordinator = await start({**PLAN, "tools": ["tool-a"]}, loader)
    assert coordinator._cleanup_fns[:1] == [cleanup]
    await coordinator.cleanup()


async def test_a_tool_that_fails_is_left_out_and_told(caplog: pytest.LogCaptureFixture):
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    loader = Loader(
        tool_a=ModuleValidationError("no package", reason_code="invalid_package_layout"),
        hooks_a=failing(KeyError("bad")),
    )
    plan = {**PLAN, "tools": ["tool-a", "tool-b"], "hooks": ["hooks-a"]}
    await start(plan, loader, coordinator)
    assert seen == [
        (
            "module:load_failed",
            {
                "module_type": "tool",
                "module_id": "tool-a",
                "error": "no package",
                "reason_code": "invalid_package_layout",
            },
        ),
        (
            "module:load_failed",
            {
                "module_type": "hook",
                "module_id": "hooks-a",
                "error": "'bad'",
                "reason_code": "unknown",
            },
        ),
    ]
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert [record.message for record in warnings] == [
        "Failed to load tool 'tool-a': no package",
        "Failed to load hook 'hooks-a': 'bad'",
    ]
    assert [record.exc_info is not None for record in warnings] == [True, True]
    assert [module_id for module_id, *_ in loader.loaded][-2:] == ["tool-b", "hooks-a"]


async def test_a_failed_import_in_a_mount_names_the_innermost_cause():
    try:
        try:
            raise ModuleNotFoundError("No module named 'libfoo'")
        except ImportError as inner:
            raise ImportError("please install the extra") from inner
    except ImportError as outer:
        error = outer
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    await start({**PLAN, "tools": ["tool-a"]}, Loader(tool_a=failing(error)), coordinator)
    assert seen[0][1]["error"] == (
        "please install the extra, caused by ModuleNotFoundError: No module named 'libfoo'"
    )


async def test_a_failure_is_told_once_to_hooks_that_load_later():
    seen: list[Any] = []

    async def mount_hooks(coordinator: Any) -> None:
        for position, priority in enumerate((5, 1)):
            coordinator.hooks.register(
                "module:load_failed",
                lambda event, data, position=position: seen.append((position, event, data)),
                priority=priority,
                name=f"late-{position}",
            )

    coordinator = RustCoordinator()
    early = record(coordinator, "module:load_failed")
    loader = Loader(tool_a=failing(ValueError("a")), hooks_a=mount_hooks)
    await start({**PLAN, "tools": ["tool-a"], "hooks": ["hooks-a"]}, loader, coordinator, "above")

    assert [data["module_id"] for _, data in early] == ["tool-a"]
    assert [position for position, _, _ in seen] == [1, 0]
    for _, event, data in seen:
        assert isinstance(data.pop("timestamp"), str)
        assert (event, data) == (
            "module:load_failed",
            {
                "session_id": "an id",
                "parent_id": "above",
                "module_type": "tool",
                "module_id": "tool-a",
                "error": "a",
                "reason_code": "unknown",
            },
        )


async def test_a_provider_that_fails_leaves_nothing_behind():
    kept, other = Provider("a"), Provider("b")

    async def half(coordinator: Any) -> None:
        await coordinator.mount("providers", Provider("a"))
        await coordinator.mount("providers", Provider("c"))
        raise ValueError("half way")

    loader = Loader(provider_a=mounting(kept), provider_b=mounting(other), provider_half=half)
    plan = {**PLAN, "providers": [{"module": f"provider-{name}"} for name in ("a", "b", "half")]}
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    await start(plan, loader, coordinator)
    assert list(coordinator.get("providers").items()) == [("a", kept), ("b", other)]
    assert [data["error"] for _, data in seen] == ["half way"]


async def test_a_provider_must_install_something():
    async def pretend(coordinator: Any) -> None: ...

    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    plan = {**PLAN, "providers": [{"module": "provider-x", "instance_id": "i"}, {}]}
    await start(plan, Loader(provider_x=pretend), coordinator)
    assert seen == [
        (
            "module:load_failed",
            {
                "module_type": "provider",
                "module_id": "provider-x",
                "error": "Provider mount did not install a new provider instance",
                "reason_code": "unknown",
                "instance_id": "i",
            },
        )
    ]


async def test_an_instance_has_its_own_name_and_the_first_keeps_its_place():
    instances = [Provider("a"), Provider("a"), Provider("a")]

    async def mount(coordinator: Any) -> None:
        await coordinator.mount("providers", instances[len(loader.loaded) - 3])

    loader = Loader(provider_a=mount)
    entries = [{"module": "provider-a"}]
    entries += [{"module": "provider-a", "instance_id": name} for name in ("second", "a")]
    coordinator = await start({**PLAN, "providers": entries[:2]}, loader)
    assert coordinator.get("providers") == {"a": instances[0], "second": instances[1]}

    loader.loaded = loader.loaded[:2]
    coordinator = await start(
        {**PLAN, "providers": entries[2:]}, Loader(provider_a=mounting(instances[2]))
    )
    assert coordinator.get("providers") == {"a": instances[2]}


async def test_an_instance_takes_away_a_name_that_was_free_by_one_unmount():
    unmounted: list[Any] = []

    class Coordinator(RustCoordinator):
        def unmount(self, mount_point: str, name: str | None = None) -> Any:
            unmounted.append((mount_point, name))
            return super().unmount(mount_point, name)

    provider = Provider("a")
    entry = {"module": "provider-a", "instance_id": "mine"}
    loader = Loader(provider_a=mounting(provider))
    coordinator = await start({**PLAN, "providers": [entry]}, loader, Coordinator())
    assert coordinator.get("providers") == {"mine": provider}
    assert unmounted == [("providers", "a")]


async def test_two_entries_of_a_provider_need_names():
    loader = Loader()
    plan = {**PLAN, "providers": [{"module": "provider-a"}, {"module": "provider-a"}]}
    with pytest.raises(ValueError, match="'instance_id'") as failed:
        await start(plan, loader)
    assert isinstance(failed.value, RuntimeError)
    assert [module_id for module_id, *_ in loader.loaded] == ["loop", "context"]


@pytest.mark.parametrize(
    ("section", "value", "text"),
    [
        ("tools", {"module": "x"}, "`tools` in the mount plan must be a list, found `dict`"),
        ("hooks", "hooks-a", "`hooks` in the mount plan must be a list, found `str`"),
        ("providers", [5], r"`providers\[0\]` .* found `int`"),
        ("tools", ["tool-a", None], r"`tools\[1\]` .* found `NoneType`"),
    ],
)
async def test_a_plan_that_cannot_be_read_is_told(section: str, value: Any, text: str):
    with pytest.raises(RuntimeError, match=text):
        await start({**PLAN, section: value}, Loader())


async def test_the_application_hears_of_providers_before_and_after():
    heard: list[Any] = []

    async def before(coordinator: Any, entry: dict[str, Any]) -> None:
        heard.append(("before", entry["module"]))
        entry["config"]["changed"] = True

    def failed(coordinator: Any, entry: dict[str, Any], error: Exception) -> None:
        heard.append(("failed", entry, str(error)))

    coordinator = RustCoordinator()
    coordinator.register_capability("provider.before_load", before)
    coordinator.register_capability("provider.load_failure", failed)
    entries = [{"module": f"provider-{name}", "config": {"n": 1}} for name in "ab"]
    loader = Loader(provider_a=mounting(Provider("a")), provider_b=failing(ValueError("b")))
    await start({**PLAN, "providers": entries}, loader, coordinator)
    assert heard == [
        ("before", "provider-a"),
        ("before", "provider-b"),
        ("failed", {"module": "provider-b", "config": {"n": 1}}, "b"),
    ]
    assert loader.loaded[2:] == [("provider-a", {"n": 1}, None), ("provider-b", {"n": 1}, None)]


async def test_the_application_may_refuse_a_provider():
    coordinator = RustCoordinator()
    seen = record(coordinator, "module:load_failed")
    coordinator.register_capability("provider.before_load", mock.Mock(side_effect=ValueError("no")))
    loader = Loader(provider_a=mounting(Provider("a")))
    await start({**PLAN, "providers": ["provider-a"]}, loader, coordinator)
    assert [data["error"] for _, data in seen] == ["no"]
    assert [module_id for module_id, *_ in loader.loaded] == ["loop", "context"]


async def test_the_application_may_end_it_all():
    coordinator = RustCoordinator()
    end = mock.AsyncMock(side_effect=KeyError("enough"))
    coordinator.register_capability("provider.load_failure", end)
    plan = {**PLAN, "providers": ["provider-a"]}
    with pytest.raises(KeyError, match="enough"):
        await start(plan, Loader(provider_a=ValueError("a")), coordinator)


async def test_ready_functions_are_called_in_order_with_the_coordinator():
    called: list[Any] = []

    def note(name: str) -> Any:
        async def on_session_ready(coordinator: Any) -> None:
            called.append((name, coordinator))

        return ready(name, on_session_ready)

    async def provide(coordinator: Any) -> None:
        await coordinator.mount("providers", Provider("a"))

    provide.__on_session_ready__ = note("provider-a").__on_session_ready__  # pyright: ignore
    loader = Loader(
        loop=note("loop"), context=note("context"), provider_a=provide, tool_a=note("tool-a")
    )
    loader.mounts["provider-b"] = note("provider-b")  # mounts nothing: failed, so never ready
    plan = {**PLAN, "providers": ["provider-a", "provider-b"], "tools": ["tool-a"]}
    coordinator = await start(plan, loader)
    assert called == [(name, coordinator) for name in ("loop", "context", "provider-a", "tool-a")]
    assert loader.get_on_session_ready_queue() == []


async def test_a_ready_function_that_fails_is_told_also_to_handlers_it_registered():
    seen: list[Any] = []

    async def bad(coordinator: Any) -> None:
        coordinator.hooks.register(
            "module:on_session_ready_failed", lambda event, data: seen.append(data["module_id"])
        )
        raise KeyError("not ready")

    async def later(coordinator: Any) -> None:
        coordinator.hooks.register(
            "module:on_session_ready_failed", lambda event, data: seen.append(data["error"])
        )

    loader = Loader(loop=ready("loop", bad), context=ready("context", later))
    await start(PLAN, loader)
    assert seen == ["loop", "'not ready'"]


async def test_a_failed_beginning_leaves_no_ready_function_for_the_next():
    on_session_ready = mock.AsyncMock()
    loader = Loader(loop=ready("loop", on_session_ready), context=ValueError("not yet"))
    coordinator = RustCoordinator()
    with pytest.raises(RuntimeError):
        await start(PLAN, loader, coordinator)
    del loader.mounts["context"]
    await start(PLAN, loader, coordinator)
    assert on_session_ready.await_args_list == [mock.call(coordinator)]


@pytest.mark.parametrize(
    ("session", "payload"),
    [
        ({}, {}),
        ({"metadata": {"m": 1}}, {"metadata": {"m": 1}}),
        (
            {"raw": True},
            {"raw": {"session": {**PLAN["session"], "raw": True}, "token": "[REDACTED]"}},
        ),
    ],
)
async def test_a_fork_is_told_after_everything_else(
    session: dict[str, Any], payload: dict[str, Any]
):
    order: list[Any] = []

    async def on_session_ready(coordinator: Any) -> None:
        order.append("ready")

    coordinator = RustCoordinator()
    order = record(coordinator, "session:fork")
    plan = {"session": {**PLAN["session"], **session}, "token": "s3cret"}
    await start(plan, Loader(loop=ready("loop", on_session_ready)), coordinator, "above")
    assert order == [
        "ready",
        ("session:fork", {"parent": "above", "session_id": "an id", **payload}),
    ]


async def test_without_a_parent_nothing_is_told_of_a_fork():
    coordinator = RustCoordinator()
    seen = record(coordinator, "session:fork")
    await start(PLAN, Loader(), coordinator, None)
    assert seen == []


async def test_mocks_of_loader_and_coordinator_will_do():
    loader = mock.create_autospec(ModuleLoader, instance=True)
    mounted = mock.AsyncMock(return_value=None)
    loader.load.return_value = mounted
    loader.get_on_session_ready_queue.return_value = []
    coordinator = mock.MagicMock()
    coordinator.loader = loader
    coordinator.get.return_value = None
    coordinator.get_capability.return_value = None
    coordinator.hooks.emit = mock.AsyncMock()
    plan = {**PLAN, "providers": ["provider-a"], "tools": ["tool-a"], "hooks": ["hooks-a"]}
    await initialize_session(plan, coordinator, "an id", "above")
    assert mounted.await_args_list == [mock.call(coordinator)] * 5
    loader.get_on_session_ready_queue.assert_called_once_with()
    assert [call.args[0] for call in coordinator.hooks.emit.await_args_list] == [
        "module:load_failed",
        "session:fork",
    ]
    coordinator.register_cleanup.assert_not_called()
    coordinator.unmount.assert_not_called()


async def test_the_loader_is_looked_up_when_it_is_needed(monkeypatch: pytest.MonkeyPatch):
    loader = Loader()
    made = mock.Mock(return_value=loader)
    monkeypatch.setattr("amplifier_core.loader.ModuleLoader", made)
    coordinator = RustCoordinator()
    await initialize_session(PLAN, coordinator, "an id", None)
    assert made.call_args_list == [mock.call(coordinator=coordinator)]
    assert coordinator.loader is loader


async def test_entering_a_session_initializes_it_and_gives_it():
    session = mock.AsyncMock()
    assert await session_init._session_aenter(session) is session
    assert session.initialize.await_args_list == [mock.call()]


def test_the_names_that_callers_patch_are_there_and_the_old_ones_gone():
    assert callable(session_init.initialize_session)
    assert not hasattr(session_init, "_wrap_initialize")
