"""A solution is trained through all the steps that led to it

## What it finds

Gradients were switched off around a loop that hands what a function gives back to it, until it comes to a fixed point
(`z = f(z, x)`), in the block itself or in a function that is called there, and the edit switches them on. This is read
from the text. A loop that takes something else in each pass, as a recurrent network does, is no such case.

## Why it matters

An implicit layer is solved without gradient on purpose, and gets its gradient from one step at the solution (`z = f(z,
x)` behind the block). Through all steps it is another gradient, and the memory grows with them. The code does not say
which of the two is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.syntax.blocks import iterations
from autofix.syntax.calls import name_of
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.verdict.property import Evidence, Example, Finding, Property

_DEPTH = 3
SOLVED = """\
cell, into = nn.Linear(4, 4), nn.Linear(3, 4)
optimizer = torch.optim.Adam([*cell.parameters(), *into.parameters()], lr=0.01)


def solve(x):
    z = torch.zeros(5, 4)
    for t in range(3):
        z = torch.tanh(0.3 * cell(z) + into(x))
    return z


for _ in range(4):
    x = torch.randn(5, 3)
    with torch.no_grad():
        z = solve(x)
    train: z.square().mean()
"""
RECORDED = ("    with torch.no_grad():\n        z = solve(x)", "    z = solve(x)")


class SolverIsUnrolled(Property):
    sentence = (
        "the code solves for {subject} in a loop with gradients off, and the edit switches them on. Only one step at "
        "the solution may be meant to have them"
    )
    raises = (Example(SOLVED, *RECORDED),)
    silent = (Example(SOLVED.replace("into(x)", "into(x.roll(t, 1))"), *RECORDED),)

    def find(self, evidence: Evidence) -> Finding | None:
        places = [site.frame for site in evidence.case.pool.sites if site.action == "grad"]
        for frame, source, node in evidence.sources.nodes(places):
            for part in _run_there(evidence.sources, source, source.statement(node)):
                for name, _ in iterations(part):
                    return self.found((frame,), subject=name)
        return None


def _run_there(sources: Sources, source: Source, statement: ast.AST) -> Iterator[ast.AST]:
    """A statement, and the user's functions that it calls by their names, directly or not."""
    seen, names = {statement}, set[str]()
    queue = [(statement, 0)]
    for part, depth in queue:
        yield part
        names |= {name_of(call) for call in ast.walk(part) if isinstance(call, ast.Call)}
        for one in sources.imported_by(source) if depth < _DEPTH else ():
            for node in one.walk():
                defines = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in names
                if defines and node not in seen:
                    seen.add(node)
                    queue.append((node, depth + 1))
