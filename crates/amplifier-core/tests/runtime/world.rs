//! What a session reads of its world.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use amplifier_core::coordinator::InjectionLimits;
use amplifier_core::runtime::{Coordinator, HookOptions, ScriptedProvider, Session, SystemWorld};
use amplifier_core::traits::World;
use amplifier_core::{HookResult, Json, Object, event};

/// A world in which no two ids are the same, and the time is.
#[derive(Default)]
struct Counted(AtomicU8);

impl World for Counted {
    fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_767_225_600)
    }

    fn random_bytes(&self) -> [u8; 16] {
        [self.0.fetch_add(1, Ordering::Relaxed) + 1; 16]
    }
}

const NOW: &str = "2026-01-01T00:00:00.000000+00:00";
const FIRST_ID: &str = "01010101-0101-4101-8101-010101010101";

// Holds: world-5
#[tokio::test]
async fn time_stamps_and_ids_of_a_session_are_of_its_world() {
    let stamps = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&stamps);
    let note = move |_: &str, data: &Object| {
        seen.lock().unwrap().push(data["timestamp"].clone());
        Ok(HookResult::proceed())
    };
    let session = Session::builder()
        .world(Counted::default())
        .provider(ScriptedProvider::new().answer("Hello."))
        .hook(event::PROMPT_SUBMIT, note, "note")
        .initialize()
        .await
        .unwrap();
    session.execute("Hi.").await.unwrap();

    assert_eq!(session.id(), FIRST_ID);
    assert_eq!(*stamps.lock().unwrap(), [Json::from(NOW)]);
    let context = session.coordinator().context().unwrap();
    let messages = context.get_messages().await.unwrap();
    assert_eq!(messages.len(), 2);
    for message in messages {
        assert_eq!(message.metadata.unwrap()["timestamp"], Json::from(NOW));
    }
}

// Holds: world-5
#[tokio::test]
async fn a_handler_without_a_name_is_named_by_the_world() {
    let world = Arc::new(Counted::default());
    let coordinator = Coordinator::with_world(InjectionLimits::default(), world);
    let proceed = |_: &str, _: &Object| Ok(HookResult::proceed());
    coordinator
        .hooks()
        .register("tool:pre", proceed, HookOptions::default());

    let names = coordinator.hooks().list_handlers();
    assert_eq!(names["tool:pre"], [format!("_auto_tool:pre_{FIRST_ID}")]);
}

#[tokio::test]
async fn the_system_is_the_world_of_a_session_without_one() {
    let before = SystemTime::now();
    let now = Coordinator::default().world().time();
    assert!(before <= now && now <= SystemTime::now());
    assert_ne!(SystemWorld.random_bytes(), SystemWorld.random_bytes());
}
