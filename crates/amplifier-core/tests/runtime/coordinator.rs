//! The coordinator: the expectations are those of `tests/kernel/test_coordinator.py`.

use std::sync::Arc;

use amplifier_core::coordinator::Slot;
use amplifier_core::error::{AmplifierError, MountError, ToolError};
use amplifier_core::runtime::{Coordinator, Module};
use amplifier_core::traits::{BoxFuture, Capability, Tool};
use amplifier_core::{Json, Object, ToolResult};
use log::Level;

use crate::fakes::{Memory, Seen, object};
use crate::journal;

struct Named(&'static str);

impl Tool for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &'static str {
        "Does nothing."
    }

    fn input_schema(&self) -> Object {
        object([("type", "object".into())])
    }

    fn execute(&self, _: Object) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::default()) })
    }
}

fn names(coordinator: &Coordinator) -> Vec<String> {
    coordinator.tools().into_keys().collect()
}

#[test]
fn named_slots_take_a_name_or_the_modules_own_and_single_slots_ignore_it() {
    let coordinator = Coordinator::default();
    coordinator.mount(Module::tool(Named("own")), None).unwrap();
    coordinator
        .mount(Module::tool(Named("own")), Some("given"))
        .unwrap();
    coordinator
        .mount(Module::context(Memory::default()), Some("ignored"))
        .unwrap();
    assert_eq!(names(&coordinator), ["own", "given"]);
    assert!(coordinator.context().is_some() && coordinator.orchestrator().is_none());

    let resolver: Capability = Arc::new("anything");
    coordinator
        .mount(Module::SourceResolver(resolver), None)
        .unwrap();
    assert!(coordinator.source_resolver().is_some());

    coordinator.unmount(Slot::Tools, Some("own")).unwrap();
    coordinator.unmount(Slot::Tools, Some("unknown")).unwrap();
    coordinator.unmount(Slot::Context, None).unwrap();
    coordinator.unmount(Slot::Hooks, None).unwrap();
    assert_eq!(names(&coordinator), ["given"]);
    assert!(coordinator.context().is_none());
}

#[test]
fn a_wrong_mount_says_what_is_wrong() {
    let coordinator = Coordinator::default();
    assert_eq!(
        coordinator.mount(Module::tool(Named("")), None),
        Err(MountError::NameRequired(Slot::Tools)),
    );
    assert_eq!(
        coordinator.unmount(Slot::Providers, None),
        Err(MountError::NameRequiredToUnmount(Slot::Providers)),
    );
}

#[test]
fn a_module_that_calls_back_when_it_is_replaced_finds_no_lock() {
    struct Leaving(Coordinator);
    impl Tool for Leaving {
        fn name(&self) -> &'static str {
            "leaving"
        }
        fn description(&self) -> &'static str {
            ""
        }
        fn execute(&self, _: Object) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
            Box::pin(async { Ok(ToolResult::default()) })
        }
    }
    impl Drop for Leaving {
        fn drop(&mut self) {
            assert_eq!(names(&self.0).len(), self.0.tools().len());
        }
    }
    let coordinator = Coordinator::default();
    let leaving = || Module::tool(Leaving(coordinator.clone()));
    coordinator.mount(leaving(), None).unwrap();
    coordinator.mount(leaving(), None).unwrap();
    coordinator.unmount(Slot::Tools, Some("leaving")).unwrap();
}

#[test]
fn a_tool_says_to_the_model_what_it_is() {
    let spec = Named("search").get_spec();
    let expected = amplifier_core::ToolSpec {
        name: "search".to_owned(),
        parameters: object([("type", "object".into())]),
        description: Some("Does nothing.".to_owned()),
        extra: Object::new(),
    };
    assert_eq!(spec, expected);
}

#[test]
fn capabilities_are_overwritten_and_absent_ones_none() {
    let coordinator = Coordinator::default();
    coordinator.register_capability("root", Arc::new("a"));
    coordinator.register_capability("root", Arc::new("b"));
    let root = coordinator.get_capability("root").unwrap();
    assert_eq!(root.downcast_ref::<&str>(), Some(&"b"));
    assert!(coordinator.get_capability("absent").is_none());
}

#[test]
fn a_cancel_request_sets_the_level_and_nothing_else() {
    let coordinator = Coordinator::default();
    coordinator.request_cancel(false);
    assert!(coordinator.cancellation().is_graceful());
    coordinator.request_cancel(true);
    assert!(coordinator.cancellation().is_immediate());
}

#[tokio::test]
async fn cleanup_runs_everything_once_in_reverse() {
    journal::begin();
    let (coordinator, order) = (Coordinator::default(), Seen::default());
    for name in ["first", "second", "third"] {
        let order = order.clone();
        coordinator.register_cleanup(move || async move {
            order.push(name);
            if name == "second" {
                return Err(AmplifierError::other("stuck"));
            }
            Ok(())
        });
    }
    coordinator.cleanup().await;
    coordinator.cleanup().await;
    assert_eq!(order.take(), ["third", "second", "first"]);
    let line = "Error during cleanup: Exception: stuck".to_owned();
    assert_eq!(journal::lines(), [(Level::Error, line)]);
}

#[tokio::test]
async fn contributions_are_collected_in_order_without_the_empty_and_the_failed() {
    journal::begin();
    let coordinator = Coordinator::default();
    coordinator.register_contributor("c", "one", || async { Ok(Some(Json::from(1))) });
    coordinator.register_contributor("c", "none", || async { Ok(None) });
    coordinator.register_contributor("c", "bad", || async { Err(AmplifierError::other("x")) });
    coordinator.register_contributor("c", "one", || async { Ok(Some(Json::Null)) });

    assert_eq!(
        coordinator.collect_contributions("c").await,
        [Json::from(1), Json::Null]
    );
    assert!(
        coordinator
            .collect_contributions("unknown")
            .await
            .is_empty()
    );
    let line = "contributor `bad` of `c` failed; continuing without it: Exception: x".to_owned();
    assert_eq!(journal::lines(), [(Level::Warn, line)]);
}
