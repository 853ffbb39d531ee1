//! Turns of the basic loop do what `tests/data/turn_programs.json` says.
//!
//! Python's `loop-basic` runs the same programs in `tests/modules/test_turn_programs.py`.

use std::collections::BTreeSet;
use std::sync::Arc;

use amplifier_core::error::{AmplifierError, ToolError};
use amplifier_core::runtime::{
    BasicLoop, Coordinator, FunctionTool, HookOptions, Module, ScriptItem, ScriptedProvider,
    SimpleContext,
};
use amplifier_core::traits::{Orchestrator as _, Turn};
use amplifier_core::{
    ChatResponse, FromJson as _, HookResult, Json, Message, Object, ProviderError, ProviderFailure,
    ToolCall, ToolResult,
};

use crate::fakes::{Seen, object};

const VARIABLE: [&str; 3] = ["timestamp", "parallel_group_id", "question_id"];

/// The programs, and the events that they trace.
fn document() -> (Vec<Json>, Vec<Json>) {
    let text = include_bytes!("../../../../tests/data/turn_programs.json");
    let document = Json::parse(text).unwrap();
    let list = |key| document.get(key).unwrap().as_array().unwrap().to_vec();
    (list("programs"), list("events"))
}

fn text<'a>(json: &'a Json, key: &str) -> &'a str {
    json.get(key).unwrap().as_str().unwrap()
}

fn call(json: &Json) -> ToolCall {
    let arguments = json.get("arguments").unwrap().as_object().unwrap();
    ToolCall::new("", text(json, "tool"), arguments.clone())
}

fn item(json: &Json) -> ScriptItem {
    if let Json::Str(text) = json {
        return text.as_str().into();
    }
    if json.get("error").is_some() {
        assert_eq!(text(json, "error"), "RateLimitError");
        let failure = ProviderFailure::new(text(json, "message"));
        return ProviderError::RateLimit(failure.into()).into();
    }
    let blocks = json.as_array().unwrap_or(std::slice::from_ref(json));
    let mut response = ChatResponse::new([]);
    for block in blocks {
        if block.get("tool").is_some() {
            response = response.with_tool_calls([call(block)]);
        } else {
            response.content.push(text(block, "text").into());
        }
    }
    response.into()
}

fn tools() -> Vec<FunctionTool> {
    let any = || object([("type", "object".into())]);
    let about = "Add two integers.";
    vec![
        FunctionTool::new("add", about, any(), |input| async move {
            let number = |key: &str| input[key].as_i64().unwrap();
            Ok(ToolResult::of(number("a") + number("b")))
        }),
        FunctionTool::new("fail", about, any(), |_| async {
            Err(ToolError::ExecutionFailed("broken".to_owned()))
        }),
        FunctionTool::new("wait", about, any(), |_| std::future::pending()),
    ]
}

/// A payload without what differs from run to run; of a response, how many blocks.
fn comparable(data: &Object) -> Object {
    let mut data = data.clone();
    data.retain(|key, _| !VARIABLE.contains(&key.as_str()));
    if let Some(response) = data.get_mut("response")
        && let Some(content) = response.get("content")
    {
        *response = Json::from(content.as_array().unwrap().len() as u64);
    }
    if let Some(Json::Object(usage)) = data.get_mut("usage") {
        usage.retain(|_, value| !value.is_null());
    }
    if let Some(Json::Object(message)) = data.get_mut("message") {
        message.retain(|_, value| !value.is_null());
    }
    data
}

/// Without what a message has only in its declared, empty fields, and without its metadata.
fn plain(message: &Message) -> Json {
    let mut json = serde_json::to_value(message).unwrap();
    let entries = json.as_object_mut().unwrap();
    entries.retain(|key, value| key != "metadata" && !value.is_null());
    for block in entries["content"].as_array_mut().into_iter().flatten() {
        block
            .as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
    }
    json.into()
}

/// Objects are compared without the order of their keys.
fn sorted(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(sorted).collect::<Vec<_>>().into(),
        Json::Object(entries) => {
            let keys: BTreeSet<_> = entries.keys().collect();
            keys.into_iter()
                .map(|key| (key.as_str(), sorted(&entries[key])))
                .collect()
        }
        other => other.clone(),
    }
}

/// Runs a program; returns what can be compared.
async fn run(program: &Json, events: &[Json]) -> Json {
    let coordinator = Coordinator::default();
    let trace = Seen::default();
    for event in events {
        let (trace, token) = (trace.clone(), coordinator.cancellation().clone());
        let at = |key| program.get(key) == Some(event);
        let (cancels, stops) = (at("cancel"), at("stop"));
        let observe = move |event: &str, data: &Object| {
            trace.push(Json::from(vec![event.into(), comparable(data).into()]));
            if cancels {
                token.request_graceful();
            } else if stops {
                token.request_immediate();
            }
            Ok(HookResult::proceed())
        };
        let first = HookOptions::default().priority(-1);
        coordinator
            .hooks()
            .register(event.as_str().unwrap(), observe, first);
    }
    for (event, answer) in program
        .get("answers")
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
    {
        let answer = HookResult::from_json(answer.clone()).unwrap();
        let answering = move |_: &str, data: &Object| {
            let mut answer = answer.clone();
            if let Some(changed) = answer.data.take() {
                let mut data = data.clone();
                data.extend(changed);
                answer.data = Some(data);
            }
            Ok(answer)
        };
        coordinator.hooks().register(event, answering, "answering");
    }
    let script = program.get("script").unwrap().as_array().unwrap().iter();
    let model = script.fold(ScriptedProvider::new(), |model, json| {
        model.answer(item(json))
    });
    coordinator
        .mount(Module::context(SimpleContext::new()), None)
        .unwrap();
    coordinator
        .mount(Module::provider(model.clone()), None)
        .unwrap();
    for tool in tools() {
        coordinator.mount(Module::tool(tool), None).unwrap();
    }
    let context = coordinator.context().unwrap();
    let turn = Turn {
        prompt: "2 + 3?",
        context: Arc::clone(&context),
        providers: coordinator.providers(),
        tools: coordinator.tools(),
        kernel: &coordinator,
    };
    let settings = match program.get("max_iterations").and_then(Json::as_i64) {
        Some(most) => BasicLoop::new().max_iterations(u32::try_from(most).unwrap()),
        None => BasicLoop::new(),
    };

    let mut outcome = match settings.execute(turn).await {
        Ok(answer) => object([("answer", answer.into())]),
        Err(AmplifierError::Provider(error)) => {
            let error = vec![error.contract_name().into(), error.to_string().into()];
            object([("error", error.into())])
        }
        Err(error) => panic!("{error}"),
    };
    let history = context.get_messages().await.unwrap();
    let requests = model.requests();
    let last = requests.last().map_or(&[][..], |request| &request.messages);
    let last = last.iter().map(|message| {
        let said = plain(message).get("content").unwrap().clone();
        Json::from(vec![message.role.as_str().into(), said])
    });
    outcome.extend(object([
        ("trace", trace.take().into()),
        (
            "history",
            history.iter().map(plain).collect::<Vec<_>>().into(),
        ),
        ("last_request", last.collect::<Vec<_>>().into()),
    ]));
    outcome.into()
}

#[tokio::test]
async fn a_turn_does_what_the_program_says() {
    let (programs, events) = document();
    assert!(!programs.is_empty());
    for program in programs {
        let keys = ["answer", "error", "trace", "history", "last_request"];
        let expected = keys
            .iter()
            .filter_map(|key| Some((*key, program.get(key)?.clone())));
        let expected: Json = expected.collect();
        let found = run(&program, &events).await;
        assert_eq!(
            sorted(&found),
            sorted(&expected),
            "{}",
            text(&program, "claim")
        );
    }
}
