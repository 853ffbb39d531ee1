"""Questions and what is answered."""

from __future__ import annotations

from played_session import CTRL_D, END, FIRST, Session
from scripted_model import call

ASK = ("--mode", "ask")
WRITE = call("write_file", path="a", content="1\n")
OTHER = call("write_file", path="b", content="2\n")
TASK = call("task", prompt="Write a.", description="write it")
HUNKS = (
    call("read_file", path="n"),
    call(
        "edit_file",
        path="n",
        edits=[{"old": "1\n", "new": "one\n"}, {"old": "8\n", "new": "eight\n"}],
    ),
)
SETTINGS = """\
{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
 "permissions": {"allow": ["Bash(ls)"]}}
"""
SERVERS = (
    '{"mcpServers": {"files": {"command": "nothing-there", "args": ["--folder", "somewhere"]}}}'
)

QUESTIONS = (
    Session(
        "yes",
        model=(WRITE, "Done."),
        arguments=ASK,
        steps=((FIRST, "Write.\r"), ("bcdf>", "y\r"), ("1 tool >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

● 1 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | created `a`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +1
bcdf| y once, or a for `write_file` in this session, or p for a rule such as `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> y
bcdf| allowed
  ✓ 1 write_file: created, 1 line
    +1

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        left={"a": "1\n"},
        stored="""\
mode ask
> Write.
model: 'tool_call'
asks about write_file
approval:granted
call write_file
model: 'Done.'
end: success
""",
    ),
    Session(
        "always",
        model=(WRITE, OTHER, "Done."),
        arguments=ASK,
        steps=((FIRST, "Write.\r"), ("bcdf>", "a\r"), ("2 tools >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

● 1 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | created `a`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +1
bcdf| y once, or a for `write_file` in this session, or p for a rule such as `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> a
bcdf| allowed in this session
  ✓ 1 write_file: created, 1 line
    +1

● 2 write_file(path="b")
  ✓ 2 write_file: created, 1 line
    +2

Done.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
`amplifier-core --resume ID` goes on from here
""",
        left={"a": "1\n", "b": "2\n"},
        stored="""\
mode ask
> Write.
model: 'tool_call'
asks about write_file
approval:granted session
call write_file
mode ask, with grants
model: 'tool_call'
call write_file
model: 'Done.'
end: success
""",
    ),
    Session(
        "a rule",
        model=(call("bash", command="touch x"), "Done."),
        arguments=ASK,
        steps=(
            (FIRST, "Write.\r"),
            ("bcdf>", "p\r"),
            ("n denies bcdf>", "\r"),
            ("1 tool >", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

● 1 bash $ touch x
bcdf| approval needed
bcdf| run `bash`? (it runs a command)
bcdf| | `command`: `touch x`
bcdf| y once, or a for `bash` in this session, or p for a rule such as `Bash(touch x:*)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> p
bcdf| the rule `Bash(touch x:*)` goes into `CONFIG/amplifier-core/settings.json`
bcdf| Enter agrees to it and to this call; another rule takes its place; n denies
bcdf>
bcdf| allowed, and the rule is kept
  ✓ 1 bash: no output

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        left={"x": ""},
        stored="""\
mode ask
> Write.
model: 'tool_call'
asks about bash
approval:granted Bash(touch x:*)
call bash
model: 'Done.'
end: success
""",
    ),
    Session(
        "no",
        model=(WRITE, "Done."),
        arguments=ASK,
        steps=((FIRST, "Write.\r"), ("bcdf>", "n\r"), ("1 tool >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

● 1 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | created `a`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +1
bcdf| y once, or a for `write_file` in this session, or p for a rule such as `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> n
bcdf| denied
  ✗ 1 write_file: User denied: run `write_file`? (it writes files) | created
    `a` | @@ -0,0 +1 @@ | +1

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        plain_screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

call 1 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | created `a`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +1
bcdf| y once, or a for `write_file` in this session, or p for a rule such as `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> n
bcdf| denied
  failed 1 write_file: User denied: run `write_file`? (it writes files) |
    created `a` | @@ -0,0 +1 @@ | +1

Done.

80 tokens in (75% cached) - 40 out - 2 model calls - 1 tool
>
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
mode ask
> Write.
model: 'tool_call'
asks about write_file
approval:denied
model: 'Done.'
end: success
""",
    ),
    Session(
        "words",
        model=(WRITE, "Done."),
        arguments=ASK,
        steps=((FIRST, "Write.\r"), ("bcdf>", "put it into b, please\r"), ("1 tool >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

● 1 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | created `a`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +1
bcdf| y once, or a for `write_file` in this session, or p for a rule such as `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> put it into b, please
bcdf| denied
  ✗ 1 write_file: User denied, and says: put it into b, please

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
mode ask
> Write.
model: 'tool_call'
asks about write_file
approval:denied put it into b, please
model: 'Done.'
end: success
""",
    ),
    Session(
        "parts",
        model=(*HUNKS, "Done."),
        arguments=("--mode", "review"),
        files={"n": "".join(f"{n}\n" for n in range(10))},
        steps=(
            (FIRST, "Write.\r"),
            ("bcdf>", "e\r"),
            ("all that are left bcdf>", "y\r"),
            ("2 of 2: `edit 2`? y or n; other words deny all that are left bcdf>", "keep that\r"),
            ("2 tools >", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

● 1 read_file(path="n")
  ✓ 1 read_file: 10 lines

● 2 edit_file(path="n")
bcdf| approval needed
bcdf| put these changes into the project?
bcdf| | edit 1 of `n`
bcdf| |   @@ -1,5 +1,5 @@
bcdf| |    0
bcdf| |   -1
bcdf| |   +one
bcdf| |    2
bcdf| |    3
bcdf| |    4
bcdf| | edit 2 of `n`
bcdf| |   @@ -6,5 +6,5 @@
bcdf| |    5
bcdf| |    6
bcdf| |    7
bcdf| |   -8
bcdf| |   +eight
bcdf| |    9
bcdf| y for all 2, or e to be asked about each
bcdf| answer with a word: allow, deny (other words deny)
bcdf> e
bcdf| 1 of 2: `edit 1`? y or n; other words deny all that are left
bcdf> y
bcdf| 2 of 2: `edit 2`? y or n; other words deny all that are left
bcdf> keep that
bcdf| allowed for 1 of 2
  ✓ 2 edit_file: modified +1 -1 lines
    @@ -1,5 +1,5 @@
     0
    -1
    +one
     2
     3
     4

Done.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
`amplifier-core --resume ID` goes on from here
""",
        left={"n": "0\none\n2\n3\n4\n5\n6\n7\n8\n9\n"},
        stored="""\
mode review
> Write.
model: 'tool_call'
call read_file
model: 'tool_call'
call edit_file
asks about edit_file
approval:granted keep that
model: 'Done.'
end: success
""",
    ),
    Session(
        "a sub-agent",
        model=(TASK, WRITE, "I wrote it.", "Done."),
        arguments=(*ASK, "--module", "tool-task"),
        steps=((FIRST, "Have it written.\r"), ("bcdf>", "y\r"), ("1 tool >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Have it written.

● 1 task(prompt="Write a.", description="write it")
    task-1: write it
    task-1: write_file(path="a")
bcdf| approval needed
bcdf| the sub-agent `write it` asks:
bcdf| run `write_file`? (it writes files)
bcdf| | created `a`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +1
bcdf| y once, or a for `write_file` in this session, or p for a rule such as `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> y
bcdf| allowed
    task-1: completed
  ✓ 1 task: id="task-1", answer="I wrote it."

Done.

160 tokens in (75% cached) · 80 out · 4 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        left={"a": "1\n"},
        stored="""\
mode ask
> Have it written.
model: 'tool_call'
call task
model: 'Done.'
end: success
> Write a.
model: 'tool_call'
asks about write_file
approval:granted
call write_file
model: 'I wrote it.'
end: success
""",
    ),
    Session(
        "rules and hooks of the project",
        model=("Blue.",),
        files={".claude/settings.json": SETTINGS},
        steps=(
            (FIRST, "Go\r"),
            ("`Bash(ls)` bcdf| answer with a word: allow, deny (other words deny) bcdf>", "n\r"),
            ("`true` bcdf| answer with a word: allow, deny (other words deny) bcdf>", "n\r"),
            (END, CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Go

bcdf| approval needed
bcdf| the project allows these calls without a question: may they count?
bcdf| | `Bash(ls)`
bcdf| answer with a word: allow, deny (other words deny)
bcdf> n
bcdf| denied
bcdf| approval needed
bcdf| the project has these hooks: may they run, in the sandbox, until they change?
bcdf| | Stop "": `true`
bcdf| answer with a word: allow, deny (other words deny)
bcdf> n
bcdf| denied

Blue.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Go
model: 'Blue.'
end: success
""",
    ),
    Session(
        "a server of the project",
        model=("Blue.",),
        files={".mcp.json": SERVERS},
        steps=((FIRST, "Go\r"), ("bcdf>", "n\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Go

bcdf| approval needed
bcdf| the project has the MCP server `files`: may it be started, in the sandbox, until it changes?
bcdf| | command: `nothing-there`
bcdf| |   `--folder`
bcdf| |   `somewhere`
bcdf| answer with a word: allow, deny (other words deny)
bcdf> n
bcdf| denied

Blue.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Go
model: 'Blue.'
end: success
""",
    ),
)
