//! Contributions of modules to a channel, collected on demand.

use std::collections::HashMap;
use std::sync::Arc;

use super::sync::{Mutex, lock};
use crate::error::AmplifierError;
use crate::json::Json;
use crate::traits::BoxFuture;

type Callback =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Option<Json>, AmplifierError>> + Send + Sync>;

#[derive(Clone)]
struct Contributor {
    name: String,
    callback: Callback,
}

/// The contributors of every channel.
#[derive(Default)]
pub(super) struct Channels {
    channels: Mutex<HashMap<String, Vec<Contributor>>>,
}

impl Channels {
    pub(super) fn register<F, R>(&self, channel: &str, name: &str, callback: F)
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<Option<Json>, AmplifierError>> + Send + 'static,
    {
        let contributor = Contributor {
            name: name.to_owned(),
            callback: Arc::new(move || Box::pin(callback())),
        };
        let mut channels = lock(&self.channels);
        channels
            .entry(channel.to_owned())
            .or_default()
            .push(contributor);
    }

    /// Asks the contributors one by one, in the order of registration.
    pub(super) async fn collect(&self, channel: &str) -> Vec<Json> {
        let contributors = lock(&self.channels)
            .get(channel)
            .cloned()
            .unwrap_or_default();
        let mut collected = Vec::new();
        for Contributor { name, callback } in contributors {
            match callback().await {
                Ok(contribution) => collected.extend(contribution),
                Err(error) => log::warn!(
                    target: "amplifier_core.coordinator",
                    "contributor `{name}` of `{channel}` failed; continuing without it: {}",
                    error.describe(),
                ),
            }
        }
        collected
    }
}
