"""Edits that add, wrap and remove whole statements, wherever they stand on their lines."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix.edit import Declined, Edit
from autofix.rewrite.apply import edit
from autofix.rewrite.layout import Run, is_compound, newline_near, run_of, shifted, start_of, unit_near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autofix.source import Source


def insert_before(source: Source, statement: ast.stmt, lines: Sequence[str]) -> list[Edit]:
    """Insert lines before a statement, at its indentation; four leading spaces mean one step deeper."""
    run = run_of(source, [statement])
    if is_fixed(run):
        raise Declined("a docstring or __future__ import must stay first")
    return place_before(run, _indented(run, lines), _on_one_line(lines))


def insert_after(source: Source, statement: ast.stmt, lines: Sequence[str]) -> list[Edit]:
    """Insert lines after a statement and all it contains, at its indentation."""
    run = run_of(source, [statement])
    return place_after(run, _indented(run, lines), _on_one_line(lines))


def wrap(source: Source, statements: Sequence[ast.stmt], header: str) -> list[Edit]:
    """Put neighbouring statements under a header such as `with torch.no_grad():`."""
    run = run_of(source, list(statements))
    if is_fixed(run):
        raise Declined("a docstring or __future__ import must stay first")
    indent, unit, newline = run.indent, unit_near(source, statements[0]), newline_near(source, run.start)
    edits = _freed(run)
    end = run.end if run.next_start is not None else run.line_end[0]
    if run.leads:
        start = run.line_start
        edits.append(edit(source, start, start, f"{indent}{header}{newline}"))
    else:
        start = run.start
        gap = f"{newline}{indent}{header}{newline}{indent}{unit}"
        edits.append(edit(source, _gap_start(run), start, gap))
    for first, last, text in shifted(source, start, end, indent, indent + unit):
        edits.append(edit(source, first, last, text))
    if run.next_start is not None:
        edits.append(edit(source, run.end, run.next_start, f"{newline}{indent}"))
    return edits


def delete(source: Source, statement: ast.stmt) -> list[Edit]:
    """Delete a statement; a block that would be empty keeps a `pass`."""
    return remove(run_of(source, [statement]))


def remove(run: Run) -> list[Edit]:
    """The edits that take neighbouring statements out of their block."""
    source = run.source
    if len(run.statements) == len(run.block) and not isinstance(source.parent(run.block[0]), ast.Module):
        # A comment after the last statement is its own where it has the line to itself, and goes with it.
        end = run.line_end[0] if run.leads else run.end
        return [edit(source, run.start, end, "pass")]
    if run.next_start is not None and (run.leads or run.first == 0):
        return [edit(source, run.start, run.next_start, "")]
    if run.leads:
        return [edit(source, run.line_start, run.line_end[1], "")]
    return [edit(source, run.previous_end, run.end, "")]


def place_before(run: Run, text: str, inline: str | None) -> list[Edit]:
    """Put indented text before a run; `inline` is the same for a line shared with other statements."""
    source = run.source
    if run.leads:
        return [edit(source, run.line_start, run.line_start, text)]
    if inline is not None:
        return [edit(source, run.start, run.start, f"{inline}; ")]
    newline = newline_near(source, run.start)
    return [*_freed(run), edit(source, _gap_start(run), run.start, f"{newline}{text}{run.indent}")]


def place_after(run: Run, text: str, inline: str | None) -> list[Edit]:
    """Put indented text after a run; `inline` is the same for a line shared with other statements."""
    source = run.source
    if run.last + 1 < len(run.block) and is_future_import(run.block[run.last + 1]):
        raise Declined("a docstring or __future__ import must stay first")
    suite = not _block_leads(run)
    if inline is not None and (suite or run.next_start is not None):
        return [edit(source, run.end, run.end, f"; {inline}")]
    newline = newline_near(source, run.end)
    edits = []
    if suite:
        start = start_of(source, run.block[0])
        edits.append(edit(source, _gap_start(run_of(source, [run.block[0]])), start, newline + run.indent))
    if run.next_start is not None:
        return [*edits, edit(source, run.end, run.next_start, f"{newline}{text}{run.indent}")]
    start, end = run.line_end
    if start == end:  # the file's last line has no newline; neither has the new one
        return [*edits, edit(source, end, end, newline + text.removesuffix(newline))]
    return [*edits, edit(source, end, end, text)]


def is_fixed(run: Run) -> bool:
    """Whether the first statement is one that nothing may precede."""
    statement = run.block[run.first]
    if is_future_import(statement):
        return True
    if run.first or not isinstance(statement, ast.Expr):
        return False
    holder = run.source.parent(statement)
    documented = isinstance(holder, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    return documented and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)


def is_future_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _freed(run: Run) -> list[Edit]:
    """Begin a new line for a one-line suite whose earlier statements stay before the run."""
    if run.first == 0 or _block_leads(run):
        return []
    head = run_of(run.source, [run.block[0]])
    newline = newline_near(run.source, head.start)
    return [edit(run.source, _gap_start(head), head.start, newline + run.indent)]


def _block_leads(run: Run) -> bool:
    return run_of(run.source, [run.block[0]]).leads


def _gap_start(run: Run) -> int:
    """Where the space before a run that leads no line begins, a semicolon included."""
    if run.first:
        return run.previous_end
    colon = run.tokens.before(run.start)
    return colon.end if colon else run.start


def _indented(run: Run, lines: Sequence[str]) -> str:
    """Lines with the indentation and newlines of their new neighbourhood."""
    unit, newline = unit_near(run.source, run.block[run.first]), newline_near(run.source, run.start)
    text = []
    for line in lines:
        bare = line.lstrip(" ")
        steps, rest = divmod(len(line) - len(bare), 4)
        text.append(f"{run.indent}{unit * steps}{' ' * rest}{bare}{newline}" if bare else newline)
    return "".join(text)


def _on_one_line(lines: Sequence[str]) -> str | None:
    """The lines joined by semicolons, if they are simple statements without comments."""
    joined = "; ".join(lines)
    try:
        body = ast.parse(joined).body
    except SyntaxError:
        return None
    simple = not any(map(is_compound, body))
    return joined if simple and len(body) >= len(lines) and "#" not in joined else None
