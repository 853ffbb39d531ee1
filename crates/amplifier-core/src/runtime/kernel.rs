//! The coordinator as loops see it.

use std::time::Duration;

use super::coordinator::Coordinator;
use crate::cancellation::CancellationState;
use crate::error::AmplifierError;
use crate::json::Object;
use crate::model::HookResult;
use crate::traits::{BoxFuture, Capability, Kernel, World};

impl Kernel for Coordinator {
    fn emit<'a>(&'a self, event: &'a str, data: Object) -> BoxFuture<'a, HookResult> {
        Box::pin(self.hooks().emit(event, data))
    }

    fn emit_and_collect<'a>(
        &'a self,
        event: &'a str,
        data: &'a Object,
        timeout: Option<Duration>,
    ) -> BoxFuture<'a, Vec<Object>> {
        Box::pin(self.hooks().emit_and_collect(event, data, timeout))
    }

    fn process_hook_result<'a>(
        &'a self,
        result: HookResult,
        event: &'a str,
        hook_name: &'a str,
    ) -> BoxFuture<'a, Result<HookResult, AmplifierError>> {
        Box::pin(Coordinator::process_hook_result(
            self, result, event, hook_name,
        ))
    }

    fn cancellation(&self) -> CancellationState {
        Coordinator::cancellation(self).state()
    }

    fn cancelled(&self, level: CancellationState) -> BoxFuture<'_, ()> {
        Box::pin(Coordinator::cancellation(self).reached(level))
    }

    fn tool_started(&self, id: &str, name: &str) {
        Coordinator::cancellation(self).register_tool_start(id, name);
    }

    fn tool_completed(&self, id: &str) {
        Coordinator::cancellation(self).register_tool_complete(id);
    }

    fn capability(&self, name: &str) -> Option<Capability> {
        self.get_capability(name)
    }

    fn world(&self) -> &dyn World {
        Coordinator::world(self)
    }

    fn trigger_cancel_callbacks(&self) -> BoxFuture<'_, ()> {
        Box::pin(Coordinator::cancellation(self).trigger_callbacks())
    }

    fn reset_turn(&self) {
        Coordinator::reset_turn(self);
    }
}
