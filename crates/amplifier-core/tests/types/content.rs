//! Content blocks come back as they went out, whatever they hold.

use crate::strategies::{extra, json, object, one_of};
use amplifier_core::{
    ContentBlock, FromJson, ImageBlock, ReasoningBlock, RedactedThinkingBlock, TextBlock,
    ThinkingBlock, ToolCallBlock, ToolResultBlock, UnknownBlock, UnknownType, Visibility,
};
use proptest::option;
use proptest::prelude::*;

fn visibility() -> impl Strategy<Value = Option<Visibility>> {
    option::of(one_of(&[
        Visibility::Internal,
        Visibility::Developer,
        Visibility::User,
    ]))
}

fn items() -> impl Strategy<Value = Vec<amplifier_core::Json>> {
    prop::collection::vec(json(), 0..3)
}

fn block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        (any::<String>(), visibility(), extra(TextBlock::KEYS)).prop_map(
            |(text, visibility, extra)| ContentBlock::Text(TextBlock {
                text,
                visibility,
                extra
            })
        ),
        (
            any::<String>(),
            any::<Option<String>>(),
            visibility(),
            option::of(items()),
            extra(ThinkingBlock::KEYS)
        )
            .prop_map(|(thinking, signature, visibility, content, extra)| {
                let block = ThinkingBlock {
                    thinking,
                    signature,
                    visibility,
                    content,
                    extra,
                };
                ContentBlock::Thinking(block)
            }),
        (
            any::<String>(),
            visibility(),
            extra(RedactedThinkingBlock::KEYS)
        )
            .prop_map(|(data, visibility, extra)| {
                ContentBlock::RedactedThinking(RedactedThinkingBlock {
                    data,
                    visibility,
                    extra,
                })
            }),
        (
            any::<String>(),
            any::<String>(),
            object(),
            visibility(),
            extra(ToolCallBlock::KEYS)
        )
            .prop_map(|(id, name, input, visibility, extra)| {
                ContentBlock::ToolCall(ToolCallBlock {
                    id,
                    name,
                    input,
                    visibility,
                    extra,
                })
            }),
        (
            any::<String>(),
            json(),
            visibility(),
            extra(ToolResultBlock::KEYS)
        )
            .prop_map(|(tool_call_id, output, visibility, extra)| {
                let block = ToolResultBlock {
                    tool_call_id,
                    output,
                    visibility,
                    extra,
                };
                ContentBlock::ToolResult(block)
            }),
        (object(), visibility(), extra(ImageBlock::KEYS)).prop_map(
            |(source, visibility, extra)| {
                ContentBlock::Image(ImageBlock {
                    source,
                    visibility,
                    extra,
                })
            }
        ),
        (items(), items(), visibility(), extra(ReasoningBlock::KEYS)).prop_map(
            |(content, summary, visibility, extra)| {
                let block = ReasoningBlock {
                    content,
                    summary,
                    visibility,
                    extra,
                };
                ContentBlock::Reasoning(block)
            }
        ),
        (any::<String>(), extra(UnknownBlock::KEYS)).prop_filter_map(
            "a type of its own",
            |(block_type, extra)| {
                let block_type = UnknownType::new(&block_type)?;
                Some(ContentBlock::Unknown(UnknownBlock { block_type, extra }))
            }
        ),
    ]
}

proptest! {
    #[test]
    fn a_block_is_read_back_as_it_was_written(block in block()) {
        let text = serde_json::to_string(&block).expect("JSON");
        let read = ContentBlock::parse(text.as_bytes()).expect("a block");
        prop_assert_eq!(&read, &block);
        prop_assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
    }
}

#[test]
fn the_type_comes_first_and_unknown_keys_last_in_their_order() {
    let text = r#"{"z":1,"text":"x","a":{"c":1,"b":2},"type":"text"}"#;
    let block = ContentBlock::parse(text.as_bytes()).expect("a block");
    assert_eq!(
        serde_json::to_string(&block).expect("JSON"),
        r#"{"type":"text","text":"x","visibility":null,"z":1,"a":{"c":1,"b":2}}"#,
    );
}

#[test]
fn a_block_of_an_unknown_type_is_kept_whole() {
    let text = r#"{"type":"audio","data":[1,2.0,36893488147419103232],"visibility":"nobody"}"#;
    let block = ContentBlock::parse(text.as_bytes()).expect("a block");
    assert_eq!(block.block_type(), "audio");
    assert_eq!(serde_json::to_string(&block).expect("JSON"), text);
}

#[test]
fn a_known_block_without_its_fields_is_refused() {
    for (text, message) in [
        (r#"{"type":"text"}"#, "`TextBlock.text` is missing"),
        (
            r#"{"type":"tool_call","id":1}"#,
            "`ToolCallBlock.id` must be a string, found `1`",
        ),
        (r#"{"text":"x"}"#, "`UnknownBlock.type` is missing"),
        (
            r#""text""#,
            "`UnknownBlock` must be an object, found `\"text\"`",
        ),
    ] {
        let error = ContentBlock::parse(text.as_bytes()).expect_err(text);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn an_extra_key_cannot_shadow_a_field() {
    let mut block = ContentBlock::text("x");
    if let ContentBlock::Text(text) = &mut block {
        text.extra.insert("text".to_owned(), "y".into());
    }
    assert_eq!(
        serde_json::to_string(&block).expect("JSON"),
        r#"{"type":"text","text":"x","visibility":null}"#,
    );
}
