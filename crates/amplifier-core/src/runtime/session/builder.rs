//! A session in one expression.

use std::fmt;
use std::sync::Arc;

use super::{Session, SessionOptions};
use crate::error::AmplifierError;
use crate::runtime::basic_loop::BasicLoop;
use crate::runtime::hook::HookOptions;
use crate::runtime::module::Module;
use crate::runtime::simple_context::SimpleContext;
use crate::session_config::SessionConfig;
use crate::traits::{
    ApprovalProvider, ContextManager, HookHandler, Orchestrator, Provider, Tool, World,
};

/// The modules of a session that is to be; [`Session::builder`] makes one.
///
/// # Examples
///
/// ```
/// use amplifier_core::runtime::{HookOptions, ScriptedProvider, Session, SessionOptions};
/// use amplifier_core::{HookResult, Object, event};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), amplifier_core::error::AmplifierError> {
/// let remind = |_: &str, _: &Object| Ok(HookResult::inject("Answer in French.").ephemeral());
/// let model = ScriptedProvider::new().answer("Bonjour.");
/// let session = Session::builder()
///     .options(SessionOptions { session_id: Some("s-1".to_owned()), ..SessionOptions::default() })
///     .provider(model.clone())
///     .hook(event::PROVIDER_REQUEST, remind, HookOptions::named("remind").priority(10))
///     .initialize()
///     .await?;
///
/// session.execute("Hello.").await?;
/// assert_eq!(model.requests()[0].messages[1].plain_text(), "Answer in French.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `initialize` is awaited"]
pub struct SessionBuilder {
    config: SessionConfig,
    options: SessionOptions,
    modules: Vec<Module>,
    hooks: Vec<(String, Arc<dyn HookHandler>, HookOptions)>,
}

impl SessionBuilder {
    pub(super) fn new() -> Self {
        Self {
            config: SessionConfig::new("loop-basic", "context-simple"),
            options: SessionOptions::default(),
            modules: Vec::new(),
            hooks: Vec::new(),
        }
    }

    /// Sets the mount plan, whose limits hold; its modules are not loaded.
    pub fn config(mut self, config: SessionConfig) -> Self {
        self.config = config;
        self
    }

    /// Sets the identity of the session, and the services it uses.
    pub fn options(mut self, options: SessionOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets who answers what hooks ask the user.
    pub fn approval(mut self, approval: impl ApprovalProvider + 'static) -> Self {
        self.options.approval = Some(Arc::new(approval));
        self
    }

    /// Sets where the session gets time and ids, also for its [`SimpleContext`] if none is set.
    pub fn world(mut self, world: impl World + 'static) -> Self {
        self.options.world = Some(Arc::new(world));
        self
    }

    /// Sets the loop; without it, it is a [`BasicLoop`].
    pub fn orchestrator(self, orchestrator: impl Orchestrator + 'static) -> Self {
        self.module(Module::orchestrator(orchestrator))
    }

    /// Sets the context; without it, it is a [`SimpleContext`].
    pub fn context(self, context: impl ContextManager + 'static) -> Self {
        self.module(Module::context(context))
    }

    /// Mounts a provider under its own name.
    pub fn provider(self, provider: impl Provider + 'static) -> Self {
        self.module(Module::provider(provider))
    }

    /// Mounts a tool under its own name.
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.module(Module::tool(tool))
    }

    /// Mounts a module; it replaces one of the same slot and name.
    pub fn module(mut self, module: Module) -> Self {
        self.modules.push(module);
        self
    }

    /// Registers a handler for an event; as options, its name will do.
    pub fn hook(
        mut self,
        event: &str,
        handler: impl HookHandler + 'static,
        options: impl Into<HookOptions>,
    ) -> Self {
        self.hooks
            .push((event.to_owned(), Arc::new(handler), options.into()));
        self
    }

    /// Mounts everything, and initializes the session.
    pub async fn initialize(self) -> Result<Session, AmplifierError> {
        let mut context = SimpleContext::new();
        if let Some(world) = &self.options.world {
            context = context.with_world(Arc::clone(world));
        }
        let defaults = [
            Module::orchestrator(BasicLoop::new()),
            Module::context(context),
        ];
        let session = Session::with_options(self.config, self.options);
        let coordinator = session.coordinator();
        for module in defaults.into_iter().chain(self.modules) {
            coordinator.mount(module, None)?;
        }
        for (event, handler, options) in self.hooks {
            coordinator.hooks().register(&event, handler, options);
        }
        session.initialize().await?;
        Ok(session)
    }
}

impl fmt::Debug for SessionBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SessionBuilder")
            .field("modules", &self.modules.len())
            .field("hooks", &self.hooks.len())
            .finish_non_exhaustive()
    }
}
