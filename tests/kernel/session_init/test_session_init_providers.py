"""How providers are mounted, named and rolled back."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from planned import PLAN, Loader, Provider, failing, mounting, record, start

from amplifier_core import RustCoordinator


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


@pytest.mark.parametrize("instance_id", ["mine", "elsewhere", "a"])
async def test_a_named_provider_must_be_new_under_the_name_of_its_module(instance_id: str):
    async def mount(coordinator: Any) -> None:
        await coordinator.mount("providers", Provider("elsewhere"))

    async def mount_again(coordinator: Any) -> None:
        await coordinator.mount("providers", kept)
        await coordinator.mount("providers", Provider("elsewhere"))

    kept = Provider("a")
    for mounted, before in ((mount, {}), (mount_again, {"a": kept})):
        coordinator = RustCoordinator()
        for name, provider in before.items():
            await coordinator.mount("providers", provider, name)
        seen = record(coordinator, "module:load_failed")
        entry = {"module": "provider-a", "instance_id": instance_id}
        await start({**PLAN, "providers": [entry]}, Loader(provider_a=mounted), coordinator)

        assert coordinator.get("providers") == before
        assert [(data["instance_id"], data["error"]) for _, data in seen] == [
            (
                instance_id,
                "Named provider mount did not install a new instance at its default mount name",
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


# Holds: differ-69
async def test_two_entries_of_a_provider_need_names():
    loader = Loader()
    plan = {**PLAN, "providers": [{"module": "provider-a"}, {"module": "provider-a"}]}
    with pytest.raises(ValueError, match="'instance_id'") as failed:
        await start(plan, loader)
    assert isinstance(failed.value, RuntimeError)
    assert [module_id for module_id, *_ in loader.loaded] == ["loop", "context"]


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
