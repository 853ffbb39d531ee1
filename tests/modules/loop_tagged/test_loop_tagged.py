"""What agents promise of the answers of models that write their calls as tags."""

from __future__ import annotations

import anyio
import pytest
from tagged_answers import LOOK, Pieces, Whole, blocks, ended, heard

from amplifier_core.llm_errors import ProviderUnavailableError
from amplifier_core.message_models import ChatResponse, TextBlock, ThinkingBlock
from amplifier_stream import ChunkCall, StreamChunk

HM = StreamChunk("hm", type="thinking")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def seeing(bench, *answers, loop="tagged", config=None, provider=Pieces):
    """A turn whose tool `look` returns `seen`."""
    turn = bench(loop, config=config)
    turn.provider = provider(*answers)
    turn.tool("look", lambda given: "seen")
    return turn


async def test_the_ten_events_come_in_the_order_of_the_answer(bench):
    turn = seeing(bench, [HM, "I look. ", LOOK], ["Done."])

    assert await turn.run() == "Done."
    call = heard(turn)[9][2]
    assert (
        heard(turn)
        == [
            ("thinking_start",),
            ("thinking_content", "hm"),
            ("thinking_end",),
            ("message_start",),
            ("message_content", "I look. "),
            ("tool_call_start", 0, None, None),
            ("tool_call_content", 0, '{"tool_name": "look"', None),
            ("tool_call_content", 0, "", "look"),
            ("tool_call_content", 0, ', "arguments": {"x": 1}}', None),
            ("tool_call_end", 0, call),
            ("message_end",),
            ("message_start",),
            ("message_content", "Done."),
            ("message_end",),
        ]
        or call
    )
    assert call == {
        "id": call["id"],
        "name": "look",
        "arguments": {"x": 1},
        "error": None,
        "raw": LOOK.removeprefix("<tool>").removesuffix("</tool>"),
        "is_native": False,
        "findings": [],
    }
    assert turn.tools["look"].inputs == [{"x": 1}]


async def test_the_provider_separates_thinking_and_the_loop_finds_calls(bench):
    thought = StreamChunk(f"perhaps {LOOK}", type="thinking")
    turn = seeing(bench, [thought, "<thinking>no thought</thinking>"])

    assert await turn.run() == "<thinking>no thought</thinking>"
    assert turn.tools["look"].inputs == []
    assert heard(turn)[1] == ("thinking_content", f"perhaps {LOOK}")
    [message] = [each for each in await turn.history() if each["role"] == "assistant"]
    assert [block["type"] for block in message["content"]] == ["thinking", "text"]


async def test_events_come_while_the_answer_streams(bench):
    turn = seeing(bench)
    counts = []

    async def count():
        counts.append(len(heard(turn)))

    turn.provider = Pieces([HM, count, "a", count, "<tool>", count, "{}</tool>", count], ["b"])
    await turn.run()

    assert counts == [2, 5, 6, 8]


# Holds: provider-10
async def test_tags_reach_neither_display_nor_answer(bench):
    turn = seeing(bench, [HM, "a <to", f"ol>{LOOK[6:]}\n {LOOK} b"], ["c"])

    assert await turn.run() == "c"
    assert blocks(turn) == [
        ("start", 0, "thinking", None), ("delta", 0, "thinking", "hm"), ("end", 0, "thinking", "hm"),
        ("start", 1, "text", None), ("delta", 1, "text", "a "), ("end", 1, "text", "a "),
        ("start", 2, "tool_call", None), ("delta", 2, "tool_call", '{"x": 1}'),
        ("end", 2, "tool_call", {"x": 1}),
        ("start", 3, "tool_call", None), ("delta", 3, "tool_call", '{"x": 1}'),
        ("end", 3, "tool_call", {"x": 1}),
        ("start", 4, "text", None), ("delta", 4, "text", " b"), ("end", 4, "text", " b"),
        ("start", 0, "text", None), ("delta", 0, "text", "c"), ("end", 0, "text", "c"),
    ]  # fmt: skip
    first = next(each for each in await turn.history() if each["role"] == "assistant")
    assert [block.get("text", block["type"]) for block in first["content"]] == [
        "thinking", "a ", "tool_call", "tool_call", " b",
    ]  # fmt: skip


@pytest.mark.parametrize("provider", [Pieces, Whole])
@pytest.mark.parametrize("loop", ["basic", "streaming", "tagged"])
async def test_every_loop_and_provider_takes_the_same_path(bench, loop, provider):
    config = {} if loop == "tagged" else {"tool_tags": True}
    text = f"a {LOOK} b"
    answers = (text, "c") if provider is Whole else ([text], ["c"])
    turn = seeing(bench, *answers, loop=loop, config=config, provider=provider)

    assert await turn.run() == "c"
    assert [each[0] for each in heard(turn)] == [
        "message_start", "message_content", "tool_call_start", "tool_call_content",
        "tool_call_content", "tool_call_content", "tool_call_end", "message_content",
        "message_end", "message_start", "message_content", "message_end",
    ]  # fmt: skip
    deltas = [each for each in blocks(turn) if each[0] == "delta"]
    assert bool(deltas) is (loop != "basic")
    assert [each[1:] for each in blocks(turn) if each[0] == "end"] == [
        (0, "text", "a "), (1, "tool_call", {"x": 1}), (2, "text", " b"), (0, "text", "c"),
    ]  # fmt: skip
    assert turn.provider.requests[0].tools is None
    assert [each["role"] for each in await turn.history()] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip


async def test_chunks_are_taken_though_the_provider_defines_complete(bench):
    class Both(Pieces):
        async def complete(self, request, **options):
            raise AssertionError("not asked")

    turn = seeing(bench, [LOOK], ["done"], provider=Both)
    assert await turn.run() == "done"


async def test_the_tags_of_the_loop_count_before_those_of_the_provider(bench):
    own = seeing(bench, ['<act>{"name": "look"}</act><tool>{"name": "look"}</tool>'], ["done"])
    own.provider.tool_tags = ("act",)
    await own.run()
    assert ended(own) == [(0, "look", {})]

    both = seeing(bench, ['<a>{"name": "look"}</a><b>{"name": "look"}</b>'], ["x"], config={"tool_tags": ["a", "b"]})  # fmt: skip
    both.provider.tool_tags = ("act",)
    await both.run()
    assert ended(both) == [(0, "look", {}), (1, "look", {})]


# Holds: provider-16
async def test_a_failed_answer_ends_in_order_and_keeps_what_there_is(bench):
    broken = ProviderUnavailableError("gone")
    open_call = StreamChunk('{"a"', type="tool_call", call=ChunkCall(5, "n", "look"))
    turn = seeing(bench, ["text <tool>{", open_call, HM, broken])

    with pytest.raises(ProviderUnavailableError, match="gone"):
        await turn.run()
    names = [each[0] for each in heard(turn)]
    assert names[-5:] == ["thinking_end", "tool_call_end", "tool_call_end", "message_end", "error"]
    assert heard(turn)[-1] == (
        "error", {"type": "ProviderUnavailableError", "msg": "gone"}, "text ", "hm",
    )  # fmt: skip
    assert turn.tools["look"].inputs == []
    assert turn.names().count("provider:error") == 1
    assert [each[:3] for each in blocks(turn) if each[0] != "delta"] == [
        ("start", 0, "text"), ("end", 0, "text"), ("start", 1, "tool_call"),
        ("start", 2, "thinking"), ("end", 2, "thinking"), ("start", 3, "tool_call"),
        ("end", 3, "tool_call"), ("end", 1, "tool_call"),
    ]  # fmt: skip


async def test_a_cancelled_answer_ends_without_an_error_and_its_calls_do_not_run(bench, valid):
    turn = seeing(bench)

    async def cancel():
        turn.token.request_immediate()
        await anyio.sleep(60)

    turn.provider = Pieces([HM, "so ", LOOK, "and", cancel])
    await turn.run()

    names = [each[0] for each in heard(turn)]
    assert names[-1] == "message_end"
    assert "error" not in names
    assert turn.tools["look"].inputs == []
    valid(await turn.context.get_messages())


async def test_calls_of_an_answer_that_is_cut_never_run(bench):
    turn = seeing(bench, ["", StreamChunk(f"a {LOOK}")], ["b"])

    assert await turn.run() == "b"
    assert turn.tools["look"].inputs == []
    [result] = [each for each in await turn.history() if each["role"] == "tool"]
    assert "the answer ended before its last chunk" in result["content"]


async def test_an_answer_of_texts_or_with_a_finished_chunk_is_whole(bench):
    for last in ([LOOK], [StreamChunk(LOOK, finished=True)], [StreamChunk(LOOK), response(LOOK)]):
        turn = seeing(bench, last, ["b"])
        await turn.run()
        assert turn.tools["look"].inputs == [{"x": 1}]


def response(*texts):
    return ChatResponse(content=[TextBlock(text=text) for text in texts])


async def test_what_a_response_adds_to_its_pieces_follows(bench):
    turn = seeing(bench, ["a ", response("a ", f"b {LOOK}")], ["c"])
    await turn.run()

    assert [each[1:] for each in blocks(turn) if each[0] == "end"][:2] == [
        (0, "text", "a b "), (1, "tool_call", {"x": 1}),
    ]  # fmt: skip


async def test_a_text_that_its_response_does_not_have_is_taken_back(bench):
    turn = seeing(bench, [f"no {LOOK}", response("yes")])

    assert await turn.run() == "yes"
    assert ("restart", "message") in heard(turn)
    assert ("end", 0, "text", "dropped") in blocks(turn)
    assert turn.tools["look"].inputs == []


async def test_a_block_that_a_provider_drops_starts_again(bench):
    dropped = StreamChunk(block_index=1, dropped=True)
    again = StreamChunk(f"two {LOOK}", block_index=1, finished=True)
    turn = seeing(bench, [StreamChunk(f"one {LOOK}", block_index=1), dropped, again], ["done"])

    assert await turn.run() == "done"
    assert [each for each in heard(turn) if each[0] == "restart"] == [("restart", "message")]
    assert turn.tools["look"].inputs == [{"x": 1}]
    first = next(each for each in await turn.history() if each["role"] == "assistant")
    assert [block.get("text") for block in first["content"]] == ["two ", None]


async def test_thinking_with_its_signature_and_unknown_blocks_stay_in_the_history(bench):
    thought = ThinkingBlock(thinking="hm", signature="s")
    whole = ChatResponse(content=[thought, TextBlock(text=f"a {LOOK}")])
    for answer in ([HM, f"a {LOOK}", whole], [whole]):
        turn = seeing(bench, answer, ["b"])
        await turn.run()
        first = next(each for each in await turn.history() if each["role"] == "assistant")
        assert [block["type"] for block in first["content"]] == ["thinking", "text", "tool_call"]
        assert first["content"][0]["signature"] == "s"


async def test_native_calls_run_beside_those_in_tags(bench, say):
    native = say.calls(("n1", "look", {"x": 2}), text=f"a {LOOK}")
    for answer in ([native], ["a ", LOOK, native]):
        turn = seeing(bench, answer, ["b"])
        assert await turn.run() == "b"
        assert sorted(turn.tools["look"].inputs, key=lambda each: each["x"]) == [{"x": 1}, {"x": 2}]
        assert [each[1] for each in heard(turn) if each[0] == "tool_call_start"] == [0, 1]


async def test_answers_that_a_provider_showed_itself_are_not_shown_again(bench, say):
    turn = seeing(bench, say.text("a", metadata={"content_blocks_emitted": True}), provider=Whole)
    await turn.run()
    assert blocks(turn) == []
    assert [each[0] for each in heard(turn)] == ["message_start", "message_content", "message_end"]
