"""Configuration for editors that run autofix as an external tool, and where it belongs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

EDITORS = ("pycharm", "vscode")
LINE = r"^(.+?):(\d+):(\d+): (?:(AG\d+(?:\+AG\d+)*|[a-z]+(?:-[a-z]+)+) )?(?!note )(.+)$"
"""A line of the report that says what is wrong; groups: path, line, column, code, message."""
NOTE = r"^(.+?):(\d+):(\d+): note (.+)$"
"""A line of the report that says why; groups: path, line, column, message."""
FILTER = "$FILE_PATH$:$LINE$:$COLUMN$:"
"""The same for PyCharm, in its own words for the groups."""
_PREFIX = "autofix: "


class IdeError(ValueError):
    """The configuration cannot be written; the message is one line and says what to do."""


class Tool(NamedTuple):
    """What an editor's menu offers: `words` come before the script, `behind` after it."""

    name: str
    words: tuple[str, ...]
    behind: tuple[str, ...] = ()


def set_up(editor: str, *, show: bool, into: str) -> int:
    """`autofix ide`: write an editor's configuration, or print it; returns the exit status."""
    if editor not in EDITORS:
        raise IdeError(f"{editor}: this editor is not known; there are {' and '.join(EDITORS)}")
    if show:
        sys.stdout.write(pycharm() if editor == "pycharm" else vscode(""))
        return 0
    for path in _pycharm_files(into) if editor == "pycharm" else [Path(into, ".vscode", "tasks.json")]:
        _write(path, pycharm() if editor == "pycharm" else vscode(_read(path), path))
        sys.stdout.write(f"{path}: written\n")
    return 0


def vscode(before: str, path: Path = Path("tasks.json")) -> str:
    """The contents of tasks.json with our tasks in place; whatever else stood there stays."""
    try:
        document = json.loads(before or "{}")
    except ValueError:
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("tasks", []), list):
        raise IdeError(f"{path}: it has comments or is no JSON; add what `autofix ide vscode --print` shows yourself")
    others = [task for task in document.get("tasks", []) if not _is_ours(task)]
    command, *words = shlex.split(_command(portable=True))
    tasks = [
        _task("show a fix", command, [*words, "fix", "${file}"]),
        _task("fix and apply", command, [*words, "fix", "--write", "${file}"]),
        _task("verify an edited copy", command, [*words, "verify", "${file}", "--fixed", "${input:autofixEdited}"]),
        _task("check the project", command, [*words, "check", "${workspaceFolder}"]),
    ]
    asked = {"id": "autofixEdited", "type": "promptString", "description": "The edited copy of the script"}
    inputs = [one for one in document.get("inputs", []) if one.get("id") != asked["id"]]
    document |= {"version": "2.0.0", "tasks": [*others, *tasks], "inputs": [*inputs, asked]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def pycharm() -> str:
    """The contents of an External Tools file."""
    tools = ET.Element("toolSet", name="autofix")
    full = ("--full-paths",)
    for tool in (
        Tool("Show a fix", ("fix", *full)),
        Tool("Fix and apply", ("fix", "--write", *full)),
        Tool("Verify an edited copy", ("verify", *full), ("--fixed", '"$FilePrompt$"')),
        Tool("Check", ("check",)),
    ):
        tools.append(_external(tool))
    ET.indent(tools)
    return ET.tostring(tools, encoding="unicode") + "\n"


def _external(tool: Tool) -> ET.Element:
    shown = ("MainMenu", "Editor", "Project", "SearchPopup")
    flags = {"name": tool.name, "description": "Repairs PyTorch scripts"}
    flags |= {f"showIn{place}": "true" for place in shown} | {
        "disabled": "false", "useConsole": "true", "showConsoleOnStdOut": "true", "showConsoleOnStdErr": "true",
        "synchronizeAfterRun": "true",
    }  # fmt: skip
    element = ET.Element("tool", flags)
    command, *words = shlex.split(_command(portable=False))
    parameters = " ".join([*words, *tool.words, '"$FilePath$"', *tool.behind])
    run = ET.SubElement(element, "exec")
    for name, value in (("COMMAND", command), ("PARAMETERS", parameters), ("WORKING_DIRECTORY", "$ProjectFileDir$")):
        ET.SubElement(run, "option", name=name, value=value)
    link = ET.SubElement(element, "filter")
    for name, value in (("NAME", "path:line:column"), ("DESCRIPTION", "A place in a file"), ("REGEXP", FILTER)):
        ET.SubElement(link, "option", name=name, value=value)
    return element


def _task(name: str, command: str, words: list[str]) -> dict[str, Any]:
    places = {"file": 1, "line": 2, "column": 3}
    where = {"owner": "autofix", "source": "autofix", "fileLocation": ["autoDetect", "${workspaceFolder}"]}
    # The terminal of a task is one; the report must come line by line all the same.
    environment = {"TERM": "dumb", "AUTOFIX_MARKERS": "1"}
    markers = {"activeOnStart": False, "beginsPattern": "^autofix: begin$", "endsPattern": "^autofix: end$"}
    return {
        "label": _PREFIX + name,
        "type": "process",
        "command": command,
        "args": words,
        "options": {"cwd": "${workspaceFolder}", "env": environment},
        "presentation": {"reveal": "always", "clear": True},
        "problemMatcher": [
            {**where, "severity": "error", "pattern": {"regexp": LINE, **places, "code": 4, "message": 5},
             "background": markers},
            {**where, "severity": "info", "pattern": {"regexp": NOTE, **places, "message": 4}, "background": markers},
        ],
    }  # fmt: skip


def _is_ours(task: Any) -> bool:
    return isinstance(task, dict) and str(task.get("label", "")).startswith(_PREFIX)


def _command(*, portable: bool) -> str:
    """How to start autofix: by name in a file that others may share, else by its place."""
    found = shutil.which("autofix")
    if found is None:
        return shlex.join([sys.executable, "-m", "autofix"])
    return "autofix" if portable else shlex.quote(found)


def _pycharm_files(into: str) -> list[Path]:
    """The External Tools file of each PyCharm that was ever started here."""
    if into:
        return [Path(into, "tools", "autofix.xml")]
    home = Path.home()
    roots = {"darwin": home / "Library" / "Application Support", "win32": Path(os.environ.get("APPDATA") or home)}
    root = roots.get(sys.platform) or Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    folders = sorted((root / "JetBrains").glob("PyCharm*"))
    if not folders:
        raise IdeError(f"no settings of PyCharm in {root / 'JetBrains'}; name their folder with --into, or use --print")
    return [folder / "tools" / "autofix.xml" for folder in folders]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise IdeError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise IdeError(f"{path}: {error.strerror}") from None
