"""A cut in each turn of a loop, where one backward may follow several turns

## What it finds

The backward stands under a condition within a loop, and the condition held in each turn of the passes compared. The
text says that it may not hold: a loss adds up or is collected in each turn, and the block with the backward begins it
anew (`if t % window == 0`), or a second backward behind the loop takes what was added up. The edit cuts between passes,
and does so in each turn, outside of that block: in the loop, or in a function that the loop calls. This is read from
the text, and not said of a cut that stands in the block of the backward, or before the loop.

## Why it matters

Where the window grows, or the other backward comes, a pass has several turns. A cut behind the step leaves each pass
whole; one in each turn cuts within it, and the state is trained for a single turn again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe import wire
from autofix.syntax import blocks, calls, names
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import BACKWARDS
from autofix.verdict.property import Effect, Evidence, Example, Finding, Property

WINDOWS = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for epoch in range(6):
    hidden, window, SUM = torch.zeros(5, 4), 1 if epoch < 3 else 5, NONE
    for turn, x in enumerate(torch.randn(30, 5, 3), 1):
        hidden = cell(x, hidden)
        now = (hidden - 0.5).square().mean()
        ADDS
        if turn % window == 0:
            train: SENT
            SUM = NONE
"""


def _windows(name: str, none: str, adds: str, sent: str) -> str:
    text = WINDOWS.replace("SUM", name).replace("NONE", none)
    return text.replace("ADDS", adds).replace("SENT", sent)


SUMMED = _windows("loss", "0.0", "loss = loss + now", "(loss / window)")
LISTED = _windows("losses", "[]", "losses.append(now)", "sum(losses)")
ALONE = _windows("loss", "0.0", "loss = now", "loss")
SHOWN = _windows("total", "0.0", "total += now.item()", "now")
MOMENTS = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)


def fit(sequence, each):
    hidden, total = torch.zeros(5, 4), 0.0
    for x in sequence:
        hidden = cell(x, hidden)
        loss = (hidden - 0.5).square().mean()
        if each:
            train: loss
            loss = loss.item()
        total = total + loss
    if not each:
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


for epoch in range(9):
    fit(torch.randn(30, 5, 3), epoch < 5)
"""
OTHERS = MOMENTS.replace("total.backward()", "cell.bias_hh.sum().backward()")
STEP = "            optimizer.step()\n"
IN_TURN = "cell(x, hidden)", "cell(x, hidden.detach())"
IN_BLOCK = STEP, f"{STEP}            hidden = hidden.detach()\n"
_CUTS = frozenset({"detach", "detach_", "data", "no_grad", "inference_mode"})


class CutInEachTurn(Property):
    sentence = (
        "the edit cuts in each turn of the loop, and the backward comes under `{test}`: where that does not hold, "
        "`{name}` takes several turns, and a cut behind the step alone would leave them together"
    )
    raises = (
        Example(SUMMED, *IN_TURN),
        Example(LISTED, *IN_TURN),
        Example(MOMENTS, *IN_TURN),
    )
    silent = (
        Example(SUMMED, *IN_BLOCK),
        Example(LISTED, *IN_BLOCK),
        Example(MOMENTS, *IN_BLOCK),
        Example(ALONE, *IN_TURN),
        Example(SHOWN, *IN_TURN),
        Example(OTHERS, *IN_TURN),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if evidence.assessment.effect is not Effect.TRUNCATED:
            return None
        for frame, source, node in evidence.sources.nodes(evidence.failure.stack):
            for loop in blocks.loops(source, node):
                if (branch := _branch(source, node, loop)) is None:
                    continue
                name = next(_takes_several(source, loop, branch), "")
                test = ast.unparse(branch.test)
                if name and (line := _cuts_outside(evidence, test)):
                    place = wire.Frame.of_line(frame.file, line, frame.function)
                    return self.found((place,), test=test, name=name)
        return None


def _branch(source: Source, node: ast.AST, loop: ast.AST) -> ast.If | None:
    """The outermost condition around a node within a loop, in whose body the node stands, and which may not hold."""
    found = None
    for one in blocks.around(source, node):
        if one is loop:
            break
        if isinstance(one, ast.If) and any(node in ast.walk(part) for part in one.body):
            found = one if any(isinstance(part, ast.Name) for part in ast.walk(one.test)) else found
    return found


def _takes_several(source: Source, loop: ast.For | ast.While, branch: ast.If) -> Iterator[str]:
    """The variables that add up over turns and that a backward takes: that of the block, or one behind the loop."""
    inside = {id(one) for part in branch.body for one in ast.walk(part)}
    made = {name for one in branch.body for part in ast.walk(one) if isinstance(part, ast.Assign)
            for name in names.binds(part) if name not in names.reads(part.value)}  # fmt: skip
    trained = _trained(branch.body)
    within = {id(one) for one in ast.walk(loop)}
    later = _trained(one for one in source.walk(source.function(loop)) if id(one) not in within)
    for one in ast.walk(loop):
        if id(one) in inside or not (name := _adds_to(one)):
            continue
        if (name in made and name in trained) or name in later:
            yield name


def _trained(nodes: Iterator[ast.AST] | list[ast.stmt]) -> set[str]:
    """The variables that the backward calls in some nodes start from."""
    found = (one for node in nodes for one in calls.within(node) if calls.name_of(one) in BACKWARDS)
    started = (calls.started(one) or next(iter(one.args), None) for one in found)
    return {name for one in started if one is not None for name in names.reads(one)}


def _adds_to(node: ast.AST) -> str:
    """The variable to which a statement adds a tensor, or appends one; '' of others, and of what adds numbers."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            pass
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add()) as value) if name in names.reads(
            value
        ):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value])):
            pass
        case _:
            return ""
    return "" if any(calls.name_of(one) == "item" for one in calls.within(value)) else name


def _cuts_outside(evidence: Evidence, test: str) -> int:
    """The line at which the edit cuts in each turn, outside of the blocks under a condition; 0 where there is none."""
    for path, places in evidence.edited.marked.items():
        if (edited := evidence.edited_sources.source(path)) is None:
            continue
        for line in sorted({place // wire.COLUMNS for place in places}):
            named = (one for one in edited.on_lines([line]) if isinstance(one, ast.Name | ast.Attribute))
            cuts = (one for one in named if calls.name_of(one) in _CUTS and one.lineno == line)
            if any(_in_turn(evidence, edited, one, test) for one in cuts):
                return line
    return 0


def _in_turn(evidence: Evidence, source: Source, node: ast.AST, test: str) -> bool:
    """Whether a node runs in each turn of a loop with a block under a condition, and not in that block."""
    loop = next((one for one in blocks.loops(source, node) if _has(one, test)), None)
    if loop is not None:
        return not any(isinstance(one, ast.If) and ast.unparse(one.test) == test for one in blocks.around(source, node))
    function, first = source.function(node), evidence.edited_sources.source(str(evidence.case.pool.target.script))
    if function is None or first is None or any(ast.unparse(one.test) == test for one in _conditions(function)):
        return False
    readers = evidence.edited_sources.readers(function, first)
    return any(source.function(read) is not function and _in_turn(evidence, home, read, test) for home, read in readers)


def _has(loop: ast.AST, test: str) -> bool:
    return any(ast.unparse(one.test) == test for one in _conditions(loop))


def _conditions(node: ast.AST) -> Iterator[ast.If]:
    return (one for one in ast.walk(node) if isinstance(one, ast.If))
