"""Random sessions on strict servers with a cache: what was predicted of each call, and what came."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from amplifier_agent import Agent, hook, tool
from amplifier_core import HookResult, world
from amplifier_testing.servers import Answer, AnthropicServer, Call, ResponsesServer, Thinking
from amplifier_testing.servers.anthropic.prompt_cache import PromptCache as MarkedCache
from amplifier_testing.servers.responses.prompt_cache import PromptCache as AutomaticCache

START = 1_790_000_000.0
_IDLE = (2.0, 8.0, 30.0, 90.0, 200.0)
"""Seconds between turns; a few are longer, see `CachedSession`."""
_LONG_IDLE = (290.0, 301.0, 400.0, 3_700.0, 90_000.0)
_WORDS = [
    "the",
    "of",
    "a",
    "file",
    "line",
    "read",
    "write",
    "change",
    "test",
    "call",
    "model",
    "part",
    "whole",
    "end",
    "begin",
]


class IdleWorld(world.World):
    """The system, at a time that a test sets."""

    def __init__(self) -> None:
        self.now = START

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now


@dataclass
class Seen:
    """What a session says of its calls."""

    calls: list[tuple[int | None, int]] = field(default_factory=list[tuple[int | None, int]])
    """The tokens that were predicted, and those that came from the cache."""
    changes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The block and the cause of each change of the beginning."""
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@tool
def read(number: int, size: int) -> str:
    """Read a part of the file."""
    return write_text(Random(number), size)


@tool
def search(words: str) -> str:
    """Search the words in all files of the project, those of its folders among them."""
    return f"nothing of {words}"


def write_text(random: Random, size: int) -> str:
    return " ".join(random.choice(_WORDS) for _ in range(size))


class _Writer:
    """Decides what the model says: of a request always the same."""

    def __init__(self, seed: int, idle: IdleWorld, *, thinks: bool) -> None:
        self.seed, self.idle, self.thinks = seed, idle, thinks
        self.has_tasks = False

    def answer(self, raw: bytes, *, is_child: bool) -> Answer:
        random = Random(self.seed * 31 + hash_of(raw))
        self.idle.now += random.choice((0.0, 0.0, 0.3))
        parts: list[Any] = []
        if self.thinks and random.random() < 0.4:
            parts.append(Thinking(write_text(random, 20)))
        drawn = random.random()
        if self.has_tasks and not is_child and drawn < 0.06:
            parts += [
                Call("task", {"action": "start", "prompt": write_text(random, 30)})
                for _ in range(random.choice((1, 2, 3)))
            ]
        elif drawn < 0.62:
            count = random.choice((1, 1, 2, 3, 12 if random.random() < 0.2 else 1))
            parts += [
                Call("read", {"number": random.randrange(9_999), "size": random.randrange(10, 300)})
                for _ in range(count)
            ]
        else:
            parts.append(write_text(random, random.randrange(5, 120)))
        return Answer(*parts, fragment=4_000)


def answer_seconds(raw: bytes) -> float:
    """Return how long an answer takes, after the request was read."""
    return (0.0, 0.5, 2.0, 9.0)[hash_of(raw) % 4]


def hash_of(raw: bytes) -> int:
    return int.from_bytes(raw[-64:], "big") % 1_000_003 + len(raw)


class CachedSession:
    """One random session: turns, tools, compactions, other models, idle times, sub-agents."""

    def __init__(self, seed: int, turns: int | None = None) -> None:
        self.random = random = Random(seed)
        self.seed = seed
        self.turns = turns or random.randrange(4, 14)
        self.seen = Seen()
        self.idle = IdleWorld()
        self.is_anthropic = random.random() < 0.5
        self.has_tasks = random.random() < 0.3
        self.switches = random.random() < 0.3
        self.injects = self.is_anthropic and random.random() < 0.3
        self.max_tokens = random.choice((4_000, 6_000, 190_000, 190_000, 190_000))
        self.system = write_text(random, random.choice((5, 300, 1_500)))
        self.role: str | None = None
        thinks = random.random() < (0.4 if self.is_anthropic else 0.02)
        self.writer = _Writer(seed, self.idle, thinks=thinks)
        self.writer.has_tasks = self.has_tasks

    async def run(self) -> Seen:
        """Run the turns."""
        with world.use(self.idle), self._open_server() as server:
            agent = self._make_agent(server.url)
            async with agent.session() as session:
                for _ in range(self.turns):
                    if self.switches and self.random.random() < 0.3:
                        self.role = None if self.role else "other"
                    prompt = write_text(self.random, self.random.randrange(3, 80))
                    result = await session.run(prompt)
                    assert result.status in {"completed", "limit"}, result
                    long = self.random.random() < 0.12
                    self.idle.now += self.random.choice(_LONG_IDLE if long else _IDLE)
            assert server.refusals == [], server.refusals
        return self.seen

    def _open_server(self) -> Any:
        kind: Any = AnthropicServer if self.is_anthropic else ResponsesServer
        writer, idle = self.writer, self.idle

        class Server(kind):
            def respond(self, request: Any) -> Any:
                if request.method == "POST":
                    is_child = b"You are a helper" in request.raw
                    self.answers = [writer.answer(request.raw, is_child=is_child)]
                answered = kind.respond(self, request)
                idle.now += answer_seconds(request.raw)
                return answered

        server: Any = Server()
        server.prompt_cache = (
            MarkedCache(world.time) if self.is_anthropic else AutomaticCache(world.time)
        )
        return server

    def _make_agent(self, url: str) -> Agent[str]:
        name = "anthropic" if self.is_anthropic else "openai"
        own, other = (
            # Of thoughts that Haiku forgets, nobody can say what it reads.
            ("claude-sonnet-4-6", "claude-opus-4-6" if self.writer.thinks else "claude-haiku-4-5")
            if self.is_anthropic
            else ("gpt-5.4", "gpt-5.4-mini")
        )
        config: dict[str, Any] = {"api_key": "key", "base_url": url, "default_model": own}
        if not self.is_anthropic and self.random.random() < 0.2:
            config["prompt_cache_retention"] = "in_memory"
        # Of the window of the model, less the longest answer.
        share = self.max_tokens / (960_000 if self.is_anthropic else 200_000)
        loop = {"models": {"other": f"{name}:{other}"}, "max_iterations": 12}
        tools: list[Any] = [read, search]
        plan: dict[str, Any] = {
            "session": {
                "orchestrator": {"module": "loop-streaming", "config": loop},
                "context": {
                    "module": "context-simple",
                    "config": {"compact_threshold": share, "target_usage": share / 2},
                },
            },
            "providers": [{"module": f"provider-{name}", "config": config}],
        }
        if self.has_tasks:
            task = {"system": f"You are a helper. {write_text(self.random, 200)}"}
            plan["tools"] = [{"module": "tool-task", "config": task}]

        @hook("provider:request")
        def choose(event: str, data: dict[str, Any]) -> HookResult | None:
            if self.injects:
                return HookResult(
                    action="inject_context",
                    context_injection=f"It is {self.idle.now}.",
                    ephemeral=True,
                    append_to_last_tool_result=self.seed % 3 == 0,
                )
            if self.role is None:
                return None
            return HookResult(action="modify", data={**data, "role": self.role})

        @hook("llm:response")
        def count(event: str, data: dict[str, Any]) -> None:
            self.seen.events.append(data)
            assert data["status"] == "ok", data
            predicted = data.get("predicted_cache_read_tokens")
            self.seen.calls.append((predicted, data["usage"]["cache_read_tokens"]))

        @hook("llm:prefix_changed")
        def change(event: str, data: dict[str, Any]) -> None:
            self.seen.changes.append((data["block"], data["cause"]))

        return Agent(plan=plan, system=self.system, tools=tools, hooks=[choose, count, change])
