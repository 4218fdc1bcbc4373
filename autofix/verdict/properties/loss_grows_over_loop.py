"""A loss grows over a loop that trains on it

## What it finds

A backward call in a loop starts from the same sum as in the pass before, with more terms: `total += loss`, then
`total.backward(retain_graph=True)`. The terms that were summed up show this. This is not said of a loss that begins
anew, of one backward for each term, of windows of a sequence that have a loss each, or of a total that is only printed.

Nor need it be the whole sum: each micro-batch has a loss of its own and adds its balance term to a list that is emptied
at the step alone. A term that was made once, and that all losses of a step share, is no such case.

So it is with an edit of a sum that grows in the code as written while an optimizer steps in the same loop, though the
edit cuts it from step to step: a list of log-probabilities that nobody clears. A running average, whose earlier terms
all lose their weight alike, may be cut. And a sum to which several passes of a loop add before each backward, as in
every fourth one, may begin anew: where nobody resets it, that was forgotten.

## Why it matters

Early terms are trained again in each later pass: the first of five counts five times. The author has to say whether
backward and step belong after the loop, or each pass trains its own term.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from autofix.experiments.losses import losses
from autofix.probe import wire
from autofix.syntax import blocks, names
from autofix.syntax.calls import path_of
from autofix.syntax.source import Source
from autofix.verdict.property import Effect, Evidence, Example, Finding, Seen

TASKS = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    optimizer.zero_grad()
    total = 0.0
    for task in range(3):
        total = total + (net(torch.randn(5, 3)) - task).square().mean()
        total.backward()
    optimizer.step()
"""
EACH = "total.backward()"
KEPT = "total.backward(retain_graph=True)"
OVER_TIME = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)
for _ in range(4):
    hidden, losses = torch.zeros(5, 4), []
    optimizer.zero_grad()
    for _ in range(4):
        hidden = cell(torch.randn(5, 3), hidden)
        losses.append(head(hidden).square().mean())
        (torch.stack(losses).sum() / 4).backward()
    optimizer.step()
"""
MICRO_BATCHES = """\
trunk, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.05)
for _ in range(4):
    optimizer.zero_grad()
    shown = 0.0
    features = trunk(torch.randn(6, 3)).tanh()
    for part in features.split(2):
        loss = head(part).square().mean()
        shown = 0.9 * shown + 0.1 * loss
        loss.backward()
    optimizer.step()
    print(f"{float(shown):.6f}")
"""
WINDOWS = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
hidden = torch.zeros(5, 4)
for _ in range(5):
    loss = 0.0
    for _ in range(3):
        hidden = cell(torch.randn(5, 3), hidden)
        loss = loss + head(hidden).square().mean()
    train: loss
"""
STEPS = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(2):
    total = torch.zeros(())
    for task in range(4):
        total = total + (net(torch.randn(5, 3)) - task).square().mean()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
"""
AVERAGE = STEPS.replace("total = total + ", "total = 0.9 * total + 0.1 * ")
BESIDE = STEPS.replace("total = total +", "loss =").replace("total.backward()", "(loss + 0.01 * total).backward()")
BESIDE = BESIDE.replace("        opt", "        total = 0.9 * total + 0.1 * loss\n        opt", 1)
SUMMED = BESIDE.replace("0.9 * total + 0.1 * loss", "total + loss")
CUT = ("        optimizer.step()", "        optimizer.step()\n        total = total.detach()")
NEVER_CLEARED = """\
policy, chances, rewards = nn.Linear(3, 2), [], []
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
for _ in range(4):
    for _ in range(3):
        chances.append(policy(torch.randn(3)).log_softmax(-1)[0])
        rewards.append(torch.rand(()))
    returns = torch.stack(rewards) - torch.stack(rewards).mean()
    loss = torch.stack([-chance * one for chance, one in zip(chances, returns)]).sum()
    train: loss
"""
BALANCE = """\
gate, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*gate.parameters(), *head.parameters()], lr=0.05)
for _ in range(4):
    optimizer.zero_grad()
    balance = [MADE]
    for _ in range(2):
        gates = gate(torch.randn(5, 3)).softmax(-1)
        ADDED
        loss = head(gates).square().mean() + 0.5 * sum(balance)
        (loss / 2).backward()
    optimizer.step()
"""
COLLECTED = BALANCE.replace("MADE", "").replace("ADDED", "balance.append(gates[:, 0].mean())")
SHARED = BALANCE.replace("MADE", "gate.weight.square().mean()").replace("ADDED", "print(len(gates))")
KEPT_EACH = ("(loss / 2).backward()", "(loss / 2).backward(retain_graph=True)")
ONLINE = OVER_TIME.replace("(torch.stack(losses).sum() / 4)", "losses[-1]")
LAST = "(torch.stack(losses).sum() / 4).backward()"
_SAME = 1e-3
"""Part by which the values of losses may differ that are sums of the same."""
WINDOWED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
total = 0
for turn in range(16):
    total = total + (net(torch.randn(5, 3)) - 1).square().mean()
    if (turn + 1) % 4 == 0:
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
"""
BATCHES = """\
net, total = nn.Linear(3, 1), 0.0
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(4):
    for x in torch.randn(3, 5, 3):
        total += (net(x) - 1).square().mean()
    train: (total / 3)
"""
EVERY = WINDOWED.replace("(turn + 1) % 4 == 0", "turn >= 0")
ENDS = WINDOWED[WINDOWED.index("        optimizer.step") :]
ANEW = ENDS, f"{ENDS}        total = 0\n"
PUT_DOWN = ENDS, f"{ENDS}        total = total.detach()\n"


class LossGrowsOverLoop(Seen):
    fact = "loss-grows"
    anyway = True
    sentence = (
        "this loss contains all terms of the iteration before and new ones ({subject} by now): it trains the early "
        "terms again"
    )
    raises = (
        Example(TASKS, EACH, KEPT),
        Example(OVER_TIME, LAST, "(torch.stack(losses).sum() / 4).backward(retain_graph=True)"),
        Example(STEPS, *CUT),
        Example(COLLECTED, *KEPT_EACH),
        Example(
            NEVER_CLEARED,
            "    optimizer.step()",
            "    optimizer.step()\n    chances = [one.detach() for one in chances]",
        ),
        Example(SUMMED, *CUT),
        Example(WINDOWED, *PUT_DOWN),
        Example(EVERY, *ANEW),
    )
    silent = (
        Example(TASKS, "        total.backward()", "    total.backward()"),
        Example(MICRO_BATCHES, "loss.backward()", "loss.backward(retain_graph=True)"),
        Example(WINDOWS, "    loss = 0.0", "    loss, hidden = 0.0, hidden.detach()"),
        Example(ONLINE, "losses[-1].backward()", "losses[-1].backward(retain_graph=True)"),
        Example(AVERAGE, *CUT),
        Example(BESIDE, *CUT),
        Example(SHARED, *KEPT_EACH),
        Example(COLLECTED, "balance.append(gates[:, 0].mean())", "balance = [gates[:, 0].mean()]"),
        Example(WINDOWED, *ANEW),
        Example(BATCHES, "    for x in", "    total = 0.0\n    for x in"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if found := self.first(evidence.edited):
            return found
        if not evidence.assessment.effect.keeps_gradients or evidence.assessment.effect is Effect.MEANT:
            return None
        steps = evidence.letter.seen("loss-grows-over-steps")
        if not steps or (_begins_anew(evidence) and all(_is_windowed(evidence, one.stack) for one in steps)):
            return None
        return self.found(steps[0].stack, subject=steps[0].subject)


def _begins_anew(evidence: Evidence) -> bool:
    """Whether the losses of the edit are less than those of the code: earlier terms are gone, and not only cut."""
    after = evidence.before_failure
    pairs = zip(losses(evidence.followed, after), losses(evidence.edited, after), strict=False)
    return any(
        len(was) == len(now) and not all(math.isclose(*pair, rel_tol=_SAME) for pair in zip(was, now, strict=True))
        for was, now in pairs
    )


def _is_windowed(evidence: Evidence, place: wire.Stack) -> bool:
    """Whether several passes of a loop add to a loss before each backward, as the text of its function says."""
    for source, call in evidence.sources.innermost([place]):
        every = [one for one in blocks.around(source, call) if isinstance(one, ast.If) and blocks.counts(one.test)]
        grows = list(_growing(source, call))
        return bool(grows) and all(
            any(isinstance(one, (ast.For, ast.While)) for one in held) or any(one not in held for one in every)
            for held in grows
        )
    return False


def _growing(source: Source, call: ast.AST) -> Iterator[list[ast.AST]]:
    """What is around each statement, in the innermost loop around a backward, that adds to what its loss is made of."""
    loop = next(blocks.loops(source, call), None)
    receiver = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else call
    for path in dict.fromkeys(filter(None, map(path_of, ast.walk(receiver)))):
        for statement in names.assignments(source, path):
            held = list(blocks.around(source, statement))
            adds = isinstance(statement, ast.AugAssign) or any(names.mentions(statement.value or statement, path))
            if adds and loop in held:
                yield held[: held.index(loop)]
