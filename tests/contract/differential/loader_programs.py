"""Programs over the loader: what is found, where, and what fails."""

from __future__ import annotations

from random import Random
from typing import Any

Step = dict[str, Any]

IDS = [
    "tool-scripted", "tool-ready", "tool-ready-sync", "tool-unready", "loop-scripted", "broken-import",
    "broken-deep", "broken-value", "broken-empty", "broken-sync", "broken-one", "nowhere",
    "typed-resolver", "typed-wrongly", "", "a b", "../x",
]  # fmt: skip


def program(name: str, *steps: Step) -> Step:
    return {"id": f"loader: {name}", "steps": [{"do": "coordinator"}, {"do": "loader"}, *steps]}


def load(module_id: Any, **more: Any) -> Step:
    return {"do": "load", "module_id": module_id, **more}


def found_by_resolver(*modules: str, **more: Any) -> list[Step]:
    return [
        {
            "do": "resolver",
            "as_": "resolver",
            "modules": {m: f"modules/amplifier-module-{m}" for m in modules}
            | more.pop("extra", {}),
            **more,
        },
        {"do": "mount", "point": "module-source-resolver", "thing": "resolver"},
        {"do": "loader", "coordinator": "coordinator"},
    ]


MOUNT: Step = {"do": "call_mount"}


def programs(random: Random) -> list[Step]:
    by_resolver = [
        "tool-good",
        "tool-unnamed",
        "tool-undescribed",
        "tool-not-executable",
        "tool-nothing",
        "tool-raises",
        "tool-no-mount",
        "tool-sync-mount",
        "tool-broken",
        "tool-callable",
        "tool-returned",
        "provider-good",
        "provider-nothing",
        "hooks-good",
        "hooks-nothing",
        "loop-good",
        "loop-nothing",
        "context-good",
        "context-short",
        "tool-sync-ready",
    ]
    return [
        *[
            program(
                f"loading {module_id!r}", load(module_id), MOUNT, load(module_id), {"do": "to_dict"}
            )
            for module_id in IDS
        ],
        program(
            "configs",
            load("tool-scripted", config={"names": ["a"]}, as_="f"),
            load("tool-scripted", config={"names": ["b"]}, as_="g"),
            load("tool-scripted", as_="h"),
            *[{"do": "call_mount", "function": name} for name in "gfh"],
            {"do": "get", "point": "tools"},
        ),
        program(
            "one mount function in several packages",
            *[load(f"shared-{name}") for name in ("one", "two", "none", "one")],
        ),
        program("no id", load(None), load(5)),
        program(
            "initialising",
            load("tool-scripted"),
            {"do": "loader_initialize"},
            load("tool-scripted", config={"mount": {"raise": ["ValueError", "x"]}}),
            {"do": "loader_initialize"},
        ),
        program(
            "what mounts return",
            *[
                step
                for value in (5, {"x": 1}, None)
                for step in (load("tool-scripted", config={"mount": {"returns": value}}), MOUNT)
            ],
            load("tool-scripted", config={"mount": {"cleanup": {"name": "c"}}}),
            MOUNT,
        ),
        program(
            "entry points first",
            {
                "do": "entry_points",
                "points": [
                    {"name": "tool-scripted", "module": "amplifier_module_tool_ready"},
                    {"name": "other", "module": "amplifier_module_loop_scripted"},
                ],
            },
            load("tool-scripted"),
            MOUNT,
            load("tool-scripted"),
            load("tool-scripted", config={"names": ["z"]}),
            MOUNT,
            {"do": "get", "point": "tools"},
        ),
        program(
            "an entry point that fails",
            {
                "do": "entry_points",
                "points": [
                    {"name": "tool-scripted", "raise": ["ImportError", "x"]},
                    {"name": "nowhere", "raise": ["ValueError", "y"]},
                ],
            },
            load("tool-scripted"),
            MOUNT,
            load("nowhere"),
        ),
        program(
            "an entry point only",
            {
                "do": "entry_points",
                "points": [{"name": "mine", "module": "amplifier_module_tool_scripted"}],
            },
            load("mine"),
            MOUNT,
            {"do": "to_dict"},
        ),
        program("discovering nothing", {"do": "discover"}),
        program(
            "discovering a folder",
            {"do": "loader", "search_paths": ["modules"]},
            {"do": "discover"},
        ),
        program(
            "discovering folders that are not there",
            {"do": "loader", "search_paths": ["nowhere", "bare"]},
            {"do": "discover"},
        ),
        program(
            "discovering through the environment",
            {"do": "environment", "name": "AMPLIFIER_MODULES", "paths": ["modules"]},
            {"do": "loader"},
            {"do": "discover"},
            load("tool-good"),
        ),
        *[
            program(
                f"resolved {module}",
                *found_by_resolver(module),
                load(module),
                MOUNT,
                {"do": "on_search_path"},
                {"do": "loader_cleanup"},
                {"do": "on_search_path"},
            )
            for module in by_resolver
        ],
        program(
            "resolved with the config",
            *found_by_resolver("tool-config"),
            load("tool-config", config={"name": "configured"}),
            MOUNT,
            {"do": "to_dict"},
        ),
        program(
            "resolved without the config it needs",
            *found_by_resolver("tool-config"),
            load("tool-config"),
            MOUNT,
        ),
        program(
            "resolved asynchronously",
            *found_by_resolver("tool-good", asynchronous=True),
            load("tool-good", source_hint="a hint"),
            MOUNT,
        ),
        program(
            "resolved nowhere", *found_by_resolver(), load("tool-scripted"), MOUNT, load("nowhere")
        ),
        program(
            "resolved with an error",
            *found_by_resolver(extra={"tool-good": ["ValueError", "no network"]}),
            load("tool-good"),
            load("tool-scripted"),
        ),
        program(
            "resolved to a folder without a package",
            *found_by_resolver(extra={"tool-good": "bare", "tool-other": "absent"}),
            load("tool-good"),
            load("tool-other"),
        ),
        program(
            "resolved twice",
            *found_by_resolver("tool-good"),
            load("tool-good"),
            load("tool-good", config={"x": 1}),
            {"do": "on_search_path"},
        ),
        program(
            "resolved although an entry point has the name",
            {
                "do": "entry_points",
                "points": [{"name": "tool-good", "module": "amplifier_module_tool_scripted"}],
            },
            *found_by_resolver("tool-good"),
            load("tool-good"),
            MOUNT,
            {"do": "to_dict"},
        ),
        program(
            "resolved for a coordinator",
            *found_by_resolver("tool-good"),
            load("tool-good", coordinator="coordinator"),
            MOUNT,
            {"do": "to_dict"},
        ),
        program(
            "reasons",
            *[
                {"do": "failure_reason", "raised": raised}
                for raised in (
                    ["ValueError", "x"],
                    ["ImportError", "x"],
                    ["ModuleValidationError", "x"],
                    ["ModuleNotFoundError", "x"],
                    ["KeyError", "x"],
                    ["FileNotFoundError", "x"],
                )
            ],
        ),
        program(
            "sources",
            {"do": "file_system_source"},
            {"do": "file_system_source", "paths": ["/a", "/b"]},
        ),
    ]
