"""A draw without a path, in a loss that is to train the distribution that it was drawn from.

## What it does
Draws along a path: `rsample()` for `sample()`.

## Why autograd fails
`sample()` draws without recording a graph. `rsample()` moves a draw from a fixed distribution by the parameters
(`mean + std * noise`), so that the loss knows how it depends on them.

## Fix safety
Safe where the draws alone cut the graph, and all that optimizers own is trained along the path. A draw that is meant as
a constant has a `log_prob` in the loss, which then has a graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax.edits import Step, rename

WHY = "The draw then depends on the parameters of its distribution, and the loss reaches them."


class SampledWithoutPath(Rule):
    code, name = "AG414", "sampled-without-path"
    title = "Draw along a path"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.ANSWER
    examples = Example.each("""\
from torch import distributions as D
from torch.distributions import Normal
from torch.distributions import RelaxedOneHotCategorical as Relaxed
! a latent variable
net, decode = torch.nn.Linear(4, 4), torch.randn(2, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    x = torch.randn(6, 4)
    mean, scale = net(x).chunk(2, 1)
-    z = Normal(mean, scale.exp()).sample()
+    z = Normal(mean, scale.exp()).rsample()
    train: (z @ decode - x).pow(2).mean()
! in a method of its own, and what it is given to is frozen
class Actor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 2)

    def act(self, s):
        dist = D.Independent(D.Normal(self.net(s), 0.3), 1)
-        return dist.sample().tanh()
+        return dist.rsample().tanh()


actor, critic = Actor(), torch.nn.Linear(5, 1).requires_grad_(False)
opt = torch.optim.SGD(actor.parameters(), lr=0.1)
for _ in range(4):
    s = torch.randn(6, 3)
    loss = -critic(torch.cat([s, actor.act(s)], 1)).mean()
    train: loss
! relaxed categories, several to a draw
logits, codes = torch.nn.Parameter(torch.zeros(4, 5)), torch.randn(5, 3)
opt = torch.optim.SGD([logits], lr=0.5)
for _ in range(4):
-    picked = Relaxed(torch.tensor(0.7), logits=logits).sample((8,))
+    picked = Relaxed(torch.tensor(0.7), logits=logits).rsample((8,))
    train: (picked @ codes).pow(2).mean()
! a category has no path
net, earned = torch.nn.Linear(3, 4), torch.randn(4)
earned[torch.multinomial(net(torch.randn(6, 3)).softmax(1), 1)].mean().backward()
! a method of that name that is the user's
class Memory:
    def sample(self):
        with torch.no_grad():
            return net(torch.randn(5, 3))


net = torch.nn.Linear(3, 4)
Memory().sample().mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Every draw of torch's at which the graph of the loss ended, together."""
        draws = dict.fromkeys(sources.innermost(diagnosis.lost("no_grad")))
        edits = [step for source, node in draws for step in _along(source, node)]
        if edits:
            yield self.propose(edits, WHY)


def _along(source: Source, node: ast.AST) -> list[Step]:
    match node:
        case ast.Call(func=ast.Attribute(attr="sample" | "sample_n") as drawn):
            if drawn.attr == "sample_n":
                raise Declined("what draws n values has no form along a path")
            return rename(source, drawn, "rsample")
    return []
