//! Generated programs of registrations, emits and cancellations do what a plain model does.

use std::cell::Cell;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use amplifier_core::cancellation::CancellationState;
use amplifier_core::error::HookError;
use amplifier_core::runtime::{CancellationToken, HookOptions, HookRegistry, Unregister};
use amplifier_core::{HookAction, HookResult, Object};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

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
        serial: usize,
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

/// A fault put into the driver, which the comparison must find.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(usize)]
enum Fault {
    None,
    HandleRemovesItsName,
    DenialsContinue,
    ResetReachesChildren,
    LateChildrenStayBehind,
}

/// The driver with the fault of this number, and with what the program holds of it.
#[derive(Default)]
struct Subject<const FAULT: usize> {
    hooks: HookRegistry,
    handles: Vec<(String, Unregister)>,
    called: Seen<usize>,
    tokens: [CancellationToken; TOKENS],
}

impl<const FAULT: usize> Subject<FAULT> {
    fn has(fault: Fault) -> bool {
        FAULT == fault as usize
    }

    fn register(&mut self, event: &str, priority: i32, name: &str, reply: Reply) {
        let (serial, called) = (self.handles.len(), self.called.clone());
        let ignores_denials = Self::has(Fault::DenialsContinue);
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
        if Self::has(Fault::HandleRemovesItsName) {
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
        if Self::has(Fault::ResetReachesChildren) {
            children.for_each(|child| self.tokens[child].reset());
        }
    }

    fn add_child(&self, parent: usize, child: usize) {
        let before = self.tokens[child].state();
        self.tokens[parent].register_child(&self.tokens[child]);
        let stays = Self::has(Fault::LateChildrenStayBehind);
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

#[derive(Clone, Debug)]
struct Entry {
    event: String,
    priority: i32,
    serial: usize,
    name: String,
    reply: Reply,
}

/// The plain model: a list of handlers, sorted when asked, and a level for each token.
#[derive(Clone, Debug, Default)]
struct Model {
    entries: Vec<Entry>,
    registered: usize,
    levels: [CancellationState; TOKENS],
    children: Vec<(usize, usize)>,
    /// Whether the request before was news.
    rose: bool,
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

fn level(immediate: bool) -> CancellationState {
    if immediate {
        CancellationState::Immediate
    } else {
        CancellationState::Graceful
    }
}

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::default()).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Step> {
        let registered = model.registered;
        let register = (0..3u8, -2..3i32, 0..4u8, reply());
        let pair = || (0..TOKENS, 0..TOKENS);
        prop_oneof![
            4 => register.prop_map(|(event, priority, name, reply)| {
                Step::Register { event, priority, name, reply }
            }),
            // The first may be refused: nothing is registered yet.
            2 => (0..registered.max(1)).prop_map(|serial| Step::Unregister { serial }),
            1 => (0..4u8).prop_map(|name| Step::UnregisterName { name }),
            4 => (0..3u8).prop_map(|event| Step::Emit { event }),
            2 => (0..TOKENS, any::<bool>())
                .prop_map(|(token, immediate)| Step::Request { token, immediate }),
            1 => (0..TOKENS).prop_map(|token| Step::Reset { token }),
            2 => pair().prop_map(|(parent, child)| Step::AddChild { parent, child }),
            1 => pair().prop_map(|(parent, child)| Step::RemoveChild { parent, child }),
        ]
        .boxed()
    }

    fn preconditions(model: &Self, step: &Step) -> bool {
        !matches!(step, Step::Unregister { serial } if *serial >= model.registered)
    }

    fn apply(mut model: Self, step: &Step) -> Self {
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

thread_local! {
    /// The steps done by the test of this thread.
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

impl<const FAULT: usize> StateMachineTest for Subject<FAULT> {
    type SystemUnderTest = Self;
    type Reference = Model;

    fn init_test(_: &Model) -> Self {
        Self::default()
    }

    fn apply(mut subject: Self, model: &Model, step: Step) -> Self {
        STEPS.set(STEPS.get() + 1);
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
fn run<const FAULT: usize>(programs: u32, steps: usize) -> Result<(), String> {
    let config = Config {
        cases: programs,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config.clone())
        .run(
            &Model::sequential_strategy(steps),
            |(model, steps, seen)| {
                Subject::<FAULT>::test_sequential(config.clone(), model, steps, seen);
                Ok(())
            },
        )
        .map_err(|error| error.to_string())
}

const NO_FAULT: usize = Fault::None as usize;

#[test]
fn the_driver_does_what_the_model_does() {
    assert_eq!(run::<NO_FAULT>(50, 100), Ok(()));
}

/// `make prove` runs it.
#[test]
#[ignore = "a hundred thousand steps"]
fn the_driver_does_what_the_model_does_for_long() {
    assert_eq!(run::<NO_FAULT>(500, 200), Ok(()));
    assert_eq!(run::<NO_FAULT>(2, 5_000), Ok(()));
    assert_eq!(STEPS.get(), 110_000);
    eprintln!("proptest-state-machine: {} steps", STEPS.get());
}

#[test]
fn the_comparison_finds_planted_faults() {
    let found = [
        run::<{ Fault::HandleRemovesItsName as usize }>(50, 100),
        run::<{ Fault::DenialsContinue as usize }>(50, 100),
        run::<{ Fault::ResetReachesChildren as usize }>(50, 100),
        run::<{ Fault::LateChildrenStayBehind as usize }>(50, 100),
    ];
    assert!(found.iter().all(Result::is_err), "{found:?}");
}
