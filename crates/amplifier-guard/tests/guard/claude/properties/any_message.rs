//! Messages of any kind, in the dialect and in the kernel, as JSON.

use amplifier_core::{Json, Object};
use amplifier_guard::claude::ContentBlock;
use proptest::prelude::*;

/// Any JSON value, not too deep.
fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(Json::Int),
        "-?[1-9][0-9]{19,60}".prop_map(|digits| Json::integer(&digits).expect("digits")),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(Json::Float),
        any::<String>().prop_map(Json::Str),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

/// Any key, often one that means something to the dialect or to the kernel.
fn key() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "visibility",
        "content",
        "thinking",
        "signature",
        "output",
        "tool_call_id",
        "tool_use_id",
        "is_error",
        "metadata",
        "name",
        "claude",
        "data",
        "extra",
        "input",
        "text",
    ];
    prop_oneof![
        prop::sample::select(KNOWN).prop_map(str::to_owned),
        any::<String>().prop_filter("a key of its own", |key| key != "type"),
    ]
}

fn object() -> impl Strategy<Value = Object> {
    prop::collection::vec((key(), json()), 0..4).prop_map(|entries| entries.into_iter().collect())
}

/// An object with these fields first, whatever else there is.
fn with(fields: Vec<(&'static str, BoxedStrategy<Json>)>) -> BoxedStrategy<Object> {
    let (keys, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    (values, object())
        .prop_map(move |(values, extra)| {
            let mut entries: Object = keys.iter().map(|&key| key.to_owned()).zip(values).collect();
            for (key, value) in extra {
                entries.entry(key).or_insert(value);
            }
            entries
        })
        .boxed()
}

fn word(word: &'static str) -> BoxedStrategy<Json> {
    Just(Json::from(word)).boxed()
}

fn text() -> BoxedStrategy<Json> {
    any::<String>().prop_map(Json::Str).boxed()
}

fn objects() -> BoxedStrategy<Json> {
    object().prop_map(Json::Object).boxed()
}

fn lists(items: impl Strategy<Value = Json> + 'static) -> BoxedStrategy<Json> {
    prop::collection::vec(items, 0..3)
        .prop_map(Json::Array)
        .boxed()
}

fn or_null(values: impl Strategy<Value = Json> + 'static) -> BoxedStrategy<Json> {
    prop_oneof![Just(Json::Null), values].boxed()
}

fn bools() -> impl Strategy<Value = Json> {
    any::<bool>().prop_map(Json::Bool)
}

/// Types of blocks that the dialect does not know, those of the kernel among them.
fn unknown_type() -> BoxedStrategy<Json> {
    prop_oneof![
        any::<String>(),
        prop::sample::select(vec![
            "audio",
            "tool_call",
            "redacted_thinking",
            "reasoning",
            "claude/text",
            "claude/audio",
            "claude/claude/text",
            "kernel/code",
            "claude/tool_call",
            "claude/",
        ])
        .prop_map(str::to_owned),
    ]
    .prop_filter("unknown", |name| {
        !ContentBlock::TYPES.contains(&name.as_str())
    })
    .prop_map(Json::Str)
    .boxed()
}

/// The JSON of a block of each variant of the dialect.
fn block_json() -> BoxedStrategy<Json> {
    let variants: Vec<BoxedStrategy<Object>> = vec![
        with(vec![("type", word("text")), ("text", text())]),
        with(vec![
            ("type", word("tool_use")),
            ("id", text()),
            ("name", text()),
            (
                "input",
                prop_oneof![3 => objects(), 1 => json().boxed()].boxed(),
            ),
        ]),
        with(vec![
            ("type", word("tool_result")),
            ("tool_use_id", text()),
            ("content", text()),
            ("is_error", or_null(bools())),
        ]),
        with(vec![
            ("type", word("thinking")),
            ("content", text()),
            ("signature", or_null(text())),
        ]),
        with(vec![("type", word("image")), ("source", objects())]),
        with(vec![
            ("type", word("code")),
            ("language", or_null(text())),
            ("text", text()),
        ]),
        with(vec![
            ("type", word("table")),
            ("columns", lists(text())),
            ("rows", lists(lists(json()))),
        ]),
        with(vec![
            ("type", word("chart")),
            ("kind", text()),
            ("data", json().boxed()),
        ]),
        with(vec![("type", unknown_type())]),
        with(vec![("type", word("redacted_thinking")), ("data", text())]),
        with(vec![
            ("type", word("reasoning")),
            ("content", lists(json())),
            ("summary", lists(json())),
        ]),
    ];
    proptest::strategy::Union::new(variants)
        .prop_map(Json::Object)
        .boxed()
}

pub(super) fn message_json() -> BoxedStrategy<Json> {
    let role = prop_oneof![
        prop::sample::select(vec![
            "user",
            "assistant",
            "system",
            "tool",
            "developer",
            "human"
        ])
        .prop_map(Json::from),
        text(),
    ];
    let thinking = prop_oneof![Just(Json::Null), text(), lists(block_json())];
    with(vec![
        ("role", role.boxed()),
        (
            "content",
            prop_oneof![1 => text(), 4 => lists(block_json())].boxed(),
        ),
        ("thinking", thinking.boxed()),
    ])
    .prop_map(Json::Object)
    .boxed()
}

/// The JSON of a block of each variant of the kernel.
fn kernel_block_json() -> BoxedStrategy<Json> {
    let visibility = || {
        let words = prop::sample::select(vec!["internal", "developer", "user"]);
        or_null(words.prop_map(Json::from))
    };
    let variants: Vec<BoxedStrategy<Object>> = vec![
        with(vec![
            ("type", word("text")),
            ("text", text()),
            ("visibility", visibility()),
        ]),
        with(vec![
            ("type", word("thinking")),
            ("thinking", text()),
            ("signature", or_null(text())),
            ("visibility", visibility()),
            ("content", or_null(lists(json()))),
        ]),
        with(vec![
            ("type", word("redacted_thinking")),
            ("data", text()),
            ("visibility", visibility()),
        ]),
        with(vec![
            ("type", word("tool_call")),
            ("id", text()),
            ("name", text()),
            ("input", objects()),
            ("visibility", visibility()),
        ]),
        with(vec![
            ("type", word("tool_result")),
            ("tool_call_id", text()),
            ("output", prop_oneof![text(), json().boxed()].boxed()),
            ("visibility", visibility()),
        ]),
        with(vec![
            ("type", word("image")),
            ("source", objects()),
            ("visibility", visibility()),
        ]),
        with(vec![
            ("type", word("reasoning")),
            ("content", lists(json())),
            ("summary", lists(json())),
            ("visibility", visibility()),
        ]),
        with(vec![
            (
                "type",
                prop_oneof![word("audio"), word("code"), word("table")].boxed(),
            ),
            ("language", or_null(text())),
        ]),
    ];
    proptest::strategy::Union::new(variants)
        .prop_map(Json::Object)
        .boxed()
}

pub(super) fn kernel_message_json() -> BoxedStrategy<Json> {
    let roles = vec![
        "system",
        "developer",
        "user",
        "assistant",
        "function",
        "tool",
    ];
    with(vec![
        (
            "role",
            prop::sample::select(roles).prop_map(Json::from).boxed(),
        ),
        (
            "content",
            prop_oneof![1 => text(), 4 => lists(kernel_block_json())].boxed(),
        ),
        ("name", or_null(text())),
        ("tool_call_id", or_null(text())),
        ("metadata", or_null(objects())),
    ])
    .prop_map(Json::Object)
    .boxed()
}
