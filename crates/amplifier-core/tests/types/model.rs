//! The core models come back as they went out.

use crate::strategies::{finite, json, object, one_of};
use amplifier_core::{
    ApprovalDefault, ContextInjection, ContextInjectionRole, FromJson, HookAction, HookResult,
    InlineImage, Json, SHARED_TYPES, Shape, ToolContent, ToolResult, UserMessageLevel,
};
use proptest::option;
use proptest::prelude::*;

const ROLES: &[ContextInjectionRole] = &[
    ContextInjectionRole::System,
    ContextInjectionRole::User,
    ContextInjectionRole::Assistant,
];
const ACTIONS: &[HookAction] = &[
    HookAction::Continue,
    HookAction::Deny,
    HookAction::Modify,
    HookAction::InjectContext,
    HookAction::AskUser,
];
const LEVELS: &[UserMessageLevel] = &[
    UserMessageLevel::Info,
    UserMessageLevel::Warning,
    UserMessageLevel::Error,
];

prop_compose! {
    fn injection()(
        texts in any::<(String, String, String)>(),
        role in one_of(ROLES),
        flags in any::<(bool, bool)>(),
    ) -> ContextInjection {
        ContextInjection {
            content: texts.0,
            role,
            ephemeral: flags.0,
            append_to_last_tool_result: flags.1,
            hook_name: texts.1,
            event: texts.2,
        }
    }
}

prop_compose! {
    fn hook_result()(
        action in one_of(ACTIONS),
        data in option::of(object()),
        texts in any::<[Option<String>; 5]>(),
        context_injection_role in one_of(ROLES),
        flags in any::<[bool; 3]>(),
        approval_options in any::<Option<Vec<String>>>(),
        approval_timeout in finite(),
        approval_default in one_of(&[ApprovalDefault::Allow, ApprovalDefault::Deny]),
        user_message_level in one_of(LEVELS),
        context_injections in prop::collection::vec(injection(), 0..3),
    ) -> HookResult {
        let [reason, context_injection, approval_prompt, user_message, user_message_source] = texts;
        let [ephemeral, suppress_output, append_to_last_tool_result] = flags;
        HookResult {
            action,
            data,
            reason,
            context_injection,
            context_injection_role,
            ephemeral,
            approval_prompt,
            approval_options,
            approval_timeout,
            approval_default,
            suppress_output,
            user_message,
            user_message_level,
            user_message_source,
            append_to_last_tool_result,
            context_injections,
        }
    }
}

fn image() -> ToolContent {
    let image = InlineImage::new("image/png".to_owned(), "aGVsbG8=".to_owned());
    ToolContent::Image(image.expect("an image"))
}

prop_compose! {
    fn tool_result()(
        success in any::<bool>(),
        output in json(),
        error in option::of(object()),
        content in prop::collection::vec(
            prop_oneof![any::<String>().prop_map(ToolContent::Text), Just(image())],
            0..3,
        ),
    ) -> ToolResult {
        ToolResult { success, output, error, content }
    }
}

proptest! {
    #[test]
    fn a_hook_result_is_read_back_as_it_was_written(result in hook_result()) {
        let text = serde_json::to_string(&result).expect("JSON");
        prop_assert_eq!(HookResult::parse(text.as_bytes()).expect("a result"), result);
    }

    #[test]
    fn a_tool_result_is_read_back_as_it_was_written(result in tool_result()) {
        let text = serde_json::to_string(&result).expect("JSON");
        prop_assert_eq!(ToolResult::parse(text.as_bytes()).expect("a result"), result);
    }
}

#[test]
fn nothing_read_is_the_default() {
    assert_eq!(HookResult::parse(b"{}"), Ok(HookResult::default()));
    assert_eq!(ToolResult::parse(b"{}"), Ok(ToolResult::default()));
}

#[test]
fn a_failure_without_output_has_its_error_message_as_output() {
    let failure = ToolResult::parse(br#"{"success":false,"error":{"message":"no such file"}}"#);
    assert_eq!(failure, Ok(ToolResult::failure("no such file")));
    let silent = ToolResult::parse(br#"{"success":false,"error":{"message":""}}"#);
    assert_eq!(silent.expect("a result").output, Json::Null);
}

#[test]
fn empty_content_is_left_out() {
    let result = ToolResult::parse(br#"{"output":"x","content":[]}"#).expect("a result");
    assert_eq!(
        serde_json::to_string(&result).expect("JSON"),
        r#"{"success":true,"output":"x","error":null}"#,
    );
}

#[test]
fn images_are_padded_base64_of_an_image_type() {
    let image = |media_type: &str, data: &str| {
        InlineImage::new(media_type.to_owned(), data.to_owned()).is_some()
    };
    for data in ["QQ==", "QUI=", "QUJD", "+/+/"] {
        assert!(image("image/svg+xml", data), "{data}");
    }
    for data in [
        "", "Q", "QQ", "QR==", "QUJ=", "QQ==QQ==", "Q Q=", "====", "QUJD\n", "QÜJD", "Q===",
    ] {
        assert!(!image("image/png", data), "{data}");
    }
    for media_type in [
        "image/",
        "Image/png",
        "image/png; x",
        "text/plain",
        "image/a b",
    ] {
        assert!(!image(media_type, "QQ=="), "{media_type}");
    }
}

#[test]
fn shared_types_have_unique_names_and_parts() {
    let mut names: Vec<_> = SHARED_TYPES.iter().map(|shared| shared.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SHARED_TYPES.len());
    for shared in SHARED_TYPES {
        let (Shape::Record(parts) | Shape::Words(parts) | Shape::Union(parts)) = shared.shape;
        let mut unique = parts.to_vec();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), parts.len(), "{}", shared.name);
    }
}
