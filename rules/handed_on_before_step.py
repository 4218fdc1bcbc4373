"""A value that is computed before a step, and handed to the next pass after it.

## What it does
Computes the value again where it is handed on: `next_value = critic(next_state)` before `value = next_value`.

## Why autograd fails
The value of the next state is computed before the critic steps, and the next pass trains it as the value of its state.
That backward runs through weights as they were before the step, and finds others.

## Fix safety
Safe where the run shows the gradients of the code, computed with the parameters that the step wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Stack
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, names, update
from autofix.syntax.edits import insert_before

WHY = "The next iteration gets {path} as computed after the step, with the parameters that its backward finds."


class HandedOnBeforeStep(Rule):
    code, name = "AG212", "handed-on-before-step"
    title = "Compute it again where it is handed on"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.AGAIN
    examples = Example.each("""\
! the value of the next state becomes that of the state
critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(critic.parameters(), lr=0.1)
s = torch.randn(3)
value = critic(s)
for _ in range(5):
    s_, reward = 0.9 * s + torch.randn(3), torch.randn(1)
    next_value = critic(s_)
    loss = (reward + 0.9 * next_value.detach() - value).pow(2).sum()
    train: loss
+    next_value = critic(s_)
    s, value = s_, next_value
! what leads to it is computed again, too
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
before = net(torch.randn(5, 3)).softmax(-1)
for _ in range(5):
    x = torch.randn(5, 3)
    logits = net(x)
    now = logits.softmax(-1)
    loss = (now.detach() - before).pow(2).mean()
    train: loss
    print(loss.item())
+    logits = net(x)
+    now = logits.softmax(-1)
    before = now
! the step is made by a function
def learn(opt, value, next_value, reward):
    train: (reward + 0.9 * next_value.detach() - value).pow(2).sum()


critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(critic.parameters(), lr=0.1)
value = critic(torch.randn(3))
for _ in range(5):
    state = torch.randn(3)
    next_value = critic(state)
    learn(opt, value, next_value, torch.randn(1))
+    next_value = critic(state)
    value = next_value
! a method is a pass, and the object keeps the value
class Learner:
    def __init__(self):
        self.critic = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        self.opt = torch.optim.SGD(self.critic.parameters(), lr=0.1)
        self.value = self.critic(torch.zeros(3))

    def observe(self, reward, state):
        next_value = self.critic(state)
        loss = (reward + 0.9 * next_value.detach() - self.value).pow(2).sum()
        train[self.opt]: loss
+        next_value = self.critic(state)
        self.value = next_value


learner = Learner()
for _ in range(5):
    learner.observe(torch.randn(1), torch.randn(3))
! a state that is made of the one before: computed again, it would go through the earlier pass as well
cell = torch.nn.GRUCell(2, 4)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(3, 4)
for _ in range(4):
    new = cell(torch.randn(3, 2), h)
    opt.zero_grad()
    new.pow(2).mean().backward(retain_graph=True)
    opt.step()
    h = new
! what it is computed of is another by then
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(5, 3)
before = net(x)
for _ in range(5):
    now = net(x)
    loss = (now.detach() - before).pow(2).mean()
    train: loss
    x = torch.randn(5, 3)
    before = now
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each saved tensor that a step wrote to: where the pass that made it hands on what came of it."""
        for saved in diagnosis.trace.saved:
            for write in (one for one in saved.writes if one.optimizer >= 0):
                for _, source, node in sources.nodes(saved.made):
                    yield from self._again(source, source.statement(node), write.stack)

    def _again(self, source: Source, made: ast.stmt, written: Stack) -> Iterator[Proposal]:
        body = blocks.block_of(source, made)
        if not isinstance(source.parent(made), (ast.For, ast.While, ast.FunctionDef)):
            return
        following = blocks.after(body, made)
        step = next((one for one in following if blocks.passed(source, one, written)), None)
        if step is None:
            return
        reached = names.forward(made, blocks.before(following, step))
        for handed in blocks.after(body, step):
            leading = names.backward(names.reads(handed), reached)
            if not (isinstance(handed, ast.Assign) and leading and made in leading and _goes_on(handed, body)):
                continue
            between = [one for one in blocks.before(following, handed) if one not in leading]
            if names.meets(names.read_by(leading), names.bound_by([*between, handed])) or any(
                map(update.trains, leading)
            ):
                return
            lines = [line for one in leading for line in names.copied(source, one)]
            yield self.propose(insert_before(source, handed, lines), WHY.format(path=ast.unparse(handed.value)))
            return


def _goes_on(handed: ast.Assign, body: list[ast.stmt]) -> bool:
    """Whether a statement gives a variable its value for the next pass, which reads it first."""
    first = {
        name: next((one for one in body if name in names.reads(one) | names.binds(one)), handed)
        for name in names.binds(handed)
    }
    return any(name in names.reads(one) and one is not handed for name, one in first.items())
