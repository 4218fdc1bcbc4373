"""One network's loss that reaches, through an argument, into a network it is not meant to train.

## What it does
Detaches the tensor where it is handed over: `D(fake)` becomes `D(fake.detach())`, also inside helpers and methods.

## Why autograd fails
The loss of the second network goes back through its input into the first network, and frees that part of the graph.
When the first network's own loss runs backward, its graph is gone.

## Fix safety
Safe where no optimizer uses the gradient that is cut off, which only a run can tell: an optimizer may own both
networks, or the loss may be meant to flow through. The comparison with the reference decides.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autofix.probe.wire import Crossing, Frame
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, writes
from autofix.syntax.edits import Step, append_call

WHY = "The loss no longer runs back into the graph that {name} comes from; its own step used no gradient there."
_DEEPEST = 4


class UndetachedSharedInput(Rule):
    """Detach the argument through which a loss leaves its own network."""

    code, name = "AG202", "undetached-shared-input"
    title = "Detach the shared input"
    causes = frozenset({Cause.FREED_GRAPH})
    tier = Tier.MEANT
    examples = (
        Example("""\
import torch

torch.manual_seed(0)
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    d_opt.zero_grad()
-    D(fake).mean().backward()
+    D(fake.detach()).mean().backward()
    d_opt.step()
    g_opt.zero_grad()
    (-D(fake).mean()).backward()
    g_opt.step()
"""),
        Example("""\
import torch

torch.manual_seed(0)
first, second = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt1 = torch.optim.SGD(first.parameters(), lr=0.1)
opt2 = torch.optim.SGD(second.parameters(), lr=0.1)
for _ in range(4):
    a = first(torch.randn(4, 2)).tanh()
-    b = second(input=a)
+    b = second(input=a.detach())
    opt2.zero_grad()
    b.pow(2).mean().backward()
    opt2.step()
    opt1.zero_grad()
    a.pow(2).mean().backward()
    opt1.step()
"""),
        Example("""\
import torch

torch.manual_seed(0)
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)


def train_critic(batch, made):
    d_opt.zero_grad()
-    (D(batch) - D(made)).mean().backward()
+    (D(batch) - D(made.detach())).mean().backward()
    d_opt.step()


for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    train_critic(torch.randn(4, 3), fake)
    g_opt.zero_grad()
    D(fake).mean().backward()
    g_opt.step()
"""),
        Example("""\
import torch


def penalty(D, fake):
    x = (0.5 * fake).requires_grad_()
    (g,) = torch.autograd.grad(D(x).sum(), x, create_graph=True)
    return (g.norm(dim=1) - 1).pow(2).mean()


torch.manual_seed(0)
G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
g_opt = torch.optim.SGD(G.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    fake = torch.tanh(G(torch.randn(4, 2)))
    d_opt.zero_grad()
-    (D(fake).mean() + penalty(D, fake)).backward()
+    (D(fake.detach()).mean() + penalty(D, fake.detach())).backward()
    d_opt.step()
    g_opt.zero_grad()
    (-D(fake).mean()).backward()
    g_opt.step()
"""),
        Example("""\
! the same loss twice: nothing leads out of the shared part
import torch

w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
loss.backward()
"""),
        Example("""\
! one loss, differentiated in two ways
import torch

w = torch.ones(3, requires_grad=True)
loss = w.sigmoid().sum()
torch.autograd.backward([loss])
torch.autograd.grad(loss, w)
"""),
    )

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Detach each operand that may carry a tensor out of the shared part, the known carriers first."""
        terms = sum(crossing.by == "earlier" for crossing in diagnosis.trace.crossings)
        order = {"earlier": int(terms > 1), "failing": 5}
        for crossing in sorted(diagnosis.trace.crossings, key=lambda c: order.get(c.by, 9)):
            yield from self._detach(crossing, sources, diagnosis, order.get(crossing.by, 9))
        yield from self._detach_all(diagnosis, sources)

    def _detach(
        self, crossing: Crossing, sources: Sources, diagnosis: Diagnosis, later: int
    ) -> Iterator[Proposal]:  # fmt: skip
        plain = {(one.file, one.function, one.path) for one in diagnosis.trace.plain}
        located = list(sources.located(crossing.used))
        for depth, (frame, source, node) in enumerate(located[:_DEEPEST]):
            operands = {one: ast.unparse(one) for one in calls.tensors_in(node) if not writes.is_module(source, one)}
            known = [one for one, name in operands.items() if _carries(crossing, frame, name)]
            handed = _handed(crossing, located[depth : depth + 2])
            guessed = [one for one, name in operands.items() if (frame.file, frame.function, name) not in plain]
            for operand in known or [one for one in guessed if operands[one] in handed] or guessed:
                tier, after = (Tier.MEANT, later) if known else (Tier.GUESS, later + depth)
                why = WHY.format(name=operands[operand])
                with contextlib.suppress(Declined):
                    yield self.propose(append_call(source, operand, ".detach()"), why, tier=tier, later=after)

    def _detach_all(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Several states may be carried over, or one loss be made of several terms: one cut alone would not do."""
        for by, later in (("earlier", 0), ("failing", 6)):
            edits: dict[Step, str] = {}
            for crossing in diagnosis.trace.crossings:
                found = _known(crossing, sources) if crossing.by == by else []
                # A helper may serve both losses, so one of them is cut where its own statement hands the tensor over.
                for source, operand in found[-1:] if by == "earlier" else found:
                    with contextlib.suppress(Declined):
                        edits.update(dict.fromkeys(append_call(source, operand, ".detach()"), ast.unparse(operand)))
            if len(edits) > 1:
                names = " and ".join(dict.fromkeys(edits.values()))
                yield self.propose(edits, WHY.format(name=names), later=later)


def _known(crossing: Crossing, sources: Sources) -> list[tuple[Source, ast.expr]]:
    """Where variables that held the tensor of a crossing were handed on, the innermost frame first."""
    return [
        (source, operand)
        for frame, source, node in sources.located(crossing.used)
        for operand in calls.tensors_in(node)
        if _carries(crossing, frame, ast.unparse(operand))
    ]


def _handed(crossing: Crossing, located: list[tuple[Frame, Source, ast.expr]]) -> set[str]:
    """The parameters of a frame's function that its caller gave the tensor of `crossing`."""
    (_, source, node), *callers = located
    function = source.function(node)
    if function is None or not callers:
        return set()
    (frame, _, call), names = callers[0], calls.parameters(function)
    given = {name: calls.argument(call, names, name) for name in names}
    return {name for name, one in given.items() if one is not None and _carries(crossing, frame, ast.unparse(one))}


def _carries(crossing: Crossing, frame: Frame, name: str) -> bool:
    """Whether `name`, read in `frame`, is a variable that held the tensor of `crossing`."""
    return any(
        carrier.path == name
        and carrier.kind == "tensor"
        and (frame.function == carrier.function or frame.function.startswith(f"{carrier.function}."))
        for carrier in crossing.carriers
    )
