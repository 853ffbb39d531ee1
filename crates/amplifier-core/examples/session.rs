//! A whole session without Python: a loop, a context, a scripted provider, a tool and two hooks.

use std::io::Write as _;
use std::sync::{Arc, Mutex};

use amplifier_core::error::{AmplifierError, ContextError, HookError, ToolError};
use amplifier_core::event;
use amplifier_core::runtime::{HookOptions, Module, Session};
use amplifier_core::traits::{
    BoxFuture, ContextManager, HookHandler, Orchestrator, Provider, RunningTool, Tool, Turn,
};
use amplifier_core::{
    ChatRequest, ChatResponse, ContentBlock, FromJson, HookAction, HookResult, Json, Message,
    MessageContent, ModelInfo, Object, ProviderError, ProviderFailure, ProviderInfo, Role,
    SessionConfig, ToolResult,
};

/// A provider with scripted answers, in this order.
struct Script(Mutex<Vec<ChatResponse>>);

impl Provider for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn get_info(&self) -> ProviderInfo {
        let info = br#"{"id": "script", "display_name": "Script"}"#;
        ProviderInfo::parse(info).expect("the information is whole")
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn complete(&self, _: ChatRequest) -> BoxFuture<'_, Result<ChatResponse, ProviderError>> {
        Box::pin(async {
            let next = self.0.lock().expect("no holder panics").pop();
            let over = || ProviderFailure::new("the script is over").provider("script");
            next.ok_or_else(|| ProviderError::Unavailable(over().into()))
        })
    }
}

/// The one tool: it adds numbers.
struct Add;

impl Tool for Add {
    fn name(&self) -> &'static str {
        "add"
    }

    fn description(&self) -> &'static str {
        "Add two integers."
    }

    fn execute(&self, input: Object) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let number = |key: &str| {
                let value = input.get(key).and_then(Json::as_i64);
                value.ok_or_else(|| ToolError::InvalidInput(format!("`{key}` must be an integer")))
            };
            Ok(ToolResult::of(Json::from(number("a")? + number("b")?)))
        })
    }
}

/// A context that keeps everything.
#[derive(Default)]
struct Memory(Mutex<Vec<Message>>);

impl ContextManager for Memory {
    fn add_message(&self, message: Message) -> BoxFuture<'_, Result<(), ContextError>> {
        self.0.lock().expect("no holder panics").push(message);
        Box::pin(async { Ok(()) })
    }

    fn get_messages_for_request<'a>(
        &'a self,
        _: Option<i64>,
        _: Option<&'a dyn Provider>,
    ) -> BoxFuture<'a, Result<Vec<Message>, ContextError>> {
        self.get_messages()
    }

    fn get_messages(&self) -> BoxFuture<'_, Result<Vec<Message>, ContextError>> {
        let messages = self.0.lock().expect("no holder panics").clone();
        Box::pin(async { Ok(messages) })
    }

    fn set_messages(&self, messages: Vec<Message>) -> BoxFuture<'_, Result<(), ContextError>> {
        *self.0.lock().expect("no holder panics") = messages;
        Box::pin(async { Ok(()) })
    }

    fn clear(&self) -> BoxFuture<'_, Result<(), ContextError>> {
        self.set_messages(Vec::new())
    }
}

/// Model call, tool calls, model call, until an answer without calls.
struct Loop;

impl Orchestrator for Loop {
    fn execute<'a>(&'a self, turn: Turn<'a>) -> BoxFuture<'a, Result<String, AmplifierError>> {
        Box::pin(async move {
            let provider = &turn.providers["script"];
            let specs = turn.tools.values().map(|tool| tool.get_spec()).collect();
            let mut request = ChatRequest::parse(br#"{"messages": []}"#).expect("it is whole");
            request.tools = Some(specs);
            let prompt = message(Role::User, turn.prompt, None);
            turn.context.add_message(prompt).await?;
            loop {
                let context = &turn.context;
                request.messages = context.get_messages_for_request(None, None).await?;
                let response = provider.complete(request.clone()).await?;
                let calls = provider.parse_tool_calls(&response);
                if calls.is_empty() {
                    return Ok(text_of(&response));
                }
                for call in calls {
                    let mut data = Object::from_iter([
                        ("tool_name".to_owned(), call.name.as_str().into()),
                        ("tool_input".to_owned(), call.arguments.clone().into()),
                    ]);
                    let before = turn.kernel.emit(event::TOOL_PRE, data.clone()).await;
                    let before = turn
                        .kernel
                        .process_hook_result(before, event::TOOL_PRE, "loop");
                    let before = before.await?;
                    let result = match turn.tools.get(&call.name) {
                        _ if before.action == HookAction::Deny => {
                            ToolResult::failure(before.reason.unwrap_or_default())
                        }
                        None => ToolError::NotFound(format!("no tool `{}`", call.name)).into(),
                        Some(tool) => {
                            let _running = RunningTool::start(turn.kernel, &call.id, &call.name);
                            let result = tool.execute(call.arguments).await;
                            result.unwrap_or_else(ToolResult::from)
                        }
                    };
                    let output = result.output.to_string();
                    data.insert("output".to_owned(), result.output);
                    turn.kernel.emit(event::TOOL_POST, data).await;
                    let answer = message(Role::Tool, &output, Some(call.id));
                    turn.context.add_message(answer).await?;
                }
            }
        })
    }
}

fn text_of(response: &ChatResponse) -> String {
    let texts = response.content.iter().filter_map(|block| match block {
        ContentBlock::Text(block) => Some(block.text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn message(role: Role, text: &str, tool_call_id: Option<String>) -> Message {
    Message {
        role,
        content: MessageContent::Text(text.to_owned()),
        name: None,
        tool_call_id,
        metadata: None,
        extra: Object::new(),
    }
}

/// A hook that writes down what it hears.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<String>>>);

impl HookHandler for Journal {
    fn handle<'a>(
        &'a self,
        event: &'a str,
        data: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>> {
        Box::pin(async move {
            let text = |key: &str| data.get(key).map(|value| format!(" {value}"));
            let detail = text("output").or(text("tool_input")).unwrap_or_default();
            self.0
                .lock()
                .expect("no holder panics")
                .push(format!("{event}{detail}"));
            Ok(HookResult::default())
        })
    }
}

/// A hook that lets no shell run.
fn no_shell(_: &str, data: &Object) -> Result<HookResult, HookError> {
    let tool = data.get("tool_name").and_then(Json::as_str);
    let tool = tool.ok_or_else(|| HookError::HandlerFailed("`tool_name` is missing".to_owned()))?;
    if tool != "shell" {
        return Ok(HookResult::default());
    }
    Ok(HookResult {
        action: HookAction::Deny,
        reason: Some("no shell here".to_owned()),
        ..HookResult::default()
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asks = br#"{"content": [], "tool_calls": [
        {"id": "1", "name": "add", "arguments": {"a": 2, "b": 3}},
        {"id": "2", "name": "shell", "arguments": {"command": "rm"}}]}"#;
    let answers = br#"{"content": [{"type": "text", "text": "It is 5."}]}"#;
    let script = vec![ChatResponse::parse(answers)?, ChatResponse::parse(asks)?];

    let session = Session::new(SessionConfig::new("loop", "memory"));
    let coordinator = session.coordinator();
    coordinator.mount(Module::orchestrator(Loop), None)?;
    coordinator.mount(Module::context(Memory::default()), None)?;
    coordinator.mount(Module::provider(Script(Mutex::new(script))), None)?;
    coordinator.mount(Module::tool(Add), None)?;

    let journal = Journal::default();
    let hooks = coordinator.hooks();
    hooks.register(event::TOOL_PRE, no_shell, HookOptions::named("no-shell"));
    for heard in [
        event::SESSION_START,
        event::TOOL_PRE,
        event::TOOL_POST,
        event::SESSION_END,
    ] {
        hooks.register(
            heard,
            journal.clone(),
            HookOptions::named("journal").priority(-1),
        );
    }

    session.initialize().await?;
    let answer = session.execute("How much is 2 and 3?").await?;
    session.cleanup().await;

    assert_eq!(answer, "It is 5.");
    let lines = journal.0.lock().expect("no holder panics");
    assert_eq!(
        *lines,
        [
            "session:start",
            r#"tool:pre {"a":2,"b":3}"#,
            "tool:post 5",
            r#"tool:pre {"command":"rm"}"#,
            r#"tool:post "no shell here""#,
            "session:end",
        ]
    );
    for line in lines.iter() {
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
}
