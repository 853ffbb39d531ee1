"""Programs over the validators of modules and mount plans."""

from __future__ import annotations

from random import Random
from typing import Any

Step = dict[str, Any]

KINDS = {
    "tool": "Tool",
    "provider": "Provider",
    "hooks": "Hook",
    "loop": "Orchestrator",
    "context": "Context",
}
FOLDERS = [
    "tool-good", "tool-unnamed", "tool-undescribed", "tool-schema", "tool-not-executable",
    "tool-sync-execute", "tool-returned", "tool-nothing", "tool-callable", "tool-raises",
    "tool-config", "tool-no-mount", "tool-sync-mount", "tool-one-parameter", "tool-broken",
    "tool-syntax", "tool-sync-ready", "tool-ready-bare", "provider-good", "provider-without-info",
    "provider-sync-complete", "provider-nothing", "provider-odd-info", "hooks-good",
    "hooks-nothing", "loop-good", "loop-short", "loop-nothing", "context-good", "context-short",
]  # fmt: skip

GOOD: Step = {"session": {"orchestrator": {"module": "o"}, "context": {"module": "c"}}}
PLANS: dict[str, Any] = {
    "good": GOOD,
    "nothing": None,
    "a text": "plan",
    "a list": [],
    "empty": {},
    "no session": {"providers": []},
    "a session that is a list": {"session": []},
    "an empty session": {"session": {}},
    "no context": {"session": {"orchestrator": {"module": "o"}}},
    "words": {"session": {"orchestrator": "o", "context": "c"}},
    "no module": {"session": {"orchestrator": {}, "context": {"module": ""}}},
    "a module that is a number": {
        "session": {"orchestrator": {"module": 5}, "context": {"module": None}}
    },
    "config and source": {
        "session": {
            "orchestrator": {"module": "o", "config": [], "source": 5},
            "context": {"module": "c", "config": {}, "source": "s"},
        }
    },
    "lists": {
        **GOOD,
        "providers": [{"module": "p"}],
        "tools": [],
        "hooks": [{"module": "h", "config": None}],
    },
    "no lists": {**GOOD, "providers": {"module": "p"}, "tools": "tool", "hooks": None},
    "specs that are no dicts": {**GOOD, "tools": ["tool", 5, None, {"module": "t"}]},
    "unknown sections": {**GOOD, "orchestrator": {}, "colour": 1, "agents": {"a": 1}},
    "instances": {**GOOD, "providers": [{"module": "p", "instance_id": "a"}, {"module": "p"}]},
}


def program(name: str, *steps: Step) -> Step:
    return {
        "id": f"validation: {name}",
        "steps": list(steps),
        "needs": ["amplifier_core.validation"],
    }


def validate(kind: str, module: str, **more: Any) -> Step:
    return {"do": "validate", "kind": kind, "module": module, **more}


def programs(random: Random) -> list[Step]:
    tool_results = [
        {},
        {"success": True},
        {"success": "yes"},
        {"success": True, "output": 5},
        {"colour": 1},
        {"success": False, "error": {"message": "m"}},
    ]
    hook_results = [
        {},
        {"action": "continue"},
        {"action": "explode"},
        {"action": "deny", "reason": 5},
    ]
    return [
        *[
            program(
                f"module {folder}",
                validate(
                    KINDS[folder.partition("-")[0]],
                    f"modules/amplifier-module-{folder}/amplifier_module_{folder.replace('-', '_')}",
                ),
            )
            for folder in FOLDERS
        ],
        program(
            "a folder above the package", validate("Tool", "modules/amplifier-module-tool-good")
        ),
        program("a folder without a package", validate("Tool", "bare/")),
        program("a folder that is not there", validate("Tool", "absent/folder")),
        program(
            "by name",
            validate("Tool", "amplifier_module_tool_scripted"),
            validate("Tool", "amplifier_module_nowhere"),
            validate("Provider", "amplifier_module_provider_scripted"),
        ),
        program(
            "with its config",
            validate(
                "Tool",
                "modules/amplifier-module-tool-config/amplifier_module_tool_config",
                config={"name": "n"},
            ),
        ),
        program(
            "as the wrong kind",
            validate("Provider", "modules/amplifier-module-tool-good/amplifier_module_tool_good"),
            validate("Hook", "modules/amplifier-module-tool-good/amplifier_module_tool_good"),
        ),
        *[
            program(
                f"plan {name}",
                {"do": "mount_plan", "plan": plan},
                {"do": "format_errors", "plan": plan},
            )
            for name, plan in PLANS.items()
        ],
        program(
            "ready checks",
            *[
                {"do": "ready_check", "kind": kind}
                for kind in ("absent", "good", "more", "bare", "defaulted", "plain")
            ],
        ),
        program(
            "tool results",
            *[
                {"do": "tool_result_errors", "function": "validate_tool_result", "value": value}
                for value in tool_results
            ],
        ),
        program(
            "hook results",
            *[
                {"do": "tool_result_errors", "function": "validate_hook_result", "value": value}
                for value in hook_results
            ],
        ),
    ]
