"""Configuration that lies in a project folder decides nothing that could hurt who opens it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard import ProjectRefusal, judge_project_config

HARMLESS: dict[str, Any] = {
    "model": "claude",
    "default_model": "claude",
    "max_tokens": 4096,
    "max_output_tokens": 1,
    "token_budget": 500,
    "thinking_budget_tokens": None,
    "temperature": 0.5,
    "theme": "dark",
    "language": "de",
    "key_bindings": {"ctrl-c": "stop"},
    "keymap": "vi",
    "exclude": ["target", "node_modules"],
    "system_prompt": "Answer in German; the style guide is at https://example.org/style for all.",
    "retries": 3,
    "progress": True,
    "nested": {"deeper": [{"indent": 4}, [1, 2.5, None]]},
}

REFUSED = {
    "endpoint": [
        "base_url", "baseURL", "BASE_URL", "baseurl", "ANTHROPIC_BASE_URL", "api-base", "apiBase",
        "endpoint", "endpoints", "OLLAMA_HOST", "https_proxy", "proxies", "remote.uri", "address",
    ],
    "key": [
        "api_key", "apiKey", "APIKEY", "ANTHROPIC_API_KEY", "key", "keys", "apiKeyHelper",
        "auth_token", "token", "accessToken", "client-secret", "password", "credentials",
        "authorization", "headers", "SSL_CERT_FILE", "awsAuthRefresh", "vault_path",
    ],
    "hook": [
        "hooks", "hook", "preHooks", "pre_commit_hook", "command", "statusCommand", "plugins",
        "extensions", "module", "modules", "source", "env", "PYTHONPATH", "LD_PRELOAD", "script",
        "shell", "import",
    ],
    "server": ["servers", "mcp_servers", "mcpServers", "mcpservers", "MCP", "server", "sockets"],
    "approval": [
        "approvals", "auto_approve", "autoApproval", "permissions", "permissionMode", "allow",
        "allowedTools", "trust", "trustedFolders", "sandbox", "yolo", "dangerouslySkipPermissions",
        "confirmations", "policies", "guard",
    ],
}  # fmt: skip
NAMED = [(kind, name) for kind, names in REFUSED.items() for name in names]


def test_harmless_settings_are_allowed_as_they_are() -> None:
    found = copy.deepcopy(HARMLESS)

    judged = judge_project_config(found)

    assert (judged.allowed, judged.refused) == (HARMLESS, [])
    assert found == HARMLESS


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_what_could_lead_a_session_elsewhere_is_refused_by_name_at_any_depth(
    kind: Any, name: str
) -> None:
    found = {"theme": "dark", name: {"a": 1}, "providers": [{"config": {name: "x", "n": 1}}, 7]}

    judged = judge_project_config(found)

    assert judged.allowed == {"theme": "dark", "providers": [{"config": {"n": 1}}, 7]}
    assert judged.refused == [
        ProjectRefusal(name, kind),
        ProjectRefusal(f"providers[0].config.{name}", kind),
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("https://evil.example/v1", "endpoint"),
        (" ws://127.0.0.1:9 ", "endpoint"),
        ("unix:///run/docker.sock", "endpoint"),
        ("ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "key"),
    ],
)
def test_what_a_value_is_counts_whatever_its_name(value: str, kind: Any) -> None:
    judged = judge_project_config({"note": value, "list": ["kept", value]})

    assert judged.allowed == {"list": ["kept"]}
    assert judged.refused == [ProjectRefusal("note", kind), ProjectRefusal("list[1]", kind)]


def test_a_key_that_is_no_number_does_not_pass_as_a_count() -> None:
    judged = judge_project_config({"max_tokens": "abc", "token": "abc", "secret": 1234})

    assert judged.allowed == {}
    assert [each.kind for each in judged.refused] == ["key"] * 3


def test_what_is_nested_without_end_is_refused() -> None:
    deep: Any = {"leaf": 1}
    for _ in range(100_000):
        deep = {"a": deep}

    [refusal] = judge_project_config({"b": 1, "deep": deep}).refused

    assert refusal.kind == "depth"
    assert len(refusal.name) == 120


def test_aliases_that_stand_for_billions_of_values_are_refused_at_once() -> None:
    doubled: list[Any] = ["lol"]
    for _ in range(40):
        doubled = [doubled, doubled]
    circular: dict[str, Any] = {}
    circular["one"] = circular["two"] = circular

    for found in ({"laughs": doubled}, circular):
        with pytest.raises(ValueError, match=r"^`found` has more than 10,000 values; "):
            judge_project_config(found)
    assert judge_project_config({"numbers": [0] * 9_999}).refused == []


def test_a_refusal_says_what_where_and_what_would_be_right_on_one_line() -> None:
    [refusal] = judge_project_config({"hooks\x1b[2J\n": []}).refused

    assert str(refusal) == (
        r"`hooks\x1b[2J\n` may not be set inside a project folder: it runs code;"
        " set it in your own configuration"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.sampled_from([n for _, n in NAMED]), inner, max_size=4)
    ),
)


def names(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {name for each in value.values() for name in names(each)}
    return {name for each in value for name in names(each)} if isinstance(value, list) else set()


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_what_was_allowed_is_allowed_again_and_holds_none_of_the_names(found: Any) -> None:
    allowed = judge_project_config(found).allowed

    assert judge_project_config(allowed).allowed == allowed
    assert judge_project_config(allowed).refused == []
    is_count = {"token", "max_tokens"}
    assert not names(allowed) & ({name for _, name in NAMED} - is_count)
