//! Requests and responses come back as they went out.

use crate::strategies::{extra, finite, object, one_of};
use amplifier_core::{
    ChatRequest, ChatResponse, ContentBlock, Cost, Degradation, FromJson, Json, Message,
    MessageContent, ResponseFormat, ResponseFormatJson, ResponseFormatJsonSchema,
    ResponseFormatText, Role, ToolCall, ToolChoice, ToolSpec, Usage,
};
use proptest::option;
use proptest::prelude::*;

const ROLES: &[Role] = &[
    Role::System,
    Role::Developer,
    Role::User,
    Role::Assistant,
    Role::Function,
    Role::Tool,
];

fn content() -> impl Strategy<Value = Vec<ContentBlock>> {
    prop::collection::vec(any::<String>().prop_map(ContentBlock::text), 0..3)
}

prop_compose! {
    fn message()(
        role in one_of(ROLES),
        content in prop_oneof![
            any::<String>().prop_map(MessageContent::Text),
            content().prop_map(MessageContent::Blocks),
        ],
        name in any::<Option<String>>(),
        tool_call_id in any::<Option<String>>(),
        metadata in option::of(object()),
        extra in extra(Message::KEYS),
    ) -> Message {
        Message { role, content, name, tool_call_id, metadata, extra }
    }
}

prop_compose! {
    fn tool_spec()(
        name in any::<String>(),
        parameters in object(),
        description in any::<Option<String>>(),
        extra in extra(ToolSpec::KEYS),
    ) -> ToolSpec {
        ToolSpec { name, parameters, description, extra }
    }
}

fn response_format() -> impl Strategy<Value = ResponseFormat> {
    prop_oneof![
        Just(ResponseFormat::Text(ResponseFormatText {})),
        Just(ResponseFormat::Json(ResponseFormatJson {})),
        (object(), any::<Option<bool>>()).prop_map(|(json_schema, strict)| {
            ResponseFormat::JsonSchema(ResponseFormatJsonSchema {
                json_schema,
                strict,
            })
        }),
    ]
}

prop_compose! {
    fn sampling()(
        temperature in option::of(finite()),
        top_p in option::of(finite()),
        max_output_tokens in any::<Option<i64>>(),
        stop in any::<Option<Vec<String>>>(),
        reasoning_effort in any::<Option<String>>(),
        timeout in option::of(finite()),
        tool_choice in option::of(prop_oneof![
            any::<String>().prop_map(ToolChoice::Word),
            object().prop_map(ToolChoice::Detail),
        ]),
    ) -> ChatRequest {
        ChatRequest {
            temperature,
            top_p,
            max_output_tokens,
            stop,
            reasoning_effort,
            timeout,
            tool_choice,
            ..ChatRequest::from_json(
                [("messages", Json::Array(Vec::new()))].into_iter().collect(),
            ).expect("an empty request")
        }
    }
}

prop_compose! {
    fn request()(
        sampling in sampling(),
        messages in prop::collection::vec(message(), 0..3),
        tools in option::of(prop::collection::vec(tool_spec(), 0..2)),
        response_format in option::of(response_format()),
        stream in any::<Option<bool>>(),
        conversation_id in any::<Option<String>>(),
        model in any::<Option<String>>(),
        metadata in option::of(object()),
        extra in extra(ChatRequest::KEYS),
    ) -> ChatRequest {
        ChatRequest {
            messages,
            tools,
            response_format,
            stream,
            conversation_id,
            model,
            metadata,
            extra,
            ..sampling
        }
    }
}

prop_compose! {
    fn usage()(
        tokens in any::<(i64, i64, i64)>(),
        details in any::<(Option<i64>, Option<i64>, Option<i64>)>(),
        cost_usd in option::of("-?[0-9]{1,30}(\\.[0-9]{1,9})?(E[+-][0-9]{1,4})?"),
        extra in extra(Usage::KEYS),
    ) -> Usage {
        Usage {
            input_tokens: tokens.0,
            output_tokens: tokens.1,
            total_tokens: tokens.2,
            reasoning_tokens: details.0,
            cache_read_tokens: details.1,
            cache_write_tokens: details.2,
            cost_usd: cost_usd.map(|text| Cost::from_text(&text).expect("a decimal")),
            extra,
        }
    }
}

prop_compose! {
    fn tool_call()(
        id in any::<String>(),
        name in any::<String>(),
        arguments in object(),
        extra in extra(ToolCall::KEYS),
    ) -> ToolCall {
        ToolCall { id, name, arguments, extra }
    }
}

prop_compose! {
    fn degradation()(
        texts in any::<(String, String, String)>(),
        extra in extra(Degradation::KEYS),
    ) -> Degradation {
        Degradation { requested: texts.0, actual: texts.1, reason: texts.2, extra }
    }
}

prop_compose! {
    fn response()(
        content in content(),
        tool_calls in option::of(prop::collection::vec(tool_call(), 0..2)),
        usage in option::of(usage()),
        degradation in option::of(degradation()),
        finish_reason in any::<Option<String>>(),
        metadata in option::of(object()),
        extra in extra(ChatResponse::KEYS),
    ) -> ChatResponse {
        ChatResponse { content, tool_calls, usage, degradation, finish_reason, metadata, extra }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_request_is_read_back_as_it_was_written(request in request()) {
        let text = serde_json::to_string(&request).expect("JSON");
        let read = ChatRequest::parse(text.as_bytes()).expect("a request");
        prop_assert_eq!(&read, &request);
        prop_assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
    }

    #[test]
    fn a_response_is_read_back_as_it_was_written(response in response()) {
        let text = serde_json::to_string(&response).expect("JSON");
        let read = ChatResponse::parse(text.as_bytes()).expect("a response");
        prop_assert_eq!(&read, &response);
        prop_assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
    }
}

#[test]
fn an_error_names_the_place_from_the_outermost_type() {
    let text = r#"{"messages":[{"role":"user","content":"x"},{"role":"user","content":[{"type":"text","text":7}]}]}"#;
    let error = ChatRequest::parse(text.as_bytes()).expect_err("a wrong type");
    assert_eq!(
        error.to_string(),
        "`ChatRequest.messages[1].content[0].text` must be a string, found `7`",
    );
}

#[test]
fn a_request_streams_only_if_it_says_so() {
    let request = ChatRequest::parse(br#"{"messages":[]}"#).expect("a request");
    assert_eq!(request.stream, Some(false));
    let request = ChatRequest::parse(br#"{"messages":[],"stream":null}"#).expect("a request");
    assert_eq!(request.stream, None);
}

#[test]
fn serde_reads_the_shared_types_too() {
    let call: ToolCall =
        serde_json::from_str(r#"{"id":"1","name":"ls","arguments":{},"x":[1]}"#).expect("a call");
    assert_eq!(call.extra.get("x"), Some(&Json::Array(vec![Json::Int(1)])));
    let error = serde_json::from_str::<ToolCall>(r#"{"id":"1"}"#).expect_err("no name");
    assert_eq!(error.to_string(), "`ToolCall.name` is missing");
}
