//! Handlers that come and go while an event is on its way.

use std::sync::Arc;

use super::{Notes, block_on, explore, thread};
use crate::json::Object;
use crate::runtime::hook::payload;
use crate::runtime::sync::{Mutex, lock};
use crate::runtime::{HookOptions, HookRegistry};
use crate::{HookResult, Json};

// Holds: thread-7
#[test]
fn an_emit_calls_whom_it_finds_at_its_first_step_once() {
    explore(|| {
        let (hooks, called, done) = <(HookRegistry, Notes, Notes)>::default();
        let going = hooks.register("e", called.handler("going"), HookOptions::named("going"));
        hooks.register(
            "e",
            called.handler("staying"),
            HookOptions::named("staying"),
        );
        let (registrar, comes, came) = (hooks.clone(), called.handler("coming"), done.clone());
        let register = thread::spawn(move || {
            registrar.register("e", comes, HookOptions::named("coming").priority(-1));
            came.add("came");
        });
        let went = done.clone();
        let unregister = thread::spawn(move || {
            going.unregister();
            went.add("went");
        });
        let (had_come, had_gone) = (done.contains("came"), done.contains("went"));
        block_on(hooks.emit("e", Object::new()));
        register.join().unwrap();
        unregister.join().unwrap();

        let order = called.take();
        let mut expected = vec!["coming", "going", "staying"];
        expected.retain(|name| order.contains(name));
        assert_eq!(order, expected, "each once, in the order of running");
        assert!(order.contains(&"staying"));
        assert!(!had_come || order.contains(&"coming"));
        assert!(!had_gone || !order.contains(&"going"));
        block_on(hooks.emit("e", Object::new()));
        assert_eq!(called.take(), ["coming", "staying"]);
    });
}

// Holds: thread-7
#[test]
fn an_emit_sees_the_registry_of_one_instant() {
    explore(|| {
        let (hooks, called) = <(HookRegistry, Notes)>::default();
        let first = hooks.register("e", called.handler("first"), HookOptions::named("first"));
        hooks.register(
            "e",
            called.handler("last"),
            HookOptions::named("last").priority(9),
        );
        let (registrar, second) = (hooks.clone(), called.handler("second"));
        let replace = thread::spawn(move || {
            first.unregister();
            registrar.register("e", second, HookOptions::named("second").priority(1));
            registrar.unregister("last");
        });
        block_on(hooks.emit("e", Object::new()));
        replace.join().unwrap();

        let order = called.take();
        let instants = [
            vec!["first", "last"],
            vec!["last"],
            vec!["second", "last"],
            vec!["second"],
        ];
        assert!(instants.contains(&order), "{order:?}");
    });
}

// Holds: thread-8
#[test]
fn handlers_and_default_fields_are_of_one_instant() {
    explore(|| {
        let (hooks, called) = <(HookRegistry, Notes)>::default();
        hooks.register("e", called.handler("early"), HookOptions::named("early"));
        let setter = hooks.clone();
        let seen: Arc<Mutex<Vec<Option<Json>>>> = Arc::default();
        let noted = Arc::clone(&seen);
        let set = thread::spawn(move || {
            setter.set_default_fields(payload([("version", 2.into())]));
            let late = move |_: &str, data: &Object| {
                lock(&noted).push(data.get("version").cloned());
                Ok(HookResult::default())
            };
            setter.register("e", late, HookOptions::named("late"));
        });
        block_on(hooks.emit("e", Object::new()));
        let during = std::mem::take(&mut *lock(&seen));
        set.join().unwrap();
        block_on(hooks.emit("e", Object::new()));

        let version = Some(Json::from(2));
        let agrees = |one: &Option<Json>| *one == version;
        assert!(during.iter().all(agrees), "of two instants: {during:?}");
        assert_eq!(*lock(&seen), [version]);
        assert_eq!(called.count("early"), 2);
    });
}

// Holds: thread-9
#[test]
fn a_handle_takes_back_its_own_registration_alone() {
    explore(|| {
        let (hooks, called) = <(HookRegistry, Notes)>::default();
        let own = hooks.register("e", called.handler("own"), HookOptions::named("same"));
        hooks.register("e", called.handler("other"), HookOptions::named("same"));
        let again = own.clone();
        let first = thread::spawn(move || own.unregister());
        let second = thread::spawn(move || again.unregister());
        hooks.register("e", called.handler("late"), HookOptions::named("same"));
        first.join().unwrap();
        second.join().unwrap();

        block_on(hooks.emit("e", Object::new()));
        assert_eq!(called.take(), ["other", "late"]);
    });
}

// Holds: thread-9
#[test]
fn handles_of_handlers_registered_at_once_are_not_mixed_up() {
    explore(|| {
        let (hooks, called) = <(HookRegistry, Notes)>::default();
        let [brief, lasting] = [("brief", true), ("lasting", false)].map(|(name, leaves)| {
            let (hooks, handler) = (hooks.clone(), called.handler(name));
            thread::spawn(move || {
                let handle = hooks.register("e", handler, HookOptions::named("same"));
                if leaves {
                    handle.unregister();
                }
            })
        });
        block_on(hooks.emit_and_collect("e", &Object::new(), None));
        brief.join().unwrap();
        lasting.join().unwrap();
        let during = called.take();
        assert!(during.iter().filter(|name| **name == "brief").count() <= 1);
        assert!(during.iter().filter(|name| **name == "lasting").count() <= 1);

        block_on(hooks.emit("e", Object::new()));
        assert_eq!(called.take(), ["lasting"]);
    });
}
