"""A loss that uses again what another function computed for its own loss, from a value that it had cut.

## What it does
Uses instead what is computed of the same value without the cut, where the function has it already. Else computes it
anew where it is used: `self.score = self.D(self.fake)` in the generator's method, where the discriminator's method has
`self.score = self.D(self.fake.detach())`.

## Why autograd fails
The backward of the other loss has freed the graph of what it computed. Kept, or cut where it is handed over, that graph
would not help: the cut lets no gradient through to what this loss is to train, and the term trains nothing.

## Fix safety
Safe where two passes show that the cut leaves an optimizer nothing of a loss that depends on what it owns, and where
all else stays as the code says.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from autofix.probe.wire import Crossing
from autofix.search import handed, spelled
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import insert_before, replace

WHY = "The loss is computed from the same value with its graph, so that its gradient gets through."
INSTEAD = "Use what is computed here, with the graph of what goes in"


class CutValueUsedAgain(Rule):
    code, name = "AG215", "cut-value-used-again"
    title = "Compute it again where it is used, with the graph of what goes in"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
! another method has made it for its own loss
class Both:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
        self.g_opt, self.d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.G, self.D))

    def critic(self, made):
        self.score = self.D(made.detach())
        train[self.d_opt]: self.score.exp().mean()

    def maker(self):
        self.g_opt.zero_grad()
+        self.score = self.D(self.fake)
        loss = self.fake.pow(2).mean() + (self.score - 1).pow(2).mean()
        loss.backward()
        self.g_opt.step()


both = Both()
for _ in range(4):
    both.fake = both.G(torch.randn(4, 2))
    both.critic(both.fake)
    both.maker()
! the right one is computed here under a name of its own
class Both:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
        self.g_opt, self.d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.G, self.D))

    def critic(self):
        made = self.fake
        self.score = self.D(made.detach())
        train[self.d_opt]: self.score.exp().mean()

    def maker(self, relative=True):
        fake = self.fake
        score = self.D(fake)
        if relative:
-            loss = fake.pow(2).mean() + (self.score - 1).pow(2).mean() - self.score.mean()
+            loss = fake.pow(2).mean() + (score - 1).pow(2).mean() - score.mean()
        else:
            loss = fake.pow(2).mean() + (score - 1).pow(2).mean()
        train[self.g_opt]: loss


both = Both()
for _ in range(4):
    both.fake = both.G(torch.randn(4, 2))
    both.critic()
    both.maker()
! an object keeps it, and its user goes on with it
class Critic(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))

    def learn(self, made, opt):
        self.score = self.net(made.detach())
        train: self.score.exp().mean()


def fool(judge, made, opt):
+    judge.score = judge.net(made)
    loss = made.pow(2).mean() + (judge.score - 1).pow(2).mean()
    train: loss


G, critic = torch.nn.Linear(2, 3), Critic()
g_opt, d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, critic))
for _ in range(4):
    fake = G(torch.randn(4, 2))
    critic.learn(fake, d_opt)
    fool(critic, fake, g_opt)
! unsafe: a probe that reads features is not to train them, and its loss is only shown with the other
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.probe = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
        self.opt = torch.optim.SGD(self.parameters(), lr=0.1)

    def look(self):
        self.seen = self.probe(self.h.detach()).pow(2)
        self.opt.zero_grad()
        self.seen.mean().backward()

    def learn(self):
+        self.seen = self.probe(self.h).pow(2)
        loss = self.h.pow(2).mean() + self.seen.mean()
        loss.backward()
        self.opt.step()


net = Net()
for _ in range(4):
    net.h = net.body(torch.randn(4, 2)).tanh()
    net.look()
    net.learn()
! nothing was cut
class Both:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
        self.g_opt, self.d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.G, self.D))

    def critic(self):
        self.score = self.D(self.fake)
        train[self.d_opt]: self.score.exp().mean()

    def maker(self):
        train[self.g_opt]: (self.score - 1).pow(2).mean()


both = Both()
for _ in range(3):
    both.fake = both.G(torch.randn(4, 2))
    both.critic()
    both.maker()
! what went in was drawn, and is known to nobody else
class Both:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
        self.g_opt, self.d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (self.G, self.D))

    def critic(self):
        self.score = self.D(self.G(torch.randn(4, 2)).detach())
        train[self.d_opt]: self.score.exp().mean()

    def maker(self):
        train[self.g_opt]: (self.G.weight.pow(2).mean() + (self.score - 1).pow(2).mean())


both = Both()
for _ in range(4):
    both.critic()
    both.maker()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each value of which the failing loss uses what another function made of it, cut."""
        uses = {(one.statement, one.path): one for one in _uses(diagnosis, sources)}
        together: dict[tuple[ast.AST | None, str], list[spelled.Use]] = {}
        for one in sorted(uses.values(), key=lambda use: use.statement.lineno):
            together.setdefault((one.source.function(one.statement), one.path), []).append(one)
        for first, *rest in together.values():
            if name := first.made_here():
                reads = [node for one in (first, *rest) for node in names.mentions(one.statement, one.path)]
                steps = [step for node in reads for step in replace(first.source, node, name)]
                yield self.propose(steps, WHY, title=INSTEAD)
            with suppress(Declined):
                steps = insert_before(first.source, first.statement, first.again(sources))
                yield self.propose(steps, WHY, later=1)


def _uses(diagnosis: Diagnosis, sources: Sources) -> Iterator[spelled.Use]:
    """Where the failing loss uses a value by the name that another function gave it."""
    for crossing in diagnosis.crossed:
        around = [(source, node) for _, source, node in sources.located(crossing.used)]
        for kept in _made(crossing, sources):
            read = ((source, one) for source, node in around for one in calls.tensors_in(node))
            alike = [(source, one) for source, one in read if _is_attribute(one, kept.target)]
            for source, operand in handed.known(crossing, sources) or alike:
                here = source.function(operand)
                if here is not kept.made[0][0].function(kept.statement):
                    inside = max(at for at, (one, node) in enumerate(around) if one.function(node) is here)
                    called = next(iter(around[inside + 1 :]), None)
                    yield spelled.Use(source, source.statement(operand), ast.unparse(operand), kept, called)


def _made(crossing: Crossing, sources: Sources) -> list[spelled.Kept]:
    """The value that a statement made of what it had cut, and kept by one name."""
    found = (one for one in spelled.makings(crossing.made, sources) if one.target in one.statement.targets)
    return [one for one in found if any(map(spelled.cuts, ast.walk(one.value)))][:1]


def _is_attribute(node: ast.expr, kept: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(kept, ast.Attribute) and node.attr == kept.attr
