"""Other command lines under which a script may be meant to run: as its pages call it, from its folder, as a module.

What the repository says is read, never run; each line is one that its reader would type.
"""

from __future__ import annotations

import ast
import itertools
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

MOST = 4
"""Lines that are tried for one script, besides its plain one."""
_NAMED = 3
_PAGES = ("*.md", "*.rst", "*.txt", "*.sh", "Makefile")
_LONGEST = 200_000
_CALL = re.compile(r"(?:^|[\s`$(])((?:python[\d.]*|torchrun|accelerate launch)\s[^`|>;#\n]*\.py\b[^`|>;#&)\n]*)")
_MODULE = re.compile(r"(?:^|[\s`$(])(python[\d.]*\s+-m\s+[\w.]+[^`|>;#&)\n]*)")
_BLANK = re.compile(r"[<>\[\]{}$*]|\.\.\.|path/to|your[_-]", re.IGNORECASE)
"""What stands in a line that is no command yet: the reader has to fill something in."""
_CONFIGS = (".yaml", ".yml", ".json", ".toml")
_NUMBERS = {"int": "1", "float": "0.1"}


class Way(NamedTuple):
    """A command line, and who says so."""

    line: str
    why: str


def others(root: Path, script: str, *, usage: bool) -> list[Way]:
    """What to try for a script, below `root`, that did not train under its name alone.

    `usage`: it ended because it wants arguments.
    """
    found = [*itertools.islice(_named(root, script), _NAMED)]
    found += _required(root, script) if usage else _elsewhere(script)
    once = {way.line: way for way in reversed(found)}
    return [*once.values()][::-1][:MOST]


def _elsewhere(script: str) -> list[Way]:
    """The same script with its folder, or the project's, as the place that names are looked up from."""
    folder, name = Path(script).parent, Path(script).name
    if folder == Path() or not name.endswith(".py"):  # a notebook runs in its folder in any case
        return []
    ways = [Way(f"cd {shlex.quote(str(folder))} && python {shlex.quote(name)}", "from its own folder")]
    parts = Path(script).with_suffix("").parts
    if all(part.isidentifier() for part in parts):
        ways.append(Way(f"python -m {'.'.join(parts)}", "as a module"))
    return ways


# Pages --------------------------------------------------------------------------------------------------------------


def _named(root: Path, script: str) -> Iterator[Way]:
    """How the pages and shell scripts of the repository call a script."""
    for page in _pages(root, script):
        try:
            text = page.read_text("utf-8", "replace")[:_LONGEST]
        except OSError:
            continue
        for line in text.replace("\\\n", " ").splitlines():
            for match in (*_CALL.finditer(line), *_MODULE.finditer(line)):
                if way := _way(match[1].strip(), script):
                    yield Way(way, page.relative_to(root).as_posix())


def _pages(root: Path, script: str) -> Iterator[Path]:
    """Those nearest to the script first: the folders above it, then folders that hold shell scripts."""
    folder = (root / script).parent
    above = [folder, *itertools.takewhile(lambda one: one != root.parent, folder.parents)]
    shells = sorted(root.glob("*/*.sh"))
    pages = (page for one in above for pattern in _PAGES for page in sorted(one.glob(pattern)))
    yield from dict.fromkeys(page for page in (*pages, *shells) if page.is_file() and not page.is_symlink())


def _way(call: str, script: str) -> str:
    """A call as a command line typed in the repository's root; '' where it is another script's, or no whole call."""
    try:
        words = shlex.split(call)
    except ValueError:
        return ""
    if _BLANK.search(call) or not {"-h", "--help"}.isdisjoint(words):
        return ""
    module = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
    place = next((n for n, word in enumerate(words) if word.endswith(".py")), None)
    if module:
        return _from_folder(words, script, f"{module.replace('.', '/')}.py")
    return "" if place is None else _from_folder(words, script, words[place])


def _from_folder(words: list[str], script: str, said: str) -> str:
    """A call with the folder that it has to be typed in for `said` to be the script."""
    name = Path(said).as_posix()
    if script == name:
        return "" if words[-1] == said and "-m" not in words else shlex.join(words)
    if not script.endswith(f"/{name}"):
        return ""
    folder = script.removesuffix(f"/{name}")
    return f"cd {shlex.quote(folder)} && {shlex.join(words)}"


# Parsers ------------------------------------------------------------------------------------------------------------


def _required(root: Path, script: str) -> list[Way]:
    """The script with a value for each argument that its parser has to have."""
    try:
        tree = ast.parse((root / script).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    words: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(str(first)), *_]):
                words += _given(root, first, node)
    return [Way(shlex.join([script, *words]), "its parser requires that")] if words else []


def _given(root: Path, name: str, call: ast.Call) -> Iterable[str]:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    positional = not name.startswith("-")
    if not (positional and "default" not in keywords) and not _is_true(keywords.get("required")):
        return ()
    if positional and isinstance(keywords.get("nargs"), ast.Constant) and keywords["nargs"].value in ("?", "*"):  # type: ignore[attr-defined]
        return ()
    value = _value(root, name.lstrip("-"), keywords)
    return (value,) if positional else (name, value)


def _value(root: Path, name: str, keywords: dict[str | None, Any]) -> str:
    """A value that an argument takes: its first choice, a number, a configuration that lies there, else its name."""
    match keywords.get("choices"):
        case ast.List(elts=[ast.Constant(first), *_]) | ast.Tuple(elts=[ast.Constant(first), *_]):
            return str(first)
    kind = keywords.get("type")
    if isinstance(kind, ast.Name) and kind.id in _NUMBERS:
        return _NUMBERS[kind.id]
    if "config" in name or "cfg" in name or "yaml" in name:
        lying = [path for path in sorted(root.glob("*")) + sorted(root.glob("*/*")) if path.suffix in _CONFIGS]
        likely = sorted(lying, key=lambda path: "config" not in path.as_posix().lower())
        if likely:
            return likely[0].relative_to(root).as_posix()
    return name


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
