//! The chunks of an answer become events: whatever begins, ends, and nothing of it is lost.

use std::sync::Arc;

use amplifier_core::{Json, Object};
use amplifier_stream::AgentEvent::{
    Error, MessageContent, MessageEnd, MessageStart, ThinkingContent, ThinkingEnd, ThinkingStart,
    ToolCallContent, ToolCallEnd, ToolCallStart,
};
use amplifier_stream::{
    AgentEvent, Block, BlockType, CallError, Change, ChunkCall, ChunkType, ParsedCall,
    ProcessedStream, StreamChunk, StreamEvent, StreamProcessor, StreamResult, ToolCall,
    ToolCallParser, chunk_of, last_chunk, process_stream,
};

fn chunk(kind: ChunkType, content: &str) -> StreamChunk {
    StreamChunk {
        kind,
        content: content.to_owned(),
        ..StreamChunk::default()
    }
}

fn message(content: &str) -> StreamChunk {
    chunk(ChunkType::Message, content)
}

fn thinking(content: &str) -> StreamChunk {
    chunk(ChunkType::Thinking, content)
}

fn native(index: u64, content: &str) -> StreamChunk {
    StreamChunk {
        call: Some(ChunkCall {
            index,
            id: Some(format!("id{index}")),
            name: Some("read".to_owned()),
            block: None,
        }),
        ..chunk(ChunkType::ToolCall, content)
    }
}

fn last() -> StreamChunk {
    StreamChunk {
        finished: true,
        ..StreamChunk::default()
    }
}

fn failed(error: &str) -> StreamChunk {
    StreamChunk {
        error: Some(error.to_owned()),
        ..StreamChunk::default()
    }
}

type Completion = [String; 4];

/// What an answer is told as, and what it amounts to.
fn process(
    chunks: impl IntoIterator<Item = StreamChunk>,
) -> (Vec<AgentEvent>, Completion, ProcessedStream) {
    let mut events = Vec::new();
    let mut completions: Vec<Completion> = Vec::new();
    let answer = process_stream(
        chunks,
        ToolCallParser::default(),
        |event| events.push(event),
        |content, thinking, calls, role| {
            completions.push([content, thinking, calls, role].map(str::to_owned));
        },
    );
    let [completion] = completions.try_into().unwrap();
    (events, completion, answer)
}

fn begins(index: u64) -> AgentEvent {
    let (id, name) = (None, None);
    ToolCallStart { index, id, name }
}

fn goes_on(index: u64, content: &str) -> AgentEvent {
    let (content, name) = (content.to_owned(), None);
    ToolCallContent {
        index,
        content,
        name,
    }
}

fn is_named(index: u64, name: &str) -> AgentEvent {
    let (content, name) = (String::new(), Some(name.to_owned()));
    ToolCallContent {
        index,
        content,
        name,
    }
}

fn call(index: u64, name: &str, raw: &str) -> ParsedCall {
    ParsedCall {
        index,
        name: name.to_owned(),
        server_name: "local".to_owned(),
        arguments: Some(Object::new()),
        raw: raw.to_owned(),
        ..ParsedCall::default()
    }
}

fn ends(call: &ParsedCall) -> AgentEvent {
    ToolCallEnd(Box::new(call.clone()))
}

fn text(content: &str) -> AgentEvent {
    MessageContent(content.to_owned())
}

#[test]
fn thinking_ends_before_the_message_and_each_call_has_one_start_and_one_end() {
    let (a, b) = (r#"{"tool_name":"a"}"#, r#"{"tool_name":"b"}"#);
    let (first, second) = (call(0, "a", a), call(1, "b", b));
    let (events, completion, answer) = process([
        thinking("why"),
        message(&format!("pre <tool>{a}</tool><to")),
        message(&format!("ol>{b}</tool> post")),
        last(),
    ]);
    let expected = [
        ThinkingStart,
        ThinkingContent("why".to_owned()),
        ThinkingEnd,
        MessageStart,
        text("pre "),
        begins(0),
        goes_on(0, r#"{"tool_name":"a""#),
        is_named(0, "a"),
        goes_on(0, "}"),
        ends(&first),
        begins(1),
        goes_on(1, r#"{"tool_name":"b""#),
        is_named(1, "b"),
        goes_on(1, "}"),
        ends(&second),
        text(" post"),
        MessageEnd,
    ];
    assert_eq!(events, expected);
    assert_eq!(
        completion,
        ["pre  post", "why", &format!("{a}\n{b}"), "assistant"]
    );
    let expected = ProcessedStream {
        assistant_content: "pre  post".to_owned(),
        thinking_content: "why".to_owned(),
        tool_call_content: format!("{a}\n{b}"),
        role: "assistant".to_owned(),
        calls: vec![first, second],
        ..ProcessedStream::default()
    };
    assert_eq!(answer, expected);
}

#[test]
fn without_a_parser_tags_are_text() {
    let mut processor = StreamProcessor::new(None);
    let events = processor.feed(&message("<tool>a</tool><"));
    assert_eq!(events, [MessageStart, text("<tool>a</tool><")]);
    assert_eq!(processor.feed(&last()), [MessageEnd]);
}

#[test]
fn the_first_role_and_the_last_usage_count() {
    let usage = |tokens| StreamChunk {
        role: Some(format!("role{tokens}")),
        usage: Some(Object::from_iter([(
            "output".to_owned(),
            Json::Int(tokens),
        )])),
        ..message("a")
    };
    let (_, completion, answer) = process([usage(1), usage(2), last()]);
    assert_eq!(completion[3], "role1");
    assert_eq!(answer.usage, usage(2).usage);
}

#[test]
fn what_follows_the_last_chunk_is_not_looked_at() {
    let mut taken = 0;
    let chunks = [message("a"), last(), message("b")]
        .into_iter()
        .inspect(|_| taken += 1);
    let (events, ..) = process(chunks);
    assert_eq!(events, [MessageStart, text("a"), MessageEnd]);
    assert_eq!(taken, 2);
}

#[test]
fn an_answer_without_a_last_chunk_is_truncated_and_runs_nothing() {
    let (events, completion, answer) = process([message(r#"<tool>{"name":"a"}</tool>x"#)]);
    assert_eq!(events.last(), Some(&MessageEnd));
    assert_eq!(completion, ["x", "", "", "assistant"]);
    assert!(answer.truncated && answer.calls[0].arguments.is_none());
    let reason = CallError::Refused("the answer ended before its last chunk".to_owned());
    assert_eq!(answer.calls[0].error, Some(reason));
}

#[test]
fn an_error_comes_last_after_everything_was_flushed_and_ended() {
    let (events, completion, answer) = process([
        message("a <too"),
        native(5, r#"{"x":"#),
        thinking("b"),
        StreamChunk {
            content: "c".to_owned(),
            ..failed("overloaded")
        },
        message("never"),
    ]);
    let refused = ParsedCall {
        index: 5,
        id: Some("id5".to_owned()),
        name: "read".to_owned(),
        server_name: "local".to_owned(),
        raw: r#"{"x":"#.to_owned(),
        is_native: true,
        error: answer.calls[0].error.clone(),
        ..ParsedCall::default()
    };
    assert_eq!(
        events[2..],
        [
            ToolCallStart {
                index: 5,
                id: Some("id5".to_owned()),
                name: Some("read".to_owned())
            },
            goes_on(5, r#"{"x":"#),
            ThinkingStart,
            ThinkingContent("b".to_owned()),
            ThinkingEnd,
            text("<tooc"),
            ends(&refused),
            MessageEnd,
            Error("overloaded".to_owned()),
        ]
    );
    assert_eq!(completion, ["a <tooc", "b", "", "assistant"]);
    assert_eq!(answer.error.as_deref(), Some("overloaded"));
    assert!(answer.truncated);
}

#[test]
fn an_unclosed_call_is_incomplete_even_in_a_whole_answer() {
    let (events, completion, answer) = process([message(r#"<tool>{"name":"a"}"#), last()]);
    assert_eq!(answer.calls[0].error, Some(CallError::Incomplete));
    assert_eq!(events.last(), Some(&ends(&answer.calls[0])));
    assert_eq!(completion[2], "");
}

#[test]
fn a_cancelled_answer_is_flushed_without_an_error() {
    let mut processor = StreamProcessor::new(ToolCallParser::default());
    assert_eq!(processor.feed(&message("a<")), [MessageStart, text("a")]);
    assert_eq!(processor.cancel(), [text("<"), MessageEnd]);
    assert_eq!(processor.cancel(), []);
    assert_eq!(processor.raise("late"), []);
    let answer = processor.into_result();
    assert!(answer.cancelled && answer.truncated && answer.error.is_none());
    assert_eq!(answer.assistant_content, "a<");
}

#[test]
fn native_calls_may_take_turns_and_are_written_as_calls() {
    let (events, completion, answer) = process([
        native(0, r#"{"p":"#),
        native(1, "[]"),
        native(0, "1}"),
        message("<tool>{\"name\":\"t\"}</tool>"),
        last(),
    ]);
    let order: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ToolCallStart { index, .. } => Some((*index, "start")),
            ToolCallEnd(call) => Some((call.index, "end")),
            _ => None,
        })
        .collect();
    let expected = [
        (0, "start"),
        (1, "start"),
        (2, "start"),
        (2, "end"),
        (0, "end"),
        (1, "end"),
    ];
    assert_eq!(order, expected);
    let numbers: Vec<u64> = answer.calls.iter().map(|call| call.index).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert_eq!(
        completion[2],
        "{\"server_name\":\"local\",\"tool_name\":\"read\",\"arguments\":{\"p\":1}}\n{\"name\":\"t\"}"
    );
    let error = answer.calls[1].error.as_ref().unwrap().to_string();
    assert_eq!(
        error,
        "invalid tool arguments: expected an object, found an array at byte 0"
    );
}

#[test]
fn no_two_calls_have_one_number() {
    let tagged = r#"<tool>{"name":"t"}</tool>"#;
    let (.., answer) = process([native(u64::MAX, ""), native(0, ""), message(tagged), last()]);
    let numbers: Vec<u64> = answer.calls.iter().map(|call| call.index).collect();
    assert_eq!(numbers, [u64::MAX, 0, 1]);
}

fn decoded(block_type: BlockType, block_index: u64, change: Change) -> StreamEvent {
    StreamEvent {
        block_type,
        block_index,
        change,
    }
}

#[test]
fn what_a_decoder_reports_is_told_as_chunks() {
    let whole = |id: &str, error: Option<&str>| ToolCall {
        id: Some(id.to_owned()),
        name: "read".to_owned(),
        arguments: error.is_none().then(Object::new),
        raw_arguments: "{}".to_owned(),
        error: error.map(str::to_owned),
        ..ToolCall::default()
    };
    let about = Json::parse(br#"{"id":"t","name":"read"}"#).unwrap();
    let about = about.as_object().unwrap().clone();
    let end = |call| Change::End(Arc::new(Block::ToolCall(call)));
    let delta = |text: &str| Change::Delta(text.to_owned());
    let events = [
        decoded(BlockType::Thinking, 0, Change::Start(Object::new())),
        decoded(BlockType::Thinking, 0, delta("b")),
        decoded(BlockType::Text, 1, delta("c")),
        decoded(BlockType::Other("news".into()), 2, delta("no")),
        decoded(BlockType::ToolCall, 3, Change::Start(about)),
        decoded(BlockType::ToolCall, 3, Change::PartialJson("{}".to_owned())),
        decoded(BlockType::ToolCall, 3, end(whole("t", None))),
        decoded(BlockType::ToolCall, 4, end(whole("u", Some("odd")))),
    ];
    let result = StreamResult::default();
    let chunks = events
        .iter()
        .filter_map(chunk_of)
        .chain([last_chunk(&result)]);
    let (events, completion, answer) = process(chunks);
    let native = |index, id: &str| ParsedCall {
        id: Some(id.to_owned()),
        is_native: true,
        ..call(index, "read", "{}")
    };
    let odd = ParsedCall {
        arguments: None,
        error: Some(CallError::Refused("odd".to_owned())),
        ..native(4, "u")
    };
    let start = |index, id: &str| ToolCallStart {
        index,
        id: Some(id.to_owned()),
        name: Some("read".to_owned()),
    };
    assert_eq!(
        events,
        [
            ThinkingStart,
            ThinkingContent("b".to_owned()),
            ThinkingEnd,
            MessageStart,
            text("c"),
            start(3, "t"),
            goes_on(3, "{}"),
            ends(&native(3, "t")),
            start(4, "u"),
            ends(&odd),
            MessageEnd,
        ]
    );
    assert_eq!(completion[0], "c");
    assert_eq!(answer.calls, [native(3, "t"), odd]);
}

#[test]
fn an_answer_that_its_decoder_calls_truncated_is_truncated() {
    let result = StreamResult {
        truncated: true,
        ..StreamResult::default()
    };
    let (_, _, answer) = process([message("a"), last_chunk(&result)]);
    assert!(answer.truncated);
}

#[cfg(feature = "futures")]
mod futures {
    use std::cell::RefCell;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use amplifier_stream::process_stream_async;
    use futures_core::Stream;

    use super::*;

    /// Gives its chunks, and is not ready before each.
    struct Slow(Vec<StreamChunk>, bool);

    impl Stream for Slow {
        type Item = StreamChunk;

        fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<StreamChunk>> {
            self.1 = !self.1;
            if self.1 {
                return Poll::Pending;
            }
            Poll::Ready((!self.0.is_empty()).then(|| self.0.remove(0)))
        }
    }

    #[test]
    fn a_stream_is_processed_as_it_comes_and_a_dropped_future_is_a_cancelled_answer() {
        for (polls, events) in [
            (9, vec![text("a"), text("<"), MessageEnd]),
            (2, vec![text("a"), text("<"), MessageEnd]),
        ] {
            let seen = RefCell::new(Vec::new());
            let completions = RefCell::new(Vec::new());
            {
                let stream = Slow(vec![message("a<"), last()], false);
                let mut future = pin!(process_stream_async(
                    stream,
                    ToolCallParser::default(),
                    |event| seen.borrow_mut().push(event),
                    |content, _, _, _| completions.borrow_mut().push(content.to_owned()),
                ));
                let mut context = Context::from_waker(Waker::noop());
                let done = (0..polls).find_map(|_| match future.as_mut().poll(&mut context) {
                    Poll::Ready(answer) => Some(answer),
                    Poll::Pending => None,
                });
                assert_eq!(done.is_some(), polls == 9);
                assert!(done.is_none_or(|answer| !answer.cancelled));
            }
            assert_eq!(seen.into_inner()[1..], events);
            assert_eq!(completions.into_inner(), ["a<"]);
        }
    }
}
