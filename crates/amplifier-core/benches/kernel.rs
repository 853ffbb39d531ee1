//! Costs of the decisions: judging the answers of an event's handlers, and opaque JSON.

use std::hint::black_box;

use amplifier_core::Json;
use amplifier_core::hook::{Answer, Dispatch, HookRegistry};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

#[divan::bench(args = [0, 1, 10, 100])]
fn judge_handlers_that_continue(bencher: Bencher, handlers: usize) {
    let mut registry = HookRegistry::default();
    for number in 0..handlers {
        registry.register("tool:pre", (), 0, format!("hook-{number}"));
    }
    bencher.bench(|| {
        let mut dispatch: Dispatch<(), u64> = Dispatch::new(black_box(1));
        for handler in registry.handlers(black_box("tool:pre")) {
            dispatch.accept("tool:pre", &handler.name, Answer::Continue);
        }
        dispatch.finish()
    });
}

/// A message list of about 100 kB.
fn conversation() -> Vec<u8> {
    let message = r#"{"role":"user","content":[{"type":"text","text":"a question with some words"}],"n":1.5}"#;
    format!("[{}]", vec![message; 1_000].join(",")).into_bytes()
}

#[divan::bench]
fn read_json(bencher: Bencher) {
    let text = conversation();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| Json::parse(black_box(&text)).expect("the text is JSON"));
}

#[divan::bench]
fn write_json(bencher: Bencher) {
    let text = conversation();
    let json = Json::parse(&text).expect("the text is JSON");
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| black_box(&json).to_string());
}
