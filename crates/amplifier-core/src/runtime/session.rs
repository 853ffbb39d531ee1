//! A session: mounts its modules, runs turns, announces its end.

mod builder;

pub use builder::SessionBuilder;

use std::pin::pin;
use std::sync::Arc;

use super::coordinator::Coordinator;
use super::hook::payload;
use super::redaction::redacted;
use super::sync::{Mutex, Notify, lock};
use super::world::{SystemWorld, new_uuid};
use tracing::Instrument;

use crate::cancellation::CancellationState;
use crate::coordinator::Slot;
use crate::error::{AmplifierError, SessionError};
use crate::event;
use crate::json::{Json, Object};
use crate::session::{self, Initialization};
use crate::session_config::SessionConfig;
use crate::traits::{ApprovalProvider, DisplayService, Turn, World};

/// The identity of a session, and the services it uses.
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// Its id; generated if there is none.
    pub session_id: Option<String>,
    /// The session that it was forked from.
    pub parent_id: Option<String>,
    /// Whether it continues an earlier session.
    pub is_resumed: bool,
    /// The provider of approvals.
    pub approval: Option<Arc<dyn ApprovalProvider>>,
    /// The service that shows messages to the user.
    pub display: Option<Arc<dyn DisplayService>>,
    /// Where it gets time and ids; the system if there is none.
    pub world: Option<Arc<dyn World>>,
}

/// A conversation with its modules.
///
/// # Examples
///
/// ```
/// use amplifier_core::runtime::{ScriptedProvider, Session, SimpleContext};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), amplifier_core::error::AmplifierError> {
/// let session = Session::builder()
///     .provider(ScriptedProvider::new().answer("Hello.").answer("As I said: hello."))
///     .context(SimpleContext::new().with_system_prompt("You are brief."))
///     .initialize()
///     .await?;
///
/// assert_eq!(session.execute("Hi.").await?, "Hello.");
/// assert_eq!(session.execute("Pardon?").await?, "As I said: hello.");
/// session.cleanup().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    id: String,
    parent_id: Option<String>,
    config: SessionConfig,
    coordinator: Coordinator,
    life: Mutex<Life>,
    load_ended: Notify,
}

#[derive(Debug)]
struct Life {
    session: session::Session,
    is_completed: bool,
    is_in_turn: bool,
}

impl Session {
    /// A session with a [`BasicLoop`](super::BasicLoop) and a
    /// [`SimpleContext`](super::SimpleContext), to which providers, tools and hooks are added.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::new()
    }

    /// A session with nothing mounted.
    #[must_use]
    pub fn new(config: SessionConfig) -> Self {
        Self::with_options(config, SessionOptions::default())
    }

    /// A session with nothing mounted, with these options.
    #[must_use]
    pub fn with_options(config: SessionConfig, options: SessionOptions) -> Self {
        let SessionOptions {
            session_id,
            parent_id,
            is_resumed,
            approval,
            display,
            world,
        } = options;
        let world = world.unwrap_or_else(|| Arc::new(SystemWorld));
        let coordinator = Coordinator::with_world(config.limits, world);
        coordinator.set_approval_provider(approval);
        coordinator.set_display_service(display);
        let id = session_id.unwrap_or_else(|| new_uuid(coordinator.world()).to_string());
        coordinator.hooks().set_default_fields(payload([
            ("session_id", id.clone().into()),
            (
                "parent_id",
                parent_id.clone().map_or(Json::Null, Json::from),
            ),
        ]));
        Self {
            id,
            parent_id,
            config,
            coordinator,
            life: Mutex::new(Life {
                session: session::Session::new(is_resumed),
                is_completed: false,
                is_in_turn: false,
            }),
            load_ended: Notify::new(),
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session that it was forked from.
    #[must_use]
    pub fn parent_id(&self) -> Option<&str> {
        self.parent_id.as_deref()
    }

    /// Its mount plan.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// Its coordinator.
    #[must_use]
    pub fn coordinator(&self) -> &Coordinator {
        &self.coordinator
    }

    /// Whether it is ready for turns.
    #[must_use]
    pub fn is_initialized(&self) -> bool {
        lock(&self.life).session.is_initialized()
    }

    /// Whether it continues an earlier session.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        lock(&self.life).session.is_resumed()
    }

    /// Initializes a session whose modules are mounted already.
    pub async fn initialize(&self) -> Result<(), AmplifierError> {
        self.initialize_with(|_| std::future::ready(Ok(()))).await
    }

    /// Initializes the session by `mount`, which mounts the modules. Concurrent calls mount once. A
    /// forked session is announced. After a failure, or if the future is dropped, the next call
    /// tries again.
    pub async fn initialize_with<F, R>(&self, mount: F) -> Result<(), AmplifierError>
    where
        F: FnOnce(Coordinator) -> R,
        R: Future<Output = Result<(), AmplifierError>>,
    {
        loop {
            let mut ended = pin!(self.load_ended.notified());
            ended.as_mut().enable();
            let initialization = lock(&self.life).session.begin_initialize();
            match initialization {
                Initialization::Done => return Ok(()),
                Initialization::Wait => ended.await,
                Initialization::Load => break,
            }
        }
        let mut load = Load {
            session: self,
            has_succeeded: false,
        };
        mount(self.coordinator.clone()).await?;
        if let Some(parent) = &self.parent_id {
            let mut data = payload([
                ("parent", parent.as_str().into()),
                ("session_id", self.id.as_str().into()),
            ]);
            self.add_metadata(&mut data);
            if self.config.is_disclosed {
                data.insert("raw".to_owned(), redacted(&self.config.plan).into());
            }
            self.emit(event::SESSION_FORK, data).await;
        }
        load.has_succeeded = true;
        Ok(())
    }

    /// Runs a turn and returns the answer, or the original error of the module that failed.
    ///
    /// The first turn announces the session. A turn that ends while the session is cancelled emits
    /// an event for it, if its loop has not; one whose future is dropped emits nothing. A
    /// second turn while one runs is refused, as it would mix its messages into the same history.
    pub async fn execute(&self, prompt: &str) -> Result<String, AmplifierError> {
        let (announcement, _running) = self.begin_turn()?;
        if let Some(announcement) = announcement {
            let mut data = payload([
                ("session_id", self.id.as_str().into()),
                (
                    "parent_id",
                    self.parent_id.clone().map_or(Json::Null, Json::from),
                ),
            ]);
            self.add_metadata(&mut data);
            self.emit(announcement, data).await;
        }
        if self.config.is_disclosed {
            let data = payload([
                ("session_id", self.id.as_str().into()),
                ("raw", redacted(&self.config.plan).into()),
            ]);
            self.emit(event::SESSION_CONFIG, data).await;
        }
        let told_before = self.coordinator.hooks().cancellations_told();
        let turn =
            tracing::debug_span!(target: "amplifier_core::session", "turn", session = self.id);
        let answer = self.run(prompt).instrument(turn).await;
        let level = self.coordinator.cancellation().state();
        let is_told = self.coordinator.hooks().cancellations_told() != told_before;
        if level != CancellationState::None && !is_told {
            let was_immediate = level == CancellationState::Immediate;
            let mut data = payload([("was_immediate", was_immediate.into())]);
            if let Err(error) = &answer {
                data.insert("error".to_owned(), error.describe().into());
            }
            self.emit(event::CANCEL_COMPLETED, data).await;
        }
        answer
    }

    /// Announces the end of the session to its hooks, then runs every clean-up function. A second
    /// call does nothing.
    pub async fn cleanup(&self) {
        let was_open = {
            let mut life = lock(&self.life);
            let was_open = life.session.close();
            life.is_completed |= was_open;
            was_open
        };
        if was_open {
            let data = payload([("session_id", self.id.as_str().into())]);
            self.emit(event::SESSION_END, data).await;
        }
        self.coordinator.cleanup().await;
    }

    fn begin_turn(&self) -> Result<(Option<&'static str>, RunningTurn<'_>), SessionError> {
        let mut life = lock(&self.life);
        if life.is_in_turn {
            let message = "a turn of this session is running; await it first".to_owned();
            return Err(SessionError::Other(message));
        }
        match life.session.begin_turn() {
            Err(SessionError::NotInitialized) if life.is_completed => {
                Err(SessionError::AlreadyCompleted)
            }
            Err(error) => Err(error),
            Ok(announcement) => {
                life.is_in_turn = true;
                Ok((announcement, RunningTurn(self)))
            }
        }
    }

    async fn run(&self, prompt: &str) -> Result<String, AmplifierError> {
        let missing = SessionError::NotMounted;
        let orchestrator = self.coordinator.orchestrator();
        let orchestrator = orchestrator.ok_or(missing(Slot::Orchestrator))?;
        let context = self.coordinator.context();
        let turn = Turn {
            prompt,
            context: context.ok_or(missing(Slot::Context))?,
            providers: self.coordinator.providers(),
            tools: self.coordinator.tools(),
            kernel: &self.coordinator,
        };
        orchestrator.execute(turn).await
    }

    fn add_metadata(&self, data: &mut Object) {
        if let Some(metadata) = &self.config.metadata {
            data.insert("metadata".to_owned(), metadata.clone().into());
        }
    }

    async fn emit(&self, event: &str, data: Object) {
        self.coordinator.hooks().emit(event, data).await;
    }
}

/// A load in progress; it ends in every case, also when its future is dropped.
struct Load<'a> {
    session: &'a Session,
    has_succeeded: bool,
}

impl Drop for Load<'_> {
    fn drop(&mut self) {
        let mut life = lock(&self.session.life);
        life.session.end_initialize(self.has_succeeded);
        life.is_completed &= !self.has_succeeded;
        drop(life);
        self.session.load_ended.notify_waiters();
    }
}

/// A turn in progress; it ends in every case, also when its future is dropped.
struct RunningTurn<'a>(&'a Session);

impl Drop for RunningTurn<'_> {
    fn drop(&mut self) {
        lock(&self.0.life).is_in_turn = false;
    }
}
