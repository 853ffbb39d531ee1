//! The mount plan of a session, with types.

use crate::coordinator::InjectionLimits;
use crate::error::SessionError;
use crate::from_json::FromJson;
use crate::json::{Json, Object};

/// A module of a mount plan.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModuleSpec {
    /// The id by which it is found.
    pub module: String,
    /// Where it comes from, if the plan says so.
    pub source: Option<Json>,
    /// Its settings.
    pub config: Object,
    /// The name under which a provider is mounted, where there are several of one module.
    pub instance_id: Option<String>,
}

/// What a session is made of, and its limits.
///
/// # Examples
///
/// ```
/// use amplifier_core::SessionConfig;
///
/// let plan = r#"{"session": {"orchestrator": "loop-basic", "context": "context-simple"},
///                "tools": [{"module": "tool-search", "config": {"root": "."}}]}"#;
/// let config = SessionConfig::parse(plan.as_bytes())?;
///
/// assert_eq!(config.orchestrator.module, "loop-basic");
/// assert_eq!(config.tools[0].config["root"].as_str(), Some("."));
/// # Ok::<(), amplifier_core::error::SessionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SessionConfig {
    /// The loop.
    pub orchestrator: ModuleSpec,
    /// The context manager.
    pub context: ModuleSpec,
    /// The providers.
    pub providers: Vec<ModuleSpec>,
    /// The tools.
    pub tools: Vec<ModuleSpec>,
    /// The hooks.
    pub hooks: Vec<ModuleSpec>,
    /// What hooks may inject.
    pub limits: InjectionLimits,
    /// What an application adds to the events that announce the session.
    pub metadata: Option<Object>,
    /// Whether every turn emits the plan as `session:config`.
    pub is_disclosed: bool,
    /// The whole plan, with what has no field here.
    pub plan: Object,
}

impl SessionConfig {
    /// A session of this loop and this context, with nothing else in its plan.
    #[must_use]
    pub fn new(orchestrator: &str, context: &str) -> Self {
        let section = Json::from_iter([("orchestrator", orchestrator), ("context", context)]);
        let spec = |module: &str| ModuleSpec {
            module: module.to_owned(),
            ..ModuleSpec::default()
        };
        Self {
            orchestrator: spec(orchestrator),
            context: spec(context),
            providers: Vec::new(),
            tools: Vec::new(),
            hooks: Vec::new(),
            limits: InjectionLimits::default(),
            metadata: None,
            is_disclosed: false,
            plan: Object::from_iter([("session".to_owned(), section)]),
        }
    }

    /// Reads a mount plan from a JSON text.
    pub fn parse(text: &[u8]) -> Result<Self, SessionError> {
        match Json::parse(text) {
            Ok(plan) => Self::from_json(plan),
            Err(error) => Err(SessionError::ConfigInvalid(error.to_string())),
        }
    }

    /// Reads a mount plan.
    pub fn from_json(plan: Json) -> Result<Self, SessionError> {
        let Json::Object(plan) = plan else {
            let found = plan.kind();
            return Err(SessionError::ConfigInvalid(format!(
                "the mount plan must be an object with a section `session`, found {found}"
            )));
        };
        if plan.is_empty() {
            return Err(SessionError::ConfigMissing);
        }
        let section = plan.get("session").unwrap_or(&Json::Null);
        let orchestrator = main_module(&plan, section, "orchestrator")?;
        let context = main_module(&plan, section, "context")?;
        Ok(Self {
            orchestrator,
            context,
            providers: modules(&plan, "providers")?,
            tools: modules(&plan, "tools")?,
            hooks: modules(&plan, "hooks")?,
            limits: InjectionLimits {
                size: read(section, "session", "injection_size_limit")?,
                budget: read(section, "session", "injection_budget_per_turn")?,
                total: read(section, "session", "injection_limit_per_turn")?,
            },
            metadata: read::<Object>(section, "session", "metadata")?
                .filter(|metadata| !metadata.is_empty()),
            is_disclosed: section.get("raw").is_some_and(Json::is_truthy),
            plan,
        })
    }
}

/// A module that every session needs.
fn main_module(
    plan: &Object,
    section: &Json,
    name: &'static str,
) -> Result<ModuleSpec, SessionError> {
    match section.get(name) {
        Some(Json::Str(module)) if !module.is_empty() => {
            let settings = plan.get(name).unwrap_or(&Json::Null);
            Ok(ModuleSpec {
                module: module.clone(),
                source: read(section, "session", &format!("{name}_source"))?,
                config: read(settings, name, "config")?.unwrap_or_default(),
                instance_id: None,
            })
        }
        Some(spec @ Json::Object(_)) if spec.is_truthy() => {
            let path = format!("session.{name}");
            let module = module(spec, &path)?;
            module.ok_or_else(|| SessionError::ConfigInvalid(format!("`{path}.module` is missing")))
        }
        Some(other) if other.is_truthy() => Err(SessionError::ConfigInvalid(format!(
            "`session.{name}` must be a module's id or an object, found {}",
            other.kind()
        ))),
        _ => Err(SessionError::ModuleMissing(name)),
    }
}

/// The modules of a list; an entry without a module is ignored.
fn modules(plan: &Object, name: &str) -> Result<Vec<ModuleSpec>, SessionError> {
    let entries = match plan.get(name) {
        None | Some(Json::Null) => return Ok(Vec::new()),
        Some(Json::Array(entries)) => entries,
        Some(other) => {
            let found = other.kind();
            return Err(SessionError::ConfigInvalid(format!(
                "`{name}` must be an array of modules, found {found}"
            )));
        }
    };
    let specs = entries.iter().enumerate();
    specs
        .filter_map(|(place, spec)| module(spec, &format!("{name}[{place}]")).transpose())
        .collect()
}

/// One module; `None` if the entry names no module.
fn module(spec: &Json, path: &str) -> Result<Option<ModuleSpec>, SessionError> {
    let module: Option<String> = match spec {
        Json::Str(module) => Some(module.clone()),
        Json::Object(_) => read(spec, path, "module")?,
        other => {
            let found = other.kind();
            return Err(SessionError::ConfigInvalid(format!(
                "`{path}` must be a module's id or an object, found {found}"
            )));
        }
    };
    let Some(module) = module.filter(|module| !module.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(ModuleSpec {
        module,
        source: read(spec, path, "source")?,
        config: read(spec, path, "config")?.unwrap_or_default(),
        instance_id: read(spec, path, "instance_id")?,
    }))
}

/// A typed value of an object; `None` where it is absent or null.
fn read<T: FromJson>(object: &Json, path: &str, key: &str) -> Result<Option<T>, SessionError> {
    match object.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => T::from_json(value.clone()).map(Some).map_err(|error| {
            let text = error.to_string();
            let text = text.strip_prefix("`` ").unwrap_or(&text);
            SessionError::ConfigInvalid(format!("`{path}.{key}` {text}"))
        }),
    }
}
