//! A tool that is a function.

use std::fmt;

use crate::error::ToolError;
use crate::from_json::FromJson;
use crate::json::{Json, Object};
use crate::schema::{Form, Schema};
use crate::tool_result::ToolResult;
use crate::traits::{BoxFuture, Tool};

type Function = dyn Fn(Object) -> BoxFuture<'static, Result<ToolResult, ToolError>> + Send + Sync;

/// A tool made of an async function or closure.
///
/// # Examples
///
/// With a type for the arguments, which gives the schema and refuses what does not fit it:
///
/// ```
/// use amplifier_core::runtime::FunctionTool;
/// use amplifier_core::traits::Tool as _;
/// use amplifier_core::{Object, ToolResult, record};
///
/// record! {
///     /// Two numbers.
///     pub struct Pair {
///         /// The first.
///         pub a: i64,
///         /// The second.
///         pub b: i64,
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let add = FunctionTool::typed("add", "Add two integers.", |Pair { a, b }| async move {
///     Ok(ToolResult::of(a + b))
/// });
///
/// let input = Object::from_iter([("a".to_owned(), 2.into()), ("b".to_owned(), 3.into())]);
/// assert_eq!(add.execute(input).await, Ok(ToolResult::of(5)));
/// assert_eq!(
///     add.execute(Object::new()).await.unwrap_err().to_string(),
///     "the arguments do not fit: `Pair.a` is missing",
/// );
/// # }
/// ```
///
/// With a schema of its own, such as `serde_json::json!` writes it, and the arguments as JSON:
///
/// ```
/// use amplifier_core::error::ToolError;
/// use amplifier_core::runtime::FunctionTool;
/// use amplifier_core::{FromJson as _, Json, Object, ToolResult};
///
/// let schema = Object::parse(br#"{
///     "type": "object",
///     "properties": {"city": {"type": "string", "description": "its English name"}},
///     "required": ["city"]
/// }"#)?;
/// let weather = FunctionTool::new("weather", "The weather of a city.", schema, |input| async move {
///     match input.get("city").and_then(Json::as_str) {
///         Some("Rome") => Ok(ToolResult::text("sunny, 24 °C")),
///         Some(city) => Err(ToolError::ExecutionFailed(format!("no station in `{city}`"))),
///         None => Err(ToolError::InvalidInput("`city` is missing".to_owned())),
///     }
/// });
/// # let _ = weather;
/// # Ok::<(), amplifier_core::ModelError>(())
/// ```
pub struct FunctionTool {
    name: String,
    description: String,
    input_schema: Object,
    function: Box<Function>,
}

impl FunctionTool {
    /// A tool with the JSON schema of its arguments.
    ///
    /// The schema is for the model; the function checks what it gets.
    pub fn new<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Object,
        function: F,
    ) -> Self
    where
        F: Fn(Object) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema,
            function: Box::new(move |input| Box::pin(function(input))),
        }
    }

    /// A tool whose arguments have a type, which [`record!`](crate::record!) declares.
    pub fn typed<I, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        I: FromJson + Schema,
        F: Fn(I) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    {
        let schema = match without_64_bits(I::schema(Form::Read)) {
            Json::Object(schema) => schema,
            _ => Object::new(),
        };
        let run = move |input| -> BoxFuture<'static, _> {
            match I::from_json(Json::Object(input)) {
                Ok(input) => Box::pin(function(input)),
                Err(error) => Box::pin(std::future::ready(Err(ToolError::InvalidInput(format!(
                    "the arguments do not fit: {error}"
                ))))),
            }
        };
        Self::new(name, description, schema, run)
    }
}

impl Tool for FunctionTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn input_schema(&self) -> Object {
        self.input_schema.clone()
    }

    fn execute(&self, input: Object) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        (self.function)(input)
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FunctionTool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A schema without the limits of 64 bits, which tell a model nothing and cost tokens.
fn without_64_bits(schema: Json) -> Json {
    match schema {
        Json::Object(entries) => entries
            .into_iter()
            .filter(|(_, value)| !matches!(value, Json::Int(i64::MIN | i64::MAX)))
            .map(|(key, value)| (key, without_64_bits(value)))
            .collect(),
        Json::Array(items) => {
            let items = items.into_iter().map(without_64_bits);
            items.collect::<Vec<_>>().into()
        }
        other => other,
    }
}
