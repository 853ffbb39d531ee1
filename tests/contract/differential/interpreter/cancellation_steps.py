"""What programs do with cancellation tokens."""

from __future__ import annotations

from typing import Any

from coordinator_steps import make_callback
from values import build
from world import World, step

READ = ("state", "is_cancelled", "is_graceful", "is_immediate", "running_tools")


@step
def token(world: World, as_: str) -> None:
    from amplifier_core import CancellationToken

    world.keep(as_, CancellationToken())


@step
def tell(world: World, on: str, method: str, arguments: list[Any] | None = None) -> Any:
    """Call a method of a token with plain arguments, then show how it stands."""
    token = world.things[on]
    returned = getattr(token, method)(*build(arguments or []))
    return [returned, stand(token)]


def stand(token: Any) -> Any:
    return {
        **{name: getattr(token, name) for name in READ},
        "running_tool_names": sorted(token.running_tool_names),
    }


@step
def relate(world: World, on: str, method: str, child: str) -> Any:
    """Register or unregister a child, then show how both stand."""
    returned = getattr(world.things[on], method)(world.things[child])
    return [returned, stand(world.things[on]), stand(world.things[child])]


@step
def stands(world: World, on: str) -> Any:
    return stand(world.things[on])


@step
def on_cancel(world: World, on: str, callback: dict[str, Any]) -> Any:
    return world.things[on].on_cancel(make_callback(world, callback))


@step
async def trigger_callbacks(world: World, on: str) -> Any:
    return await world.things[on].trigger_callbacks()


@step
def states(world: World) -> Any:
    from amplifier_core import CancellationState

    return [[member.name, member.value] for member in CancellationState]
