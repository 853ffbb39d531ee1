//! The world that a session reads: the system, or one of a test or a replay.

use std::ops::Deref;
use std::sync::Arc;
use std::time::SystemTime;

use uuid::{Builder, Uuid};

use crate::traits::World;

/// The time and the randomness of the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemWorld;

impl World for SystemWorld {
    fn time(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random_bytes(&self) -> [u8; 16] {
        // All but the six bits that make it a UUID are random, and ids set those themselves.
        Uuid::new_v4().into_bytes()
    }
}

/// A world as the parts of a session share it.
#[derive(Clone)]
pub(super) struct SharedWorld(Arc<dyn World>);

impl SharedWorld {
    pub(super) fn new(world: Arc<dyn World>) -> Self {
        Self(world)
    }
}

impl Default for SharedWorld {
    fn default() -> Self {
        Self(Arc::new(SystemWorld))
    }
}

impl Deref for SharedWorld {
    type Target = dyn World;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

/// A random UUID of a world.
pub(super) fn new_uuid(world: &dyn World) -> Uuid {
    Builder::from_random_bytes(world.random_bytes()).into_uuid()
}
