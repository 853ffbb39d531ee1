//! A module and its slot.

use std::sync::Arc;

use crate::coordinator::Slot;
use crate::traits::{Capability, ContextManager, Orchestrator, Provider, Tool};

/// A module, which knows its slot.
#[derive(Clone)]
pub enum Module {
    /// The loop.
    Orchestrator(Arc<dyn Orchestrator>),
    /// The context.
    Context(Arc<dyn ContextManager>),
    /// A provider, mounted under a name.
    Provider(Arc<dyn Provider>),
    /// A tool, mounted under a name.
    Tool(Arc<dyn Tool>),
    /// The resolver of module sources.
    SourceResolver(Capability),
}

impl Module {
    /// A loop.
    pub fn orchestrator(orchestrator: impl Orchestrator + 'static) -> Self {
        Self::Orchestrator(Arc::new(orchestrator))
    }

    /// A context.
    pub fn context(context: impl ContextManager + 'static) -> Self {
        Self::Context(Arc::new(context))
    }

    /// A provider.
    pub fn provider(provider: impl Provider + 'static) -> Self {
        Self::Provider(Arc::new(provider))
    }

    /// A tool.
    pub fn tool(tool: impl Tool + 'static) -> Self {
        Self::Tool(Arc::new(tool))
    }

    /// Its slot.
    #[must_use]
    pub fn slot(&self) -> Slot {
        match self {
            Self::Orchestrator(_) => Slot::Orchestrator,
            Self::Context(_) => Slot::Context,
            Self::Provider(_) => Slot::Providers,
            Self::Tool(_) => Slot::Tools,
            Self::SourceResolver(_) => Slot::ModuleSourceResolver,
        }
    }

    /// Its own name; an empty one counts as no name.
    pub(super) fn name(&self) -> Option<String> {
        let name = match self {
            Self::Provider(provider) => provider.name(),
            Self::Tool(tool) => tool.name(),
            Self::Orchestrator(_) | Self::Context(_) | Self::SourceResolver(_) => "",
        };
        (!name.is_empty()).then(|| name.to_owned())
    }
}
