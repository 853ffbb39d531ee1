"""What the model says and does."""

from __future__ import annotations

from played_session import CTRL_D, END, FIRST, Session, let_go, widen
from scripted_model import HOLD, call, think

CALC = {"calc.py": "def add(a, b):\n    return a - b\n"}
EDIT = (
    call("read_file", path="calc.py"),
    call("edit_file", path="calc.py", edits=[{"old": "a - b", "new": "a + b"}]),
)
LONG = (
    "This sentence goes on for so long that it needs more than one row in a narrow terminal, and"
    " some words of it are long."
)
MARKDOWN = """\
# A title

Some **bold** words and `code` in a sentence that is longer than forty columns, so that it wraps.

- one item that goes on and on and on until it has to wrap in most terminals
- two
  1. nested item of words that are many enough

> quoted words that go on until they wrap in a narrow terminal

```python
def f():
    return 1
```

End.
"""
WIDE = """\
日本語のテキストはとても長いので、狭い端末では折り返さなければなりません。そして続きます。

- emoji 👩 and ✅ in words that go on for longer than a row of forty

https://example.org/a/very/long/address/that/does/not/fit/into/forty/columns?and=more
"""
PNG = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\3\x08\6\0\0\0"
"""The beginning of a picture, which says its size."""
TASKS = [
    {"content": "One thing to do that has many words in it, so it wraps", "status": "in_progress"},
    {"content": "Two", "status": "pending"},
]

ANSWERS = (
    Session(
        "Markdown",
        model=(MARKDOWN,),
        steps=(
            (FIRST, "Tell me what a whole page of Markdown looks like in here\r"),
            (END, CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Tell me what a whole page of Markdown looks like in here

A title

Some bold words and code in a sentence that is longer than forty columns, so
that it wraps.

• one item that goes on and on and on until it has to wrap in most terminals
• two
  1. nested item of words that are many enough

▎ quoted words that go on until they wrap in a narrow terminal

python
  def f():
      return 1

End.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Tell me what a whole page of Markdown looks like in here
model: '# A title\\n\\nSome **bold** words and `code` in a sentence that'
end: success
""",
    ),
    Session(
        "a table",
        model=("| a | b |\n|---|---|\n| 1 | 2 |\n",),
        steps=(
            (FIRST, "Tell me what a whole page of Markdown looks like in here\r"),
            (END, CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Tell me what a whole page of Markdown looks like in here

a   b
─────
1   2

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        plain_screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Tell me what a whole page of Markdown looks like in here

| a | b |
|---|---|
| 1 | 2 |

40 tokens in (75% cached) - 20 out - 1 model call
>
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Tell me what a whole page of Markdown looks like in here
model: '| a | b |\\n|---|---|\\n| 1 | 2 |\\n'
end: success
""",
    ),
    Session(
        "thinking",
        model=((think(f"I look at it. {LONG}"), "Well."),),
        steps=((FIRST, "Think\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Think

thinking
│ I look at it. This sentence goes on for so long that it needs more than one
│ row in a narrow terminal, and some words of it are long.

Well.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Think
model: 'thinking | Well.'
end: success
""",
    ),
    Session(
        "wide characters",
        has_short_words=False,
        model=(WIDE,),
        steps=((FIRST, "日本語 Go\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> 日本語 Go

日本語のテキストはとても長いので、狭い端末では折り返さなければなりません。そし
て続きます。

• emoji 👩 and ✅ in words that go on for longer than a row of forty

https://example.org/a/very/long/address/that/does/not/fit/into/forty/columns?an
d=more

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> 日本語 Go
model: '日本語のテキストはとても長いので、狭い端末では折り返さなければなりません。そして続きます。\\n\\n- emoji 👩 and'
end: success
""",
    ),
    Session(
        "a resize",
        model=(f"{LONG} {HOLD} {LONG}\n\n- {LONG}",),
        steps=((FIRST, "Go\r"), ("it are long.", widen), ("", let_go), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Go

This sentence goes on for so long that it needs more than one row in a narrow
terminal, and some words of it are long.  This sentence goes on for so long that it needs more than
one row in a narrow terminal, and some words of it are long.

• This sentence goes on for so long that it needs more than one row in a narrow terminal, and some
  words of it are long.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Go
model: 'This sentence goes on for so long that it needs more than on'
end: success
""",
    ),
    Session(
        "an edit",
        model=(*EDIT, "It works."),
        files=CALC,
        steps=((FIRST, "Fix add.\r"), ("2 tools >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Fix add.

● 1 read_file(path="calc.py")
  ✓ 1 read_file: 2 lines

● 2 edit_file(path="calc.py")
  ✓ 2 edit_file: modified +1 -1 lines
    @@ -1,2 +1,2 @@
     def add(a, b):
    -    return a - b
    +    return a + b

It works.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
`amplifier-core --resume ID` goes on from here
""",
        left={"calc.py": "def add(a, b):\n    return a + b\n"},
        stored="""\
> Fix add.
model: 'tool_call'
call read_file
model: 'tool_call'
call edit_file
model: 'It works.'
end: success
""",
    ),
    Session(
        "a long new file",
        model=(
            call("write_file", path="n.txt", content="".join(f"line {n}\n" for n in range(30))),
            "Done.",
        ),
        steps=((FIRST, "Write.\r"), ("1 tool >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Write.

● 1 write_file(path="n.txt")
  ✓ 1 write_file: created, 30 lines
    +line 0
    +line 1
    +line 2
    +line 3
    +line 4
    +line 5
    +line 6
    +line 7
    +line 8
    +line 9
    +line 10
    +line 11
    +line 12
    +line 13
    +line 14
    +line 15
    +line 16
    +line 17
    +line 18
    +line 19
    … 10 more lines; `/diff` or `amplifier-core diff` shows all

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        left={
            "n.txt": "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nline 10\nline 11\nline 12\nline 13\nline 14\nline 15\nline 16\nline 17\nline 18\nline 19\nline 20\nline 21\nline 22\nline 23\nline 24\nline 25\nline 26\nline 27\nline 28\nline 29\n"
        },
        stored="""\
> Write.
model: 'tool_call'
call write_file
model: 'Done.'
end: success
""",
    ),
    Session(
        "a command",
        model=(call("bash", command="echo " + "word " * 20 + "; exit 3"), "Done."),
        steps=((FIRST, "Run.\r"), ("1 tool >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Run.

● 1 bash $ echo word word word word word word word word word word word word
    word word word word word word word word ; exit 3
  ✗ 1 bash
    word word word word word word word word word word word word word word word
      word word word word word
    exit code 3

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Run.
model: 'tool_call'
call bash
model: 'Done.'
end: success
""",
    ),
    Session(
        "a job",
        model=(
            call("bash", command="sleep 30", run_in_background=True),
            call("bash_job", action="kill", id="job-1"),
            "Done.",
        ),
        steps=((FIRST, "Go\r"), ("2 tools >", "/jobs\r"), ("since 00:00: sleep 30 >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Go

● 1 bash $ sleep 30
    in the background
  ✓ 1 bash: runs in the background as `job-1`

● 2 bash_job(action="kill", id="job-1")

job-1 was ended: sleep 30

  ✓ 2 bash_job: id="job-1", status="killed", killed=true, seconds=1.0,
    output=""

Done.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
> /jobs
job-1  killed, since 00:00: sleep 30
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Go
model: 'tool_call'
call bash
model: 'tool_call'
call bash_job
model: 'Done.'
end: success
""",
    ),
    Session(
        "a list of tasks",
        model=(call("todo", todos=TASKS), "Done."),
        steps=((FIRST, "Go\r"), ("1 tool >", CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Go

● 1 todo (0 of 2 done)
    [>] One thing to do that has many words in it, so it wraps
    [ ] Two
  ✓ 1 todo: pending=1, in_progress=1, completed=0

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Go
model: 'tool_call'
call todo
model: 'Done.'
end: success
""",
    ),
    Session(
        "a model error",
        model=(401, "Better."),
        steps=((FIRST, "Go\r"), ("ANTHROPIC_API_KEY` >", "Again\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Go

error: Anthropic API error (401 authentication_error): bad key; the key was
refused; check `ANTHROPIC_API_KEY`
> Again

Better.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Go
end: incomplete
> Again
model: 'Better.'
end: success
""",
    ),
    Session(
        "an image",
        model=("I see.",),
        files={"shot.png": PNG},
        arguments=("--image", "shot.png"),
        steps=((FIRST, "What is it?\r"), (END, CTRL_D)),
        screen="""\
attached shot.png: png, 2x3, 29 bytes
claude-sonnet-5-5 answers. /help shows the commands.
> What is it?

I see.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        left={
            "shot.png": "\x89PNG\n\x1a\n\x00\x00\x00\nIHDR\x00\x00\x00\x02\x00\x00\x00\x03\x08\x06\x00\x00\x00"
        },
        stored="""\
> What is it?

[image: image/png]
model: 'I see.'
end: success
""",
    ),
    Session(
        "one shot",
        model=(*EDIT, "It works."),
        files=CALC,
        arguments=("Fix add.",),
        screen="""\
● 1 read_file(path="calc.py")
  ✓ 1 read_file: 2 lines

● 2 edit_file(path="calc.py")
  ✓ 2 edit_file: modified +1 -1 lines
    @@ -1,2 +1,2 @@
     def add(a, b):
    -    return a - b
    +    return a + b

It works.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
`amplifier-core --resume ID` goes on from here
""",
        left={"calc.py": "def add(a, b):\n    return a + b\n"},
        stored="""\
> Fix add.
model: 'tool_call'
call read_file
model: 'tool_call'
call edit_file
model: 'It works.'
end: success
""",
    ),
)
