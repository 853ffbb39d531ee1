"""What `amplifier-core config show` writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from amplifier_app.columns import in_columns
from amplifier_app.commands.order import named_folder
from amplifier_app.commands.report import Report
from amplifier_app.configuration.keys import KEYS
from amplifier_app.configuration.places import find_user_file
from amplifier_app.configuration.resolve import Configuration, read_configuration
from amplifier_app.notice import show_notice
from amplifier_app.printable import printable_line

_MAX_CHARS = 60


def show_configuration(report: Report, profile: str | None, directory: str) -> None:
    """Write each key, its value, and where that comes from.

    Args:
        report: Where it is written.
        profile: The profile that counts; None for that of the file.
        directory: The project.

    Raises:
        Failure: A file has a mistake, or there is no such folder.
    """
    configuration = read_configuration(os.environ, profile)
    configuration.add_variables(os.environ)
    configuration.restrict_by(named_folder(directory), os.environ)
    for warning in configuration.warnings:
        show_notice(f"warning: {printable_line(warning)}")
    path = find_user_file(os.environ)
    if report.as_json:
        values = {name: _describe_key(name, configuration) for name in KEYS}
        report.write_data({"file": None if path is None else str(path), "keys": values})
        return
    rows = [("KEY", "VALUE", "FROM"), *_list_rows(configuration)]
    report.write_lines(in_columns(rows, report.width))
    if path is not None and not path.exists():
        report.say_aside(f"`{path}` is not there; `amplifier-core config init` makes it")


def _describe_key(name: str, configuration: Configuration) -> dict[str, Any]:
    found = configuration.values.get(name)
    return {
        "value": None if found is None else found.value,
        "from": None if found is None else found.origin,
    }


def _list_rows(configuration: Configuration) -> Iterator[tuple[str, str, str]]:
    for name, key in KEYS.items():
        found = configuration.values.get(name)
        if found is None:
            yield name, key.usual.replace("`", "") or "-", "default"
            continue
        value = "true" if found.value is True else "false" if found.value is False else found.value
        shown = printable_line(str(value))
        shown = shown if len(shown) <= _MAX_CHARS else f"{shown[: _MAX_CHARS - 1]}…"
        yield name, shown, printable_line(found.origin)
