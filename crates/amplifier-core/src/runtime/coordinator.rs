//! The coordinator: the mounted modules, and the values that they share.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;

use super::cancellation::CancellationToken;
use super::cleanup::Cleanup;
use super::contribution::Channels;
use super::hook::HookRegistry;
use super::module::Module;
use super::sync::{Mutex, lock};
use super::world::SharedWorld;
use crate::coordinator::{InjectionLimits, MountTarget, Slot, mount_target, unmount_target};
use crate::error::{AmplifierError, MountError};
use crate::json::Json;
use crate::traits::{
    ApprovalProvider, Capability, ContextManager, DisplayService, Orchestrator, Provider, Tool,
    World,
};

/// The parts of a session. Clones share them.
///
/// # Examples
///
/// Tools and hooks may come and go between turns, and the code around a session may cancel it:
///
/// ```
/// use amplifier_core::coordinator::Slot;
/// use amplifier_core::runtime::{FunctionTool, Module, ScriptedProvider, Session};
/// use amplifier_core::{Object, ToolResult};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), amplifier_core::error::AmplifierError> {
/// let session = Session::builder()
///     .provider(ScriptedProvider::new().answer("Hello."))
///     .initialize()
///     .await?;
/// let coordinator = session.coordinator().clone();
///
/// let ping = FunctionTool::new("ping", "Answer.", Object::new(), |_| async {
///     Ok(ToolResult::text("pong"))
/// });
/// coordinator.mount(Module::tool(ping), Some("ping-once"))?;
/// assert!(coordinator.tools().contains_key("ping-once"));
/// coordinator.unmount(Slot::Tools, Some("ping-once"))?;
///
/// // From another task, usually:
/// coordinator.request_cancel(false);
/// assert_eq!(session.execute("Hi.").await?, "");
/// coordinator.cancellation().reset();
/// assert_eq!(session.execute("Hi.").await?, "Hello.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Coordinator {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    world: SharedWorld,
    hooks: HookRegistry,
    cancellation: CancellationToken,
    limits: InjectionLimits,
    mounted: Mutex<Mounted>,
    cleanup: Cleanup,
    channels: Channels,
}

#[derive(Default)]
struct Mounted {
    single: IndexMap<Slot, Module>,
    providers: IndexMap<String, Arc<dyn Provider>>,
    tools: IndexMap<String, Arc<dyn Tool>>,
    capabilities: IndexMap<String, Capability>,
    approval: Option<Arc<dyn ApprovalProvider>>,
    display: Option<Arc<dyn DisplayService>>,
    turn_injections: i64,
}

impl Coordinator {
    /// An empty coordinator with these limits on the injections of hooks.
    #[must_use]
    pub fn new(limits: InjectionLimits) -> Self {
        Self {
            inner: Arc::new(Inner {
                limits,
                ..Inner::default()
            }),
        }
    }

    /// An empty coordinator with these limits, in a world that is not the system.
    #[must_use]
    pub fn with_world(limits: InjectionLimits, world: Arc<dyn World>) -> Self {
        let world = SharedWorld::new(world);
        Self {
            inner: Arc::new(Inner {
                hooks: HookRegistry::with_world(world.clone()),
                world,
                limits,
                ..Inner::default()
            }),
        }
    }

    /// Where its parts get time and randomness.
    #[must_use]
    pub fn world(&self) -> &dyn World {
        &*self.inner.world
    }

    /// The hooks.
    #[must_use]
    pub fn hooks(&self) -> &HookRegistry {
        &self.inner.hooks
    }

    /// The cancellation token.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.inner.cancellation
    }

    /// Mounts a module; in a named slot under `name`, else under its own name. Replaces what was
    /// mounted there.
    pub fn mount(&self, module: Module, name: Option<&str>) -> Result<(), MountError> {
        let given = name.map(str::to_owned);
        let target = mount_target(module.slot(), given, || Ok::<_, MountError>(module.name()))?;
        let mut mounted = lock(&self.inner.mounted);
        // Kept until the lock is released, as modules may call back when they are dropped.
        let _earlier = match (module, target) {
            (Module::Provider(one), MountTarget::Entry(name)) => {
                mounted.providers.insert(name, one).map(Module::Provider)
            }
            (Module::Tool(one), MountTarget::Entry(name)) => {
                mounted.tools.insert(name, one).map(Module::Tool)
            }
            (module, _) => mounted.single.insert(module.slot(), module),
        };
        drop(mounted);
        Ok(())
    }

    /// Unmounts a module. An unknown name is ignored, and so is the slot of the hooks.
    pub fn unmount(&self, slot: Slot, name: Option<&str>) -> Result<(), MountError> {
        let mut mounted = lock(&self.inner.mounted);
        let _earlier = match (slot, unmount_target(slot, name)?) {
            (Slot::Providers, Some(MountTarget::Entry(name))) => {
                mounted.providers.shift_remove(name).map(Module::Provider)
            }
            (Slot::Tools, Some(MountTarget::Entry(name))) => {
                mounted.tools.shift_remove(name).map(Module::Tool)
            }
            (slot, Some(_)) => mounted.single.shift_remove(&slot),
            (_, None) => None,
        };
        drop(mounted);
        Ok(())
    }

    /// The loop.
    #[must_use]
    pub fn orchestrator(&self) -> Option<Arc<dyn Orchestrator>> {
        match lock(&self.inner.mounted).single.get(&Slot::Orchestrator)? {
            Module::Orchestrator(orchestrator) => Some(Arc::clone(orchestrator)),
            _ => None,
        }
    }

    /// The context.
    #[must_use]
    pub fn context(&self) -> Option<Arc<dyn ContextManager>> {
        match lock(&self.inner.mounted).single.get(&Slot::Context)? {
            Module::Context(context) => Some(Arc::clone(context)),
            _ => None,
        }
    }

    /// The resolver of module sources.
    #[must_use]
    pub fn source_resolver(&self) -> Option<Capability> {
        let mounted = lock(&self.inner.mounted);
        match mounted.single.get(&Slot::ModuleSourceResolver)? {
            Module::SourceResolver(resolver) => Some(Arc::clone(resolver)),
            _ => None,
        }
    }

    /// The providers by name, in the order of mounting.
    #[must_use]
    pub fn providers(&self) -> IndexMap<String, Arc<dyn Provider>> {
        lock(&self.inner.mounted).providers.clone()
    }

    /// The tools by name, in the order of mounting.
    #[must_use]
    pub fn tools(&self) -> IndexMap<String, Arc<dyn Tool>> {
        lock(&self.inner.mounted).tools.clone()
    }

    /// Sets the provider of approvals.
    pub fn set_approval_provider(&self, approval: Option<Arc<dyn ApprovalProvider>>) {
        let earlier = std::mem::replace(&mut lock(&self.inner.mounted).approval, approval);
        drop(earlier);
    }

    /// Sets the service that shows messages to the user.
    pub fn set_display_service(&self, display: Option<Arc<dyn DisplayService>>) {
        let earlier = std::mem::replace(&mut lock(&self.inner.mounted).display, display);
        drop(earlier);
    }

    pub(super) fn approval_provider(&self) -> Option<Arc<dyn ApprovalProvider>> {
        lock(&self.inner.mounted).approval.clone()
    }

    pub(super) fn display_service(&self) -> Option<Arc<dyn DisplayService>> {
        lock(&self.inner.mounted).display.clone()
    }

    /// Registers a capability under a name; replaces one of the same name.
    pub fn register_capability(&self, name: &str, capability: Capability) {
        let mut mounted = lock(&self.inner.mounted);
        let earlier = mounted.capabilities.insert(name.to_owned(), capability);
        drop(mounted);
        drop(earlier);
    }

    /// The capability of this name.
    #[must_use]
    pub fn get_capability(&self, name: &str) -> Option<Capability> {
        lock(&self.inner.mounted).capabilities.get(name).cloned()
    }

    /// Registers a contributor to a channel; it returns `None` for no contribution.
    pub fn register_contributor<F, R>(&self, channel: &str, name: &str, callback: F)
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<Option<Json>, AmplifierError>> + Send + 'static,
    {
        self.inner.channels.register(channel, name, callback);
    }

    /// The contributions to a channel, in the order of registration; a contributor that fails is
    /// logged and skipped.
    pub async fn collect_contributions(&self, channel: &str) -> Vec<Json> {
        self.inner.channels.collect(channel).await
    }

    /// Registers a function that runs at clean-up.
    pub fn register_cleanup<F, R>(&self, function: F)
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future<Output = Result<(), AmplifierError>> + Send + 'static,
    {
        self.inner.cleanup.register(function);
    }

    /// Runs every clean-up function once, the last registered first; failures are logged.
    pub async fn cleanup(&self) {
        self.inner.cleanup.run().await;
    }

    /// Raises the level of the token, with no event and no callback.
    pub fn request_cancel(&self, immediate: bool) {
        if immediate {
            self.cancellation().request_immediate();
        } else {
            self.cancellation().request_graceful();
        }
    }

    /// Resets the injection budget for a new turn.
    pub fn reset_turn(&self) {
        lock(&self.inner.mounted).turn_injections = 0;
    }

    /// The tokens that hooks have injected in this turn.
    #[must_use]
    pub fn turn_injections(&self) -> i64 {
        lock(&self.inner.mounted).turn_injections
    }

    /// Charges the turn with what `charge` finds under these limits and the tokens used so far.
    pub(super) fn charge<E>(
        &self,
        charge: impl FnOnce(InjectionLimits, i64) -> Result<i64, E>,
    ) -> Result<(), E> {
        let mut mounted = lock(&self.inner.mounted);
        let tokens = charge(self.inner.limits, mounted.turn_injections)?;
        mounted.turn_injections = mounted.turn_injections.saturating_add(tokens);
        Ok(())
    }
}

impl fmt::Debug for Coordinator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mounted = lock(&self.inner.mounted);
        formatter
            .debug_struct("Coordinator")
            .field("single", &mounted.single.keys())
            .field("providers", &mounted.providers.keys())
            .field("tools", &mounted.tools.keys())
            .field("capabilities", &mounted.capabilities.keys())
            .finish_non_exhaustive()
    }
}
