//! Whatever a model, its tools and its hooks do, and wherever a turn ends: the history is valid.

use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use amplifier_core::error::ToolError;
use amplifier_core::runtime::{
    BasicLoop, FunctionTool, HookOptions, ScriptedProvider, Session, SessionBuilder,
};
use amplifier_core::{
    ChatResponse, ContentBlock, HookResult, Message, MessageContent, Object, ProviderError,
    ProviderFailure, Role, ToolCall, ToolResult, event,
};
use proptest::prelude::*;
use proptest::sample::select;

const TOOLS: [&str; 5] = ["add", "fail", "slow", "denied", "unknown"];

/// What a model says once: a text, calls, or nothing but an error.
#[derive(Clone, Debug)]
enum Say {
    Text(String),
    Calls(Option<String>, Vec<(String, &'static str)>),
    Error,
}

/// How a turn is ended early.
#[derive(Clone, Copy, Debug)]
enum End {
    No,
    /// After so many polls, its future is dropped.
    Dropped(usize),
    /// After so many polls, the session is cancelled.
    Cancelled(usize, bool),
}

fn say() -> impl Strategy<Value = Say> {
    // Few ids, so that they repeat; an empty one is replaced.
    let id = prop_oneof![Just(String::new()), "[ab]"];
    let calls = prop::collection::vec((id, select(&TOOLS[..])), 1..5);
    prop_oneof![
        2 => "[a-z]{0,3}".prop_map(Say::Text),
        6 => (prop::option::of("[a-z]{1,3}".prop_map(String::from)), calls)
            .prop_map(|(text, calls)| Say::Calls(text, calls)),
        1 => Just(Say::Error),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        Just(End::No),
        (0_usize..12).prop_map(End::Dropped),
        (0_usize..12, any::<bool>()).prop_map(|(polls, now)| End::Cancelled(polls, now)),
    ]
}

fn script(says: &[Say]) -> ScriptedProvider {
    says.iter()
        .fold(ScriptedProvider::new(), |model, say| match say {
            Say::Text(text) => model.answer(text.as_str()),
            Say::Calls(text, calls) => {
                let calls = calls
                    .iter()
                    .map(|(id, tool)| ToolCall::new(id, *tool, [("a", 1)]));
                let text = text.iter().map(ContentBlock::text).collect::<Vec<_>>();
                model.answer(ChatResponse::new(text).with_tool_calls(calls))
            }
            Say::Error => model.answer(ProviderError::Network(ProviderFailure::new("gone").into())),
        })
}

async fn session(says: &[Say], most: u32) -> (Session, ScriptedProvider) {
    let model = script(says).answer_with(|_| "The end.");
    let gate = |event: &str, call: &Object| {
        let is_denied = event == event::TOOL_PRE && call["tool_name"].as_str() == Some("denied");
        Ok(if is_denied {
            HookResult::deny("no")
        } else {
            HookResult::inject("seen")
        })
    };
    let tool = |name: &str| {
        let name = name.to_owned();
        FunctionTool::new(name.clone(), "a tool", Object::new(), move |_| {
            let name = name.clone();
            async move {
                match name.as_str() {
                    "fail" => Err(ToolError::ExecutionFailed("broken".to_owned())),
                    "slow" => {
                        for _ in 0..3 {
                            tokio::task::yield_now().await;
                        }
                        Ok(ToolResult::text("slow"))
                    }
                    _ => Ok(ToolResult::of(1)),
                }
            }
        })
    };
    let builder = Session::builder()
        .orchestrator(BasicLoop::new().max_iterations(most))
        .provider(model.clone())
        .hook(event::TOOL_PRE, gate, "gate")
        .hook(event::TOOL_POST, gate, HookOptions::default());
    let tools = ["add", "fail", "slow", "denied"].map(tool);
    let builder = tools.into_iter().fold(builder, SessionBuilder::tool);
    (builder.initialize().await.unwrap(), model)
}

/// Runs a turn; what it answers does not matter here.
async fn run_turn(session: &Session, end: End) {
    let mut turn = pin!(session.execute("go"));
    let mut polls = 0;
    poll_fn(|context| {
        match end {
            End::Dropped(most) if polls == most => return Poll::Ready(()),
            End::Cancelled(most, now) if polls == most => session.coordinator().request_cancel(now),
            End::No | End::Dropped(_) | End::Cancelled(..) => {}
        }
        polls += 1;
        turn.as_mut().poll(context).map(drop)
    })
    .await;
    session.coordinator().cancellation().reset();
}

/// The ids of the calls of a message.
fn calls_of(message: &Message) -> Vec<&str> {
    match &message.content {
        MessageContent::Blocks(blocks) if message.role == Role::Assistant => blocks
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolCall(block) => Some(block.id.as_str()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Behind each message with calls are their results, in order, and there are no others.
fn assert_valid(messages: &[Message]) {
    let mut expected: Vec<&str> = Vec::new();
    for message in messages {
        if message.role == Role::Tool {
            let id = message.tool_call_id.as_deref().unwrap();
            assert!(
                !expected.is_empty(),
                "a result of `{id}` without a call: {messages:#?}"
            );
            assert_eq!(expected.remove(0), id, "{messages:#?}");
        } else {
            assert!(
                expected.is_empty(),
                "no result of {expected:?}: {messages:#?}"
            );
            expected = calls_of(message);
        }
    }
    assert!(
        expected.is_empty(),
        "no result of {expected:?}: {messages:#?}"
    );
}

proptest! {
    #[test]
    fn each_call_has_one_result_in_order_in_every_request(
        says in prop::collection::vec(say(), 0..8),
        ends in prop::collection::vec(end(), 1..4),
        most in 0_u32..5,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (session, model) = session(&says, most).await;
            let context = session.coordinator().context().unwrap();
            for end in ends {
                run_turn(&session, end).await;
                if !matches!(end, End::Dropped(_)) {
                    assert_valid(&context.get_messages().await.unwrap());
                }
                assert!(session.coordinator().cancellation().running_tools().is_empty());
            }
            run_turn(&session, End::No).await;
            assert_valid(&context.get_messages().await.unwrap());
            for request in model.requests() {
                assert_valid(&request.messages);
                let tools = request.tools.unwrap();
                let names: HashSet<_> = tools.iter().map(|tool| &tool.name).collect();
                assert_eq!(names.len(), 4);
            }
        });
    }
}
