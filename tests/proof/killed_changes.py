"""Commits, undoes and redoes one change until it is killed: `killed_changes.py PROJECT FOLDER`."""

from __future__ import annotations

import sys

from amplifier_modules.changes.change import Change

if __name__ == "__main__":
    change = Change(sys.argv[1], sys.argv[2])
    print("ready", flush=True)
    if change.state == "open":
        change.commit()
    while True:
        change.undo()
        change.redo()
