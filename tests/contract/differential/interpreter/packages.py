"""The packages that programs load, written into a folder."""

from __future__ import annotations

from pathlib import Path


def scripted(kind: str, more: str = "") -> str:
    """A package with a `mount` of its own, which is that of the scripted modules."""
    return (
        "from scripted_modules import ready, scripted_mounts\n"
        "async def mount(coordinator, config=None):\n"
        f'    return await scripted_mounts["{kind}"](coordinator, config)\n'
        f"{more}\n"
    )


SOURCES = {
    "loop_scripted": scripted("loop", '__amplifier_module_type__ = "orchestrator"'),
    "context_scripted": scripted("context"),
    "provider_scripted": scripted("provider"),
    "provider_other": scripted("provider"),
    "tool_scripted": scripted("tool"),
    "tool_ready": scripted("tool", 'on_session_ready = ready("tool")'),
    "tool_unready": scripted(
        "tool", 'on_session_ready = ready("unready", "ValueError", "not ready")'
    ),
    "tool_ready_sync": scripted("tool", "def on_session_ready(coordinator):\n    return None"),
    "hooks_scripted": scripted("hooks"),
    "hooks_ready": scripted("hooks", 'on_session_ready = ready("hooks")'),
    "loop_ready": scripted("loop", 'on_session_ready = ready("loop")'),
    "provider_ready": scripted("provider", 'on_session_ready = ready("provider")'),
    "broken_import": "import nowhere_to_be_found\n",
    "broken_deep": "import differential_inner\n",
    "broken_value": 'raise ValueError("the module refuses")\n',
    "broken_empty": "VALUE = 1\n",
    "broken_sync": "def mount(coordinator, config=None):\n    return None\n",
    "broken_one": "async def mount(coordinator):\n    return None\n",
    "typed_resolver": scripted("tool", '__amplifier_module_type__ = "resolver"'),
    "typed_wrongly": scripted("tool", '__amplifier_module_type__ = "gadget"'),
    "shared_one": "from scripted_modules import mount_tool as mount, ready\n"
    'on_session_ready = ready("one")\n',
    "shared_two": "from scripted_modules import mount_tool as mount, ready\n"
    'on_session_ready = ready("two")\n',
    "shared_none": "from scripted_modules import mount_tool as mount\n",
}
"""What `amplifier_module_<name>` holds."""

TOOL_HEAD = """
class Result:
    pass

class Tool:
    name = "mine"
    description = "a tool"
    input_schema = {"type": "object"}
    async def execute(self, input):
        return None

async def mount(coordinator, config=None):
    tool = Tool()
"""

FOLDERS = {
    "tool-good": TOOL_HEAD + '    await coordinator.mount("tools", tool)\n',
    "tool-unnamed": TOOL_HEAD
    + '    tool.name = ""\n    await coordinator.mount("tools", tool, name="x")\n',
    "tool-undescribed": TOOL_HEAD
    + '    tool.description = ""\n    await coordinator.mount("tools", tool)\n',
    "tool-schema": TOOL_HEAD
    + '    tool.input_schema = []\n    await coordinator.mount("tools", tool)\n',
    "tool-not-executable": TOOL_HEAD
    + '    tool.execute = None\n    await coordinator.mount("tools", tool)\n',
    "tool-sync-execute": TOOL_HEAD
    + '    tool.execute = lambda input: None\n    await coordinator.mount("tools", tool)\n',
    "tool-returned": TOOL_HEAD + "    return tool\n",
    "tool-nothing": TOOL_HEAD + "    return None\n",
    "tool-callable": TOOL_HEAD + "    return lambda: None\n",
    "tool-raises": TOOL_HEAD + '    raise KeyError("no key")\n',
    "tool-config": TOOL_HEAD
    + '    tool.name = config["name"]\n    await coordinator.mount("tools", tool)\n',
    "tool-no-mount": "VALUE = 1\n",
    "tool-sync-mount": "def mount(coordinator, config=None):\n    return None\n",
    "tool-one-parameter": "async def mount(coordinator):\n    return None\n",
    "tool-broken": "import nowhere_to_be_found\n",
    "tool-syntax": "def (:\n",
    "tool-sync-ready": TOOL_HEAD
    + '    await coordinator.mount("tools", tool)\n\ndef on_session_ready(coordinator):\n    return None\n',
    "tool-ready-bare": TOOL_HEAD
    + '    await coordinator.mount("tools", tool)\n\nasync def on_session_ready():\n    return None\n',
    "provider-good": "from scripted_modules import Provider\n"
    "async def mount(coordinator, config=None):\n"
    '    await coordinator.mount("providers", Provider("p"), name="p")\n',
    "provider-without-info": "from scripted_modules import Provider\n"
    "async def mount(coordinator, config=None):\n"
    '    provider = Provider("p")\n    provider.get_info = None\n'
    '    await coordinator.mount("providers", provider, name="p")\n',
    "provider-sync-complete": "from scripted_modules import Provider\n"
    "async def mount(coordinator, config=None):\n"
    '    provider = Provider("p")\n    provider.complete = lambda request: None\n'
    '    await coordinator.mount("providers", provider, name="p")\n',
    "provider-nothing": "async def mount(coordinator, config=None):\n    return None\n",
    "provider-odd-info": "from scripted_modules import Provider\n"
    "async def mount(coordinator, config=None):\n"
    '    provider = Provider("p")\n    provider.get_info = lambda: {"id": "p"}\n'
    '    await coordinator.mount("providers", provider, name="p")\n',
    "hooks-good": "async def seen(event, data):\n    return None\n"
    "async def mount(coordinator, config=None):\n"
    '    return coordinator.hooks.register("tool:pre", seen, name="seen")\n',
    "hooks-nothing": "async def mount(coordinator, config=None):\n    return None\n",
    "loop-good": "class Loop:\n"
    "    async def execute(self, prompt, context, providers, tools, hooks, **kwargs):\n"
    '        return "x"\n'
    "async def mount(coordinator, config=None):\n"
    '    await coordinator.mount("orchestrator", Loop())\n',
    "loop-short": "class Loop:\n"
    "    async def execute(self, prompt):\n"
    '        return "x"\n'
    "async def mount(coordinator, config=None):\n"
    '    await coordinator.mount("orchestrator", Loop())\n',
    "loop-nothing": "async def mount(coordinator, config=None):\n    return None\n",
    "context-good": "from scripted_modules import Memory\nfrom world import World\n"
    "async def mount(coordinator, config=None):\n"
    '    await coordinator.mount("context", Memory(World.current, {}))\n',
    "context-short": "class Context:\n    async def add_message(self, message):\n        pass\n"
    "async def mount(coordinator, config=None):\n"
    '    await coordinator.mount("context", Context())\n',
}
"""What `amplifier-module-<id>/amplifier_module_<id>` holds: each a folder of its own."""


def write_packages(folder: Path) -> None:
    """Write `installed/`, whose packages can be imported, and `modules/`, one folder for each."""
    for name, source in SOURCES.items():
        package = folder / "installed" / f"amplifier_module_{name}"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source)
    (folder / "installed" / "differential_inner.py").write_text("import nowhere_to_be_found\n")
    for module_id, source in FOLDERS.items():
        package = folder / "modules" / f"amplifier-module-{module_id}"
        package = package / f"amplifier_module_{module_id.replace('-', '_')}"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source)
    (folder / "modules" / "unrelated").mkdir()
    (folder / "bare").mkdir()
    (folder / "bare" / "README").write_text("no package\n")
