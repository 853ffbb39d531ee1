//! Whatever a message says, it says in the dialect, in the kernel and in JSON.

mod any_message;

use amplifier_core::{
    ContentBlock as KernelBlock, Degradation, FromJson, Json, Message, MessageContent, Object, Role,
};
use amplifier_guard::claude::ClaudeMessage;
use proptest::prelude::*;

use super::written;
use any_message::{kernel_message_json, message_json};

/// The same kernel message in the form that blocks alone have.
fn in_blocks(mut message: Message) -> Message {
    if let MessageContent::Text(text) = message.content {
        message.content = MessageContent::Blocks(vec![KernelBlock::text(text)]);
    }
    message
}

/// Whether the message as a whole answers a call.
fn is_answer(message: &Message) -> bool {
    let has_result = match &message.content {
        MessageContent::Text(_) => false,
        MessageContent::Blocks(blocks) => blocks
            .iter()
            .any(|block| matches!(block, KernelBlock::ToolResult(_))),
    };
    matches!(message.role, Role::Tool | Role::Function)
        && message.tool_call_id.is_some()
        && !has_result
}

/// The message with what its degradations say, each done to its JSON.
fn degraded(message: &Message, degradations: &[Degradation]) -> Message {
    let mut json = Json::parse(written(message).as_bytes()).expect("JSON");
    for degradation in degradations {
        let (place, _) = degradation.requested[1..]
            .split_once("`: ")
            .expect("a place");
        let words: Vec<&str> = degradation.actual.split('`').collect();
        let (holder, key) = entry(&mut json, place);
        match words.as_slice() {
            ["left out"] => assert_ne!(holder.shift_remove(key), None, "{place}"),
            ["its JSON as text"] => {
                let text = holder[key].to_string();
                holder[key] = text.into();
            }
            ["kept whole as a block of an unknown type"] => assert_eq!(key, ""),
            ["kept whole as a block of the unknown type ", block_type, ""] => {
                holder["type"] = (*block_type).into();
            }
            ["", role, ""] => holder[key] = (*role).into(),
            other => panic!("{other:?}"),
        }
    }
    Message::from_json(json).expect("a message")
}

/// The object in which a place is, and the key there; of a block itself the key is empty.
fn entry<'json, 'place>(
    json: &'json mut Json,
    place: &'place str,
) -> (&'json mut Object, &'place str) {
    let Json::Object(message) = json else {
        panic!("no message")
    };
    let Some(place) = place.strip_prefix("content[") else {
        return (message, place);
    };
    let (index, key) = place.split_once(']').expect("an index");
    let Json::Array(blocks) = &mut message["content"] else {
        panic!("no blocks")
    };
    let Json::Object(block) = &mut blocks[index.parse::<usize>().expect("an index")] else {
        panic!("no block")
    };
    (block, key.trim_start_matches('.'))
}

proptest! {
    #[test]
    fn a_message_is_read_back_as_it_was_written(json in message_json()) {
        let message = ClaudeMessage::from_json(json).expect("a message");
        let text = written(&message);
        let read = ClaudeMessage::parse(text.as_bytes()).expect("a message");
        prop_assert_eq!(&read, &message);
        prop_assert_eq!(written(&read), text);
    }

    #[test]
    fn a_message_comes_back_from_the_kernel_unchanged(json in message_json()) {
        let message = ClaudeMessage::from_json(json).expect("a message");
        let text = written(&message);
        let kernel = message.clone().into_kernel();
        let kernel = Message::parse(written(&kernel).as_bytes()).expect("a kernel's message");
        let (back, degradations) = ClaudeMessage::from_kernel(kernel);
        prop_assert_eq!(&back, &message);
        prop_assert_eq!(written(&back), text);
        let reasons = degradations.iter().map(|one| one.reason.as_str());
        prop_assert!(reasons.clone().all(|why| why == "the Claude dialect has no block of this type"),
            "{reasons:?}");
    }

    #[test]
    fn a_kernels_message_comes_back_as_its_degradations_say(json in kernel_message_json()) {
        let message = Message::from_json(json).expect("a kernel's message");
        prop_assume!(!is_answer(&message));
        let (dialect, degradations) = ClaudeMessage::from_kernel(message.clone());
        let expected = degraded(&in_blocks(message), &degradations);
        prop_assert_eq!(dialect.into_kernel(), expected, "{:?}", degradations);
    }
}
