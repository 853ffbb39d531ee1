//! Tokens, counted as each vendor means them.

use amplifier_stream::Usage;
use serde_json::{Value, json};

use crate::wire::{chunk, delta, result};

#[test]
fn the_last_usage_that_is_not_null_counts_and_none_is_summed() {
    let with = |usage: Value| {
        let mut chunk = delta(json!({"content": "a"}));
        chunk["usage"] = usage;
        chunk
    };
    let result = result(&[
        with(json!({"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4})),
        with(json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5})),
        with(Value::Null),
        with(json!({})),
    ]);
    assert_eq!(result.usage.input_tokens, Some(3));
    assert_eq!(result.usage.output_tokens, Some(2));
    let raw = result.raw_usage.unwrap();
    assert_eq!(raw["total_tokens"].as_i64(), Some(5));
}

#[test]
fn usage_is_found_where_vendors_put_it() {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2});
    let of_groq = json!({"choices": [], "x_groq": {"id": "req_1", "usage": usage}});
    let of_choice = chunk(json!({"index": 0, "delta": {}, "usage": usage}));
    for chunk in [of_groq, of_choice] {
        let result = result(&[chunk]);
        let counts = (result.usage.input_tokens, result.usage.output_tokens);
        assert_eq!(counts, (Some(3), Some(2)));
    }
}

#[test]
fn usage_is_counted_apart_as_each_vendor_means_it() {
    for (raw, expected) in [
        // Reasoning beside the completion: the total shows it.
        (
            json!({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": 6}}),
            [Some(10), None, None, Some(4), Some(6)],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 6, "total_tokens": 16,
                "completion_tokens_details": {"reasoning_tokens": 6},
                "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 5}}),
            [Some(2), Some(3), Some(5), Some(0), Some(6)],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 6, "prompt_cache_hit_tokens": 8}),
            [Some(2), Some(8), None, Some(6), None],
        ),
        (
            json!({"prompt_tokens": 1, "cached_tokens": 8, "completion_tokens": "many"}),
            [Some(0), Some(1), None, None, None],
        ),
        // Parts of more than the whole: as the service counts, no prompt is above its own.
        (
            json!({"prompt_tokens": 10, "completion_tokens": 6, "total_tokens": 16,
                "prompt_tokens_details": {"cached_tokens": 161}}),
            [Some(0), Some(10), None, Some(6), None],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 6, "total_tokens": 16,
                "completion_tokens_details": {"reasoning_tokens": 9}}),
            [Some(10), None, None, Some(0), Some(6)],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 60, "total_tokens": 16}),
            [Some(10), None, None, Some(6), None],
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 6, "total_tokens": 0}),
            [Some(10), None, None, Some(6), None],
        ),
    ] {
        let found = result(&[json!({"choices": [], "usage": raw})]).usage;
        let [
            input_tokens,
            cache_read_tokens,
            cache_write_tokens,
            output_tokens,
            reasoning_tokens,
        ] = expected;
        assert_eq!(
            found,
            Usage {
                input_tokens,
                cache_read_tokens,
                cache_write_tokens,
                output_tokens,
                reasoning_tokens,
            },
            "{raw}"
        );
    }
}
