"""`import arcllm` defines its names, and does nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import arcllm


def run(source: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_name_is_there() -> None:
    assert {name: getattr(arcllm, name) is not None for name in arcllm.__all__} == dict.fromkeys(
        arcllm.__all__, True
    )
    assert set(arcllm.__all__) <= set(dir(arcllm))
    assert arcllm.__all__ == sorted(arcllm.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'load_modell'"):
        _ = arcllm.load_modell  # type: ignore[attr-defined]


# Holds: arcllm-25
def test_the_import_reads_no_file_of_the_user_and_opens_nothing(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-the-folder\n")
    printed = run(
        """
import os, sys
before = dict(os.environ)
seen = []
sys.addaudithook(lambda name, arguments: seen.append((name, arguments)))
import arcllm
from arcllm import load_model, Message
files = [str(a[0]) for n, a in seen if n == "open"]
print([f for f in files if f.endswith((".env", ".toml", ".json"))])
print([n for n, _ in seen if n.startswith(("socket.", "subprocess.", "os.system"))])
print(dict(os.environ) == before)
""",
        tmp_path,
    )

    assert printed == "[]\n[]\nTrue\n"


# Holds: arcllm-25
def test_the_import_of_the_common_names_loads_no_client_and_no_provider(tmp_path: Path) -> None:
    printed = run(
        """
import sys
import arcllm
print("pydantic" in sys.modules)
from arcllm import load_model, Message
heavy = ["httpx2", "anyio", "asyncio", "amplifier_core", "amplifier_stream", "amplifier_guard",
         "ssl", "argparse", "tomllib"]
if sys.version_info < (3, 13):  # from then on `importlib.metadata` itself loads it
    heavy.append("json")
print([name for name in heavy if name in sys.modules])
""",
        tmp_path,
    )

    assert printed == "False\n[]\n"


def test_many_threads_may_be_the_first_to_use_a_type(tmp_path: Path) -> None:
    printed = run(
        """
import sys, threading
from arcllm import LLMResponse, Message, Usage
sys.setswitchinterval(1e-6)
together, made = threading.Barrier(8), []

def use():
    together.wait()
    usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    block = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "b"}]}
    made.append(Message.model_validate({"role": "tool", "content": [block]}).content[0].content)
    made.append(LLMResponse(usage=usage, model="m", stop_reason="end_turn").usage)

threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(made))
""",
        tmp_path,
    )

    assert printed == "16\n"
