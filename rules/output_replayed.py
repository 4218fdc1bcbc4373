"""What a network gave, replayed from a memory with the graph of the pass that stored it.

## What it does
Computes it anew from what is stored beside it: `q = self.net(state)` at the top of the loop over the records, or
`qs = [self.net(state) for state in states]` behind the statement that takes a batch apart. Of a record with named
fields in the place of the field: `self.net(item.state)` for `item.q`.

## Why autograd fails
A replay memory keeps records for many updates. The first update that draws a record frees the graph that stands behind
its output, and steps the network that the graph describes.

## Fix safety
Safe where the run shows the same graph with newer parameters, and a loss that is made of nothing else. Elsewhere what
was stored may be meant as it was, as the old probabilities of PPO are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search import records
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier

WHY = "{path} is computed anew from what is stored beside it, with the parameters as they are now."


class OutputReplayed(Rule):
    code, name = "AG218", "output-replayed"
    title = "Compute it anew from what is stored beside it"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = Example.each("""\
import random
from collections import namedtuple
from dataclasses import dataclass
from torch.distributions import Categorical
random.seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
memory = []
! records are taken one by one
def replay():
    loss = 0
    for state, q, action, reward in random.sample(memory, 3):
+        q = net(state)
        loss = loss + (q[action] - reward) ** 2
    train: loss


for step in range(9):
    state = torch.randn(3)
    q = net(state)
    action = int(q.argmax())
    memory.append((state, q, action, float(state[action])))
    if step > 3:
        replay()
! a batch is taken apart
! unsafe: what was stored may be meant as it was
def replay():
    states, qs, actions, rewards = zip(*random.sample(memory, 3))
+    qs = [net(state) for state in states]
    taken = torch.stack(qs)[range(3), actions]
    loss = (taken - torch.tensor(rewards)).pow(2).mean()
    train: loss


for step in range(9):
    state = torch.randn(3)
    q = net(state)
    action = int(q.argmax())
    memory.append((state, q, action, float(state[action])))
    if step > 3:
        replay()
! whole episodes are kept, and what was sampled by the output stands beside it
def play(policy):
    states, actions, logps = [], [], []
    for _ in range(4):
        state = torch.randn(3)
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        states.append(state)
        actions.append(action)
        logps.append(dist.log_prob(action))
    memory.append((states, actions, logps, float(torch.stack(states).sum())))


def learn(policy):
    loss = 0
    for states, actions, logps, gain in memory:
+        logps = [Categorical(logits=policy(state)).log_prob(action) for state, action in zip(states, actions)]
        loss = loss - torch.stack(logps).sum() * gain
    train: loss


for _ in range(4):
    play(net)
    learn(net)
! the memory has methods and keeps objects
@dataclass
class Item:
    state: torch.Tensor
    values: torch.Tensor
    action: int
    reward: float


class Memory:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def sample(self, count):
        return random.sample(self.items, count)


class Agent:
    def __init__(self, net):
        self.net, self.memory = net, Memory()

    def act(self, seen):
        q = self.net(seen)
        self.memory.push(Item(seen, q, int(q.argmax()), float(seen[0])))

    def learn(self):
        loss = 0
        for item in self.memory.sample(3):
-            loss = loss + (item.values[item.action] - item.reward) ** 2
+            loss = loss + (self.net(item.state)[item.action] - item.reward) ** 2
        train: loss


agent = Agent(net)
for step in range(9):
    agent.act(torch.randn(3))
    if step > 3:
        agent.learn()
! unsafe: what was stored may be meant as it was, and a batch has named fields
Item = namedtuple("Item", "state q reward")


def learn(batch):
-    left, right = torch.stack(batch.q)[:, 0], torch.stack(batch.q)[:, 1]
+    q_now = [net(state) for state in batch.state]
+    left, right = torch.stack(q_now)[:, 0], torch.stack(q_now)[:, 1]
    loss = (left + right - torch.tensor(batch.reward)).pow(2).mean()
    train: loss


for step in range(9):
    state = torch.randn(3)
    values = net(state)
    memory.append(Item(state=state, q=values, reward=float(state[1])))
    if step > 3:
        learn(Item(*zip(*random.sample(memory, 3))))
! unsafe: what was stored may be meant as it was, and a record is a dict
def replay():
    batch = random.sample(memory, 3)
-    qs = torch.stack([item["q"] for item in batch])
+    qs = torch.stack([net(item["state"]) for item in batch])
    taken = qs[range(3), [item["action"] for item in batch]]
    loss = (taken - torch.tensor([item["reward"] for item in batch])).pow(2).mean()
    train: loss


for step in range(9):
    state = torch.randn(3)
    q = net(state)
    action = int(q.argmax())
    memory.append({"state": state, "q": q, "action": action, "reward": float(state[action])})
    if step > 3:
        replay()
! what it was computed from is not stored
def replay():
    loss = 0
    for q, action, reward in random.sample(memory, 3):
        loss = loss + (q[action] - reward) ** 2
    train: loss


for step in range(9):
    state = torch.randn(3)
    q = net(state)
    memory.append((q, 1, float(state[1])))
    if step > 3:
        replay()
! it was computed from random numbers that are not stored
def replay():
    loss = 0
    for state, q, reward in random.sample(memory, 3):
        loss = loss + (q[0] - reward) ** 2
    train: loss


for step in range(9):
    state = torch.randn(3)
    q = net(state + 0.1 * torch.randn(3))
    memory.append((state, q, float(state[1])))
    if step > 3:
        replay()
! a record is one thing, and nothing is taken apart
for step in range(9):
    memory.append(net(torch.randn(3)))
    loss = sum(one.sum() for one in random.sample(memory, 1 + step // 2))
    train: loss
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each variable that a record, or a batch of records, is taken apart into."""
        seen: set[tuple[str, ast.AST]] = set()
        declined: Declined | None = None
        for crossing in diagnosis.crossed:
            for taken in records.taken(crossing, sources):
                if (taken.path, taken.statement) in seen:
                    continue
                for _, source, node in sources.located(crossing.made[: records.DEEPEST]):
                    try:
                        edits = taken.again(source, node, sources)
                    except Declined as error:
                        declined = error
                        continue
                    seen.add((taken.path, taken.statement))
                    yield self.propose(edits, WHY.format(path=taken.path))
                    break
        if declined is not None:
            raise declined
