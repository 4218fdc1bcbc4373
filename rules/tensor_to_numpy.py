"""A tensor with a graph is handed to code that keeps none.

## What it does
Detaches the tensor where it is handed over: `x.detach().numpy()`, `queue.put(x.detach())`. Of what a list collects it
keeps numbers: `x.item()`, or `float(x)` where it may be a number of Python's already.

## Why autograd fails
An array has no place for the graph, and none leads into another process. torch refuses rather than lose it silently.

## Fix safety
Safe: what is handed over has the same values, and the graph of the tensor itself stays as it is. What the script prints
afterwards must stay the same too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.edits import Step, append_call, embed, replace

WHY = "The values are handed over without the graph, which stays with the tensor."
WHY_COPY = "numpy needs no graph here, and the copy keeps these values when a step writes new ones."
JOINED = (
    "what a loss is computed from stays a tensor: torch.stack or torch.cat joins a list of them, and torch has numpy's "
    "sum, mean and max; what is only looked at is detached first"
)
_DEEPEST = 3
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)


class TensorToNumpy(Rule):
    code, name = "AG404", "tensor-to-numpy"
    title = "Detach the tensor where it is handed over"
    causes = frozenset({Cause.CONVERSION})
    tier = Tier.MEANT
    usual = "failed", "what a loss is computed from stays a tensor; what is only looked at is detached first"
    examples = Example.each("""\
import functools
import numpy
! several in one statement
w, b = (torch.ones(3, requires_grad=True) for _ in range(2))
loss = (w + b).sum()
loss.backward()
-print(loss.numpy(), w.numpy().sum(), b.detach().numpy().sum())
+print(loss.detach().numpy(), w.detach().numpy().sum(), b.detach().numpy().sum())
! a function of numpy's
net = torch.nn.Linear(2, 1)
out = net(torch.randn(3, 2))
-print(numpy.asarray(out).sum())
+print(numpy.asarray(out.detach()).sum())
out.sum().backward()
! a list of tensors
w = torch.ones(3, requires_grad=True)
losses = [(w * n).sum() for n in range(3)]
sum(losses).backward()
-print(numpy.array([loss for loss in losses]).mean())
+print(numpy.array([loss.detach() for loss in losses]).mean())
! a list of lists of tensors
w = torch.ones(3, requires_grad=True)
rows = []
for n in range(2):
-    rows.append([(w * n)[i] for i in range(3)])
+    rows.append([(w * n)[i].detach() for i in range(3)])
print(numpy.mean(numpy.asarray(rows), 0))
w.sum().backward()
! the same, as it is written
w = torch.ones(3, requires_grad=True)
-print(numpy.array([[w[0], w[1]], [w[1], 0.0]]).sum())
+print(numpy.array([[w[0].detach(), w[1].detach()], [w[1].detach(), 0.0]]).sum())
w.sum().backward()
! what is collected is a mean, of nothing in a pass without batches: then it is a number of Python's
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
curve = []
for _ in range(4):
    losses = []
    for x in torch.randn(3, 5, 2):
        losses.append(net(x).pow(2).mean())
    mean = sum(losses) / len(losses)
    train: mean
-    curve.append(mean)
+    curve.append(float(mean))
print(numpy.array(curve).mean())
! what is sent to another process, of which the loss reads the values
net, queue = torch.nn.Linear(2, 1), torch.multiprocessing.SimpleQueue()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 2)
-    queue.put({"x": x, "old": net(x).sigmoid()})
+    queue.put({"x": x, "old": net(x).sigmoid().detach()})
    sent = queue.get()
    train: (net(sent["x"]).sigmoid() / sent["old"] * sent["x"].sum(1, keepdim=True)).mean()
! the same through a pipe, under a name of its own
net, (there, here) = torch.nn.Linear(2, 1), torch.multiprocessing.Pipe()
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def send(x):
    out = net(x)
-    told = (x, [out.sigmoid(), out], 1)
+    told = (x, [out.sigmoid().detach(), out.detach()], 1)
    there.send(told)


for _ in range(4):
    send(torch.randn(5, 2))
    x, (old, _), n = here.recv()
    train: (net(x).sigmoid() / old * x.sum(1, keepdim=True)).mean()
! unsafe: what is sent is the next layer's input, and the first one would learn nothing
first, second, queue = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.multiprocessing.SimpleQueue()
opt = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(5, 2)
-    queue.put(first(x).tanh())
+    queue.put(first(x).tanh().detach())
    train: (second(queue.get()) - x.sum(1, keepdim=True)).pow(2).mean()
! what is sent is put together elsewhere
queue, w = torch.multiprocessing.SimpleQueue(), torch.ones(3, requires_grad=True)


def made():
    return {"w": w.exp()}


queue.put(made())
! a function that is given the tensor elsewhere
out = torch.ones(3, requires_grad=True).exp()
export = functools.partial(numpy.asarray, out)
print(export())
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """By the call that was refused."""
        name = diagnosis.failure.function.rsplit(".", 1)[-1]
        located = list(sources.located(diagnosis.failure.stack[:_DEEPEST]))
        if name in ("numpy", "__array__"):
            for depth, (_, source, node) in enumerate(located):
                yield from self._converted(source, node, 4 * depth)
            if located and not isinstance(getattr(located[0][2], "func", None), ast.Attribute):
                raise Declined("the tensor is not an expression of this call")
        elif name == "reduce_tensor":
            paths = [one.node for one in diagnosis.trace.origins if one.kind == "nonleaf"]
            for _, source, node in located[:1]:
                yield self.propose(_sent(source, node, paths), WHY)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where a function of numpy's is given tensors, it seldom only looks at them."""
        name = diagnosis.failure.function.rpartition(".")[2]
        found = super().hints(diagnosis) if name != "__deepcopy__" else ()
        yield from ((frame, JOINED if name == "__array__" else sentence) for frame, sentence in found)

    def _converted(self, source: Source, node: ast.expr, later: int) -> Iterator[Proposal]:
        if not isinstance(node, ast.Call):
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr == "numpy":
            detached = append_call(source, node.func.value, ".detach()")
            yield self.propose(detached, WHY, later=later)
            copied = [*detached, *append_call(source, node, ".copy()")]
            yield self.propose(copied, WHY_COPY, title="Keep a copy of the values", later=later + 3)
            yield from self._together(source, node, later)
            return
        for place, argument in enumerate(node.args):
            if isinstance(argument, calls.VALUES):
                edits = append_call(source, argument, ".detach()")
                yield self.propose(edits, WHY, later=later + min(place, 3))
            if isinstance(argument, (ast.Name, ast.Attribute)):
                yield from self._listed(source, argument, later)
            if edits := _within(source, argument):
                yield self.propose(edits, WHY, later=later + min(place, 3))
            made = argument if isinstance(argument, (ast.ListComp, ast.GeneratorExp)) else None
            if made is not None and ast.unparse(made.elt) == ast.unparse(made.generators[0].target):
                yield from self._filled(source, made.generators[0].iter, later)

    def _together(self, source: Source, node: ast.Call, later: int) -> Iterator[Proposal]:
        """All that one statement converts: each would fail in its turn."""
        statement = source.statement(node)
        methods = (one.func for one in calls.within(statement) if not one.args and calls.name_of(one) == "numpy")
        parts = (one.value for one in methods if isinstance(one, ast.Attribute))
        given = [value for value in parts if ".detach()" not in ast.unparse(value)]
        if isinstance(statement, _SIMPLE) and len(given) > 1:
            edits = [edit for value in given for edit in append_call(source, value, ".detach()")]
            yield self.propose(edits, WHY, later=later + 1)

    def _listed(self, source: Source, argument: ast.expr, later: int) -> Iterator[Proposal]:
        """For a list of tensors: its values where it is filled, or detached where it is handed over."""
        yield from self._filled(source, argument, later)
        edits = replace(source, argument, f"[t.detach() for t in {ast.unparse(argument)}]")
        yield self.propose(edits, WHY, later=later + 2)

    def _filled(self, source: Source, filled: ast.expr, later: int) -> Iterator[Proposal]:
        for _, kept in names.fills(source, ast.unparse(filled)):
            if edits := _within(source, kept):
                yield self.propose(edits, WHY, later=later + 1)
            if isinstance(kept, calls.VALUES):
                plain = _may_be_number(source, kept)
                edits = embed(source, kept, "float({})") if plain else append_call(source, kept, ".item()")
                yield self.propose(edits, WHY, title="Keep the number", later=later + 1)


def _sent(source: Source, node: ast.expr, paths: list[str]) -> list[Step]:
    """The edits that detach the results at some places of what a call sends to another process."""
    given = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else None
    function = source.function(node)
    if isinstance(given, ast.Name) and any(paths) and function is not None:
        given = names.bound_once(function, given.id)
    parts = [_part(given, path) for path in paths]
    if not parts or None in parts:
        raise Declined("what is sent is put together elsewhere")
    return [step for one in dict.fromkeys(parts) if one is not None for step in append_call(source, one, ".detach()")]


def _part(value: ast.expr | None, path: str) -> ast.expr | None:
    """What stands at a place of a container, such as `['h'][0]`, as it is written; None where that is not seen."""
    if not path:
        return value
    for index in [ast.literal_eval(one) for one in path[1:-1].split("][")]:
        match value:
            case ast.Dict(keys=keys, values=values):
                known = {getattr(key, "value", key): each for key, each in zip(keys, values, strict=True)}
                value = known.get(index) if None not in keys else None
            case ast.List(elts=items) | ast.Tuple(elts=items) if not any(isinstance(one, ast.Starred) for one in items):
                value = items[index] if isinstance(index, int) and index < len(items) else None
            case _:
                return None
    return value


def _within(source: Source, several: ast.expr) -> list[Step]:
    """The edits that detach each value of a list, as it is written or made, and of the lists in it."""
    match several:
        case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one):
            parts = [one]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            pass
        case _:
            return []
    steps = [step for one in parts if isinstance(one, calls.VALUES) for step in append_call(source, one, ".detach()")]
    return steps + [step for one in parts for step in _within(source, one)]


def _may_be_number(source: Source, kept: ast.expr) -> bool:
    """Whether a value may be a number of Python's where nothing was added: the sum of a list, or what began as 0."""
    values = [kept, *(one.value for one in names.assignments(source, ast.unparse(kept)) if one.value is not None)]
    scaled = [one for one in values if isinstance(one, ast.BinOp) and isinstance(one.op, (ast.Div, ast.Mult))]
    parts = (*values, *(one.left for one in scaled))
    return any(calls.may_be_plain(one) or calls.path_of(getattr(one, "func", None)) == "sum" for one in parts)
