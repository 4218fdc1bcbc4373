"""More is switched on than what failed needs

## What it finds

What failed is made where gradients are off, by several statements of one block or in several places. The edit switches
gradients on for all of it, and the script would also run if they stayed off for the first of these: the loss then
trains what comes last, and some of what an optimizer owns gets no gradient. Of several places each is
left off once. This is not said where another loss trains that too, nor where the code gives the optimizer the
parameters of that module by its name (`[*body.parameters(), *head.parameters()]`): who writes it means to train it.

## Why it matters

A feature extractor under `no_grad` is mostly meant to stay as it is, also where the optimizer was handed
`model.parameters()` for short. If the head stands in the block by mistake, only the head is to come out of it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from autofix.core.edit import Declined, EditConflict
from autofix.experiments.readings.learning import deprived
from autofix.experiments.requests import changed_lines
from autofix.experiments.spec import RunSpec
from autofix.probe import wire
from autofix.syntax import modes
from autofix.syntax.apply import apply
from autofix.syntax.blocks import qualified
from autofix.syntax.calls import Function, path_of
from autofix.syntax.edits import move_after, undecorate, unwrap
from autofix.syntax.edits.steps import Step, rendered
from autofix.syntax.source import Source
from autofix.verdict.property import Evidence, Example, Finding, Property

_Mode = tuple[Source, "ast.With | Function", ast.expr]
"""A mode without gradients: what has it as a context or a decorator, and how it is written."""
_Edit = Callable[[], list[Step]]
_MOST = 4
"""Modes that an edit takes away, of which each is tried."""
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.extractor, self.head = nn.Sequential(nn.Linear(5, 6), nn.ReLU()), nn.Linear(6, 3)

    def forward(self, x):
BODY

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    loss = F.cross_entropy(model(torch.randn(8, 5)), torch.randint(0, 3, (8,)))
    train: loss
"""
OFF = """\
        with torch.no_grad():
            features = self.extractor(x)
            out = self.head(features)
        return out
"""
ON = """\
        features = self.extractor(x)
        out = self.head(features)
        return out
"""
BLOCK = NET.replace("BODY", OFF)
HEAD = NET.replace("BODY\n", OFF.replace("    out =", "out ="))
METHODS = """\
        return self.classify(self.features(x))

    @torch.no_grad()
    def features(self, x):
        return self.extractor(x)

    @torch.no_grad()
    def classify(self, features):
        return self.head(features)
"""
TWICE = NET.replace("BODY", METHODS)
AROUND = NET.replace(
    "BODY",
    """\
        with torch.no_grad():
            features = self.extractor(x)
        return self.head(features)
""",
)
AROUND = AROUND.replace(
    "    loss = F.cross_entropy(model(torch.randn(8, 5)), torch",
    "    with torch.no_grad():\n        out = model(torch.randn(8, 5))\n    loss = F.cross_entropy(out, torch",
)
TRAINER = """\
body, head = nn.Linear(5, 6), nn.Linear(6, 3)
net = nn.ModuleDict({"body": body, "head": head})


def step(optimizer, x, y):
    with torch.no_grad():
        h = body(x).relu()
        h = h / h.norm(dim=1, keepdim=True).clamp(min=1e-3)
        out = head(h)
    loss = F.cross_entropy(out, y)
    train: loss


optimizer = torch.optim.SGD(GIVEN, lr=0.1)
for _ in range(6):
    step(optimizer, torch.randn(8, 5), torch.randint(0, 3, (8,)))
"""
IN_STEP = TRAINER[TRAINER.index("    with torch") : TRAINER.index("    loss =")]
OUT = IN_STEP.replace("    with torch.no_grad():\n", "").replace("        ", "    ")
ALONE = """\
net = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    with torch.no_grad():
        x = torch.randn(8, 5)
        out = net(x)
    loss = F.cross_entropy(out, torch.randint(0, 3, (8,)))
    train: loss
"""
IN_ALONE = ALONE[ALONE.index("    with torch") : ALONE.index("    loss")]
OUT_ALONE = "    x = torch.randn(8, 5)\n    out = net(x)\n"
DECORATED = NET.replace("    def forward", "    @torch.no_grad()\n    def forward").replace("BODY", ON)


class PartMayStayFrozen(Property):
    last = True
    sentence = (
        "what stands last alone needs gradients, and the edit switches them on for {subject}, too, which may be "
        "meant to stay as it is: narrow the edit, or give the optimizer these parameters by the name of their module"
    )
    raises = (
        Example(BLOCK, OFF, ON),
        Example(TWICE, "    @torch.no_grad()\n", ""),
        Example(AROUND, "with torch.no_grad()", "with torch.enable_grad()"),
        Example(TRAINER.replace("GIVEN", "net.parameters()"), IN_STEP, OUT),
    )
    silent = (
        Example(ALONE, IN_ALONE, OUT_ALONE),
        Example(TRAINER.replace("GIVEN", "[*body.parameters(), *head.parameters()]"), IN_STEP, OUT),
        Example(TRAINER.replace("GIVEN", "head.parameters()"), IN_STEP, OUT),
        Example(DECORATED, "    @torch.no_grad()\n", ""),
        Example(NET.replace("BODY", OFF).replace("model.parameters()", "model.head.parameters()"), OFF, ON),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        edited = evidence.edited
        for narrow in _narrower(evidence):
            frozen = {*deprived(narrow, edited)}
            trained = {name for index in range(len(narrow.counts)) for name in _trained(narrow, index)}
            if frozen and trained and not _is_listed(evidence, frozen, trained):
                return self.found(evidence.failure.stack, subject=min(frozen))
        return None


def _narrower(evidence: Evidence) -> Iterator[wire.Trace]:
    """Runs in which gradients stay off for a part of what the edit switches them on for, and that get past the failure.

    The code without all but one of the modes that the edit takes away, or with the last statements moved out of one.
    """
    lifted = [one for path in evidence.files for one in _lifted(evidence, path)]
    for kept in lifted if 1 < len(lifted) <= _MOST else ():
        yield from _run(evidence, [_lift(*one) for one in lifted if one is not kept])
    if len(lifted) == 1:
        yield from itertools.islice((run for edit in _ends(*lifted[0]) for run in _run(evidence, [edit])), 1)


def _lifted(evidence: Evidence, path: Path) -> Iterator[_Mode]:
    """The contexts and decorators of a file that switch gradients off, and that the edit takes away."""
    before, after = (one.source(str(path)) for one in (evidence.sources, evidence.edited_sources))
    if before is None or after is None:
        return
    # One that stands in a line that both have is not taken away.
    old, new = evidence.case.pool.target.read(path), evidence.files[path]
    left = Counter(_key(*one) for one in _modes(after, changed_lines(old, new)))
    for one in _modes(before, changed_lines(new, old)):
        left[key := _key(*one)] -= 1
        if left[key] < 0:
            yield one


def _modes(source: Source, lines: Sequence[int]) -> Iterator[_Mode]:
    """What may switch gradients off in statements of the module that stand on some lines."""
    for one in source.on_lines(lines):
        if isinstance(one, ast.With):
            yield from (
                (source, one, item.context_expr) for item in one.items if modes.may_switch_off(item.context_expr)
            )
        elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from ((source, one, mode) for mode in one.decorator_list if modes.may_switch_off(mode))


def _key(source: Source, holder: ast.With | Function, mode: ast.expr) -> tuple[str, str, str]:
    return type(holder).__name__, qualified(source, holder.body[0]), ast.unparse(mode)


def _lift(source: Source, holder: ast.With | Function, mode: ast.expr) -> _Edit:
    if not isinstance(holder, ast.With):
        return functools.partial(undecorate, source, mode)
    item = next(one for one in holder.items if one.context_expr is mode)
    return functools.partial(unwrap, source, holder, item)


def _ends(source: Source, holder: ast.With | Function, _mode: ast.expr) -> Iterator[_Edit]:
    """What moves the last statements out of a block, the fewest first."""
    if isinstance(holder, ast.With) and len(holder.items) == 1:
        for first in range(len(holder.body) - 1, 0, -1):
            yield functools.partial(move_after, source, holder.body[first:], holder)


def _run(evidence: Evidence, edits: Sequence[_Edit]) -> Iterator[wire.Trace]:
    """The run of the code with some edits, if it gets past the failure."""
    with contextlib.suppress(Declined, EditConflict):
        steps = [step for edit in edits for step in edit()]
        sources = {step.source for step in steps}
        files = {one.path: apply(one, rendered([step for step in steps if step.source is one])) for one in sources}
        run = evidence.case.pool.get(RunSpec.edited(files))
        if evidence.case.passed(run):
            yield run


def _trained(run: wire.Trace, index: int) -> Iterator[str]:
    """What an optimizer owns that gets a gradient at some step."""
    for place, name in enumerate(run.parameters(index)):
        if any(place < len(step.gradients) and any(step.gradients[place]) for step in run.of(index)):
            yield name


def _is_listed(evidence: Evidence, frozen: set[str], trained: set[str]) -> bool:
    """Whether the code asks for the parameters of modules by whose names all of these are called, and no others."""
    asked = {path_of(one).rpartition(".")[2] for source in _project(evidence) for one in _asked(source)}
    own = {name for name in asked - {""} if not any(name in one.split(".") for one in trained)}
    return all(not own.isdisjoint(name.split(".")) for name in frozen)


def _project(evidence: Evidence) -> list[Source]:
    return evidence.sources.project(str(evidence.case.pool.target.script))


def _asked(source: Source) -> Iterator[ast.expr]:
    """What is asked for its parameters, but for what a loop goes through them."""
    for one in source.walk():
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "parameters":
            holder = source.parent(one)
            if not (isinstance(holder, (ast.For, ast.comprehension)) and holder.iter is one):
                yield one.func.value
