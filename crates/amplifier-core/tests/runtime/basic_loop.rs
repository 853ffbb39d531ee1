//! The basic loop: what the programs of `turns.rs` do not say.

use std::sync::Arc;
use std::time::Duration;

use amplifier_core::error::{AmplifierError, ApprovalError};
use amplifier_core::runtime::{
    BasicLoop, FunctionTool, HookOptions, ScriptedProvider, Session, SimpleContext,
};
use amplifier_core::traits::{ApprovalProvider, BoxFuture};
use amplifier_core::{
    ApprovalRequest, ApprovalResponse, ChatRequest, ChatResponse, ContentBlock, HookResult,
    Message, Object, ProviderError, Role, ToolCall, ToolResult, event,
};
use tokio::sync::Barrier;

use crate::fakes::{Seen, object};

fn call(tool: &str) -> ToolCall {
    ToolCall::new("", tool, Object::new())
}

/// The results that the last request has.
fn results(model: &ScriptedProvider) -> Vec<String> {
    let requests = model.requests();
    let last: &ChatRequest = requests.last().unwrap();
    let results = last
        .messages
        .iter()
        .filter(|message| message.role == Role::Tool);
    results.map(Message::plain_text).collect()
}

#[tokio::test]
async fn the_calls_of_one_response_run_at_the_same_time_and_keep_their_order() {
    let meeting = Arc::new(Barrier::new(2));
    let tool = |name: &'static str| {
        let meeting = Arc::clone(&meeting);
        FunctionTool::new(name, "Meets the other.", Object::new(), move |_| {
            let meeting = Arc::clone(&meeting);
            async move {
                meeting.wait().await;
                if name == "first" {
                    tokio::task::yield_now().await;
                }
                Ok(ToolResult::text(name))
            }
        })
    };
    let model = ScriptedProvider::new()
        .answer([call("first"), call("second")])
        .answer("Done.");
    let builder = Session::builder().provider(model.clone());
    let session = builder.tool(tool("first")).tool(tool("second"));
    let session = session.initialize().await.unwrap();

    assert_eq!(session.execute("go").await.as_deref(), Ok("Done."));
    assert_eq!(results(&model), ["first", "second"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_told_to_the_model() {
    let model = ScriptedProvider::new()
        .answer(call("wait"))
        .answer("Too slow.");
    let wait = FunctionTool::new("wait", "Never ends.", Object::new(), |_| {
        std::future::pending()
    });
    let session = Session::builder()
        .orchestrator(BasicLoop::new().tool_timeout(Duration::from_millis(1500)))
        .provider(model.clone())
        .tool(wait)
        .initialize()
        .await
        .unwrap();

    assert_eq!(session.execute("go").await.as_deref(), Ok("Too slow."));
    let told = "Error: tool `wait` was ended after 1.5 s, the time limit of tools; its effects are \
                unknown";
    assert_eq!(results(&model), [told]);
}

/// Approves, and keeps the requests.
#[derive(Clone, Default)]
struct Yes(Seen<ApprovalRequest>);

impl ApprovalProvider for Yes {
    fn request_approval(
        &self,
        request: ApprovalRequest,
    ) -> BoxFuture<'_, Result<ApprovalResponse, ApprovalError>> {
        self.0.push(request);
        Box::pin(async { Ok(ApprovalResponse::approve()) })
    }
}

#[tokio::test]
async fn a_person_is_asked_about_exactly_what_runs() {
    let ran = Seen::default();
    let asked = Seen::default();
    let note = {
        let ran = ran.clone();
        move |input: Object| {
            ran.push(input["n"].as_i64());
            async { Ok(ToolResult::text("ok")) }
        }
    };
    let raise = |_: &str, data: &Object| {
        let mut data = data.clone();
        let given = data["tool_input"].get("n").unwrap().as_i64().unwrap();
        let raised = object([("n", given.max(2).into())]);
        data.insert("tool_input".to_owned(), raised.into());
        Ok(HookResult::modify(data))
    };
    let ask = |_: &str, data: &Object| {
        let given = data["tool_input"].get("n").unwrap();
        Ok(HookResult::ask(format!("Use {given}?")))
    };
    let told = {
        let asked = asked.clone();
        move |_: &str, data: &Object| {
            asked.push(data["arguments"].get("n").unwrap().as_i64());
            Ok(HookResult::proceed())
        }
    };
    let person = Yes::default();
    let session = Session::builder()
        .provider(
            ScriptedProvider::new()
                .answer(ToolCall::new("", "note", [("n", 1)]))
                .answer("Done."),
        )
        .tool(FunctionTool::new("note", "Notes.", Object::new(), note))
        // The question comes first and does not know what the other hook makes of the arguments.
        .hook(event::TOOL_PRE, ask, "ask")
        .hook(
            event::TOOL_PRE,
            raise,
            HookOptions::named("raise").priority(1),
        )
        .hook(event::APPROVAL_REQUIRED, told, "told")
        .approval(person.clone())
        .initialize()
        .await
        .unwrap();

    session.execute("go").await.unwrap();

    let questions: Vec<_> = person.0.take().into_iter().map(|it| it.action).collect();
    assert_eq!(questions, ["Use 2?"]);
    assert_eq!(asked.take(), [Some(2)]);
    assert_eq!(ran.take(), [Some(2)]);
}

#[tokio::test]
async fn a_hook_that_never_leaves_the_arguments_alone_is_not_asked_about() {
    let more = |_: &str, data: &Object| {
        let mut data = data.clone();
        let given = data["tool_input"].get("n").unwrap().as_i64().unwrap();
        data.insert(
            "tool_input".to_owned(),
            object([("n", (given + 1).into())]).into(),
        );
        Ok(HookResult::modify(data))
    };
    let ask = |_: &str, _: &Object| Ok(HookResult::ask("Sure?"));
    let person = Yes::default();
    let model = ScriptedProvider::new()
        .answer(ToolCall::new("", "note", [("n", 1)]))
        .answer("Denied.");
    let session = Session::builder()
        .provider(model.clone())
        .hook(event::TOOL_PRE, ask, "ask")
        .hook(event::TOOL_PRE, more, "more")
        .approval(person.clone())
        .initialize()
        .await
        .unwrap();

    session.execute("go").await.unwrap();

    assert_eq!(person.0.take(), []);
    let reason = "hooks keep changing the arguments, so that nobody can be asked about them";
    assert_eq!(results(&model), [format!("Denied by hook: {reason}")]);
}

#[tokio::test]
async fn a_turn_without_a_provider_is_an_error_of_the_configuration() {
    let session = Session::builder().initialize().await.unwrap();
    let error = session.execute("go").await.unwrap_err();
    assert!(matches!(
        error,
        AmplifierError::Provider(ProviderError::Configuration(_))
    ));
    assert_eq!(error.to_string(), "no provider is mounted");
}

#[tokio::test]
async fn the_end_of_a_cancelled_turn_is_told_once_and_its_callbacks_run() {
    let told = Seen::default();
    let stop = |_: &str, _: &Object| Ok(HookResult::proceed());
    let note = {
        let told = told.clone();
        move |event: &str, _: &Object| {
            told.push(event.to_owned());
            Ok(HookResult::proceed())
        }
    };
    let session = Session::builder()
        .provider(ScriptedProvider::new().answer("Never."))
        .hook(event::PROMPT_SUBMIT, stop, "stop")
        .hook(event::CANCEL_REQUESTED, note.clone(), "note")
        .hook(event::CANCEL_COMPLETED, note, "note")
        .initialize()
        .await
        .unwrap();
    let callback = told.clone();
    session.coordinator().cancellation().on_cancel(move || {
        callback.push("callback".to_owned());
        async {}
    });
    session.coordinator().request_cancel(false);

    assert_eq!(session.execute("go").await.as_deref(), Ok(""));
    assert_eq!(
        told.take(),
        ["cancel:requested", "callback", "cancel:completed"]
    );
}

#[tokio::test]
async fn a_request_has_the_system_prompt_the_tools_and_the_effort() {
    let model = ScriptedProvider::new().answer("Hello.");
    let session = Session::builder()
        .orchestrator(
            BasicLoop::new()
                .reasoning_effort("low")
                .provider("scripted"),
        )
        .context(SimpleContext::new().with_system_prompt("Be brief."))
        .provider(model.clone())
        .tool(FunctionTool::new(
            "nothing",
            "Does nothing.",
            Object::new(),
            |_| async { Ok(ToolResult::default()) },
        ))
        .initialize()
        .await
        .unwrap();
    session.execute("Hi.").await.unwrap();

    let [request] = &model.requests()[..] else {
        panic!("one request");
    };
    let texts: Vec<_> = request.messages.iter().map(Message::plain_text).collect();
    assert_eq!(texts, ["Be brief.", "Hi."]);
    assert_eq!(request.reasoning_effort.as_deref(), Some("low"));
    let tool = &request.tools.as_ref().unwrap()[0];
    assert_eq!(tool.description.as_deref(), Some("Does nothing."));
    assert_eq!(tool.parameters["type"].as_str(), Some("object"));
}

#[tokio::test]
async fn calls_that_stand_in_the_content_alone_run() {
    let mut response = ChatResponse::new([
        ContentBlock::text("Let me see."),
        ContentBlock::tool_call("call_1", "look", Object::new()),
    ]);
    response.tool_calls = None;
    let model = ScriptedProvider::new().answer(response).answer("Seen.");
    let look = FunctionTool::new("look", "Looks.", Object::new(), |_| async {
        Ok(ToolResult::text("a lake"))
    });
    let session = Session::builder().provider(model.clone()).tool(look);
    let session = session.initialize().await.unwrap();

    assert_eq!(session.execute("go").await.as_deref(), Ok("Seen."));
    assert_eq!(results(&model), ["a lake"]);
}

#[tokio::test]
async fn an_answer_that_announces_a_call_and_has_neither_a_call_nor_text_is_an_error() {
    let empty = ChatResponse::new([]).with_finish_reason("tool_use");
    let plain = ChatResponse::text("It is 5.").with_finish_reason("tool_use");
    let model = ScriptedProvider::new().answer(empty).answer(plain);
    let session = Session::builder()
        .provider(model)
        .initialize()
        .await
        .unwrap();

    let error = session.execute("go").await.unwrap_err();
    let AmplifierError::Provider(ProviderError::InvalidToolCall(failure)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(
        failure.message,
        "provider `scripted` ended its answer with the finish reason `tool_use`, but the answer has \
         neither a call nor text (calls must be in `tool_calls` or as `ToolCallBlock`s in `content`)"
    );
    assert_eq!(session.execute("go").await.as_deref(), Ok("It is 5."));
}
