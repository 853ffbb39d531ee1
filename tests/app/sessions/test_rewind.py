"""Sessions that go on, back and elsewhere within one conversation in a terminal."""

from __future__ import annotations

from typing import Any

import pytest
from prompt_terminal import CTRL_D, PromptTerminal


@pytest.fixture
def plain(keyed: Any) -> Any:
    """The command in a terminal that can only print."""
    keyed.environment["TERM"] = "dumb"
    return keyed


def said(request: dict[str, Any]) -> list[str]:
    return [
        block["text"]
        for message in request["messages"]
        for block in message["content"]
        if block["type"] == "text"
    ]


# Holds: command-120
def test_a_conversation_goes_back_to_before_a_prompt_and_returns(
    plain: Any, model: Any, say: Any
) -> None:
    say("Blue.", "Green.", "Red.")
    terminal = PromptTerminal(plain, "--name", "paint")
    terminal.say("Which colour?")
    terminal.see("model call\n>")
    terminal.say("And now?")
    terminal.see("model call\n>", times=2)
    terminal.say("/rewind")
    terminal.see_match(r"^ +2  And now\?\n +1  Which colour\?$")
    terminal.say("/rewind 2 conversation")
    terminal.see("the conversation goes on from before prompt 2")
    terminal.say("Something else?")
    terminal.see("model call\n>", times=3)
    terminal.say("/resume paint")
    terminal.see("goes on with `paint`\n  you: And now?\n")
    terminal.say("/rename walls")
    terminal.see("the session is named `walls`")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert said(model.requests[2]) == ["Which colour?", "Blue.", "Something else?"]
    names = plain("session", "list").stdout
    assert "walls" in names
    assert "paint (fork)" in names


# Holds: command-121
def test_a_command_of_a_project_lets_no_more_tools_be_called_than_it_says(
    plain: Any, model: Any, say: Any
) -> None:
    folder = plain.folder / ".claude" / "commands"
    folder.mkdir(parents=True)
    head = "---\ndescription: Looks.\nallowed-tools: Read\nmodel: x\n---\n"
    (folder / "look.md").write_text(f"{head}Look at $1: !`ls`\n")
    call = {"type": "tool_use", "id": "t1", "name": "write_file"}
    model.reply(*model.said({**call, "input": {"path": "a", "content": "x"}}, stop="tool_use"))
    say("No.")
    model.reply(*model.said({**call, "input": {"path": "b", "content": "x"}}, stop="tool_use"))
    say("Yes.")
    terminal = PromptTerminal(plain, "--mode", "auto")
    terminal.say("/look here")
    terminal.see("`/look` has 1 command for a shell, not run: the model reads them as text")
    terminal.see("the model that `/look` names is not used: `/model` chooses one")
    terminal.see("only these tools can be called: Read")
    terminal.see("1 tool\n>")
    terminal.say("Go on")
    terminal.see("1 tool\n>", times=2)
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert "Look at here: !`ls`" in said(model.requests[0])[-1]
    assert [(plain.folder / each).exists() for each in "ab"] == [False, True]
