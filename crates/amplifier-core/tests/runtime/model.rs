//! Generated programs of registrations, emits and cancellations do what a plain model does.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use amplifier_core::cancellation::CancellationState;
use amplifier_core::error::HookError;
use amplifier_core::runtime::{CancellationToken, HookOptions, HookRegistry, Unregister};
use amplifier_core::{HookAction, HookResult, Object};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use crate::fakes::{Seen, action, denial, injection, item, object, without_time};

const TOKENS: usize = 4;

/// What a handler does.
#[derive(Clone, Copy, Debug)]
enum Reply {
    Continue,
    Deny,
    Modify(u8),
    ModifyNothing,
    Inject(u8),
    Ask(u8),
    Fail,
    FailClosed,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Register {
        event: u8,
        priority: i32,
        name: u8,
        reply: Reply,
    },
    Unregister {
        pick: usize,
    },
    UnregisterName {
        name: u8,
    },
    Emit {
        event: u8,
    },
    Request {
        token: usize,
        immediate: bool,
    },
    Reset {
        token: usize,
    },
    AddChild {
        parent: usize,
        child: usize,
    },
    RemoveChild {
        parent: usize,
        child: usize,
    },
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        3 => Just(Reply::Continue),
        1 => Just(Reply::Deny),
        2 => any::<u8>().prop_map(Reply::Modify),
        1 => Just(Reply::ModifyNothing),
        2 => any::<u8>().prop_map(Reply::Inject),
        1 => any::<u8>().prop_map(Reply::Ask),
        1 => Just(Reply::Fail),
        1 => Just(Reply::FailClosed),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3u8, -2..3i32, 0..4u8, reply()).prop_map(|(event, priority, name, reply)| {
            Step::Register { event, priority, name, reply }
        }),
        2 => any::<usize>().prop_map(|pick| Step::Unregister { pick }),
        1 => (0..4u8).prop_map(|name| Step::UnregisterName { name }),
        4 => (0..3u8).prop_map(|event| Step::Emit { event }),
        2 => (0..TOKENS, any::<bool>())
            .prop_map(|(token, immediate)| Step::Request { token, immediate }),
        1 => (0..TOKENS).prop_map(|token| Step::Reset { token }),
        2 => (0..TOKENS, 0..TOKENS).prop_map(|(parent, child)| Step::AddChild { parent, child }),
        1 => (0..TOKENS, 0..TOKENS)
            .prop_map(|(parent, child)| Step::RemoveChild { parent, child }),
    ]
}

/// A fault put into the driver, which the comparison must find.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    HandleRemovesItsName,
    DenialsContinue,
    ResetReachesChildren,
    LateChildrenStayBehind,
}

/// The driver, with what the program holds of it.
#[derive(Default)]
struct Subject {
    hooks: HookRegistry,
    handles: Vec<(String, Unregister)>,
    called: Seen<usize>,
    tokens: [CancellationToken; TOKENS],
    fault: Option<Fault>,
}

impl Subject {
    fn register(&mut self, event: &str, priority: i32, name: &str, reply: Reply) {
        let (serial, called) = (self.handles.len(), self.called.clone());
        let ignores_denials = self.fault == Some(Fault::DenialsContinue);
        let handler = move |_: &str, _: &Object| {
            called.push(serial);
            match answer(reply) {
                Some(result) if ignores_denials && result.action == HookAction::Deny => {
                    Ok(HookResult::default())
                }
                Some(result) => Ok(result),
                None => Err(HookError::HandlerFailed("broken".to_owned())),
            }
        };
        let mut options = HookOptions::named(name).priority(priority);
        if matches!(reply, Reply::FailClosed) {
            options = options.fails_closed();
        }
        let handle = self.hooks.register(event, handler, options);
        self.handles.push((name.to_owned(), handle));
    }

    fn unregister(&self, serial: usize) {
        let (name, handle) = &self.handles[serial];
        if self.fault == Some(Fault::HandleRemovesItsName) {
            self.hooks.unregister(name);
        }
        handle.unregister();
    }

    /// What an emit gives and whom it calls; no handler here suspends.
    fn emit(&self, event: &str) -> (HookResult, Vec<usize>) {
        let emission = pin!(self.hooks.emit(event, object([("v", (-1).into())])));
        match emission.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => (without_time(result), self.called.take()),
            Poll::Pending => unreachable!("every handler answers at once"),
        }
    }

    fn reset(&self, token: usize, children: impl Iterator<Item = usize>) {
        self.tokens[token].reset();
        if self.fault == Some(Fault::ResetReachesChildren) {
            children.for_each(|child| self.tokens[child].reset());
        }
    }

    fn add_child(&self, parent: usize, child: usize) {
        let before = self.tokens[child].state();
        self.tokens[parent].register_child(&self.tokens[child]);
        let stays = self.fault == Some(Fault::LateChildrenStayBehind);
        if stays && before == CancellationState::None {
            self.tokens[child].reset();
        }
    }
}

/// What a handler answers; `None` where it fails.
fn answer(reply: Reply) -> Option<HookResult> {
    match reply {
        Reply::Continue => Some(HookResult::default()),
        Reply::Deny => Some(denial("no")),
        Reply::Modify(value) => Some(HookResult {
            data: Some(object([("v", i64::from(value).into())])),
            ..action(HookAction::Modify)
        }),
        Reply::ModifyNothing => Some(action(HookAction::Modify)),
        Reply::Inject(value) => Some(injection(&value.to_string())),
        Reply::Ask(value) => Some(HookResult {
            approval_prompt: Some(value.to_string()),
            ..action(HookAction::AskUser)
        }),
        Reply::Fail | Reply::FailClosed => None,
    }
}

struct Entry {
    event: String,
    priority: i32,
    serial: usize,
    name: String,
    reply: Reply,
}

/// The plain model: a list of handlers, sorted when asked, and a level for each token.
#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
    registered: usize,
    levels: [CancellationState; TOKENS],
    children: Vec<(usize, usize)>,
}

impl Model {
    fn emit(&self, event: &str) -> (HookResult, Vec<usize>) {
        let mut order: Vec<&Entry> = self
            .entries
            .iter()
            .filter(|one| one.event == event)
            .collect();
        order.sort_by_key(|one| (one.priority, one.serial));
        let mut called = Vec::new();
        let (mut modified, mut asked, mut items) = (None, None, Vec::new());
        for entry in order {
            called.push(entry.serial);
            match entry.reply {
                Reply::Deny => return (denial("no"), called),
                Reply::FailClosed => {
                    let reason = format!("hook `{}` failed on `{event}`", entry.name);
                    return (denial(&reason), called);
                }
                Reply::Modify(value) => modified = Some(object([("v", i64::from(value).into())])),
                Reply::Inject(value) => items.push(item(&value.to_string(), &entry.name, event)),
                Reply::Ask(_) if asked.is_none() => asked = answer(entry.reply),
                Reply::Ask(_) | Reply::Continue | Reply::ModifyNothing | Reply::Fail => {}
            }
        }
        let texts: Vec<&str> = items.iter().map(|item| item.content.as_str()).collect();
        let result = match asked {
            Some(asked) => HookResult {
                data: modified,
                ..asked
            },
            None if items.is_empty() => HookResult {
                data: modified.or_else(|| Some(object([("v", (-1).into())]))),
                ..HookResult::default()
            },
            None => HookResult {
                data: modified,
                context_injections: items.clone(),
                ..injection(&texts.join("\n\n"))
            },
        };
        (result, called)
    }

    fn request(&mut self, token: usize, level: CancellationState) {
        if level > self.levels[token] {
            self.levels[token] = level;
            for child in self.children_of(token) {
                self.request(child, level);
            }
        }
    }

    fn children_of(&self, parent: usize) -> Vec<usize> {
        let pairs = self.children.iter().filter(|pair| pair.0 == parent);
        pairs.map(|pair| pair.1).collect()
    }
}

/// Runs a program on both and compares after every step.
fn compare(steps: &[Step], fault: Option<Fault>) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    let mut subject = Subject {
        fault,
        ..Subject::default()
    };
    for step in steps {
        match *step {
            Step::Register {
                event,
                priority,
                name,
                reply,
            } => {
                model.entries.push(Entry {
                    event: format!("e{event}"),
                    priority,
                    serial: model.registered,
                    name: format!("n{name}"),
                    reply,
                });
                model.registered += 1;
            }
            Step::Unregister { serial } => model.entries.retain(|one| one.serial != serial),
            Step::UnregisterName { name } => {
                let name = format!("n{name}");
                model.entries.retain(|one| one.name != name);
            }
            Step::Emit { .. } => {}
            Step::Request { token, immediate } => {
                model.rose = level(immediate) > model.levels[token];
                model.request(token, level(immediate));
            }
            Step::Reset { token } => model.levels[token] = CancellationState::None,
            Step::AddChild { parent, child } => {
                model.children.push((parent, child));
                model.request(child, model.levels[parent]);
            }
            Step::RemoveChild { parent, child } => {
                model.children.retain(|pair| *pair != (parent, child));
            }
        }
        model
    }
}

static STEPS: AtomicUsize = AtomicUsize::new(0);

impl<const FAULT: usize> StateMachineTest for Subject<FAULT> {
    type SystemUnderTest = Self;
    type Reference = Model;

    fn init_test(_: &Model) -> Self {
        Self::default()
    }

    fn apply(mut subject: Self, model: &Model, step: Step) -> Self {
        STEPS.fetch_add(1, Ordering::Relaxed);
        match step {
            Step::Register {
                event,
                priority,
                name,
                reply,
            } => subject.register(&format!("e{event}"), priority, &format!("n{name}"), reply),
            Step::Unregister { serial } => subject.unregister(serial),
            Step::UnregisterName { name } => subject.hooks.unregister(&format!("n{name}")),
            Step::Emit { event } => {
                let event = format!("e{event}");
                assert_eq!(subject.emit(&event), model.emit(&event));
            }
            Step::Request { token, immediate } => {
                let token = &subject.tokens[token];
                let rose = if immediate {
                    token.request_immediate()
                } else {
                    token.request_graceful()
                };
                assert_eq!(rose, model.rose);
            }
            Step::Reset { token } => subject.reset(token, model.children_of(token).into_iter()),
            Step::AddChild { parent, child } => subject.add_child(parent, child),
            Step::RemoveChild { parent, child } => {
                subject.tokens[parent].unregister_child(&subject.tokens[child]);
            }
        }
        subject
    }

    fn check_invariants(subject: &Self, model: &Model) {
        let levels = subject.tokens.each_ref().map(CancellationToken::state);
        assert_eq!(levels, model.levels);
        let listed = subject.hooks.list_handlers();
        let count: usize = listed.values().map(Vec::len).sum();
        assert_eq!(count, model.entries.len());
    }
}

/// Runs this many programs of this many steps; the error holds a shortest program that fails.
fn run(programs: u32, steps: usize, fault: Option<Fault>) -> Result<(), String> {
    let config = Config {
        cases: programs,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&vec(step(), steps), |program| compare(&program, fault))
        .map_err(|error| error.to_string())
}

#[test]
fn the_driver_does_what_the_model_does() {
    assert_eq!(run(50, 100, None), Ok(()));
}

/// A few seconds: `cargo test --all-features --test runtime -- --ignored`.
#[test]
#[ignore = "a hundred thousand steps"]
fn the_driver_does_what_the_model_does_for_long() {
    assert_eq!(run(500, 200, None), Ok(()));
    assert_eq!(run(2, 5_000, None), Ok(()));
}

#[test]
fn the_comparison_finds_planted_faults() {
    for fault in [
        Fault::HandleRemovesItsName,
        Fault::DenialsContinue,
        Fault::ResetReachesChildren,
        Fault::LateChildrenStayBehind,
    ] {
        assert!(
            run(50, 100, Some(fault)).is_err(),
            "{fault:?} was not found"
        );
    }
}
