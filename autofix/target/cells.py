"""Cells as one Python text: magics made harmless line by line, and every line traced back to its cell."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from difflib import SequenceMatcher

_HEADER = re.compile(r"# %% \[cell (\d+)\]")
_MARKER = re.compile(r"#\s?%%")
_MAGIC = re.compile(r"(\s*)(?:%%?|!|\?|(?:pip|conda|mamba)\s+install\b)")
_HELP = re.compile(r"(\s*)[\w.]+\s*\?{1,2}\s*$")
_TAKEN = re.compile(r"(\s*[\w., ]+=\s*)([!%])")
_RUN = re.compile(r"%run\s+(?:-\w+\s+)*['\"]?([^\s'\"]+)")
_WHOLE = ("%%time", "%%timeit", "%%capture", "%%prun", "%%heat", "%%memit")
_INLINE = ("%time", "%timeit", "%prun")


class CellError(ValueError):
    """The cells cannot be run or changed as they are; the message is one line and says why."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One code cell: its number as people count it, and its source as it stands."""

    number: int
    source: str

    @property
    def lines(self) -> list[str]:
        """The lines, each with a newline."""
        return [line.rstrip("\r\n") + "\n" for line in self.source.splitlines(keepends=True)]


def text(cells: list[Cell]) -> bytes:
    """The cells as one module, each under a header that says its number."""
    parts = []
    for cell in cells:
        parts += [f"# %% [cell {cell.number}]\n", *plain(cell)]
    return "".join(parts).encode()


def plain(cell: Cell) -> list[str]:
    """A cell's lines as Python, as many as it has: what only a notebook understands becomes harmless."""
    lines = cell.lines
    if lines and (first := lines[0].strip()).startswith("%%"):
        word, _, rest = first.partition(" ")
        if word not in _WHOLE:
            return [
                _written(rest, lines[1:]) if word in ("%%writefile", "%%file") else "pass\n",
                *["#\n"] * len(lines[1:]),
            ]
        lines[0] = "pass\n"
    for _ in range(len(lines) + 1):
        wrong = _wrong_line(lines)
        if wrong is None:
            return lines
        replaced = _python(lines[wrong]) if wrong < len(lines) else None
        if replaced is None:
            break
        while lines[wrong].endswith("\\\n") and wrong + 1 < len(lines):
            lines[wrong], replaced, wrong = replaced, "#\n", wrong + 1
        lines[wrong] = replaced
    return [f'raise SyntaxError("cell {cell.number} is not valid Python")\n', *["#\n"] * (len(lines) - 1)]


def _wrong_line(lines: list[str]) -> int | None:
    """The line, from 0, at which these are no Python; None where they are."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("".join(lines))
    except SyntaxError as error:
        at = (error.lineno or 1) - 1
        # A magic in front of a colon-less line may be noticed only on the line behind it.
        around = [n for n in (at, at - 1) if 0 <= n < len(lines) and _python(lines[n]) is not None]
        return around[0] if around else len(lines)
    except ValueError:
        return len(lines)
    return None


def _python(line: str) -> str | None:
    """A line with a magic as one line of Python; None for a line without one."""
    if match := _TAKEN.match(line):
        return f"{match[1]}{'[]' if match[2] == '!' else 'None'}\n"
    match = _MAGIC.match(line) or _HELP.match(line)
    if match is None:
        return None
    indent, said = match[1], line.strip()
    word, _, rest = said.partition(" ")
    if word in _INLINE and rest:
        return f"{indent}{rest}\n"
    if word == "%cd" and rest:
        return f"{indent}__import__('os').chdir(__import__('os').path.expanduser({rest.strip()!r}))\n"
    if word in ("%env", "%set_env") and (pair := re.match(r"(\w+)[= ]\s*(.*)", rest)):
        return f"{indent}__import__('os').environ[{pair[1]!r}] = {pair[2]!r}\n"
    if ran := _RUN.match(said):
        return f"{indent}globals().update(__import__('runpy').run_path({ran[1]!r}, run_name='__main__'))\n"
    return f"{indent}pass\n"


def _written(name: str, lines: list[str]) -> str:
    return f"__import__('pathlib').Path({name.split()[-1:] or ['']!r}[0]).write_text({''.join(lines)!r})\n"


def has_markers(source: str) -> bool:
    """Whether a script is divided into cells by `# %%`."""
    return any(_MARKER.match(line) for line in source.splitlines())


def place(lines: list[str] | tuple[str, ...], line: int) -> tuple[int, int] | None:
    """The cell and the line in it, both from 1, of a line of a text with cells; None where it has none."""
    marks = [n for n, content in enumerate(lines, 1) if _MARKER.match(content)]
    if not marks:
        return None
    above = [n for n in marks if n <= line]
    if above and (match := _HEADER.match(lines[above[-1] - 1])):
        return int(match[1]), line - above[-1]
    lead = any(content.strip() for content in lines[: marks[0] - 1])
    return len(above) + lead, line - (above[-1] if above else 0)


def changed(cells: list[Cell], new: bytes) -> dict[int, str]:
    """The new sources of cells, by position, that an edited text of them means.

    Raises CellError where the edit is not within cells, or touches a line that is no Python.
    """
    found: list[list[str]] = []
    for line in new.decode().splitlines(keepends=True):
        if _HEADER.match(line):
            found.append([])
        elif found:
            found[-1].append(line)
        else:
            raise CellError("the edit stands before the first cell")
    if len(found) != len(cells):
        raise CellError("the edit is not within cells")
    sources = {}
    for at, (cell, lines) in enumerate(zip(cells, found, strict=True)):
        if plain(cell) != lines:
            sources[at] = merged(cell, lines)
    return sources


def merged(cell: Cell, now: list[str]) -> str:
    """A cell's source with the difference between its plain text and `now` applied to what stands there.

    Raises CellError where the difference is in a line that is no Python.
    """
    was = plain(cell)
    ends = "\r\n" if "\r\n" in cell.source else "\n"
    raw = cell.lines
    lines: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag != "equal" and was[a:b] != raw[a:b]:
            raise CellError(f"the edit touches a magic in cell {cell.number}")
        lines += raw[a:b] if tag == "equal" else now[c:d]
    joined = "".join(lines).replace("\n", ends)
    return joined if cell.source.endswith("\n") else joined.removesuffix(ends)
