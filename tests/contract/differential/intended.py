"""Where we mean to differ from 2.0.2: each rule is a row of CONTRACTS.md.

A rule says of a difference whether it is that one. It names its row by its own name, and a rule
to which no program leads fails the suite, so that the table stays true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from differing import Difference

Rule = Callable[[Difference], bool]

RULES: dict[str, Rule] = {}
"""The rules by name."""


def intended(rule: Rule) -> Rule:
    RULES[rule.__name__] = rule
    return rule


def raised(outcome: Any) -> list[Any]:
    """The type, text and cause of what a step raised; empty texts where it raised nothing."""
    return outcome.get("raises", ["", "", None]) if isinstance(outcome, dict) else ["", "", None]


def shown(value: Any) -> bool:
    """Whether a value stands for an object that JSON does not have."""
    if isinstance(value, dict):
        return len(value) == 1 and next(iter(value)).startswith("<")
    return isinstance(value, str) and value.startswith(("<a ", "<integer "))


EMITS = ("emit", "emit_and_collect")


# Hooks.


# Holds: differ-9
@intended
def awaitables_give_none(d: Difference) -> bool:
    return d.reference == {"<tuple>": []} and d.ours is None


# Holds: differ-10
@intended
def big_integers_stay_exact(d: Difference) -> bool:
    return (
        isinstance(d.reference, dict)
        and "<float>" in d.reference
        and isinstance(d.ours, str)
        and d.ours.startswith("<integer ")
    )


# Holds: differ-10
@intended
def numbers_that_are_not_json_reach_handlers(d: Difference) -> bool:
    return d.path == ("outcome",) and raised(d.reference)[1].startswith("Invalid JSON:")


# Holds: differ-11
@intended
def models_keep_their_fields_in_payloads(d: Difference) -> bool:
    texts = ("text='hello' tokens=3", "Place(path='a.txt', line=7)", "Colour.RED", "{1}")
    collected = d.step["do"] == "emit_and_collect" and d.path[0] == "value"
    return (collected or d.path[0] == "trace") and d.reference in texts and d.ours not in texts


# Holds: differ-13
@intended
def results_hold_the_objects_of_the_caller(d: Difference) -> bool:
    if d.path[:3] != ("value", "<HookResult>", "data"):
        return False
    keys = d.program["id"] == "hooks: payload keys" and d.path[3] == "k"
    return keys or shown(d.ours)


# Holds: differ-12
@intended
def keys_keep_their_order(d: Difference) -> bool:
    names = d.reference, d.ours
    if not all(isinstance(n, str) for n in names):
        return False
    return d.program["id"].startswith("hooks: order of the keys") and d.path[0] == "trace"


# Holds: differ-14
@intended
def without_handlers_nothing_is_copied(d: Difference) -> bool:
    refused = ("Circular reference detected", "keys must be str, int, float, bool or None")
    unchecked = d.path == ("outcome",) and raised(d.reference)[1].startswith(refused)
    return unchecked and d.outcome["trace"] == []


# Holds: differ-32
@intended
def refusals_say_what_was_expected(d: Difference) -> bool:
    if d.path == ("warnings", 0, 1):
        return d.reference.startswith("jitter received an unexpected type")
    kinds = ("TypeError", "OverflowError", "ValueError", "AttributeError")
    both = d.path == ("raises", 1) and d.outcome["raises"][0] in kinds
    texts = (
        "must be real number",
        "keys must be str",
        "Circular reference",
        "number too large to fit",
        "number too small to fit",
        "attribute 'max_retries' of 'builtins.RetryConfig'",
    )
    converted = ("of 'str'", "of 'dict'", "interpreted as an integer")
    return both and (d.reference.startswith(texts) or d.reference.endswith(converted))


# Holds: differ-23
@intended
def mistakes_in_answers_are_warnings(d: Difference) -> bool:
    if d.step["do"] not in EMITS or d.path != ("logs",):
        return False
    denies = d.step["do"] == "emit"  # see `collecting_denies_nothing`
    expected = [level if denies else level.removesuffix(": SECURITY") for level in d.reference]
    return [level for level in d.ours if level != "WARNING"] == expected and d.ours != expected


# Holds: differ-31
@intended
def collecting_denies_nothing(d: Difference) -> bool:
    logged = (d.reference, d.ours) == ("ERROR: SECURITY", "ERROR")
    return d.step["do"] == "emit_and_collect" and logged


# Holds: differ-21, differ-22
@intended
def what_hooks_change_and_say_is_not_lost(d: Difference) -> bool:
    carried = ("data", "user_message", "user_message_level", "user_message_source")
    field = d.path[2] if len(d.path) > 2 and d.path[:2] == ("value", "<HookResult>") else None
    added = d.step["do"] == "emit" and d.reference in ("<missing>", None)
    return added and field in (*carried, "suppress_output")


# Holds: differ-19
@intended
def unregister_removes_every_registration(d: Difference) -> bool:
    named = d.program["id"].startswith("hooks: one name on two events")
    return named and d.step["do"] == "list_handlers"


# Holds: differ-20
@intended
def cancelling_an_emit_reaches_the_handler_first(d: Difference) -> bool:
    entries = [*d.reference, *d.ours] if d.path == ("trace",) else []
    return "cancelling the task that e" in d.program["id"] and any(
        entry[0] in ("cancelled", "loop cancelled") for entry in entries
    )


# Holds: differ-13
@intended
def results_keep_the_identity_of_values(d: Difference) -> bool:
    return d.step.get("see") == "identity" and (d.reference, d.ours) == (False, True)


# Holds: differ-16
@intended
def plain_handlers_run_where_the_caller_is(d: Difference) -> bool:
    return d.program["id"] == "hooks: where plain handlers run" and d.path[:3] == ("trace", 0, 3)


# Holds: differ-17
@intended
def context_variables_stay_set(d: Difference) -> bool:
    return d.step["do"] == "in_mood" and (d.reference, d.ours) == ("glad", "changed")


# Holds: differ-18
@intended
def awaitables_are_awaited(d: Difference) -> bool:
    named = ("hooks: an awaitable that", "coordinator: contributions that are awaitable")
    return d.program["id"].startswith(named)


# Holds: differ-26
@intended
def collecting_without_a_limit_waits(d: Difference) -> bool:
    unlimited = d.step.get("timeout", 0) in (None, {"$": ["infinity"]})
    return d.step["do"] == "emit_and_collect" and unlimited and d.path == ("outcome",)


# Holds: differ-27
@intended
def bad_timeouts_are_value_errors(d: Difference) -> bool:
    panics = d.step["do"] == "emit_and_collect" and d.path[0] == "raises"
    return panics and d.outcome["raises"][0] == "ValueError"


# Holds: differ-33
@intended
def older_events_exist_beside_the_others(d: Difference) -> bool:
    names = ("TURN_START", "CONTEXT_COMPACTION")
    return d.step["do"] == "has_attribute" and d.step["path"].endswith(names)


# Holds: differ-35
@intended
def classes_name_their_module(d: Difference) -> bool:
    def named(module: str) -> bool:
        return isinstance(d.ours, str) and d.reference == d.ours.replace(module, "builtins.")

    return d.reference != d.ours and named("amplifier_core._engine.")


# Holds: differ-34
@intended
def objects_take_attributes(d: Difference) -> bool:
    return d.step["do"] == "write" and "object has no attribute" in raised(d.reference)[1]


# Holds: differ-37
@intended
def failing_callbacks_are_logged(d: Difference) -> bool:
    logged = (d.reference, d.ours) == ([], ["ERROR"])
    return d.step["do"] == "trigger_callbacks" and d.path == ("logs",) and logged


# Coordinators.


# Holds: differ-40
@intended
def systems_of_the_constructor_are_counted(d: Difference) -> bool:
    shown = d.step["do"] == "to_dict" and d.path[-1] in (
        "has_approval_provider",
        "has_display_service",
    )
    return shown and (d.reference, d.ours) == (False, True)


# Holds: differ-41
@intended
def cleanup_runs_once(d: Difference) -> bool:
    again = d.step["do"] in ("cleanup", "leave") and d.path == ("trace",)
    called = again and all(entry[0] == "callback" for entry in d.reference)
    return called and d.ours == []


# Holds: differ-42
@intended
def what_is_raised_is_not_logged_too(d: Difference) -> bool:
    inner = d.outcome.get("value")
    fails = "raises" in d.outcome or (d.step["do"] == "in_task" and "raises" in inner)
    return d.path == ("logs",) and fails and set(d.reference) == {"ERROR"} and not d.ours


# Holds: differ-46
@intended
def async_displays_are_awaited(d: Difference) -> bool:
    display = d.program["id"].endswith("async display")
    shows = d.path == ("trace",) and d.reference == [] and d.ours[0][0] == "show_message"
    warns = d.path == ("warnings",) and "show_later' was never awaited" in str(d.reference)
    return display and (shows or warns)


# Holds: differ-47
@intended
def messages_are_shown_when_the_texts_are_written(d: Difference) -> bool:
    calls = {"show_message", "add_message"}
    both = d.step["do"] == "process_hook_result" and d.path[0] == "trace" and len(d.path) == 2
    return both and {str(call[0]) for call in (d.reference, d.ours)} == calls


# Holds: differ-48
@intended
def empty_prompts_and_options_get_the_defaults(d: Difference) -> bool:
    empty = d.step.get("approval_prompt") == "" and d.step.get("approval_options") == []
    return empty and (
        (d.reference, d.ours) in (("", "Allow this operation?"), ([], ["Allow", "Deny"]))
        or f"{d.reference}Allow this operation?" == d.ours
    )


# Holds: differ-49
@intended
def what_was_asked_about_goes_on(d: Difference) -> bool:
    asks = d.step["do"] == "process_hook_result" and d.step.get("action") == "ask_user"
    kept = d.path == ("value", "result", "<HookResult>", "data") and d.ours == d.step.get("data")
    return asks and kept and d.outcome["value"]["result"]["<HookResult>"].get("action") != "deny"


# Holds: differ-50
@intended
def options_of_the_prompt_can_be_granted(d: Difference) -> bool:
    return d.program["id"].startswith("coordinator: approvals: the custom option")


# Holds: differ-52
@intended
def approvals_end_in_time(d: Difference) -> bool:
    return d.program["id"] in (
        "coordinator: approvals: a builtin timeout",
        "coordinator: approvals: never answered",
    )


# Loader.

WRAPPED = "Session initialization failed: RuntimeError: "


# Holds: differ-81
@intended
def failures_name_their_cause(d: Difference) -> bool:
    if not isinstance(d.reference, str) or not isinstance(d.ours, str):
        return d.path == ("raises", 2) and d.reference is None
    if d.program["id"] == "loader: resolved tool-broken":
        return "ModuleNotFoundError: No module named 'nowhere_to_be_found' (at" in d.ours
    said = d.reference.removeprefix(WRAPPED)
    more = d.ours.startswith((f"{said}: ", f"{said}; did you mean"))
    return said.endswith("not found via entry points or filesystem") and more


# Holds: differ-83
@intended
def plain_mount_functions_are_called_too(d: Difference) -> bool:
    if d.program["id"] == "loader: loading 'broken-sync'":
        return d.path == ("outcome",)
    return d.program["id"].endswith("tools that fail: broken-sync") and d.path[0] in (
        "trace",
        "logs",
    )


# Sessions.


# Holds: differ-64
@intended
def exceptions_come_through_execute(d: Difference) -> bool:
    executed = d.step["do"] in ("execute", "in_task") and "raises" in d.path
    wrapped = d.reference == "RuntimeError" or str(d.reference).startswith("Execution failed: ")
    return executed and wrapped


# Holds: differ-70
@intended
def initialising_at_once_loads_once(d: Difference) -> bool:
    return d.step.get("do") == "initialize_twice_at_once" and d.path == ("trace",)


# Holds: differ-63
@intended
def turns_of_a_cancelled_session_are_warned_of(d: Difference) -> bool:
    fails = "raises" in d.outcome
    logged = d.reference == [] or (fails and d.reference == ["ERROR"])
    return d.step["do"] == "execute" and d.path == ("logs",) and logged and d.ours == ["WARNING"]


# Holds: differ-72
@intended
def empty_modules_are_refused(d: Difference) -> bool:
    config = d.program["id"].startswith("session: top config with an empty")
    return config and raised(d.outcome)[1].startswith("Configuration must specify session.")


# Holds: differ-74
@intended
def config_that_is_not_json_is_taken(d: Difference) -> bool:
    warned = d.path == ("logs",) and d.program["id"] == "session: python config with nan"
    return warned or raised(d.reference)[1].startswith("Invalid config JSON")


# Holds: differ-66
@intended
def errors_of_initialising_are_not_wrapped_twice(d: Difference) -> bool:
    wrapped = str(d.reference).startswith("Session initialization failed: ")
    return wrapped and d.outcome["raises"][0] == "RuntimeError"


# Holds: differ-73
@intended
def a_session_of_none_is_a_missing_one(d: Difference) -> bool:
    named = d.program["id"].endswith("config with a session that is none")
    return named and d.path[0] == "raises" and d.outcome["raises"][0] == "ValueError"


# Holds: differ-82
@intended
def a_broken_module_is_not_a_missing_one(d: Difference) -> bool:
    return (d.reference, d.ours) == ("missing_source", "invalid_entry_point")


# Holds: differ-78
@intended
def exits_of_cleanup_functions_do_not_end_the_program(d: Difference) -> bool:
    exits = d.program["id"].endswith("clean-up that exits")
    return exits and d.path == ("program",) and "SystemExit" in d.reference["ends with"]


# Holds: differ-79
@intended
def the_search_path_is_left_as_it_was(d: Difference) -> bool:
    return d.step["do"] == "on_search_path" and set(d.ours) < set(d.reference)


# Holds: differ-71
@intended
def the_loader_of_the_constructor_is_used(d: Difference) -> bool:
    named = d.program["id"] == "session: top a loader given to the constructor"
    warned = d.path == ("logs",) and (d.reference, d.ours) == (["WARNING"], [])
    used = d.step["do"] == "same" and (d.reference, d.ours) == (False, True)
    return named and (warned or used)


# Holds: differ-80
@intended
def load_failures_reach_hooks_that_load_later(d: Difference) -> bool:
    later = d.program["id"].endswith("load failures seen by hooks that load later")
    return later and d.path == ("trace",) and d.ours[: len(d.reference)] == d.reference


# Holds: differ-75
@intended
def a_config_that_is_no_dict_is_a_type_error(d: Difference) -> bool:
    named = ("session: python config with a list", "session: python config with a text")
    return d.program["id"] in named and d.outcome["raises"][0] == "TypeError"


# Holds: differ-76
@intended
def ids_are_text(d: Difference) -> bool:
    named = d.program["id"] == "session: python options 5"
    return named and raised(d.outcome)[1].endswith("is not an instance of 'str'")


# Holds: differ-77
@intended
def a_session_in_python_ends_with_its_cleanup(d: Difference) -> bool:
    named = ("as a context manager", "clean-up", "again after clean-up")
    ended = d.program["id"] in [f"session: python {name}" for name in named]
    return ended and d.path == ("trace",)


# Holds: differ-69
@intended
def the_error_of_instances_is_of_both_kinds(d: Difference) -> bool:
    texts = (d.reference, d.ours)
    named = d.program["id"].endswith("providers: one twice without instance_id")
    return named and (texts == ("ValueError", "RuntimeError") or "instance_id" in str(d.ours))


# Loading and validating.


# Holds: differ-85
@intended
def modules_are_mounted_once(d: Difference) -> bool:
    if not d.program["id"].startswith("loader: resolved "):
        return False
    tried = raised(d.reference)[0] == "ModuleValidationError"
    after = (
        "'mount function'" in (d.reference, raised(d.reference)[1])
        or d.reference == "mount function"
        or (d.reference, d.ours) == ("KeyError", "ModuleValidationError")
    )
    fewer = d.path == ("raises", 1) and raised(d.outcome)[0] == "ModuleValidationError"
    return tried or fewer or (d.step["do"] == "call_mount" and after)


# Holds: differ-84
@intended
def a_shared_mount_function_tells_its_modules_apart(d: Difference) -> bool:
    shared = str(d.step.get("module_id")).startswith("shared-") and d.path[0] == "value"
    return shared and "shared-two" in (d.reference, *(d.reference or []))


# Holds: differ-87
@intended
def discovering_names_what_cannot_be_imported(d: Difference) -> bool:
    logged = (d.reference, d.ours) == ([], ["WARNING", "WARNING"])
    return d.step["do"] == "discover" and logged


# Holds: differ-89
@intended
def checks_say_more(d: Difference) -> bool:
    phrases = d.step["do"] == "validate" and d.path[1] == "checks" and d.path[3:] == (3,)
    return phrases and set(d.reference) <= set(d.ours)


# Holds: differ-90
@intended
def hook_modules_that_register_nothing_fail(d: Difference) -> bool:
    named = ("validation: module hooks-nothing", "validation: as the wrong kind")
    return d.program["id"] in named and d.step["kind"] == "Hook" and d.path[0] == "value"


# Holds: differ-92
@intended
def the_folder_above_a_package_will_do(d: Difference) -> bool:
    return d.program["id"] == "validation: a folder above the package" and d.path[0] == "value"


# Mistakes.


# Holds: differ-114
@intended
def mistakes_in_plans_are_warnings(d: Difference) -> bool:
    more = d.path == ("logs",) and len(d.ours) > len(d.reference)
    return more and {*d.ours, *d.reference} == {"WARNING"}


# Holds: differ-118
@intended
def a_failed_module_is_one_line(d: Difference) -> bool:
    once = [level for level in d.reference if level != "ERROR"] if d.path == ("logs",) else None
    return d.step["do"] == "initialize" and d.ours == once == ["WARNING"]


# Holds: differ-119
@intended
def what_cannot_be_called_is_refused(d: Difference) -> bool:
    refused = d.step["do"] == "register" and raised(d.ours)[0] == "TypeError"
    return d.program["id"].startswith("hooks: a handler that is n") and (refused or d.index > 1)


# Holds: differ-121
@intended
def unknown_mount_points_come_with_the_known(d: Difference) -> bool:
    return d.path == ("raises", 1) and str(d.ours).startswith(f"{d.reference} (there are `")


# Retries.


# Holds: differ-102
@intended
def jitter_never_undercuts_the_server(d: Difference) -> bool:
    return d.program["id"] == "retry: jitter and what the server asks"


# Holds: differ-103
@intended
def delays_do_not_overflow(d: Difference) -> bool:
    return d.program["id"] == "retry: a delay of an attempt beyond 32 bits" and d.ours == "60.0"
