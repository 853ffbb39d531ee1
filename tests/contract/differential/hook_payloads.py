"""Programs over what handlers get: payloads of every kind, and values at random."""

from __future__ import annotations

from random import Random
from typing import Any

from hook_parts import Step, emit, handler, program, register

PAYLOADS: dict[str, Any] = {
    "flat": {"tool": "web", "count": 3, "rate": 0.5, "on": True, "none": None},
    "nested": {"a": {"b": [1, {"c": "d"}]}, "list": [[], {}, [None]]},
    "unicode": {"text": "naïve — 漢字 🙂", "ключ": "\n\t"},
    "big integer": {"n": {"$": ["integer", "123456789012345678901234567890"]}},
    "tuple": {"t": {"$": ["tuple", 1, {"$": ["tuple", 2]}]}},
    "datetime": {"at": {"$": ["datetime"]}, "day": {"$": ["date"]}},
    "decimal": {"cost": {"$": ["decimal", "1.50"]}},
    "bytes": {"raw": {"$": ["bytes"]}},
    "enum": {"colour": {"$": ["enum"]}},
    "opaque": {"o": {"$": ["opaque"]}},
    "keys": {"k": {"$": ["pairs", [5, "five"], [True, "yes"], [None, "no"], [1.5, "f"]]}},
    "timestamp": {"timestamp": "mine", "session_id": "mine"},
    "empty": {},
}

ODD_PAYLOADS: dict[str, Any] = {
    "nothing": None,
    "list": [1, 2],
    "text": "just text",
    "number": 5,
    "dumpable": {"$": ["dumpable", {"a": 1, "b": [2]}]},
    "model": {"$": ["model"]},
    "nan": {"x": {"$": ["nan"]}},
    "infinity": {"x": [{"$": ["infinity"]}, {"$": ["minus infinity"]}]},
    "surrogate": {"x": {"$": ["surrogate"]}},
    "nested model": {"x": {"$": ["model"]}, "y": [{"$": ["model"]}]},
    "nested dataclass": {"x": {"$": ["dataclass"]}},
    "set": {"x": {"$": ["set", 1]}},
    "circular": {"x": {"$": ["circular"]}},
    "tuple key": {"x": {"$": ["pairs", [{"$": ["tuple", 1]}, 2]]}},
    "deep": {"x": {"$": ["nested", 60]}},
}


def of_payloads() -> list[Step]:
    """Each kind of payload: no handler, one that looks and changes it, one that modifies."""
    made = []
    for name, data in {**PAYLOADS, **ODD_PAYLOADS}.items():
        is_dict = isinstance(data, dict) and "$" not in data
        steps = [
            emit("my:event", data),
            register("my:event", handler("first", mutates=is_dict), priority=1),
            register("my:event", handler("second"), priority=2),
            {"do": "set_default_fields", "fields": {"session_id": "s", "parent_id": None}},
            emit("my:event", data),
            {"do": "emit_and_collect", "event": "my:event", "data": data},
        ]
        if is_dict:
            steps.append(register("my:event", handler("third", {"add": {"more": 1}}), priority=3))
            steps.append(emit("my:event", data))
        made.append(program(f"payload {name}", *steps))
    return made


def json_value(random: Random, depth: int) -> Any:
    """Any JSON, of at most so many levels."""
    plain: list[Any] = [None, True, False, 0, -7, 2**53 - 1, 0.1, -2.5e300, "", "t", 'é\u2028"\\']
    if depth == 0 or random.random() < 0.4:
        return random.choice(plain)
    inner = [json_value(random, depth - 1) for _ in range(random.randint(0, 3))]
    if random.random() < 0.5:
        return inner
    return {random.choice("abcdé $") + str(n): item for n, item in enumerate(inner)}


def of_values(random: Random, count: int) -> list[Step]:
    """Payloads at random, through handlers that look, add and replace."""
    made = []
    for number in range(count):
        payload = {f"k{n}": json_value(random, 4) for n in range(random.randint(0, 4))}
        other = {f"k{n}": json_value(random, 3) for n in range(2)}
        made.append(
            program(
                f"values {number}",
                {"do": "set_default_fields", "fields": {"k1": json_value(random, 2), "s": "s"}},
                emit("my:event", payload),
                register("my:event", handler("adds", {"add": {"more": json_value(random, 3)}})),
                register("my:event", handler("looks"), priority=1),
                emit("my:event", payload),
                register(
                    "my:event",
                    handler("replaces", {"result": {"action": "modify", "data": other}}),
                    priority=2,
                ),
                register("my:event", handler("spoils", mutates=True), priority=3),
                register("my:event", handler("echoes", {"echo": True}), priority=4),
                emit("my:event", payload),
                {"do": "emit_and_collect", "event": "my:event", "data": payload},
            )
        )
    return made
