"""What is kept is used later with a graph that was used up

## What it finds

A list, or another container that outlives the passes, keeps results together with their graph, which a backward of
their pass has gone through. The program takes single ones out again (`pool[k]`, `random.sample(memory, 8)`,
`queue.popleft()`) and does not cut them there; and no pass that was compared came to that, as one does once a pool is
full. This is not said of losses and other single numbers, which are kept to be shown, nor of what is cut where it is
stored or taken out.

## Why it matters

The edit only puts the failure off: a backward then goes through the old graph a second time, or through parameters that
have moved since. What is kept for later is cut where it is stored.
"""

from __future__ import annotations

import ast
import contextlib
from collections import Counter
from collections.abc import Iterator

from autofix.core.edit import Declined, EditConflict
from autofix.probe import wire
from autofix.syntax import calls, modes
from autofix.syntax.apply import apply
from autofix.syntax.edits import embed
from autofix.syntax.edits.steps import rendered
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import CUTS
from autofix.verdict.property import Evidence, Example, Finding, Property

_SEVERAL = 3
_TAKEN = ("pop", "popleft")
_DRAWN = ("choice", "choices", "sample")
_ENDS = "(1 / 0, {})[1]"
POOL = """\
G, D = nn.Linear(4, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
of_g, of_d = (torch.optim.SGD(one.parameters(), lr=0.05) for one in (G, D))
pool = []
def query(images):
    if len(pool) < FULL:
        pool.append(images)
        return images
    place = int(torch.randint(FULL, ()))
    old, pool[place] = pool[place], images
    return old
for _ in range(6):
    z = torch.randn(5, 4)
    fake = G(z)
    train[of_g]: (D(fake) - 1).square().mean()
    of_d.zero_grad()
    shown = query(fake)
    ((D(torch.randn(5, 3)) - 1).square().mean() + D(shown).square().mean()).backward()
    of_d.step()
"""
LATE, SOON = POOL.replace("FULL", "50"), POOL.replace("FULL", "1")
LAGGED = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
h, lagged = torch.zeros(2, 4), []
for _ in range(30):
    h = cell(torch.randn(2, 3), h)
    lagged.append(h)
    loss = (head(h) - 1).square().mean()
    if len(lagged) > 25:
        old = lagged.pop(0)
        loss = loss + (h - old).square().mean()
    train: loss
"""
CUT = "cell(torch.randn(2, 3), h)", "cell(torch.randn(2, 3), h.detach())"
SHOWN = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
h, outs = torch.zeros(2, 4), []
for step in range(8):
    h = cell(torch.randn(2, 3), h)
    out = head(h)
    outs.append(out)
    loss = (out - 1).square().mean()
    train: loss
    if step == 100:
        print(outs[step - 1].mean().item())
"""


class KeptGraphIsUsedLater(Property):
    last = True
    sentence = (
        "`{path}` keeps results whose graph a backward has freed. This line reads them in later iterations, which no "
        "run came to, and can then fail"
    )
    raises = (Example(LATE, "query(fake)", "query(G(z))"), Example(LAGGED, *CUT))
    silent = (
        Example(LATE, "query(fake)", "query(fake.detach())"),
        Example(LATE, "query(fake)", "query(fake).detach()"),
        Example(SOON, "D(shown)", "D(shown.detach())"),
        Example(LAGGED, "lagged.append(h)\n", "h = h.detach()\n    lagged.append(h)\n"),
        Example(LAGGED.replace("lagged.pop(0)", "lagged.pop(0).detach()"), *CUT),
        Example(SHOWN, *CUT),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        spent = Counter(name.partition("[")[0] for name in evidence.edited.spent if "[" in name)
        for path in (path for path, count in spent.items() if count >= _SEVERAL):
            for source, node in _takes(evidence, path.rpartition(".")[2]):
                with contextlib.suppress(Declined, EditConflict):
                    ends = apply(source, rendered(embed(source, node, _ENDS)))
                    if evidence.case.passed(evidence.left_of({**evidence.files, source.path: ends})):
                        return self.found((wire.Frame.of_line(str(source.path), node.lineno),), path=path)
        return None


def _takes(evidence: Evidence, name: str) -> Iterator[tuple[Source, ast.expr]]:
    """Where single values are taken out of what is called so, and not cut before they are used."""
    files = evidence.edited_sources.project(str(evidence.case.pool.target.script))
    for source in files:
        for node in source.walk():
            match node:
                case ast.Subscript(value=held, slice=at, ctx=ast.Load()):
                    taken = not isinstance(at, (ast.Slice, ast.Constant, ast.UnaryOp))
                case ast.Call(func=ast.Attribute(value=held, attr=called)) if called in _TAKEN:
                    taken = not isinstance(source.parent(node), ast.Expr)
                case ast.Call(args=[held, *_]):
                    taken = calls.name_of(node) in _DRAWN
                case _:
                    continue
            if taken and calls.name_of(held) == name and not _is_cut(source, node, files):
                yield source, node


def _is_cut(source: Source, node: ast.expr, files: list[Source]) -> bool:
    """Whether what an expression gives is cut where it is taken, or wherever the function that takes it is called."""
    function = source.function(node)
    if function is None or _cut_there(source, node):
        return _cut_there(source, node)
    calling = [(one, call) for one in files for call in one.walk() if isinstance(call, ast.Call)]
    uses = [(one, call) for one, call in calling if calls.name_of(call) == function.name]
    return bool(uses) and all(_cut_there(one, call) for one, call in uses)


def _cut_there(source: Source, node: ast.expr) -> bool:
    """Whether an expression is cut as it stands, by the name that it is given, or stands where gradients are off."""
    for one in source.around(node):
        if isinstance(one, ast.Attribute) and one.attr in CUTS:
            return True
        if isinstance(one, ast.With) and any(modes.switches_off(item.context_expr) for item in one.items):
            return True
    function = source.function(node)
    if function is not None and any(map(modes.switches_off, function.decorator_list)):
        return True
    stored = ast.walk(source.statement(node))
    names = {one.id for one in stored if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    inside = (one for one in ast.walk(function or source.tree) if isinstance(one, ast.Attribute) and one.attr in CUTS)
    return any(calls.name_of(one.value) in names for one in inside)
