"""Values that are collected once and trained on in several passes, with the graph of the network that made them.

## What it does
Collects them under `torch.no_grad()`: a block around the statements that collect, or a decorator on the function that
does: rollouts, targets, old log-probabilities, pseudo-labels, features, what goes into a replay memory. A function that
code under `torch.no_grad()` hands to a thread, where that does not hold, is decorated.

## Why autograd fails
The first backward frees the graph in which the values were made; the second pass over the same values finds it empty.
Kept with `retain_graph=True`, that graph would describe parameters that the first step has already changed.

## Fix safety
Without gradient, what was collected is a constant for every pass alike. Safe only where the run shows that everything
owned still learns and that no other reading of the program holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from autofix.search.collecting import collectors, decorates, handed_on, is_remembered, is_term, places, repeats, wrapped
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import without_gradient

WHY = "What is collected here is a constant in every iteration that trains on it."
WHY_HANDED = "A thread has a mode of its own: what runs in it runs without gradient if the function itself says so."
WHY_DRAWN = "What iterations draw from a memory was made with older parameters: it is a constant to each of them."
WHY_TARGET = "A target is a constant to every loss that is compared with it."


class CollectedWithGradient(Rule):
    code, name = "AG206", "collected-with-gradient"
    title = "Collect it under torch.no_grad()"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.ANSWER
    conventional = True
    usual = (
        "shared",
        "what is computed here for later iterations, such as a target, is usually computed without gradient",
    )
    examples = Example.each("""\
import torch.nn.functional as F
from concurrent.futures import ThreadPoolExecutor
! a rollout and its log-probabilities
net = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for _ in range(2):
    state, states, actions, old = torch.randn(2), [], [], []
-    for _ in range(6):
-        policy = torch.distributions.Categorical(logits=net(state))
-        action = policy.sample()
-        states.append(state)
-        actions.append(action)
-        old.append(policy.log_prob(action))
-        state = 0.5 * state + action - 1
-    old = torch.stack(old)
+    with torch.no_grad():
+        for _ in range(6):
+            policy = torch.distributions.Categorical(logits=net(state))
+            action = policy.sample()
+            states.append(state)
+            actions.append(action)
+            old.append(policy.log_prob(action))
+            state = 0.5 * state + action - 1
+        old = torch.stack(old)
    obs, taken = torch.stack(states), torch.stack(actions)
    gain = -obs.pow(2).sum(1)
    for _ in range(3):
        ratio = (torch.distributions.Categorical(logits=net(obs)).log_prob(taken) - old).exp()
        loss = -(ratio * (gain - gain.mean())).mean()
        train: loss
! the file decorates already
! unsafe: the code describes a loss that trains what made the labels, too
net = torch.nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def accuracy(x, y):
    return (net(x).argmax(1) == y).float().mean()


+@torch.no_grad()
def labels(x, sharpen=2.0):
    p = net(x).softmax(1) ** sharpen
    return p / p.sum(1, keepdim=True)


for _ in range(3):
    x = torch.randn(10, 4)
    q = labels(x)
    for _ in range(2):
        loss = -(q * net(x + 0.1 * torch.randn(10, 4)).log_softmax(1)).sum(1).mean()
        train: loss
print(accuracy(x, x[:, :3].argmax(1)))
! unsafe: a pool runs it in threads, where no run can see what it makes
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


+@torch.no_grad()
def labelled(x):
    return x, net(x).softmax(1)


with torch.no_grad(), ThreadPoolExecutor(2) as pool:
    pairs = list(pool.map(labelled, torch.randn(3, 5, 2)))
for _ in range(2):
    for x, target in pairs:
        train: torch.nn.functional.cross_entropy(net(x + 0.1), target)
! one target, two losses with a backward each
! unsafe: the code describes losses that train what made the target, too
one, two, policy = torch.nn.Linear(3, 1), torch.nn.Linear(3, 1), torch.nn.Linear(2, 1)
opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)
for _ in range(4):
    s, after, r = torch.randn(8, 3), torch.randn(8, 2), torch.randn(8, 1)
-    nxt = torch.cat([after, policy(after)], 1)
-    target = r + 0.9 * torch.min(one(nxt), two(nxt))
+    with torch.no_grad():
+        nxt = torch.cat([after, policy(after)], 1)
+        target = r + 0.9 * torch.min(one(nxt), two(nxt))
    opt.zero_grad()
    F.mse_loss(one(s), target).backward()
    F.mse_loss(two(s), target).backward()
    opt.step()
! a memory from which each pass draws at random
! unsafe: the code describes a loss that trains what acted, too
import random

actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(5, 1)
opt = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.05)
memory, s = [], torch.randn(3)
random.seed(0)
for _ in range(10):
-    a = actor(s).tanh()
+    with torch.no_grad():
+        a = actor(s).tanh()
    memory.append((s, a, -a.sum().item()))
    s = 0.9 * s + 0.1 * torch.randn(3)
    if len(memory) > 3:
        batch = random.sample(memory, 3)
        states, actions = torch.stack([one[0] for one in batch]), torch.stack([one[1] for one in batch])
        value = critic(torch.cat([states, actions], 1)) - torch.tensor([[one[2]] for one in batch])
        loss = value.pow(2).mean() - critic(torch.cat([states, actor(states).tanh()], 1)).mean()
        train: loss
! what is kept in such a memory is trained in its own pass, too
import random

net = torch.nn.Linear(3, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
bank = []
random.seed(0)
for _ in range(8):
    z = net(torch.randn(5, 3))
    bank.append((z, 1.0))
    loss = (z - 1).pow(2).mean()
    for other, weight in random.sample(bank, min(3, len(bank))):
        loss = loss + weight * (z @ other.T).logsumexp(1).mean()
    train: loss
! records that are read in their order are no such memory
net = torch.nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
log = []
for _ in range(6):
    policy = torch.distributions.Categorical(logits=net(torch.randn(3)))
    action = policy.sample()
    log.append((policy.log_prob(action), 0.5 * action.item()))
    train: sum(-chance * reward for chance, reward in log)
! the same loss twice: nothing was collected
w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
loss.backward()
! a penalty is a term of the loss
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
penalty = sum(p.pow(2).sum() for p in net.parameters())
for _ in range(4):
    loss = net(torch.randn(5, 2)).pow(2).mean() + 0.1 * penalty
    train: loss
! two losses share features, and both train them
body, one, two = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *one.parameters(), *two.parameters()], lr=0.1)
for _ in range(3):
    features = torch.tanh(body(torch.randn(5, 3)))
    opt.zero_grad()
    one(features).pow(2).mean().backward()
    two(features).exp().mean().backward()
    opt.step()
! a hidden state is carried from pass to pass, not collected before them
cell = torch.nn.GRUCell(2, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(3, 4)
for _ in range(4):
    h = cell(torch.randn(3, 2), h)
    train: h.pow(2).mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Around the statements that collect, and on each function through which they do."""
        if is_term(diagnosis, sources):
            raise Declined("it is a term of the loss, which trains what it is made of")
        for source, function in handed_on(diagnosis, sources):
            title = f"Collect under torch.no_grad(), in {function.name}"
            yield self.propose(without_gradient(source, function), WHY_HANDED, title=title)
        for order, found in enumerate(places(diagnosis, sources)):
            place, refused = found[0][0], None
            decorated = decorates(place.source)
            try:
                edits = wrapped(place, [one.step for one, _ in found], diagnosis)
                drawn = any(is_remembered(*one, diagnosis, sources) for one in found)
                why = WHY if repeats(place, diagnosis, sources) else WHY_DRAWN if drawn else WHY_TARGET
                yield self.propose(edits, why, later=1 + decorated + 2 * order)
            except Declined as declined:
                refused = declined
            for source, function in collectors(found, diagnosis, sources):
                edits = without_gradient(source, function)
                title = f"Collect under torch.no_grad(), in {function.name}"
                yield self.propose(edits, WHY, title=title, later=1 + (not decorated) + 2 * order)
            if refused is not None:
                raise refused
