#![expect(clippy::print_stdout, reason = "an example prints")]
//! A session with a scripted model, a tool and a hook.

use amplifier_core::runtime::{FunctionTool, ScriptedProvider, Session};
use amplifier_core::{HookResult, Object, ToolCall, ToolResult, event, record};

record! {
    /// What the tool takes: its JSON schema is made of this.
    pub struct Numbers {
        /// The first number.
        pub a: i64,
        /// The second number.
        pub b: i64,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ScriptedProvider::new()
        .answer(ToolCall::new("call_1", "add", [("a", 2), ("b", 3)]))
        .answer("It is 5.");
    let add = FunctionTool::typed("add", "Add two integers.", |Numbers { a, b }| async move {
        Ok(ToolResult::of(a + b))
    });
    let gate = |_: &str, call: &Object| match call["tool_name"].as_str() {
        Some("shell") => Ok(HookResult::deny("no shell here")),
        _ => Ok(HookResult::proceed()),
    };
    let session = Session::builder()
        .provider(model)
        .tool(add)
        .hook(event::TOOL_PRE, gate, "no-shell")
        .initialize()
        .await?;
    println!("{}", session.execute("2 + 3?").await?);
    session.cleanup().await;
    Ok(())
}
