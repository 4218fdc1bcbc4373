"""Steps that add, wrap, move and remove whole statements, wherever they stand on their lines.

Statements that share a line are given lines of their own where one comes between them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autofix.core.edit import Declined
from autofix.syntax.calls import Function
from autofix.syntax.edits.steps import Shift, Splice, Step, reindented
from autofix.syntax.layout import StatementRun, line_start, newline_near, quoted_as, run_of, unit_near
from autofix.syntax.source import Source

_FIRST = "a docstring or __future__ import must stay first"


def insert_before(source: Source, statement: ast.stmt, lines: Sequence[str]) -> list[Step]:
    """Insert lines before a statement, at its indentation; four leading spaces mean one step deeper."""
    run = run_of(source, [statement])
    return _before(run, _indented(run, lines))


def insert_after(source: Source, statement: ast.stmt, lines: Sequence[str]) -> list[Step]:
    """Insert lines after a statement and all it contains, at its indentation."""
    run = run_of(source, [statement])
    return _after(run, _indented(run, lines))


def at_end(source: Source, function: Function, lines: Sequence[str]) -> list[Step]:
    """Insert lines as the last of a function, before what it gives back."""
    last = function.body[-1]
    return (insert_before if isinstance(last, ast.Return) else insert_after)(source, last, lines)


def replace_statement(source: Source, statement: ast.stmt, lines: Sequence[str]) -> list[Step]:
    """Put lines in the place of a statement; declines where it shares its line and there are several."""
    run = run_of(source, [statement])
    if len(lines) > 1 and (not run.leads or run.next_start is not None):
        raise Declined("the statement does not stand on a line of its own")
    text = _indented(run, lines)
    return [Splice(source, run.start, run.end, text.removeprefix(run.indent).rstrip("\r\n"))]


def wrap(source: Source, statements: Sequence[ast.stmt], header: str) -> list[Step]:
    """Put neighbouring statements under a header such as `with torch.no_grad():`."""
    run = run_of(source, list(statements))
    _may_move(run)
    indent, unit, newline = run.indent, unit_near(source, statements[0]), newline_near(source, run.start)
    start = run.line_start if run.leads else run.start
    end = run.end if run.next_start is not None else run.line_end[0]
    lines = f"{indent}{header}{newline}" if run.leads else ""
    steps: list[Step] = [Shift(source, start, end, indent, indent + unit, lines, run.leads)]
    if not run.leads:
        steps += [*_freed(run), Splice(source, *run.gap, f"{newline}{indent}{header}{newline}{indent}{unit}")]
    if run.next_start is not None:
        steps.append(Splice(source, run.end, run.next_start, f"{newline}{indent}"))
    return steps


def unwrap(source: Source, statement: ast.With | ast.AsyncWith, context: ast.withitem) -> list[Step]:
    """Take one context from a `with`; where it is the only one, its body stands one step to the left instead.

    Comments between the header and the first statement belong to the body.
    """
    if len(statement.items) > 1:
        place = statement.items.index(context)
        start, end = source.extent(context.context_expr)[0], source.extent(_last(context))[1]
        if place + 1 < len(statement.items):
            end = source.extent(statement.items[place + 1].context_expr)[0]
        else:
            start = source.extent(_last(statement.items[place - 1]))[1]
        return [Splice(source, start, end, "")]
    return body_alone(source, statement, statement.body)


def body_alone(source: Source, statement: ast.stmt, block: Sequence[ast.stmt]) -> list[Step]:
    """One block of a compound statement in its place, a step to the left."""
    outer, body = run_of(source, [statement]), run_of(source, list(block))
    end = outer.end if outer.next_start is not None else outer.line_end[body.leads]
    last = body.line_end[body.leads] if body.end < outer.end else end
    rest = [Splice(source, last, end, "")] * (last < end)
    if not body.leads or not outer.leads:
        return [Splice(source, outer.start, body.start, ""), *rest]
    first = source.starts.index(body.line_start)
    while not source.lines[first - 1].strip() or source.lines[first - 1].lstrip().startswith("#"):
        first -= 1
    start = source.starts[first]
    shifted = Shift(source, start, last, body.indent, outer.indent)
    return [Splice(source, outer.line_start, start, ""), shifted, *rest]


def _last(context: ast.withitem) -> ast.expr:
    return context.optional_vars or context.context_expr


def delete(source: Source, statement: ast.stmt) -> list[Step]:
    """Delete a statement; a block that would be empty keeps a `pass`."""
    return _removed(run_of(source, [statement]))


def move_after(source: Source, statements: Sequence[ast.stmt], anchor: ast.stmt) -> list[Step]:
    """Move neighbouring statements, with the comments directly above them, to after another one, into its block."""
    run, target = _both(source, statements, anchor)
    if run.block is target.block and run.first == target.last + 1:
        return []
    return [*_taken(run), *_after(target, _moved(run, target))]


def move_before(source: Source, statements: Sequence[ast.stmt], anchor: ast.stmt) -> list[Step]:
    """Move neighbouring statements, with the comments directly above them, to before another one, into its block."""
    run, target = _both(source, statements, anchor)
    if run.block is target.block and run.last == target.first - 1:
        _may_move(target)
        return []
    return [*_taken(run), *_before(target, _moved(run, target))]


def decorate(source: Source, function: Function, decorator: str) -> list[Step]:
    """Put a decorator on a line of its own, next to the `def`."""
    start = source.index(function.lineno, function.col_offset)
    line = line_start(source, start)
    text = f"{source.text[line:start]}{decorator}{newline_near(source, start)}"
    return [Splice(source, line, line, text)]


def undecorate(source: Source, decorator: ast.expr) -> list[Step]:
    """Remove a decorator with its lines; those between it and the function stay."""
    first, last = source.extent(decorator)
    start, end = line_start(source, source.text.rindex("@", 0, first)), source.starts[decorator.end_lineno or 0]
    if source.text[start:first].strip() != "@" or source.text[last:end].partition("#")[0].strip():
        raise Declined("the decorator does not stand on lines of its own")
    return [Splice(source, start, end, "")]


def is_future_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _may_move(run: StatementRun) -> None:
    """Decline for a statement that nothing may precede."""
    statement, parent = run.block[run.first], run.source.parent(run.block[run.first])
    documented = isinstance(parent, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
    text = statement.value if isinstance(statement, ast.Expr) and documented and not run.first else None
    if is_future_import(statement) or (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        raise Declined(_FIRST)


def _both(source: Source, statements: Sequence[ast.stmt], anchor: ast.stmt) -> tuple[StatementRun, StatementRun]:
    run, target = run_of(source, list(statements)), run_of(source, [anchor])
    _may_move(run)
    if any(inside is statement for inside in (anchor, *source.around(anchor)) for statement in statements):
        raise Declined("a statement cannot move into itself")
    return run, target


def _removed(run: StatementRun) -> list[Step]:
    """The steps that take neighbouring statements out of their block."""
    source = run.source
    if len(run.statements) == len(run.block) and not isinstance(source.parent(run.block[0]), ast.Module):
        # A comment after the last statement is its own where it has the line to itself, and goes with it.
        return [Splice(source, run.start, run.line_end[0] if run.leads else run.end, "pass")]
    if run.next_start is not None and (run.leads or run.first == 0):
        return [Splice(source, run.start, run.next_start, "")]
    if run.leads:
        return [Splice(source, run.line_start, run.line_end[1], "")]
    return [Splice(source, run.gap[0], run.end, "")]


def _taken(run: StatementRun) -> list[Step]:
    """The steps that take neighbouring statements to another place."""
    if not _has_lines(run):
        return _removed(run)
    return [Splice(run.source, run.commented, run.line_end[1], "")]


def _has_lines(run: StatementRun) -> bool:
    """Whether neighbouring statements have their lines to themselves, and leave others in their block."""
    alone = len(run.statements) == len(run.block) and not isinstance(run.source.parent(run.block[0]), ast.Module)
    return run.leads and run.next_start is None and not alone


def _before(run: StatementRun, text: str) -> list[Step]:
    """Put indented lines before a run."""
    _may_move(run)
    if run.leads:
        return [Splice(run.source, run.line_start, run.line_start, text)]
    return [*_freed(run), Splice(run.source, *run.gap, f"{newline_near(run.source, run.start)}{text}{run.indent}")]


def _after(run: StatementRun, text: str) -> list[Step]:
    """Put indented lines after a run."""
    source = run.source
    if run.last + 1 < len(run.block) and is_future_import(run.block[run.last + 1]):
        raise Declined(_FIRST)
    newline = newline_near(source, run.end)
    head = StatementRun(source, run.block, 0, 0)
    steps: list[Step] = [] if head.leads else [Splice(source, *head.gap, newline + run.indent)]
    if run.next_start is not None:
        return [*steps, Splice(source, run.end, run.next_start, f"{newline}{text}{run.indent}")]
    start, end = run.line_end
    if start == end:  # the file's last line has no newline; neither has the new one
        return [*steps, Splice(source, end, end, newline + text.removesuffix(newline))]
    return [*steps, Splice(source, end, end, text)]


def _freed(run: StatementRun) -> list[Step]:
    """Begin a new line for a one-line suite whose earlier statements stay before the run."""
    head = StatementRun(run.source, run.block, 0, 0)
    if run.first == 0 or head.leads:
        return []
    return [Splice(run.source, *head.gap, newline_near(run.source, head.start) + run.indent)]


def _moved(run: StatementRun, target: StatementRun) -> str:
    """The moved statements as lines of their new block."""
    source, newline = run.source, newline_near(run.source, run.start)
    if not run.leads or run.next_start is not None:
        return "".join(f"{target.indent}{source.segment(one)}{newline}" for one in run.statements)
    start = run.commented if _has_lines(run) else run.line_start
    return reindented(source.text[start : run.line_end[0]] + newline, run.indent, target.indent)


def _indented(run: StatementRun, lines: Sequence[str]) -> str:
    """Lines with the indentation and newlines of their new neighbourhood."""
    unit, newline = unit_near(run.source, run.block[run.first]), newline_near(run.source, run.start)
    text = []
    for line in lines:
        bare = line.lstrip(" ")
        steps, rest = divmod(len(line) - len(bare), 4)
        text.append(f"{run.indent}{unit * steps}{' ' * rest}{bare}{newline}" if bare else newline)
    return quoted_as(run.source, "".join(text))
