"""What `amplifier-core doctor` writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from amplifier_app.commands.report import Report
from amplifier_app.printable import printable_line

from .checks import list_findings
from .finding import State

_MARKS: Mapping[State, str] = {"ok": "✓", "missing": "-", "broken": "✗"}


def write_findings(report: Report, folder: Path) -> list[str]:
    """Write a line for each finding, and return the names of those that cannot work.

    Args:
        report: Where they are written.
        folder: The project.
    """
    findings = [*list_findings(folder)]
    if report.as_json:
        report.write_data({"findings": [asdict(each) for each in findings]})
    else:
        width = max(len(each.name) for each in findings)
        for each in findings:
            advice = f" → {each.advice}" if each.advice else ""
            text = printable_line(f"{each.text}{advice}")
            report.write_lines([f"{_MARKS[each.state]} {each.name:<{width}}  {text}"])
    return [each.name for each in findings if each.state == "broken"]
