"""What `amplifier-core doctor` writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from amplifier_app.commands.report import Report
from amplifier_app.printable import printable_line

from .checks import list_findings
from .finding import Finding, State

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
            report.write_lines([describe_finding(each, width, printable_line)])
    return [each.name for each in findings if each.state == "broken"]


def describe_finding(finding: Finding, width: int, write: Callable[[str], str]) -> str:
    """Return the line of a finding.

    Args:
        finding: The finding.
        width: The characters of the longest name.
        write: Makes a text safe to show.
    """
    advice = f" → {finding.advice}" if finding.advice else ""
    text = write(f"{finding.text}{advice}")
    return f"{_MARKS[finding.state]} {write(finding.name):<{width}}  {text}"
