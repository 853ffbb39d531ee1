"""The keys of `config.toml`: their values, what they mean, and what else sets them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from amplifier_guard.project_settings import Choice, Flag, Form, Number, Whole

MODES = ("plan", "read-only", "ask", "review", "auto")
"""The modes, that in which least happens first."""

_DAY_SECONDS = 86_400


class Text(NamedTuple):
    """Any text that is not empty."""

    right: str = "a text"

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        return type(value) is str and bool(value.strip())


class Shape(NamedTuple):
    """A text of one shape."""

    right: str
    pattern: str

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        return type(value) is str and re.fullmatch(self.pattern, value) is not None


class Tables(NamedTuple):
    """A table of tables."""

    right: str

    def is_valid(self, value: Any) -> bool:
        """Whether a value fits."""
        if type(value) is not dict:
            return False
        return all(type(each) is dict for each in cast("dict[str, Any]", value).values())


class Key(NamedTuple):
    """One key."""

    form: Form
    meaning: str
    usual: str = ""
    """What holds where nothing sets it, for people."""
    option: str = ""
    """The option of `run` that sets it for once."""
    variable: str = ""
    """The environment variable that sets it."""
    allows: Callable[[Any, Any], bool] | None = None
    """Whether a project may set it to the first value where the user has the second, or None."""


_MAX_ITERATIONS = 200


def _has_fewer_calls(theirs: Any, ours: Any) -> bool:
    usual = _MAX_ITERATIONS if ours is None else ours
    return isinstance(usual, int | float) and theirs <= usual


def _lets_less_happen(theirs: Any, ours: Any) -> bool:
    # Without a sandbox `ask` is the usual one.
    return MODES.index(theirs) <= MODES.index(ours or "ask")


def _is_any(_theirs: Any, _ours: Any) -> bool:
    return True


_RATE = Shape("calls per seconds, such as `30/60`", r"[0-9]{1,6}(?:/[0-9]+(?:\.[0-9]+)?)?")
_PRICES = Tables('a table of prices, such as `{ "MODEL" = { input = 3, output = 15 } }`')
_CONFIGS = Tables('a table of configs, such as `{ "tool-bash" = { network = "off" } }`')

KEYS: Mapping[str, Key] = {
    "model": Key(
        Text(),
        "The model, such as `openai:gpt-5.5`, or `openai` for the usual one of a provider.",
        "that of the first provider whose key is set",
        "--model",
        allows=_is_any,
    ),
    "mode": Key(
        Choice(tuple(reversed(MODES))),
        "What runs without a question.",
        "`auto` where commands run in namespaces, else `ask`",
        "--mode",
        allows=_lets_less_happen,
    ),
    "system_file": Key(Text("a path"), "A file with the system prompt.", "", "--system-file"),
    "plan": Key(Text("a path"), "A mount plan whose modules are mounted.", "", "--plan"),
    "modules": Key(_CONFIGS, "Modules that are mounted, with their configs.", "", "--module"),
    "save": Key(Flag(), "Whether sessions are stored.", "`true`", "--no-save"),
    "project_notes": Key(
        Flag(), "Whether the model gets `AGENTS.md` and the like.", "`true`", "--no-project-notes"
    ),
    "plain": Key(
        Flag(),
        "Whether the display is lines alone, for screen readers.",
        "`false`",
        "--plain",
        variable="AMPLIFIER_PLAIN",
    ),
    "thinking": Key(
        Flag(), "Whether the model thinks first.", "`true`", variable="THINKING_MODE_ENABLED"
    ),
    "max_iterations": Key(
        Whole(1, 1_000_000),
        "Model calls of a turn.",
        f"{_MAX_ITERATIONS}",
        variable="LOOP_MAX_ITERATIONS",
        allows=_has_fewer_calls,
    ),
    "message_max_chars": Key(
        Whole(1, 1_000_000_000), "Characters of a prompt.", "50,000", variable="MESSAGE_MAX_CHARS"
    ),
    "max_content_blocks": Key(
        Whole(1, 1_000_000), "Blocks of a message.", "1,000", variable="MAX_CONTENT_BLOCKS"
    ),
    "tool_timeout": Key(
        Number(0.001, _DAY_SECONDS), "Seconds that a tool may run.", "120", variable="TOOL_TIMEOUT"
    ),
    "tool_rate": Key(_RATE, "Calls of each tool; more are refused.", "", variable="TOOL_RATE"),
    "max_result_bytes": Key(
        Whole(4096, 1024**3), "Bytes of a result.", "262,144", variable="TOOL_MAX_RESULT_BYTES"
    ),
    "max_retries": Key(
        Whole(0, 1_000), "Retries of a model call.", "5", variable="PROVIDER_MAX_RETRIES"
    ),
    "min_retry_delay": Key(
        Number(0, _DAY_SECONDS),
        "Seconds before the first retry.",
        "1",
        variable="PROVIDER_RETRY_DELAY",
    ),
    "retry_budget": Key(
        Number(0, _DAY_SECONDS),
        "Seconds after which there are no more retries.",
        "600",
        variable="PROVIDER_RETRY_BUDGET",
    ),
    "rate": Key(_RATE, "Model calls; more of them wait.", "", variable="PROVIDER_RATE"),
    "content_timeout": Key(
        Number(0.001, _DAY_SECONDS),
        "Seconds without content after which an answer is given up.",
        "600",
        variable="PROVIDER_CONTENT_TIMEOUT",
    ),
    "max_answer_bytes": Key(
        Whole(1, 1024**3), "Bytes of an answer.", "67,108,864", variable="PROVIDER_MAX_ANSWER_BYTES"
    ),
    "prices": Key(
        _PRICES,
        "US dollars for a million tokens of models whose price is not known.",
        "",
        variable="PROVIDER_PRICES",
    ),
}
"""The keys by their names."""

PATHS = frozenset({"plan", "system_file"})
"""The keys with paths, which count from the folder of the file."""
PROFILES = "profiles"
"""The table of the user's profiles: each may have the keys above."""
PROFILE = "profile"
"""The key that names the profile that counts without `--profile`."""


def write_variable(value: Any) -> str:
    """Return a value as its environment variable has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        import json

        return json.dumps(value)
    return str(value)
