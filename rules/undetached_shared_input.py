"""One network's loss that reaches, through an argument, into a network it is not meant to train.

## What it does
Detaches the tensor where it is handed over: `D(fake)` becomes `D(fake.detach())`, also inside helpers and methods.
Where both losses use one result (`score = D(fake)`), one of them computes it anew: `D(fake.detach())` for `score`.

## Why autograd fails
The loss of the second network goes back through its input into the first network, and frees that part of the graph.
When the first network's own loss runs backward, its graph is gone. Where the first network was stepped before, the
loss of the second finds its weights changed on the way.

## Fix safety
Safe where no optimizer uses the gradient that is cut off, which only a run can tell: an optimizer may own both
networks, or the loss may be meant to flow through. The comparison with the reference decides.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autofix.probe.wire import Crossing
from autofix.search import handed, spelled
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names, writes
from autofix.syntax.edits import Step, append_call, insert_before, replace

WHY = "The loss gets the value of {name}, and its backward no longer goes on into the graph behind it."
ANEW = "Compute it again, from the detached input"
WHY_ANEW = "The loss trains what computes it again here, and its backward no longer goes on into the graph behind that."
_DEEPEST = 4


class UndetachedSharedInput(Rule):
    code, name = "AG202", "undetached-shared-input"
    title = "Detach the shared input"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
! the critic's loss goes back into the generator
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    d_opt.zero_grad()
-    D(fake).mean().backward()
+    D(fake.detach()).mean().backward()
    d_opt.step()
    train[g_opt]: (-D(fake).mean())
! in two terms of one loss
def penalty(D, fake):
    x = (0.5 * fake).requires_grad_()
    (g,) = torch.autograd.grad(D(x).sum(), x, create_graph=True)
    return (g.norm(dim=1) - 1).pow(2).mean()


G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    d_opt.zero_grad()
-    (D(fake).mean() + penalty(D, fake)).backward()
+    (D(fake.detach()).mean() + penalty(D, fake.detach())).backward()
    d_opt.step()
    train[g_opt]: (-D(fake).mean())
! G is trained first
G = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
D = torch.nn.Linear(3, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = G(torch.randn(4, 2))
    g_opt.zero_grad()
    (-D(fake)).mean().backward(retain_graph=True)
    g_opt.step()
    d_opt.zero_grad()
    real = D(torch.randn(4, 3))
-    made = D(fake)
+    made = D(fake.detach())
    (made - real).mean().backward()
    d_opt.step()
! a helper makes the loss of what a pool hands on
class Pool:
    def __init__(self):
        self.kept = []

    def query(self, images):
        self.kept.append(images.view(4, 3))
        return self.kept[-1]


def train_critic(D, opt, fake):
    opt.zero_grad()
-    loss = D(fake).square().mean()
+    loss = D(fake.detach()).square().mean()
    loss.backward()
    opt.step()


G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt, d_opt = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
pool = Pool()
for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    train[g_opt]: (-D(fake).mean())
    shown = pool.query(fake)
    train_critic(D, d_opt, shown)
! both losses use one score, and steps throw away what is left in the other network
G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt, d_opt = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    score = D(fake)
    train[g_opt]: (-score.mean())
    d_opt.zero_grad()
-    d_loss = torch.relu(1 - D(torch.randn(4, 3))).mean() + torch.relu(1 + score).mean()
+    d_loss = torch.relu(1 - D(torch.randn(4, 3))).mean() + torch.relu(1 + D(fake.detach())).mean()
    d_loss.backward()
    d_opt.step()
! they step at the end, and what the score is used for is told in two functions of an object
class Players:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
        self.g_opt, self.d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.G, self.D))

    def see(self, noise, real):
        self.fake = torch.tanh(self.G(noise))
        self.held, self.score = self.D(real), self.D(self.fake)

    def fool(self):
        return torch.nn.functional.softplus(-self.score).mean()

    def judge(self):
-        unlike = torch.nn.functional.softplus(self.score)
+        unlike = torch.nn.functional.softplus(self.D(self.fake.detach()))
        return (torch.nn.functional.softplus(-self.held) + unlike).mean()


players = Players()
for _ in range(4):
    players.see(torch.randn(8, 2), torch.randn(8, 3))
    players.g_opt.zero_grad()
    players.fool().backward()
    players.d_opt.zero_grad()
    players.judge().backward()
    players.g_opt.step(), players.d_opt.step()
! unsafe: an encoder may be meant to learn from both losses of what is made of its code
E, P = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
e_opt, p_opt = torch.optim.SGD(E.parameters(), lr=0.1), torch.optim.SGD(P.parameters(), lr=0.1)
for _ in range(4):
    code = E(torch.randn(5, 3)).tanh()
    guess = P(code)
    size, fit = guess.exp().mean(), (guess - 1).square().mean()
-    gap = (guess[:, 0] - guess[:, 1]).square().mean()
+    guess_detached = P(code.detach())
+    gap = (guess_detached[:, 0] - guess_detached[:, 1]).square().mean()
    e_opt.zero_grad()
    (size + fit).backward()
    p_opt.zero_grad()
    gap.backward()
    e_opt.step(), p_opt.step()
! unsafe: the second loss of one network would train nothing
net, judge = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3)), torch.nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    x = torch.randn(5, 3)
    made = net(x)
    opt.zero_grad()
    (made - x).pow(2).mean().backward(retain_graph=True)
    opt.step()
    opt.zero_grad()
-    score = judge(made)
+    score = judge(made.detach())
    (1 - score).pow(2).mean().backward()
    opt.step()
! the later loss was made before the step, and is given nothing after it
G, D = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Linear(4, 3)), torch.nn.Linear(3, 1)
g_opt, d_opt = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = G(torch.randn(4, 2))
    g_loss, d_loss = -D(fake).mean(), D(fake).pow(2).mean()
    g_opt.zero_grad()
    g_loss.backward(retain_graph=True)
    g_opt.step()
    train[d_opt]: d_loss
! what both losses use was made of numbers that are drawn anew
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
g_opt, d_opt = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    d_loss = g_loss = D(G(torch.randn(4, 2)) + torch.randn(4, 3)).exp().mean()
    train[g_opt]: g_loss
    train[d_opt]: d_loss
! the same loss twice: nothing leads out of the shared part
w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
loss.backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Detach each operand that may carry a tensor out of the shared part, the known carriers first."""
        terms = sum(crossing.by == "earlier" for crossing in diagnosis.trace.crossings)
        order = {"earlier": int(terms > 1), "failing": 5}
        if diagnosis.cause is Cause.SAVED_TENSOR_MODIFIED:
            yield from self._detach_all("stale", 1, diagnosis, sources)
            return
        # Of the loss that goes backward first, keeping its graph says as much with fewer changes.
        yield from self._anew("earlier", Tier.KEEP - Tier.MEANT + 1, diagnosis, sources)
        yield from self._anew("failing", 4, diagnosis, sources)
        for crossing in sorted(diagnosis.trace.crossings, key=lambda c: order.get(c.by, 9)):
            yield from self._detach(crossing, sources, diagnosis, order.get(crossing.by, 9))
        yield from self._detach_onward(diagnosis, sources)
        yield from self._detach_all("earlier", 0, diagnosis, sources)
        yield from self._detach_all("failing", 6, diagnosis, sources)

    def _anew(self, by: str, later: int, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """What both losses are made of, again for one of them, of inputs that are cut: a detach would cut too much."""
        freed = (saved.made for saved in diagnosis.trace.saved if saved.freed_by)
        graph = [(source, node) for stack in freed for _, source, node in sources.located(stack)]
        crossings = [one for one in diagnosis.trace.crossings if one.by == by]
        uses: dict[ast.expr, spelled.Use] = {}
        for use, operand in (one for crossing in crossings for one in spelled.used_by(crossing, sources)):
            uses.setdefault(operand, use)
        steps: list[Step] = []
        with contextlib.suppress(Declined):
            for path in dict.fromkeys(use.path for use in uses.values()):
                mine = {one: use for one, use in uses.items() if use.path == path}
                steps += _given_values(mine, sources, graph)
            if steps:
                yield self.propose(steps, WHY_ANEW, title=ANEW, later=later)

    def _detach(
        self, crossing: Crossing, sources: Sources, diagnosis: Diagnosis, later: int
    ) -> Iterator[Proposal]:  # fmt: skip
        plain = {(one.file, one.function, one.path) for one in diagnosis.trace.plain}
        located = list(sources.located(crossing.used))
        for depth, (frame, source, node) in enumerate(located[:_DEEPEST]):
            tensors = [one for one in calls.tensors_in(node) if not writes.is_module(source, one)]
            # What is made of several has no graph of its own to cut: what is computed of them has.
            several = [one for one in tensors if handed.in_container(crossing, frame, ast.unparse(one))]
            operands = {one: ast.unparse(one) for one in [node if one in several else one for one in tensors]}
            known = [one for one, name in operands.items() if handed.carries(crossing, frame, name)]
            given = handed.to(crossing, located[depth : depth + 2])
            guessed = [one for one, name in operands.items() if (frame.file, frame.function, name) not in plain]
            for operand in known or [one for one in guessed if operands[one] in given] or guessed:
                tier, after = (Tier.MEANT, later) if known else (Tier.GUESS, later + depth)
                why = WHY.format(name=operands[operand])
                with contextlib.suppress(Declined):
                    yield self.propose(append_call(source, operand, ".detach()"), why, tier=tier, later=after)

    def _detach_onward(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where a function makes the failing loss of a parameter: it may be given what a pool or a transform made."""
        failing = [crossing for crossing in diagnosis.trace.crossings if crossing.by == "failing"]
        found = [one for crossing in failing for one in handed.onward(crossing, diagnosis.failure.stack, sources)]
        with contextlib.suppress(Declined):
            edits = [step for source, operand in found for step in append_call(source, operand, ".detach()")]
            if edits:
                why = WHY.format(name=ast.unparse(found[0][1]))
                yield self.propose(list(dict.fromkeys(edits)), why, later=4)

    def _detach_all(self, by: str, later: int, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Several states may be carried over, or one loss be made of several terms: one cut alone would not do.

        What is older than a step is cut one by one, too, as nothing else does that.
        """
        edits: dict[tuple[Step, ...], str] = {}
        for crossing in diagnosis.trace.crossings:
            found = handed.known(crossing, sources) if crossing.by == by else []
            # A helper may serve both losses, so one of them is cut where its own statement hands the tensor over.
            for source, operand in found if by == "failing" else found[-1:]:
                with contextlib.suppress(Declined):
                    edits[tuple(append_call(source, operand, ".detach()"))] = ast.unparse(operand)
        if len(edits) > 1:
            names = " and ".join(dict.fromkeys(edits.values()))
            yield self.propose([step for steps in edits for step in steps], WHY.format(name=names), later=later)
        for steps, name in edits.items() if by == "stale" else ():
            yield self.propose(steps, WHY.format(name=name), later=later)


def _given_values(
    uses: dict[ast.expr, spelled.Use], sources: Sources, graph: list[tuple[Source, ast.expr]]
) -> list[Step]:  # fmt: skip
    """One value where it is used, computed of what is cut; by a name of its own where it is used more than once."""
    first = min(uses.values(), key=lambda use: use.statement.lineno)
    text = first.from_values(sources, graph)
    if not text or len(uses) == 1:
        return [step for one in uses if text for step in replace(first.source, one, text)]
    name = names.unused(first.source, f"{first.path.rpartition('.')[2]}_detached")
    made = insert_before(first.source, first.statement, [f"{name} = {text}"])
    return [*made, *(step for one in uses for step in replace(first.source, one, name))]
