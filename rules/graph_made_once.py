"""A graph that is made once, before the loop, and used in every iteration.

## What it does
Computes the tensor where it is used: the statement that made it moves to the start of the loop, or into the function
that is called in it.

## Why autograd fails
The first backward frees the graph of the tensor; the second iteration finds it empty. Kept with `retain_graph=True` it
would still describe the parameters as they were before the first update.

## Fix safety
Safe where the run shows that, with every update undone, all gradients stay as they are: the tensor is then only
computed with newer parameters. If nothing that is trained went into it, a detach is the smaller edit and comes first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.diagnosis import scenes
from autofix.probe.wire import Stack
from autofix.search import anew
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax.edits import User, computed_in

WHY_CLOSURE = "{path} is computed anew each time the function is called, from the parameters as they are then."
WHY = "{path} is computed anew in each iteration, from the parameters as they are then."


class GraphMadeOnce(Rule):
    code, name = "AG204", "graph-made-once"
    title = "Compute it anew in each iteration"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = Example.each("""\
! a penalty that is never made again would train in the first pass alone
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
-penalty = net.weight.pow(2).sum()
for _ in range(4):
+    penalty = net.weight.pow(2).sum()
    loss = net(torch.randn(5, 2)).pow(2).mean() + 0.1 * penalty
    train: loss
! in a function that is called in the loop
def objective_of(net):
-    penalty = sum(p.pow(2).sum() for p in net.parameters())

    def objective(x):
+        penalty = sum(p.pow(2).sum() for p in net.parameters())
        return net(x).pow(2).mean() + 0.1 * penalty

    return objective


net = torch.nn.Linear(2, 1)
opt, objective = torch.optim.SGD(net.parameters(), lr=0.1), objective_of(net)
for _ in range(4):
    train: objective(torch.randn(5, 2))
! the loop looks at the values too, so they are computed in both places
x = torch.randn(8, 2)
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=0.1, max_iter=4)


def closure():
    opt.zero_grad()
+    out = net(x)
+    loss = (out - 1).pow(2).mean()
+    loss += 0.01 * out.abs().mean()
    loss.backward()
    return loss


for _ in range(3):
    out = net(x)
    loss = (out - 1).pow(2).mean()
    loss += 0.01 * out.abs().mean()
    opt.step(closure)
    print(loss.item())
! what a sum begins with stands where it began
net = torch.nn.Linear(2, 1)
opt = torch.optim.LBFGS(net.parameters(), max_iter=4)
out, total = net(torch.ones(3, 2)).exp(), 0.0


def closure():
    total.backward()
    return total


total += out.sum()
opt.step(closure)
! the factor needs its matrix anew, too
scale = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([scale], lr=0.1)
x = torch.linspace(0, 1, 4)
-K = torch.exp(-(x - x[:, None]) ** 2 * scale.exp()) + 0.1 * torch.eye(4)
-L = torch.linalg.cholesky(K)
for _ in range(4):
    opt.zero_grad()
+    K = torch.exp(-(x - x[:, None]) ** 2 * scale.exp()) + 0.1 * torch.eye(4)
+    L = torch.linalg.cholesky(K)
    (torch.cholesky_solve(x[:, None], L).square().sum() + L.diagonal().log().sum()).backward()
    opt.step()
! what is made before the loop of D and within it, and only what is needed of that
E, G, D = (torch.nn.Linear(3, 3) for _ in range(3))
opt, d_opt = torch.optim.SGD([*E.parameters(), *G.parameters()], lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(3):
    x = torch.randn(5, 3)
    z = E(x).tanh()
    for _ in range(2):
        fake = G(z) + x
        fake = torch.tanh(fake)
        scores = D(fake.detach())
        train[d_opt]: (D(x) - scores).mean()
    for _ in range(2):
        opt.zero_grad()
+        z = E(x).tanh()
+        fake = G(z) + x
+        fake = torch.tanh(fake)
        scores = D(fake)
        (-scores.mean()).backward()
        opt.step()
! what it begins with is a leaf that the optimizer holds
A = torch.ones(3, 3, requires_grad=True)
opt = torch.optim.SGD([A], lr=0.1)
-A = A + torch.eye(3)
-A = A / A.sum(1, keepdim=True)
for _ in range(4):
+    A_now = A + torch.eye(3)
+    A_now = A_now / A_now.sum(1, keepdim=True)
    opt.zero_grad()
-    (A @ torch.ones(3)).prod().backward()
+    (A_now @ torch.ones(3)).prod().backward()
    opt.step()
! both backwards stand beside each other: there is no loop to compute it in
w = torch.ones(3, requires_grad=True)
h = torch.sigmoid(w)
h.sum().backward()
h.prod().backward()
! the network would begin again in each pass
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.scale = self.w.exp()


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    (torch.ones(5, 2) * net.scale).pow(2).mean().backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For what was made outside the function or loop that uses it: all of it together, then each statement."""
        failed = diagnosis.failure.stack
        crossings = diagnosis.crossed
        # Where no boundary was crossed, the failing backward starts at what was made once: all of its graph was.
        crossed = anew.assignments((one.made for one in crossings or diagnosis.trace.saved), sources)
        behind = anew.behind(crossed, diagnosis, sources) if crossings else {}
        yield from self._together(crossed | behind, failed, 1 if crossings and not behind else 2)
        for crossing in crossings:
            beside = (one.used for one in diagnosis.trace.crossings if one.made[:1] == crossing.made[:1])
            for frame, source, node in sources.located(crossing.made):
                if not isinstance(statement := source.statement(node), ast.Assign) or len(statement.targets) != 1:
                    continue
                kept = anew.drawn(statement, source, diagnosis, sources)
                for loop in () if behind else scenes.loops(source, frame, statement, failed):
                    if kept and (edits := computed_in(source, statement, [statement], loop, kept)):
                        title = f"{self.title}, of what was drawn once"
                        yield self.propose(edits, WHY.format(path=ast.unparse(statement.targets[0])), title=title)
                    yield from self._computed(source, statement, [statement], loop)
                for used in dict.fromkeys((crossing.used, *beside)):
                    if edits := anew.in_call(statement, source, used, sources):
                        why = WHY_CLOSURE.format(path=ast.unparse(statement.targets[0]))
                        yield self.propose(edits, why, title="Compute it anew in each call")

    def _together(self, places: anew.Places, failed: Stack, users: int) -> Iterator[Proposal]:
        """The first of some statements that can be computed elsewhere with the others, in a closure or a loop."""
        ordered = sorted(places, key=lambda one: one.lineno)
        for statement in ordered:
            source, frame = places[statement]
            found = [scenes.closure(source, statement, failed), *scenes.loops(source, frame, statement, failed)]
            made = [one for user in found[:users] for one in self._computed(source, statement, ordered, user)]
            yield from made
            if made:
                return

    def _computed(
        self, source: Source, statement: ast.Assign, made: Sequence[ast.Assign], user: User | None
    ) -> Iterator[Proposal]:  # fmt: skip
        loop = not isinstance(user, ast.FunctionDef)
        if user is not None and (edits := computed_in(source, statement, made, user)):
            paths = ", ".join(dict.fromkeys(ast.unparse(one.targets[0]) for one in made))
            yield self.propose(edits, (WHY if loop else WHY_CLOSURE).format(path=paths))
