//! `CONTRACTS.md` says of traits and errors what is true of them.

use amplifier_core::coordinator::Slot;
use amplifier_core::error::{
    AmplifierError, ApprovalError, ContextError, HookError, MountError, SessionError, ToolError,
};
use amplifier_core::traits::{
    ApprovalProvider, ContextManager, DisplayService, HookHandler, Kernel, Orchestrator, Provider,
    Tool, World,
};
use amplifier_core::{ProviderError, ProviderFailure, ToolResult};

/// The cells of the table under a heading, without its head.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let document = include_str!("../../../CONTRACTS.md");
    let (_, section) = document.split_once(&format!("\n{heading}\n")).unwrap();
    let section = section.split("\n#").next().unwrap();
    let lines = section.lines().filter(|line| line.starts_with('|'));
    lines
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// The words in backticks of a cell.
fn words(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Names of members; a name that is none does not compile.
macro_rules! members {
    ($($name:ident { $($member:ident),* })*) => {
        [$((stringify!($name), {
            $(let _ = <dyn $name as $name>::$member;)*
            vec![$(stringify!($member)),*]
        })),*]
    };
}

#[test]
fn the_traits_have_the_members_of_the_table() {
    let there = members! {
        Tool { name, description, input_schema, get_spec, execute }
        Provider { name, get_info, list_models, complete, parse_tool_calls }
        Orchestrator { execute }
        ContextManager {
            add_message, get_messages_for_request, get_messages, set_messages, clear
        }
        HookHandler { handle }
        ApprovalProvider { request_approval }
        DisplayService { show_message }
        Kernel {
            emit, emit_and_collect, process_hook_result, cancellation, cancelled, tool_started,
            tool_completed, trigger_cancel_callbacks, reset_turn, capability, world
        }
        World { time, random_bytes }
    };
    let rows = rows("### Traits");
    let listed: Vec<_> = rows
        .iter()
        .map(|row| (words(row[0])[0], words(row[2])))
        .collect();
    assert_eq!(listed, there);
}

/// One error of every variant, in the order of the table.
fn samples() -> Vec<AmplifierError> {
    let text = || "text".to_owned();
    let providers = ProviderError::KINDS.iter().map(|(_, make, _)| {
        let failure = ProviderFailure::new("text").retry_after(1.5);
        make(failure.into()).into()
    });
    let sessions = [
        SessionError::ConfigMissing,
        SessionError::ModuleMissing("context"),
        SessionError::ConfigInvalid(text()),
        SessionError::NotInitialized,
        SessionError::NotMounted(Slot::Orchestrator),
        SessionError::AlreadyCompleted,
        SessionError::Other(text()),
    ];
    let mounts = [
        MountError::UnknownPoint(text()),
        MountError::HooksAreRegistered,
        MountError::NameRequired(Slot::Tools),
        MountError::NameRequiredToUnmount(Slot::Providers),
        MountError::InjectionTooLong { limit: 3 },
        MountError::InjectionsOverLimit { limit: 3 },
    ];
    let hooks = [
        HookError::HandlerFailed(text()),
        HookError::Timeout(text()),
        HookError::Other(text()),
    ];
    let tools = [
        ToolError::NotFound(text()),
        ToolError::InvalidInput(text()),
        ToolError::ExecutionFailed(text()),
        ToolError::Timeout(text()),
        ToolError::Other(text()),
    ];
    let contexts = [
        ContextError::InvalidMessage(text()),
        ContextError::StorageFailed(text()),
        ContextError::Other(text()),
    ];
    let approvals = [ApprovalError::Timeout(text()), ApprovalError::Other(text())];
    providers
        .chain(sessions.map(AmplifierError::from))
        .chain(mounts.map(AmplifierError::from))
        .chain(hooks.map(AmplifierError::from))
        .chain(tools.map(AmplifierError::from))
        .chain(contexts.map(AmplifierError::from))
        .chain(approvals.map(AmplifierError::from))
        .collect()
}

/// `SessionError::NotInitialized` of `Session(NotInitialized)`.
fn variant(error: &AmplifierError) -> String {
    let shown = format!("{error:?}");
    let mut names = shown.split(['(', ')', ' ', '{']);
    format!("{}Error::{}", names.next().unwrap(), names.next().unwrap())
}

#[test]
fn every_error_has_the_python_exception_of_the_table() {
    let there: Vec<_> = samples()
        .iter()
        .map(|error| {
            let python = error.contract_name().map(str::to_owned);
            (variant(error), python.unwrap_or_else(|| "none".to_owned()))
        })
        .collect();
    let rows = rows("### In Rust");
    let listed: Vec<_> = rows
        .iter()
        .map(|row| {
            let python = words(row[1]).first().copied().unwrap_or(row[1]);
            (words(row[0])[0].to_owned(), python.to_owned())
        })
        .collect();
    assert_eq!(there, listed);
}

#[test]
fn a_described_error_begins_with_its_name() {
    for error in samples() {
        let described = error.describe();
        let (name, text) = described.split_once(": ").unwrap();
        assert_eq!(text, error.to_string());
        assert_eq!(error.contract_name().unwrap_or(name), name);
    }
    let other = AmplifierError::Other {
        kind: "KeyError".to_owned(),
        message: "x".to_owned(),
    };
    assert_eq!(other.describe(), "KeyError: x");
}

#[test]
fn the_result_of_a_failed_tool_says_its_kind_and_its_message() {
    let mut kinds = Vec::new();
    for error in samples() {
        if let AmplifierError::Tool(error) = error {
            let result = ToolResult::from(error.clone());
            let details = result.error.clone().unwrap();
            assert!(!result.success);
            assert_eq!(result.output.as_str(), Some("text"));
            assert_eq!(details["message"].as_str(), Some("text"));
            assert_eq!(details["type"].as_str(), Some(error.kind()));
            kinds.push(error.kind());
        }
    }
    let all = [
        "not_found",
        "invalid_input",
        "execution_failed",
        "timeout",
        "other",
    ];
    assert_eq!(kinds, all);
}

#[test]
fn a_provider_error_is_retryable_by_its_kind_unless_told_otherwise() {
    let listed: Vec<_> = rows("### Of providers")
        .iter()
        .map(|row| (words(row[0])[0], row[2] == "yes"))
        .collect();
    let mut listed_kinds = listed.clone();
    let mut there: Vec<_> = ProviderError::KINDS
        .iter()
        .map(|(name, make, _)| {
            let error = make(ProviderFailure::new("x").into());
            assert_eq!(error.contract_name(), *name);
            (format!("llm_errors.{name}"), error.retryable())
        })
        .collect();
    there.sort();
    listed_kinds.sort_unstable();
    let there: Vec<_> = there
        .iter()
        .map(|(name, yes)| (name.as_str(), *yes))
        .collect();
    assert_eq!(there, listed_kinds);

    for (_, make, usual) in ProviderError::KINDS {
        let failure = ProviderFailure::new("x")
            .retryable(!usual)
            .model("m")
            .provider("p");
        let error = make(failure.status_code(500).into());
        assert_eq!(error.retryable(), !usual);
        assert_eq!((error.model(), error.provider()), (Some("m"), Some("p")));
        assert_eq!((error.retry_after(), error.delay_multiplier()), (None, 1.0));
        assert_eq!(error.failure().status_code, Some(500));
    }
}
