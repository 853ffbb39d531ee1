//! The places that a coordinator has for modules.

/// A mount point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot {
    /// The loop.
    Orchestrator,
    /// The model providers, by name.
    Providers,
    /// The tools, by name.
    Tools,
    /// The context.
    Context,
    /// The hook registry, which is never mounted.
    Hooks,
    /// The resolver of module sources.
    ModuleSourceResolver,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotKind {
    /// One module at most.
    Single,
    /// Modules by name.
    Named,
    /// The hook registry.
    Registry,
}

impl Slot {
    /// Every slot in the order of the contract.
    pub const ALL: [Self; 6] = [
        Self::Orchestrator,
        Self::Providers,
        Self::Tools,
        Self::Context,
        Self::Hooks,
        Self::ModuleSourceResolver,
    ];

    /// The names of all slots, for messages.
    pub(crate) fn names() -> String {
        Self::ALL
            .map(|slot| format!("`{}`", slot.as_str()))
            .join(", ")
    }

    /// The name of the slot.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Orchestrator => "orchestrator",
            Self::Providers => "providers",
            Self::Tools => "tools",
            Self::Context => "context",
            Self::Hooks => "hooks",
            Self::ModuleSourceResolver => "module-source-resolver",
        }
    }

    /// What the slot holds.
    #[must_use]
    pub fn kind(self) -> SlotKind {
        match self {
            Self::Orchestrator | Self::Context | Self::ModuleSourceResolver => SlotKind::Single,
            Self::Providers | Self::Tools => SlotKind::Named,
            Self::Hooks => SlotKind::Registry,
        }
    }
}
