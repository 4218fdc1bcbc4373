"""A backward that frees a graph which a later backward still needs.

## What it does
Adds `retain_graph=True` to the earlier backward, in whatever spelling it has: `loss.backward()`,
`torch.autograd.backward(...)`, `torch.autograd.grad(...)`, a scaled loss, a helper that passes the flag on. Where one
of several optimizers steps behind it, the backward may also be meant to reach its parameters alone: `inputs=...`. So
may the later one, where gradients are cleared right before it, or each of both where two optimizers step behind them.

## Why autograd fails
A backward releases the tensors that its graph saved as soon as it has used them. Two losses that share a part of the
graph need it twice, and the second backward finds it empty.

## Fix safety
Safe where both losses are meant to flow through the shared part. It costs memory until the second backward has run, so
a detach, where that leaves all gradients as they are, comes first. Never right for a graph carried from one iteration
into the next: it then grows without bound, which the run shows.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from autofix.probe.wire import Stack
from autofix.search import keeping, owning
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, vocabulary
from autofix.syntax.edits import Step, set_keyword

CREATE = (
    "The derivative gets a graph of its own, so that a loss can be trained through it, and keeps the one it came from."
)
EACH = "The graph is kept for the later backward, and each of both leaves gradients only in what one optimizer steps."
LATER = "The graph is kept for the later backward, which leaves gradients only in what is cleared right before it."
OWN = "The earlier backward keeps the graph, and leaves gradients only in what its own optimizer steps."
WHY = "The earlier backward keeps the graph, so that the later one finds the shared part as the forward left it."


class BackwardFreesSharedGraph(Rule):
    code, name = "AG201", "backward-frees-shared-graph"
    title = "Keep the graph with retain_graph=True"
    causes = frozenset({Cause.FREED_GRAPH})
    tier = Tier.KEEP
    usual = "freed", "losses that share a graph are usually added up, and go backward once"
    examples = Example.each("""\
w = torch.ones(3, requires_grad=True)
! two losses share a part
h = (w * 2).exp()
-h.sum().backward()
+h.sum().backward(retain_graph=True)
h.pow(2).sum().backward()
print(w.grad.sum().item())
! the flag is there, and off
h = torch.sigmoid(w)
-torch.autograd.backward(h.sum(), retain_graph=False)
+torch.autograd.backward(h.sum(), retain_graph=True)
torch.autograd.backward([h.prod()])
print(w.grad.sum().item())
! a derivative is taken first
h = torch.tanh(w)
-(g,) = torch.autograd.grad(h.sum(), w)
+(g,) = torch.autograd.grad(h.sum(), w, retain_graph=True)
h.pow(2).sum().backward()
print(g.sum().item(), w.grad.sum().item())
! the keyword is inside a mapping that is made elsewhere
h = torch.sigmoid(w)
options = {"retain_graph": False}
h.sum().backward(**options)
h.prod().backward()
! a multiplier rises with what the other loss is to make small
net, scale = torch.nn.Linear(3, 2), torch.zeros(1, requires_grad=True)
of_net, of_scale = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD([scale], lr=0.1)
for _ in range(5):
    h = net(torch.randn(5, 3))
    of_net.zero_grad(), of_scale.zero_grad()
    term = scale.exp() * (h.square().mean() - 0.1)
-    (-term).backward()
+    (-term).backward(retain_graph=True, inputs=[p for group in of_scale.param_groups for p in group["params"]])
    of_scale.step()
    loss = (h[:, 0] - 1).square().mean() + term
    loss.backward()
    of_net.step()
! a critic's loss is to leave nothing in the generator, whose score it shares
G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    held, score = D(torch.randn(5, 3)), D(G(torch.randn(5, 2)))
    g_loss, d_loss = -score.mean(), torch.relu(1 - held).mean() + torch.relu(1 + score).mean()
    g_opt.zero_grad()
-    g_loss.backward()
+    g_loss.backward(retain_graph=True)
    d_opt.zero_grad()
-    d_loss.backward()
+    d_loss.backward(inputs=list(D.parameters()))
    g_opt.step(), d_opt.step()
! unsafe: both are cleared first, and either network may be meant to learn from both losses
G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    held, score = D(torch.randn(5, 3)), D(G(torch.randn(5, 2)))
    g_opt.zero_grad(), d_opt.zero_grad()
-    (-score.mean()).backward()
-    (score - held).exp().mean().backward()
+    (-score.mean()).backward(retain_graph=True, inputs=list(G.parameters()))
+    (score - held).exp().mean().backward(inputs=list(D.parameters()))
    g_opt.step()
    d_opt.step()
! a helper passes the flag on, and another derivative of the same forward has a graph
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def derivative(y, x, create_graph=False):
    return torch.autograd.grad(y.sum(), x, create_graph=create_graph)[0]


for _ in range(3):
    x = torch.randn(5, 2, requires_grad=True)
    slope = derivative(net(x), x, create_graph=True)
-    curve = derivative(slope.sum(1), x)
+    curve = derivative(slope.sum(1), x, create_graph=True)
    loss = slope.square().mean() + curve.mean()
    train: loss
! the flag is given by position
h = torch.sigmoid(w)
run = h.sum().backward
run(None, None)
h.prod().backward(retain_graph=True)
run(None)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """One proposal for each earlier backward that freed a part, and one for the caller of a helper."""
        for stack in dict.fromkeys(saved.freed_by for saved in diagnosis.trace.saved if saved.freed_by):
            yield from self._keep(stack, diagnosis, sources)

    def _keep(self, stack: Stack, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        for depth, (source, node) in enumerate(keeping.freeing(stack, sources)):
            passed_on = depth == 0 and keeping.passes_on(node)
            keep = set_keyword(source, node, keeping.FLAG, "True")
            yield self.propose(keep, WHY, later=passed_on)
            if len(diagnosis.trace.counts) > 1 and (only := _reaching_only(source, node)):
                yield self.propose([*keep, *only], OWN, title="Keep the graph, and train what steps next alone")
            for only, why in (
                _each_its_own(source, node, diagnosis, sources) if len(diagnosis.failure.concerned) > 1 else ()
            ):
                yield self.propose([*keep, *only], why, title="Keep the graph, and let each loss train its own")
        flagged = list(keeping.freeing(stack, sources, keeping.CREATE))
        for source, node in flagged[-1:]:
            if calls.differentiation(flagged[0][1]) is not vocabulary.GRAD or calls.keyword(node, keeping.CREATE):
                continue
            edits = set_keyword(source, node, keeping.CREATE, "True")
            yield self.propose(edits, CREATE, title="Give the derivative a graph", tier=Tier.CREATE)


def _each_its_own(
    source: Source, earlier: ast.Call, diagnosis: Diagnosis, sources: Sources
) -> Iterator[tuple[list[Step], str]]:  # fmt: skip
    """`inputs=` of the failing backward with what is cleared right before it; else of both, with what is stepped then.

    Of two optimizers that step behind both, nobody says which loss is whose: each way is tried.
    """
    for _, there, later in sources.located(diagnosis.failure.stack[:1]):
        if not isinstance(later, ast.Call):
            continue
        if steps := owning.reaching_cleared(there, later):
            yield steps, LATER
        elif there is source and (stepped := owning.stepped_later(source, source.statement(later)))[1:]:
            for one, other in itertools.permutations(stepped, 2) if len(stepped) == 2 and later is not earlier else ():  # noqa: PLR2004
                first = owning.reaching_only(source, earlier, [one])
                yield [*first, *owning.reaching_only(source, later, [other])], EACH


def _reaching_only(source: Source, node: ast.Call) -> list[Step]:
    """`inputs=` with what the optimizer owns that steps next."""
    optimizer = owning.stepped_next(source, source.statement(node))
    return owning.reaching_only(source, node, [optimizer]) if optimizer is not None else []
