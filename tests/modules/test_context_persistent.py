"""A conversation in a file: it is there at the next start, whatever ended the last one."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_core import AmplifierSession
from amplifier_core import session as plain
from amplifier_core.validation.behavioral import ContextBehaviorTests
from amplifier_modules.contexts.conversation_file import ConversationFileError
from amplifier_modules.contexts.persistent import PersistentContext

HEADER = '{"format":"amplifier-conversation","version":1}\n'


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kept" / "chat.jsonl"


@pytest.fixture
def opened(path):
    """Open the conversation; the context that was opened before is closed."""
    contexts = []

    def open_it(**config):
        if contexts:
            contexts[-1].end()
        contexts.append(PersistentContext({"path": str(path), **config}))
        return contexts[-1]

    yield open_it
    for context in contexts:
        context.end()


def user(text, **fields):
    return {"role": "user", "content": text, "metadata": {"timestamp": "t"}, **fields}


def call(*ids):
    calls = [{"id": id, "tool": "look", "arguments": {}} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls, "metadata": {"timestamp": "t"}}


def result(id, content="seen"):
    about = {"name": "look", "metadata": {"timestamp": "t"}}
    return {"role": "tool", "tool_call_id": id, "content": content, **about}


def added(*messages):
    return "".join(json.dumps({"add": message}) + "\n" for message in messages)


async def test_it_is_loaded_at_the_next_start(opened):
    first = opened()
    for message in (user("hi"), call("1"), user("a hook"), result("1"), user("half \ud83d é\n")):
        await first.add_message(message)
    kept = await first.get_messages()

    assert [each["role"] for each in kept] == ["user", "assistant", "tool", "user", "user"]
    second = opened()
    assert await second.get_messages() == kept
    assert await second.get_messages_for_request() == kept
    assert await opened().get_messages() == kept


async def test_it_is_only_appended_to(opened, path):
    context, sizes = opened(), []
    for number in range(3):
        await context.add_message(user(f"{number}"))
        sizes.append(path.read_bytes())
    await context.set_messages([user("new")])
    await context.clear()

    lines = path.read_bytes()
    assert all(lines.startswith(before) for before in sizes)
    assert [json.loads(line) for line in lines.splitlines()] == [
        json.loads(HEADER),
        *({"add": user(f"{number}")} for number in range(3)),
        {"replace": [user("new")]},
        {"replace": []},
    ]


async def test_replacing_and_clearing_hold_at_the_next_start(opened):
    context = opened()
    await context.add_message(user("old"))
    await context.set_messages([user("a"), call("1"), result("1")])
    assert await opened().get_messages() == [user("a"), call("1"), result("1")]

    await opened().clear()
    assert await opened().get_messages() == []


async def test_only_the_user_can_read_it(opened, path):
    await opened(put_aside_bytes=4096).add_message(user("x" * 5000))

    stored = next(path.with_name("chat.jsonl.stored").iterdir())
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (path, stored)]
    folders = [stat.S_IMODE(each.parent.stat().st_mode) for each in (path, stored)]
    assert modes == [0o600, 0o600]
    assert folders == [0o700, 0o700]
    path.chmod(0o644)
    opened()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


# Holds: agent-33
@given(cut=st.integers(1, 400), again=st.integers(1, 60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_torn_last_line_is_dropped_and_what_follows_is_kept(
    tmp_path, cut, again, anyio_backend
):
    path = tmp_path / "torn.jsonl"
    messages = [user("a"), call("1"), result("1", "é" * 5), user("b")]
    whole = HEADER + added(*messages)
    data = whole.encode()[:-cut]
    path.write_bytes(data)

    context = PersistentContext({"path": str(path)})
    kept = await context.get_messages()
    lines = [json.loads(line)["add"] for line in whole.splitlines()[1:]]
    complete = data.decode(errors="ignore").count("\n") - 1
    # All of a line but its newline character is the line.
    count = complete + (data.count(b"\n") < 5 and whole.encode()[len(data) :].startswith(b"\n"))
    assert [each for each in kept if "ended before" not in each["content"]] == lines[
        : max(0, count)
    ]
    await context.add_message(user("more"))
    context.end()

    context = PersistentContext({"path": str(path)})
    assert (await context.get_messages())[:-1] == kept
    context.end()
    path.write_bytes(path.read_bytes()[:-again])
    PersistentContext({"path": str(path)}).end()


async def test_a_call_without_result_is_valid_when_it_is_read_again(opened, caplog):
    context = opened()
    for message in (user("go"), call("1", "2"), result("1")):
        await context.add_message(message)

    history = await opened().get_messages()
    assert [each.get("tool_call_id") for each in history] == [None, None, "1", "2"]
    assert history[-1]["content"].startswith("This call has no result: the session ended")
    assert (history[-1]["tool_call_id"], history[-1]["is_error"]) == ("2", True)
    assert "1 tool calls" in caplog.text
    assert await opened().get_messages() == history, "it is written once"


HOSTILE = [
    ("nothing\n", 1, "no JSON at character 1"),
    ('{"format":"other"}\n', 1, "it is no conversation"),
    ('{"format":"amplifier-conversation","version":2}\n', 1, "it is no conversation"),
    (HEADER + "\n", 2, "no JSON at character"),
    (HEADER + "\xff\0\n" + added(user("a")), 2, "no JSON"),
    (HEADER + "[" * 200_000 + "\n", 2, "JSON that is nested too deeply"),
    (HEADER + "1" * 5_000 + "\n", 2, "no JSON that can be read: Exceeds"),
    (HEADER + "[]\n", 2, r"a `list` \(must be an object\)"),
    (HEADER + added(user("a")) + '{"drop":1}\n', 3, "no change"),
    (HEADER + '{"add":{},"more":1}\n', 2, "no change"),
    (HEADER + '{"add":"hi"}\n', 2, "a message is of type `str`"),
    (HEADER + '{"replace":{}}\n', 2, "no change"),
    (HEADER + '{"replace":[5]}\n', 2, "a message is of type `int`"),
    (HEADER + added({"role": "user", "content": 5}), 2, "`content"),
    (HEADER + added({"role": "tool", "content": "", "tool_call_id": []}), 2, "`tool_call_id`"),
    (HEADER + added({"role": "user", "content": "", "metadata": "x"}), 2, "`metadata`"),
    (HEADER + added({"role": "user", "content": [{"type": "text"}]}), 2, "`content"),
]


@pytest.mark.parametrize(("text", "line", "problem"), HOSTILE, ids=[h[2][:20] for h in HOSTILE])
def test_what_cannot_be_read_names_the_file_and_the_line(opened, path, text, line, problem):
    path.parent.mkdir()
    data = text.encode("latin-1")
    path.write_bytes(data)
    with pytest.raises(ConversationFileError, match=problem) as raised:
        opened()

    assert str(raised.value).startswith(f"conversation file `{path}`, line {line}: ")
    assert path.read_bytes() == data, "nothing is lost"


@given(data=st.binary(max_size=80), head=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path, data, head):
    path = tmp_path / "any.jsonl"
    path.write_bytes((HEADER.encode() if head else b"") + data)
    try:
        PersistentContext({"path": str(path)}).end()
    except ConversationFileError as error:
        assert str(path) in str(error)  # noqa: PT017 -- either is right


def test_what_is_no_file_is_refused(opened, path):
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(ConversationFileError, match="it is no regular file"):
        opened()
    path.unlink()
    path.symlink_to(path.with_name("other"))
    with pytest.raises(ConversationFileError, match="it is a link"):
        opened()
    path.unlink()
    path.mkdir()
    with pytest.raises(ConversationFileError, match="it cannot be opened: Is a directory"):
        opened()


# Holds: agent-33
async def test_another_session_cannot_open_it_meanwhile(opened, path):
    context = opened()
    config = {"path": str(path)}
    with pytest.raises(ConversationFileError, match="it is in use by another session"):
        PersistentContext(config)
    program = (
        "from amplifier_modules.contexts.persistent import PersistentContext as C\n"
        f"try: C({config!r})\nexcept ValueError as error: print(error)"
    )
    told = await anyio.run_process([sys.executable, "-c", program], check=False)
    assert told.stdout.decode().strip().endswith("it is in use by another session")
    await context.add_message(user("mine"))
    context.end()
    other = PersistentContext(config)
    assert await other.get_messages() == [user("mine")]
    with pytest.raises(OSError, match=r"the session of .* has ended"):
        await context.add_message(user("too late"))
    other.end()


# Holds: agent-33
def test_a_killed_process_leaves_all_that_it_has_added(opened, path):
    program = (
        "import asyncio, os, signal\n"
        "from amplifier_modules.contexts.persistent import PersistentContext\n"
        "async def main():\n"
        f"    context = PersistentContext({{'path': {str(path)!r}}})\n"
        "    for n in range(50): await context.add_message({'role': 'user', 'content': str(n)})\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [each["content"] for each in opened()._messages] == [str(n) for n in range(50)]


async def test_what_cannot_be_written_changes_nothing(opened, path, monkeypatch):
    context = opened()
    await context.add_message(user("a"))
    before = path.read_bytes()
    write = os.write

    def full(descriptor, data):
        if len(data) > 10:
            return write(descriptor, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"chat\.jsonl` cannot be written: No space left") as raised:
        await context.add_message(user("b"))
    monkeypatch.undo()
    assert raised.value.errno == 28
    assert path.read_bytes() == before
    assert await context.get_messages() == [user("a")]
    await context.add_message(user("c"))
    assert await opened().get_messages() == [user("a"), user("c")]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (user("a", odd=object()), "cannot be written as JSON: Object of type object"),
        (user(5), "`content"),
    ],
)
async def test_what_could_not_be_read_again_is_refused(opened, message, problem):
    context = opened()
    with pytest.raises(ValueError, match=problem):
        await context.add_message(message)
    with pytest.raises(ValueError, match=problem):
        await context.set_messages([message])
    assert await context.get_messages() == await opened().get_messages() == []


@pytest.mark.parametrize("synced", [True, False])
async def test_each_message_is_on_the_disk_with_fsync(opened, synced, monkeypatch):
    synced_files = []
    monkeypatch.setattr(os, "fsync", synced_files.append)
    context = opened(fsync=synced)
    synced_files.clear()
    await context.add_message(user("a"))
    assert len(synced_files) == synced


async def test_what_was_put_aside_is_there_at_the_next_start(path):
    @tool
    def report() -> str:
        """Report."""
        return "\n".join(map(str, range(100_000)))

    context = {"module": "context-persistent", "config": {"path": str(path)}}
    first = ScriptedProvider([{"tool": "report", "arguments": {}}, "done"])
    await Agent(first, tools=[report], context=context).run("go")
    text = first.requests[1].messages[-1].content
    id = text.split("stored as `")[1][:16]

    read = {"tool": "read_stored", "arguments": {"id": id, "line": 50_001, "lines": 1}}
    second = ScriptedProvider([read, "done"])
    await Agent(second, context=context).run("go on")
    assert second.requests[0].messages[2].content == text
    assert second.requests[1].messages[-1].content.endswith("]\n50000\n")
    context = PersistentContext(context["config"])
    await context.clear()
    context.end()
    assert not path.with_name("chat.jsonl.stored").exists()


async def test_stored_files_are_bounded_and_only_its_own(opened, path):
    context = opened(put_aside_bytes=4096, put_aside_total_bytes=12_000)
    for letter in "abc":
        await context.add_message(user(letter * 5_000))
    folder = path.with_name("chat.jsonl.stored")
    assert len(list(folder.iterdir())) == 2
    (folder / "notes.txt").write_text("mine")
    (folder / ("0" * 16 + ".txt")).symlink_to("/etc/passwd")

    texts = opened()._aside.texts
    assert len(texts.list_ids()) == 2
    assert texts.get("0" * 16) is None
    texts.clear()
    assert sorted(each.name for each in folder.iterdir()) == ["0" * 16 + ".txt", "notes.txt"]


@pytest.mark.parametrize("make", [AmplifierSession, plain.AmplifierSession], ids=["rust", "python"])
async def test_each_session_has_a_file_of_its_id(make, tmp_path):
    config = {"path": str(tmp_path / "{session_id}.jsonl")}
    plan = {
        "session": {
            "orchestrator": "loop-basic",
            "context": {"module": "context-persistent", "config": config},
        },
        "providers": [{"module": "provider-scripted", "config": {"script": ["hi"]}}],
    }
    for name in ("a", "../b"):
        async with make(plan, session_id=name) as session:
            await session.execute("hello")
    async with make(plan, session_id="a", is_resumed=True) as session:
        assert len(await session.coordinator.get("context").get_messages()) == 2
        async with make(plan, session_id="c", parent_id="a") as fork:
            assert await fork.coordinator.get("context").get_messages() == []
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "..%2Fb.jsonl",
        "a.jsonl",
        "c.jsonl",
    ]


@pytest.mark.parametrize(
    "name", [name for name in vars(ContextBehaviorTests) if name.startswith("test_")]
)
async def test_it_behaves_like_every_context(opened, name):
    await getattr(ContextBehaviorTests(), name)(opened())


UNFINISHED = [
    b"no newline",
    b'{"format":"other',
    b'{"format":"amplifier-conversation","version":2',
    b"\0",
]


@pytest.mark.parametrize("data", UNFINISHED)
def test_a_foreign_file_of_one_unfinished_line_stays_as_it_is(opened, path, data):
    path.parent.mkdir()
    path.write_bytes(data)
    path.chmod(0o640)
    with pytest.raises(ConversationFileError, match="line 1: no JSON"):
        opened()

    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (data, 0o640)


@pytest.mark.parametrize("length", [0, 1, len(HEADER) - 2, len(HEADER) - 1])
def test_a_torn_first_line_of_its_own_is_completed(opened, path, length):
    path.parent.mkdir()
    path.write_bytes(HEADER[:length].encode())
    opened().end()
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (HEADER, 0o600)


@pytest.mark.parametrize("text", [text for text, *_ in HOSTILE[:4]])
def test_a_refused_file_keeps_its_mode(opened, path, text):
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o644)
    with pytest.raises(ConversationFileError):
        opened()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("role", ["evil", "", None, 5, "User", ["user"]])
async def test_a_message_of_an_unknown_role_is_refused(opened, path, role):
    message = {"role": role, "content": "hi"}
    context = opened()
    with pytest.raises(ValueError, match=r"`role` of a message is `.*` \(must be `assistant`, "):
        await context.add_message(message)
    context.end()
    path.write_text(HEADER + added(message))
    with pytest.raises(ConversationFileError, match="line 2: `role` of a message"):
        opened()


def test_a_link_in_the_place_of_the_stored_folder_is_refused(opened, path, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path.parent.mkdir()
    path.with_name("chat.jsonl.stored").symlink_to(elsewhere)
    with pytest.raises(NotADirectoryError, match="a link cannot hold the stored texts"):
        opened()
    assert list(elsewhere.iterdir()) == []


async def test_a_link_that_takes_the_place_of_the_stored_folder_is_not_followed(
    opened, path, tmp_path
):
    context = opened(put_aside_bytes=4096)
    await context.add_message(user("a" * 5_000))
    folder = path.with_name("chat.jsonl.stored")
    [stored] = folder.iterdir()
    elsewhere = tmp_path / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    texts = context._aside.texts

    with pytest.raises(NotADirectoryError):
        texts.put("b" * 5_000)
    assert texts.get(texts.list_ids()[0]) is None
    with pytest.raises(NotADirectoryError):
        texts.clear()
    assert [each.name for each in elsewhere.iterdir()] == [stored.name]
