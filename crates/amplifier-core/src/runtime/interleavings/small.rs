//! Programs of a few threads and steps, for `loom`.

mod cancelling;
mod children;
mod dropping;
mod registering;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::future::block_on;
use loom::thread;

use super::{Notes, cut, suspend};
use crate::error::HookError;
use crate::json::Object;
use crate::model::HookResult;
use crate::runtime::sync::lock;
use crate::traits::{BoxFuture, HookHandler};

/// Runs a program in every order of at most three preemptions, and returns how many there are.
fn explore<F: Fn() + Send + Sync + 'static>(program: F) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.max_branches = 10_000;
    // Nothing in the environment may cut it short.
    (builder.max_permutations, builder.max_duration) = (None, None);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        program();
    });
    let path = std::any::type_name::<F>().trim_end_matches("::{{closure}}");
    let (_, test) = path.rsplit_once("small::").unwrap_or(("", path));
    let runs = runs.load(Ordering::Relaxed);
    eprintln!("loom: {test}: {runs} interleavings");
}

impl Notes {
    fn contains(&self, note: &str) -> bool {
        self.count(note) > 0
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut lock(&self.0))
    }

    /// A handler that notes that it was called.
    fn handler(&self, name: &'static str) -> impl HookHandler + use<> {
        let notes = self.clone();
        move |_: &str, _: &Object| {
            notes.add(name);
            Ok(HookResult::default())
        }
    }

    /// A handler that notes that it was called, suspends, and answers when it is polled again.
    fn suspending(&self, name: &'static str) -> impl HookHandler + use<> {
        Suspending(self.clone(), name)
    }
}

struct Suspending(Notes, &'static str);

impl HookHandler for Suspending {
    fn handle<'a>(
        &'a self,
        _: &'a str,
        _: &'a Object,
    ) -> BoxFuture<'a, Result<HookResult, HookError>> {
        Box::pin(async {
            self.0.add(self.1);
            suspend().await;
            Ok(HookResult::default())
        })
    }
}
