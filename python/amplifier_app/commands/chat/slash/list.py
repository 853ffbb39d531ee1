"""The commands of the program, in the order in which `/help` has them."""

from __future__ import annotations

from amplifier_app.commands.chat.command import Command
from amplifier_app.commands.chat.slash.add_dir import ADD_DIR
from amplifier_app.commands.chat.slash.changes import DIFF, REDO, UNDO
from amplifier_app.commands.chat.slash.clear import CLEAR
from amplifier_app.commands.chat.slash.copy import COPY
from amplifier_app.commands.chat.slash.cost import COST
from amplifier_app.commands.chat.slash.doctor import DOCTOR
from amplifier_app.commands.chat.slash.export import EXPORT
from amplifier_app.commands.chat.slash.goal import GOAL
from amplifier_app.commands.chat.slash.help import HELP
from amplifier_app.commands.chat.slash.hooks import HOOKS
from amplifier_app.commands.chat.slash.init import INIT
from amplifier_app.commands.chat.slash.jobs import JOBS
from amplifier_app.commands.chat.slash.mcp import MCP
from amplifier_app.commands.chat.slash.mode import MODE
from amplifier_app.commands.chat.slash.model import MODEL
from amplifier_app.commands.chat.slash.permissions import PERMISSIONS
from amplifier_app.commands.chat.slash.quit import QUIT
from amplifier_app.commands.chat.slash.resume_turn import CONTINUE
from amplifier_app.commands.chat.slash.rewind import REWIND
from amplifier_app.commands.chat.slash.sessions import FORK, RENAME, RESUME
from amplifier_app.commands.chat.slash.skills import SKILLS
from amplifier_app.commands.chat.slash.status import STATUS
from amplifier_app.commands.chat.slash.tools import TOOLS
from amplifier_app.commands.chat.slash.window import COMPACT, CONTEXT

OWN: tuple[Command, ...] = (
    MODEL,
    COST,
    CONTEXT,
    COMPACT,
    GOAL,
    STATUS,
    CONTINUE,
    CLEAR,
    RESUME,
    FORK,
    REWIND,
    RENAME,
    ADD_DIR,
    COPY,
    EXPORT,
    QUIT,
    UNDO,
    REDO,
    DIFF,
    MODE,
    PERMISSIONS,
    TOOLS,
    MCP,
    SKILLS,
    JOBS,
    HOOKS,
    INIT,
    DOCTOR,
    HELP,
)
