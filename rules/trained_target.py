"""A target or an advantage that a loss trains, too, through a graph that another backward frees or a step spoils

## What it does
Detaches what the loss is given as its target, in each such loss: `F.mse_loss(value(x), reward.detach())`; in a
difference or a cosine the side that the run shows to be the target; likewise what only weighs a log-probability:
`-(log_prob * advantage.detach()).mean()`. The graph is kept, too, where more of it is shared.

## Why autograd fails
The target was computed with a graph, for a loss of its own. The loss goes back through it, where that other loss has
freed the graph, or the step that belongs to it has changed the parameters.

## Fix safety
Safe where nothing uses the gradient that a target gets, or nothing changes by it. Elsewhere the code does not say
whether the target is meant to be trained, and the report asks.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.probe import wire
from autofix.search import keeping
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, append_call, set_keyword

WHY = "The target or weight becomes a constant: the loss trains the prediction alone."
KEPT = "The graph that the prediction shares with the other loss is kept."
_FACTS = ("loss-trains-target", "weight-has-graph")


class TrainedTarget(Rule):
    code, name = "AG210", "trained-target"
    title = "Detach the target"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch import nn
from torch.nn import functional as F
! the target by its keyword, behind a step
guess, value = nn.Linear(4, 3), nn.Linear(4, 1)
guess_opt = torch.optim.SGD(guess.parameters(), lr=0.1)
value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
for _ in range(4):
    seen, label = torch.randn(6, 4), torch.randint(3, (6,))
    logits = guess(seen)
    guess_loss = F.cross_entropy(logits, label)
    train[guess_opt]: guess_loss
    reward = logits.log_softmax(1).gather(1, label[:, None])
    value_opt.zero_grad()
-    F.smooth_l1_loss(value(seen), target=reward).backward()
+    F.smooth_l1_loss(value(seen), target=reward.detach()).backward()
    value_opt.step()
! unsafe: the second network may be meant to agree, too
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 3), nn.Linear(4, 3)
        self.agree = nn.KLDivLoss(reduction="batchmean")

    def forward(self, x, y):
        first, second = self.first(x).log_softmax(1), self.second(x).softmax(1)
        own = nn.functional.nll_loss(first, y)
-        return own + self.agree(first, second), -second.gather(1, y[:, None]).mean()
+        return own + self.agree(first, second.detach()), -second.gather(1, y[:, None]).mean()


pair = Pair()
firsts = torch.optim.SGD(pair.first.parameters(), lr=0.1)
seconds = torch.optim.SGD(pair.second.parameters(), lr=0.1)
for _ in range(4):
    own, other = pair(torch.randn(6, 4), torch.randint(3, (6,)))
    seconds.zero_grad()
    other.backward()
    train[firsts]: own
    seconds.step()
! what the critic is to make small only weighs in the actor's loss
trunk, policy, critic = nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(3, 1)
opt = torch.optim.SGD([*trunk.parameters(), *policy.parameters(), *critic.parameters()], lr=0.1)
for _ in range(4):
    seen = trunk(torch.randn(6, 4)).tanh()
    chances = torch.distributions.Categorical(logits=policy(seen))
    acts = chances.sample()
    advantage = acts - critic(seen).squeeze(1)
    opt.zero_grad()
-    advantage.square().mean().backward()
+    advantage.square().mean().backward(retain_graph=True)
-    (-chances.log_prob(acts) * advantage).mean().backward()
+    (-chances.log_prob(acts) * advantage.detach()).mean().backward()
    opt.step()
! unsafe: the guess may be meant to learn what is easy to value
guess, value = nn.Linear(4, 3), nn.Linear(4, 1)
guess_opt = torch.optim.SGD(guess.parameters(), lr=0.1)
value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
for _ in range(4):
    seen, label = torch.randn(6, 4), torch.randint(3, (6,))
    logits = guess(seen)
    guess_loss = nn.functional.cross_entropy(logits, label)
    guess_opt.zero_grad()
    guess_loss.backward()
    reward = logits.log_softmax(1).gather(1, label[:, None])
    value_opt.zero_grad()
-    (value(seen) - reward).square().mean().backward()
+    (value(seen) - reward.detach()).square().mean().backward()
    value_opt.step()
    guess_opt.step()
! unsafe: the encoder may be meant to learn what can be foreseen
encoder, back, ahead = nn.Linear(4, 3), nn.Linear(3, 4), nn.Linear(3, 3)
opt = torch.optim.SGD([*encoder.parameters(), *back.parameters(), *ahead.parameters()], lr=0.1)
near = nn.CosineSimilarity()
for _ in range(4):
    seen = torch.randn(6, 4)
    codes = encoder(seen).tanh()
    opt.zero_grad()
-    (back(codes) - seen).square().mean().backward()
+    (back(codes) - seen).square().mean().backward(retain_graph=True)
-    (1 - near(x2=ahead(codes[:-1]), x1=codes[1:])).mean().backward()
+    (1 - near(x2=ahead(codes[:-1]), x1=codes[1:].detach())).mean().backward()
    opt.step()
! two towers: nothing says that one side is the target
text, image, head = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*text.parameters(), *image.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    one, other = text(torch.randn(6, 4)).tanh(), image(torch.randn(6, 4)).tanh()
    opt.zero_grad()
    head(one).square().mean().backward()
    (one - other).square().mean().backward()
    opt.step()
! what is given as the target is all that learns
guess, value = nn.Linear(4, 3), nn.Linear(4, 1)
guess_opt = torch.optim.SGD(guess.parameters(), lr=0.1)
value_opt = torch.optim.SGD(value.parameters(), lr=0.1)
for _ in range(4):
    seen, label = torch.randn(6, 4), torch.randint(3, (6,))
    logits = guess(seen)
    guess_loss = F.cross_entropy(logits, label)
    guess_opt.zero_grad()
    guess_loss.backward()
    value_opt.zero_grad()
    F.mse_loss(torch.ones(6, 3), logits).backward()
    guess_opt.step()
! the prediction is made of the target
code, back = nn.Linear(4, 3), nn.Linear(3, 3)
opt = torch.optim.SGD([*code.parameters(), *back.parameters()], lr=0.1)
for _ in range(4):
    z = code(torch.randn(6, 4)).tanh()
    opt.zero_grad()
    z.square().mean().backward()
    nn.functional.mse_loss(back(z), z).backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All such values in one edit; also with the graph kept, of which more may be shared than these."""
        facts = [fact for name in _FACTS for fact in diagnosis.trace.seen(name)]
        cuts = dict.fromkeys(step for fact in facts for step in _cut(fact, sources))
        freed = dict.fromkeys(saved.freed_by for saved in diagnosis.trace.saved if saved.freed_by)
        if not cuts:
            return
        yield self.propose(cuts, WHY)
        for source, call in (one for stack in freed for one in keeping.freeing(stack, sources)):
            steps = (*cuts, *set_keyword(source, call, keeping.FLAG, "True"))
            yield self.propose(steps, f"{WHY} {KEPT}", title=f"{self.title}, and keep the graph", tier=Tier.KEEP)


def _cut(fact: wire.Fact, sources: Sources) -> list[Step]:
    """The step that cuts a value where it is used."""
    for _, source, node in sources.nodes(fact.stack[:1]):
        if (value := calls.given(node, fact.subject)) is not None:
            return append_call(source, value, ".detach()")
    return []
