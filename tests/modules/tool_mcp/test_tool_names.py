"""The names of tools are such that every model takes, and stay the same."""

from __future__ import annotations

import random
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from mcp.types import Tool
from mounted_servers import Mount
from test_hostile_servers import OBJECT, make_liar

from amplifier_modules.tools.mcp.tool_names import choose_server_names, choose_tool_names


# Holds: mcp-22
def test_names_are_kept_where_models_take_them() -> None:
    assert choose_tool_names("git-hub", ["list_issues", "get.issue"]) == {
        "list_issues": "git-hub__list_issues",
        "get.issue": "git-hub__get_issue",
    }
    assert choose_server_names(["1st", "my server", "ü"]) == {
        "1st": "_1st", "my server": "my_server", "ü": "_",
    }  # fmt: skip


# Holds: mcp-22
def test_a_name_that_is_taken_gets_a_hash_and_the_one_that_fits_keeps_it() -> None:
    names = choose_tool_names("x", ["a.b", "a_b", "y" * 80], taken=["x__c", "mcp_resources"])

    assert names["a_b"] == "x__a_b"
    assert re.fullmatch(r"x__a_b_[0-9a-f]{8}", names["a.b"])
    assert re.fullmatch(r"x__y{52}_[0-9a-f]{8}", names["y" * 80])


# Holds: mcp-22
@given(st.lists(st.text(max_size=90), unique=True, max_size=30), st.randoms())
def test_names_do_not_depend_on_the_order(names: list[str], order: random.Random) -> None:
    chosen = choose_tool_names("server", names)
    shuffled = list(names)
    order.shuffle(shuffled)

    assert choose_tool_names("server", shuffled) == chosen
    assert len(set(chosen.values())) == len(chosen)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", each) for each in chosen.values())


# Holds: mcp-22
async def test_a_name_that_is_replaced_is_told(
    mount: Mount, in_process: dict[str, Any], caplog: Any
) -> None:
    tools = [Tool(name="get.it", input_schema=OBJECT)]
    in_process["liar"] = lambda: make_liar(tools)
    mounted = await mount({"liar": {"command": "liar"}})
    await mounted.settle()

    assert "liar__get_it" in mounted.tools
    assert [each.message for each in caplog.records] == [
        "names that models do not take are replaced: `liar__get.it` as `liar__get_it`"
    ]
