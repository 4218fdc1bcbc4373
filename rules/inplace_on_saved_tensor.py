"""An in-place write to a tensor that backward still needs.

## What it does
Says the write out of place: `x += y` becomes `x = x + y`, `x.mul_(k).add_(z)` becomes `x = x.mul(k).add(z)`,
`inplace=True` becomes `False`, also where a module that is used here was built. Writes to a part of a tensor
(`x[i] = v`) go to a copy: `x = x.clone()` before them. Of `a -= b.mean()` and `b -= a.mean()` beside each other it also
makes `a, b = a - b.mean(), b - a.mean()`.

## Why autograd fails
An operation such as `sigmoid` saved the tensor for its backward. The write bumps the tensor's version counter, and
backward finds another version than the one it saved.

## Fix safety
Safe where nothing else looks at the same memory: a view, a second name, the caller's tensor would still show the old
values. The run compares all gradients with those that the writing code describes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeGuard

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, writes
from autofix.syntax.edits import Step, at_once, clone_before, embed, not_inplace, out_of_place
from autofix.syntax.one_tensor import writes_to_one, written_alike

WHY = "The result becomes a new tensor, and the one that backward needs stays as it was saved."
WHY_BOTH = "Each result is a new tensor, computed from the old value of the other."
WHY_COPY = "The write goes to a copy; the tensor that backward needs stays as it was saved."
WHY_DATA = "Autograd does not count this write: backward takes the value that it finds, which has to be the saved one."
WHY_FLAG = "The activation returns a new tensor, and the one that backward needs stays as it was saved."
_MOST = 4
_ALIASES = {"hardtanh": ("hardtanh", "relu6"), "elu": ("elu", "celu", "selu"), "rreluwithnoise": ("rrelu",)}


class InplaceOnSavedTensor(Rule):
    code, name = "AG101", "inplace-on-saved-tensor"
    title = "Rebind to a new tensor instead of writing in place"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
from torch import nn
! a module that works in place
-net = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.LeakyReLU(0.2, True))
+net = nn.Sequential(nn.Linear(2, 3), nn.Sigmoid(), nn.LeakyReLU(0.2, False))
net(torch.ones(1, 2)).sum().backward()
print(net[0].bias.grad.shape)
! a draw has no form out of place
w = torch.ones(3, requires_grad=True)
p = torch.sigmoid(w)
-mixed = p.uniform_(0, 1).mul_(w)
+mixed = p.clone().uniform_(0, 1).mul(w)
mixed.sum().backward()
print(w.grad.sum().item())
! parts of a tensor
w = torch.ones(3, requires_grad=True)
p = torch.softmax(w, 0)
+p = p.clone()
for place in range(2):
    p[place] = 0.0
p.pow(2).sum().backward()
print(w.grad.sum().item())
! unsafe: where steps are undone to compare gradients, the projection is taken for a step by hand
class Positive(torch.nn.Linear):
    def forward(self, x):
        with torch.no_grad():
-            self.weight.clamp_(min=0.01)
+            self.weight.data.clamp_(min=0.01)
        return super().forward(x)


net = Positive(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(net(net(torch.randn(5, 3)).tanh()).tanh()).pow(2).mean()
! unsafe: the second write may be meant to read what the first one made
h = torch.randn(3, requires_grad=True)
a, b = torch.sigmoid(h), torch.tanh(h)
-a -= b.mean()
-b -= a.mean()
+a, b = a - b.mean(), b - a.mean()
(a.square() + b.square()).sum().backward()
print(h.grad.sum().item())
! unsafe: either mean may be meant to be squared from here on
net, blur = nn.Conv2d(1, 1, 3, padding=1), nn.AvgPool2d(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for aim in torch.rand(8, 1, 6, 6).split(2):
    out = net(aim)
    mean, wanted = blur(out), blur(aim)
    both = blur(out * aim) - mean * wanted
-    spread = blur(out.square()) - mean.square_()
-    wide = blur(aim.square()) - wanted.square_()
+    spread = blur(out.square()) - mean.square()
+    wide = blur(aim.square()) - wanted.square()
    train: ((mean - wanted).square() - both * (spread + wide)).mean()
! two names of one tensor, and each has a gate of its own
! unsafe: both writes may be meant for the one tensor
gates = nn.Linear(3, 3), nn.Linear(3, 3)
x = torch.sigmoid(torch.ones(2, 3, requires_grad=True))
one = x
-one *= gates[0](x)
+one = one * gates[0](x)
two = x
-two *= gates[1](x)
+two = two * gates[1](x)
(one + two).sum().backward()
print(gates[1].bias.grad.shape)
! an item of a list is a tensor of its own
sides = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(3)])
opt = torch.optim.SGD(sides.parameters(), lr=0.1)
for _ in range(3):
    levels = [torch.relu(side(torch.randn(5, 4))) for side in sides]
    for i in range(2, 0, -1):
-        levels[i - 1] += levels[i]
+        levels[i - 1] = levels[i - 1] + levels[i]
    train: sum((level - 1).pow(2).mean() for level in levels)
! what is written to has no name that could take another tensor
w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=0.1)
loss = w.pow(2).sum()
opt.step()
with torch.no_grad():
    [w][0].mul_(0.5)
loss.backward()
! an optimizer's step is no write that could be out of place
w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=0.1)
w.grad = torch.ones(3)
loss = w.pow(2).sum()
opt.step()
loss.backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Each write out of place, all of them together, and with the writes beside them; then copies."""
        sites: dict[ast.AST, Source] = {}
        calls: dict[ast.Call, tuple[Source, str]] = {}
        for write in (write for saved in diagnosis.trace.saved for write in saved.writes if write.optimizer < 0):
            for _, source, node in sources.nodes(write.stack):
                if writes.written(source, node):
                    sites.setdefault(node, source)
                elif isinstance(node, ast.Call):
                    calls.setdefault(node, (source, write.op))
                break
        declined: list[Declined] = []
        yield from self._rebound(sites, declined)
        for call, (source, op) in calls.items():
            yield from self._flags(call, source, op, sources)
        yield from self._copies(sites, diagnosis, declined)
        yield from self._past_the_graph(diagnosis, sources)
        if declined:
            raise declined[0]

    def _rebound(self, sites: dict[ast.AST, Source], declined: list[Declined]) -> Iterator[Proposal]:
        edits: dict[ast.AST, list[Step]] = {}
        groups: dict[tuple[ast.AST, ...], Source] = {}
        halves: set[tuple[ast.AST, ...]] = set()
        for node, source in sites.items():
            try:
                edits[node] = out_of_place(source, node)
            except Declined as reason:
                declined.append(reason)
            else:
                to_one, alike = writes_to_one(source, node), written_alike(source, node)
                several = [[node], to_one, alike, writes.neighbours(source, node)]
                halves.update({(node,)} if len(alike) > 1 else ())
                if len({writes.written(source, one) for one in to_one}) > 1:  # one alone would leave the others mixed
                    several = [to_one]
                groups.update(dict.fromkeys(map(tuple, several), source))
            with suppress(Declined):
                yield self.propose(at_once(source, node), WHY_BOTH, title="Let both writes read what was before them")
        for group, source in sorted(groups.items(), key=lambda item: len(item[0]))[: 2 * _MOST]:
            with suppress(Declined):
                every = [edit for node in group for edit in out_of_place(source, node)]
                yield self.propose(every, WHY, later=int(group in halves))
        if len(edits) > 1:
            every = [edit for steps in edits.values() for edit in steps]
            yield self.propose(every, WHY)

    def _flags(self, call: ast.Call, source: Source, op: str, sources: Sources) -> Iterator[Proposal]:
        """The modules built with `inplace=True` that this call may run: by their attribute, else by their kind."""
        found = list(_built(call, source, op, sources))
        for place, one in found[:_MOST]:
            yield self.propose(not_inplace(place, one), WHY_FLAG, title="Let the activation make a new tensor")
        if len(found) > 1:
            every = [edit for place, one in found for edit in not_inplace(place, one)]
            yield self.propose(every, WHY_FLAG, title="Let the activations make new tensors", later=1)

    def _copies(
        self, sites: dict[ast.AST, Source], diagnosis: Diagnosis, declined: list[Declined]
    ) -> Iterator[Proposal]:  # fmt: skip
        copies: dict[tuple[str, ast.stmt], tuple[ast.AST, Source]] = {}
        for node, source in sites.items():
            name, statement = writes.written(source, node), source.statement(node)
            if "." not in name:
                copies.setdefault((name, writes.with_gradient(source, statement)), (node, source))
        for node, source in list(copies.values())[:_MOST]:
            loop = writes.filling(source, node, diagnosis.failure.stack)
            for later, around in enumerate(dict.fromkeys((loop, None))):
                try:
                    edits = clone_before(source, node, around)
                    yield self.propose(edits, WHY_COPY, title="Write to a copy", tier=Tier.COPY, later=later)
                except Declined as reason:
                    declined.append(reason)

    def _past_the_graph(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Writes without gradient, by a function of the forward, that the graph is not told of: a projection."""
        training = {(frame.file, frame.function) for frame in diagnosis.failure.stack}
        edits: dict[Step, None] = {}
        for saved in diagnosis.trace.saved:
            forward = {(frame.file, frame.function) for frame in saved.made} - training
            stacks = [write.stack[:1] for write in saved.writes if write.optimizer < 0]
            for frame, source, node in (one for stack in stacks for one in sources.nodes(stack)):
                part = writes.written_part(source, node) if writes.under_no_grad(source, node) else None
                if part is not None and (frame.file, frame.function) in forward and ".data" not in ast.unparse(part):
                    edits.update(dict.fromkeys(embed(source, part, "{}.data")))
        if edits:
            yield self.propose(edits, WHY_DATA, title="Write to .data", tier=Tier.COPY, later=2)


def _built(call: ast.Call, source: Source, op: str, sources: Sources) -> Iterator[tuple[Source, ast.Call]]:
    found = [(one, made) for one in sources.imported_by(source) for made in one.walk() if _flagged(made)]
    attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    named = [(one, made) for one, made in found if _assigned_to(one, made) == attribute]
    kind = op.partition("::")[2].partition(".")[0].replace("_", "")
    alike = [(one, made) for one, made in found if calls.name_of(made).lower() in _ALIASES.get(kind, (kind,))]
    yield from (named if attribute and named else alike or found)


def _flagged(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a call builds something that works in place; calls of functions that do are writes themselves."""
    return isinstance(node, ast.Call) and writes.flag_of(node) is not None and not calls.name_of(node).islower()


def _assigned_to(source: Source, call: ast.Call) -> str:
    """The attribute that a call's value becomes, directly."""
    match source.parent(call):
        case ast.Assign(targets=[ast.Attribute(attr=name) | ast.Name(id=name)]):
            return name
        case ast.AnnAssign(target=ast.Attribute(attr=name)):
            return name
    return ""
