//! The effects of a hook's result: inject into the context, show a message, ask for approval.

use std::collections::VecDeque;

use amplifier_core::coordinator::{
    Approval, charge_injections, clean_injections, clip_prompt, read_approval,
};
use amplifier_core::hook::Projection;
use amplifier_core::{ContextInjection, event_timestamp};
use pyo3::exceptions::{PyException, PyTimeoutError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::error::Error;
use crate::kernel::awaitable::is_awaitable;
use crate::kernel::coordinator::mounted::RustCoordinator;
use crate::kernel::drive::{Machine, Next, Step};
use crate::kernel::hook::injection::{continuing_after, injection_fields, injections};
use crate::kernel::hook::result::{asker, build, changed, denying};
use crate::kernel::report::{Level, Logger, is_own_failure, log, type_name};
use crate::kernel::timeout::{TimeLimit, is_expired};
use crate::module::module;
use crate::traverse::{Traverse, traverse};
use crate::world;

/// The kernel's own timer on an approval leaves the approval system's a second to be first.
const APPROVAL_GRACE_SECONDS: f64 = 1.0;

/// The name of a hook whose caller does not know it.
const UNKNOWN_HOOK: &str = "unknown";

/// Which effect is being carried out.
enum Stage {
    Injecting,
    Showing,
    Asking(Question),
}

/// What the user is asked.
struct Question {
    /// The payload of the question, which is passed on if it is approved.
    data: Option<Py<PyAny>>,
    prompt: String,
    options: Vec<String>,
    allow_on_timeout: bool,
}

impl Question {
    fn granted<'py>(&self, py: Python<'py>) -> PyResult<Next<'py>> {
        let action = intern!(py, "continue").as_any();
        let mut fields = vec![(intern!(py, "action"), action)];
        if let Some(data) = &self.data {
            fields.push((intern!(py, "data"), data.bind(py)));
        }
        build(py, &fields).map(Next::Return)
    }
}

impl Traverse for Stage {
    fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Asking(question) => question.data.traverse(visit),
            Self::Injecting | Self::Showing => Ok(()),
        }
    }
}

/// The machine of `process_hook_result`.
pub(crate) struct Effects {
    coordinator: Py<RustCoordinator>,
    result: Py<PyAny>,
    event: String,
    hook_name: String,
    stage: Stage,
    /// The texts that go into the context, still to be added.
    durable: VecDeque<ContextInjection>,
}

traverse!(Effects: coordinator, result, stage);

impl Effects {
    pub(crate) fn new(
        coordinator: Py<RustCoordinator>,
        result: Py<PyAny>,
        event: &str,
        hook_name: &str,
    ) -> Self {
        Self {
            coordinator,
            result,
            event: event.to_owned(),
            hook_name: hook_name.to_owned(),
            stage: Stage::Injecting,
            durable: VecDeque::new(),
        }
    }

    /// Checks and charges the injections, and puts what is left of the result in its place.
    fn plan_injections(&mut self, py: Python<'_>) -> PyResult<()> {
        let result = self.result.bind(py).clone();
        let items = clean_injections(injections(&result, &self.hook_name, &self.event)?);
        let coordinator = &self.coordinator.get().mounted;
        let used = coordinator.turn_injections();
        let limits = coordinator.injection_limits(py)?;
        let charge = charge_injections(&items, limits, used).map_err(Error::from)?;
        for excess in &charge.excesses {
            let message = format!(
                "hook `{}` exceeds the injection budget of the turn: {} tokens used, {} more, {} allowed",
                items[excess.item].hook_name,
                excess.used,
                excess.tokens,
                limits.budget.unwrap_or_default(),
            );
            log(py, Logger::Coordinator, Level::Warning, &message, None);
        }
        coordinator.set_turn_injections(used.saturating_add(charge.tokens));
        for item in &items {
            let message = format!(
                "hook `{}` injects {} characters as `{}` on `{}`{}",
                item.hook_name,
                item.content.chars().count(),
                item.role.as_str(),
                item.event,
                if item.ephemeral {
                    " for one request"
                } else {
                    ""
                },
            );
            log(py, Logger::Coordinator, Level::Info, &message, None);
        }
        let (ephemeral, durable): (Vec<_>, Vec<_>) =
            items.into_iter().partition(|item| item.ephemeral);
        self.durable = durable.into();
        let update = if let Some(projection) = Projection::of(&ephemeral) {
            injection_fields(py, &ephemeral, &projection)?
        } else {
            continuing_after(py)?
        };
        self.result = changed(&result, &update)?.unbind();
        Ok(())
    }

    /// Adds the persistent texts to the context, then continues with the user's message.
    fn inject<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        while let Some(item) = self.durable.pop_front() {
            let context = self.coordinator.get().mounted.context(py)?;
            let Some(add) = context.getattr_opt(intern!(py, "add_message"))? else {
                continue;
            };
            let role = item.role.as_str();
            let metadata = PyDict::new(py);
            metadata.set_item("source", "hook")?;
            metadata.set_item("hook_name", &item.hook_name)?;
            metadata.set_item("event", &item.event)?;
            metadata.set_item("timestamp", event_timestamp(world::time(py)?))?;
            metadata.set_item("requested_role", role)?;
            metadata.set_item("ephemeral", false)?;
            metadata.set_item("persisted", true)?;
            let message = PyDict::new(py);
            message.set_item("role", role)?;
            message.set_item("content", &item.content)?;
            message.set_item("metadata", metadata)?;
            let value = add.call1((message,))?;
            if !value.is_none() && is_awaitable(&value)? {
                return Ok(Next::Await(value));
            }
        }
        self.show(py)
    }

    /// Shows the result's message to the user, unless it asks them something.
    fn show<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        self.stage = Stage::Showing;
        let result = self.result.bind(py).clone();
        if action(&result)? == "ask_user" {
            if self.hook_name == UNKNOWN_HOOK
                && let Some(name) = asker(&result)?
            {
                self.hook_name = name;
            }
            return self.ask(py, &result);
        }
        let message = result.getattr(intern!(py, "user_message"))?;
        if !message.is_truthy()? {
            return self.finish(py);
        }
        let display = self.coordinator.get().mounted.display(py);
        if display.is_none() {
            let text = format!(
                "hook `{}` has a message but no display is set",
                self.hook_name
            );
            log(py, Logger::Coordinator, Level::Debug, &text, None);
            return self.finish(py);
        }
        let named = result.getattr_opt(intern!(py, "user_message_source"))?;
        let source = match named {
            Some(name) if name.is_truthy()? => name.str()?.to_string_lossy().into_owned(),
            _ => self.hook_name.clone(),
        };
        let level = result.getattr(intern!(py, "user_message_level"))?;
        let shown = display.call_method1(
            intern!(py, "show_message"),
            (message, level, format!("hook:{source}")),
        );
        match shown {
            Ok(value) if !value.is_none() && is_awaitable(&value)? => Ok(Next::Await(value)),
            Ok(_) => self.finish(py),
            Err(error) => self.not_shown(py, error),
        }
    }

    fn not_shown<'py>(&self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        if !is_own_failure(py, &error) {
            return Err(error);
        }
        let message = format!(
            "the display failed to show a message of hook `{}`",
            self.hook_name
        );
        log(
            py,
            Logger::Coordinator,
            Level::Error,
            &message,
            Some(&error),
        );
        self.finish(py)
    }

    /// Asks the approval system, which has to answer in time.
    fn ask<'py>(&mut self, py: Python<'py>, result: &Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let approval = self.coordinator.get().mounted.approval(py);
        if approval.is_none() {
            let message = format!(
                "hook `{}` asks for approval, but no approval system is set",
                self.hook_name
            );
            log(py, Logger::Coordinator, Level::Error, &message, None);
            return Ok(Next::Return(denying(py, "No approval system available")?));
        }
        let prompt = result.getattr(intern!(py, "approval_prompt"))?;
        let prompt = if prompt.is_truthy()? {
            prompt.cast_into::<PyString>()?
        } else {
            PyString::new(py, "Allow this operation?")
        };
        let options = result.getattr(intern!(py, "approval_options"))?;
        let options: Vec<String> = if options.is_truthy()? {
            options.extract()?
        } else {
            vec!["Allow".to_owned(), "Deny".to_owned()]
        };
        let timeout: f64 = result.getattr(intern!(py, "approval_timeout"))?.extract()?;
        let default = result.getattr(intern!(py, "approval_default"))?;
        let question = Question {
            data: result.getattr_opt(intern!(py, "data"))?.map(Bound::unbind),
            prompt: prompt.to_string_lossy().into_owned(),
            options: options.clone(),
            allow_on_timeout: default.cast::<PyString>()?.to_string_lossy() == "allow",
        };
        self.stage = Stage::Asking(question);
        let asking = module(py, intern!(py, "amplifier_core.approval"))?;
        let asked = asking.call_method1(
            intern!(py, "ask"),
            (
                approval,
                prompt,
                PyList::new(py, options)?,
                timeout,
                default,
                &self.hook_name,
                &self.event,
            ),
        );
        match asked {
            Ok(value) if is_awaitable(&value)? => {
                let limit = TimeLimit::seconds(timeout + APPROVAL_GRACE_SECONDS);
                let what = || format!("the approval for hook `{}`", self.hook_name);
                limit.on(value, what).map(Next::Await)
            }
            Ok(decision) => self.decide(&decision),
            Err(error) => self.not_decided(py, error),
        }
    }

    /// Reads what the approval system decided.
    fn decide<'py>(&self, decision: &Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = decision.py();
        let Stage::Asking(question) = &self.stage else {
            return Err(Step::misused());
        };
        if is_expired(decision)? {
            return self.timed_out(py);
        }
        let Ok(text) = decision.cast::<PyString>() else {
            let found = type_name(decision);
            return Err(PyTypeError::new_err(format!(
                "the approval system must answer with one of its options as a str, not `{found}`"
            )));
        };
        let prompt = clip_prompt(&question.prompt);
        match read_approval(&text.to_string_lossy(), &question.options) {
            Approval::Granted => return question.granted(py),
            Approval::Denied => {}
            Approval::Unexpected => {
                let message = format!(
                    "the approval system answered `{}`, which is not one of `{}`; denying",
                    clip_prompt(&text.to_string_lossy()),
                    question.options.join("`, `"),
                );
                log(py, Logger::Coordinator, Level::Warning, &message, None);
            }
        }
        Ok(Next::Return(denying(
            py,
            &format!("User denied: {prompt}"),
        )?))
    }

    fn not_decided<'py>(&self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        // Nothing can be imported when a coroutine is closed at the end of the interpreter.
        if !error.is_instance_of::<PyException>(py) {
            return Err(error);
        }
        let timeout =
            module(py, intern!(py, "amplifier_core.approval"))?.getattr("ApprovalTimeoutError")?;
        if error.is_instance_of::<PyTimeoutError>(py) || error.is_instance(py, &timeout) {
            return self.timed_out(py);
        }
        Err(error)
    }

    fn timed_out<'py>(&self, py: Python<'py>) -> PyResult<Next<'py>> {
        let Stage::Asking(question) = &self.stage else {
            return Err(Step::misused());
        };
        let default = if question.allow_on_timeout {
            "allow"
        } else {
            "deny"
        };
        let message = format!(
            "approval for hook `{}` timed out; using its default `{default}`",
            self.hook_name
        );
        log(py, Logger::Coordinator, Level::Warning, &message, None);
        module(py, intern!(py, "amplifier_core.approval"))?
            .call_method0(intern!(py, "note_timeout"))?;
        if question.allow_on_timeout {
            return question.granted(py);
        }
        let prompt = clip_prompt(&question.prompt);
        let reason = format!("Approval timeout - denied by default: {prompt}");
        Ok(Next::Return(denying(py, &reason)?))
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Next<'py>> {
        let result = self.result.bind(py);
        let suppresses = result.getattr_opt(intern!(py, "suppress_output"))?;
        if suppresses.is_some_and(|flag| flag.is_truthy().unwrap_or(false)) {
            let message = format!("hook `{}` suppresses the output", self.hook_name);
            log(py, Logger::Coordinator, Level::Debug, &message, None);
        }
        Ok(Next::Return(result.clone()))
    }
}

fn action(result: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(result
        .getattr(intern!(result.py(), "action"))?
        .cast::<PyString>()?
        .to_string_lossy()
        .into_owned())
}

impl Machine for Effects {
    fn start<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        if action(self.result.bind(py))? == "inject_context" {
            self.plan_injections(py)?;
        }
        self.inject(py)
    }

    fn returned<'py>(&mut self, value: Bound<'py, PyAny>) -> PyResult<Next<'py>> {
        let py = value.py();
        match &self.stage {
            Stage::Injecting => self.inject(py),
            Stage::Showing => self.finish(py),
            Stage::Asking(_) => self.decide(&value),
        }
    }

    fn raised<'py>(&mut self, py: Python<'py>, error: PyErr) -> PyResult<Next<'py>> {
        match &self.stage {
            Stage::Injecting => Err(error),
            Stage::Showing => self.not_shown(py, error),
            Stage::Asking(_) => self.not_decided(py, error),
        }
    }
}
