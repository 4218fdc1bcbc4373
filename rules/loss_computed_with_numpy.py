"""A loss that is computed with numpy.

## What it does
Says in torch what the code computes with numpy, `math` or numbers between the model and `backward`: `dim=` for `axis=`,
`correction=0` where numpy's `std` divides by n, `torch.stack` for a list of `.item()`. It follows the values into
functions of the project. A function that is called with arrays elsewhere stays, and gets a namesake for tensors. What
reads a translated value elsewhere gets its number.

## Why autograd fails
numpy and `math` compute with numbers, which do not know what they were computed from. torch refuses to hand over a
tensor that requires a gradient, or, where it was detached for that, the loss has no graph.

## Fix safety
Safe where, at every step that was compared, the loss has the value that the code computes, the gradients are those of
the code's own numpy functions (evaluated beside the values that they are called with), and every parameter of the
optimizers gets one. Declines what has no derivative (`argmax`, rounding, comparisons that count) and what it has no
word for. Where one of several arrays may be meant as a constant, the code does not say so, and the edit is unsafe.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, live, writes
from autofix.syntax.blocks import function_named
from autofix.syntax.edits import Step, append_call
from autofix.syntax.translate.expressions import Way, Wrap
from autofix.syntax.translate.functions import Translation
from autofix.syntax.translate.made import MOVED, Kind, joined
from autofix.syntax.translate.written import written_out

WHY = "torch computes the same values, and knows what they were computed from."
WHY_OTHERS = f"{WHY} Who calls it apart from training gets an array as before."
Loss = tuple[Source, calls.Function | ast.Module, tuple[ast.expr, ...]]
"""What is to be a tensor, and where it is computed."""


class LossComputedWithNumpy(Rule):
    code, name = "AG410", "loss-computed-with-numpy"
    title = "Compute it with torch instead of numpy"
    causes = frozenset({Cause.NO_GRAPH, Cause.CONVERSION})
    tier = Tier.MEANT
    examples = Example.each("""\
import math
import numpy as np
net = torch.nn.Linear(2, 1)
! a distance
x = torch.randn(5, 2)
-out, target = net(x).detach().numpy(), x.sum(1, keepdim=True).numpy()
-loss = torch.tensor(np.sqrt(np.mean((out - target) ** 2)))
+out, target = net(x), x.sum(1, keepdim=True)
+loss = torch.sqrt(torch.mean((out - target) ** 2))
loss.backward()
print(net.weight.grad.sum().item())
! an object that is called, with arrays too
class Processor:
    mean = np.ones((2,), dtype=np.float32)

    def __call__(self, image):
        image = np.asarray(image, dtype=np.float32)
        return torch.from_numpy(image - self.mean)
+
+    def call_torch(self, image):
+        return image - torch.as_tensor(self.mean)


process = Processor()
shift = torch.zeros(5, 2, requires_grad=True)
opt = torch.optim.SGD([shift], lr=0.1)
net.requires_grad_(False)
for x in torch.randn(4, 5, 2):
-    loss = net(process((x + shift).detach().numpy())).exp().mean()
+    loss = net(process.call_torch(x + shift)).exp().mean()
    train: loss
print(process(np.zeros((5, 2))).sum())
! a function that takes the graph away from what it is given is no maker of data alone
def scaled(out):
    return np.bincount(np.zeros(3, int), out.detach().numpy()[:3, 0]).max()


loss = torch.tensor(np.sqrt(scaled(net(torch.randn(5, 2))) ** 2))
loss.backward()
! a list of numbers
losses = []
for x in torch.randn(3, 5, 2):
-    losses.append(net(x).pow(2).mean().item())
-loss = np.mean(losses) + 0.1 * np.max(losses)
-print(np.round(losses, 3))
+    losses.append(net(x).pow(2).mean())
+loss = torch.mean(torch.stack(losses)) + 0.1 * torch.amax(torch.stack(losses))
+print(np.round([t.item() for t in losses], 3))
loss.backward()
print(net.weight.grad.sum().item())
! a number, and the module math
total = 0.0
for x in torch.randn(3, 2):
-    p = torch.sigmoid(net(x)).item()
-    total -= math.log(p)
-loss = torch.tensor(total / 3)
+    p = torch.sigmoid(net(x))
+    total -= torch.log(p)
+loss = total / 3
loss.backward()
print(net.weight.grad.sum().item())
! an array that sums up
-total = np.zeros(4)
+total = torch.zeros(4)
for x in torch.randn(3, 4, 2):
-    out = net(x).detach().numpy()[:, 0]
-    total += np.pad(out[:-1], ((1, 0),))
-loss = torch.tensor(np.ptp(total))
+    out = net(x)[:, 0]
+    total += torch.nn.functional.pad(out[:-1], (1, 0))
+loss = torch.amax(total) - torch.amin(total)
loss.backward()
print(net.weight.grad.sum().item())
! unsafe: no run follows what an array is filled with
-rows = np.zeros((3, 4))
+rows = torch.zeros((3, 4))
for i, x in enumerate(torch.randn(3, 4, 2)):
-    rows[i] = net(x).detach().numpy()[:, 0]
-loss = torch.tensor(rows.std())
+    rows[i] = net(x)[:, 0]
+loss = rows.std(correction=0)
loss.backward()
print(net.weight.grad.sum().item())
! a list that grows from its own end, and arrays that are made of tensors in a function


def chain(turns, lengths):
-    turns, lengths = np.asarray(turns), np.asarray(lengths)
-    points = [np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])]
+    points = [torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0])]
    for turn, length in zip(turns, lengths):
-        points.append(grown(*points[-2:], turn, length))
+        points.append(grown(*points[-2:], turn, length))
-    return torch.tensor(np.stack(points), dtype=torch.float32)
+    return torch.stack(points)


def grown(one, two, turn, length):
-    return length * two + np.sin(turn) * np.cross(one, two)
+    return length * two + torch.sin(turn) * torch.linalg.cross(one, two)


x = torch.randn(5, 2)
chain(net(x)[:, 0], torch.ones(5)).pow(2).mean().backward()
print(net.weight.grad.sum().item())
! what a function returns is used as an array elsewhere
def distances(rows):
-    rows = rows.detach().numpy()
-    return np.sqrt((rows**2).sum(1) + 1e-6)
+    return torch.sqrt((rows**2).sum(dim=1) + 1e-6)


class Loss(torch.nn.Module):
    def __init__(self, choose):
        super().__init__()
        self.choose = choose

    def forward(self, rows):
        found = distances(rows)
        chosen = self.choose(found)
        return torch.as_tensor(found[chosen]).mean()


def shown(x):
    with torch.no_grad():
-        found = distances(net(x))
+        found = distances(net(x)).detach().numpy()
    np.fill_diagonal(found[:, None], 0)
    return found.mean()


criterion, opt = Loss(lambda found: found > 0.1), torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 2)
    print(shown(x))
    loss = criterion(net(x))
    train: loss
! what else leaves torch is data, of which the project makes an array
def distances(rows, others):
    return np.array([[abs(one - b) for one in row] for row, b in zip(rows, others)], dtype=np.float32)


class Risk(torch.nn.Module):
    def forward(self, scores, rows, others):
        far = distances(rows, others)
        far = far - far.mean(axis=1, keepdims=True)
-        risk = np.sum(scores.softmax(1).numpy() * far, axis=1)
-        return torch.tensor(risk).mean()
+        risk = torch.sum(scores.softmax(1) * torch.as_tensor(far), dim=1)
+        return risk.mean()


net, criterion = torch.nn.Linear(2, 2), Risk()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    picked, wanted = torch.randint(5, (6, 2)), torch.randint(5, (6,))
    loss = criterion(net(torch.randn(6, 2)), picked.tolist(), wanted.tolist())
    train: loss
! rounding has no gradient
out = net(torch.randn(5, 2)).detach().numpy()
loss = torch.tensor(np.round(np.mean(out**2), 2))
loss.backward()
! the array is only printed
out = net(torch.randn(5, 2))
print(np.mean(out.numpy()))
out.pow(2).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """One for each loss: with values of unknown kind as they are, and as tensors.

        Where a loss hides what it is made of, as the call of a module does, for what a function makes of a number.
        """
        stacks = [diagnosis.failure.stack, *(origin.stack for origin in diagnosis.trace.origins)]
        converted = {node for stack in stacks for _, _, node in sources.located(stack[:1])}
        passed = {node for stack in stacks for _, _, node in sources.located(stack)}
        declined: dict[str, None] = {}
        for losses in (_losses(diagnosis, sources), _results(diagnosis, sources)):
            found = [
                (loss, one)
                for loss in dict.fromkeys(losses)
                for one in self._translated(loss, converted, declined, sources)
            ]
            yield from (one for _, one in found)
            for loss, one in found:
                if others := list(_for_others(loss, passed, sources)):
                    yield self.propose([*one.steps, *others], WHY_OTHERS, later=one.rank - self.tier + 1)
            if found:
                return
        for reason in declined:
            raise Declined(reason)

    def _translated(
        self, loss: Loss, converted: set[ast.expr], declined: dict[str, None], sources: Sources
    ) -> Iterator[Proposal]:
        others = False
        for wrap in Wrap:
            try:
                found, steps = _steps(loss, converted, sources, Way(wrap))
                # What came to the CPU meets there what was on it before.
                if True in found.by_cpu and (found.unsure or False in found.by_cpu):
                    found, steps = _steps(loss, converted, sources, Way(wrap, to_cpu=True))
            except Declined as error:
                declined[str(error)] = None
                break
            others = found.others
            if steps and (found.takes or wrap is not Wrap.MADE):
                yield self.propose(steps, WHY, later=1 + wrap.value)
            if not (steps and (found.unsure or found.takes)):
                break
        if others or declined:
            with contextlib.suppress(Declined):
                _, steps = _steps(loss, converted, sources, Way(Wrap.ALL, alone=True))
                yield from [self.propose(steps, WHY, later=2 + Wrap.ALL.value)] if steps else []


def _steps(loss: Loss, converted: set[ast.expr], sources: Sources, way: Way) -> tuple[Translation, list[Step]]:
    """A translation and its edits; [] where the loss comes from no array.

    Once more where a list was found to get tensors that are made of the list itself.
    """
    recurring: frozenset[ast.AST] = frozenset()
    while True:
        found = Translation(sources.called, converted, way, recurring)
        try:
            steps = _edits(found, loss, sources)
        except Declined:
            if found.recurs <= recurring:
                raise
        else:
            if found.recurs <= recurring:
                return found, steps
        recurring |= found.recurs


def _edits(found: Translation, loss: Loss, sources: Sources) -> list[Step]:
    source, body, values = loss
    made = joined([found.put(found.scope(source, body), value) for value in values])
    if made.kind not in (*MOVED, Kind.TORCH) or not any(one.texts for one in found.scopes.values()):
        return []
    if made.why:
        raise Declined(made.why)
    return written_out(found, sources.reads)


def _for_others(loss: Loss, passed: set[ast.expr], sources: Sources) -> Iterator[Step]:
    """Arrays for those who call the function of a loss and are not on the way to what failed."""
    source, function, _ = loss
    for other, node in sources.readers(function, source) if not isinstance(function, ast.Module) else ():
        call = other.parent(node)
        apart = call not in passed or writes.under_no_grad(other, node)
        if isinstance(call, ast.Call) and call.func is node and apart:
            yield from append_call(other, call, ".detach().numpy()")


def _results(diagnosis: Diagnosis, sources: Sources) -> Iterator[Loss]:
    """What the functions return in which a tensor became a number, the innermost first."""
    for origin in diagnosis.trace.origins:
        for frame in origin.stack:
            source, function = sources.source(frame.file), sources.function(frame)
            if source is not None and function is not None and (values := tuple(live.returned(function))):
                yield source, function, values


def _losses(diagnosis: Diagnosis, sources: Sources) -> Iterator[Loss]:
    """What goes backward in the functions of the failing stack, the failing call's first."""
    for frame in diagnosis.failure.stack:
        source = sources.source(frame.file)
        body = function_named(source, frame.function) if source is not None else None
        if source is None or body is None:
            continue
        for node in calls.within(body):
            if calls.name_of(node) == "backward" and source.function(node) in (body, None):
                # What holds a `backward` of the program's is no loss, but what it is given: `fabric.backward(loss)`.
                losses = (calls.started(node), *node.args[:1])
                yield from ((source, body, (loss,)) for loss in losses if loss is not None)
