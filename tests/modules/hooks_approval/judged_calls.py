"""Calls, and what lists of rules say of them."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

from amplifier_modules.hooks.approval.calls import Call, describe_call
from amplifier_modules.hooks.approval.rule_files import WrittenRules
from amplifier_modules.hooks.approval.rule_set import RuleSet

PROJECT = Path("/srv/project")
BASH = SimpleNamespace(is_confined=True, directory=os.getcwd())


def run(command: str) -> Call:
    """A command of `bash`."""
    return describe_call("bash", BASH, {"command": command}, PROJECT)


def judge(call: Call, **lists: list[str]) -> str:
    """What the lists of rules say: `deny`, `ask`, `allow` or `nothing`."""
    rules = RuleSet(PROJECT)
    rules.add(WrittenRules(**lists))
    if rules.find_denial(call) is not None:
        return "deny"
    if rules.find_question(call) is not None:
        return "ask"
    return "allow" if rules.find_allowing(call) else "nothing"
