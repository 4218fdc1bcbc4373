"""What is computed anew for one loss is old for another

## What it finds

A value was made once, before the passes that use it (`alpha = log_alpha.exp()`), and the edit computes it anew in one
place that reads it. Other statements of those passes, or behind their loop, which the edit does not touch, still read
the old one by its name: mostly without its graph, so that they do not fail. This is not said where the edit gives the
name the new value in each pass, where nothing but a shape is read of the old one, nor where one statement of the edit
reads both: that compares new with old.

## Why it matters

All who read one name are meant to read one value. Where a loss trains what makes it and another loss uses it, that one
would go on with the value from before the first step: an entropy is weighed for ever as it was at the start. What is
shown, or saved, behind the loop would be what it was before the first step.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from autofix.probe import wire
from autofix.syntax.blocks import function_named, passed
from autofix.syntax.calls import Function, path_of
from autofix.syntax.names import assignments, locals_of, mentions
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources
from autofix.verdict.property import Evidence, Example, Finding, Property

WEIGHED = """\
net, raw = nn.Linear(3, 1), nn.Parameter(torch.zeros(()))
of_net, of_raw = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD([raw], lr=0.1)
weight = raw.exp()
for _ in range(5):
    error = (net(torch.randn(6, 3)) - 1).square().mean()
    loss = weight.detach() * error
    train[of_net]: loss
    gap = weight * (1 - error.detach())
    train[of_raw]: gap
"""
IN_A_CLASS = """\
class Learner:
    def __init__(self):
        self.net, self.raw = nn.Linear(3, 1), nn.Parameter(torch.zeros(()))
        self.of_net = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.of_raw = torch.optim.SGD([self.raw], lr=0.1)
        self.weight = self.raw.exp()

    def learn(self, x):
        error = (self.net(x) - 1).square().mean()
        train[self.of_net]: (self.weight.detach() * error)
        gap = self.weight * (1 - error.detach())
        train[self.of_raw]: gap


learner = Learner()
for _ in range(5):
    learner.learn(torch.randn(6, 3))
"""
GAP, ANEW = "gap = weight *", "gap = raw.exp() *"
MADE = "weight = raw.exp()\n"
BOTH = (f"{MADE}for _ in range(5):\n", f"for _ in range(5):\n    {MADE}")
TWICE = WEIGHED.replace("weight.detach() * error", "raw.exp().detach() * error")
HELPED = "def times(weight, one):\n    return weight.detach() * one\n\n\n" + WEIGHED.replace(
    "weight.detach() * error", "times(weight, error)"
)
POLICY = """\
policy, x = nn.Linear(4, 3), torch.randn(6, 4)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
chosen, gained = torch.randint(0, 3, (6, 1)), torch.randn(6, 1)
logp = policy(x).log_softmax(1).gather(1, chosen)
for _ in range(4):
    ratio = (logp - logp.detach()).exp()
    loss = -(ratio * gained).mean()
    train: loss
"""
SHOWN = """\
net, raw = nn.Linear(3, 1), nn.Parameter(torch.zeros(()))
optimizer = torch.optim.SGD([*net.parameters(), raw], lr=0.1)
weight = raw.exp()


def error(x):
    return (weight * net(x) - 1).square().mean()


for _ in range(5):
    loss = error(torch.randn(6, 3))
    train: loss
    print(weight.item())
"""
OF_CALL = "    return (weight", "    weight = raw.exp()\n    return (weight"
FOR_ALL = "    return (weight", "    global weight\n    weight = raw.exp()\n    return (weight"
AT_THE_END = SHOWN.replace("    print(weight.item())\n", "print(weight.item())\n")
TABLE = """\
gate, rows = nn.Linear(3, 3), nn.Parameter(torch.randn(5, 3))
optimizer = torch.optim.SGD([*gate.parameters(), rows], lr=0.1)
table = torch.tanh(gate(rows))
for x in torch.randn(40, 3):
    loss = (table @ x - 1).square().mean()
    train: loss
with torch.no_grad():
    print((table @ torch.ones(3)).sum().item())
"""
OF_LOSS = ("loss = (table", "loss = (torch.tanh(gate(rows))")
IN_EACH = ("    loss = (table", "    table = torch.tanh(gate(rows))\n    loss = (table")
AT_THE_START = TABLE.replace("for x", "print(table.sum().item())\nfor x").split("with")[0]
WIDTHS = """\
class Posterior(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.raw = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3))
        self.width = self.raw.exp()

    def forward(self, x):
        drawn = self.mean + self.width * torch.randn(3)
        return x @ drawn

    def spread(self):
        return self.width.square().mean() - self.width.log().mean()


posterior = Posterior()
optimizer = torch.optim.SGD(posterior.parameters(), lr=0.05)
for _ in range(5):
    loss = (posterior(torch.randn(6, 3)) - 1).square().mean() + posterior.spread()
    train: loss
"""
MAKES, DRAWS = "        self.width = self.raw.exp()\n", "        drawn ="
WIDTHS_MADE = WIDTHS[WIDTHS.index(MAKES) : WIDTHS.index(" self.mean + self.width")]
WIDTHS_MOVED = WIDTHS_MADE.replace(MAKES, "").replace(DRAWS, MAKES + DRAWS)
MADE_AND_USED = IN_A_CLASS[IN_A_CLASS.index("        self.weight =") : IN_A_CLASS.index(" (1 - error.d")]
MADE_APART = MADE_AND_USED.replace(
    "        self.weight", "        self.make()\n\n    def make(self):\n        self.weight", 1
).replace("gap = self.weight", "gap = self.raw.exp()")
SMOOTH = """\
class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.randn(3))
        self.kernel = self.raw.softmax(0)

    def forward(self, x):
        return x @ self.kernel


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(3)


layer, plain = Smooth(), Plain()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(5):
    loss = (layer(torch.randn(6, 3)) - 1).square().mean()
    train: loss
print(layer.kernel.tolist())
"""
OF_FORWARD = "return x @ self.kernel", "kernel = self.raw.softmax(0)\n        return x @ kernel"
FOR_READERS = "return x @ self.kernel", "self.kernel = self.raw.softmax(0)\n        return x @ self.kernel"
_Read = tuple[ast.expr, bool]
_SHAPES = frozenset(("shape", "ndim", "dtype", "device", "size", "dim", "numel"))


class ComputedAnewInPart(Property):
    sentence = (
        "the edit computes `{name}` anew elsewhere, but this line still reads the old value from before the steps"
    )
    raises = (
        Example(WEIGHED, GAP, ANEW),
        Example(WEIGHED, GAP, GAP.replace("gap", "fresh").replace("weight *", "raw.exp()\n    gap = fresh *")),
        Example(IN_A_CLASS, "gap = self.weight", "gap = self.raw.exp()"),
        Example(SHOWN, *OF_CALL),
        Example(AT_THE_END, *OF_CALL),
        Example(TABLE, *OF_LOSS),
        Example(
            WIDTHS.replace("self.width.square", "self.width.detach().square").replace(
                "self.width.log", "self.width.detach().log"
            ),
            "self.mean + self.width",
            "self.mean + self.raw.exp()",
        ),
        Example(IN_A_CLASS, MADE_AND_USED, MADE_APART),
        Example(SMOOTH, *OF_FORWARD),
    )
    silent = (
        Example(SMOOTH, *FOR_READERS),
        Example(SMOOTH.replace("layer.kernel", "plain.kernel"), *OF_FORWARD),
        Example(WIDTHS, WIDTHS_MADE, WIDTHS_MOVED),
        Example(WEIGHED, *BOTH),
        Example(HELPED, *BOTH),
        Example(TWICE, GAP, ANEW),
        Example(SHOWN, *FOR_ALL),
        Example(AT_THE_END, *FOR_ALL),
        Example(TABLE, *IN_EACH),
        Example(AT_THE_START, *OF_LOSS),
        Example(TABLE.replace("(table @ torch.ones(3))", "torch.ones(table.shape)"), *OF_LOSS),
        Example(SHOWN.replace("    print(weight.item())\n", ""), *OF_CALL),
        Example(WEIGHED.replace("weight.detach() * error", "error.expand(weight.shape)"), GAP, ANEW),
        Example(WEIGHED, "    of_raw.step()\n", "    of_raw.step()\n    weight = raw.exp()\n"),
        Example(IN_A_CLASS, "        error =", "        self.weight = self.raw.exp()\n        error ="),
        Example(WEIGHED.replace(MADE, f"{MADE}print(weight.item())\n").replace("weight.d", "raw.exp().d"), GAP, ANEW),
        Example(
            POLICY,
            "    ratio = (logp -",
            "    now = policy(x).log_softmax(1).gather(1, chosen)\n    ratio = (now -",
        ),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not (evidence.assessment.refreshes and evidence.letter.reused):
            return None
        code, edited = evidence.sources, evidence.edited_sources
        carriers = (one for crossing in evidence.trace.crossings for one in crossing.carriers)
        for carrier in dict.fromkeys(one for one in carriers if one.kind == "tensor"):
            old, new = code.source(carrier.file), edited.source(carrier.file)
            if old is None or new is None:
                continue
            reads = [*_reads(old, carrier, code)], [*_reads(new, carrier, edited)]
            if (left := _left((old, new), carrier, reads, evidence.failure.stack)) is not None:
                frame = wire.Frame(carrier.file, left.lineno, left.col_offset, left.lineno, left.col_offset, "")
                return self.found((frame,), name=carrier.path)
        return None


def _left(
    both: tuple[Source, Source], carrier: wire.Carrier, each: tuple[list[_Read], list[_Read]], failed: wire.Stack
) -> ast.expr | None:
    """Where an edited file still reads, in statements of the code, what it has elsewhere computed anew."""
    (old, new), (reads, others) = both, each
    bound = [[*_binding(source, carrier)] for source in both]
    if Counter(map(ast.unparse, bound[0])) != Counter(map(ast.unparse, bound[1])):
        return None
    inside = [one for one, in_pass in reads if in_pass]
    known, moved = ({part for one in some for part in _passes(old, one)} for some in (inside, bound[0]))
    if any(part in known - moved for one in bound[1] for part in _passes(new, one)):
        return None  # no value from before the steps is left
    behind = [one for one, in_pass in reads if not in_pass and _is_behind(old, one, failed)]
    known, later = ({ast.unparse(old.statement(one)) for one in some} for some in (inside, behind))
    after = [one for one, in_pass in others if in_pass or ast.unparse(new.statement(one)) in later]
    if not 0 < len(after) < len(inside) + len(behind):
        return None
    return after[0] if all(ast.unparse(new.statement(one)) in known | later for one in after) else None


def _passes(source: Source, node: ast.AST) -> Iterator[str]:
    """The functions and loops around a place, as text to compare."""
    for one in source.around(node):
        if isinstance(one, Function):
            yield one.name
        elif isinstance(one, (ast.For, ast.While)):
            yield ast.unparse(one.iter if isinstance(one, ast.For) else one.test)


def _is_behind(source: Source, node: ast.expr, failed: wire.Stack) -> bool:
    """Whether a loop in which the failing call stood ends before a place in its block, or in one around that."""
    own = {id(one) for one in source.around(node)}
    loops = (one for one in source.walk() if isinstance(one, (ast.For, ast.While)) and passed(source, one, failed))
    return any((one.end_lineno or 0) < node.lineno and id(source.parent(one)) in own for one in loops)


def _binding(source: Source, carrier: wire.Carrier) -> Iterator[ast.stmt]:
    """What binds a variable, and not a local one of the same name."""
    scope = function_named(source, carrier.function) if carrier.path.isidentifier() else source.tree
    return (one for one in assignments(source, carrier.path) if not _is_another(source, one, carrier, scope))


def _is_another(source: Source, node: ast.AST, carrier: wire.Carrier, scope: ast.AST | None) -> bool:
    """Whether a name at this place is a local one of a function within the scope of the carrier."""
    own = (part for part in source.around(node) if isinstance(part, Function) and part is not scope)
    return any(carrier.path in locals_of(part) for part in own)


def _reads(source: Source, carrier: wire.Carrier, sources: Sources) -> Iterator[_Read]:
    """The places that read the values of a variable; whether in passes: in loops and functions beside what binds it."""
    scope = function_named(source, carrier.function) if carrier.path.isidentifier() else source.tree
    binding = [{id(one) for one in source.around(bound)} for bound in _binding(source, carrier)]
    found = mentions(scope, carrier.path) if scope is not None else ()
    own = (one for one in found if not _is_another(source, one, carrier, scope))
    for one in (*own, *_of_instances(source, carrier, sources)):
        parent = source.parent(one)
        if not isinstance(one.ctx, ast.Load) or (isinstance(parent, ast.Attribute) and parent.attr in _SHAPES):
            continue
        passes = [part for part in source.around(one) if isinstance(part, (ast.For, ast.While, Function))]
        yield one, any(id(part) not in beside for part in passes for beside in binding)


def _of_instances(source: Source, carrier: wire.Carrier, sources: Sources) -> Iterator[ast.Attribute]:
    """Where an attribute of its own that a class makes is read of a variable that is given an instance of it."""
    owner, _, name = carrier.path.partition(".")
    found = source.mentioning(name) if owner == "self" and name.isidentifier() else ()
    for one in (one for one in found if isinstance(one, ast.Attribute) and one.attr == name):
        path = path_of(one.value)
        if path != "self" and any(made.name == carrier.function for _, made in sources.classes(source, path) if path):
            yield one
