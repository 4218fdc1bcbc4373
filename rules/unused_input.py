"""A derivative by something that the result does not depend on, as autograd sees it.

## What it does
Lets the input require a gradient where it is made, bound or handed in (`x.requires_grad_()`), so that what is computed
from it knows it; where a loss is to be trained through the derivative, gives that a graph, too (`create_graph=True`).
For one of several inputs that a result does not use, or the only one where other passes use it, asks for zeros with
`allow_unused=True, materialize_grads=True`.
Where that was allowed already, and the None is then computed with, only among other inputs.

## Why autograd fails
`torch.autograd.grad` goes back from the result to the inputs. It does not find an input that required no gradient when
the result was computed, or that took no part in it.

## Fix safety
A derivative by an input that requires no gradient can only mean that it should. Zeros for an unused one are its
true gradient. The run compares what optimizers then use.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Origin
from autofix.search import leaves
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, vocabulary
from autofix.syntax.edits import Step, append_call, insert_after, insert_before, move_before, set_keyword

WHY_COPY = "The copy is a leaf of its own, also where what it is made of has a graph."
WHY_INPUT = "The input requires a gradient before anything is computed from it, so that the result's graph reaches it."
WHY_EARLIER = "What goes into the forward is the leaf that the derivative is taken by, not what it was made of."
WHY_GRAPH = f"{WHY_INPUT} Its derivative has a graph, so that a loss is trained through it."
WHY_UNUSED = "Where the result does not depend on an input, its derivative is zero."
_DEEPEST = 4


class UnusedInput(Rule):
    code, name = "AG405", "unused-input"
    title = "Let the input require a gradient"
    causes = frozenset({Cause.UNUSED_INPUT})
    tier = Tier.MEANT
    usual = (
        "failed",
        "a derivative is usually by the very tensor that the result was computed from, once that requires a gradient",
    )
    examples = Example.each("""\
from functools import partial
! unsafe: the code takes the derivative by a tensor that the forward did not have
net = torch.nn.Linear(2, 1)
for p in net.parameters():
    p.requires_grad_(False)
x = torch.rand(4, 2)
for _ in range(3):
+    x = x.clone().detach().requires_grad_()
    energy = net(x).pow(2).sum() + net.bias.requires_grad_().sum()
-    x = x.clone().detach().requires_grad_()
    x = x - 0.1 * torch.autograd.grad(energy, x)[0]
print(x.sum().item())
! the loop binds its input anew, so that it needs the flag each time
! unsafe: no run of the code as it stands has gradients to compare with
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.rand(4, 3)
    near = x + 0.01 * torch.randn(4, 3)
    for _ in range(3):
+        near.requires_grad_()
        loss = (net(near) - net(x)).pow(2).sum()
        grad = torch.autograd.grad(loss, [near])[0]
        near = near.detach() + 0.1 * grad.sign()
    train: net(near.detach()).pow(2).mean()
! a penalty that trains nothing without a graph of its own
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
-    x = torch.rand(6, 3) - 0.5
+    x = (torch.rand(6, 3) - 0.5).requires_grad_()
    score = net(x)
-    (slope,) = torch.autograd.grad(score.sum(), x, retain_graph=True)
+    (slope,) = torch.autograd.grad(score.sum(), x, retain_graph=True, create_graph=True)
    loss = score.pow(2).mean() + (slope.norm(2, 1) - 1).pow(2).mean()
    train: loss
! where a function is given it
net = torch.nn.Linear(1, 1)


def residual(t):
+    t.requires_grad_()
    u = net(t)
    (du,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    return du + u


residual(torch.rand(4, 1)).pow(2).sum().backward()
print(net.weight.grad.item())
! the loop binds what the helper is given
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def penalty(inputs, scores):
    (slope,) = torch.autograd.grad(scores.sum(), inputs, create_graph=True)
    return slope.pow(2).sum(1).mean()


for real, weight in zip(torch.rand(4, 6, 3).unbind(), torch.rand(4, 6, 1).unbind()):
+    real.requires_grad_()
    scores = net(real)
    loss = (weight * scores).mean() + penalty(real, scores)
    train: loss
! a parameter that one loss does not use
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
-grads = torch.autograd.grad(a.pow(2).sum(), [a, b])
+grads = torch.autograd.grad(a.pow(2).sum(), [a, b], allow_unused=True, materialize_grads=True)
print(sum(g.sum() for g in grads).item())
! what is not used is allowed, and its None is computed with
net = torch.nn.ModuleDict({"body": torch.nn.Linear(3, 1), "head": torch.nn.Linear(3, 1)})
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def stepped(params, grads):
    return [p - 0.1 * g for p, g in zip(params, grads)]


for _ in range(4):
    x, params = torch.randn(8, 3), list(net.parameters())
    inner = net["body"](x).square().mean()
-    grads = torch.autograd.grad(inner, params, create_graph=True, allow_unused=True)
+    grads = torch.autograd.grad(inner, params, create_graph=True, allow_unused=True, materialize_grads=True)
    fast = stepped(params, grads)
    loss = sum((torch.nn.functional.linear(x, w, b) - 1).square().mean() for w, b in (fast[:2], fast[2:]))
    train: loss
! all that is given is None: zeros would train nothing
w, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
(slope,) = torch.autograd.grad(w.exp().sum(), [other], allow_unused=True)
w.data -= 0.1 * slope
! the inputs are bound into the function that is called
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
derivative = partial(torch.autograd.grad, inputs=[a, b])
derivative(a.pow(2).sum())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the input's maker and at the tops of the functions that it is handed to; else allow that it is unused."""
        made = [origin for origin in diagnosis.trace.origins if origin.kind == "made"]
        graph = [*self._graph(diagnosis, sources)]
        if made:
            yield from self._handed(diagnosis, sources, graph)
        for origin in made:
            for depth, (_, source, node) in enumerate(sources.located(origin.stack[:_DEEPEST])):
                if isinstance(node, calls.VALUES):
                    edits = append_call(source, node, ".requires_grad_()")
                    copies = calls.name_of(node) == "clone"
                    if copies:
                        leaf = append_call(source, node, leaves.LEAF)
                        yield self.propose(leaf, WHY_COPY, title="Make a leaf of the copy", later=2 + 3 * depth)
                    yield self.propose(edits, WHY_INPUT, later=2 + copies + 3 * depth)
                    if graph and not depth:
                        yield self.propose([*edits, *graph], WHY_GRAPH, later=Tier.CREATE - self.tier)
            yield from self._earlier(origin, sources)
        if len({origin.stack[:1] for origin in made}) == 1:
            yield from self._each_time(diagnosis, sources)
        if not made or _is_among(diagnosis) or _gave_before(diagnosis):
            yield from self._allowed(diagnosis, sources)

    def _graph(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Step]:
        """What gives the derivative a graph that was not asked for one."""
        for _, source, node in sources.located(diagnosis.asked[:1]):
            asked = calls.argument(node, vocabulary.GRAD, "create_graph")
            if isinstance(node, ast.Call) and calls.differentiated_by(node) is not None and asked is None:
                yield from set_keyword(source, node, "create_graph", "True")

    def _earlier(self, origin: Origin, sources: Sources) -> Iterator[Proposal]:
        """The statement that makes a leaf of a variable, before the forward that read the variable as it was."""
        for _, source, node in sources.located(origin.stack[:1]):
            statement = source.statement(node)
            bound, read = names.binds(statement), names.reads(statement)
            before = blocks.before(blocks.block_of(source, statement), statement)
            first = names.first_use(before, bound)
            if first is None or not names.meets(bound, read):
                continue
            if not names.meets(names.bound_by(before[before.index(first) :]), read):
                edits = move_before(source, [statement], first)
                yield self.propose(edits, WHY_EARLIER, title="Mark the input before the forward")

    def _each_time(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At the top of the loop that asks for the gradient: a name bound anew needs the flag each time."""
        for _, source, node in sources.located(diagnosis.asked[:1]):
            given, loop = calls.differentiated_by(node), next(blocks.loops(source, node), None)
            if not isinstance(given, ast.Name) or loop is None:
                return
            parts = (one for one in ast.iter_child_nodes(loop) if isinstance(one, (ast.expr, ast.stmt)))
            before = [one for one in parts if (one.end_lineno or one.lineno) < node.lineno]
            if given.id in names.binds(loop) - names.bound_by(before):
                edits = insert_before(source, loop.body[0], [f"{given.id}.requires_grad_()"])
                yield self.propose(edits, WHY_INPUT, later=1)

    def _handed(self, diagnosis: Diagnosis, sources: Sources, graph: list[Step]) -> Iterator[Proposal]:
        """`x.requires_grad_()` in each function that hands the input on, innermost first, up to that which makes it.

        At the top of a function that is given it; behind the statement that binds it, where a function does.
        """
        wanted = ""
        for depth, (_, source, node) in enumerate(sources.located(diagnosis.asked[:_DEEPEST])):
            if not isinstance(node, ast.Call):
                return
            helper = sources.function(diagnosis.asked[depth - 1])
            taken = helper and calls.argument(node, calls.parameters(helper), wanted)
            given = taken if depth else calls.differentiated_by(node)
            if not isinstance(given, ast.Name):
                return
            wanted, function = given.id, source.function(node)
            line = [f"{wanted}.requires_grad_()"]
            if (bound := _bound(source, node, wanted, line)) is not None:
                yield self.propose(bound, WHY_INPUT, later=3 + depth)
                if graph:
                    yield self.propose([*bound, *graph], WHY_GRAPH, later=1 + depth + Tier.CREATE - self.tier)
            if function is None or wanted not in calls.parameters(function):
                return
            yield self.propose(insert_before(source, blocks.top(function), line), WHY_INPUT, later=depth)

    def _allowed(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Zeros for what is not used, or None; of a None that was allowed, zeros where it stands among others."""
        for _, source, node in sources.located(diagnosis.asked[:1]):
            if not isinstance(node, ast.Call) or calls.differentiated_by(node) is None:
                raise Declined("the inputs are not an argument of this call")
            title, zeros = "Take zeros for what is not used", set_keyword(source, node, "materialize_grads", "True")
            match calls.argument(node, vocabulary.GRAD, "allow_unused"):
                case ast.Constant(value=True):
                    if not _is_among(diagnosis):
                        raise Declined("nothing that the derivative is by was used: zeros would train nothing")
                    yield self.propose(zeros, WHY_UNUSED, title=title, later=1)
                    return
            allow = set_keyword(source, node, "allow_unused", "True", position=vocabulary.GRAD.index("allow_unused"))
            if calls.keyword(node, "materialize_grads") is None:
                yield self.propose([*allow, *zeros], WHY_UNUSED, title=title, later=1)
            yield self.propose(allow, WHY_UNUSED, title="Allow what is not used", later=4)


def _is_among(diagnosis: Diagnosis) -> bool:
    """Whether what was not used stands among other inputs."""
    return any(origin.kind == "none_among" for origin in diagnosis.trace.origins)


def _gave_before(diagnosis: Diagnosis) -> bool:
    """Whether the same call gave a derivative in an earlier pass: for these data the result does not depend on it."""
    return any(one.grad and one.stack == diagnosis.asked for one in diagnosis.trace.earlier)


def _bound(source: Source, node: ast.expr, name: str, lines: list[str]) -> list[Step] | None:
    """Lines behind the statement that last bound a variable before `node`, in its block or around it."""
    for one in blocks.holders(source, node):
        for statement in reversed(blocks.before(blocks.block_of(source, one), one)):
            if name in names.binds(statement):
                return insert_after(source, statement, lines)
        around = source.parent(one)
        if isinstance(around, (ast.For, ast.With)) and name in names.binds(around):
            return insert_before(source, around.body[0], lines)
    return None
