"""Checkpoint that runs its part without a graph.

## What it does
Gives the checkpoint `use_reentrant=False`; where a model of transformers makes its own, among the options that it is
switched on with. Its input may be made to require a gradient instead: `enable_input_require_grads()`.

## Why autograd fails
A reentrant checkpoint runs its part without gradients, and connects it to the graph through its inputs alone. Behind a
frozen embedding no input requires a gradient, so the parameters inside (adapters, say) get none, and the loss has no
graph. Its own backward runs another one inside, which can neither be differentiated itself, as a penalty on gradients
asks for, nor tell distributed training that a parameter is used in two parts.

## Fix safety
A checkpoint saves memory and is no part of what the program computes. Safe where the run shows the gradients that the
program has without its checkpoints.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Frame
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls
from autofix.syntax.edits import Step, insert_after, replace, set_keyword

WHY_INPUT = "The output of the frozen embedding then requires a gradient, and connects each part to the graph."
WHY = "The part then keeps its place in the graph, whether or not its input requires a gradient."
_FLAG = "use_reentrant"
_SWITCHES = ("gradient_checkpointing_enable", "activation_checkpointing_enable")
"""Methods of models of transformers that put their layers under checkpoints."""
_ANEW = (
    "what a checkpoint runs anew usually depends on its arguments alone: it reads no counter, cache or mode that the "
    "first run or a later statement changes, and draws with preserve_rng_state=True"
)
_CHECKPOINTS = ("utils.checkpoint.checkpoint", "utils.checkpoint.checkpoint_sequential")


class ReentrantCheckpoint(Rule):
    code, name = "AG412", "reentrant-checkpoint"
    title = "Checkpoint without reentrance"
    causes = frozenset({Cause.NO_GRAPH, Cause.CHECKPOINT_REFUSED, Cause.RECOMPUTED_OTHERWISE, Cause.REDUCER_REFUSED})
    tier = Tier.ANSWER
    usual = "failed", "a checkpoint is usually made without reentrance: use_reentrant=False"
    examples = Example.each("""\
! behind a frozen embedding
from torch.utils.checkpoint import checkpoint

emb, layer = torch.nn.Embedding(5, 3).requires_grad_(False), torch.nn.Linear(3, 1)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
for _ in range(4):
-    out = checkpoint(layer, emb(torch.arange(5)), use_reentrant=True)
+    out = checkpoint(layer, emb(torch.arange(5)), use_reentrant=False)
    train: out.pow(2).mean()
! several parts at once
import torch.utils.checkpoint


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))

    def forward(self, x):
-        return torch.utils.checkpoint.checkpoint_sequential(self.parts, 2, x, use_reentrant=True)
+        return torch.utils.checkpoint.checkpoint_sequential(self.parts, 2, x, use_reentrant=False)


net = Net()
net.parts[2].requires_grad_(False)
opt = torch.optim.SGD(net.parts[0].parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.ones(4, 3)).pow(2).mean()
! every checkpoint of the program
from torch.utils.checkpoint import checkpoint

one, two = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.1)


def run(x):
-    x = checkpoint(one, x, use_reentrant=True)
+    x = checkpoint(one, x, use_reentrant=False)
-    return checkpoint(two, x, use_reentrant=True)
+    return checkpoint(two, x, use_reentrant=False)


for _ in range(4):
    train: run(torch.ones(4, 3)).pow(2).mean()
! its options are in a mapping
from torch.utils.checkpoint import checkpoint


class Tower(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.part = torch.nn.Linear(2, 3).requires_grad_(False), torch.nn.Linear(3, 1)
        self.options = {}

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs=None):
        self.options = gradient_checkpointing_kwargs or {}

    def forward(self, x):
        return checkpoint(self.part, self.stem(x), **self.options)


net = Tower()
-net.gradient_checkpointing_enable({"use_reentrant": True})
+net.gradient_checkpointing_enable({"use_reentrant": False})
opt = torch.optim.SGD(net.part.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.ones(4, 2)).pow(2).mean()
! a derivative through it
from torch.utils import checkpoint as cp

net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.ones(4, 3, requires_grad=True)
-    out = cp.checkpoint(net, x, use_reentrant=True)
+    out = cp.checkpoint(net, x, use_reentrant=False)
    slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
    train: (slope.norm(dim=1) - 1).pow(2).mean()
! it is not reentrant
from torch.utils.checkpoint import checkpoint

layer = torch.nn.Linear(3, 1).requires_grad_(False)
checkpoint(layer, torch.ones(3), use_reentrant=False).sum().backward()
! a checkpoint of another kind: weights that are written to a file
def checkpoint(module, path):
    return module.weight.detach().sum()


checkpoint(torch.nn.Linear(2, 2), "last.pt").backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All reentrant checkpoints of the program at once: behind one without a graph, the next has none either."""
        edits: list[Step] = []
        switches: list[tuple[Source, ast.Call]] = []
        for one in sources.reached(diagnosis.failure.stack):
            edits += [step for call in _reentrant(one) for step in set_keyword(one, call, _FLAG, "False")]
            edits += [step for value in _asked(one) for step in replace(one, value, "False")]
            switches += [(one, call) for call in _switches(one)]
        for one, call in switches if not edits else ():
            edits += set_keyword(one, call, "gradient_checkpointing_kwargs", f'{{"{_FLAG}": False}}', position=0)
        if edits:
            yield self.propose(edits, WHY)
        for one, call in switches if diagnosis.cause is Cause.NO_GRAPH else ():
            if isinstance(call.func, ast.Attribute) and isinstance(one.parent(call), ast.Expr):
                line = f"{one.segment(call.func.value)}.enable_input_require_grads()"
                after = insert_after(one, one.statement(call), [line])
                yield self.propose(after, WHY_INPUT, title="Let what goes in require a gradient", later=1)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where the checkpoint itself is refused, or what it runs anew differs."""
        if diagnosis.cause is Cause.CHECKPOINT_REFUSED:
            yield from super().hints(diagnosis)
        elif diagnosis.cause is Cause.RECOMPUTED_OTHERWISE:
            yield from ((one.frame, _ANEW) for one in diagnosis.culprits if one.role == self.usual[0])


def _reentrant(source: Source) -> Iterator[ast.Call]:
    """The calls of torch's checkpoint that are reentrant, or say nothing."""
    for call in calls.of_torch(source, _CHECKPOINTS):
        given = calls.keyword(call, _FLAG)
        elsewhere = any(word.arg is None for word in call.keywords)
        if not elsewhere and not (isinstance(given, ast.Constant) and given.value is False):
            yield call


def _asked(source: Source) -> Iterator[ast.expr]:
    """The values by which mappings of options ask for reentrance."""
    for node in source.walk():
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            match key, value:
                case ast.Constant(value=name), ast.Constant(value=True) if name == _FLAG:
                    yield value


def _switches(source: Source) -> Iterator[ast.Call]:
    """Where layers of a model are put under checkpoints by a method of it."""
    return (one for one in source.walk() if isinstance(one, ast.Call) and calls.name_of(one) in _SWITCHES)
