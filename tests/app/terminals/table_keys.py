"""What is typed and pressed."""

from __future__ import annotations

from played_session import CTRL_C, CTRL_D, CTRL_R, END, ESC, FIGURES, FIRST, Session, let_go
from scripted_model import HOLD

HALF = f"I begin {HOLD}and end."
PASTE = "\x1b[200~" + "\n".join(f"line {n}" for n in range(42)) + "\x1b[201~"
CALC = {"calc.py": "def add(a, b):\n    return a - b\n"}
SHIFT_TAB, ALT_ENTER, BACKSPACE = "\x1b[Z", "\x1b\r", "\x7f"

KEYS = (
    Session(
        "steering",
        model=(HALF, "Briefly."),
        steps=(
            (FIRST, "Work\r"),
            ("I begin", "be brief\r"),
            ("steering: be brief", let_go),
            ("2 model calls >", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Work

steering: be brief
I begin and end.

Briefly.

80 tokens in (75% cached) · 40 out · 2 model calls
`amplifier-core --resume ID` goes on from here
""",
        plain_screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Work

I beginbe brief
steering: be brief
 and end.

Briefly.

80 tokens in (75% cached) - 40 out - 2 model calls
>
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Work
model: 'I begin and end.'
steering: 'be brief'
model: 'Briefly.'
end: success
""",
    ),
    Session(
        "a queue",
        is_drawn=True,
        model=(HALF, "Second."),
        steps=(
            (FIRST, "Work\r"),
            ("I begin", "then this\t"),
            ("queued: then this", let_go),
            (f"Second. {FIGURES}", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Work

I begin and end.

40 tokens in (75% cached) · 20 out · 1 model call
> then this

Second.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Work
model: 'I begin and end.'
end: success
> then this
model: 'Second.'
end: success
""",
    ),
    Session(
        "Esc",
        is_drawn=True,
        model=(HALF, "Second."),
        steps=(
            (FIRST, "Work\r"),
            ("I begin", ESC),
            ("stopping now", let_go),
            (END, "Again\r"),
            (f"Second. {FIGURES}", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Work

I begin
stopping now

40 tokens in (75% cached) · 1 out · 1 model call
> Again

Second.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Work
end: cancelled
model: 'I begin '
> Again
model: 'Second.'
end: success
""",
    ),
    Session(
        "Ctrl+C",
        model=(HALF, "Second."),
        steps=(
            (FIRST, "Work\r"),
            ("I begin", CTRL_C),
            ("stopping now", let_go),
            (END, "Again\r"),
            (f"Second. {FIGURES}", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Work

I begin
stopping now

40 tokens in (75% cached) · 1 out · 1 model call
> Again

Second.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        plain_screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Work

I begin^C
stopping now

40 tokens in (75% cached) - 1 out - 1 model call
> Again

Second.

40 tokens in (75% cached) - 20 out - 1 model call
>
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Work
end: cancelled
model: 'I begin '
> Again
model: 'Second.'
end: success
""",
    ),
    Session(
        "Ctrl+C twice",
        steps=((FIRST, CTRL_C), ("to end >", CTRL_C)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
press Ctrl+C again, or Ctrl+D, to end
""",
        plain_screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> ^C
press Ctrl+C again, or Ctrl+D, to end
> ^C
""",
    ),
    Session(
        "Esc twice",
        is_drawn=True,
        model=("Blue.", "Green."),
        steps=(
            (FIRST, "Which colour?\r"),
            (f"Blue. {FIGURES}", "And now?\r"),
            (f"Green. {FIGURES}", "x"),
            ("> x", BACKSPACE + ESC + ESC),
            ("which prompt? search:", "\r"),
            ("What goes back? search:", "\r"),
            ("to all of it > And now?", CTRL_C),
            ("to all of it > claude", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Which colour?

Blue.

40 tokens in (75% cached) · 20 out · 1 model call
> And now?

Green.

40 tokens in (75% cached) · 20 out · 1 model call
> /rewind
there is nothing that can be undone
the conversation goes on from before prompt 2, as `ID`; `/resume
ID` returns to all of it
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Which colour?
model: 'Blue.'
end: success
> And now?
model: 'Green.'
end: success
""",
    ),
    Session(
        "Ctrl+R",
        is_drawn=True,
        model=("Blue.", "Green."),
        steps=(
            (FIRST, "Which colour?\r"),
            (END, "/cost\r"),
            ("1 call >", f"{CTRL_R}colo"),
            ("backward: colo", "\r"),
            ("> Which colour?", "\r"),
            (f"Green. {FIGURES}", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> Which colour?

Blue.

40 tokens in (75% cached) · 20 out · 1 model call
> /cost
40 tokens in (75% cached), 20 out, 1 model call, 1 turn, $0
cache: 30 tokens, 0 predicted by the service's rule for 1 call
> Which colour?

Green.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> Which colour?
model: 'Blue.'
end: success
> Which colour?
model: 'Green.'
end: success
""",
    ),
    Session(
        "a command of the user",
        model=("I see.",),
        steps=(
            (FIRST, "!printf 'one\\ntwo\\n'; exit 3\r"),
            ("exit code 3 >", "What?\r"),
            (END, CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> !printf 'one\\ntwo\\n'; exit 3
one
two
exit code 3
> What?

I see.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> What?

<user-command exit-code="3">
$ printf 'one\\ntwo\\n'; exit 3
one
two
</user-command>
model: 'I see.'
end: success
""",
    ),
    Session(
        "a path",
        model=("I see.",),
        files=CALC,
        steps=((FIRST, "What is in @calc.py and @nothing.py?\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> What is in @calc.py and @nothing.py?
attached calc.py: 2 lines, 32 bytes

I see.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> What is in @calc.py and @nothing.py?

<file path="calc.py" characters="32" lines="2">
def add(a, b):
    return a - b
</file>
model: 'I see.'
end: success
""",
    ),
    Session(
        "a paste",
        is_drawn=True,
        model=("I see.",),
        steps=((FIRST, f"{PASTE} ?"), ("[pasted 42 lines] ?", "\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> [pasted 42 lines] ?

I see.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> line 0
line 1
line 2
line 3
line 4
line 5
line 6
line 7
line 8
line 9
line 10
line 11
line 12
line 13
line 14
line 15
line 16
line 17
line 18
line 19
line 20
line 21
line 22
line 23
line 24
line 25
line 26
line 27
line 28
line 29
line 30
line 31
line 32
line 33
line 34
line 35
line 36
line 37
line 38
line 39
line 40
line 41 ?
model: 'I see.'
end: success
""",
    ),
    Session(
        "a backslash",
        model=("I see.",),
        steps=((FIRST, "one\\\rtwo\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> one
  two

I see.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        plain_screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> one\\
two

I see.

40 tokens in (75% cached) - 20 out - 1 model call
>
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> one
two
model: 'I see.'
end: success
""",
    ),
    Session(
        "Alt+Enter",
        is_drawn=True,
        model=("I see.",),
        steps=((FIRST, f"one{ALT_ENTER}two"), ("> one two", "\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> one
  two

I see.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> one
two
model: 'I see.'
end: success
""",
    ),
    Session(
        "Tab",
        is_drawn=True,
        model=("I see.",),
        files=CALC,
        steps=((FIRST, "see ca\t"), ("see calc.py", "\r"), (END, CTRL_D)),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> see calc.py

I see.

40 tokens in (75% cached) · 20 out · 1 model call
`amplifier-core --resume ID` goes on from here
""",
        stored="""\
> see calc.py
model: 'I see.'
end: success
""",
    ),
    Session(
        "Shift+Tab",
        is_drawn=True,
        steps=(
            (FIRST, SHIFT_TAB),
            (" ask", SHIFT_TAB),
            (" review", "/mode plan\r"),
            ("from now on >", CTRL_D),
        ),
        screen="""\
claude-sonnet-5-5 answers. /help shows the commands.
> /mode plan
the mode is plan from now on
""",
    ),
)
