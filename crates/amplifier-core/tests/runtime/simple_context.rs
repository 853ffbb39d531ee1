//! The context in memory: what a request gets of a conversation.

use amplifier_core::runtime::{ScriptedProvider, SimpleContext};
use amplifier_core::traits::{BoxFuture, ContextManager, Provider};
use amplifier_core::{
    ChatRequest, ChatResponse, ContentBlock, Message, ModelInfo, ProviderError, ProviderInfo, Role,
};
use proptest::prelude::*;

use crate::fakes::object;

/// A turn: a prompt, perhaps a call with its result, an answer.
fn turn() -> impl Strategy<Value = Vec<Message>> {
    ("[a-z]{1,40}", any::<bool>(), "[a-z]{0,400}").prop_map(|(prompt, calls, result)| {
        let mut messages = vec![Message::user(prompt)];
        if calls {
            let call = ContentBlock::tool_call("c", "read", [("path", "a")]);
            messages.push(Message::assistant(vec![call]));
            messages.push(Message::tool("c", result));
        }
        messages.push(Message::assistant("done"));
        messages
    })
}

fn plain(messages: Vec<Message>) -> Vec<Message> {
    let messages = messages.into_iter();
    messages
        .map(|message| Message {
            metadata: None,
            ..message
        })
        .collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(future)
}

proptest! {
    #[test]
    fn a_request_ends_like_the_conversation_and_begins_with_a_turn(
        turns in prop::collection::vec(turn(), 1..12),
        budgets in prop::collection::vec(1_i64..600, 1..4),
    ) {
        let all = [vec![Message::system("rules")], turns.concat()].concat();
        let context = SimpleContext::new().with_messages(all.clone());
        let mut last_budget = 0;
        let mut last_length = 0;
        for budget in budgets {
            let view = plain(block_on(context.get_messages_for_request(Some(budget), None)).unwrap());
            prop_assert_eq!(&view[0], &all[0]);
            prop_assert_eq!(view[1].role, Role::User);
            prop_assert!(all.ends_with(&view[1..]));
            prop_assert!(view.ends_with(turns.last().unwrap()));
            // Not longer while the budget falls, so that a provider's cache holds.
            prop_assert!(budget > last_budget || view.len() <= last_length);
            (last_budget, last_length) = (budget, view.len());
        }
        prop_assert_eq!(plain(block_on(context.get_messages()).unwrap()), all);
    }

    #[test]
    fn what_fits_is_sent_whole(turns in prop::collection::vec(turn(), 0..12)) {
        let all = turns.concat();
        let context = SimpleContext::new().with_messages(all.clone());
        let view = block_on(context.get_messages_for_request(Some(100_000), None)).unwrap();
        prop_assert_eq!(plain(view), all);
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_cut_to_half_of_what_fits() {
    let turn = |number: usize| {
        [
            Message::user(format!("{number:0>36}")),
            Message::assistant(""),
        ]
    };
    let context = SimpleContext::new().with_messages((0..10).flat_map(turn));
    // Each turn has 13 + 4 tokens: four of them are less than half of 150.
    let view = context
        .get_messages_for_request(Some(150), None)
        .await
        .unwrap();
    assert_eq!(view.len(), 8);
    // It grows again until the budget is reached.
    for message in turn(10) {
        context.add_message(message).await.unwrap();
    }
    let view = context
        .get_messages_for_request(Some(150), None)
        .await
        .unwrap();
    assert_eq!(view.len(), 10);
    // A larger model gets everything.
    let view = context
        .get_messages_for_request(Some(1_000), None)
        .await
        .unwrap();
    assert_eq!(view.len(), 22);
}

#[tokio::test]
async fn a_result_is_put_behind_its_call_and_an_unexpected_one_at_the_end() {
    let context = SimpleContext::new();
    let call = |id| ContentBlock::tool_call(id, "read", [("path", "a")]);
    let messages = [
        Message::user("go"),
        Message::assistant(vec![call("1"), call("2")]),
        Message::system("a hook says something"),
        Message::tool("1", "one"),
        Message::tool("3", "nobody asked"),
        Message::tool("2", "two"),
    ];
    for message in messages {
        context.add_message(message).await.unwrap();
    }
    let texts: Vec<_> = context.get_messages().await.unwrap();
    let texts: Vec<_> = texts.iter().map(Message::plain_text).collect();
    let expected = [
        "go",
        "",
        "one",
        "a hook says something",
        "nobody asked",
        "two",
    ];
    assert_eq!(texts, expected);
}

/// A provider whose model has this window.
struct Small;

impl Provider for Small {
    fn name(&self) -> &'static str {
        "small"
    }

    fn get_info(&self) -> ProviderInfo {
        let sizes = object([
            ("context_window", 100.into()),
            ("max_output_tokens", 20.into()),
        ]);
        ProviderInfo::new("small", "Small").with_defaults(sizes)
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn complete(&self, _: ChatRequest) -> BoxFuture<'_, Result<ChatResponse, ProviderError>> {
        Box::pin(async { Ok(ChatResponse::text("")) })
    }
}

#[tokio::test]
async fn the_provider_says_how_much_fits() {
    let prompts = (0..4).map(|number| Message::user(format!("{number:0>64}")));
    let context = SimpleContext::new().with_messages(prompts);
    let silent = ScriptedProvider::new();
    let sent = |provider| context.get_messages_for_request(None, provider);
    assert_eq!(sent(Some(&Small)).await.unwrap().len(), 1);
    assert_eq!(sent(Some(&silent)).await.unwrap().len(), 4);
    assert_eq!(sent(None).await.unwrap().len(), 4);
}

#[tokio::test]
async fn messages_have_a_time_and_can_be_replaced() {
    let context = SimpleContext::new();
    let dated = Message::user("a").with_metadata(object([("timestamp", "then".into())]));
    context.add_message(Message::user("b")).await.unwrap();
    let time = context
        .get_messages()
        .await
        .unwrap()
        .remove(0)
        .metadata
        .unwrap();
    assert!(time["timestamp"].as_str().unwrap().ends_with("+00:00"));

    context.set_messages(vec![dated.clone()]).await.unwrap();
    assert_eq!(context.get_messages().await.unwrap(), [dated]);
    context.clear().await.unwrap();
    assert_eq!(context.get_messages().await.unwrap(), []);
}
