"""A backward that runs through the cut at which each part was to go backward by itself.

## What it does
Makes the tensor a leaf for the part that takes it, `h = h.detach().requires_grad_()`: where it is taken, where it is
sent, or, where one function does both, under a name of its own. Or leaves out the second backward.

## Why autograd fails
In split learning, in pipelines and in two-stage models the loss goes back to the tensor at the cut, and the part before
the cut goes on from there with the gradient that came. Where the tensor is handed over with its graph, and only keeps
its gradient (`retain_grad`), the first backward runs through both parts and frees them. The second finds nothing.

## Fix safety
Safe where two passes show that the second call sends on the very gradient that the first has sent on already: with
`retain_graph=True` the part before the cut would be trained by twice its gradient. Unsafe where another gradient is
given, as with noise: what is meant is not said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Carrier, Crossing, Frame
from autofix.search import leaves
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, nested, vocabulary
from autofix.syntax.edits import append_call, delete, insert_before

WHY = "The gradient arrives in a leaf at the cut, and each part goes backward once."
WHY_LEFT_OUT = "The earlier backward went through this tensor, and has sent on the same gradient from there."
LEFT_OUT = "Leave out the second backward"


class BackwardThroughTheCut(Rule):
    code, name = "AG214", "backward-through-the-cut"
    title = "Make the tensor a leaf at the cut"
    causes = frozenset({Cause.FREED_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
! where it is taken
client, server = torch.nn.Linear(3, 4), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(4, 1))
own, theirs = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (client, server))


def serve(h, y):
+    h = h.detach().requires_grad_()
    h.retain_grad()
    loss = (server(h) - y).square().mean()
    loss.backward()
    return h.grad


for _ in range(4):
    own.zero_grad(), theirs.zero_grad()
    sent = client(torch.randn(5, 3)).tanh()
    sent.backward(serve(sent, torch.randn(5, 1)))
    own.step(), theirs.step()
! several clients at once, which keep what they sent
class Client:
    def __init__(self):
        self.net = torch.nn.Linear(3, 4)

    def forward(self, x):
        self.sent = self.net(x).tanh()
-        return self.sent
+        return self.sent.detach().requires_grad_()


clients, server = [Client(), Client()], torch.nn.Linear(8, 1)
opt = torch.optim.SGD([p for net in (*(c.net for c in clients), server) for p in net.parameters()], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    taken = [c.forward(torch.randn(5, 3)) for c in clients]
    [h.retain_grad() for h in taken]
    (server(torch.cat(taken, 1)) - 1).square().mean().backward()
    for c, h in zip(clients, taken):
        c.sent.backward(h.grad)
    opt.step()
! one function does both
first, second = torch.nn.Linear(3, 4), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    h = first(torch.randn(5, 3)).tanh()
-    h.retain_grad()
-    loss = (second(h) - 1).square().mean()
+    h_leaf = h.detach().requires_grad_()
+    loss = (second(h_leaf) - 1).square().mean()
    loss.backward()
-    h.backward(gradient=h.grad)
+    h.backward(gradient=h_leaf.grad)
    opt.step()
! parts that were collected in a list: the loss has gone through all of them
parts = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
opt = torch.optim.SGD(parts.parameters(), lr=0.1)
for _ in range(4):
    opt.zero_grad()
    kept = [torch.randn(5, 3)]
    for part in parts:
        kept.append(part(kept[-1]).tanh())
        kept[-1].retain_grad()
    (kept[-1] - 1).square().mean().backward()
    for h in reversed(kept[1:]):
-        h.backward(h.grad)
+        pass
    opt.step()
! two losses with a part in common: no gradient is handed back
w = torch.ones(3, requires_grad=True)
h = (w * 2).exp()
h.retain_grad()
h.square().sum().backward()
h.backward(torch.ones(3))
! the same loss twice
w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
loss.backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the tensor is taken, where it is sent, where one function or class does both; else the second call."""
        made = {fact.stack for fact in diagnosis.trace.seen("starts-at-kept-gradient")}
        if not made:
            return
        crossings = [one for one in diagnosis.trace.crossings if one.by == "earlier" and one.made in made]
        cuts = [*self._taken(crossings, sources), *self._sent(crossings, diagnosis, sources)]
        yield from cuts or self._both(diagnosis, sources)
        yield from self._left_out(diagnosis, sources)

    def _taken(self, crossings: list[Crossing], sources: Sources) -> Iterator[Proposal]:
        """At the top of a function that is given the tensors, and reads their gradients there or in its class."""
        lines: dict[calls.Function, tuple[Source, dict[str, None]]] = {}
        for crossing in crossings:
            for frame in crossing.used:
                source, function = sources.source(frame.file), sources.function(frame)
                if source is None or function is None or not _reads_gradient(source, function):
                    continue
                for name in calls.parameters(function):
                    form = next((one.kind for one in crossing.carriers if _is(one, frame, name)), "")
                    if line := _leaves(source, name, form):
                        lines.setdefault(function, (source, {}))[1][line] = None
        for function, (source, each) in lines.items():
            yield self.propose(insert_before(source, blocks.top(function), list(each)), WHY)

    def _sent(self, crossings: list[Crossing], diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where a function gives back the tensor that it keeps for its own backward."""
        holder, _, attribute = _root(diagnosis, sources).rpartition(".")
        made = dict.fromkeys(frame for crossing in crossings for frame in crossing.made)
        for _, source, node in sources.nodes(made) if holder else ():
            function = source.function(node)
            kept = [one for one in names.assignments(source, f"self.{attribute}") if source.function(one) is function]
            if function is None or not kept:
                continue
            alike = {f"self.{attribute}", *(calls.path_of(one.value) for one in kept)}
            for given in (one for one in ast.walk(function) if isinstance(one, ast.Return)):
                parts = given.value.elts if isinstance(given.value, ast.Tuple) else [given.value]
                for part in (one for one in parts if one is not None and calls.path_of(one) in alike - {""}):
                    yield self.propose(append_call(source, part, leaves.LEAF), WHY, later=1)

    def _both(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """A name of its own for the leaf, by which all but the second backward knows the tensor."""
        for frame in diagnosis.failure.stack:
            source, call = sources.source(frame.file), sources.node(frame)
            root = _started(call)
            if source is None or root is None or not (path := calls.path_of(root)):
                return
            function = source.function(root)
            scope = _class(source, function) if path.startswith("self.") else function or source.tree
            bound = [one for one in names.assignments(source, path) if scope is not None and one in ast.walk(scope)]
            if len(bound) == 1 and isinstance(bound[0], ast.Assign) and scope is not None:
                if edits := leaves.under_own_name(source, scope, bound[0], path, root):
                    yield self.propose(edits, WHY, later=2)
                return
            if function is None or path not in calls.parameters(function):
                return

    def _left_out(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """The second call left out: the first has sent on all that it would send."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            statement = source.statement(node)
            if isinstance(statement, ast.Expr):
                yield self.propose(delete(source, statement), WHY_LEFT_OUT, title=LEFT_OUT, later=9)


def _is(carrier: Carrier, frame: Frame, name: str) -> bool:
    return (carrier.file, carrier.function, carrier.path) == (frame.file, frame.function, name)


def _leaves(source: Source, name: str, form: str) -> str:
    """What makes what a variable holds leaves: a tensor, or a list or tuple of nothing else."""
    if form == "tensor":
        return f"{name} = {name}{leaves.LEAF}"
    if not nested.is_flat(form):
        return ""
    one = names.unused(source, "t")
    each = f"{one}{leaves.LEAF} for {one} in {name}"
    return f"{name} = [{each}]" if form.startswith("[") else f"{name} = tuple({each})"


def _root(diagnosis: Diagnosis, sources: Sources) -> str:
    """The variable that the failing backward starts from."""
    return next((calls.path_of(_started(node)) for node in map(sources.node, diagnosis.failure.stack[:1])), "")


def _started(node: ast.AST | None) -> ast.expr | None:
    """What a call of backward starts from; of another call, its first argument."""
    return calls.only(calls.started(node) or calls.argument(node, vocabulary.BACKWARD_FUNCTION, "tensors"))


def _class(source: Source, node: ast.AST | None) -> ast.AST | None:
    while node is not None and not isinstance(node, ast.ClassDef):
        node = source.parent(node)
    return node


def _reads_gradient(source: Source, function: calls.Function) -> bool:
    """Whether a function, or another of its class, reads a gradient."""
    around = _class(source, function) or function
    return any(isinstance(one, ast.Attribute) and one.attr == "grad" for one in ast.walk(around))
