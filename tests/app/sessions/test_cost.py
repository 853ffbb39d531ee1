"""What a turn costs, as the command shows it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from prompt_terminal import CTRL_D, PromptTerminal

PRICES = {"claude": {"input": 1_000, "cache_read": 100, "output": 5_000}}
"""So much that a call of the scripted model costs 11.3 cents."""
CACHED = "cache: 60 tokens, 30 predicted by the service's rule for 2 calls"
UNKNOWN = (
    "warning: no price is known for `brand-new` of `anthropic`, so its calls are not part of the"
    " cost; set `prices` of the provider (provider-anthropic)"
)


@pytest.fixture
def priced(keyed: Any, model: Any) -> Any:
    """The command with a model that costs something."""
    keyed.environment["PROVIDER_PRICES"] = json.dumps(PRICES)
    for answer in ("One.", "Two.", "Three."):
        model.reply(*model.said({"type": "text", "text": answer}))
    return keyed


def test_a_turn_and_a_conversation_say_what_they_cost(priced: Any) -> None:
    terminal = PromptTerminal(priced, columns=120)
    for times in (1, 2):
        terminal.say("Count")
        terminal.see("20 out · 1 model call · $0.1130\n>", times=times)
    terminal.say("/cost")
    terminal.see(f"80 tokens in (75% cached), 40 out, 2 model calls, 2 turns, $0.2260\n{CACHED}\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0


def test_json_has_the_cost_of_each_call_and_of_the_turn_as_exact_text(
    priced: Any, outcome_of: Any
) -> None:
    done = priced("--json", "Count")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    [answered] = [line["data"] for line in lines if line["event"] == "llm:response"]
    assert answered["usage"]["cost_usd"] == "0.113"
    assert outcome_of(done.stdout)["cost"] == "0.113"


def test_a_model_without_a_known_price_says_so_once(priced: Any) -> None:
    del priced.environment["PROVIDER_PRICES"]
    terminal = PromptTerminal(priced, columns=200)
    terminal.say("/model brand-new")
    terminal.see("answers from now on\n>")
    for times in (1, 2):
        terminal.say("Count")
        terminal.see("20 out · 1 model call\n>", times=times)
    terminal.say("/cost")
    terminal.see(f"2 turns, the price is not known\n{CACHED}\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert " ".join(terminal.screen.split()).count(UNKNOWN) == 1
