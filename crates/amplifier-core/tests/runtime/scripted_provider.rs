//! The scripted provider: the expectations are those of `tests/modules/test_provider_scripted.py`.

use amplifier_core::runtime::{FunctionTool, ScriptedProvider};
use amplifier_core::traits::{Provider as _, Tool as _};
use amplifier_core::{
    ChatRequest, ChatResponse, Json, Message, Object, ProviderError, ProviderFailure, ToolCall,
    ToolResult, Usage, record,
};

fn request() -> ChatRequest {
    ChatRequest::new([Message::user("one two")])
}

#[tokio::test]
async fn each_request_gets_the_next_answer_and_then_an_error_that_says_so() {
    let failure = ProviderError::Timeout(ProviderFailure::new("slow").into());
    let model = ScriptedProvider::new()
        .answer("first")
        .answer(failure.clone());
    assert_eq!(model.remaining(), 2);
    assert_eq!(
        model.complete(request()).await.unwrap().plain_text(),
        "first"
    );
    assert_eq!(model.complete(request()).await, Err(failure));
    assert_eq!(model.remaining(), 0);
    assert_eq!(
        model.complete(request()).await.unwrap_err().to_string(),
        "the script of the model is over: request 3 came after its 2 answers; add one, or call \
         `repeat`"
    );
}

#[tokio::test]
async fn a_script_can_repeat() {
    let model = ScriptedProvider::new().answer("a").answer("b").repeat();
    let mut said = String::new();
    for _ in 0..5 {
        said += &model.complete(request()).await.unwrap().plain_text();
    }
    assert_eq!(said, "ababa");
    assert_eq!(model.remaining(), 1);
    assert_eq!(model.requests().len(), 5);
}

#[tokio::test]
async fn calls_get_ids_and_usage_counts_words() {
    let call = |id: &str| ToolCall::new(id, "add", [("a", "x y")]);
    let model = ScriptedProvider::new().answer([call(""), call("mine"), call("")]);
    let response = model.complete(request()).await.unwrap();
    let calls = response.tool_calls.clone().unwrap();
    let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "mine", "call_2"]);
    assert_eq!(
        response,
        ChatResponse::calls(calls)
            .with_usage(Usage::new(3, 15))
            .with_finish_reason("tool_use")
    );
}

#[tokio::test]
async fn a_whole_response_keeps_what_it_says() {
    let given = ChatResponse::text("a")
        .with_usage(Usage::new(7, 8))
        .with_finish_reason("stop");
    let model = ScriptedProvider::new().answer(given.clone());
    assert_eq!(model.complete(request()).await, Ok(given));
}

record! {
    /// What the tool of the test takes.
    pub struct Place {
        /// Required.
        pub city: String,
        /// Not required.
        pub days: i64 = 1,
    }
}

#[tokio::test]
async fn a_typed_tool_has_the_schema_of_its_arguments_and_refuses_others() {
    let tool = FunctionTool::typed(
        "weather",
        "The weather.",
        |Place { city, days }| async move { Ok(ToolResult::text(format!("{city}: {days}"))) },
    );
    let schema = Json::from(tool.input_schema());
    let expected = serde_json::json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["city"],
    });
    assert_eq!(
        Json::from(expected).to_string(),
        reordered(&schema).to_string()
    );

    let input = |value: Json| Object::from_iter([("city".to_owned(), value)]);
    assert_eq!(
        tool.execute(input("Rome".into())).await,
        Ok(ToolResult::text("Rome: 1"))
    );
    let error = tool.execute(input(5.into())).await.unwrap_err();
    assert_eq!(error.kind(), "invalid_input");
    assert_eq!(
        error.to_string(),
        "the arguments do not fit: `Place.city` must be a string, found `5`"
    );
}

/// The keys of a schema in the order in which the test writes them.
fn reordered(schema: &Json) -> Json {
    let keys = ["type", "properties", "required"];
    let known = keys
        .into_iter()
        .map(|key| (key, schema.get(key).unwrap().clone()));
    known.collect()
}
