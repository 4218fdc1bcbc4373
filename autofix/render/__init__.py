"""Shows a report, or what a check found, to a person, to a program, to a code host: all from the same record."""

from autofix.render.github import as_github
from autofix.render.machine import as_json
from autofix.render.sarif import as_sarif
from autofix.render.snapshot import Snapshot
from autofix.render.terminal import Look, show
from autofix.render.words import OUTCOMES, clean, one_line, sentence

__all__ = [
    "FORMATS", "OUTCOMES", "Look", "Snapshot", "as_github", "as_json", "as_sarif", "clean", "one_line", "sentence",
    "show",
]  # fmt: skip
FORMATS = {"json": as_json, "sarif": as_sarif, "github": as_github}
"""What writes a report for a program or a code host, by the name of the format."""
