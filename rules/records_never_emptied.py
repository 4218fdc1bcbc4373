"""Records of one pass that are still there in the next.

## What it does
Empties the list, dict or deque after the step: `saved.clear()`.

## Why autograd fails
A list collects what each pass computes (log-probabilities of an episode, losses of a window) and is never emptied. The
next pass takes all of it into its loss, and runs into the graphs that the earlier backward has freed.

## Fix safety
Never safe: with fewer records the loss is another one, and a list that is printed or plotted at the end loses what it
had. Other lists that are filled beside it may have to be emptied too.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from autofix import places
from autofix.edit import Declined
from autofix.model import Applicability, Cause, Diagnosis, Proposal
from autofix.rewrite import insert_after
from autofix.rule import Example, Rule, Sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.probe.wire import Carrier
    from autofix.source import Source

WHY = "The next pass begins with empty {paths}, and its loss reaches only what it computed itself."
_CONTAINERS = ("list", "dict", "nested")


class RecordsNeverEmptied(Rule):
    """Empty what collects records after the step that used them."""

    code, name = "AG205", "records-never-emptied"
    title = "Empty the records after the step"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    rank = 26
    applicability = Applicability.UNSAFE
    examples = (
        Example(
            before="""\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for epoch in range(3):
    for _ in range(2):
        losses.append(net(torch.randn(4, 2)).pow(2).mean())
    opt.zero_grad()
    sum(losses).backward()
    opt.step()
""",
            after="""\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for epoch in range(3):
    for _ in range(2):
        losses.append(net(torch.randn(4, 2)).pow(2).mean())
    opt.zero_grad()
    sum(losses).backward()
    opt.step()
    losses.clear()
""",
        ),
        Example(
            before="""\
from collections import namedtuple

import torch

Saved = namedtuple("Saved", ["score", "value"])


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        self.saved = []

    def act(self, state):
        score, value = self.net(state).tanh()
        self.saved.append(Saved(score, value))


def finish():
    saved = policy.saved
    losses = [one.score * 2 + one.value for one in saved]
    opt.zero_grad()
    torch.stack(losses).sum().backward()
    opt.step()


torch.manual_seed(0)
policy = Policy()
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
for episode in range(3):
    policy.act(torch.randn(2))
    policy.act(torch.randn(2))
    finish()
""",
            after="""\
from collections import namedtuple

import torch

Saved = namedtuple("Saved", ["score", "value"])


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        self.saved = []

    def act(self, state):
        score, value = self.net(state).tanh()
        self.saved.append(Saved(score, value))


def finish():
    saved = policy.saved
    losses = [one.score * 2 + one.value for one in saved]
    opt.zero_grad()
    torch.stack(losses).sum().backward()
    opt.step()
    saved.clear()


torch.manual_seed(0)
policy = Policy()
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
for episode in range(3):
    policy.act(torch.randn(2))
    policy.act(torch.randn(2))
    finish()
""",
        ),
        Example(
            before="""\
from collections import deque

import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
window = deque(maxlen=8)


def train():
    opt.zero_grad()
    torch.stack(list(window)).mean().backward()
    opt.step()


for step in range(1, 9):
    window.append(net(torch.randn(4, 2)).pow(2).mean())
    if step % 4 == 0:
        train()
""",
            after="""\
from collections import deque

import torch

torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
window = deque(maxlen=8)


def train():
    opt.zero_grad()
    torch.stack(list(window)).mean().backward()
    opt.step()


for step in range(1, 9):
    window.append(net(torch.randn(4, 2)).pow(2).mean())
    if step % 4 == 0:
        train()
        window.clear()
""",
            note="the list is no variable of the function that steps: it is emptied where that is called",
        ),
        Example(
            before="""\
import torch

cell = torch.nn.GRUCell(2, 4)
h = torch.zeros(3, 4)
for _ in range(5):
    h = cell(torch.randn(3, 2), h)
    h.pow(2).mean().backward()
""",
            after=None,
            note="what is kept is one tensor, which is bound anew",
        ),
        Example(
            before="""\
import torch

w = torch.ones(3, requires_grad=True)
losses = {"first": w.exp().sum()}
losses["first"].backward()
losses["first"].backward()
""",
            after=None,
            note="the second backward is meant to see what the first saw: there is no next pass",
        ),
    )

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """After the step in the innermost function that holds what was filled: all of it, and each alone."""
        carriers = [c for x in diagnosis.trace.crossings if x.by == "failing" for c in x.carriers]
        stacks = {backward.stack for backward in diagnosis.trace.earlier}
        if diagnosis.failure.stack not in stacks | {saved.freed_by for saved in diagnosis.trace.saved}:
            raise Declined("no earlier pass stands at the failing line")
        for frame in diagnosis.failure.stack:
            source, node = sources.source(frame.file), sources.node(frame)
            here = [c for c in carriers if (c.file, c.function) == (frame.file, frame.function)]
            paths = list(dict.fromkeys(c.path for c in here if c.kind in _CONTAINERS and _is_filled(c, source)))
            if source is None or node is None or not paths:
                continue
            statement = places.after_steps(source, source.statement(node))
            for chosen in [paths, *([path] for path in paths if len(paths) > 1)]:
                why = WHY.format(paths=" and ".join(chosen))
                yield self.propose(insert_after(source, statement, [f"{path}.clear()" for path in chosen]), why)
            return


def _is_filled(carrier: Carrier, source: Source | None) -> bool:
    """Whether a container grows by items, here or where it is another name for an attribute that does."""
    if source is None or "[" in carrier.path:
        return False
    if any(isinstance(call, ast.Call) for call, _ in places.fills(source, carrier.path)):
        return True
    values = [one.value for one in places.assignments(source, carrier.path)]
    return any(isinstance(value, ast.Attribute) and _grows(source, value.attr) for value in values)


def _grows(source: Source, attribute: str) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in places.STORES
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == attribute
        for node in ast.walk(source.tree)
    )
