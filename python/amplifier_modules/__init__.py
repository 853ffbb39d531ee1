"""The modules that come with the kernel: loops, contexts, tools, hooks, and the table of all."""

from amplifier_providers.services import SERVICES

_OTHERS = {
    "context-persistent": "amplifier_modules.contexts.persistent",
    "context-simple": "amplifier_modules.contexts.simple",
    "hooks-approval": "amplifier_modules.hooks.approval",
    "hooks-guard": "amplifier_modules.hooks.guard",
    "hooks-logging": "amplifier_modules.hooks.logging",
    "hooks-notify": "amplifier_modules.hooks.notify",
    "hooks-observe": "amplifier_modules.hooks.observe",
    "hooks-project-notes": "amplifier_modules.hooks.project_notes",
    "hooks-redaction": "amplifier_modules.hooks.redaction",
    "hooks-shell": "amplifier_modules.hooks.shell",
    "hooks-status-context": "amplifier_modules.hooks.status_context",
    "loop-basic": "amplifier_modules.loops.basic",
    "loop-streaming": "amplifier_modules.loops.streaming",
    "loop-tagged": "amplifier_modules.loops.tagged",
    "provider-demo": "amplifier_providers.demo",
    "provider-mock": "amplifier_providers.mock",
    "provider-scripted": "amplifier_providers.scripted",
    "store-postgres": "amplifier_modules.stores.postgres",
    "store-sqlite": "amplifier_modules.stores.sqlite",
    "tool-bash": "amplifier_modules.tools.bash",
    "tool-conversation": "amplifier_modules.tools.conversation",
    "tool-filesystem": "amplifier_modules.tools.filesystem",
    "tool-mcp": "amplifier_modules.tools.mcp",
    "tool-search": "amplifier_modules.tools.search",
    "tool-skill": "amplifier_modules.tools.skill",
    "tool-task": "amplifier_modules.tools.task",
    "tool-todo": "amplifier_modules.tools.todo",
    "tool-web": "amplifier_modules.tools.web",
}

MODULES: dict[str, str] = dict(
    sorted([*_OTHERS.items(), *((each.module_id, each.module) for each in SERVICES.values())])
)
"""Import path of each module by its id.

Where a mount plan names the id, an installed module of the same id takes precedence; what the
command mounts by itself always comes from here.
"""

PACKAGES: dict[str, str] = {
    "amplifier_module_context_simple": "amplifier_modules.contexts.simple",
    "amplifier_module_provider_openai": "amplifier_providers.openai",
}
"""Import path of each module that modules of others import, by the name of the package they expect.

An installed package of the name takes precedence.
"""

EVENTS = frozenset(
    {
        "agent:custom",
        "agent:error",
        "agent:message_content",
        "agent:message_end",
        "agent:message_start",
        "agent:recoverable_error",
        "agent:restart",
        "agent:thinking_content",
        "agent:thinking_end",
        "agent:thinking_start",
        "agent:tool_call_content",
        "agent:tool_call_end",
        "agent:tool_call_start",
        "approval:timeout",
        "context:message",
        "context:replaced",
        "budget:warning",
        "context:system_prompt",
        "guard:findings",
        "job:end",
        "job:start",
        "llm:prefix_changed",
        "mcp:server",
        "mcp:tools",
        "mcp:prompts",
        "orchestrator:goal_progress",
        "orchestrator:paused",
        "orchestrator:rate_limit_delay",
        "orchestrator:resumed",
        "orchestrator:steering_discarded",
        "orchestrator:steering_injected",
        "orchestrator:steering_submitted",
        "provider:background_status",
        "provider:cloudflare_challenge",
        "provider:concurrency",
        "provider:fallback",
        "provider:incomplete_continuation",
        "provider:pull_progress",
        "provider:response_chain_invalidated",
        "task:end",
        "task:start",
        "tool:progress",
        "tool:result",
        "tool:start",
    }
)
"""The events that these modules emit in addition to those of the kernel, mounted or not."""
