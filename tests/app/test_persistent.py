"""A conversation that the command keeps in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_the_command_goes_on_with_a_conversation_and_names_a_broken_line(
    command: Any, tmp_path: Path
) -> None:
    path = tmp_path / "chat.jsonl"
    plan = tmp_path / "plan.toml"
    plan.write_text(
        "[session.context]\n"
        'module = "context-persistent"\n'
        f'config = {{path = "{path}"}}\n'
        "[[providers]]\n"
        'module = "provider-scripted"\n'
        'config = {script = ["Hello."]}\n'
    )
    for _ in range(2):
        done = command("run", "Hi", "--plan", str(plan))
        assert (done.returncode, done.stdout) == (0, "Hello.\n"), done.stderr
    assert path.read_text().count('"role":"user"') == 2

    with path.open("a") as file:
        file.write("broken\n")
    done = command("run", "Hi", "--plan", str(plan))
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert f"conversation file `{path}`, line 6: no JSON at character 1" in line
    assert "Traceback" not in done.stderr
