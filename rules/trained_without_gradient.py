"""A computation that is trained, run where gradients are switched off.

## What it does
Takes the forward out of what switched gradients off, wherever that was: a block, one of several contexts, a decorator
on a method, on a class or of the project's own, a flag that a caller gives. Of two values that are made in a block and
held against each other, either is left in there as the target of the other. Where training itself runs inside an
evaluation, it switches gradients on for the function that trains.

## Why autograd fails
No graph is recorded while gradients are off. What counts is the mode in which the forward ran, not where that was
written: a caller's `with torch.no_grad():` holds for all that is called in it.

## Fix safety
Safe where one place alone switched gradients off and every parameter that an optimizer owns gets its gradient when that
place does not, and nothing that is made there may be a target.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autofix.probe.wire import Frame, Origin
from autofix.search import targets
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, modes
from autofix.syntax.edits import embed, replace, set_keyword, undecorate, unwrap, with_gradient

WHY = "The forward that backward goes through records its graph."
WHY_WITHIN = "What the block calls here runs with gradients; the rest of the block stays without."
WHY_PART = "The prediction records its graph; the target that it is compared with stays a constant."
EACH = "Take the forward out of all that switch gradients off"
_OUTWARDS = 3
"""How many frames out from where the mode was set an own context or decorator may stand."""
Definition = calls.Function | ast.ClassDef


class TrainedWithoutGradient(Rule):
    code, name = "AG409", "trained-without-gradient"
    title = "Take the forward out of the block"
    causes = frozenset({Cause.NO_GRAPH, Cause.CONVERSION, Cause.UNUSED_INPUT, Cause.GRADIENT_NONE})
    tier = Tier.MEANT
    examples = Example.each("""\
import contextlib
! a block
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    with torch.no_grad():
-        out = net(torch.randn(5, 2))
+    out = net(torch.randn(5, 2))
    train: out.pow(2).mean()
! a decorator of the project's own
def without_gradient(function):
    def inner(*args):
        with torch.no_grad():
            return function(*args)

    return inner


net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


-@without_gradient
def objective(x):
    return net(x).pow(2).mean()


for _ in range(4):
    train: objective(torch.randn(5, 2))
! a context of the project's own
@contextlib.contextmanager
def evaluating(net):
    with torch.no_grad():
        yield net.eval()
    net.train()


net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    with evaluating(net):
-        loss = net(torch.randn(5, 2)).pow(2).mean()
+    loss = net(torch.randn(5, 2)).pow(2).mean()
    train: loss
! a flag that whoever trains has to give
body, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)


def predict(x, train=False):
    with torch.set_grad_enabled(train):
        return head(body(x).tanh())


for _ in range(4):
-    loss = predict(torch.randn(5, 2)).pow(2).mean()
+    loss = predict(torch.randn(5, 2), train=True).pow(2).mean()
    train: loss
! a method that is twice without gradient
class Tower(torch.nn.Linear):
-    @torch.no_grad()
    def forward(self, x):
        return super().forward(x).tanh()


tower = Tower(3, 1)
opt = torch.optim.SGD(tower.parameters(), lr=0.1)
for _ in range(4):
-    with torch.no_grad():
-        out = tower(torch.randn(5, 3))
+    out = tower(torch.randn(5, 3))
    train: (out - 1).square().mean()
! unsafe: a target is made in the block, too
net = torch.nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    now, then, reward = torch.randn(5, 2), torch.randn(5, 2), torch.randn(5)
    with torch.no_grad():
        target = reward + 0.9 * net(then).amax(1)
-        value = net(now)[:, 0]
+    value = net(now)[:, 0]
    train: (value - target).pow(2).mean()
! unsafe: their difference stands in the block, too
critic = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(4):
    now, then, reward = torch.randn(5, 2), torch.randn(5, 2), torch.randn(5, 1)
    with torch.no_grad():
-        value = critic(now)
+        with torch.enable_grad():
+            value = critic(now)
        target = reward + 0.9 * critic(then)
-        error = target - value
+        with torch.enable_grad():
+            error = target - value
    train: error.pow(2).mean()
! a part that takes no gradient on purpose leads to no tensor whose gradient is None
net, teacher = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
spare = torch.ones(1, requires_grad=True)
x = torch.randn(5, 2)
with torch.no_grad():
    target = teacher(x)
(net(x) - target).pow(2).mean().backward()
spare.data -= spare.grad.sign()
! the mode is entered by hand, at a call that says nothing of gradients
net = torch.nn.Linear(2, 1)
off = torch.no_grad()
off.__enter__()
net(torch.randn(5, 2)).pow(2).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each place where gradients went off: where it was written, and who it was meant for; then all at once."""
        off = [one for one in diagnosis.trace.origins if one.kind == "no_grad" and one.stack]
        places: dict[tuple[str, int], Origin] = {}
        for one in (one for one in off if one.stack[0] not in diagnosis.failure.stack[:1]):
            places.setdefault((one.stack[0].file, one.stack[0].line), one)
        first: list[Proposal] = []
        for origin in places.values():
            yield from self._within(origin.stack[0], diagnosis, sources)
            written = list(self._blocks(origin, sources))
            defined = sorted(self._decorated(origin, sources), key=lambda one: one.rank)
            first += (written or defined)[:1]
            yield from (*written, *defined)
        if len(first) > 1:
            yield self.propose([step for one in first for step in one.steps], WHY, title=EACH, later=2)

    def _within(self, off: Frame, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the backward itself runs with gradients off: they are switched on for the function that trains."""
        failing = diagnosis.failure.stack
        holders = [f for f in failing[1:] if (f.file, f.function) == (off.file, off.function)]
        within = any(blocks.passed(source, source.statement(node), holders) for _, source, node in sources.nodes([off]))
        function, trained = (sources.function(failing[0]), sources.source(failing[0].file)) if within else (None, None)
        if function is not None and trained is not None:
            edits, title = with_gradient(trained, function), f"Switch gradients on in {function.name}"
            yield self.propose(edits, WHY_WITHIN, title=title)

    def _blocks(self, origin: Origin, sources: Sources) -> Iterator[Proposal]:
        """The `with` that switched gradients off, or one around it that did so by a context of the project's own."""
        found: list[tuple[Source, ast.With, ast.withitem]] = []
        for frame, source, node in sources.nodes(origin.stack[:_OUTWARDS]):
            statement = source.statement(node)
            if not isinstance(statement, ast.With):
                continue
            off = [one for one in statement.items if modes.may_switch_off(one.context_expr)]
            if frame is not origin.stack[0]:
                whole = node is statement and len(statement.items) == 1
                off = [one for one in statement.items if whole or node is one.context_expr]
            elif off:
                yield from self._flag(source, statement, off[0], origin, sources)
            found += [(source, statement, one) for one in off[:1]]
        for depth, place in enumerate(reversed(found)):
            yield self.propose(unwrap(*place), WHY, later=2 + depth)
        for source, block, _ in found:
            for target, edits in targets.but_for_targets(source, block):
                yield self.propose(edits, WHY_PART, title=f"Leave only {target} in the block", later=3 + len(found))

    def _flag(
        self, source: Source, statement: ast.With, item: ast.withitem, origin: Origin, sources: Sources
    ) -> Iterator[Proposal]:  # fmt: skip
        """`set_grad_enabled(train)`: the caller gives the flag, or the condition was meant the other way round."""
        call, maker = item.context_expr, source.function(statement)
        known = calls.parameters(maker) if maker is not None else []
        match call.args if isinstance(call, ast.Call) and calls.name_of(call) == "set_grad_enabled" else []:
            case [ast.Name(id=name)] if name in known:
                for _, caller, given in sources.nodes(origin.stack[1:2]):
                    if isinstance(given, ast.Call):
                        edits = set_keyword(caller, given, name, "True", position=calls.place_of(known, name))
                        yield self.propose(edits, WHY, title=f"Call it with {name}=True")
            case [ast.UnaryOp(op=ast.Not(), operand=meant) as flag]:
                edits = replace(source, flag, source.segment(meant))
                yield self.propose(edits, WHY, title="Turn the condition round", later=1)
            case [ast.Compare() as flag]:
                yield self.propose(embed(source, flag, "not {}"), WHY, title="Turn the condition round", later=1)

    def _decorated(self, origin: Origin, sources: Sources) -> Iterator[Proposal]:
        """Functions and classes that a decorator runs without gradient, those that were called by name first."""
        makers, called = set(), set()
        for frame, source, node in sources.nodes(origin.stack[:_OUTWARDS]):
            called.add(calls.name_of(node) if isinstance(node, ast.Call) else "")
            if frame is origin.stack[0] and isinstance(source.statement(node), (ast.With, ast.Expr)):
                makers |= {one.name for one in source.around(node) if isinstance(one, calls.Function)}
        implied = (*called, "forward", "__call__")
        near = sources.reached(origin.stack[:_OUTWARDS])
        switched = [(source, node, one) for source in near for node, one in _switched_off(source, makers)]
        if not any(node.name in implied for _, node, _ in switched):
            further = (source for source in sources.reached(origin.stack) if source not in near)
            far = ((source, *one) for source in further for one in _switched_off(source, makers))
            switched += [one for one in far if one[1].name in implied]
        for source, node, one in switched:
            title = f"Take {node.name} out of {ast.unparse(one).removesuffix('()')}"
            yield self.propose(undecorate(source, one), WHY, title=title, later=1 if node.name in implied else 5)
        for source in near if not makers else ():
            for node in source.walk():
                if isinstance(node, ast.Call) and modes.wraps(node):
                    edits = replace(source, node, source.segment(node.args[0]))
                    yield self.propose(edits, WHY, title="Use the function itself", later=2)


def _switched_off(source: Source, makers: Collection[str]) -> Iterator[tuple[Definition, ast.expr]]:
    """The definitions of a file with a decorator that switches gradients off, or that one of `makers` makes."""
    for node in source.walk():
        if not isinstance(node, Definition):
            continue
        for one in node.decorator_list:
            if modes.may_switch_off(one) if not makers else calls.name_of(one) in makers:
                yield node, one
