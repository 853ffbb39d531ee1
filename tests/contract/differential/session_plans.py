"""What programs over sessions are made of: mount plans, sessions, turns and watchers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Step = dict[str, Any]

PYTHON = {"needs": ["amplifier_core.session"]}


def plan(
    turns: list[Any] | None = None,
    loop: str = "loop-scripted",
    context: str = "context-scripted",
    session: Step | None = None,
    **sections: Any,
) -> Step:
    """A mount plan of scripted modules."""
    return {
        "session": {
            "orchestrator": {"module": loop, "config": {"turns": turns or []}},
            "context": {"module": context},
            **(session or {}),
        },
        "providers": [{"module": "provider-scripted"}],
        "tools": [{"module": "tool-scripted", "config": {"names": ["echo"]}}],
        **sections,
    }


def session(config: Any = None, **options: Any) -> Step:
    return {"do": "session", "config": plan() if config is None else config, **options}


INITIALIZE: Step = {"do": "initialize"}
CLEANUP: Step = {"do": "cleanup", "on": "session"}


def execute(prompt: Any = "hello", on: str = "session") -> Step:
    return {"do": "execute", "prompt": prompt, "on": on}


def see(*events: str, on: str = "hooks") -> list[Step]:
    """Handlers that show events in the trace."""
    return [
        {
            "do": "register",
            "event": event,
            "handler": {"name": "see"},
            "on": on,
            "name": f"see {event}",
        }
        for event in events
    ]


LIFE = see(
    "session:start", "session:resume", "session:config", "session:fork", "session:end",
    "cancel:completed", "module:load_failed", "module:on_session_ready_failed", "prompt:submit",
)  # fmt: skip


def program(name: str, *steps: Step, **more: Any) -> Step:
    return {"id": f"session: {name}", "steps": list(steps), **more}


@dataclass(frozen=True)
class Flavour:
    """One of the two session classes: `top`, the engine's, or `python`."""

    name: str

    def life(self, name: str, *steps: Step) -> Step:
        """A program of this class."""
        return program(f"{self.name} {name}", *steps, **(PYTHON if self.name == "python" else {}))

    def session(self, config: Any = None, **options: Any) -> Step:
        """A step that makes a session of this class, with an id that is known."""
        return session(config, flavour=self.name, session_id="s-1", **options)


def clean(name: str, **callback: Any) -> Step:
    """Register a clean-up function."""
    return {"do": "register_cleanup", "callback": {"name": name, **callback}}
