//! A session used from all sides at once: more threads and steps than can be tried in every order.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::future::block_on;
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};

use super::{Notes, cut, suspend};
use crate::cancellation::CancellationState;
use crate::error::HookError;
use crate::json::{Json, Object};
use crate::model::HookResult;
use crate::runtime::hook::payload;
use crate::runtime::sync::{Mutex, lock};
use crate::runtime::{CancellationToken, HookOptions, HookRegistry, Session};
use crate::session_config::SessionConfig;
use crate::traits::{BoxFuture, HookHandler, RunningTool};

/// The same orders in every check, so that what is found once is found again.
const SEED: u64 = 20;

/// Which handlers each emit called, by the number of the emit.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<(Json, &'static str)>>>);

/// Notes the emit, and suspends if it is so made.
struct Hook {
    calls: Calls,
    name: &'static str,
    suspends: bool,
}

impl HookHandler for Hook {
    fn handle<'a>(
        &'a self,
        _: &'a str,
        data: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>> {
        Box::pin(async {
            lock(&self.calls.0).push((data["emit"].clone(), self.name));
            if self.suspends {
                suspend().await;
            }
            Ok(HookResult::default())
        })
    }
}

fn emits(hooks: &HookRegistry, calls: &Calls, first: i64) {
    for number in first..first + 2 {
        let polls = thread_rng().gen_range(0..5);
        let emission = Box::pin(async {
            hooks.emit("e", payload([("emit", number.into())])).await;
        });
        let was_whole = cut(emission, polls);
        let calls = lock(&calls.0);
        let stayed = calls.contains(&(number.into(), "stays"));
        assert!(stayed || !was_whole, "emit {number} has passed by a hook");
    }
}

fn registers(hooks: &HookRegistry, calls: &Calls) {
    let hook = |name, suspends| Hook {
        calls: calls.clone(),
        name,
        suspends,
    };
    let options = |name| HookOptions::named(name).priority(thread_rng().gen_range(-1..2));
    let brief = hooks.register("e", hook("brief", false), options("same"));
    hooks.register("e", hook("comes", true), options("same"));
    brief.unregister();
    brief.unregister();
}

fn cancels(token: &CancellationToken) {
    if thread_rng().r#gen() {
        token.request_graceful();
    }
    token.request_immediate();
    assert!(token.is_immediate());
}

fn runs_a_tool(session: &Session, id: &str) {
    let token = session.coordinator().cancellation();
    let turn = Box::pin(async {
        let _running = RunningTool::start(session.coordinator(), id, "tool");
        assert!(
            token
                .running_tools()
                .iter()
                .any(|(running, _)| running == id)
        );
        suspend().await;
    });
    cut(turn, thread_rng().gen_range(0..3));
    assert!(
        !token
            .running_tools()
            .iter()
            .any(|(running, _)| running == id)
    );
}

fn loads(session: &Session, loaded: &Notes, polls: Option<usize>) {
    let load = Box::pin(async {
        let load = session.initialize_with(|_| async {
            suspend().await;
            loaded.add("load");
            Ok(())
        });
        load.await.unwrap();
    });
    match polls {
        Some(polls) => {
            cut(load, polls);
        }
        None => block_on(load),
    }
}

/// What one thread does with the session and a token below its own.
type Work = Box<dyn FnOnce(&Session, &CancellationToken, &Calls, &Notes) + Send>;

fn program() {
    let session = Arc::new(Session::new(SessionConfig::new("loop", "context")));
    let (calls, notes) = <(Calls, Notes)>::default();
    let stays = Hook {
        calls: calls.clone(),
        name: "stays",
        suspends: true,
    };
    let hooks = session.coordinator().hooks();
    hooks.register("e", stays, HookOptions::named("stays"));
    let cleaned = notes.clone();
    session.coordinator().register_cleanup(move || async move {
        cleaned.add("clean-up");
        suspend().await;
        Ok(())
    });
    let child = CancellationToken::default();

    let run = |work: Work| {
        let (session, child) = (Arc::clone(&session), child.clone());
        let (calls, notes) = (calls.clone(), notes.clone());
        thread::spawn(move || work(&session, &child, &calls, &notes))
    };
    let threads = [
        run(Box::new(|session, _, calls, _| {
            emits(session.coordinator().hooks(), calls, 0);
        })),
        run(Box::new(|session, _, calls, notes| {
            emits(session.coordinator().hooks(), calls, 2);
            loads(session, notes, None);
        })),
        run(Box::new(|session, _, calls, _| {
            registers(session.coordinator().hooks(), calls);
            runs_a_tool(session, "1");
        })),
        run(Box::new(|session, child, _, _| {
            runs_a_tool(session, "2");
            child.register_child(session.coordinator().cancellation());
        })),
        run(Box::new(|session, child, _, notes| {
            loads(session, notes, Some(thread_rng().gen_range(0..3)));
            session.coordinator().cancellation().register_child(child);
        })),
        run(Box::new(|session, _, _, _| {
            cancels(session.coordinator().cancellation());
            block_on(session.coordinator().cleanup());
        })),
        run(Box::new(|_, child, _, _| {
            block_on(child.reached(CancellationState::Immediate));
        })),
    ];
    session.coordinator().cancellation().register_child(&child);
    cut(Box::pin(session.coordinator().cleanup()), 1);
    for thread in threads {
        thread.join().unwrap();
    }

    let token = session.coordinator().cancellation();
    assert!(token.is_immediate() && child.is_immediate());
    assert_eq!(token.running_tools(), []);
    assert!(session.is_initialized());
    assert_eq!((notes.count("load"), notes.count("clean-up")), (1, 1));
    let during = std::mem::take(&mut *lock(&calls.0));
    let once: HashSet<String> = during.iter().map(|call| format!("{call:?}")).collect();
    assert_eq!(
        once.len(),
        during.len(),
        "called twice by one emit: {during:?}"
    );

    block_on(hooks.emit("e", payload([("emit", 4.into())])));
    let mut names: Vec<_> = lock(&calls.0).iter().map(|call| call.1).collect();
    names.sort_unstable();
    assert_eq!(names, ["comes", "stays"]);
}

/// Runs the program in the orders that a scheduler picks, and returns how many there were.
fn schedule(kind: &str, scheduler: impl Scheduler + 'static) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let program = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        program();
    };
    Runner::new(scheduler, Config::default()).run(program);
    let runs = runs.load(Ordering::Relaxed);
    eprintln!("shuttle: {kind}: {runs} schedules");
}

#[test]
fn a_session_used_from_all_sides_keeps_its_promises_in_random_orders() {
    schedule(
        "random orders",
        RandomScheduler::new_from_seed(SEED, 60_000),
    );
}

#[test]
fn a_session_used_from_all_sides_keeps_its_promises_in_orders_of_few_preemptions() {
    schedule(
        "orders of at most three switches",
        PctScheduler::new_from_seed(SEED, 3, 60_000),
    );
}
