"""A memory from which passes draw at random is trained in part

## What it finds

A list or a queue keeps what passes computed, and each pass draws from it at random (`random.sample(memory, 32)`). The
edit cuts the graph between the passes: what a pass itself has put there is trained if it is drawn, and the rest is not.
As a constant throughout, the memory would train otherwise. This is read from the text and from the runs, and not said

- where what is put there has no graph, or is drawn by later passes alone;
- where a pass reads the memory in its order, as the record of an episode.

## Why it matters

What is replayed is mostly data: an action was chosen by older parameters. A loss that trains now and then through the
newest of them learns from an accident of the draw.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autofix.experiments.compare import comparable
from autofix.probe.wire import Carrier
from autofix.syntax import calls, names
from autofix.syntax.sources import Sources
from autofix.verdict.effect import trains_alike
from autofix.verdict.property import Evidence, Example, Finding, OfACut

_DRAWS = frozenset({"sample", "choice", "choices", "permutation"})
_SINGLE = ("tensor", "parameter", "other")

REPLAY = """\
import random
from collections import deque

policy, critic = nn.Linear(3, 2), nn.Linear(5, 1)
optimizer = torch.optim.SGD([*policy.parameters(), *critic.parameters()], lr=0.05)
memory, x = deque(maxlen=50), torch.randn(3)
random.seed(0)
for _ in range(12):
    action = policy(x).tanh()
    memory.append((x, action))
    x = torch.randn(3)
    seen, acted = map(torch.stack, zip(*DRAWN))
    told = critic(torch.cat([seen, policy(seen).tanh()], 1))
    loss = (critic(torch.cat([seen, acted], 1)) - 1).square().mean() - told.mean()
    train: loss
"""
RANDOM = REPLAY.replace("DRAWN", "random.sample(list(memory), min(4, len(memory)))")
NEWEST = REPLAY.replace("DRAWN", "list(memory)[-4:]")
KEPT = """\
import random


class Memory:
    def __init__(self):
        self.kept = []

    def draw(self, size):
        return random.choices(self.kept, k=size)


net, head, memory = nn.Linear(3, 4), nn.Linear(4, 1), Memory()
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05)
random.seed(0)
for x in torch.randn(12, 5, 3):
    memory.kept.append(net(x).tanh())
    loss = (head(torch.cat([net(x).tanh(), *memory.draw(3)])) - 1).square().mean()
    train: loss
"""
STEP = "    optimizer.step()\n"
CUT = (STEP, f"{STEP}    memory = deque(((s, a.detach()) for s, a in memory), maxlen=50)\n")
CUT_KEPT = (STEP, f"{STEP}    memory.kept = [one.detach() for one in memory.kept]\n")


class MemoryIsTrainedInPart(OfACut):
    sentence = (
        "iterations draw from `{path}` at random: a loss trains what its own iteration has put there, where it is "
        "drawn, and not the rest. All of it may be meant as data"
    )
    raises = (Example(RANDOM, *CUT), Example(KEPT, *CUT_KEPT))
    silent = (
        Example(RANDOM, "append((x, action))", "append((x, action.detach()))"),
        Example(NEWEST, *CUT),
        Example(KEPT, "append(net(x).tanh())", "append(net(x).tanh().detach())"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        crossings = evidence.trace.crossings
        drawn = [one for crossing in crossings for one in crossing.carriers if _is_drawn_from(evidence.sources, one)]
        if not drawn:
            return None
        data, cut = replace(evidence.code, constant=True), replace(evidence.code, truncated=True)
        if not comparable(evidence.of(data)) and trains_alike(evidence, data, cut):
            return None
        return self.found(evidence.failure.stack, path=drawn[0].path)


def _is_drawn_from(sources: Sources, carrier: Carrier) -> bool:
    """Whether a call draws at random from a container, by the name that it has anywhere in the project."""
    name = carrier.path.rpartition(".")[2]
    home = sources.source(carrier.file)
    if carrier.kind in _SINGLE or home is None or not name.isidentifier():
        return False
    return any(
        name in _named(one) for source in sources.imported_by(home) for one in calls.within(*source.mentioning(name))
    )


def _named(call: ast.Call) -> Iterator[str]:
    """The last names of what a call draws from."""
    given = calls.values(call) if calls.name_of(call) in _DRAWS else []
    for one in given:
        yield from (path.rpartition(".")[2] for path in names.reads(one))
